"""Which questions are asked, what they offer, and what answers do."""

import random
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from caspr.errors import EngineError
from caspr.formats import read_all
from caspr.review.history import History
from caspr.review.operations import OperationError
from caspr.review.questions.choices import Choice, ChoicePrice, PriceList
from caspr.review.questions.queue import ORDERS, Filter
from caspr.review.session import fresh_review
from caspr.review.solver import Solver
from caspr.task.instance import Nesting, Singletons
from caspr.task.limits import Limits
from caspr.task.own_rules import RuleFile
from caspr.task.pricing import price
from caspr.task.settings import Settings
from caspr.text.document import Chain, Span
from tests.review.questions.documents import (
    ANNA,
    ANNA_AGAIN,
    BEA,
    GIRL,
    GIRL_ONLY,
    HER,
    NOBODY,
    QUICK,
    SHE,
    Chains,
    act,
    asked,
    card,
    mentions,
    opened,
)
from tests.review.sessions import random_operation, random_session

EXAMPLES = Path(__file__).parents[3] / "examples"
DISPUTED = {
    "ann": [[ANNA, ANNA_AGAIN, SHE], [BEA, HER]],
    "bob": [[ANNA, ANNA_AGAIN], [BEA, SHE, HER]],
    "carl": [[ANNA, ANNA_AGAIN, SHE], [BEA, HER]],
}
"""All agree but about *she*."""
OVERRULED = Filter(overruled=True)
BOUNDARIES = {
    "ann": [[GIRL, HER]],
    "bob": [[(12, 13), HER]],
    "carl": [[GIRL, HER]],
}
"""All agree but about where the girl begins."""


def counted(history: History) -> dict[str, int]:
    return history.queue.progress(history.snapshot.decisions)


def test_one_question_for_each_disputed_mention() -> None:
    history = opened(DISPUTED)
    assert asked(history) == ["q8-8"]


def test_choices_name_who_says_so_and_what_the_result_says() -> None:
    shown = card(opened(DISPUTED), "q8-8")
    assert shown["text"] == "Which entity is “she”?"
    assert [(one["anchor"], one["says"], one["now"]) for one in shown["choices"]] == [
        ("5-5", ["ann", "carl"], True),
        ("3-3", ["bob"], False),
    ]
    assert (shown["absent"], shown["alone"], shown["unseen"]) == ([], [], [])
    assert shown["now"] == "entity"
    assert shown["reason"] is None, "the majority has its way"


def test_an_answer_moves_the_mention_and_closes_the_question() -> None:
    history = opened(DISPUTED)
    act(history, card(history, "q8-8")["choices"][1]["answer"])
    assert mentions(history, SHE) == [BEA, SHE, HER]
    assert asked(history) == []
    act(history, {"do": "undo"})
    assert asked(history) == ["q8-8"]


def test_not_these_is_always_possible_and_closes_the_question() -> None:
    history = opened(DISPUTED, singletons=Singletons.DROP)
    act(history, card(history, "q8-8")["none"])
    assert mentions(history, SHE) == []
    assert asked(history) == []


def test_a_new_entity_is_a_mention_apart_from_those_that_were_offered() -> None:
    history = opened(DISPUTED, singletons=Singletons.DROP)
    act(history, {**card(history, "q8-8")["none"], "exists": True})
    assert mentions(history, SHE) == [SHE]
    assert asked(history) == []


@pytest.mark.parametrize("verb", ["absent", "alone"])
def test_no_mention_and_alone_close_the_question(verb: str) -> None:
    history = opened(DISPUTED)
    act(history, {"do": verb, "mentions": ["8-8"]})
    assert mentions(history, SHE) == ([SHE] if verb == "alone" else [])
    assert asked(history) == []


def test_several_entities_chosen_are_one() -> None:
    history = opened(DISPUTED)
    both = [choice["anchor"] for choice in card(history, "q8-8")["choices"]]
    act(history, {"do": "place", "mention": "8-8", "with": both, "apart": []})
    assert mentions(history, SHE) == [ANNA, BEA, ANNA_AGAIN, SHE, HER]


