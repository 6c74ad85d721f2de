"""`caspr redo`: re-optimise a review file around the cells enforced in it."""

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from caspr.cli.shared import options
from caspr.cli.shared.annotators import annotator_options, change_annotators
from caspr.cli.shared.outputs import (
    Content,
    Files,
    Output,
    OutputKind,
    Outputs,
    locked,
    print_lines,
    requested,
)
from caspr.cli.shared.solving import (
    OpenReview,
    Reporting,
    annotators_of,
    answers_of,
    deliver,
    open_review,
    read_reviews,
    solve,
    tasks_of,
)
from caspr.errors import InputError
from caspr.formats import gold_files, review_file
from caspr.formats.foreign import refuse_foreign_name
from caspr.formats.registry import STANDARD_OUTPUT, by_suffix, losses, output_format, render
from caspr.formats.review_file.project import is_project
from caspr.formats.sources import fill, read_files
from caspr.processes import login
from caspr.result import Result
from caspr.text.document import Annotation
from caspr.text.findings import Finding, times


@options.subcommand("redo")
@click.argument("file", type=options.FILES, metavar="review.conll | PROJECT")
@click.option(
    "--gold",
    type=options.FILES,
    help="Also write the gold standard there, without the annotators; for a project, a file or a folder.",
)
@options.to_option("as its name says", what="The format of --gold")
@click.option(
    "--template",
    type=options.FILES,
    metavar="FILE",
    help="Put the chains of --gold into a copy of this annotator's file, and keep everything else in it.",
)
@options.file_option("-o", "--output", help="Write the new review file there instead of in place.")
@options.annotators_option
@annotator_options
@options.as_in_the_file
@options.adjudication_options
def command(
    file: Path,
    gold: Path | None,
    target: str | None,
    template: Path | None,
    output: Path | None,
    annotators: tuple[str, ...],
    **values: Any,
) -> None:
    """Re-optimise a review file, or all files of a project, around the cells that begin with '='.

    The file holds all that is needed: annotators, objective and settings; options given here change them. It
    is rewritten in place, and its old version is kept as FILE.1.bak, FILE.2.bak, ... In a project, only files
    whose result changes are rewritten.
    """
    if gold is not None and target is None:
        refuse_foreign_name(gold)
    clean = _Gold(gold, target, template, every=options.wants_all(values))
    if output is not None and any(values[name] for name in ("added", "removed", "renamed")):
        raise InputError(
            "-o cannot be used with --add, --remove and --rename, which change the review in place"
        )
    change_annotators([file], login(), values)
    if is_project(file):
        if output is not None:
            raise InputError("-o cannot be used with a project, which is redone in place")
        if annotators:
            raise InputError("--annotators cannot be used with a project, whose files name their annotators")
        _redo_project(file, clean, values)
        return
    if file.is_dir():
        raise InputError(
            f"{file}: this folder is not a project: give a review file, as `caspr adjudicate --layout "
            "review` writes it, or a project, as `caspr corpus --layout project` makes it"
        )
    with nullcontext() if output else locked(file):
        _redo(open_review(file, annotators=annotators), output, clean, values)


def _redo(opened: OpenReview, output: Path | None, gold: "_Gold", values: dict[str, Any]) -> None:
    """Solve and write while nobody else can."""
    reporting = Reporting.of(values)
    file = opened.path
    tasks = tasks_of([opened], values, reported=reporting.report is not None)
    option = "-o" if output else "the review file"
    outputs = Outputs(
        (
            Output(option, output or file, content=Content.RESULT, decided=True),
            *gold.outputs(),
            *reporting.outputs(annotators_of(tasks)),
        ),
        gold.inputs(file),
        rewritten=None if output else file,
        known=opened.known,
        review=output,
    )
    outputs.refuse()
    results = solve(tasks, outputs, reporting)
    contents, unproven = reporting.files(results, answers_of(tasks))
    renewed = _renewed(opened, results)
    same = output is None and renewed == opened.known
    if not same:
        contents[option] = {output or file: renewed}
    files, lost = gold.files([("", results)])
    deliver(outputs, {**contents, **files}, results, (*lost, *unproven), reporting)
    if same and not reporting.quiet:
        print_lines([f"{file} is unchanged, and was not rewritten"])


