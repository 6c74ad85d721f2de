"""The gold standards of a document, or its review file, as they are written to the output folder.

Golds have the form of the first annotator's file, unless another format is asked for. They are called after
the document; no document is called like what a run writes about all of them.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from caspr.corpus.job import Job
from caspr.corpus.outputs.names import file_name
from caspr.formats import gold_files, review_file
from caspr.formats.registry import FORMATS, losses, output_format
from caspr.result import Result
from caspr.text.document import Annotation
from caspr.text.findings import Finding

SUMMARIES = ("summary.csv", "summary.json")
"""What is written about the whole corpus."""
CERTIFICATES = "certificates"
"""The folder of the proofs."""


def lost(job: Job, result: Result) -> list[Finding]:
    """Say what of the golds of a document cannot be written."""
    golds = list(result.golds)
    return list(losses(golds, _format(job, golds)))


def gold_content(job: Job, results: Sequence[Result]) -> tuple[str, Mapping[str, str | bytes]]:
    """Return the main file of a document's golds or review, and all their files by path."""
    golds = [(result, gold) for result in results for gold in _written(job, result)]
    name = file_name(job.document)
    if job.options.layout == "review":
        return f"{name}.conll", {f"{name}.conll": _review(golds)}
    format = _format(job, [gold for _, gold in golds])
    files = gold_files([gold for _, gold in golds], name, format=format)
    if any(file in SUMMARIES or file.startswith(f"{CERTIFICATES}/") for file in files):
        # No other document has this name: in names, `%` is always followed by a code.
        files = gold_files([gold for _, gold in golds], f"%{name}", format=format)
    suffixes = FORMATS[format].suffixes
    return next((file for file in files if file.endswith(suffixes)), next(iter(files))), files


def _written(job: Job, result: Result) -> Sequence[Annotation]:
    return list(result.numbered_golds()) if job.options.every else [result.gold]


def _format(job: Job, golds: Sequence[Annotation]) -> str:
    if job.options.layout == "review":
        return review_file.COLUMNS
    return job.options.target or output_format(golds, Path())


def _review(golds: Sequence[tuple[Result, Annotation]]) -> str:
    return review_file.write(review_file.review_of(result, gold) for result, gold in golds)
