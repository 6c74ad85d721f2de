"""Adjudications and simpler ways to merge annotators are scored against a gold standard."""

from pathlib import Path

import pytest

from bench.corpora import DS2, TRUTH, generate, save
from bench.quality.__main__ import judge, main
from bench.quality.judged import GOLD, Judged, JudgedSet, read_set
from bench.quality.responses import adjudicated, baselines, read_values
from bench.quality.table import Row
from caspr import write
from caspr.text.document import Annotation, Chain, Document


def rows(documents: list[Judged], *settings: str) -> dict[str, Row]:
    judged = JudgedSet("x", tuple(documents))
    responses = [*baselines(judged, crowd=False), *(adjudicated(judged, one, seconds=20) for one in settings)]
    return {row.response: row for row in judge(judged, responses, baseline=settings[0])}


def test_those_who_repeat_the_gold_score_full_marks() -> None:
    gold = next(generate(DS2, scale=0.3)).truth
    annotators = tuple(Annotation.of(name, gold.document, gold.chains) for name in "abc")
    found = rows([Judged(gold, annotators)], "objective=v")
    assert {row.scored.f1("conll") for row in found.values()} == {100.0}
    assert found["objective=v"].proven == "1 of 1"
    assert found["objective=v"].against is None


def test_merging_comes_significantly_closer_to_the_gold_than_single_annotators() -> None:
    documents = [Judged(one.truth, one.annotations) for one in list(generate(DS2, scale=0.3))[10:16]]
    found = rows(documents, "objective=v")
    single = found["annotator annotator1"]
    assert single.against is not None
    assert single.against.difference < single.against.high < -3


def test_an_annotator_is_compared_on_the_documents_that_he_has() -> None:
    first, second = (Judged(one.truth, one.annotations) for one in list(generate(DS2, scale=0.3))[10:12])
    found = rows([first, Judged(second.gold, second.annotations[1:])], "objective=v")
    assert found["annotator annotator1"].scored.documents == (first.name,)
    assert found["annotator annotator2"].scored.documents == (first.name, second.name)


def test_gold_is_read_from_either_place(tmp_path: Path) -> None:
    generated = list(generate(DS2, scale=0.1))[5]
    save(generated, tmp_path / "own" / "d")
    [found] = read_set(str(tmp_path / "own"), folder=tmp_path).documents
    assert found.gold.chains == generated.truth.chains
    (tmp_path / "own" / GOLD).mkdir()
    (tmp_path / "own" / "d" / f"{TRUTH}.gold").rename(tmp_path / "own" / GOLD / "d.gold")
    [found] = read_set(str(tmp_path / "own"), folder=tmp_path).documents
    assert found.gold.chains == generated.truth.chains
    (tmp_path / "own" / GOLD / "d.gold").unlink()
    with pytest.raises(SystemExit, match="found no gold"):
        read_set(str(tmp_path / "own"), folder=tmp_path)


def test_a_span_in_two_chains_of_the_gold_stays_in_the_longer_one(tmp_path: Path) -> None:
    document = Document("d", tuple("abcdefg"))
    chains = [Chain.of("1", [(1, 1), (2, 2)]), Chain.of("2", [(1, 1), (3, 3), (4, 4)])]
    folder = tmp_path / "set" / "d"
    folder.mkdir(parents=True)
    for name in ("anna", "ben", TRUTH):
        write([Annotation.of(name, document, chains)], folder / f"{name}.conll")
    [found] = read_set(str(tmp_path / "set"), folder=tmp_path).documents
    assert [chain.mentions for chain in found.gold.all_chains] == [((1, 1), (3, 3), (4, 4)), ((2, 2),)]


def test_settings_are_read_by_name() -> None:
    assert read_values("") == {}
    assert read_values("singletons=vote, forced-votes") == {"singletons": "vote", "forced_votes": True}
    with pytest.raises(TypeError, match="unknown setting 'nosuch'"):
        rows([Judged(one.truth, one.annotations) for one in [next(generate(DS2, scale=0.1))]], "nosuch=1")


def test_the_quick_form(capsys: pytest.CaptureFixture[str]) -> None:
    main(["ds2", "--quick", "--set", "", "--set", "objective=ua", "--no-baselines"])
    assert capsys.readouterr().out.count("\n") == 2 + 2
    with pytest.raises(SystemExit, match="--baseline: found 'nobody'"):
        main(["ds2", "--quick", "--baseline", "nobody"])
