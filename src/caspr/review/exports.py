"""Exports: results as files in any format, reports and the paragraph on methods, of a document or of all."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from caspr import __version__
from caspr.formats.containers.zip import make_archive
from caspr.formats.registry import FORMATS, losses, render
from caspr.formats.review_file.statements import answers_by_person
from caspr.report.explained_report import explained
from caspr.report.html_pages import report_page
from caspr.report.paper.methods import methods_latex, methods_text
from caspr.review.operations import OperationError
from caspr.review.session import ReviewSession
from caspr.review.solver import Snapshot, Solver
from caspr.storage import file_names
from caspr.text.document import Annotation, Document
from caspr.text.findings import printable, times

REPORT_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""A report has its script and style inline; the sandbox separates it from the rest of the page."""
TEXT_POLICY = "sandbox; default-src 'none'; frame-ancestors 'none'"
ABOUT = "about.txt"
"""In an archive of all results, what is to be known about them."""


@dataclass(frozen=True)
class Download:
    """A file to download or to show."""

    name: str
    """A plain name, safe in a header and on any disk."""
    content: bytes
    media_type: str = "application/octet-stream"
    policy: str | None = None
    """The content security policy of a page that is shown; other files are saved."""


def export(session: ReviewSession, number: int, format: str) -> Download:
    """Return the result of a document in a format, or its part of the review file."""
    with session.lock:
        history = session.history(number)
        gold, text = history.solver.gold(history.snapshot), session.documents[number].text
    if format == "review":
        return Download(f"{plain(gold.document)}.review.conll", text.encode("utf-8"))
    _refuse_unknown(format)
    name = f"{plain(gold.document)}{FORMATS[format].suffixes[0]}"
    contents = _rendered(gold, Path(name), format)
    if len(contents) == 1:
        path, content = contents.popitem()
        return Download(path.name, content)
    packed = make_archive((path.as_posix(), content) for path, content in sorted(contents.items()))
    return Download(f"{plain(gold.document)}.zip", packed, "application/zip")


def _refuse_unknown(format: str) -> None:
    if format not in FORMATS:
        raise OperationError(
            f"There is no format {format[:40]!r}: choose review or one of {', '.join(FORMATS)}."
        )


def _rendered(gold: Annotation, path: Path, format: str) -> dict[Path, bytes]:
    files = render([gold], path, format=format)
    return {path: text.encode("utf-8") if isinstance(text, str) else text for path, text in files.items()}


Opened = Iterable[tuple[ReviewSession, int]]
"""Documents, each in its session and with its number there, open while it is looked at."""


def _answers(snapshots: Iterable[Snapshot]) -> Counter[str]:
    """Return how often each person decided something."""
    return sum((Counter(answers_by_person(one.entries)) for one in snapshots), Counter[str]())


def _snapshots(opened: Opened) -> Iterator[tuple[Solver, Snapshot]]:
    for session, number in opened:
        with session.lock:
            history = session.history(number)
            yield history.solver, history.snapshot


def export_all(opened: Opened, format: str, title: str) -> Download:
    """Return an archive with the result of each document, and a list of what is to be known about them."""
    _refuse_unknown(format)
    golds = []
    said: dict[str, list[str]] = {"not marked as done": [], "not proven optimal": []}
    for solver, snapshot in _snapshots(opened):
        golds.append(solver.gold(snapshot))
        for words, holds in (("not marked as done", snapshot.done), ("not proven optimal", snapshot.optimal)):
            if not holds:
                said[words].append(solver.document.title)
    names = file_names([gold.document.title for gold in golds], FORMATS[format].suffixes[0], "document")
    files = {
        path.as_posix(): content
        for gold in golds
        for path, content in _rendered(gold, Path(names[gold.document.title]), format).items()
    }
    lines = [f"{times(len(golds), 'gold standard')} of {title} as {format}, by CaspR {__version__}"]
    for words, titles in said.items():
        lines += [f"{times(len(titles), 'document')} {words}: {', '.join(titles)}"] if titles else []
    lines += [f"{gold.document.title}: {finding}" for gold in golds for finding in losses([gold], format)]
    about = "".join(f"{printable(line)}\n" for line in lines).encode("utf-8")
    # brat has the text of a document called so under this name; no name of a file begins with `_` there.
    name = f"_{ABOUT}" if ABOUT in map(str.lower, files) else ABOUT
    packed = make_archive([(name, about), *sorted(files.items())])
    return Download(f"{plain_name(title)}.zip", packed, "application/zip")


def report_on_all(opened: Opened, title: str) -> Download:
    """Return one report on all documents."""
    snapshots = list(_snapshots(opened))
    results = [solver.result(snapshot) for solver, snapshot in snapshots]
    answers = _answers(snapshot for _, snapshot in snapshots)
    page = report_page(explained(results, answers=answers), title)
    return Download("report.html", page.encode("utf-8"), "text/html; charset=utf-8", REPORT_POLICY)


def methods_of_all(opened: Opened, *, latex: bool) -> Download:
    """Return the paragraph for the methods section of a paper."""
    snapshots = list(_snapshots(opened))
    results = [solver.result(snapshot) for solver, snapshot in snapshots]
    acts = _answers(snapshot for _, snapshot in snapshots).total()
    text = methods_text(results, __version__, acts)
    if latex:
        return Download("methods.tex", methods_latex(text).encode("utf-8"))
    return Download("methods.txt", text.encode("utf-8"), "text/plain; charset=utf-8", TEXT_POLICY)


def report(session: ReviewSession, number: int) -> Download:
    """Return the report on a document as a page."""
    with session.lock:
        history = session.history(number)
        result, answers = history.solver.result(history.snapshot), _answers([history.snapshot])
    page = report_page(explained([result], answers=answers), result.document.title)
    return Download("report.html", page.encode("utf-8"), "text/html; charset=utf-8", REPORT_POLICY)


def plain(document: Document) -> str:
    """Name a file after a document, with only characters that are safe in a header and on any disk.

    >>> plain(Document("../a b", (), part="1"))
    'a_b_part_1'
    """
    return plain_name(document.title)


def plain_name(title: str) -> str:
    """Name a file after a title."""
    return re.sub(r"[^A-Za-z0-9.-]+", "_", title).strip("._-")[:80] or "document"
