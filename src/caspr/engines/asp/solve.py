"""Solve with an answer set system: a pass for the optimum, one for ties, and one for all optima if asked.

    engine -> _Search -> backend: clingo, gringo | clasp, gringo | wasp
                 ^          | events: answer sets, lower bounds, how the run ended
                 +----------+

**The search** runs a program and follows the events of a *backend*. Once the optimum is proven, the second
pass minimises what the rule for ties looks at as well, on levels below the cost (`ties.lp`): it keeps the
time limit, and where it is cut short the optimum of the first pass stays, with a finding. The third pass
lists all answer sets that cost no more than the optimum, each partition once. The encoding CM assumes a
limit on the number of chains. Where more chains are possible its bound holds only for solutions within that
limit, so it is not reported as a bound, and a finding says so. Where decisions leave no solution within the
limit, the limit is raised.

**Answer sets** are read as text. In both encodings a chain is a connected component of the chosen links
`clink/2`. For MM that is its definition; CM can give two unconnected groups one number, which is never
cheaper than two numbers, and reading the links separates them.

**Clingo** runs through its Python API, without limits in this process. Grounding cannot be interrupted
there, so a run with a limit, or one that must be interruptible by Ctrl-C, takes place in a child process,
which runs this same module and prints the events as JSON lines.

**Pipes.** Both gringo and clasp are in clingo's wheel, so the first pipe needs no other program. A `gringo`
on PATH is preferred: that of the wheel writes its output unbuffered, and takes several times as long. WASP is
a separate program. It reads gringo's older smodels format, but not the line that announces incremental
programs in today's output; a filter drops it. WASP cannot list each optimal partition once, so the optima
are computed one by one, each time forbidding those already known.

**The solver's own options** go to clasp, inside clingo or not, or to WASP. Those that change what is asked or
printed are refused. Who wants to see what a solver prints, gets the lines of the pipes; clingo is then called
as a program, too, and the time for grounding is not known.
"""

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import Enum
from functools import cache, partial

from caspr.engines.asp.pipes import OutOfMemoryError, TimeOutError, run_pipe
from caspr.engines.asp.program import chain_limit, figure, most_chains, positions, program
from caspr.engines.baseline import FALLBACK, baseline
from caspr.errors import EngineError, InputError, LimitError
from caspr.task.instance import Instance
from caspr.task.limits import Limits, Progress
from caspr.task.pricing import pairwise_bound, price, violations
from caspr.task.solution import (
    INFEASIBLE,
    Partition,
    Solution,
    Statistics,
    Status,
    Stop,
    canonical,
)
from caspr.task.ties import open_ties, rank
from caspr.text.document import Span
from caspr.text.findings import Finding, times, warning
from caspr.text.grouping import Groups

OPTIMISE = ("--opt-strategy=usc,oll,disjoint,stratify",)
"""Core-guided optimisation with disjoint cores and stratification, which the paper found essential."""
_LINK = re.compile(r"(?:clink|ownlink)\(mid\((\d+),(\d+)\),mid\((\d+),(\d+)\)\)")
_RESULT_CM = re.compile(r"result_cm\(((?:mid\(\d+,\d+\))|\d+),mid\((\d+),(\d+)\)\)")
_PROGRESS = re.compile(r"Progression\s*:\s*\[\s*(\d+);")
_COUNT = re.compile(r"(Choices|Conflicts)\s*:\s*(\d+)")
_DONE = frozenset({0, 10, 20, 30})
"""Exit codes of solvers: unknown or run from Python, satisfiable, exhausted, both."""
_LEAST_GRINGO = (5, 4)
"""The oldest gringo whose language and output are those of clingo's wheel."""
_DROP_INCREMENTAL = (
    "import shutil, sys; i, o = sys.stdin.buffer, sys.stdout.buffer; "
    "line = i.readline(); o.write(b'' if line == b'90 0\\n' else line); shutil.copyfileobj(i, o)"
)


