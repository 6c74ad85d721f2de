"""Chains as relations between spans in WebAnno TSV, as GUM has them.

    #T_SP=webanno.custom.Referent|entity          1-1  person[1]   coref   2-1[2_1]
    #T_RL=webanno.custom.Coref|type|BT_webanno.custom.Referent

1. A cell `2-1[2_1]` stands on the row where one end of the relation begins, and leads to the annotation 2
   that begins in row 2-1; the annotation here is 1. A 0, or no brackets, is the annotation of its row that
   has no number. Where all have one, as in files of AMALGUM, the only annotation that begins in the row is
   meant, with a warning; one of several is refused.
2. Relations of the types that `--relation` names link mentions; else all but bridging and split antecedents.
3. Relations on tokens have no spans: the tokens they join are mentions of one token. They are read if the
   layer is named like coreference or the user names it or its types, because syntax is written that way,
   too. Such a file has no place for mentions: a gold is written as a new file with a chain layer.
4. Written back, relations that still hold are kept, and all of other types. A mention that is in no chain any
   more is removed unless another relation needs it.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, pairwise

from caspr.errors import FormatError
from caspr.formats.format import quoted
from caspr.formats.text_layer import Extent, Marked, means_something_else, unread_relations
from caspr.formats.webanno.tsv import CellTexts, Row, Table, TsvLayer, entries, escape, split_stack
from caspr.text.document import Chain
from caspr.text.findings import Finding, note, times, warning
from caspr.text.grouping import Groups

_REFERENCE = re.compile(r"([0-9]{1,9}-[0-9]{1,9}(?:\.[0-9]{1,9})?)(?:\[([0-9]{1,9})_([0-9]{1,9})\])?")


@dataclass(frozen=True)
class SpanNode:
    """An annotation of the span layer."""

    id: str
    """Its number in the file, or its row where it has none."""
    extent: Extent
    labels: tuple[str, ...]
    """Its features, as in the cells; `_` for none."""
    number: str
    """The number in brackets, or nothing."""
    row: str


@dataclass(frozen=True)
class Edge:
    """A relation."""

    here: str
    """The annotation on whose row it stands."""
    there: str
    """The annotation it leads to."""
    labels: tuple[str, ...]
    place: int = 1 << 60
    """Its place in the file; new ones come last."""
    guessed: bool = False
    """Whether the file names a row in place of the number of an annotation."""


@dataclass(frozen=True)
class Graph:
    """All spans and relations of the two layers."""

    spans: TsvLayer
    links: TsvLayer
    nodes: dict[str, SpanNode]
    edges: tuple[Edge, ...]
    """The relations that say chains."""
    others: tuple[Edge, ...]


Nodes = tuple[Mapping[str, SpanNode], Mapping[str, list[SpanNode]]]
"""Annotations by id, and by the row where they begin."""


def read_graph(table: Table, links: TsvLayer, relations: Sequence[str]) -> Graph:
    """Read a relation layer and the span layer it is about."""
    base = _base(links)
    spans = next((layer for layer in table.layers if layer.kind == "SP" and layer.name == base), None)
    if spans is None:
        expected = "`#T_RL=...|BT_<span layer>` with a span layer of the file"
        if is_on_tokens(links):
            expected = (
                "relations on a span layer, or a chain layer; --layer reads these if they say coreference"
            )
        raise FormatError(1, f"relation layer {links.name} on {quoted(base)}", expected)
    nodes = _nodes(table, spans)
    chosen, others = _sorted(table, links, nodes, relations)
    return Graph(spans, links, nodes, tuple(chosen), tuple(others))


def is_on_tokens(links: TsvLayer) -> bool:
    """Return whether the ends of relations are tokens."""
    return _base(links).endswith(".segmentation.type.Token")


def token_mentions(
    table: Table, links: TsvLayer, relations: Sequence[str]
) -> tuple[list[Marked], list[Finding]]:
    """List the tokens that relations on tokens join, with the chain each is in."""
    tokens = [row for row in table.rows if not row.part]
    nodes = {row.id: SpanNode(row.id, row.extent, (), "", row.id) for row in tokens}
    chosen, others = _sorted(table, links, nodes, relations)
    groups = Groups(id for edge in chosen for id in (edge.here, edge.there))
    for edge in chosen:
        groups.join(edge.here, edge.there)
    heads = groups.firsts()
    marked = [Marked(heads[row.id], (row.extent,), "", row.id) for row in tokens if row.id in heads]
    message = (
        f"{times(len(marked), 'mention')} of one token each, because {links.name} joins tokens; a WebAnno "
        "file made of them is a new one, without the other layers"
    )
    odd = [note("relations-on-tokens", message, count=len(marked))]
    return marked, [*odd, *unread_relations(map(_type, others), map(_type, chosen), relations)]


def _base(links: TsvLayer) -> str:
    return next((name.removeprefix("BT_") for name in links.features if name.startswith("BT_")), "")


def _sorted(
    table: Table, links: TsvLayer, nodes: dict[str, SpanNode], relations: Sequence[str]
) -> tuple[list[Edge], list[Edge]]:
    """Return the relations that say chains, and all others."""
    chosen: list[Edge] = []
    others: list[Edge] = []
    wanted = {name.lower() for name in relations}
    for edge in _edges(table, links, nodes):
        label = _type(edge)
        says = label.lower() in wanted if wanted else not means_something_else(label)
        (chosen if says else others).append(edge)
    return chosen, others


def _type(edge: Edge) -> str:
    return next((label for label in edge.labels if label not in ("_", "*")), "")


def findings(graph: Graph, relations: Sequence[str]) -> Iterator[Finding]:
    """Warn of relations that are not read, or name a row in place of the number of an annotation."""
    yield from unread_relations(map(_type, graph.others), map(_type, graph.edges), relations)
    guessed = sum(edge.guessed for edge in (*graph.edges, *graph.others))
    if guessed:
        verb = "names" if guessed == 1 else "name"
        message = (
            f"{times(guessed, 'relation')} that {verb} a row, not the number of an annotation: "
            "taken as the only annotation that begins there"
        )
        yield warning("relations-without-number", message, count=guessed)


def mentions(graph: Graph) -> Iterator[Marked]:
    """List the mentions, with the chain each is in."""
    heads = _heads(graph, graph.edges)
    for node in graph.nodes.values():
        label = next((entry.label for cell in node.labels for entry in entries(cell)), "")
        yield Marked(heads[node.id], (node.extent,), label, node.id)


def cells(graph: Graph, planned: Sequence[tuple[Chain, list[Marked]]]) -> CellTexts:
    """Express chains in the columns of both layers."""
    largest = max((int(node.number) for node in graph.nodes.values() if node.number), default=0)
    numbers = map(str, count(largest + 1))
    nodes: dict[str, SpanNode] = {}
    chains: list[list[str]] = []
    for _, members in planned:
        for mention in members:
            if mention.key not in graph.nodes:
                number = next(numbers)
                labels = (escape(mention.label), *("*" for _ in range(graph.spans.width - 1)))
                nodes[number] = SpanNode(number, mention.pieces[0], labels, number, "")
        ids = [mention.key if mention.key in graph.nodes else _id_of(nodes, mention) for mention in members]
        chains.append(ids)
    used = {id for ids in chains for id in ids}
    needed = {id for edge in graph.others for id in (edge.here, edge.there)}
    kept = {id: node for id, node in graph.nodes.items() if id in used | needed}
    return _render(replace(graph, nodes=_stacked(kept | nodes, numbers)), _edges_of(graph, chains))


def _id_of(nodes: dict[str, SpanNode], mention: Marked) -> str:
    return next(id for id, node in reversed(nodes.items()) if node.extent == mention.pieces[0])


def _nodes(table: Table, layer: TsvLayer) -> dict[str, SpanNode]:
    nodes: dict[str, SpanNode] = {}
    for row in table.rows:
        columns = [entries(cell) for cell in row.cells[layer.column : layer.column + layer.width]]
        raw = [split_stack(cell) for cell in row.cells[layer.column : layer.column + layer.width]]
        ids = list(dict.fromkeys(entry.id for column in columns for entry in column))
        for number in ids:
            labels = tuple(
                next(
                    (_bare(text) for entry, text in zip(column, texts, strict=False) if entry.id == number),
                    "_",
                )
                for column, texts in zip(columns, raw, strict=True)
            )
            id = number or f"row-{row.id}"
            old = nodes.get(id)
            if old is None:
                nodes[id] = SpanNode(id, row.extent, labels, number, row.id)
            else:
                whole = min(old.extent[0], row.extent[0]), max(old.extent[1], row.extent[1])
                nodes[id] = replace(old, extent=whole)
    return nodes


def _bare(text: str) -> str:
    return re.sub(r"\[[0-9]+\]$", "", text)


def _edges(table: Table, layer: TsvLayer, nodes: dict[str, SpanNode]) -> Iterator[Edge]:
    last = layer.column + layer.width - 1
    numbers = count()
    begun: dict[str, list[SpanNode]] = {}
    for node in nodes.values():
        begun.setdefault(node.row, []).append(node)
    known = nodes, begun
    for row in table.rows:
        if row.cells[last] in ("_", ""):
            continue
        labels = [split_stack(cell) for cell in row.cells[layer.column : last]]
        for index, piece in enumerate(split_stack(row.cells[last])):
            reference = _REFERENCE.fullmatch(piece)
            if reference is None:
                raise FormatError(row.index + 1, quoted(piece), "a relation such as `2-1[2_1]`")
            ends = (reference[3], row.id), (reference[2], reference[1])
            here, there = (_resolve(row, known, number, where) for number, where in ends)
            values = tuple(column[index] if index < len(column) else "*" for column in labels)
            guessed = any(
                (number or "0") == "0" and node.number
                for (number, _), node in zip(ends, (here, there), strict=True)
            )
            yield Edge(here.id, there.id, values, next(numbers), guessed)


def _resolve(row: Row, nodes: Nodes, number: str | None, where: str) -> SpanNode:
    """Return an end of a relation, which is given by its number or else by the row where it begins."""
    numbered, begun = nodes
    if number and number != "0":
        fits = [numbered[number]] if number in numbered else []
    else:
        candidates = begun.get(where, [])
        fits = [node for node in candidates if not node.number] or candidates
    if len(fits) == 1:
        return fits[0]
    found = f"a relation to annotation {number or 0} in row {where}"
    expected = "an annotation of its span layer"
    if fits:
        expected = f"the number of one of {', '.join(f'[{node.number}]' for node in fits)}"
    raise FormatError(row.index + 1, found, f"{expected}: correct the relation, export again")


def _heads(graph: Graph, edges: Sequence[Edge]) -> dict[str, str]:
    groups = Groups(graph.nodes)
    for edge in edges:
        groups.join(edge.here, edge.there)
    return groups.firsts()


def _edges_of(graph: Graph, chains: Sequence[Sequence[str]]) -> list[Edge]:
    """Keep the relations that hold, and add those that are missing."""
    owner = {id: number for number, ids in enumerate(chains) for id in ids}
    kept = [
        edge for edge in graph.edges if edge.here in owner and owner.get(edge.here) == owner.get(edge.there)
    ]
    heads = _heads(graph, kept)
    labels = graph.edges[0].labels if graph.edges else ("coref",) * (graph.links.width - 1)
    for ids in chains:
        parts = list(dict.fromkeys(heads.get(id, id) for id in ids))
        kept += [Edge(first, second, labels) for first, second in pairwise(parts)]
    return sorted([*kept, *graph.others], key=lambda edge: edge.place)


def _stacked(nodes: dict[str, SpanNode], numbers: Iterator[str]) -> dict[str, SpanNode]:
    """Give a number to every annotation that does not stand alone in its row."""
    starts = sorted(node.extent[0] for node in nodes.values())
    ends = sorted(node.extent[1] for node in nodes.values())

    def shares(node: SpanNode) -> bool:
        return bisect_left(starts, node.extent[1]) - bisect_right(ends, node.extent[0]) > 1

    return {
        id: replace(node, number=next(numbers)) if not node.number and shares(node) else node
        for id, node in nodes.items()
    }


def _render(graph: Graph, edges: Sequence[Edge]) -> CellTexts:
    spans, links = graph.spans, graph.links
    columns = [
        *range(spans.column, spans.column + spans.width),
        *range(links.column, links.column + links.width),
    ]
    written = CellTexts(columns)
    for node in graph.nodes.values():
        suffix = f"[{node.number}]" if node.number else ""
        values = {
            spans.column + index: f"{label}{suffix}"
            for index, label in enumerate(node.labels)
            if label != "_"
        }
        written.add(node.extent, values)
    for edge in edges:
        here, there = graph.nodes[edge.here], graph.nodes[edge.there]
        ends = f"[{there.number or 0}_{here.number or 0}]" if here.number or there.number else ""
        values = {links.column + index: label for index, label in enumerate(edge.labels)}
        values[links.column + links.width - 1] = ends
        written.link(here.extent, there.extent, values, links.column + links.width - 1)
    return written
