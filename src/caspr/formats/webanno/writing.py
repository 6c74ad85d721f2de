"""Write WebAnno TSV: new cells in the columns of one layer."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import count

from caspr.formats.losses import lost_edges, lost_entities, lost_marks, removed_mentions
from caspr.formats.naming import collect, stem
from caspr.formats.text_layer.characters import spell
from caspr.formats.text_layer.standoff import Marked, count_unused, plan, wide_pieces
from caspr.formats.webanno import relations
from caspr.formats.webanno.reading import WebannoLayout, chain_columns
from caspr.formats.webanno.tsv import (
    escape,
    fresh_table,
    with_gold,
)
from caspr.formats.webanno.tsv_writer import CellTexts, rewritten
from caspr.text.document import Annotation, Chain
from caspr.text.findings import Finding

BUILT_IN = "de.tudarmstadt.ukp.dkpro.core.api.coref.type.CoreferenceLink"
"""The chain layer that every project has."""


def write(annotations: Iterable[Annotation]) -> dict[str, str | bytes]:
    """Write a file for each document."""
    return collect((f"{stem(one.document)}.tsv", _write_one(one)) for one in annotations)


def losses(annotation: Annotation) -> tuple[Finding, ...]:
    """Return what of an annotation this format cannot carry."""
    layout = annotation.document.layout
    gone = 0
    if isinstance(layout, WebannoLayout) and layout.graph is not None:
        gone = count_unused(annotation, layout.marked)
    spans = isinstance(layout, WebannoLayout) and layout.graph is not None
    marks = [*lost_marks(annotation, labels=True, gaps=False), *lost_entities(annotation, types=spans)]
    return (*marks, *lost_edges(annotation), *removed_mentions(annotation, gone))


def _write_one(annotation: Annotation) -> str:
    layout = annotation.document.layout
    if not isinstance(layout, WebannoLayout):
        text, offsets = spell(annotation.document)
        table = fresh_table(annotation.document, text, offsets, BUILT_IN)
        layout = WebannoLayout(table, table.layers[0], (), {}, None)
    types = layout.graph is not None
    chains = plan(annotation, layout.marked, types=types)
    planned = [(chain, [*wide_pieces(mentions)]) for chain, mentions in chains]
    graph = layout.graph
    cells = _chain_cells(layout, planned) if graph is None else relations.cells(graph, planned)
    return with_gold(rewritten(layout.table, cells), annotation.adjudicated)


def _chain_cells(layout: WebannoLayout, planned: Sequence[tuple[Chain, list[Marked]]]) -> CellTexts:
    """Express chains in the two columns of a chain layer."""
    labels, links = chain_columns(layout.layer)
    cells = CellTexts(range(layout.layer.column, layout.layer.column + layout.layer.width))
    for number, mentions in _numbered(planned):
        ordered = sorted(mentions, key=lambda one: (one.pieces[0][0], -one.pieces[0][1]))
        if all(one.key.startswith(f"{number}-") for one in ordered):
            ordered.sort(key=lambda one: int(one.key.partition("-")[2]))
        for link, one in enumerate(ordered, 1):
            arrow = escape(layout.arrows.get(one.key, ""))
            cells.add(
                one.pieces[0], {labels: f"{escape(one.label)}[{number}]", links: f"{arrow}->{number}-{link}"}
            )
    return cells


def _numbered(planned: Iterable[tuple[Chain, list[Marked]]]) -> Iterator[tuple[int, list[Marked]]]:
    """Give each chain its number, its own where that is one."""
    given = list(planned)
    own = [int(chain.id) if re.fullmatch("[0-9]{1,9}", chain.id) else 0 for chain, _ in given]
    used = {number for number, times in Counter(own).items() if number and times == 1}
    fresh = (number for number in count(1) if number not in used)
    numbers = [number if number in used else next(fresh) for number in own]
    for number, (_, mentions) in sorted(zip(numbers, given, strict=True), key=lambda pair: pair[0]):
        yield number, mentions
