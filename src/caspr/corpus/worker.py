"""The program of a worker process: take a job, do it within its memory limit, answer, and so on.

    python -m caspr.corpus.worker CONNECTION

The supervising process (`workers`) passes the number of the connection. The main thread performs the jobs:
read, adjudicate, render. Any error of a document becomes its outcome. A second thread receives jobs, and so
notices in the middle of one, too, that the supervisor closed the connection or is dead; then it ends the
process with all solvers that run. The time limit of a job is kept by the engine, and by the supervisor if the
engine does not.
"""

import contextlib
import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from multiprocessing import connection
from pathlib import PurePosixPath
from typing import Any

from caspr import __version__
from caspr.adjudication import adjudicate_document
from caspr.corpus.job import LEFT_OUT, Job, JobOutcome, annotations, documents, failure, input_folder
from caspr.corpus.outputs import CERTIFICATES, file_name, gold_content, lost
from caspr.errors import CasprError, InputError
from caspr.measures.agreement import tally
from caspr.measures.comparison import against_gold, coverage_of, deviations
from caspr.measures.typology import classify
from caspr.processes import (
    children_peak_megabytes,
    death_with_parent,
    kill_descendants,
    memory_limit,
    peak_megabytes,
    reset_peak,
)
from caspr.proof.prove import prove_results
from caspr.report.comparison_tables import counts_values
from caspr.report.explained_report import explained
from caspr.report.feedback_page import feedback_page
from caspr.report.html_pages import report_page
from caspr.report.summary import document_summary
from caspr.result import Result
from caspr.text.document import Annotation
from caspr.text.findings import Finding, refuse_warnings, warning

ALPHA = "passonneau"
"""The agreement that the summary shows."""


def perform(job: Job) -> JobOutcome:
    """Perform a job; never raise."""
    try:
        if job.version != __version__:
            raise InputError(
                f"this worker runs CaspR {__version__}, the command {job.version}: install the same version"
            )
        with input_folder(job):
            return _outcome(job)
    except CasprError as error:
        return failure(job.document, str(error))
    except MemoryError:
        return out_of_memory(job)
    except Exception as error:
        return failure(job.document, f"internal error: {type(error).__name__}: {error}", spent=True)


def out_of_memory(job: Job) -> JobOutcome:
    """Make the outcome of a job that needed more memory than there is, or than its limit."""
    limit = job.options.settings.limits.megabytes
    reason = "out of memory" if limit is None else f"out of memory: limit {limit} MB"
    return failure(job.document, reason, spent=True)


def _outcome(job: Job) -> JobOutcome:
    reset_peak()
    children = children_peak_megabytes()
    files = annotations(job)
    if len(files) < 2:
        return _left_out(job, files)
    work, findings = documents(job, files)
    results = [_result(job, document) for document in work]
    proofs, unproven = _proofs(job, results)
    findings = (*findings, *_missing(job, files), *_twice(job), *unproven)
    if job.options.strict:
        refuse_warnings([*findings, *(finding for result in results for finding in result.findings)])
    main, golds = gold_content(job, results)
    written = {**golds, **dict(_pages(job, results)), **proofs}
    megabytes = max(peak_megabytes(), peak if (peak := children_peak_megabytes()) > children else 0.0)
    mains = list(golds) if job.options.layout == "project" else [main] * len(results)
    rows = tuple(
        {**_row(result, findings, megabytes), "file": file}
        for result, file in zip(results, mains, strict=True)
    )
    return JobOutcome(job.document, rows, written)


def _result(job: Job, document: Sequence[Annotation]) -> Result:
    result = adjudicate_document(document, settings=job.options.settings)
    return result.with_more(lost(job, result))


def _left_out(job: Job, files: Sequence[Sequence[Annotation]]) -> JobOutcome:
    only = files[0][0].annotator if files else job.sources[0].annotator
    reason = f"only {only} annotated it, and it takes two"
    if job.options.strict:
        raise InputError(f"--strict: {reason}")
    return JobOutcome(job.document, ({"name": job.document, "status": LEFT_OUT, "reason": reason},))


