"""Examples in documentation pages run in a new folder with a copy of `examples/` in it.

Commands under test hear signals, also where the tests themselves were started deaf to some of them: in the
background, under `nohup`.
"""

import shutil
import signal
from pathlib import Path

import pytest


def pytest_configure() -> None:
    """Take back what this process was told to ignore: commands it starts would inherit that."""
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
