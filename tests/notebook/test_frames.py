"""Frames hold what a result holds, whatever annotators are called; a missing pandas is said clearly."""

import sys
from pathlib import Path

import pytest

import caspr
from caspr.measures.comparison import Comparison
from caspr.measures.typology import DisagreementKind
from caspr.notebook import frames
from caspr.result import Result
from caspr.text.document import Annotation, Chain, Document
from tests.cli.caller import SONG
from tests.report.results import annotated, hostile_result, random_results, result_of

pytest.importorskip("pandas")

ROOT = Path(__file__).parents[2]


def song() -> tuple[Result, Comparison]:
    files = [caspr.read(path) for path in SONG]
    [result] = caspr.adjudicate(files)
    return result, caspr.agreement(files)


def test_mentions_have_every_annotators_chain() -> None:
    for result in [hostile_result(), *random_results(8, 10)]:
        frame = result.to_frame()
        for annotation in result.instance.annotations:
            marked = frame[frame[annotation.annotator].notna()]
            assert {*zip(marked["start"], marked["end"], strict=True)} == set(annotation.mentions)
        in_gold = frame[frame["chain"].notna()]
        assert {*zip(in_gold["start"], in_gold["end"], strict=True)} == set(result.gold.mentions)


def test_chains_and_votes() -> None:
    result, _ = song()
    chains = result.to_frame("chains")
    assert list(chains["size"]) == [len(chain.mentions) for chain in result.chains]
    votes = result.to_frame("votes")
    links = {
        annotation.annotator: {
            (one, other)
            for chain in annotation.chains
            for place, one in enumerate(chain.mentions)
            for other in chain.mentions[place + 1 :]
        }
        for annotation in result.instance.annotations
    }
    for name, given in links.items():
        assert votes[name].sum() == len(given)
    assert (votes["votes"] == votes[list(links)].sum(axis=1)).all()
    home = {span: chain.id for chain in result.chains for span in chain.mentions}
    for row in votes.itertuples():
        pair = (row.first_start, row.first_end), (row.second_start, row.second_end)
        one, other = (home.get(caspr.Span(*span)) for span in pair)
        assert row.linked == (one is not None and one == other)


def test_conflicts_are_the_disputes_of_the_report() -> None:
    result, _ = song()
    conflicts = result.conflicts()
    assert conflicts.equals(result.to_frame("conflicts"))
    assert conflicts["links"].sum() == 12
    assert set(conflicts["decided"]) == {"linked", "not linked"}


def test_agreement_and_scores() -> None:
    result, comparison = song()
    matrix = comparison.to_frame()
    assert list(matrix.index) == list(matrix.columns) == ["anna", "ben", "carla"]
    assert matrix.loc["anna", "carla"] == pytest.approx(float(comparison.matrices["conll"][0][2] or 0))
    assert len(comparison.to_frame("disagreements")) == comparison.disagreement.disputed
    kinds = comparison.to_frame("kinds")
    assert (kinds[list(map(str, DisagreementKind))].sum(axis=1) == kinds["disputed"]).all()
    assert "passonneau" in set(comparison.to_frame("numbers")["kind"])
    scores = caspr.score(caspr.read(SONG[0]), [result.gold])
    assert scores.to_frame().loc["CoNLL", "f1"] == pytest.approx(float(scores.conll or 0))
    assert len(result.gold.to_frame()) == len(result.gold.mentions)


def test_an_annotator_with_the_name_of_a_column() -> None:
    words = ["a", "b", "c"]
    given = [annotated(name, [[(1, 1), (3, 3)]], words) for name in ("chain", "text")]
    from caspr.task.instance import Instance

    result = result_of(Instance(tuple(given)))
    assert result is not None
    frame = result.to_frame()
    assert list(frame["text"]) == ["a", "c"]
    assert frame["chain (annotator)"].notna().all()
    assert len(set(frame.columns)) == len(frame.columns)


def test_what_there_is_not() -> None:
    result, comparison = song()
    with pytest.raises(caspr.CasprError, match="choose one of mentions, chains, votes, conflicts"):
        result.to_frame("links")
    with pytest.raises(caspr.CasprError, match=r"choose one of .*disagreements"):
        comparison.to_frame("nonsense")


def test_too_many_votes_and_no_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = song()
    monkeypatch.setattr(frames, "MOST", 3)
    with pytest.raises(caspr.CasprError, match="more than 3 links"):
        result.to_frame("votes")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(caspr.CasprError, match=r"pip install 'caspr\[notebook\]'"):
        result.to_frame()


def test_every_way_up_leads_somewhere() -> None:
    from caspr.notebook_methods import ABOVE, above

    for name in ABOVE:
        assert above(name).__name__ == name
    source = (ROOT / "src" / "caspr" / "notebook_methods.py").read_text(encoding="utf-8")
    assert source.count("import_module(") == 1


class TestHtml:
    """What Jupyter shows is small, well formed, and only ever shows text."""

    @pytest.mark.parametrize("tokens", [20, 20_000])
    def test_size(self, tokens: int) -> None:
        text = Document("long", tuple(f"word{number}" for number in range(tokens)))
        chains = [Chain.of(str(n), [(n, n), (n + 10, n + 10)]) for n in range(1, 10)]
        more = [Chain.of("x", [(n, n) for n in range(25, tokens, 7)])] if tokens > 50 else []
        given = [Annotation.of(name, text, [*chains, *more]) for name in "ab"]
        [result] = caspr.adjudicate([[one] for one in given])
        for value in (result, given[0], caspr.agreement([[one] for one in given])):
            assert len(value._repr_html_()) < 25_000

    def test_hostile_text_is_text(self) -> None:
        from tests.report.test_html_pages import Checker

        result = hostile_result()
        comparison = caspr.agreement([[one] for one in result.instance.annotations])
        for value in (result, result.gold, comparison):
            page = value._repr_html_()
            checker = Checker()
            checker.feed(page)
            assert checker.open == []
            assert not checker.tags & {"script", "img", "i", "link"}
            assert "<i>doc</i>" in "".join(checker.text)

    def test_nothing_to_show(self) -> None:
        empty = Annotation.of("ann", Document("empty", ()), [])
        assert "0 entities with 0 mentions" in empty._repr_html_()