def test_another_entity_is_chosen_by_its_chain() -> None:
    given = {name: [*chains, [GIRL, (16, 16)]] for name, chains in DISPUTED.items()}
    history = opened(given)
    girl = history.snapshot.chain_of[next(span for span in history.snapshot.chain_of if span == GIRL)]
    act(history, {"do": "place", "mention": "8-8", "chain": girl, "apart": ["5-5", "3-3"]})
    assert mentions(history, SHE) == [SHE, GIRL, (16, 16)]
    assert asked(history) == []


def test_boundaries_are_one_question_with_the_boundaries_as_choices() -> None:
    history = opened(BOUNDARIES)
    assert asked(history) == ["b11-13"]
    shown = card(history, "b11-13")
    assert [(one["anchor"], one["says"]) for one in shown["choices"]] == [
        ("11-13", ["ann", "carl"]),
        ("12-13", ["bob"]),
    ]
    act(history, shown["choices"][1]["answer"])
    assert mentions(history, HER) == [(12, 13), HER], "all agree on the entity"
    assert asked(history) == []


def test_the_entity_is_asked_after_the_boundary() -> None:
    given = {
        "ann": [[ANNA, ANNA_AGAIN, GIRL], [BEA, HER]],
        "bob": [[ANNA, ANNA_AGAIN], [BEA, (12, 13), HER]],
        "carl": [[ANNA, ANNA_AGAIN], [BEA, (12, 13), HER]],
    }
    history = opened(given)
    assert [one.id for one in history.queue.questions] == ["b12-13", "q12-13"]
    assert asked(history) == ["b12-13"]
    assert counted(history) == {"asked": 1, "answered": 0}, "one mention, of which one question waits"
    act(history, card(history, "b12-13")["choices"][0]["answer"])
    assert asked(history) == ["q12-13"]
    assert counted(history) == {"asked": 1, "answered": 0}
    shown = card(history, "q12-13")
    assert [one["says"] for one in shown["choices"]] == [["bob", "carl"], ["ann"]]
    act(history, shown["choices"][0]["answer"])
    assert counted(history) == {"asked": 1, "answered": 1}


def test_a_mention_whose_entity_is_enforced_in_the_text_is_decided() -> None:
    """The earlier mention is not one that annotators doubt, so no doubt is settled by it."""
    history = opened(DISPUTED)
    act(history, {"do": "together", "mentions": ["1-1", "8-8"]})
    assert history.status()["progress"] == {"asked": 1, "answered": 1, "answers": 1}
    assert asked(history) == []
    act(history, {"do": "undo"})
    act(history, {"do": "accept", "chain": history.snapshot.chain_of[Span(*SHE)]})
    assert (asked(history), counted(history)) == ([], {"asked": 1, "answered": 1})
    act(history, {"do": "undo"})
    act(history, {"do": "together", "mentions": ["8-8", "15-15"]})
    assert asked(history) == ["q8-8"], "what a later mention is the same as says nothing about its entity"


def test_prices_are_exact_and_first_being_computed() -> None:
    history = opened(DISPUTED)
    assert [choice["computed"] for choice in card(history, "q8-8")["choices"]] == [False, False]
    question = history.queue.question("q8-8")
    assert question is not None
    assert history.queue.price(question, history.snapshot, 5, lambda: False)
    shown = card(history, "q8-8")
    other = shown["choices"][1]
    answered = history.step_for(other["answer"], QUICK, NOBODY).snapshot.partition
    undecided = history.solver.instance(history.snapshot.decisions)
    more = price(undecided, answered).total - history.snapshot.value
    assert (shown["choices"][0]["price"], other["price"], other["exact"]) == (0, more, True)
    assert shown["leave"]["price"] is not None
    act(history, {"do": "note", "text": "x", "mention": None})


def unproven(*_: object) -> None:
    raise EngineError("no solution was found within the limits")


def test_a_price_that_is_not_proven_in_time_is_not_said_to_be_computed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    history = opened(DISPUTED)
    question = history.queue.question("q8-8")
    assert question is not None
    monkeypatch.setattr(PriceList, "_joined", unproven)
    assert history.queue.price(question, history.snapshot, 5, lambda: False)
    shown = card(history, "q8-8")
    other = shown["choices"][1]
    assert (other["computed"], other["price"], other["possible"]) == (True, None, True)
    assert shown["leave"]["price"] is not None, "what is hard to prove does not keep the rest from a price"


