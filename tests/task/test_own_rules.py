"""What rules derived is added up by pair and mention, and read back only where it makes sense."""

from collections.abc import Iterable
from itertools import combinations
from random import Random
from typing import Any

import pytest

from caspr.errors import InputError
from caspr.task.decisions import Rule, StatementKind
from caspr.task.objectives import LARGEST_COEFFICIENT
from caspr.task.own_rules import (
    Consequence,
    DerivedRules,
    Effect,
    consequence,
    read_derived,
    rule_findings,
    write_derived,
)
from caspr.text.document import Span

ONE, TWO = Rule("ours.lp", 1, "one"), Rule("ours.lp", 2, "two")
SPANS = A, B, C, D, E = tuple(Span(token, token) for token in range(1, 6))
TOKENS = 5


def said(effect: Effect, *mentions: Span, cost: int = 0, rule: Rule = ONE) -> Consequence:
    return Consequence(effect, mentions, rule, cost)


DERIVED = DerivedRules(
    (
        said(Effect.FORBID, A, B),
        said(Effect.FORBID, A, B, rule=TWO),
        said(Effect.FORBID, B, D),
        said(Effect.REQUIRE, C, D),
        said(Effect.FORBID_MENTION, E),
        said(Effect.TOGETHER_COST, A, C, cost=2),
        said(Effect.TOGETHER_COST, A, C, cost=3, rule=TWO),
        said(Effect.APART_COST, A, C, cost=1),
        said(Effect.APART_COST, B, C, cost=4),
        said(Effect.TOGETHER_COST, D, E, cost=7),
        said(Effect.MENTION_COST, A, cost=5),
        said(Effect.MENTION_COST, A, cost=-3, rule=TWO),
        said(Effect.MENTION_COST, B, cost=-6),
        said(Effect.MENTION_COST, B, cost=-1, rule=TWO),
        said(Effect.MENTION_COST, C, cost=0),
    )
)


def test_costs_of_several_rules_add_up() -> None:
    assert DERIVED.together == {(A, C): 5, (D, E): 7}
    assert DERIVED.apart == {(A, C): 1, (B, C): 4}
    assert DERIVED.joining == {A: 5}
    assert DERIVED.leaving == {A: 3, B: 7}
    assert DERIVED.paired == {A: {C: -4}, B: {C: 4}, C: {A: -4, B: 4}, D: {E: -7}, E: {D: -7}}


def test_what_costs_nothing_is_a_statement_or_a_link() -> None:
    kinds = [(statement.kind, statement.mentions) for statement in DERIVED.statements]
    assert kinds == [
        (StatementKind.APART, (A, B)),
        (StatementKind.APART, (A, B)),
        (StatementKind.APART, (B, D)),
        (StatementKind.TOGETHER, (C, D)),
        (StatementKind.ABSENT, (E,)),
    ]
    assert DERIVED.forbidden == {A: {B}, B: {A, D}, D: {B}}
    assert DERIVED.required == {C, D}
    assert DERIVED.given == {A: {C}, B: {C}, C: {A, B}}
    assert DERIVED.by_pair[A, B] == DERIVED.consequences[:2]
    assert DERIVED.by_pair[E,] == (DERIVED.consequences[4],)


def test_rules_about_pairs_or_about_the_solution_are_something_to_respect() -> None:
    assert not DerivedRules()
    assert DerivedRules((said(Effect.FORBID, A, B),))
    assert DerivedRules(program=":~ clink(M1,M2). [1@1,M1,M2]")


def within(pairs: Iterable[tuple[Span, Span]], mentions: Iterable[Span]) -> list[tuple[Span, Span]]:
    return sorted(pair for pair in pairs if set(pair) <= set(mentions))


@pytest.mark.parametrize("seed", range(20))
def test_pairs_are_found_within_any_collection_of_mentions_once_each(seed: int) -> None:
    random = Random(seed)
    every = list(combinations(SPANS, 2))
    forbidden, together, apart = (random.sample(every, random.randint(0, 5)) for _ in range(3))
    derived = DerivedRules(
        (
            *(said(Effect.FORBID, *pair) for pair in forbidden),
            *(said(Effect.TOGETHER_COST, *pair, cost=1) for pair in together),
            *(said(Effect.APART_COST, *pair, cost=1) for pair in apart),
        )
    )
    chosen = random.sample(SPANS, random.randint(0, len(SPANS)))
    for mentions in (chosen, tuple(chosen), set(chosen), frozenset(chosen), dict.fromkeys(chosen).keys()):
        assert sorted(derived.faults(mentions)) == within(forbidden, chosen)
        assert sorted(derived.pairs_within(mentions)) == within({*together, *apart}, chosen)
        assert sorted(derived.links_within(mentions)) == within(apart, chosen)
    for first, second in every:
        assert derived.gives(first, second) == derived.gives(second, first) == ((first, second) in apart)


def test_what_is_derived_later_is_added_once() -> None:
    files = DerivedRules(DERIVED.consequences, program="p.", asked=(frozenset({A}),))
    assert files.extended(DERIVED.consequences[3:5], [frozenset({C, D})]) is files
    new = said(Effect.FORBID, A, E)
    more = files.extended([new, new, DERIVED.consequences[0]], [frozenset({A, E})])
    assert more.consequences == (*DERIVED.consequences, new)
    assert (more.partial, more.program) == (True, "p.")
    assert more.asked == (frozenset({A}), frozenset({A, E}))


def test_findings_count_what_each_rule_derived() -> None:
    messages = [(finding.message, finding.count) for finding in rule_findings(DERIVED)]
    assert messages[:3] == [
        ("your rule 'one' (ours.lp:1): 2 pairs kept apart", 2),
        ("your rule 'two' (ours.lp:2): 1 pair kept apart", 1),
        ("your rule 'one' (ours.lp:1): 1 pair put together", 1),
    ]
    assert sum(count or 0 for _, count in messages) == len(DERIVED.consequences)


