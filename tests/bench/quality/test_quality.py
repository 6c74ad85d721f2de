"""Adjudications and simpler ways to merge annotators are scored against a gold standard."""

from pathlib import Path

import pytest

from bench.corpora import DS2, TRUTH, generate, save
from bench.quality.__main__ import judge, main
from bench.quality.calibration import calibrate
from bench.quality.held_back import chosen, halves, held_back
from bench.quality.judged import GOLD, Judged, JudgedSet, cut, read_set
from bench.quality.responses import Response, adjudicated, baselines, learn_weights, read_values
from bench.quality.simulated import simulate
from bench.quality.table import Row
from caspr import adjudicate, write
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


def test_cut_annotators_share_the_work() -> None:
    text = Document("d", tuple("abcdefghij"))
    everything = [
        Chain.of("1", [(number, number) for number in range(1, 11)]),
        Chain.of("2", [(3, 5), (6, 8)]),
    ]
    anna = Annotation.of("anna", text, everything)
    whole = Judged(anna, (anna, anna, anna))
    [document] = cut(JudgedSet("x", (whole,)), 0.6).documents
    assert document.gold == whole.gold
    assert [(min(one.mentions), max(one.mentions)) for one in document.annotations] == [
        ((1, 1), (6, 6)),
        ((3, 3), (8, 8)),
        ((5, 5), (10, 10)),
    ]
    assert [(6, 8) in one.mentions for one in document.annotations] == [False, True, True]


def test_weights_are_learned_from_the_dataset_and_used() -> None:
    documents = [Judged(one.truth, one.annotations[:3]) for one in list(generate(DS2, scale=0.4))[12:16]]
    judged = JudgedSet("x", tuple(documents))
    plain, learned = (adjudicated(judged, words, seconds=20) for words in ("", "weights=learn"))
    table = learn_weights(judged, {})
    files = [[one.annotations[place] for one in documents] for place in range(3)]
    expected = {one.document.name: one.gold.chains for one in adjudicate(files, weights=table, time_limit=20)}
    assert {name: gold.chains for name, gold in learned.answers.items()} == expected
    assert learned.answers.keys() == plain.answers.keys()


def test_a_half_is_answered_with_what_the_other_half_shows() -> None:
    documents = [Judged(one.truth, one.annotations[:3]) for one in list(generate(DS2, scale=0.4))[12:18]]
    judged = JudgedSet("x", tuple(documents))
    both = halves(judged, 1)
    assert [len(half.documents) for half in both] == [3, 3]
    assert {one.name for half in both for one in half.documents} == {one.name for one in documents}
    found = held_back(both, "weights=learn", seconds=20)
    for half, other in (both, both[::-1]):
        weights = learn_weights(other, {})
        expected = adjudicated(half, "weights=learn", seconds=20, weights=weights).answers
        assert weights != learn_weights(half, {})
        assert {name: found.answers[name] for name in expected} == expected
    gold = Response("gold", {one.name: one.gold for one in documents})
    single = Response("single", {one.name: one.annotations[0] for one in documents})
    assert chosen(both, [single, gold]).name == "best on the other half (gold; gold)"
    assert chosen(both, [single, gold]).answers == gold.answers


def test_simulated_annotators_err_as_often_as_they_should() -> None:
    judged = JudgedSet(
        "x", tuple(Judged(one.truth, one.annotations) for one in list(generate(DS2, scale=0.4))[10:16])
    )
    made = simulate(judged, [0, 0.05, 0.2], seed=1)
    assert simulate(judged, [0, 0.05, 0.2], seed=1) == made
    found = rows(list(made.documents), "objective=va")
    scores = [found[f"annotator {name}"].scored.f1("conll") for name in made.annotators]
    assert made.annotators == ["0% 1", "20% 3", "5% 2"]
    assert 100 == scores[0] > scores[2] > scores[1]
    assert 70 < scores[2] < 97


def test_settings_are_read_by_name() -> None:
    assert read_values("") == {}
    assert read_values("singletons=vote, forced-votes") == {"singletons": "vote", "forced_votes": True}
    with pytest.raises(TypeError, match="unknown setting 'nosuch'"):
        rows([Judged(one.truth, one.annotations) for one in [next(generate(DS2, scale=0.1))]], "nosuch=1")


def test_the_quick_form(capsys: pytest.CaptureFixture[str]) -> None:
    main(["ds2", "--quick", "--set", "", "--set", "objective=ua", "--no-baselines"])
    assert capsys.readouterr().out.count("\n") == 2 + 2
    words = ["--set", "", "--simulate", "0,5,10", "--held-back", "--no-baselines"]
    main(["ds2", "--quick", *words])
    assert "| ds2, simulated 0% 5% 10% | best on the other half" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="--baseline: found 'nobody'"):
        main(["ds2", "--quick", "--baseline", "nobody"])


def _with_boundaries() -> JudgedSet:
    """Make a document in which one of three annotators drew another boundary than the gold."""
    text = Document("d", tuple("abcdef"))
    wide, narrow = Chain.of("1", [(1, 3), (5, 5)]), Chain.of("1", [(1, 2), (5, 5)])
    annotators = tuple(
        Annotation.of(name, text, [chain]) for name, chain in zip("xyz", (wide, narrow, wide), strict=True)
    )
    return JudgedSet("x", (Judged(Annotation.of("gold", text, [wide]), annotators),))


def test_calibration_counts_wrong_decisions_by_their_votes(capsys: pytest.CaptureFixture[str]) -> None:
    gold = next(generate(DS2, scale=0.3)).truth
    right = [Annotation.of(name, gold.document, gold.all_chains) for name in "ab"]
    short = Annotation.of("c", gold.document, gold.all_chains[1:])
    judged = JudgedSet("x", (Judged(gold, (*right, short)),))
    table = {(row.kind, row.against, row.seen): row for row in calibrate(judged, "", seconds=20)}
    assert {row.wrong for row in table.values()} == {0.0}
    lost = gold.all_chains[0].mentions
    assert table["mention", 1, 3].decisions >= len(lost)
    wrong = JudgedSet(
        "x", (Judged(Annotation.of("gold", gold.document, gold.all_chains[1:]), (*right, short)),)
    )
    table = {(row.kind, row.against, row.seen): row for row in calibrate(wrong, "", seconds=20)}
    assert table["mention", 1, 3].wrong > 0 == table["mention", 0, 3].wrong
    [boundary] = [row for row in calibrate(_with_boundaries(), "", seconds=20) if row.kind == "boundary"]
    assert (boundary.against, boundary.seen, boundary.decisions, boundary.wrong) == (1, 3, 1, 0.0)
    main(["ds2", "--quick", "--calibration"])
    assert "| link | 0 of" in capsys.readouterr().out