def test_a_hard_price_takes_only_its_share_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[float] = []

    def bounded(
        self: PriceList, span: Span, choice: Choice, rest: list[Choice], limits: Limits
    ) -> ChoicePrice:
        given.append(limits.seconds or 0)
        return ChoicePrice(len(given), exact=False)

    history = opened(DISPUTED)
    question = history.queue.question("q8-8")
    assert question is not None
    monkeypatch.setattr(PriceList, "_joined", bounded)
    history.queue.price(question, history.snapshot, 60, lambda: False)
    first, again = given
    assert first <= 30 < again, "it gets the rest of the time when all others have a price"
    assert card(history, "q8-8")["choices"][1]["price"] == 2


def test_an_answer_stops_the_prices_of_the_snapshot_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer makes a new snapshot while the engine still prices the question, and stops it."""
    history = opened(DISPUTED)
    question = history.queue.question("q8-8")
    assert question is not None
    monkeypatch.setattr(PriceList, "_joined", unproven)
    assert not history.queue.price(question, history.snapshot, 5, lambda: True)
    assert not any(choice["computed"] for choice in card(history, "q8-8")["choices"])


def test_estimates_of_two_snapshots_at_the_same_time() -> None:
    """A request about the old snapshot may still run when the new one forgets the chains that changed."""
    history = opened(DISPUTED)
    moves, ended = history.queue.moves, Event()
    chains = [Chain.of(str(number), [ANNA, ANNA_AGAIN]) for number in range(3000)]

    def estimate() -> int:
        rounds = 0
        while not ended.is_set():
            for chain in chains:
                moves.gain(chain.mentions[0], chain)
            rounds += 1
        return rounds

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    with ThreadPoolExecutor(1) as threads:
        try:
            estimated = threads.submit(estimate)
            for _ in range(100):
                moves.forget_others(chains[::2])
        finally:
            ended.set()
            sys.setswitchinterval(interval)
    assert estimated.result() > 0, "a fault in the other thread is raised here"


def test_a_nested_mention_has_a_price_where_the_answer_is_accepted() -> None:
    given = {
        "ann": [[ANNA, GIRL], [BEA, HER]],
        "bob": [[ANNA, GIRL], [BEA, HER]],
        "carl": [[ANNA, GIRL, (12, 12)], [BEA, HER]],
    }
    history = opened(given, nested=Nesting.VOTE)
    question = history.queue.question("q12-12")
    assert question is not None
    history.queue.price(question, history.snapshot, 5, lambda: False)
    [choice] = [one for one in card(history, "q12-12")["choices"] if not one["now"]]
    assert choice["anchor"] == "11-13"
    assert choice["possible"] and choice["price"] is not None
    act(history, choice["answer"])
    assert (12, 12) in mentions(history, GIRL)


def test_a_majority_that_is_overruled_is_explained() -> None:
    nested = {
        "ann": [[ANNA, (1, 2), ANNA_AGAIN]],
        "bob": [[ANNA, (1, 2), ANNA_AGAIN]],
        "carl": [[ANNA, ANNA_AGAIN]],
    }
    history = opened(nested, nested=Nesting.NEVER)
    overruled = [
        one for one in history.queue.questions if history.queue.filtered([one], history.snapshot, OVERRULED)
    ]
    assert overruled
    assert "is inside" in card(history, overruled[0].id)["reason"]


UNSAID = {
    "ann": [[ANNA, ANNA_AGAIN, SHE], [BEA, HER]],
    "bob": [[ANNA, ANNA_AGAIN], [BEA, SHE, HER]],
    "carl": [[ANNA, ANNA_AGAIN], [BEA, HER]],
    "dora": [[ANNA, ANNA_AGAIN], [BEA, HER]],
    "emil": [[ANNA, ANNA_AGAIN], [BEA, HER]],
}
"""Two of five marked *she*, of different entities."""


def test_a_result_that_no_annotator_says_is_explained() -> None:
    alone = card(opened(UNSAID, singletons=Singletons.VOTE), "q8-8")
    assert (alone["now"], alone["alone"], alone["against"], alone["voters"]) == ("alone", [], 5, 5)
    words = "no entity has enough votes, but enough annotators marked it, so it stays alone"
    assert alone["reason"] == words

    names = dict(zip("abc", ([[ANNA, SHE]], [[BEA, SHE]], [[GIRL, SHE]]), strict=True))
    absent = card(opened(names, singletons=Singletons.DROP), "q8-8")
    assert (absent["now"], absent["absent"]) == ("absent", [])
    assert absent["reason"] == "no entity has enough votes, so it is left out"


def test_a_rule_that_keeps_a_mention_alone_although_votes_favour_a_link_is_named() -> None:
    both, one = [[ANNA, (1, 2), ANNA_AGAIN]], [[ANNA, ANNA_AGAIN]]
    nested = {"ann": both, "bob": both, "carl": one, "dora": one, "emil": one}
    shown = card(opened(nested, nested=Nesting.NEVER, singletons=Singletons.VOTE), "q1-2")
    assert (shown["now"], shown["against"], shown["voters"]) == ("alone", 5, 5)
    assert shown["reason"] == "“Anna” is inside “Anna met”"


def test_a_rule_of_ones_own_that_overrules_all_is_named() -> None:
    rules = (RuleFile("ours.lp", "% she is doubtful\nmention_cost(M,20) :- span(M,8,8)."),)
    reason = card(opened(DISPUTED, rules=rules), "q8-8")["reason"]
    rule = "your rule 'she is doubtful' (ours.lp:2)"
    assert reason == f"2 of 3 annotators link them, but {rule} charges 20 for “she” in a chain"


def test_filters() -> None:
    given = {
        "ann": [[ANNA, ANNA_AGAIN, SHE], [BEA, HER]],
        "bob": [[ANNA, ANNA_AGAIN], [BEA, SHE, HER]],
        "carl": [[ANNA, ANNA_AGAIN, SHE], [BEA, HER, (16, 16)]],
    }
    history = opened(given)
    every = history.queue.open(history.snapshot)

    def found(**wanted: Any) -> list[str]:
        return sorted(one.id for one in history.queue.filtered(every, history.snapshot, Filter(**wanted)))

    assert found() == ["q16-16", "q8-8"]
    assert found(annotator="bob") == ["q8-8"]
    assert found(annotator="carl") == ["q16-16"]
    assert found(annotator="nobody") == []
    assert found(kind="boundary") == []
    assert found(entity=history.snapshot.chain_of[history.queue.questions[0].mention]) == ["q8-8"]


def test_links_come_before_mentions_and_cheap_ones_before_dear_ones() -> None:
    given = {
        "ann": [[ANNA, ANNA_AGAIN, SHE, (16, 16)], [BEA, HER]],
        "bob": [[ANNA, ANNA_AGAIN, SHE], [BEA, HER, (16, 16)]],
        "carl": [[ANNA, ANNA_AGAIN], [BEA, SHE, HER, (16, 16)], [(14, 14)]],
    }
    history = opened(given, singletons=Singletons.VOTE)
    valuable = asked(history)
    assert valuable[-1] == "q14-14"
    prices = [
        history.queue.moves.price(history.queue.placing(history.snapshot), one)
        for one in history.queue.open(history.snapshot)[:-1]
    ]
    assert prices == sorted(prices)
    assert asked(history, "text") == ["q8-8", "q14-14", "q16-16"]
    assert sorted(asked(history, "entity")) == sorted(valuable)


def test_stakes_count_what_is_left_and_what_the_last_steps_changed() -> None:
    history = opened(DISPUTED)
    before = history.stakes(history.queue.open(history.snapshot))
    assert (before["mentions"], before["steps"], before["changed"]) == (1, 0, 0)
    act(history, {"do": "together", "mentions": ["1-1", "5-5"]})
    act(history, card(history, "q8-8")["choices"][1]["answer"])
    after = history.stakes(history.queue.open(history.snapshot))
    assert after == {
        "mentions": 0,
        "ties": 0,
        "steps": 2,
        "changed": 1,
        "still": 0,
        "enough": 8,
    }


def test_answers_in_a_row_that_changed_nothing_are_counted() -> None:
    history = opened(DISPUTED)
    for number in range(3):
        assert history.stakes([])["still"] == number
        act(history, {"do": "exists", "mentions": [("1-1", "5-5", "8-8")[number]]})


@pytest.mark.parametrize(
    "operation",
    [
        {"do": "place", "mention": "8-8"},
        {"do": "place", "mention": "8-8", "with": "5-5"},
        {"do": "place", "mention": "x", "with": ["5-5"]},
        {"do": "place", "mention": "8-8", "chain": "99"},
        {"do": "place", "mention": "8-8", "with": ["8-8"], "apart": [1]},
        {"do": "prefer", "mentions": [], "over": ["5-5"]},
        {"do": "prefer", "mentions": ["5-5"], "over": {}},
    ],
)
def test_answers_that_say_nothing_are_refused(operation: dict[str, Any]) -> None:
    history = opened(DISPUTED)
    before = history.snapshot
    with pytest.raises(OperationError):
        act(history, operation)
    assert history.snapshot is before


@pytest.mark.parametrize("seed", range(8))
def test_any_answer_closes_its_question_and_none_opens_again(seed: int, tmp_path: Path) -> None:
    """Answer at random until nothing is asked; every card's answers are accepted or change nothing."""
    rng = random.Random(seed)
    history = random_session(rng, tmp_path / "r.conll").history(0)
    order = rng.choice(list(ORDERS))
    closed: set[str] = set()
    for _ in count():
        left = [one for one in history.queue.open(history.snapshot, order) if one.id not in closed]
        if not left:
            break
        shown = history.queue.card(left[0], history.snapshot)
        answers = [
            *(one["answer"] for one in shown["choices"]),
            {"do": "alone", "mentions": [shown["mention"]]},
        ]
        try:
            act(history, rng.choice(answers))
        except OperationError:
            act(history, {"do": "absent", "mentions": [shown["mention"]]})
        if shown["kind"] != "boundary":
            assert left[0].id not in asked(history, order), shown
        closed.add(left[0].id)


