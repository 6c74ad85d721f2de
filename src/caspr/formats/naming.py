"""Names: annotators named after their files, and files named after their documents.

1. A format whose files hold many documents writes one text; any other writes files by name into a folder that
   the user chooses. With one document and an output such as `gold.ann`, the files are called `gold`.
2. Slashes in a document's name make folders. No name leads out of the output folder, and no two documents
   share a file.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePath

from caspr.errors import InputError, OutputError
from caspr.files import portable_name
from caspr.formats.messages import quoted
from caspr.text.document import Annotation, Document

_BACKUPS = ("~", ".bak", ".swp", ".swo", ".orig", ".tmp")
"""How names of older versions end, in lower case."""
_DESKTOP = ("thumbs.db", "desktop.ini")
"""Files of desktops, in lower case."""
_PARTED = re.compile(r"(.*\S); part ([^\s;()]+)")
_PART_OF_FILE = re.compile(r"(.+)\.part([0-9]+)")


def annotator_names(paths: Sequence[Path]) -> list[str]:
    """Name annotators by file name, or by as much of the path as distinguishes them.

    >>> annotator_names([Path("ann/doc.conll"), Path("bob/doc.conll"), Path("eve.conll")])
    ['ann/doc', 'bob/doc', 'eve']
    >>> annotator_names([Path("ann.conll"), Path("ann.txt")])
    ['ann.conll', 'ann.txt']
    """
    parts = [(*path.parts[:-1], bare_name(path)) for path in paths]
    names = [bare_name(path) for path in paths]
    for length in range(2, max(map(len, parts), default=0) + 1):
        longer = ["/".join(part[-length:]) for part in parts]
        names = _distinguished(names, longer)
    return _distinguished(names, [path.as_posix() for path in paths])


def bare_name(path: PurePath) -> str:
    """Return a file's name without its suffixes, of which packed files have two.

    >>> bare_name(Path("x/Cato-JA.xmi.gz")), bare_name(Path("wsj.0001.conll"))
    ('Cato-JA', 'wsj.0001')
    """
    return PurePath(path.stem).stem if path.suffix.lower() == ".gz" else path.stem


def is_backup(path: PurePath) -> bool:
    """Return whether a file is an older version that an editor or a program keeps, by its name.

    >>> [is_backup(Path(name)) for name in ("eva.conll~", "eva.conll.1.bak", "#eva.conll#", "eva.conll")]
    [True, True, True, False]
    """
    name = path.name.lower()
    return name.endswith(_BACKUPS) or (len(name) > 1 and name.startswith("#") and name.endswith("#"))


def is_of_a_desktop(path: PurePath) -> bool:
    """Return whether a file belongs to a desktop, which puts such files beside documents."""
    return path.name.lower() in _DESKTOP


def refuse_twice(path: Path, others: Iterable[Path]) -> None:
    """Raise `InputError` if a file is among those already given, which would count its votes twice."""
    for other in others:
        with suppress(OSError):
            if path.samefile(other):
                raise InputError(f"{path}: found the same file as {other}, expected each annotator once")


def refuse_inside_another(path: Path, others: Iterable[Path]) -> None:
    """Raise `InputError` if a file is in one of the folders that are given beside it."""
    for other in others:
        with suppress(OSError):
            if other.is_dir() and other.resolve() in path.resolve().parents:
                raise InputError(
                    f"{path}: found a file of the folder {other}, which is given, too, expected each "
                    "annotator once: give the folder or its files"
                )


def stem(document: Document) -> str:
    """Return the name of a document's files, or refuse one that would lead elsewhere.

    A document without a name is called like the file it comes from. On Windows, what no file may be called
    there (`a:b`, `CON`) is changed as in the files of a corpus.

    >>> stem(Document("nw/wsj_0001", (), part="002")), stem(Document("", (), source="texts/a.conll"))
    ('nw/wsj_0001.part002', 'a')
    """
    name = document.name or Path(document.source).stem
    name = name if document.part is None else f"{name}.part{document.part}"
    if re.search(r"[\0\n\\]", name) or any(part in ("", ".", "..") for part in name.split("/")):
        raise OutputError(f"cannot name a file after document {quoted(name)}: it is no safe file name")
    return "/".join(map(portable_name, name.split("/"))) if sys.platform == "win32" else name


def with_number(name: str, number: int) -> str:
    """Name a document that its file does not name after the file, from the second on with its number there.

    >>> with_number("a", 0), with_number("a", 1), with_number("a", 2)
    ('a', 'a', 'a-2')
    """
    return name if number < 2 else f"{name}-{number}"


def name_and_part(title: str) -> tuple[str, str | None]:
    """Return the name and the part of a document from its title.

    >>> name_and_part("nw/wsj_0001; part 002"), name_and_part("a")
    (('nw/wsj_0001', '002'), ('a', None))
    """
    parted = _PARTED.fullmatch(title)
    return (parted[1], parted[2]) if parted else (title, None)


def name_and_part_of_file(name: str) -> tuple[str, str | None]:
    """Return the name and the part of a document from the name of a file that `stem` gave it.

    >>> name_and_part_of_file("nw/wsj_0001.part002"), name_and_part_of_file("a.party")
    (('nw/wsj_0001', '002'), ('a.party', None))
    """
    parted = _PART_OF_FILE.fullmatch(name)
    return (parted[1], parted[2]) if parted else (name, None)


def named_after(annotations: Sequence[Annotation], path: Path) -> list[Annotation]:
    """Give the only document the name of the file it is written to."""
    return [
        replace(annotation, document=replace(annotation.document, name=bare_name(path), part=None))
        for annotation in annotations
    ]


def collect(files: Iterable[tuple[str, str | bytes]]) -> dict[str, str | bytes]:
    """Collect files, refusing two of the same name."""
    found: dict[str, str | bytes] = {}
    for name, content in files:
        if name in found and found[name] != content:
            raise OutputError(f"two documents would be written to the file {quoted(name)}: rename one")
        found[name] = content
    return found


def _distinguished(names: Sequence[str], longer: Sequence[str]) -> list[str]:
    """Replace the names that are not unique by longer ones."""
    counts = Counter(names)
    return [more if counts[name] > 1 else name for name, more in zip(names, longer, strict=True)]
