"""Read MMAX2: the words of a project, and the markables of each level that holds chains."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from caspr.errors import FormatError
from caspr.formats.containers.xml import Element, Markup, is_gold
from caspr.formats.messages import quoted
from caspr.formats.mmax.project import Level, MmaxProject, open_project
from caspr.formats.options import ReadOptions
from caspr.formats.text_layer.standoff import Marked, assemble, join
from caspr.text.document import Annotation, Document, Span

NO_CHAIN = ("", "empty")


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


def read(path: Path, annotator: str | None = None, options: ReadOptions | None = None) -> list[Annotation]:
    """Read the annotators of one project."""
    project = open_project(path)
    ids, words = _words(project)
    number = {id: place for place, id in enumerate(ids, 1)}
    levels = _levels(project, options.layer if options else None)
    ends = tuple(sorted({runs[-1].end for _, runs in _sentences(project, number)}))
    names = tuple(level.name for level in project.levels)
    found = []
    for level, attribute in levels:
        marked = tuple(_mentions(level, attribute, number))
        layout = MmaxLayout(project, level, attribute, ids, len(levels) == 1, marked)
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
        if chain not in NO_CHAIN:
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
