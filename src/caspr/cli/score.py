"""`caspr score`: how close a response comes to a key."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from caspr.cli.shared.options import FILES, choice, flag, json_option, subcommand
from caspr.cli.shared.outputs import Outputs, echo, json_text, print_lines, requested
from caspr.cli.shared.paper import PaperFiles, paper_options, singletons_option
from caspr.formats import read
from caspr.formats.registry import STANDARD_OUTPUT, is_named_after_file
from caspr.formats.sources import read_files
from caspr.measures.intervals import score_intervals
from caspr.measures.scores import MATCHES, Scores, score
from caspr.report.comparison_tables import NumberStyle
from caspr.report.paper.tables import (
    SCORES_HEAD,
    Bounds,
    Cell,
    counted_phrase,
    score_drawing,
    score_lines,
    score_rows,
    score_tables,
)
from caspr.text.document import Annotation
from caspr.text.findings import refuse_warnings


@subcommand("score")
@click.argument("key", type=FILES, metavar="KEY")
@click.argument("response", type=FILES, metavar="RESPONSE")
@click.option(
    "--match",
    type=choice(MATCHES),
    default="exact",
    help="Which mentions match: equal ones; by head or in part, as in CorefUD's scorer; or overlapping ones, "
    "which no other scorer does. Default: exact.",
)
@flag("--per-document", help="Also give the scores of each document.")
@singletons_option("yes")
@paper_options
@flag("--strict", help="Exit 2 on any warning, such as a document one side lacks.")
@json_option
def command(
    key: Path,
    response: Path,
    match: str,
    per_document: bool,
    strict: bool,
    json_path: Path | None,
    **values: Any,
) -> None:
    """Score the chains in RESPONSE against those in KEY, as the CoNLL reference scorer v8.01 does."""
    paper = PaperFiles.of(values)
    outputs = Outputs((*requested("--json", json_path), *paper.outputs()), tuple(read_files([key, response])))
    outputs.refuse()
    scores = score(*_sides(read(key), read(response)), singletons=paper.singletons, match=match)
    print_lines(scores.findings)
    if strict:
        refuse_warnings(scores.findings, printed=True)
    bounds = score_intervals(scores)
    contents = paper.contents(
        head=SCORES_HEAD,
        rows=lambda: _rows(scores, bounds, per_document),
        tables=lambda: score_tables(scores, paper.style, bounds),
        drawing=lambda: score_drawing(scores, paper.style, bounds),
    )
    if json_path is not None:
        contents["--json"] = {json_path: json_text(_values(scores, bounds, per_document))}
    outputs.write(contents)
    if all(path != STANDARD_OUTPUT for written in contents.values() for path in written):
        for line in _lines(scores, paper.style, bounds, per_document):
            echo(line)
    print_lines(outputs.written(contents))


def _sides(key: list[Annotation], response: list[Annotation]) -> tuple[list[Annotation], list[Annotation]]:
    """Give documents of the response the names of the key's, where files do not name them.

    The only document is that of the key if one of them has the name of its file; where no document of either
    side has a name, they go by their numbers.
    """
    if all(annotation.document.nameless for annotation in (*key, *response)):
        names = {annotation.document.nameless: annotation.document.name for annotation in key}
        called = [
            names.get(annotation.document.nameless, annotation.document.name) for annotation in response
        ]
        return key, [
            replace(annotation, document=replace(annotation.document, name=name))
            for annotation, name in zip(response, called, strict=True)
        ]
    if len(key) == len(response) == 1 and any(
        is_named_after_file(annotation.document) for annotation in (*key, *response)
    ):
        named, answer = key[0].document, response[0]
        response = [replace(answer, document=replace(answer.document, name=named.name, part=named.part))]
    return key, response


def _values(scores: Scores, bounds: Bounds, per_document: bool) -> dict[str, Any]:
    values = scores.values()
    for measure, interval in bounds.items():
        values[measure]["f1_interval"] = interval
    values |= {"singletons": scores.singletons, "match": scores.match}
    if per_document:
        values["documents"] = [{"name": title, **own.values()} for title, own in scores.documents]
    return values


def _rows(scores: Scores, bounds: Bounds, per_document: bool) -> Iterator[tuple[Cell, ...]]:
    for title, own in scores.documents if per_document else ():
        yield from score_rows(title, own, {})
    yield from score_rows("all documents", scores, bounds)


def _lines(scores: Scores, style: NumberStyle, bounds: Bounds, per_document: bool) -> Iterator[str]:
    if per_document:
        for title, own in scores.documents:
            yield f"{title}:"
            yield from (f"  {line}" for line in score_lines(own, style, {}))
        yield "all documents:"
    yield from score_lines(scores, style, bounds)
    if bounds:
        yield "[from, to]: 95% intervals of F1, from resampling documents"
    yield counted_phrase(scores)
