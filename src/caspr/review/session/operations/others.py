"""Operations that decide nothing anew: take decisions back, notes, whether a document is done."""

from dataclasses import replace

from caspr.review.session.operations.context import (
    Change,
    DecidedError,
    Operation,
    OperationContext,
    OperationError,
)
from caspr.task.authorship import CONFIDENCES, Authorship
from caspr.task.notes import Note
from caspr.text.printable import is_encodable

LONGEST_CATEGORY = 60
"""How many characters the category of an error may have."""
LONGEST_NOTE = 10_000
"""How many characters a note may have."""


def free(context: OperationContext, operation: Operation) -> Change:
    """Take decisions back."""
    ids = operation.get("decisions")
    known = {entry.id: entry for entry in context.snapshot.entries}
    if not isinstance(ids, list) or not ids or not all(isinstance(id, str) for id in ids):
        raise OperationError("found no decisions, expected some that are there")
    gone = [known[id] for id in dict.fromkeys(ids) if id in known]
    if not gone:
        raise DecidedError("There is no such decision any more: it was taken back already.")
    kept = tuple(entry for entry in context.snapshot.entries if entry not in gone)
    label = f"taken back: {'; '.join(str(entry.decision) for entry in gone)}"
    named = frozenset(span for entry in gone for span in entry.mentions)
    return Change(kept, context.snapshot.notes, label, named)


def rate(context: OperationContext, operation: Operation) -> Change:
    """Say what kind of error decisions correct, and how sure one is; what is empty is taken away."""
    ids = operation.get("decisions")
    known = {entry.id for entry in context.snapshot.entries}
    if not isinstance(ids, list) or not ids or not all(isinstance(id, str) and id in known for id in ids):
        raise OperationError("found no decisions, expected some that are there")
    entries = tuple(
        replace(entry, made=judged(entry.made or context.made, operation)) if entry.id in ids else entry
        for entry in context.snapshot.entries
    )
    if entries == context.snapshot.entries:
        raise DecidedError("This is said of the decision already.")
    said = "; ".join(context.words(entry.decision) for entry in entries if entry.id in ids)
    return Change(entries, context.snapshot.notes, f"judged: {said}", done=context.snapshot.done)


def judged(made: Authorship | None, operation: Operation) -> Authorship | None:
    """Return an authorship with the category and the confidence that an operation has."""
    category, confidence = operation.get("category"), operation.get("confidence")
    if category is not None:
        text = " ".join(category.split()) if isinstance(category, str) else None
        if text is None or len(text) > LONGEST_CATEGORY or not is_encodable(text) or not text.isprintable():
            raise OperationError(f"found no usable category, expected at most {LONGEST_CATEGORY} characters")
        category = text
    if confidence not in (None, "", *CONFIDENCES):
        raise OperationError(f"found no usable confidence, expected one of {', '.join(CONFIDENCES)}")
    if made is None:
        return None
    return replace(
        made,
        category=made.category if category is None else category,
        confidence=made.confidence if confidence is None else confidence,
    )


def note(context: OperationContext, operation: Operation) -> Change:
    """Write a note."""
    text = operation.get("text")
    if not isinstance(text, str) or not text.strip() or len(text) > LONGEST_NOTE:
        raise OperationError(f"found no text, expected a note of 1 to {LONGEST_NOTE} characters")
    if not is_encodable(text):
        raise OperationError(
            "found half a character (a lone surrogate), expected text that can be saved as UTF-8"
        )
    about = operation.get("mention")
    note = Note(text, None if about is None else context.mention(about), context.made)
    notes = (*context.snapshot.notes, (context.ids.note(), note))
    return Change(context.snapshot.entries, notes, "a note", done=context.snapshot.done)


def unnote(context: OperationContext, operation: Operation) -> Change:
    """Delete a note."""
    kept = tuple((id, note) for id, note in context.snapshot.notes if id != operation.get("id"))
    if len(kept) == len(context.snapshot.notes):
        raise OperationError("found no such note, expected one that is there")
    return Change(context.snapshot.entries, kept, "a note taken away", done=context.snapshot.done)


def done(context: OperationContext, operation: Operation) -> Change:  # noqa: ARG001
    """Say that nothing is left to decide."""
    if context.snapshot.done is not None:
        raise OperationError("This document is done already.")
    return Change(context.snapshot.entries, context.snapshot.notes, "the document is done", done=context.made)


def reopen(context: OperationContext, operation: Operation) -> Change:  # noqa: ARG001
    """Say that something is left to decide."""
    if context.snapshot.done is None:
        raise OperationError("This document is not done.")
    return Change(context.snapshot.entries, context.snapshot.notes, "the document is open again")
