"""Chains in a UIMA CAS, whether it was written as XMI or as JSON.

    CoreferenceChain --first--> CoreferenceLink --next--> CoreferenceLink --next--> ...

1. A chain layer L has two types: L + `Chain`, the head, and L + `Link`, a mention with begin and end. The
   built-in layer and custom ones are the same but for their name.
2. A chain is what is reachable from its head. A link that no head reaches is in no chain: it is counted,
   and not written again, because INCEpTION treats it as damage.
3. Offsets count UTF-16 units of the text of the first view.
4. Written back, a chain that did not change stays as it is, with the order its annotator gave it. In others
   the links follow the text, as in INCEpTION; a link keeps its id and its label, and the label of the arc
   to the next one if that is still the next.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, pairwise

from caspr.errors import FormatError
from caspr.formats.format import quoted
from caspr.formats.text_layer import Extent, Marked, Units, plan, wide_pieces
from caspr.text.document import Annotation
from caspr.text.findings import Finding, times, warning

BUILT_IN = "de.tudarmstadt.ukp.dkpro.core.api.coref.type.Coreference"
"""The chain layer that every INCEpTION project has."""
TOKEN = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Token"
SENTENCE = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Sentence"

META = "de.tudarmstadt.ukp.dkpro.core.api.metadata.type.DocumentMetaData"
"""The type of what is said of the whole document."""
_FULL = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+", re.ASCII)


@dataclass(frozen=True)
class Structure:
    """A feature structure: an object of a CAS."""

    id: str
    type: str
    values: dict[str, str]
    """Its features that are not lists."""
    line: int | None = None
    """Where it stands, where the file has lines."""


@dataclass(frozen=True)
class Cas:
    """What a file holds."""

    text: str
    sofa: str
    """The number of the view."""
    structures: dict[str, Structure]
    """All objects of the view by number."""
    types: frozenset[str]
    largest: int
    """The largest number of any object in the file."""
    file: object = field(compare=False, repr=False)
    """The parsed file, for the module that reads and writes it."""
    members: frozenset[str] | None = None
    """The numbers of the objects that are indexed; `None` if the file has no index."""
    gold: bool = False
    member: str = ""
    """The file of the zip that holds it, if any."""


Arc = tuple[str, str, str, str]
"""Begin and end of a link, and of the next one."""


@dataclass(frozen=True)
class Changes:
    """What to change in a file."""

    removed: frozenset[str] = frozenset()
    """Numbers of objects to take out."""
    replaced: tuple[Structure, ...] = ()
    added: tuple[Structure, ...] = ()
    layer: str = BUILT_IN
    indexed: frozenset[str] = frozenset()
    """Numbers of all objects that must be in the index."""
    gold: bool = False


def refuse(structure: Structure, found: str, expected: str) -> FormatError:
    """Make the error for something wrong with an object."""
    name = structure.type.rpartition(".")[2]
    return FormatError(structure.line, f"{name} {structure.id} {found}", expected)


def layers(cas: Cas) -> list[str]:
    """Return the chain layers that have chains in them."""
    names = {
        structure.type.removesuffix("Chain")
        for structure in cas.structures.values()
        if structure.type.endswith("Chain") and "first" in structure.values
    }
    return sorted(names)


def choose_layer(cas: Cas, wanted: str | None) -> str:
    """Return the layer to read: the only one with chains, or the one asked for.

    A layer given by its full name may be missing from the file: then nobody used it there.
    """
    known = layers(cas)
    if wanted is not None:
        declared = {name.removesuffix("Chain") for name in cas.types if name.endswith("Chain")}
        every = sorted({*known, *declared, BUILT_IN})
        exact = [name for name in every if wanted in (name, f"{name}Chain", f"{name}Link")]
        known = exact or [name for name in every if wanted.lower() in name.lower()]
        if not known and _FULL.fullmatch(wanted):
            return wanted
        if not known:
            raise FormatError(None, f"no layer {quoted(wanted)}", f"one of {', '.join(every)}")
    if len(known) > 1:
        raise FormatError(None, f"{len(known)} chain layers", f"--layer: {', '.join(known)}")
    return known[0] if known else BUILT_IN


def extent(units: Units, structure: Structure) -> Extent:
    """Return the characters of an object, in code points."""
    ends = []
    for name in ("begin", "end"):
        value = structure.values.get(name, "")
        point = units.point(int(value)) if value.isascii() and value.isdecimal() and len(value) < 13 else None
        if point is None:
            raise refuse(structure, f"with {name}={quoted(value)}", "offsets of whole characters in the text")
        ends.append(point)
    if ends[0] > ends[1]:
        raise refuse(structure, "that ends before it begins", "begin and end in order")
    return ends[0], ends[1]


def extents(cas: Cas, type: str) -> list[Extent]:
    """Return the characters of all objects of a type."""
    units = Units(cas.text)
    return [extent(units, structure) for structure in cas.structures.values() if structure.type == type]


def mentions(cas: Cas, layer: str) -> tuple[list[Marked], list[Finding]]:
    """List the mentions of a layer, with the head of the chain each is in."""
    units = Units(cas.text)
    marked: list[Marked] = []
    for head in cas.structures.values():
        if head.type == f"{layer}Chain":
            for link in _walk(cas, head, layer):
                label = link.values.get("referenceType", "")
                marked.append(Marked(head.id, (extent(units, link),), label, link.id))
    reached = {mention.key for mention in marked}
    lost = [
        structure
        for structure in cas.structures.values()
        if structure.type == f"{layer}Link" and structure.id not in reached
    ]
    odd = []
    if lost:
        message = f"{times(len(lost), 'link')} that no chain reaches, not read (first: {lost[0].id})"
        odd.append(warning("unreachable-link", message, count=len(lost)))
    hidden = sorted(reached - cas.members) if cas.members is not None else []
    if hidden:
        message = f"{times(len(hidden), 'link')} missing from the index, read all the same"
        odd.append(warning("unindexed-link", message, count=len(hidden)))
    return marked, odd


def other_layers(cas: Cas) -> tuple[str, ...]:
    """Name the types of a file that say something of its text, for messages."""
    plain = ("uima.", TOKEN, SENTENCE, META)
    return tuple(
        sorted(
            {structure.type for structure in cas.structures.values() if not structure.type.startswith(plain)}
        )
    )


def arc_labels(cas: Cas, layer: str) -> Iterator[tuple[Arc, str]]:
    """List the labels of arcs between links."""
    for head in cas.structures.values():
        if head.type == f"{layer}Chain":
            for first, second in pairwise(_walk(cas, head, layer)):
                if label := first.values.get("referenceRelation"):
                    yield _arc(first.values, second.values), label


def _arc(first: dict[str, str], second: dict[str, str]) -> Arc:
    return first.get("begin", ""), first.get("end", ""), second.get("begin", ""), second.get("end", "")


def _walk(cas: Cas, head: Structure, layer: str) -> Iterator[Structure]:
    """Follow a chain from its head."""
    seen: set[str] = set()
    owner, name = head, "first"
    while name in owner.values:
        id = owner.values[name]
        link = cas.structures.get(id)
        if link is None or link.type != f"{layer}Link":
            raise refuse(owner, f"with {name}={quoted(id)}", f"the number of a {layer}Link")
        if id in seen:
            raise refuse(owner, f"with {name}={quoted(id)}, which is a cycle", "a chain that ends")
        seen.add(id)
        yield link
        owner, name = link, "next"


def change(
    cas: Cas, layer: str, annotation: Annotation, *, arcs: Mapping[Arc, str] | None = None, reuse: bool = True
) -> Changes:
    """Return what must change for a layer to hold the chains of an annotation.

    Unless links of the file are reused, all are new, with the labels of the annotation and of `arcs`.
    """
    known = mentions(cas, layer)[0] if reuse else []
    units = Units(cas.text)
    order = {mention.key: number for number, mention in enumerate(known)}
    members: dict[str, set[str]] = {}
    for mention in known:
        members.setdefault(mention.chain, set()).add(mention.key)
    fresh = (str(number) for number in count(cas.largest + 1))
    heads = _heads(plan(annotation, known), members, fresh)
    made: list[Structure] = []
    for head, planned in heads:
        links = _sorted(planned, order, members.get(head, set()))
        ids = [link.key or next(fresh) for link in links]
        made.append(Structure(head, f"{layer}Chain", {"sofa": cas.sofa, "first": ids[0]}))
        nexts = [*ids[1:], None]
        row = [_link(cas, layer, *parts, units) for parts in zip(ids, links, nexts, strict=True)]
        made += _labelled(row, arcs or {})
    old = {
        structure.id
        for structure in cas.structures.values()
        if structure.type in (f"{layer}Chain", f"{layer}Link")
    }
    new = {item.id for item in made}
    replaced = [item for item in made if item.id in old and item.values != cas.structures[item.id].values]
    added = tuple(item for item in made if item.id not in old)
    return Changes(
        frozenset(old - new), tuple(replaced), added, layer, frozenset(new), annotation.adjudicated
    )


def _heads(
    planned: Iterable[tuple[object, list[Marked]]], members: dict[str, set[str]], fresh: Iterator[str]
) -> list[tuple[str, list[Marked]]]:
    """Give each chain the head of the chain in the file with which it shares most links."""
    chains = [[*wide_pieces(links)] for _, links in planned if links]
    owner = {key: head for head, keys in members.items() for key in keys}
    shared = sorted(
        (-count_shared, number, head)
        for number, links in enumerate(chains)
        for head, count_shared in Counter(owner[link.key] for link in links if link.key in owner).items()
    )
    names: dict[int, str] = {}
    taken: set[str] = set()
    for _, number, head in shared:
        if number not in names and head not in taken:
            names[number] = head
            taken.add(head)
    return [(names[number] if number in names else next(fresh), links) for number, links in enumerate(chains)]


def _sorted(links: Sequence[Marked], order: dict[str, int], members: set[str]) -> list[Marked]:
    """Keep the order of a chain that did not change; others follow the text."""
    if {link.key for link in links} == members:
        return sorted(links, key=lambda link: order[link.key])
    return sorted(links, key=lambda link: (link.pieces[0][0], -link.pieces[0][1]))


def _labelled(links: Sequence[Structure], arcs: Mapping[Arc, str]) -> Iterator[Structure]:
    """Give the arcs of a chain the labels that are known for them."""
    for link, following in pairwise(links):
        label = arcs.get(_arc(link.values, following.values))
        yield replace(link, values={**link.values, "referenceRelation": label}) if label else link
    yield links[-1]


def _link(cas: Cas, layer: str, id: str, mention: Marked, after: str | None, units: Units) -> Structure:
    """Make a link, with all that the file has about it."""
    old = cas.structures[id].values if id in cas.structures else {}
    values = {"sofa": cas.sofa, **old}
    start, end = mention.pieces[0]
    values |= {"begin": str(units.of(start)), "end": str(units.of(end))}
    if old.get("next") != after:
        values.pop("referenceRelation", None)
        values.pop("next", None)
        values |= {"next": after} if after else {}
    if mention.label and not old:
        values["referenceType"] = mention.label
    return Structure(id, f"{layer}Link", values)