@pytest.fixture(scope="module")
def scene() -> History:
    """The six annotators of the scene, whose boundaries differ."""
    annotations = tuple(one for [one] in read_all(sorted((EXAMPLES / "scene").glob("*.conll"))))
    settings = Settings(variants=True)
    return History.of(fresh_review(annotations, settings), Solver(annotations, settings), QUICK, NOBODY)


def test_a_tie_is_as_many_for_the_result_as_against_it(scene: History) -> None:
    queue, snapshot = scene.queue, scene.snapshot
    listed = queue.open(snapshot)
    rows = queue.rows(listed, snapshot)
    assert all(row["tie"] is (0 < row["voters"] == 2 * row["against"]) for row in rows)
    ties = {row["mention"] for row in rows if row["tie"]}
    assert queue.stakes(snapshot, listed)["ties"] == len(ties) > 0
    for row, question in zip(rows, listed, strict=True):
        shown = queue.card(question, snapshot)
        assert all(shown[name] == row[name] for name in ("confidence", "against", "voters", "tie"))


def test_votes_for_a_question_are_those_of_its_card(scene: History) -> None:
    queue, snapshot = scene.queue, scene.snapshot
    for question in queue.open(snapshot):
        shown = queue.card(question, snapshot)
        if shown["kind"] == "boundary":
            [now] = [choice for choice in shown["choices"] if choice["now"]] or [{"says": []}]
            assert shown["voters"] - shown["against"] == len(now["says"])
        else:
            assert shown["voters"] == len(scene.solver.annotations) - len(shown["unseen"])


