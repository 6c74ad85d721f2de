"""`caspr agreement`: how far annotators agree."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import click

from caspr.adjudication import by_document
from caspr.cli.shared import options
from caspr.cli.shared.inputs import read_given, refuse_inside
from caspr.cli.shared.outputs import Outputs, json_text, print_findings, print_lines, requested
from caspr.cli.shared.paper import PaperFiles, paper_options, singletons_option
from caspr.cli.shared.solving import read_reviews
from caspr.formats import review_file
from caspr.formats.registry import STANDARD_OUTPUT
from caspr.formats.review_file.project import is_project
from caspr.formats.sources import read_files
from caspr.measures.agreement import Conventions, Unmarked
from caspr.measures.comparison import Comparison, compare, compare_each
from caspr.measures.intervals import ComparisonIntervals, comparison_intervals
from caspr.report.comparison_tables import KINDS, comparison_lines, comparison_values, interval_values
from caspr.report.paper.tables import AGREEMENT_HEAD, agreement_drawing, agreement_rows, agreement_tables
from caspr.task.settings import Settings, change
from caspr.text.alignment import align
from caspr.text.checks import spoiling
from caspr.text.coverage import Coverage, partial_coverage
from caspr.text.document import Annotation
from caspr.text.findings import Finding, printable, refuse_warnings, times

_SHOWN = 20
"""How many findings are printed about what spoils the numbers."""


@options.subcommand("agreement")
@click.argument("files", nargs=-1, required=True, type=options.FILES, metavar="A.conll B.conll ...")
@click.option(
    "--own-set",
    type=options.choice(["with", "without"]),
    default="with",
    help="Whether the coreference set of a mention is its chain with the mention itself, or without it. "
    "Default: with.",
)
@click.option(
    "--unmarked",
    type=options.choice(Unmarked),
    default=Unmarked.SINGLETON.value,
    help="What a mention is for an annotator who did not mark it: a chain of one, no value, or the empty "
    "set. Default: singleton.",
)
@click.option(
    "--matrix",
    "matrices",
    multiple=True,
    type=options.choice([*KINDS, "all"]),
    metavar="NAME",
    help=f"Numbers to show for each pair of annotators: {', '.join(KINDS)} or all; may be repeated. "
    "Default: conll.",
)
@options.coverage_option
@options.flag("--per-document", help="Also show the numbers of each document.")
@singletons_option("auto")
@paper_options
@options.file_option("-o", "--output", help="Write the tables there. Default: the terminal.")
@options.flag("--strict", help="Exit 2 on any warning, such as a document an annotator lacks.")
@options.flag("-q", "--quiet", help="Print nothing but the tables and errors.")
@options.json_option
def command(
    files: tuple[Path, ...],
    own_set: str,
    unmarked: str,
    matrices: tuple[str, ...],
    coverage: str | None,
    per_document: bool,
    output: Path | None,
    strict: bool,
    quiet: bool,
    json_path: Path | None,
    **values: Any,
) -> None:
    """Measure how far the annotators of FILES agree, and say what they disagree about.

    FILES are one file per annotator, one folder that holds them all, a review file, or a project.
    """
    paper = PaperFiles.of(values)
    asked = (*requested("--json", json_path), *paper.outputs(), *requested("-o", output))
    outputs = Outputs(asked, tuple(read_files(files)))
    outputs.refuse()
    refuse_inside((target.path for target in outputs.outputs), files)
    documents, findings = _documents(files)
    settings = change(Settings(), {"coverage": coverage})
    spoilt = list(_spoilt(documents, covered=coverage is not None))
    findings = (*findings, *settings.unused_coverage(documents))
    if not quiet:
        _print_findings(findings, spoilt)
    if strict:
        refuse_warnings((*findings, *spoilt), printed=not quiet)
    conventions = Conventions(own_set == "with", Unmarked(unmarked))
    shown = list(KINDS) if "all" in matrices else matrices or ("conll",)
    seen = [settings.coverage_of(annotations) for annotations in documents]
    measured = _Measured(documents, seen, conventions, paper, shown)
    each = measured.each if len(documents) > 1 and (per_document or json_path is not None) else []
    contents = measured.paper_contents(each if per_document else [])
    if json_path is not None:
        contents["--json"] = {json_path: json_text(_values(measured, each, own_set, unmarked))}
    if output is not None or all(STANDARD_OUTPUT not in files for files in contents.values()):
        lines = measured.lines(each if per_document else [])
        contents["-o"] = {output or STANDARD_OUTPUT: "".join(f"{printable(line)}\n" for line in lines)}
    outputs.write(contents)
    print_lines(() if quiet else outputs.written(contents))


def _documents(files: Sequence[Path]) -> tuple[list[tuple[Annotation, ...]], tuple[Finding, ...]]:
    """Read annotators' files, or the annotators of a review file or of a project of them."""
    if len(files) == 1 and is_project(files[0]):
        reviews = [review for opened in read_reviews(files[0]) for review in opened.reviews]
        return [align(review.annotations) for review in reviews], ()
    if len(files) == 1 and files[0].is_file() and review_file.is_review(files[0]):
        return [align(review.annotations) for review in review_file.read(files[0])], ()
    documents, findings = by_document(read_given(files, {})[0], allow_gold=True, allow_empty=True)
    return [align(annotations) for annotations in documents], findings


