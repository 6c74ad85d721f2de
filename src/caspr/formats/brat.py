"""brat: a text in .txt and standoff annotations in .ann, usually in one folder for each annotator.

    T1   PER 0 4;10 15      Anna Meier     a mention, with gaps where it has several pairs of offsets
    R1   Coref Arg1:T1 Arg2:T2             a relation
    *    Equiv T1 T2 T3                    a set
    E1   Link:T1 next:E2                   an event: its trigger, then roles
    A1 M1 N1 #1                            attributes, normalisations and notes: kept as they are

1. Offsets count code points of the .txt file, line ends as they are; the end is excluded.
2. Chains are expressed in one of these ways (*conventions*), and several may be mixed:
   relations   `R1 Coref Arg1:T1 Arg2:T2`, of a type that `--relation` names, else of one such as `Coref`
   sets        `* Equiv T1 T2 T3`, of any type
   events      `E1 CoreferenceLink:T1 next:E2`, as DKPro writes
   types       a second mention of the same text whose type is the entity's name, `Anna-12`, as in LitBank;
               only where none of the others is used, and a mention without such a second is a chain of one
3. A mention that is linked to nothing is a chain of one, unless it triggers an event.
4. Written back, mentions keep ids, types and all that refers to them; links that still hold are kept. A
   mention that is in no chain any more is removed, with its attributes, unless events or other relations
   need it.
5. brat cannot mark a line end: a mention across lines is written in several pieces, and read as one.
"""

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, pairwise
from pathlib import Path

from caspr.errors import FormatError, InputError
from caspr.formats.columns import Line
from caspr.formats.format import Format, ReadOptions, lost, lost_empty, quoted, removed_mentions
from caspr.formats.naming import collect, stem
from caspr.formats.text_layer import (
    EntityFacts,
    Extent,
    Marked,
    Text,
    annotate,
    count_unused,
    means_coreference,
    plan,
    spell,
    unread_relations,
)
from caspr.storage import decode, read_bytes, read_text
from caspr.text.document import Annotation, Chain, Document, Flag, Mark
from caspr.text.findings import Finding, times, warning
from caspr.text.grouping import Groups

_MENTION = re.compile(r"(\S+) ([0-9]{1,12} [0-9]{1,12}(?:;[0-9]{1,12} [0-9]{1,12})*)")
_ROLE = re.compile(r"([^\s:]+):(\S+)")


@dataclass(frozen=True)
class Mention:
    """A line that marks text."""

    id: str
    type: str
    pieces: tuple[Extent, ...]
    line: Line


@dataclass(frozen=True)
class Link:
    """A line that connects others: a relation, a set or an event."""

    id: str
    """Such as R1 or E1; `*` for a set."""
    type: str
    roles: tuple[tuple[str, str], ...]
    """Names and ids of what it connects; the trigger of an event comes first, members have no names."""
    line: Line


@dataclass
class Lines:
    """All lines of a file, sorted by kind."""

    mentions: dict[str, Mention] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    """Relations, sets and events in order."""
    triggers: dict[str, str] = field(default_factory=dict)


def parse(text: str, length: int) -> Lines:
    """Read the lines about a text of `length` characters, or raise `FormatError`."""
    lines = Lines()
    seen: dict[str, int] = {}
    for number, content in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        line = Line(number, content)
        id, _, rest = content.partition("\t")
        if not content.strip() or id[:1] in ("A", "M", "N", "#"):
            continue
        if id[:1] not in ("T", "R", "E", "*"):
            raise FormatError(number, quoted(content), "a line that starts with T, R, E, A, M, N, # or *")
        if id != "*" and seen.setdefault(id, number) != number:
            expected = f"each id once; the first is in line {seen[id]}"
            raise FormatError(number, f"id {quoted(id)} for the second time", expected)
        if id.startswith("T"):
            lines.mentions[id] = _mention(id, rest, line, length)
        else:
            link = _link(id, rest, line)
            lines.links.append(link)
            if id.startswith("E"):
                lines.triggers[id] = link.roles[0][1]
    _refuse_missing(lines)
    return lines


