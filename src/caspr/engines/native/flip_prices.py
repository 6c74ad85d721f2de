"""Flip prices: what it costs to decide a pair of mentions the other way.

A pair is *certain* if every optimum decides it alike: together, or apart. Solve once more with the
opposite decision enforced: the difference to the optimum is the price of flipping the pair, and the
pair is certain exactly if that is positive, or if the opposite is impossible. Parts that the pair does
not touch are remembered, so a price costs as much as solving one part.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from caspr.engines.native.engine import solve_with
from caspr.engines.native.state import Memory
from caspr.engines.native.translation.connectivity import Pair
from caspr.errors import EngineError
from caspr.task.instance import Instance
from caspr.task.limits import Limits
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
    """What the best solution that decides otherwise costs more, at least; `None` if there is none."""
    exact: bool
    """Whether the price is proven; otherwise it is a lower bound."""

    @property
    def certain(self) -> bool:
        """Whether every optimum is proven to decide the pair alike."""
        return self.price is None or self.price > 0


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
            flipped = solve_with(instance, limits, memory=memory, joined=joined, apart=apart)
        except EngineError:  # a limit came before there was any solution
            yield FlipPrice(first, second, together, 0, exact=False)
            continue
        price = None if flipped.status is Status.INFEASIBLE else max(0, flipped.bound - solution.value)
        yield FlipPrice(first, second, together, price, flipped.status is not Status.FEASIBLE)
