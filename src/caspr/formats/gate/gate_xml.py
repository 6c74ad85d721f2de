"""GATE XML: read, and edited in place, so that all the rest stays as it is to the byte."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count

from caspr.errors import FormatError
from caspr.formats.containers.xml import Edit, Element, Markup, edited, parse, removal
from caspr.formats.format import quoted
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
    annotation_xml,
    feature,
    new_copy,
    read_copy,
    same_chains,
    split_ids,
    text_with_nodes,
    write_copy,
)
from caspr.formats.text_layer import Extent, Marked, Units
from caspr.text.findings import Finding, warning

Values = Mapping[str, tuple[Marked, str]]
"""For each mention to write what it marks, and its chain as the value of `matches`."""


def read_xml(data: bytes) -> Gate:
    """Read a file, or raise `FormatError`."""
    markup = parse(data)
    _number(markup)
    text, nodes = _text(markup)
    sets: dict[str, list[GateAnnotation]] = {}
    for whole in markup.root.named("AnnotationSet"):
        items = sets.setdefault(_name(whole), [])
        items += [_item(markup, element, nodes) for element in whole.named("Annotation")]
    copy, odd = _copy(markup)
    gold = _feature(markup.root.first("GateDocumentFeatures"), GOLD_FEATURE)
    value = gold.first("Value") if gold else None
    return Gate(text, sets, copy, odd, markup, value.text if value else None)


def xml_with_gold(data: bytes, gold: str | None) -> bytes:
    """Say in a file which annotation set is the result of an adjudication, or that none is."""
    markup = parse(data)
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
    nodes: dict[int, str] = {}
    for id, point in _text(markup)[1].items():
        nodes.setdefault(point, id)
    extents = [extent for chain in chains for _, mention in chain for extent in mention.pieces]
    edits = list(_node_edits(markup, gate.text, nodes, extents))
    values = {
        id: (mention, ";".join(member for member, _ in chain)) for chain in chains for id, mention in chain
    }
    if place.alone:
        edits += _in_place(markup, place.layer, values, nodes)
    else:
        edits.append(_new_set(markup, place.layer, values, nodes))
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
    every = [element for whole in markup.root.named("AnnotationSet") for element in whole.named("Annotation")]
    bare = [element for element in every if "Id" not in element.attributes and _matches(element) is None]
    taken = {element.attributes.get("Id") for element in every}
    fresh = (str(number) for number in count() if str(number) not in taken)
    for element, id in zip(bare, fresh, strict=False):
        element.attributes["Id"] = id


def _name(element: Element) -> str:
    return element.attributes.get("Name", "")


def _item(markup: Markup, element: Element, nodes: Mapping[str, int]) -> GateAnnotation:
    matches = _matches(element)
    value = matches.first("Value") if matches else None
    ids = None if matches is None else split_ids(value.text) if value else ()
    extent = _extent(markup, element, nodes)
    return GateAnnotation(
        markup.attribute(element, "Id"), element.attributes.get("Type", ""), extent, ids, element.line
    )


def _extent(markup: Markup, element: Element, nodes: Mapping[str, int]) -> Extent:
    ends = []
    for name in ("StartNode", "EndNode"):
        id = markup.attribute(element, name)
        if id not in nodes:
            raise markup.refuse(element, f"{name}={quoted(id)}", "a node of the text")
        ends.append(nodes[id])
    if ends[0] > ends[1]:
        raise markup.refuse(element, "an annotation that ends before it starts", "its nodes in order")
    return ends[0], ends[1]


def _matches(element: Element) -> Element | None:
    """Return the feature `matches` of an annotation."""
    return _feature(element, FEATURE)


def _feature(owner: Element | None, wanted: str) -> Element | None:
    for candidate in owner.named("Feature") if owner else ():
        name = candidate.first("Name")
        if name is not None and name.text.strip() == wanted:
            return candidate
    return None


def _copy(markup: Markup) -> tuple[Chains | None, tuple[Finding, ...]]:
    """Read the copy of the chains among the features of the document."""
    element = _feature(markup.root.first("GateDocumentFeatures"), COPY)
    value = element.first("Value") if element else None
    if value is None:
        return None, ()
    try:
        copy = read_copy(value.text)
    except FormatError as error:
        raise FormatError(value.line, f"{COPY} with {error.found}", error.expected) from None
    if copy is not None:
        return copy, ()
    message = f"a document feature {COPY} in an unknown form, not read and not written"
    return None, (warning("unknown-copy", message, where=f":{value.line}"),)


def _copy_edits(gate: Gate, markup: Markup, copy: Chains | None) -> Iterator[Edit]:
    """Bring the copy of the chains up to date; what cannot be read goes, since it would contradict."""
    element = _feature(markup.root.first("GateDocumentFeatures"), COPY)
    if element is not None and copy is None:
        yield removal(markup, element)
    elif element is not None and copy is not None and not same_chains(copy, gate.copy or {}):
        yield element.start, element.end, feature(COPY, write_copy(copy)).rstrip()


def _node_edits(
    markup: Markup, text: str, nodes: dict[int, str], extents: Iterable[Extent]
) -> Iterator[Edit]:
    """Add nodes for places that have none, by writing the text again."""
    missing = sorted({point for extent in extents for point in extent} - nodes.keys())
    if not missing:
        return
    units = Units(text)
    taken = set(nodes.values())
    spare = (str(number) for number in count(units.of(len(text)) + 1))
    for point in missing:
        id = str(units.of(point))
        nodes[point] = id if id not in taken else next(number for number in spare if number not in taken)
        taken.add(nodes[point])
    whole = markup.root.first("TextWithNodes")
    assert whole is not None
    names: dict[int, list[str]] = {point: [id] for point, id in nodes.items()}
    for node in whole.named("Node"):
        if node.attributes["id"] not in names.setdefault(node.offset, []):
            names[node.offset].append(node.attributes["id"])
    yield whole.inner, whole.outer, text_with_nodes(text, names)


def _in_place(markup: Markup, layer: str, values: Values, nodes: Mapping[int, str]) -> list[Edit]:
    """Replace the chains of an annotation set."""
    sets = [element for element in markup.root.named("AnnotationSet") if _name(element) == layer]
    edits: list[Edit] = []
    known: set[str] = set()
    for element in (annotation for whole in sets for annotation in whole.named("Annotation")):
        id, matches = element.attributes["Id"], _matches(element)
        known.add(id)
        if matches is None and id in values:
            edits.append(_inside(markup, element, feature(FEATURE, values[id][1])))
        elif matches is not None and id not in values:
            edits.append(removal(markup, matches))
        elif matches is not None and not _same_ids(matches, values[id][1]):
            edits.append((matches.start, matches.end, feature(FEATURE, values[id][1])))
    new = "".join(
        _mention(id, marked, nodes, feature(FEATURE, value))
        for id, (marked, value) in values.items()
        if id not in known
    )
    if new and sets:
        edits.append(_inside(markup, sets[0], new))
    elif new:
        edits.append((markup.root.outer, markup.root.outer, f"<AnnotationSet>\n{new}</AnnotationSet>\n"))
    return edits


def _mention(id: str, marked: Marked, nodes: Mapping[int, str], features: str) -> str:
    start, end = marked.pieces[0]
    return annotation_xml(id, marked.label or "Mention", (nodes[start], nodes[end]), features)


def _same_ids(matches: Element, value: str) -> bool:
    old = matches.first("Value")
    return old is not None and set(old.text.split(";")) == set(value.split(";"))


def _inside(markup: Markup, element: Element, text: str) -> Edit:
    """Put text at the end of an element, which may have been empty."""
    if element.end > element.outer:
        return element.outer, element.outer, text
    tag = markup.body[element.start : element.end - 2].decode("utf-8").rstrip()
    return element.start, element.end, f"{tag}>\n{text}</{element.name}>"


def _new_set(markup: Markup, layer: str, values: Values, nodes: Mapping[int, str]) -> Edit:
    """Write the result as a set of its own, with the other features of the first annotator's mentions."""
    owners = {
        element.attributes.get("Id"): element
        for whole in markup.root.named("AnnotationSet")
        if _name(whole) == layer
        for element in whole.named("Annotation")
    }
    parts = []
    for id, (marked, value) in values.items():
        owner = owners.get(marked.key) if marked.key else None
        kept = [child for child in owner.named("Feature") if child is not _matches(owner)] if owner else []
        copies = "".join(f"{markup.body[child.start : child.end].decode()}\n" for child in kept)
        parts.append(_mention(id, marked, nodes, copies + feature(FEATURE, value)))
    for old in markup.root.named("AnnotationSet"):
        if _name(old) == GOLD:
            return old.start, old.end, f'<AnnotationSet Name="{GOLD}">\n{"".join(parts)}</AnnotationSet>'
    end = markup.root.outer
    return end, end, f'<AnnotationSet Name="{GOLD}">\n{"".join(parts)}</AnnotationSet>\n'
