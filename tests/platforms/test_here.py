"""What a linguist does, on this machine as it is: what CI runs on macOS and Windows."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.platforms.machine import HERE, Machine
from tests.platforms.scenarios import SCENARIOS

Scenario = Callable[[Machine, Path], None]


@pytest.mark.skipif(sys.platform == "linux", reason="other tests do more of it on Linux")
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_here(scenario: Scenario, tmp_path: Path) -> None:
    scenario(HERE, tmp_path)
