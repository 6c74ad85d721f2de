"""The plan: which documents a corpus has, and where each annotator's work on them is.

It is kept in a database on the disk that goes away with the run, filled while the folder is walked through
and read in order of document names, so that memory does not grow with the corpus.
"""

import json
import os
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path

from caspr.corpus.index import index
from caspr.corpus.job import Job, Options, Piece, Source
from caspr.corpus.layouts import detect, place, walk
from caspr.errors import InputError
from caspr.formats import annotator_names, refuse_twice

_TABLE = """
CREATE TABLE source (
    document TEXT, annotator TEXT, path TEXT, piece TEXT, number INTEGER PRIMARY KEY
);
"""


class Plan:
    """The documents of a corpus, in order of their names."""

    def __init__(self, inputs: Sequence[Path], *, by: str | None = None, files: str = "*") -> None:
        """Look through a folder, or through files with many documents in them."""
        self._database = sqlite3.connect("")
        self._database.executescript(_TABLE)
        self._spool = tempfile.NamedTemporaryFile(prefix="caspr-", suffix=".spool")  # noqa: SIM115
        self.annotators = 0
        self.root = Path.cwd()
        if len(inputs) == 1 and inputs[0].is_dir():
            self.root = inputs[0].resolve()
            self.by = by or detect(inputs[0], files)
            paths = [Path(path) for path in sorted(walk(self.root, files))] if self.by == "file" else []
        else:
            self.by, paths = "file", list(inputs)
        if self.by == "file":
            self._add_files(paths)
        else:
            self._add_folder(files)
        self._database.execute("CREATE INDEX by_document ON source (document, annotator, path)")
        self.documents: int = self._one("SELECT count(DISTINCT document) FROM source")
        if not self.documents:
            raise InputError(f"{inputs[0]}: found no documents, expected a corpus laid out by {self.by}")
        if self.by != "document":
            self.annotators = self._one("SELECT count(DISTINCT annotator) FROM source")

    def _one(self, query: str) -> int:
        return int(self._database.execute(query).fetchone()[0])

    def _add_folder(self, files: str) -> None:
        rows = ((*place(path, self.by), path, None) for path in walk(self.root, files) if "/" in path)
        self._database.executemany(
            "INSERT INTO source (document, annotator, path, piece) VALUES (?, ?, ?, ?)", rows
        )

    def _add_files(self, paths: Sequence[Path]) -> None:
        for number, path in enumerate(paths):
            refuse_twice(self.root / path, [self.root / other for other in paths[:number]])
        for path, name in zip(paths, annotator_names(paths), strict=True):
            rows = (
                (
                    found.document,
                    name if found.annotator == path.stem else found.annotator,
                    str(path),
                    json.dumps(found.piece),
                )
                for found in index(self.root / path, self._spool.file)
            )
            self._database.executemany(
                "INSERT INTO source (document, annotator, path, piece) VALUES (?, ?, ?, ?)", rows
            )
        self._spool.flush()

    def jobs(self, options: Options) -> Iterator[Job]:
        """Yield a job for each document."""
        rows = self._database.execute(
            "SELECT document, annotator, path, piece FROM source ORDER BY document, annotator, path, number"
        )
        for document, group in groupby(rows, key=lambda row: row[0]):
            sources = tuple(
                _source(annotator, [row[2:] for row in same], self._spool.name)
                for annotator, same in groupby(group, key=lambda row: row[1])
            )
            yield Job(document, sources, str(self.root), options, self.annotators)

    def close(self) -> None:
        """Forget everything."""
        self._database.close()
        with suppress(OSError):
            self._spool.close()


def _source(annotator: str, rows: Sequence[tuple[str, str | None]], spool: str) -> Source:
    """Put together what one annotator has of one document."""
    pieces = tuple(Piece(*json.loads(piece)) for _, piece in rows if piece is not None)
    paths = sorted({path for path, _ in rows}, key=_is_companion)
    spooled = any(piece.line == 0 for piece in pieces)
    return Source(annotator, paths[0], tuple(paths[1:]), pieces, spool if spooled else "")


def _is_companion(path: str) -> bool:
    """Tell whether a file of the same name as another is the text beside the annotations."""
    return os.path.splitext(path)[1].lower() == ".txt"  # noqa: PTH122
