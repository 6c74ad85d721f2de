"""Coreference cells: the brackets in the last column of CoNLL, and the mentions they stand for.

    (7      a mention of chain 7 starts at this token
    7)      the last opened mention of chain 7 ends at this token
    (7)     this token is a mention of chain 7
    - _ *   none of these; an empty cell says the same

1. A cell holds any number of items, with or without `|` between them: `(6(0)`, `1)|(2`. A bar without an item
   beside it means nothing: `(1)||2)`.
2. An id is one or more characters other than `(`, `)`, `|` and whitespace, and does not start with `=`,
   which marks enforced cells in the review layout.
3. Items are read from left to right with one stack for each id, so that mentions of different chains may
   cross. Two mentions of *one* chain that cross (s1 < s2 < e1 < e2) cannot be written: see `split_crossing`.
4. We write closings first, inner ones first, then openings, longer ones first. Reading that gives the
   same mentions back, also where one mention of a chain starts at the token at which another ends.
"""

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import count
from typing import NamedTuple

from caspr.formats.format import quoted
from caspr.text.document import Chain, Span

NOTHING = frozenset(("", "-", "_", "*"))
"""The cells without a mention."""

# Possessive, so that a malformed cell of a million characters is refused in linear time.
_ITEM = re.compile(r"(\(?+)((?!=)[^()|\s]++)(\)?+)")
_BARS = re.compile(r"\|*+")


class Bracketing(NamedTuple):
    """One bracket, or both for a mention of one token."""

    id: str
    opens: bool
    closes: bool


class CellError(ValueError):
    """Refuse the cell of one token; the caller knows its file and line."""

    def __init__(self, token: int, found: str, expected: str) -> None:
        """Keep what `FormatError` needs."""
        self.token = token
        self.found = found
        self.expected = expected
        super().__init__(f"token {token}: found {found}, expected {expected}")


class UnbalancedError(CellError):
    """Refuse a bracket that has no partner."""

    def __init__(self, token: int, bracket: str, problem: str, expected: str) -> None:
        """Keep the bracket for callers who know better what is expected."""
        self.bracket = bracket
        super().__init__(token, f"{quoted(bracket)}, which {problem}", expected)


def parse(cell: str) -> list[Bracketing]:
    """Read one cell, or raise `ValueError`.

    >>> parse("(6(0)")
    [Bracketing(id='6', opens=True, closes=False), Bracketing(id='0', opens=True, closes=True)]
    >>> parse(" - ")
    []
    """
    text = cell.strip(" ")
    if text in NOTHING:
        return []
    items, position = [], _BARS.match(text).end()  # type: ignore[union-attr]
    while item := _ITEM.match(text, position):
        opening, id, closing = item.groups()
        if not (opening or closing):
            break
        items.append(Bracketing(id, bool(opening), bool(closing)))
        position = _BARS.match(text, item.end()).end()  # type: ignore[union-attr]
        if position == len(text):
            return items
    raise ValueError(f"malformed cell {quoted(cell)}")


def match(cells: Iterable[tuple[int, str]]) -> dict[str, list[Span]]:
    """Find the mentions of each id in the cells of numbered tokens, repeated ones included.

    Raises `CellError` at a malformed cell, at a closing without an opening, and at the first opening that
    is never closed.

    >>> match([(1, "(1"), (2, "(2"), (3, "1)"), (4, "2)")])
    {'1': [Span(start=1, end=3)], '2': [Span(start=2, end=4)]}
    """
    spans: dict[str, list[Span]] = defaultdict(list)
    opened: dict[str, list[int]] = defaultdict(list)
    for token, cell in cells:
        if cell in NOTHING:
            continue
        opens, closes = cell[0] == "(", cell[-1] == ")"
        id = cell[opens : len(cell) - closes]
        if not id.isalnum() or not (opens or closes):
            for item in _items(token, cell):
                _count(item, token, opened, spans)
        elif opens and closes:
            # Nearly all cells hold one bracket, or both, and an id of letters and digits.
            spans[id].append(Span(token, token))
        elif opens:
            opened[id].append(token)
        else:
            _close(id, token, opened, spans)
    unclosed = [(starts[0], id) for id, starts in opened.items() if starts]
    if unclosed:
        token, id = min(unclosed)
        raise UnbalancedError(token, f"({id}", "is never closed", f"{quoted(id + ')')} after it")
    return dict(spans)


def chains(spans: Mapping[str, Iterable[Span]], aliases: Mapping[str, str]) -> tuple[list[Chain], int]:
    """Make chains of matched mentions, joining aliased ones; also count the repeated mentions."""
    joined: dict[str, list[Span]] = defaultdict(list)
    for id, mentions in spans.items():
        joined[aliases.get(id, id)].extend(mentions)
    made = [Chain(id, tuple(sorted(set(mentions)))) for id, mentions in joined.items()]
    return made, sum(map(len, joined.values())) - sum(len(chain.mentions) for chain in made)


