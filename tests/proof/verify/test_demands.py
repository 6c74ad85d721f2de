"""Mentions that must not stay alone: bounds with first partners hold, and are exact where they can be."""

from itertools import combinations, product
from random import Random
from typing import Any

import pytest

from caspr.errors import EngineError
from caspr.proof.verify.facts import Facts
from caspr.proof.verify.graph import ProofDemand, ProofGraph
from caspr.proof.verify.tree import ProvenBound, _forget, bound_tree
from caspr.task.instance import Singletons
from caspr.text.document import Span
from tests.proof.verify.forging import (
    Forgery,
    Plain,
    by_cases,
    case,
    optimum,
    part,
    proof,
    proves_the_optimum,
    refused,
    task,
)
from tests.proof.verify.graphs import Gains, best, bound, demand


def leaf(
    *ties: list[int], stars: Any = (), shared: Any = (), plain_stars: Any = (), shift: int = 0
) -> dict[str, Any]:
    return {
        "shift": shift,
        "stars": list(plain_stars),
        "partner_stars": list(stars),
        "ties": list(ties),
        "shared": list(shared),
    }


PAIR: Gains = {(0, 1): -3, (0, 2): -5, (1, 2): 4}
"""Node 0 loses by being with 1 or 2, which gain together."""


def test_ties_make_the_best_partner_cost_what_it_costs() -> None:
    demands = {0: demand(0, 1, 2)}
    assert best(PAIR, 3, demands) == -3
    assert bound(PAIR, leaf(), demands=demands) == 4
    assert bound(PAIR, leaf([3, 0, 1], [3, 0, 2]), demands=demands) == 1
    assert bound(PAIR, leaf([3, 0, 1], [5, 0, 2]), demands=demands) == 1
    assert bound(PAIR, leaf([3, 0, 1], [5, 0, 2], shift=1), demands=demands) == 2
    assert bound(PAIR, {"shift": 0, "stars": []}, demands=demands) == 4
    # With 2 first, 1 is not with 0: then 1 and 2 are not together either if 0 is with 2.
    assert bound(PAIR, leaf([7, 0, 1], [3, 0, 2], stars=[[4, 0, 2, 1]]), demands=demands) == 1 - 4 + 4


@pytest.mark.parametrize(
    ("centre", "leaves", "sharpened"),
    [
        (0, [1], {2: 1, 3: 1}),
        (0, [1, 2], {3: 1}),
        (0, [3], {}),
        (0, [1, 4], {}),
        (3, [1, 2], {3: 1}),
        (3, [2], {3: 1}),
        (2, [3], {}),
        (2, [1, 3], {}),
        (4, [1], {}),
        (1, [0, 2], {2: 2}),
        (1, [2, 0], {2: 2}),
        (1, [0, 3], {3: 2}),
        (1, [0, 2, 3], {2: 1, 3: 1}),
        (1, [0, 2, 4], {2: 1}),
        (1, [0], {}),
        (2, [0, 1], {}),
        (4, [0, 1], {}),
    ],
)
def test_stars_are_sharpened_by_first_partners(centre: int, leaves: list[int], sharpened: Any) -> None:
    """Whatever partner of 0 is the first, the left side with its multiple is at most 1."""
    one = demand(0, 1, 2, 3)
    assert {one.partners[place]: times for place, times in one.sharpens(centre, leaves)} == sharpened
    for first in one.partners:
        most = max(
            sum(labels[centre] == labels[leaf] for leaf in leaves)
            - sum(labels[a] == labels[b] for a, b in combinations(leaves, 2))
            for labels in product(range(5), repeat=5)
            if labels[first] == labels[0] and all(labels[u] != labels[0] for u in range(1, first))
        )
        assert most + sharpened.get(first, 0) <= 1


