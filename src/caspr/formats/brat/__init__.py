"""brat: a text in .txt and standoff annotations in .ann, usually in one folder for each annotator.

1. Offsets count code points of the .txt file, line ends as they are; the end is excluded.
2. Chains are said in one of these ways (*conventions*), and several may be mixed:
   relations   `R1 Coref Arg1:T1 Arg2:T2`, any type that `--relation` names, else one that sounds like it
   sets        `* Equiv T1 T2 T3`, of any type
   events      `E1 CoreferenceLink:T1 next:E2`, as DKPro writes
   types       a second mention of the same text whose type is the entity's name, `Anna-12`, as in LitBank;
               only where none of the others is used, and what has no such second is a chain of one
3. A mention that is linked to nothing is a chain of one, unless it triggers an event.
4. Written back, mentions keep ids, types and all that refers to them; links that still hold are kept. A
   mention that is in no chain any more goes, with its attributes, unless events or other relations need it.
5. brat cannot mark a line end: a mention across lines is written in several pieces, and read as one.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from caspr.errors import FormatError, InputError
from caspr.files import decode, read_bytes
from caspr.formats.brat.ann import Lines, Link, Mention, new_id, parse
from caspr.formats.losses import lost_edges, lost_empty, removed_mentions
from caspr.formats.naming import collect, stem
from caspr.formats.options import ReadOptions
from caspr.formats.text_layer.characters import Extent, spell
from caspr.formats.text_layer.standoff import Marked, Text, annotate, count_unused, plan
from caspr.text.document import Annotation, Chain, Document
from caspr.text.findings import Finding, times, warning
from caspr.text.grouping import Groups

_COREFERENCE = re.compile(r"coref|identi|ident$|equiv|same|anaph", re.IGNORECASE)
_ENTITY = re.compile(r".+-[0-9]+")
_LINK_EVENT = re.compile(r"coref\w*link", re.IGNORECASE)


@dataclass(frozen=True)
class _Layout:
    """What the .ann file said."""

    text: str
    """The file."""
    lines: Lines
    """Its lines by kind."""
    convention: str
    """How it says chains: relations, sets, events or types."""
    type: str
    """The type of its relations, sets or events."""
    links: tuple[Link, ...]
    """The links that say chains."""
    marked: tuple[Marked, ...]
    """The mentions."""
    twins: Mapping[str, str] = field(default_factory=dict)
    """For each mention whose type is an entity's name the other mention of the same text."""


def detect(path: Path, head: str) -> bool:  # noqa: ARG001
    """Tell whether a file is one of brat's; its name must say so."""
    return path.suffix == ".ann"


def read(path: Path, annotator: str | None = None, choices: ReadOptions | None = None) -> list[Annotation]:
    """Read the .ann file of one document, and the text beside it."""
    path = path.with_suffix(".ann")
    content = decode(read_bytes(path), str(path))
    # A byte order mark counts as a character in brat.
    data = read_bytes(_text_path(path))
    mark = "\ufeff" if data.startswith(b"\xef\xbb\xbf") else ""
    text = mark + decode(data, str(_text_path(path)))
    lines = parse(content, str(path), len(text))
    layout = _understand(content, lines, choices or ReadOptions(), str(path))
    document = Document(path.stem, (), source=str(path), layout=layout)
    ends = [end.start() for end in re.finditer("\n", text)]
    who = path.stem if annotator is None else annotator
    odd = _strange_texts(lines, text, str(path))
    return [annotate(document, who, Text(text, None, ends), layout.marked, odd)]


def write(annotations: Iterable[Annotation]) -> dict[str, str | bytes]:
    """Write a .txt and an .ann file for each document."""
    return collect(file for annotation in annotations for file in _files(annotation))


def companions(path: Path) -> list[Path]:
    """Name the text that is read with an .ann file, if it is there."""
    try:
        return [_text_path(path)]
    except InputError:
        return []


def losses(annotation: Annotation) -> tuple[Finding, ...]:
    """Say what of an annotation this format cannot carry."""
    layout = annotation.document.layout
    gone = count_unused(annotation, layout.marked) if isinstance(layout, _Layout) else 0
    return (*lost_empty(annotation, "brat"), *lost_edges(annotation), *removed_mentions(annotation, gone))


