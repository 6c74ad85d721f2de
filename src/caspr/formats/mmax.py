"""MMAX2: words in one file, markables in one file for each level, and a project file that names them.

    talk.mmax   common_paths.xml   Basedata/talk_words.xml   Markables/talk_coref_level.xml   Schemes/...
    <markable id="markable_7" span="word_3..word_5,word_8" coref_class="set_4" mmax_level="coref"/>

1. `common_paths.xml` gives the folders and the levels; `$` is the project's name. Only files inside the
   project's folder are read, whatever the paths in it say. Schemes, styles and document type definitions are
   carried along as they are.
2. The attribute that holds chains is the one of type `markable_set` in the level's scheme, in lower
   case; without a scheme it is one whose values look like `set_4`. `empty` is not a chain: such a
   markable is not a mention.
3. Otherwise chains are pointers to antecedents, `anaphor_antecedent="markable_3;secmark:markable_4"`, in the
   same level or in another. What pointers connect is a chain; a markable without a pointer from or
   to it is not a mention. Written back, pointers inside a chain stay, and only those are added that connect
   it. A chain of one has no pointer: it is not written, but counted.
4. Every level with such an attribute is an annotator; `--layer` chooses one. The result goes into the
   level it came from; of several, into a new level called `gold`.
5. Markables with gaps list several runs of words. Words cannot be cut, since all levels refer to them.
6. Written back, a markable that is in no chain stays, with `empty`; new ones are added. All files of the
   project are written.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path, PurePosixPath

from caspr.errors import CasprError, FormatError, InputError, reading
from caspr.formats.containers.xml import (
    Edit,
    Element,
    Markup,
    attributes,
    edited,
    escaped,
    gold_edits,
    is_gold,
    parse,
    with_attribute,
)
from caspr.formats.format import Format, ReadOptions, lost, quoted
from caspr.formats.naming import collect, keep_ids, stem
from caspr.formats.text_layer import Marked, assemble, join, means_coreference, whole_words, widened
from caspr.storage import read_bytes
from caspr.text.document import Annotation, Document, Mark, Span
from caspr.text.findings import Finding, times, warning
from caspr.text.grouping import Groups

_SETS = re.compile(r"set_\S+")
_USUAL = ("coref_class", "coref_set", "coref", "set")


@dataclass(frozen=True)
class Level:
    """One level of markables."""

    name: str
    file: str
    """Its file below the project's folder, with `$` for the project's name."""
    markup: Markup
    path: str = ""
    scheme: Markup | None = None
    """What attributes they have, if the project has a scheme for them."""
    element: Element | None = field(default=None, compare=False)
    """Where `common_paths.xml` names it."""


@dataclass(frozen=True)
class MmaxProject:
    """All files of one document."""

    main: Markup
    paths: Markup | None
    words_file: str
    """The file of the words below the project's folder."""
    words: Markup
    levels: tuple[Level, ...]
    others: dict[str, bytes]
    """Files carried along, by their place below the project's folder."""

    def set_attribute(self, level: Level) -> str | None:
        """Return the attribute of a level that holds chains."""
        schemed = [] if level.scheme is None else list(level.scheme.root.all())
        for element in schemed:
            if element.name == "attribute" and element.attributes.get("type", "").lower() == "markable_set":
                return element.attributes.get("name", "coref_class").lower()
        if schemed:
            return None
        for markable in level.markup.root.named("markable"):
            for name, value in markable.attributes.items():
                if name in _USUAL or (_SETS.fullmatch(value) and name != "id"):
                    return name
        return None

    def files(self, name: str) -> dict[str, str | bytes]:
        """Return all files, for a project of some name."""
        levels = {level.file.replace("$", name): _raw(level.markup) for level in self.levels}
        paths = {} if self.paths is None else {"common_paths.xml": _raw(self.paths)}
        main = {f"{name}.mmax": _raw(self.main), self.words_file: _raw(self.words)}
        return {**self.others, **levels, **paths, **main}


def open_project(path: Path) -> MmaxProject:
    """Read a project, or raise what is wrong with it."""
    main = parse(read_bytes(path))
    words = main.root.first("words")
    if main.root.name != "mmax_project" or words is None or not words.text.strip():
        raise main.refuse(main.root, f"<{main.root.name}> without words", "<mmax_project> with <words>")
    common = path.parent / "common_paths.xml"
    paths = _parsed(common) if common.exists() else None
    words_file = _find(path, paths, "basedata_path", "Basedata/", words.text.strip())
    levels = tuple(_levels(path, paths))
    others = {name: read_bytes(path.parent / name) for name in _companions(path, paths)}
    return MmaxProject(main, paths, words_file, _open(path, words_file), levels, others)


