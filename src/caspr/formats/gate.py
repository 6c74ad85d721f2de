"""GATE: a text with numbered nodes, and annotations between nodes in named sets.

    <TextWithNodes><Node id="0"/>Anna<Node id="4"/> slept</TextWithNodes>
    <AnnotationSet Name="ben"><Annotation Id="7" Type="Person" StartNode="0" EndNode="4">
      <Feature><Name>matches</Name><Value>7;9</Value></Feature> ...

1. A node's place is where it stands in the text; its number, an offset in UTF-16 units, is but a name.
2. A mention is an annotation with a feature `matches`; mentions that list each other are a chain, and one
   that lists itself alone is a chain of one.
3. Every annotation set with such mentions is an annotator; `--layer` chooses one, `--layer ""` the unnamed
   set. The result goes into the set it came from; of several, into a new set called `gold`.
4. `Token` and `Sentence` annotations give words and sentences.
5. The document feature `MatchesAnnots`, a copy of all chains, is not read and not written.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from caspr.document import Annotation, Document
from caspr.errors import FormatError
from caspr.files import read_bytes
from caspr.findings import Finding
from caspr.formats.cells import quoted
from caspr.formats.characters import Extent, Units, spell
from caspr.formats.choices import Choices
from caspr.formats.gate_writer import feature, fresh_document, mention
from caspr.formats.losses import lost_marks
from caspr.formats.markup import Edit, Element, Markup, attributes, edited, escaped, parse, removal
from caspr.formats.places import collect, stem
from caspr.formats.standoff import Marked, Text, annotate, plan, wide_pieces

_GOLD = "gold"


@dataclass(frozen=True)
class _Layout:
    """What the file said."""

    markup: Markup
    """The file."""
    layer: str
    """The annotation set of the annotator."""
    alone: bool
    """Whether this is the only annotator of the file."""
    marked: tuple[Marked, ...]
    """The mentions of the set."""


def detect(path: Path, head: str) -> bool:  # noqa: ARG001
    """Tell whether the beginning of a file looks like this format."""
    return "<GateDocument" in head


def read(path: Path, annotator: str | None = None, choices: Choices | None = None) -> list[Annotation]:
    """Read the annotators of one document."""
    markup = parse(read_bytes(path), str(path))
    text, nodes = _text(markup)
    sets = [
        element
        for element in markup.root.named("AnnotationSet")
        if element.attributes.get("Name") != "Original markups"
    ]
    layers = _layers(markup, sets, choices.layer if choices else None)
    words = [extent for one in sets for extent in _typed(markup, one, nodes, "Token")]
    ends = [end for one in sets for _, end in _typed(markup, one, nodes, "Sentence")]
    found = []
    for layer in layers:
        marked = tuple(_mentions(markup, [one for one in sets if _name(one) == layer], nodes))
        layout = _Layout(markup, layer, len(layers) == 1, marked)
        document = Document(path.stem, (), source=str(path), layout=layout)
        given = path.stem if annotator is None else annotator
        who = given if len(layers) == 1 else layer or "default"
        found.append(annotate(document, who, Text(text, words or None, ends), marked))
    return found


def write(annotations: Iterable[Annotation]) -> dict[str, str | bytes]:
    """Write a file for each document."""
    return collect((f"{stem(one.document)}.xml", _write_one(one)) for one in annotations)


def losses(annotation: Annotation) -> tuple[Finding, ...]:
    """Say what of an annotation this format cannot carry."""
    return tuple(lost_marks(annotation, labels=True, gaps=False))


def _text(markup: Markup) -> tuple[str, dict[str, int]]:
    """Return the text and the place of each node."""
    whole = markup.root.first("TextWithNodes")
    if markup.root.name != "GateDocument" or whole is None:
        raise markup.refuse(
            markup.root, f"<{markup.root.name}> without text", "<GateDocument> with <TextWithNodes>"
        )
    nodes: dict[str, int] = {}
    for node in whole.named("Node"):
        id = markup.attribute(node, "id")
        if id in nodes:
            raise markup.refuse(node, f"node {quoted(id)} for the second time", "each node once")
        nodes[id] = node.offset
    return whole.text, nodes


def _layers(markup: Markup, sets: Sequence[Element], layer: str | None) -> list[str]:
    names = list(dict.fromkeys(_name(one) for one in sets))
    if layer is not None:
        if layer not in names:
            known = ", ".join(quoted(name) for name in names) or "none"
            raise FormatError(markup.source, None, f"no annotation set {quoted(layer)}", f"one of {known}")
        return [layer]
    chosen = [
        name
        for name in names
        if any(
            _matches(one) is not None
            for element in sets
            if _name(element) == name
            for one in element.children
        )
    ]
    return chosen or [""]


def _name(element: Element) -> str:
    return element.attributes.get("Name", "")


def _typed(markup: Markup, whole: Element, nodes: dict[str, int], type: str) -> Iterator[Extent]:
    for one in whole.named("Annotation"):
        if one.attributes.get("Type") == type:
            yield _extent(markup, one, nodes)


def _extent(markup: Markup, one: Element, nodes: dict[str, int]) -> Extent:
    ends = []
    for name in ("StartNode", "EndNode"):
        id = markup.attribute(one, name)
        if id not in nodes:
            raise markup.refuse(one, f"{name}={quoted(id)}", "a node of the text")
        ends.append(nodes[id])
    if ends[0] > ends[1]:
        raise markup.refuse(one, "an annotation that ends before it starts", "its nodes in order")
    return ends[0], ends[1]


def _matches(one: Element) -> Element | None:
    """Return the feature `matches` of an annotation."""
    for candidate in one.named("Feature"):
        name = candidate.first("Name")
        if name is not None and name.text.strip() == "matches":
            return candidate
    return None


def _mentions(markup: Markup, sets: Sequence[Element], nodes: dict[str, int]) -> Iterator[Marked]:
    """List the mentions of an annotation set, with the chain each is in."""
    given: dict[str, tuple[Element, list[str]]] = {}
    for one in (annotation for whole in sets for annotation in whole.named("Annotation")):
        found = _matches(one)
        if found is None:
            continue
        id = markup.attribute(one, "Id")
        if id in given:
            raise markup.refuse(one, f"annotation {quoted(id)} for the second time", "each Id once")
        value = found.first("Value")
        given[id] = one, re.split(r"[;,\s]+", value.text.strip("[] \n\t")) if value is not None else []
    parent = {id: id for id in given}

    def root(id: str) -> str:
        while parent[id] != id:
            parent[id] = parent[parent[id]]
            id = parent[id]
        return id

    for id, (one, others) in given.items():
        for other in filter(None, others):
            if other not in given:
                raise markup.refuse(
                    one, f"a match with {quoted(other)}", "the Id of an annotation with matches"
                )
            parent[root(other)] = root(id)
    names = {root(id): id for id in reversed(given)}
    for id, (one, _) in given.items():
        label = one.attributes.get("Type", "")
        yield Marked(names[root(id)], (_extent(markup, one, nodes),), label, id)


def _write_one(annotation: Annotation) -> bytes:
    layout = annotation.document.layout
    text, offsets = spell(annotation.document)
    if not isinstance(layout, _Layout):
        return fresh_document(annotation, text, offsets).encode("utf-8")
    markup = layout.markup
    _, nodes = _text(markup)
    ids = (str(number) for number in count(_largest(markup) + 1))
    places: dict[int, str] = {}
    for id, place in nodes.items():
        places.setdefault(place, id)
    chains: list[list[tuple[str, Marked]]] = []
    for _, mentions in plan(annotation, layout.marked):
        solid = list(wide_pieces(mentions))
        chains.append([(one.key if one.key and layout.alone else next(ids), one) for one in solid])
    edits = list(
        _node_edits(
            markup, text, places, [extent for chain in chains for _, one in chain for extent in one.pieces]
        )
    )
    values = {id: (one, ";".join(other for other, _ in chain)) for chain in chains for id, one in chain}
    if layout.alone:
        edits += _in_place(layout, values, places)
    else:
        edits.append(_new_set(layout, values, places))
    return edited(markup, [*edits, *_stale(markup)])


def _largest(markup: Markup) -> int:
    numbers = (
        element.attributes.get("Id", "") for element in markup.root.all() if element.name == "Annotation"
    )
    return max((int(number) for number in numbers if number.isascii() and number.isdecimal()), default=0)


def _node_edits(
    markup: Markup, text: str, places: dict[int, str], extents: Iterable[Extent]
) -> Iterator[Edit]:
    """Add nodes for places that have none, by writing the text anew."""
    missing = sorted({place for extent in extents for place in extent} - places.keys())
    if not missing:
        return
    units = Units(text)
    taken = set(places.values())
    spare = (str(number) for number in count(units.of(len(text)) + 1))
    for place in missing:
        id = str(units.of(place))
        places[place] = id if id not in taken else next(one for one in spare if one not in taken)
        taken.add(places[place])
    whole = markup.root.first("TextWithNodes")
    assert whole is not None
    names: dict[int, list[str]] = {place: [id] for place, id in places.items()}
    for node in whole.named("Node"):
        if node.attributes["id"] not in names.setdefault(node.offset, []):
            names[node.offset].append(node.attributes["id"])
    parts = []
    before = 0
    for place in sorted(names):
        parts.append(escaped(text[before:place]))
        parts += [f"<Node{attributes([('id', id)])} />" for id in names[place]]
        before = place
    parts.append(escaped(text[before:]))
    yield whole.inner, whole.outer, "".join(parts)


def _in_place(layout: _Layout, values: dict[str, tuple[Marked, str]], places: dict[int, str]) -> list[Edit]:
    """Replace the chains of an annotation set."""
    markup = layout.markup
    sets = [one for one in markup.root.named("AnnotationSet") if _name(one) == layout.layer]
    edits: list[Edit] = []
    known: set[str] = set()
    for one in (annotation for whole in sets for annotation in whole.named("Annotation")):
        found = _matches(one)
        if found is None:
            continue
        id = one.attributes["Id"]
        known.add(id)
        if id not in values:
            edits.append(removal(markup, found))
        elif (value := found.first("Value")) is None or set(value.text.split(";")) != set(
            values[id][1].split(";")
        ):
            edits.append((found.start, found.end, feature("matches", values[id][1])))
    new = "".join(
        mention(id, one, places, feature("matches", value))
        for id, (one, value) in values.items()
        if id not in known
    )
    if new and sets:
        edits.append(_inside(markup, sets[0], new))
    elif new:
        edits.append((markup.root.outer, markup.root.outer, f"<AnnotationSet>\n{new}</AnnotationSet>\n"))
    return edits


def _inside(markup: Markup, element: Element, text: str) -> Edit:
    """Put text at the end of an element, which may have been empty."""
    if element.end > element.outer:
        return element.outer, element.outer, text
    tag = markup.body[element.start : element.end - 2].decode("utf-8").rstrip()
    return element.start, element.end, f"{tag}>\n{text}</{element.name}>"


def _new_set(layout: _Layout, values: dict[str, tuple[Marked, str]], places: dict[int, str]) -> Edit:
    """Write the result as a set of its own, with the other features of the first annotator's mentions."""
    markup = layout.markup
    owners = {
        one.attributes.get("Id"): one
        for whole in markup.root.named("AnnotationSet")
        if _name(whole) == layout.layer
        for one in whole.named("Annotation")
    }
    parts = []
    for id, (one, value) in values.items():
        owner = owners.get(one.key) if one.key else None
        kept = [child for child in owner.named("Feature") if child is not _matches(owner)] if owner else []
        copies = "".join(f"{markup.body[child.start : child.end].decode()}\n" for child in kept)
        parts.append(mention(id, one, places, copies + feature("matches", value)))
    for old in markup.root.named("AnnotationSet"):
        if _name(old) == _GOLD:
            return old.start, old.end, f'<AnnotationSet Name="{_GOLD}">\n{"".join(parts)}</AnnotationSet>'
    place = markup.root.outer
    return place, place, f'<AnnotationSet Name="{_GOLD}">\n{"".join(parts)}</AnnotationSet>\n'


def _stale(markup: Markup) -> Iterator[Edit]:
    """Take out the copy of the chains among the document's features."""
    features = markup.root.first("GateDocumentFeatures")
    for one in features.named("Feature") if features else ():
        name = one.first("Name")
        if name is not None and name.text.strip() == "MatchesAnnots":
            yield removal(markup, one)
