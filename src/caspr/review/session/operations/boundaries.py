"""Moving a boundary: the same mention with another first or last token.

    before    [Saal im Gasthofe]     in chain 3, decided to be apart from "er"
    after      Saal im [Gasthofe]    in chain 3, decided to be apart from "er"

1. Every decision, name and note about the old span is about the new one. What cannot be said any more,
   because two mentions became one, is left out; what had said that the new span is no mention is taken back.
2. The new span is in the chain that the old one was in. One that was in no chain is a mention.
3. The old span is no mention, if an annotator marked it. Where boundaries have variants, the two are one
   mention, so the votes for the old span count for the new one.

All of it is one step. The old span is out, so it never stands in the way of the new one.

An answer may name another boundary than the decided one of a mention with variants, if the card with it was
shown before that decision: see `with_boundary`.
"""

from collections.abc import Collection, Iterator
from dataclasses import replace

from caspr.review.session.entries import Closing, Decision, DecisionEntry, EnforcedCells
from caspr.review.session.operations.context import Change, Operation, OperationContext, OperationError
from caspr.review.session.operations.mentions import anchored
from caspr.task.decisions import Statement, StatementKind
from caspr.task.names import EntityName
from caspr.task.notes import Note
from caspr.text.document import Chain, Span


def move(context: OperationContext, operation: Operation) -> Change:
    """Give a mention another boundary; it keeps its entity and all decisions about it."""
    old = context.mention(operation.get("mention"))
    new = context.span(operation.get("start"), operation.get("end"))
    if old == new:
        raise OperationError("The mention begins and ends there already.")
    if old not in context.snapshot.chain_of and old not in context.solver.candidates:
        raise OperationError(f"{context.quote(old)} is no mention, so its boundary cannot be moved.")
    moved = list(_without_duplicates(_moved(context.snapshot.entries, old, new)))
    notes = _moved_notes(context, old, new)
    home = context.snapshot.chain_of.get(old)
    chain = None if home is None else context.snapshot.chain(home)
    added = [*_placed(context, moved, chain, old, new)]
    if old in context.solver.candidates:
        added.append(Statement(StatementKind.ABSENT, (old,)))
    fresh = [DecisionEntry(context.ids.decision(), one, context.made) for one in added]
    label = f"{tuple(old)} now begins and ends as {tuple(new)}"
    return Change((*moved, *fresh), notes, label, frozenset((old, new)))


def decided_boundary(context: OperationContext, span: Span) -> Span:
    """Return the decided boundary of the mention that a span is a variant of; else the span itself."""
    if not context.solver.settings.variants:
        return span
    decisions = context.snapshot.decisions
    variants = context.solver.settings.find_variants(context.solver.annotations, decisions)
    boundary = variants.boundaries.get(span, span)
    return boundary if boundary in decisions.standing or boundary in decisions.group_of else span


def with_boundary(context: OperationContext, new: Span, said: Collection[Decision]) -> OperationContext:
    """Move all that is decided about a mention to another of its variants; `said` is what is decided next.

    Otherwise the mention would have two decided boundaries, and so become two mentions.
    """
    old = decided_boundary(context, new)
    if old == new:
        return context
    moved = _without_duplicates(_moved(context.snapshot.entries, old, new))
    entries = tuple(entry for entry in moved if entry.decision not in said)
    notes = _moved_notes(context, old, new)
    return replace(context, snapshot=replace(context.snapshot, entries=entries, notes=notes))


def _moved_notes(context: OperationContext, old: Span, new: Span) -> tuple[tuple[str, Note], ...]:
    return tuple(
        (id, replace(note, mention=new) if note.mention == old else note)
        for id, note in context.snapshot.notes
    )


def _placed(
    context: OperationContext, entries: list[DecisionEntry], chain: Chain | None, old: Span, new: Span
) -> Iterator[Decision]:
    """Yield what puts the new span where the old one was, unless decisions say so already."""
    others = [span for span in chain.mentions if span not in (old, new)] if chain is not None else []
    about = [entry for entry in entries if new in entry.mentions]
    if chain is not None and others:
        if all(entry.chain != chain.id for entry in about):
            yield anchored(context, [new], chain.over(others))
        return
    kinds = {entry.decision.kind for entry in about if isinstance(entry.decision, Statement)}
    if not kinds & {StatementKind.MENTION, StatementKind.ALONE, StatementKind.EXISTS}:
        yield Statement(StatementKind.MENTION, (new,))


def _moved(entries: tuple[DecisionEntry, ...], old: Span, new: Span) -> Iterator[DecisionEntry]:
    """Yield the decisions as they are about the new span."""
    for entry in entries:
        decision = entry.decision
        if isinstance(decision, Closing):
            yield entry
            continue
        mentions = tuple(sorted({new if span == old else span for span in entry.mentions}))
        if isinstance(decision, Statement) and decision.kind is StatementKind.ABSENT:
            mentions = tuple(span for span in mentions if span != new)
        if mentions == entry.mentions:
            yield entry
            continue
        changed = _about(decision, mentions)
        if changed is not None:
            yield replace(entry, decision=changed)


def _about(decision: Statement | EnforcedCells | EntityName, mentions: tuple[Span, ...]) -> Decision | None:
    """Return a decision about other mentions, or `None` if nothing of it is left."""
    if not mentions:
        return None
    if isinstance(decision, EnforcedCells):
        return EnforcedCells(Chain(decision.chain.id, mentions))
    if isinstance(decision, Statement) and len(mentions) == 1:
        if decision.kind is StatementKind.APART:
            return None
        if decision.kind is StatementKind.TOGETHER:
            return Statement(StatementKind.MENTION, mentions)
    return replace(decision, mentions=mentions)


def _without_duplicates(entries: Iterator[DecisionEntry]) -> Iterator[DecisionEntry]:
    seen: set[Decision] = set()
    for entry in entries:
        if entry.decision not in seen:
            seen.add(entry.decision)
            yield entry
