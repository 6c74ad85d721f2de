"""The state of one solve: what is known so far of an instance, and what was solved before.

Parts are remembered by content: a problem met again, in a later branch or after one more decision of
the adjudicator, is not solved again. Only proven outcomes are remembered for good: an outcome that a limit
or an interrupt left unproven is kept until the solve ends, and the next solve searches its part again.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from caspr.engines.native.links import Links
from caspr.engines.native.partition.cuts import NO_CUTS, Cuts
from caspr.engines.native.partition.heuristics import grow
from caspr.engines.native.partition.outcome import (
    OnBound,
    OnFound,
    SearchOutcome,
    Start,
    ignore_bound,
    ignore_found,
)
from caspr.engines.native.partition.problem import UNMET, Labels
from caspr.engines.native.partition.search import quick, search_split
from caspr.engines.native.partition.splitting import Split, fits, split
from caspr.engines.native.partition.ties import FirstOptimum
from caspr.engines.native.partition.watch import Watch
from caspr.engines.native.translate import Bundles, Part, Translator, forbidden_pairs
from caspr.task.decisions import Pair
from caspr.task.instance import Instance
from caspr.task.limits import Progress, silent
from caspr.task.own_rules import DerivedRules
from caspr.task.pricing import price, price_chain
from caspr.task.solution import Costs, Partition
from caspr.task.votes import Signature
from caspr.text.document import Span


@dataclass(frozen=True)
class CutsBefore:
    """The cuts last used for a part: where a similar part starts."""

    part: Part
    """The part, whose nodes the cuts are about."""
    cuts: Cuts


@dataclass
class Memory:
    """What one solve leaves to the next; valid for the same annotations, objective and rules."""

    outcomes: dict[bytes, SearchOutcome] = field(default_factory=dict)
    """Proven outcomes by the content of their problem."""
    pieces: dict[bytes, SearchOutcome] = field(default_factory=dict)
    """The same for the pieces that reductions leave of the problems."""
    parts: dict[object, Part] = field(default_factory=dict)
    links: dict[tuple[Signature, ...], Links] = field(default_factory=dict)
    """Links between kinds, by the kinds."""
    prices: dict[object, tuple[int, Costs]] = field(default_factory=dict)
    """What chains cost, by their mentions and the groups that these are in."""
    ties: dict[bytes, FirstOptimum] = field(default_factory=dict)
    """The first optimum by the rule for ties, by the content of the problem."""
    record: bool = False
    """Whether outcomes are wanted with their proofs."""
    rules: DerivedRules = field(default_factory=DerivedRules)
    """What rules of one's own had derived when parts and prices were kept."""

    def forget_unless(self, rules: DerivedRules) -> None:
        """Forget what holds only under other rules."""
        if self.rules != rules:
            self.parts.clear()
            self.prices.clear()
        self.rules = rules


