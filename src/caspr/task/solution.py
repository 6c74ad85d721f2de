"""Solutions: what engines return. Value and bound are always both there.

A *partition* is the bare answer: chains as tuples of spans, each in text order, ordered by first mention.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum

from caspr.text.document import Span
from caspr.text.findings import Finding, times

Partition = tuple[tuple[Span, ...], ...]
"""Chains of two or more mentions in canonical order."""


class Status(StrEnum):
    """What is known about a solution."""

    OPTIMAL = "optimal"
    """Proven: no solution costs less."""
    FEASIBLE = "feasible"
    """A solution, with a gap between value and bound."""
    INFEASIBLE = "infeasible"
    """Proven: no solution respects the decisions and rules."""


class Stop(StrEnum):
    """Why a search ended before it was done."""

    TIME = "time limit"
    MEMORY = "memory limit"
    INTERRUPT = "interrupt"
    SIZE = "size"
    """A group of connected nodes is larger than the native engine searches."""


@dataclass(frozen=True)
class Costs:
    """The cost of a solution by kind."""

    omitted: int = 0
    """(C1): links annotators gave that are not used."""
    used: int = 0
    """(C2): used links that some annotators did not give."""
    invented: int = 0
    """(C3): pairs of one chain without a used link."""
    rules: int = 0
    """What rules of one's own charge."""

    @property
    def total(self) -> int:
        """The value of the solution."""
        return self.omitted + self.used + self.invented + self.rules

    @property
    def by_kind(self) -> dict[str, int]:
        """The costs by kind, that of rules only where rules charge something.

        >>> Costs(4, 1, 0).by_kind
        {'omitted': 4, 'used': 1, 'invented': 0}
        """
        votes = {"omitted": self.omitted, "used": self.used, "invented": self.invented}
        return {**votes, "rules": self.rules} if self.rules else votes

    def __add__(self, other: "Costs") -> "Costs":
        """Add kind by kind."""
        return Costs(
            self.omitted + other.omitted,
            self.used + other.used,
            self.invented + other.invented,
            self.rules + other.rules,
        )


@dataclass(frozen=True)
class Statistics:
    """What an answer set solver reported of its own work; `None` where it did not."""

    grounding: float | None = None
    """Processor seconds for grounding."""
    choices: int | None = None
    """How often the search guessed."""
    conflicts: int | None = None
    """How often a guess turned out wrong."""
    value: int | None = None
    """What the best chains found by the solver itself cost."""
    bound: int | None = None
    """The solver's own lower bound; that of CM holds only within its limit of chains."""

    def __or__(self, later: "Statistics") -> "Statistics":
        """Return these numbers, replaced by later ones where there are any."""
        known = {name: number for name, number in asdict(later).items() if number is not None}
        return replace(self, **known)


@dataclass(frozen=True)
class Solution:
    """The answer of an engine for one instance."""

    partitions: tuple[Partition, ...]
    """The best chains first, by the rule for ties; all optimal ones where asked for; none if infeasible."""
    value: int
    """What the best chains cost; 0 if infeasible."""
    bound: int
    status: Status
    """Optimal exactly when the value equals the bound."""
    complete: bool = False
    """Whether `partitions` are proven to be all optimal ones."""
    stop: Stop | None = None
    """What ended the search early, if anything did."""
    findings: tuple[Finding, ...] = ()
    """Findings of the engine, such as a limit of its own."""
    count: int | None = None
    """How many optimal solutions there are, also where not all are listed; `None` if not known."""
    at_least: int = 0
    """A proven least number of optimal solutions, also where their number is not known; 0 if unproven."""
    statistics: Statistics | None = None
    """What an answer set solver reported of its work; `None` from other engines."""
    charged: int = 0
    """What rules about the solution charge, as an answer set solver says; part of the value."""
    recorded: object = field(default=None, compare=False)
    """What the engine recorded for a certificate, if it was to (`Limits.certificate`), for itself to read."""

    @classmethod
    def of(
        cls,
        value: int,
        bound: int,
        partitions: Iterable[Partition],
        *,
        complete: bool = False,
        stop: Stop | None = None,
        count: int | None = None,
        at_least: int = 1,
    ) -> "Solution":
        """Make a solution whose status follows from value and bound."""
        proven = value <= bound
        partitions = tuple(partitions)
        return cls(
            partitions,
            value,
            min(value, bound),
            Status.OPTIMAL if proven else Status.FEASIBLE,
            complete and proven,
            stop,
            count=count if proven else None,
            at_least=max(at_least, count or 0, len(partitions)) if proven else 0,
        )

    def __repr__(self) -> str:
        """Summarise the solution in one line, whatever its size."""
        partitions = times(len(self.partitions), "partition")
        return f"<Solution {self.status}: value {self.value}, bound {self.bound}, {partitions}>"


INFEASIBLE = Solution((), 0, 0, Status.INFEASIBLE, complete=True)
"""The answer when decisions and rules cannot hold together."""


def canonical(chains: Iterable[Iterable[Span]]) -> Partition:
    """Put chains into the one order in which equal partitions are equal.

    >>> canonical([[Span(6, 6), Span(5, 5)], [Span(4, 4), Span(1, 1)]])[0]
    (Span(start=1, end=1), Span(start=4, end=4))
    """
    return tuple(sorted(tuple(sorted(chain)) for chain in chains))
