"""The plan: which documents a corpus has, and where each annotator's work on them is.

It is kept in a temporary database on the disk, filled while the folder is walked through and read in the
order of document names, so that memory does not grow with the corpus. Files with many documents in them are
indexed (`index`), and not kept in memory either:

1. A file of a format with one document in a file is left to the worker: it may hold several annotators.
2. A file that its format can cut is not read here. A document of it is a stretch of the file, as in CoNLL,
   or a small file of its own, as of a project archive, which is put into the *spool*, one file for the run.
3. Any other file is read whole, one at a time, and its annotations are put into the spool, with what is wrong
   in place of a malformed document.

Each document is read on its own afterwards, so that a malformed one does not affect the others.
"""

import json
import os
import pickle
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import groupby, islice
from pathlib import Path
from typing import IO, NamedTuple

from caspr.corpus.job import DocumentPiece, Job, Options, Source
from caspr.corpus.workspace import Workspace
from caspr.errors import FormatError, InputError, OutputError
from caspr.formats import annotator_names, refuse_twice
from caspr.formats.folders import are_in_folders, as_file, detect_layout, is_text, place, refused_name, walk
from caspr.formats.foreign import has_foreign_name
from caspr.formats.format import Extract, Reading, Stretch
from caspr.formats.registry import choose, companions, detect, folder_format, read_each
from caspr.text.document import Annotation


class Found(NamedTuple):
    """One document of a file."""

    document: str | None
    """Its name; `None` if that is the file's."""
    annotator: str | None
    """Who annotated; `None` if the document may have several annotators in the file."""
    piece: DocumentPiece | None
    """Where it is; `None` for the whole file."""


def index(path: Path, shown: str, spool: IO[bytes], reading: Reading) -> Iterator[Found]:
    """Yield the documents of a file; what is no stretch of it goes into the spool, under the name `shown`."""
    format = choose(reading.format or detect(path))
    annotator = None if format.many_annotators else path.stem
    if not format.many_documents:
        yield Found(None, None, None)
    elif format.cutting is not None:
        for piece in format.cutting.cut(path, reading.options):
            yield Found(piece.document, annotator, _place(piece, format.name, spool))
    else:
        for name, content in read_each(path, format.name, path.stem, reading.options):
            data = pickle.dumps(_seen_from_the_corpus(content, shown))
            yield Found(_number(content) or name, annotator, _spooled(data, spool))


def _number(content: Annotation | FormatError) -> str:
    """Return the number of a document without a name, which it has in the files of all annotators."""
    return str(content.document.nameless or "") if isinstance(content, Annotation) else ""


def _place(piece: Stretch | Extract, format: str, spool: IO[bytes]) -> DocumentPiece:
    if isinstance(piece, Stretch):
        return DocumentPiece(piece.offset, piece.length, piece.line, format)
    return _spooled(piece.content, spool, format)


def _seen_from_the_corpus(content: Annotation | FormatError, shown: str) -> Annotation | str:
    """Return an annotation, or what is wrong with it, with its source as seen from the corpus folder."""
    if isinstance(content, FormatError):
        return str(FormatError(content.line, content.found, content.expected, shown))
    return replace(content, document=replace(content.document, source=shown))


def _spooled(data: bytes, spool: IO[bytes], format: str = "") -> DocumentPiece:
    offset = spool.tell()
    spool.write(data)
    return DocumentPiece(offset, len(data), 0, format)


_TABLE = """
CREATE TABLE source (
    document TEXT, annotator TEXT, path TEXT, piece TEXT, number INTEGER PRIMARY KEY
);
"""
_INSERT = "INSERT INTO source (document, annotator, path, piece) VALUES (?, ?, ?, ?)"
_FOREIGN = """
SELECT path FROM source GROUP BY document HAVING count(*) = 1 AND has_foreign_name(path) ORDER BY path
"""
_WALKED = "SELECT path FROM source ORDER BY number"


