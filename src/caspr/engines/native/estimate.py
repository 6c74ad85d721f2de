"""A first value and a first bound for dense documents, before any link is listed.

Where annotators put most mentions into few chains and often disagree, somebody links nearly every pair.
Listing millions of links takes longer than a short time limit. But what every two kinds (`links`) gain is
quickly written into one matrix, a row from all annotators' chain numbers. From it come

*a value*: the chains of the best annotator, from which mentions move to where they gain more;

*a bound*: let nodes a, b, c be such that a and b gain w_ab > 0 together, b and c gain w_bc > 0, but a and c
lose w_ac > 0 or must not be together. Whatever the clusters, one of the three is not as it gains most, so at
least min(w_ab, w_bc, w_ac) is lost. Triangles that share no pair lose independently of each other, and so do
triangles that share a pair if what it gains is divided among them. So the cost of a solution is at least
what all pairs cost at their cheaper choice plus what such a packing of triangles loses. Every triangle added
keeps this true, so it may stop at any moment. Mentions that decisions put together are left out: their links
are free. All other decisions and rules only exclude solutions, and so does a pair that must be decided the
other way (`SolveState.flips`): the value has to respect it, the bound holds anyway.

All numbers are whole. All gains of a node add up to less than 2^29, and a pair that is forbidden stands as
-2^30, so no sum of gains makes up for it, and no number of 32 bits wraps.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from caspr.engines.native.links import wide_from
from caspr.engines.native.partition.problem import Ints, Labels
from caspr.engines.native.partition.watch import ExpiredError, Watch
from caspr.engines.native.state import SolveState
from caspr.task.decisions import Decisions
from caspr.task.instance import Instance
from caspr.task.pricing import chain_faults, price, price_chain, violations
from caspr.task.solution import Partition, canonical
from caspr.task.votes import Evidence, Signature
from caspr.text.document import Span

Shorts = NDArray[np.int32]
T = TypeVar("T")
MANY = 100_000
"""Fewer linked pairs are listed right away, without an estimate."""
DENSE = 0.05
"""The share of linked pairs from which a matrix is worth its cost."""
LARGEST = 8_000
"""How many rows a matrix may have."""
ANNOTATORS = 16
"""The gains of more annotators' sets are not tabulated."""
NEVER = -(1 << 30)
"""The gain of a forbidden pair."""
AT_ONCE = 1 << 20
"""How many entries of the matrix are computed between two looks at the clock."""
PER_SECOND = 1_000_000
"""For how many links of a dense document a second of the processor is enough to find more than that."""
SHARE, MOST = 0.3, 3.0
"""The share of the time left that may be taken, and the seconds, where the rest is enough for all links."""
SPARE, LONGEST = 0.2, 60.0
"""The share of the time that is kept for them where it is not, and the seconds that may be taken."""
SAMPLE = 300
"""How many kinds decide which annotator is the best."""
SWEEPS = 10
"""How often all nodes are looked at for a move."""


def estimate(state: SolveState) -> None:
    """Offer a first partition and raise the bound, if the document is dense; else do nothing."""
    # Kinds are linked no more often than mentions.
    few = state.instance.votes.total < MANY
    kinds = None if few or state.instance.rules or state.watch.expired() else _kinds(state.instance)
    if kinds is None or not _is_dense(kinds):
        return
    watch = Watch(state.watch.deadline, state.watch.megabytes, state.watch.cancelled)
    try:
        best = _best_annotator(state, kinds, watch)
        left = state.watch.left
        listable = left >= state.watch.pace * kinds.linked / PER_SECOND
        watch.deadline = monotonic() + (
            min(SHARE * left, MOST) if listable else (1 - SPARE) * min(left, LONGEST)
        )
        matrix = Matrix(state.instance, kinds, watch)
        _offer(state, matrix, best, watch)
        state.raise_bound(matrix.least + matrix.packed(watch))
    except ExpiredError:
        return


def _best_annotator(state: SolveState, kinds: "Kinds", watch: Watch) -> int:
    """Choose the annotator whose chains are the best on some mentions; offer them if they break no rule."""
    instance = state.instance
    some = np.random.default_rng(1).permutation(len(kinds.mentions))[:SAMPLE]
    sample = Matrix(instance, kinds.chosen(np.sort(some)), watch)
    best = max(
        range(len(instance.annotations)), key=lambda who: sample.value(_numbered(sample.kinds.chains[who]))
    )
    chains = [chain.mentions for chain in instance.annotations[best].chains if len(chain.mentions) > 1]
    nested = any(True for chain in chains for _ in instance.nested_faults(chain))
    if instance.decisions == Decisions() and not nested:
        # Every two mentions of such a chain are linked.
        partition = canonical(chains)
        if state.flips(partition):
            state.offer(partition, _price(instance, partition, watch), tentative=True)
    # What some mentions cost among themselves is a bound, too.
    state.raise_bound(sample.least + sample.packed(watch))
    return best


