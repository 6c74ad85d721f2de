"""Entity cells: the brackets of `Entity=` in the last column of CorefUD, and the mentions they stand for.

    (e1-person-1        a mention of e1 starts; its other fields follow, in the declared order
    e1)                 the last opened mention of e1 ends
    (e1-person-1)       a mention of one token
    (e1[2/3]  e1[2/3])  the second of three pieces of a mention with gaps

1. Closings come before openings, longer mentions open first; where no longer mention opens, those of one
   word come first. Items follow each other without a sign between them.
2. The fields of an opening are those that `# global.Entity` declares, in its order; trailing empty ones
   may be missing. The id is the field `eid`, or `GRP` in GUM.
3. The pieces of a mention come in order; each piece belongs to the mention of its chain that waits for
   it longest.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from caspr.formats.bracket_cells import CellError
from caspr.formats.format import quoted
from caspr.text.document import Span

_ITEM = re.compile(r"(\(?+)([^()]++)(\)?+)")
_EID = re.compile(r"([^\[\]]+)(?:\[([0-9]{1,4})/([0-9]{1,4})\])?")
_LATER = re.compile(r"(\[(?!1/)[0-9]+/[0-9]+\])(?:-[^()]*)")
_WRITABLE = re.compile(r"[^()\[\]\-|<>,=\s]+")
_SURE = re.compile(r"[A-Za-z]{0,3}[0-9]+(?:\[[0-9]+/[0-9]+\])?")
IDS = ("eid", "GRP")
"""The names of the field that holds the chain's id."""


@dataclass(frozen=True)
class Entity:
    """One mention of a CorefUD file."""

    id: str
    pieces: tuple[Span, ...]
    """Its tokens, in one run or several."""
    fields: tuple[str, ...]
    """All fields of its opening, the id included."""

    def get(self, name: str, order: Sequence[str]) -> str:
        """Return a field by its name, in the declared order; nothing where it has none."""
        index = order.index(name) if name in order else len(self.fields)
        return self.fields[index] if index < len(self.fields) else ""


@dataclass
class _OpenEntity:
    """A mention that has begun."""

    start: int
    fields: tuple[str, ...]


def is_eid(text: str) -> bool:
    """Return whether a chain of this id can be written.

    >>> is_eid("e12"), is_eid("a-b"), is_eid("")
    (True, False, False)
    """
    return _WRITABLE.fullmatch(text) is not None


def is_unmistakable(cell: str) -> bool:
    """Return whether all items of a cell begin with an id, whatever the order of their fields.

    >>> is_unmistakable("(e12-person-1)(e3"), is_unmistakable("(person"), is_unmistakable("person-1)")
    (True, False, False)
    """
    items = [item.groups() for item in _ITEM.finditer(cell)]
    return all(_SURE.fullmatch(content.split("-")[0] if opens else content) for opens, content, _ in items)


def match(cells: Iterable[tuple[int, str]], order: Sequence[str]) -> list[Entity]:
    """Find the mentions in the cells of numbered tokens, or raise `CellError`."""
    column = next(order.index(name) for name in IDS if name in order)
    opened: dict[str, list[_OpenEntity]] = defaultdict(list)
    waiting: dict[tuple[str, int, int], list[tuple[tuple[Span, ...], tuple[str, ...]]]] = defaultdict(list)
    entities: list[Entity] = []
    for token, cell in cells:
        for opens, content, closes in _items(token, cell):
            fields = tuple(content.split("-"))
            key = (fields[column] if column < len(fields) else "") if opens else content
            eid = _EID.fullmatch(key)
            if eid is None:
                raise CellError(token, f"entity {quoted(content)}", "an id such as e1 or e1[1/2]")
            if opens:
                opened[key].append(_OpenEntity(token, fields))
            if closes:
                if not opened[key]:
                    raise CellError(
                        token, f"{quoted(key + ')')}, which closes nothing", f"{quoted('(' + key)} before it"
                    )
                begun = opened[key].pop()
                _finish(token, eid, begun, waiting, entities)
    _refuse_open(opened, waiting)
    return entities


