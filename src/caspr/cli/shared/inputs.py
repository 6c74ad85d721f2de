"""What commands are given that take the work of several annotators: their files, or one folder of all.

What is needed to look into a folder is imported there: most calls name files, and should start fast.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from caspr.errors import InputError
from caspr.formats import read_all
from caspr.formats.registry import STANDARD_OUTPUT, by_suffix, folder_format
from caspr.formats.sources import is_gold
from caspr.storage import similar_file
from caspr.text.document import Annotation

Work = list[list[Annotation]]
"""The annotations of each annotator."""


def read_given(paths: Sequence[Path], reading: dict[str, Any]) -> tuple[Work, list[Path]]:
    """Read annotators' files or folders, or one folder that holds them all; return also what was read.

    One folder has a file or a folder for each annotator, a folder for each document, or files that each hold
    several annotators. What is not read of it is in the findings of the first annotation.
    """
    if not is_one_folder(paths):
        return read_all(paths, **reading), list(paths)
    from caspr.formats.folders import read_whole_folder

    return read_whole_folder(paths[0], reading)


def files_of(paths: Sequence[Path]) -> list[Path]:
    """Return the files that are read one by one: those given, or all of one folder that hold annotations."""
    if not is_one_folder(paths):
        return list(paths)
    from caspr.formats.folders import files_inside

    below = [path for path in sorted(paths[0].rglob("*")) if path.is_dir()]
    hidden = [path for path in below if path.relative_to(paths[0]).as_posix().startswith(".")]
    return [file for inner in (paths[0], *below) if inner not in hidden for file in files_inside(inner)]


def is_one_folder(paths: Sequence[Path]) -> bool:
    """Return whether one folder was given, which holds the files of all annotators and is not a project."""
    return len(paths) == 1 and paths[0].is_dir() and not folder_format(paths[0])


def refuse_forgotten_option(paths: Sequence[Path], output: Path) -> None:
    """Refuse a last file that is not there, or a gold beside a folder of annotators: -o was forgotten."""
    last = paths[-1]
    if output != STANDARD_OUTPUT or len(paths) < 2 or last.is_dir():
        return
    if not last.exists():
        if not all(path.exists() for path in paths[:-1]):
            return  # Names are wrong, and no option is missing.
        problem = f"cannot read: No such file or directory{similar_file(last, FileNotFoundError())}"
    elif is_one_folder(paths[:-1]) and by_suffix(last) is not None and is_gold(last):
        problem = "this is the gold standard of an adjudication beside a folder of annotators"
    else:
        return
    raise InputError(f"{last}: {problem}; to write the gold standard there, put -o before it")


def refuse_inside(outputs: Iterable[Path], paths: Sequence[Path]) -> None:
    """Refuse results in the folder of the annotators, where the next call would find them among theirs.

    A project lists what belongs to it.
    """
    from caspr.formats.review_file.project import is_project

    if not is_one_folder(paths) or is_project(paths[0]):
        return
    for output in outputs:
        if output != STANDARD_OUTPUT and paths[0].resolve() in output.resolve().parents:
            raise InputError(
                f"{output}: this is inside the annotators' folder, where the next call would take it for an "
                "annotator's work: choose another folder"
            )
