"""Measure the targets for whole corpora, and print them as one table.

    python -m bench.corpus [PART] [--documents 500] [--scale 1] [--tiny 20000] [--engine auto] > table.md

Documents are like those of the paper's DS2. The overhead is measured in processor time, so that other work
on the machine does not matter: that of a whole run with one worker process, minus that of the same
documents read, adjudicated and rendered one after the other in one process.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import count, cycle, islice
from pathlib import Path
from typing import NamedTuple

from bench.corpora import DS2, Shape, make_document
from bench.machine import describe_machine
from caspr import write

LAPS = 7
"""The stride over the sizes of documents, so that every part of the corpus has the same sizes."""


def shapes(documents: int, scale: float) -> Iterator[Shape]:
    """Yield shapes over the whole range of sizes, again and again."""
    known = list(DS2.shapes(scale))
    order = cycle(number * LAPS % len(known) for number in range(len(known)))
    for number, place in zip(count(), islice(order, documents), strict=False):
        yield replace(known[place], name=f"document{number:06}")


def make(folder: Path, documents: int, scale: float) -> Path:
    """Write a corpus of documents like those of DS2."""
    for shape in shapes(documents, scale):
        generated = make_document(shape, random.Random(f"1/{shape.name}"))
        (folder / shape.name).mkdir(parents=True)
        for annotation in generated.annotations:
            write([annotation], folder / shape.name / f"{annotation.annotator}.conll")
    return folder


def make_tiny(folder: Path, documents: int) -> Path:
    """Write a corpus of documents of four tokens and two annotators."""
    for number in range(documents):
        place = folder / f"document{number:06}"
        place.mkdir(parents=True)
        for annotator, cells in (("ann", "((1) - (1) -"), ("bob", "(1) - (1) (1)")):
            rows = "".join(f"{token}\tw{number}\t{cell}\n" for token, cell in enumerate(cells.split(), 1))
            text = f"#begin document (d{number});\n{rows}#end document\n".replace("((", "(")
            (place / f"{annotator}.conll").write_text(text)
    return folder


class Used(NamedTuple):
    """What a run took."""

    seconds: float
    """Seconds on the clock."""
    parent: float
    """Processor seconds of the process that plans, writes and keeps the journal."""
    workers: float
    """Processor seconds of its worker processes."""
    megabytes: float
    """The peak of the largest process."""


def run(corpus: Path, output: Path, *words: str) -> Used:
    """Run a corpus in a process of its own."""
    code = """
import resource, sys
from caspr.cli import cli
cli.main(sys.argv[1:], standalone_mode=False)
for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
    used = resource.getrusage(who)
    print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""
    words = ("corpus", str(corpus), "-o", str(output), "-q", *words)
    started = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    seconds = time.monotonic() - started
    parent, own, workers, largest = map(float, done.stdout.split())
    return Used(seconds, parent, workers, max(own, largest))


def bare(corpus: Path, engine: str) -> float:
    """Return the processor seconds that the documents take in one process, without journal and workers."""
    code = f"""
import resource
from pathlib import Path
from caspr.adjudication import adjudicate_document, by_document
from caspr.measures.agreement import tally
from caspr.formats import conll, read_all
from caspr.report.summary import document_summary
from caspr.task.settings import Settings
for folder in sorted(Path({str(corpus)!r}).iterdir()):
    [document], _ = by_document(read_all(sorted(folder.iterdir())))
    result = adjudicate_document(document, settings=Settings(engine={engine!r}))
    agreement = tally(document)
    agreement.alpha("passonneau"), agreement.alpha("links")
    conll.write([result.gold]), document_summary(result)
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)


def main() -> None:
    """Measure and print the table in Markdown."""
    parser = argparse.ArgumentParser(prog="python -m bench.corpus")
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="what to measure; default: everything")
    parser.add_argument("--documents", type=int, default=500)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--tiny", type=int, default=20_000)
    parser.add_argument("--engine", default="auto")
    given = parser.parse_args()
    print(describe_machine(), f"load {os.getloadavg()[0]:.1f}", "", sep="\n", flush=True)
    print("| work | to reach | measured |", "|---|---|---|", sep="\n", flush=True)
    for chosen in given.parts or PARTS:
        with tempfile.TemporaryDirectory() as name:
            print(f"| {' | '.join(PARTS[chosen](Path(name), given))} |", flush=True)


def speed(folder: Path, given: argparse.Namespace) -> tuple[str, str, str]:
    """Compare one process with two."""
    corpus = make(folder / "in", given.documents, given.scale)
    words = ("--engine", given.engine, "--processes")
    one = run(corpus, folder / "one", *words, "1")
    two = run(corpus, folder / "two", *words, "2")
    each = 1000 / given.documents
    return (
        f"{given.documents} DS2-like documents, scale {given.scale:g}",
        "2 processes at least 1.8 times as fast as 1",
        f"{one.seconds:.0f} s and {two.seconds:.0f} s: {one.seconds / two.seconds:.2f} times; "
        f"processor time a document: {one.workers * each:.0f} and {two.workers * each:.0f} ms in workers, "
        f"{one.parent * each:.1f} and {two.parent * each:.1f} ms in the parent",
    )


def overhead(folder: Path, given: argparse.Namespace) -> tuple[str, str, str]:
    """Measure the overhead per document."""
    documents = given.tiny // 10
    corpus = make_tiny(folder / "in", documents)
    whole = run(corpus, folder / "out", "--engine", given.engine, "--processes", "1")
    added = (whole.parent + whole.workers - bare(corpus, given.engine)) / documents * 1000
    own = whole.parent / documents * 1000
    return (
        f"overhead of the machinery, {documents:,} documents",
        "under 5 ms a document",
        f"{added:.1f} ms of processor time, {own:.1f} ms of all in the parent",
    )


def memory(folder: Path, given: argparse.Namespace) -> tuple[str, str, str]:
    """Compare the memory of a corpus with that of a tenth of it."""
    words = ("--engine", given.engine)
    small = run(make_tiny(folder / "few", given.tiny // 10), folder / "few-out", *words)
    large = run(make_tiny(folder / "many", given.tiny), folder / "many-out", *words)
    return (
        f"{given.tiny:,} tiny documents",
        "constant memory",
        f"{large.megabytes:.0f} MB in the largest process, {small.megabytes:.0f} MB with a tenth of them; "
        f"{large.seconds:.0f} s",
    )


PARTS = {"speed": speed, "overhead": overhead, "memory": memory}
"""Everything that is measured, by name."""

if __name__ == "__main__":
    main()
