"""Solve public instances of clique partitioning, and print ours beside the optima that are known.

    python -m bench.instances_public FOLDER [--seconds 60] [--only WORD ...] [--nodes 300]

FOLDER holds instances, at any depth, as their authors distribute them; fetch them yourself: no licence came
with them. Two formats are read:

    NAME.txt   the number of nodes, then the upper triangle of gains, row by row (CP-Lib; modularity). The
               optimum is read from Optimal/NAME_opt.txt beside it, where that exists.
    NAME.gr    a graph, `p cep NODES EDGES` and an edge on each line (PACE 2021): an edge gains 1, any other
               pair loses 1. What is printed for these is the number of edits.

Each instance runs in this process, on one thread, with a limit of its own in seconds of the processor; each
folder is a row of the table.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.machine import describe_machine
from caspr.engines.native.partition.problem import Problem
from caspr.engines.native.partition.search import search_split
from caspr.engines.native.partition.sparse import SparseProblem, listed
from caspr.engines.native.partition.splitting import split
from caspr.engines.native.partition.watch import Watch


@dataclass(frozen=True)
class PublicInstance:
    """A problem with what is known about it."""

    family: str
    """The folder it is in."""
    name: str
    problem: SparseProblem
    offset: int = 0
    """The number of edges, where edits are counted instead of gains."""
    optimum: int | None = None
    """The optimum that its authors give."""


@dataclass(frozen=True)
class Run:
    """What came of one instance."""

    instance: PublicInstance
    value: int
    bound: int
    seconds: float
    """Processor time."""

    @property
    def proven(self) -> bool:
        """Whether the value is proven to be the optimum."""
        return self.value == self.bound

    @property
    def wrong(self) -> bool:
        """Whether what we say contradicts the optimum that is known."""
        optimum = self.instance.optimum
        return optimum is not None and not self.value <= optimum <= self.bound


def read_public(path: Path) -> PublicInstance:
    """Read an instance in one of the two formats."""
    return _read_graph(path) if path.suffix == ".gr" else _read_triangle(path)


def _read_triangle(path: Path) -> PublicInstance:
    size, *gains = map(int, path.read_text(encoding="utf-8").split())
    if len(gains) != size * (size - 1) // 2:
        raise SystemExit(f"{path}: found {len(gains)} gains, expected those of all pairs of {size} nodes")
    matrix = np.zeros((size, size), dtype=np.int64)
    matrix[np.triu_indices(size, 1)] = gains
    problem = Problem(matrix + matrix.T, np.zeros((size, size), dtype=bool))
    known = path.parent / "Optimal" / f"{path.stem}_opt.txt"
    optimum = None
    if known.exists():
        line = next(line for line in known.read_text(encoding="utf-8").splitlines() if "value" in line)
        optimum = int(line.rpartition(":")[2])
    values, counts = np.unique(np.array(gains), return_counts=True)
    common = int(values[counts.argmax()])
    return PublicInstance(path.parent.name, path.stem, listed(problem, common=common), optimum=optimum)


def _read_graph(path: Path) -> PublicInstance:
    lines = [line.split() for line in path.read_text(encoding="utf-8").splitlines() if line[:1] not in "c"]
    size = int(lines[0][2])
    edges = sorted(tuple(sorted((int(one) - 1, int(other) - 1))) for one, other in lines[1:])
    first, second = np.array(edges, dtype=np.intp).reshape(-1, 2).T
    gains, never = np.ones(len(edges), dtype=np.int64), np.zeros(len(edges), dtype=bool)
    problem = SparseProblem(np.ones(size, dtype=np.int64), -1, first, second, gains, never)
    return PublicInstance(path.parent.name, path.stem, problem, offset=len(edges))


NodeLimit = Callable[[str], int]
"""Up to how many nodes the instances in a folder of this name are solved."""


def instances(folder: Path, only: Sequence[str], nodes: NodeLimit) -> Iterator[PublicInstance]:
    """Yield all instances below a folder that are not too large."""
    for path in sorted([*folder.rglob("*.txt"), *folder.rglob("*.gr")]):
        wanted = not only or any(word in str(path) for word in only)
        if path.parent.name != "Optimal" and wanted:
            instance = read_public(path)
            if instance.problem.size <= nodes(instance.family):
                yield instance


class ProcessorWatch(Watch):
    """A limit in seconds of the processor: other work on the machine does not shorten it."""

    @property
    def left(self) -> float:
        """The seconds of the processor that are left."""
        return self.deadline - time.process_time()


def solve(instance: PublicInstance, seconds: float) -> Run:
    """Search one instance within a limit."""
    started = time.process_time()
    watch = ProcessorWatch(started + seconds)
    outcome = search_split(split(instance.problem, watch), watch)
    return Run(instance, outcome.value, outcome.bound, time.process_time() - started)


def report(run: Run) -> None:
    """Show on standard error what came of an instance."""
    instance = run.instance
    low, high = run.value, run.bound
    shown = f"{low}" if run.proven else f"{low} to {high}"
    if instance.offset:
        low, high = instance.offset - run.bound, instance.offset - run.value
        shown = f"{high} edits" if run.proven else f"{low} to {high} edits"
    known = "" if instance.optimum is None else f", known {instance.optimum}"
    fault = " WRONG" if run.wrong else ""
    line = f"{instance.family}/{instance.name} ({instance.problem.size} nodes): {shown}{known}{fault}"
    print(f"{line}, {run.seconds:.1f} s", file=sys.stderr, flush=True)


def solve_all(folder: Path, only: Sequence[str], nodes: NodeLimit, seconds: float) -> dict[str, list[Run]]:
    """Search all instances below a folder, each within a limit; return the runs by family."""
    families: dict[str, list[Run]] = {}
    for instance in instances(folder, only, nodes):
        run = solve(instance, seconds)
        report(run)
        families.setdefault(instance.family, []).append(run)
    return families


REACH = {"ABR": "26 of 26", "MCF": "32 of 34", "exact": "all but one", "Modularity": "adjnoun proven"}
"""How many of each folder are to be proven within 60 s each."""
LARGEST, USUAL = {"ABR": 800}, 300
"""Up to how many nodes the instances of a folder are solved."""


def rows(folder: Path, *, quick: bool) -> Iterator[tuple[str, str, str]]:
    """Yield a row of `bench.performance` for each folder of instances."""
    seconds = 2.0 if quick else 60.0

    def nodes(family: str) -> int:
        return 50 if quick else LARGEST.get(family, USUAL)

    for family, runs in solve_all(folder, (), nodes, seconds).items():
        known = sum(run.instance.optimum is not None for run in runs)
        agree = known - sum(run.wrong for run in runs)
        left = ", ".join(run.instance.name for run in runs if not run.proven) or "none"
        proven = sum(run.proven for run in runs)
        yield (
            f"public instances {family}, up to {nodes(family)} nodes, {seconds:.0f} s of the processor each",
            REACH.get(family, "all proven"),
            f"{proven} of {len(runs)} proven, {agree} of {known} known optima agree; open: {left}",
        )


def main() -> None:
    """Solve and print the table in Markdown."""
    parser = argparse.ArgumentParser(prog="python -m bench.instances_public")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=60, help="of the processor, for each")
    parser.add_argument("--only", nargs="*", default=[], metavar="WORD", help="a word of the path")
    parser.add_argument("--nodes", type=int, default=300, help="leave larger instances out")
    given = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    families = solve_all(given.folder, given.only, lambda _: given.nodes, given.seconds)
    print(describe_machine(), "", f"Limit {given.seconds:.0f} s each.", "", sep="\n")
    print(
        "| folder | instances | proven | known optima | median | slowest | open |",
        "|---" * 7 + "|",
        sep="\n",
    )
    for family, runs in families.items():
        seconds = sorted(run.seconds for run in runs)
        known = sum(run.instance.optimum is not None for run in runs)
        wrong = sum(run.wrong for run in runs)
        left = ", ".join(run.instance.name for run in runs if not run.proven) or "-"
        print(
            f"| {family} | {len(runs)} | {sum(run.proven for run in runs)} | {known - wrong}/{known} agree "
            f"| {seconds[len(seconds) // 2]:.2f} s | {seconds[-1]:.1f} s | {left} |"
        )


if __name__ == "__main__":
    main()
