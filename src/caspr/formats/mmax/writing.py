"""Write MMAX2: all files of a project, with new chains in one level."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from pathlib import PurePosixPath

from caspr.errors import InputError
from caspr.formats.chain_ids import keep_ids
from caspr.formats.containers.xml import Edit, attributes, edited, gold_edits, parse, with_attribute
from caspr.formats.losses import lost_entities, lost_marks
from caspr.formats.mmax.pointers import NONE, pointer_values
from caspr.formats.mmax.project import fresh_project
from caspr.formats.mmax.reading import MmaxLayout
from caspr.formats.naming import collect, stem
from caspr.formats.text_layer.cut_words import whole_words, widened
from caspr.text.document import Annotation, Mark, Span
from caspr.text.findings import Finding, times, warning

_GOLD = "gold"


def write(annotations: Iterable[Annotation]) -> dict[str, str | bytes]:
    """Write a project for each document."""
    return collect(file for annotation in annotations for file in _files(whole_words(annotation)))


def losses(annotation: Annotation) -> tuple[Finding, ...]:
    """Return what of an annotation this format cannot carry."""
    marks = lost_marks(annotation, labels=False, gaps=True)
    lost = (*marks, *widened(annotation), *lost_entities(annotation))
    layout = annotation.document.layout
    alone = len(annotation.singletons)
    if not alone or not isinstance(layout, MmaxLayout) or not layout.pointers:
        return lost
    message = f"{times(alone, 'chain')} of one not written, because chains are pointers here"
    return (*lost, warning("lost-singletons", message, count=alone, where=annotation.annotator))


def _files(annotation: Annotation) -> Iterator[tuple[str, str | bytes]]:
    document, layout = annotation.document, annotation.document.layout
    path = PurePosixPath(stem(document))
    if not isinstance(layout, MmaxLayout) or len(layout.words) != len(document.tokens):
        project = fresh_project(document, path.name)
        ids = tuple(f"word_{number}" for number in range(1, len(document.tokens) + 1))
        layout = MmaxLayout(project, project.levels[0], "coref_class", ids, True, ())
    project = layout.project
    if not layout.alone:
        layout = _with_gold(layout)
        project = layout.project
    files = project.files(path.name)
    files[layout.level.file.replace("$", path.name)] = _level(annotation, layout)
    for name, content in files.items():
        yield (path.parent / name).as_posix(), content


def _with_gold(layout: MmaxLayout) -> MmaxLayout:
    """Add a level for the result, like that of the first annotator."""
    project, old = layout.project, layout.level
    if project.paths is None:
        raise InputError(f"{project.main.source}: found no common_paths.xml, expected one to add a level to")
    place = old.element
    assert place is not None
    name = f"$_{_GOLD}_level.xml"
    level = replace(old, name=_GOLD, file=f"{old.file.rpartition('/')[0]}/{name}".removeprefix("/"))
    given = [(name, _GOLD if name == "name" else value) for name, value in place.attributes.items()]
    line = f"\n<level{attributes(given)}>{name}</level>"
    exists = any(one.name == _GOLD for one in project.levels)
    paths = (
        project.paths
        if exists
        else parse(edited(project.paths, [(place.end, place.end, line)]), project.paths.source)
    )
    return replace(layout, project=replace(project, paths=paths), level=level)


def _level(annotation: Annotation, layout: MmaxLayout) -> bytes:
    """Write the markables of the level, with the chains of the annotation."""
    markup = layout.level.markup
    known: dict[Span, list[tuple[str, str, tuple[Span, ...]]]] = {}
    for one in layout.marked:
        known.setdefault(Span(one[2][0].start, one[2][-1].end), []).append(one)
    pairs = [(chain, span) for span, ones in known.items() for _, chain, _ in ones]
    sets = (f"set_{number}" for number in count(1))
    renamed = keep_ids(
        annotation.all_chains, pairs, sets, lambda id: re.fullmatch(r"set_\S+", id) is not None
    )
    numbers = (one.attributes.get("id", "").rpartition("_")[2] for one in markup.root.named("markable"))
    first = max((int(number) for number in numbers if number.isascii() and number.isdecimal()), default=0) + 1
    fresh = (f"markable_{number}" for number in count(first))
    chains: dict[str, list[str]] = {chain.id: [] for chain in renamed}
    used: set[str] = set()
    made: dict[str, tuple[Span, ...]] = {}
    for chain in renamed:
        for span in chain.mentions:
            pieces = annotation.marks.get(span, Mark()).pieces or (span,)
            free = [one for one in known.get(span, ()) if one[0] not in used]
            same = [one for one in free if one[1] == chain.id] or [one for one in free if one[2] == pieces]
            if span == chain.mentions[-1] and all(
                ":" in one for one in (*chains[chain.id], *(o[0] for o in same[:1]))
            ):
                same = []  # Only markables of the level itself can point.
            id = same[0][0] if same else next(fresh)
            used.add(id)
            chains[chain.id].append(id)
            if not same:
                made[id] = pieces
    values = _values(layout, chains)
    new = [_markable(id, pieces, values[id], layout) for id, pieces in made.items()]
    return edited(markup, [*_edits(layout, values, new), *gold_edits(markup, annotation.adjudicated)])


def _values(layout: MmaxLayout, chains: dict[str, list[str]]) -> dict[str, str]:
    """Return the attribute of each markable in a chain."""
    if not layout.pointers:
        return {id: chain for chain, ids in chains.items() for id in ids}
    every = layout.level.markup.root.named("markable")
    before = {one.attributes["id"]: one.attributes.get(layout.attribute, "") for one in every}
    return pointer_values(list(chains.values()), before)


def _markable(id: str, pieces: Sequence[Span], chain: str, layout: MmaxLayout) -> str:
    words = layout.words
    runs = [
        words[start - 1] if start == end else f"{words[start - 1]}..{words[end - 1]}" for start, end in pieces
    ]
    given = [
        ("id", id),
        ("span", ",".join(runs)),
        (layout.attribute, chain),
        ("mmax_level", layout.level.name),
    ]
    return f"<markable{attributes(given)}/>\n"


def _edits(layout: MmaxLayout, values: dict[str, str], new: Sequence[str]) -> Iterator[Edit]:
    root = layout.level.markup.root
    markup = layout.level.markup
    for one in root.named("markable"):
        before = one.attributes.get(layout.attribute)
        after = values.get(one.attributes["id"], "empty" if before is not None else None)
        if after is not None and after != before and not (after == "empty" and before in (None, *NONE)):
            yield with_attribute(markup, one, layout.attribute, after)
        if not layout.alone and "mmax_level" in one.attributes:
            yield with_attribute(markup, one, "mmax_level", _GOLD)
    if not layout.alone and "xmlns" in root.attributes:
        yield with_attribute(markup, root, "xmlns", f"www.eml.org/NameSpaces/{_GOLD}")
    if new and root.end > root.outer:
        yield root.outer, root.outer, "".join(new)
    elif new:
        tag = markup.body[root.inner - 2 : root.inner]
        assert tag == b"/>"
        yield root.inner - 2, root.end, f">\n{''.join(new)}</{root.name}>"
