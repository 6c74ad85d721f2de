"""Lines of JSON objects, one for each document: what all formats of this kind share.

A line that is malformed does not affect the others. A file that is one object, broken into lines for people
to read, is one document. `caspr_gold` is true in the object of a document that is the result of an
adjudication.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from caspr.errors import FormatError
from caspr.files import read_text
from caspr.formats.containers.json import parse_kept
from caspr.formats.format import Each, whole
from caspr.formats.messages import quoted
from caspr.formats.options import ReadOptions
from caspr.text.document import Annotation

GOLD_FIELD = "caspr_gold"
"""True in the object of a document that is the result of an adjudication."""


class LineFault(Exception):  # noqa: N818
    """Something wrong with a line: what was found and what was expected."""


Make = Callable[[dict[str, Any], int], Annotation]
"""Makes the annotation of an object and the number of its line, or raises `LineFault`."""


class LineSource(NamedTuple):
    """Where an object comes from."""

    path: str
    """Its file."""
    line: int
    """Its line."""
    annotator: str
    """Whose work it is."""
    layer: str | None
    """The field with the clusters, if the user names it."""


@dataclass(frozen=True)
class ObjectLayout:
    """The object of a document; each format has a class of its own for it."""

    fields: dict[str, Any]
    """The whole object."""
    key: str
    """The field with the clusters."""


Read = Callable[[Path, str | None, ReadOptions | None], list[Annotation]]
ReadEach = Callable[[Path, str | None, ReadOptions | None], Iterator[Each]]


def readers(
    make: Callable[[dict[str, Any], LineSource], Annotation], *, name: str, example: str
) -> tuple[Read, ReadEach]:
    """Return the functions that read a file whole and one by one, from one that reads an object.

    Whether it is the result of an adjudication is read here.
    """

    def read_each(
        path: Path, annotator: str | None = None, options: ReadOptions | None = None
    ) -> Iterator[Each]:
        who = path.stem if annotator is None else annotator
        layer = options.layer if options else None

        def made(fields: dict[str, Any], line: int) -> Annotation:
            annotation = make(fields, LineSource(str(path), line, who, layer))
            return replace(annotation, adjudicated=fields.get(GOLD_FIELD) is True)

        return read_objects(path, made, name=name, example=example)

    def read(
        path: Path, annotator: str | None = None, options: ReadOptions | None = None
    ) -> list[Annotation]:
        return whole(read_each(path, annotator, options))

    return read, read_each


def writer(line: Callable[[Annotation], str]) -> Callable[[Iterable[Annotation]], str]:
    """Return the function that writes a file, from one that writes a line."""
    return lambda annotations: "".join(f"{line(annotation)}\n" for annotation in annotations)


def read_objects(path: Path, make: Make, *, name: str, example: str) -> Iterator[Each]:
    """Yield each document's name with its annotation, or with what is wrong with it.

    `name` is the field that names a document, `example` a line as it should be.
    """
    source = str(path)
    seen: dict[tuple[str, str | None], int] = {}
    empty = True
    for number, line in _objects(read_text(path)):
        empty = False
        fields: dict[str, Any] = {}
        try:
            fields = parse_kept(line, source, "one JSON object on each line", line=number)
            annotation = make(fields, number)
        except (LineFault, FormatError) as error:
            called = fields.get(name)
            shown = called if isinstance(called, str) else f"{path.stem}, line {number}"
            yield shown, error if isinstance(error, FormatError) else FormatError(source, number, *error.args)
            continue
        first = seen.setdefault(annotation.document.key, number)
        if first != number:
            title = f"document {quoted(annotation.document.title)} for the second time"
            expected = f"each document once; the first is in line {first}"
            yield annotation.document.name, FormatError(source, number, title, expected)
        else:
            yield annotation.document.name, annotation
    if empty:
        yield path.stem, FormatError(source, None, "no document", f"at least one line {example}")


def _objects(text: str) -> Iterator[tuple[int, str]]:
    """Yield each line that is not empty with its number, or the whole text if it is one object."""
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    broken = len(lines) > 1 and not lines[0][1].rstrip().endswith("}")
    yield from [(lines[0][0], text)] if broken and _is_json(text) else lines


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def with_gold(fields: dict[str, Any], annotation: Annotation) -> dict[str, Any]:
    """Say in the object of a document whether it is the result of an adjudication."""
    rest = {name: value for name, value in fields.items() if name != GOLD_FIELD}
    return {**rest, GOLD_FIELD: True} if annotation.adjudicated else rest


def text_of(fields: dict[str, Any], name: str, default: str) -> str:
    """Return a field that must be a text, or what stands for one that is missing."""
    value = fields.get(name, default)
    if not isinstance(value, str):
        raise LineFault(f"{name} {value!r}", f"a text as {name}")
    return value


def pairs_of(value: object, limit: int, what: str) -> list[list[tuple[int, int]]]:
    """Read clusters whose mentions are a first place and the place behind the last, counted from 0."""
    if not isinstance(value, list) or not all(isinstance(cluster, list) for cluster in value):
        raise LineFault(f"{what} that are no lists", "[[[0, 2], [5, 6]], ...]")
    return [[_pair(mention, limit) for mention in cluster if mention != []] for cluster in value]


def _pair(mention: object, limit: int) -> tuple[int, int]:
    good = isinstance(mention, list) and len(mention) == 2 and all(type(end) is int for end in mention)
    if not good:
        raise LineFault(f"mention {quoted(str(mention))}", "[first, behind the last]")
    assert isinstance(mention, list)
    start, end = mention
    if not 0 <= start <= end <= limit:
        raise LineFault(f"mention {quoted(str(mention))}", f"two places in order, from 0 to {limit}")
    return start, end
