"""`caspr convert`: one annotator's file in any format to any other."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from caspr.cli.delivery.messages import print_lines, refuse_warnings
from caspr.cli.delivery.outputs import Output, OutputKind, Outputs
from caspr.cli.delivery.replacing import Content
from caspr.cli.delivery.templates import fill
from caspr.cli.terminal.options import FILES, format_options, reading
from caspr.errors import InputError
from caspr.formats import read_all
from caspr.formats.chain_ids import plain_ids
from caspr.formats.registry import (
    FORMATS,
    by_suffix,
    losses,
    output_format,
    render,
)
from caspr.formats.sources import read_files
from caspr.text.checks import refuse_document_twice
from caspr.text.document import Annotation
from caspr.text.findings import times


@click.command("convert", context_settings={"max_content_width": 110})
@click.argument("source", type=FILES, metavar="IN")
@click.argument("output", type=FILES, metavar="OUT")
@click.option(
    "--to",
    "target",
    type=click.Choice(list(FORMATS)),
    help="The format to write. Default: what OUT is called.",
)
@click.option("--annotator", metavar="NAME", help="Whose annotations, where IN has several annotators.")
@click.option(
    "--template",
    type=FILES,
    metavar="FILE",
    help="Put the chains into this file, of the format to write, and keep all else that is in it.",
)
@format_options
@click.option("--strict", is_flag=True, help="Write nothing and exit 2 if anything cannot be carried.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
def command(
    source: Path,
    output: Path,
    target: str | None,
    annotator: str | None,
    template: Path | None,
    strict: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Read IN, a file or folder in any format, and write its chains to OUT in another.

    A format with one document in a file, or several files for a document, needs a folder as OUT for several
    documents. What the other format cannot say is counted.
    """
    inputs = read_files([source, *([template] if template else [])])
    outputs = Outputs((Output("OUT", output, OutputKind.EITHER, content=Content.CONVERTED),), tuple(inputs))
    outputs.refuse()
    annotations = _one_annotator(read_all([source], **reading(given)), annotator)
    if template is not None:
        annotations = fill(annotations, template, target)
    if target is None and template is None and by_suffix(output) is None:
        endings = ", ".join(
            f"{one.suffixes[0]} ({one.name})" for one in FORMATS.values() if not one.read_only
        )
        raise InputError(
            f"{output}: found a name of no known format, expected --to FORMAT or one of the endings {endings}"
        )
    format = target or output_format(annotations, output)
    plain = [one if one.document.format == format else plain_ids(one) for one in annotations]
    files = render(plain, output, format=format)
    findings = [finding for annotation in annotations for finding in annotation.findings]
    findings += losses(annotations, format)
    print_lines([] if quiet else findings)
    if strict:
        refuse_warnings(findings)
    outputs.write({"OUT": files})
    print_lines([] if quiet else [_counts(annotations, format)])


def _one_annotator(groups: Sequence[list[Annotation]], wanted: str | None) -> list[Annotation]:
    names = [group[0].annotator for group in groups]
    chosen = [group for group in groups if wanted in (None, group[0].annotator)]
    if len(chosen) != 1:
        problem = f"{len(chosen)} annotators" if chosen else f"no annotator '{wanted}'"
        raise InputError(f"--annotator: found {problem}, expected to choose one of {', '.join(names)}")
    if len({one.document.source for one in chosen[0]}) > 1:
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
