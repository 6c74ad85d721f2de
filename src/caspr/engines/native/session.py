"""A session: one instance being solved, with what is known so far and what was solved before.

Parts are remembered by content: a problem met again, in a later branch or after one more decision of
the adjudicator, is not solved again.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b

from caspr.document import Span
from caspr.engines.native.outcome import Outcome
from caspr.engines.native.problem import Problem
from caspr.engines.native.reductions import Reduced, reduce
from caspr.engines.native.search import quick, search_reduced
from caspr.engines.native.watch import Watch
from caspr.instance import Instance
from caspr.limits import Progress, silent
from caspr.solution import Partition

Pair = tuple[Span, Span]
Memory = dict[bytes, Outcome]
"""Proven outcomes by the digest of their problem."""


@dataclass
class Session:
    """The state shared by all steps of one solve."""

    instance: Instance
    watch: Watch
    memory: Memory = field(default_factory=dict)
    """Problems already solved to the end; may outlive the session."""
    progress: Progress = silent
    apart: frozenset[Pair] = frozenset()
    """Pairs to be kept apart beyond all rules."""
    reduced: dict[bytes, Reduced] = field(default_factory=dict)
    """Reductions made for a first look, kept for the search."""
    nested: set[Pair] = field(default_factory=set)
    """Nested pairs that some solution broke."""
    best: Partition | None = None
    """The cheapest partition that respects everything."""
    value: int | None = None
    """What it costs."""
    bound: int | None = None
    """No solution costs less."""

    def offer(self, partition: Partition, cost: int) -> None:
        """Take a partition that respects everything, if it is better."""
        if self.value is None or cost < self.value:
            self.best, self.value = partition, cost
            self.progress(self.value, self.bound)

    def raise_bound(self, bound: int) -> None:
        """Take a bound on the whole instance, if it is better."""
        if self.bound is None or bound > self.bound:
            self.bound = bound if self.value is None else min(bound, self.value)
            self.progress(self.value, self.bound)


Solver = Callable[[Session, Problem], Outcome]
"""A way to deal with one part."""


def solve_quickly(session: Session, problem: Problem) -> Outcome:
    """Return what is remembered, or a good clustering without proof."""
    key = digest(problem)
    if key in session.memory:
        return session.memory[key]
    session.reduced[key] = reduce(problem)
    return quick(session.reduced[key])


def solve_exactly(session: Session, problem: Problem) -> Outcome:
    """Return what is remembered, or search; remember what is proven."""
    key = digest(problem)
    if key in session.memory:
        return session.memory[key]
    reduced = session.reduced.pop(key, None) or reduce(problem)
    outcome = search_reduced(reduced, session.watch)
    if outcome.proven:
        session.memory[key] = outcome
    return outcome


def digest(problem: Problem) -> bytes:
    """Name a problem by its content."""
    content = blake2b(problem.gains.tobytes(), digest_size=16)
    content.update(problem.forbidden.tobytes())
    return content.digest()