def _items(token: int, cell: str) -> list[tuple[bool, str, bool]]:
    items, position = [], 0
    while item := _ITEM.match(cell, position):
        if not (item[1] or item[3]):
            break
        items.append((bool(item[1]), item[2], bool(item[3])))
        position = item.end()
    if position < len(cell):
        raise CellError(token, f"malformed Entity={quoted(cell)}", "items such as `(e1-person-1`, `e1)`")
    return items


def _finish(
    token: int,
    eid: re.Match[str],
    begun: _OpenEntity,
    waiting: dict[tuple[str, int, int], list[tuple[tuple[Span, ...], tuple[str, ...]]]],
    entities: list[Entity],
) -> None:
    """End a mention, or a piece of one."""
    id, piece = eid[1], Span(begun.start, token)
    if eid[2] is None:
        entities.append(Entity(id, (piece,), begun.fields))
        return
    number, total = int(eid[2]), int(eid[3])
    if not 1 <= number <= total:
        raise CellError(token, f"piece {number} of {total}", "pieces numbered from 1")
    before: tuple[tuple[Span, ...], tuple[str, ...]] = ((), begun.fields)
    if number > 1:
        if not waiting[id, number, total]:
            raise CellError(
                token, f"piece {number} of {total} of {quoted(id)}", f"piece {number - 1} before it"
            )
        before = waiting[id, number, total].pop(0)
    pieces = (*before[0], piece)
    if number == total:
        entities.append(Entity(id, pieces, before[1]))
    else:
        waiting[id, number + 1, total].append((pieces, before[1]))


def _refuse_open(
    opened: dict[str, list[_OpenEntity]],
    waiting: dict[tuple[str, int, int], list[tuple[tuple[Span, ...], tuple[str, ...]]]],
) -> None:
    unclosed = [(mentions[0].start, id) for id, mentions in opened.items() if mentions]
    if unclosed:
        token, id = min(unclosed)
        raise CellError(token, f"{quoted('(' + id)}, which is never closed", f"{quoted(id + ')')} after it")
    missing = [
        (rest[0][0][-1].end, id, number, total) for (id, number, total), rest in waiting.items() if rest
    ]
    if missing:
        token, id, number, total = min(missing)
        raise CellError(token, f"no piece {number} of {total} of {quoted(id)}", "all pieces of a mention")


def same_items(first: str, second: str) -> bool:
    """Return whether two cells hold the same items in another order, each once.

    Whether later pieces of a mention repeat its fields does not matter: files differ in that.
    """
    items = [sorted(_LATER.sub(r"\1", item[0]) for item in _ITEM.finditer(cell)) for cell in (first, second)]
    return items[0] == items[1] and len(set(items[0])) == len(items[0])


def render(entities: Iterable[Entity], order: Sequence[str], length: int) -> list[str]:
    """Write the cells of a document of `length` tokens; an empty cell has no mention."""
    column = next(order.index(name) for name in IDS if name in order)
    closings: dict[int, list[tuple[int, str, str]]] = defaultdict(list)
    openings: dict[int, list[tuple[int, str, str]]] = defaultdict(list)
    singles: dict[int, list[tuple[int, str, str]]] = defaultdict(list)
    for entity in entities:
        total = len(entity.pieces)
        for number, (start, end) in enumerate(entity.pieces, 1):
            id = entity.id if total == 1 else f"{entity.id}[{number}/{total}]"
            fields = [*entity.fields[:column], id, *entity.fields[column + 1 :]]
            text = "-".join(fields).rstrip("-") if len(fields) > column + 1 else "-".join(fields)
            if start == end:
                singles[start].append((-end, id, f"({text})"))
            else:
                openings[start].append((-end, id, f"({text}"))
                closings[end].append((-start, id, f"{id})"))
    return [
        _cell(closings.get(token), openings.get(token), singles.get(token)) for token in range(1, length + 1)
    ]


_Items = list[tuple[int, str, str]] | None


def _cell(closings: _Items, openings: _Items, singles: _Items) -> str:
    """Put the items of a cell in order: those of one word come last, or first where no other opens."""
    ended, begun, alone = (sorted(items or ()) for items in (closings, openings, singles))
    ordered = [*ended, *begun, *alone] if begun else [*alone, *ended]
    return "".join(text for _, _, text in ordered)