_REPORT = ("--verbose=2", "--quiet=0", "--stats")
"""What makes clasp print every answer set, its bounds and its statistics."""
_OURS = (
    *("--outf", "--out-", "--output", "--text", "--quiet", "--verbose", "--stats", "--silent", "--warn"),
    *("--mode", "--models", "--opt-mode", "--enum-mode", "--project", "--const", "--file", "--lemma-out"),
    *("--time-limit", "--help", "--version", "--printbounds", "--supp-models", "--no-ufs-check"),
)
"""Options that decide what is asked, what is printed, or what an answer set is: these are ours."""
_OURS_IN_SHORT = "nqVehvcfW"


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
    cost: int | None = None
    """What it costs as the solver says, where that is known."""


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


def engine(system: str, encoding: str) -> "partial[Solution]":
    """Return the engine that solves an encoding with an answer set system."""
    if system == "gringo-wasp" and shutil.which("wasp") is None:
        raise EngineError(
            "engine gringo-wasp: found no program 'wasp' on PATH, expected WASP 2; build it from its source "
            "repository (alviano/wasp on GitHub; make), put build/release/wasp on PATH, "
            "or choose --engine clingo"
        )
    return partial(_solve, _BACKENDS[system], encoding)


def _solve(
    backend: Backend, encoding: str, instance: Instance, limits: Limits, progress: Progress
) -> Solution:
    """Find an optimum with a backend and, if asked, all of them."""
    if not instance.mentions:
        if instance.bundles or instance.constraints.overruled:
            return INFEASIBLE
        cost = price(instance, ()).total
        if not instance.rules.program:
            return Solution.of(cost, cost, [()], complete=True)
    search = _Search(backend, encoding, instance, limits, progress)
    solution = search.optimise()
    if solution.status is Status.OPTIMAL and not instance.rules.program:
        solution = search.decide_ties(solution)
    listing = limits.solutions > 1 and not instance.rules.program
    if listing and solution.value == search.bound and solution.partitions:
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
        self.charged = 0
        """What rules about the solution charge for the best."""
        # Only the solver knows whether a solution respects such rules.
        self.fallback = None if instance.rules.program else baseline(instance)
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
        end: End | None = None
        for event in self._events(Run(self._program_of_links())):
            match event:
                case Answer(atoms, cost):
                    self._offer(partition_of_links(atoms), cost)
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

    def _offer(self, partition: Partition, cost: int | None = None) -> None:
        """Keep a partition if it is the best; rules about the solution charge what only the solver knows."""
        value = own = price(self.instance, partition).total
        if self.instance.rules.program and cost is not None:
            value = cost
        if self.value is None or value < self.value:
            self.best, self.value, self.charged = partition, value, value - own

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
        solution = Solution.of(self.value, bound, [self.best], stop=self.stop)
        solution = replace(solution, charged=self.charged)
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
            f"paper's assumption; {missed}"
        )
        return (warning("chain-limit", message, option=" (use --encoding mm)"),)

    def _program_of_links(self, *more: str) -> str:
        """Return a program whose answer sets show the used links, the annotators' and those of rules."""
        shown = ["#show ownlink/2."] if self.instance.rules.apart else []
        extra = "\n".join([*shown, self._chain_limit_fact(), *more])
        return program(self.instance, self.encoding, show="clink/2", extra=extra)

    def decide_ties(self, solution: Solution) -> Solution:
        """Run the second pass: the first of the solutions of this cost by the rule for ties."""
        text = self._program_of_links(positions(self.instance), figure("ties"))
        best, end = solution.partitions[0], None
        for event in self._events(Run(text)) if self.stop is None else ():
            if isinstance(event, Answer):
                partition = partition_of_links(event.atoms)
                if price(self.instance, partition).total == solution.value:
                    best = min(best, partition, key=rank)
            elif isinstance(event, End):
                end = event
        solution = replace(solution, partitions=(best,), stop=self.stop)
        if end is End.EXHAUSTED and not self.limited:
            return solution
        chains = f"encoding CM looked only at solutions with at most {times(self.chains_at_most, 'chain')}"
        return replace(solution, findings=(*solution.findings, open_ties(str(self.stop or chains))))

    def all_optima(self, solution: Solution) -> Solution:
        """Run the third pass: every partition that costs as little as the optimum."""
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
        optima.discard(solution.partitions[0])
        others = sorted(optima, key=rank)
        kept = (*solution.partitions, *others)[: self.limits.solutions]
        complete = end is End.EXHAUSTED and not self.limited and len(kept) == len(others) + 1
        return replace(solution, partitions=kept, complete=complete, stop=self.stop)

    def _collect(self, partition: Partition, optima: set[Partition], value: int) -> None:
        """Add a listed partition to the optima, unless CM put unconnected groups into one chain."""
        broken = any(violations(self.instance, partition))
        if not broken and price(self.instance, partition).total == value:
            optima.add(partition)


