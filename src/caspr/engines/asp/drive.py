"""Drive an ASP solver: one pass for the optimum, a second one for all optima.

A *backend* runs a program and yields events: answer sets, lower bounds, and how the run ended. The second
pass lists all answer sets that cost no more than the proven optimum, each partition once.

The encoding CM assumes a limit on the number of chains. Where more chains are possible its bound holds only
for solutions within that limit, so it is not reported as a bound, and a finding says so. Where decisions
leave no solution within the limit, the limit is raised.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum

from caspr.engines.asp.answers import partition_of_links, partition_of_results
from caspr.engines.asp.program import chain_limit, figure, most_chains, positions, program
from caspr.engines.baseline import FALLBACK, baseline
from caspr.errors import EngineError, LimitError
from caspr.task.instance import Instance
from caspr.task.limits import Limits, Progress
from caspr.task.price.pricing import pairwise_bound, price
from caspr.task.price.rules import violations
from caspr.task.solution import INFEASIBLE, Partition, Solution, Statistics, Stop, found
from caspr.text.findings import Finding, times, warning


class End(Enum):
    """How a solver's run ended."""

    EXHAUSTED = "exhausted"
    """The whole space was searched; the last answer set, if any, is optimal."""
    TIME = Stop.TIME
    MEMORY = Stop.MEMORY
    INTERRUPT = Stop.INTERRUPT


@dataclass(frozen=True)
class Answer:
    """An answer set, as the text of its shown atoms."""

    atoms: str


@dataclass(frozen=True)
class Bound:
    """A proven lower bound."""

    value: int


Event = Answer | Bound | Statistics | End


@dataclass(frozen=True)
class Run:
    """A program, and what a backend does with it."""

    program: str
    """The whole program, facts included."""
    at_cost: int | None = None
    """List every answer set up to this cost, instead of optimising."""
    limits: Limits = field(default_factory=Limits)
    """Time left, memory, and whether the run must be interruptible."""


Backend = Callable[[Run], Iterator[Event]]


def solve_with(
    backend: Backend, encoding: str, instance: Instance, limits: Limits, progress: Progress
) -> Solution:
    """Find an optimum with a backend and, if asked, all of them."""
    if not instance.mentions:
        if instance.bundles or instance.decisions.overruled:
            return INFEASIBLE
        cost = price(instance, ()).total
        return found(cost, cost, [()], complete=True)
    search = _Search(backend, encoding, instance, limits, progress)
    solution = search.optimise()
    if limits.solutions > 1 and solution.value == search.bound and solution.partitions:
        return search.all_optima(solution)
    return solution


