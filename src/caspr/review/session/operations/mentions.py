"""Operations on mentions: what is one, and which belong together."""

from collections.abc import Sequence

from caspr.review.session.entries import Closing, EnforcedCells
from caspr.review.session.operations.context import (
    MOST,
    Change,
    Operation,
    OperationContext,
    OperationError,
    Remedy,
)
from caspr.task.decisions import Statement, StatementKind
from caspr.text.document import Chain, Span


def together(context: OperationContext, operation: Operation) -> Change:
    """Put mentions into one chain, whichever that is."""
    return context.add(Statement.of(StatementKind.TOGETHER, context.mentions(operation, least=2)))


def apart(context: OperationContext, operation: Operation) -> Change:
    """Keep two mentions out of one chain."""
    return context.add(Statement.of(StatementKind.APART, context.mentions(operation, least=2, most=2)))


def exists(context: OperationContext, operation: Operation) -> Change:
    """Demand that each of some mentions is in some chain with others."""
    return context.add(Statement.of(StatementKind.EXISTS, context.mentions(operation)))


def mention(context: OperationContext, operation: Operation) -> Change:
    """Say that spans are mentions, in a chain or alone."""
    return context.add(Statement.of(StatementKind.MENTION, context.mentions(operation)))


def nested(context: OperationContext, operation: Operation) -> Change:
    """Let two mentions share a chain although one is inside the other."""
    mentions = context.mentions(operation, least=2, most=2)
    if not mentions[0].nests_with(mentions[1]):
        raise OperationError("found two mentions apart from each other, expected one inside the other")
    return context.add(Statement.of(StatementKind.NESTED, mentions))


def absent(context: OperationContext, operation: Operation) -> Change:
    """Say that spans are no mentions."""
    return context.add(Statement.of(StatementKind.ABSENT, context.mentions(operation)))


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
    return context.add(anchored(context, mentions, chain), named=mentions)


def anchored(context: OperationContext, mentions: Sequence[Span], chain: Chain) -> Statement:
    """Enforce mentions in a chain, and with them one that is in it already if no decision names the chain.

    Otherwise the enforced mentions could end up alone under the id of the chain.
    """
    excludes = context.snapshot.decisions.excludes
    others = [span for span in chain.mentions if span not in mentions and not excludes(span)]
    apart = [span for span in others if not any(span.nests_with(one) for one in mentions)]
    anchor = [] if context.is_named(chain.id) else (apart or others)[:1]
    return Statement.of(StatementKind.ENFORCED, [*mentions, *anchor], chain.id)


def empty(context: OperationContext, operation: Operation) -> Change:
    """Let no mention start or end at some tokens."""
    given = operation.get("tokens")
    if not isinstance(given, list) or not 0 < len(given) <= MOST:
        raise OperationError("found no tokens, expected a list of some")
    tokens = tuple(sorted({context.span(token, token).start for token in given}))
    clashes = [
        entry.id
        for entry in context.snapshot.entries
        if isinstance(entry.decision, EnforcedCells) and not set(tokens).isdisjoint(entry.tokens)
    ]
    if clashes:
        both = {"do": "all", "ops": [{"do": "free", "decisions": clashes}, operation]}
        message = "A decision says that a mention starts or ends there."
        raise OperationError(message, clashes, [Remedy("Take it back and go on", both)])
    ends = [span for span in context.snapshot.chain_of if not set(tokens).isdisjoint(span)]
    return context.add(Closing(tokens), named=ends)
