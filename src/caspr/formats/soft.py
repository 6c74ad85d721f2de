"""Soft: what a gold standard says about each mention, with how sure it is, for those who train on it.

JSON lines, only written. Each document begins with a line of its tokens; a line for each mention follows, in
text order, also for those that somebody marked and the gold does not have:

    {"document": "song", "tokens": ["John", "is", ...]}
    {"start": 8, "end": 10, "text": "a new song", "entity": "2", "confidence": 0.83, "votes": ["anna", "ben"],
     "alternatives": [{"kind": "absent", "entity": null, "confidence": 0.17, "votes": ["carla"]}]}

Tokens are counted from 1, both ends included. `entity` is the id of the chain in the gold, null where that
does not have the mention. `confidence` is how often such decisions are right (`caspr.confidence`); what is
left to 1 is shared by the alternatives, by their votes: another `entity` of the gold (null for one that it
lacks), `alone`, or `absent`. What an adjudicator decided has `decided` true and confidence 1. Names and types
of entities, labels and gaps of mentions are there where they have some. An annotation that is not a gold has
no confidence, and its annotator as the only vote.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NoReturn

from caspr.errors import FormatError
from caspr.formats.format import Format, ReadOptions
from caspr.text.document import Annotation, Chain, Span, Support
from caspr.text.findings import Finding


def detect(path: Path, head: str) -> bool:
    """Return whether a file begins as these do."""
    return path.name.lower().endswith(".soft.jsonl") and head.startswith('{"document": ')


def read(path: Path, annotator: str | None = None, options: ReadOptions | None = None) -> NoReturn:  # noqa: ARG001
    """Refuse to read: a gold with alternatives is not an annotator's work."""
    raise FormatError(None, "a soft gold standard", "annotations: files with confidence are only written")


def write(annotations: Iterable[Annotation]) -> str:
    """Write a line for each document and each of its mentions."""
    lines = (line for annotation in annotations for line in _lines(annotation))
    return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)


def losses(annotation: Annotation) -> tuple[Finding, ...]:  # noqa: ARG001
    """Return nothing: all of an annotation is written."""
    return ()


def _lines(annotation: Annotation) -> Iterator[dict[str, Any]]:
    yield {"document": annotation.document.title, "tokens": list(annotation.document.tokens)}
    homes: dict[Span, list[Chain]] = {}
    for chain in annotation.all_chains:
        for span in chain.mentions:
            homes.setdefault(span, []).append(chain)
    flagged = {span for span, mark in annotation.marks.items() if mark.flags}
    for span in sorted({*homes, *annotation.support, *flagged}):
        for home in homes.get(span, [None]):
            yield _mention(annotation, span, home)


def _mention(annotation: Annotation, span: Span, chain: Chain | None) -> dict[str, Any]:
    support = annotation.support.get(span)
    mark = annotation.marks.get(span)
    known = {
        "name": chain.name if chain else "",
        "type": chain.type if chain else "",
        "label": mark.label if mark else "",
        "pieces": [list(piece) for piece in mark.pieces] if mark else [],
        "flags": [{"flag": flag.name, "note": flag.text} for flag in mark.flags] if mark else [],
    }
    return {
        "start": span.start,
        "end": span.end,
        "text": annotation.document.text(span),
        "entity": None if chain is None else chain.id,
        **{name: value for name, value in known.items() if value},
        **({"confidence": None, "votes": [annotation.annotator]} if support is None else _sure(support)),
    }


def _sure(support: Support) -> dict[str, Any]:
    decided = {"decided": True} if support.decided else {}
    return {
        "confidence": round(support.confidence, 3),
        "votes": list(support.votes),
        **decided,
        "alternatives": [
            {
                "kind": other.kind,
                "entity": other.entity,
                "confidence": round(other.confidence, 3),
                "votes": list(other.votes),
            }
            for other in support.alternatives
        ],
    }


FORMAT = Format(
    name="soft",
    suffixes=(".soft.jsonl",),
    detect=detect,
    read=read,
    write=write,
    losses=losses,
    many_documents=True,
)
