"""Measure the targets for the native engine, and print them as one table.

    python -m bench.performance [PART ...] [--acts FOLDER] [--instances FOLDER] [--quick]

Without parts, the whole table is printed.

Every figure comes from this run on this machine. Comparisons are ratios within the run; absolute times are
orientation only. `--acts` names a folder with one folder of CoNLL files per act, `--instances` one with
public instances of clique partitioning (`bench.instances_public`); what is not given is left out. Clingo
needs hours for all generated documents: it runs beside the native engine on a random sample of them, drawn
from a fixed seed, for `--clingo-minutes`.
"""

import argparse
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from bench.commands import corpus_row, page_row, reading_rows, report_rows
from bench.corpora import CORPORA, Shape, generate, make_document, novel, save
from bench.crowds import certificate_rows, child, crowd_rows
from bench.instances_public import rows
from bench.loads import PATIENCE, clock_rows, memory_row, novels, overruns
from bench.machine import describe_machine, use_one_thread
from bench.measure import Measure, measure
from caspr.adjudication import by_document
from caspr.formats import read_all
from caspr.task.settings import PRESETS

OBJECTIVES = ("v", "va", "u", "ua")


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    work: str
    reach: str
    measured: str


@dataclass(frozen=True)
class Plan:
    """What to run."""

    folder: Path
    """Where generated files go."""
    acts: Path | None
    """The folder of acts, if there is one."""
    instances: Path | None
    """The folder of public instances, if there is one."""
    clingo_limit: float
    """Seconds for each run of clingo."""
    clingo_minutes: float
    """How long clingo may run in all."""
    quick: bool
    """Whether to run a small sample of everything."""


def generated(plan: Plan) -> Iterator[tuple[str, list[Path]]]:
    """Yield name and files of every generated document."""
    for name, corpus in CORPORA.items():
        documents = list(generate(corpus))
        for one in documents[:2] if plan.quick else documents:
            yield one.truth.document.name, save(one, plan.folder / name / one.truth.document.name)


def datasets(plan: Plan) -> Iterator[Row]:
    """Measure all generated documents under all objectives."""
    runs: list[Measure] = []
    for name, files in generated(plan):
        for objective in OBJECTIVES:
            runs.append(measure(files, "native", objective))
            report(f"{name} {objective}", runs[-1], None)
    proven = [run for run in runs if run.proven]
    fast = sum(run.seconds <= 10 for run in proven)
    yield Row(
        "generated DS1-like and DS2-like documents x 4 objectives",
        "all 216 proven, all within 10 s; 5 GB",
        f"{len(proven)} of {len(runs)} proven, {fast} within 10 s; slowest {slowest(runs):.1f} s, "
        f"largest {max(run.megabytes for run in runs):.0f} MB",
    )


def against_clingo(plan: Plan) -> Iterator[Row]:
    """Measure clingo and the native engine side by side on a random sample of the generated documents."""
    runs = [(name, files, objective) for name, files in generated(plan) for objective in OBJECTIVES]
    random.Random(1).shuffle(runs)
    ratios: list[tuple[float, int]] = []
    tried, until = 0, time.monotonic() + 60 * plan.clingo_minutes
    for name, files, objective in runs:
        if time.monotonic() > until:
            break
        clingo = steadily(lambda: measure(files, "clingo", objective, seconds=plan.clingo_limit))  # noqa: B023
        native = steadily(lambda: measure(files, "native", objective))  # noqa: B023
        report(f"{name} {objective}", native, clingo)
        tried += 1
        if clingo.proven and native.proven:
            ratios.append((clingo.seconds / native.seconds, native.mentions))
    if ratios:
        large = [ratio for ratio, mentions in ratios if mentions > 100]
        worst = f"; least ratio above 100 mentions {min(large):.1f}" if large else ""
        yield Row(
            f"speed against clingo MM where that finishes in {plan.clingo_limit:.0f} s",
            "geometric mean at least 300 (limit 300 s); never below 1 above 100 mentions",
            f"geometric mean {statistics.geometric_mean(ratio for ratio, _ in ratios):.0f} over the "
            f"{len(ratios)} of {tried} sampled runs that clingo finished{worst}",
        )


