"""Formats: files to annotations and back, one module for each format.

Each module makes a `Format` record (`formats.format`), and the table `FORMATS` (`formats.registry`) names the
modules; to add a format, write such a module and name it there. The review file is not in the table: it holds
all annotators and the adjudicator's decisions, and has functions of its own in `formats.review_file`.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from caspr.formats.format import ReadOptions
from caspr.formats.naming import annotator_names, refuse_twice
from caspr.formats.registry import FORMATS, detect, gold_files, made_below, output_format, render
from caspr.formats.sources import read_all, read_one
from caspr.storage import write_all
from caspr.text.arguments import annotations_of, path_of
from caspr.text.document import Annotation

__all__ = ["FORMATS", "annotator_names", "detect", "gold_files", "read", "read_all", "refuse_twice", "write"]


def read(
    path: str | Path,
    annotator: str | None = None,
    *,
    format: str | None = None,
    layer: str | None = None,
    relations: Sequence[str] = (),
) -> list[Annotation]:
    """Read one annotator's file or folder: an annotation for each document in it.

    The annotator is named after the file unless a name is given; of a file with several annotators, all are
    returned. The format is found by content unless it is given, and `layer` and `relations` are those of
    the command line.
    """
    source = path_of(path, "caspr.read")
    return read_one(source, annotator, format=format, options=read_options(layer, relations))


def read_options(layer: str | None, relations: Sequence[str]) -> ReadOptions:
    """Make the options of readers from what a Python program passes; a text is one relation."""
    return ReadOptions(layer, (relations,) if isinstance(relations, str) else tuple(relations))


def write(annotations: Iterable[Annotation], path: str | Path, *, format: str | None = None) -> None:
    """Write annotations, such as the golds of results, whole or not at all.

    Without a format it is that of the file's name, else the one the first document was read from.
    """
    every, target = annotations_of(annotations, "caspr.write"), path_of(path, "caspr.write")
    files = render(every, target, format=format or output_format(every, target))
    write_all(files, below=made_below(target, files))
