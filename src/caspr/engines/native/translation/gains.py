"""What pairs of nodes gain, as a list of those that depart from what most pairs gain.

Two kinds that nobody linked gain what a pair without a link does that was seen by as many annotators: one
value for all such pairs where everybody saw everything, so only linked kinds are listed. Annotators who put
all kinds into one chain (`Links.everywhere`) count for every pair, and list none.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from caspr.engines.native.partition.problem import Bools, Ints, Labels
from caspr.engines.native.partition.sparse.listing import SparseProblem
from caspr.engines.native.partition.watch import Watch, check
from caspr.engines.native.translation.links import Links
from caspr.task.instance import Instance
from caspr.task.votes import Evidence


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
    view = links.view[kind]
    common = _common(gains, view)
    never = np.ones(len(apart[0]), dtype=bool)
    found = [
        Listed(*apart, np.zeros(len(never), dtype=np.int64), never),
        *_linked(kind, links, gains),
        *_seen_by_others(view, gains, common),
    ]
    first = np.concatenate([one.first for one in found])
    second = np.concatenate([one.second for one in found])
    low, high = np.minimum(first, second), np.maximum(first, second)
    check(watch)
    # Of several entries for one pair the first counts: kept apart, linked, then merely seen.
    keys, place = _once(low * len(kind) + high)
    check(watch)
    first, second = np.divmod(keys, max(len(kind), 1))
    forbidden = np.concatenate([one.forbidden for one in found])[place]
    each = np.concatenate([one.gains for one in found])[place]
    check(watch)
    kept = ~forbidden if common is None else forbidden | (each != common)
    product = sizes[first] * sizes[second]
    every = np.where(forbidden, 0, each * product)
    return SparseProblem(sizes, common, first[kept], second[kept], every[kept], forbidden[kept])


def _once(keys: Ints) -> tuple[Ints, Labels]:
    """Sort keys, each once; return also where each was first."""
    place = np.argsort(keys, kind="stable")
    keys = keys[place]
    new = np.append(True, keys[1:] != keys[:-1])[: len(keys)]
    return keys[new], place[new]


def _common(gains: PairGains, view: Labels) -> int | None:
    """Return what most pairs that are not listed gain; `None` if most are forbidden."""
    if len(gains.unlinked) == 1:
        return None if gains.barred[0, 0] else int(gains.unlinked[0, 0])
    count = np.bincount(view, minlength=len(gains.unlinked))
    one, other = np.unravel_index(int(np.outer(count, count).argmax()), gains.unlinked.shape)
    return None if gains.barred[one, other] else int(gains.unlinked[one, other])


def _linked(kind: Labels, links: Links, gains: PairGains) -> list[Listed]:
    """List the pairs of nodes of linked kinds, and those of one kind."""
    order = np.argsort(kind, kind="stable")
    many = np.bincount(kind, minlength=len(links.inside))
    if many.max(initial=0) <= 1:
        node = np.full(len(many), -1, dtype=np.intp)
        node[kind] = np.arange(len(kind))
        one, other = node[links.first], node[links.second]
        here = (one >= 0) & (other >= 0)
        evidence = links.evidence[here]
        return [Listed(one[here], other[here], gains.linked[evidence], gains.linked_barred[evidence])]
    starts = np.cumsum(many) - many
    times = many[links.second]
    pair = np.repeat(np.arange(len(times)), many[links.first] * times)
    within = np.arange(len(pair)) - np.repeat(
        np.cumsum(many[links.first] * times) - many[links.first] * times, many[links.first] * times
    )
    one = order[starts[links.first[pair]] + within // times[pair]]
    other = order[starts[links.second[pair]] + within % times[pair]]
    evidence = links.evidence[pair]
    found = [Listed(one, other, gains.linked[evidence], gains.linked_barred[evidence])]
    for several in np.flatnonzero(many > 1).tolist():
        if links.distinct[links.inside[several]].givers:
            nodes = order[starts[several] : starts[several] + many[several]]
            first, second = np.triu_indices(len(nodes), 1)
            each = np.full(len(first), gains.linked[links.inside[several]])
            found.append(Listed(nodes[first], nodes[second], each, np.zeros(len(first), dtype=bool)))
    return found


def _seen_by_others(view: Labels, gains: PairGains, common: int | None) -> list[Listed]:
    """List the pairs that were seen by other annotators than most, where that makes a difference."""
    found: list[Listed] = []
    if len(gains.unlinked) == 1:
        return found
    # NumPy's `unique` would import masked arrays, which takes longer than solving a small document.
    present = np.flatnonzero(np.bincount(view)).tolist()
    for number, one in enumerate(present):
        for other in present[number:]:
            barred, gain = bool(gains.barred[one, other]), int(gains.unlinked[one, other])
            if (None if barred else gain) != common:
                left, right = np.flatnonzero(view == one), np.flatnonzero(view == other)
                first, second = np.repeat(left, len(right)), np.tile(right, len(left))
                distinct = first < second if one == other else np.ones(len(first), dtype=bool)
                first, second = first[distinct], second[distinct]
                each = np.full(len(first), 0 if barred else gain)
                found.append(Listed(first, second, each, np.full(len(first), barred)))
    return found