def test_a_partner_star_takes_and_gives_like_a_star_and_takes_from_partners() -> None:
    gains: Gains = {(0, 1): 2, (0, 2): 2, (1, 2): -5}
    assert bound(gains, leaf(stars=[[2, 0, 0, 1, 2]]), demands={0: demand(0, 1, 2)}) == 2
    assert bound(gains, leaf(stars=[[2, 0, 1, 0, 2]]), demands={0: demand(0, 1, 2)}) == 2 + 0 + 4 + 0
    gains = {(0, 1): -9, (0, 2): -9}
    assert bound(gains, leaf([9, 0, 1], stars=[[4, 0, 0, 1]]), demands={0: demand(0, 1, 2)}) == 0


def test_links_cost_and_are_paid_once() -> None:
    gains: Gains = {(0, 1): 0, (0, 2): 0, (1, 2): 0}
    mutual = {0: demand(0, 1, costs=(6,)), 1: demand(1, 0, costs=(6,))}
    assert best(gains, 3, mutual) == -6
    assert bound(gains, leaf(shared=[[6, 0, 1]]), demands=mutual) == -6
    assert bound(gains, leaf(shared=[[4, 0, 1], [2, 1, 0]]), demands=mutual) == -6
    assert bound(gains, leaf(shared=[[6, 0, 1], [6, 1, 0]]), demands=mutual) == -6
    assert bound(gains, leaf(), demands=mutual) == 0
    own = {0: demand(0, 1, costs=(6,)), 1: demand(1, 2, costs=(6,))}
    assert bound(gains, leaf(), demands=own) == -12 == best(gains, 3, own)
    with pytest.raises(KeyError):
        bound(gains, leaf(shared=[[6, 0, 1]]), demands=own)


def test_costs_count_in_the_divisor() -> None:
    gains: Gains = {(0, 1): 4, (0, 2): 4}
    assert bound(gains, leaf([1, 0, 1]), demands={0: demand(0, 1, costs=(4,))}) == 4
    assert bound(gains, leaf([1, 0, 1]), demands={0: demand(0, 1, costs=(3,))}) == 5


def test_a_demand_without_a_partner_bounds_nothing() -> None:
    assert bound(PAIR, leaf(), demands={0: demand(0)}) is None
    tree = {"pair": [0, 1], "together": [leaf()], "apart": [leaf()]}
    assert bound(PAIR, tree, demands={0: demand(0, 1)}) == -3
    both = {0: demand(0, 1), 2: demand(2, 0)}
    assert bound({(0, 1): 1, (0, 2): 1}, tree, demands=both) is None
    assert bound({(0, 2): 1, (1, 2): 0}, tree, demands={0: demand(0, 2)}) == 1


def test_a_partner_inside_the_home_ends_the_list() -> None:
    found = demand(0, 3, 1, 2, costs=(1, 2, 3)).contract(0, 1)
    assert found == ProofDemand(0, (3, 0), (1, 2), ((0, 3), (0, 1)))
    assert found.contract(0, 3) == ProofDemand(0, (0,), (1,), ((0, 3),))
    assert demand(0, 3, 1, costs=(0, 0)).contract(0, 1) is None
    assert demand(2, 3, 1).contract(1, 2) is None
    assert demand(0, 3, 1, 2).contract(1, 3) == ProofDemand(0, (1, 2), (0, 0), ((0, 3), (0, 2)))
    assert demand(4, 1, 3).contract(2, 4) == ProofDemand(2, (1, 3), (0, 0), ((1, 4), (3, 4)))


def test_a_partner_that_is_forbidden_from_the_beginning_is_none() -> None:
    graph = ProofGraph.of({(0, 1): 0, (1, 2): 0}, (), {0: demand(0, 2, 1)})
    assert graph.demands == {0: demand(0, 1)}