def project_files(path: Path) -> list[Path]:
    """Return all other files that opening a project reads; of a broken project those that are known."""
    common = path.parent / "common_paths.xml"
    files = [common] if common.is_file() else []
    try:
        main = parse(read_bytes(path))
        paths = parse(read_bytes(common)) if files else None
        names = [*(name.replace("$", path.stem) for _, name, _ in _level_places(path, paths))]
        names += _companions(path, paths)
        files += [path.parent / name for name in dict.fromkeys(names)]
        words = main.root.first("words")
        if words is not None:
            files.append(path.parent / _find(path, paths, "basedata_path", "Basedata/", words.text.strip()))
    except CasprError:
        # What is wrong is reported when the project is opened.
        return files
    return files


def _levels(path: Path, paths: Markup | None) -> Iterator[Level]:
    for name, pattern, element in _level_places(path, paths):
        file = pattern.replace("$", path.stem)
        markup, source = _open(path, file), str(path.parent / file)
        if paths is None or element is None:
            yield Level(name, pattern, markup, source)
            continue
        scheme = element.attributes.get("schemefile", "")
        schemed = _inside(path, _folder(paths, "scheme_path", "Schemes/") + scheme)
        known = _parsed(schemed) if scheme and schemed.is_file() else None
        yield Level(name, pattern, markup, source, known, element)


def _level_places(path: Path, paths: Markup | None) -> Iterator[tuple[str, str, Element | None]]:
    """Yield the name and the file of each level that is there, and where `common_paths.xml` names it."""
    if paths is None:
        for file in sorted(path.parent.glob(f"**/{path.stem}_*_level.xml")):
            name = file.name.removeprefix(f"{path.stem}_").removesuffix("_level.xml")
            relative = file.relative_to(path.parent).as_posix()
            yield name, relative.replace(f"{path.stem}_", "$_", 1), None
        return
    for element in paths.root.all():
        if element.name == "level":
            pattern = _folder(paths, "markable_path", "Markables/") + element.text.strip()
            if _inside(path, pattern.replace("$", path.stem)).exists():
                with reading(path.parent / "common_paths.xml"):
                    name = paths.attribute(element, "name")
                yield name, pattern, element


def _folder(paths: Markup | None, name: str, usual: str) -> str:
    element = paths.root.first(name) if paths else None
    text = element.text.strip().replace("\\", "/") if element is not None else usual
    return text if not text or text.endswith("/") else f"{text}/"


def _find(path: Path, paths: Markup | None, folder: str, usual: str, file: str) -> str:
    """Return where a file is, below the project's folder."""
    for relative in (_folder(paths, folder, usual) + file, file):
        if _inside(path, relative).is_file():
            return relative
    relative = _folder(paths, folder, usual) + file
    raise InputError(f"{path}: the file {relative} with its words is missing: put it there")


def _inside(path: Path, relative: str) -> Path:
    """Return a file of the project, or refuse one outside its folder."""
    if relative.startswith("/") or ".." in relative.split("/") or "\0" in relative:
        expected = "files below the project's folder: move them there, and change common_paths.xml"
        raise FormatError(None, f"the path {quoted(relative)}", expected)
    return path.parent / relative


def _open(path: Path, relative: str) -> Markup:
    return _parsed(_inside(path, relative))


def _parsed(file: Path) -> Markup:
    with reading(file):
        return parse(read_bytes(file))


def _companions(path: Path, paths: Markup | None) -> Iterator[str]:
    """Yield the schemes, styles, customizations and definitions of a project."""
    folders = [
        (_folder(paths, "basedata_path", "Basedata/"), "*.dtd"),
        (_folder(paths, "markable_path", "Markables/"), "*.dtd"),
        (_folder(paths, "scheme_path", "Schemes/"), "*.xml"),
        (_folder(paths, "style_path", "Styles/"), "*.xsl"),
        (_folder(paths, "customization_path", "Customizations/"), "*.xml"),
    ]
    for folder, pattern in dict.fromkeys(folders):
        for file in sorted(_inside(path, folder).glob(pattern)):
            if file.is_file() and file.name != "common_paths.xml" and not file.name.endswith("_level.xml"):
                yield file.relative_to(path.parent).as_posix()