def partition_of_links(atoms: str) -> Partition:
    """Join mentions along the chosen links.

    >>> partition_of_links("clink(mid(1,1),mid(4,4)) clink(mid(4,4),mid(6,6))")
    ((Span(start=1, end=1), Span(start=4, end=4), Span(start=6, end=6)),)
    """
    chains: Groups[Span] = Groups()
    for match in _LINK.finditer(atoms):
        numbers = [int(number) for number in match.groups()]
        first, second = Span(*numbers[:2]), Span(*numbers[2:])
        chains.add(first)
        chains.add(second)
        chains.join(first, second)
    return canonical(chains.lists())


def partition_of_results(atoms: str) -> Partition:
    """Collect the mentions of each result chain.

    >>> partition_of_results("result_cm(1,mid(6,6)) result_cm(1,mid(1,3))")
    ((Span(start=1, end=3), Span(start=6, end=6)),)
    """
    chains: dict[str, list[Span]] = defaultdict(list)
    for match in _RESULT_CM.finditer(atoms):
        chains[match[1]].append(Span(int(match[2]), int(match[3])))
    return canonical(chains.values())


def _clingo(run: Run) -> Iterator[Event]:
    limits = run.limits
    refuse_options(limits.solver_options)
    if limits.debug is not None:
        clingo = [sys.executable, "-m", "clingo", "--warn=none", *_REPORT, *arguments(run)]
        return _piped([clingo], run.program, limits, _read_clasp)
    unlimited = limits.seconds is None and limits.megabytes is None and not limits.interruptible
    return in_process(run) if unlimited else in_child(run)


def arguments(run: Run) -> list[str]:
    """Return clasp's options for a run: optimise, or list all answer sets up to a cost."""
    own = run.limits.solver_options
    if run.at_cost is None:
        strategy = () if any(option.startswith("--opt-strategy") for option in own) else OPTIMISE
        return [*strategy, *own]
    return [f"--opt-mode=enum,{run.at_cost}", "--project=show", "--models=0", *own]


def refuse_options(options: Sequence[str], *, of_clasp: bool = True) -> None:
    """Refuse options that change what is asked or printed, and those of clasp that it does not know."""
    for option in options:
        if not option.startswith("-"):
            raise InputError(f"solver option {option}: it should begin with -")
        if _is_ours(option):
            raise InputError(f"solver option {option}: CaspR decides what the solver does and prints")
    if not options or not of_clasp:
        return
    import clingo

    said: list[str] = []
    try:
        clingo.Control(list(options), logger=lambda _, message: said.append(message))
    except RuntimeError as error:
        raise InputError(f"solver option {' '.join(options)}: {' '.join((*said, str(error)))}") from None


def _is_ours(option: str) -> bool:
    """Return whether an option, which may be abbreviated, decides what is asked or printed.

    >>> [_is_ours(option) for option in ("--outf=2", "--opt-m=enum", "-n0", "--opt-strategy=bb", "-")]
    [True, True, True, False, True]
    """
    name = option.partition("=")[0]
    if not name.startswith("--"):
        return name[1:2] in _OURS_IN_SHORT
    return any(name.startswith(ours) or ours.startswith(name) for ours in _OURS)


