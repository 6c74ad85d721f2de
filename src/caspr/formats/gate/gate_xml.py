"""GATE XML: read, and edited in place, so that all the rest stays as it is to the byte."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count

from caspr.formats.containers.xml import Edit, Element, Markup, attributes, edited, escaped, parse, removal
from caspr.formats.gate.chains import (
    COPY,
    FEATURE,
    GOLD,
    GOLD_FEATURE,
    Chains,
    Gate,
    GateAnnotation,
    Place,
    Planned,
    new_copy,
    read_copy,
    same_chains,
    split_ids,
    write_copy,
)
from caspr.formats.gate.new_document import feature, mention
from caspr.formats.messages import quoted
from caspr.formats.text_layer.characters import Extent, Units
from caspr.formats.text_layer.standoff import Marked
from caspr.text.findings import Finding, warning

Values = Mapping[str, tuple[Marked, str]]
"""For each mention to write what it marks, and its chain as the value of `matches`."""


def read_xml(data: bytes, source: str) -> Gate:
    """Read a file, or raise `FormatError`."""
    markup = parse(data, source)
    _number(markup)
    text, nodes = _text(markup)
    sets: dict[str, list[GateAnnotation]] = {}
    for whole in markup.root.named("AnnotationSet"):
        items = sets.setdefault(_name(whole), [])
        items += [_item(markup, one, nodes) for one in whole.named("Annotation")]
    copy, odd = _copy(markup)
    gold = _feature(markup.root.first("GateDocumentFeatures"), GOLD_FEATURE)
    value = gold.first("Value") if gold else None
    return Gate(source, text, sets, copy, odd, markup, value.text if value else None)


def xml_with_gold(data: bytes, gold: str | None) -> bytes:
    """Say in a file which annotation set is the result of an adjudication, or that none is."""
    markup = parse(data, "a written file")
    features = markup.root.first("GateDocumentFeatures")
    old = _feature(features, GOLD_FEATURE)
    edits = [removal(markup, old)] if old else []
    if gold is not None and features is not None:
        edits.append(_inside(markup, features, feature(GOLD_FEATURE, gold)))
    elif gold is not None:
        text = f"<GateDocumentFeatures>\n{feature(GOLD_FEATURE, gold)}</GateDocumentFeatures>\n"
        edits.append((markup.root.inner, markup.root.inner, text))
    return edited(markup, edits) if edits else data


def xml_with_chains(gate: Gate, place: Place, chains: Sequence[Planned]) -> bytes:
    """Return the file with the chains of an annotation set replaced, or with one set more."""
    markup = gate.file
    assert isinstance(markup, Markup)
    places: dict[int, str] = {}
    for id, point in _text(markup)[1].items():
        places.setdefault(point, id)
    extents = [extent for chain in chains for _, one in chain for extent in one.pieces]
    edits = list(_node_edits(markup, gate.text, places, extents))
    values = {id: (one, ";".join(other for other, _ in chain)) for chain in chains for id, one in chain}
    if place.alone:
        edits += _in_place(markup, place.layer, values, places)
    else:
        edits.append(_new_set(markup, place.layer, values, places))
    return edited(markup, [*edits, *_copy_edits(gate, markup, new_copy(gate, place, chains))])


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


def _number(markup: Markup) -> None:
    """Give a number to annotations without one, as old versions of GATE wrote; none of them is a mention."""
    every = [one for whole in markup.root.named("AnnotationSet") for one in whole.named("Annotation")]
    bare = [one for one in every if "Id" not in one.attributes and _matches(one) is None]
    taken = {one.attributes.get("Id") for one in every}
    fresh = (str(number) for number in count() if str(number) not in taken)
    for one, id in zip(bare, fresh, strict=False):
        one.attributes["Id"] = id


def _name(element: Element) -> str:
    return element.attributes.get("Name", "")


def _item(markup: Markup, one: Element, nodes: Mapping[str, int]) -> GateAnnotation:
    found = _matches(one)
    value = found.first("Value") if found else None
    ids = None if found is None else split_ids(value.text) if value else ()
    extent = _extent(markup, one, nodes)
    return GateAnnotation(markup.attribute(one, "Id"), one.attributes.get("Type", ""), extent, ids, one.line)


def _extent(markup: Markup, one: Element, nodes: Mapping[str, int]) -> Extent:
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
    return _feature(one, FEATURE)


def _feature(owner: Element | None, wanted: str) -> Element | None:
    for candidate in owner.named("Feature") if owner else ():
        name = candidate.first("Name")
        if name is not None and name.text.strip() == wanted:
            return candidate
    return None


def _copy(markup: Markup) -> tuple[Chains | None, tuple[Finding, ...]]:
    """Read the copy of the chains among the features of the document."""
    found = _feature(markup.root.first("GateDocumentFeatures"), COPY)
    value = found.first("Value") if found else None
    if value is None:
        return None, ()
    copy = read_copy(value.text, f"{markup.source}:{value.line}")
    if copy is not None:
        return copy, ()
    message = f"a document feature {COPY} in an unknown form, not read and not written"
    return None, (warning("unknown-copy", message, where=f"{markup.source}:{value.line}"),)


def _copy_edits(gate: Gate, markup: Markup, copy: Chains | None) -> Iterator[Edit]:
    """Bring the copy of the chains up to date; what cannot be read goes, since it would contradict."""
    found = _feature(markup.root.first("GateDocumentFeatures"), COPY)
    if found is not None and copy is None:
        yield removal(markup, found)
    elif found is not None and copy is not None and not same_chains(copy, gate.copy or {}):
        yield found.start, found.end, feature(COPY, write_copy(copy)).rstrip()


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


def _in_place(markup: Markup, layer: str, values: Values, places: Mapping[int, str]) -> list[Edit]:
    """Replace the chains of an annotation set."""
    sets = [one for one in markup.root.named("AnnotationSet") if _name(one) == layer]
    edits: list[Edit] = []
    known: set[str] = set()
    for one in (annotation for whole in sets for annotation in whole.named("Annotation")):
        id, found = one.attributes["Id"], _matches(one)
        known.add(id)
        if found is None and id in values:
            edits.append(_inside(markup, one, feature(FEATURE, values[id][1])))
        elif found is not None and id not in values:
            edits.append(removal(markup, found))
        elif found is not None and not _same_ids(found, values[id][1]):
            edits.append((found.start, found.end, feature(FEATURE, values[id][1])))
    new = "".join(
        mention(id, one, places, feature(FEATURE, value))
        for id, (one, value) in values.items()
        if id not in known
    )
    if new and sets:
        edits.append(_inside(markup, sets[0], new))
    elif new:
        edits.append((markup.root.outer, markup.root.outer, f"<AnnotationSet>\n{new}</AnnotationSet>\n"))
    return edits


def _same_ids(found: Element, value: str) -> bool:
    old = found.first("Value")
    return old is not None and set(old.text.split(";")) == set(value.split(";"))


def _inside(markup: Markup, element: Element, text: str) -> Edit:
    """Put text at the end of an element, which may have been empty."""
    if element.end > element.outer:
        return element.outer, element.outer, text
    tag = markup.body[element.start : element.end - 2].decode("utf-8").rstrip()
    return element.start, element.end, f"{tag}>\n{text}</{element.name}>"


def _new_set(markup: Markup, layer: str, values: Values, places: Mapping[int, str]) -> Edit:
    """Write the result as a set of its own, with the other features of the first annotator's mentions."""
    owners = {
        one.attributes.get("Id"): one
        for whole in markup.root.named("AnnotationSet")
        if _name(whole) == layer
        for one in whole.named("Annotation")
    }
    parts = []
    for id, (one, value) in values.items():
        owner = owners.get(one.key) if one.key else None
        kept = [child for child in owner.named("Feature") if child is not _matches(owner)] if owner else []
        copies = "".join(f"{markup.body[child.start : child.end].decode()}\n" for child in kept)
        parts.append(mention(id, one, places, copies + feature(FEATURE, value)))
    for old in markup.root.named("AnnotationSet"):
        if _name(old) == GOLD:
            return old.start, old.end, f'<AnnotationSet Name="{GOLD}">\n{"".join(parts)}</AnnotationSet>'
    place = markup.root.outer
    return place, place, f'<AnnotationSet Name="{GOLD}">\n{"".join(parts)}</AnnotationSet>\n'