class _Search:
    """The state of one search: the best solution and bound so far."""

    def __init__(
        self, backend: Backend, encoding: str, instance: Instance, limits: Limits, progress: Progress
    ) -> None:
        self.backend = backend
        self.encoding = encoding
        self.instance = instance
        self.limits = limits
        self.progress = progress
        self.started = time.monotonic()
        self.chains_at_most = chain_limit(instance) if encoding == "cm" else most_chains(instance)
        self.best: Partition | None = None
        self.value: int | None = None
        self.bound = 0
        self.stop: Stop | None = None
        self.statistics = Statistics()
        self.fallback = baseline(instance)
        self.least = pairwise_bound(instance)

    @property
    def limited(self) -> bool:
        """Whether solutions with more chains than the encoding can express are possible."""
        return self.chains_at_most < most_chains(self.instance)

    def optimise(self) -> Solution:
        """Run the first pass; raise the limit of chains and run it again while no solution is within it."""
        self._report_progress()
        while True:
            exhausted = self._first_pass()
            if self.best is None and exhausted:
                if not self.limited:
                    return INFEASIBLE
                self.chains_at_most = min(2 * self.chains_at_most + 1, most_chains(self.instance))
                continue
            if exhausted and self.value is not None:
                self.bound = self.value
            return self._solution()

    def _first_pass(self) -> bool:
        """Follow a run and return whether it searched the whole space."""
        if self.limits.seconds == 0:
            self.stop = Stop.TIME
            return False
        text = program(self.instance, self.encoding, show="clink/2", extra=self._chain_limit_fact())
        end: End | None = None
        for event in self._events(Run(text)):
            match event:
                case Answer(atoms):
                    self._offer(partition_of_links(atoms))
                case Bound(value):
                    self.bound = max(self.bound, value)
                case Statistics():
                    self.statistics |= event
                case End():
                    end = event
            self._report_progress()
        if end is None and self.stop is None:
            raise EngineError("the solver ended without saying whether it searched everything")
        return end is End.EXHAUSTED

    def _events(self, run: Run) -> Iterator[Event]:
        """Yield the events of a run; an interrupt or a limit ends them and sets `stop`."""
        left = None
        if self.limits.seconds is not None:
            left = max(0.0, self.limits.seconds - (time.monotonic() - self.started))
        events = self.backend(replace(run, limits=replace(self.limits, seconds=left)))
        try:
            for event in events:
                if isinstance(event, End) and isinstance(event.value, Stop):
                    self.stop = event.value
                yield event
        except KeyboardInterrupt:
            self.stop = Stop.INTERRUPT
        finally:
            close = getattr(events, "close", None)
            if close is not None:
                close()

    def _offer(self, partition: Partition) -> None:
        value = price(self.instance, partition).total
        if self.value is None or value < self.value:
            self.best, self.value = partition, value

    def _report_progress(self) -> None:
        """Call `progress` with the best value and bound; both are known before the solver's first answer."""
        value = self.value
        if value is None and self.fallback is not None:
            value = price(self.instance, self.fallback).total
        self.progress(value, max(self.least, 0 if self.limited else self.bound))

    def _chain_limit_fact(self) -> str:
        return f"chainlimit_is({self.chains_at_most})." if self.encoding == "cm" else ""

    def _solution(self) -> Solution:
        """Return the best solution found; the baseline if there was no answer set or it is better."""
        statistics = replace(self.statistics, value=self.value, bound=self.bound)
        if self.stop and self.fallback is not None:
            self._offer(self.fallback)
        if self.best is None or self.value is None:
            raise LimitError(
                f"no solution was found before the {self.stop} and the decisions leave no simple one; "
                "allow more with --time-limit or --memory-limit"
            )
        proven = 0 if self.limited else self.bound
        bound = max(proven, min(self.value, self.least))
        solution = found(self.value, bound, [self.best], stop=self.stop)
        return replace(solution, findings=self._findings(solution), statistics=statistics)

    def _findings(self, solution: Solution) -> tuple[Finding, ...]:
        proven = solution.bound == solution.value
        if self.stop and not proven and solution.partitions[0] == self.fallback:
            return (warning("baseline", FALLBACK),)
        if not self.limited or (proven and self.limits.solutions == 1):
            return ()
        missed = "there may be more optimal ones" if proven else "one with more chains may cost less"
        message = (
            f"encoding CM looked only at solutions with at most {times(self.chains_at_most, 'chain')}, the "
            f"paper's assumption; {missed} (use --encoding mm)"
        )
        return (warning("chain-limit", message),)

    def all_optima(self, solution: Solution) -> Solution:
        """Run the second pass: every partition that costs as little as the optimum."""
        extra = self._chain_limit_fact()
        if self.encoding == "cm":
            extra += "\n" + positions(self.instance) + "\n" + figure("cm_order")
        text = program(self.instance, self.encoding, show="result_cm/2", extra=extra)
        optima = {solution.partitions[0]}
        end: End | None = None
        for event in self._events(Run(text, at_cost=solution.value)):
            if isinstance(event, Answer):
                self._collect(partition_of_results(event.atoms), optima, solution.value)
                if len(optima) > self.limits.solutions:
                    break
            elif isinstance(event, End):
                end = event
        kept = tuple(sorted(optima)[: self.limits.solutions])
        complete = end is End.EXHAUSTED and not self.limited and len(kept) == len(optima)
        return replace(solution, partitions=kept, complete=complete, stop=self.stop)

    def _collect(self, partition: Partition, optima: set[Partition], value: int) -> None:
        """Add a listed partition to the optima, unless CM put unconnected groups into one chain."""
        broken = any(violations(self.instance, partition))
        if not broken and price(self.instance, partition).total == value:
            optima.add(partition)
