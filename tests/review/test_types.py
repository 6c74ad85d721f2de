"""The messages to the page have exactly the fields that `static/state/types.d.ts` declares."""

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

import caspr.review
from caspr.review.operations import VERBS
from caspr.review.session import ReviewSession
from caspr.task.decisions import StatementKind
from caspr.task.limits import Limits
from caspr.text.document import Span
from tests.review.sessions import Values, paper

STATIC = Path(caspr.review.__file__).parent / "static"
TYPES = (STATIC / "state" / "types.d.ts").read_text(encoding="utf-8")


def declared(name: str) -> tuple[set[str], set[str]]:
    """Return the required and the optional fields of an interface, with those it inherits."""
    found = re.search(rf"^export interface {name}(?: extends ([\w, ]+))? {{\n(.*?)^}}", TYPES, re.M | re.S)
    assert found is not None, f"no interface {name}"
    fields = re.findall(r"^  (\w+)(\??): ", found[2], re.M)
    required = {field for field, optional in fields if not optional}
    possible = {field for field, optional in fields if optional}
    for parent in re.findall(r"\w+", found[1] or ""):
        more, perhaps = declared(parent)
        required |= more
        possible |= perhaps
    return required, possible


def literals(text: str) -> set[str]:
    return set(re.findall(r'"(\w+)"', text))


def check(name: str, values: Iterable[Values]) -> None:
    """Check that there are such values, and that each has the fields of an interface."""
    required, possible = declared(name)
    some = list(values)
    assert some, f"no {name} to look at"
    for value in some:
        assert required <= set(value) <= required | possible, name


@pytest.fixture
def session(tmp_path: Path) -> ReviewSession:
    return paper(tmp_path / "review.conll")


def test_states_and_updates(session: ReviewSession) -> None:
    events: list[tuple[str, Values]] = []
    session.listeners.append(lambda number, kind, data: events.append((kind, data)))
    session.do(0, {"do": "note", "text": "x", "mention": "4-4"}, 1)
    update = session.do(0, {"do": "together", "mentions": ["1-3", "6-6"]}, 2)
    state = session.state(0)
    check("State", [state])
    check("PartialUpdate", [update, *(data for kind, data in events if kind == "update")])
    check("Mention", [*state["mentions"].values(), *filter(None, update["mentions"].values())])
    check("Chain", [*state["chains"].values(), *filter(None, update["chains"].values())])
    check("Cost", [state["cost"], update["cost"]])
    check("Progress", [state["progress"]])
    check("Decision", state["decisions"])
    check("Note", state["notes"])
    check("Change", update["changed"])


def test_a_replaced_document(session: ReviewSession) -> None:
    events: list[Values] = []
    session.listeners.append(lambda number, kind, data: events.append(data))
    session.state(0)
    path = session.store.path
    path.write_text(path.read_text().replace('"omit_cost": 2', '"omit_cost": 3'))
    session.poll()
    check("FullUpdate", [data for data in events if data.get("full")])


def test_questions_and_explanations(session: ReviewSession) -> None:
    history = session.history(0)
    questions = history.queue.open(history.snapshot)
    check("QuestionRow", history.queue.rows(questions, history.snapshot))
    cards = [history.queue.card(one, history.snapshot) for one in questions]
    check("QuestionCard", [{**card, "version": 1} for card in cards])
    check("Choice", [choice for card in cards for choice in card["choices"]])
    check("ComputedPrice", [card["leave"] for card in cards])
    check("Stakes", [history.stakes(questions)])
    explanation = history.viewer.explanation(Span(5, 5), history.snapshot, Limits(seconds=1))
    check("Explanation", [explanation])
    check("Vote", explanation["votes"])
    check("Alternative", explanation["alternatives"])


def test_operations_and_kinds_of_decisions() -> None:
    operations = TYPES.partition("export type Operation =")[2]
    verbs = {verb for choice in re.findall(r"do: ([^;}]+)", operations) for verb in literals(choice)}
    assert verbs == {*VERBS, "undo", "redo"}
    kinds = literals(TYPES.partition("export type DecisionKind =")[2].partition(";")[0])
    assert kinds == set(StatementKind)
