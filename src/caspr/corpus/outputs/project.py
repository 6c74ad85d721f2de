"""A corpus as a project for `caspr review`: a review file for each document, and the file that lists them.

A review file in which anything was decided, noted or called done belongs to its adjudicators: a later run
neither replaces nor removes it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from caspr.errors import CasprError
from caspr.files import write_all
from caspr.formats import review_file
from caspr.formats.review_file.project import NAME, ProjectDocument, ProjectFile, project_text, read_project
from caspr.text.document import Document

FOLDER = "documents"
"""The folder of the review files."""


def is_decided(path: Path) -> bool:
    """Return whether a file is a review file that holds anything of an adjudicator, or no readable one."""
    if not path.is_file():
        return False
    try:
        reviews = review_file.read(path)
    except CasprError:
        return True
    return any(one.decisions or one.notes or one.authors.done for one in reviews)


def write_project(folder: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write the project file for the documents of a run, and keep who is to do them."""
    path = folder / NAME
    before = read_project(folder) if path.is_file() else ProjectFile()
    documents = [_document(row) for row in rows if row.get("file")]
    listed = {one.file for one in documents}
    # What is not in the corpus any more, but in the hands of adjudicators, stays.
    documents += [one for one in before.documents if one.file not in listed and is_decided(folder / one.file)]
    write_all({path: project_text(replace(before, documents=tuple(documents)))})


def _document(row: Mapping[str, Any]) -> ProjectDocument:
    title = Document(row["name"], (), part=row["part"]).title
    return ProjectDocument(row["file"], title, None, row["annotators"], row["value"])
