"""No natural answer is refused; what contradicts is said in words of the text, with remedies that work."""

import random
import re
from collections.abc import Iterator
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from caspr.review.operations import OperationError
from caspr.review.session import ReviewSession
from caspr.task.instance import Nesting
from caspr.task.settings import PRESETS
from caspr.text.document import Annotation, Chain, Document
from tests.review.sessions import Values, lasting, opened, random_operation, random_session

TOKENS = ("Saal", "im", "Gasthofe", "er", "er", "ihn", "gewisse", "Leute")
NUMBERS = re.compile(r"--[a-z]|\(\d+, \d+\)|\b\d+-\d+\b|\btokens? \d")
"""Options of commands, and the numbers of tokens."""


def annotation(who: str, *chains: list[tuple[int, int]]) -> Annotation:
    named = [Chain.of(str(number), chain) for number, chain in enumerate(chains, 1)]
    return Annotation.of(who, Document("d", TOKENS), named)


@pytest.fixture
def session(tmp_path: Path) -> ReviewSession:
    given = [annotation(who, [(1, 3), (6, 6)], [(4, 4), (5, 5)]) for who in ("Ann", "Bob")]
    return opened(tmp_path / "review.conll", given, PRESETS["paper"])


def do(session: ReviewSession, **operation: Any) -> Values:
    return session.do(0, operation, session.history(0).version)


def home(session: ReviewSession, mention: str) -> str | None:
    found: str | None = session.state(0)["mentions"].get(mention, {}).get("chain")
    return found


def refused(session: ReviewSession, **operation: Any) -> OperationError:
    with pytest.raises(OperationError) as error:
        do(session, **operation)
    return error.value


def test_a_mention_inside_another_of_its_entity(session: ReviewSession) -> None:
    do(session, do="accept", chain=home(session, "1-3"))
    error = refused(session, do="new", start=3, end=3, chain=home(session, "1-3"))
    assert str(error) == "“Gasthofe” lies inside “Saal im Gasthofe”, which is in the same entity."
    labels = [remedy.label for remedy in error.remedies]
    assert labels[:3] == ["Keep both", "Replace “Saal im Gasthofe”", "Allow here"]
    before = session.state(0)
    outcomes = {}
    for remedy in error.remedies[:3]:
        assert remedy.operation is not None
        do(session, **remedy.operation)
        outcomes[remedy.label] = home(session, "3-3"), home(session, "1-3"), home(session, "6-6")
        do(session, do="undo")
        assert lasting(session.state(0)) == lasting(before)
    both, replaced, allowed = outcomes.values()
    assert both[0] is not None and both[0] != both[1] == both[2]
    assert replaced[0] == replaced[2] and replaced[1] is None
    assert allowed[0] == allowed[1] == allowed[2]


def test_allowed_nesting_is_in_the_file_and_holds_there(session: ReviewSession) -> None:
    chain = home(session, "1-3")
    error = refused(session, do="into", mentions=["3-3", "1-3"], chain=chain)
    do(session, **dict(error.remedies[2].operation or {}))
    path = session.store.path
    assert "# caspr nested: 1-3 3-3 by " in path.read_text()
    session.close()
    assert home(session, "3-3") == home(session, "1-3")


def test_where_decisions_permit_nesting_nothing_is_refused(tmp_path: Path) -> None:
    settings = replace(PRESETS["paper"], nested=Nesting.VOTE)
    given = [annotation(who, [(1, 3), (6, 6)]) for who in ("Ann", "Bob")]
    session = opened(tmp_path / "review.conll", given, settings)
    do(session, do="accept", chain="1")
    do(session, do="new", start=3, end=3, chain="1")
    assert home(session, "3-3") == home(session, "1-3") == "1"


def test_a_mention_that_nobody_linked(session: ReviewSession) -> None:
    error = refused(session, do="exists", mentions=["7-8"])
    assert str(error) == "Nobody linked “gewisse Leute” with anything that is left."
    assert [remedy.label for remedy in error.remedies] == ["Keep it alone", "Choose its entity"]
    assert error.remedies[1].view() == {"label": "Choose its entity", "op": None, "choose": "7-8"}
    do(session, **dict(error.remedies[0].operation or {}))
    assert home(session, "7-8") is not None
    do(session, do="new", start=3, end=3, chain=None)  # a mention, wherever it belongs: never refused
    assert home(session, "3-3") is not None


