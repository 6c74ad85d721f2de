"""Potato: the file `user_state.json` of each annotator, with spans and the links between them; only read.

    config.yaml   data/items.json   annotation_output/anna/user_state.json   annotation_output/ben/...

    {"user_id": "anna", "instance_id_to_span_to_value": {"one": [[{"schema": "mentions", "name": "PERSON",
       "start": 0, "end": 4, "id": "mentions_PERSON_0_4"}, 1], ...]},
     "instance_id_to_link_to_value": {"one": {"link_1": {"schema": "chains", "link_type": "coreference",
       "span_ids": ["mentions_PERSON_0_4", "mentions_PERSON_12_15"]}}}}

1. An item is a document. The file has no text: it is that of the data files which the project's
   configuration names, in a folder above; without one, of data files in the folders above.
2. A span is a mention, in one piece or several. Links join mentions: those of the types that `--relation`
   names, else those whose type or schema is named like coreference, and those of a schema that the
   configuration calls `annotation_type: coreference`, whose types are types of entities. A span in no link
   is a chain of one. `--layer` chooses a span schema.
3. Offsets count UTF-16 units or code points of what the browser shows, by the version of Potato, and that
   differs from the data in blanks and line ends: see below.
4. Items that the annotator passed without marking anything are documents without chains.
5. The folder of a project, or its folder `annotation_output`, is the work of all its annotators; what else
   is in the folder of an annotator, such as a history, is passed over.
6. Nothing is written: the state of Potato's server is not meant to be edited, and it has no place for a gold.

Spans count characters of the page: UTF-16 units in older versions, code points in newer ones (2.12), which
the file does not say. Where a text has characters that count twice, the way of counting is chosen by which
more spans end at the ends of words. Two ways to show a text differ in the span itself:

    without `target_field`   control characters are left out, several blanks become one, ends are trimmed
    with `target_field`      the field of that name as it is, each line end as a tag, which counts nothing

`highlight_linebreaks: true` makes tags of line ends the first way, too, and `preserve_whitespace: false`
keeps them the second way. Only names inside the folder of the configuration are followed.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from caspr.errors import CasprError, FormatError, OutputError, reading
from caspr.formats.containers.json import has_fields, parse_object, parse_value
from caspr.formats.format import Format, ReadOptions, quoted
from caspr.formats.text_layer import (
    EntityFacts,
    Extent,
    Marked,
    Text,
    Units,
    annotate,
    means_coreference,
    unread_relations,
)
from caspr.storage import read_text
from caspr.text.document import Annotation, Document
from caspr.text.findings import Finding, warning
from caspr.text.grouping import Groups

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
        points = [self._units.point(number) if self._units else number for number in (start, end)]
        first, last = points
        if first is None or last is None or not 0 <= first < last <= len(self._places):
            return None
        return self._places[first], self._places[last - 1] + 1


def project_files(path: Path) -> list[Path]:
    """Return the configuration and the data files that belong to an annotator's file."""
    config = _config(path)
    if config is not None:
        return [config, *_named(config, _setting(_read_config(config), "task_dir", "."))]
    files = [file for folder in path.resolve().parents[:_ABOVE] for file in sorted(folder.glob("*"))]
    return [
        file for file in files if file.suffix.lower() in _DATA and file.is_file() and file.name != path.name
    ]


def read_project(path: Path) -> PotatoProject:
    """Read the items of the project that an annotator's file belongs to."""
    config = _config(path)
    text = "" if config is None else _read_config(config)
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
    names = set()
    for index, line in enumerate(lines):
        if (line.name, line.value) == ("annotation_type", "coreference"):
            beside = [*_beside(lines[index + 1 :], line.column), *_above(lines[: index + 1], line.column)]
            names |= {setting.value for setting in beside if setting.name == "name" and setting.value}
    return frozenset(names)