def test_a_forbidden_pair_takes_a_partner_away() -> None:
    gains = dict.fromkeys(combinations(range(4), 2), 0)
    graph = ProofGraph.of(gains, (), {0: demand(0, 3, 1, 2), 2: demand(2, 3, 1)})
    graph.forbid(1, 0)
    graph.forget_forbidden()
    assert graph.demands == {0: demand(0, 3, 2), 2: demand(2, 3, 1)}
    graph.forbid(2, 3)
    graph.join(1, 3)
    assert graph.demands == {0: demand(0, 2), 2: demand(2)}


@pytest.mark.parametrize(
    ("costs", "mutual", "reduced", "kept"),
    [
        ((1, 2, 2), True, (-9, 0, 0), (3, 2, 1)),
        ((1, 2, 2), True, (-9, -9, 0), (3, 2, 1)),
        ((0, 2, 2), True, (-9, 0, 0), (2, 1)),
        ((0, 2, 2), True, (-3, 0, 0), (3, 2, 1)),
        ((1, 2, 2), True, (0, 0, -9), (3, 2)),
        ((1, 2, 2), False, (-9, 0, 0), (2, 1)),
    ],
    ids=["shared later", "all before it", "free", "near", "shared, but forgotten", "not shared"],
)
def test_a_partner_before_a_shared_link_is_kept(
    costs: tuple[int, ...], mutual: bool, reduced: tuple[int, ...], kept: tuple[int, ...]
) -> None:
    """Without it, the shared link would be used in its place, and might be paid by the other demand."""
    demands = {0: demand(0, 3, 2, 1, costs=costs)} | ({1: demand(1, 0, costs=(2,))} if mutual else {})
    graph = ProofGraph.of(dict.fromkeys(combinations(range(4), 2), 0), (), demands)
    _forget(graph, ProvenBound(graph, 0, chosen={0: list(reduced), 1: [0]}), gap=3)
    assert graph.demands[0].partners == kept


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (leaf([-1, 0, 1]), "a multiplier is negative"),
        (leaf(stars=[[-1, 0, 0, 1]]), "a multiplier is negative"),
        (leaf(shared=[[-1, 0, 1]]), "a multiplier is negative"),
        (leaf(stars=[[1, 0, 0, 1, 1]]), "an inequality is not a star"),
        (leaf(stars=[[1, 0, 1, 1]]), "an inequality is not a star"),
    ],
)
def test_what_is_no_inequality_is_refused(given: Plain, message: str) -> None:
    with pytest.raises(EngineError, match=message):
        bound(PAIR, given, demands={0: demand(0, 1, 2)})


def test_a_partner_inside_its_home_has_no_tie() -> None:
    inside = {0: ProofDemand(0, (1, 0), (0, 2), ((0, 1), (0, 2)))}
    assert bound({(0, 1): -7}, leaf([7, 0, 1]), demands=inside) == -2
    with pytest.raises(EngineError, match="inside its home"):
        bound({(0, 1): -7}, leaf([7, 0, 1], [7, 0, 0]), demands=inside)


@pytest.mark.parametrize("block", range(10))
def test_every_tree_is_a_bound(block: int) -> None:
    for seed in range(100 * block, 100 * block + 100):
        random = Random(seed)
        nodes = random.randint(2, 5)
        pairs = [pair for pair in combinations(range(nodes), 2) if random.random() < 0.85]
        gains = {pair: random.choice((1, 2, 5)) * random.randint(-3, 3) for pair in pairs}
        demands = _demands(random, gains, nodes)
        graph = ProofGraph.of(gains, range(nodes), demands)
        shown, value = bound_tree(graph.copy(), [_tree(random, graph, nodes, 3)]), best(gains, nodes, demands)
        assert value is None or (shown is not None and shown >= value), seed


