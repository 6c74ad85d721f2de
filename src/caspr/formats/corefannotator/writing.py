"""Write CorefAnnotator: mentions and entities in the file a document was read from, or in a new one."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import count

from caspr.formats.cas.xmi import read_xmi
from caspr.formats.chain_ids import keep_ids
from caspr.formats.containers.gzip import pack
from caspr.formats.containers.xml import (
    Edit,
    Element,
    Markup,
    attributes,
    edited,
    gold_edits,
    removal,
    with_attribute,
)
from caspr.formats.corefannotator.reading import API, CorefAnnotatorLayout
from caspr.formats.losses import lost_edges, lost_entities, lost_marks
from caspr.formats.naming import collect, stem
from caspr.formats.text_layer.characters import Extent, Units, sentences, spell
from caspr.formats.text_layer.standoff import Marked, plan
from caspr.text.document import Annotation, Chain
from caspr.text.findings import Finding, times, warning

_COLORS = (-65536, -16776961, -16744448, -23296, -8388480, -16744320, -5952982, -1048321)
_V1 = f"{API}.v1"


def write(annotations: Iterable[Annotation], form: str = ".xmi.gz") -> dict[str, str | bytes]:
    """Write a file for each document, packed if its name says so."""
    return collect(_file(annotation, form or ".xmi.gz") for annotation in annotations)


def losses(annotation: Annotation) -> tuple[Finding, ...]:
    """Return what of an annotation this format cannot carry."""
    kept = isinstance(annotation.document.layout, CorefAnnotatorLayout)
    return (
        *lost_marks(annotation, labels=kept, gaps=True),
        *_lost_pieces(annotation),
        *lost_edges(annotation),
        *lost_entities(annotation, names=True),
    )


def _lost_pieces(annotation: Annotation) -> Iterator[Finding]:
    layout = annotation.document.layout
    if isinstance(layout, CorefAnnotatorLayout) and layout.package.endswith(".v2"):
        return
    many = sum(
        len(annotation.marks[span].pieces) > 2 for span in annotation.marks.keys() & annotation.mentions
    )
    if many:
        message = f"{times(many, 'mention')} of three pieces or more, written with two"
        yield warning("covered-gaps", message, count=many, where=annotation.annotator)


def _file(annotation: Annotation, form: str) -> tuple[str, bytes]:
    layout = annotation.document.layout
    made: Sequence[str] = ()
    if not isinstance(layout, CorefAnnotatorLayout):
        text, offsets = spell(annotation.document)
        made = _words(text, sentences(annotation.document.sentence_ends, offsets), offsets)
        layout = CorefAnnotatorLayout(read_xmi(_fresh(text, len(made)), "a new file"), _V1, ())
    data = _Writer(layout, annotation).written(made)
    name = f"{stem(annotation.document)}{form}"
    return name, pack(data) if form.endswith(("gz", "z")) else data


class _Writer:
    """One file that is being changed."""

    def __init__(self, layout: CorefAnnotatorLayout, annotation: Annotation) -> None:
        markup = layout.cas.file
        assert isinstance(markup, Markup)
        self.layout, self.cas, self.markup = layout, layout.cas, markup
        self.annotation = annotation
        self.units = Units(layout.cas.text)
        self.fresh = (str(number) for number in count(layout.cas.largest + 1))
        self.new: list[tuple[str, str, list[tuple[str, str]]]] = []
        """Number, type and attributes of new elements."""
        self.edits: list[Edit] = []
        self.gone: set[str] = set()
        self.elements = {one.attributes.get("xmi:id", ""): one for one in markup.root.children}

    def written(self, made: Sequence[str] = ()) -> bytes:
        """Return the file with the chains of the annotation; `made` are the words of a new one."""
        if made:
            place = self.elements["2"].end
            self.edits.append((place, place, "".join(f"\n    {line}" for line in made)))
        planned = plan(self.annotation, self.layout.marked)
        entities = self._entities([chain for chain, _ in planned])
        used: set[str] = set()
        for entity, (_, mentions) in zip(entities, planned, strict=True):
            for mention in mentions:
                used.add(mention.key)
                self._place(mention, entity)
        self.gone |= {one.key for one in self.layout.marked} - used
        self.gone |= {id for key in self.gone for id in self._parts(key)}
        self.edits += [removal(self.markup, self.elements[id]) for id in self.gone if id in self.elements]
        self._add()
        self.edits += [*self._view(), *gold_edits(self.markup, self.annotation.adjudicated)]
        return edited(self.markup, self.edits)

    def _entities(self, chains: Sequence[Chain]) -> list[str]:
        """Give each chain the entity of the file with which it shares most mentions, or a new one."""
        hulls = [(one.chain, self._span(one)) for one in self.layout.marked]
        offsets = spell(self.annotation.document)[1]
        places = {
            (offsets[span.start - 1][0], offsets[span.end - 1][1]): span
            for chain in chains
            for span in chain.mentions
        }
        known = [(id, places[hull]) for id, hull in hulls if hull in places]
        fresh = self.fresh
        named = keep_ids(chains, known, fresh, lambda _: False)
        for number, chain in enumerate(named):
            if chain.id not in self.elements:
                label = chain.name or self.annotation.document.text(chain.mentions[0])
                color = str(_COLORS[number % len(_COLORS)])
                self.new.append(
                    (chain.id, "Entity", [("Label", label), ("Color", color), ("Hidden", "false")])
                )
            elif self.annotation.adjudicated and chain.name:
                element = self.elements[chain.id]
                if element.attributes.get("Label") != chain.name:
                    self.edits.append(with_attribute(self.markup, element, "Label", chain.name))
        return [chain.id for chain in named]

    def _span(self, one: Marked) -> Extent:
        return min(start for start, _ in one.pieces), max(end for _, end in one.pieces)

    def _place(self, mention: Marked, entity: str) -> None:
        """Put a mention into an entity."""
        if mention.key:
            element = self.elements[mention.key]
            if element.attributes.get("Entity") != entity:
                self.edits.append(with_attribute(self.markup, element, "Entity", entity))
            return
        id = next(self.fresh)
        if self.layout.package.endswith(".v2"):
            parts = [next(self.fresh) for _ in mention.pieces]
            self.new.append((id, "Mention", [("Entity", entity), ("Surface", " ".join(parts))]))
            for part, piece in zip(parts, mention.pieces, strict=True):
                self.new.append((part, "MentionSurface", [*self._offsets(piece), ("Mention", id)]))
            return
        first, *rest = mention.pieces
        given = [*self._offsets(first), ("Entity", entity)]
        if rest:
            part = next(self.fresh)
            whole = rest[0][0], rest[-1][1]
            self.new.append((part, "DetachedMentionPart", [*self._offsets(whole), ("Mention", id)]))
            given.append(("Discontinuous", part))
        self.new.append((id, "Mention", given))

    def _offsets(self, piece: Extent) -> list[tuple[str, str]]:
        start, end = piece
        return [
            ("sofa", self.cas.sofa),
            ("begin", str(self.units.of(start))),
            ("end", str(self.units.of(end))),
        ]

    def _parts(self, key: str) -> list[str]:
        values = self.cas.structures[key].values
        return [*values.get("Surface", "").split(), *values.get("Discontinuous", "").split()]

    def _add(self) -> None:
        """Write new elements behind the others."""
        prefix = _prefix(self.markup, self.layout.package)
        lines = "".join(
            f"<{prefix}:{type}{attributes([('xmi:id', id), *given])}/>" for id, type, given in self.new
        )
        others = [
            one for one in self.markup.root.children if one.name.partition(":")[2] not in ("Sofa", "View")
        ]
        place = others[-1].end if others else self.markup.root.inner
        if lines:
            self.edits.append((place, place, lines))
            self.edits += _declared(self.markup, prefix, self.layout.package)

    def _view(self) -> Iterator[Edit]:
        for view in self.markup.root.children:
            if view.name.endswith(":View") and view.attributes.get("sofa") == self.cas.sofa:
                old = view.attributes.get("members", "").split()
                members = [id for id in old if id not in self.gone] + [id for id, _, _ in self.new]
                if members != old:
                    yield with_attribute(self.markup, view, "members", " ".join(members))


def _uri(package: str) -> str:
    return f"http:///{package.replace('.', '/')}.ecore"


def _prefix(markup: Markup, package: str) -> str:
    for name, uri in markup.root.attributes.items():
        if name.startswith("xmlns:") and uri == _uri(package):
            return name.removeprefix("xmlns:")
    return "coref"


def _declared(markup: Markup, prefix: str, package: str) -> Iterator[Edit]:
    root: Element = markup.root
    if f"xmlns:{prefix}" not in root.attributes:
        yield with_attribute(markup, root, f"xmlns:{prefix}", _uri(package))


def _words(text: str, sentences: Iterable[Extent], tokens: Iterable[Extent]) -> list[str]:
    """Write the sentences and tokens of a new file, numbered from 3."""
    units = Units(text)
    marked = [*(("Sentence", one) for one in sentences), *(("Token", one) for one in tokens)]
    return [
        f'<segmentation:{name} xmi:id="{number}" sofa="1" begin="{units.of(start)}" end="{units.of(end)}"/>'
        for number, (name, (start, end)) in enumerate(marked, 3)
    ]


def _fresh(text: str, words: int) -> bytes:
    """Make a file for a document that has none, without mentions; its words come behind its first element.

    They need not be parsed again with the rest: in a play they are forty thousand elements.
    """
    spaces = [
        ("xmi", "http://www.omg.org/XMI"),
        ("cas", _uri("uima.cas")),
        ("tcas", _uri("uima.tcas")),
        ("segmentation", _uri("de.tudarmstadt.ukp.dkpro.core.api.segmentation.type")),
        ("api", _uri(API)),
        ("v1", _uri(_V1)),
    ]
    last = words + 3
    whole = [("begin", "0"), ("end", str(Units(text).of(len(text)))), ("language", "x-unspecified")]
    lines = [
        '<cas:NULL xmi:id="0"/>',
        f"<tcas:DocumentAnnotation{attributes([('xmi:id', '2'), ('sofa', '1'), *whole])}/>",
        f'<api:Meta xmi:id="{last}" TypeSystemVersion="v1"/>',
    ]
    given = [("xmi:id", "1"), ("sofaNum", "1"), ("sofaID", "_InitialView"), ("mimeType", "text")]
    lines.append(f"<cas:Sofa{attributes([*given, ('sofaString', text)])}/>")
    lines.append(f'<cas:View sofa="1" members="{" ".join(map(str, range(2, last + 1)))}"/>')
    root = attributes((f"xmlns:{prefix}", uri) for prefix, uri in spaces)
    body = "".join(f"    {line}\n" for line in lines)
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<xmi:XMI{root} xmi:version="2.0">\n{body}</xmi:XMI>\n'
    ).encode()
