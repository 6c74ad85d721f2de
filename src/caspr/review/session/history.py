"""The history of one document under review: its snapshot now, and those that undo and redo lead to.

An operation becomes a `Step`, which changes nothing yet: the session writes its text to the file first and
commits it afterwards. So a step that cannot be written was never taken.
"""

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
from caspr.task.limits import Limits
from caspr.task.notes import Note
from caspr.task.settings.stored import write_settings
from caspr.text.document import Span

HistoryEntry = tuple[Snapshot, str]
"""A snapshot, and the label of the step that left it."""


@dataclass
class History:
    """One document under review."""

    solver: Solver
    """Optimises the document around decisions."""
    snapshot: Snapshot
    """Decisions, notes and result now."""
    ids: Ids
    """Gives ids to new decisions and notes."""
    version: int = 1
    """Grows with every change."""
    past: list[HistoryEntry] = field(default_factory=list)
    """What undo leads to, the next one last."""
    future: list[HistoryEntry] = field(default_factory=list)
    """What redo leads to, the next one last."""
    working: bool = False
    """Whether the search for a better result or bound is still running."""

    @classmethod
    def of(cls, one: review_file.Review, solver: Solver, limits: Limits) -> "History":
        """Open a document of a review file; raise `ContradictionError` if its decisions cannot hold."""
        ids = Ids()
        decisions = entries_of(one.decisions, solver.touching)
        entries = tuple(DecisionEntry(ids.decision(), decision) for decision in decisions)
        notes = tuple((ids.note(), note) for note in one.notes)
        return cls(solver, solver.solve(entries, notes, limits=limits), ids)

    @cached_property
    def viewer(self) -> Viewer:
        """The JSON views of the snapshots."""
        return Viewer(self.solver)

    @cached_property
    def queue(self) -> Queue:
        """The questions to the adjudicator."""
        return Queue(self.solver)

    @cached_property
    def _filler(self) -> Filler:
        solver = self.solver
        return Filler(
            review_file.prepare(solver.annotations, write_settings(solver.settings), solver.document)
        )

    def text(self, snapshot: Snapshot) -> str:
        """Return the lines of the review file for a snapshot."""
        decisions = as_written(snapshot.decisions, self.solver.touching)
        notes = [note for _, note in snapshot.notes]
        if self.solver.settings.variants:
            settings = write_settings(self.solver.settings_with(snapshot.decisions))
            self._filler.prepared = self._filler.prepared.with_settings(settings)
        return self._filler.fill(self.solver.gold(snapshot), decisions, notes)

    def step_for(self, operation: Operation, limits: Limits) -> "Step":
        """Return the step that an operation leads to; raise `OperationError` if it is refused."""
        verb = operation.get("do") if isinstance(operation, dict) else None
        if verb in ("undo", "redo"):
            return self._undo_or_redo(verb)
        change = OperationContext(self.solver, self.snapshot, self.ids).apply(operation)
        if change.entries == self.snapshot.entries:
            after = replace(self.snapshot, notes=change.notes)
        else:
            after = self._solve(change, limits)
        past = [*self.past, (self.snapshot.bare(), change.label)]
        return Step(after, past, [], change.named)

    def _undo_or_redo(self, verb: str) -> "Step":
        """Return the step to the snapshot before or after."""
        undo = verb == "undo"
        source, target = (self.past, self.future) if undo else (self.future, self.past)
        if not source:
            raise OperationError(f"nothing to {verb}")
        snapshot, label = source[-1]
        shorter, longer = source[:-1], [*target, (self.snapshot.bare(), label)]
        return Step(snapshot, *((shorter, longer) if undo else (longer, shorter)))

    def _solve(self, change: Change, limits: Limits) -> Snapshot:
        try:
            return self.solver.solve(change.entries, change.notes, self.snapshot, limits)
        except ContradictionError as error:
            old = {entry.id for entry in self.snapshot.entries}
            blamed = [entry.id for entry in blame(error, change.entries) if entry.id in old]
            raise OperationError(error.reason, blamed) from error

    def step_to(self, one: review_file.Review, limits: Limits) -> "Step":
        """Return the step to a document that was edited outside; equal decisions keep their ids."""
        known = {entry.decision: entry for entry in self.snapshot.entries}
        decisions = entries_of(one.decisions, self.solver.touching)
        entries = tuple(known.get(made) or DecisionEntry(self.ids.decision(), made) for made in decisions)
        noted = {note: id for id, note in self.snapshot.notes}
        notes = tuple((noted.get(note) or self.ids.note(), note) for note in one.notes)
        if _same(entries, notes, self.snapshot):
            return Step(self.snapshot, self.past, self.future)
        after = self.solver.solve(entries, notes, self.snapshot, limits)
        return Step(after, [*self.past, (self.snapshot.bare(), "edits in the file")], [])

    def commit(self, step: "Step", *, working: bool = False) -> dict[str, Any]:
        """Take a step and return the update for the page."""
        before = self.snapshot
        self.past, self.future, self.snapshot = step.past, step.future, step.snapshot
        self.version += 1
        self.working = working
        if step.snapshot.entries != before.entries or step.snapshot.chains != before.chains:
            self.queue.prices = {}
        difference = self.viewer.difference(before, step.snapshot, step.named)
        difference["cost"]["before"] = before.value
        return {**difference, **self.status(), "full": False}

    def status(self) -> dict[str, Any]:
        """Return what every state and every update contains."""
        return {
            "version": self.version,
            "undo": self.past[-1][1] if self.past else None,
            "redo": self.future[-1][1] if self.future else None,
            "progress": self.queue.progress(self.snapshot.decisions),
            "working": self.working,
        }


@dataclass(frozen=True)
class Step:
    """The history after an operation, not committed yet."""

    snapshot: Snapshot
    """The new decisions, notes and result."""
    past: list[HistoryEntry]
    """What undo then leads to."""
    future: list[HistoryEntry]
    """What redo then leads to."""
    named: frozenset[Span] = frozenset()
    """The mentions the operation is about."""


def blame(error: ContradictionError, entries: Iterable[DecisionEntry]) -> list[DecisionEntry]:
    """Return the entries whose cells or statements contradict each other."""
    tokens, statements = set(error.tokens), set(error.statements)
    return [
        entry
        for entry in entries
        if (
            entry.decision in statements
            if isinstance(entry.decision, Statement)
            else not tokens.isdisjoint(entry.tokens)
        )
    ]


def _same(
    entries: tuple[DecisionEntry, ...], notes: tuple[tuple[str, Note], ...], snapshot: Snapshot
) -> bool:
    """Return whether entries and notes are those of a snapshot, in any order."""
    return set(entries) == set(snapshot.entries) and set(notes) == set(snapshot.notes)
