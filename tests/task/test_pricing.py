"""Prices against the definition: every choice of used links, tried one by one."""

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain as flatten
from itertools import combinations

from caspr.engines.brute import judge
from caspr.task.decisions import Decisions, Rule, Statement, StatementKind
from caspr.task.instance import Instance
from caspr.task.objectives import OBJECTIVES, Objective
from caspr.task.own_rules import Consequence, DerivedRules, Effect
from caspr.task.pricing import Class, Connection, Pairs, pairs_of, pairwise_bound, price, violations
from caspr.task.solution import Costs, Partition, canonical
from caspr.task.votes import Evidence, Signature, meet
from caspr.text.document import Chain, Span
from tests.instances import annotation, random_instance
from tests.sweeps import how_many


def naive_price(instance: Instance, partition: Partition) -> int | None:
    """Return the cheapest cost over all sets of used links whose components are exactly the chains."""
    together = {pair for chain in partition for pair in combinations(chain, 2)}
    judged = {pair: judge(instance, *pair) for pair in together}
    linked = [pair for pair in together if judged[pair].linked and not instance.is_free(*pair)]
    free = {pair for pair in together if instance.is_free(*pair)}
    outside = sum(
        judge(instance, *pair).omitted
        for pair in combinations(instance.votes.signatures, 2)
        if pair not in together
    )
    best = None
    for size in range(len(linked) + 1):
        for used in combinations(linked, size):
            if components([*used, *free], partition) != partition:
                continue
            unused = together - set(used) - free
            if any(judged[pair].invented is None for pair in unused):
                continue
            cost = outside + sum(judged[pair].used for pair in used)
            cost += sum(judged[pair].omitted + (judged[pair].invented or 0) for pair in unused)
            best = cost if best is None else min(best, cost)
    return best


def components(links: list[tuple[Span, Span]], partition: Partition) -> Partition:
    group = {mention: {mention} for mention in flatten.from_iterable(partition)}
    for first, second in links:
        joined = group[first] | group[second]
        for mention in joined:
            group[mention] = joined
    return canonical({frozenset(members) for members in group.values()})


def random_partition(rng: random.Random, instance: Instance) -> Partition:
    chains: dict[int, list[Span]] = {}
    for mention in instance.mentions:
        chains.setdefault(rng.randint(0, 2), []).append(mention)
    return canonical(chain for chain in chains.values() if len(chain) > 1)


def test_price_is_the_cheapest_choice_of_used_links() -> None:
    rng = random.Random(5)
    compared, cases = 0, how_many(1500, 300)
    for _ in range(cases):
        instance = random_instance(rng, mentions=5, decisions=rng.random() < 0.5, odd=True)
        partition = random_partition(rng, instance)
        expected = naive_price(instance, partition)
        legal = not any("link" in broken for broken in violations(instance, partition))
        assert (expected is not None) == legal
        if expected is not None:
            assert price(instance, partition).total == expected
            assert pairwise_bound(instance) <= expected
            compared += 1
    assert compared > cases // 3


def naive_bound(instance: Instance) -> int:
    """Add up, pair by pair, the cheaper of apart and together, as far as decisions leave a choice."""
    decisions = instance.decisions
    total = 0
    for first, second in combinations(instance.votes.signatures, 2):
        judged = judge(instance, first, second)
        if any(span in decisions.alone or decisions.rules_out(span) for span in (first, second)):
            total += judged.omitted
        elif judged.linked and not instance.is_free(first, second):
            total += min(judged.omitted, judged.used)
    return total


def test_the_pairwise_bound_is_what_pairs_cost_at_least() -> None:
    rng = random.Random(6)
    for _ in range(300):
        instance = random_instance(rng, mentions=6, decisions=rng.random() < 0.7, odd=True)
        assert pairwise_bound(instance) == naive_bound(instance)


def test_the_pairwise_bound_with_mentions_of_all_kinds() -> None:
    """Under V of 4 annotators a link of one costs 2 apart, 3 together; of two 4 apart, 2 together."""
    chain = [(token, token) for token in range(1, 7)]
    annotators = (
        annotation("a", [chain]),
        annotation("b", [chain[:4]]),
        annotation("c", []),
        annotation("d", []),
    )
    undecided = Instance(annotators)
    assert pairwise_bound(undecided) == naive_bound(undecided) == 6 * 2 + 9 * 2
    absent = Statement.of(StatementKind.ABSENT, [(1, 1)])
    decisions = Decisions.of([Chain.of("1", [(2, 2), (5, 5)])], (), [absent])
    decided = Instance(annotators, decisions=decisions)
    assert pairwise_bound(decided) == naive_bound(decided) == 34