@dataclass
class SolveState:
    """The state shared by all steps of one solve."""

    instance: Instance
    watch: Watch
    memory: Memory = field(default_factory=Memory)
    progress: Progress = silent
    apart: frozenset[Pair] = frozenset()
    """Pairs to be kept apart beyond all rules."""
    joined: Bundles = ()
    """Mentions to be kept together beyond all decisions."""
    reduced: dict[bytes, Split] = field(default_factory=dict)
    """Reductions made for the heuristics, kept for the search."""
    splits: dict[bytes, Split] = field(default_factory=dict)
    """How each part was reduced, kept without its pieces for deciding ties."""
    provisional: dict[bytes, SearchOutcome] = field(default_factory=dict)
    """The best outcome of each part without proof, from heuristics or from an unfinished search."""
    cuts: dict[Span, CutsBefore] = field(default_factory=dict)
    """The cuts last used for a part, by its first mention: where a similar part starts."""
    nested: set[Pair] = field(default_factory=set)
    """Nested pairs, and pairs that rules forbid, that some solution broke."""
    done: int = 0
    """How many parts of the work are solved."""
    parts: int = 0
    best: Partition | None = None
    """The cheapest partition that respects everything."""
    value: int | None = None
    tentative: bool = False
    """Whether it was found while a part was being searched: one that is found later may take its place."""
    bound: int | None = None
    """No solution costs less."""
    fallback: bool | None = False
    """Whether the best partition is the baseline; `None` if the baseline is no solution here."""
    on_bound: OnBound = ignore_bound
    """Called with every bound of the part that is being searched."""
    on_found: OnFound = ignore_found
    """Called with every better clustering of the part that is being searched."""

    @cached_property
    def translator(self) -> Translator:
        """The translation of mentions to nodes."""
        return Translator(self.instance, self.memory.parts, self.memory.links, watch=self.watch)

    @cached_property
    def eager(self) -> frozenset[Pair]:
        """The pairs that are forbidden from the beginning."""
        return forbidden_pairs(self.instance, all_pairs=False) | self.apart

    @cached_property
    def forbidden_pairs(self) -> frozenset[Pair]:
        """All pairs that a chain must not hold, also those that are seldom together."""
        return forbidden_pairs(self.instance, all_pairs=True) | self.apart

    @cached_property
    def distinguished(self) -> frozenset[Span]:
        """The mentions in forbidden pairs or pairs with costs, which cannot be swapped with their kind."""
        telling = (*self.instance.rules.paired, *self.instance.chain_gains)
        return frozenset(span for pair in self.forbidden_pairs for span in pair).union(telling)

    @cached_property
    def held(self) -> frozenset[tuple[Span, ...]]:
        """The bundles that free links hold together, whatever else is in their chain."""
        free = self.instance.free_groups
        groups = self.instance.constraints.groups
        return frozenset(group.mentions for group in groups if group.mentions[0] in free)

    def proving(self, watch: Watch) -> "SolveState":
        """Go on with another watch, to prove what was found."""
        self.watch = self.translator.watch = watch
        self.progress = silent
        return self

    def cost(self, partition: Partition) -> int:
        """Return what a partition costs; no chain is priced twice while the votes stay the same."""
        known = self.memory.prices
        if self.instance.forced_votes:
            return price(self.instance, partition).total
        groups = self.instance.free_groups

        def priced(instance: Instance, chain: tuple[Span, ...]) -> tuple[int, Costs]:
            key = chain, tuple([groups.get(mention) for mention in chain])
            if key not in known:
                known[key] = price_chain(instance, chain)
            return known[key]

        return price(self.instance, partition, priced).total

    def flips(self, partition: Partition) -> bool:
        """Return whether a partition joins and keeps apart what it has to, beyond decisions and rules."""
        if not self.apart and not self.joined:
            return True
        home = {mention: number for number, chain in enumerate(partition) for mention in chain}
        together = (
            mentions[0] in home and len({home.get(mention) for mention in mentions}) == 1
            for mentions in self.joined
        )
        return all(together) and not any(
            first in home and home[first] == home.get(second) for first, second in self.apart
        )

    def offer(self, partition: Partition, cost: int, *, tentative: bool = False) -> None:
        """Keep a partition that respects everything, if it is better; report it.

        A tentative one gives way to one of the same cost, so that what is reported on the way has no
        influence on the answer.
        """
        better = self.value is None or cost < self.value
        if better or (cost == self.value and self.tentative and not tentative):
            self.best, self.value, self.tentative = partition, cost, tentative
        if better:
            self.progress(self.value, self.bound, done=self.done, parts=self.parts)

    def raise_bound(self, bound: int) -> None:
        """Keep a bound on the whole instance, if it is better, and report it; nothing costs less than 0."""
        bound = max(bound, 0) if self.value is None else min(max(bound, 0), self.value)
        if self.bound is None or bound > self.bound:
            self.bound = bound
            self.progress(self.value, self.bound, done=self.done, parts=self.parts)


