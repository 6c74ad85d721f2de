"""The result among solutions of equal cost: the first by the rule for ties, decided part by part.

`decide_ties` comes after the proof. The rule (`caspr.task.ties`) begins with the fewest pairs, so a
solution that it prefers has no chain across two parts: cutting one at the border loses nothing (`nesting`),
and takes pairs away. For the same reason its chains are connected by links that are used without loss, even
where unused links cost nothing, if no bundle says otherwise. So the parts of the first proof are decided
one by one (`partition.ties`). Nested pairs that the first solution breaks are forbidden, and it is looked
for again: leaving rules out only adds solutions, so a first one that breaks none is the first.

**Demands** are met in the parts that they make (`translate`), as in the first proof: every solution of least
cost is an optimum of that relaxation, and its first one is a solution, since a chain in pieces could be cut.
Only where mentions that could be swapped are in different chains near a demanded one, others of them may come
first, which are no nodes of their own.

**Regions** where that is so, or with a bundle that used links may not hold together (`cases`), are decided by
branching. At every branch, take the first solution of the relaxation without demands. It comes no later
than any solution below the branch of the same cost. If the relaxation, penalty included, costs more than
the region may, or its first solution does not come before the best one found, the branch is left. If it
costs just that, and the first solution respects everything, it is the first below the branch (`all_optima`,
claim 3). Otherwise it offends, and the ways out, with every partner as a way of its own, hold all solutions
below the branch between them (`cases`, claim 2). Mentions of one signature in no forbidden pair and no
bundle can be swapped, so if one of them leads to more pairs or mentions than the best found, all do.
"""

from dataclasses import dataclass, replace

from caspr.engines.native.cases import (
    Branch,
    Region,
    all_regions,
    demanded_mentions,
    narrowest,
    offences,
    settle_region,
    ways,
)
from caspr.engines.native.connectivity import pieces
from caspr.engines.native.nesting import relax_exactly
from caspr.engines.native.partition.outcome import SearchOutcome
from caspr.engines.native.partition.ties import FirstOptimum, first_meeting_demands, first_optimum
from caspr.engines.native.partition.watch import ExpiredError
from caspr.engines.native.state import ALONE, SolveState, solve_exactly
from caspr.engines.native.translate import Bundles, Part, linked_kinds
from caspr.task.solution import Partition, canonical
from caspr.task.ties import Rank, rank
from caspr.text.document import Span

BRANCHES = 100
"""How many branches of one region are looked at."""

Chains = list[list[Span]]


@dataclass(frozen=True)
class Decided:
    """A solution, and whether it is proven to be the first of its cost."""

    partition: Partition
    proven: bool


def decide_ties(state: SolveState, bundles: Bundles) -> Decided:
    """Return the first of all solutions that cost as little as the best, whose cost is proven."""
    root, demanded = Branch(bundles), demanded_mentions(state, bundles)
    torn = {mention for bundle in bundles if _is_torn(state, bundle) for mention in bundle}
    if not torn:
        first = _first_relaxed(state, root, None, demanded)
        if not _splits_twins(state, bundles, demanded, first.chains):
            return Decided(canonical(first.chains), first.proven)
    parts = state.translator.translate(bundles, state.eager | state.nested, demanded=demanded)
    chains: Chains = []
    proven = True
    for reach in list(all_regions(state, root, parts)):
        first = _first_relaxed(state, root, reach, demanded)
        if not torn.isdisjoint(reach) or _splits_twins(state, bundles, demanded & reach, first.chains):
            first = _RegionTies(state, reach).decide(root)
        chains, proven = chains + first.chains, proven and first.proven
    return Decided(canonical(chains), proven)


def _splits_twins(state: SolveState, bundles: Bundles, demanded: frozenset[Span], chains: Chains) -> bool:
    """Return whether mentions that could be swapped are in different chains near a demanded one.

    Not all of them are nodes of their own then (`translate`), so the first solution may have others of them.
    """
    translator = state.translator
    linked = linked_kinds(state.instance, translator.of, demanded)
    bundled = {mention for bundle in bundles for mention in bundle}
    home = {mention: number for number, chain in enumerate(chains) for mention in chain}
    for kind in {kind for kinds in linked.values() for kind in kinds}:
        twins = set(translator.by_kind[kind]) - bundled - state.distinguished
        if translator.attracts(kind) and len({home.get(twin) for twin in twins}) > 1:
            return True
    return False


@dataclass(frozen=True)
class _First:
    """The first chains of a region, and whether they are proven to be that."""

    chains: Chains
    proven: bool


def _is_torn(state: SolveState, bundle: tuple[Span, ...]) -> bool:
    """Return whether a bundle may need further links to be one chain."""
    held = len(bundle) == 1 or bundle in state.held
    return not held and len(pieces(state.instance, bundle)) > 1


