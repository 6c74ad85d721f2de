"""Documents that are large or dense, to see that limits hold and that sparse problems stay small.

dense     every annotator puts mentions into few chains, often at random: somebody links nearly every pair
halves    half of the annotators put everything into one chain, the others pairs of random mentions

Rows for `bench.performance`: how far a run exceeds its limit, and a novel under every objective.

    python -m bench.loads [--seconds 20] [--long 60] [--quick]

prints, for each shape and objective, the longest stretches between two looks at the clock, in processor time,
and between which functions they lie: that is how late a limit, a cancellation or Ctrl-C is noticed at worst.
Five million links (dense 4,000 x 12) are only listed within the longer limit. Then the same for all optimal
solutions, for a certificate and for the prices of a few decisions, and what it takes to certify a result,
where nobody looks at the clock: only Ctrl-C ends that.
"""

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import TypeVar
from unittest import mock

from bench.corpora import Generated, make_document, novel, save
from bench.machine import describe_machine, use_one_thread
from bench.measure import Measure, measure
from caspr.engines.native import solve
from caspr.engines.native.incremental import flip_prices
from caspr.engines.native.partition.watch import Watch
from caspr.engines.native.proof_writer import UnprovenError, prove_optimal
from caspr.proof.certify import certify
from caspr.task.instance import Instance
from caspr.task.limits import Limits
from caspr.task.objectives import OBJECTIVES
from caspr.task.solution import Stop
from caspr.text.document import Annotation, Chain, Document, Span

T = TypeVar("T")
ENTITIES = 8
"""How many chains there are in dense documents."""
NOISE = 0.4
"""How often a mention of a dense document goes to a random chain."""
PATIENCE = 1.0
"""Seconds by which a limit may be exceeded."""
MEMORY, LENIENCE = 400, 200
"""A memory limit in megabytes, and by how many it may be exceeded."""
SHORT = novel(tokens=20_000, mentions=2_000, longest=300)
"""A short novel."""


def dense(mentions: int, annotators: int) -> Generated:
    """Make a document in which nearly all pairs are linked by somebody."""
    rng, document = random.Random(1), _document("dense", mentions)
    annotations = []
    for _ in range(annotators):
        chains: dict[int, list[Span]] = {}
        for place, span in enumerate(_spans(mentions)):
            entity = rng.randrange(ENTITIES) if rng.random() < NOISE else place % ENTITIES
            chains.setdefault(entity, []).append(span)
        annotations.append(list(chains.values()))
    return _generated(document, annotations)


def halves(mentions: int, annotators: int) -> Generated:
    """Make a document that half of the annotators take for one chain, and the others for pairs."""
    rng, document = random.Random(1), _document("halves", mentions)
    annotations = []
    for number in range(annotators):
        spans = _spans(mentions)
        if number < annotators // 2:
            annotations.append([spans])
        else:
            rng.shuffle(spans)
            annotations.append([spans[start : start + 2] for start in range(0, mentions - 1, 2)])
    return _generated(document, annotations)


def _document(name: str, mentions: int) -> Document:
    return Document(name, tuple(f"w{number}" for number in range(1, mentions + 1)))


def _spans(mentions: int) -> list[Span]:
    return [Span(token, token) for token in range(1, mentions + 1)]


def _generated(document: Document, annotations: Sequence[Sequence[Sequence[Span]]]) -> Generated:
    given = tuple(
        Annotation.of(
            f"annotator{number}", document, [Chain.of(str(n), chain) for n, chain in enumerate(chains)]
        )
        for number, chains in enumerate(annotations, 1)
    )
    return Generated(given[0], given)


def overruns(folder: Path, *, quick: bool) -> Iterator[tuple[str, Measure, float]]:
    """Yield what a run was, what it took and the limit it had."""
    for name, files, limit in _saved(folder, quick=quick):
        for objective in ("u", "ua"):
            yield f"{name} {objective.upper()}", measure(files, "native", objective, seconds=limit), limit


