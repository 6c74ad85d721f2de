"""Jobs and outcomes: what is sent to a worker process, and what it sends back."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from caspr import __version__
from caspr.formats.options import ReadOptions
from caspr.task.settings import Settings
from caspr.task.settings.stored import write_settings

FAILED = "failed"
"""The status of a document for which there is no result."""
LEFT_OUT = "left out"
"""The status of a document that only one annotator has."""
KILL_AFTER = 3600.0
"""Seconds after which the worker of a document without a time limit is killed."""


class DocumentPiece(NamedTuple):
    """A range of bytes of a file that holds many documents."""

    offset: int
    """Its first byte."""
    length: int
    """Its number of bytes."""
    line: int
    """The number of its first line in the annotator's own file; 0 if it lies in the spool."""
    format: str
    """The format that reads it; empty for a pickled annotation, or for what is wrong with one."""


@dataclass(frozen=True)
class Reading:
    """How files are read."""

    format: str | None = None
    """Their format; `None` to detect it."""
    options: ReadOptions = field(default_factory=ReadOptions)
    """Which layers of a file to read."""


@dataclass(frozen=True)
class Source:
    """Where one annotator's annotation of a document is."""

    annotator: str
    """Who annotated."""
    path: str
    """The file, relative to the corpus folder."""
    companions: tuple[str, ...] = ()
    """Files that are read with it, such as the text beside annotations, and others of the same name."""
    pieces: tuple[DocumentPiece, ...] = ()
    """The pieces that belong to the document; none if the whole file does."""
    spool: str = ""
    """The file that holds the pieces, if not the annotator's own."""


@dataclass(frozen=True)
class Options:
    """How every document is adjudicated, and what is written about it."""

    settings: Settings = field(default_factory=Settings)
    """How to adjudicate."""
    reading: Reading = field(default_factory=Reading)
    """How files are read."""
    target: str | None = None
    """The format of golds; `None` for that of the first annotator's file."""
    layout: str = "gold"
    """`gold` or `review`."""
    every: bool = False
    """Whether all optimal solutions are written."""
    certificate: bool = False
    """Whether a proof is written for each document."""
    report: bool = False
    """Whether a report is written for each document."""
    feedback: bool = False
    """Whether a page is written for each annotator of each document."""
    strict: bool = False
    """Whether a warning or a gap is a failure."""
    kill_after: float | None = None
    """Seconds after which a worker is killed; by default well after the time limit."""

    @property
    def patience(self) -> float:
        """Seconds until the worker of a document is killed; an engine that keeps its time limit never is."""
        if self.kill_after is not None:
            return self.kill_after
        seconds = self.settings.limits.seconds
        return KILL_AFTER if seconds is None else 2 * seconds + 30

    def values(self) -> dict[str, Any]:
        """Return everything that a result depends on, as JSON values."""
        return {
            **write_settings(self.settings),
            "solutions": self.settings.limits.solutions,
            "certainty": self.settings.certainty,
            "reading": asdict(self.reading),
            "target": self.target,
            "layout": self.layout,
            "every": self.every,
            "certificate": self.certificate,
            "report": self.report,
            "feedback": self.feedback,
            "strict": self.strict,
        }


@dataclass(frozen=True)
class Job:
    """One document to adjudicate."""

    document: str
    """Its name in the corpus, after which its files are named."""
    sources: tuple[Source, ...]
    """Its annotators' files."""
    root: str
    """The corpus folder, an absolute path."""
    options: Options
    """How it is adjudicated, and what is written."""
    annotators: int = 0
    """How many annotators should have it; 0 if that is not known."""
    contents: Mapping[tuple[str, int], bytes] | None = None
    """The content of all files and pieces by path and offset, for a worker without access to the folder."""
    version: str = __version__
    """The version of CaspR that made the job."""


@dataclass(frozen=True)
class JobOutcome:
    """The result of a job."""

    document: str
    """The job's document."""
    rows: tuple[Mapping[str, Any], ...] = ()
    """A summary of each document in the files, as JSON values; usually one."""
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    """What to write, by path below the output folder."""
    spent: bool = False
    """Whether the worker is dead or must be replaced."""

    @property
    def failed(self) -> bool:
        """Whether there is no result."""
        return any(row["status"] == FAILED for row in self.rows)


def failure(document: str, reason: str, *, spent: bool = False) -> JobOutcome:
    """Make the outcome of a job that failed."""
    return JobOutcome(document, ({"name": document, "status": FAILED, "reason": reason},), spent=spent)