def steadily(run: Callable[[], Measure]) -> Measure:
    """Repeat a run of less than a second, of which a busy machine doubles the time; return the quickest."""
    first = run()
    return first if first.seconds > 1 else min(first, run(), run(), key=lambda one: one.seconds)


def acts(plan: Plan) -> Iterator[Row]:
    """Measure the acts under all objectives."""
    if plan.acts is None:
        return
    folders = sorted(path for path in plan.acts.iterdir() if path.is_dir())
    for objectives, limit, reach in (
        (("v", "va", "u"), 20.0, "all proven, each within 20 s"),
        (("ua",), 60.0, "at least 10 of 11 proven within 60 s; gap below 1 % otherwise"),
    ):
        runs = []
        for folder in folders[:2] if plan.quick else folders:
            for objective in objectives:
                run = measure(sorted(folder.glob("*.conll")), "native", objective, seconds=limit)
                report(f"{folder.name} {objective}", run, None)
                runs.append(run)
        gap = max(run.gap for run in runs)
        yield Row(
            f"the eleven acts x {', '.join(objectives).upper()}",
            reach,
            f"{sum(run.proven for run in runs)} of {len(runs)} proven within {limit:.0f} s; slowest "
            f"{max(run.seconds for run in runs):.1f} s; largest gap {gap:.2%}",
        )


def whole_novel(plan: Plan) -> Iterator[Row]:
    """Measure a novel through the command line, reading and writing included."""
    shape = novel(tokens=20_000, mentions=2_000, longest=300) if plan.quick else novel()
    files = save(make_document(shape, random.Random(1)), plan.folder / "novel")
    output = ["-o", str(plan.folder / "novel.conll")]
    seconds, megabytes = _command(["adjudicate", *map(str, files), *output, "--preset", "paper"])
    yield Row(
        f"a novel: {shape.tokens:,} tokens, {shape.annotators} annotators, {shape.mentions:,} mentions, "
        f"chains up to {shape.longest:,}, V, from files to file",
        "proven within 4 s and 2 GB",
        f"{seconds:.1f} s of the processor, {megabytes:.0f} MB",
    )
    usual, megabytes = _command(["adjudicate", *map(str, files), *output])
    yield Row(
        "the same with the default settings",
        "at most 1.5 times as long",
        f"{usual / seconds:.2f} times, {megabytes:.0f} MB",
    )


