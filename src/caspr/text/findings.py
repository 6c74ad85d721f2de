"""Findings: what is odd about the input or the result, reported with a count.

A finding is a *note* when it is ordinary (chains of one set aside) and a *warning* when a user should look
at it (a document that one annotator lacks). Errors are exceptions, not findings: they stop the run. Words
for messages are here as well: numbers with their nouns, shares, and text from files made safe to print.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from caspr.errors import InputError

_NAMED = 5
"""How many documents a merged finding names."""
_SEVERAL = {
    "missing-annotation": "documents are not in the files of all annotators; in each, only those who "
    "have it count",
    "single-annotation": "documents are in the files of one annotator only; a document needs two "
    "annotations, so they were left out",
}
"""What holds of several documents, by code."""


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
    message: str
    """One sentence for people."""
    count: int = 1
    where: str = ""
    """The file, `file:line` or annotator it concerns; empty for the whole document."""
    option: str = ""
    """What a terminal adds to the message: the option that matters here, such as ` (see --nested)`."""

    def __str__(self) -> str:
        """Render as `warning: where: message`."""
        where = f"{self.where}: " if self.where else ""
        return f"{self.severity}: {where}{self.message}{self.option}"


def note(code: str, message: str, *, count: int = 1, where: str = "", option: str = "") -> Finding:
    """Make a finding that needs no action."""
    return Finding(code, Severity.NOTE, message, count, where, option)


def warning(code: str, message: str, *, count: int = 1, where: str = "", option: str = "") -> Finding:
    """Make a finding that a user should look at."""
    return Finding(code, Severity.WARNING, message, count, where, option)


def times(count: int, singular: str, plural: str | None = None) -> str:
    """Return a number with its noun in singular or plural.

    >>> times(1, "chain"), times(2, "chain"), times(1200, "entity", "entities")
    ('1 chain', '2 chains', '1,200 entities')
    """
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"


def percent(part: float, whole: float) -> str:
    """Return a share in percent; one that is small, but not nothing, is not shown as nothing.

    >>> percent(1, 8), percent(1, 145100), percent(0, 7)
    ('12.5%', 'under 0.1%', '0.0%')
    """
    return "under 0.1%" if 0 < 1000 * part < whole else f"{part / whole:.1%}"


def condensed(findings: Iterable[Finding]) -> list[Finding]:
    """Merge what was found about several documents into one finding for each code.

    All findings go to programs; people read one line, which names the first documents.
    """
    kept: list[Finding] = []
    groups: dict[str, list[Finding]] = {code: [] for code in _SEVERAL}
    for finding in findings:
        groups.get(finding.code, kept).append(finding)
    for code, alike in groups.items():
        kept += alike if len(alike) < 2 else [_merged(code, [finding.where for finding in alike])]
    return kept


def _merged(code: str, titles: Sequence[str]) -> Finding:
    names = ", ".join(f"'{title}'" for title in titles[:_NAMED])
    more = f" and {len(titles) - _NAMED:,} more" if len(titles) > _NAMED else ""
    return warning(code, f"{len(titles):,} {_SEVERAL[code]}: {names}{more}", count=len(titles))


def printable(text: str) -> str:
    r"""Escape what is a command to a terminal: control characters, and those that turn the direction of text.

    >>> printable("a\x1b[31mb\u202ec")
    'a\\x1b[31mb\\u202ec'
    """
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


def harmless(text: str) -> str:
    """Return lines without control characters."""
    return "\n".join(map(printable, text.split("\n")))


_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def is_encodable(text: str) -> bool:
    r"""Return whether text can be saved as UTF-8, which half a character (a lone surrogate) cannot.

    >>> is_encodable("a\U0001f600"), is_encodable("a\ud83d")
    (True, False)
    """
    return not any("\ud800" <= sign <= "\udfff" for sign in text)


def warnings_of(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings that `--strict` refuses."""
    return [finding for finding in findings if finding.severity is Severity.WARNING]


def refuse_warnings(findings: Iterable[Finding], *, printed: bool = False) -> None:
    """Raise what `--strict` makes of warnings; the first is quoted unless all were printed before."""
    warnings = warnings_of(findings)
    if warnings:
        first = "" if printed else f"; first: {warnings[0]}"
        raise InputError(f"--strict: {times(len(warnings), 'warning')}{first}")


SHOWN = 40
"""How many characters of a mention are quoted."""


def shorten(text: str, length: int = SHOWN) -> str:
    """Cut the middle out of a long text, between words if it has several.

    >>> shorten("the man who sold the world to a girl in a red dress", 20)
    'the man who … dress'
    >>> shorten("Donaudampfschifffahrtsgesellschaft", 20)
    'Donaudampfsc…lschaft'
    """
    if len(text) <= length:
        return text
    first, last = length * 3 // 5, len(text) - (length * 2 // 5 - 1)
    head, tail = text[:first], text[last:]
    if " " in text[: first + 1]:
        head = f"{text[: first + 1].rpartition(' ')[0].rstrip()} "
    if " " in text[last - 1 :]:
        tail = f" {text[last - 1 :].partition(' ')[2].lstrip()}"
    return f"{head}…{tail}"