def _missing(job: Job, files: Sequence[Sequence[Annotation]]) -> list[Finding]:
    if not 0 < len(files) < job.annotators:
        return []
    names = ", ".join(file[0].annotator for file in files)
    message = (
        f"document '{job.document}' is in the files of {len(files)} of {job.annotators} annotators "
        f"({names}); only they count there"
    )
    return [warning("missing-annotation", message, where=job.document)]


def _twice(job: Job) -> Iterator[Finding]:
    """Yield a warning for each file that is not read: the annotator has the document in another, too."""
    for source in job.sources:
        own = PurePosixPath(source.path).with_suffix("")
        for second in map(PurePosixPath, source.companions):
            if second.with_suffix("") == own and second.suffix.lower() != ".txt":
                message = f"{source.annotator} has two files: {source.path} is read, {second} is not"
                yield warning("second-file", message, where=str(second))


def _row(result: Result, findings: Sequence[Finding], megabytes: float) -> Mapping[str, Any]:
    coverage = coverage_of(result)
    agreement = tally(result.annotations, coverage=coverage)
    return {
        **document_summary(result),
        "findings": [asdict(finding) for finding in (*findings, *result.findings)],
        "agreement": {
            ALPHA: _decimal(agreement.alpha(ALPHA)),
            "links": _decimal(agreement.alpha("links")),
        },
        "disagreement": counts_values(classify(result.annotations, coverage=coverage).counts),
        "departures": {name: counts_values(counts) for name, counts in deviations([result]).items()},
        "megabytes": round(megabytes, 1),
    }


def _decimal(number: Fraction | None) -> float | None:
    return None if number is None else round(float(number), 6)


def _pages(job: Job, results: Sequence[Result]) -> Iterator[tuple[str, str]]:
    """Yield the pages about a document, by path."""
    name = file_name(job.document)
    if job.options.report:
        yield f"reports/{name}.html", report_page(explained(results), job.document)
    if job.options.feedback:
        for annotator, standing in against_gold(results).items():
            page = feedback_page(annotator, dict(standing), results)
            yield f"feedback/{file_name(annotator)}/{name}.html", page


def _proofs(job: Job, results: Sequence[Result]) -> tuple[dict[str, str], tuple[Finding, ...]]:
    """Return the certificate file, if it is wanted, and a finding for each document without a proof."""
    if not job.options.certificate:
        return {}, ()
    data, findings = prove_results(results)
    text = json.dumps(data, separators=(",", ":")) + "\n"
    return {f"{CERTIFICATES}/{file_name(job.document)}.json": text}, findings


def main() -> None:
    """Serve jobs until the supervisor closes the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if (die_with_parent := death_with_parent()) is not None:
        die_with_parent()
    supervisor = _connected(int(sys.argv[1]))
    jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
    busy = threading.Event()
    threading.Thread(target=_receive, args=(supervisor, jobs, busy), daemon=True).start()
    while True:
        outcome = within_memory(jobs.get())
        busy.clear()
        supervisor.send(outcome)


def _connected(handle: int) -> connection.Connection:
    """Return the inherited end of the pipe, which solvers must not inherit in turn."""
    if sys.platform == "win32":
        os.set_handle_inheritable(handle, False)
        return connection.PipeConnection(handle)
    os.set_inheritable(handle, False)
    return connection.Connection(handle)


def _receive(
    supervisor: connection.Connection, jobs: "queue.SimpleQueue[Job]", busy: threading.Event
) -> None:
    """Receive jobs; at the end of the connection end this process, and its solvers if it has a job."""
    try:
        with contextlib.suppress(EOFError, OSError):
            while True:
                job = supervisor.recv()
                busy.set()
                jobs.put(job)
        if busy.is_set():
            kill_descendants()
    finally:
        os._exit(0)


def within_memory(job: Job) -> JobOutcome:
    """Do a job under its memory limit, and lift the limit again."""
    try:
        with memory_limit(job.options.settings.limits.megabytes):
            return perform(job)
    except MemoryError:
        return out_of_memory(job)


if __name__ == "__main__":
    main()
