"""Entities of two annotators, mapped one to one.

Each mention that both linked is a vote for mapping its two entities on each other. The map with the most
votes leaves the fewest mentions in different entities. The graph of votes falls into parts; each is an
assignment problem (`scipy.optimize.linear_sum_assignment`), in whole numbers, which floats of that size
hold exactly.

Where several maps are equally good, it does not depend on which annotator comes first which one is taken: the
problem is turned so that the smaller list of votes has the rows.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from caspr.text.document import Annotation, Span
from caspr.text.grouping import Groups
from caspr.text.links import nested_pairs

Votes = Mapping[tuple[int, int], int]
"""How many mentions an entity of one annotator shares with an entity of the other."""


@dataclass(frozen=True)
class Homes:
    """The entity of each mention of one annotator: the first, where a span is in several chains."""

    chains: tuple[tuple[Span, ...], ...]
    """The mentions of each entity, by number, in order of the text."""
    entity: Mapping[Span, int]
    """The number of the entity that each mention is in."""
    singles: frozenset[Span]
    """The mentions that are chains of one."""

    def mentions(self, span: Span) -> tuple[Span, ...]:
        """Return all mentions of the entity that a mention is in."""
        return self.chains[self.entity[span]]

    def alone(self, span: Span) -> bool:
        """Return whether a mention is a chain of one."""
        return span in self.singles

    @cached_property
    def nested(self) -> tuple[tuple[Span, Span], ...]:
        """All pairs of mentions of which the first contains the second."""
        return tuple(nested_pairs(self.entity))


def homes_of(annotation: Annotation) -> Homes:
    """Return the entity of each mention."""
    chains = tuple(sorted({chain.mentions for chain in annotation.all_chains}))
    entity: dict[Span, int] = {}
    for number, mentions in enumerate(chains):
        for span in mentions:
            entity.setdefault(span, number)
    singles = frozenset(span for span, number in entity.items() if len(chains[number]) == 1)
    return Homes(chains, entity, singles)


def match_entities(votes: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Map entities of one annotator on those of another, one to one, with as many votes as possible.

    >>> match_entities([(0, 0), (0, 0), (0, 1), (1, 1), (2, 1)])
    {0: 0, 1: 1}
    """
    counts = Counter(votes)
    turned = {(other, one): count for (one, other), count in counts.items()}
    if sorted(turned.items()) < sorted(counts.items()):
        found = [(one, other) for part in _parts(turned) for other, one in _assign(part)]
    else:
        found = [pair for part in _parts(counts) for pair in _assign(part)]
    return dict(sorted(found))


def _parts(votes: Votes) -> list[dict[tuple[int, int], int]]:
    """Return the votes of each connected part."""
    groups: Groups[tuple[int, int]] = Groups()
    for one, other in votes:
        groups.add((0, one))
        groups.add((1, other))
        groups.join((0, one), (1, other))
    parts: dict[tuple[int, int], dict[tuple[int, int], int]] = defaultdict(dict)
    for pair, count in sorted(votes.items()):
        parts[groups.first((0, pair[0]))][pair] = count
    return list(parts.values())


def _assign(votes: Votes) -> list[tuple[int, int]]:
    """Map the entities of one part; where one side is a single entity, its most votes decide."""
    rows = sorted({one for one, _ in votes})
    columns = sorted({other for _, other in votes})
    if len(rows) == 1 or len(columns) == 1:
        return [max(votes, key=lambda pair: (votes[pair], -pair[0], -pair[1]))]
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    row_of, column_of = ({entity: n for n, entity in enumerate(side)} for side in (rows, columns))
    matrix = np.zeros((len(rows), len(columns)))
    for (one, other), count in votes.items():
        matrix[row_of[one], column_of[other]] = count
    chosen = zip(*(side.tolist() for side in linear_sum_assignment(matrix, maximize=True)), strict=True)
    pairs = [(rows[row], columns[column]) for row, column in chosen]
    return [pair for pair in pairs if pair in votes]
