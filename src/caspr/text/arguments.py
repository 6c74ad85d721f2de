"""Arguments: what a Python program passes, looked at where it comes in.

The public functions take files, lists of annotations, or a list of those for each annotator, which are easily
taken for each other. Each is refused with a `CasprError` that says what was passed and what to pass, before
anything inside trips over it.
"""

import os
from collections.abc import Iterable
from numbers import Integral
from pathlib import Path
from typing import Any

from caspr.errors import ArgumentError
from caspr.text.document import Annotation

FILES = (
    "what caspr.read returned for each annotator, [caspr.read('anna.conll'), caspr.read('ben.conll')], or "
    "caspr.read_folder('folder')"
)
ANNOTATIONS = "a list of annotations, such as caspr.read('anna.conll') or [result.gold]"
REVIEWS = "what caspr.read_review('review.conll') returned"
_WHOLE = int, Integral
"""Whole numbers; most are of the first, which is quicker to see."""
ONE_DOCUMENT = "the annotations of one document, one for each annotator; caspr.adjudicate takes whole files"


def path_of(value: Any, call: str) -> Path:
    """Return a path, or refuse what is none."""
    if isinstance(value, str | os.PathLike):
        return Path(value)
    raise refused(call, value, "the path of a file or folder; call it once for each file")


def annotations_of(value: Any, call: str, expected: str = ANNOTATIONS) -> list[Annotation]:
    """Return annotations as a list, or refuse what is not annotations."""
    annotations = listed(value, call, expected)
    if not all(isinstance(annotation, Annotation) for annotation in annotations):
        raise refused(call, annotations, expected)
    for annotation in annotations:
        _refuse_outside(annotation, call)
    return annotations


def _refuse_outside(annotation: Annotation, call: str) -> None:
    """Refuse mentions that are not in the text; no file has any, so a program made them."""
    last = len(annotation.document.tokens)
    for start, end in annotation.mentions:
        if not (isinstance(start, _WHOLE) and 1 <= start <= end <= last):
            found = f"{call}: found mention {(start, end)} of '{annotation.annotator}'"
            raise ArgumentError(f"{found}, expected its first and its last token, from 1 to {last:,}")


def files_of(value: Any, call: str) -> list[list[Annotation]]:
    """Return the annotations of each annotator's file, or refuse what is something else."""
    files = listed(value, call, FILES)
    if any(map(_is_no_list, files)):
        raise refused(call, files, FILES)
    return [annotations_of(file, call, FILES) for file in files]


def listed(value: Any, call: str, expected: str) -> list[Any]:
    """Return something as a list, or refuse a single thing."""
    if _is_no_list(value):
        raise refused(call, value, expected)
    return list(value)


def _is_no_list(value: Any) -> bool:
    return isinstance(value, str | os.PathLike | Annotation) or not isinstance(value, Iterable)


def refused(call: str, value: Any, expected: str) -> ArgumentError:
    """Return the error for an argument that is something else than expected."""
    return ArgumentError(f"{call}: found {shown(value)}, expected {expected}")


def shown(value: Any) -> str:
    """Say what a value is, for somebody who wrote it.

    >>> shown("a.conll"), shown(["a.conll", "b.conll"]), shown(None), shown([])
    ("the text 'a.conll'", 'a list of str', 'None', 'an empty list')
    """
    if value is None or isinstance(value, int | float):
        return str(value)
    if isinstance(value, str | os.PathLike):
        return f"the {'text' if isinstance(value, str) else 'path'} '{value}'"
    if isinstance(value, list | tuple):
        kind = type(value).__name__
        return f"a {kind} of {type(value[0]).__name__}" if value else f"an empty {kind}"
    name = type(value).__name__
    return f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"
