"""Measure decisions that a mention must exist, which the engine meets inside its linear program.

    python -m bench.demands [--act FOLDER] [--quick] > table.md

`exists` is decided for 5, 20 and 50 mentions of a noisy document of 350 mentions that the optimum leaves
alone: all at once, then one click after the other. With `--act`, a folder of CoNLL files, 80 random decisions
(exists, into a chain, apart) are made on it one after the other. Settings are the paper's. Seconds are
processor time of the engine; a click is one more decision given to `IncrementalSolver`, as the review page
does.
"""

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.corpora import Noise, Shape, make_document
from bench.machine import describe_machine, use_one_thread
from caspr.adjudication import by_document
from caspr.engines.native import solve
from caspr.engines.native.incremental import IncrementalSolver
from caspr.formats import read_all
from caspr.task.contradictions import ContradictionError, refuse_contradictions
from caspr.task.decisions import Decisions, Statement, StatementKind
from caspr.task.instance import Instance
from caspr.task.limits import Limits
from caspr.task.objectives import OBJECTIVES
from caspr.task.solution import Solution, Status
from caspr.text.document import Annotation, Span

NOISY = Shape("noisy", 1600, 6, 350, 25, 40, Noise(found=0.8, moved=0.0, stray=0.3, split=0.3, own=0.0))
"""Given mentions whose annotators disagree about nearly a third of all links."""
LIMIT = 60.0
"""Seconds for one solve."""


def noisy_document(shape: Shape = NOISY, seed: int = 1) -> tuple[Annotation, ...]:
    """Make the annotations of the noisy document."""
    return make_document(shape, random.Random(seed)).annotations


def lonely(annotations: Sequence[Annotation], objective: str, count: int) -> tuple[Instance, list[Statement]]:
    """Choose mentions that the optimum leaves alone, and decide that each exists."""
    instance = Instance(tuple(annotations), OBJECTIVES[objective])
    chained = {mention for chain in solve(instance, Limits()).partitions[0] for mention in chain}
    alone = [
        mention for mention in instance.mentions if mention not in chained and _may_link(instance, mention)
    ]
    chosen = random.Random(1).sample(alone, min(count, len(alone)))
    return instance, [Statement.of(StatementKind.EXISTS, [mention]) for mention in chosen]


def _may_link(instance: Instance, mention: Span) -> bool:
    return any(not instance.is_forbidden(mention, other) for other in instance.votes.neighbours(mention))


def at_once(objective: str, counts: Sequence[int]) -> Iterator[tuple[int, float, Solution]]:
    """Solve with more and more decisions at once; yield their number, the seconds and the solution."""
    instance, statements = lonely(noisy_document(), objective, max(counts))
    for count in counts:
        solver = IncrementalSolver(instance)
        yield count, *_timed(solver, Decisions.of([], [], statements[:count]))


def one_by_one(objective: str, count: int) -> Iterator[tuple[int, float, Solution]]:
    """Decide one mention after the other; yield how many, the seconds of the last and the solution."""
    instance, statements = lonely(noisy_document(), objective, count)
    solver = IncrementalSolver(instance)
    solver.solve()
    for number in range(1, count + 1):
        yield number, *_timed(solver, Decisions.of([], [], statements[:number]))


def on_an_act(files: Sequence[Path], objective: str, count: int) -> Iterator[tuple[int, float, Solution]]:
    """Make random decisions one after the other; those that contradict earlier ones are not made."""
    [annotations], _ = by_document(read_all(files))
    solver, rng = IncrementalSolver(Instance(tuple(annotations), OBJECTIVES[objective])), random.Random(1)
    solution, statements = solver.solve(), list[Statement]()
    while len(statements) < count:
        more = Decisions.of([], [], [*statements, _random_statement(rng, solver.instance, solution)])
        try:
            refuse_contradictions(solver.with_decisions(more))
        except ContradictionError:
            continue
        statements = list(more.statements)
        seconds, solution = _timed(solver, more)
        yield len(statements), seconds, solution


def on_the_page(files: Sequence[Path], objective: str, count: int) -> Iterator[tuple[float, float | None]]:
    """Make random decisions on the page of `caspr review`, over HTTP; refused ones do not count.

    Yield by the clock the seconds until the click is answered, and until the page has the proof, which may
    come later; `None` if it does not come.
    """
    from bench.review import served

    rng, done = random.Random(1), 0
    with (
        tempfile.TemporaryDirectory() as folder,
        served(files, Path(folder), "--preset", "paper", "--objective", objective) as tab,
    ):
        while done < count:
            operation = _random_operation(rng, tab.json("/d/0/state"))
            started = time.perf_counter()
            if not tab.click(operation):
                continue
            done, answered = done + 1, time.perf_counter() - started
            while not (proven := tab.json("/d/0/state")["cost"]["status"] == "optimal"):
                if time.perf_counter() - started > LIMIT:
                    break
                time.sleep(0.05)
            yield answered, time.perf_counter() - started if proven else None


