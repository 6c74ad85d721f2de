"""Contradictory decisions are refused with a minimal set of cells."""

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from caspr.task.contradictions import ContradictionError, feasible, minimal_subset, refuse_contradictions
from caspr.task.decisions import Decisions, Rule, Statement, StatementKind
from caspr.task.instance import Instance, Nesting, Singletons
from caspr.task.own_rules import Consequence, DerivedRules, Effect
from caspr.task.pricing import violations
from caspr.task.solution import Partition, canonical
from caspr.text.document import Annotation, Chain, Document, Span
from tests.instances import annotation, paper_annotations, random_instance
from tests.sweeps import how_many


def clash(instance: Instance) -> ContradictionError:
    with pytest.raises(ContradictionError) as caught:
        refuse_contradictions(instance)
    return caught.value


def test_no_decisions_never_contradict() -> None:
    instance = Instance(paper_annotations())
    refuse_contradictions(instance)
    assert feasible(instance, instance.decisions)


def test_a_mention_in_two_chains() -> None:
    decisions = Decisions.of([Chain.of("1", [(1, 3), (6, 6)]), Chain.of("2", [(6, 6), (5, 5)])])
    error = clash(Instance(paper_annotations(), decisions=decisions))
    assert error.tokens == (6,)
    assert "into chains 1 and 2" in str(error)


def test_a_mention_inside_another() -> None:
    decisions = Decisions.of([Chain.of("1", [(1, 3), (2, 2), (6, 6)]), Chain.of("2", [(4, 4), (5, 5)])])
    error = clash(Instance(paper_annotations(), decisions=decisions))
    assert error.tokens == (1, 2, 3)
    assert "--nested" in str(error)
    refuse_contradictions(Instance(paper_annotations(), decisions=decisions, nested=Nesting.ALWAYS))


def test_a_lone_mention_without_a_partner() -> None:
    decisions = Decisions.of([Chain.of("1", [(1, 1)])], empty=[4, 5])
    error = clash(Instance(paper_annotations(), decisions=decisions))
    assert error.tokens == (1, 4)


def test_mentions_enforced_together_are_not_blamed_for_being_alone() -> None:
    chains = [Chain.of("2", [(2, 2)]), Chain.of("1", [(3, 3), (5, 5)])]
    error = clash(Instance(paper_annotations(), decisions=Decisions.of(chains, empty=[4, 6])))
    assert error.tokens == (2, 4, 6)
    crossing = Decisions.of([Chain.of("1", [(1, 4), (2, 3)])])
    assert clash(Instance(paper_annotations(), decisions=crossing)).tokens == (1, 2, 3, 4)


def test_two_lone_mentions_that_share_their_only_partner() -> None:
    one = annotation("a", [[(1, 1), (2, 2)]])
    two = annotation("b", [[(2, 2), (3, 3)]])
    decisions = Decisions.of([Chain.of("1", [(1, 1)]), Chain.of("2", [(3, 3)])], empty=[5])
    error = clash(Instance((one, two), decisions=decisions))
    assert error.tokens == (1, 3)
    assert "each need a mention to be with" in str(error)


def test_the_blamed_cells_are_minimal() -> None:
    rng = random.Random(11)
    seen, cases = 0, how_many(1500, 500)
    for _ in range(cases):
        instance = random_instance(rng, mentions=6, decisions=True, odd=True)
        if feasible(instance, instance.decisions):
            continue
        seen += 1
        error = clash(instance)
        cells, statements = set(error.tokens), set(error.statements)
        kept = instance.decisions.restricted_to
        assert not feasible(instance, kept(cells, statements))
        assert all(feasible(instance, kept(cells - {cell}, statements)) for cell in cells)
        assert all(feasible(instance, kept(cells, statements - {one})) for one in statements)
    assert seen > cases // 30


def test_minimal_subset_asks_few_questions_of_many_items() -> None:
    asked = []

    def holds(chosen: object) -> bool:
        asked.append(chosen)
        return not {17, 901} <= set(chosen)  # type: ignore[call-overload]

    assert minimal_subset(range(1000), holds) == [17, 901]
    assert len(asked) < 60


def say(kind: StatementKind, *mentions: tuple[int, int], chain: str = "") -> Statement:
    return Statement.of(kind, mentions, chain)


def decided(*statements: Statement, chains: tuple[Chain, ...] = (), empty: tuple[int, ...] = ()) -> Instance:
    return Instance(paper_annotations(), decisions=Decisions.of(chains, empty, statements))


