"""WebAnno TSV 3: chains in a chain layer, or in a span layer with relations; from INCEpTION and WebAnno.

1. A chain layer has two columns, in either order. `referenceType` holds `label[chain]`, `referenceRelation`
   holds `label->chain-link`; every row of a mention repeats them.
2. Without a chain layer, the annotations of a span layer are the mentions, and a relation layer on it
   links them (`formats.webanno_relations`).
3. Where a file has several such layers, `--layer` chooses; part of its name will do.
4. A mention that covers part of a token has rows of its own, `1-1.1`.
5. Written back, only the columns of the layer change.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from caspr.errors import FormatError
from caspr.files import read_text
from caspr.formats.losses import lost_edges, lost_marks, removed_mentions
from caspr.formats.messages import quoted
from caspr.formats.naming import collect, stem
from caspr.formats.options import ReadOptions
from caspr.formats.text_layer.characters import Extent, spell
from caspr.formats.text_layer.standoff import Marked, Text, annotate, count_unused, plan, wide_pieces
from caspr.formats.webanno import relations
from caspr.formats.webanno.tsv import (
    Table,
    TsvLayer,
    entries,
    escape,
    fresh_table,
    parse,
    split_stack,
    unescape,
)
from caspr.formats.webanno.tsv_writer import CellTexts, rewritten
from caspr.text.document import Annotation, Chain, Document
from caspr.text.findings import Finding

BUILT_IN = "de.tudarmstadt.ukp.dkpro.core.api.coref.type.CoreferenceLink"
"""The chain layer that every project has."""
_ARROW = re.compile(r"((?:[^\\]|\\.)*?)->([0-9]{1,9})-([0-9]{1,9})", re.DOTALL)


@dataclass(frozen=True)
class _Layout:
    """What the file said."""

    table: Table
    """The file."""
    layer: TsvLayer
    """The layer with the chains."""
    marked: tuple[Marked, ...]
    """Its mentions."""
    arrows: Mapping[str, str]
    """The relation label of each mention that has one."""
    graph: relations.Graph | None
    """The spans and relations, where there is no chain layer."""


def detect(path: Path, head: str) -> bool:  # noqa: ARG001
    """Tell whether the beginning of a file looks like this format."""
    return head.startswith("#FORMAT=WebAnno TSV")


def read(path: Path, annotator: str | None = None, choices: ReadOptions | None = None) -> list[Annotation]:
    """Read one annotator's file of one document."""
    who = path.stem if annotator is None else annotator
    return [parse_document(read_text(path), str(path), path.stem, who, choices or ReadOptions())]


def parse_document(text: str, source: str, name: str, annotator: str, choices: ReadOptions) -> Annotation:
    """Read the text of a file."""
    table = parse(text, source)
    layer = _choose(table, choices.layer)
    if layer.kind == "CH":
        marked, arrows = _chain_mentions(table, layer)
        layout = _Layout(table, layer, tuple(marked), arrows, None)
    else:
        graph = relations.read_graph(table, layer, choices.relations)
        layout = _Layout(table, layer, tuple(relations.mentions(graph)), {}, graph)
    words = [row.extent for row in table.rows if not row.part]
    document = Document(name, (), source=source, layout=layout)
    return annotate(document, annotator, Text(table.text, words, table.ends), layout.marked)


def write(annotations: Iterable[Annotation]) -> dict[str, str | bytes]:
    """Write a file for each document."""
    return collect((f"{stem(one.document)}.tsv", _write_one(one)) for one in annotations)


def losses(annotation: Annotation) -> tuple[Finding, ...]:
    """Say what of an annotation this format cannot carry."""
    layout = annotation.document.layout
    gone = 0
    if isinstance(layout, _Layout) and layout.graph is not None:
        gone = count_unused(annotation, layout.marked)
    marks = lost_marks(annotation, labels=True, gaps=False)
    return (*marks, *lost_edges(annotation), *removed_mentions(annotation, gone))


def text_of(text: str, source: str) -> Text:
    """Return what a file says about the text itself."""
    table = parse(text, source)
    return Text(table.text, [row.extent for row in table.rows if not row.part], table.ends)