def _print_findings(findings: Sequence[Finding], spoilt: Sequence[Finding]) -> None:
    print_findings((*findings, *spoilt[:_SHOWN]))
    if len(spoilt) > _SHOWN:
        print_lines([f"{times(len(spoilt) - _SHOWN, 'more warning')} like these; `caspr check` prints all"])


def _spoilt(documents: Sequence[Sequence[Annotation]], *, covered: bool) -> Iterator[Finding]:
    """Yield what spoils the numbers: annotators who marked nothing, in all or in a part, and copies."""
    for annotations in documents:
        title = annotations[0].document.title if len(documents) > 1 else ""
        for finding in (*spoiling(annotations), *(() if covered else partial_coverage(annotations))):
            yield replace(finding, where=": ".join(filter(None, (title, finding.where))))


@dataclass(frozen=True)
class _Measured:
    """Everything that is computed, each when it is first asked for."""

    documents: Sequence[Sequence[Annotation]]
    coverages: Sequence[Coverage]
    conventions: Conventions
    paper: PaperFiles
    shown: Sequence[str]

    @property
    def _how(self) -> dict[str, Any]:
        """How numbers are computed."""
        return {
            "conventions": self.conventions,
            "singletons": self.paper.singletons,
            "coverages": self.coverages,
        }

    @cached_property
    def pooled(self) -> Comparison:
        return compare(self.documents, **self._how)

    @cached_property
    def each(self) -> list[Comparison]:
        return compare_each(self.documents, **self._how)

    @cached_property
    def intervals(self) -> ComparisonIntervals | None:
        return comparison_intervals(self.documents, **self._how)

    def lines(self, each: Sequence[Comparison]) -> Iterator[str]:
        """Yield the lines for the terminal."""
        for comparison in each:
            yield from comparison_lines(comparison, self.shown, style=self.paper.style)
        style, intervals = self.paper.style, self.intervals
        yield from comparison_lines(self.pooled, self.shown, style=style, intervals=intervals)

    def paper_contents(self, each: Sequence[Comparison]) -> dict[str, dict[Path, str | bytes]]:
        """Return the tables and the figure that were asked for."""
        style = self.paper.style
        return self.paper.contents(
            head=AGREEMENT_HEAD,
            rows=lambda: chain(
                *(agreement_rows(comparison) for comparison in each),
                agreement_rows(self.pooled, self.intervals),
            ),
            tables=lambda: agreement_tables(self.pooled, self.shown, style, self.intervals),
            drawing=lambda: agreement_drawing(self.pooled, self.shown[0], style, self.intervals),
        )


def _values(measured: _Measured, each: list[Comparison], own_set: str, unmarked: str) -> dict[str, Any]:
    return {
        "conventions": {"own_set": own_set, "unmarked": unmarked},
        **comparison_values(measured.pooled),
        "intervals": interval_values(measured.intervals),
        "documents": [comparison_values(comparison) for comparison in each or [measured.pooled]],
    }
