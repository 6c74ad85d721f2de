"""A boundary moved in one step: the mention keeps its entity and all decisions about it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from caspr.review.operations import OperationError
from caspr.review.session import ReviewSession
from caspr.task.settings import PRESETS
from caspr.text.document import Annotation, Chain, Document
from tests.review.sessions import Values, lasting, opened, reopened

TOKENS = ("Saal", "im", "Gasthofe", "er", "er", "ihn")


def annotation(who: str, *chains: list[tuple[int, int]]) -> Annotation:
    named = [Chain.of(str(number), chain) for number, chain in enumerate(chains, 1)]
    return Annotation.of(who, Document("d", TOKENS), named)


ANNOTATIONS = [annotation(who, [(1, 3), (6, 6)], [(4, 4), (5, 5)]) for who in ("Ann", "Bob")]


@pytest.fixture
def session(tmp_path: Path) -> ReviewSession:
    return opened(tmp_path / "review.conll", ANNOTATIONS, PRESETS["paper"])


def do(session: ReviewSession, **operation: Any) -> Values:
    return session.do(0, operation, session.history(0).version)


def move(session: ReviewSession, old: str, start: int, end: int) -> Values:
    return do(session, do="move", mention=old, start=start, end=end)


def homes(session: ReviewSession) -> dict[str, str | None]:
    return {id: one["chain"] for id, one in session.state(0)["mentions"].items()}


def test_the_mention_keeps_its_entity_votes_and_name_in_one_step(session: ReviewSession) -> None:
    before = session.state(0)
    home = homes(session)["1-3"]
    do(session, do="name", chain=home, name="the hall")
    update = move(session, "1-3", 3, 3)
    assert homes(session)["3-3"] == homes(session)["6-6"] == home
    assert homes(session)["1-3"] is None
    assert session.state(0)["chains"][home]["name"] == "the hall"
    moved = session.state(0)["mentions"]["3-3"]
    assert moved["votes"] == before["mentions"]["1-3"]["votes"]
    assert update["changed"] == []
    assert "Gasthofe" in session.state(0)["undo"]
    do(session, do="undo")
    do(session, do="undo")
    assert lasting(session.state(0)) == lasting(before)


def test_every_decision_and_note_follows(session: ReviewSession) -> None:
    do(session, do="apart", mentions=["1-3", "4-4"])
    do(session, do="into", mentions=["1-3"], chain=homes(session)["1-3"])
    do(session, do="note", mention="1-3", text="ask Ann")
    move(session, "1-3", 2, 3)
    state = session.state(0)
    about = [one["mentions"] for one in state["decisions"] if one["kind"] != "absent"]
    assert about == [["2-3", "4-4"], ["2-3", "6-6"]]
    assert [one["mentions"] for one in state["decisions"] if one["kind"] == "absent"] == [["1-3"]]
    assert [note["mention"] for note in state["notes"]] == ["2-3"]
    session.close()
    assert lasting(reopened(session.store.path).state(0)) == lasting(state)


def test_back_again(session: ReviewSession) -> None:
    move(session, "1-3", 1, 1)
    move(session, "1-1", 2, 2)
    move(session, "2-2", 1, 3)
    state = session.state(0)
    assert homes(session)["1-3"] == homes(session)["6-6"]
    assert [one["kind"] for one in state["decisions"]] == ["enforced"]


@pytest.mark.parametrize("nested", ["never", "vote", "always"])
def test_no_refusal_over_the_old_span(tmp_path: Path, nested: str) -> None:
    settings = replace(PRESETS["paper"], nested=type(PRESETS["paper"].nested)(nested))
    session = opened(tmp_path / "review.conll", ANNOTATIONS, settings)
    do(session, do="accept", chain=homes(session)["1-3"])
    for old, start, end in (("1-3", 3, 3), ("3-3", 1, 3), ("1-3", 1, 4), ("1-4", 2, 2)):
        move(session, old, start, end)
        assert homes(session)[f"{start}-{end}"] == homes(session)["6-6"] is not None


def test_with_variants_the_group_gets_the_boundary_and_keeps_its_votes(tmp_path: Path) -> None:
    annotations = [ANNOTATIONS[0], annotation("Bob", [(2, 3), (6, 6)]), annotation("Carla", [(2, 3), (6, 6)])]
    settings = replace(PRESETS["paper"], variants=True)
    session = opened(tmp_path / "review.conll", annotations, settings)
    before = session.state(0)
    assert homes(session)["2-3"] == homes(session)["6-6"]
    for start, end in ((1, 3), (1, 2)):  # one that is marked, one that nobody marked
        old = "2-3" if start == 1 and end == 3 else "1-3"
        move(session, old, start, end)
        state = session.state(0)
        assert homes(session)[f"{start}-{end}"] == homes(session)["6-6"]
        assert homes(session)["2-3"] is None
        assert state["cost"]["value"] == before["cost"]["value"]
    assert all(session.state(0)["mentions"]["1-2"]["votes"])


@pytest.mark.parametrize(
    "answer",
    [
        {"do": "place", "mention": "2-3", "with": ["5-5"]},
        {"do": "place", "mention": "2-3", "with": [], "apart": ["4-4"], "exists": True},
        {"do": "prefer", "mentions": ["2-3"], "over": ["1-3"]},
        {"do": "place", "mention": "2-3", "with": ["6-6"]},
    ],
)
def test_an_answer_about_another_variant_moves_the_mention_there(tmp_path: Path, answer: Values) -> None:
    """The card was shown before the boundary was decided."""
    annotations = [ANNOTATIONS[0], annotation("Bob", [(2, 3), (6, 6)]), annotation("Carla", [(2, 3), (6, 6)])]
    session = opened(tmp_path / "review.conll", annotations, replace(PRESETS["paper"], variants=True))
    do(session, do="together", mentions=["1-3", "6-6"])
    do(session, do="note", mention="1-3", text="ask Ann")
    do(session, **answer)
    assert homes(session)["1-3"] is None
    assert homes(session)["2-3"] == homes(session)["6-6"] is not None
    assert [note["mention"] for note in session.state(0)["notes"]] == ["2-3"]


def test_an_answer_takes_other_mentions_with_their_decided_boundaries(tmp_path: Path) -> None:
    annotations = [ANNOTATIONS[0], annotation("Bob", [(2, 3), (6, 6)]), annotation("Carla", [(2, 3), (6, 6)])]
    session = opened(tmp_path / "review.conll", annotations, replace(PRESETS["paper"], variants=True))
    do(session, do="together", mentions=["1-3", "6-6"])
    do(session, do="place", mention="4-4", **{"with": ["2-3"]})
    assert homes(session)["4-4"] == homes(session)["1-3"] is not None
    assert homes(session)["2-3"] is None


def test_a_mention_that_is_left_out_becomes_one(tmp_path: Path) -> None:
    annotations = [ANNOTATIONS[0], annotation("Bob", [(4, 4), (5, 5)]), annotation("Carla", [(4, 4), (5, 5)])]
    session = opened(tmp_path / "review.conll", annotations, PRESETS["paper"])
    assert homes(session)["1-3"] is None
    move(session, "1-3", 3, 3)
    assert homes(session)["3-3"] is not None


@pytest.mark.parametrize(
    "operation",
    [
        {"mention": "1-3", "start": 1, "end": 3},
        {"mention": "1-2", "start": 1, "end": 3},
        {"mention": "1-3", "start": 3, "end": 2},
        {"mention": "1-3", "start": 0, "end": 2},
        {"mention": "1-3", "start": "1", "end": 2},
        {"mention": 7, "start": 1, "end": 2},
    ],
)
def test_moves_that_are_refused(session: ReviewSession, operation: Values) -> None:
    before = session.state(0)
    with pytest.raises(OperationError):
        do(session, do="move", **operation)
    assert session.state(0) == before