class _Setting(NamedTuple):
    """A line of a configuration, YAML or JSON with a setting on each line."""

    column: int
    """Where its name starts."""
    first: bool
    """Whether it begins an item of a list."""
    name: str
    value: str

    @classmethod
    def of(cls, line: str) -> "_Setting":
        setting = _SETTING.match(line)
        if setting is None:
            return cls(len(line) - len(line.lstrip()), False, "", "")
        return cls(len(setting[1]), "-" in setting[1], setting[2], setting[3].strip().strip("\"',"))


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


def shown(project: PotatoProject, id: str, target: str | None) -> ShownText:
    """Return the text of an item as the browser shows it."""
    item = project.items.get(id)
    if item is None:
        expected = (
            "its text in a data file of the project, in a folder above: keep config.yaml and data there"
        )
        raise FormatError(None, f"item {quoted(id)} without a text", expected)
    whole = item.get("displayed_text") if target is None else None
    text = whole or item.get(target or project.text_key, None if target else item.get("text"))
    if not isinstance(text, str):
        raise FormatError(None, f"no text in item {quoted(id)}", f"a field {target or project.text_key}")
    if target is not None:
        return ShownText(text, [at for at, sign in enumerate(text) if sign != "\n" or project.field_breaks])
    if _TAG.search(text):
        found = f"markup in the text of item {quoted(id)}"
        raise FormatError(
            None, found, "a text without markup: the positions that the browser counted cannot be found in it"
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
            if file.is_file() and _SECTION.search(_read_config(file)):
                return file
    return None


def _read_config(path: Path) -> str:
    try:
        return read_text(path).replace("\r\n", "\n")
    except CasprError:
        return ""


def _setting(text: str, name: str, default: str) -> str:
    """Return a setting of a configuration, wherever it stands."""
    setting = re.search(rf"^[ \t-]*{name}:[ \t]*([^#\n]*)", text, re.MULTILINE)
    return (setting[1].strip().strip("\"'") if setting else "") or default


def _named(config: Path, task: str) -> list[Path]:
    """Return the data files that a configuration names, as far as they are inside its folder."""
    folder = config.parent
    section = _SECTION.search(_read_config(config))
    names = _NAME.findall(re.sub(r"#.*", "", section[1])) if section else []
    paths = [
        next((path for path in (folder / task / name, folder / name) if path.is_file()), None)
        for name in names
    ]
    return [path for path in paths if path is not None and path.resolve().is_relative_to(folder)]


def _items(path: Path, *, strict: bool) -> Iterator[dict[str, Any]]:
    """Yield the objects of a data file; what a configuration does not name may be anything."""
    try:
        with reading(path):
            yield from _parsed_items(read_text(path), path.suffix.lower())
    except (CasprError, csv.Error):
        if strict:
            raise


def _parsed_items(text: str, suffix: str) -> Iterator[dict[str, Any]]:
    if suffix in (".csv", ".tsv"):
        yield from csv.DictReader(io.StringIO(text), delimiter="\t" if suffix == ".tsv" else ",")
        return
    expected = "a list of items, or an item on each line"
    if text.lstrip().startswith("["):
        values = parse_value(text, expected)
    else:
        lines = enumerate(text.split("\n"), 1)
        values = [parse_value(line, expected, line=number) for number, line in lines if line.strip()]
    yield from (value for value in values if isinstance(value, dict))


_SPANS, _LINKS = "instance_id_to_span_to_value", "instance_id_to_link_to_value"
_LABELS, _ORDER = "instance_id_to_label_to_value", "instance_id_ordering"
_EXPECTED = "the file user_state.json of an annotator, as Potato writes it"
_FORM = "span_link"
"""The schema under which a page that is sent as a form stores its chains, as JSON in a text."""


@dataclass(frozen=True)
class _UserState:
    """An annotator's file, and what is known when an item of it is read."""

    source: str
    who: str
    fields: Mapping[str, Any]
    project: PotatoProject
    options: ReadOptions

    def of(self, name: str, id: str, kind: type) -> Any:
        """Return what a part of the file has on an item."""
        whole = self.fields.get(name, {})
        part = whole.get(id, kind()) if isinstance(whole, dict) else None
        if not isinstance(part, kind):
            raise FormatError(None, f"{name} of item {quoted(id)} that is malformed", _EXPECTED)
        return part


def states(folder: Path) -> list[Path]:
    """Return the files of all annotators in the folder of a project, of annotations, or of one annotator."""
    below = "*/user_state.json" if folder.name == "annotation_output" else "user_state.json"
    return sorted(folder.glob("annotation_output/*/user_state.json")) or sorted(folder.glob(below))


def read(path: Path, annotator: str | None = None, options: ReadOptions | None = None) -> list[Annotation]:
    """Read all items of an annotator, or of all annotators of a project."""
    if path.is_dir():
        return [annotation for state in states(path) for annotation in read(state, None, options)]
    fields = parse_object(read_text(path), _EXPECTED)
    who = fields.get("user_id")
    named = who if isinstance(who, str) and who else annotator or path.parent.name
    state = _UserState(str(path), named, fields, read_project(path), options or ReadOptions())
    annotations = [_annotation(state, id) for id in _ids(state)]
    if not annotations:
        raise FormatError(None, "no item that is annotated", _EXPECTED)
    return annotations


def _ids(state: _UserState) -> list[str]:
    """Return the items with spans or links, and those that the annotator passed."""
    parts = [state.fields.get(name, {}) for name in (_SPANS, _LINKS)]
    if not all(isinstance(part, dict) for part in parts):
        raise FormatError(None, "spans or links that are not an object", _EXPECTED)
    order, index = state.fields.get(_ORDER, []), state.fields.get("current_instance_index", 0)
    good = isinstance(order, list) and all(isinstance(id, str) for id in order) and isinstance(index, int)
    passed = [id for id in order[: max(index, 0)] if id in state.project.items] if good else []
    return list(dict.fromkeys([*passed, *(id for part in parts for id in part)]))


def _annotation(state: _UserState, id: str) -> Annotation:
    spans: dict[str, dict[str, Any]] = {}
    for span in _spans(state, id):
        first = spans.setdefault(_key(span), span)
        if any(first[end] != span[end] for end in ("start", "end")):
            found = f"span {quoted(_key(span))} of item {quoted(id)} at two places"
            raise FormatError(None, found, "each id once")
    links = list(_links(state, id))
    wanted = state.options.layer
    chosen = {key: span for key, span in spans.items() if wanted in (None, span["schema"])}
    groups = Groups(chosen)
    read: list[str] = []
    unread: list[str] = []
    kinds: dict[str, str] = {}
    for link in links:
        for end in link["span_ids"]:
            if end not in spans:
                raise FormatError(None, f"a link to {quoted(end)}", "the id of a span")
        ends = [end for end in link["span_ids"] if end in chosen]
        chains = link["schema"] in state.project.chains
        says = _says_chain(state, link)
        (read if says else unread).append(link["link_type"])
        if says:
            for end in ends[1:]:
                groups.join(ends[0], end)
        if says and chains and not means_coreference([link["link_type"]]):
            kinds |= dict.fromkeys(ends[:1], link["link_type"])
    heads = groups.firsts()
    text, unsure = _shown_text(state, id, list(chosen.values()))
    marked = [
        Marked(heads[key], tuple(_pieces(span, text)), span["name"], key) for key, span in chosen.items()
    ]
    layers = tuple(sorted({f"relation {link['link_type']}" for link in links}))
    document = Document(id, (), source=state.source, layers=layers)
    facts = EntityFacts(types={heads[end]: kind for end, kind in kinds.items()}, labels_are_types=True)
    odd = [*unsure, *unread_relations(unread, read, state.options.relations, f", {id}")]
    return annotate(document, state.who, Text.of_lines(text.text), marked, odd, facts=facts)


def _says_chain(state: _UserState, link: Mapping[str, Any]) -> bool:
    """Return whether a link joins mentions of one entity."""
    meant = not state.options.relations and link["schema"] in state.project.chains
    return meant or means_coreference([link["link_type"], link["schema"]], state.options.relations)


def _spans(state: _UserState, id: str) -> Iterator[dict[str, Any]]:
    for pair in state.of(_SPANS, id, list):
        span = pair[0] if isinstance(pair, list) and pair else pair
        numbers = [span.get("start"), span.get("end")] if isinstance(span, dict) else []
        if not numbers or not all(type(number) is int for number in numbers):
            found = f"a span of item {quoted(id)} without whole numbers as start and end"
            raise FormatError(None, found, _EXPECTED)
        yield {**span, "schema": str(span.get("schema", "")), "name": str(span.get("name", ""))}


def _key(span: Mapping[str, Any]) -> str:
    """Return the id of a span, which is made of what it is where a version of Potato does not store it."""
    made = f"{span['schema']}_{span['name']}_{span['start']}_{span['end']}"
    return str(span.get("id") or made)


def _links(state: _UserState, id: str) -> Iterator[dict[str, Any]]:
    stored = list(state.of(_LINKS, id, dict).values())
    for pair in state.of(_LABELS, id, list):
        good = isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], dict)
        if good and pair[0].get("schema") == _FORM and isinstance(pair[1], str) and pair[1].strip():
            form = parse_value(pair[1], "links as JSON in a text")
            stored += form if isinstance(form, list) else [form]
    for link in stored:
        ends = link.get("span_ids") if isinstance(link, dict) else None
        if not isinstance(ends, list) or not all(isinstance(end, str) for end in ends):
            found = f"a link of item {quoted(id)} without a list of span_ids"
            raise FormatError(None, found, _EXPECTED)
        yield {**link, "link_type": str(link.get("link_type", "")), "schema": str(link.get("schema", ""))}


