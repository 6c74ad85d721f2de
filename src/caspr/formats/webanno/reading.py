"""Read WebAnno TSV: the layer with the chains, and its mentions."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from caspr.errors import FormatError
from caspr.files import read_text
from caspr.formats.messages import quoted
from caspr.formats.options import ReadOptions
from caspr.formats.text_layer.characters import Extent
from caspr.formats.text_layer.relation_names import means_coreference
from caspr.formats.text_layer.standoff import EntityFacts, Marked, Text, annotate
from caspr.formats.webanno import relations
from caspr.formats.webanno.tsv import (
    GOLD_LINE,
    Table,
    TsvLayer,
    entries,
    parse,
    split_stack,
    unescape,
)
from caspr.text.document import Annotation, Document
from caspr.text.findings import Finding

_ARROW = re.compile(r"((?:[^\\]|\\.)*?)->([0-9]{1,9})-([0-9]{1,9})", re.DOTALL)


@dataclass(frozen=True)
class WebannoLayout:
    """A table and the layer of it that was read."""

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


def read(path: Path, annotator: str | None = None, options: ReadOptions | None = None) -> list[Annotation]:
    """Read one annotator's file of one document."""
    who = path.stem if annotator is None else annotator
    return [parse_document(read_text(path), str(path), path.stem, who, options or ReadOptions())]


def parse_document(text: str, source: str, name: str, annotator: str, options: ReadOptions) -> Annotation:
    """Read the text of a file."""
    table = parse(text, source)
    layer = _choose(table, options.layer)
    odd: tuple[Finding, ...] = ()
    layout: WebannoLayout | None = None
    if layer.kind == "CH":
        marked, arrows = _chain_mentions(table, layer)
        layout = WebannoLayout(table, layer, tuple(marked), arrows, None)
    elif relations.is_on_tokens(layer) and _is_meant(layer, options):
        marked, found = relations.token_mentions(table, layer, options.relations)
        odd = tuple(found)
    else:
        graph = relations.read_graph(table, layer, options.relations)
        marked = list(relations.mentions(graph))
        layout = WebannoLayout(table, layer, tuple(marked), {}, graph)
        odd = tuple(relations.findings(graph, source, options.relations))
    words = [row.extent for row in table.rows if not row.part]
    names = tuple(one.name for one in table.layers)
    document = Document(name, (), source=source, layout=layout, layers=names)
    # The labels of a chain layer are about single mentions; those of spans are about what they refer to.
    facts = EntityFacts(labels_are_types=layout is not None and layout.graph is not None)
    whole = Text(table.text, words, table.ends)
    annotation = annotate(document, annotator, whole, marked, odd, facts=facts)
    return replace(annotation, adjudicated=GOLD_LINE in table.lines)


def _is_meant(layer: TsvLayer, options: ReadOptions) -> bool:
    """Return whether relations between tokens are coreference, by their name or by what the user asks for."""
    return bool(options.layer or options.relations) or means_coreference([layer.name.rpartition(".")[2]])


def text_of(text: str, source: str) -> Text:
    """Return the text of a file, with its words and sentences."""
    table = parse(text, source)
    return Text(table.text, [row.extent for row in table.rows if not row.part], table.ends)


def layers(text: str, source: str) -> list[str]:
    """Return the chain layers of a file."""
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
        names = ", ".join(layer.name for layer in candidates or table.layers)
        problem, expected = f"{len(candidates)} layers with chains", f"--layer to choose one of {names}"
        if not candidates and wanted is not None:
            problem = f"no layer {quoted(wanted)}"
        elif not candidates:
            problem = f"no layer with chains or relations{names and f', only {names}'}"
            expected = "a chain layer, or a span layer and its relations: are they in the export?"
        raise FormatError(table.source, 1, problem, expected)
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
        raise FormatError(table.source, 1, f"chain layer {layer.name} with {layer.width} columns", expected)
    labels, links = chain_columns(layer)
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
