"""CaspR runs where there is no POSIX module, no `/proc`, no fork and no UTF-8 locale."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.corpus.corpora import write_corpus
from tests.platforms.machine import ASCII, BARE, Machine
from tests.platforms.scenarios import SCENARIOS

Scenario = Callable[[Machine, Path], None]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_without_posix_in_a_c_locale(scenario: Scenario, tmp_path: Path) -> None:
    scenario(BARE, tmp_path)


def test_a_file_name_that_the_system_cannot_have_is_one_line(tmp_path: Path) -> None:
    write_corpus(tmp_path / "in", ["zwölf"], by="file")
    outcome = ASCII.run("corpus", "in", "-o", "out", cwd=tmp_path)
    assert outcome.code == 1
    assert "cannot write: file names are ascii here, which has no 'ö': set PYTHONUTF8=1" in outcome.err
