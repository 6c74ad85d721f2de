"""The bound of a tree holds for every clustering, is exact where it can be, and no integer is too large."""

from itertools import combinations
from random import Random
from typing import Any

import pytest

from caspr.errors import EngineError
from tests.proof.verify.graphs import best, bound

TRIANGLE = {(0, 1): 2, (0, 2): 2, (1, 2): -5}
PATHS = {(0, 1): 4, (0, 2): 4, (1, 2): -6, (2, 3): 4, (1, 3): 4}
"""A square whose diagonal 1-2 costs; 0-3 is forbidden."""


def leaf(*stars: list[int], shift: int = 0) -> dict[str, Any]:
    return {"shift": shift, "stars": list(stars)}


def branch(pair: list[int], together: dict[str, Any], apart: dict[str, Any]) -> dict[str, Any]:
    return {"pair": pair, "together": [together], "apart": [apart]}


def test_without_stars_all_positive_gains_count() -> None:
    assert bound(TRIANGLE, leaf()) == 4
    assert bound({(0, 1): 0, (0, 2): -1}, leaf()) == 0
    assert bound({}, leaf()) == 0
    assert bound({(0, 1): 0}, leaf([3, 0, 1, 2])) == 3


def test_a_star_takes_from_its_rays_and_gives_to_pairs_of_leaves() -> None:
    assert bound(TRIANGLE, leaf([2, 0, 1, 2])) == 2 == best(TRIANGLE, 3)
    assert bound(TRIANGLE, leaf([2, 0, 2, 1])) == 2
    assert bound(TRIANGLE, leaf([0, 0, 1, 2])) == 4
    assert bound({**TRIANGLE, (1, 2): -1}, leaf([2, 0, 1, 2])) == 3
    assert bound(TRIANGLE, leaf([2, 2, 0, 1])) == 6


def test_a_star_may_name_nodes_that_are_not_there() -> None:
    assert bound({(0, 1): 2, (0, 2): 2}, leaf([2, 0, 1, 2])) == 2
    assert bound({(0, 1): 2}, leaf([1, 0, 1, 7])) == 2


def test_a_bound_is_a_multiple_of_the_greatest_common_divisor() -> None:
    gains = {(0, 1): 6, (0, 2): 6, (1, 2): -9}
    assert bound(gains, leaf([5, 0, 1, 2])) == 6
    assert bound(gains, leaf([11, 0, 1, 2], shift=1)) == 6
    assert bound({(0, 1): 5, (0, 2): 6}, leaf([5, 0, 1, 2])) == 6
    assert bound({(0, 1): 5, (0, 2): 6}, leaf([11, 0, 1, 2], shift=1)) == 6


@pytest.mark.parametrize("shift", [0, 1, 60])
def test_multipliers_are_in_units(shift: int) -> None:
    assert bound(TRIANGLE, leaf([2 << shift, 0, 1, 2], shift=shift)) == 2


@pytest.mark.parametrize("shift", [-1, 61, 10**9])
def test_absurd_units_are_refused(shift: int) -> None:
    with pytest.raises(EngineError, match="unit of the multipliers"):
        bound(TRIANGLE, leaf(shift=shift))


@pytest.mark.parametrize("star", [[-1, 0, 1, 2], [-1, 2, 0, 1]])
def test_a_negative_multiplier_is_refused(star: list[int]) -> None:
    """With -4 for 2; 0, 1 the bound of the triangle would be 0."""
    with pytest.raises(EngineError, match="negative"):
        bound(TRIANGLE, leaf(star))


@pytest.mark.parametrize("star", [[2, 0, 1, 1], [2, 1, 0, 1], [1, 0, 1, 2, 1]])
def test_a_node_twice_is_no_star(star: list[int]) -> None:
    """With 2 for 0; 1, 1 the bound of a pair that gains 4 would be 2."""
    with pytest.raises(EngineError, match="not a star"):
        bound({(0, 1): 4}, leaf(star))


@pytest.mark.parametrize("star", [[2.0, 0, 1, 2], [True, 0, 1, 2], ["2", 0, 1, 2], [2, 0.0, 1], [1e999]])
def test_only_integers_are_read(star: list[Any]) -> None:
    with pytest.raises(TypeError, match="expected an integer"):
        bound(TRIANGLE, leaf(star))
    with pytest.raises(TypeError, match="expected an integer"):
        bound(TRIANGLE, {"shift": 1.0, "stars": []})
    with pytest.raises(TypeError, match="expected an integer"):
        bound(TRIANGLE, branch([0, True], leaf(), leaf()))


