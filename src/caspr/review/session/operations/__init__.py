"""Operations: what a click means, as decisions added, changed or taken back.

An operation is JSON that the page sent, so every part of it is checked. An invalid one is refused with a
sentence for the user, and with the ids of the decisions that it contradicts, if any.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from caspr.review.session.operations import answers, boundaries, chains, mentions, others
from caspr.review.session.operations.context import (
    Change,
    DecidedError,
    Ids,
    Operation,
    OperationContext,
    OperationError,
)
from caspr.text.document import Span

__all__ = ["VERBS", "Change", "Ids", "Operation", "OperationContext", "OperationError", "apply"]

MOST_AT_ONCE = 1_000
"""How many operations can be one step."""
VERBS: dict[str, Callable[[OperationContext, Operation], Change]] = {
    "together": mentions.together,
    "apart": mentions.apart,
    "into": mentions.into,
    "exists": mentions.exists,
    "mention": mentions.mention,
    "alone": answers.alone,
    "absent": mentions.absent,
    "empty": mentions.empty,
    "accept": chains.accept,
    "split": chains.split,
    "merge": chains.merge,
    "name": chains.name,
    "new": mentions.new,
    "place": answers.place,
    "prefer": answers.prefer,
    "move": boundaries.move,
    "nested": mentions.nested,
    "free": others.free,
    "rate": others.rate,
    "note": others.note,
    "unnote": others.unnote,
    "done": others.done,
    "reopen": others.reopen,
}
"""What each operation means, by the verb in its `do`; undo and redo belong to the history."""


def apply(context: OperationContext, operation: object) -> Change:
    """Return what an operation changes, or raise `OperationError`."""
    if not isinstance(operation, Mapping):
        raise OperationError("found no operation, expected an object with `do`")
    verb = operation.get("do")
    if not isinstance(verb, str) or verb not in VERBS:
        raise OperationError(f"found operation {str(verb)[:40]!r}, expected one of {', '.join(VERBS)}")
    if verb != "rate" and not operation.keys().isdisjoint(("category", "confidence")):
        context = replace(context, made=others.judged(context.made, operation))
    return VERBS[verb](context, operation)


def _all(context: OperationContext, operation: Operation) -> Change:
    """Do several operations as one step; what is decided already is left out, unless nothing else is new."""
    given = operation.get("ops")
    if not isinstance(given, list) or not 0 < len(given) <= MOST_AT_ONCE:
        raise OperationError(f"found no operations, expected a list of 1 to {MOST_AT_ONCE}")
    start, labels, named = context.snapshot, list[str](), frozenset[Span]()
    for one in given:
        if isinstance(one, Mapping) and one.get("do") == "all":
            raise OperationError("found operations inside operations, expected a plain list")
        try:
            change = apply(context, one)
        except DecidedError as error:
            known = error
            continue
        labels.append(change.label)
        named |= change.named
        snapshot = replace(context.snapshot, entries=change.entries, notes=change.notes, done=change.done)
        context = replace(context, snapshot=snapshot)
    if context.snapshot is start:
        raise known
    after = context.snapshot
    return Change(after.entries, after.notes, "; ".join(labels), named, after.done)


VERBS["all"] = _all