def joined_lines(content: str, text: str) -> str:
    """Join the lines of mentions whose text holds line ends, which some programs copy into the .ann file.

    >>> joined_lines("T1\\tPER 0 8\\tSir\\nWill\\nT2\\tPER 0 3\\tSir\\n", "Sir\\nWill")
    'T1\\tPER 0 8\\tSir Will\\nT2\\tPER 0 3\\tSir\\n'
    """
    lines = content.replace("\r\n", "\n").split("\n")
    if len(lines) == 1 or "\n" not in text:
        return content
    joined: list[str] = []
    index = 0
    while index < len(lines):
        more = _continued(lines, index, text)
        joined.append(" ".join(lines[index : index + 1 + more]))
        index += 1 + more
    return "\n".join(joined) if len(joined) < len(lines) else content


def _continued(lines: list[str], index: int, text: str) -> int:
    """Count the lines after a mention that continue its text."""
    id, _, rest = lines[index].partition("\t")
    head, _, said = rest.partition("\t")
    parts = _MENTION.fullmatch(head.rstrip(" ")) if id.startswith("T") else None
    if parts is None:
        return 0
    pairs = [tuple(map(int, pair.split(" "))) for pair in parts[2].split(";")]
    words = " ".join(text[start:end] for start, end in pairs).replace("\r\n", "\n").split("\n")
    more = len(words) - 1
    same = [line.split() for line in (said, *lines[index + 1 : index + 1 + more])] == [
        word.split() for word in words
    ]
    return more if same else 0


def new_id(kind: str, taken: set[str]) -> Iterator[str]:
    """Count ids of a kind that are not taken."""
    numbers = (int(id[1:]) for id in taken if id[:1] == kind and id[1:].isascii() and id[1:].isdecimal())
    number = max(numbers, default=0)
    while True:
        number += 1
        yield f"{kind}{number}"


def _mention(id: str, rest: str, line: Line, length: int) -> Mention:
    head = rest.partition("\t")[0]
    parts = _MENTION.fullmatch(head.rstrip(" "))
    if parts is None:
        raise FormatError(line.number, quoted(line.text), "`T1<tab>Type 0 4<tab>text`")
    pieces = []
    for pair in parts[2].split(";"):
        start, end = map(int, pair.split(" "))
        if not start <= end <= length:
            expected = f"offsets in order and at most {length}, the length of the text"
            raise FormatError(line.number, f"offsets {pair}", expected)
        pieces.append((start, end))
    return Mention(id, parts[1], tuple(sorted(pieces)), line)


def _link(id: str, rest: str, line: Line) -> Link:
    head, *words = rest.partition("\t")[0].split(" ")
    if id == "*":
        members = tuple(("", word) for word in words if word)
        if head and members:
            return Link(id, head, members, line)
    else:
        arguments = [word for word in ([head, *words] if id.startswith("E") else words) if word]
        roles = [_ROLE.fullmatch(word) for word in arguments]
        pairs = tuple((role[1], role[2]) for role in roles if role)
        if head and pairs and len(pairs) == len(arguments):
            return Link(id, pairs[0][0] if id.startswith("E") else head, pairs, line)
    expected = "`R1<tab>Type Arg1:T1 Arg2:T2`, `*<tab>Type T1 T2` or `E1<tab>Type:T1 role:T2`"
    raise FormatError(line.number, quoted(line.text), expected)


def _refuse_missing(lines: Lines) -> None:
    known = lines.mentions.keys() | {link.id for link in lines.links}
    for link in lines.links:
        for _, id in link.roles:
            if id not in known:
                raise FormatError(link.line.number, f"a link to {quoted(id)}", "a line with that id")
        if link.id.startswith("E") and link.roles[0][1] not in lines.mentions:
            raise FormatError(link.line.number, f"trigger {link.roles[0][1]}", "a trigger such as T1")


