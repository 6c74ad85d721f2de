"""Write brat: new chains in an .ann file, with everything else that was in it."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count, pairwise

from caspr.formats.brat.ann import Lines, Link, new_id
from caspr.formats.brat.conventions import ENTITY, GOLD_NOTE, BratLayout, components
from caspr.formats.losses import lost_edges, lost_empty, lost_entities, removed_mentions
from caspr.formats.naming import collect, stem
from caspr.formats.text_layer.characters import Extent, spell
from caspr.formats.text_layer.standoff import Marked, count_unused, plan
from caspr.text.document import Annotation, Chain
from caspr.text.findings import Finding


def write(annotations: Iterable[Annotation]) -> dict[str, str | bytes]:
    """Write a .txt and an .ann file for each document."""
    return collect(file for annotation in annotations for file in _files(annotation))


def losses(annotation: Annotation) -> tuple[Finding, ...]:
    """Return what of an annotation this format cannot carry."""
    layout = annotation.document.layout
    gone = count_unused(annotation, layout.marked) if isinstance(layout, BratLayout) else 0
    lost = (*lost_empty(annotation, "brat"), *lost_edges(annotation), *removed_mentions(annotation, gone))
    types = isinstance(layout, BratLayout) and layout.convention == "types"
    return (*lost, *lost_entities(annotation, names=types, types=True))


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
    kept, links = _links(layout, chains, set(taken))
    gone = _gone(layout, used | {id for ids in chains for id in ids}, kept)
    old = [line for line in layout.text.replace("\r\n", "\n").split("\n") if line and not _refers(line, gone)]
    kept_lines = [line for line in old if not GOLD_NOTE.fullmatch(line)]
    gold = list(_gold_note(chains, kept_lines)) if annotation.adjudicated else []
    return "".join(f"{line}\n" for line in (*kept_lines, *written, *links, *gold))


def _gold_note(chains: Sequence[Sequence[str]], lines: Iterable[str]) -> Iterator[str]:
    """Say on the first mention that this is a gold: brat has no other place for it."""
    taken = {line.partition("\t")[0] for line in lines}
    number = next(number for number in count(1) if f"#{number}" not in taken)
    for id in (id for ids in chains[:1] for id in ids[:1]):
        yield f"#{number}\tCasprGold {id}\tthe result of an adjudication"


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
    owner = {id: place for place, ids in enumerate(chains) for id in ids}
    triggers = layout.lines.triggers
    kept: list[Link] = []
    for link in layout.links if layout.convention != "events" else ():
        places = {owner.get(triggers.get(id, id)) for _, id in link.roles}
        whole = link.id != "*" or len(chains[next(iter(places)) or 0]) == len(link.roles)
        if len(places) == 1 and None not in places and whole:
            kept.append(link)
    joined = components(layout.lines, kept)
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
    """Return whether a line is removed, or is an attribute, a normalisation or a note of one that is."""
    id, _, rest = line.partition("\t")
    if line in gone or id in gone:
        return True
    words = rest.split("\t")[0].split(" ")
    return id[:1] in ("A", "M", "N", "#") and len(words) > 1 and words[1] in gone