def _raw(markup: Markup) -> bytes:
    return markup.body.decode("utf-8").encode(markup.encoding, "xmlcharrefreplace")


def fresh_project(document: Document, name: str) -> MmaxProject:
    """Make the project of a document that has none, without any markables of chains."""
    words = "".join(
        f'<word id="word_{number}">{escaped(token)}</word>\n'
        for number, token in enumerate(document.tokens, 1)
    )
    coref = _made("coref", _markables("coref", ""), _SCHEME)
    sentence = _made(
        "sentence", _markables("sentence", _sentence_markables(document)), "<annotationscheme/>\n"
    )
    others = {
        f"Schemes/{level.name}_scheme.xml": _raw(level.scheme) for level in (coref, sentence) if level.scheme
    }
    others |= {"Basedata/words.dtd": _WORDS_DTD, "Markables/markables.dtd": _MARKABLES_DTD}
    file = f"{name}_words.xml"
    main = _xml(f"<mmax_project>\n<words>{escaped(file)}</words>\n</mmax_project>\n", "mmax_project")
    base = _xml(f"<words>\n{words}</words>\n", 'words SYSTEM "words.dtd"')
    return MmaxProject(
        main, _xml(_PATHS, "common_paths"), f"Basedata/{file}", base, (coref, sentence), others
    )


def _made(name: str, markables: Markup, scheme: str) -> Level:
    return Level(name, f"Markables/$_{name}_level.xml", markables, scheme=_xml(scheme))


def _markables(level: str, content: str) -> Markup:
    namespace = attributes([("xmlns", f"www.eml.org/NameSpaces/{level}")])
    return _xml(f"<markables{namespace}>\n{content}</markables>\n", 'markables SYSTEM "markables.dtd"')


def _sentence_markables(document: Document) -> str:
    lines, start = [], 1
    for number, end in enumerate(document.sentence_ends, 1):
        span = f"word_{start}..word_{end}" if start < end else f"word_{end}"
        values = [("id", f"markable_{number}"), ("span", span), ("mmax_level", "sentence")]
        lines.append(f"<markable{attributes(values)}/>\n")
        start = end + 1
    return "".join(lines)


def _xml(content: str, kind: str = "") -> Markup:
    doctype = f"<!DOCTYPE {kind}>\n" if kind else ""
    return parse(f'<?xml version="1.0" encoding="UTF-8"?>\n{doctype}{content}'.encode())


_PATHS = """<common_paths>
<basedata_path>Basedata/</basedata_path>
<scheme_path>Schemes/</scheme_path>
<style_path>Styles/</style_path>
<customization_path>Customizations/</customization_path>
<markable_path>Markables/</markable_path>
<annotations>
<level name="coref" schemefile="coref_scheme.xml">$_coref_level.xml</level>
<level name="sentence" schemefile="sentence_scheme.xml">$_sentence_level.xml</level>
</annotations>
</common_paths>
"""
_SCHEME = """<annotationscheme>
<attribute id="level_coref_class" name="Coref_class" type="markable_set" style="lcurve">
<value id="value_coref_class" name="Coref_class"/>
</attribute>
</annotationscheme>
"""
_WORDS_DTD = b"<!ELEMENT words (word*)>\n<!ELEMENT word (#PCDATA)>\n<!ATTLIST word id ID #REQUIRED>\n"
_MARKABLES_DTD = b"<!ELEMENT markables (markable*)>\n<!ATTLIST markable id ID #REQUIRED>\n"


NONE = ("", "empty")
"""The values of an attribute that holds no chain."""


def pointer_attribute(level: Level) -> str | None:
    """Return the attribute of a level that points to antecedents, if its scheme has one."""
    for element in level.scheme.root.all() if level.scheme is not None else ():
        name = element.attributes.get("name", "").lower()
        kind = element.attributes.get("type", "").lower()
        if element.name == "attribute" and kind == "markable_pointer" and means_coreference([name]):
            return name
    return None


def targets(value: str) -> list[str]:
    """Return the markables that a value points to.

    >>> targets("markable_3;secmark:markable_4"), targets("empty")
    (['markable_3', 'secmark:markable_4'], [])
    """
    return [part.strip() for part in value.split(";") if part.strip() not in NONE]


