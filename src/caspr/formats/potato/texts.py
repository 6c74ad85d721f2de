"""The texts of a Potato project: where they are, and what of them the browser shows.

Spans count characters of the page: UTF-16 units in older versions, code points in newer ones (2.12), which
the file does not say. Where a text has characters that count twice, that way is taken by which more ends of
spans are ends of words. Two ways to show a text differ in the span itself:

    without `target_field`   control characters are left out, several blanks become one, ends are trimmed
    with `target_field`      the field of that name as it is, each line end as a tag, which counts nothing

`highlight_linebreaks: true` makes tags of line ends the first way, too, and `preserve_whitespace: false`
keeps them the second way. Only names inside the folder of the configuration are followed.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from caspr.errors import CasprError, FormatError
from caspr.files import read_text
from caspr.formats.containers.json import parse_value
from caspr.formats.messages import quoted
from caspr.formats.text_layer.characters import Extent, Units

_ABOVE = 4
"""How many folders above a file are searched."""
_DATA = (".json", ".jsonl", ".ndjson", ".csv", ".tsv")
_SECTION = re.compile(r"^data_files:(.*(?:\n(?:[ \t#-].*)?)*)", re.MULTILINE)
_NAME = re.compile(rf"[^\s\"'\[\],{{}}]+(?:{'|'.join(map(re.escape, _DATA))})\b")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_SETTING = re.compile(r"""([ \t]*(?:-[ \t]+)?)["']?(\w+)["']?[ \t]*:[ \t]*([^#\n]*)""")
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")


@dataclass(frozen=True)
class PotatoProject:
    """What is known of a project."""

    items: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Its items by id."""
    text_key: str = "text"
    """The field with the text of an item."""
    plain_breaks: bool = True
    """Whether line ends count in a text that is shown without a field of its own."""
    field_breaks: bool = False
    """Whether line ends count in a field."""
    chains: frozenset[str] = frozenset()
    """The schemes whose links are chains."""


class ShownText:
    """A text and the characters of it that a browser shows."""

    def __init__(self, text: str, places: Sequence[int], units: Units | None = None) -> None:
        """Remember the places of the characters that are shown; without units, points are counted."""
        self.text = text
        self._places = places
        self._units = units

    def counting(self, spans: Sequence[Extent]) -> tuple["ShownText", bool]:
        """Return the text with places counted as these spans count them, and whether that is sure."""
        by_units = ShownText(self.text, self._places, Units("".join(self.text[at] for at in self._places)))
        fits = [sum(text._ends_words(start, end) for start, end in spans) for text in (self, by_units)]
        same = all(self.extent(start, end) == by_units.extent(start, end) for start, end in spans)
        return (by_units if fits[1] > fits[0] else self), same or fits[0] != fits[1]

    def _ends_words(self, start: int, end: int) -> int:
        """Count the ends of a span that are not inside a word; -1 for a span outside the text."""
        extent = self.extent(start, end)
        if extent is None:
            return -1
        text = f" {self.text} "
        return sum(text[at].isspace() or not text[at : at + 2].isalnum() for at in extent) - sum(
            text[at].isspace() for at in (extent[0] + 1, extent[1])
        )

    def extent(self, start: int, end: int) -> Extent | None:
        """Return the characters between two places of what is shown; `None` outside of it."""
        points = [self._units.point(place) if self._units else place for place in (start, end)]
        first, last = points
        if first is None or last is None or not 0 <= first < last <= len(self._places):
            return None
        return self._places[first], self._places[last - 1] + 1


def project_files(path: Path) -> list[Path]:
    """Return the configuration and the data files that belong to an annotator's file."""
    config = _config(path)
    if config is not None:
        return [config, *_named(config, _setting(_text(config), "task_dir", "."))]
    found = [file for folder in path.resolve().parents[:_ABOVE] for file in sorted(folder.glob("*"))]
    return [
        file for file in found if file.suffix.lower() in _DATA and file.is_file() and file.name != path.name
    ]


def read_project(path: Path) -> PotatoProject:
    """Read the items of the project that an annotator's file belongs to."""
    config = _config(path)
    text = "" if config is None else _text(config)
    data = [file for file in project_files(path) if file != config]
    key = _setting(text, "id_key", "id")
    items: dict[str, dict[str, Any]] = {}
    for file in data:
        items.update((str(item[key]), item) for item in _items(file, strict=bool(text)) if key in item)
    return PotatoProject(
        items,
        _setting(text, "text_key", "text"),
        _setting(text, "highlight_linebreaks", "false").lower() != "true",
        _setting(text, "preserve_whitespace", "true").lower() == "false",
        _chain_schemes(text),
    )


def _chain_schemes(config: str) -> frozenset[str]:
    """Return the names of the schemes for coreference: the `name` beside each `annotation_type` of that kind.

    >>> schemes = ["- annotation_type: span", "  name: m", "- labels:", "  - name: PER", "  name: c"]
    >>> sorted(_chain_schemes("\\n".join([*schemes, "  annotation_type: coreference"])))
    ['c']
    """
    written = (line for line in config.splitlines() if line.strip() and not line.lstrip().startswith("#"))
    lines = [_Setting.of(line) for line in written]
    found = set()
    for place, line in enumerate(lines):
        if (line.name, line.value) == ("annotation_type", "coreference"):
            beside = [*_beside(lines[place + 1 :], line.column), *_above(lines[: place + 1], line.column)]
            found |= {one.value for one in beside if one.name == "name" and one.value}
    return frozenset(found)


class _Setting(NamedTuple):
    """A line of a configuration, YAML or JSON with a setting on each line."""

    column: int
    """Where its name stands."""
    first: bool
    """Whether it begins an item of a list."""
    name: str
    value: str

    @classmethod
    def of(cls, line: str) -> "_Setting":
        found = _SETTING.match(line)
        if found is None:
            return cls(len(line) - len(line.lstrip()), False, "", "")
        return cls(len(found[1]), "-" in found[1], found[2], found[3].strip().strip("\"',"))


def _beside(lines: Iterable[_Setting], column: int) -> Iterator[_Setting]:
    """Yield the lines of the same item that come next."""
    for line in lines:
        if line.column < column or (line.first and line.column == column):
            return
        if line.column == column:
            yield line


def _above(lines: Sequence[_Setting], column: int) -> Iterator[_Setting]:
    """Yield the lines of the same item that come before the end of these, from there up to its first."""
    for line in reversed(lines):
        if line.column < column:
            return
        if line.column == column:
            yield line
            if line.first:
                return


def shown(project: PotatoProject, source: str, id: str, target: str | None) -> ShownText:
    """Return the text of an item as the browser shows it."""
    item = project.items.get(id)
    if item is None:
        expected = (
            "its text in a data file of the project, in a folder above: keep config.yaml and data there"
        )
        raise FormatError(source, None, f"item {quoted(id)} without a text", expected)
    whole = item.get("displayed_text") if target is None else None
    text = whole or item.get(target or project.text_key, None if target else item.get("text"))
    if not isinstance(text, str):
        raise FormatError(
            source, None, f"no text in item {quoted(id)}", f"a field {target or project.text_key}"
        )
    if target is not None:
        return ShownText(text, [at for at, sign in enumerate(text) if sign != "\n" or project.field_breaks])
    if _TAG.search(text):
        found = f"markup in the text of item {quoted(id)}"
        raise FormatError(
            source, None, found, "a text without markup: the browser's places are not known in it"
        )
    return ShownText(text, range(len(text)) if whole else list(_plain(text, project.plain_breaks)))


def _plain(text: str, breaks: bool) -> Iterator[int]:
    """Yield the places of the characters that are left of a text that is shown without a field."""
    kept = [at for at, sign in enumerate(text) if not _CONTROL.match(sign)]
    single = [at for n, at in enumerate(kept) if text[at] != " " or n == 0 or text[kept[n - 1]] != " "]
    solid = [n for n, at in enumerate(single) if not text[at].isspace()]
    for at in single[solid[0] : solid[-1] + 1] if solid else []:
        if breaks or text[at] != "\n":
            yield at


def _config(path: Path) -> Path | None:
    """Return the configuration of the project in a folder above."""
    for folder in path.resolve().parents[: _ABOVE + 1]:
        for file in sorted((*folder.glob("*.yaml"), *folder.glob("*.yml"))):
            if file.is_file() and _SECTION.search(_text(file)):
                return file
    return None


def _text(path: Path) -> str:
    try:
        return read_text(path).replace("\r\n", "\n")
    except CasprError:
        return ""


def _setting(text: str, name: str, default: str) -> str:
    """Return a setting of a configuration, wherever it stands."""
    found = re.search(rf"^[ \t-]*{name}:[ \t]*([^#\n]*)", text, re.MULTILINE)
    return (found[1].strip().strip("\"'") if found else "") or default


def _named(config: Path, task: str) -> list[Path]:
    """Return the data files that a configuration names, as far as they are inside its folder."""
    folder = config.parent
    section = _SECTION.search(_text(config))
    names = _NAME.findall(re.sub(r"#.*", "", section[1])) if section else []
    found = [
        next((path for path in (folder / task / name, folder / name) if path.is_file()), None)
        for name in names
    ]
    return [path for path in found if path is not None and path.resolve().is_relative_to(folder)]


def _items(path: Path, *, strict: bool) -> Iterator[dict[str, Any]]:
    """Yield the objects of a data file; what a configuration does not name may be anything."""
    try:
        text = read_text(path)
        if path.suffix.lower() in (".csv", ".tsv"):
            separator = "\t" if path.suffix.lower() == ".tsv" else ","
            yield from csv.DictReader(io.StringIO(text), delimiter=separator)
            return
        expected = "a list of items, or an item on each line"
        if text.lstrip().startswith("["):
            values = parse_value(text, str(path), expected)
        else:
            lines = enumerate(text.split("\n"), 1)
            values = [parse_value(line, str(path), expected, line=n) for n, line in lines if line.strip()]
        yield from (value for value in values if isinstance(value, dict))
    except (CasprError, csv.Error):
        if strict:
            raise
