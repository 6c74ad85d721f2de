"""Commands on a whole project: the review files of all its documents, solved together.

The documents are read as they are at that moment, also while the review page has them open. Only a review
file whose result or settings come out differently is rewritten: it is locked then, compared with what was
read, and its old version kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from caspr.cli.delivery.outputs import Files, Output, Outputs, locked
from caspr.cli.delivery.solving import Task, reviewed_tasks
from caspr.errors import InputError
from caspr.files import decode, read_bytes
from caspr.formats import gold_files, review_file
from caspr.formats.registry import STANDARD_OUTPUT, by_suffix, output_format, render
from caspr.formats.review_file.project import NAME, read_project
from caspr.result import Result
from caspr.text.document import Annotation


@dataclass(frozen=True)
class OpenReview:
    """A review file as it was read."""

    path: Path
    """The file."""
    name: str
    """What its gold standard is called, without a suffix; it may lead into folders."""
    known: bytes
    """What it holds."""
    reviews: tuple[review_file.Review, ...]
    """Its documents."""

    def renewed(self, results: Sequence[Result]) -> bytes:
        """Render it with new results: the same decisions, the settings that led to them."""
        return renew(self.reviews, results).encode("utf-8")


def renew(reviews: Sequence[review_file.Review], results: Sequence[Result]) -> str:
    """Render a review file anew: the same decisions, the new results, the settings that led to them."""
    return review_file.write(
        replace(one, gold=result.gold, settings=review_file.review_of(result, result.gold).settings)
        for one, result in zip(reviews, results, strict=True)
    )


def is_project(path: Path) -> bool:
    """Return whether a path is the folder of a project."""
    return (path / NAME).is_file()


def read_reviews(folder: Path) -> list[OpenReview]:
    """Read the review files of a project, in the order in which it lists them."""
    found = []
    for one in read_project(folder).documents:
        path = folder / one.file
        if not path.is_file():
            expected = f"the review file of '{one.title}', which {folder / NAME} lists"
            raise InputError(f"{path}: found no file, expected {expected}")
        known = read_bytes(path)
        # The folder of all review files is not part of their names.
        inside = PurePosixPath(one.file).with_suffix("").parts
        name = "/".join(inside[1:] or inside)
        found.append(
            OpenReview(path, name, known, tuple(review_file.parse(decode(known, str(path)), str(path))))
        )
    if not found:
        raise InputError(f"{folder}: found a project without documents, expected at least one")
    return found


def tasks_of(found: Sequence[OpenReview], given: dict[str, Any], *, reported: bool) -> list[Task]:
    """Return a task for each document of some review files."""
    return [task for one in found for task in reviewed_tasks(one.path, one.reviews, given, reported=reported)]


def results_of(
    found: Sequence[OpenReview], results: Sequence[Result]
) -> list[tuple[OpenReview, list[Result]]]:
    """Return the results of each review file."""
    left = iter(results)
    return [(one, [next(left) for _ in one.reviews]) for one in found]


def rendered_golds(golds: Sequence[tuple[str, list[Annotation]]], path: Path, target: str | None) -> Files:
    """Render the gold standards of all documents, each given with the name of its review file.

    They are in one file, if the path is called like one, or else in a folder with a file for each.
    """
    every = [gold for _, some in golds for gold in some]
    if path == STANDARD_OUTPUT or (by_suffix(path) is not None and not path.is_dir()):
        return render(every, path, format=target or output_format(every, path))
    return {
        path / file: content
        for name, some in golds
        for file, content in gold_files(some, name, format=target).items()
    }


Rewritten = tuple[OpenReview, bytes]
"""A review file that comes out differently, with its new text."""


def rewritten(found: Sequence[tuple[OpenReview, list[Result]]]) -> list[Rewritten]:
    """Return the review files that come out differently; refuse one that somebody else has open."""
    changed = [(one, text) for one, results in found if (text := one.renewed(results)) != one.known]
    for one, _ in changed:
        with locked(one.path):
            pass
    return changed


def rewrite(changed: Sequence[Rewritten], outputs: Outputs) -> list[Path]:
    """Rewrite review files, each unless it was saved since it was read, and return their old versions."""
    kept = []
    for one, text in changed:
        output = Output("the review file", one.path)
        alone = replace(outputs, outputs=(output,), rewritten=one.path, known=one.known)
        with locked(one.path):
            backups = alone.write({output.option: {one.path: text}})
        kept.append(backups[one.path])
    return kept
