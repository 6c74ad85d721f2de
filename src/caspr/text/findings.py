"""Findings: what is odd about the input or the result, reported with a count.

A finding is a *note* when it is ordinary (chains of one set aside) and a *warning* when a user should look
at it (a document that one annotator lacks). Errors are exceptions, not findings: they stop the run.
"""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How much a finding matters: `--strict` turns warnings into a refusal."""

    NOTE = "note"
    WARNING = "warning"


@dataclass(frozen=True)
class Finding:
    """One kind of oddity, with how often it occurs."""

    code: str
    """A stable name for programs, such as `singleton-chains`."""
    severity: Severity
    """Note or warning."""
    message: str
    """One sentence for people."""
    count: int = 1
    """How many times it was found."""
    where: str = ""
    """The file, `file:line` or annotator it concerns; empty for the whole document."""

    def __str__(self) -> str:
        """Render as `warning: where: message`."""
        place = f"{self.where}: " if self.where else ""
        return f"{self.severity}: {place}{self.message}"


def note(code: str, message: str, *, count: int = 1, where: str = "") -> Finding:
    """Make a finding that needs no action."""
    return Finding(code, Severity.NOTE, message, count, where)


def warning(code: str, message: str, *, count: int = 1, where: str = "") -> Finding:
    """Make a finding that a user should look at."""
    return Finding(code, Severity.WARNING, message, count, where)


def times(count: int, singular: str, plural: str | None = None) -> str:
    """Return a number with its noun in singular or plural.

    >>> times(1, "chain"), times(2, "chain"), times(1200, "entity", "entities")
    ('1 chain', '2 chains', '1,200 entities')
    """
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"