def _text_path(path: Path) -> Path:
    text = path.with_suffix(".txt")
    if not text.exists():
        texts = list(path.parent.glob("*.txt"))
        if len(texts) == 1 and len(list(path.parent.glob("*.ann"))) == 1:
            return texts[0]
        raise InputError(f"{path}: found no {text.name} beside it, expected the text that it annotates")
    return text


def _understand(text: str, lines: Lines, choices: ReadOptions, source: str) -> _Layout:
    """Find out how a file says chains, and which mentions are in which."""
    links = tuple(link for link in lines.links if _says_chains(link, choices.relations))
    for link in links:
        _refuse_odd(link, lines, source)
    _refuse_cycles(links, source)
    entities = {} if links else _entity_types(lines.mentions.values())
    if entities:
        return _Layout(text, lines, "types", "", (), tuple(_typed_mentions(lines, entities)), entities)
    heads = _components(lines, links)
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
    name = first.type if first else next(iter(choices.relations), "Coreference")
    return _Layout(text, lines, convention, name, links, tuple(marked))


def _says_chains(link: Link, relations: Sequence[str]) -> bool:
    if link.id.startswith("E"):
        return bool(_LINK_EVENT.search(link.type)) or any(name == "next" for name, _ in link.roles[1:])
    if relations:
        return link.type.lower() in {name.lower() for name in relations}
    return link.id == "*" or bool(_COREFERENCE.search(link.type))


def _refuse_odd(link: Link, lines: Lines, source: str) -> None:
    """Refuse coreference between other things than mentions."""
    for _, id in link.roles:
        if id not in lines.mentions and id not in lines.triggers:
            raise FormatError(source, link.line.number, f"coreference with {id}", "mentions, such as T1")
    if link.id.startswith("R") and len(link.roles) != 2:
        raise FormatError(source, link.line.number, f"{len(link.roles)} arguments", "Arg1 and Arg2")


def _refuse_cycles(links: Sequence[Link], source: str) -> None:
    """Refuse events that follow each other in a circle."""
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
    twins = {one.pieces: one.id for one in given if not _ENTITY.fullmatch(one.type)}
    named = [one for one in given if _ENTITY.fullmatch(one.type)]
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


def _components(lines: Lines, links: Iterable[Link]) -> dict[str, str]:
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


def _strange_texts(lines: Lines, text: str, source: str) -> Iterator[Finding]:
    """Count mentions whose text in the .ann file is not that of the .txt file."""
    strange = []
    for mention in lines.mentions.values():
        said = mention.line.text.split("\t")[2:3]
        found = " ".join(text[start:end] for start, end in mention.pieces)
        if said and "".join(said[0].split()) != "".join(found.split()):
            strange.append(mention)
    if strange:
        message = (
            f"{times(len(strange), 'mention')} whose text is not what the .txt file has there (first: "
            f"{strange[0].id}); the offsets count"
        )
        yield warning(
            "text-mismatch", message, count=len(strange), where=f"{source}:{strange[0].line.number}"
        )


def _files(annotation: Annotation) -> Iterator[tuple[str, str | bytes]]:
    name = stem(annotation.document)
    text, _ = spell(annotation.document)
    yield f"{name}.txt", text
    yield f"{name}.ann", _write_ann(annotation, text)


def _write_ann(annotation: Annotation, text: str) -> str:
    layout = annotation.document.layout
    if not isinstance(layout, _Layout):
        layout = _Layout("", Lines(), "relations", "Coreference", (), ())
    known = layout.lines.mentions
    taken = known.keys() | {link.id for link in layout.lines.links}
    fresh = new_id("T", set(taken))
    written: list[str] = []
    chains: list[list[str]] = []
    used: set[str] = set()
    for chain, mentions in plan(annotation, layout.marked):
        ids = []
        for mention in mentions:
            used |= {mention.key, layout.twins.get(mention.key, mention.key)}
            type = _type(chain, mention, layout)
            if mention.key and type in ("", known[mention.key].type):
                ids.append(mention.key)
                continue
            used -= {mention.key} & layout.twins.keys()
            id = next(fresh)
            written.append(_mention_line(id, type or mention.label, mention.pieces, text))
            ids.append(id)
        chains.append(ids)
    kept, links = _links(layout, chains, set(taken))
    gone = _gone(layout, used | {id for ids in chains for id in ids}, kept)
    old = [line for line in layout.text.replace("\r\n", "\n").split("\n") if line and not _refers(line, gone)]
    return "".join(f"{line}\n" for line in (*old, *written, *links))


