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
from caspr.formats.messages import quoted
from caspr.formats.text_layer.characters import Extent, Units
from caspr.formats.text_layer.standoff import Marked, plan, wide_pieces
from caspr.text.document import Annotation
from caspr.text.findings import Finding, times, warning

BUILT_IN = "de.tudarmstadt.ukp.dkpro.core.api.coref.type.Coreference"
"""The chain layer that every INCEpTION project has."""
TOKEN = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Token"
"""The type of tokens."""
SENTENCE = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Sentence"
"""The type of sentences."""

META = "de.tudarmstadt.ukp.dkpro.core.api.metadata.type.DocumentMetaData"
"""The type of what is said of the whole document."""
_FULL = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+", re.ASCII)


@dataclass(frozen=True)
class Structure:
    """A feature structure: an object of a CAS."""

    id: str
    """Its number."""
    type: str
    """The full name of its type."""
    values: dict[str, str]
    """Its features that are no lists."""
    line: int | None = None
    """Where it stands, where the file has lines."""


@dataclass(frozen=True)
class Cas:
    """What a file holds."""

    source: str
    """Its name, for messages."""
    text: str
    """The text of the view."""
    sofa: str
    """The number of the view."""
    structures: dict[str, Structure]
    """All objects of the view by number."""
    types: frozenset[str]
    """The types that the file declares or uses."""
    largest: int
    """The largest number of any object in the file."""
    file: object = field(compare=False, repr=False)
    """The parsed file, for the module that reads and writes it."""
    members: frozenset[str] | None = None
    """The numbers of the objects that are indexed; `None` if the file has no index."""
    gold: bool = False
    """Whether it says that it holds the result of an adjudication."""


Arc = tuple[str, str, str, str]
"""Begin and end of a link, and of the next one."""


@dataclass(frozen=True)
class Changes:
    """What to change in a file."""

    removed: frozenset[str] = frozenset()
    """Numbers of objects to take out."""
    replaced: tuple[Structure, ...] = ()
    """Objects with new values."""
    added: tuple[Structure, ...] = ()
    """New objects."""
    layer: str = BUILT_IN
    """The chain layer they belong to."""
    indexed: frozenset[str] = frozenset()
    """Numbers of all objects that must be in the index."""
    gold: bool = False
    """Whether the file holds the result of an adjudication then."""


def refuse(cas: Cas, structure: Structure, found: str, expected: str) -> FormatError:
    """Make the error for something wrong with an object."""
    name = structure.type.rpartition(".")[2]
    return FormatError(cas.source, structure.line, f"{name} {structure.id} {found}", expected)


def layers(cas: Cas) -> list[str]:
    """Return the chain layers that have chains in them."""
    found = {
        one.type.removesuffix("Chain")
        for one in cas.structures.values()
        if one.type.endswith("Chain") and "first" in one.values
    }
    return sorted(found)


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
            raise FormatError(cas.source, None, f"no layer {quoted(wanted)}", f"one of {', '.join(every)}")
    if len(known) > 1:
        raise FormatError(cas.source, None, f"{len(known)} chain layers", f"--layer: {', '.join(known)}")
    return known[0] if known else BUILT_IN


def extent(cas: Cas, units: Units, one: Structure) -> Extent:
    """Return the characters of an object, in code points."""
    ends = []
    for name in ("begin", "end"):
        value = one.values.get(name, "")
        place = units.point(int(value)) if value.isascii() and value.isdecimal() and len(value) < 13 else None
        if place is None:
            raise refuse(cas, one, f"with {name}={quoted(value)}", "offsets of whole characters in the text")
        ends.append(place)
    if ends[0] > ends[1]:
        raise refuse(cas, one, "that ends before it begins", "begin and end in order")
    return ends[0], ends[1]


def extents(cas: Cas, type: str) -> list[Extent]:
    """Return the characters of all objects of a type."""
    units = Units(cas.text)
    return [extent(cas, units, one) for one in cas.structures.values() if one.type == type]


def mentions(cas: Cas, layer: str) -> tuple[list[Marked], list[Finding]]:
    """List the mentions of a layer, with the head of the chain each is in."""
    units = Units(cas.text)
    found: list[Marked] = []
    for head in cas.structures.values():
        if head.type == f"{layer}Chain":
            for link in _walk(cas, head, layer):
                label = link.values.get("referenceType", "")
                found.append(Marked(head.id, (extent(cas, units, link),), label, link.id))
    reached = {one.key for one in found}
    lost = [one for one in cas.structures.values() if one.type == f"{layer}Link" and one.id not in reached]
    odd = []
    if lost:
        message = f"{times(len(lost), 'link')} that no chain reaches, not read (first: {lost[0].id})"
        odd.append(warning("unreachable-link", message, count=len(lost), where=cas.source))
    hidden = sorted(reached - cas.members) if cas.members is not None else []
    if hidden:
        message = f"{times(len(hidden), 'link')} missing from the index, read all the same"
        odd.append(warning("unindexed-link", message, count=len(hidden), where=cas.source))
    return found, odd


