"""Label Studio: the JSON export of a project, with regions and relations, and several annotators in one file.

    [{"id": 7, "data": {"text": "Anna slept. She ..."}, "annotations": [{"completed_by": 2, "result": [
      {"id": "a", "type": "labels", "value": {"start": 0, "end": 4, "text": "Anna", "labels": ["Person"]}},
      {"type": "relation", "from_id": "b", "to_id": "a", "labels": ["Coreference"]}]}]}]

1. A task is a document, named by its data (`doc_key`, `name`, `title`, `filename`), or by its number.
   Its text is the field `text` of its data, or the one that regions are in, or the only text there.
2. Who completed an annotation is the annotator; `--layer predictions` reads what models predicted instead.
   Cancelled annotations are left out, and of several by one person the last counts.
3. A region with a start and an end is a mention; relations link mentions: those of the types that
   `--relation` names, else those without a type and those named like coreference. A mention that is linked
   to nothing is a chain of one.
4. Offsets count code points or UTF-16 units, whichever fits the texts that regions repeat.
5. Written back into the file of one annotator, regions and relations that still hold keep their ids and all
   else; of several annotators, the result becomes one more annotation of each task.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, pairwise
from pathlib import Path
from typing import Any

from caspr.errors import FormatError
from caspr.formats.containers.json import has_fields, parse_value
from caspr.formats.format import Format, ReadOptions, lost, quoted
from caspr.formats.naming import name_and_part
from caspr.formats.text_layer import (
    EntityFacts,
    Extent,
    Marked,
    Text,
    Units,
    annotate,
    means_coreference,
    plan,
    spell,
    unread_relations,
    wide_pieces,
)
from caspr.storage import read_text
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
    place: int
    """The place of the annotation among those of the task."""
    alone: bool
    """Whether the file has one annotator: then the annotation is changed, and otherwise one is added."""
    units: bool
    """Whether offsets count UTF-16 units."""
    who: str
    marked: tuple[Marked, ...]
    relations: tuple[dict[str, Any], ...]
    """The relations that link mentions; none if the task has no such annotation, as with predictions."""


def read(path: Path, annotator: str | None = None, options: ReadOptions | None = None) -> list[Annotation]:
    """Read all annotators of all tasks."""
    tasks = parse_value(read_text(path), _EXPECTED)
    tasks = [tasks] if isinstance(tasks, dict) else tasks
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        raise FormatError(None, "no list of tasks", _EXPECTED)
    predicted = options is not None and options.layer == _PREDICTIONS
    works = [list(_works(task, predicted)) for task in tasks]
    people = {_person(work) for own in works for _, work in own}
    alone = len(people) < 2
    single = path.stem if annotator is None else annotator
    annotations: list[Annotation] = []
    seen: set[tuple[str, str]] = set()
    for number, (task, own) in enumerate(zip(tasks, works, strict=True), 1):
        name = _name(task, number)
        last = {_person(work): index for index, work in own}
        for index, work in own:
            who = single if alone else _person(work)
            if last[_person(work)] != index:
                continue
            if (name, who) in seen:
                raise FormatError(None, f"document {quoted(name)} for the second time", "each once")
            seen.add((name, who))
            odd = _odd(task, own) if index == min(last.values()) else []
            reader = _Reader(str(path), name, who, alone, options)
            annotations.append(_annotation(task, index, work, reader, odd))
    if not annotations:
        expected = "tasks with annotations: is this the right export?"
        if any(task.get(_PREDICTIONS) for task in tasks):
            expected = f"tasks with annotations; --layer {_PREDICTIONS} reads what a model predicted"
        raise FormatError(None, "no annotations", expected)
    return annotations


@dataclass(frozen=True)
class _Reader:
    """What is known when an annotation is read."""

    source: str
    name: str
    who: str
    alone: bool
    options: ReadOptions | None


def _works(task: dict[str, Any], predicted: bool = False) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the annotations of a task that were not cancelled, or its predictions."""
    works = task.get(_PREDICTIONS, []) if predicted else task.get("annotations", task.get("completions", []))
    if not isinstance(works, list) or not all(isinstance(work, dict) for work in works):
        raise FormatError(None, f"task {task.get('id')!r} without a list of annotations", _EXPECTED)
    for index, work in enumerate(works):
        result = work.get("result", [])
        if not isinstance(result, list) or not all(isinstance(item, dict) for item in result):
            raise FormatError(None, f"task {task.get('id')!r} with a malformed result", _EXPECTED)
        if work.get("was_cancelled") is not True:
            # A prediction is not an annotation of the task: written back, it is added to them.
            yield index + len(task.get("annotations", ())) if predicted else index, work