def in_file_order(
    cells: Iterable[tuple[int, str]], aliases: Mapping[str, str]
) -> tuple[tuple[Span, ...], ...]:
    """Return all chains with every repetition, in the order in which the reference scorer meets them.

    That is by first opening; at one token, mentions of one token come before longer ones.

    >>> in_file_order([(1, "(2|(1)"), (2, "2)|(1)|(1)")], {})
    ((Span(start=1, end=1), Span(start=2, end=2), Span(start=2, end=2)), (Span(start=1, end=2),))
    """
    numbered = list(cells)
    joined: dict[str, list[Span]] = {}
    for token, cell in numbered:
        opening = [item for item in _items(token, cell) if item.opens] if cell not in NOTHING else []
        for item in sorted(opening, key=lambda item: not item.closes):
            joined.setdefault(aliases.get(item.id, item.id), [])
    for id, mentions in match(numbered).items():
        joined[aliases.get(id, id)].extend(mentions)
    return tuple(map(tuple, joined.values()))


def render(chains: Iterable[Chain], length: int) -> list[str]:
    """Write the cells of a document of `length` tokens.

    >>> render([Chain.of("1", [(1, 3), (3, 3)]), Chain.of("2", [(1, 4)])], 5)
    ['(2|(1', '-', '1)|(1)', '2)', '-']
    """
    written: dict[int, list[Bracket]] = defaultdict(list)
    for chain in chains:
        for token, bracket in brackets(chain):
            written[token].append(bracket)
    cells = ["-"] * length
    for token, items in written.items():
        cells[token - 1] = write_cell(items)
    return cells


Bracket = tuple[bool, int, str, str]
"""Whether it opens a mention, the other end for the order, the id, and the text."""


def brackets(chain: Chain) -> Iterator[tuple[int, Bracket]]:
    """Yield the brackets of a chain, each with its token."""
    id = chain.id
    for start, end in chain.mentions:
        if start == end:
            yield start, (True, -end, id, f"({id})")
        else:
            yield start, (True, -end, id, f"({id}")
            yield end, (False, -start, id, f"{id})")


def write_cell(brackets: Iterable[Bracket]) -> str:
    """Write the brackets of one token.

    >>> write_cell([(True, -4, "2", "(2"), (False, -1, "1", "1)")])
    '1)|(2'
    """
    return "|".join([text for _, _, _, text in sorted(brackets)]) or "-"


def split_crossing(
    chains: Iterable[Chain], strict: Container[str] = ()
) -> tuple[list[Chain], dict[str, str]]:
    """Move mentions that cross an earlier one of their chain into new chains.

    Returns chains that cells can express, and the original id of each new one. In chains with the ids of
    `strict`, a mention also crosses one that ends with its first token.

    >>> split_crossing([Chain.of("3", [(1, 3), (2, 4), (4, 5)])])[1]
    {'1': '3'}
    >>> split_crossing([Chain.of("3", [(1, 4), (4, 5)])], ["3"])[1]
    {'1': '3'}
    """
    every = list(chains)
    used = {chain.id for chain in every}
    fresh = (str(number) for number in count(1) if str(number) not in used)
    kept: list[Chain] = []
    moved: list[Chain] = []
    aliases: dict[str, str] = {}
    for chain in every:
        first, *rest = _layers(chain.mentions, strict=chain.id in strict)
        kept.append(chain.over(first) if rest else chain)
        for layer, id in zip(rest, fresh, strict=False):
            moved.append(chain.over(layer).called(id))
            aliases[id] = chain.id
    return kept + moved, aliases


def _layers(mentions: Iterable[Span], *, strict: bool) -> Iterator[list[Span]]:
    """Split mentions into groups without crossings, as many as possible into the earlier ones.

    In text order, longer ones first, the mentions that are still open at a token lie inside each other,
    so only the innermost can be the first to be crossed.
    """
    rest = sorted(mentions, key=lambda span: (span.start, -span.end))
    while True:
        layer: list[Span] = []
        crossing: list[Span] = []
        opened: list[Span] = []
        for span in rest:
            while opened and opened[-1].end < span.start + (not strict):
                opened.pop()
            if opened and opened[-1].end < span.end:
                crossing.append(span)
            else:
                opened.append(span)
                layer.append(span)
        yield layer
        if not crossing:
            return
        rest = crossing


def _count(item: Bracketing, token: int, opened: dict[str, list[int]], spans: dict[str, list[Span]]) -> None:
    if item.opens:
        opened[item.id].append(token)
    if item.closes:
        _close(item.id, token, opened, spans)


def _close(id: str, token: int, opened: dict[str, list[int]], spans: dict[str, list[Span]]) -> None:
    """End the mention of a chain that was opened last."""
    if not opened[id]:
        raise UnbalancedError(token, f"{id})", "closes nothing", f"{quoted('(' + id)} before it")
    spans[id].append(Span(opened[id].pop(), token))


def _items(token: int, cell: str) -> list[Bracketing]:
    try:
        return parse(cell)
    except ValueError as error:
        raise CellError(token, str(error), "items such as `(1`, `1)`, `(1)`, or `-` for none") from None
