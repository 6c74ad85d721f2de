"""Reports in the format that their file names ask for, and a feedback page for each annotator."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from caspr import __version__
from caspr.cli.shared.outputs import json_text
from caspr.errors import InputError
from caspr.measures.comparison import against_gold
from caspr.report.explained_report import Report, explained, markdown_report, report_values, text_report
from caspr.report.feedback_page import feedback_page
from caspr.report.html_pages import report_page
from caspr.report.paper.methods import methods_latex, methods_text
from caspr.result import Result
from caspr.storage import file_names

REPORT_FORMATS = {"html": ".html .htm", "text": ".txt", "md": ".md .markdown", "json": ".json"}
"""The formats of reports, with the endings of their files."""


LATEX = ".tex"
"""The ending of a file for LaTeX, and its format: only the paragraph for the methods section has it."""
_ADVICE = {
    ".pdf": "; for a PDF file, print the .html page from a browser",
    **dict.fromkeys(
        (".docx", ".doc", ".odt"), "; a word processor can open the .html page and save it in its own format"
    ),
}
"""What to do for files that are often wanted."""


def format_of(path: Path, chosen: str | None, otherwise: str | None = None) -> str:
    """Return the format of a report: the one chosen, or the one its file name says.

    `otherwise` is that of a file without an ending, if it may have none.
    """
    if chosen is not None:
        return chosen
    named = [name for name, suffixes in REPORT_FORMATS.items() if path.suffix.lower() in suffixes.split()]
    if named or (otherwise is not None and not path.suffix):
        return named[0] if named else str(otherwise)
    known = " ".join(REPORT_FORMATS.values())
    advice = _ADVICE.get(path.suffix.lower(), "")
    raise InputError(f"{path}: the name of a report must end in one of {known}{advice}")


def format_of_methods(path: Path, chosen: str | None) -> str:
    """Return the format of the paragraph of a methods section, which is text, Markdown or LaTeX."""
    if chosen is None and path.suffix.lower() == LATEX:
        return LATEX
    format = format_of(path, chosen, "text")
    if format not in ("text", "md"):
        expected = f"{REPORT_FORMATS['text']}, {REPORT_FORMATS['md']} or {LATEX}"
        raise InputError(f"{path}: --methods writes a paragraph of text: the name must end in {expected}")
    return format


def report_text(
    results: Sequence[Result], format: str, answers: Mapping[str, int] | None = None, project: str = ""
) -> str:
    """Return the report on some results in a format of `REPORT_FORMATS`; `answers` as for `explained`.

    `project` is the name of the project, where there is one.
    """
    if format == "json":
        return json_text(report_values(explained(results, most=None)), ascii=True)
    report = explained(results, answers=answers)
    if format == "html":
        return report_page(report, _title(report, project))
    lines = text_report(report) if format == "text" else markdown_report(report, _title(report, project))
    return "".join(f"{line}\n" for line in lines)


def methods_paragraph(results: Sequence[Result], acts: int, format: str) -> str:
    """Return the paragraph for the methods section of a paper; `acts` counts what an adjudicator decided."""
    text = methods_text(results, __version__, acts)
    return methods_latex(text) if format == LATEX else text


def feedback_names(annotators: Iterable[str]) -> Mapping[str, str]:
    """Return what the page of each annotator is called."""
    return file_names(annotators, ".html", "annotator")


def feedback_texts(results: Sequence[Result], folder: Path) -> dict[Path, str]:
    """Return a page for each annotator with what differs from the gold standard."""
    standings = against_gold(results)
    names = feedback_names(standings)
    return {
        folder / names[annotator]: feedback_page(annotator, dict(standing), results)
        for annotator, standing in standings.items()
    }


def _title(report: Report, project: str) -> str:
    first = report.documents[0].result.document.title
    more = len(report.documents) - 1
    if not more:
        return first
    return project or f"{first} and {more} more"
