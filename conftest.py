"""Examples in documentation pages run in a new folder with a copy of `examples/` in it."""

import shutil
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if request.path.suffix == ".md":
        shutil.copytree(Path(__file__).parent / "examples", tmp_path / "examples")
        monkeypatch.chdir(tmp_path)