ENTITY = re.compile(r".+-[0-9]+")
GOLD_NOTE = re.compile(r"^#[0-9]+\tCasprGold [A-Z][0-9]+\t.*$", re.MULTILINE)
"""The note on the first mention of a file that is the result of an adjudication."""
_LINK_EVENT = re.compile(r"coref\w*link", re.IGNORECASE)


@dataclass(frozen=True)
class BratLayout:
    """What an .ann file holds: its lines, and how they express chains."""

    text: str
    lines: Lines
    convention: str
    """How it expresses chains: relations, sets, events or types."""
    type: str
    """The type of its relations, sets or events."""
    links: tuple[Link, ...]
    marked: tuple[Marked, ...]
    twins: Mapping[str, str] = field(default_factory=dict)
    """For each mention whose type is an entity's name the other mention of the same text."""


def find_chains(text: str, lines: Lines, options: ReadOptions) -> BratLayout:
    """Find out how a file expresses chains, and which mentions are in which."""
    links = tuple(link for link in lines.links if _expresses_chains(link, options.relations))
    for link in links:
        _refuse_odd(link, lines)
    _refuse_cycles(links)
    entities = {} if links else _entity_types(lines.mentions.values())
    if entities:
        return BratLayout(text, lines, "types", "", (), tuple(_typed_mentions(lines, entities)), entities)
    heads = components(lines, links)
    triggers = set(lines.triggers.values())
    events = any(link.id.startswith("E") for link in links)
    marked = [
        Marked(heads.get(mention.id, mention.id), mention.pieces, mention.type, mention.id)
        for mention in lines.mentions.values()
        if mention.id in heads or not (events or mention.id in triggers)
    ]
    first = links[0] if links else None
    kinds = {"R": "relations", "*": "sets", "E": "events"}
    convention = kinds[first.id[0]] if first else "relations"
    name = first.type if first else next(iter(options.relations), "Coreference")
    return BratLayout(text, lines, convention, name, links, tuple(marked))


def unread(layout: BratLayout, options: ReadOptions) -> Iterator[Finding]:
    """Report the relations that are not read; no option reads events of other types."""
    read = {link.line.number for link in layout.links}
    others = [link.type for link in layout.lines.links if link.line.number not in read and link.id[0] != "E"]
    yield from unread_relations(others, [link.type for link in layout.links], options.relations)


def link_types(lines: Lines) -> tuple[str, ...]:
    """Name the kinds of lines that connect others, for messages."""
    kinds = {"R": "relation", "*": "set", "E": "event"}
    return tuple(sorted({f"{kinds[link.id[0]]} {link.type}" for link in lines.links}))


def entity_names(layout: BratLayout) -> dict[str, str]:
    """Return the names of entities where types express chains: `Anna-12` is called Anna."""
    if layout.convention != "types":
        return {}
    named = (mention.chain for mention in layout.marked if mention.key != mention.chain)
    return {chain: chain.rpartition("-")[0].replace("_", " ") for chain in named}


def _expresses_chains(link: Link, relations: Sequence[str]) -> bool:
    if link.id.startswith("E"):
        return bool(_LINK_EVENT.search(link.type)) or any(name == "next" for name, _ in link.roles[1:])
    return (link.id == "*" and not relations) or means_coreference([link.type], relations)


def _refuse_odd(link: Link, lines: Lines) -> None:
    """Refuse coreference between other things than mentions."""
    for _, id in link.roles:
        if id not in lines.mentions and id not in lines.triggers:
            raise FormatError(link.line.number, f"coreference with {id}", "mentions, such as T1")
    if link.id.startswith("R") and len(link.roles) != 2:
        raise FormatError(link.line.number, f"{len(link.roles)} arguments", "Arg1 and Arg2")


def _refuse_cycles(links: Sequence[Link]) -> None:
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
                raise FormatError(events[before].line.number, found, "a chain that ends")
            trail.add(id)
            before, id = id, after[id]
        safe.update(trail)