def _demands(random: Random, gains: Gains, nodes: int) -> dict[int, ProofDemand]:
    costs = {pair: random.choice((0, 0, 1, 2)) for pair in combinations(range(nodes), 2)}
    demands = {}
    for home in random.sample(range(nodes), random.randint(1, min(3, nodes))):
        others = [other for other in range(nodes) if other != home and random.random() < 0.8]
        pairs = {other: (min(home, other), max(home, other)) for other in others}
        ranked = sorted((costs[pairs[other]], other) for other in others if pairs[other] in gains)
        partners = [other for _, other in ranked]
        demands[home] = demand(home, *partners, costs=tuple(cost for cost, _ in ranked))
    return demands


def _tree(random: Random, graph: ProofGraph, nodes: int, depth: int) -> dict[str, Any]:
    """Make a tree with any multipliers; rows are about demands and partners that are left at their leaf."""
    pairs = [(one, other) for one in graph.rows for other in graph.rows[one] if one < other]
    if depth and pairs and random.random() < 0.6:
        pair = random.choice(sorted(pairs))
        together, apart = graph.copy(), graph.copy()
        together.join(*pair)
        apart.forbid(*pair)
        apart.forget_forbidden()
        below = (_tree(random, side, nodes, depth - 1) for side in (together, apart))
        return {"pair": list(pair)} | {
            way: [tree] for way, tree in zip(("together", "apart"), below, strict=True)
        }
    return _leaf(random, graph, nodes)


def _leaf(random: Random, graph: ProofGraph, nodes: int) -> dict[str, Any]:
    demands = graph.demands

    def stars(count: int) -> list[list[int]]:
        return [random.sample(range(nodes), random.randint(2, nodes)) for _ in range(count)]

    places = [(number, partner) for number, one in demands.items() for partner in one.partners]
    ends = [link for one in demands.values() for link, cost in zip(one.links, one.costs, strict=True) if cost]
    mutual = [
        (number, partner)
        for number, one in demands.items()
        for partner, link in zip(one.partners, one.links, strict=True)
        if ends.count(link) > 1
    ]
    outside = [(number, partner) for number, partner in places if partner != demands[number].home]
    return leaf(
        *([random.randint(0, 6), *place] for place in outside if random.random() < 0.7),
        stars=[
            [random.randint(0, 6), number, *star]
            for number in demands
            for star in stars(3)
            if len({*map(graph.find, star)}) == len(star)
        ],
        shared=[[random.randint(0, 3), *place] for place in mutual if random.random() < 0.7],
        plain_stars=[[random.randint(0, 6), *star] for star in stars(random.randint(0, 3))],
        shift=random.choice((0, 1, 3)),
    )


LONE = task([[1, 2, 4]], [], [], [], exists=[1])
"""Mention 1 must be with 2 or with 4, which are alike, and loses 1 by either."""
TIED = leaf([1, 0, 1], [1, 0, 2])
"""What node 0 loses by node 1 or 2, each by 1."""
DEARER = task([[1, 2]], [[1, 4]], [[1, 4]], *[[]] * 4, exists=[1])
"""Mention 1 must be with 2, at a loss of 4, or with 4, at a loss of 1."""


def test_true_proofs_are_accepted() -> None:
    assert optimum(LONE) == 7 and optimum(DEARER) == 7
    assert proves_the_optimum(LONE, proof(part([1], [2], [4], demands=[0], proof=TIED)))
    assert proves_the_optimum(LONE, proof(part([1], [4], demands=[0], proof=leaf([1, 0, 1]))))
    assert proves_the_optimum(
        DEARER, proof(part([1], [2], [4], demands=[0], proof=leaf([4, 0, 1], [1, 0, 2])))
    )


def test_a_partner_that_is_left_out(forgery: Forgery) -> None:
    one = part([1], [2], demands=[0], proof=leaf([4, 0, 1]))
    assert forgery(DEARER, proof(one), "too few partners are nodes of their own", 10)


