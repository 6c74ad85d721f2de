"""All errors that CaspR raises for its users, under one root class.

Each message says where, what was found, what was expected and what to do. The command line prints
these; running out of time is not among them, because a solution with a gap is a result.
"""

from typing import Any


class CasprError(Exception):
    """The root of all errors that a user can cause or meet."""


class FormatError(CasprError):
    """Refuse a file that does not follow its format."""

    def __init__(self, source: str, line: int | None, found: str, expected: str) -> None:
        """Name the place, what was found there and what was expected instead."""
        self.source = source
        self.line = line
        self.found = found
        self.expected = expected
        place = f"{source}:{line}" if line is not None else source
        super().__init__(f"{place}: found {found}, expected {expected}")


class InputError(CasprError):
    """Refuse annotations that do not belong together, or options that make no sense."""


class ContradictionError(CasprError):
    """Refuse decisions that cannot hold together, naming a minimal set of them."""

    def __init__(
        self, message: str, tokens: tuple[int, ...], statements: tuple[Any, ...] = (), fault: Any = None
    ) -> None:
        """Keep the tokens of the clashing cells, the clashing statements, and what is wrong with them."""
        self.fault = fault
        self.tokens = tokens
        self.statements = statements
        super().__init__(message)

    @property
    def reason(self) -> str:
        """What is wrong, without the places where it is."""
        return str(self.fault or self)


class EngineError(CasprError):
    """An engine is missing, cannot do what was asked, or gave an invalid answer."""


class LimitError(CasprError):
    """A limit was reached before any solution was known."""


class OutputError(CasprError):
    """A file could not be written; the old version of it is intact."""
