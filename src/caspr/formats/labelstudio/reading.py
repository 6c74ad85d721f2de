"""Read Label Studio: tasks, whose annotations they have, and the regions and relations of each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from caspr.errors import FormatError
from caspr.files import read_text
from caspr.formats.containers.json import parse_value
from caspr.formats.messages import quoted
from caspr.formats.naming import name_and_part
from caspr.formats.options import ReadOptions
from caspr.formats.text_layer.characters import Extent, Units
from caspr.formats.text_layer.relation_names import means_coreference, unread_relations
from caspr.formats.text_layer.standoff import EntityFacts, Marked, Text, annotate
from caspr.text.document import Annotation, Document
from caspr.text.findings import Finding, note, times, warning
from caspr.text.grouping import Groups

GOLD_FIELD = "caspr_gold"
"""True in an annotation that is the result of an adjudication, and in the first item of its result: Label
Studio keeps the items of a result as they are, but no field of an annotation that it does not know."""
_GOLD = "caspr gold"
_EXPECTED = "a list of tasks, as Label Studio exports them as JSON"
_PREDICTIONS = "predictions"
"""The field of a task with what a model said; as a layer, it is read in place of annotations."""
_NAMES = ("doc_key", "name", "title", "filename", "file_name")


@dataclass(frozen=True)
class LabelStudioLayout:
    """A task, and the annotation of it that was read."""

    task: dict[str, Any]
    """The whole task."""
    place: int
    """The place of the annotation among those of the task."""
    alone: bool
    """Whether the file has one annotator: then the annotation is changed, and otherwise one is added."""
    units: bool
    """Whether offsets count UTF-16 units."""
    who: str
    """The annotator."""
    marked: tuple[Marked, ...]
    """The mentions."""
    relations: tuple[dict[str, Any], ...]
    """The relations that link mentions; none if the task has no such annotation, as with predictions."""


def read(path: Path, annotator: str | None = None, options: ReadOptions | None = None) -> list[Annotation]:
    """Read all annotators of all tasks."""
    source = str(path)
    tasks = parse_value(read_text(path), source, _EXPECTED)
    tasks = [tasks] if isinstance(tasks, dict) else tasks
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        raise FormatError(source, None, "no list of tasks", _EXPECTED)
    predicted = options is not None and options.layer == _PREDICTIONS
    given = [list(_works(task, source, predicted)) for task in tasks]
    people = {_person(work) for own in given for _, work in own}
    alone = len(people) < 2
    single = path.stem if annotator is None else annotator
    found: list[Annotation] = []
    seen: set[tuple[str, str]] = set()
    for number, (task, own) in enumerate(zip(tasks, given, strict=True), 1):
        name = _name(task, number)
        last = {_person(work): place for place, work in own}
        for place, work in own:
            who = single if alone else _person(work)
            if last[_person(work)] != place:
                continue
            if (name, who) in seen:
                raise FormatError(source, None, f"document {quoted(name)} for the second time", "each once")
            seen.add((name, who))
            odd = _odd(task, own, source) if place == min(last.values()) else []
            found.append(_annotation(task, place, work, _Reader(source, name, who, alone, options), odd))
    if not found:
        expected = "tasks with annotations: is this the right export?"
        if any(task.get(_PREDICTIONS) for task in tasks):
            expected = f"tasks with annotations; --layer {_PREDICTIONS} reads what a model predicted"
        raise FormatError(source, None, "no annotations", expected)
    return found


@dataclass(frozen=True)
class _Reader:
    """What is known when an annotation is read."""

    source: str
    name: str
    who: str
    alone: bool
    options: ReadOptions | None


def _works(
    task: dict[str, Any], source: str, predicted: bool = False
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the annotations of a task that were not cancelled, or its predictions."""
    works = task.get(_PREDICTIONS, []) if predicted else task.get("annotations", task.get("completions", []))
    if not isinstance(works, list) or not all(isinstance(work, dict) for work in works):
        raise FormatError(source, None, f"task {task.get('id')!r} without a list of annotations", _EXPECTED)
    for place, work in enumerate(works):
        result = work.get("result", [])
        if not isinstance(result, list) or not all(isinstance(one, dict) for one in result):
            raise FormatError(source, None, f"task {task.get('id')!r} with a malformed result", _EXPECTED)
        if work.get("was_cancelled") is not True:
            # A prediction is no annotation of the task: written back, it is added to them.
            yield place + len(task.get("annotations", ())) if predicted else place, work


