"""Score adjudications of generated documents against the truth they were made from.

    python -m bench.quality ds1 ds2 --documents 12

For each dataset: how close single annotators come to the truth on average, how close the best single one
of each document comes (known only with the truth), and how close the adjudications with each
objective come. Scores are F1 in percent, pooled over documents.
"""

import argparse
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.corpora import CORPORA, TRUTH
from bench.experiments.documents import Documents, find_documents
from bench.experiments.plan import OBJECTIVES, jumps
from caspr.adjudication import adjudicate_document, by_document
from caspr.formats import read_all
from caspr.measures.scores import Scores, score
from caspr.task.limits import Limits
from caspr.task.objectives import OBJECTIVES as COSTS
from caspr.task.settings import Settings
from caspr.text.document import Annotation

MEASURES = ("mentions", "muc", "b3", "ceafe", "lea", "conll")
QUICK_SCALE = 0.15
QUICK_DOCUMENTS = 2


@dataclass(frozen=True)
class Judged:
    """A document with its truth."""

    truth: Annotation
    annotations: tuple[Annotation, ...]


@dataclass(frozen=True)
class Row:
    """How close something comes to the truth."""

    dataset: str
    response: str
    scores: dict[str, float | None]
    """F1 in percent by measure."""
    proven: str = ""
    """How many of the adjudications are proven optimal."""


def judge(dataset: str, documents: Sequence[Judged], *, seconds: float) -> Iterator[Row]:
    """Yield the rows of a dataset."""
    keys = [one.truth for one in documents]
    singles = [(one.truth, annotation) for one in documents for annotation in one.annotations]
    average = _mean(score([truth], [annotation], singletons=True) for truth, annotation in singles)
    yield Row(dataset, "an annotator, on average", average)
    best = [max(one.annotations, key=lambda other: _conll(one.truth, other)) for one in documents]
    yield Row(dataset, "the best annotator of each document", _percents(score(keys, best, singletons=True)))
    for objective in OBJECTIVES:
        settings = Settings(COSTS[objective], engine="native", limits=Limits(seconds))
        results = [adjudicate_document(one.annotations, settings=settings) for one in documents]
        proven = sum(result.value == result.bound for result in results)
        scores = _percents(score(keys, [result.gold for result in results], singletons=True))
        yield Row(dataset, f"adjudicated with {objective.upper()}", scores, f"{proven} of {len(results)}")


def _conll(truth: Annotation, response: Annotation) -> float:
    return float(score([truth], [response], singletons=True).conll or 0)


def _percents(scores: Scores) -> dict[str, float | None]:
    exact = {measure: scores.f1(measure) for measure in MEASURES}
    return {measure: None if f1 is None else 100 * float(f1) for measure, f1 in exact.items()}


def _mean(several: Iterable[Scores]) -> dict[str, float | None]:
    known = [_percents(scores) for scores in several]
    return {measure: sum(one[measure] or 0 for one in known) / len(known) for measure in MEASURES}


def read_judged(documents: Documents) -> Judged:
    """Read a document and its truth, which is in the same folder."""
    folder = documents.files[0].parent
    truths = sorted(path for path in folder.iterdir() if path.stem == TRUTH)
    if not truths:
        raise SystemExit(f"{folder}: found no file '{TRUTH}.*', expected one with the true chains")
    [annotations], _ = by_document(read_all(documents.files))
    [[truth]] = read_all(truths[:1])
    return Judged(truth, annotations)


def to_markdown(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| dataset | response | " + " | ".join(MEASURES) + " | proven |"
    yield "|---|---|" + "---:|" * (len(MEASURES) + 1)
    for row in rows:
        cells = ["" if (f1 := row.scores[measure]) is None else f"{f1:.1f}" for measure in MEASURES]
        yield f"| {row.dataset} | {row.response} | " + " | ".join(cells) + f" | {row.proven} |"


def main(words: Sequence[str] | None = None) -> None:
    """Print the table in Markdown."""
    parser = argparse.ArgumentParser(prog="python -m bench.quality", description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("datasets", nargs="*", default=list(CORPORA), help=f"{', '.join(CORPORA)}, or folders with a truth")
    add("--documents", type=int, help="how many documents of each dataset, over all sizes; default: all")
    add("--time-limit", type=float, default=10, help="seconds for each adjudication; default: 10")
    add("--seed", type=int, default=1)
    add("--scale", type=float)
    add("--quick", action="store_true", help="two tiny documents of each dataset")
    given = parser.parse_args(words)
    scale = given.scale or (QUICK_SCALE if given.quick else 1.0)
    with tempfile.TemporaryDirectory() as folder:
        rows: list[Row] = []
        for source in given.datasets:
            found = find_documents(source, folder=Path(folder), seed=given.seed, scale=scale)
            order = jumps(len(found))[: QUICK_DOCUMENTS if given.quick else given.documents]
            judged = [read_judged(found[place]) for place in order]
            rows += judge(found[0].dataset, judged, seconds=given.time_limit)
        print(*to_markdown(rows), sep="\n")


if __name__ == "__main__":
    main()