class Plan:
    """The documents of a corpus, in order of their names."""

    def __init__(
        self,
        inputs: Sequence[Path],
        by: str | None = None,
        files: str = "*",
        reading: Reading | None = None,
    ) -> None:
        """Look through a folder, or through files with many documents in them."""
        self._reading = reading or Reading()
        self.annotators = 0
        self.beside: list[str] = []
        """Files beside the folders of documents or annotators, which belong to none."""
        self.foreign: list[str] = []
        """Files of other programs in the folder of one annotator, such as guidelines."""
        self._walked = len(inputs) == 1 and inputs[0].is_dir()
        self._workspace = Workspace()
        self._spool = (self._workspace.path / "spool").open("wb")
        self._database = sqlite3.connect("")
        try:
            self._fill(inputs, by, files)
        except (sqlite3.Error, OSError) as error:
            self.close()
            raise OutputError(_no_room(error)) from error
        except BaseException:
            self.close()
            raise

    def _fill(self, inputs: Sequence[Path], by: str | None, files: str) -> None:
        self._database.executescript(_TABLE)
        if self._walked and folder_format(inputs[0]):
            self.by, self._walked = "file", False
            self.root, paths = _rooted(inputs)
        elif self._walked:
            self.root = inputs[0].resolve()
            self.by = by or detect_layout(inputs[0], files, self._reading)
            paths = [_checked(path) for path in sorted(walk(self.root, files))] if self.by == "file" else []
        else:
            _refuse_folders(inputs)
            self.by = "file"
            self.root, paths = _rooted(inputs)
        if self.by == "file":
            self._add_files(paths)
        else:
            self._add_folder(files)
        if self.by == "annotator":
            self._set_foreign_aside()
        self._database.execute("CREATE INDEX by_document ON source (document, annotator, path)")
        self.documents: int = self._one("SELECT count(DISTINCT document) FROM source")
        if not self.documents:
            raise InputError(f"{inputs[0]}: there are no documents in the layout --by {self.by}")
        if self.by == "annotator":
            self.annotators = self._one("SELECT count(DISTINCT annotator) FROM source")

    def _one(self, query: str) -> int:
        return int(self._database.execute(query).fetchone()[0])

    def _add_folder(self, files: str) -> None:
        for path in walk(self.root, files):
            if "/" not in path:
                self.beside.append(path)
            elif is_text(path):
                self._database.execute(_INSERT, (*place(path, self.by), path, None))
            else:
                shown, reason = refused_name(path)
                piece = json.dumps(_spooled(pickle.dumps(reason), self._spool))
                self._database.execute(_INSERT, (*place(shown, self.by), shown, piece))
        self._spool.flush()
        if are_in_folders(path for (path,) in self._database.execute(_WALKED)):
            for number, column in enumerate(("document", "annotator")):
                self._database.create_function(
                    column, 1, lambda path, number=number: place(as_file(path), self.by)[number]
                )
            self._database.execute("UPDATE source SET document = document(path), annotator = annotator(path)")

    def _set_foreign_aside(self) -> None:
        """Take out files of other programs under names that only one annotator has: they are no documents."""
        self._database.create_function("has_foreign_name", 1, has_foreign_name)
        self.foreign = [path for (path,) in self._database.execute(_FOREIGN)]
        if len(self.foreign) == self._one("SELECT count(*) FROM source"):
            self.foreign = []
        self._database.executemany("DELETE FROM source WHERE path = ?", [(path,) for path in self.foreign])

    def _add_files(self, paths: Sequence[Path]) -> None:
        _refuse_twice([self.root / path for path in paths])
        known: set[str] = set()
        for path, name in zip(paths, annotator_names(paths), strict=True):
            own = path.with_suffix("").as_posix() if self._walked else path.stem
            for entry in index(self.root / path, path.as_posix(), self._spool, self._reading):
                annotator = name if entry.annotator in (path.stem, None) else entry.annotator
                if entry.annotator is not None:
                    known.add(str(annotator))
                piece = None if entry.piece is None else json.dumps(entry.piece)
                document = own if entry.document is None else entry.document
                self._database.execute(_INSERT, (document, annotator, path.as_posix(), piece))
        self.annotators = len(known)
        self._spool.flush()

    def twins(self) -> tuple[str, str] | None:
        """Return two documents whose names differ only in upper and lower case, if there are any."""
        self._database.create_function("folded", 1, str.casefold)
        twins: tuple[str, str] | None = self._database.execute(
            "SELECT min(document), max(document) FROM source GROUP BY folded(document) "
            "HAVING min(document) < max(document) LIMIT 1"
        ).fetchone()
        return twins

    def jobs(self, options: Options, step: int = 1) -> Iterator[Job]:
        """Yield a job for each document, or only for every `step`-th."""
        rows = self._database.execute(
            "SELECT document, annotator, path, piece FROM source ORDER BY document, annotator, path, number"
        )
        documents = groupby(rows, key=lambda row: row[0])
        for document, group in islice(documents, 0, None, step):
            sources = tuple(
                _source(annotator, [row[2:] for row in same], self.root, self._spool.name)
                for annotator, same in groupby(group, key=lambda row: row[1])
            )
            yield Job(document, sources, str(self.root), options, self.annotators)

    def close(self) -> None:
        """Remove the database and the spool."""
        self._database.close()
        with suppress(OSError):
            self._spool.close()
        self._workspace.close()


