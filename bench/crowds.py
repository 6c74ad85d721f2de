"""Many annotators, one long chain, and what certificates cost: rows for `bench.performance`.

A crowd is a novel, long or short, that ten to forty annotators read. With so many, hardly two mentions of a
chain are marked by the same ones, and somebody puts every second mention into a wrong chain.
"""

import random
import resource
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from bench.corpora import DS1, DS2, Shape, generate, make_document, novel, save
from bench.loads import dense
from bench.machine import usual_environment
from bench.measure import Measure, measure

Row = tuple[str, str, str]
OBJECTIVES = ("v", "va", "u", "ua")
SHORT = 0.5
"""A limit in seconds that is too short for a novel."""
READING = """import sys
from pathlib import Path
from caspr.formats import read_all
list(read_all([Path(name) for name in sys.argv[1:]]))
"""
"""A program that reads files and does nothing else."""


def crowd(annotators: int, *, mentions: int) -> Shape:
    """Return the shape of a novel that many annotators read."""
    return novel(tokens=10 * mentions, mentions=mentions, longest=3 * mentions // 20, annotators=annotators)


def one_chain(mentions: int, annotators: int) -> Shape:
    """Return the shape of a text with one entity."""
    return Shape(
        name="chain",
        tokens=10 * mentions,
        annotators=annotators,
        mentions=mentions,
        chains=1,
        longest=mentions,
        noise=replace(DS2.noise, stray=0.03, groups=1),
    )


def crowd_rows(folder: Path, *, quick: bool) -> Iterator[Row]:
    """Measure short novels of many annotators under each objective, long ones, limits, and one long chain."""
    short, long, chain = (200, 400, 500) if quick else (2_000, 20_000, 15_000)
    for annotators, reach in ((20, 3), (40, 6)):
        files = _saved(crowd(annotators, mentions=short), folder)
        for objective in OBJECTIVES:
            run = measure(files, "native", objective, seconds=60)
            work = f"{short:,} mentions x {annotators} annotators, {objective.upper()}"
            yield work, f"proven, {reach} s", _state(run)
    for annotators in (5, 10, 20, 40):
        files = _saved(crowd(annotators, mentions=long), folder)
        for objective in ("v", "va"):
            run = measure(files, "native", objective, seconds=SHORT)
            yield (
                f"time limit {SHORT} s: novel x {annotators} annotators, {objective.upper()}",
                "within 1 s of it",
                f"{run.clock:.1f} s by the clock, {run.seconds:.1f} s of the processor with all checks",
            )
        reading, _ = child([sys.executable, "-c", READING, *map(str, files)])
        for objective in ("v", "u"):
            run = measure(files, "native", objective, seconds=120)
            yield (
                f"novel, {long:,} mentions x {annotators} annotators, {objective.upper()}, engine and checks",
                "with reading 2 times the reading alone, 1.5 GB",
                f"{_state(run)}; reading {reading:.1f} s: {1 + run.seconds / reading:.2f} times",
            )
    files = _saved(one_chain(chain, 5), folder)
    for objective in ("va", "v"):
        run = measure(files, "native", objective, seconds=60)
        work = f"one chain of {chain:,} mentions x 5 annotators, {objective.upper()}"
        yield work, "proven; V as VA", _state(run)


def certificate_rows(folder: Path, acts: Path | None, *, quick: bool) -> Iterator[Row]:
    """Compare solving with a certificate to solving without one, from files to file."""
    documents = {"dense 200 x 6 U": ("u", save(dense(60 if quick else 200, 6), folder / "dense"))}
    documents["2,000 x 20 U"] = "u", _saved(crowd(20, mentions=200 if quick else 2_000), folder)
    if not quick:
        documents["ds1-20 U"] = "u", save([*generate(DS1)][19], folder / "ds1-20")
        documents["the novel, V"] = "v", _saved(novel(), folder)
    if acts is not None:
        documents["an act, UA"] = "ua", sorted((acts / "Raeuber_Act4").glob("*.conll"))
    for name, (objective, files) in documents.items():
        words = [sys.executable, "-m", "caspr", "adjudicate", *map(str, files), "--objective", objective]
        words += ["-o", str(folder / "gold.conll"), "-q"]
        proof = folder / "proof.json"
        without, _ = child(words)
        certified, _ = child([*words, "--certificate", str(proof)])
        checked, _ = child([sys.executable, "-m", "caspr", "verify", str(proof), *map(str, files)])
        yield (
            f"certificate: {name}, from files to file",
            "1.3 times without",
            f"{certified / without:.2f} times {without:.1f} s; {proof.stat().st_size / 1e6:.1f} MB, verified "
            f"in {checked:.1f} s with reading",
        )


def _saved(shape: Shape, folder: Path) -> list[Path]:
    place = folder / f"{shape.name}-{shape.mentions}-{shape.annotators}"
    return save(make_document(shape, random.Random(f"1/{shape.name}")), place)


def _state(run: Measure) -> str:
    state = "proven" if run.proven else f"**gap {run.gap:.3%}**"
    return f"{state}, {run.seconds:.1f} s, {run.megabytes:.0f} MB"


def child(words: Sequence[str]) -> tuple[float, float]:
    """Run a program; return its processor time and the peak megabytes of all run so far."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, capture_output=True, check=True, env=usual_environment())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used, after.ru_maxrss / 1024