def test_a_later_answer_takes_the_place_of_the_earlier_one(session: ReviewSession) -> None:
    one, other = home(session, "1-3"), home(session, "4-4")
    answers: list[Values] = [
        {"do": "absent", "mentions": ["4-4"]},
        {"do": "mention", "mentions": ["4-4"]},
        {"do": "into", "mentions": ["4-4"], "chain": one},
        {"do": "into", "mentions": ["4-4"], "chain": other},
        {"do": "alone", "mentions": ["4-4"]},
        {"do": "exists", "mentions": ["4-4"]},
        {"do": "absent", "mentions": ["4-4"]},
        {"do": "into", "mentions": ["4-4"], "chain": one},
        {"do": "split", "mentions": ["4-4"]},
        {"do": "together", "mentions": ["4-4", "5-5"]},
        {"do": "apart", "mentions": ["4-4", "5-5"]},
        {"do": "together", "mentions": ["4-4", "5-5"]},
    ]
    for answer in answers:
        if "chain" in answer and answer["chain"] not in session.state(0)["chains"]:
            do(session, do="mention", mentions=["5-5"])
            answer["chain"] = home(session, "5-5")
        do(session, **answer)
    assert home(session, "4-4") == home(session, "5-5") is not None


def test_several_operations_are_one_step(session: ReviewSession) -> None:
    before = session.state(0)
    first: Values = {"do": "absent", "mentions": ["4-4"]}
    do(session, do="all", ops=[first, first, {"do": "alone", "mentions": ["5-5"]}])
    assert [one["kind"] for one in session.state(0)["decisions"]] == ["absent", "alone"]
    assert "already" in str(refused(session, do="all", ops=[first]))
    do(session, do="undo")
    assert lasting(session.state(0)) == lasting(before)
    nested: list[Any] = [[], 7, [{"do": "all", "ops": [first]}], [{"do": "undo"}], [first] * 1001]
    for ops in nested:
        refused(session, do="all", ops=ops)
    assert lasting(session.state(0)) == lasting(before)


@pytest.mark.parametrize("seed", range(6))
def test_remedies_work_and_messages_speak_of_the_text(tmp_path: Path, seed: int) -> None:
    """Whatever is refused, each remedy that is an operation is done, or leads on to fewer decisions."""
    rng = random.Random(seed)
    session = random_session(rng, tmp_path / "review.conll")
    session.close = lambda: None  # type: ignore[method-assign]
    shown: set[str] = set()
    for _ in range(60):
        operation = random_operation(rng, session.state(0))
        before = lasting(session.state(0))
        try:
            do(session, **operation)
        except OperationError as error:
            shown.update([str(error), *(remedy.label for remedy in error.remedies)])
            follow(session, error)
            assert lasting(session.state(0)) == before
        state = session.state(0)
        shown.update(one["label"] for one in state["decisions"])
        shown.update(filter(None, (state["undo"], state["redo"])))
    assert [text for text in sorted(shown) if NUMBERS.search(text)] == []


def follow(session: ReviewSession, error: OperationError, depth: int = 0) -> None:
    for remedy in error.remedies:
        if remedy.operation is None:
            continue
        try:
            do(session, **remedy.operation)
            do(session, do="undo")
        except OperationError as again:
            assert again.remedies or "already" in str(again)
            if depth < 1:
                follow(session, again, depth + 1)


def sources() -> Iterator[tuple[str, str]]:
    """Yield every quoted text of the page's own files."""
    static = resources.files("caspr.review") / "static"
    folder = Path(str(static))
    for path in sorted([*folder.rglob("*.js"), *folder.parent.rglob("*.html")]):
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        text = re.sub(r"\$\{[^}]*\}", "…", text)
        quoted = re.findall(r'"[^"\n]*"|`[^`]*`' if path.suffix == ".js" else r">[^<]+<", text)
        yield from ((path.name, one) for one in quoted)


def test_the_page_itself_has_no_options_and_no_token_numbers() -> None:
    shown = [(name, text) for name, text in sources() if not text.startswith('"--')]
    assert len(shown) > 300
    assert [one for one in shown if NUMBERS.search(one[1])] == []
