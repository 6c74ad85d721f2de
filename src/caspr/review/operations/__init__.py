"""Operations: what a click means, as decisions added, changed or taken back.

An operation is JSON that the page sent, `{"do": verb, ...}`, so every part of it is checked. An invalid one
is refused with a sentence for the user, and with the ids of the decisions that it contradicts, if any.

    mentions   what is a mention, with which boundary, and which belong together
    chains     whole chains: keep, split, merge and name them
    context    what operations work on, what they lead to, and how they are refused

This module has those that decide nothing new: take decisions back, judge them, write notes, say that a
document is done. Several operations can be one step (`all`). Undo and redo belong to the history.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from caspr.review.operations import chains, mentions
from caspr.review.operations.context import (
    Change,
    DecidedError,
    Ids,
    Operation,
    OperationContext,
    OperationError,
)
from caspr.task.decisions import (
    CONFIDENCES,
    LONGEST_FLAG,
    Authorship,
    Decision,
    Note,
    Statement,
    StatementKind,
    is_flag,
)
from caspr.text.document import Span
from caspr.text.findings import is_encodable

LONGEST_CATEGORY = 60
"""How many characters the category of an error may have."""
LONGEST_NOTE = 10_000
"""How many characters a note may have."""


def free(context: OperationContext, operation: Operation) -> Change:
    """Take decisions back."""
    ids = operation.get("decisions")
    known = {entry.id: entry for entry in context.snapshot.entries}
    if not isinstance(ids, list) or not ids or not all(isinstance(id, str) for id in ids):
        raise OperationError("There is no such decision.")
    gone = [known[id] for id in dict.fromkeys(ids) if id in known]
    if not gone:
        raise DecidedError("This decision no longer exists: it has been taken back.")
    kept = tuple(entry for entry in context.snapshot.entries if entry not in gone)
    label = f"taken back: {'; '.join(context.words(entry.statement) for entry in gone)}"
    named = frozenset(span for entry in gone for span in entry.statement.mentions)
    return Change(kept, context.snapshot.notes, label, named)


def rate(context: OperationContext, operation: Operation) -> Change:
    """Say what kind of error decisions correct, and how sure one is; what is empty is taken away."""
    ids = operation.get("decisions")
    known = {entry.id for entry in context.snapshot.entries}
    if not isinstance(ids, list) or not ids or not all(isinstance(id, str) and id in known for id in ids):
        raise OperationError("There is no such decision.")
    entries = tuple(
        replace(entry, made=judged(entry.made or context.made, operation)) if entry.id in ids else entry
        for entry in context.snapshot.entries
    )
    if entries == context.snapshot.entries:
        raise DecidedError("The decision already says this.")
    said = "; ".join(context.words(entry.statement) for entry in entries if entry.id in ids)
    return Change(entries, context.snapshot.notes, f"judged: {said}", done=context.snapshot.done)


def judged(made: Authorship | None, operation: Operation) -> Authorship | None:
    """Return an authorship with the category and the confidence that an operation has."""
    category, confidence = operation.get("category"), operation.get("confidence")
    if category is not None:
        text = " ".join(category.split()) if isinstance(category, str) else None
        if text is None or len(text) > LONGEST_CATEGORY or not is_encodable(text) or not text.isprintable():
            raise OperationError(f"A category has at most {LONGEST_CATEGORY} characters.")
        category = text
    if confidence not in (None, "", *CONFIDENCES):
        raise OperationError(f"Confidence is one of {', '.join(CONFIDENCES)}.")
    if made is None:
        return None
    return replace(
        made,
        category=made.category if category is None else category,
        confidence=made.confidence if confidence is None else confidence,
    )


def note(context: OperationContext, operation: Operation) -> Change:
    """Write a note, or flag a mention, with a note or without one; the same flag again replaces it."""
    text, flag = operation.get("text", ""), operation.get("flag") or ""
    if not isinstance(text, str) or len(text) > LONGEST_NOTE or not (text.strip() or flag):
        raise OperationError(f"A note has 1 to {LONGEST_NOTE:,} characters.")
    if flag and (not is_flag(flag) or operation.get("mention") is None):
        raise OperationError(
            f"A flag is one or a few words about one mention, at most {LONGEST_FLAG} characters."
        )
    if not is_encodable(text + flag):
        raise OperationError("Remove the half character (a lone surrogate): it cannot be saved.")
    about = operation.get("mention")
    note = Note(text, None if about is None else context.mention(about), context.made, flag)
    same = {
        id
        for id, old in context.snapshot.notes
        if flag and (old.flag, old.mention) == (note.flag, note.mention)
    }
    kept = tuple((id, old) for id, old in context.snapshot.notes if id not in same)
    notes = (*kept, (context.ids.note(), note))
    return Change(
        context.snapshot.entries, notes, f"flag: {flag}" if flag else "a note", done=context.snapshot.done
    )


def unnote(context: OperationContext, operation: Operation) -> Change:
    """Delete a note."""
    gone = [note for id, note in context.snapshot.notes if id == operation.get("id")]
    if not gone:
        raise OperationError("There is no such note.")
    kept = tuple((id, note) for id, note in context.snapshot.notes if id != operation.get("id"))
    label = f"flag taken away: {gone[0].flag}" if gone[0].flag else "a note taken away"
    return Change(context.snapshot.entries, kept, label, done=context.snapshot.done)


def done(context: OperationContext, operation: Operation) -> Change:  # noqa: ARG001
    """Say that nothing is left to decide."""
    if context.snapshot.done is not None:
        raise OperationError("This document is already done.")
    return Change(context.snapshot.entries, context.snapshot.notes, "the document is done", done=context.made)


def reopen(context: OperationContext, operation: Operation) -> Change:  # noqa: ARG001
    """Say that something is left to decide."""
    if context.snapshot.done is None:
        raise OperationError("This document is not done.")
    return Change(context.snapshot.entries, context.snapshot.notes, "the document is open again")


__all__ = ["VERBS", "Change", "Ids", "Operation", "OperationContext", "OperationError", "apply"]

MOST_AT_ONCE = 1_000
"""How many operations can be one step."""
MOST_NAMED = 3
"""How many of them the label of the step names."""
VERBS: dict[str, Callable[[OperationContext, Operation], Change]] = {
    "together": mentions.saying(StatementKind.TOGETHER, least=2),
    "apart": mentions.saying(StatementKind.APART, least=2, most=2),
    "exists": mentions.saying(StatementKind.EXISTS),
    "mention": mentions.saying(StatementKind.MENTION),
    "absent": mentions.saying(StatementKind.ABSENT),
    "into": mentions.into,
    "alone": mentions.alone,
    "empty": mentions.empty,
    "accept": chains.accept,
    "split": chains.split,
    "merge": chains.merge,
    "name": chains.name,
    "new": mentions.new,
    "place": mentions.place,
    "prefer": mentions.prefer,
    "move": mentions.move,
    "nested": mentions.nested,
    "free": free,
    "rate": rate,
    "note": note,
    "unnote": unnote,
    "done": done,
    "reopen": reopen,
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
        context = replace(context, made=judged(context.made, operation))
    change = VERBS[verb](context, operation)
    return replace(change, entries=_each_once(change.entries))


def _each_once(entries: Iterable[Decision]) -> tuple[Decision, ...]:
    """Return each decision once; two that came to say the same have one line in a file."""
    said: dict[Statement, Decision] = {}
    for entry in entries:
        said.setdefault(entry.statement, entry)
    return tuple(said.values())


def _all(context: OperationContext, operation: Operation) -> Change:
    """Do several operations as one step; what is decided already is left out, unless nothing else is new."""
    operations = operation.get("ops")
    if not isinstance(operations, list) or not 0 < len(operations) <= MOST_AT_ONCE:
        raise OperationError(f"found no operations, expected a list of 1 to {MOST_AT_ONCE}")
    start, labels, named = context.snapshot, list[str](), frozenset[Span]()
    for step in operations:
        if isinstance(step, Mapping) and step.get("do") == "all":
            raise OperationError("found operations inside operations, expected a plain list")
        try:
            change = apply(context, step)
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
    more = f"; and {len(labels) - MOST_NAMED} more" if len(labels) > MOST_NAMED else ""
    label = "; ".join(labels[:MOST_NAMED]) + more
    return Change(after.entries, after.notes, label, named, after.done)


VERBS["all"] = _all
