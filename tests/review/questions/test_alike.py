"""What is offered after an answer: the same answer for other questions, in one step."""

from collections.abc import Mapping, Sequence
from typing import Any

from caspr.review.history import History
from caspr.review.session import fresh_review
from caspr.review.solver import Solver
from caspr.task.instance import Singletons
from caspr.task.settings import Settings
from caspr.text.document import Annotation, Chain, Document, Span
from tests.review.questions.documents import NOBODY, QUICK, act, asked, card

WORDS = [
    "the",
    "king",
    "!",
    "saw",
    "the",
    "queen",
    "!",
    "and",
    "the",
    "prince",
    "!",
    "and",
    "the",
    "whole",
    "old",
    "court",
    "!",
    "saw",
    "it",
]
KING, QUEEN, PRINCE = (1, 2), (5, 6), (9, 10)
NAMES = ("ann", "bob")


def opened(given: Mapping[str, Sequence[Sequence[tuple[int, int]]]], words: Sequence[str]) -> History:
    document, settings = Document("d", tuple(words)), Settings(variants=True, singletons=Singletons.VOTE)
    annotations = tuple(
        Annotation.of(name, document, [Chain.of(f"{number}", chain) for number, chain in enumerate(chains)])
        for name, chains in given.items()
    )
    return History.of(fresh_review(annotations, settings), Solver(annotations, settings), QUICK, NOBODY)


def kings() -> History:
    """Open a document in which Bob marks the exclamation mark, too, and once no article."""
    return opened(
        {
            "ann": [[KING], [QUEEN], [PRINCE], [(14, 15)]],
            "bob": [[(1, 3)], [(5, 7)], [(9, 11)], [(13, 15)]],
        },
        WORDS,
    )


def offers(history: History, id: str) -> list[dict[str, Any]]:
    question = history.queue.question(id)
    assert question is not None
    return history.queue.alike(question, history.snapshot)


def answer(history: History, id: str, anchor: str) -> None:
    chosen = next(choice for choice in card(history, id)["choices"] if choice["anchor"] == anchor)
    act(history, chosen["answer"])


def boundaries(history: History) -> list[str]:
    return [id for id in asked(history, "text") if id.startswith("b")]


def test_a_boundary_is_offered_for_all_that_differ_by_the_same_words() -> None:
    history = kings()
    first, *rest = boundaries(history)
    assert len(rest) == 3
    assert offers(history, first) == [], "nothing is decided yet"
    answer(history, first, "1-2")
    offer = next(offer for offer in offers(history, first) if offer["kind"] == "boundary")
    assert (offer["words"], offer["start"], offer["kept"], offer["count"]) == ("!", False, False, 2)
    before = len(history.snapshot.entries)
    act(history, offer["answer"])
    assert boundaries(history) == rest[2:], "the other one differs by an adjective"
    assert {(5, 6), (9, 10)} <= set(history.snapshot.chain_of)
    assert not {(5, 7), (9, 11)} & set(history.snapshot.chain_of)
    said = [entry.statement for entry in history.snapshot.entries[before:]]
    assert [statement.mentions for statement in said if (5, 6) in statement.mentions] == [((5, 6),)]
    act(history, {"do": "undo"})
    assert boundaries(history) == rest, "one step is one undo"


def test_what_one_annotator_marks_is_offered_in_the_same_number_of_words() -> None:
    words = [
        "a",
        "king",
        "saw",
        "his",
        "queen",
        "and",
        "one",
        "prince",
        "and",
        "every",
        "single",
        "old",
        "duke",
    ]
    history = opened(
        {
            "ann": [[(2, 2)], [(5, 5)], [(8, 8)], [(12, 13)]],
            "bob": [[(1, 2)], [(4, 5)], [(7, 8)], [(10, 13)]],
        },
        words,
    )
    first, *rest = boundaries(history)
    answer(history, first, "2-2")
    [offer] = offers(history, first)
    assert (offer["kind"], offer["annotator"], offer["start"], offer["kept"]) == ("annotator", 1, True, False)
    assert (offer["length"], offer["count"]) == (1, 2), "not the two words before “old duke”"
    act(history, offer["answer"])
    assert boundaries(history) == rest[2:]


ANNA, BEA = [(1, 1), (5, 5)], [(3, 3), (7, 7)]
SIRS = ["Anna", "met", "Bea", ".", "Anna", ",", "Bea", ",", "she", ",", "She", ",", "she"]


def sirs() -> History:
    """Open a document in which Ann and Bob put every “she” into another entity, and Carl marks only one."""
    return opened(
        {
            "ann": [[*ANNA, (9, 9), (11, 11), (13, 13)], BEA],
            "bob": [ANNA, [*BEA, (9, 9), (11, 11), (13, 13)]],
            "carl": [ANNA, [*BEA, (13, 13)]],
        },
        SIRS,
    )


def test_an_entity_is_offered_for_the_same_words() -> None:
    history = sirs()
    chosen = next(one for one in card(history, "q9-9")["choices"] if "1-1" in one["mentions"])
    act(history, chosen["answer"])
    [offer] = offers(history, "q9-9")
    assert (offer["kind"], offer["words"], offer["count"]) == ("entity", "she", 2)
    act(history, offer["answer"])
    home = history.snapshot.chain_of[Span(1, 1)]
    assert {history.snapshot.chain_of.get(Span(she, she)) for she in (9, 11, 13)} == {home}
    assert asked(history) == []


def test_no_mention_is_offered_where_somebody_marked_none() -> None:
    history = sirs()
    act(history, {"do": "absent", "mentions": ["9-9"]})
    [offer] = offers(history, "q9-9")
    assert (offer["kind"], offer["words"], offer["count"]) == ("absent", "she", 1)
    act(history, offer["answer"])
    assert asked(history) == ["q13-13"], "everybody marked this one"


def test_what_is_decided_is_not_decided_again() -> None:
    history = sirs()
    act(history, {"do": "absent", "mentions": ["11-11"]})
    act(history, {"do": "absent", "mentions": ["9-9"]})
    assert offers(history, "q9-9") == []


def test_a_step_names_some_of_many_answers() -> None:
    history = sirs()
    ops = [{"do": "mention", "mentions": [f"{n}-{n}"]} for n in (1, 3, 5, 7, 9)]
    act(history, {"do": "all", "ops": ops})
    assert history.past[-1][1].endswith("; and 2 more")
