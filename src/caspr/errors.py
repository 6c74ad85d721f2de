"""The errors that CaspR raises for its users, under one root class.

Each message says where, what was found, what was expected and what to do. The command line prints
these; running out of time is not among them, because a solution with a gap is a result.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class CasprError(Exception):
    """The root of all errors that a user can cause or meet."""


class FormatError(CasprError):
    """Refuse a file that does not follow its format.

    Whoever finds the fault knows its line; `reading`, around them, knows the file.
    """

    def __init__(self, line: int | None, found: str, expected: str, source: str = "") -> None:
        """Name the line, what was found there and what was expected instead."""
        super().__init__(line, found, expected, source)
        self.line = line
        self.found = found
        self.expected = expected
        self.source = source
        self.is_member = False

    def __str__(self) -> str:
        """Render as `file:line: found X, expected Y`."""
        line = "" if self.line is None else f":{self.line}"
        where = f"{self.source}{line}: " if self.source or line else ""
        return f"{where}found {self.found}, expected {self.expected}"

    def within(self, source: str | Path, *, member: bool = False) -> "FormatError":
        """Add the file unless one inside this block is named already; a member lies in the file around it."""
        if str(source) and (not self.source or self.is_member):
            self.source = f"{source}/{self.source}" if self.is_member else str(source)
            self.is_member = member
        return self


@contextmanager
def reading(source: str | Path, *, member: bool = False) -> Iterator[None]:
    """Add the name of the file that is read to errors about it.

    Blocks may stand in each other: the innermost file is named. A member of an archive is named after the
    archive around it.

    >>> with reading("texts.zip"), reading("a.xmi", member=True):
    ...     raise FormatError(3, "<b>", "<a>")
    Traceback (most recent call last):
    caspr.errors.FormatError: texts.zip/a.xmi:3: found <b>, expected <a>
    """
    try:
        yield
    except FormatError as error:
        error.within(source, member=member)
        raise


class InputError(CasprError):
    """Refuse annotations that do not belong together, or options that make no sense."""


class ArgumentError(InputError, TypeError):
    """Refuse what a Python program passed, and say what to pass."""


class EngineError(CasprError):
    """An engine is missing, cannot do what was asked, or gave an invalid answer."""


class LimitError(CasprError):
    """A limit was reached before any solution was known."""


class OutputError(CasprError):
    """A file could not be written; the old version of it is intact."""