def _random_operation(rng: random.Random, state: dict[str, Any]) -> dict[str, Any]:
    mention, other = rng.sample(sorted(state["mentions"]), 2)
    match rng.choice(("exists", "into", "apart")):
        case "exists":
            return {"do": "exists", "mentions": [mention]}
        case "into":
            return {"do": "into", "mentions": [mention], "chain": rng.choice(sorted(state["chains"]))}
        case _:
            return {"do": "apart", "mentions": [mention, other]}


def _random_statement(rng: random.Random, instance: Instance, solution: Solution) -> Statement:
    mention = rng.choice(instance.mentions)
    match rng.choice(("exists", "into", "apart")):
        case "exists":
            return Statement.of(StatementKind.EXISTS, [mention])
        case "into":
            chain = rng.choice(solution.partitions[0])
            other = rng.choice([one for one in chain if one != mention])
            return Statement.of(StatementKind.TOGETHER, [mention, other])
        case _:
            other = rng.choice(instance.votes.neighbours(mention) or [instance.mentions[0]])
            if other == mention:
                return Statement.of(StatementKind.EXISTS, [mention])
            return Statement.of(StatementKind.APART, [mention, other])


def _timed(solver: IncrementalSolver, decisions: Decisions) -> tuple[float, Solution]:
    started = time.process_time()
    solution = solver.decide(decisions, Limits(seconds=LIMIT))
    return time.process_time() - started, solution


def rows(act: Path | None, *, quick: bool) -> Iterator[tuple[str, str, str]]:
    """Yield the work, what to reach and what was measured."""
    counts, clicks = ((5,), 5) if quick else ((5, 20, 50), 50)
    for objective in ("v", "va"):
        found = list(at_once(objective, counts))
        yield (
            f"must-exist decisions on a noisy document of 350 mentions, {objective.upper()}",
            "5, 20, 50 proven in 1, 5, 20 s",
            "; ".join(
                f"{count}: {_verdict(solution)} in {seconds:.1f} s" for count, seconds, solution in found
            ),
        )
        yield _clicks(
            f"each further must-exist click there, {objective.upper()}", one_by_one(objective, clicks)
        )
    if act is not None:
        found_there = on_an_act(sorted(act.glob("*.conll")), "v", 10 if quick else 80)
        reach = "all proven, median 0.2 s"
        yield _clicks(f"80 random decisions on {act.name}, V", found_there, reach=reach)
        yield _clicks_on_the_page(act, 10 if quick else 80, reach)


def _clicks(
    work: str, found: Iterator[tuple[int, float, Solution]], reach: str = "under 1 s"
) -> tuple[str, str, str]:
    seconds, proven = [], 0
    for number, taken, solution in found:
        print(f"{work}: {number}, {_verdict(solution)}, {taken:.2f} s", file=sys.stderr, flush=True)
        seconds.append(taken)
        proven += solution.status is Status.OPTIMAL
    return work, reach, f"{proven} of {len(seconds)} proven; {_spread(seconds)}"


def _clicks_on_the_page(act: Path, count: int, reach: str) -> tuple[str, str, str]:
    answered, proven = [], []
    for seconds, until_proof in on_the_page(sorted(act.glob("*.conll")), "v", count):
        answered.append(seconds)
        proven += [] if until_proof is None else [until_proof]
        print(f"{act.name}, page: {len(answered)}, {seconds:.2f} s", file=sys.stderr, flush=True)
    figures = f"answered after {_spread(answered)}, proof after {_spread(proven)} by the clock"
    work = f"{count} random decisions on the review page of {act.name}, V, over HTTP"
    return work, reach, f"{len(proven)} of {len(answered)} proven; {figures}"


def _spread(seconds: Sequence[float]) -> str:
    return f"median {statistics.median(seconds):.2f} s, worst {max(seconds):.2f} s" if seconds else "never"


def _verdict(solution: Solution) -> str:
    gap = (solution.value - solution.bound) / max(solution.value, 1)
    return "proven" if solution.status is Status.OPTIMAL else f"gap {gap:.1%}"


def main() -> None:
    """Measure and print the table in Markdown."""
    parser = argparse.ArgumentParser(prog="python -m bench.demands")
    parser.add_argument("--act", type=Path, help="a folder of annotators' CoNLL files")
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    use_one_thread("bench.demands")
    print(describe_machine(), "", "| work | to reach | measured |", "|---|---|---|", sep="\n", flush=True)
    for work, reach, measured in rows(given.act, quick=given.quick):
        print(f"| {work} | {reach} | {measured} |", flush=True)


if __name__ == "__main__":
    main()
