"""Write Label Studio: regions and relations in the tasks that documents were read from, or in new ones."""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import count, pairwise
from typing import Any

from caspr.formats.labelstudio.reading import GOLD_FIELD, LabelStudioLayout, is_gold
from caspr.formats.losses import lost_edges, lost_entities, lost_marks
from caspr.formats.text_layer.characters import Units, spell
from caspr.formats.text_layer.standoff import Marked, plan, wide_pieces
from caspr.text.document import Annotation, Document
from caspr.text.findings import Finding
from caspr.text.grouping import Groups

_TAGS = {"from_name": "label", "to_name": "text"}
"""The names of tags in Label Studio's template for coreference."""


def write(annotations: Iterable[Annotation]) -> str:
    """Write a list of tasks, one for each document."""
    tasks = [_task(annotation, number) for number, annotation in enumerate(annotations, 1)]
    return json.dumps(tasks, ensure_ascii=False, indent=1) + "\n"


def losses(annotation: Annotation) -> tuple[Finding, ...]:
    """Return what of an annotation this format cannot carry."""
    marks = lost_marks(annotation, labels=True, gaps=False)
    return (*marks, *lost_edges(annotation), *lost_entities(annotation, types=True))


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
        works = [one for one in works if not is_gold(one)]
        # Without `completed_by`, which must be a user of Label Studio: there it is who imports the file.
        works.append({"result": result, "ground_truth": True, **_gold(annotation)})
    return {**layout.task, "annotations": works}


def _marked(result: Sequence[dict[str, Any]], gold: bool) -> list[dict[str, Any]]:
    """Say in the first item of a result, and in no other, whether it is that of an adjudication."""
    plain = [
        {name: value for name, value in one.items() if name != GOLD_FIELD} if GOLD_FIELD in one else one
        for one in result
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
    taken = {str(one.get("id")) for one in old}
    fresh = (f"caspr-{number}" for number in count(1) if f"caspr-{number}" not in taken)
    chains = [
        [(one.key or next(fresh), one) for one in wide_pieces(mentions)]
        for _, mentions in plan(annotation, layout.marked, types=True)
    ]
    used = {id for chain in chains for id, _ in chain}
    gone = {one.key for one in layout.marked} - used
    owner = {id: place for place, chain in enumerate(chains) for id, _ in chain}
    kept = [one for one in layout.relations if _holds(one, owner)]
    dropped = {id(one) for one in layout.relations if not _holds(one, owner)}
    lines = [
        one
        for one in old
        if str(one.get("id")) not in gone and id(one) not in dropped and not _dangles(one, gone)
    ]
    known = {str(one.get("id")) for one in lines}
    text = spell(annotation.document)[0]
    units = Units(text) if layout.units else None
    names = _names(layout)
    regions = [
        {**names, **_region(key, one, text, units)}
        for chain in chains
        for key, one in chain
        if key not in known
    ]
    return [*lines, *regions, *_relations([[key for key, _ in chain] for chain in chains], kept)]


def _names(layout: LabelStudioLayout) -> dict[str, str]:
    """Return what the regions of a task call its tags, without which Label Studio does not show a region."""
    works = layout.task.get("annotations", ())
    found = (one for work in works for one in work.get("result", ()) if one.get("type") == "labels")
    region: dict[str, str] = next((one for one in found if "from_name" in one and "to_name" in one), {})
    return {name: region.get(name, default) for name, default in _TAGS.items()}


def _holds(one: dict[str, Any], owner: dict[str, int]) -> bool:
    first, second = (owner.get(str(one.get(name))) for name in ("from_id", "to_id"))
    return first is not None and first == second


def _dangles(one: dict[str, Any], gone: set[str]) -> bool:
    return one.get("type") == "relation" and bool({str(one.get("from_id")), str(one.get("to_id"))} & gone)


def _region(key: str, one: Marked, text: str, units: Units | None) -> dict[str, Any]:
    start, end = one.pieces[0]
    value = {
        "start": units.of(start) if units else start,
        "end": units.of(end) if units else end,
        "text": text[start:end],
        "labels": [one.label or "Mention"],
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
        for one, two in pairwise(heads):
            yield {"from_id": two, "to_id": one, "type": "relation", "direction": "right", "labels": labels}
