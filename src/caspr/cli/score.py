"""`caspr score`: how close a response comes to a key."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from caspr.cli.delivery.messages import print_lines, refuse_warnings
from caspr.cli.delivery.outputs import Outputs, requested
from caspr.cli.terminal.options import FILES, JsonCommand, json_option
from caspr.formats import read
from caspr.formats.registry import STANDARD_OUTPUT
from caspr.formats.sources import read_files
from caspr.measures.scores import TITLES, Scores, score
from caspr.measures.scores.counts import Ratio


@click.command("score", cls=JsonCommand, context_settings={"max_content_width": 110})
@click.argument("key", type=FILES, metavar="KEY")
@click.argument("response", type=FILES, metavar="RESPONSE")
@click.option("--no-singletons", is_flag=True, help="Leave chains of one mention out of both sides.")
@click.option(
    "--match",
    type=click.Choice(["exact", "overlap"]),
    default="exact",
    help="Whether mentions must be equal, or may only overlap, which no other scorer does. Default: exact.",
)
@click.option("--per-document", is_flag=True, help="Also give the scores of each document.")
@click.option("--strict", is_flag=True, help="Exit 2 on any warning, such as a document one side lacks.")
@json_option
def command(
    key: Path,
    response: Path,
    no_singletons: bool,
    match: str,
    per_document: bool,
    strict: bool,
    json_path: Path | None,
) -> None:
    """Score the chains in RESPONSE against those in KEY, as the CoNLL reference scorer v8.01 does."""
    outputs = Outputs(requested("--json", json_path), tuple(read_files([key, response])))
    outputs.refuse()
    scores = score(read(key), read(response), singletons=not no_singletons, overlap=match == "overlap")
    print_lines(scores.findings)
    if strict:
        refuse_warnings(scores.findings, printed=True)
    if json_path is not None:
        values = json.dumps(_values(scores, per_document), indent=2, ensure_ascii=False) + "\n"
        outputs.write({"--json": {json_path: values}})
    if json_path != STANDARD_OUTPUT:
        for line in _lines(scores, per_document):
            click.echo(line)


def _values(scores: Scores, per_document: bool) -> dict[str, Any]:
    values = scores.values()
    if per_document:
        values["documents"] = [{"name": title, **one.values()} for title, one in scores.documents]
    return values


def _lines(scores: Scores, per_document: bool) -> Iterator[str]:
    if per_document:
        for title, one in scores.documents:
            yield f"{title}:"
            yield from (f"  {line}" for line in table(one))
        yield "all documents:"
    yield from table(scores)


def table(scores: Scores) -> Iterator[str]:
    """Yield the lines of a table of all measures; undefined numbers are dashes."""
    yield f"{'':<9}{'recall':>9}{'precision':>11}{'F1':>9}"
    for name, counts in scores.counts.items():
        recall, precision = _percent(counts.recall), _percent(counts.precision)
        yield f"{TITLES[name]:<9}{recall:>9}{precision:>11}{percent(counts.f1):>9}"
    yield f"{TITLES['conll']:<9}{'':>9}{'':>11}{percent(scores.conll):>9}"


def percent(number: Any) -> str:
    """Write a share of 1 as the scorer does, or a dash where it is undefined.

    >>> percent(1 / 3), percent(1), percent(None)
    ('33.33', '100.00', '-')
    """
    return "-" if number is None else f"{float(100 * number):.2f}"


def _percent(ratio: Ratio) -> str:
    return percent(ratio.value)
