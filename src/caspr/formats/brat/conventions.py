"""How a brat file expresses chains: relations, sets, events or types; see `formats.brat`."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from caspr.errors import FormatError
from caspr.formats.brat.ann import Lines, Link, Mention
from caspr.formats.options import ReadOptions
from caspr.formats.text_layer.relation_names import means_coreference, unread_relations
from caspr.formats.text_layer.standoff import Marked
from caspr.text.findings import Finding
from caspr.text.grouping import Groups

ENTITY = re.compile(r".+-[0-9]+")
GOLD_NOTE = re.compile(r"^#[0-9]+\tCasprGold [A-Z][0-9]+\t.*$", re.MULTILINE)
"""The note on the first mention of a file that is the result of an adjudication."""
_LINK_EVENT = re.compile(r"coref\w*link", re.IGNORECASE)


@dataclass(frozen=True)
class BratLayout:
    """What an .ann file holds: its lines, and how they express chains."""

    text: str
    """The file."""
    lines: Lines
    """Its lines by kind."""
    convention: str
    """How it expresses chains: relations, sets, events or types."""
    type: str
    """The type of its relations, sets or events."""
    links: tuple[Link, ...]
    """The links that express chains."""
    marked: tuple[Marked, ...]
    """The mentions."""
    twins: Mapping[str, str] = field(default_factory=dict)
    """For each mention whose type is an entity's name the other mention of the same text."""


def find_chains(text: str, lines: Lines, options: ReadOptions, source: str) -> BratLayout:
    """Find out how a file expresses chains, and which mentions are in which."""
    links = tuple(link for link in lines.links if _expresses_chains(link, options.relations))
    for link in links:
        _refuse_odd(link, lines, source)
    _refuse_cycles(links, source)
    entities = {} if links else _entity_types(lines.mentions.values())
    if entities:
        return BratLayout(text, lines, "types", "", (), tuple(_typed_mentions(lines, entities)), entities)
    heads = components(lines, links)
    triggers = set(lines.triggers.values())
    events = any(link.id.startswith("E") for link in links)
    marked = [
        Marked(heads.get(one.id, one.id), one.pieces, one.type, one.id)
        for one in lines.mentions.values()
        if one.id in heads or not (events or one.id in triggers)
    ]
    first = links[0] if links else None
    kinds = {"R": "relations", "*": "sets", "E": "events"}
    convention = kinds[first.id[0]] if first else "relations"
    name = first.type if first else next(iter(options.relations), "Coreference")
    return BratLayout(text, lines, convention, name, links, tuple(marked))


def unread(layout: BratLayout, options: ReadOptions, source: str) -> Iterator[Finding]:
    """Report the relations that are not read; no option reads events of other types."""
    read = {one.line.number for one in layout.links}
    others = [one.type for one in layout.lines.links if one.line.number not in read and one.id[0] != "E"]
    yield from unread_relations(others, [one.type for one in layout.links], options.relations, source)


def link_types(lines: Lines) -> tuple[str, ...]:
    """Name the kinds of lines that connect others, for messages."""
    kinds = {"R": "relation", "*": "set", "E": "event"}
    return tuple(sorted({f"{kinds[link.id[0]]} {link.type}" for link in lines.links}))


def entity_names(layout: BratLayout) -> dict[str, str]:
    """Return the names of entities where types express chains: `Anna-12` is called Anna."""
    if layout.convention != "types":
        return {}
    named = (one.chain for one in layout.marked if one.key != one.chain)
    return {chain: chain.rpartition("-")[0].replace("_", " ") for chain in named}


def _expresses_chains(link: Link, relations: Sequence[str]) -> bool:
    if link.id.startswith("E"):
        return bool(_LINK_EVENT.search(link.type)) or any(name == "next" for name, _ in link.roles[1:])
    return (link.id == "*" and not relations) or means_coreference([link.type], relations)


def _refuse_odd(link: Link, lines: Lines, source: str) -> None:
    """Refuse coreference between other things than mentions."""
    for _, id in link.roles:
        if id not in lines.mentions and id not in lines.triggers:
            raise FormatError(source, link.line.number, f"coreference with {id}", "mentions, such as T1")
    if link.id.startswith("R") and len(link.roles) != 2:
        raise FormatError(source, link.line.number, f"{len(link.roles)} arguments", "Arg1 and Arg2")


def _refuse_cycles(links: Sequence[Link], source: str) -> None:
    """Refuse events that follow each other in a cycle."""
    events = {link.id: link for link in links if link.id.startswith("E")}
    after = {id: dict(link.roles[1:]).get("next", "") for id, link in events.items()}
    safe: set[str] = set()
    for start in events:
        trail: set[str] = set()
        before, id = start, start
        while id in events and id not in safe:
            if id in trail:
                found = f"{before} with next:{id}, which is a cycle"
                raise FormatError(source, events[before].line.number, found, "a chain that ends")
            trail.add(id)
            before, id = id, after[id]
        safe.update(trail)


def _entity_types(mentions: Iterable[Mention]) -> dict[str, str]:
    """Return the mentions whose type is an entity's name, with the id of the other at the same place."""
    given = list(mentions)
    twins = {one.pieces: one.id for one in given if not ENTITY.fullmatch(one.type)}
    named = [one for one in given if ENTITY.fullmatch(one.type)]
    if not any(one.pieces in twins for one in named):
        return {}
    return {one.id: twins.get(one.pieces, "") for one in named}


def _typed_mentions(lines: Lines, entities: Mapping[str, str]) -> Iterator[Marked]:
    """List the mentions that name an entity, and those that have no entity as chains of one."""
    named = set(entities.values())
    triggers = set(lines.triggers.values())
    for one in lines.mentions.values():
        if one.id in entities:
            twin = lines.mentions.get(entities[one.id])
            yield Marked(one.type, one.pieces, twin.type if twin else "", one.id)
        elif one.id not in named and one.id not in triggers:
            yield Marked(one.id, one.pieces, one.type, one.id)


def components(lines: Lines, links: Iterable[Link]) -> dict[str, str]:
    """Return for each linked mention the first mention of its chain."""
    groups = Groups(lines.mentions)
    linked: dict[str, None] = {}
    for link in links:
        ids = [
            lines.triggers.get(id, id)
            for name, id in link.roles
            if link.id[0] != "E" or name in (link.type, "next")
        ]
        linked |= dict.fromkeys(ids)
        for one, two in pairwise(ids):
            groups.join(one, two)
    return {id: groups.first(id) for id in linked}
