"""Read Potato: the spans of each item, and the links between them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from caspr.errors import FormatError
from caspr.files import read_text
from caspr.formats.containers.json import parse_object, parse_value
from caspr.formats.messages import quoted
from caspr.formats.options import ReadOptions
from caspr.formats.potato.texts import PotatoProject, ShownText, read_project, shown
from caspr.formats.text_layer.relation_names import means_coreference, unread_relations
from caspr.formats.text_layer.standoff import EntityFacts, Marked, Text, annotate
from caspr.text.document import Annotation, Document
from caspr.text.findings import Finding, warning
from caspr.text.grouping import Groups

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
            raise FormatError(self.source, None, f"{name} of item {quoted(id)} that is malformed", _EXPECTED)
        return part


def states(folder: Path) -> list[Path]:
    """Return the files of all annotators in the folder of a project, of annotations, or of one annotator."""
    below = "*/user_state.json" if folder.name == "annotation_output" else "user_state.json"
    return sorted(folder.glob("annotation_output/*/user_state.json")) or sorted(folder.glob(below))


def read(path: Path, annotator: str | None = None, options: ReadOptions | None = None) -> list[Annotation]:
    """Read all items of an annotator, or of all annotators of a project."""
    if path.is_dir():
        return [one for state in states(path) for one in read(state, None, options)]
    source = str(path)
    fields = parse_object(read_text(path), source, _EXPECTED)
    who = fields.get("user_id")
    named = who if isinstance(who, str) and who else annotator or path.parent.name
    state = _UserState(source, named, fields, read_project(path), options or ReadOptions())
    found = [_annotation(state, id) for id in _ids(state)]
    if not found:
        raise FormatError(source, None, "no item that is annotated", _EXPECTED)
    return found


def _ids(state: _UserState) -> list[str]:
    """Return the items with spans or links, and those that the annotator passed."""
    parts = [state.fields.get(name, {}) for name in (_SPANS, _LINKS)]
    if not all(isinstance(part, dict) for part in parts):
        raise FormatError(state.source, None, "spans or links that are no object", _EXPECTED)
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
            raise FormatError(state.source, None, found, "each id once")
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
                raise FormatError(state.source, None, f"a link to {quoted(end)}", "the id of a span")
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
    text, unsure = _text(state, id, list(chosen.values()))
    marked = [
        Marked(heads[key], tuple(_pieces(state.source, span, text)), span["name"], key)
        for key, span in chosen.items()
    ]
    layers = tuple(sorted({f"relation {link['link_type']}" for link in links}))
    document = Document(id, (), source=state.source, layers=layers)
    breaks = [at for at, sign in enumerate(text.text) if sign == "\n"]
    facts = EntityFacts(types={heads[end]: kind for end, kind in kinds.items()}, labels_are_types=True)
    odd = [*unsure, *unread_relations(unread, read, state.options.relations, f"{state.source}, {id}")]
    return annotate(document, state.who, Text(text.text, None, breaks), marked, odd, facts=facts)


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
            raise FormatError(state.source, None, found, _EXPECTED)
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
            form = parse_value(pair[1], state.source, "links as JSON in a text")
            stored += form if isinstance(form, list) else [form]
    for link in stored:
        ends = link.get("span_ids") if isinstance(link, dict) else None
        if not isinstance(ends, list) or not all(isinstance(end, str) for end in ends):
            found = f"a link of item {quoted(id)} without a list of span_ids"
            raise FormatError(state.source, None, found, _EXPECTED)
        yield {**link, "link_type": str(link.get("link_type", "")), "schema": str(link.get("schema", ""))}


def _text(state: _UserState, id: str, spans: Sequence[Mapping[str, Any]]) -> tuple[ShownText, list[Finding]]:
    """Return the text of an item, with places counted as its spans count them."""
    targets = sorted({str(span.get("target_field") or "") for span in spans})
    if len(targets) > 1:
        names = ", ".join(quoted(name) for name in targets)
        expected = "spans of one field: choose their schema with --layer"
        raise FormatError(state.source, None, f"item {quoted(id)} with spans in the fields {names}", expected)
    text = shown(state.project, state.source, id, targets[0] or None if targets else None)
    ends = [part for span in spans for part in _parts(span)]
    counted, sure = text.counting([(start, end) for start, end in ends if type(start) is type(end) is int])
    if sure:
        return counted, []
    message = (
        "a text with signs such as 🐻, which older versions of Potato count as two characters: counted as "
        "one; look at mentions behind them"
    )
    return counted, [warning("unsure-places", message, where=f"{state.source}, {id}")]


def _parts(span: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the ends of all parts of a span."""
    parts = span.get("additional_parts") or []
    for part in [span, *(parts if isinstance(parts, list) else [None])]:
        yield (part.get("start"), part.get("end")) if isinstance(part, dict) else (None, None)


def _pieces(source: str, span: Mapping[str, Any], text: ShownText) -> Iterator[tuple[int, int]]:
    for start, end in _parts(span):
        extent = text.extent(start, end) if type(start) is int and type(end) is int else None
        if extent is None:
            found = f"span {quoted(_key(span))} from {start} to {end}"
            expected = f"a place in the text of {len(text.text)} characters: is this the project's data?"
            raise FormatError(source, None, found, expected)
        yield extent
