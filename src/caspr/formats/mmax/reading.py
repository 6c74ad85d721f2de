"""Read MMAX2: the words of a project, and the markables of each level that holds chains."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from caspr.errors import FormatError
from caspr.formats.containers.xml import Element, Markup, is_gold
from caspr.formats.messages import quoted
from caspr.formats.mmax.pointers import NONE, pointed, pointer_attribute
from caspr.formats.mmax.project import Level, MmaxProject, open_project
from caspr.formats.options import ReadOptions
from caspr.formats.text_layer.standoff import Marked, assemble, join
from caspr.text.document import Annotation, Document, Span


@dataclass(frozen=True)
class MmaxLayout:
    """A project and the level of it that was read."""

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
    pointers: bool = False
    """Whether the attribute points to antecedents, instead of naming a set."""


def read(path: Path, annotator: str | None = None, options: ReadOptions | None = None) -> list[Annotation]:
    """Read the annotators of one project."""
    project = open_project(path)
    ids, words = _words(project)
    number = {id: place for place, id in enumerate(ids, 1)}
    levels = _levels(project, options.layer if options else None)
    ends = tuple(sorted({runs[-1].end for _, runs in _sentences(project, number)}))
    names = tuple(level.name for level in project.levels)
    found = []
    for level, attribute, pointers in levels:
        find = _pointed if pointers else _mentions
        marked = tuple(find(project, level, attribute, number))
        layout = MmaxLayout(project, level, attribute, ids, len(levels) == 1, marked, pointers)
        document = Document(path.stem, words, None, str(path), (), layout, sentence_ends=ends, layers=names)
        given = path.stem if annotator is None else annotator
        who = given if len(levels) == 1 else level.name
        chains = [Marked(chain, ()) for _, chain, _ in marked]
        annotation = assemble(document, who, chains, [runs for _, _, runs in marked])
        found.append(replace(annotation, adjudicated=is_gold(level.markup)))
    return found


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


def _levels(project: MmaxProject, layer: str | None) -> list[tuple[Level, str, bool]]:
    """Choose the levels that hold chains, with the attribute that holds them and whether it is a pointer."""
    if layer is not None:
        chosen = [level for level in project.levels if level.name == layer]
        if not chosen:
            known = ", ".join(level.name for level in project.levels) or "none"
            raise FormatError(project.main.source, None, f"no level {quoted(layer)}", f"one of {known}")
        return [_attribute(project, level) or (level, "coref_class", False) for level in chosen]
    found = [one for level in project.levels if (one := _attribute(project, level))]
    if not found:
        expected = "a level with an attribute of type markable_set, or a markable_pointer to antecedents"
        raise FormatError(project.main.source, None, "no level with chains", f"{expected}, or --layer")
    return found


def _attribute(project: MmaxProject, level: Level) -> tuple[Level, str, bool] | None:
    if name := project.set_attribute(level):
        return level, name, False
    if name := pointer_attribute(level):
        return level, name, True
    return None


def _pointed(
    project: MmaxProject, level: Level, attribute: str, number: dict[str, int]
) -> Iterator[tuple[str, str, tuple[Span, ...]]]:
    _refuse_twice(level)
    for id, chain, where, one in pointed(project, level, attribute):
        yield id, chain, _runs(where.markup, one, number)


def _mentions(
    project: MmaxProject,  # noqa: ARG001
    level: Level,
    attribute: str,
    number: dict[str, int],
) -> Iterator[tuple[str, str, tuple[Span, ...]]]:
    _refuse_twice(level)
    for one in level.markup.root.named("markable"):
        chain = one.attributes.get(attribute, "").strip()
        if chain not in NONE:
            yield one.attributes["id"], chain, _runs(level.markup, one, number)


def _refuse_twice(level: Level) -> None:
    """Refuse a markable without an id, and an id that two have."""
    seen: set[str] = set()
    for one in level.markup.root.named("markable"):
        id = level.markup.attribute(one, "id")
        if id in seen:
            raise level.markup.refuse(one, f"markable {quoted(id)} for the second time", "each id once")
        seen.add(id)


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