def is_gold(work: Mapping[str, Any]) -> bool:
    """Return whether an annotation is the result of an adjudication."""
    return any(item.get(GOLD_FIELD) is True for item in (work, *work.get("result", ())))


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


def _odd(task: Mapping[str, Any], own: Sequence[tuple[int, dict[str, Any]]]) -> list[Finding]:
    cancelled = len(task.get("annotations", ())) - len(own)
    twice = len(own) - len({_person(work) for _, work in own})
    odd = []
    if cancelled > 0:
        message = f"{times(cancelled, 'annotation')} cancelled, left out"
        odd.append(note("cancelled-annotations", message, count=cancelled))
    if twice:
        message = f"{times(twice, 'annotation')} by somebody who made a later one of the same task, left out"
        odd.append(warning("older-annotations", message, count=twice))
    return odd


def text_of(task: Mapping[str, Any], regions: Sequence[Mapping[str, Any]]) -> str:
    """Return the text of a task: the field `text`, or the one that regions are in, or the only one."""
    data = task.get("data")
    every = data.items() if isinstance(data, dict) else ()
    texts = {name: value for name, value in every if isinstance(value, str) and name not in _NAMES}
    if "text" in texts:
        return texts["text"]
    meant = {str(region.get("source", region.get("to_name", ""))).removeprefix("$") for region in regions}
    fits = [
        name for name, text in texts.items() if regions and all(_repeats(region, text) for region in regions)
    ]
    chosen = [name for name in texts if name in meant] or fits or list(texts)
    if len(chosen) != 1:
        shown = f"{times(len(chosen), 'text')} ({', '.join(chosen)})" if chosen else "no text"
        raise FormatError(None, f"task {task.get('id')!r} with {shown}", "a field `text` in its data")
    return texts[chosen[0]]


def _repeats(region: Mapping[str, Any], text: str) -> bool:
    """Return whether a text has at the place of a region what the region says."""
    value = region["value"]
    return bool(text[max(value["start"], 0) : max(value["end"], 0)] == value.get("text"))


def _refuse_other_places(results: Sequence[Mapping[str, Any]], task: Mapping[str, Any]) -> None:
    """Refuse regions whose places are paths in HTML or numbers of paragraphs, not places in a text."""
    values = [result["value"] for result in results if isinstance(result.get("value"), dict)]
    unplaced = [value for value in values if isinstance(value.get("start"), str) and "endOffset" in value]
    if unplaced:
        found = f"task {task.get('id')!r} with {times(len(unplaced), 'region')} in HTML or in paragraphs"
        expected = "regions of a plain text: the tag Text in the labelling configuration"
        raise FormatError(None, found, expected)
    for result in results:
        value = result.get("value")
        # Regions of sound have places in seconds, and no text.
        if (
            isinstance(value, dict)
            and isinstance(value.get("text"), str)
            and "start" in value
            and not _is_region(result)
        ):
            found = f"region {quoted(str(result.get('id')))} from {value['start']!r} to {value.get('end')!r}"
            raise FormatError(None, found, "whole numbers")


def _annotation(
    task: dict[str, Any], index: int, work: dict[str, Any], reader: _Reader, odd: Sequence[Finding]
) -> Annotation:
    results = work.get("result", [])
    _refuse_other_places(results, task)
    regions = _regions(results)
    text = text_of(task, regions)
    units = _counts_units(text, regions)
    wide = Units(text) if units else None
    extents = {str(region.get("id")): _extent(region, text, wide) for region in regions}
    wanted = reader.options.relations if reader.options else ()
    relations = [result for result in results if result.get("type") == "relation"]
    others = {str(result.get("id")) for result in results} - extents.keys()
    links = tuple(
        relation for relation in relations if _links(relation, wanted) and not _ends(relation) & others
    )
    heads = _heads(extents, links)
    named = [(str(region.get("id")), region) for region in regions]
    marked = tuple(Marked(heads[id], (extents[id],), _label(region), id) for id, region in named)
    stored = links if index < len(task.get("annotations", ())) else ()
    layout = LabelStudioLayout(task, index, reader.alone, units, reader.who, marked, stored)
    layers = tuple(sorted({f"relation {label}" for relation in relations for label in _labels(relation)}))
    name, part = name_and_part(reader.name)
    document = Document(name, (), part, reader.source, layout=layout, layers=layers)
    facts = EntityFacts(labels_are_types=True)
    odd = [*odd, *_unread(relations, links, wanted, f", {reader.name}, {reader.who}")]
    made = annotate(document, reader.who, Text.of_lines(text), marked, odd, facts=facts)
    return replace(made, adjudicated=is_gold(work))


