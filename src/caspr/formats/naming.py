"""Names: annotators named after their files, files after their documents, and the ids of chains.

1. A format whose files hold many documents writes one text; any other writes files by name into a folder that
   the user chooses. With one document and an output such as `gold.ann`, the files are called `gold`.
2. Slashes in a document's name make folders. No name leads out of the output folder, and no two documents
   share a file.
3. Chains keep the ids that a file used, where other things in it refer to them (`keep_ids`); ids that a
   format cannot write become numbers.
"""

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path, PurePath

from caspr.errors import InputError, OutputError
from caspr.formats.format import quoted
from caspr.storage import portable_name
from caspr.text.document import Annotation, Chain, Document, Span
from caspr.text.grouping import match_one_to_one

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
                raise InputError(f"{path} is the same file as {other}: give each annotator once")


def refuse_inside_another(path: Path, others: Iterable[Path]) -> None:
    """Raise `InputError` if a file is in one of the folders that are given with it."""
    for other in others:
        with suppress(OSError):
            if other.is_dir() and other.resolve() in path.resolve().parents:
                raise InputError(
                    f"{path} is in the folder {other}, which you gave as well: give the folder or its files"
                )


def stem(document: Document) -> str:
    """Return the name of a document's files, or refuse one that would lead elsewhere.

    A document without a name is named after the file it comes from. On Windows, what no file may be called
    there (`a:b`, `CON`) is changed as in the files of a corpus.

    >>> stem(Document("nw/wsj_0001", (), part="002")), stem(Document("", (), source="texts/a.conll"))
    ('nw/wsj_0001.part002', 'a')
    """
    name = document.name or Path(document.source).stem
    name = name if document.part is None else f"{name}.part{document.part}"
    if re.search(r"[\0\n\\]", name) or any(part in ("", ".", "..") for part in name.split("/")):
        raise OutputError(f"cannot name a file after document {quoted(name)}: it is not a safe file name")
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
    collected: dict[str, str | bytes] = {}
    for name, content in files:
        if name in collected and collected[name] != content:
            raise OutputError(f"two documents would be written to the file {quoted(name)}: rename one")
        collected[name] = content
    return collected


def _distinguished(names: Sequence[str], longer: Sequence[str]) -> list[str]:
    """Replace the names that are not unique by longer ones."""
    counts = Counter(names)
    return [more if counts[name] > 1 else name for name, more in zip(names, longer, strict=True)]


_PLAIN = re.compile(r"[A-Za-z0-9_.:]+(?:-[A-Za-z0-9_.:]+)*")


def plain_ids(annotation: Annotation) -> Annotation:
    """Number the chains whose ids other formats might not be able to write.

    >>> from caspr.text.document import Document
    >>> chains = [Chain.of("e1", [(1, 1)]), Chain.of("a (b)", [(2, 2)])]
    >>> [chain.id for chain in plain_ids(Annotation.of("a", Document("d", ("x", "y")), chains)).singletons]
    ['e1', '1']
    """
    used = {chain.id for chain in annotation.all_chains if _PLAIN.fullmatch(chain.id)}
    fresh = (str(number) for number in count(1) if str(number) not in used)
    chains = [chain if chain.id in used else chain.called(next(fresh)) for chain in annotation.all_chains]
    return annotation.with_chains(chains)


def numbered(chains: Sequence[Chain], writable: Callable[[str], bool]) -> list[Chain]:
    """Number the chains whose ids cannot be written, and keep those ids as names where there is no other.

    >>> numbered([Chain.of("1", [(1, 1)]), Chain.of("T1", [(2, 2)])], str.isdecimal)[1].id
    '2'
    """
    used = {chain.id for chain in chains if writable(chain.id)}
    fresh = (str(number) for number in count(1) if str(number) not in used)
    return [
        chain if chain.id in used else Chain(next(fresh), chain.mentions, chain.name or chain.id, chain.type)
        for chain in chains
    ]


def keep_ids(
    chains: Sequence[Chain],
    known: Iterable[tuple[str, Span]],
    fresh: Iterator[str],
    writable: Callable[[str], bool],
) -> list[Chain]:
    """Give each chain the id of the file's chain with which it shares most mentions.

    A chain that shares none keeps its own id if that can be written and is free, and else gets a fresh one.
    """
    holders: dict[Span, list[str]] = {}
    for id, span in known:
        holders.setdefault(span, []).append(id)
    shared = sorted(
        (-times, id != chain.id, number, id)
        for number, chain in enumerate(chains)
        for id, times in Counter(id for span in chain.mentions for id in holders.get(span, ())).items()
    )
    names = match_one_to_one((number, id) for _, _, number, id in shared)
    taken = {id for ids in holders.values() for id in ids}
    for number, chain in enumerate(chains):
        if number not in names:
            own = writable(chain.id) and chain.id not in taken
            names[number] = chain.id if own else next(id for id in fresh if id not in taken)
            taken.add(names[number])
    return [chain.called(names[number]) for number, chain in enumerate(chains)]
