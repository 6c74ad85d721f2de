"""Operations that answer questions: of which entity a mention is, or none, and which boundary is right.

Where boundaries have variants, an answer moves its mention to the boundary that it names, and takes other
mentions with the boundaries that are decided: it never makes two mentions of two variants.
"""

from collections.abc import Iterable

from caspr.review.session.operations.boundaries import decided_boundary, with_boundary
from caspr.review.session.operations.context import MOST, Change, Operation, OperationContext, OperationError
from caspr.task.decisions import Statement, StatementKind
from caspr.text.document import Span


def place(context: OperationContext, operation: Operation) -> Change:
    """Say which mentions one is the same as, and which it is different from.

    `with` are mentions of its entity, of several if these are one; `chain` is an entity by the id of its
    chain; `apart` are mentions of other entities. Without an entity this says *not these*, which is always
    possible; `exists` then says that it is a mention nevertheless, of an entity of its own or alone.
    """
    mention = context.mention(operation.get("mention"))
    decided = decided_boundary(context, mention)
    same = [span for span in _others(context, operation) if span not in (mention, decided)]
    if operation.get("chain") is not None:
        others = [span for span in context.chain(operation["chain"]).mentions if span != decided]
        same.append(_nearest(mention, others))
    different = [
        span
        for span in spans(context, operation, "apart")
        if span not in (mention, *same) and not _is_decided(context, decided, span, same)
    ]
    statements = [Statement.of(StatementKind.APART, [mention, span]) for span in different]
    if same:
        statements.insert(0, Statement.of(StatementKind.TOGETHER, [mention, *same]))
    elif operation.get("exists") is True:
        statements.insert(0, Statement.of(StatementKind.MENTION, [mention]))
    if not statements:
        raise OperationError("found nothing to say about the mention, expected an entity or other mentions")
    if statements[0].kind is not StatementKind.APART:
        context = with_boundary(context, mention, statements)
    return context.add(*statements, named=[mention])


def alone(context: OperationContext, operation: Operation) -> Change:
    """Say that spans are mentions without a partner."""
    statement = Statement.of(StatementKind.ALONE, context.mentions(operation))
    for span in statement.mentions:
        if decided_boundary(context, span) not in statement.mentions:
            context = with_boundary(context, span, [statement])
    return context.add(statement)


def prefer(context: OperationContext, operation: Operation) -> Change:
    """Choose among the boundaries of a mention: `mentions` are right, `over` are not.

    `with` are mentions of the entity, where that is known.
    """
    right = context.mentions(operation)
    wrong = [span for span in spans(context, operation, "over") if span not in right]
    same = [span for span in _others(context, operation) if span not in (*right, *wrong)]
    kind = StatementKind.TOGETHER if same else StatementKind.MENTION
    statements = [Statement.of(kind, [*right, *same])]
    if wrong:
        statements.append(Statement.of(StatementKind.ABSENT, wrong))
    if len(right) == 1:
        context = with_boundary(context, right[0], statements)
    return context.add(*statements, named=[*right, *wrong])


def spans(context: OperationContext, operation: Operation, name: str) -> list[Span]:
    """Read a list of mentions that may be missing."""
    given = operation.get(name, [])
    if not isinstance(given, list) or len(given) > MOST:
        raise OperationError(f"found no mentions in `{name}`, expected a list of some or none")
    return list(dict.fromkeys(context.mention(one) for one in given))


def _others(context: OperationContext, operation: Operation) -> list[Span]:
    """Read the mentions that one is put with, with the boundaries that are decided."""
    return list(dict.fromkeys(decided_boundary(context, span) for span in spans(context, operation, "with")))


def _nearest(mention: Span, others: Iterable[Span]) -> Span:
    """Return the mention of a chain that is nearest to another, an earlier one if possible."""
    left = [span for span in others if span != mention]
    if not left:
        raise OperationError("found only the mention itself in this entity, expected another one")
    return min(left, key=lambda span: (span > mention, abs(span.start - mention.start)))


def _is_decided(context: OperationContext, mention: Span, span: Span, same: Iterable[Span]) -> bool:
    """Return whether a mention is kept apart already, or is the same as those it is put with."""
    decisions = context.snapshot.decisions
    return decisions.separates(mention, span) or any(decisions.joins(span, one) for one in same)