def _entity_types(mentions: Iterable[Mention]) -> dict[str, str]:
    """Return the mentions whose type is an entity's name, with the id of the other at the same place."""
    every = list(mentions)
    twins = {mention.pieces: mention.id for mention in every if not ENTITY.fullmatch(mention.type)}
    named = [mention for mention in every if ENTITY.fullmatch(mention.type)]
    if not any(mention.pieces in twins for mention in named):
        return {}
    return {mention.id: twins.get(mention.pieces, "") for mention in named}


def _typed_mentions(lines: Lines, entities: Mapping[str, str]) -> Iterator[Marked]:
    """List the mentions that name an entity, and those that have no entity as chains of one."""
    named = set(entities.values())
    triggers = set(lines.triggers.values())
    for mention in lines.mentions.values():
        if mention.id in entities:
            twin = lines.mentions.get(entities[mention.id])
            yield Marked(mention.type, mention.pieces, twin.type if twin else "", mention.id)
        elif mention.id not in named and mention.id not in triggers:
            yield Marked(mention.id, mention.pieces, mention.type, mention.id)


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
        for first, second in pairwise(ids):
            groups.join(first, second)
    return {id: groups.first(id) for id in linked}


_MARK = "\ufeff"
"""The byte order mark, as a character."""
_ONE_PIECE = re.compile(r"^T[^\t\n]*\t\S+ ([0-9]{1,9}) ([0-9]{1,9})\t([^\t\r\n]*)", re.MULTILINE)
"""A mention without gaps: where it begins and ends, and its words."""


def read(path: Path, annotator: str | None = None, options: ReadOptions | None = None) -> list[Annotation]:
    """Read the .ann file of one document, and the text beside it."""
    path = path.with_suffix(".ann")
    content = read_text(path)
    text_path = _text_path(path)
    text = _text(text_path, content)
    if not text and any(int(end) for _, end, _ in _ONE_PIECE.findall(content)):
        raise FormatError(None, "an empty file", f"the text that {path.name} annotates", str(text_path))
    content = joined_lines(content, text)
    lines = parse(content, len(text))
    options = options or ReadOptions()
    layout = find_chains(content, lines, options)
    document = Document(path.stem, (), source=str(path), layout=layout, layers=link_types(lines))
    document = replace(document, text_source=str(text_path))
    who = path.stem if annotator is None else annotator
    odd = (*_strange_texts(lines, text), *unread(layout, options))
    facts = EntityFacts(entity_names(layout), labels_are_types=True)
    # The mark counts as a character, but is not part of a word: other annotators' texts may lack it.
    blank = re.sub(f"^{_MARK}", " ", text)
    annotation = annotate(document, who, Text.of_lines(blank), layout.marked, odd, facts=facts)
    document = replace(annotation.document, characters=text)
    return [replace(annotation, document=document, adjudicated=GOLD_NOTE.search(content) is not None)]


def _text(path: Path, content: str) -> str:
    """Read a text, with the byte order mark that it may begin with.

    The mark counts as a character in brat. An editor can have put it there after the text was annotated:
    without it, more mentions of the .ann file have the words that the file gives them.
    """
    data = read_bytes(path)
    text = decode(data, path)
    if not data.startswith(codecs.BOM_UTF8):
        return text
    pieces = [
        (int(start), int(end), "".join(said.split())) for start, end, said in _ONE_PIECE.findall(content)
    ]
    counted, added = (
        sum(said == "".join(characters[start:end].split()) for start, end, said in pieces)
        for characters in (_MARK + text, text)
    )
    return text if added > counted else _MARK + text


def companions(path: Path) -> list[Path]:
    """Return the text that is read with an .ann file, if it exists."""
    try:
        return [_text_path(path)]
    except InputError:
        return []


def _text_path(path: Path) -> Path:
    text = path.with_suffix(".txt")
    if not text.exists():
        texts = list(path.parent.glob("*.txt"))
        if len(texts) == 1 and len(list(path.parent.glob("*.ann"))) == 1:
            return texts[0]
        raise InputError(f"{path}: the text that it annotates is missing: put {text.name} beside it")
    return text