def _no_room(error: sqlite3.Error | OSError) -> str:
    return (
        f"{tempfile.gettempdir()}: cannot write the plan of the corpus there ({error}): make room, or name "
        "another folder for temporary files by TMPDIR"
    )


def _checked(path: str) -> Path:
    if not is_text(path):
        raise InputError(refused_name(path)[1])
    return Path(path)


def _refuse_twice(paths: Sequence[Path]) -> None:
    """Refuse a file that is given twice, by whatever name; there may be many files."""
    seen: dict[tuple[int, int], Path] = {}
    for path in paths:
        with suppress(OSError):
            status = path.stat()
            key = status.st_dev, status.st_ino
            refuse_twice(path, [seen[key]] if key in seen else [])
            seen[key] = path


def _refuse_folders(inputs: Sequence[Path]) -> None:
    """Refuse several folders, unless each is the work of one annotator that a format keeps in a folder."""
    for path in inputs:
        if path.is_dir() and not folder_format(path):
            raise InputError(f"{path}: a folder beside other inputs: put them into one folder, and give that")


def _rooted(inputs: Sequence[Path]) -> tuple[Path, list[Path]]:
    """Return a folder above all files, and their places below it: jobs carry no other places."""
    if not any(path.is_absolute() or ".." in path.parts for path in inputs):
        return Path.cwd(), list(inputs)
    whole = [path.parent.resolve() / path.name for path in inputs]
    root = Path(os.path.commonpath([path.parent for path in whole]))
    return root, [path.relative_to(root) for path in whole]


def _source(annotator: str, rows: Sequence[tuple[str, str | None]], root: Path, spool: str) -> Source:
    """Collect what one annotator has of one document."""
    pieces = tuple(DocumentPiece(*json.loads(piece)) for _, piece in rows if piece is not None)
    # The plain text of a file of the same name is not a document of its own.
    path, *others = sorted(
        dict.fromkeys(path for path, _ in rows), key=lambda path: path.lower().endswith(".txt")
    )
    spooled = any(piece.line == 0 for piece in pieces)
    if not pieces:
        others += [_below(companion, root) for companion in companions(root / path)]
    return Source(annotator, path, tuple(others), pieces, spool if spooled else "")


def _below(path: Path, root: Path) -> str:
    """Return the place of a file as seen from the corpus folder; a project may keep its texts above it."""
    if path.is_relative_to(root):
        return path.relative_to(root).as_posix()
    return Path(os.path.relpath(path.resolve(), root.resolve())).as_posix()
