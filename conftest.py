"""Examples in documentation pages run in a new folder with a copy of `examples/` in it.

Signals that this process ignores (a shell's background job, `nohup`) get their default handlers back,
because the commands under test would inherit that.
"""

import shutil
import signal
from pathlib import Path

import pytest


def pytest_configure() -> None:
    """Restore the default handlers of signals that this process ignores."""
    for number, handler in (
        (signal.SIGINT, signal.default_int_handler),
        (signal.SIGTERM, signal.SIG_DFL),
        (signal.SIGHUP, signal.SIG_DFL),
    ):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if request.path.suffix == ".md":
        shutil.copytree(Path(__file__).parent / "examples", tmp_path / "examples")
        monkeypatch.chdir(tmp_path)