def _strange_texts(lines: Lines, text: str) -> Iterator[Finding]:
    """Count mentions whose text in the .ann file is not that of the .txt file."""
    strange = [mention for mention in lines.mentions.values() if _is_strange(mention, text)]
    if strange:
        message = (
            f"{times(len(strange), 'mention')} whose text is not what the .txt file has there (first: "
            f"{strange[0].id}); the offsets count{_line_ends(strange, text)}"
        )
        yield warning("text-mismatch", message, count=len(strange), where=f":{strange[0].line.number}")


def _is_strange(mention: Mention, text: str) -> bool:
    said = mention.line.text.split("\t")[2:3]
    covered = " ".join(text[start:end] for start, end in mention.pieces)
    return bool(said) and "".join(said[0].split()) != "".join(covered.split())


def _line_ends(strange: Sequence[Mention], text: str) -> str:
    """Return a hint if mentions have their text where a line end counts as one character, as on Unix."""
    if "\r\n" not in text:
        return ""
    unix = text.replace("\r\n", "\n")
    fits = sum(not _is_strange(mention, unix) for mention in strange)
    return (
        f". The .txt file has Windows line ends, which count as two characters each; {fits:,} of these fit "
        "where they count as one: save the .txt file with Unix line ends"
        if fits
        else ""
    )


def write(annotations: Iterable[Annotation]) -> dict[str, str | bytes]:
    """Write a .txt and an .ann file for each document."""
    return collect(file for annotation in annotations for file in _files(annotation))


def losses(annotation: Annotation) -> tuple[Finding, ...]:
    """Return what of an annotation this format cannot carry."""
    layout = annotation.document.layout
    gone = count_unused(annotation, layout.marked) if isinstance(layout, BratLayout) else 0
    named = isinstance(layout, BratLayout) and layout.convention == "types"
    others = lost(annotation, labels=True, gaps=True, names=named, types=True, flags=True)
    return (*lost_empty(annotation, "brat"), *others, *removed_mentions(annotation, gone))


def _files(annotation: Annotation) -> Iterator[tuple[str, str | bytes]]:
    name = stem(annotation.document)
    text, _ = spell(annotation.document)
    yield f"{name}.txt", text
    yield f"{name}.ann", _write_ann(annotation, text)


def _write_ann(annotation: Annotation, text: str) -> str:
    layout = annotation.document.layout
    if not isinstance(layout, BratLayout):
        layout = BratLayout("", Lines(), "relations", "Coreference", (), ())
    known = layout.lines.mentions
    taken = known.keys() | {link.id for link in layout.lines.links}
    fresh = new_id("T", set(taken))
    written: list[str] = []
    chains: list[list[str]] = []
    flagged: list[tuple[str, Flag]] = []
    used: set[str] = set()
    for chain, mentions in plan(annotation, layout.marked, types=True):
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
        flagged += _flagged(annotation, chain, ids)
    kept, links = _links(layout, chains, set(taken))
    gone = _gone(layout, used | {id for ids in chains for id in ids}, kept)
    old = [line for line in layout.text.replace("\r\n", "\n").split("\n") if line and not _refers(line, gone)]
    kept_lines = [line for line in old if not GOLD_NOTE.fullmatch(line)]
    notes = [f"AnnotatorNotes {id}\t{flag}" for id, flag in flagged]
    if annotation.adjudicated:  # brat has no other place for it than a note on a mention
        notes += [f"CasprGold {id}\tthe result of an adjudication" for ids in chains[:1] for id in ids[:1]]
    said = _numbered(dict.fromkeys(notes), kept_lines)
    return "".join(f"{line}\n" for line in (*kept_lines, *written, *links, *said))


def _flagged(annotation: Annotation, chain: Chain, ids: Sequence[str]) -> Iterator[tuple[str, Flag]]:
    """Yield the flags of the mentions of a chain, which are written under some ids."""
    for mention, id in zip(chain.mentions, ids, strict=True):
        for flag in annotation.marks.get(mention, Mark()).flags:
            yield id, flag


