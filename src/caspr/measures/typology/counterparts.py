"""Which marks of several annotators are marks of one mention.

Equal spans are. Two other spans that share a token can be *counterparts*, one mention with different
boundaries, if no annotator marked both, and

* they share at least half of the tokens that they cover together: then they are variants in the sense of
  `text.variants`, which the setting of that name unites; or
* they are in entities that are mapped on each other by the mentions which two annotators marked alike; or
* that is not known, and they cross, or begin or end with the same token.

Spans that share less are not counterparts if the two entities are mapped on others: *the king of all France*
and *France* end alike, but where both annotators have both entities, they are two mentions. The best pairs
are joined first: those in the same entity, then those with more tokens in common, then those that come first
in the text. What is joined stays one mention as long as it holds at most one span of each annotator.

This finds more than variants: for counting, *the man* and *the man who sold the world* are one mention about
whose boundary there is disagreement; for merging, that is too bold.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from caspr.measures.typology.entities import Homes, match_entities
from caspr.text.document import Span

Row = tuple[Span | None, ...]
"""One mention as each annotator marked it; `None` for who did not."""


def align_mentions(homes: Sequence[Homes]) -> list[Row]:
    """Return all mentions of a document, in text order."""
    markers = _markers(homes)
    group = {span: [span] for span in markers}
    for one, other in _ranked(markers, homes):
        first, second = group[one], group[other]
        if first is not second and _disjoint(first, second, markers):
            first.extend(second)
            for span in second:
                group[span] = first
    rows = {id(spans): spans for spans in group.values()}.values()
    return sorted((_row(spans, markers, len(homes)) for spans in rows), key=_place)


def _markers(homes: Sequence[Homes]) -> dict[Span, frozenset[int]]:
    """Return who marked each span."""
    found: dict[Span, set[int]] = {}
    for number, home in enumerate(homes):
        for span in home.entity:
            found.setdefault(span, set()).add(number)
    return {span: frozenset(found[span]) for span in sorted(found)}


def _disjoint(first: Iterable[Span], second: Sequence[Span], markers: Mapping[Span, frozenset[int]]) -> bool:
    return all(markers[one].isdisjoint(markers[other]) for one in first for other in second)


def _row(spans: Iterable[Span], markers: Mapping[Span, frozenset[int]], annotators: int) -> Row:
    marked = {who: span for span in spans for who in markers[span]}
    return tuple(marked.get(who) for who in range(annotators))


def _place(row: Row) -> list[Span]:
    return sorted(span for span in row if span is not None)


def _ranked(markers: Mapping[Span, frozenset[int]], homes: Sequence[Homes]) -> list[tuple[Span, Span]]:
    """Return the pairs that can be counterparts, the best first."""
    known = _Known.of(homes)
    everybody = len(homes)
    partly = [span for span, who in markers.items() if len(who) < everybody]
    found = []
    for one, other in overlapping(partly):
        if markers[one].isdisjoint(markers[other]):
            same = known.same(one, other, markers)
            common = min(one.end, other.end) - max(one.start, other.start) + 1
            mostly = 2 * common >= max(one.end, other.end) - min(one.start, other.start) + 1
            if same or mostly or (same is None and _alike(one, other)):
                found.append((not same, -common, one, other))
    return [(one, other) for _, _, one, other in sorted(found)]


def overlapping(spans: Iterable[Span]) -> Iterator[tuple[Span, Span]]:
    """Yield all pairs of different spans that share a token, the earlier one first.

    >>> [(one.start, other.start) for one, other in overlapping([Span(1, 3), Span(3, 4), Span(4, 4)])]
    [(1, 3), (3, 4)]
    """
    active: list[Span] = []
    for span in sorted(spans):
        active = [earlier for earlier in active if earlier.end >= span.start]
        yield from ((earlier, span) for earlier in active)
        active.append(span)


def _alike(one: Span, other: Span) -> bool:
    """Return whether two spans that overlap cross, or begin or end alike."""
    return one.start == other.start or one.end == other.end or not one.nests_with(other)


@dataclass(frozen=True)
class _Known:
    """What equal spans show about the entities of each two annotators."""

    homes: Sequence[Homes]
    """The entities of each annotator."""
    maps: Mapping[tuple[int, int], Mapping[int, int]]
    """The entities of one annotator mapped on those of another."""

    @classmethod
    def of(cls, homes: Sequence[Homes]) -> "_Known":
        maps: dict[tuple[int, int], dict[int, int]] = {}
        for one, other in combinations(range(len(homes)), 2):
            maps[one, other] = match_entities(_shared(homes[one], homes[other]))
            maps[other, one] = {second: first for first, second in maps[one, other].items()}
        return cls(homes, maps)

    def same(self, one: Span, other: Span, markers: Mapping[Span, frozenset[int]]) -> bool | None:
        """Return whether two spans are in the same entity for some, or in different ones for all."""
        answers = {
            self._same(one, first, other, second) for first in markers[one] for second in markers[other]
        }
        return True if True in answers else None if None in answers else False

    def _same(self, one: Span, first: int, other: Span, second: int) -> bool | None:
        entity, met = self.homes[first].entity[one], self.homes[second].entity[other]
        there, back = self.maps[first, second], self.maps[second, first]
        if there.get(entity) == met:
            return True
        return False if entity in there and met in back else None


def _shared(one: Homes, other: Homes) -> Iterator[tuple[int, int]]:
    for span, entity in one.entity.items():
        if span in other.entity and not one.alone(span) and not other.alone(span):
            yield entity, other.entity[span]
