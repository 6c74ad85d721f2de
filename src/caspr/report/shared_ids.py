"""Shared chain ids: one id for one entity, whoever annotated it.

Each annotator numbers chains differently. Their chains are matched one to one with those of the gold
standard, largest overlap first, and get its ids. The remaining chains are matched in the same way among the
annotators and get the ids x1, x2, ...
"""

from collections import Counter
from collections.abc import Sequence

from caspr.text.document import Annotation, Span
from caspr.text.grouping import match_one_to_one

Column = dict[Span, tuple[str, ...]]
"""The shared ids of the chains that each mention is in."""


def shared_ids(gold: Annotation, annotations: Sequence[Annotation]) -> list[Column]:
    """Return a column for each annotation, with ids that mean the same in all of them."""
    known = [(chain.id, set(chain.mentions)) for chain in (*gold.chains, *gold.singletons)]
    taken = {id for id, _ in known}
    columns = []
    for annotation in annotations:
        chains = [chain.mentions for chain in (*annotation.chains, *annotation.singletons)]
        matched = _match(chains, known)
        column: dict[Span, tuple[str, ...]] = {}
        for number, mentions in enumerate(chains):
            if number not in matched:
                matched[number] = _fresh(taken)
                known.append((matched[number], set(mentions)))
            for span in mentions:
                column[span] = (*column.get(span, ()), matched[number])
        columns.append(column)
    return columns


def _match(chains: Sequence[Sequence[Span]], known: Sequence[tuple[str, set[Span]]]) -> dict[int, str]:
    """Match chains with known ones, one to one."""
    holders: dict[Span, list[str]] = {}
    for id, mentions in known:
        for span in mentions:
            holders.setdefault(span, []).append(id)
    overlaps = Counter(
        (number, id)
        for number, mentions in enumerate(chains)
        for span in mentions
        for id in holders.get(span, ())
    )
    order = {id: position for position, (id, _) in enumerate(known)}
    ranked = sorted(overlaps.items(), key=lambda item: (-item[1], item[0][0], order[item[0][1]]))
    return match_one_to_one(pair for pair, _ in ranked)


def _fresh(taken: set[str]) -> str:
    number = 1
    while f"x{number}" in taken:
        number += 1
    taken.add(f"x{number}")
    return f"x{number}"