def pointed(project: MmaxProject, level: Level, attribute: str) -> Iterator[tuple[str, str, Level, Element]]:
    """Yield each markable that pointers connect with others, with its chain and its level."""
    known = {
        element.attributes.get("id", ""): (level, element) for element in level.markup.root.named("markable")
    }
    for other in project.levels:
        if other is not level:
            every = other.markup.root.named("markable")
            known |= {
                f"{other.name}:{element.attributes.get('id', '')}": (other, element) for element in every
            }
    groups = Groups(known)
    linked: set[str] = set()
    for id, (where, element) in known.items():
        for target in targets(element.attributes.get(attribute, "")) if where is level else ():
            # A level may name itself, too.
            end = target.removeprefix(f"{level.name}:")
            if end not in known:
                raise level.markup.refuse(element, f"a pointer to {target!r}", "the id of a markable")
            groups.join(id, end)
            linked |= {id, end}
    heads = groups.firsts()
    for id, (where, element) in known.items():
        if id in linked:
            yield id, heads[id], where, element


def pointer_values(chains: Sequence[Sequence[str]], before: dict[str, str]) -> dict[str, str]:
    """Return what the attribute of each markable of the level is, so that chains hold together.

    `before` has the values of the markables of the level; ids with a colon are in other levels, and get none.
    """
    values: dict[str, str] = {}
    for chain in chains:
        own = {
            id: [end for end in targets(before.get(id, "")) if end in chain] for id in chain if ":" not in id
        }
        groups = Groups(chain)
        for id, ends in own.items():
            for end in ends:
                groups.join(id, end)
        first, *rest = groups.lists()
        for group in rest:
            bare = sorted((id for id in group if id in own), key=lambda id: len(own[id]))
            if bare:
                own[bare[0]].append(first[0])
            elif any(id in own for id in first):
                own[next(id for id in first if id in own)].append(group[0])
            first = [*first, *group]
        values |= {id: ";".join(ends) or "empty" for id, ends in own.items()}
    return values


@dataclass(frozen=True)
class MmaxLayout:
    """A project and the level of it that was read."""

    project: MmaxProject
    level: Level
    attribute: str
    """The attribute that holds chains."""
    words: tuple[str, ...]
    alone: bool
    """Whether this is the only annotator of the project."""
    marked: tuple[tuple[str, str, tuple[Span, ...]], ...]
    """Id, chain and runs of words of each mention."""
    pointers: bool = False
    """Whether the attribute points to antecedents, instead of naming a set."""


def read(path: Path, annotator: str | None = None, options: ReadOptions | None = None) -> list[Annotation]:
    """Read the annotators of one project."""
    project = open_project(path)
    with reading(path.parent / project.words_file):
        ids, words = _words(project)
    number = {id: position for position, id in enumerate(ids, 1)}
    levels = _chosen_levels(project, options.layer if options else None)
    ends = tuple(sorted({runs[-1].end for _, runs in _sentences(project, number)}))
    names = tuple(level.name for level in project.levels)
    annotations = []
    for level, attribute, pointers in levels:
        find = _pointed if pointers else _mentions
        with reading(level.path):
            marked = tuple(find(project, level, attribute, number))
        layout = MmaxLayout(project, level, attribute, ids, len(levels) == 1, marked, pointers)
        document = Document(path.stem, words, None, str(path), (), layout, sentence_ends=ends, layers=names)
        name = path.stem if annotator is None else annotator
        who = name if len(levels) == 1 else level.name
        chains = [Marked(chain, ()) for _, chain, _ in marked]
        annotation = assemble(document, who, chains, [runs for _, _, runs in marked])
        annotations.append(replace(annotation, adjudicated=is_gold(level.markup)))
    return annotations


def _words(project: MmaxProject) -> tuple[tuple[str, ...], tuple[str, ...]]:
    words = project.words
    elements = list(words.root.named("word"))
    ids = tuple(words.attribute(word, "id") for word in elements)
    if len(set(ids)) < len(ids):
        twice = next(word for index, word in enumerate(elements) if ids[index] in ids[:index])
        raise words.refuse(
            twice, f"word {quoted(twice.attributes['id'])} for the second time", "each id once"
        )
    return ids, tuple(word.text for word in elements)


