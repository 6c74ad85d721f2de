"""Operations that decide nothing anew: take decisions back, notes, whether a document is done."""

from caspr.review.session.operations.context import Change, Operation, OperationContext, OperationError
from caspr.task.notes import Note
from caspr.text.printable import is_encodable

LONGEST_NOTE = 10_000
"""How many characters a note may have."""


def free(context: OperationContext, operation: Operation) -> Change:
    """Take decisions back."""
    ids = operation.get("decisions")
    known = {entry.id: entry for entry in context.snapshot.entries}
    if not isinstance(ids, list) or not ids or not all(isinstance(id, str) and id in known for id in ids):
        raise OperationError("found no such decision, expected some that are there")
    gone = [known[id] for id in dict.fromkeys(ids)]
    kept = tuple(entry for entry in context.snapshot.entries if entry not in gone)
    label = f"taken back: {'; '.join(str(entry.decision) for entry in gone)}"
    named = frozenset(span for entry in gone for span in entry.mentions)
    return Change(kept, context.snapshot.notes, label, named)


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
        raise OperationError("this document is done already")
    return Change(context.snapshot.entries, context.snapshot.notes, "the document is done", done=context.made)


def reopen(context: OperationContext, operation: Operation) -> Change:  # noqa: ARG001
    """Say that something is left to decide."""
    if context.snapshot.done is None:
        raise OperationError("this document is not done, expected one that is")
    return Change(context.snapshot.entries, context.snapshot.notes, "the document is open again")
