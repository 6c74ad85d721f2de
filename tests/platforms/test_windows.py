"""CaspR runs on Windows: the same files with the same bytes. Wine runs Windows' own Python.

`python3 dev.py test --all` runs this; it takes minutes, so that `dev.py test` leaves it out. Without Wine it
is skipped, unless CASPR_WINDOWS=required.
"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.platforms.machine import Machine
from tests.platforms.scenarios import SCENARIOS
from tests.platforms.windows import available, windows

WANTED = os.environ.get("CASPR_WINDOWS", "")
Scenario = Callable[[Machine, Path], None]

pytestmark = [
    pytest.mark.skipif(not WANTED, reason="only with `dev.py test --all`"),
    pytest.mark.skipif(
        WANTED != "required" and not available(), reason="no Wine (Debian: apt-get install wine wine64)"
    ),
    pytest.mark.xdist_group("wine"),
]


@pytest.fixture(scope="module")
def machine() -> Machine:
    """Return the Windows machine; without Wine, where it is required, this fails."""
    return windows()


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_on_windows(scenario: Scenario, machine: Machine, tmp_path: Path) -> None:
    scenario(machine, tmp_path)