def in_process(run: Run, cancelled: Callable[[], bool] = lambda: False) -> Iterator[Event]:
    """Ground and solve in this process, until done or cancelled."""
    import clingo

    bounds: list[int] = []
    costless = False
    control = clingo.Control([*arguments(run), "--warn=none"], message_limit=0)
    control.add("base", [], run.program)
    started = time.process_time()
    control.ground([("base", [])])
    yield Statistics(grounding=time.process_time() - started)
    with control.solve(yield_=True, async_=True, on_unsat=lambda lower: bounds.extend(lower[:1])) as handle:
        while True:
            handle.resume()
            while not handle.wait(0.1):
                yield from _drain(bounds)
                if cancelled():
                    handle.cancel()
            yield from _drain(bounds)
            model = handle.model()
            if model is None:
                break
            # Where nothing costs anything, clingo stops at the first answer set: it is optimal.
            costless = run.at_cost is None and not model.cost
            yield Answer(str(model), model.cost[0] if model.cost else 0)
        exhausted = handle.get().exhausted or costless
    solvers = control.statistics["solving"]["solvers"]
    yield Statistics(choices=int(solvers["choices"]), conflicts=int(solvers["conflicts"]))
    if exhausted:
        yield End.EXHAUSTED


def _drain(bounds: list[int]) -> Iterator[Bound]:
    if bounds:
        yield Bound(bounds[-1])
        bounds.clear()


def in_child(run: Run) -> Iterator[Event]:
    """Ground and solve in a child process within the limits of the run."""
    command = [sys.executable, "-m", "caspr.engines.asp.solve"]
    task = json.dumps({"program": run.program, "at_cost": run.at_cost, "options": run.limits.solver_options})
    lines = run_pipe([command], task, run.limits, success=frozenset({0}))
    yield from _within_limits(_event(line) for line in lines)


def _event(line: str) -> Event:
    kind, content = json.loads(line)
    if kind == "answer":
        return Answer(*content)
    if kind == "bound":
        return Bound(content)
    if kind == "statistics":
        return Statistics(**content)
    return End(content)


def _print(event: Event) -> None:
    line: list[str | int | list[str | int | None] | dict[str, float | None]]
    match event:
        case Answer(atoms, cost):
            line = ["answer", [atoms, cost]]
        case Bound(value):
            line = ["bound", value]
        case Statistics():
            line = ["statistics", asdict(event)]
        case End():
            line = ["end", event.value]
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def _within_limits(events: Iterator[Event]) -> Iterator[Event]:
    """Yield events; a limit or an interrupt becomes the last one."""
    try:
        yield from events
    except TimeOutError:
        yield End.TIME
    except OutOfMemoryError:
        yield End.MEMORY
    except KeyboardInterrupt:
        yield End.INTERRUPT


def _clasp(run: Run) -> Iterator[Event]:
    refuse_options(run.limits.solver_options)
    clasp = [sys.executable, "-m", "clingo", "--mode=clasp", *_REPORT, *arguments(run)]
    return _piped([_gringo("intermediate"), clasp], run.program, run.limits, _read_clasp)


def _gringo(output: str) -> list[str]:
    grounder = [sys.executable, "-m", "clingo", "--mode=gringo"] if grounder_version() is None else ["gringo"]
    return [*grounder, "--warn=none", f"--output={output}"]


@cache
def grounder_version() -> str | None:
    """Return the version of the `gringo` on PATH; `None` if there is none, or one too old."""
    program = shutil.which("gringo")
    if program is None:
        return None
    printed = subprocess.run(
        [program, "--version"], capture_output=True, encoding="utf-8", errors="replace", check=False
    ).stdout
    version = re.match(r"gringo version ((\d+)\.(\d+)\S*)", printed)
    if version is None or (int(version[2]), int(version[3])) < _LEAST_GRINGO:
        return None
    return version[1]


def _piped(
    commands: list[list[str]],
    program: str,
    limits: Limits,
    read: Callable[[Iterable[str]], Iterator[Event]],
) -> Iterator[Event]:
    """Feed a program to a grounder and a solver, and yield the events that a reader finds in their lines."""
    seconds: list[float] = []
    lines = run_pipe(commands, program, limits, success=_DONE, ended=seconds.extend)
    yield from _within_limits(read(_shown(lines, limits)))
    if len(commands) > 1:
        yield Statistics(grounding=seconds[0] or None)  # 0 where the system does not count


