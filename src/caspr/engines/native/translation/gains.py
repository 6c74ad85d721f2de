"""What pairs of nodes gain, as a list of those that depart from what most pairs gain.

Two kinds that nobody linked gain what a pair without a link does that was seen by as many annotators: one
value for all such pairs where everybody saw everything, so only linked kinds are listed. Annotators who put
all kinds into one chain (`Links.everywhere`) count for every pair, and list none.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from caspr.engines.native.partition.problem import Bools, Ints, Labels
from caspr.engines.native.partition.sparse.blocks import BLOCK, blocks, filled, order
from caspr.engines.native.partition.sparse.listing import SparseProblem
from caspr.engines.native.partition.watch import Watch, checked
from caspr.engines.native.translation.links import Links
from caspr.task.instance import Instance
from caspr.task.price.classes import classes_of, pairs_of
from caspr.task.votes import Evidence
from caspr.text.document import Span


@dataclass(frozen=True)
class PairGains:
    """What pairs of kinds gain, by the numbers that `Links` gives to evidence and viewers."""

    linked: Ints
    """The gain of a listed pair, by the number of its evidence."""
    connects: Bools
    """Whether such a link can be used without loss."""
    linked_barred: Bools
    """Whether such a pair is forbidden, because nobody linked it after all."""
    unlinked: Ints
    """The gain of a pair that is not listed, by the numbers of who saw the one and the other."""
    unlinked_connects: Bools
    """Whether the link of such a pair can be used without loss; false if there is none."""
    barred: Bools
    """Whether such a pair is forbidden."""

    @classmethod
    def of(cls, instance: Instance, links: Links) -> "PairGains":
        """Look up the prices of all evidence that occurs."""
        linked = [instance.prices.of(evidence) for evidence in links.distinct]
        unlinked = [
            [
                instance.prices.of(Evidence(links.everywhere & one & other, one & other))
                for other in links.views
            ]
            for one in links.views
        ]
        size = len(links.views)
        return cls(
            np.array([price.gain for price in linked], dtype=np.int64),
            np.array([price.connects for price in linked], dtype=bool),
            np.array([not price.allowed for price in linked], dtype=bool),
            np.array([[price.gain for price in row] for row in unlinked], np.int64).reshape(size, size),
            np.array([[price.connects for price in row] for row in unlinked], bool).reshape(size, size),
            np.array([[not price.allowed for price in row] for row in unlinked], bool).reshape(size, size),
        )

    @cached_property
    def largest(self) -> int:
        """The largest |gain| of a pair."""
        return int(max(np.abs(self.linked).max(initial=0), np.abs(self.unlinked).max(initial=0)))

    def useful(self, *, ties: bool) -> Bools:
        """Return, by evidence, which listed pairs put their kinds into one part."""
        useful: Bools = (self.linked >= 0) & self.connects if ties else self.linked > 0
        return useful

    def all_useful(self, *, ties: bool) -> bool:
        """Return whether pairs that are not listed put all kinds into one part."""
        one = (self.unlinked >= 0) & self.unlinked_connects if ties else self.unlinked > 0
        return bool(one.any())


@dataclass(frozen=True)
class Listed:
    """Pairs of nodes, gathered for a problem."""

    first: Labels
    second: Labels
    gains: Ints
    """What two mentions of the nodes gain."""
    forbidden: Bools


def lonely_node(mentions: int) -> SparseProblem:
    """Write down the problem of one node."""
    nobody, nothing = np.empty(0, dtype=np.intp), np.empty(0, dtype=np.int64)
    size = np.array([mentions], dtype=np.int64)
    return SparseProblem(size, None, nobody, nobody, nothing, np.empty(0, dtype=bool))


def list_pairs(
    kind: Labels,
    sizes: Ints,
    links: Links,
    gains: PairGains,
    apart: tuple[Labels, Labels],
    watch: Watch | None,
) -> SparseProblem:
    """Write down the problem of nodes that each hold mentions of one kind; some pairs are kept apart.

    `links` are those between the kinds of these nodes, and maybe others. `ExpiredError` is raised where a
    limit is reached before that is done.
    """
    view, size = links.view[kind], max(len(kind), 1)
    common = _common(gains, view)
    never = np.ones(len(apart[0]), dtype=bool)
    nobody: list[NDArray[Any]] = [np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, bool)]
    columns: list[list[NDArray[Any]]] = [[column] for column in nobody]
    for one in chain(
        [Listed(*apart, np.zeros(len(never), dtype=np.int64), never)],
        _linked(kind, links, gains, watch),
        _seen_by_others(view, gains, common, watch),
    ):
        keys = np.minimum(one.first, one.second) * size + np.maximum(one.first, one.second)
        for column, more in zip(columns, (keys, one.gains, one.forbidden), strict=True):
            column.append(more)
    keys, each, forbidden = (np.concatenate(column) for column in columns)
    # Of several entries for one pair the first counts: kept apart, linked, then merely seen.
    places = order(keys, watch)
    ordered = filled(len(keys), lambda part: keys[places[part]], watch)
    places = places[np.append(True, ordered[1:] != ordered[:-1])] if len(places) else places
    nothing = np.empty(0, dtype=np.intp)
    found = [_departing(sizes, common, keys[nothing], each[nothing], forbidden[nothing])]
    for part in blocks(len(places), watch):
        some = places[part]
        found.append(_departing(sizes, common, keys[some], each[some], forbidden[some]))
    first, second, every, barred = (
        np.concatenate([getattr(one, name) for one in found])
        for name in checked(("first", "second", "gains", "forbidden"), watch)
    )
    return SparseProblem(sizes, common, first, second, every, barred)


def _departing(sizes: Ints, common: int | None, keys: Ints, each: Ints, forbidden: Bools) -> SparseProblem:
    """Write down those of some pairs that depart from what is common to all."""
    kept = ~forbidden if common is None else forbidden | (each != common)
    first, second = np.divmod(keys[kept], max(len(sizes), 1))
    every = np.where(forbidden[kept], 0, each[kept] * sizes[first] * sizes[second])
    return SparseProblem(sizes, common, first, second, every, forbidden[kept])


def _common(gains: PairGains, view: Labels) -> int | None:
    """Return what most pairs that are not listed gain; `None` if most are forbidden."""
    if len(gains.unlinked) == 1:
        return None if gains.barred[0, 0] else int(gains.unlinked[0, 0])
    count = np.bincount(view, minlength=len(gains.unlinked))
    one, other = np.unravel_index(int(np.outer(count, count).argmax()), gains.unlinked.shape)
    return None if gains.barred[one, other] else int(gains.unlinked[one, other])


def _linked(kind: Labels, links: Links, gains: PairGains, watch: Watch | None) -> Iterator[Listed]:
    """List the pairs of nodes of linked kinds, and those of one kind."""
    by_kind = np.argsort(kind, kind="stable")
    many = np.bincount(kind, minlength=len(links.inside))
    if many.max(initial=0) <= 1:
        node = np.full(len(many), -1, dtype=np.intp)
        node[kind] = np.arange(len(kind))
        for part in blocks(len(links.first), watch):
            one, other = node[links.first[part]], node[links.second[part]]
            here = (one >= 0) & (other >= 0)
            evidence = links.evidence[part][here]
            yield Listed(one[here], other[here], gains.linked[evidence], gains.linked_barred[evidence])
        return
    starts = np.cumsum(many) - many
    for part in blocks(len(links.first), watch):
        left, right = links.first[part], links.second[part]
        times = many[right]
        number = many[left] * times
        pair = np.repeat(np.arange(len(times)), number)
        within = np.arange(len(pair)) - np.repeat(np.cumsum(number) - number, number)
        one = by_kind[starts[left[pair]] + within // times[pair]]
        other = by_kind[starts[right[pair]] + within % times[pair]]
        evidence = links.evidence[part][pair]
        yield Listed(one, other, gains.linked[evidence], gains.linked_barred[evidence])
    for several in checked(np.flatnonzero(many > 1).tolist(), watch):
        if links.distinct[links.inside[several]].givers:
            nodes = by_kind[starts[several] : starts[several] + many[several]]
            first, second = np.triu_indices(len(nodes), 1)
            each = np.full(len(first), gains.linked[links.inside[several]])
            yield Listed(nodes[first], nodes[second], each, np.zeros(len(first), dtype=bool))


def _seen_by_others(
    view: Labels, gains: PairGains, common: int | None, watch: Watch | None
) -> Iterator[Listed]:
    """List the pairs that were seen by other annotators than most, where that makes a difference."""
    if len(gains.unlinked) == 1:
        return
    # NumPy's `unique` would import masked arrays, which takes longer than solving a small document.
    present = np.flatnonzero(np.bincount(view)).tolist()
    for number, one in enumerate(present):
        for other in present[number:]:
            barred, gain = bool(gains.barred[one, other]), int(gains.unlinked[one, other])
            if (None if barred else gain) != common:
                left, right = np.flatnonzero(view == one), np.flatnonzero(view == other)
                rows = max(1, BLOCK // len(right))
                for start in checked(range(0, len(left), rows), watch):
                    some = left[start : start + rows]
                    first, second = np.repeat(some, len(right)), np.tile(right, len(some))
                    distinct = first < second if one == other else np.ones(len(first), dtype=bool)
                    first, second = first[distinct], second[distinct]
                    each = np.full(len(first), 0 if barred else gain)
                    yield Listed(first, second, each, np.full(len(first), barred))


def gain_inside(instance: Instance, mentions: Collection[Span]) -> int:
    """Return what the pairs of some mentions gain in one chain, whatever holds it together."""
    if len(mentions) < 2:
        return 0
    total = 0
    for pairs in pairs_of(classes_of(instance, mentions), counted=instance.prices.counted):
        price = instance.prices.of(pairs.evidence)
        total += pairs.number * (price.omitted if pairs.free else price.gain)
    return total