LARGE, LIGHT = 300, 20_000
"""A part of more nodes gets a clustering before it is reduced, which may take seconds.

It grows in some hundredths of a second where no more pairs are listed; others wait, since what most
annotators link is soon found should time be up (`engines.baseline`).
"""
ALONE = SearchOutcome(np.zeros(1, dtype=np.intp), 0, 0, proof=())
"""The outcome of a part of one node: most chains that nobody disputes."""
PartSolver = Callable[[SolveState, Part], SearchOutcome]
"""Solves one part, with or without proof."""


def solve_quickly(state: SolveState, part: Part) -> SearchOutcome:
    """Return what is remembered, or a good clustering without proof."""
    if part.problem.size == 1 and not part.demands:
        return ALONE
    key = part.key
    if key in state.memory.outcomes:
        return state.memory.outcomes[key]
    if key not in state.provisional:
        if part.demands and not fits(part.problem.size, state.watch):
            return _unmet(part)
        if part.problem.size > LARGE and len(part.problem.first) <= LIGHT and not part.demands:
            state.provisional[key] = _grown(part, state.watch)
        state.reduced[key] = _split(state, part)
        outcome = quick(state.reduced[key], state.watch)
        if key not in state.provisional or state.provisional[key].value < outcome.value:
            state.provisional[key] = outcome
    return state.provisional[key]


def _split(state: SolveState, part: Part) -> Split:
    """Reduce a part and take it apart."""
    reduced = split(part.whole, state.watch, record=state.memory.record)
    state.splits[part.key] = replace(reduced, pieces=(), steps=())
    return reduced


def _unmet(part: Part) -> SearchOutcome:
    """Return what is known of a part whose demands cannot be looked at."""
    return SearchOutcome(np.arange(part.problem.size), UNMET, part.problem.ceiling)


def _grown(part: Part, watch: Watch) -> SearchOutcome:
    """Return a clustering that takes hardly any time."""
    labels = grow(part.problem, watch)
    return SearchOutcome(labels, part.problem.value(labels) or 0, part.problem.ceiling)


def solve_exactly(state: SolveState, part: Part) -> SearchOutcome:
    """Return what is remembered, or search; remember what is proven."""
    if part.problem.size == 1 and not part.demands:
        return ALONE
    key, record = part.key, state.memory.record
    if key in state.memory.outcomes and not (record and state.memory.outcomes[key].proof is None):
        return state.memory.outcomes[key]
    if part.demands and not fits(part.problem.size, state.watch):
        return _remembered(state, key, _unmet(part))
    before, nodes = _from_before(state, part)
    reduced, known = state.reduced.pop(key, None), state.provisional.get(key)
    reduced = reduced or _split(state, part)
    outcome = search_split(
        reduced,
        state.watch,
        Start(
            cuts=before.cuts.through(nodes),
            on_bound=state.on_bound,
            on_found=state.on_found,
            known=None if known is None else known.labels,
            record=record,
        ),
        remembered=state.memory.pieces,
    )
    state.cuts[part.first] = CutsBefore(part, outcome.cuts.only_stars())
    return _remembered(state, key, outcome)


def _from_before(state: SolveState, part: Part) -> "tuple[CutsBefore, Labels]":
    """Return the cuts in use when nearly the same mentions were solved before, and their nodes here."""
    before = state.cuts.get(part.first)
    if before is None:
        return CutsBefore(part, NO_CUTS), np.arange(part.problem.size)
    return before, part.places(before.part)


def _remembered(state: SolveState, key: bytes, outcome: SearchOutcome) -> SearchOutcome:
    """Remember an outcome for later solves if it is proven, else for this one."""
    if outcome.proven:
        state.memory.outcomes[key] = replace(outcome, cuts=NO_CUTS)
    elif key not in state.provisional or state.provisional[key].value <= outcome.value:
        state.provisional[key] = outcome
    return outcome
