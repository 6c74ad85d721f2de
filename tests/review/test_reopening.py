"""Random sessions under every mix of settings: whatever a page leads to can be opened again, as it was."""

import random
from dataclasses import replace
from pathlib import Path

import pytest

from caspr.adjudication import adjudicate_document
from caspr.formats import review_file
from caspr.review.operations import OperationError
from caspr.review.session import ReviewSession
from caspr.task.objectives import Objective
from caspr.task.settings import Settings
from caspr.task.stored_settings import read_settings
from caspr.task.weights import AnnotatorWeights
from tests.instances import annotation, random_instance
from tests.review.sessions import OPEN, Values, lasting, opened, random_operation, reopened
from tests.test_mixed_settings import random_annotations, random_settings

SESSIONS_EACH = 10
STEPS = 12


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "review.conll"


def mixed_session(rng: random.Random, path: Path) -> ReviewSession:
    """Open a review of a small random document under settings of every kind."""
    annotations = random_annotations(rng)
    if rng.random() < 0.5:
        annotations = random_instance(rng, mentions=6, odd=True).annotations
    if not any(one.mentions for one in annotations):
        return mixed_session(rng, path)
    names = [one.annotator for one in annotations]
    settings = random_settings(rng, names)
    if settings.weights is not None:
        rows = tuple(AnnotatorWeights(name, rng.randint(0, 5), rng.randint(0, 3)) for name in names)
        settings = replace(settings, weights=replace(settings.weights, annotators=rows))
    if rng.random() < 0.5:
        costs = rng.randint(0, 4), rng.randint(0, 3), rng.choice([None, 0, 1, 2, 5])
        settings = replace(settings, objective=Objective(*costs))
    return opened(path, annotations, settings)


def mixed_operation(rng: random.Random, state: Values) -> Values:
    """Make any operation that a page could send, also about boundaries."""
    if rng.random() < 0.6:
        return random_operation(rng, state)
    mentions = sorted(state["mentions"]) or ["1-1"]
    last = len(state["tokens"])

    def span() -> str:
        start = rng.randint(1, last)
        anywhere = f"{start}-{rng.randint(start, min(last, start + 3))}"
        return str(rng.choice([*mentions, *mentions, anywhere]))

    def some(most: int) -> list[str]:
        return [span() for _ in range(rng.randint(0, most))]

    start = rng.randint(1, last)
    choices: list[Values] = [
        {"do": "nested", "mentions": [span(), span()]},
        {"do": "prefer", "mentions": [span()], "over": some(2), "with": some(1)},
        {"do": "prefer", "mentions": [span(), span()], "over": some(1)},
        {"do": "place", "mention": span(), "with": some(1), "apart": some(2), "exists": rng.random() < 0.5},
        {"do": "place", "mention": span(), "chain": rng.choice(sorted(state["chains"]) or ["1"])},
        {"do": "move", "mention": span(), "start": start, "end": rng.randint(start, min(last, start + 2))},
        {"do": "mention", "mentions": [span()]},
        {"do": "absent", "mentions": [span()]},
        {"do": "done"},
        {"do": "reopen"},
        {"do": "all", "ops": [random_operation(rng, state) for _ in range(2)]},
    ]
    return rng.choice(choices)


def act(rng: random.Random, session: ReviewSession, past: list[Values], future: list[Values]) -> None:
    """Do something; what is refused must change nothing, and undo and redo lead to what was there."""
    history, before = session.history(0), session.state(0)
    operation = mixed_operation(rng, before)
    try:
        session.do(0, operation, history.version, rng.choice(("Ann", "Bob")))
    except OperationError:
        assert session.state(0) == before, operation
        return
    verb = operation["do"]
    source, target = (past, future) if verb == "undo" else (future, past)
    target.append(lasting(before))
    if verb in ("undo", "redo"):
        assert lasting(session.state(0)) == source.pop()
    else:
        future.clear()


def comparable(state: Values) -> Values:
    """Return what a restart must bring back exactly."""
    return {**lasting(state), "undo": state["undo"], "redo": state["redo"], "done": state["done"]}


@pytest.mark.parametrize("block", range(100))
def test_a_session_reopens_to_the_same_state(block: int, tmp_path: Path) -> None:
    """A thousand sessions in all: with the record to the same state, without it to the same decisions."""
    for number in range(SESSIONS_EACH):
        run_session(f"{block} {number}", tmp_path / f"{number}.conll")


