"""The enforced cells of the result column: what they decide, and which are refused."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from caspr.errors import FormatError
from caspr.formats.columns.cells import NOTHING, Bracketing, CellError, UnbalancedError, chains, match
from caspr.formats.columns.cells import parse as parse_cell
from caspr.formats.messages import quoted
from caspr.task.decisions import Decisions
from caspr.text.document import Document


def enforced_decisions(document: Document, results: Sequence[str], aliases: Mapping[str, str]) -> Decisions:
    """Read the enforced cells; the others are ignored, even if malformed."""
    _refuse_disguised(document, results)
    enforced = [(token, cell[1:]) for token, cell in enumerate(results, 1) if cell.startswith("=")]
    try:
        spans = match(enforced)
    except UnbalancedError as error:
        raise _half_enforced(document, error.token, error.bracket) from None
    except CellError as error:
        line = document.lines[error.token - 1]
        once = " and one = for the whole cell, at its start" if "=" in results[error.token - 1][1:] else ""
        raise FormatError(document.source, line, f"enforced {error.found}", error.expected + once) from None
    _refuse_halves(document, results)
    return Decisions.of(chains(spans, aliases)[0], [token for token, _ in enforced])


def _refuse_disguised(document: Document, results: Sequence[str]) -> None:
    """Refuse marks that a spreadsheet put into quotes, or an input method wrote wide."""
    for token, cell in enumerate(results, 1):
        if not cell.startswith("=") and cell.lstrip("\"'\u201c\u201e ").startswith(("=", "\uff1d")):
            expected = "an enforced cell to begin with a plain `=`"
            raise FormatError(document.source, document.lines[token - 1], quoted(cell), expected)


def _half_enforced(document: Document, token: int, bracket: str) -> FormatError:
    found = f"enforced {quoted(bracket)} whose other end is not enforced"
    expected = "both ends of a mention enforced: prefix the other cell with `=`"
    return FormatError(document.source, document.lines[token - 1], found, expected)


@dataclass
class _Frame:
    """An enforced opening, and the brackets of its chain in cells that are not enforced since then."""

    token: int
    closings: int = 0
    openings: int = 0

    def add(self, closings: int, openings: int) -> None:
        """Append unmatched brackets, closings first; a closing takes an opening that is there."""
        matched = min(self.openings, closings)
        self.closings += closings - matched
        self.openings += openings - matched


def _refuse_halves(document: Document, results: Sequence[str]) -> None:
    """Refuse `=(1  1)  (1  =1)`: two mentions with one end enforced each, not one long mention."""
    frames: dict[str, list[_Frame]] = defaultdict(list)
    for token, item, enforced in _brackets(results):
        stack = frames[item.id]
        if enforced and item.opens:
            stack.append(_Frame(token))
        elif enforced:
            frame = stack.pop()
            if frame.closings and frame.openings:
                raise _half_enforced(document, frame.token, f"({item.id}")
            if stack:
                stack[-1].add(frame.closings, frame.openings)
        elif stack:
            stack[-1].add(int(item.closes), int(item.opens))


def _brackets(results: Sequence[str]) -> Iterator[tuple[int, Bracketing, bool]]:
    """List the brackets of all cells that have any, and whether they are enforced."""
    for token, cell in enumerate(results, 1):
        text = cell.removeprefix("=")
        if text in NOTHING:
            continue
        try:
            items = parse_cell(text)
        except ValueError:
            continue
        for item in items:
            if item.opens != item.closes:
                yield token, item, cell.startswith("=")