def test_the_larger_branch_counts() -> None:
    assert bound(TRIANGLE, branch([0, 1], leaf(), leaf())) == 2
    assert bound(TRIANGLE, branch([2, 1], leaf(), leaf())) == 4
    assert bound(TRIANGLE, branch([1, 2], leaf(), leaf([2, 0, 1, 2]))) == 2
    assert bound({(0, 1): 9, (0, 2): 2}, branch([0, 1], leaf(), leaf())) == 9


def test_a_forbidden_pair_is_apart() -> None:
    assert bound(PATHS, {"pair": [0, 3], "apart": [leaf()]}) == 16


@pytest.mark.parametrize("pair", [[5, 5], [0, 0], [0, 9], [9, 0]])
def test_a_pair_that_is_not_there_is_refused(pair: list[int]) -> None:
    with pytest.raises(EngineError, match="a pair is not there"):
        bound(PATHS, branch(pair, leaf(), leaf()))


def test_nodes_that_are_joined_add_their_gains_and_what_either_forbids() -> None:
    gains = {(0, 1): 3, (0, 2): -5, (0, 3): 2, (1, 2): 100, (1, 3): 4, (2, 3): 10}
    assert bound(gains, branch([1, 2], leaf(), leaf())) == 100 + 2 + 14
    assert bound({(0, 1): 3, (1, 2): 100, (1, 3): 4}, branch([1, 2], leaf(), leaf())) == 100
    assert bound({(0, 2): 3, (1, 2): 100, (2, 3): 4}, branch([1, 2], leaf(), leaf())) == 100
    assert bound({(0, 3): 7, (1, 2): 100}, branch([1, 2], leaf(), leaf())) == 107


@pytest.mark.parametrize("seed", range(300))
def test_every_tree_is_a_bound(seed: int) -> None:
    random = Random(seed)
    nodes = random.randint(2, 5)
    pairs = [pair for pair in combinations(range(nodes), 2) if random.random() < 0.85]
    gains = {pair: random.choice((1, 2, 5)) * random.randint(-3, 3) for pair in pairs}
    shown = bound(gains, _tree(random, list(range(nodes)), nodes, 3), nodes=nodes)
    value = best(gains, nodes)
    assert shown is not None and value is not None and shown >= value


def _tree(random: Random, left: list[int], nodes: int, depth: int) -> dict[str, Any]:
    """Branch on pairs of nodes that are left; inequalities may also name nodes that became one."""
    if depth and len(left) > 2 and random.random() < 0.7:
        one, other = sorted(random.sample(left, 2))
        together = _tree(random, [node for node in left if node != other], nodes, depth - 1)
        return branch([one, other], together, _tree(random, left, nodes, depth - 1))
    shift = random.choice((0, 1, 3))
    sizes = [random.randint(2, nodes) for _ in range(random.randint(0, 4))]
    stars = ([random.randint(0, 6), *random.sample(range(nodes), size)] for size in sizes)
    split = random.randint(0, nodes)
    shuffled = random.sample(range(nodes), nodes)
    partition = [random.randint(0, 6), shuffled[:split], shuffled[split:]]
    others = {"two_partitions": [partition] * random.randint(0, 1)}
    pentagons = [[random.randint(0, 6), *random.sample(range(max(nodes, 5)), 5)]] * random.randint(0, 2)
    return {**leaf(*stars, shift=shift), **others, "pentagons": pentagons}


SQUARE = {(0, 2): 2, (0, 3): 2, (1, 2): 2, (1, 3): 2, (0, 1): -2, (2, 3): -2}
"""Two nodes on each side, which gain across and lose inside."""