def test_a_partner_in_another_part() -> None:
    one = part([1], [2], demands=[0], proof=leaf([4, 0, 1]))
    message = "too few partners are nodes of their own"
    assert refused(DEARER, proof(one, part([4])), message)
    instance = task([[1, 3, 5, 6]], [[2, 3, 5, 6]], *[[]] * 5, exists=[1, 2])
    first = part([1], [3], demands=[0], proof=leaf([4, 0, 1]))
    second = part([2], [5], demands=[0], proof=leaf([4, 0, 1]))
    assert refused(instance, proof(first, second), "a partner is in another part")


def test_too_few_single_mentions_for_all_demands() -> None:
    instance = task([[1, 5, 6]], [[2, 5, 6]], *[[]] * 5, exists=[1, 2])
    two = leaf([4, 0, 2], [4, 0, 3], [4, 1, 2], [4, 1, 3])
    assert proves_the_optimum(instance, proof(part([1], [2], [5], [6], demands=[0, 1], proof=two)))
    one = part([1], [2], [5], demands=[0, 1], proof=leaf([4, 0, 2], [4, 1, 2]))
    assert refused(instance, proof(one), "too few partners are nodes of their own")


def test_twins_are_not_one_node_near_a_demand() -> None:
    instance = task([[1, 5, 6, 7]], *[[[5, 6, 7]]] * 3, exists=[1])
    good = part([1], [5], [6, 7], demands=[0], proof=leaf([1, 0, 1], [2, 0, 2]))
    assert refused(instance, proof(part([1], [5, 6, 7], demands=[0])), "too few partners")
    assert refused(instance, proof(part([1], [5], [6, 7], demands=[0])), "it proves the bound")
    assert not refused_for(instance, proof(good), "too few partners")


def refused_for(instance: Any, given: Plain, message: str) -> bool:
    try:
        proves_the_optimum(instance, given)
    except EngineError as error:
        return message in str(error)
    return False


def test_only_what_is_enforced_needs_a_partner(forgery: Forgery) -> None:
    message = "need not have a partner"
    whole = proof(part([1], [2], [4], demands=[0], proof=TIED))
    assert forgery(task([[1, 2, 4]], [], [], []), whole, message, 7)


def test_a_mention_that_may_stay_alone_needs_no_partner(forgery: Forgery) -> None:
    instance = task([[1, 2, 4]], [], [], [], exists=[1], singletons=Singletons.VOTE)
    whole = proof(part([1], [2], [4], demands=[0], proof=TIED))
    assert forgery(instance, whole, "need not have a partner", 7)


def test_a_bundle_of_two_needs_no_partner(forgery: Forgery) -> None:
    instance = task([[1, 2, 4]], [], [], [], chains=[[1, 2]])
    whole = proof(part([1, 2], [4], demands=[0], proof=leaf([2, 0, 1])))
    assert forgery(instance, whole, "need not have a partner", 6)


def test_a_demand_is_a_node() -> None:
    assert refused(LONE, proof(part([4], [1], demands=[-1], proof=leaf())), "a demand is not a node")
    assert refused(LONE, proof(part([1], [4], demands=[7], proof=leaf())), "malformed")


def test_a_partner_beyond_the_part_of_a_case() -> None:
    chains = [[[1, 2], [7, 8]], [[1, 2], [7, 9]], [[1, 2], [7, 9]]]
    instance = task(*chains, *[[]] * 5, exists=[1, 7])
    inner = part([7], [8], demands=[0], proof=leaf([5, 0, 1]))
    cases = by_cases([1, 2, 7, 8], [1], case([2], part([1, 2]), inner))
    assert refused(instance, proof(cases), "the partner (9, 9) is beyond its part")


def test_a_partner_with_conflicts_is_in_the_part() -> None:
    instance = task([[1, 2]], [[1, 4]], [[1, 4]], *[[]] * 4, exists=[1], apart=[4, 9])
    one = part([1], [2], demands=[0], proof=leaf([4, 0, 1]))
    assert refused(instance, proof(one, conflicts=[[4, 9]]), "a partner is in no node")


