"""A case: one document under review, with its past and future positions and its text in the file."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from caspr.errors import ContradictionError
from caspr.formats import review_file
from caspr.formats.review_file.filling import Filler
from caspr.review.session.entries import DecisionEntry, as_written, entries_of
from caspr.review.session.operations import Change, Ids, Operation, OperationContext, OperationError
from caspr.review.session.questions import Queue
from caspr.review.session.solver import Snapshot, Solver
from caspr.review.session.views import Viewer
from caspr.task.decisions import Statement
from caspr.task.limits import Limits, Progress, silent
from caspr.task.notes import Note
from caspr.task.settings import write_settings
from caspr.text.document import Span

Moment = tuple[Snapshot, str]
"""A position, and what led away from it."""


@dataclass
class History:
    """One document under review."""

    board: Solver
    position: Snapshot
    ids: Ids
    version: int = 1
    """Grows with every change."""
    past: list[Moment] = field(default_factory=list)
    """Positions that undo leads to, the last first to come."""
    future: list[Moment] = field(default_factory=list)
    """Positions that redo leads to."""
    working: bool = False
    """Whether a better result or bound is still looked for."""

    @classmethod
    def of(cls, one: review_file.Review, board: Solver, limits: Limits) -> "History":
        """Open a document of a review file; raise `ContradictionError` if its decisions cannot hold."""
        ids = Ids()
        whats = entries_of(one.decisions, board.touching)
        entries = tuple(DecisionEntry(ids.decision(), what) for what in whats)
        notes = tuple((ids.note(), note) for note in one.notes)
        return cls(board, board.solve(entries, notes, limits=limits), ids)

    @cached_property
    def viewer(self) -> Viewer:
        """Who tells the page."""
        return Viewer(self.board)

    @cached_property
    def queue(self) -> Queue:
        """What is worth asking."""
        return Queue(self.board)

    @cached_property
    def _filler(self) -> Filler:
        board = self.board
        return Filler(review_file.prepare(board.annotations, write_settings(board.settings), board.document))

    def text(self, position: Snapshot) -> str:
        """Write the document as it stands in the review file."""
        decisions = as_written(position.decisions, self.board.touching)
        notes = [note for _, note in position.notes]
        return self._filler.fill(self.board.gold(position), decisions, notes)

    def next(self, operation: Operation, limits: Limits, progress: Progress = silent) -> "Step":
        """Return the step that an operation means; raise `OperationError` if it is refused."""
        verb = operation.get("do") if isinstance(operation, dict) else None
        if verb in ("undo", "redo"):
            return self._back(verb)
        change = OperationContext(self.board, self.position, self.ids).apply(operation)
        if change.entries == self.position.entries:
            after = replace(self.position, notes=change.notes)
        else:
            after = self._solved(change, limits, progress)
        past = [*self.past, (self.position.bare(), change.label)]
        return Step(after, past, [], change.asked)

    def _back(self, verb: str) -> "Step":
        """Go to the position before or after."""
        undo = verb == "undo"
        source, target = (self.past, self.future) if undo else (self.future, self.past)
        if not source:
            raise OperationError(f"nothing to {verb}")
        position, label = source[-1]
        shorter, longer = source[:-1], [*target, (self.position.bare(), label)]
        return Step(position, *((shorter, longer) if undo else (longer, shorter)))

    def _solved(self, change: Change, limits: Limits, progress: Progress) -> Snapshot:
        try:
            return self.board.solve(change.entries, change.notes, self.position, limits, progress)
        except ContradictionError as error:
            old = {entry.id for entry in self.position.entries}
            blamed = [entry.id for entry in blame(error, change.entries) if entry.id in old]
            raise OperationError(error.reason, blamed) from error

    def renewed(self, one: review_file.Review, limits: Limits) -> "Step":
        """Return the step to what a file says that somebody edited; equal decisions keep their ids."""
        known = {entry.what: entry for entry in self.position.entries}
        whats = entries_of(one.decisions, self.board.touching)
        entries = tuple(known.get(what) or DecisionEntry(self.ids.decision(), what) for what in whats)
        noted = {note: id for id, note in self.position.notes}
        notes = tuple((noted.get(note) or self.ids.note(), note) for note in one.notes)
        if _same(entries, notes, self.position):
            return Step(self.position, self.past, self.future)
        after = self.board.solve(entries, notes, self.position, limits)
        return Step(after, [*self.past, (self.position.bare(), "edits in the file")], [])

    def commit(self, step: "Step", *, working: bool = False) -> dict[str, Any]:
        """Take a step and return what the page is told of it."""
        before = self.position
        self.past, self.future, self.position = step.past, step.future, step.position
        self.version += 1
        self.working = working
        if step.position.entries != before.entries or step.position.chains != before.chains:
            self.queue.prices = {}
        difference = self.viewer.difference(before, step.position, step.asked)
        difference["cost"]["before"] = before.value
        return {**difference, **self.standing(), "full": False}

    def standing(self) -> dict[str, Any]:
        """Return what is told with every state and update."""
        return {
            "version": self.version,
            "undo": self.past[-1][1] if self.past else None,
            "redo": self.future[-1][1] if self.future else None,
            "progress": self.queue.progress(self.position.decisions),
            "working": self.working,
        }


@dataclass(frozen=True)
class Step:
    """Where an operation leads."""

    position: Snapshot
    past: list[Moment]
    future: list[Moment]
    asked: frozenset[Span] = frozenset()
    """The mentions the user spoke of."""


def blame(error: ContradictionError, entries: Iterable[DecisionEntry]) -> list[DecisionEntry]:
    """Return the entries whose cells or statements are to blame."""
    tokens, statements = set(error.tokens), set(error.statements)
    return [
        entry
        for entry in entries
        if (
            entry.what in statements
            if isinstance(entry.what, Statement)
            else not tokens.isdisjoint(entry.tokens)
        )
    ]


def _same(
    entries: tuple[DecisionEntry, ...], notes: tuple[tuple[str, Note], ...], position: Snapshot
) -> bool:
    """Tell whether entries and notes are those of a position, in whatever order."""
    return set(entries) == set(position.entries) and set(notes) == set(position.notes)
