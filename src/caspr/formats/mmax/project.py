"""MMAX2 projects: which files belong together, found, opened and made anew.

Only files inside the project's folder are read, whatever the paths in it say. Schemes, styles and document
type definitions are carried along as they are.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from caspr.errors import CasprError, FormatError, InputError
from caspr.files import read_bytes
from caspr.formats.containers.xml import Element, Markup, attributes, escaped, parse
from caspr.formats.messages import quoted
from caspr.text.document import Document

_SETS = re.compile(r"set_\S+")
_USUAL = ("coref_class", "coref_set", "coref", "set")


@dataclass(frozen=True)
class Level:
    """One level of markables."""

    name: str
    """Such as coref."""
    file: str
    """Its file below the project's folder, with `$` for the project's name."""
    markup: Markup
    """The markables."""
    scheme: Markup | None = None
    """What attributes they have, if the project has a scheme for them."""
    element: Element | None = field(default=None, compare=False)
    """Where `common_paths.xml` names it."""


@dataclass(frozen=True)
class MmaxProject:
    """All files of one document."""

    main: Markup
    """The .mmax file."""
    paths: Markup | None
    """common_paths.xml."""
    words_file: str
    """The file of the words below the project's folder."""
    words: Markup
    """The words."""
    levels: tuple[Level, ...]
    """The levels of markables."""
    others: dict[str, bytes]
    """Files carried along, by their place below the project's folder."""

    def set_attribute(self, level: Level) -> str | None:
        """Return the attribute of a level that holds chains."""
        schemed = [] if level.scheme is None else list(level.scheme.root.all())
        for one in schemed:
            if one.name == "attribute" and one.attributes.get("type", "").lower() == "markable_set":
                return one.attributes.get("name", "coref_class").lower()
        if schemed:
            return None
        for one in level.markup.root.named("markable"):
            for name, value in one.attributes.items():
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
    main = parse(read_bytes(path), str(path))
    words = main.root.first("words")
    if main.root.name != "mmax_project" or words is None or not words.text.strip():
        raise main.refuse(main.root, f"<{main.root.name}> without words", "<mmax_project> with <words>")
    common = path.parent / "common_paths.xml"
    paths = parse(read_bytes(common), str(common)) if common.exists() else None
    words_file = _find(path, paths, "basedata_path", "Basedata/", words.text.strip())
    levels = tuple(_levels(path, paths))
    others = {name: read_bytes(path.parent / name) for name in _companions(path, paths)}
    return MmaxProject(main, paths, words_file, _open(path, words_file), levels, others)


def project_files(path: Path) -> list[Path]:
    """Return all other files that opening a project reads; of a broken project those that are known."""
    common = path.parent / "common_paths.xml"
    found = [common] if common.is_file() else []
    try:
        main = parse(read_bytes(path), str(path))
        paths = parse(read_bytes(common), str(common)) if found else None
        places = [*(place.replace("$", path.stem) for _, place, _ in _level_places(path, paths))]
        places += _companions(path, paths)
        found += [path.parent / place for place in dict.fromkeys(places)]
        words = main.root.first("words")
        if words is not None:
            found.append(path.parent / _find(path, paths, "basedata_path", "Basedata/", words.text.strip()))
    except CasprError:
        # What is wrong is reported when the project is opened.
        return found
    return found


def _levels(path: Path, paths: Markup | None) -> Iterator[Level]:
    for name, place, one in _level_places(path, paths):
        markup = _open(path, place.replace("$", path.stem))
        if paths is None or one is None:
            yield Level(name, place, markup)
            continue
        scheme = one.attributes.get("schemefile", "")
        schemed = _inside(path, _folder(paths, "scheme_path", "Schemes/") + scheme)
        known = parse(read_bytes(schemed), str(schemed)) if scheme and schemed.is_file() else None
        yield Level(name, place, markup, known, one)


def _level_places(path: Path, paths: Markup | None) -> Iterator[tuple[str, str, Element | None]]:
    """Yield the name and the file of each level that is there, and where `common_paths.xml` names it."""
    if paths is None:
        for found in sorted(path.parent.glob(f"**/{path.stem}_*_level.xml")):
            name = found.name.removeprefix(f"{path.stem}_").removesuffix("_level.xml")
            relative = found.relative_to(path.parent).as_posix()
            yield name, relative.replace(f"{path.stem}_", "$_", 1), None
        return
    for one in paths.root.all():
        if one.name == "level":
            place = _folder(paths, "markable_path", "Markables/") + one.text.strip()
            if _inside(path, place.replace("$", path.stem)).exists():
                yield paths.attribute(one, "name"), place, one


def _folder(paths: Markup | None, name: str, usual: str) -> str:
    found = paths.root.first(name) if paths else None
    text = found.text.strip().replace("\\", "/") if found is not None else usual
    return text if not text or text.endswith("/") else f"{text}/"


def _find(path: Path, paths: Markup | None, folder: str, usual: str, file: str) -> str:
    """Return where a file is, below the project's folder."""
    for place in (_folder(paths, folder, usual) + file, file):
        if _inside(path, place).is_file():
            return place
    place = _folder(paths, folder, usual) + file
    raise InputError(f"{path}: found no file {place}, expected the words that it names")


def _inside(path: Path, place: str) -> Path:
    """Return a file of the project, or refuse one outside its folder."""
    if place.startswith("/") or ".." in place.split("/") or "\0" in place:
        expected = "files below the project's folder: move them there, and change common_paths.xml"
        raise FormatError(str(path), None, f"the path {quoted(place)}", expected)
    return path.parent / place


def _open(path: Path, place: str) -> Markup:
    file = _inside(path, place)
    return parse(read_bytes(file), str(file))


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
    return Level(name, f"Markables/$_{name}_level.xml", markables, _xml(scheme))


def _markables(level: str, content: str) -> Markup:
    given = attributes([("xmlns", f"www.eml.org/NameSpaces/{level}")])
    return _xml(f"<markables{given}>\n{content}</markables>\n", 'markables SYSTEM "markables.dtd"')


def _sentence_markables(document: Document) -> str:
    lines, start = [], 1
    for number, end in enumerate(document.sentence_ends, 1):
        span = f"word_{start}..word_{end}" if start < end else f"word_{end}"
        given = [("id", f"markable_{number}"), ("span", span), ("mmax_level", "sentence")]
        lines.append(f"<markable{attributes(given)}/>\n")
        start = end + 1
    return "".join(lines)


def _xml(content: str, kind: str = "") -> Markup:
    doctype = f"<!DOCTYPE {kind}>\n" if kind else ""
    return parse(f'<?xml version="1.0" encoding="UTF-8"?>\n{doctype}{content}'.encode(), "a new project")


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