def _regions(results: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the regions of a text; a note or choice about a region has its id and its place, too."""
    regions: dict[str, Mapping[str, Any]] = {}
    for region in sorted(
        filter(_is_region, results), key=lambda region: not str(region.get("type")).endswith("labels")
    ):
        first = regions.setdefault(str(region.get("id")), region)
        if any(first["value"][end] != region["value"][end] for end in ("start", "end")):
            raise FormatError(None, f"region {quoted(str(region.get('id')))} at two places", "each id once")
    return list(regions.values())


def _is_region(result: Mapping[str, Any]) -> bool:
    value = result.get("value")
    return isinstance(value, dict) and type(value.get("start")) is int and type(value.get("end")) is int


def _counts_units(text: str, regions: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether offsets count UTF-16 units: whether more regions then have the text that they repeat."""
    if text.isascii() or all(ord(sign) < 0x10000 for sign in text):
        return False
    wide = Units(text)
    fits = [0, 0]
    for value in (region["value"] for region in regions):
        start, end = wide.point(value["start"]), wide.point(value["end"])
        fits[0] += text[value["start"] : value["end"]] == value.get("text")
        fits[1] += start is not None and end is not None and text[start:end] == value.get("text")
    return fits[1] >= fits[0]


def _extent(region: Mapping[str, Any], text: str, units: Units | None) -> Extent:
    ends = [region["value"][name] for name in ("start", "end")]
    points = [units.point(end) for end in ends] if units else ends
    start, end = points
    if start is None or end is None or not 0 <= start <= end <= len(text):
        found = f"region {quoted(str(region.get('id')))} from {ends[0]} to {ends[1]}"
        raise FormatError(None, found, f"places in a text of {len(text)} characters")
    return start, end


def _label(region: Mapping[str, Any]) -> str:
    labels = region["value"].get("labels") or region["value"].get("hypertextlabels") or ()
    return "+".join(map(str, labels)) if isinstance(labels, list) else ""


def _links(relation: Mapping[str, Any], wanted: Sequence[str]) -> bool:
    labels = _labels(relation)
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
    others = ["+".join(_labels(relation)) for relation in relations if not _links(relation, wanted)]
    return unread_relations(others, [label for link in links for label in _labels(link)], wanted, where)


def _ends(link: Mapping[str, Any]) -> set[str]:
    """Return the ids of what a relation links; regions of images, for example, may be among them."""
    return {str(link.get(name)) for name in ("from_id", "to_id")}


def _heads(extents: Mapping[str, Extent], links: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    groups = Groups(extents)
    for link in links:
        ends = [str(link.get(name)) for name in ("from_id", "to_id")]
        for end in ends:
            if end not in extents:
                raise FormatError(None, f"a relation to {quoted(end)}", "the id of a region")
        groups.join(*ends)
    return groups.firsts()


_TAGS = {"from_name": "label", "to_name": "text"}
"""The names of tags in Label Studio's template for coreference."""


def write(annotations: Iterable[Annotation]) -> str:
    """Write a list of tasks, one for each document."""
    tasks = [_task(annotation, number) for number, annotation in enumerate(annotations, 1)]
    return json.dumps(tasks, ensure_ascii=False, indent=1) + "\n"


def losses(annotation: Annotation) -> tuple[Finding, ...]:
    """Return what of an annotation this format cannot carry."""
    return tuple(lost(annotation, labels=True, types=True))


def _task(annotation: Annotation, number: int) -> dict[str, Any]:
    layout = annotation.document.layout
    if not isinstance(layout, LabelStudioLayout):
        layout = _fresh(annotation.document, number)
    works = list(layout.task.get("annotations", ()))
    old = works[layout.place] if layout.place < len(works) else {}
    result = _marked(_result(annotation, layout, old.get("result", [])), annotation.adjudicated)
    work = {name: value for name, value in old.items() if name != GOLD_FIELD}
    work |= {"result": result, **_gold(annotation)}
    if layout.alone or layout.place >= len(works):
        works[layout.place : layout.place + 1] = [work]
    elif not annotation.adjudicated:
        # Chains of somebody else are no longer the work of the user whose regions they replace.
        own = annotation.annotator == layout.who
        works = [work if own else {name: value for name, value in work.items() if name != "completed_by"}]
    else:
        works = [work for work in works if not is_gold(work)]
        # Without `completed_by`, which must be a user of Label Studio: there it is who imports the file.
        works.append({"result": result, "ground_truth": True, **_gold(annotation)})
    return {**layout.task, "annotations": works}


def _marked(result: Sequence[dict[str, Any]], gold: bool) -> list[dict[str, Any]]:
    """Say in the first item of a result, and in no other, whether it is that of an adjudication."""
    plain = [
        {name: value for name, value in item.items() if name != GOLD_FIELD} if GOLD_FIELD in item else item
        for item in result
    ]
    return [{**plain[0], GOLD_FIELD: True}, *plain[1:]] if gold and plain else plain


def _gold(annotation: Annotation) -> dict[str, Any]:
    return {GOLD_FIELD: True} if annotation.adjudicated else {}


def _fresh(document: Document, number: int) -> LabelStudioLayout:
    text, _ = spell(document)
    task = {"id": number, "data": {"doc_key": document.title, "text": text}, "annotations": []}
    return LabelStudioLayout(task, 0, True, any(ord(sign) > 0xFFFF for sign in text), "", (), ())


def _result(
    annotation: Annotation, layout: LabelStudioLayout, old: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Write the regions of an annotation and the relations between them, keeping what still holds."""
    taken = {str(item.get("id")) for item in old}
    fresh = (f"caspr-{number}" for number in count(1) if f"caspr-{number}" not in taken)
    chains = [
        [(mention.key or next(fresh), mention) for mention in wide_pieces(mentions)]
        for _, mentions in plan(annotation, layout.marked, types=True)
    ]
    used = {id for chain in chains for id, _ in chain}
    gone = {mention.key for mention in layout.marked} - used
    owner = {id: number for number, chain in enumerate(chains) for id, _ in chain}
    kept = [relation for relation in layout.relations if _holds(relation, owner)]
    dropped = {id(relation) for relation in layout.relations if not _holds(relation, owner)}
    lines = [
        item
        for item in old
        if str(item.get("id")) not in gone and id(item) not in dropped and not _dangles(item, gone)
    ]
    known = {str(line.get("id")) for line in lines}
    text = spell(annotation.document)[0]
    units = Units(text) if layout.units else None
    names = _names(layout)
    regions = [
        {**names, **_region(key, mention, text, units)}
        for chain in chains
        for key, mention in chain
        if key not in known
    ]
    return [*lines, *regions, *_relations([[key for key, _ in chain] for chain in chains], kept)]


def _names(layout: LabelStudioLayout) -> dict[str, str]:
    """Return what the regions of a task call its tags, without which Label Studio does not show a region."""
    works = layout.task.get("annotations", ())
    labels = (item for work in works for item in work.get("result", ()) if item.get("type") == "labels")
    region: dict[str, str] = next((item for item in labels if "from_name" in item and "to_name" in item), {})
    return {name: region.get(name, default) for name, default in _TAGS.items()}


def _holds(relation: dict[str, Any], owner: dict[str, int]) -> bool:
    first, second = (owner.get(str(relation.get(name))) for name in ("from_id", "to_id"))
    return first is not None and first == second


def _dangles(item: dict[str, Any], gone: set[str]) -> bool:
    return item.get("type") == "relation" and bool(_ends(item) & gone)


def _region(key: str, mention: Marked, text: str, units: Units | None) -> dict[str, Any]:
    start, end = mention.pieces[0]
    value = {
        "start": units.of(start) if units else start,
        "end": units.of(end) if units else end,
        "text": text[start:end],
        "labels": [mention.label or "Mention"],
    }
    return {"id": key, "type": "labels", "value": value}


def _relations(chains: Sequence[Sequence[str]], kept: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Link what the relations that were kept do not link."""
    groups = Groups(key for chain in chains for key in chain)
    for link in kept:
        groups.join(str(link["from_id"]), str(link["to_id"]))
    labels = kept[0].get("labels", ["Coreference"]) if kept else ["Coreference"]
    for chain in chains:
        heads = list(dict.fromkeys(groups.first(key) for key in chain))
        for first, second in pairwise(heads):
            ends = {"from_id": second, "to_id": first}
            yield {**ends, "type": "relation", "direction": "right", "labels": labels}


def detect(path: Path, head: str) -> bool:  # noqa: ARG001
    """Return whether the beginning of a file looks like this format."""
    works = ("annotations", "completions", "predictions")
    return any(has_fields(head, "result", name, begin="[{") for name in works)


FORMAT = Format(
    name="labelstudio",
    suffixes=(".labelstudio.json",),
    detect=detect,
    read=read,
    write=write,
    losses=losses,
    many_documents=True,
    many_annotators=True,
    shared_suffixes=(".json",),
)
