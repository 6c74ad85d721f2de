"""`caspr convert`: one annotator's file in any format to any other."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from caspr.cli.shared import options
from caspr.cli.shared.outputs import Content, Output, OutputKind, Outputs, print_lines
from caspr.errors import InputError
from caspr.formats import read_all
from caspr.formats.naming import plain_ids
from caspr.formats.registry import FORMATS, WRITTEN, by_suffix, losses, output_format, render
from caspr.formats.sources import fill, read_files
from caspr.text.checks import refuse_document_twice
from caspr.text.document import Annotation
from caspr.text.findings import refuse_warnings, times


@options.subcommand("convert")
@click.argument("source", type=options.FILES, metavar="IN")
@click.argument("output", type=options.FILES, metavar="OUT")
@options.to_option("as the name of OUT says")
@click.option("--annotator", metavar="NAME", help="Whose annotations, where IN has several annotators.")
@click.option(
    "--template",
    type=options.FILES,
    metavar="FILE",
    help="Put the chains into a copy of this file in the format to write, and keep everything else.",
)
@options.format_options
@options.flag("--strict", help="Write nothing and exit 2 if anything cannot be expressed.")
@options.quiet_option
def command(
    source: Path,
    output: Path,
    target: str | None,
    annotator: str | None,
    template: Path | None,
    strict: bool,
    quiet: bool,
    **values: Any,
) -> None:
    """Read IN, a file or folder in any format, and write its chains to OUT in another.

    A format with one document in a file, or several files for a document, needs a folder as OUT for several
    documents. What the other format cannot express is counted.
    """
    inputs = read_files([source, *([template] if template else [])])
    outputs = Outputs((Output("OUT", output, OutputKind.EITHER, content=Content.CONVERTED),), tuple(inputs))
    outputs.refuse()
    annotations = _one_annotator(read_all([source], **options.reading(values)), annotator)
    if template is not None:
        annotations = fill(annotations, template, target)
    if target is None and template is None and by_suffix(output) is None:
        known = [FORMATS[name] for name in WRITTEN]
        endings = ", ".join(
            f"{' or '.join(format.suffixes[: 2 if format.forms else 1])} ({format.name})" for format in known
        )
        raise InputError(
            f"{output}: the name does not say which format to write: give --to FORMAT, or a name that ends "
            f"in {endings}"
        )
    format = target or output_format(annotations, output)
    plain = [work if work.document.format == format else plain_ids(work) for work in annotations]
    files = render(plain, output, format=format)
    findings = [finding for annotation in annotations for finding in annotation.findings]
    findings += losses(annotations, format)
    print_lines([] if quiet else findings)
    if strict:
        refuse_warnings(findings)
    outputs.write({"OUT": files})
    print_lines([] if quiet else [_counts(annotations, format), *outputs.written({"OUT": files})])


def _one_annotator(groups: Sequence[list[Annotation]], wanted: str | None) -> list[Annotation]:
    names = [group[0].annotator for group in groups]
    chosen = [group for group in groups if wanted in (None, group[0].annotator)]
    if len(chosen) != 1:
        raise InputError(f"--annotator: choose one of {', '.join(names)}")
    if len({annotation.document.source for annotation in chosen[0]}) > 1:
        refuse_document_twice(chosen[0], "convert the files of several annotators one by one")
    return chosen[0]


def _counts(annotations: Sequence[Annotation], format: str) -> str:
    chains = sum(len(annotation.chains) for annotation in annotations)
    mentions = sum(len(chain.mentions) for annotation in annotations for chain in annotation.chains)
    singletons = sum(len(annotation.singletons) for annotation in annotations)
    documents = times(len(annotations), "document")
    return (
        f"{format}: {documents}, {times(chains, 'chain')} of {times(mentions, 'mention')}, "
        f"{times(singletons, 'chain')} of one"
    )