def layers(text: str, source: str) -> list[str]:
    """Name the chain layers of a file."""
    return [layer.name for layer in parse(text, source).layers if layer.kind == "CH"]


def _choose(table: Table, wanted: str | None) -> TsvLayer:
    """Return the layer to read: the only chain layer, or the only relation layer, or the one asked for."""
    chains = [layer for layer in table.layers if layer.kind == "CH"]
    candidates = chains or [layer for layer in table.layers if layer.kind == "RL"]
    if wanted is not None:
        every = [layer for layer in table.layers if layer.kind != "SP"]
        exact = [layer for layer in every if wanted in (layer.name, layer.name.removesuffix("Link"))]
        candidates = exact or [layer for layer in every if wanted.lower() in layer.name.lower()]
    elif not chains and len(candidates) > 1:
        candidates = [layer for layer in candidates if "coref" in layer.name.lower()] or candidates
    if len(candidates) != 1:
        names = ", ".join(layer.name for layer in candidates or table.layers) or "none"
        problem = (
            f"{len(candidates)} layers with chains"
            if candidates
            else f"no layer {quoted(wanted or 'with chains')}"
        )
        raise FormatError(table.source, 1, problem, f"--layer to choose one of {names}")
    return candidates[0]


def _columns(layer: TsvLayer) -> tuple[int, int]:
    """Return the columns of label and link."""
    names = [name.lower() for name in layer.features]
    if sorted(names) != ["referencerelation", "referencetype"]:
        names = ["referencetype", "referencerelation"]
    return layer.column + names.index("referencetype"), layer.column + names.index("referencerelation")


def _chain_mentions(table: Table, layer: TsvLayer) -> tuple[list[Marked], dict[str, str]]:
    if layer.width != 2:
        expected = "two columns, referenceType and referenceRelation"
        raise FormatError(table.source, 1, f"chain layer {layer.name} with {layer.width} columns", expected)
    labels, links = _columns(layer)
    extents: dict[str, tuple[str, str, Extent]] = {}
    arrows: dict[str, str] = {}
    for row in table.rows:
        stacked = [] if row.cells[links] in ("_", "") else split_stack(row.cells[links])
        types = entries(row.cells[labels])
        for place, piece in enumerate(stacked):
            parts = _ARROW.fullmatch(piece)
            if parts is None or place >= len(types):
                raise FormatError(
                    table.source, row.place + 1, quoted(row.cells[links]), "`*->1-2` and `label[1]`"
                )
            key = f"{parts[2]}-{parts[3]}"
            label = types[place].label
            start, end = extents[key][2] if key in extents else row.extent
            whole = min(start, row.extent[0]), max(end, row.extent[1])
            extents[key] = parts[2], extents[key][1] if key in extents else label, whole
            if parts[1] != "*":
                arrows[key] = unescape(parts[1])
    marked = [Marked(chain, (extent,), label, key) for key, (chain, label, extent) in extents.items()]
    return marked, arrows


def _write_one(annotation: Annotation) -> str:
    layout = annotation.document.layout
    if not isinstance(layout, _Layout):
        text, offsets = spell(annotation.document)
        table = fresh_table(annotation.document, text, offsets, BUILT_IN)
        layout = _Layout(table, table.layers[0], (), {}, None)
    planned = [(chain, [*wide_pieces(mentions)]) for chain, mentions in plan(annotation, layout.marked)]
    if layout.graph is not None:
        return rewritten(layout.table, relations.cells(layout.graph, planned))
    return rewritten(layout.table, _chain_cells(layout, planned))


def _chain_cells(layout: _Layout, planned: Sequence[tuple[Chain, list[Marked]]]) -> CellTexts:
    """Say chains in the two columns of a chain layer."""
    labels, links = _columns(layout.layer)
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
    used = {number for number in own if number and own.count(number) == 1}
    fresh = (number for number in count(1) if number not in used)
    numbers = [number if number in used else next(fresh) for number in own]
    for number, (_, mentions) in sorted(zip(numbers, given, strict=True), key=lambda pair: pair[0]):
        yield number, mentions
