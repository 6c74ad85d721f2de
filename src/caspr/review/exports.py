"""Exports: the result of a document as a file in any format, and its report."""

import re
from dataclasses import dataclass
from pathlib import Path

from caspr.formats.containers.zip import make_archive
from caspr.formats.registry import FORMATS, render
from caspr.report.explained_report import explained
from caspr.report.html_pages import report_page
from caspr.review.operations import OperationError
from caspr.review.session import ReviewSession
from caspr.text.document import Document

REPORT_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""A report has its script and style inline; the sandbox separates it from the rest of the page."""


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
    if format not in FORMATS:
        raise OperationError(
            f"There is no format {format[:40]!r}: choose review or one of {', '.join(FORMATS)}."
        )
    name = f"{plain(gold.document)}{FORMATS[format].suffixes[0]}"
    files = render([gold], Path(name), format=format)
    contents = {path: text.encode("utf-8") if isinstance(text, str) else text for path, text in files.items()}
    if len(contents) == 1:
        path, content = contents.popitem()
        return Download(path.name, content)
    packed = make_archive((path.as_posix(), content) for path, content in sorted(contents.items()))
    return Download(f"{plain(gold.document)}.zip", packed, "application/zip")


def report(session: ReviewSession, number: int) -> Download:
    """Return the report on a document as a page."""
    with session.lock:
        history = session.history(number)
        result = history.solver.result(history.snapshot)
    page = report_page(explained([result]), result.document.title)
    return Download("report.html", page.encode("utf-8"), "text/html; charset=utf-8", REPORT_POLICY)


def plain(document: Document) -> str:
    """Name a file after a document, with only characters that are safe in a header and on any disk.

    >>> plain(Document("../a b", (), part="1"))
    'a_b_part_1'
    """
    return re.sub(r"[^A-Za-z0-9.-]+", "_", document.title).strip("._-")[:80] or "document"