def test_a_rule_that_was_asked_about_some_pairs_and_derived_nothing_is_idle() -> None:
    three = Rule("ours.lp", 3, "three")
    four = Rule("ours.lp", 4, "four")
    derived = DerivedRules(
        (said(Effect.FORBID, A, B), said(Effect.REQUIRE, A, C, rule=TWO)),
        waiting={ONE: "", three: "; there are no heads", four: ""},
    )
    shorter = "it is not needed, or says something else than you mean (a shorter text shows)"
    assert [(finding.code, finding.message) for finding in rule_findings(derived)] == [
        ("rule-derived", f"{ONE}: 1 pair kept apart, of those asked about"),
        ("rule-derived", f"{TWO}: 1 pair put together"),
        ("rule-idle", f"{three}: it fits no pair asked about; there are no heads"),
        ("rule-idle", f"{four}: it fits no pair asked about: {shorter}"),
    ]


def test_effects_are_written_with_their_mentions_and_their_cost() -> None:
    assert [effect.written for effect in (Effect.FORBID, Effect.REQUIRE_MENTION, Effect.APART_COST)] == [
        "forbid(M1,M2)",
        "require_mention(M)",
        "apart_cost(M1,M2,W)",
    ]
    assert Effect.MENTION_COST.written == "mention_cost(M,W)"


def test_what_was_derived_is_read_back() -> None:
    assert read_derived(write_derived(DERIVED), TOKENS) == DERIVED
    partial = DerivedRules(DERIVED.consequences[:1], partial=True)
    assert read_derived(write_derived(partial), TOKENS) == partial


RULES = [["ours.lp", 1, "one"]]


@pytest.mark.parametrize(
    "forged",
    [
        {"partial": 1},
        {"rules": [[7, 1, "one"]]},
        {"rules": [["ours.lp", "1", "one"]]},
        {"rules": [["ours.lp", True, "one"]]},
        {"rules": [["ours.lp", 1, None]]},
        {"derived": [["forbid", [[1, 1], [2, 2]], 0, 1]]},
        {"derived": [["forbid", [[1, 1], [2, 2]], 0, -1]]},
        {"derived": [["forbid", [[1, 1], [2, 2]], 0, False]]},
        {"derived": [["forbids", [[1, 1], [2, 2]], 0, 0]]},
        {"derived": [["forbid", [[1, 1], [1, 1]], 0, 0]]},
        {"derived": [["forbid", [[1, 1], [2, 2], [3, 3]], 0, 0]]},
        {"derived": [["forbid_mention", [[1, 1], [2, 2]], 0, 0]]},
        {"derived": [["forbid", [[0, 1], [2, 2]], 0, 0]]},
        {"derived": [["forbid", [[1, 1], [2, 6]], 0, 0]]},
        {"derived": [["forbid", [[3, 1], [2, 2]], 0, 0]]},
        {"derived": [["forbid", [[1], [2, 2]], 0, 0]]},
        {"derived": [["forbid", [[1, 1, 1], [2, 2]], 0, 0]]},
        {"derived": [["forbid", [[1, 1.0], [2, 2]], 0, 0]]},
        {"derived": [["forbid", [[True, 1], [2, 2]], 0, 0]]},
        {"derived": [["forbid", [[1, 1], [2, 2]], 1, 0]]},
        {"derived": [["together_cost", [[1, 1], [2, 2]], "1", 0]]},
        {"derived": [["together_cost", [[1, 1], [2, 2]], True, 0]]},
        {"derived": [["together_cost", [[1, 1], [2, 2]], -1, 0]]},
        {"derived": [["mention_cost", [[1, 1]], LARGEST_COEFFICIENT + 1, 0]]},
        {"derived": [["mention_cost", [[1, 1]], -LARGEST_COEFFICIENT - 1, 0]]},
    ],
)
def test_what_makes_no_sense_is_refused(forged: dict[str, Any]) -> None:
    with pytest.raises(
        (InputError, ValueError), match=r"found|as (a rule|the number of a rule|yes or no)|valid"
    ):
        read_derived({"rules": RULES, "partial": False, "derived": [], **forged}, TOKENS)


@pytest.mark.parametrize(
    "row",
    [
        ["together_cost", [[1, 1], [5, 5]], 0, 0],
        ["apart_cost", [[1, 5], [2, 4]], LARGEST_COEFFICIENT, 0],
        ["mention_cost", [[5, 5]], -LARGEST_COEFFICIENT, 0],
        ["require", [[2, 2], [1, 3]], 0, 0],
    ],
)
def test_the_largest_costs_and_the_last_tokens_make_sense(row: list[Any]) -> None:
    (read,) = read_derived({"rules": RULES, "partial": False, "derived": [row]}, TOKENS).consequences
    assert (read.effect, read.cost, sorted(read.mentions)) == (row[0], row[2], sorted(map(tuple, row[1])))


def test_spans_are_checked_like_any_pair_of_tokens() -> None:
    assert consequence(Effect.FORBID, [B, A], 0, ONE, TOKENS).mentions == (A, B)
    for span in (Span(0, 1), Span(2, 1), Span(5, 6)):
        with pytest.raises(InputError, match="found tokens"):
            consequence(Effect.FORBID_MENTION, [span], 0, ONE, TOKENS)


def test_a_cost_below_0_names_the_effect_that_says_it() -> None:
    for effect, other in (("together_cost", "apart_cost"), ("apart_cost", "together_cost")):
        with pytest.raises(InputError, match=f"found {effect} -3, .*: {other} 3"):
            consequence(Effect(effect), [A, B], -3, ONE, TOKENS)