def test_a_mention_inside_one_of_the_entity_is_no_close_call() -> None:
    """For two of three not *girl* is a mention, but *the old girl*, of the same entity; Carl marked both."""
    longer = [[ANNA, BEA, ANNA_AGAIN, GIRL, HER]]
    history = opened(
        {"ann": longer, "bob": longer, "carl": [[ANNA, BEA, ANNA_AGAIN, GIRL_ONLY, HER], [GIRL]]}
    )
    queue, snapshot = history.queue, history.snapshot
    question = queue.question("q13-13")
    assert question is not None
    queue.price(question, snapshot, 0.3, lambda: False)
    [choice] = [one for one in queue.card(question, snapshot)["choices"] if one["says"]]
    estimate = queue.moves.price(queue.placing(snapshot), question)
    assert abs(estimate - choice["price"]) <= 3 < choice["price"]


NESTED = {
    "ann": [[BEA, GIRL, HER]],
    "bob": [[BEA, GIRL, HER]],
    "carl": [[BEA, GIRL_ONLY, HER]],
}


@pytest.mark.parametrize("variants", [False, True])
def test_a_long_boundary_and_a_short_one_of_the_same_entity_are_one_question(*, variants: bool) -> None:
    """*girl* has a third of the words of *the old girl*: too little for a variant."""
    history = opened(NESTED, variants=variants)
    assert asked(history) == ["b11-13"]
    choices = card(history, "b11-13")["choices"]
    assert [choice["anchor"] for choice in choices] == ["11-13", "13-13"]
    act(history, choices[1]["answer"])
    assert mentions(history, GIRL_ONLY) == [BEA, GIRL_ONLY, HER]
    assert GIRL not in history.snapshot.chain_of
    assert asked(history) == []
    elsewhere = {**NESTED, "carl": [[ANNA, GIRL_ONLY, SHE], [BEA, HER]]}
    assert "b11-13" not in asked(opened(elsewhere, variants=variants)), "another entity, another mention"