def test_a_partner_inside_the_home_is_no_leaf() -> None:
    inside = ProofDemand(0, (1, 2, 0), (1, 1, 2), ((0, 1), (0, 2), (0, 9)))
    assert inside.sharpens(1, [0, 2]) == [(1, 2)]
    assert inside.sharpens(0, [1]) == [(1, 1), (2, 1)]
    assert inside.sharpens(0, [1, 2]) == [(2, 1)]
    assert inside.sharpens(2, [0, 1]) == []


def test_a_link_without_cost_is_not_shared() -> None:
    mutual = {0: demand(0, 1), 1: demand(1, 0)}
    assert bound({(0, 1): -2}, leaf([2, 0, 1]), demands=mutual) == -2
    with pytest.raises(KeyError):
        bound({(0, 1): -2}, leaf([2, 0, 1], shared=[[0, 0, 1]]), demands=mutual)


MUTUAL = task([[1, 2]], *[[[4, 5]]] * 6, objective="va", exists=[1, 2])
"""Mentions 1 and 2 must be with each other, by a link that costs 3 more used than unused."""


@pytest.mark.parametrize("order", [((1,), (2,)), ((2,), (1,))])
def test_a_link_that_two_demands_share_is_paid_once(order: tuple[tuple[int], tuple[int]]) -> None:
    rows = leaf([1, 0, 1], shared=[[3, 0, 1]])
    given = proof(part(*order, demands=[0, 1], proof=rows), part([4], [5]))
    assert proves_the_optimum(MUTUAL, given)


def test_the_cheapest_link_with_a_node_counts() -> None:
    for one, other in ((2, 3), (3, 2)):
        chains = [[[1, one]], [[1, other]], [[1, other]], *[[[8, 9]]] * 7]
        instance = task(*chains, objective="va", exists=[1], chains=[[2, 3]])
        # Two annotators gave one of the links, so it costs less extra than the other one.
        near = part([1], [2, 3], demands=[0], proof=leaf([2, 0, 1]))
        assert proves_the_optimum(instance, proof(near, part([8], [9])))


def test_mentions_of_a_node_that_are_not_linked_cost_nothing() -> None:
    instance = task([[1, 2]], *[[[8, 9]]] * 6, objective="va", exists=[1], chains=[[2, 3]])
    one = part([1], [2, 3], demands=[0], proof=leaf([2, 0, 1]))
    assert proves_the_optimum(instance, proof(one, part([8], [9])))


def test_demands_do_not_count_as_single_partners() -> None:
    instance = task([[1, 2, 5, 6]], *[[]] * 5, exists=[1, 2])
    one = part([1], [2], [5], demands=[0, 1], proof=leaf())
    assert refused(instance, proof(one), "too few partners are nodes of their own")
    assert not refused_for(instance, proof(part([1], [2], [5], [6], demands=[0, 1], proof=leaf())), "too few")


def test_partners_that_are_single_are_enough() -> None:
    """Two demands are linked with mention 5, which is a node of its own: there is no second of its kind."""
    instance = task([[1, 2, 5]], *[[]] * 5, exists=[1, 2])
    one = part([1], [2], [5], demands=[0, 1], proof=leaf([3, 0, 1], [3, 0, 2]))
    assert proves_the_optimum(instance, proof(one))


def test_a_bundle_near_a_demand_is_whole() -> None:
    instance = task([[1, 5, 6]], *[[]] * 5, exists=[1], chains=[[5, 6]])
    assert proves_the_optimum(instance, proof(part([1], [5, 6], demands=[0], proof=leaf([6, 0, 1]))))


def test_a_mention_that_is_ruled_out_is_no_partner() -> None:
    instance = task([[1, 2, 3]], [[1, 4]], exists=[1], absent=[3])
    assert Facts(instance).linked(Span(1, 1)) == {Span(2, 2), Span(4, 4)}
