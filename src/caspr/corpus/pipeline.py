"""Adjudicate a whole corpus: plan, perform the jobs that are not done, write, keep the journal, sum up."""

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from caspr import __version__
from caspr.corpus.job import FAILED, Job, JobOutcome, Options, contents, fingerprint
from caspr.corpus.journal import NAME, Journal, JournalEntry
from caspr.corpus.outputs import REPORT, SUMMARIES, ConcurrentWriter, DocumentFiles, file_name, write_project
from caspr.corpus.plan import Plan
from caspr.corpus.summary import Totals, csv_lines, json_lines, totals_of
from caspr.corpus.survey import Weighing, decide_for_run
from caspr.errors import InputError, OutputError
from caspr.formats.review_file.project import NAME as PROJECT
from caspr.processes import processors
from caspr.storage import FileLock, remove_temporary, write_all
from caspr.text.findings import Finding, Severity, printable, times


@dataclass(frozen=True)
class Request:
    """A corpus, and what to do with it."""

    inputs: tuple[Path, ...]
    """One folder, or files with many documents in them."""
    output: Path
    options: Options = field(default_factory=Options)
    by: str | None = None
    """The layout of the folder; `None` to detect it."""
    files: str = "*"
    processes: int | None = None
    """How many worker processes; `None` for as many as there are processors."""
    cluster: str | None = None
    """The address of a Dask scheduler; `None` for this machine."""
    force: bool = False
    weighing: Weighing = Weighing.GIVEN
    """Where the weights of annotators come from."""


Listener = Callable[[Totals, int], None]
"""Receives the totals so far, and the number of documents planned."""


def run_corpus(request: Request, listener: Listener | None = None) -> tuple[Totals, list[str]]:
    """Adjudicate a corpus; return the totals, and lines with notes and warnings for the user.

    A document that fails is listed with its reason in the summary; all others are adjudicated.
    """
    _refuse_overlap(request)
    with (
        _made(request.output),
        _locked(request),
        closing(Plan(request.inputs, request.by, request.files, request.options.reading)) as plan,
        closing(Journal(request.output)) as journal,
    ):
        _refuse_twins(plan, request.output)
        if journal.broken_off:
            remove_temporary(request.output)
        decided = decide_for_run(
            plan, request.options, request.output, weighing=request.weighing, force=request.force
        )
        request = replace(request, options=decided.options)
        run = _Run(request, plan, journal, listener)
        writer = ConcurrentWriter(request.output, request.options.layout)
        try:
            with closing(_performed(run.jobs(), request)) as outcomes:
                for outcome in outcomes:
                    run.write(outcome, writer)
                    run.record(writer.written())
            run.record(writer.finish())
        finally:
            run.record(writer.stop())
        _sum_up(request, journal, run.totals, decided.findings)
        notes = (f"warning: {note}" for note in _notes(plan, run, journal))
        return run.totals, [*decided.table, *map(str, decided.findings), *notes]


def _locked(request: Request) -> AbstractContextManager[object]:
    """Hold the lock of a project, so that no review has it open meanwhile."""
    if request.options.layout != "project":
        return nullcontext()
    return FileLock(request.output / PROJECT)


def _notes(plan: Plan, run: "_Run", journal: Journal) -> Iterator[str]:
    if run.first_backup is not None:
        why = "changed by hand, or of documents that now fail"
        yield f"kept as a backup: {times(run.backups, 'file')} {why} (first: {run.first_backup})"
    if run.kept:
        why = "although annotations or options changed: add these with `caspr review OUT --add`"
        yield f"left unchanged: {times(run.kept, 'file')} with decisions, {why}"
    if plan.beside:
        files = times(len(plan.beside), "file")
        yield f"not read: {files} beside the folders of each {plan.by} (first: {printable(min(plan.beside))})"
    if plan.foreign:
        files = times(len(plan.foreign), "file")
        yield f"not read: {files} of other programs in annotators' folders (first: {plan.foreign[0]})"
    if forgotten := sum(1 for _ in journal.forgotten()):
        yield f"{times(forgotten, 'file')} left from documents that are no longer in the corpus"


