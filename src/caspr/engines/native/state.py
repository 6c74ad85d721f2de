"""A session: one instance being solved, with what is known so far and what was solved before.

Parts are remembered by content: a problem met again, in a later branch or after one more decision of
the adjudicator, is not solved again.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

from caspr.engines.native.partition.cuts import NONE, Cuts
from caspr.engines.native.partition.outcome import SearchOutcome, Tell, unheard
from caspr.engines.native.partition.reductions import Reduced, reduce
from caspr.engines.native.partition.search import quick, search_reduced
from caspr.engines.native.partition.watch import Watch
from caspr.engines.native.translation.links import Links
from caspr.engines.native.translation.translate import Part, Translator, conflicts
from caspr.task.instance import Instance
from caspr.task.limits import Progress, silent
from caspr.task.solution import Partition
from caspr.task.votes import Signature
from caspr.text.document import Span

Pair = tuple[Span, Span]


@dataclass
class Memory:
    """What outlives a session; valid for the same annotations, objective and rules."""

    outcomes: dict[bytes, SearchOutcome] = field(default_factory=dict)
    """Proven outcomes by the content of their problem."""
    parts: dict[object, Part] = field(default_factory=dict)
    """Parts translated before."""
    links: dict[tuple[Signature, ...], Links] = field(default_factory=dict)
    """Links between kinds, by the kinds."""


@dataclass
class SolveState:
    """The state shared by all steps of one solve."""

    instance: Instance
    watch: Watch
    memory: Memory = field(default_factory=Memory)
    progress: Progress = silent
    apart: frozenset[Pair] = frozenset()
    """Pairs to be kept apart beyond all rules."""
    reduced: dict[bytes, Reduced] = field(default_factory=dict)
    """Reductions made for a first look, kept for the search."""
    looks: dict[bytes, SearchOutcome] = field(default_factory=dict)
    """What that first look found, or a search that was not finished."""
    jobs: int = 1
    """How many processes may work at the same time."""
    cuts: dict[Span, tuple[Part, Cuts]] = field(default_factory=dict)
    """What helped to solve a part, by its first mention: where it starts when it is solved again."""
    nested: set[Pair] = field(default_factory=set)
    """Nested pairs that some solution broke."""
    done: int = 0
    """How many parts of the work are solved."""
    parts: int = 0
    """How many there are."""
    best: Partition | None = None
    """The cheapest partition that respects everything."""
    value: int | None = None
    """What it costs."""
    bound: int | None = None
    """No solution costs less."""
    tell: Tell = unheard
    """Hears what the part that is searched gains at most."""

    @cached_property
    def translator(self) -> Translator:
        """The way from mentions to nodes."""
        return Translator(self.instance, self.memory.parts, self.memory.links)

    @cached_property
    def eager(self) -> frozenset[Pair]:
        """The pairs that are forbidden from the beginning."""
        return conflicts(self.instance, all_pairs=False) | self.apart

    @cached_property
    def conflicts(self) -> frozenset[Pair]:
        """All pairs that a chain must not hold, also those that are seldom together."""
        return conflicts(self.instance, all_pairs=True) | self.apart

    @cached_property
    def told_apart(self) -> frozenset[Span]:
        """The mentions that a decision or a nested or forbidden pair tells from others of their kind."""
        told = frozenset(span for pair in self.conflicts for span in pair)
        return told | self.instance.decisions.group_of.keys()

    @cached_property
    def held(self) -> frozenset[tuple[Span, ...]]:
        """The bundles that free links hold together, whatever else is in their chain."""
        if self.instance.forced_votes:
            return frozenset()
        return frozenset(group.mentions for group in self.instance.decisions.groups)

    def offer(self, partition: Partition, cost: int) -> None:
        """Take a partition that respects everything, if it is better."""
        if self.value is None or cost < self.value:
            self.best, self.value = partition, cost
            self.progress(self.value, self.bound, done=self.done, parts=self.parts)

    def raise_bound(self, bound: int) -> None:
        """Take a bound on the whole instance, if it is better; nothing costs less than 0."""
        bound = max(bound, 0) if self.value is None else min(max(bound, 0), self.value)
        if self.bound is None or bound > self.bound:
            self.bound = bound
            self.progress(self.value, self.bound, done=self.done, parts=self.parts)


Solver = Callable[[SolveState, Part], SearchOutcome]
"""A way to deal with one part."""


def solve_quickly(session: SolveState, part: Part) -> SearchOutcome:
    """Return what is remembered, or a good clustering without proof."""
    key = part.key
    if key in session.memory.outcomes:
        return session.memory.outcomes[key]
    if key not in session.looks:
        session.reduced[key] = reduce(part.problem)
        session.looks[key] = quick(session.reduced[key])
    return session.looks[key]


def solve_exactly(session: SolveState, part: Part) -> SearchOutcome:
    """Return what is remembered, or search; remember what is proven."""
    key = part.key
    if key in session.memory.outcomes:
        return session.memory.outcomes[key]
    reduced = session.reduced.pop(key, None) or reduce(part.problem)
    cuts = _cuts_from_before(session, part)
    outcome = search_reduced(reduced, session.watch, cuts=cuts, tell=session.tell)
    session.cuts[part.first] = part, outcome.cuts
    return _remembered(session, key, outcome)


def _cuts_from_before(session: SolveState, part: Part) -> Cuts:
    """Return the cuts that were in use when nearly the same mentions were solved before."""
    if part.first not in session.cuts:
        return NONE
    before, cuts = session.cuts[part.first]
    return cuts.within(part.places(before), part.problem)


def solve_ahead(session: SolveState, parts: Iterable[Part]) -> None:
    """Search the large parts that are not remembered in several processes, and remember them."""
    if session.jobs < 2:
        return
    from caspr.engines.native.partition.parallel import is_large, search_in_processes

    open_parts = {part.key: part.problem for part in parts if part.key not in session.memory.outcomes}
    reduced = {key: session.reduced.get(key) or reduce(problem) for key, problem in open_parts.items()}
    large = [key for key, smaller in reduced.items() if is_large(smaller.problem)]
    if len(large) > 1:
        watch, problems = session.watch, [reduced[key] for key in large]
        outcomes = search_in_processes(problems, watch.left, watch.megabytes, session.jobs)
        for key, outcome in zip(large, outcomes, strict=True):
            _remembered(session, key, outcome)


def _remembered(session: SolveState, key: bytes, outcome: SearchOutcome) -> SearchOutcome:
    if outcome.proven:
        session.memory.outcomes[key] = replace(outcome, cuts=NONE)
    elif key not in session.looks or session.looks[key].value <= outcome.value:
        session.looks[key] = outcome
    return outcome
