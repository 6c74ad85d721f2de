"""`--add`, `--remove` and `--rename`: what `review` and `redo` change about the annotators of a review."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from caspr.cli.shared import options
from caspr.cli.shared.outputs import print_lines
from caspr.cli.shared.progress import ended_by_interrupt
from caspr.errors import InputError
from caspr.text.document import Annotation

if TYPE_CHECKING:
    from caspr.review.project.annotators import AddedWork

Function = Callable[..., Any]

annotator_options = options.options_of(
    click.option(
        "--add",
        "added",
        multiple=True,
        metavar="[NAME=]FILE",
        help="Add a late annotator's file or folder to a review, or a corrected one: NAME says whose it is.",
    ),
    click.option("--remove", "removed", multiple=True, metavar="NAME", help="Remove an annotator."),
    click.option(
        "--rename", "renamed", multiple=True, metavar="NAME=NEW", help="Give an annotator another name."
    ),
)
"""What changes the annotators of a review file or a project; all decisions are kept."""


def change_annotators(files: Sequence[Path], who: str, values: dict[str, Any]) -> None:
    """Do what the options say to a project or a review file, and print what that changed."""
    added, removed, renamed = (values.pop(name) for name in ("added", "removed", "renamed"))
    if not (added or removed or renamed):
        return
    from caspr.formats.review_file import is_review
    from caspr.formats.review_file.project import is_project
    from caspr.review.project import annotators

    reviewed = [path for path in files if is_project(path) or is_review(path)]
    if len(files) != 1 or not reviewed:
        _refuse_files(added, [file for file in files if file not in reviewed], given=len(reviewed) == 1)
    reading = options.reading(values) if "layer" in values else {}
    work = annotators.by_key(_read(added, reading, allow_gold=values.get("allow_gold", False)))
    if work:
        _refuse_unnamed_corrections(files[0], work, added)
    every = annotators.annotations_there(files[0])
    there = {annotation.annotator for annotations in every for annotation in annotations}
    new_names = dict(_renaming(text, there) for text in renamed)
    changes = annotators.AnnotatorChanges(work, frozenset(removed), new_names)
    try:
        with ended_by_interrupt():
            lines = annotators.change_annotators(
                files[0], changes, who, lambda settings: options.changed(settings, values)
            )
    except KeyboardInterrupt:
        click.echo("caspr: error: interrupted; run the same command again for the rest", err=True)
        raise SystemExit(130) from None
    print_lines(lines)


def _refuse_files(added: Sequence[str], others: Sequence[Path], *, given: bool) -> None:
    if not added:
        raise InputError("--remove and --rename need one project or review file")
    remedy = f"; write --add {added[0]}{''.join(f' --add {file}' for file in others)}" if given else ""
    raise InputError(
        f"--add needs one project or review file to add to, and an --add for each annotator{remedy}"
    )


def _renaming(text: str, there: Collection[str]) -> tuple[str, str]:
    """Return the old and the new name: of several equals signs, the first that ends a name that is there.

    >>> _renaming("a=b=Anna", {"a=b", "ben"}), _renaming("ben=b=1", {"a=b", "ben"})
    (('a=b', 'Anna'), ('ben', 'b=1'))
    """
    signs = (index for index, sign in enumerate(text) if sign == "=")
    both = [(text[:index], text[index + 1 :]) for index in signs if 0 < index < len(text) - 1]
    if not both:
        raise InputError(f"--rename {text}: give the old and the new name, as in carla=Clara")
    return next((pair for pair in both if pair[0] in there), both[0])


def _named(text: str) -> tuple[str, Path]:
    """Return whose annotations a file has, if that was said, and the file.

    >>> _named("carla=corrected/carla_v2.conll")[0]
    'carla'
    """
    name, equals, file = text.partition("=")
    if not (name and equals and file) or Path(text).exists():
        return "", Path(text)
    return name, Path(file)


def _read(added: Sequence[str], reading: dict[str, Any], *, allow_gold: bool) -> Iterator[list[Annotation]]:
    """Read the files of late and corrected annotators, each with the name that was given."""
    from caspr.formats import read_all
    from caspr.text.checks import refuse_golds

    named = [(name, path) for name, path in map(_named, added) if name]
    groups = [(name, group) for name, path in named for group in read_all([path], **reading)]
    others = [path for name, path in map(_named, added) if not name]
    if others:
        groups += [("", group) for group in read_all(others, **reading)]
    for name, _ in named:
        if sum(other == name for other, _ in groups) > 1:
            raise InputError(f"--add {name}=...: there are several annotators in this file or folder")
    for name, group in groups:
        if not allow_gold:
            refuse_golds(group, others=1)
        yield [replace(work, annotator=name or work.annotator) for work in group]


def _refuse_unnamed_corrections(path: Path, work: "AddedWork", added: Sequence[str]) -> None:
    """Ask whose annotations a file has that looks like a corrected one under another name."""
    from caspr.review.project.annotators import annotations_there, likely_corrections

    said = {name for name, _ in map(_named, added) if name}
    for correction in likely_corrections(annotations_there(path), work):
        if correction.new in said:
            continue
        file = next((text for text in added if correction.new in text), added[0])
        raise InputError(
            f"{correction}: write --add {correction.old}={file} if it corrects those annotations, or "
            f"--add {correction.new}={file} if it is the work of one more annotator"
        )