def _chosen_levels(project: MmaxProject, layer: str | None) -> list[tuple[Level, str, bool]]:
    """Choose the levels that hold chains, with the attribute that holds them and whether it is a pointer."""
    if layer is not None:
        chosen = [level for level in project.levels if level.name == layer]
        if not chosen:
            known = ", ".join(level.name for level in project.levels) or "none"
            raise FormatError(None, f"no level {quoted(layer)}", f"one of {known}")
        return [_attribute(project, level) or (level, "coref_class", False) for level in chosen]
    holding = [choice for level in project.levels if (choice := _attribute(project, level))]
    if not holding:
        expected = "a level with an attribute of type markable_set, or a markable_pointer to antecedents"
        raise FormatError(None, "no level with chains", f"{expected}, or --layer")
    return holding


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
    for id, chain, where, element in pointed(project, level, attribute):
        with reading(where.path):
            runs = _runs(where.markup, element, number)
        yield id, chain, runs


def _mentions(
    project: MmaxProject,  # noqa: ARG001
    level: Level,
    attribute: str,
    number: dict[str, int],
) -> Iterator[tuple[str, str, tuple[Span, ...]]]:
    _refuse_twice(level)
    for element in level.markup.root.named("markable"):
        chain = element.attributes.get(attribute, "").strip()
        if chain not in NONE:
            yield element.attributes["id"], chain, _runs(level.markup, element, number)


def _refuse_twice(level: Level) -> None:
    """Refuse a markable without an id, and an id that two have."""
    seen: set[str] = set()
    for element in level.markup.root.named("markable"):
        id = level.markup.attribute(element, "id")
        if id in seen:
            raise level.markup.refuse(element, f"markable {quoted(id)} for the second time", "each id once")
        seen.add(id)


def _runs(markup: Markup, element: Element, number: dict[str, int]) -> tuple[Span, ...]:
    """Read `word_3..word_5,word_8`."""
    spans = []
    for part in markup.attribute(element, "span").split(","):
        ends = [end.strip() for end in part.split("..")]
        if len(ends) > 2 or any(end not in number for end in ends) or number[ends[0]] > number[ends[-1]]:
            raise markup.refuse(
                element, f"span {quoted(part)}", "words of the text in order, `word_3..word_5`"
            )
        spans.append(Span(number[ends[0]], number[ends[-1]]))
    return join(spans)


def _sentences(project: MmaxProject, number: dict[str, int]) -> Iterator[tuple[str, tuple[Span, ...]]]:
    for level in project.levels:
        if level.name.lower() in ("sentence", "sentences"):
            for element in level.markup.root.named("markable"):
                with reading(level.path):
                    runs = _runs(level.markup, element, number)
                yield level.name, runs


_GOLD = "gold"


def write(annotations: Iterable[Annotation]) -> dict[str, str | bytes]:
    """Write a project for each document."""
    return collect(file for annotation in annotations for file in _files(whole_words(annotation)))


def losses(annotation: Annotation) -> tuple[Finding, ...]:
    """Return what of an annotation this format cannot carry."""
    findings = (*lost(annotation, gaps=True, edges=True), *widened(annotation))
    layout = annotation.document.layout
    alone = len(annotation.singletons)
    if not alone or not isinstance(layout, MmaxLayout) or not layout.pointers:
        return findings
    message = f"{times(alone, 'chain')} of one not written, because chains are pointers here"
    return (*findings, warning("lost-singletons", message, count=alone, where=annotation.annotator))


def _files(annotation: Annotation) -> Iterator[tuple[str, str | bytes]]:
    document, layout = annotation.document, annotation.document.layout
    path = PurePosixPath(stem(document))
    if not isinstance(layout, MmaxLayout) or len(layout.words) != len(document.tokens):
        project = fresh_project(document, path.name)
        ids = tuple(f"word_{number}" for number in range(1, len(document.tokens) + 1))
        layout = MmaxLayout(project, project.levels[0], "coref_class", ids, True, ())
    project = layout.project
    if not layout.alone:
        layout = _with_gold(layout, document.source)
        project = layout.project
    files = project.files(path.name)
    files[layout.level.file.replace("$", path.name)] = _level(annotation, layout)
    for name, content in files.items():
        yield (path.parent / name).as_posix(), content


