"""Examples in documentation pages run in a new folder with a copy of `examples/` in it.

Signals that this process ignores (a shell's background job, `nohup`) get their default handlers back,
because the commands under test would inherit that.

No random case fails because a busy machine was slow: Hypothesis has no deadline.

Of sweeps over random inputs, short runs keep the first cases (`tests/sweeps.py`).

Coverage is not measured during tests that repeat themselves, on many random inputs or in many cases: tracing
makes them two or three times as slow, and they reach hardly a line that the others do not.
"""

import shutil
import signal
from collections import Counter
from pathlib import Path

import hypothesis
import pytest

from tests.sweeps import KEPT, SHORT

collect_ignore = ["tests/platforms/elsewhere"]
"""Modules that take the place of others in processes that tests start; another one may be loaded here."""


def pytest_configure() -> None:
    """Take away the deadline; restore the default handlers of signals that this process ignores."""
    hypothesis.settings.register_profile("patient", deadline=None)
    hypothesis.settings.load_profile("patient")
    for name, handler in (
        ("SIGINT", signal.default_int_handler),
        ("SIGTERM", signal.SIG_DFL),
        ("SIGHUP", signal.SIG_DFL),
    ):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


REPEATED = (
    "tests/engines/",
    "tests/proof/",
    "tests/measures/",
    "tests/bench/",
    "fuzz",
    "round_trips",
    "mutations",
)
"""Parts of the paths of tests during which coverage is not measured."""
CASES = 1
"""During so many cases of every other test it is measured: the first."""


def _is_kept(item: pytest.Item) -> bool:
    """Return whether a short run has this case of a sweep."""
    places = item.callspec.indices if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    return all(places.get(name, 0) < kept for name, kept in KEPT.items())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Shorten sweeps where that is wanted; mark the tests during which coverage is not measured."""
    if SHORT:
        items[:] = filter(_is_kept, items)
    seen: Counter[str] = Counter()
    for item in items:
        test = item.nodeid.partition("[")[0]
        seen[test] += 1
        random = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
        if random or seen[test] > CASES or any(part in item.path.as_posix() for part in REPEATED):
            item.add_marker(pytest.mark.no_cover)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if request.path.suffix == ".md":
        shutil.copytree(Path(__file__).parent / "examples", tmp_path / "examples")
        monkeypatch.chdir(tmp_path)