def _saved(folder: Path, *, quick: bool) -> Iterator[tuple[str, list[Path], float]]:
    """Write the large and the dense documents; yield names, files and time limits."""
    sizes = ((200, 8),) if quick else ((800, 8), (1600, 8))
    loads = [(f"dense {n:,} x {k}", dense(n, k), 2.0) for n, k in sizes]
    most = 500 if quick else 5000
    loads += [(f"{make.__name__} {most:,} x 12", make(most, 12), 5.0) for make in (dense, halves)]
    for name, generated, limit in loads:
        yield name, save(generated, folder / name.replace(" ", "-")), limit


def memory_row(folder: Path, *, quick: bool) -> tuple[str, str, str]:
    """Run large and dense documents with a memory limit; return the row of `bench.performance`."""
    seconds, shape = (5.0, SHORT) if quick else (30.0, novel())
    text = save(make_document(shape, random.Random(1)), folder / "novel-memory")
    runs: dict[str, Measure] = {}
    for name, files, _ in (*_saved(folder, quick=quick), ("novel", text, 0.0)):
        for objective in ("u", "ua"):
            what = f"{name} {objective.upper()}"
            runs[what] = run = measure(files, "native", objective, seconds=seconds, megabytes=MEMORY)
            print(f"{what}: {run.megabytes:.0f} MB, {run.stop or run.status}", file=sys.stderr, flush=True)
    largest = max(runs, key=lambda what: runs[what].megabytes)
    stopped = [run.stop for run in runs.values() if not run.proven]
    names = ", ".join(dict.fromkeys(what.rpartition(" ")[0] for what in runs))
    return (
        f"memory limit {MEMORY} MB: {names}, U and UA",
        f"within {LENIENCE} MB of it",
        f"at most {runs[largest].megabytes:.0f} MB ({largest}); "
        f"{len(runs) - len(stopped)} of {len(runs)} proven, {stopped.count(Stop.MEMORY)} ended by it, "
        f"{stopped.count(Stop.TIME)} by {seconds:.0f} s",
    )


@dataclass
class Looks:
    """The stretches between two looks at the clock of the native engine."""

    stretches: list[tuple[float, str]] = field(default_factory=list)
    """Their seconds of the processor, and between which functions they lie."""
    last: tuple[float, str] | None = None
    """When the clock was looked at last, and where."""

    def look(self) -> None:
        """Note that the clock is looked at here."""
        frame = sys._getframe(2)
        while "watch.py" in frame.f_code.co_filename and frame.f_back is not None:
            frame = frame.f_back
        now = time.thread_time(), f"{Path(frame.f_code.co_filename).stem}.{frame.f_code.co_name}"
        if self.last is not None:
            self.stretches.append((now[0] - self.last[0], f"{self.last[1]} to {now[1]}"))
        self.last = now

    def longest(self, count: int) -> list[str]:
        """Return the longest, one for each pair of places."""
        worst: dict[str, float] = {}
        for seconds, where in self.stretches:
            worst[where] = max(seconds, worst.get(where, 0.0))
        ordered = sorted(worst.items(), key=lambda one: -one[1])
        return [f"{seconds:.2f} s {where}" for where, seconds in ordered[:count]]


def looks_at_the_clock(work: Callable[[], T]) -> tuple[Looks, T]:
    """Do some work, and note every look at the clock; its end is the last one."""
    looks, expired = Looks(), Watch.expired

    def noted(watch: Watch) -> bool:
        looks.look()
        return expired(watch)

    with mock.patch.object(Watch, "expired", noted):
        looks.last = time.thread_time(), "the beginning"
        done = work()
        looks.look()
    return looks, done


def novels(folder: Path, *, quick: bool) -> Iterator[tuple[str, Measure]]:
    """Yield what a novel takes under each objective."""
    files = save(make_document(SHORT if quick else novel(), random.Random(1)), folder / "novel-objectives")
    for objective in ("v", "va", "u", "ua"):
        yield objective.upper(), measure(files, "native", objective, seconds=60, megabytes=1000)


