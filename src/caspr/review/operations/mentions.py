"""Operations on mentions: what is one, with which boundary, and which belong together.

`move` gives a mention another first or last token, all in one step:

    before    [Saal im Gasthofe]     in chain 3, decided to be apart from "er"
    after      Saal im [Gasthofe]    in chain 3, decided to be apart from "er"

1. Every decision, name and note about the old span is about the new one. What cannot be said any more,
   because two mentions became one, is left out; what ruled the new span out is taken back.
2. The new span is in the chain that the old one was in. One that was in no chain is a mention.
3. The old span is ruled out, if an annotator marked it, so it never stands in the way of the new one. Where
   boundaries have variants, the two are one mention, so the votes for the old span count for the new one.

`place`, `alone` and `prefer` answer questions: of which entity a mention is, or none, and which boundary is
right. Where boundaries have variants, an answer moves its mention to the boundary that it names, which may be
another than the decided one if the card was shown before that decision, and takes other mentions with the
boundaries that are decided: it never makes two mentions of two variants.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from caspr.review.entities import keep
from caspr.review.operations.context import (
    MOST,
    Change,
    Operation,
    OperationContext,
    OperationError,
    Remedy,
    released,
)
from caspr.task.decisions import OF_PAIRS, Decision, Note, Statement, StatementKind
from caspr.text.document import Chain, Span

_OF_SEVERAL = OF_PAIRS | {StatementKind.ENTITY}
"""What cannot be said of one mention."""


def saying(
    kind: StatementKind, least: int = 1, most: int = MOST
) -> Callable[[OperationContext, Operation], Change]:
    """Return the operation that says one thing about its mentions."""

    def say(context: OperationContext, operation: Operation) -> Change:
        return context.add(Statement.of(kind, context.mentions(operation, least, most)))

    return say


def nested(context: OperationContext, operation: Operation) -> Change:
    """Let two mentions share a chain although one is inside the other."""
    mentions = context.mentions(operation, least=2, most=2)
    if not mentions[0].nests_with(mentions[1]):
        raise OperationError("Neither of these mentions is inside the other.")
    return context.add(Statement.of(StatementKind.NESTED, mentions))


def into(context: OperationContext, operation: Operation) -> Change:
    """Put mentions into a chain of the result."""
    return _enforced(context, context.mentions(operation), context.chain(operation.get("chain")))


def new(context: OperationContext, operation: Operation) -> Change:
    """Make a span a mention, in a chain of the result or wherever it belongs."""
    mention = context.span(operation.get("start"), operation.get("end"))
    if operation.get("chain") is None:
        return context.add(Statement(StatementKind.MENTION, (mention,)))
    return _enforced(context, [mention], context.chain(operation["chain"]))


def _enforced(context: OperationContext, mentions: Sequence[Span], chain: Chain) -> Change:
    enforced = anchored(context, mentions, chain)
    anchors = [span for span in chain.mentions if span in enforced.mentions and span not in mentions]
    named = anchors or [span for span in chain.mentions if span in context.snapshot.decisions.group_of]
    held = context.held(chain, mentions, named).statement
    return context.add(*([] if held is None else [held]), enforced, named=mentions)


def anchored(context: OperationContext, mentions: Sequence[Span], chain: Chain) -> Statement:
    """Enforce mentions in a chain, and with them one that is in it already if no decision names the chain.

    Otherwise the enforced mentions could end up alone under the id of the chain.
    """
    excludes = context.snapshot.decisions.excludes
    others = [span for span in chain.mentions if span not in mentions and not excludes(span)]
    apart = [span for span in others if not any(span.nests_with(mention) for mention in mentions)]
    anchor = [] if context.is_named(chain.id) else (apart or others)[:1]
    return Statement.of(StatementKind.ENFORCED, [*mentions, *anchor], chain.id)


def empty(context: OperationContext, operation: Operation) -> Change:
    """Let no mention start or end at some tokens."""
    listed = operation.get("tokens")
    if not isinstance(listed, list) or not 0 < len(listed) <= MOST:
        raise OperationError("found no tokens, expected a list of some")
    tokens = {context.span(token, token).start for token in listed}
    clashes = [
        entry.id
        for entry in context.snapshot.entries
        if entry.statement.kind is StatementKind.CELLS and not tokens.isdisjoint(entry.statement.tokens)
    ]
    if clashes:
        both = {"do": "all", "ops": [{"do": "free", "decisions": clashes}, operation]}
        message = "A decision says that a mention starts or ends there."
        raise OperationError(message, clashes, [Remedy("Take it back and go on", both)])
    ends = [span for span in context.snapshot.chain_of if not tokens.isdisjoint(span)]
    statement = Statement.of(StatementKind.EMPTY, ((token, token) for token in tokens))
    return context.add(statement, named=ends)


def move(context: OperationContext, operation: Operation) -> Change:
    """Give a mention another boundary; it keeps its entity and all decisions about it."""
    old = context.mention(operation.get("mention"))
    new = context.span(operation.get("start"), operation.get("end"))
    if old == new:
        raise OperationError("The mention already begins and ends there.")
    if old not in context.snapshot.chain_of and old not in context.solver.candidates:
        raise OperationError(
            f"{context.solver.quote(old)} is not a mention, so its boundary cannot be moved."
        )
    moved = list(_moved(context.snapshot.entries, old, new))
    notes = _moved_notes(context, old, new)
    home = context.snapshot.chain_of.get(old)
    chain = None if home is None else context.snapshot.chain(home)
    added = [*_placed(context, moved, chain, old, new)]
    if old in context.solver.candidates:
        added.append(Statement(StatementKind.ABSENT, (old,)))
    label = f"boundary moved: {context.solver.quote(old)} → {context.solver.quote(new)}"
    return Change((*moved, *map(context.decided, added)), notes, label, frozenset((old, new)))


def decided_boundary(context: OperationContext, span: Span) -> Span:
    """Return the decided boundary of the mention that a span is a variant of; else the span itself."""
    if not context.solver.settings.variants:
        return span
    decisions = context.snapshot.decisions
    variants = context.solver.settings.find_variants(context.solver.annotations, decisions)
    boundary = variants.boundaries.get(span, span)
    return boundary if boundary in decisions.standing or boundary in decisions.group_of else span


def with_boundary(context: OperationContext, new: Span, said: Collection[Statement]) -> OperationContext:
    """Move all that is decided about a mention to another of its variants; `said` is what is decided next.

    Otherwise the mention would have two decided boundaries, and so become two mentions.
    """
    old = decided_boundary(context, new)
    if old == new:
        return context
    moved = _moved(context.snapshot.entries, old, new)
    entries = tuple(entry for entry in moved if entry.statement not in said)
    notes = _moved_notes(context, old, new)
    return replace(context, snapshot=replace(context.snapshot, entries=entries, notes=notes))


def _moved_notes(context: OperationContext, old: Span, new: Span) -> tuple[tuple[str, Note], ...]:
    return tuple(
        (id, replace(note, mention=new) if note.mention == old else note)
        for id, note in context.snapshot.notes
    )


def _placed(
    context: OperationContext, entries: list[Decision], chain: Chain | None, old: Span, new: Span
) -> Iterator[Statement]:
    """Yield what puts the new span where the old one was, unless decisions say so already."""
    others = [span for span in chain.mentions if span not in (old, new)] if chain is not None else []
    about = [entry.statement for entry in entries if new in entry.statement.mentions]
    if chain is not None and others:
        if all(statement.chain != chain.id for statement in about):
            yield anchored(context, [new], chain.over(others))
        return
    kinds = {statement.kind for statement in about}
    if not kinds & {StatementKind.MENTION, StatementKind.ALONE, StatementKind.EXISTS}:
        yield Statement(StatementKind.MENTION, (new,))


def _moved(entries: tuple[Decision, ...], old: Span, new: Span) -> Iterator[Decision]:
    """Yield the decisions as they are about the new span."""
    for entry in entries:
        statement = entry.statement
        mentions = statement.mentions
        if statement.kind is not StatementKind.EMPTY:
            mentions = tuple(sorted({new if span == old else span for span in mentions}))
        if statement.kind is StatementKind.ABSENT:
            mentions = tuple(span for span in mentions if span != new)
        if mentions == statement.mentions:
            yield entry
        elif mentions and not (len(mentions) == 1 and statement.kind in _OF_SEVERAL):
            lone = len(mentions) == 1 and statement.kind is StatementKind.TOGETHER
            kind = StatementKind.MENTION if lone else statement.kind
            yield replace(entry, statement=replace(statement, kind=kind, mentions=mentions))


def place(context: OperationContext, operation: Operation) -> Change:
    """Say which mentions one is the same as, and which it is different from.

    `with` are mentions of its entity, of several if these are one; `chain` is an entity by the id of its
    chain; `apart` are mentions of other entities. Without an entity this says *not these*, which is always
    possible; `exists` then says that it is a mention nevertheless, of an entity of its own or alone.
    """
    mention = context.mention(operation.get("mention"))
    decided = decided_boundary(context, mention)
    asked = (mention, decided)
    same = [span for span in _others(context, operation) if span not in asked]
    if operation.get("chain") is not None:
        others = [span for span in context.chain(operation["chain"]).mentions if span != decided]
        same.append(_nearest(mention, others))
    different = [
        span
        for span in spans(context, operation, "apart")
        if span not in (mention, *same) and not _is_decided(context, decided, span, same)
    ]
    statements = [Statement.of(StatementKind.APART, [mention, span]) for span in different]
    context = _released(context, asked, same)
    if same:
        held = [context.held(chain, asked, same) for chain in _entities(context, same)]
        firm = [entity.firm for entity in held if entity.firm is not None]
        together = Statement.of(StatementKind.TOGETHER, [mention, *same, *firm])
        holding = [entity.statement for entity in held if entity.statement is not None]
        statements = [*holding, together, *statements]
    elif operation.get("exists") is True:
        statements.insert(0, Statement.of(StatementKind.MENTION, [mention]))
    if not statements:
        raise OperationError("Choose an entity, or other mentions.")
    if statements[0].kind is not StatementKind.APART:
        context = with_boundary(context, mention, statements)
    change = context.add(*statements, named=[mention])
    # Mentions that come into the result with it, besides the one that the card shows, are changes elsewhere.
    return replace(change, named=change.named.difference(set(same[1:]) - context.snapshot.chain_of.keys()))


def _entities(context: OperationContext, mentions: Iterable[Span]) -> list[Chain]:
    """Return the chains of the result that some mentions are in."""
    ids = dict.fromkeys(context.snapshot.chain_of.get(span) for span in mentions)
    return [context.chain(id) for id in ids if id is not None]


def _released(context: OperationContext, asked: Collection[Span], same: Collection[Span]) -> OperationContext:
    """Let mentions go from what holds the entities that they are in, except that of some mentions."""
    entries = tuple(
        kept
        for entry in context.snapshot.entries
        for kept in (
            released(entry, asked)
            if entry.statement.kind is StatementKind.ENTITY and set(same).isdisjoint(entry.statement.mentions)
            else (entry,)
        )
    )
    if entries == context.snapshot.entries:
        return context
    return replace(context, snapshot=replace(context.snapshot, entries=entries))


def alone(context: OperationContext, operation: Operation) -> Change:
    """Say that spans are mentions without a partner."""
    statement = Statement.of(StatementKind.ALONE, context.mentions(operation))
    for span in statement.mentions:
        if decided_boundary(context, span) not in statement.mentions:
            context = with_boundary(context, span, [statement])
    return context.add(statement)


def prefer(context: OperationContext, operation: Operation) -> Change:
    """Choose among the boundaries of a mention: `mentions` are right, `over` are not.

    `with` are mentions of the entity, where that is known. One boundary that is right stays in the entity
    that the mention has in the result; the question about the entity stays open.
    """
    right = context.mentions(operation)
    wrong = [span for span in spans(context, operation, "over") if span not in right]
    same = [span for span in _others(context, operation) if span not in (*right, *wrong)]
    kind = StatementKind.TOGETHER if same else StatementKind.MENTION
    statements = [Statement.of(kind, [*right, *same])]
    if wrong:
        statements.append(Statement.of(StatementKind.ABSENT, wrong))
    if len(right) == 1:
        if kept := keep(context.solver, context.snapshot, right[0], wrong):
            statements.append(Statement.of(StatementKind.ENTITY, [*right, *kept]))
        context = with_boundary(context, right[0], statements)
    return context.add(*statements, named=[*right, *wrong])


def spans(context: OperationContext, operation: Operation, name: str) -> list[Span]:
    """Read a list of mentions that may be missing."""
    listed = operation.get(name, [])
    if not isinstance(listed, list) or len(listed) > MOST:
        raise OperationError(f"found no mentions in `{name}`, expected a list of some or none")
    return list(dict.fromkeys(context.mention(words) for words in listed))


def _others(context: OperationContext, operation: Operation) -> list[Span]:
    """Read the mentions that one is put with, with the boundaries that are decided."""
    return list(dict.fromkeys(decided_boundary(context, span) for span in spans(context, operation, "with")))


def _nearest(mention: Span, others: Iterable[Span]) -> Span:
    """Return the mention of a chain that is nearest to another, an earlier one if possible."""
    left = [span for span in others if span != mention]
    if not left:
        raise OperationError("This entity has no other mention.")
    return min(left, key=lambda span: (span > mention, abs(span.start - mention.start)))


def _is_decided(context: OperationContext, mention: Span, span: Span, same: Iterable[Span]) -> bool:
    """Return whether a mention is kept apart already, or is the same as those it is put with."""
    decisions = context.snapshot.decisions
    return decisions.separates(mention, span) or any(decisions.joins(span, partner) for partner in same)
