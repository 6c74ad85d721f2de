"""Later answers in the place of earlier ones.

Where a mention belongs is one answer: in which chain, alone, or nowhere. Who gives it again has changed their
mind, so the new answer takes the place of the old one instead of contradicting it. What relates a mention to
another one (`together`, `apart`) stays, unless its very opposite is said of the same mentions.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from caspr.review.session.entries import Closing, Decision, DecisionEntry, EnforcedCells
from caspr.task.decisions import Statement, StatementKind
from caspr.task.names import EntityName
from caspr.text.document import Chain, Span

_EXISTING = frozenset(
    {StatementKind.ENFORCED, StatementKind.EXISTS, StatementKind.MENTION, StatementKind.ALONE}
)
REPLACED = {
    StatementKind.ABSENT: _EXISTING,
    StatementKind.ALONE: _EXISTING | {StatementKind.ABSENT},
    StatementKind.ENFORCED: frozenset({StatementKind.ENFORCED, StatementKind.ALONE, StatementKind.ABSENT}),
    StatementKind.EXISTS: frozenset({StatementKind.ALONE, StatementKind.ABSENT}),
    StatementKind.TOGETHER: frozenset({StatementKind.ALONE, StatementKind.ABSENT}),
    StatementKind.MENTION: frozenset({StatementKind.ABSENT}),
}
"""The earlier answers about a mention that a new one takes the place of."""
OPPOSITES = frozenset({StatementKind.TOGETHER, StatementKind.APART})


def without_replaced(
    entries: Iterable[DecisionEntry], new: Statement, about: Collection[Span]
) -> tuple[DecisionEntry, ...]:
    """Return earlier decisions without what a new one says otherwise about some of its mentions."""
    kept = list(entries)
    chains = [entry.chain for entry in kept]
    return tuple(_kept(kept, new, frozenset(about), chains))


def _kept(
    entries: list[DecisionEntry], new: Statement, about: frozenset[Span], chains: list[str | None]
) -> Iterator[DecisionEntry]:
    for entry in entries:
        kind = _kind(entry.decision)
        if kind is None or about.isdisjoint(entry.mentions):
            yield entry
        elif {kind, new.kind} == OPPOSITES:
            if set(entry.mentions) != set(new.mentions):
                yield entry
        elif kind not in REPLACED.get(new.kind, ()) or (
            kind is new.kind is StatementKind.ENFORCED and entry.chain == new.chain
        ):
            yield entry
        else:
            left = tuple(span for span in entry.mentions if span not in about)
            # What is left of a chain may have been named only to say which chain was meant.
            anchor = kind is StatementKind.ENFORCED and len(left) == 1 and chains.count(entry.chain) == 1
            if left and not anchor:
                yield replace(entry, decision=_over(entry.decision, left))


def _kind(decision: Decision) -> StatementKind | None:
    if isinstance(decision, EnforcedCells):
        return StatementKind.ENFORCED
    return decision.kind if isinstance(decision, Statement) else None


def _over(decision: Decision, mentions: tuple[Span, ...]) -> Decision:
    """Return a decision about fewer mentions."""
    assert not isinstance(decision, Closing | EntityName)
    if isinstance(decision, EnforcedCells):
        return EnforcedCells(Chain(decision.chain.id, mentions))
    return replace(decision, mentions=mentions)