def _offer(state: SolveState, matrix: "Matrix", best: int, watch: Watch) -> None:
    """Offer what the matrix makes of the chains of the best annotator, if it breaks no rule."""
    instance, (partition, gained) = state.instance, matrix.partition(best, watch)
    if not state.flips(partition):
        return
    if matrix.linked_only and instance.decisions == Decisions():
        # Every two mentions of a chain are linked, so links connect it and it costs what the matrix says.
        if not any(True for chain in partition for _ in instance.nested_faults(chain)):
            state.offer(partition, instance.all_omitted - gained, tentative=True)
    elif not any(violations(instance, partition, _looking(chain_faults, watch))):
        state.offer(partition, _price(instance, partition, watch), tentative=True)


def _price(instance: Instance, partition: Partition, watch: Watch) -> int:
    """Return what a partition costs, with a look at the clock before each chain."""
    return price(instance, partition, _looking(price_chain, watch)).total


def _looking(work: Callable[[Instance, tuple[Span, ...]], T], watch: Watch) -> Callable[..., T]:
    """Look at the clock before each chain that a function is called with."""

    def looked(instance: Instance, chain: tuple[Span, ...]) -> T:
        watch.check()
        return work(instance, chain)

    return looked


@dataclass(frozen=True)
class Kinds:
    """The kinds of mentions that may end in a chain, and are in no enforced group."""

    mentions: Sequence[Sequence[Span]]
    """The mentions of each kind."""
    chains: Labels
    """The chain of each kind, one row for each annotator; numbers below 0, all different, stand for none."""
    viewers: int
    """The annotators who saw them all."""

    def chosen(self, some: Labels) -> "Kinds":
        """Return some of the kinds."""
        return Kinds([self.mentions[kind] for kind in some], self.chains[:, some], self.viewers)

    @property
    def linked(self) -> int:
        """How many pairs of kinds are linked, counted once for each annotator who links them.

        Chains that hold nearly everything do not count: their pairs are never listed (`links`).
        """
        pairs = 0
        for row in self.chains:
            sizes = np.bincount(row[row >= 0])
            sizes = sizes[sizes < wide_from(len(row))]
            pairs += int((sizes * (sizes - 1) // 2).sum())
        return pairs


def _kinds(instance: Instance) -> Kinds | None:
    """Gather the mentions by kind; `None` where no matrix can be made of them."""
    votes, enforced = instance.votes, instance.decisions.group_of
    by_kind: dict[Signature, list[Span]] = {}
    for mention in instance.mentions:
        if mention not in enforced:
            by_kind.setdefault(votes.signature(mention), []).append(mention)
    views = {signature.viewers for signature in by_kind}
    if len(views) != 1 or votes.annotators > ANNOTATORS or not 1 < len(by_kind) <= LARGEST:
        return None
    chains = np.tile(-1 - np.arange(len(by_kind)), (votes.annotators, 1))
    for number, signature in enumerate(by_kind):
        for annotator, chain in signature.chains:
            if chains[annotator, number] >= 0:
                return None
            chains[annotator, number] = chain
    return Kinds(list(by_kind.values()), chains, views.pop())


def _is_dense(kinds: Kinds) -> bool:
    linked, size = kinds.linked, len(kinds.mentions)
    return linked >= MANY and linked >= DENSE * size * size


class Matrix:
    """What every two kinds gain."""

    def __init__(self, instance: Instance, kinds: Kinds, watch: Watch) -> None:
        """Write it down; `ExpiredError` if there is no time or no memory for it, or gains are too large."""
        size = len(kinds.mentions)
        if not watch.has_room(3 * 4 * size * size / 2**20):
            raise ExpiredError
        self.instance, self.kinds = instance, kinds
        self.gain = np.zeros(1 << len(kinds.chains), dtype=np.int32)
        self.cheaper = np.zeros(1 << len(kinds.chains), dtype=np.int64)
        self.known = np.zeros(1 << len(kinds.chains), dtype=bool)
        self.gains: Shorts = np.empty((size, size), dtype=np.int32)
        counts = np.zeros(1 << len(kinds.chains), dtype=np.int64)
        rows = max(1, AT_ONCE // size)
        for start in range(0, size, rows):
            watch.check()
            block = slice(start, min(start + rows, size))
            givers = _givers(kinds.chains, block)
            counts += np.bincount(givers.ravel(), minlength=len(counts))
            self._look_up(np.flatnonzero((counts > 0) & ~self.known))
            self.gains[block] = self.gain[givers]
        np.fill_diagonal(self.gains, 0)
        bits = 1 << np.arange(len(kinds.chains))
        own: Labels = ((kinds.chains >= 0) * bits[:, None]).sum(axis=0)
        # So far every kind was counted with itself.
        counts -= np.bincount(own, minlength=len(counts))
        self.least = int((counts // 2 * self.cheaper).sum())
        """What one mention of each kind costs with the others, every pair at its cheaper choice."""
        self.inside = self.gain[own].astype(np.int64)
        self.nodes = [
            mentions if gain > 0 else mentions[:1]
            for mentions, gain in zip(kinds.mentions, self.inside.tolist(), strict=True)
        ]
        self.sizes = np.array([len(mentions) for mentions in self.nodes], dtype=np.int64)

    @property
    def linked_only(self) -> bool:
        """Whether pairs that nobody linked are forbidden."""
        return not self.instance.prices.of(Evidence(0, self.kinds.viewers)).allowed

    def _look_up(self, sets: Labels) -> None:
        """Ask for the prices of some sets of annotators."""
        largest = (1 << 29) // (len(self.gains) * max(map(len, self.kinds.mentions)))
        for givers in sets.tolist():
            price = self.instance.prices.of(Evidence(givers, self.kinds.viewers))
            if abs(price.gain) > largest:
                raise ExpiredError
            self.gain[givers] = price.gain if price.allowed else NEVER
            self.cheaper[givers] = price.omitted - max(price.gain, 0)
            self.known[givers] = True

    def partition(self, best: int, watch: Watch) -> tuple[Partition, int]:
        """Return the chains of one annotator, with mentions moved to where they gain more, and the gain."""
        labels = self._moved(_numbered(self.kinds.chains[best]), watch)
        chains: dict[int, list[Span]] = {}
        for node, (label, mentions) in enumerate(zip(labels.tolist(), self.nodes, strict=True)):
            chains.setdefault(-1 - node if label < 0 else label, []).extend(mentions)
        return canonical(chain for chain in chains.values() if len(chain) > 1), self.value(labels)

    def value(self, labels: Labels) -> int:
        """Return what clusters gain; nodes labelled -1 are alone."""
        twins = self.sizes * (self.sizes - 1) // 2
        total = 2 * int(self.inside @ twins)
        for label in range(int(labels.max()) + 1):
            cluster = np.flatnonzero(labels == label)
            inside = self.gains[cluster[:, None], cluster].astype(np.int64)
            total += int(self.sizes[cluster] @ inside @ self.sizes[cluster])
        return total // 2

    def _moved(self, labels: Labels, watch: Watch) -> Labels:
        """Move nodes to the clusters in which they gain most, or out of all, until none gains by it."""
        held = self._held(labels, watch)
        alone = held.shape[1] - 1
        for _ in range(SWEEPS):
            rise = held.max(axis=1) - held[np.arange(len(labels)), labels]
            hopeful = np.flatnonzero(rise > 0)
            for node in watch.during(hopeful[np.argsort(-rise[hopeful], kind="stable")].tolist()):
                old, new = int(labels[node]) % (alone + 1), int(held[node].argmax())
                if held[node, new] > held[node, old]:
                    row = self.gains[node].astype(np.int64) * self.sizes[node]
                    for cluster, sign in ((old, -1), (new, 1)):
                        held[:, cluster] += 0 if cluster == alone else sign * row
                    labels[node] = -1 if new == alone else new
            if not len(hopeful) or watch.expired():
                break
        return labels

    def _held(self, labels: Labels, watch: Watch) -> Ints:
        """Return what a mention of each node gains in each cluster, and in the last column alone: nothing."""
        # Floats hold these sums exactly: each is below 2^30 times the number of mentions.
        members = np.zeros((len(labels), int(labels.max()) + 2))
        members[np.arange(len(labels)), labels] = self.sizes
        members[:, -1] = 0
        held = np.empty(members.shape, dtype=np.int64)
        rows = max(1, AT_ONCE // len(labels))
        for start in range(0, len(labels), rows):
            watch.check()
            held[start : start + rows] = self.gains[start : start + rows].astype(np.float64) @ members
        return held

    def packed(self, watch: Watch) -> int:
        """Pack triangles, as many as there is time for; return what they lose. This uses the matrix up."""
        random, left, total = np.random.default_rng(1), self.gains, 0
        while not watch.expired():
            before = total
            for centre in watch.during(random.permutation(len(left)).tolist()):
                near = random.permutation(np.flatnonzero(left[centre] > 0))
                half = len(near) // 2
                first, second = near[:half], near[half : 2 * half]
                bad = left[first, second] < 0
                first, second = first[bad], second[bad]
                lost = np.minimum(np.minimum(left[centre, first], left[centre, second]), -left[first, second])
                for side in (first, second):
                    left[centre, side] -= lost
                    left[side, centre] -= lost
                left[first, second] += lost
                left[second, first] += lost
                total += int(lost.sum())
            if total - before <= total // 50:
                break
        return total


def _givers(chains: Labels, block: slice) -> NDArray[np.uint16]:
    """Return which annotators link the kinds of a block with all kinds, as bits."""
    givers = np.zeros((block.stop - block.start, chains.shape[1]), dtype=np.uint16)
    for annotator, row in enumerate(chains):
        # Few bytes are compared quickly; what is in no chain equals nothing but itself.
        short = _numbered(row).astype(np.int16 if len(row) < 1 << 15 else np.int32)
        same = short[block, None] == short
        same &= (row >= 0)[block, None]
        givers |= same.astype(np.uint16) << np.uint16(annotator)
    return givers


def _numbered(chains: Labels) -> Labels:
    """Number the chains of one annotator; kinds in none get -1."""
    labels = np.full(len(chains), -1, dtype=np.intp)
    held = chains >= 0
    labels[held] = np.unique(chains[held], return_inverse=True)[1]
    return labels