def _shown(lines: Iterator[str], limits: Limits) -> Iterator[str]:
    for line in lines:
        if limits.debug is not None:
            limits.debug(line)
        yield line


def _read_clasp(lines: Iterable[str]) -> Iterator[Event]:
    """Read clasp's report: answers follow their heading, bounds stand in brackets.

    Where nothing costs anything, clasp stops at the first answer set and calls it satisfiable.
    """
    exhausted = answer_follows = False
    costless = True
    for line in lines:
        if answer_follows:
            yield Answer(line)
            answer_follows = False
        elif line.startswith("Answer:"):
            answer_follows = True
        elif (progress := _PROGRESS.match(line)) is not None:
            yield Bound(int(progress[1]))
        elif line.startswith("Optimization"):
            costless = False
        elif line.startswith(("OPTIMUM FOUND", "UNSATISFIABLE")) or (costless and line == "SATISFIABLE"):
            exhausted = True
        elif line.startswith("Models"):
            exhausted = exhausted or not line.rstrip().endswith("+")
        elif (count := _COUNT.match(line)) is not None:
            yield Statistics(**{count[1].lower(): int(count[2])})
    if exhausted:
        yield End.EXHAUSTED


def _wasp(run: Run) -> Iterator[Event]:
    refuse_options(run.limits.solver_options, of_clasp=False)
    if run.at_cost is None:
        return _wasp_optimum(run.program, run.limits)
    return _wasp_optima(run.program, run.limits, run.at_cost)


def _wasp_optimum(program: str, limits: Limits) -> Iterator[Event]:
    commands = [
        _gringo("smodels"),
        [sys.executable, "-c", _DROP_INCREMENTAL],
        ["wasp", "--printbounds", *(limits.solver_options or ("--enable-disjcores",))],
    ]
    return _piped(commands, program, limits, _read_wasp)


def _read_wasp(lines: Iterable[str]) -> Iterator[Event]:
    """Read WASP's report: answer sets in braces, then their cost."""
    cost = 0
    for line in lines:
        if line.startswith("{"):
            yield Answer(line)
        elif line.startswith("COST LB:"):
            yield Bound(int(line.removeprefix("COST LB:")))
        elif line.startswith("COST ") and "@" in line:
            cost = int(line.removeprefix("COST ").partition("@")[0])
        elif line == "OPTIMUM":
            yield Bound(cost)
    yield End.EXHAUSTED


def _wasp_optima(program: str, limits: Limits, cost: int) -> Iterator[Event]:
    """Compute one optimum after the other, each time forbidding the known ones, until it costs more."""
    deadline = None if limits.seconds is None else time.monotonic() + limits.seconds
    while True:
        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        answer: Answer | None = None
        lower = 0
        for event in _wasp_optimum(program, replace(limits, seconds=left)):
            match event:
                case Answer():
                    answer = event
                case Bound(value):
                    lower = value
                case End.TIME | End.MEMORY | End.INTERRUPT:
                    yield event
                    return
        if answer is None or lower > cost:
            yield End.EXHAUSTED
            return
        yield answer
        program += _forbid(answer.atoms)


def _forbid(atoms: str) -> str:
    """Return the constraint that no answer set has exactly these result atoms."""
    results = sorted(match[0] for match in _RESULT_CM.finditer(atoms))
    exactly = f"#count {{ C,M : result_cm(C,M) }} = {len(results)}"
    return f":- {', '.join([*results, exactly])}.\n"


_BACKENDS: dict[str, Backend] = {"clingo": _clingo, "gringo-clasp": _clasp, "gringo-wasp": _wasp}


if __name__ == "__main__":
    asked: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: asked.append(number))
    task = json.load(sys.stdin)
    given = Limits(solver_options=tuple(task["options"]))
    for event in in_process(Run(task["program"], task["at_cost"], given), lambda: bool(asked)):
        _print(event)
