"""GATE documents made anew, for annotations that come from another format."""

from collections.abc import Mapping, Sequence

from caspr.formats.containers.xml import attributes, escaped
from caspr.formats.gate.chains import COPY, FEATURE
from caspr.formats.text_layer.characters import Extent, Units, sentences
from caspr.formats.text_layer.standoff import Marked, plan, wide_pieces
from caspr.text.document import Annotation


def feature(name: str, value: str) -> str:
    """Write a feature; `matches` is a list of numbers, and the copy of all chains an object."""
    kinds = {FEATURE: "java.util.ArrayList", COPY: "gate.corpora.ObjectWrapper"}
    kind = kinds.get(name, "java.lang.String")
    items = ' itemClassName="java.lang.Integer"' if name == FEATURE else ""
    return (
        f'<Feature>\n  <Name className="java.lang.String">{escaped(name)}</Name>\n'
        f'  <Value className="{kind}"{items}>{escaped(value)}</Value>\n</Feature>\n'
    )


def mention(id: str, one: Marked, places: Mapping[int, str], features: str) -> str:
    """Write an annotation."""
    start, end = one.pieces[0]
    given = [
        ("Id", id),
        ("Type", one.label or "Mention"),
        ("StartNode", places[start]),
        ("EndNode", places[end]),
    ]
    return f"<Annotation{attributes(given)}>\n{features}</Annotation>\n"


def fresh_document(annotation: Annotation, text: str, offsets: Sequence[Extent]) -> str:
    """Write a document with tokens, sentences and mentions in the unnamed annotation set."""
    units = Units(text)
    whole = sentences(annotation.document.sentence_ends, offsets)
    planned = [[*wide_pieces(mentions)] for _, mentions in plan(annotation, (), types=True)]
    extents = [*offsets, *whole, *(one.pieces[0] for chain in planned for one in chain)]
    places = {place: str(units.of(place)) for extent in extents for place in extent}
    number = 0
    body: list[str] = []
    for kind, stretches in (("Token", offsets), ("Sentence", whole)):
        for extent in stretches:
            body.append(mention(str(number), Marked("", (extent,), kind), places, ""))
            number += 1
    for chain in planned:
        ids = [str(number + place) for place in range(len(chain))]
        number += len(chain)
        matches = feature(FEATURE, ";".join(ids))
        body += [mention(id, one, places, matches) for id, one in zip(ids, chain, strict=True)]
    return (
        "<?xml version='1.0' encoding='UTF-8'?>\n<GateDocument>\n<GateDocumentFeatures>\n"
        f"{feature('docNewLineType', '')}</GateDocumentFeatures>\n<TextWithNodes>{_nodes(text, places)}"
        f"</TextWithNodes>\n<AnnotationSet>\n{''.join(body)}</AnnotationSet>\n</GateDocument>\n"
    )


def _nodes(text: str, places: Mapping[int, str]) -> str:
    parts: list[str] = []
    before = 0
    for place in sorted(places):
        parts += (escaped(text[before:place]), f"<Node{attributes([('id', places[place])])} />")
        before = place
    return "".join([*parts, escaped(text[before:])])