@pytest.mark.parametrize("variants", [False, True])
def test_another_boundary_stays_in_the_entity_and_leaves_its_questions_open(*, variants: bool) -> None:
    """Only Carl links *girl* with *her*: by the votes for this boundary it would be alone."""
    given: dict[str, Any] = {
        "ann": [[GIRL, HER]],
        "bob": [[GIRL, HER]],
        "carl": [[GIRL_ONLY, HER]],
        "dora": [],
    }
    history = opened(given, variants=variants)
    question = history.queue.question("b11-13")
    assert question is not None
    history.queue.price(question, history.snapshot, 5, lambda: False)
    chosen = card(history, "b11-13")["choices"][1]
    assert set(asked(history)) == {"b11-13", "q15-15"}
    cost = history.snapshot.value
    act(history, chosen["answer"])
    assert mentions(history, GIRL_ONLY) == [GIRL_ONLY, HER]
    assert asked(history) == ["q15-15"]
    assert chosen["price"] > 0, f"its votes are fewer; the cost was {cost}"


def test_a_mention_whose_entity_all_agree_on_is_not_asked_for_an_earlier_one_that_some_did_not_mark() -> None:
    given = {"ann": [[ANNA, SHE, HER]], "bob": [[ANNA, SHE, HER]], "carl": [[SHE, HER]]}
    history = opened(given)
    assert asked(history) == ["q1-1"], "whether *Anna* is of the entity is asked about *Anna*"
    elsewhere = {**given, "carl": [[SHE, HER], [ANNA, BEA]]}
    assert "q8-8" in asked(opened(elsewhere))


def test_annotators_who_say_so_in_part_are_named_as_such(scene: History) -> None:
    shown = card(scene, "q172-174")
    here, other = shown["choices"]
    everybody = ["anna", "ben", "carla", "david", "eva", "finn"]
    assert (here["now"], here["says"], here["partly"]) == (True, everybody, ["eva"])
    assert (other["now"], other["says"], other["partly"]) == (False, [], ["anna", "carla", "eva"])
    every = [card(scene, one.id) for one in scene.queue.open(scene.snapshot)]
    for choice in (choice for one in every if one["kind"] != "boundary" for choice in one["choices"]):
        assert choice["says"] or choice["partly"], "each entity is of some annotator"


CLEAR = {
    "ann": [[ANNA, ANNA_AGAIN], [GIRL, HER]],
    "bob": [[ANNA, ANNA_AGAIN], [GIRL, HER]],
    "carl": [[ANNA, ANNA_AGAIN], [GIRL, HER]],
    "dora": [[ANNA, ANNA_AGAIN], [(12, 13), HER]],
}


@pytest.mark.parametrize("variants", [False, True])
def test_a_boundary_that_most_annotators_drew_is_asked_only_if_wanted(*, variants: bool) -> None:
    history = opened(CLEAR, variants=variants)
    assert "b11-13" in [question.id for question in history.queue.questions]
    assert "b11-13" not in asked(history)
    every = history.queue.open(history.snapshot, clear=True)
    wanted = history.queue.filtered(every, history.snapshot, Filter(kind="clear"))
    assert [question.id for question in wanted] == ["b11-13"]
    assert not history.queue.filtered(every, history.snapshot, Filter(kind="boundary"))
    assert history.progress()["asked"] == len({question.mention for question in every}) - 1