def stretches(seconds: float, longer: float, *, quick: bool) -> Iterator[tuple[str, Looks, float]]:
    """Yield what was solved, the looks at the clock, and the processor time of certifying the result."""
    scale = 10 if quick else 1
    text = novel(tokens=200_000 // scale, mentions=20_000 // scale, longest=3_000 // scale)
    shapes = {
        "dense 800 x 8": (dense(800 // scale, 8), seconds),
        "dense 1,600 x 8": (dense(1_600 // scale, 8), seconds),
        "dense 4,000 x 12": (dense(4_000 // scale, 12), longer),
        "dense 5,000 x 12": (dense(5_000 // scale, 12), seconds),
        "halves 5,000 x 12": (halves(5_000 // scale, 12), seconds),
        "novel": (make_document(text, random.Random(1)), seconds),
    }
    for name, (generated, limit) in shapes.items():
        for objective in ("v", "va", "u", "ua"):
            instance = Instance(generated.annotations, OBJECTIVES[objective])
            looks, solution = looks_at_the_clock(lambda: solve(instance, Limits(seconds=limit)))  # noqa: B023
            begun = time.thread_time()
            certify(instance, solution)
            yield f"{name} {objective.upper()}", looks, time.thread_time() - begun


def afterwards(seconds: float, *, quick: bool) -> Iterator[tuple[str, Looks]]:
    """Yield what was done with a proven solution, and the looks at the clock."""
    mentions = 60 if quick else 240
    generated = dense(mentions, 6)
    limits = Limits(seconds=seconds)
    for objective in ("v", "va"):
        instance, name = Instance(generated.annotations, OBJECTIVES[objective]), objective.upper()
        every = replace(limits, solutions=10**6)
        looks, solution = looks_at_the_clock(lambda: solve(instance, every))  # noqa: B023
        yield f"all optimal solutions, dense {mentions} x 6 {name}", looks
        pairs = [pair for chain in solution.partitions[0] for pair in pairwise(chain)][:5]
        looks, _ = looks_at_the_clock(lambda: list(flip_prices(instance, solution, pairs, limits)))  # noqa: B023
        yield f"the prices of 5 pairs there, {name}", looks
        with suppress(UnprovenError):
            looks, _ = looks_at_the_clock(lambda: prove_optimal(instance, solution, limits))  # noqa: B023
            yield f"a certificate of it, {name}", looks


def clock_rows(*, quick: bool) -> Iterator[tuple[str, str, str]]:
    """Yield the rows of `bench.performance` about looks at the clock, and about certifying."""
    seconds, longer = (1.0, 2.0) if quick else (12.0, 60.0)
    solved = list(stretches(seconds, longer, quick=quick))
    looks = [(name, found) for name, found, _ in solved] + list(afterwards(seconds, quick=quick))
    late, where = max((max(found.stretches)[0], name) for name, found in looks)
    yield (
        f"longest stretch without a look at the clock on the {len(looks)} runs of `bench.loads`: dense "
        "documents, halves and a novel, V, VA, U and UA, then all optimal solutions, prices and certificates",
        "0.5 s",
        f"{late:.2f} s of the processor ({where})",
    )
    took, where = max((took, name) for name, _, took in solved)
    yield "certifying, where nobody looks at the clock, on these", "0.5 s", f"{took:.2f} s ({where})"


def main() -> None:
    """Print how late a limit is noticed on every shape."""
    parser = argparse.ArgumentParser(prog="python -m bench.loads")
    parser.add_argument("--seconds", type=float, default=20, help="the time limit of each run")
    parser.add_argument("--long", type=float, default=60, help="the time limit with five million links")
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    use_one_thread("bench.loads")
    head = "| shape | longest without a look at the clock | certifying |"
    print(describe_machine(), "", head, "|---|---|---|", sep="\n")
    for name, looks, certifying in stretches(given.seconds, given.long, quick=given.quick):
        print(f"| {name} | {'; '.join(looks.longest(4))} | {certifying:.2f} s |", flush=True)
    for name, looks in afterwards(given.seconds, quick=given.quick):
        print(f"| {name} | {'; '.join(looks.longest(4))} | – |", flush=True)


if __name__ == "__main__":
    main()