class _Run:
    """The state of one run: totals, and the fingerprints of documents that are performed or written now."""

    def __init__(self, request: Request, plan: Plan, journal: Journal, listener: Listener | None) -> None:
        self.totals = Totals()
        self.backups = 0
        self.kept = 0
        self.first_backup: Path | None = None
        self._request = request
        self._plan = plan
        self._journal = journal
        self._listener = listener
        self._performing: dict[str, str] = {}
        self._writing: dict[str, str] = {}

    def jobs(self) -> Iterator[Job]:
        """Yield the jobs that are not done yet."""
        asked = self._request.options.values()
        for job in self._plan.jobs(self._request.options):
            content = contents(job)
            mark = fingerprint(job, content, asked)
            if self._is_done(self._journal.entry(job.document), mark):
                rows = self._journal.confirm(job.document)
                self._count(totals_of(rows, taken_over=True))
                continue
            self._performing[job.document] = mark
            yield job if self._request.cluster is None else replace(job, contents=content)

    def _is_done(self, entry: JournalEntry | None, mark: str) -> bool:
        if entry is None or entry.fingerprint != mark or self._request.force:
            return False
        return all((self._request.output / name).is_file() for name in entry.files)

    def write(self, outcome: JobOutcome | None, writer: ConcurrentWriter) -> None:
        """Begin to write an outcome; a second outcome of the same document is ignored, `None` is a pause."""
        if outcome is None:
            self._journal.commit_if_due()
            return
        mark = self._performing.pop(outcome.document, None)
        if mark is None:
            return
        self._writing[outcome.document] = mark
        entry = self._journal.entry(outcome.document)
        writer.put(outcome, entry.files if entry else {})

    def record(self, written: Iterable[tuple[JobOutcome, DocumentFiles]]) -> None:
        """Enter documents whose files are in place into the journal and the totals."""
        for outcome, files in written:
            mark = self._writing.pop(outcome.document)
            done = None if outcome.failed else mark
            self._journal.record(outcome.document, done, outcome.rows, files.hashes)
            self.backups += len(files.backups)
            self.kept += len(files.kept)
            self.first_backup = self.first_backup or next(iter(files.backups), None)
            self._count(totals_of(outcome.rows))

    def _count(self, totals: Totals) -> None:
        self.totals += totals
        if self._listener is not None:
            self._listener(self.totals, self._plan.documents)


def _performed(jobs: Iterator[Job], request: Request) -> Generator[JobOutcome | None, None, None]:
    if request.cluster is not None:
        from caspr.corpus.cluster import perform_on_cluster

        return perform_on_cluster(jobs, request.cluster)
    from caspr.corpus.workers import perform_here

    return perform_here(jobs, request.processes or processors())


def failures(output: Path) -> Iterator[tuple[str, str]]:
    """Yield the documents of the last run that failed, each with its reason, safe for a terminal."""
    for row in Journal.rows_of_last_run(output):
        if row["status"] == FAILED:
            yield printable(row["document"]), printable(row["reason"])


def warnings_in(output: Path) -> Iterator[str]:
    """Yield the warnings about documents of the last run, safe for a terminal."""
    for row in Journal.rows_of_last_run(output):
        for finding in row.get("findings", ()):
            if finding["severity"] == Severity.WARNING:
                where = "" if finding["where"] in ("", row["document"]) else f"{finding['where']}: "
                yield printable(f"{row['document']}: {where}{finding['message']}")


def _sum_up(request: Request, journal: Journal, totals: Totals, findings: Iterable[Finding]) -> None:
    write_all({request.output / SUMMARIES[0]: csv_lines(journal.rows())})
    write_all({request.output / SUMMARIES[1]: json_lines(journal.rows(), totals, __version__, findings)})
    if request.options.layout == "project":
        write_project(request.output, journal.rows())
    if request.options.report:
        from caspr.report.corpus_page import overview_page

        rows = (
            {**row, "report": f"reports/{file_name(row['document'])}.html" if row.get("file") else ""}
            for row in journal.rows()
        )
        write_all({request.output / REPORT: overview_page(rows, totals.values(), "Corpus")})


def _refuse_overlap(request: Request) -> None:
    """Refuse an output folder that contains inputs, or is inside them."""
    output = request.output.resolve()
    for folder in request.inputs:
        path = folder.resolve()
        if output == path or output in path.parents or path in output.parents:
            raise InputError(
                f"{request.output}: choose an output folder apart from the input, not in or above it"
            )


def _refuse_twins(plan: Plan, output: Path) -> None:
    """Refuse documents that would share a file on a file system that ignores case."""
    if (output / NAME.upper()).exists() and (twins := plan.twins()) is not None:
        first, second = map(printable, twins)
        raise InputError(
            f"{output}: documents '{first}' and '{second}' would be one file on this disk: rename one, or "
            "write to a disk that tells upper from lower case"
        )


@contextmanager
def _made(folder: Path) -> Iterator[None]:
    """Make a folder; if the corpus is refused, remove it again unless something is in it."""
    there = folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot make this folder: {error.strerror}") from error
    try:
        yield
    except InputError:
        if not there:
            with suppress(OSError):
                folder.rmdir()
        raise
