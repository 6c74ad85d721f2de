"""`caspr review` refuses what it cannot open, in one line and before any server is started."""

import shutil
from pathlib import Path

import pytest

from tests.cli.caller import PAPER, Caller


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for path in PAPER:
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fails(caspr: Caller, *words: object) -> str:
    return caspr.fails("review", *words, "--no-browser")


def test_what_cannot_be_opened(caspr: Caller, folder: Path) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert "missing.conll: cannot read" in fails(caspr, "missing.conll", "in1.conll")
    assert "the file of one annotator" in fails(caspr, "in1.conll")
    assert "in1.conll is an input" in fails(caspr, "in1.conll", "in2.conll", "-o", "in1.conll")
    assert "there is no folder" in fails(caspr, "in1.conll", "in2.conll", "-o", "no/review.conll")
    assert "found the same file" in fails(caspr, "in1.conll", "in1.conll")
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_review_files_that_cannot_be_opened(caspr: Caller, folder: Path) -> None:
    assert caspr("adjudicate", *PAPER, "--layout", "review", "-o", "review.conll", "-q").code == 0
    text = Path("review.conll").read_text()
    assert "-o: found an output beside a review file" in fails(caspr, "review.conll", "-o", "x.conll")
    spoilt = text.replace("#begin", "# caspr exists: 4-4\n# caspr absent: 4-4\n#begin")
    Path("review.conll").write_text(spoilt)
    message = fails(caspr, "review.conll")
    assert "found decisions that cannot hold together: mention (4, 4) is enforced and ruled out" in message
    Path("review.conll").write_text(text.replace("#begin", "# caspr absent: 4-44\n#begin"))
    assert fails(caspr, "review.conll").startswith("review.conll:2: found mention '4-44'")
    Path("review.conll").write_text(text.replace('"engine"', '"motor"'))
    assert "found 'motor'" in fails(caspr, "review.conll")
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith(".")) == []


def test_redo_keeps_statements_and_notes(caspr: Caller, folder: Path) -> None:
    assert (
        caspr("adjudicate", *PAPER, "--objective", "u", "--layout", "review", "-o", "review.conll", "-q").code
        == 0
    )
    path = folder / "review.conll"
    ours = '# caspr together: 1-3 6-6\n# caspr note: {"mention": null, "text": "ask Ann"}\n'
    path.write_text(path.read_text().replace("#begin", f"{ours}#begin"))
    assert "cost 8" in caspr("redo", "review.conll", "--gold", "gold.conll").err
    assert ours in path.read_text()
    assert "caspr" not in (folder / "gold.conll").read_text()
    path.write_text(path.read_text().replace("together", "apart"))
    assert "cost 6" in caspr("redo", "review.conll").err