ONE, TWO = Chain.of("1", [(1, 3), (5, 5)]), Chain.of("2", [(2, 2), (4, 4)])
FIVE_EXISTS, FIVE_ABSENT = say(StatementKind.EXISTS, (5, 5)), say(StatementKind.ABSENT, (5, 5))
TORN = say(StatementKind.TOGETHER, (5, 5), (6, 6)), say(StatementKind.APART, (5, 5), (6, 6))
BOTH = "you decided that “5” (5-5) is a mention, and also that it is not"
ONE_AND_TWO = "you decided that “5” (5-5) and “6” (6-6) are one entity, and also that they are two"
ALONE = "nobody linked “1” (1-1) with anything that is left"


@pytest.mark.parametrize(
    ("instance", "tokens", "statements", "reason"),
    [
        (
            decided(say(StatementKind.TOGETHER, (5, 5), (4, 4)), chains=(ONE, Chain.of("2", [(4, 4)]))),
            (4, 5),
            1,
            "you put “4” (4-4) and “5” (5-5) together, and also into chains 1 and 2",
        ),
        (
            decided(FIVE_EXISTS, FIVE_ABSENT),
            (),
            2,
            BOTH,
        ),
        (
            decided(say(StatementKind.MENTION, (5, 5), (6, 6)), FIVE_ABSENT),
            (),
            2,
            BOTH,
        ),
        (
            decided(say(StatementKind.ALONE, (5, 5)), empty=(4, 5)),
            (5,),
            1,
            BOTH,
        ),
        (
            decided(say(StatementKind.ALONE, (5, 5)), chains=(ONE, TWO)),
            (1, 3, 5),
            1,
            "you decided that “5” (5-5) is alone, and also that it is with others",
        ),
        (
            decided(say(StatementKind.ALONE, (5, 5)), FIVE_EXISTS),
            (),
            2,
            "you decided that “5” (5-5) is alone, and also that it is with others",
        ),
        (
            decided(FIVE_EXISTS, empty=(4, 5)),
            (5,),
            1,
            BOTH,
        ),
        (
            decided(*TORN),
            (),
            2,
            ONE_AND_TWO,
        ),
        (
            decided(say(StatementKind.TOGETHER, (1, 3), (2, 2))),
            (),
            1,
            "“2” (2-2) lies inside “1 2 3” (1-3), which is in the same entity: --nested never forbids that",
        ),
        (
            decided(say(StatementKind.TOGETHER, (1, 3), (2, 2)), chains=(Chain.of("7", [(1, 3)]),)),
            (),
            1,
            "“2” (2-2) lies inside “1 2 3” (1-3), which is in the same entity: --nested never forbids that",
        ),
        (
            decided(chains=(Chain.of("7", [(1, 3), (2, 2)]),)),
            (1, 2, 3),
            0,
            "“2” (2-2) lies inside “1 2 3” (1-3), which is in the same entity: --nested never forbids that",
        ),
        (decided(say(StatementKind.EXISTS, (1, 1)), empty=(4, 6)), (4,), 1, ALONE),
    ],
    ids=str,
)
def test_reasons(instance: Instance, tokens: tuple[int, ...], statements: int, reason: str) -> None:
    error = clash(instance)
    assert (error.fault.words, error.tokens, len(error.statements)) == (reason, tokens, statements)


def test_a_group_that_cannot_be_is_blamed_before_mentions_without_a_partner() -> None:
    lone = say(StatementKind.EXISTS, (1, 1)), say(StatementKind.ABSENT, (4, 4))
    sound = say(StatementKind.TOGETHER, (1, 3), (6, 6))
    for statements in ((*lone, *TORN), (*TORN, *lone), (sound, *lone, *TORN)):
        assert set(clash(decided(*statements)).statements) == set(TORN)


def test_apart_concerns_only_the_group_that_holds_both() -> None:
    error = clash(decided(say(StatementKind.TOGETHER, (1, 3), (4, 4)), *TORN))
    assert error.statements == TORN
    assert "“5” (5-5) and “6” (6-6)" in error.fault.words


def test_of_a_group_with_two_ids_the_mention_that_has_both_is_named() -> None:
    chains = Chain.of("1", [(1, 3), (6, 6)]), Chain.of("2", [(6, 6), (5, 5)])
    error = clash(decided(chains=chains))
    assert error.fault.words == "you put “6” (6-6) into chains 1 and 2"
    assert error.fault.mentions == (Span(6, 6),)
    joined = clash(
        decided(
            say(StatementKind.TOGETHER, (1, 3), (5, 5)),
            chains=(Chain.of("1", [(1, 3), (6, 6)]), Chain.of("2", [(4, 4), (5, 5)])),
        )
    )
    assert joined.fault.words == "you put “1 2 3” (1-3) and “5” (5-5) together, and also into chains 1 and 2"