def test_a_two_partition_takes_from_pairs_across_and_gives_to_pairs_inside() -> None:
    def bounded(*rows: list[Any]) -> int | None:
        return bound(SQUARE, {**leaf(), "two_partitions": list(rows)})

    assert bounded() == 8
    assert bounded([2, [0, 1], [2, 3]]) == 4 == best(SQUARE, 4)
    assert bounded([1, [0, 1], [2, 3]]) == 2 + 4
    assert bounded([2, [2, 3], [1]]) == 2 + 4
    assert bounded([2, [1], [2, 3]]) == 2 + 4
    assert bounded([3, [0, 1], [2, 3]]) == 6 + 2 * 1
    assert bounded([2, [0, 1, 7], [2, 3]]) == 4


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([-1, [0, 1], [2, 3]], "negative"),
        ([1, [0, 1], [1, 2]], "not a two-partition"),
        ([1, [0, 0], [1, 2]], "not a two-partition"),
        ([1, [0, 1], [2, 2]], "not a two-partition"),
    ],
)
def test_what_is_no_two_partition_is_refused(row: list[Any], message: str) -> None:
    with pytest.raises(EngineError, match=message):
        bound(SQUARE, {**leaf(), "two_partitions": [row]})


@pytest.mark.parametrize(
    "row", [[1.0, [0], [1]], [1, [0], [1.0]], [1, [True], [0]], [1, [0]], [1, [0], [1], [2]]]
)
def test_a_two_partition_of_another_shape_is_malformed(row: list[Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        bound(SQUARE, {**leaf(), "two_partitions": [row]})


RING = {pair: 2 if (pair[1] - pair[0]) in (1, 4) else -9 for pair in combinations(range(5), 2)}
"""Five nodes that gain along the sides of a ring and lose along its diagonals."""


def test_a_pentagon_takes_from_sides_and_gives_to_diagonals() -> None:
    def bounded(*rows: list[Any], gains: dict[tuple[int, int], int] = RING) -> int | None:
        return bound(gains, {"shift": 0, "stars": [], "pentagons": list(rows)})

    assert bounded(gains={(0, 1): 1, (0, 2): 1}) == 2
    assert bounded() == 10
    assert bounded([2, 0, 1, 2, 3, 4]) == 4 == best(RING, 5)
    assert bounded([2, 3, 2, 1, 0, 4]) == 4
    assert bounded([1, 0, 1, 2, 3, 4], [1, 2, 3, 4, 0, 1]) == 4
    assert bounded([1, 0, 1, 2, 3, 4]) == 2 + 5
    assert bounded([3, 0, 1, 2, 3, 4]) == 6
    assert bounded([12, 0, 1, 2, 3, 4]) == 24 + 5 * 3
    assert bounded([1, 0, 1, 2, 3, 7]) == 2 + 3 * 1 + 2 * 2
    assert bounded([2, 0, 2, 4, 1, 3]) == 4 + 5 * 4  # the diagonals are its sides


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([-1, 0, 1, 2, 3, 4], "negative"),
        ([1, 0, 1, 2, 3, 3], "not a pentagon"),
        ([1, 0, 1, 2, 3], "not a pentagon"),
        ([1, 0, 1, 2, 3, 4, 5], "not a pentagon"),
        ([1], "not a pentagon"),
    ],
)
def test_what_is_no_pentagon_is_refused(row: list[Any], message: str) -> None:
    with pytest.raises(EngineError, match=message):
        bound(RING, {**leaf(), "pentagons": [row]})


@pytest.mark.parametrize("row", [[], [1.0, 0, 1, 2, 3, 4], [1, 0, 1, 2, 3, True], 5])
def test_a_pentagon_of_another_shape_is_malformed(row: Any) -> None:
    with pytest.raises((TypeError, ValueError, IndexError)):
        bound(RING, {**leaf(), "pentagons": [row]})


@pytest.mark.parametrize("large", [2**31, 2**53 + 1, 2**62, 2**63 - 1, 2**63, 2**64 + 3, 10**40 + 7])
@pytest.mark.parametrize("shift", [0, 20, 60])
def test_gains_beyond_64_bits_neither_wrap_nor_round(large: int, shift: int) -> None:
    gains = {
        (0, 1): large,
        (0, 2): large - 1,
        (0, 3): large,
        (1, 2): -large,
        (1, 3): -large,
        (2, 3): 1 - large,
    }
    star = [(large - 1) << shift, 0, 1, 2, 3]
    assert bound(gains, leaf(star, shift=shift)) == large + 1
    assert bound(gains, leaf(shift=shift)) == 3 * large - 1
    assert bound(gains, branch([0, 1], leaf(), leaf(star, shift=shift))) == large