def _with_gold(layout: MmaxLayout, source: str) -> MmaxLayout:
    """Add a level for the result, like that of the first annotator."""
    project, old = layout.project, layout.level
    if project.paths is None:
        raise InputError(
            f"{source}: common_paths.xml is missing, to which a level must be added: put it there"
        )
    declared = old.element
    assert declared is not None
    name = f"$_{_GOLD}_level.xml"
    level = replace(old, name=_GOLD, file=f"{old.file.rpartition('/')[0]}/{name}".removeprefix("/"))
    values = [(name, _GOLD if name == "name" else value) for name, value in declared.attributes.items()]
    line = f"\n<level{attributes(values)}>{name}</level>"
    exists = any(level.name == _GOLD for level in project.levels)
    paths = project.paths if exists else parse(edited(project.paths, [(declared.end, declared.end, line)]))
    return replace(layout, project=replace(project, paths=paths), level=level)


def _level(annotation: Annotation, layout: MmaxLayout) -> bytes:
    """Write the markables of the level, with the chains of the annotation."""
    markup = layout.level.markup
    known: dict[Span, list[tuple[str, str, tuple[Span, ...]]]] = {}
    for mention in layout.marked:
        known.setdefault(Span(mention[2][0].start, mention[2][-1].end), []).append(mention)
    pairs = [(chain, span) for span, group in known.items() for _, chain, _ in group]
    sets = (f"set_{number}" for number in count(1))
    renamed = keep_ids(
        annotation.all_chains, pairs, sets, lambda id: re.fullmatch(r"set_\S+", id) is not None
    )
    numbers = (
        element.attributes.get("id", "").rpartition("_")[2] for element in markup.root.named("markable")
    )
    first = max((int(number) for number in numbers if number.isascii() and number.isdecimal()), default=0) + 1
    fresh = (f"markable_{number}" for number in count(first))
    chains: dict[str, list[str]] = {chain.id: [] for chain in renamed}
    used: set[str] = set()
    made: dict[str, tuple[Span, ...]] = {}
    for chain in renamed:
        for span in chain.mentions:
            pieces = annotation.marks.get(span, Mark()).pieces or (span,)
            free = [mention for mention in known.get(span, ()) if mention[0] not in used]
            same = [mention for mention in free if mention[1] == chain.id] or [
                mention for mention in free if mention[2] == pieces
            ]
            if span == chain.mentions[-1] and all(
                ":" in id for id in (*chains[chain.id], *(o[0] for o in same[:1]))
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
    before = {element.attributes["id"]: element.attributes.get(layout.attribute, "") for element in every}
    return pointer_values(list(chains.values()), before)


def _markable(id: str, pieces: Sequence[Span], chain: str, layout: MmaxLayout) -> str:
    words = layout.words
    runs = [
        words[start - 1] if start == end else f"{words[start - 1]}..{words[end - 1]}" for start, end in pieces
    ]
    values = [
        ("id", id),
        ("span", ",".join(runs)),
        (layout.attribute, chain),
        ("mmax_level", layout.level.name),
    ]
    return f"<markable{attributes(values)}/>\n"


def _edits(layout: MmaxLayout, values: dict[str, str], new: Sequence[str]) -> Iterator[Edit]:
    root = layout.level.markup.root
    markup = layout.level.markup
    for element in root.named("markable"):
        before = element.attributes.get(layout.attribute)
        after = values.get(element.attributes["id"], "empty" if before is not None else None)
        if after is not None and after != before and not (after == "empty" and before in (None, *NONE)):
            yield with_attribute(markup, element, layout.attribute, after)
        if not layout.alone and "mmax_level" in element.attributes:
            yield with_attribute(markup, element, "mmax_level", _GOLD)
    if not layout.alone and "xmlns" in root.attributes:
        yield with_attribute(markup, root, "xmlns", f"www.eml.org/NameSpaces/{_GOLD}")
    if new and root.end > root.outer:
        yield root.outer, root.outer, "".join(new)
    elif new:
        tag = markup.body[root.inner - 2 : root.inner]
        assert tag == b"/>"
        yield root.inner - 2, root.end, f">\n{''.join(new)}</{root.name}>"


def detect(path: Path, head: str) -> bool:  # noqa: ARG001
    """Return whether the beginning of a file looks like this format."""
    return "<mmax_project" in head


FORMAT = Format(
    name="mmax",
    suffixes=(".mmax",),
    detect=detect,
    read=read,
    write=write,
    losses=losses,
    many_annotators=True,
    companions=project_files,
    project_suffixes=(".xml", ".dtd", ".xsl"),
)