def _redo_project(folder: Path, gold: "_Gold", values: dict[str, Any]) -> None:
    """Solve all documents of a project; write what was asked for, and the review files that change.

    Each of these is locked then, compared with what was read, and its old version kept.
    """
    reporting = Reporting.of(values)
    opened = read_reviews(folder)
    tasks = tasks_of(opened, values, reported=reporting.report is not None)
    outputs = Outputs((*gold.outputs(), *reporting.outputs(annotators_of(tasks))), gold.inputs(folder))
    outputs.refuse()
    results = solve(tasks, outputs, reporting)
    contents, unproven = reporting.files(results, answers_of(tasks))
    left = iter(results)
    documents = [(review, [next(left) for _ in review.reviews]) for review in opened]
    files, lost = gold.files([(review.name, some) for review, some in documents])
    changed = [
        (review, text) for review, some in documents if (text := _renewed(review, some)) != review.known
    ]
    for review, _ in changed:
        with locked(review.path):
            pass  # refuses a file that somebody else has open, before anything is written
    deliver(outputs, {**contents, **files}, results, (*lost, *unproven), reporting)
    kept = [_rewrite(review, text, outputs) for review, text in changed]
    if not reporting.quiet:
        backups = f"; old versions are kept beside them, the first as {kept[0]}" if kept else ""
        same = len(opened) - len(kept)
        print_lines([f"{times(len(kept), 'review file')} rewritten, {same:,} unchanged{backups}"])


def _renewed(opened: OpenReview, results: Sequence[Result]) -> bytes:
    """Render a review file again: the same decisions, the new results, the settings that led to them."""
    reviews = [
        replace(
            review,
            gold=result.gold,
            settings=review_file.review_of(result, result.gold).settings,
        )
        for review, result in zip(opened.reviews, results, strict=True)
    ]
    return review_file.write(reviews).encode("utf-8")


def _rewrite(review: OpenReview, text: bytes, outputs: Outputs) -> Path:
    """Rewrite a review file unless it was saved since it was read, and return its old version."""
    output = Output("the review file", review.path)
    alone = replace(outputs, outputs=(output,), rewritten=review.path, known=review.known)
    with locked(review.path):
        return alone.write({output.option: {review.path: text}})[review.path]


@dataclass(frozen=True)
class _Gold:
    """Where the gold standard goes, if it is written, too."""

    path: Path | None
    target: str | None
    template: Path | None
    every: bool
    """Whether all optimal solutions are written."""

    def outputs(self) -> tuple[Output, ...]:
        return requested("--gold", self.path, OutputKind.EITHER, Content.RESULT)

    def inputs(self, path: Path) -> tuple[Path, ...]:
        return tuple(read_files([path, *([self.template] if self.template else [])]))

    def files(
        self, documents: Sequence[tuple[str, Sequence[Result]]]
    ) -> tuple[dict[str, Files], tuple[Finding, ...]]:
        """Render the golds of review files, by name; return what their format cannot express.

        They are in one file, if the path has the name of one or there is one review file, or else in a folder
        with a file for each. Crossing mentions cannot be written to the review file either: `solve` has
        reported them.
        """
        if self.path is None:
            return {}, ()
        golds = [
            (name, gold) for name, results in documents for result in results for gold in self._of(result)
        ]
        written = [gold for _, gold in golds]
        if self.template is not None:
            written = fill(written, self.template, self.target)
        format = self.target or output_format(written, self.path)
        lost = tuple(finding for finding in losses(written, format) if finding.code != "crossing-in-chain")
        is_file = by_suffix(self.path) is not None and not self.path.is_dir()
        if self.path == STANDARD_OUTPUT or is_file or not golds[0][0]:
            return {"--gold": render(written, self.path, format=format)}, lost
        named: dict[str, list[Annotation]] = {}
        for (name, _), gold in zip(golds, written, strict=True):
            named.setdefault(name, []).append(gold)
        files = [gold_files(some, name, format=self.target) for name, some in named.items()]
        return {"--gold": {self.path / file: text for part in files for file, text in part.items()}}, lost

    def _of(self, result: Result) -> Iterable[Annotation]:
        return result.numbered_golds() if self.every else (result.gold,)
