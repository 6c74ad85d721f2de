"""Templates: files that get the chains of other annotations, for `convert` and `redo`."""

from collections.abc import Sequence
from pathlib import Path

from caspr.errors import InputError
from caspr.formats.sources import read_one
from caspr.text.alignment import transfer
from caspr.text.document import Annotation


def fill(annotations: Sequence[Annotation], template: Path, format: str | None) -> list[Annotation]:
    """Put annotations onto the documents of a template, found by name; a lone one needs no name."""
    documents = {one.document.key: one for one in reversed(read_one(template, format=format))}
    if len(annotations) == 1 and len(documents) == 1:
        return [transfer(annotations[0], next(iter(documents.values())))]
    missing = [one.document.title for one in annotations if one.document.key not in documents]
    if missing:
        raise InputError(f"{template}: found no document '{missing[0]}', expected all that are written")
    return [transfer(one, documents[one.document.key]) for one in annotations]
