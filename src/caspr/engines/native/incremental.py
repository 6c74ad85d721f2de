"""The incremental solver, and flip prices: solving a document again when little has changed.

Parts of an instance are solved independently, and a decision touches few of them. The solver keeps every part
it has solved to a proof, by content, so that after one more decision of the adjudicator only the parts it
touches are solved again; undoing a decision costs nothing.

**Flip prices.** A pair is *certain* if every optimum decides it alike: together, or apart. Solve once more
with the opposite decision enforced: the difference to the optimum is the price of flipping the pair, and the
pair is certain exactly if that is positive, or if the opposite is impossible. Parts that the pair does not
touch are remembered, so a price costs as much as solving one part.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from caspr.engines.native.engine import solve_with
from caspr.engines.native.state import Memory
from caspr.errors import EngineError
from caspr.task.decisions import Decisions, Pair
from caspr.task.instance import Instance
from caspr.task.limits import Limits, Progress, silent
from caspr.task.solution import Solution, Status
from caspr.text.document import Span


@dataclass(frozen=True)
class FlipPrice:
    """What it costs to decide one pair the other way."""

    first: Span
    second: Span
    together: bool
    """Whether the result holds both in one chain."""
    price: int | None
    """How much more the best solution that decides otherwise costs, at least; `None` if there is none."""
    exact: bool
    """Whether the price is proven; otherwise it is a lower bound."""


def flip_prices(
    instance: Instance,
    solution: Solution,
    pairs: Iterable[Pair],
    limits: Limits,
    memory: Memory | None = None,
) -> Iterator[FlipPrice]:
    """Yield the price of flipping each pair, given an optimal solution; limits hold for each pair."""
    memory = memory or Memory()
    chain_of = {span: number for number, chain in enumerate(solution.partitions[0]) for span in chain}
    for first, second in pairs:
        together = first in chain_of and chain_of[first] == chain_of.get(second)
        joined = () if together else (tuple(sorted((first, second))),)
        apart = frozenset({(first, second)}) if together else frozenset()
        try:
            flipped = solve_with(instance, limits, memory=memory, joined=joined, apart=apart, ties=False)
        except EngineError:  # a limit came before there was any solution
            yield FlipPrice(first, second, together, 0, exact=False)
            continue
        price = None if flipped.status is Status.INFEASIBLE else max(0, flipped.bound - solution.value)
        # Rules that were not asked about the pairs of the other solution might make it dearer.
        exact = flipped.status is not Status.FEASIBLE and not instance.rules.partial
        yield FlipPrice(first, second, together, price, exact)


class IncrementalSolver:
    """Solves one document again and again as decisions come and go."""

    def __init__(self, instance: Instance, *, record: bool = False) -> None:
        self.instance = instance
        self._memory = Memory(record=record)

    def solve(self, limits: Limits | None = None, progress: Progress = silent) -> Solution:
        """Solve with the decisions as they stand."""
        return self.answer(self.instance, limits or Limits(), progress)

    def answer(self, instance: Instance, limits: Limits, progress: Progress = silent) -> Solution:
        """Solve the instance with other decisions; several threads may call this at the same time."""
        return solve_with(instance, limits, progress, memory=self._memory)

    def decide(self, decisions: Decisions, limits: Limits | None = None) -> Solution:
        """Replace all decisions and solve again."""
        self.instance = self.with_decisions(decisions)
        return self.solve(limits)

    def with_decisions(self, decisions: Decisions) -> Instance:
        """Return the instance with other decisions, without counting votes again that stay the same."""
        instance = replace(self.instance, decisions=decisions)
        if not instance.forced_votes:
            # Decisions are no votes, so votes and prices are still the same; both are cached properties.
            instance.__dict__["votes"] = self.instance.votes
            instance.__dict__["prices"] = self.instance.prices
        return instance

    def joining(self, instance: Instance, mentions: Iterable[Span], limits: Limits) -> Solution:
        """Return the best solution with some mentions in one chain, whose links cost what they always do."""
        joined = (tuple(sorted(mentions)),)
        return solve_with(instance, limits, memory=self._memory, joined=joined)

    def flip_prices(
        self, instance: Instance, solution: Solution, pairs: Iterable[tuple[Span, Span]], limits: Limits
    ) -> Iterator[FlipPrice]:
        """Yield the price of deciding each pair the other way; what was solved before is remembered."""
        return flip_prices(instance, solution, pairs, limits, self._memory)
