"""Adjudications are scored against the truth that documents were generated from."""

from pathlib import Path

import pytest

from bench.corpora import DS2, TRUTH, generate, save
from bench.corpora import main as write_corpus
from bench.experiments.documents import find_documents
from bench.quality import Judged, judge, main, read_judged


def test_one_who_repeats_the_truth_scores_full_marks() -> None:
    truth = next(generate(DS2, scale=0.3)).truth
    rows = list(judge("x", [Judged(truth, (truth, truth, truth))], seconds=10))
    assert {row.response: row.scores["conll"] for row in rows} == dict.fromkeys(
        (row.response for row in rows), 100.0
    )
    assert rows[-1].proven == "1 of 1"


def test_merging_comes_closer_to_the_truth_than_single_annotators() -> None:
    documents = [Judged(one.truth, one.annotations) for one in list(generate(DS2, scale=0.3))[10:16]]
    scores = {row.response: row.scores["conll"] or 0 for row in judge("ds2", documents, seconds=20)}
    assert scores["adjudicated with V"] > scores["an annotator, on average"] + 5


def test_truth_is_read_from_the_folder(tmp_path: Path) -> None:
    generated = list(generate(DS2, scale=0.1))[5]
    save(generated, tmp_path / "own" / "d")
    [found] = find_documents(str(tmp_path / "own"), folder=tmp_path, seed=1, scale=1)
    assert read_judged(found).truth.chains == generated.truth.chains
    (tmp_path / "own" / "d" / f"{TRUTH}.gold").unlink()
    with pytest.raises(SystemExit, match="expected one with the true chains"):
        read_judged(found)


def test_the_quick_form(capsys: pytest.CaptureFixture[str]) -> None:
    main(["ds2", "--quick"])
    assert capsys.readouterr().out.count("\n") == 2 + 6


def test_corpora_are_written_by_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_corpus(["novel", str(tmp_path), "--scale", "0.001"])
    assert capsys.readouterr().out == "novel\n"
    files = {path.name for path in (tmp_path / "novel").iterdir()}
    assert files == {f"{TRUTH}.gold", *(f"annotator{number}.conll" for number in range(1, 6))}
    with pytest.raises(SystemExit):
        write_corpus(["ds1", str(tmp_path), "--scale", "nan"])
    assert "expected a number above 0" in capsys.readouterr().err
