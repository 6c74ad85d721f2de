"""WebAnno TSV 3: chains in a chain layer, or in a span layer with relations; from INCEpTION and WebAnno.

1. A chain layer has two columns, in either order. `referenceType` holds `label[chain]`, `referenceRelation`
   holds `label->chain-link`; every row of a mention repeats them.
2. Without a chain layer, the annotations of a span layer are the mentions, and a relation layer on it
   links them (`webanno.relations`).
3. Where a file has several such layers, `--layer` chooses one, by its name or part of it.
4. A mention that covers part of a token has rows of its own, `1-1.1`.
5. Written back, only the columns of the layer change (`webanno.tsv`).
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from caspr.errors import FormatError
from caspr.formats.format import Format, ReadOptions, lost, quoted, removed_mentions
from caspr.formats.naming import collect, stem
from caspr.formats.text_layer import (
    EntityFacts,
    Extent,
    Marked,
    Text,
    annotate,
    count_unused,
    means_coreference,
    plan,
    spell,
    wide_pieces,
)
from caspr.formats.webanno import relations
from caspr.formats.webanno.tsv import (
    GOLD_LINE,
    CellTexts,
    Table,
    TsvLayer,
    entries,
    escape,
    fresh_table,
    parse,
    rewritten,
    split_stack,
    unescape,
    with_gold,
)
from caspr.storage import read_text
from caspr.text.document import Annotation, Chain, Document
from caspr.text.findings import Finding

_ARROW = re.compile(r"((?:[^\\]|\\.)*?)->([0-9]{1,9})-([0-9]{1,9})", re.DOTALL)


@dataclass(frozen=True)
class WebannoLayout:
    """A table and the layer of it that was read."""

    table: Table
    layer: TsvLayer
    marked: tuple[Marked, ...]
    arrows: Mapping[str, str]
    """The relation label of each mention that has one."""
    graph: relations.Graph | None
    """The spans and relations, where there is no chain layer."""


def read(path: Path, annotator: str | None = None, options: ReadOptions | None = None) -> list[Annotation]:
    """Read one annotator's file of one document."""
    who = path.stem if annotator is None else annotator
    return [
        parse_document(
            read_text(path), Document(path.stem, (), source=str(path)), who, options or ReadOptions()
        )
    ]


def parse_document(text: str, document: Document, annotator: str, options: ReadOptions) -> Annotation:
    """Read the text of a file; the document needs only its name and source."""
    table = parse(text)
    layer = _choose(table, options.layer)
    odd: tuple[Finding, ...] = ()
    layout: WebannoLayout | None = None
    if layer.kind == "CH":
        marked, arrows = _chain_mentions(table, layer)
        layout = WebannoLayout(table, layer, tuple(marked), arrows, None)
    elif relations.is_on_tokens(layer) and _is_meant(layer, options):
        marked, findings = relations.token_mentions(table, layer, options.relations)
        odd = tuple(findings)
    else:
        graph = relations.read_graph(table, layer, options.relations)
        marked = list(relations.mentions(graph))
        layout = WebannoLayout(table, layer, tuple(marked), {}, graph)
        odd = tuple(relations.findings(graph, options.relations))
    words = [row.extent for row in table.rows if not row.part]
    names = tuple(layer.name for layer in table.layers)
    document = replace(document, layout=layout, layers=names)
    # The labels of a chain layer are about single mentions; those of spans are about what they refer to.
    facts = EntityFacts(labels_are_types=layout is not None and layout.graph is not None)
    whole = Text(table.text, words, table.ends)
    annotation = annotate(document, annotator, whole, marked, odd, facts=facts)
    return replace(annotation, adjudicated=GOLD_LINE in table.lines)


def _is_meant(layer: TsvLayer, options: ReadOptions) -> bool:
    """Return whether relations between tokens are coreference, by their name or by what the user asks for."""
    return bool(options.layer or options.relations) or means_coreference([layer.name.rpartition(".")[2]])


def text_of(text: str) -> Text:
    """Return the text of a file, with its words and sentences."""
    table = parse(text)
    return Text(table.text, [row.extent for row in table.rows if not row.part], table.ends)


