"""Chains of GATE's annotation sets, whether a document was saved as XML or as JSON.

1. A mention is an annotation with a feature `matches`, or one that such annotations list; mentions that list
   each other are a chain, and one that lists itself alone is a chain of one. A set that was copied lists
   annotations of the old set, which it does not have: mentions that list the same ones are a chain.
2. The document feature `MatchesAnnots` is a copy of the chains of all sets, which GATE's coreference editor
   shows. Where no annotation of a set has `matches`, its chains are read from there; where some have, they
   count, and a copy that says something else is warned about.
3. A result is written in both places if the file had both.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from caspr.errors import FormatError
from caspr.formats.containers.xml import attributes, escaped, parse
from caspr.formats.format import quoted
from caspr.formats.text_layer import Extent, Marked
from caspr.text.findings import Finding, times, warning
from caspr.text.grouping import Groups

FEATURE = "matches"
"""The feature of mentions."""
COPY = "MatchesAnnots"
"""The document feature that has all chains once more."""
GOLD_FEATURE = "caspr.gold"
"""The document feature that names the annotation set with the result of an adjudication."""
GOLD = "gold"
"""The annotation set for the result, where several annotators share a file."""
Chains = Mapping[str, Sequence[Sequence[str]]]
"""For each annotation set its chains, each as the ids of its mentions; the unnamed set is ``."""

_GROUP = re.compile(r"\[([^\[\]]*)\]")
_KEY = re.compile(r"([^=\[\],{}]+)=(?=\[)")
_BETWEEN = re.compile(r"[;,\s]+")


@dataclass(frozen=True)
class GateAnnotation:
    """One annotation of a set."""

    id: str
    type: str
    extent: Extent
    matches: tuple[str, ...] | None
    """The annotations it lists, itself included; `None` without the feature."""
    line: int | None = None


@dataclass(frozen=True)
class Gate:
    """What a file holds."""

    text: str
    sets: Mapping[str, Sequence[GateAnnotation]]
    """Its annotation sets by name; the unnamed one is ``."""
    copy: Chains | None
    """The copy of the chains among the features of the document, where there is one that can be read."""
    odd: tuple[Finding, ...]
    file: object = field(compare=False, repr=False)
    """The parsed file, for the module that reads and writes it."""
    gold: str | None = None
    """The annotation set that holds the result of an adjudication, as a document feature says."""

    @property
    def largest(self) -> int:
        """The largest number of any annotation."""
        ids = (item.id for items in self.sets.values() for item in items)
        return max((int(id) for id in ids if id.isascii() and id.isdecimal()), default=0)

    def has_mentions(self, name: str) -> bool:
        """Return whether any annotation of a set lists others."""
        return any(annotation.matches is not None for annotation in self.sets[name])


@dataclass(frozen=True)
class Place:
    """Where chains were read, and where they go."""

    layer: str
    alone: bool
    """Whether this is the only annotator of the file; of several, the result becomes a set of its own."""


Planned = list[tuple[str, Marked]]
"""The mentions of a chain to write, with their ids."""


def mentions(gate: Gate, name: str) -> tuple[list[Marked], list[Finding]]:
    """List the mentions of an annotation set, with the chain each is in."""
    items, copy = gate.sets.get(name, ()), (gate.copy or {}).get(name, ())
    if name not in gate.sets or not gate.has_mentions(name):
        return _copied(items, copy), []
    listing: dict[str, GateAnnotation] = {}
    for item in items:
        if item.matches is not None and listing.setdefault(item.id, item) is not item:
            found = f"annotation {quoted(item.id)} for the second time"
            raise FormatError(item.line, found, "each Id once")
    listed = {id for annotation in listing.values() for id in annotation.matches or ()} - listing.keys()
    silent = {item.id: item for item in items if item.id in listed}
    every = listing | silent
    missing = sorted(listed - silent.keys())
    lists = _links(every.values())
    groups = _components([*every, *missing], lists)
    heads = {id: groups[id] for id in every}
    marked = [_marked(item, heads) for item in every.values()]
    odd = _one_sided(silent, missing)
    return marked, [*odd, *_contradiction(heads, copy)]


def _links(annotations: Iterable[GateAnnotation]) -> Iterator[Sequence[str]]:
    """List what is in one chain; lists that all mentions of a chain share come once."""
    known: set[tuple[str, ...]] = set()
    for annotation in annotations:
        matches = tuple(annotation.matches or ())
        yield annotation.id, *matches[:1]
        if matches not in known:
            known.add(matches)
            yield matches


def _one_sided(silent: Collection[str], missing: Sequence[str]) -> Iterator[Finding]:
    """Warn of annotations that others list, but that list nothing or are not there."""
    if silent:
        message = f"{times(len(silent), 'annotation')} that others list in `{FEATURE}`, without that feature"
        yield warning("one-sided-matches", f"{message}: read as mentions", count=len(silent))
    if missing:
        message = (
            f"`{FEATURE}` lists {times(len(missing), 'annotation')} that the set does not have, such as "
        )
        message += f"{missing[0]}; annotations that list the same one are in one chain"
        yield warning("missing-matches", message, count=len(missing))


def _copied(items: Sequence[GateAnnotation], copy: Sequence[Sequence[str]]) -> list[Marked]:
    """List the mentions that only the copy knows."""
    every = {item.id: item for item in items}
    for id in (id for chain in copy for id in chain):
        if id not in every:
            found, expected = f"annotation {quoted(id)} in {COPY}", "an Id of the annotation set"
            raise FormatError(None, found, expected)
    listed = dict.fromkeys(id for chain in copy for id in chain)
    heads = _components(listed, copy)
    return [_marked(item, heads) for item in every.values() if item.id in listed]


def new_copy(gate: Gate, place: Place, chains: Sequence[Planned]) -> Chains | None:
    """Return the copy of the chains as it must be written; none if the file has none."""
    if gate.copy is None:
        return None
    name = place.layer if place.alone else GOLD
    return {**gate.copy, name: [[id for id, _ in chain] for chain in chains]}


def read_copy(text: str) -> Chains | None:
    """Read `MatchesAnnots`: XML inside the XML, or as Java prints a map or a list; `None` if neither.

    >>> read_copy("{null=[[1, 2], [3, 4]], Key=[[5, 6]]}")
    {'': [['1', '2'], ['3', '4']], 'Key': [['5', '6']]}
    >>> read_copy("[[1, 2]]"), read_copy("nonsense")
    ({'': [['1', '2']]}, None)
    """
    if "ObjectWrapper" in text:
        return _wrapped(text)
    plain = text.strip()
    if not re.fullmatch(r"\{.*\}|\[.*\]", plain, re.DOTALL):
        return None
    parts = _KEY.split(plain)
    pairs = zip(parts[1::2], parts[2::2], strict=True) if len(parts) > 1 else [("null", plain)]
    return {
        "" if key.strip() == "null" else key.strip(): [
            [id for id in _BETWEEN.split(group.strip()) if id] for group in _GROUP.findall(value)
        ]
        for key, value in pairs
    }


def write_copy(chains: Chains) -> str:
    """Write `MatchesAnnots` as GATE does, as XML to be put inside the XML."""
    entries = []
    for name, lists in chains.items():
        key = f"<string>{escaped(name)}</string>" if name else "<null/>"
        ids = ("".join(f"<int>{escaped(id)}</int>" for id in chain) for chain in lists)
        entries.append(f"<entry>{key}<list>{''.join(f'<list>{row}</list>' for row in ids)}</list></entry>")
    return (
        '<?xml version="1.0" ?><gate.corpora.ObjectWrapper><value class="map">'
        f"{''.join(entries)}</value></gate.corpora.ObjectWrapper>"
    )


def same_chains(left: Chains, right: Chains) -> bool:
    """Return whether two copies hold the same, in any order."""
    first, second = ({name: _sets(chains) for name, chains in copy.items()} for copy in (left, right))
    return first == second


def split_ids(text: str) -> tuple[str, ...]:
    """Read the value of `matches`.

    >>> split_ids("763;754"), split_ids("[1, 2]")
    (('763', '754'), ('1', '2'))
    """
    return tuple(id for id in _BETWEEN.split(text.strip("[] \n\t")) if id)


def _sets(chains: Iterable[Sequence[str]]) -> set[frozenset[str]]:
    return {frozenset(chain) for chain in chains if len(set(chain)) > 1}


def _marked(annotation: GateAnnotation, heads: Mapping[str, str]) -> Marked:
    return Marked(heads[annotation.id], (annotation.extent,), annotation.type, annotation.id)


def _components(known: Iterable[str], links: Iterable[Sequence[str]]) -> dict[str, str]:
    """Return for each annotation the first one of its chain."""
    groups = Groups(known)
    for first, *rest in filter(None, links):
        for id in rest:
            groups.join(first, id)
    return groups.firsts()


def _contradiction(heads: Mapping[str, str], copy: Sequence[Sequence[str]]) -> Iterator[Finding]:
    chains: dict[str, list[str]] = {}
    for id, head in heads.items():
        chains.setdefault(head, []).append(id)
    unread = _sets(copy) - _sets(chains.values())
    if unread:
        message = (
            f"{times(len(unread), 'chain')} in {COPY} that the features `{FEATURE}` do not have, not read"
        )
        yield warning("contradicting-copy", message, count=len(unread))


def _wrapped(text: str) -> Chains | None:
    root = parse(text.strip().encode("utf-8")).root
    by_set: dict[str, list[list[str]]] = {}
    for entry in (element for element in root.all() if element.name == "entry"):
        if len(entry.children) != 2 or not re.fullmatch("null|string", entry.children[0].name):
            return None
        key, lists = entry.children
        chains = [
            [leaf.text.strip() for leaf in chain.all() if not leaf.children] for chain in lists.children
        ]
        by_set[key.text.strip()] = [[id for id in chain if id] for chain in chains]
    return by_set


def feature(name: str, value: str) -> str:
    """Write a feature; `matches` is a list of numbers, and the copy of all chains an object."""
    kinds = {FEATURE: "java.util.ArrayList", COPY: "gate.corpora.ObjectWrapper"}
    kind = kinds.get(name, "java.lang.String")
    items = ' itemClassName="java.lang.Integer"' if name == FEATURE else ""
    return (
        f'<Feature>\n  <Name className="java.lang.String">{escaped(name)}</Name>\n'
        f'  <Value className="{kind}"{items}>{escaped(value)}</Value>\n</Feature>\n'
    )


def annotation_xml(id: str, type: str, nodes: tuple[str, str], features: str) -> str:
    """Write an annotation between two nodes."""
    values = [("Id", id), ("Type", type), ("StartNode", nodes[0]), ("EndNode", nodes[1])]
    return f"<Annotation{attributes(values)}>\n{features}</Annotation>\n"


def text_with_nodes(text: str, nodes: Mapping[int, Sequence[str]]) -> str:
    """Write the text of a document with its nodes, given their ids by place."""
    parts: list[str] = []
    before = 0
    for point in sorted(nodes):
        parts.append(escaped(text[before:point]))
        parts += [f"<Node{attributes([('id', id)])} />" for id in nodes[point]]
        before = point
    return "".join([*parts, escaped(text[before:])])
