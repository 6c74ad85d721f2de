"""From a problem to what is left to search: reduced, in independent pieces, written down in full.

A large problem is shrunk while its pairs are still a list (`reductions`), and falls into components. Each of
these is small as a rule; it is written down in full, reduced again by the dearer rules, and may fall apart
once more. A component that is still so large that memory or time do not allow its matrices stays as it is: it
gets a clustering and the bound that its positive gains give.

*Demands.* No reduction is applied to a component with demands: they move nodes to other clusters, which a
partner that is needed may not do. Fixing takes their place (`search`), and a component without demands is
reduced again. A demand with one partner left has it with its home: the two are contracted.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from caspr.engines.native.partition.problem import (
    UNMET,
    Labels,
    Problem,
    components,
    connected_groups,
    firsts,
    joined,
    renumber,
)
from caspr.engines.native.partition.reductions import Shrunk, reduce, shrink
from caspr.engines.native.partition.sparse import SparseProblem
from caspr.engines.native.partition.statements import Statement, renamed
from caspr.engines.native.partition.watch import Watch
from caspr.task.solution import Stop

WRITTEN_OUT = 60
"""Problems up to this size are written down in full at once."""
LONG_LIST = 0.25
"""A list with more than this share of all pairs is no shorter than writing all down."""
BYTES = 150
"""How many bytes the search takes for each pair of nodes of a problem that is written down."""
LARGEST_MATRIX = 3000
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

    @property
    def has_demands(self) -> bool:
        """Whether some of its nodes must not stay alone."""
        return isinstance(self.problem, Problem) and bool(self.problem.demands)


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
    steps: tuple[Statement, ...] = ()
    """How it was reduced, in the numbers of the old nodes, if that was to be recorded."""
    hopeless: bool = False
    """Whether no clustering meets the demands; then there are no pieces."""
    shrunk: Shrunk | None = None
    """What the rules left that keep all optima, if the problem was large."""
    unique: bool = False
    """Whether no optimum has fewer pairs: all hold these together, and nothing that is left gains."""
    held: Labels | None = None
    """What all optima hold together, in place of `labels`, if that is less."""

    @cached_property
    def firsts(self) -> Labels:
        """The first old node of every new one."""
        return firsts(self.labels)

    @property
    def ceiling(self) -> int:
        """What a clustering gains at most, by positive gains alone."""
        return UNMET if self.hopeless else self.constant + sum(piece.problem.ceiling for piece in self.pieces)

    def lift(self, labels: Labels) -> Labels:
        """Turn a clustering of the new nodes into one of the old."""
        return labels[self.labels]


def split(problem: Problem | SparseProblem, watch: Watch, *, record: bool = False) -> Split:
    """Reduce a problem as far as limits allow, and take it apart."""
    if isinstance(problem, Problem):
        # What is in a matrix already, such as a branch, was reduced before: cores are not worth looking for.
        if problem.demands:
            return _split_demanding(problem, watch, record=record)
        return _split_dense(problem, watch, record=record, cores=False)
    if problem.size <= WRITTEN_OUT:
        return _undisputed(problem) or _split_dense(problem.dense(), watch, record=record)
    steps: list[Statement] = []
    shrunk = shrunk_if_sparse(problem, watch, record=steps if record else None)
    groups = list(_groups(shrunk.problem.components()))
    inner = [_split_group(shrunk.problem.restrict(group), watch, record=record) for group in groups]
    whole = _joined_splits(shrunk.labels, shrunk.constant, steps, groups, inner)
    return replace(whole, shrunk=_shrunk_more(shrunk, groups, inner))


def _shrunk_more(shrunk: Shrunk, groups: Sequence[Labels], inner: Sequence[Split]) -> Shrunk:
    """Contract what is together in every optimum of the groups into which a problem falls."""
    names = np.arange(shrunk.problem.size)
    for group, part in zip(groups, inner, strict=True):
        held = part.labels if part.held is None else part.held
        names[group] = group[firsts(held)[held]]
    step = renumber(names)
    problem, gained = shrunk.problem.contract(step)
    return Shrunk(problem, step[shrunk.labels], shrunk.constant + gained)


def shrunk_if_sparse(
    problem: SparseProblem, watch: Watch, *, record: list[Statement] | None = None
) -> Shrunk:
    """Apply the rules for large problems where a list is shorter than writing all pairs down."""
    if 2 * len(problem.first) <= LONG_LIST * problem.size**2 or problem.size > LARGEST_MATRIX:
        return shrink(problem, watch, record=record)
    return Shrunk(problem, np.arange(problem.size), 0)


def _joined_splits(
    labels: Labels, constant: int, steps: list[Statement], groups: Sequence[Labels], inner: Sequence[Split]
) -> Split:
    """Make one split of those of the groups into which a contracted problem falls."""
    names = firsts(labels)
    numbers = np.full(len(names), -1, dtype=np.intp)
    pieces: list[Piece] = []
    size = 0
    for group, part in zip(groups, inner, strict=True):
        numbers[group] = size + part.labels
        pieces += [Piece(size + piece.nodes, piece.problem) for piece in part.pieces]
        steps = [*steps, *(renamed(step, names[group]) for step in part.steps)]
        size, constant = size + part.size, constant + part.constant
    alone = np.flatnonzero(numbers < 0)
    numbers[alone] = size + np.arange(len(alone))
    unique = all(part.unique for part in inner)
    return Split(numbers[labels], size + len(alone), constant, _in_order(pieces), tuple(steps), unique=unique)


def _split_demanding(problem: Problem, watch: Watch, *, record: bool) -> Split:
    """Contract forced partners, then take the problem apart; reduce what has no demands."""
    labels, constant, steps = np.arange(problem.size), 0, list[Statement]()
    while True:
        forced = problem.forced
        if forced and record:
            steps.append({"forced": firsts(labels)[np.array(forced)].tolist()})
        groups = joined(problem.size, *np.array(forced, dtype=np.intp).reshape(-1, 2).T)
        if problem.hopeless or problem.breaks(groups):
            return Split(np.arange(len(labels)), len(labels), 0, (), tuple(steps), hopeless=True)
        if not forced:
            break
        problem, gained = problem.contract(groups)
        labels, constant = groups[labels], constant + gained
    component, homes = components(problem.adjacent), {demand.home for demand in problem.demands}
    every = (np.flatnonzero(component == number) for number in range(int(component.max()) + 1))
    kept = [group for group in every if len(group) > 1 or int(group[0]) in homes]
    inner = []
    for group in kept:
        part = problem.restrict(group)
        whole = Split(np.arange(part.size), part.size, 0, (Piece(np.arange(part.size), part),))
        inner.append(whole if part.demands else _split_dense(part, watch, record=record))
    return _joined_splits(labels, constant, steps, kept, inner)


def _undisputed(problem: SparseProblem) -> Split | None:
    """Put all nodes together if every two gain something; most small problems are such."""
    every = 2 * len(problem.first) == problem.size * (problem.size - 1)
    if not every or problem.gains.min(initial=1) <= 0:
        return None
    return Split(np.zeros(problem.size, dtype=np.intp), 1, int(problem.gains.sum()), (), unique=True)


def _split_group(problem: SparseProblem, watch: Watch, *, record: bool) -> Split:
    if fits(problem.size, watch):
        return _split_dense(problem.dense(), watch, record=record)
    nodes = np.arange(problem.size)
    return Split(nodes, problem.size, 0, (Piece(nodes, problem),))


def _split_dense(problem: Problem, watch: Watch, *, record: bool, cores: bool = True) -> Split:
    steps: list[Statement] = []
    reduced = reduce(problem, watch, record=steps if record else None, cores=cores)
    small = reduced.problem
    pieces = [Piece(group, small.restrict(group)) for group in connected_groups(small.gains > 0)]
    unique = reduced.held is None and not pieces
    return Split(
        reduced.labels,
        small.size,
        reduced.constant,
        _in_order(pieces),
        tuple(steps),
        unique=unique,
        held=reduced.held,
    )


def _in_order(pieces: list[Piece]) -> tuple[Piece, ...]:
    return tuple(sorted(pieces, key=lambda piece: len(piece.nodes)))


def fits(size: int, watch: Watch) -> bool:
    """Return whether a problem of a size may be written down; note why not, if not."""
    if size <= WRITTEN_OUT:
        return True
    if size > LARGEST_MATRIX:
        watch.omission = Stop.SIZE
        return False
    return not watch.expired() and watch.has_room(BYTES * size**2 / 2**20)


def _groups(labels: Labels) -> Iterator[Labels]:
    """Yield the nodes of each group of two or more."""
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels))
    for start, end in zip((ends - np.diff(ends, prepend=0)).tolist(), ends.tolist(), strict=True):
        if end - start > 1:
            yield order[start:end]