def other_layers(cas: Cas) -> tuple[str, ...]:
    """Name the types of a file that say something of its text, for messages."""
    plain = ("uima.", TOKEN, SENTENCE, META)
    return tuple(sorted({one.type for one in cas.structures.values() if not one.type.startswith(plain)}))


def arc_labels(cas: Cas, layer: str) -> Iterator[tuple[Arc, str]]:
    """List the labels of arcs between links."""
    for head in cas.structures.values():
        if head.type == f"{layer}Chain":
            for one, two in pairwise(_walk(cas, head, layer)):
                if label := one.values.get("referenceRelation"):
                    yield _arc(one.values, two.values), label


def _arc(one: dict[str, str], two: dict[str, str]) -> Arc:
    return one.get("begin", ""), one.get("end", ""), two.get("begin", ""), two.get("end", "")


def _walk(cas: Cas, head: Structure, layer: str) -> Iterator[Structure]:
    """Follow a chain from its head."""
    seen: set[str] = set()
    owner, name = head, "first"
    while name in owner.values:
        id = owner.values[name]
        link = cas.structures.get(id)
        if link is None or link.type != f"{layer}Link":
            raise refuse(cas, owner, f"with {name}={quoted(id)}", f"the number of a {layer}Link")
        if id in seen:
            raise refuse(cas, owner, f"with {name}={quoted(id)}, which is a cycle", "a chain that ends")
        seen.add(id)
        yield link
        owner, name = link, "next"


def change(
    cas: Cas, layer: str, annotation: Annotation, *, arcs: Mapping[Arc, str] | None = None, reuse: bool = True
) -> Changes:
    """Return what must change for a layer to hold the chains of an annotation.

    Unless links of the file are reused, all are made anew, with the labels of the annotation and of `arcs`.
    """
    known = mentions(cas, layer)[0] if reuse else []
    units = Units(cas.text)
    order = {one.key: place for place, one in enumerate(known)}
    members: dict[str, set[str]] = {}
    for one in known:
        members.setdefault(one.chain, set()).add(one.key)
    fresh = (str(number) for number in count(cas.largest + 1))
    heads = _heads(plan(annotation, known), members, fresh)
    made: list[Structure] = []
    for head, planned in heads:
        links = _sorted(planned, order, members.get(head, set()))
        ids = [one.key or next(fresh) for one in links]
        made.append(Structure(head, f"{layer}Chain", {"sofa": cas.sofa, "first": ids[0]}))
        nexts = [*ids[1:], None]
        row = [_link(cas, layer, *given, units) for given in zip(ids, links, nexts, strict=True)]
        made += _labelled(row, arcs or {})
    old = {one.id for one in cas.structures.values() if one.type in (f"{layer}Chain", f"{layer}Link")}
    new = {one.id for one in made}
    replaced = [one for one in made if one.id in old and one.values != cas.structures[one.id].values]
    added = tuple(one for one in made if one.id not in old)
    return Changes(
        frozenset(old - new), tuple(replaced), added, layer, frozenset(new), annotation.adjudicated
    )


def _heads(
    planned: Iterable[tuple[object, list[Marked]]], members: dict[str, set[str]], fresh: Iterator[str]
) -> list[tuple[str, list[Marked]]]:
    """Give each chain the head of the chain in the file with which it shares most links."""
    given = [[*wide_pieces(links)] for _, links in planned if links]
    owner = {key: head for head, keys in members.items() for key in keys}
    shared = sorted(
        (-count_shared, place, head)
        for place, links in enumerate(given)
        for head, count_shared in Counter(owner[one.key] for one in links if one.key in owner).items()
    )
    names: dict[int, str] = {}
    taken: set[str] = set()
    for _, place, head in shared:
        if place not in names and head not in taken:
            names[place] = head
            taken.add(head)
    return [(names[place] if place in names else next(fresh), links) for place, links in enumerate(given)]


def _sorted(links: Sequence[Marked], order: dict[str, int], members: set[str]) -> list[Marked]:
    """Keep the order of a chain that did not change; others follow the text."""
    if {one.key for one in links} == members:
        return sorted(links, key=lambda one: order[one.key])
    return sorted(links, key=lambda one: (one.pieces[0][0], -one.pieces[0][1]))


def _labelled(links: Sequence[Structure], arcs: Mapping[Arc, str]) -> Iterator[Structure]:
    """Give the arcs of a chain the labels that are known for them."""
    for one, two in pairwise(links):
        label = arcs.get(_arc(one.values, two.values))
        yield replace(one, values={**one.values, "referenceRelation": label}) if label else one
    yield links[-1]


def _link(cas: Cas, layer: str, id: str, one: Marked, after: str | None, units: Units) -> Structure:
    """Make a link, with all that the file has about it."""
    old = cas.structures[id].values if id in cas.structures else {}
    values = {"sofa": cas.sofa, **old}
    start, end = one.pieces[0]
    values |= {"begin": str(units.of(start)), "end": str(units.of(end))}
    if old.get("next") != after:
        values.pop("referenceRelation", None)
        values.pop("next", None)
        values |= {"next": after} if after else {}
    if one.label and not old:
        values["referenceType"] = one.label
    return Structure(id, f"{layer}Link", values)