def _shown_text(
    state: _UserState, id: str, spans: Sequence[Mapping[str, Any]]
) -> tuple[ShownText, list[Finding]]:
    """Return the text of an item, with places counted as its spans count them."""
    targets = sorted({str(span.get("target_field") or "") for span in spans})
    if len(targets) > 1:
        names = ", ".join(quoted(name) for name in targets)
        expected = "spans of one field: choose their schema with --layer"
        raise FormatError(None, f"item {quoted(id)} with spans in the fields {names}", expected)
    text = shown(state.project, id, targets[0] or None if targets else None)
    ends = [part for span in spans for part in _parts(span)]
    counted, sure = text.counting([(start, end) for start, end in ends if type(start) is type(end) is int])
    if sure:
        return counted, []
    message = (
        "a text with signs such as 🐻, which older versions of Potato count as two characters: counted as "
        "one; check the mentions after them"
    )
    return counted, [warning("unsure-places", message, where=f", {id}")]


def _parts(span: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the ends of all parts of a span."""
    parts = span.get("additional_parts") or []
    for part in [span, *(parts if isinstance(parts, list) else [None])]:
        yield (part.get("start"), part.get("end")) if isinstance(part, dict) else (None, None)


def _pieces(span: Mapping[str, Any], text: ShownText) -> Iterator[tuple[int, int]]:
    for start, end in _parts(span):
        extent = text.extent(start, end) if type(start) is int and type(end) is int else None
        if extent is None:
            found = f"span {quoted(_key(span))} from {start} to {end}"
            expected = f"a place in the text of {len(text.text)} characters: is this the project's data?"
            raise FormatError(None, found, expected)
        yield extent


def detect(path: Path, head: str) -> bool:  # noqa: ARG001
    """Return whether the beginning of a file looks like this format."""
    return has_fields(head, "user_id", "instance_id_ordering")


def write(annotations: Iterable[Annotation]) -> str:  # noqa: ARG001
    """Refuse to write."""
    raise OutputError("potato is only read: choose another output format, such as conll")


def losses(annotation: Annotation) -> tuple[Finding, ...]:  # noqa: ARG001
    """Return nothing, because nothing is written."""
    return ()


FORMAT = Format(
    name="potato",
    suffixes=("user_state.json",),
    detect=detect,
    read=read,
    write=write,
    losses=losses,
    many_documents=True,
    many_annotators=True,
    companions=project_files,
    settings_files=("potato.log", "device_visits.json"),
    detect_folder=lambda folder: bool(states(folder)),
)