def _first_relaxed(
    state: SolveState, branch: Branch, reach: Region | None, demanded: frozenset[Span]
) -> _First:
    """Return the first chains of the relaxation with some demands, in a region or everywhere."""
    while True:
        parts = state.translator.translate(branch.bundles, state.eager | state.nested, demanded=demanded)
        chains: Chains = []
        proven = True
        for part in parts:
            if reach is None or part.nodes[0][0] in reach:
                first = _first_of_part(state, part)
                chains += part.chains(first.labels)
                proven = proven and first.proven
        broken = {pair for chain in chains for pair in state.instance.nested_faults(chain)}
        if not broken:
            return _First(chains, proven)
        state.watch.check()
        state.nested |= broken


def _first_of_part(state: SolveState, part: Part) -> FirstOptimum:
    """Return what is remembered, or decide a part; one for which no work is left stays as it was solved."""
    if part.problem.size == 1 and not part.demands:
        return FirstOptimum(ALONE.labels, proven=True)
    known, key = state.memory.ties, part.key
    if key not in known:
        outcome, watch = solve_exactly(state, part), state.watch
        try:
            first = _first_by_search(state, part, outcome)
        except ExpiredError:
            if not watch.is_spent:
                raise
            first = FirstOptimum(outcome.labels, proven=False)
        if watch.expired():
            return first
        known[key] = first
    return known[key]


def _first_by_search(state: SolveState, part: Part, outcome: SearchOutcome) -> FirstOptimum:
    if not part.demands:
        return first_optimum(part.problem, outcome, state.watch, state.splits.get(part.key))
    if not outcome.proven:
        return FirstOptimum(outcome.labels, proven=False)
    whole = replace(part.problem.dense(), demands=part.demands)
    return first_meeting_demands(whole, part.problem.sizes, outcome, state.watch)


class _RegionTies:
    """The search for the first solution of a region with demands."""

    def __init__(self, state: SolveState, reach: Region) -> None:
        assert state.best is not None
        self.state, self.reach = state, reach
        self.best: Chains = [list(chain) for chain in state.best if chain[0] in reach]
        self.rank: Rank = rank(self.best)
        self.goal, self.left, self.proven = 0, BRANCHES, True

    def decide(self, root: Branch) -> _First:
        """Find the first solution below a branch, beginning with the one known."""
        settled = settle_region(self.state, root, self.reach)
        self.goal, self.proven = settled.bound, settled.proven
        if self.proven:
            self._below(root)
        return _First(self.best, self.proven)

    def _below(self, branch: Branch) -> bool:
        """Look for a better solution below a branch; return whether one with no more pairs is possible."""
        state = self.state
        self.left -= 1
        if self.left < 0 or state.watch.expired():
            self.proven = False
            return True
        demanded = demanded_mentions(state, branch.bundles)
        if relax_exactly(state, branch.bundles, demanded).bound + branch.penalty > self.goal:
            return False
        relaxed = relax_exactly(state, branch.bundles, demanded - self.reach)
        cost = relaxed.bound + branch.penalty
        if cost > self.goal:
            return False
        first = _first_relaxed(state, branch, self.reach, demanded - self.reach)
        self.proven = self.proven and first.proven and relaxed.proven
        if cost == self.goal and self._is_left(first, branch):
            return rank(first.chains)[:2] <= self.rank[:2]
        self._branch(branch, first)
        return True

    def _is_left(self, first: _First, branch: Branch) -> bool:
        """Keep the first solution of a branch if it is better; return whether the branch is done."""
        own = rank(first.chains)
        if own >= self.rank:
            return True
        if not self._holds(first, branch):
            return False
        self.best, self.rank = first.chains, own
        return True

    def _holds(self, first: _First, branch: Branch) -> bool:
        """Return whether nothing is alone that must not be, and links connect every chain."""
        instance = self.state.instance
        inside = {mention for chain in first.chains for mention in chain}
        required = instance.demands & self.reach
        return required <= inside and all(
            len(pieces(instance, chain, branch.used)) == 1 for chain in first.chains
        )

    def _branch(self, branch: Branch, first: _First) -> None:
        """Follow the ways out of an offence; of mentions that can be swapped, as long as one leads on."""
        state = self.state
        broken = [
            fault
            for fault in offences(state, branch, canonical(first.chains))
            if branch.bundles[fault.bundle][0] in self.reach
        ]
        if not broken:
            self.proven = False
            return
        bundled = {mention for bundle in branch.bundles for mention in bundle}
        useless = set()
        for way in ways(state, branch, narrowest(state, branch, broken), ties=True):
            mention = way.others[0]
            plain = len(way.others) == 1 and mention not in bundled and mention not in state.distinguished
            signature = state.instance.votes.signature(mention) if plain else None
            if signature is None or signature not in useless:
                leads_on = self._below(way.branch)
                if plain and not leads_on:
                    useless.add(signature)