def test_a_mention_that_exists_may_be_alone_where_chains_of_one_are_kept() -> None:
    said = say(StatementKind.EXISTS, (4, 4)), say(StatementKind.ALONE, (4, 4))
    instance = decided(*said)
    assert clash(instance).fault.mentions == (Span(4, 4),)
    refuse_contradictions(replace(instance, singletons=Singletons.VOTE))


def test_messages_say_where_what_and_what_to_do() -> None:
    chains = Chain.of("1", [(1, 3), (6, 6)]), Chain.of("2", [(6, 6), (5, 5)])
    assert str(clash(decided(chains=chains))) == (
        "doc, token 6: enforced cells contradict each other: "
        "you put “6” (6-6) into chains 1 and 2 (cells at doc, token 6); change one of these"
    )
    assert str(clash(decided(FIVE_EXISTS, FIVE_ABSENT))) == (
        f"doc: decisions contradict each other: {BOTH} "
        "(decided: “5” (5-5) in some chain; decided: “5” (5-5) absent); change one of these"
    )
    both = "(cells at doc, token 5; decided: “5” (5-5) in some chain)"
    assert both in str(clash(decided(FIVE_EXISTS, empty=(5,))))


def test_messages_say_who_says_what_cannot_hold() -> None:
    """Rules, the adjudicator, or both; rules are named with what they say."""
    pair, rules = (Span(5, 5), Span(6, 6)), (Rule("ours.lp", 1, "near"), Rule("ours.lp", 7, "far"))
    near = Consequence(Effect.REQUIRE, pair, rules[0])
    far = Consequence(Effect.FORBID, pair, rules[1])
    ruled = clash(Instance(paper_annotations()).under(DerivedRules((near, far))))
    assert str(ruled) == (
        "doc: rules contradict each other: your rules say that “5” (5-5) and “6” (6-6) are one entity, and "
        "also that they are two (your rule 'near' (ours.lp:1): “5” (5-5) and “6” (6-6) together; "
        "your rule 'far' (ours.lp:7): “5” (5-5) and “6” (6-6) apart); change one of these"
    )
    assert ruled.fault.rules == rules
    both = clash(decided(TORN[0]).under(DerivedRules((far,))))
    assert str(both) == (
        "doc: decisions and rules contradict each other: your decisions and rules say that “5” (5-5) and "
        "“6” (6-6) are one entity, and also that they are two (decided: “5” (5-5) and “6” (6-6) together; "
        "your rule 'far' (ours.lp:7): “5” (5-5) and “6” (6-6) apart); change one of these"
    )
    assert both.fault.rules == (rules[1],)
    assert clash(decided(*TORN)).fault.rules == ()


def test_messages_name_the_file_where_there_is_one() -> None:
    document = Document("doc", ("w",) * 6, source="doc.conll")
    annotations = tuple(Annotation.of(one.annotator, document, one.chains) for one in paper_annotations())
    error = clash(replace(decided(FIVE_EXISTS, FIVE_ABSENT), annotations=annotations))
    assert str(error).startswith("doc.conll: decisions contradict")


def test_decisions_that_are_votes_contradict_each_other_like_others() -> None:
    chains = Chain.of("1", [(1, 3), (6, 6)]), Chain.of("2", [(6, 6), (5, 5)])
    assert clash(replace(decided(chains=chains), forced_votes=True)).tokens == (6,)


def test_a_single_item_can_be_a_contradiction() -> None:
    assert minimal_subset([4], lambda chosen: not chosen) == [4]
    assert minimal_subset([4, 5, 6], lambda chosen: 5 not in chosen) == [5]
    assert minimal_subset([4, 5, 6], lambda chosen: len(chosen) < 3) == [4, 5, 6]


@pytest.mark.parametrize("block", range(10))
def test_no_partition_respects_decisions_that_contradict_each_other(block: int) -> None:
    """Whoever checks a partition must find what `refuse_contradictions` finds."""
    impossible = 0
    for seed in range(block * 200, block * 200 + 200):
        instance = random_instance(
            random.Random(seed), mentions=4, annotators=3, tokens=4, decisions=True, odd=True
        )
        if not feasible(instance, instance.decisions):
            impossible += 1
            assert all(any(violations(instance, one)) for one in partitions(list(instance.mentions))), seed
    assert impossible


def partitions(mentions: list[Span]) -> Iterator[Partition]:
    """Yield every way to put mentions into chains."""
    for groups in _groupings(mentions):
        yield canonical(tuple(group) for group in groups if len(group) > 1)


def _groupings(mentions: list[Span]) -> Iterator[list[list[Span]]]:
    if not mentions:
        yield []
        return
    first, *others = mentions
    for groups in _groupings(others):
        yield [[first], *groups]
        for number, group in enumerate(groups):
            yield [*groups[:number], [first, *group], *groups[number + 1 :]]