def _numbered(notes: Iterable[str], lines: Sequence[str]) -> Iterator[str]:
    """Yield notes that are not in a file yet, under numbers that it does not have."""
    taken = {line.partition("\t")[0] for line in lines}
    there = {line.partition("\t")[2] for line in lines}
    free = (f"#{number}" for number in count(1) if f"#{number}" not in taken)
    yield from (f"{next(free)}\t{note}" for note in notes if note not in there)


def _type(chain: Chain, mention: Marked, layout: BratLayout) -> str:
    """Return the type a mention must have to be in a chain, if types express chains."""
    alone = len(chain.mentions) == 1 and mention.key and mention.key not in layout.twins
    if layout.convention != "types" or alone:
        return ""
    return chain.id if ENTITY.fullmatch(chain.id) else f"entity-{chain.id}"


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


def _links(
    layout: BratLayout, chains: Sequence[Sequence[str]], taken: set[str]
) -> tuple[set[str], list[str]]:
    """Return the lines of links that still hold, and new ones for all that they do not link."""
    owner = {id: number for number, ids in enumerate(chains) for id in ids}
    triggers = layout.lines.triggers
    kept: list[Link] = []
    for link in layout.links if layout.convention != "events" else ():
        owners = {owner.get(triggers.get(id, id)) for _, id in link.roles}
        [home] = owners if len(owners) == 1 else (None,)
        if home is not None and (link.id != "*" or len(chains[home]) == len(link.roles)):
            kept.append(link)
    joined = components(layout.lines, kept)
    written: list[str] = []
    for ids in chains:
        heads = list(dict.fromkeys(joined.get(id, id) for id in ids))
        if layout.convention == "sets" and len(heads) > 1:
            written.append(f"*\t{layout.type} {' '.join(ids)}")
        elif layout.convention == "relations":
            written += [f"{layout.type} Arg1:{second} Arg2:{first}" for first, second in pairwise(heads)]
        elif layout.convention == "events":
            written += _events(layout, ids, taken)
    if layout.convention == "relations":
        written = [f"{id}\t{line}" for id, line in zip(new_id("R", taken), written, strict=False)]
    return {link.line.text for link in kept}, written


def _events(layout: BratLayout, ids: Sequence[str], taken: set[str]) -> list[str]:
    """Write the events of one chain, with the ids they had."""
    had: Mapping[str, str] = {link.roles[0][1]: link.id for link in layout.links}
    fresh = new_id("E", taken)
    names = [had.get(id) or next(fresh) for id in ids]
    taken.update(names)
    nexts = [f" next:{name}" for name in names[1:]] + [""]
    return [f"{name}\t{layout.type}:{id}{rest}" for name, id, rest in zip(names, ids, nexts, strict=True)]


def _gone(layout: BratLayout, used: set[str], kept: set[str]) -> set[str]:
    """Return the ids and lines of the file that express coreference and no longer hold."""
    lines = {link.line.text for link in layout.links} - kept
    says = {link.line for link in layout.links}
    needed = {id for link in layout.lines.links if link.line not in says for _, id in link.roles}
    marked = {mention.key for mention in layout.marked}
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
    """Return whether a line is removed, or is an attribute, a normalisation or a note of one that is."""
    id, _, rest = line.partition("\t")
    if line in gone or id in gone:
        return True
    words = rest.split("\t")[0].split(" ")
    return id[:1] in ("A", "M", "N", "#") and len(words) > 1 and words[1] in gone


def detect(path: Path, head: str) -> bool:  # noqa: ARG001
    """Return whether a file is one of brat's, which only its name shows."""
    return path.suffix == ".ann"


FORMAT = Format(
    name="brat",
    suffixes=(".ann",),
    detect=detect,
    read=read,
    write=write,
    losses=losses,
    companions=companions,
    companion_suffixes=(".txt",),
    settings_files=("annotation.conf", "visual.conf", "tools.conf", "kb_shortcuts.conf"),
)