def _type(chain: Chain, mention: Marked, layout: _Layout) -> str:
    """Return the type a mention must have to be in a chain, if its type says so."""
    alone = len(chain.mentions) == 1 and mention.key and mention.key not in layout.twins
    if layout.convention != "types" or alone:
        return ""
    return chain.id if _ENTITY.fullmatch(chain.id) else f"entity-{chain.id}"


def _mention_line(id: str, type: str, pieces: Sequence[Extent], text: str) -> str:
    """Write a mention, cut where a line ends."""
    cut = [
        (start + part.start(), start + part.end())
        for start, end in pieces
        for part in re.finditer(r"[^\r\n]+", text[start:end])
    ] or list(pieces)
    offsets = ";".join(f"{start} {end}" for start, end in cut)
    words = (
        " ".join(text[start:end] for start, end in cut)
        .replace("\t", " ")
        .replace("\n", " ")
        .replace("\r", " ")
    )
    name = re.sub(r"[\s:;]", "_", type) or "Mention"
    return f"{id}\t{name} {offsets}\t{words}"


def _links(layout: _Layout, chains: Sequence[Sequence[str]], taken: set[str]) -> tuple[set[str], list[str]]:
    """Return the lines of links that still hold, and new ones for what they leave unsaid."""
    owner = {id: place for place, ids in enumerate(chains) for id in ids}
    triggers = layout.lines.triggers
    kept: list[Link] = []
    for link in layout.links if layout.convention != "events" else ():
        places = {owner.get(triggers.get(id, id)) for _, id in link.roles}
        whole = link.id != "*" or len(chains[next(iter(places)) or 0]) == len(link.roles)
        if len(places) == 1 and None not in places and whole:
            kept.append(link)
    joined = _components(layout.lines, kept)
    written: list[str] = []
    for ids in chains:
        heads = list(dict.fromkeys(joined.get(id, id) for id in ids))
        if layout.convention == "sets" and len(heads) > 1:
            written.append(f"*\t{layout.type} {' '.join(ids)}")
        elif layout.convention == "relations":
            written += [f"{layout.type} Arg1:{two} Arg2:{one}" for one, two in pairwise(heads)]
        elif layout.convention == "events":
            written += _events(layout, ids, taken)
    if layout.convention == "relations":
        written = [f"{id}\t{line}" for id, line in zip(new_id("R", taken), written, strict=False)]
    return {link.line.text for link in kept}, written


def _events(layout: _Layout, ids: Sequence[str], taken: set[str]) -> list[str]:
    """Write the events of one chain, with the ids they had."""
    had: Mapping[str, str] = {link.roles[0][1]: link.id for link in layout.links}
    fresh = new_id("E", taken)
    names = [had.get(id) or next(fresh) for id in ids]
    taken.update(names)
    nexts = [f" next:{name}" for name in names[1:]] + [""]
    return [f"{name}\t{layout.type}:{id}{rest}" for name, id, rest in zip(names, ids, nexts, strict=True)]


def _gone(layout: _Layout, used: set[str], kept: set[str]) -> set[str]:
    """Return the ids and lines of the file that say coreference and no longer hold."""
    lines = {link.line.text for link in layout.links} - kept
    says = {link.line for link in layout.links}
    needed = {id for link in layout.lines.links if link.line not in says for _, id in link.roles}
    marked = {one.key for one in layout.marked}
    mentions = (
        ({*marked, *(layout.twins.get(id, id) for id in marked)} - {""})
        - used
        - (needed - layout.twins.keys())
    )
    renewed = {link.id for link in layout.links if link.id.startswith("E")}
    events = renewed - {
        link.id for link in layout.links if link.id.startswith("E") and link.roles[0][1] in used
    }
    relations = {link.id for link in layout.links if link.id.startswith("R") and link.line.text in lines}
    return lines | mentions | events | relations


def _refers(line: str, gone: set[str]) -> bool:
    """Tell whether a line is to go, or is an attribute, a normalisation or a note of one that goes."""
    id, _, rest = line.partition("\t")
    if line in gone or id in gone:
        return True
    words = rest.split("\t")[0].split(" ")
    return id[:1] in ("A", "M", "N", "#") and len(words) > 1 and words[1] in gone
