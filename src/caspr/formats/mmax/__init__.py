"""MMAX2: words in one file, markables in one file for each level, and a project file that names them.

    talk.mmax   common_paths.xml   Basedata/talk_words.xml   Markables/talk_coref_level.xml   Schemes/...
    <markable id="markable_7" span="word_3..word_5,word_8" coref_class="set_4" mmax_level="coref"/>

1. `common_paths.xml` says where things are and which levels there are; `$` is the project's name.
2. The attribute that holds chains is the one of type `markable_set` in the level's scheme, in small
   letters; without a scheme it is one whose values look like `set_4`. `empty` is no chain: such a
   markable is no mention.
3. Every level with such an attribute is an annotator; `--layer` chooses one. The result goes into the
   level it came from; of several, into a new level called `gold`.
4. Markables with gaps list several runs of words. Words cannot be cut, since all levels refer to them.
5. Written back, a markable that is in no chain stays, with `empty`; new ones are added. All files of the
   project are written.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path, PurePosixPath

from caspr.errors import FormatError, InputError
from caspr.formats.chain_ids import keep_ids
from caspr.formats.containers.xml import Edit, Element, Markup, attributes, edited, parse, with_attribute
from caspr.formats.losses import lost_marks
from caspr.formats.messages import quoted
from caspr.formats.mmax.project import Level, MmaxProject, fresh_project, open_project, project_files
from caspr.formats.naming import collect, stem
from caspr.formats.options import ReadOptions
from caspr.formats.text_layer.cut_words import whole_words, widened
from caspr.formats.text_layer.standoff import Marked, assemble, join
from caspr.text.document import Annotation, Document, Mark, Span
from caspr.text.findings import Finding

_NONE = ("", "empty")
_GOLD = "gold"


@dataclass(frozen=True)
class _Layout:
    """What the project said."""

    project: MmaxProject
    """All its files."""
    level: Level
    """The level of the annotator."""
    attribute: str
    """The attribute that holds chains."""
    words: tuple[str, ...]
    """The id of each word."""
    alone: bool
    """Whether this is the only annotator of the project."""
    marked: tuple[tuple[str, str, tuple[Span, ...]], ...]
    """Id, chain and runs of words of each mention."""


def detect(path: Path, head: str) -> bool:  # noqa: ARG001
    """Tell whether the beginning of a file looks like this format."""
    return "<mmax_project" in head


def read(path: Path, annotator: str | None = None, choices: ReadOptions | None = None) -> list[Annotation]:
    """Read the annotators of one project."""
    project = open_project(path)
    ids, words = _words(project)
    number = {id: place for place, id in enumerate(ids, 1)}
    levels = _levels(project, choices.layer if choices else None)
    ends = tuple(sorted({runs[-1].end for _, runs in _sentences(project, number)}))
    found = []
    for level, attribute in levels:
        marked = tuple(_mentions(level, attribute, number))
        layout = _Layout(project, level, attribute, ids, len(levels) == 1, marked)
        document = Document(path.stem, words, None, str(path), (), layout, sentence_ends=ends)
        given = path.stem if annotator is None else annotator
        who = given if len(levels) == 1 else level.name
        chains = [Marked(chain, ()) for _, chain, _ in marked]
        found.append(assemble(document, who, chains, [runs for _, _, runs in marked]))
    return found


def write(annotations: Iterable[Annotation]) -> dict[str, str | bytes]:
    """Write a project for each document."""
    return collect(file for annotation in annotations for file in _files(whole_words(annotation)))


def companions(path: Path) -> list[Path]:
    """Name the other files of a project."""
    return project_files(path)


def losses(annotation: Annotation) -> tuple[Finding, ...]:
    """Say what of an annotation this format cannot carry."""
    return (*lost_marks(annotation, labels=False, gaps=True), *widened(annotation))


def _words(project: MmaxProject) -> tuple[tuple[str, ...], tuple[str, ...]]:
    words = project.words
    found = list(words.root.named("word"))
    ids = tuple(words.attribute(word, "id") for word in found)
    if len(set(ids)) < len(ids):
        twice = next(word for place, word in enumerate(found) if ids[place] in ids[:place])
        raise words.refuse(
            twice, f"word {quoted(twice.attributes['id'])} for the second time", "each id once"
        )
    return ids, tuple(word.text for word in found)


def _levels(project: MmaxProject, layer: str | None) -> list[tuple[Level, str]]:
    """Choose the levels that hold chains, with the attribute that holds them."""
    if layer is not None:
        chosen = [level for level in project.levels if level.name == layer]
        if not chosen:
            known = ", ".join(level.name for level in project.levels) or "none"
            raise FormatError(project.main.source, None, f"no level {quoted(layer)}", f"one of {known}")
        return [(level, project.set_attribute(level) or "coref_class") for level in chosen]
    found = [(level, name) for level in project.levels if (name := project.set_attribute(level))]
    if not found:
        expected = "a level with an attribute of type markable_set, or --layer"
        raise FormatError(project.main.source, None, "no level with chains", expected)
    return found


def _mentions(
    level: Level, attribute: str, number: dict[str, int]
) -> Iterator[tuple[str, str, tuple[Span, ...]]]:
    seen: set[str] = set()
    for one in level.markup.root.named("markable"):
        id = level.markup.attribute(one, "id")
        if id in seen:
            raise level.markup.refuse(one, f"markable {quoted(id)} for the second time", "each id once")
        seen.add(id)
        chain = one.attributes.get(attribute, "").strip()
        if chain not in _NONE:
            yield id, chain, _runs(level.markup, one, number)


def _runs(markup: Markup, one: Element, number: dict[str, int]) -> tuple[Span, ...]:
    """Read `word_3..word_5,word_8`."""
    spans = []
    for part in markup.attribute(one, "span").split(","):
        ends = [end.strip() for end in part.split("..")]
        if len(ends) > 2 or any(end not in number for end in ends) or number[ends[0]] > number[ends[-1]]:
            raise markup.refuse(one, f"span {quoted(part)}", "words of the text in order, `word_3..word_5`")
        spans.append(Span(number[ends[0]], number[ends[-1]]))
    return join(spans)


def _sentences(project: MmaxProject, number: dict[str, int]) -> Iterator[tuple[str, tuple[Span, ...]]]:
    for level in project.levels:
        if level.name.lower() in ("sentence", "sentences"):
            for one in level.markup.root.named("markable"):
                yield level.name, _runs(level.markup, one, number)


def _files(annotation: Annotation) -> Iterator[tuple[str, str | bytes]]:
    document, layout = annotation.document, annotation.document.layout
    path = PurePosixPath(stem(document))
    if not isinstance(layout, _Layout) or len(layout.words) != len(document.tokens):
        project = fresh_project(document, path.name)
        ids = tuple(f"word_{number}" for number in range(1, len(document.tokens) + 1))
        layout = _Layout(project, project.levels[0], "coref_class", ids, True, ())
    project = layout.project
    if not layout.alone:
        layout = _with_gold(layout)
        project = layout.project
    files = project.files(path.name)
    files[layout.level.file.replace("$", path.name)] = _level(annotation, layout)
    for name, content in files.items():
        yield (path.parent / name).as_posix(), content


def _with_gold(layout: _Layout) -> _Layout:
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


def _level(annotation: Annotation, layout: _Layout) -> bytes:
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
    values: dict[str, str] = {}
    new: list[str] = []
    for chain in renamed:
        for span in chain.mentions:
            pieces = annotation.marks.get(span, Mark()).pieces or (span,)
            free = [one for one in known.get(span, ()) if one[0] not in values]
            same = [one for one in free if one[1] == chain.id] or [one for one in free if one[2] == pieces]
            if same:
                values[same[0][0]] = chain.id
            else:
                new.append(_markable(next(fresh), pieces, chain.id, layout))
    return edited(markup, _edits(layout, values, new))


def _markable(id: str, pieces: Sequence[Span], chain: str, layout: _Layout) -> str:
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


def _edits(layout: _Layout, values: dict[str, str], new: Sequence[str]) -> Iterator[Edit]:
    root = layout.level.markup.root
    markup = layout.level.markup
    for one in root.named("markable"):
        before = one.attributes.get(layout.attribute)
        after = values.get(one.attributes["id"], "empty" if before is not None else None)
        if after is not None and after != before and not (after == "empty" and before in _NONE):
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