def layers(text: str) -> list[str]:
    """Return the chain layers of a file."""
    return [layer.name for layer in parse(text).layers if layer.kind == "CH"]


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
        names = ", ".join(layer.name for layer in candidates or table.layers)
        problem, expected = f"{len(candidates)} layers with chains", f"--layer to choose one of {names}"
        if not candidates and wanted is not None:
            problem = f"no layer {quoted(wanted)}"
        elif not candidates:
            problem = f"no layer with chains or relations{names and f', only {names}'}"
            expected = "a chain layer, or a span layer and its relations: are they in the export?"
        raise FormatError(1, problem, expected)
    return candidates[0]


def chain_columns(layer: TsvLayer) -> tuple[int, int]:
    """Return the columns of label and link."""
    names = [name.lower() for name in layer.features]
    if sorted(names) != ["referencerelation", "referencetype"]:
        names = ["referencetype", "referencerelation"]
    return layer.column + names.index("referencetype"), layer.column + names.index("referencerelation")


def _chain_mentions(table: Table, layer: TsvLayer) -> tuple[list[Marked], dict[str, str]]:
    if layer.width != 2:
        expected = "two columns, referenceType and referenceRelation"
        raise FormatError(1, f"chain layer {layer.name} with {layer.width} columns", expected)
    labels, links = chain_columns(layer)
    extents: dict[str, tuple[str, str, Extent]] = {}
    arrows: dict[str, str] = {}
    for row in table.rows:
        stacked = [] if row.cells[links] in ("_", "") else split_stack(row.cells[links])
        types = entries(row.cells[labels])
        for index, piece in enumerate(stacked):
            parts = _ARROW.fullmatch(piece)
            if parts is None or index >= len(types):
                raise FormatError(row.index + 1, quoted(row.cells[links]), "`*->1-2` and `label[1]`")
            key = f"{parts[2]}-{parts[3]}"
            label = types[index].label
            start, end = extents[key][2] if key in extents else row.extent
            whole = min(start, row.extent[0]), max(end, row.extent[1])
            extents[key] = parts[2], extents[key][1] if key in extents else label, whole
            if parts[1] != "*":
                arrows[key] = unescape(parts[1])
    marked = [Marked(chain, (extent,), label, key) for key, (chain, label, extent) in extents.items()]
    return marked, arrows


BUILT_IN = "de.tudarmstadt.ukp.dkpro.core.api.coref.type.CoreferenceLink"
"""The chain layer that every project has."""


def write(annotations: Iterable[Annotation]) -> dict[str, str | bytes]:
    """Write a file for each document."""
    return collect((f"{stem(annotation.document)}.tsv", _write_one(annotation)) for annotation in annotations)


def losses(annotation: Annotation) -> tuple[Finding, ...]:
    """Return what of an annotation this format cannot carry."""
    layout = annotation.document.layout
    if not isinstance(layout, WebannoLayout) or layout.graph is None:
        return tuple(lost(annotation, labels=True))
    gone = count_unused(annotation, layout.marked)
    return (*lost(annotation, labels=True, types=True), *removed_mentions(annotation, gone))


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
        ordered = sorted(mentions, key=lambda mention: (mention.pieces[0][0], -mention.pieces[0][1]))
        if all(mention.key.startswith(f"{number}-") for mention in ordered):
            ordered.sort(key=lambda mention: int(mention.key.partition("-")[2]))
        for link, mention in enumerate(ordered, 1):
            arrow = escape(layout.arrows.get(mention.key, ""))
            cells.add(
                mention.pieces[0],
                {labels: f"{escape(mention.label)}[{number}]", links: f"{arrow}->{number}-{link}"},
            )
    return cells


def _numbered(planned: Iterable[tuple[Chain, list[Marked]]]) -> Iterator[tuple[int, list[Marked]]]:
    """Give each chain its number, its own where that is one."""
    every = list(planned)
    own = [int(chain.id) if re.fullmatch("[0-9]{1,9}", chain.id) else 0 for chain, _ in every]
    used = {number for number, times in Counter(own).items() if number and times == 1}
    fresh = (number for number in count(1) if number not in used)
    numbers = [number if number in used else next(fresh) for number in own]
    for number, (_, mentions) in sorted(zip(numbers, every, strict=True), key=lambda pair: pair[0]):
        yield number, mentions


def detect(path: Path, head: str) -> bool:  # noqa: ARG001
    """Return whether the beginning of a file looks like this format."""
    return head.startswith("#FORMAT=WebAnno TSV")


FORMAT = Format(name="webanno", suffixes=(".tsv",), detect=detect, read=read, write=write, losses=losses)