def is_gold(work: Mapping[str, Any]) -> bool:
    """Return whether an annotation is the result of an adjudication."""
    return any(one.get(GOLD_FIELD) is True for one in (work, *work.get("result", ())))


def _person(work: Mapping[str, Any]) -> str:
    """Name who completed an annotation; of a result, Label Studio says who imported it."""
    if is_gold(work):
        return _GOLD
    who = work.get("completed_by", work.get("created_username", work.get("model_version")))
    if isinstance(who, dict):
        who = who.get("email") or who.get("username") or who.get("id")
    return "" if who is None else str(who)


def _name(task: Mapping[str, Any], number: int) -> str:
    data = task.get("data")
    known = data if isinstance(data, dict) else {}
    named = next((known[field] for field in _NAMES if isinstance(known.get(field), str)), None)
    return str(named if named is not None else task.get("id", number))


def _odd(task: Mapping[str, Any], own: Sequence[tuple[int, dict[str, Any]]], source: str) -> list[Finding]:
    cancelled = len(task.get("annotations", ())) - len(own)
    twice = len(own) - len({_person(work) for _, work in own})
    odd = []
    if cancelled > 0:
        message = f"{times(cancelled, 'annotation')} cancelled, left out"
        odd.append(note("cancelled-annotations", message, count=cancelled, where=source))
    if twice:
        message = f"{times(twice, 'annotation')} by somebody who made a later one of the same task, left out"
        odd.append(warning("older-annotations", message, count=twice, where=source))
    return odd


def text_of(task: Mapping[str, Any], regions: Sequence[Mapping[str, Any]], source: str) -> str:
    """Return the text of a task: the field `text`, or the one that regions are in, or the only one."""
    data = task.get("data")
    every = data.items() if isinstance(data, dict) else ()
    texts = {name: value for name, value in every if isinstance(value, str) and name not in _NAMES}
    if "text" in texts:
        return texts["text"]
    meant = {str(one.get("source", one.get("to_name", ""))).removeprefix("$") for one in regions}
    fits = [name for name, text in texts.items() if regions and all(_repeats(one, text) for one in regions)]
    chosen = [name for name in texts if name in meant] or fits or list(texts)
    if len(chosen) != 1:
        shown = f"{times(len(chosen), 'text')} ({', '.join(chosen)})" if chosen else "no text"
        raise FormatError(source, None, f"task {task.get('id')!r} with {shown}", "a field `text` in its data")
    return texts[chosen[0]]


def _repeats(one: Mapping[str, Any], text: str) -> bool:
    """Return whether a text has at the place of a region what the region says."""
    value = one["value"]
    return bool(text[max(value["start"], 0) : max(value["end"], 0)] == value.get("text"))


def _refuse_other_places(results: Sequence[Mapping[str, Any]], task: Mapping[str, Any], source: str) -> None:
    """Refuse regions whose places are paths in HTML or numbers of paragraphs, not places in a text."""
    values = [one["value"] for one in results if isinstance(one.get("value"), dict)]
    other = [value for value in values if isinstance(value.get("start"), str) and "endOffset" in value]
    if other:
        found = f"task {task.get('id')!r} with {times(len(other), 'region')} in HTML or in paragraphs"
        expected = "regions of a plain text: the tag Text in the labelling configuration"
        raise FormatError(source, None, found, expected)
    for one in results:
        value = one.get("value")
        # Regions of sound have places in seconds, and no text.
        if (
            isinstance(value, dict)
            and isinstance(value.get("text"), str)
            and "start" in value
            and not _is_region(one)
        ):
            found = f"region {quoted(str(one.get('id')))} from {value['start']!r} to {value.get('end')!r}"
            raise FormatError(source, None, found, "whole numbers")