def test_undo_is_exact_where_variants_were_kept_since(path: Path) -> None:
    """After a restart the file keeps the variants of its last decisions, not those of an earlier step."""
    run_session("42 32", path)


def run_session(seed: str, path: Path) -> None:
    """Do something a dozen times, with restarts in between."""
    rng = random.Random(seed)
    session = mixed_session(rng, path)
    past: list[Values] = []
    future: list[Values] = []
    for _ in range(STEPS):
        act(rng, session, past, future)
        if rng.random() < 0.2:
            session = checked_restart(rng, session, path)
    checked_restart(rng, session, path)
    while OPEN:
        OPEN.pop().close()


def checked_restart(rng: random.Random, session: ReviewSession, path: Path) -> ReviewSession:
    """Close a session and open its file, once without its record; compare what there is."""
    before, text = session.state(0), path.read_bytes()
    session.close()
    assert redone(path) == before["cost"]["value"]
    record = session.record.path
    if record.exists() and rng.random() < 0.3:
        kept = record.read_bytes()
        record.unlink()
        bare = reopened(path)
        assert signed(bare.state(0)) == signed(before)
        assert bare.state(0)["cost"]["value"] == before["cost"]["value"]
        bare.close()
        record.write_bytes(kept)
    assert path.read_bytes() == text
    again = reopened(path)
    assert comparable(again.state(0)) == comparable(before)
    return again


def signed(state: Values) -> list[tuple[str, ...]]:
    """Return what is decided, by whom and when."""
    return sorted((one["label"], one["by"], one["at"]) for one in state["decisions"])


def redone(path: Path) -> int:
    """Return the cost that `caspr redo` finds."""
    [review] = review_file.read(path)
    return adjudicate_document(review.annotations, review.decisions, read_settings(review.settings)).value


def far_apart(path: Path) -> ReviewSession:
    """Open a review with variants, of a long mention and others."""
    annotations = [annotation(name, [[(1, 1), (7, 10)], [(3, 3), (12, 12)]], 12) for name in "ab"]
    return opened(path, annotations, Settings(variants=True))


def test_a_boundary_moved_far_is_read_back(path: Path) -> None:
    """One token of four is less than half: the group is one because of the decisions, and stays one."""
    session = far_apart(path)
    session.do(0, {"do": "move", "mention": "7-10", "start": 7, "end": 7}, 1)
    before = session.state(0)
    session.close()
    assert redone(path) == before["cost"]["value"]
    again = reopened(path)
    assert comparable(again.state(0)) == comparable(before)


def test_a_move_that_is_half_taken_back_leaves_two_mentions(path: Path) -> None:
    """Whether there was a restart in between or not."""
    ends = []
    for restart in (False, True):
        path.unlink(missing_ok=True)
        session = far_apart(path)
        session.do(0, {"do": "move", "mention": "7-10", "start": 7, "end": 7}, 1)
        [gone] = [one["id"] for one in session.state(0)["decisions"] if "absent" in one["label"]]
        if restart:
            session.close()
            session = reopened(path)
        session.do(0, {"do": "free", "decisions": [gone]}, session.history(0).version)
        ends.append(lasting(session.state(0))["mentions"])
        session.close()
        session.record.path.unlink()
    assert ends[0] == ends[1]


def test_a_cell_at_the_first_token_of_a_longer_mention_is_read_back(path: Path) -> None:
    session = far_apart(path)
    session.close()
    lines = path.read_text().splitlines(keepends=True)
    row = next(number for number, line in enumerate(lines) if line.split("\t")[0].strip() == "7")
    lines[row] = lines[row].rpartition("\t")[0] + "\t=(1)\n"
    path.write_text("".join(lines))
    session = reopened(path)
    session.do(0, {"do": "note", "text": "x"}, session.history(0).version)
    checked_restart(random.Random(1), session, path)


def test_two_nested_mentions_may_become_one(path: Path) -> None:
    chains = [[(1, 3), (5, 5)], [(2, 2), (6, 6)]]
    session = opened(path, [annotation(name, chains) for name in "ab"])
    session.do(0, {"do": "nested", "mentions": ["1-3", "2-2"]}, 1)
    session.do(0, {"do": "move", "mention": "2-2", "start": 1, "end": 3}, 2)
    assert not [one for one in session.state(0)["decisions"] if "may share" in one["label"]]
    checked_restart(random.Random(1), session, path)