def test_a_required_pair_whose_link_a_rule_gives_as_well_is_paid_once() -> None:
    """Under V, 2 for each of two links that are not used, and 1 for the required link that is."""
    linked = Instance((annotation("a", [[(1, 1), (2, 2)], [(3, 3), (4, 4)]]),))
    rule, pair = Rule("ours.lp", 1, "a rule"), (Span(1, 1), Span(3, 3))
    required, apart = Consequence(Effect.REQUIRE, pair, rule), Consequence(Effect.APART_COST, pair, rule, 9)
    for rules in ((required,), (required, apart)):
        instance = linked.under(DerivedRules(rules))
        assert price(instance, canonical([pair])) == Costs(omitted=4, used=1)


def test_chains_are_priced_by_the_function_that_is_given() -> None:
    instance = Instance((annotation("a", [[(1, 1), (2, 2)]]),))
    partition = canonical([[Span(1, 1), Span(2, 2)]])
    assert price(instance, partition, lambda *_: (0, Costs(used=7))) == Costs(omitted=2, used=7)


def test_a_mention_has_no_pair_with_itself() -> None:
    one = (Signature(frozenset({(0, 1)}), 3), None, None)
    two = (Signature(frozenset({(0, 1), (1, 1)}), 3), Span(1, 1), None)
    counted = {(pairs.first, pairs.second): pairs.number for pairs in pairs_of(Counter({one: 1, two: 3}))}
    assert counted == {(0b1, 0b1110): 3, (0b1110, 0b1110): 3}
    assert list(pairs_of(Counter({one: 1}))) == []


def listed(
    found: Iterator[Pairs], every: Iterable[tuple[int, int]]
) -> dict[tuple[int, int], tuple[Evidence, bool]]:
    """List the single pairs behind pairs that are alike; each must be there once."""
    single: dict[tuple[int, int], tuple[Evidence, bool]] = {}
    for pairs in found:
        both = [(one, two) for one, two in every if pairs.first >> one & 1 and pairs.second >> two & 1]
        assert len(both) == pairs.number > 0 and single.keys().isdisjoint(both)
        single |= dict.fromkeys(both, (pairs.evidence, pairs.free))
    return single


def test_pairs_of_classes_are_what_every_two_mentions_say() -> None:
    """Annotators may have a mention in two chains, and may not have seen it."""
    rng = random.Random(7)
    for _ in range(200):
        classes: Counter[Class] = Counter()
        for _ in range(rng.randint(1, 7)):
            chains = frozenset((rng.randrange(4), rng.randrange(2)) for _ in range(rng.randrange(5)))
            group = Span(1, 1) if rng.random() < 0.3 else Span(2, 2) if rng.random() < 0.3 else None
            classes[Signature(chains, rng.choice((15, 15, 7, 10))), group, None] += rng.randint(1, 3)
        kinds = [one for one, size in classes.items() for _ in range(size)]
        expected = {
            (first, second): (meet(one[0], other[0]), one[1] is not None and one[1] == other[1])
            for (first, one), (second, other) in combinations(enumerate(kinds), 2)
        }
        assert listed(pairs_of(classes), expected) == expected
        counted = listed(pairs_of(classes, counted=True), expected)
        assert counted == {
            pair: (Evidence((1 << evidence.k) - 1, (1 << evidence.n) - 1), free)
            for pair, (evidence, free) in expected.items()
        }


def test_connecting_mentions_counts_the_links_that_were_needed() -> None:
    kinds: list[Class] = [(Signature(frozenset({(0, number)}), 1), None, None) for number in range(5)]
    one, two, three, four, five = 0b11, 0b11100, 0b100000, 0b1000000, 0b11110000000
    joined = Connection(Counter(dict(zip(kinds, (2, 3, 1, 1, 4), strict=True))))
    assert joined.parts == 11
    assert joined.connect(one, two) == 4
    assert joined.connect(three, four) == 1
    assert joined.connect(two, one) == joined.connect(one, one) == joined.connect(four, three) == 0
    assert joined.parts == 6
    assert joined.connect(two, four) == 1
    assert joined.connect(one, three) == joined.connect(three, two) == 0
    assert joined.parts == 5
    assert joined.connect(five, five) == 3
    assert joined.parts == 2
    assert joined.connect(five, one) == 1
    assert joined.parts == 1
    assert joined.connect(five, one) == 0


def test_components_that_unused_links_connect() -> None:
    """Two pairs with strong links, connected by links of one vote each: one of them is used."""
    annotators = [annotation(f"a{n}", [[(1, 1), (2, 2)], [(3, 3), (4, 4)]]) for n in range(6)]
    bridge = annotation("b", [[(1, 1), (3, 3)], [(2, 2), (4, 4)]])
    partition = canonical([[Span(token, token) for token in range(1, 5)]])
    for objective in (*OBJECTIVES.values(), Objective(1, 3, 1)):
        instance = Instance((*annotators, bridge), objective)
        if objective.invent is not None:
            assert price(instance, partition).total == naive_price(instance, partition)