def _command(words: Sequence[str]) -> tuple[float, float]:
    """Run `caspr`; return its processor time and peak megabytes. Fail unless it proved optimality."""
    code = (
        "import resource, subprocess, sys;"
        "done = subprocess.run(sys.argv[1:], capture_output=True, text=True);"
        "sys.stderr.write(done.stderr); assert 'proven optimal' in done.stderr, done.stderr;"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN);"
        "print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)"
    )
    command = [sys.executable, "-c", code, sys.executable, "-m", "caspr", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, megabytes = map(float, done.stdout.split())
    return seconds, megabytes


def defaults(plan: Plan) -> Iterator[Row]:
    """Compare acts and generated documents with the default settings to V."""
    documents = [] if plan.acts is None else [("the acts", _act_files(plan))]
    documents.append(("a sample of the generated documents", [files for _, files in generated(plan)][::6]))
    for name, sets in documents:
        totals = [0.0, 0.0]
        for files in sets:
            for place, options in enumerate(([], ["--preset", "paper"])):
                output = str(plan.folder / "defaults.conll")
                seconds, _ = _command(["adjudicate", *map(str, files), *options, "-o", output])
                totals[place] += seconds
        yield Row(
            f"{name} with the default settings, from files to file, against V",
            "at most 1.5 times as long",
            f"{totals[0] / totals[1]:.2f} times, {len(sets)} documents",
        )


def _act_files(plan: Plan) -> list[list[Path]]:
    assert plan.acts is not None
    folders = sorted(path for path in plan.acts.iterdir() if path.is_dir())
    return [sorted(folder.glob("*.conll")) for folder in (folders[:2] if plan.quick else folders)]


def novel_objectives(plan: Plan) -> Iterator[Row]:
    """Measure the novel under each objective."""
    for objective, run in novels(plan.folder, quick=plan.quick):
        report(f"novel {objective}", run, None)
        state = "proven" if run.proven else f"gap {run.gap:.2%}"
        yield Row(
            f"the same novel, {objective}, engine and checks alone",
            "proven or gap below 0.5 % in 60 s; 1 GB",
            f"{state} in {run.seconds:.1f} s, {run.megabytes:.0f} MB",
        )


def limits_that_hold(plan: Plan) -> Iterator[Row]:
    """Measure by how much large and dense documents exceed their limit."""
    for what, run, limit in overruns(plan.folder, quick=plan.quick):
        report(what, run, None)
        state = "proven" if run.proven else f"between {run.bound:,} and {run.value:,}"
        yield Row(
            f"time limit {limit:.0f} s: {what}",
            f"within {PATIENCE:.0f} s of it",
            f"engine {run.clock:.1f} s by the clock, {state}; {run.megabytes:.0f} MB; with preparation and "
            f"checks {run.seconds:.1f} s of the processor",
        )


def instances(plan: Plan) -> Iterator[Row]:
    """Solve public instances of clique partitioning."""
    if plan.instances is not None:
        yield from (Row(*row) for row in rows(plan.instances, quick=plan.quick))


def growth(plan: Plan) -> Iterator[Row]:
    """Double a document again and again, with chains of the same sizes."""
    base = novel(tokens=4_000, mentions=400, longest=60)
    seconds = []
    for factor in (1, 2) if plan.quick else (1, 2, 4, 8, 16):
        shape = Shape(
            f"growth-{factor}",
            base.tokens * factor,
            base.annotators,
            base.mentions * factor,
            base.chains * factor,
            base.longest,
            base.noise,
        )
        files = save(make_document(shape, random.Random(1)), plan.folder / shape.name)
        seconds.append(min(measure(files, "native", "v").seconds for _ in range(3)))
    ratios = [later / earlier for earlier, later in pairwise(seconds)]
    yield Row(
        "growth: a document twice as long, chains of the same sizes, V",
        "at most 2.3 times the time",
        "times "
        + ", ".join(f"{ratio:.2f}" for ratio in ratios)
        + f" (from {seconds[0]:.2f} to {seconds[-1]:.2f} s)",
    )


def start_up(plan: Plan) -> Iterator[Row]:
    """Compare start-up, in processor time, with that of the packages it needs."""
    example = sorted(str(path) for path in (Path(__file__).parents[1] / "examples/paper").glob("in*.conll"))
    rounds = 3 if plan.quick else 15
    for work, reach, ours, theirs in (
        (
            "start-up: `caspr --help` against `import click, rich`",
            2,
            ["-m", "caspr", "--help"],
            ["-c", "import click, rich"],
        ),
        (
            "start-up: the six-token example end to end against `import numpy, click`",
            1.5,
            ["-m", "caspr", "adjudicate", *example],
            ["-c", "import numpy, click"],
        ),
    ):
        ratio = _fastest(ours, rounds) / _fastest(theirs, rounds)
        yield Row(work, f"at most {reach} times", f"{ratio:.2f} times")


def _fastest(words: Sequence[str], rounds: int) -> float:
    return min(child([sys.executable, *words])[0] for _ in range(rounds))


def slowest(runs: Sequence[Measure]) -> float:
    """Return the seconds of the slowest run."""
    return max(run.seconds for run in runs)


def report(what: str, native: Measure, clingo: Measure | None) -> None:
    """Show on standard error how far the run is."""
    line = f"{what}: {native.status}, value {native.value}, {native.seconds:.2f} s, {native.megabytes:.0f} MB"
    if clingo is not None:
        line += f"; clingo {clingo.status}, {clingo.seconds:.2f} s"
    print(line, file=sys.stderr, flush=True)


def decisions(plan: Plan) -> Iterator[Row]:
    """Measure one more decision on an act, re-optimised incrementally."""
    if plan.acts is None:
        return
    medians, worst = [], 0.0
    folders = sorted(path for path in plan.acts.iterdir() if path.is_dir())
    for folder in folders[:2] if plan.quick else folders:
        seconds = _decide(sorted(folder.glob("*.conll")), rounds=12)
        print(f"{folder.name}: median {statistics.median(seconds):.3f} s", file=sys.stderr, flush=True)
        medians.append(statistics.median(seconds))
        worst = max(worst, *seconds)
    yield Row(
        "one decision on an act, re-optimised through `IncrementalSolver`, V",
        "median under 100 ms, worst under 1 s",
        f"medians of the acts {1000 * min(medians):.0f} to {1000 * max(medians):.0f} ms, worst {worst:.2f} s",
    )


def _decide(files: Sequence[Path], rounds: int) -> list[float]:
    """Enforce one random link after the other and return the seconds each took."""
    from caspr.engines.native.incremental import IncrementalSolver
    from caspr.task.decisions import Decisions
    from caspr.text.document import Chain

    [annotations], _ = by_document(read_all(files))
    rng = random.Random(1)
    solver = IncrementalSolver(PRESETS["paper"].instance(annotations, Decisions()))
    solver.solve()
    chains: list[Chain] = []
    seconds = []
    for number in range(rounds):
        chain = rng.choice(rng.choice(annotations).chains)
        pair = rng.sample(chain.mentions, 2)
        taken = {span for known in chains for span in known.mentions}
        if taken.intersection(pair) or pair[0].nests_with(pair[1]):
            continue
        chains.append(Chain.of(f"d{number}", pair))
        started = time.monotonic()
        solver.decide(Decisions.of(chains))
        seconds.append(time.monotonic() - started)
    return seconds


def demands(plan: Plan) -> Iterator[Row]:
    """Measure decisions that mentions must exist."""
    from bench.demands import rows

    act = None if plan.acts is None else plan.acts / "Sara_Act1"
    for row in rows(act if act is not None and act.is_dir() else None, quick=plan.quick):
        yield Row(*row)


PARTS: dict[str, Callable[[Plan], Iterator[Row]]] = {
    "start-up": start_up,
    "growth": growth,
    "novel": whole_novel,
    "defaults": defaults,
    "objectives": novel_objectives,
    "crowds": lambda plan: (Row(*row) for row in crowd_rows(plan.folder, quick=plan.quick)),
    "certificates": lambda plan: (
        Row(*row) for row in certificate_rows(plan.folder, plan.acts, quick=plan.quick)
    ),
    "files": lambda plan: (Row(*row) for row in reading_rows(plan.folder, plan.acts, quick=plan.quick)),
    "reports": lambda plan: (Row(*row) for row in report_rows(plan.folder, plan.acts, quick=plan.quick)),
    "corpus": lambda plan: iter([Row(*corpus_row(plan.folder, quick=plan.quick))]),
    "page": lambda plan: iter([Row(*page_row(plan.folder, quick=plan.quick))]),
    "limits": limits_that_hold,
    "memory": lambda plan: iter([Row(*memory_row(plan.folder, quick=plan.quick))]),
    "decisions": decisions,
    "demands": demands,
    "acts": acts,
    "datasets": datasets,
    "instances": instances,
    "clingo": against_clingo,
    # Last, because it works in this process, whose memory later ones would inherit in their figures.
    "clock": lambda plan: (Row(*row) for row in clock_rows(quick=plan.quick)),
}
"""Everything that is measured, by name."""


def main() -> None:
    """Measure and print the table in Markdown."""
    parser = argparse.ArgumentParser(prog="python -m bench.performance")
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="what to measure; default: everything")
    parser.add_argument("--acts", type=Path, help="a folder of acts; left out if not given")
    parser.add_argument("--instances", type=Path, help="a folder of public instances; left out if not given")
    parser.add_argument("--clingo-limit", type=float, default=300, help="seconds for one run of clingo")
    parser.add_argument("--clingo-minutes", type=float, default=60, help="for all runs of clingo together")
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    use_one_thread("bench.performance")
    print(describe_machine(), "", "| work | to reach | measured |", "|---|---|---|", sep="\n", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        clingo = given.clingo_limit, given.clingo_minutes
        plan = Plan(Path(folder), given.acts, given.instances, *clingo, given.quick)
        for name in given.parts or PARTS:
            for row in PARTS[name](plan):
                print(f"| {row.work} | {row.reach} | {row.measured} |", flush=True)


if __name__ == "__main__":
    main()
