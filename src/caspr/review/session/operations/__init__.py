"""Operations: what a click means, as decisions added, changed or taken back.

An operation is JSON that the page sent, so every part of it is checked. An invalid one is refused with a
sentence for the user, and with the ids of the decisions that it contradicts, if any.
"""

from collections.abc import Callable, Mapping

from caspr.review.session.operations import answers, chains, mentions, others
from caspr.review.session.operations.context import Change, Ids, Operation, OperationContext, OperationError

__all__ = ["VERBS", "Change", "Ids", "Operation", "OperationContext", "OperationError", "apply"]

VERBS: dict[str, Callable[[OperationContext, Operation], Change]] = {
    "together": mentions.together,
    "apart": mentions.apart,
    "into": mentions.into,
    "exists": mentions.exists,
    "mention": mentions.mention,
    "alone": mentions.alone,
    "absent": mentions.absent,
    "empty": mentions.empty,
    "accept": chains.accept,
    "split": chains.split,
    "merge": chains.merge,
    "name": chains.name,
    "new": mentions.new,
    "place": answers.place,
    "prefer": answers.prefer,
    "free": others.free,
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
    return VERBS[verb](context, operation)