def _annotation(
    task: dict[str, Any], place: int, work: dict[str, Any], reader: _Reader, odd: Sequence[Finding]
) -> Annotation:
    results = work.get("result", [])
    _refuse_other_places(results, task, reader.source)
    regions = _regions(results, reader.source)
    text = text_of(task, regions, reader.source)
    units = _counts_units(text, regions)
    wide = Units(text) if units else None
    extents = {str(one.get("id")): _extent(one, text, wide, reader.source) for one in regions}
    wanted = reader.options.relations if reader.options else ()
    relations = [one for one in results if one.get("type") == "relation"]
    others = {str(one.get("id")) for one in results} - extents.keys()
    links = tuple(one for one in relations if _links(one, wanted) and not _ends(one) & others)
    heads = _heads(extents, links, reader.source)
    marked = tuple(
        Marked(heads[str(one.get("id"))], (extents[str(one.get("id"))],), _label(one), str(one.get("id")))
        for one in regions
    )
    stored = links if place < len(task.get("annotations", ())) else ()
    layout = LabelStudioLayout(task, place, reader.alone, units, reader.who, marked, stored)
    layers = tuple(sorted({f"relation {label}" for one in relations for label in _labels(one)}))
    name, part = name_and_part(reader.name)
    document = Document(name, (), part, reader.source, layout=layout, layers=layers)
    ends = [at for at, sign in enumerate(text) if sign == "\n"]
    facts = EntityFacts(labels_are_types=True)
    odd = [*odd, *_unread(relations, links, wanted, f"{reader.source}, {reader.name}, {reader.who}")]
    made = annotate(document, reader.who, Text(text, None, ends), marked, odd, facts=facts)
    return replace(made, adjudicated=is_gold(work))


def _regions(results: Sequence[Mapping[str, Any]], source: str) -> list[Mapping[str, Any]]:
    """Return the regions of a text; a note or choice about a region has its id and its place, too."""
    found: dict[str, Mapping[str, Any]] = {}
    for one in sorted(
        filter(_is_region, results), key=lambda one: not str(one.get("type")).endswith("labels")
    ):
        first = found.setdefault(str(one.get("id")), one)
        if any(first["value"][end] != one["value"][end] for end in ("start", "end")):
            raise FormatError(
                source, None, f"region {quoted(str(one.get('id')))} at two places", "each id once"
            )
    return list(found.values())


def _is_region(one: Mapping[str, Any]) -> bool:
    value = one.get("value")
    return isinstance(value, dict) and type(value.get("start")) is int and type(value.get("end")) is int


def _counts_units(text: str, regions: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether offsets count UTF-16 units, by which way more regions have the text that they say."""
    if text.isascii() or all(ord(sign) < 0x10000 for sign in text):
        return False
    wide = Units(text)
    fits = [0, 0]
    for value in (one["value"] for one in regions):
        start, end = wide.point(value["start"]), wide.point(value["end"])
        fits[0] += text[value["start"] : value["end"]] == value.get("text")
        fits[1] += start is not None and end is not None and text[start:end] == value.get("text")
    return fits[1] >= fits[0]


def _extent(one: Mapping[str, Any], text: str, units: Units | None, source: str) -> Extent:
    ends = [one["value"][name] for name in ("start", "end")]
    points = [units.point(end) for end in ends] if units else ends
    start, end = points
    if start is None or end is None or not 0 <= start <= end <= len(text):
        found = f"region {quoted(str(one.get('id')))} from {ends[0]} to {ends[1]}"
        raise FormatError(source, None, found, f"places in a text of {len(text)} characters")
    return start, end


def _label(one: Mapping[str, Any]) -> str:
    labels = one["value"].get("labels") or one["value"].get("hypertextlabels") or ()
    return "+".join(map(str, labels)) if isinstance(labels, list) else ""


def _links(one: Mapping[str, Any], wanted: Sequence[str]) -> bool:
    labels = _labels(one)
    return (not labels and not wanted) or means_coreference(labels, wanted)


def _labels(relation: Mapping[str, Any]) -> list[str]:
    return [str(label) for label in relation.get("labels") or ()]


def _unread(
    relations: Sequence[Mapping[str, Any]],
    links: Sequence[Mapping[str, Any]],
    wanted: Sequence[str],
    where: str,
) -> Iterator[Finding]:
    """Report relations between mentions whose label does not say that they are of one entity."""
    others = ["+".join(_labels(one)) for one in relations if not _links(one, wanted)]
    return unread_relations(others, [label for one in links for label in _labels(one)], wanted, where)


def _ends(link: Mapping[str, Any]) -> set[str]:
    """Return the ids of what a relation links; regions of images, for example, may be among them."""
    return {str(link.get(name)) for name in ("from_id", "to_id")}


def _heads(extents: Mapping[str, Extent], links: Sequence[Mapping[str, Any]], source: str) -> dict[str, str]:
    groups = Groups(extents)
    for link in links:
        ends = [str(link.get(name)) for name in ("from_id", "to_id")]
        for end in ends:
            if end not in extents:
                raise FormatError(source, None, f"a relation to {quoted(end)}", "the id of a region")
        groups.join(*ends)
    return groups.firsts()
