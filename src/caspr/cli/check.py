"""`caspr check`: what is wrong or odd about annotators' files."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from caspr.adjudication import by_document, made_concrete, prepare
from caspr.cli.shared.inputs import files_of, read_given
from caspr.cli.shared.options import (
    FILES,
    flag,
    format_options,
    gold_option,
    json_option,
    reading,
    subcommand,
)
from caspr.cli.shared.outputs import Outputs, echo, json_text, requested
from caspr.errors import CasprError, InputError
from caspr.formats.registry import STANDARD_OUTPUT
from caspr.formats.sources import read_files, read_one
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


@dataclass(frozen=True)
class _Checked:
    """What was found in one document, or that it cannot be adjudicated."""

    annotations: tuple[Annotation, ...]
    """Over one row of tokens, where that could be made."""
    findings: tuple[Finding, ...] = ()
    error: str = ""

    def lines(self, *, tokens: bool) -> Iterator[str]:
        """Yield the lines about it, which an error has none of."""
        if not self.error:
            yield from _lines(self.annotations, self.findings)
            yield from _numbered(self.annotations[0].document) if tokens else ()

    def values(self) -> dict[str, Any]:
        """Return it for programs."""
        document = self.annotations[0].document
        return {
            "name": document.name,
            "part": document.part,
            "tokens": len(document.tokens),
            "annotators": [
                {
                    "name": annotation.annotator,
                    "source": annotation.document.source,
                    "format": annotation.document.format,
                    "chains": len(annotation.chains),
                    "mentions": sum(len(chain.mentions) for chain in annotation.chains),
                    "singletons": len(annotation.singletons),
                }
                for annotation in self.annotations
            ],
            "findings": [asdict(finding) for finding in self.findings],
            "error": self.error or None,
        }


@subcommand("check")
@click.argument("files", nargs=-1, required=True, type=FILES, metavar="FILE ...")
@flag("--tokens", help="Also print the tokens with their numbers, for --coverage.")
@json_option
@flag("--strict", help="Exit 2 on any warning.")
@format_options
@gold_option
def command(
    files: tuple[Path, ...], tokens: bool, json_path: Path | None, strict: bool, **values: Any
) -> None:
    """Read FILES, one per annotator, and say what is wrong or odd about them.

    FILES may also be one folder that holds the work of all annotators, or the file of one annotator.
    """
    outputs = Outputs(requested("--json", json_path), tuple(read_files(files)))
    outputs.refuse()
    try:
        read = read_given(files, reading(values))[0]
    except CasprError as error:
        raise _every_error(files, reading(values), error) from error
    documents, about = _documents(read, allow_gold=values["allow_gold"])
    checked = [_checked(annotations) for annotations in documents]
    errors = [document.error for document in checked if document.error]
    whole = {"documents": [each.values() for each in checked], "findings": [asdict(odd) for odd in about]}
    if json_path is not None:
        outputs.write({"--json": {json_path: json_text(whole)}})
    if errors and len(errors) == len(checked):
        raise InputError(_NEXT.join(errors))
    every = [*condensed(about), *(finding for document in checked for finding in document.findings)]
    if json_path != STANDARD_OUTPUT:
        for line in (line for document in checked for line in document.lines(tokens=tokens)):
            echo(line)
        _print_totals(condensed(about), every, len(checked) - len(errors), alone=len(read) == 1)
    if errors:
        raise InputError(_NEXT.join(errors))
    if strict:
        refuse_warnings(every, printed=json_path != STANDARD_OUTPUT)


def _print_totals(
    findings: Iterable[Finding], every: Sequence[Finding], documents: int, *, alone: bool
) -> None:
    for finding in findings:
        echo(str(finding))
    hint = "; this is the work of one annotator, and merging takes two or more" if alone else ""
    echo(f"{times(documents, 'document')}, {times(len(warnings_of(every)), 'warning')}{hint}")


def _documents(
    read: Sequence[Sequence[Annotation]], *, allow_gold: bool
) -> tuple[list[tuple[Annotation, ...]], tuple[Finding, ...]]:
    """Sort annotations by document; the files of one annotator are checked alone."""
    if len(read) == 1 and not any(
        finding.code == "unread-files" for annotation in read[0] for finding in annotation.findings
    ):
        return [(annotation,) for annotation in read[0]], ()
    return by_document(read, allow_gold=allow_gold)


def _checked(annotations: Sequence[Annotation]) -> _Checked:
    """Bring the annotations of one document onto one row of tokens, and look for what is odd about them."""
    if len(annotations) == 1:
        return _Checked(tuple(annotations), check(annotations))
    try:
        aligned, odd = prepare(annotations)
        concrete, more = made_concrete(aligned, Decisions(), Settings())
        about = check_task(concrete.settings.instance(aligned, Decisions()))
    except InputError as error:
        return _Checked(tuple(annotations), error=str(error))
    return _Checked(aligned, (*odd, *more, *about))


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
