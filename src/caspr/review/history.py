"""The history of one document under review: its snapshot now, and those that undo and redo lead to.

An operation becomes a `Step`, which changes nothing yet: the session writes its text to the file first and
commits it afterwards. So a step that cannot be written was never taken.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from typing import Any

from caspr.formats import review_file
from caspr.formats.review_file.statements import number_of_acts
from caspr.review.operations import Change, Ids, Operation, OperationContext, OperationError, apply
from caspr.review.operations.context import refusal, worded
from caspr.review.questions.question import Question
from caspr.review.questions.queue import LAST, Queue, last_changes
from caspr.review.record import DamagedError, HistoryEntry, Line, Replay, change_line, digest_of, packed
from caspr.review.solver import Snapshot, Solver
from caspr.review.views import Viewer
from caspr.task.contradictions import ContradictionError
from caspr.task.decisions import IN_CELLS, Authorship, Decision, Note, Statement, StatementKind
from caspr.task.limits import Limits
from caspr.task.stored_settings import write_groups, write_settings
from caspr.text.document import Chain, Span

EDITS = "edits in the file"
"""What undoing an edit outside takes back."""
ADDED = "annotations were added or corrected"
REMOVED = "an annotator was removed"
RENAMED = "an annotator was renamed"
"""What is said of steps that change annotations, whoever sees it: names of annotators may be hidden."""


@dataclass
class History:
    """One document under review."""

    solver: Solver
    snapshot: Snapshot
    ids: Ids
    version: int = 1
    """Grows with every change."""
    past: list[HistoryEntry] = field(default_factory=list)
    """What undo leads to, the next one last."""
    future: list[HistoryEntry] = field(default_factory=list)
    """What redo leads to, the next one last."""
    working: bool = False
    """Whether the search for a better result or bound is still running."""
    unrecorded: "Step | None" = None
    """The step from the record to the file, if the file was edited since it was recorded."""

    @classmethod
    def of(cls, review: review_file.Review, solver: Solver, limits: Limits, editor: Authorship) -> "History":
        """Open a document of a review file; raise `ContradictionError` if its decisions cannot hold.

        `editor` is the author of decisions that the file has from nobody else.
        """
        ids = Ids()
        entries = tuple(
            Decision(statement, made or editor, ids.decision())
            for statement, made in _read(review, solver).items()
        )
        notes = tuple((ids.note(), note) for note in review.notes)
        shown = [Chain.of(id, mentions) for id, mentions in review.homes.items()]
        snapshot = solver.solve(entries, notes, limits=limits, shown=shown)
        return cls(solver, replace(snapshot, done=review.done), ids)

    @classmethod
    def resumed(
        cls, replay: Replay, review: review_file.Review, solver: Solver, limits: Limits, editor: Authorship
    ) -> "History":
        """Go on where a record ends; where the file differs, that is a step by the editor.

        Raise `DamagedError` if the file has the text that the record ends with, but other decisions.
        """
        if replay.is_current and not _tells(replay.snapshot, review, solver):
            raise DamagedError
        ids = Ids(count(replay.last_ids[0] + 1), count(replay.last_ids[1] + 1))
        snapshot = solver.confirm(replay.snapshot, limits)
        history = cls(solver, snapshot, ids, past=replay.past, future=replay.future)
        if replay.is_current:
            return history
        step = history.step_to(review, limits, editor)
        if step.snapshot is not history.snapshot:
            history.past, history.future, history.snapshot = step.past, step.future, step.snapshot
            history.unrecorded = step
        return history

    @cached_property
    def viewer(self) -> Viewer:
        """The JSON views of the snapshots."""
        return Viewer(self.solver)

    @cached_property
    def queue(self) -> Queue:
        """The questions to the adjudicator."""
        return Queue(self.solver)

    @cached_property
    def _filler(self) -> review_file.Filler:
        solver = self.solver
        return review_file.Filler(
            review_file.prepare(solver.annotations, write_settings(solver.settings), solver.document)
        )

    @property
    def settings(self) -> dict[str, Any]:
        """The settings as the file has them, concrete for this document."""
        return write_settings(self.solver.settings_with(self.snapshot.decisions))

    def text_after(self, step: "Step") -> str:
        """Return the lines of the review file after a step, which may be one to other annotations."""
        if step.solver is None:
            return self.text(step.snapshot)
        return History(step.solver, step.snapshot, self.ids).text(step.snapshot)

    def text(self, snapshot: Snapshot) -> str:
        """Return the lines of the review file for a snapshot."""
        decided = review_file.in_cells(snapshot.entries, self.solver.touching)
        notes = [note for _, note in snapshot.notes]
        if self.solver.settings.variants:
            settings = write_settings(self.solver.settings_with(snapshot.decisions))
            self._filler.prepared = self._filler.prepared.with_settings(settings)
        return self._filler.fill(self.solver.gold(snapshot), decided, notes, snapshot.done)

    def step_for(self, operation: Operation, limits: Limits, made: Authorship) -> "Step":
        """Return the step that an operation leads to; raise `OperationError` if it is refused."""
        verb = operation.get("do") if isinstance(operation, dict) else None
        if verb in ("undo", "redo"):
            return self._undo_or_redo(verb, limits, made)
        context = OperationContext(self.solver, self.snapshot, self.ids, made)
        change = apply(context, operation)
        if _solved(change.entries) == _solved(self.snapshot.entries):
            after = replace(self.snapshot, entries=change.entries, notes=change.notes, done=change.done)
        else:
            after = replace(self._solve(change, limits, context, operation), done=change.done)
        past = [*self.past, (self.snapshot.bare(), change.label)]
        return Step(after, past, [], change.named, verb=str(verb), label=change.label, made=made)

    def _undo_or_redo(self, verb: str, limits: Limits, made: Authorship) -> "Step":
        """Return the step to the snapshot before or after."""
        undo = verb == "undo"
        source, target = (self.past, self.future) if undo else (self.future, self.past)
        if not source:
            raise OperationError(f"There is nothing to {verb}.")
        snapshot, label = source[-1]
        solver, left = None, self.snapshot.bare()
        if snapshot.under:
            solver, left = Solver.of_text(snapshot.under, self.solver.settings), self.left
        if snapshot.recorded or solver is not None:
            snapshot = self._confirmed(snapshot, limits, solver or self.solver)
        shorter, longer = source[:-1], [*target, (left, label)]
        past, future = (shorter, longer) if undo else (longer, shorter)
        return Step(
            snapshot,
            past,
            future,
            verb=verb,
            label=f"{verb}: {label}",
            made=made,
            solver=solver,
            under=left.under,
        )

    @property
    def left(self) -> Snapshot:
        """The snapshot as it is kept by a step after which annotations are others."""
        return replace(self.snapshot, under=self.solver.without_result())

    def _confirmed(self, snapshot: Snapshot, limits: Limits, solver: Solver) -> Snapshot:
        """Return a snapshot of an earlier session, solved again; annotations may have changed since."""
        try:
            return solver.confirm(snapshot, limits)
        except ContradictionError as error:
            reason = worded(solver.document, error.fault)
            raise OperationError(f"This cannot be brought back. {reason}") from error

    def _solve(
        self, change: Change, limits: Limits, context: OperationContext, operation: Operation
    ) -> Snapshot:
        try:
            return self.solver.solve(change.entries, change.notes, self.snapshot, limits)
        except ContradictionError as error:
            old = {entry.id for entry in self.snapshot.entries}
            blamed = [entry for entry in blame(error, change.entries) if entry.id in old]
            raise refusal(context, operation, error, blamed) from error

    def step_to(self, review: review_file.Review, limits: Limits, editor: Authorship) -> "Step":
        """Return the step to a document that was edited outside; equal decisions keep their ids."""
        known = {entry.statement: entry for entry in self.snapshot.entries}
        entries = tuple(
            replace(known[statement], made=made or known[statement].made)
            if statement in known
            else Decision(statement, made or editor, self.ids.decision())
            for statement, made in _read(review, self.solver).items()
        )
        noted: dict[Note, list[str]] = {}
        for id, note in reversed(self.snapshot.notes):
            noted.setdefault(note, []).append(id)
        notes = tuple(
            (noted[note].pop() if noted.get(note) else self.ids.note(), note) for note in review.notes
        )
        if _same(entries, notes, self.snapshot) and review.done == self.snapshot.done:
            return Step(self.snapshot, self.past, self.future)
        after = replace(self.solver.solve(entries, notes, self.snapshot, limits), done=review.done)
        past = [*self.past, (self.snapshot.bare(), EDITS)]
        return Step(after, past, [], verb="edit", label=EDITS, made=editor)

    def commit(self, step: "Step", *, working: bool = False) -> dict[str, Any]:
        """Take a step and return the update for the page."""
        before = self.snapshot
        self.past, self.future, self.snapshot = step.past, step.future, step.snapshot
        self.version += 1
        self.working = working
        if step.solver is not None:
            self.solver = step.solver
            for derived in ("viewer", "queue", "_filler"):
                self.__dict__.pop(derived, None)
            return {**self.status(), "full": True}
        difference = self.viewer.difference(before, step.snapshot, step.named)
        difference["cost"]["before"] = before.value
        return {**difference, **self.status(), "full": False}

    def stakes(self, questions: Sequence[Question]) -> dict[str, int]:
        """Return what some questions can still change, and what the last steps changed."""
        recent = [*(snapshot for snapshot, _ in self.past[-LAST:]), self.snapshot]
        return {**self.queue.stakes(self.snapshot, questions), **last_changes(recent)}

    def progress(self) -> dict[str, int]:
        """Count the mentions that are asked about, those without an open question, and the answers given."""
        counted = self.queue.progress(self.snapshot.decisions)
        return {**counted, "answers": number_of_acts(self.snapshot.entries)}

    def status(self) -> dict[str, Any]:
        """Return what every state and every update contains."""
        self.queue.placing(self.snapshot)  # so that mentions are counted in this result
        return {
            "version": self.version,
            "undo": self.past[-1][1] if self.past else None,
            "annotators_changed": bool(self.past and self.past[-1][0].under),
            "redo": self.future[-1][1] if self.future else None,
            "progress": self.progress(),
            "working": self.working,
        }


@dataclass(frozen=True)
class Step:
    """The history after an operation, not committed yet."""

    snapshot: Snapshot
    past: list[HistoryEntry]
    future: list[HistoryEntry]
    named: frozenset[Span] = frozenset()
    verb: str = "improve"
    """What is done, as the record calls it."""
    label: str = ""
    """What undoing it would take back."""
    made: Authorship | None = None
    annotators: tuple[str, ...] = ()
    """Whose annotations it adds or corrects; apart from the label, which everybody sees."""
    solver: Solver | None = None
    """The solver from then on, where annotations change."""
    under: str = ""
    """What the snapshot before it was a result of, where annotations change."""

    def line(self, before: Snapshot, text: str) -> Line:
        """Return the line of the record for this step, from a snapshot to a text of the file."""
        made = self.made or Authorship("", "")
        change = {} if self.verb in ("undo", "redo") else change_line(before, self.snapshot)
        signed = {"do": self.verb, "label": self.label, "by": made.who, "at": made.when}
        named = {"annotators": list(self.annotators)} if self.annotators else {}
        kept = {} if self.solver is None else solver_line(self.solver, self.under)
        return {**signed, **named, **kept, "digest": digest_of(text), **change}


def solver_line(solver: Solver, under: str) -> Line:
    """Return what the record says where annotations change: what they were before, and what is new now."""
    return {**kept_line(solver), "tokens": len(solver.document.tokens), "under": packed(under)}


def kept_line(solver: Solver) -> Line:
    """Return what the record says about variants that stay what they are."""
    settings = solver.settings
    return {"kept": write_groups(settings.kept_variants)} if settings.variants else {}


def _read(document: review_file.Review, solver: Solver) -> dict[Statement, Authorship | None]:
    """Return the decisions of a review file as the page has them, each once, with its author if known."""
    authors: dict[Statement, Authorship | None] = {}
    for decision in review_file.opened(document.decided, solver.touching):
        authors[decision.statement] = decision.made or authors.get(decision.statement)
    return authors


def _tells(snapshot: Snapshot, review: review_file.Review, solver: Solver) -> bool:
    """Return whether a record leads to what the file says."""
    said = [entry.statement for entry in snapshot.entries], [note for _, note in snapshot.notes]
    return (
        set(said[0]) == _read(review, solver).keys()
        and set(said[1]) == set(review.notes)
        and snapshot.done == review.done
    )


def blame(error: ContradictionError, entries: Iterable[Decision]) -> list[Decision]:
    """Return the entries whose cells or statements contradict each other."""
    tokens, statements = set(error.tokens), set(error.statements)
    return [
        entry
        for entry in entries
        if entry.statement in statements
        or (entry.statement.kind in IN_CELLS and not tokens.isdisjoint(entry.statement.tokens))
    ]


def _solved(entries: Iterable[Decision]) -> list[Statement]:
    """Return the statements that the result depends on."""
    return [entry.statement for entry in entries if entry.statement.kind is not StatementKind.NAME]


def _same(entries: tuple[Decision, ...], notes: tuple[tuple[str, Note], ...], snapshot: Snapshot) -> bool:
    """Return whether entries and notes are those of a snapshot, in any order."""
    return set(entries) == set(snapshot.entries) and set(notes) == set(snapshot.notes)
