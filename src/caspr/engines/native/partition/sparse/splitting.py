"""From a problem to what is left to search: reduced, in independent pieces, written down in full.

A large problem is shrunk while its pairs are still a list (`sparse.shrinking`), and falls into components.
Each of these is small as a rule; it is written down in full, reduced again by the dearer rules of
`reductions`, and may fall apart once more. A component that is still so large that memory or time do not
allow its matrices stays as it is: it gets a clustering and the bound that its positive gains give.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from caspr.engines.native.partition.problem import Labels, Problem, connected_groups
from caspr.engines.native.partition.reductions import reduce
from caspr.engines.native.partition.sparse.listing import SparseProblem
from caspr.engines.native.partition.sparse.shrinking import shrink
from caspr.engines.native.partition.watch import Watch
from caspr.task.solution import Stop

SMALL = 60
"""Problems up to this size are written down in full at once."""
CROWDED = 0.25
"""A list with more than this share of all pairs is no shorter than writing all down."""
BYTES = 150
"""How many bytes the search takes for each pair of nodes of a problem that is written down."""
LARGEST = 3000
"""A problem of more nodes is never written down."""


@dataclass(frozen=True)
class Piece:
    """A connected problem, independent of all others."""

    nodes: Labels
    """Its nodes, by their numbers in the split problem."""
    problem: Problem | SparseProblem
    """Their problem; a list of pairs only where it is too large to be written down."""

    @cached_property
    def key(self) -> bytes:
        """Name the problem by its content."""
        return self.problem.key


@dataclass(frozen=True)
class Split:
    """The pieces of a reduced problem and the way back."""

    labels: Labels
    """The new node of every old node; new nodes in no piece are alone in some optimum."""
    size: int
    """The number of new nodes."""
    constant: int
    """What the pairs put together gain: the old value is this plus those of the pieces."""
    pieces: tuple[Piece, ...]
    """The pieces, small ones first."""

    @property
    def ceiling(self) -> int:
        """What a clustering gains at most, by positive gains alone."""
        return self.constant + sum(piece.problem.ceiling for piece in self.pieces)

    def lift(self, labels: Labels) -> Labels:
        """Turn a clustering of the new nodes into one of the old."""
        return labels[self.labels]


def split(problem: Problem | SparseProblem, watch: Watch) -> Split:
    """Reduce a problem as far as limits allow, and take it apart."""
    if isinstance(problem, Problem):
        return _split_dense(problem, watch)
    if problem.size <= SMALL:
        return _undisputed(problem) or _split_dense(problem.dense(), watch)
    labels, constant = np.arange(problem.size), 0
    if not _crowded(problem):
        shrunk = shrink(problem, watch)
        problem, labels, constant = shrunk.problem, shrunk.labels, shrunk.constant
    groups = list(_groups(problem.components()))
    inner = [_split_group(problem.restrict(group), watch) for group in groups]
    numbers = np.full(problem.size, -1, dtype=np.intp)
    pieces: list[Piece] = []
    size = 0
    for group, part in zip(groups, inner, strict=True):
        numbers[group] = size + part.labels
        pieces += [Piece(size + piece.nodes, piece.problem) for piece in part.pieces]
        size, constant = size + part.size, constant + part.constant
    alone = np.flatnonzero(numbers < 0)
    numbers[alone] = size + np.arange(len(alone))
    return Split(numbers[labels], size + len(alone), constant, _in_order(pieces))


def _undisputed(problem: SparseProblem) -> Split | None:
    """Put all nodes together if every two gain something; most small problems are such."""
    every = 2 * len(problem.first) == problem.size * (problem.size - 1)
    if not every or problem.gains.min(initial=1) <= 0:
        return None
    return Split(np.zeros(problem.size, dtype=np.intp), 1, int(problem.gains.sum()), ())


def _split_group(problem: SparseProblem, watch: Watch) -> Split:
    if fits(problem.size, watch):
        return _split_dense(problem.dense(), watch)
    nodes = np.arange(problem.size)
    return Split(nodes, problem.size, 0, (Piece(nodes, problem),))


def _split_dense(problem: Problem, watch: Watch) -> Split:
    reduced = reduce(problem, watch)
    small = reduced.problem
    pieces = [Piece(group, small.restrict(group)) for group in connected_groups(small.gains > 0)]
    return Split(reduced.labels, small.size, reduced.constant, _in_order(pieces))


def _in_order(pieces: list[Piece]) -> tuple[Piece, ...]:
    return tuple(sorted(pieces, key=lambda piece: len(piece.nodes)))


def fits(size: int, watch: Watch) -> bool:
    """Return whether a problem of a size may be written down; note why not, if not."""
    if size <= SMALL:
        return True
    if size > LARGEST:
        watch.omission = Stop.SIZE
        return False
    return not watch.expired() and watch.has_room(BYTES * size**2 / 2**20)


def _crowded(problem: SparseProblem) -> bool:
    return 2 * len(problem.first) > CROWDED * problem.size**2 and problem.size <= LARGEST


def _groups(labels: Labels) -> Iterator[Labels]:
    """Yield the nodes of each group of two or more."""
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels))
    for start, end in zip((ends - np.diff(ends, prepend=0)).tolist(), ends.tolist(), strict=True):
        if end - start > 1:
            yield order[start:end]
