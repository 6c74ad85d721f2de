"""`caspr check`: what is wrong or odd about annotators' files."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from caspr.adjudication import by_document, made_concrete, prepare
from caspr.cli.shared.inputs import files_of, read_given
from caspr.cli.shared.options import FILES, flag, format_options, gold_option, reading, subcommand
from caspr.cli.shared.outputs import echo
from caspr.errors import CasprError, InputError
from caspr.formats.sources import read_one
from caspr.task.decisions import Decisions
from caspr.task.instance import check_task
from caspr.task.settings import Settings
from caspr.text.checks import check
from caspr.text.document import Annotation, Document
from caspr.text.findings import Finding, condensed, printable, refuse_warnings, times, warnings_of

_NEXT = "\ncaspr: error: "
"""What separates two errors."""
TOKENS_IN_LINE = 10
"""How many tokens `--tokens` prints in a line, so that the number of each is easily counted."""


@subcommand("check")
@click.argument("files", nargs=-1, required=True, type=FILES, metavar="FILE ...")
@flag("--tokens", help="Also print the tokens with their numbers, for --coverage.")
@flag("--strict", help="Exit 2 on any warning.")
@format_options
@gold_option
def command(files: tuple[Path, ...], tokens: bool, strict: bool, **values: Any) -> None:
    """Read FILES, one per annotator, and say what is wrong or odd about them. Nothing is written.

    FILES may also be one folder that holds the work of all annotators, or the file of one annotator.
    """
    try:
        read = read_given(files, reading(values))[0]
    except CasprError as error:
        raise _every_error(files, reading(values), error) from error
    documents, findings = _documents(read, allow_gold=values["allow_gold"])
    every = condensed(findings)
    errors: list[str] = []
    for annotations in documents:
        try:
            annotations, odd = _checked(annotations)
        except InputError as error:
            errors.append(str(error))
            continue
        every.extend(odd)
        for line in _lines(annotations, odd):
            echo(line)
        for line in _numbered(annotations[0].document) if tokens else ():
            echo(line)
    if errors and len(errors) == len(documents):
        raise InputError(_NEXT.join(errors))
    for finding in condensed(findings):
        echo(str(finding))
    alone = "; this is the work of one annotator, and merging takes two or more" if len(read) == 1 else ""
    good = times(len(documents) - len(errors), "document")
    echo(f"{good}, {times(len(warnings_of(every)), 'warning')}{alone}")
    if errors:
        raise InputError(_NEXT.join(errors))
    if strict:
        refuse_warnings(every, printed=True)


def _documents(
    read: Sequence[Sequence[Annotation]], *, allow_gold: bool
) -> tuple[list[tuple[Annotation, ...]], tuple[Finding, ...]]:
    """Sort annotations by document; the files of one annotator are checked alone."""
    if len(read) == 1 and not any(
        finding.code == "unread-files" for annotation in read[0] for finding in annotation.findings
    ):
        return [(annotation,) for annotation in read[0]], ()
    return by_document(read, allow_gold=allow_gold)


def _checked(annotations: Sequence[Annotation]) -> tuple[tuple[Annotation, ...], tuple[Finding, ...]]:
    """Return the annotations of one document over one row of tokens, and what is odd about them."""
    if len(annotations) == 1:
        return tuple(annotations), check(annotations)
    annotations, odd = prepare(annotations)
    concrete, more = made_concrete(annotations, Decisions(), Settings())
    return annotations, (*odd, *more, *check_task(concrete.settings.instance(annotations, Decisions())))


def _every_error(files: Sequence[Path], values: dict[str, Any], error: CasprError) -> CasprError:
    """Return what is wrong with each file that cannot be read, a line each, or the error that is known."""
    errors = []
    for path in files_of(files):
        try:
            read_one(path, **values)
        except CasprError as fault:
            errors.append(str(fault))
    return InputError(_NEXT.join(errors)) if len(errors) > 1 else error


def _lines(annotations: Sequence[Annotation], findings: Sequence[Finding]) -> Iterator[str]:
    document = annotations[0].document
    yield f"{document.title}: {times(len(document.tokens), 'token')}"
    width = max(len(annotation.annotator) for annotation in annotations)
    for annotation in annotations:
        mentions = sum(len(chain.mentions) for chain in annotation.chains)
        yield (
            f"  {annotation.annotator:<{width}}  {times(len(annotation.chains), 'chain')} of "
            f"{times(mentions, 'mention')}, {times(len(annotation.singletons), 'chain')} of one"
        )
    for finding in findings:
        yield f"  {finding}"


def _numbered(document: Document) -> Iterator[str]:
    """Yield the tokens in lines of ten, each with the number of its first."""
    width = len(str(len(document.tokens)))
    for start in range(0, len(document.tokens), TOKENS_IN_LINE):
        words = document.tokens[start : start + TOKENS_IN_LINE]
        yield f"  {start + 1:>{width}}  {' '.join(map(printable, words))}"