def test_entities_come_before_boundaries_but_one_that_waits_comes_after_its_boundary() -> None:
    given = {
        "ann": [[ANNA, ANNA_AGAIN, SHE, GIRL], [BEA, HER]],
        "bob": [[ANNA, ANNA_AGAIN, GIRL], [BEA, SHE, HER]],
        "carl": [[ANNA, ANNA_AGAIN], [BEA, SHE], [(12, 13), HER]],
        "dora": [[ANNA, ANNA_AGAIN], [BEA, SHE], [(12, 13), HER]],
    }
    history = opened(given, variants=True)
    assert asked(history) == ["q15-15", "q8-8", "b11-13"], "q11-13 waits"
    act(history, {"do": "prefer", "mentions": ["11-13"], "over": ["12-13"]})
    assert asked(history) == ["q15-15", "q11-13", "q8-8"]


def test_votes_for_a_boundary_that_is_a_mention_of_its_own_are_not_shown_for_the_other() -> None:
    shorter = (12, 13)
    history = opened({"ann": [[ANNA, GIRL], [BEA, HER]], "bob": [[ANNA, shorter]], "carl": [[BEA, GIRL]]})
    asked_before = card(history, "q11-13")["choices"]
    assert ["ann", "bob"] in [choice["says"] for choice in asked_before]
    act(history, {"do": "prefer", "mentions": ["11-13", "12-13"], "over": []})
    shown = card(history, "q11-13")
    assert sorted(name for choice in shown["choices"] for name in choice["says"]) == ["ann", "carl"]
    assert "bob" not in shown["absent"]


def test_mentions_that_an_answer_brings_into_the_result_are_changes_elsewhere() -> None:
    others = [(2, 2), (4, 4), (6, 6)]
    history = opened({"ann": [[ANNA, *others, SHE]], "bob": [[BEA, HER]], "carl": [[BEA, HER]]})
    assert not {ANNA, *others, SHE} & set(history.snapshot.chain_of)
    [choice] = card(history, "q8-8")["choices"]
    step = history.step_for(choice["answer"], QUICK, NOBODY)
    brought = history.viewer.difference(history.snapshot, step.snapshot, step.named)["changed"]
    assert len(brought) >= 2, "more than the asked mention and the one that the card shows"
    assert {change["from"] for change in brought} == {None}
    assert not {"8-8", choice["anchor"]} & {change["mention"] for change in brought}


SIDES: dict[str, Chains] = {
    "ann": [[ANNA, SHE, HER], [BEA, GIRL]],
    "bob": [[ANNA, ANNA_AGAIN, SHE], [BEA, GIRL, HER]],
    "carl": [[ANNA, ANNA_AGAIN], [BEA, SHE, GIRL]],
}


def test_an_entity_that_answers_about_others_rule_out_is_no_choice() -> None:
    history = opened(SIDES, singletons=Singletons.VOTE)
    assert len(card(history, "q15-15")["choices"]) == 2
    act(history, {"do": "together", "mentions": ["8-8", "15-15"]})
    act(history, {"do": "apart", "mentions": ["8-8", "3-3"]})
    act(history, {"do": "apart", "mentions": ["8-8", "11-13"]})
    assert "q15-15" not in asked(history)
    assert [choice["anchor"] for choice in card(history, "q15-15")["choices"]] == ["8-8"]


def test_a_question_without_an_entity_left_asks_for_the_mention() -> None:
    history = opened(SIDES, singletons=Singletons.VOTE)
    for other in ("1-1", "3-3", "5-5", "8-8", "11-13"):
        act(history, {"do": "apart", "mentions": ["15-15", other]})
    shown = card(history, "q15-15")
    assert (shown["choices"], shown["kind"], shown["text"]) == ([], "mention", "Is “her” a mention?")
    question = history.queue.question("q15-15")
    assert question is not None
    [row] = history.queue.rows([question], history.snapshot)
    assert row["kind"] == "mention", "so it comes after questions about entities"


@pytest.mark.parametrize("seed", range(12))
def test_only_decisions_near_a_question_answer_it(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    session = random_session(rng, tmp_path / "review.conll")
    for _ in range(15):
        with suppress(OperationError):
            session.do(0, random_operation(rng, session.state(0)), session.history(0).version)
        history = session.history(0)
        placing = history.queue.placing(history.snapshot)
        everywhere = frozenset(history.viewer.votes) | placing._decided
        for question in history.queue.questions:
            looked_at = replace(question, near=everywhere)
            assert placing.is_open(question) == placing.is_open(looked_at)
            assert placing.kind(question) == placing.kind(looked_at)
    session.close()
