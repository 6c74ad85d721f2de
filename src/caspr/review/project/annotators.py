"""Late and corrected annotators: new annotations for a review or a project, which keeps what was decided.

    tokens      all texts, old and new, are aligned together with the old one, so that every decision still
                names tokens;
    mentions    where an annotator moved a mention and nobody marks its old place, decisions follow it, if all
                who moved it agree on one new place;
    decisions   all are kept but those that cannot hold together with the rest any more: they become notes;
    result      optimised again.

What was followed, what no longer fits and what names a mention that nobody marks is listed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from caspr.errors import ContradictionError, InputError
from caspr.formats.review_file.project import NAME, is_project, read_project
from caspr.review.documents import ChangeSettings, ReviewDocument, first_look, read_documents
from caspr.review.history import ADDED, History, Step, blame, kept_line
from caspr.review.record import Record, change_line, digest_of
from caspr.review.session import Store
from caspr.review.solver import Snapshot, Solver
from caspr.storage import FileLock
from caspr.task.decisions import Authorship, Decision, Note, StatementKind, utc
from caspr.task.limits import Limits
from caspr.task.settings import Settings
from caspr.text.alignment import align
from caspr.text.coverage import Coverage
from caspr.text.document import Annotation, Chain, Document, Span
from caspr.text.findings import times

SECONDS = 3.0
"""Seconds for the new result of a document; its page searches on."""

AddedWork = Mapping[tuple[str, str | None], Sequence[Annotation]]
"""New annotations by the key of their document."""


@dataclass(frozen=True)
class Addition:
    """What new annotations changed in one document."""

    title: str
    added: tuple[str, ...]
    corrected: tuple[str, ...]
    """The annotators whose annotations changed."""
    followed: tuple[str, ...] = ()
    """Decisions that followed a mention to where it is now."""
    misfits: tuple[str, ...] = ()
    """Decisions that cannot hold any more, and became notes."""
    unmarked: tuple[str, ...] = ()
    """Decisions about mentions that annotators had marked, and nobody marks now."""

    def lines(self) -> list[str]:
        """Say it in words."""
        who = [*(f"{name} added" for name in self.added), *(f"{name} corrected" for name in self.corrected)]
        return [
            f"{self.title}: {', '.join(who)}",
            *(f"  followed: {decision}" for decision in self.followed),
            *(f"  no longer fits, kept as a note: {decision}" for decision in self.misfits),
            *(f"  about a mention that nobody marks now: {decision}" for decision in self.unmarked),
        ]


def by_key(work: Iterable[Iterable[Annotation]]) -> AddedWork:
    """Sort annotations by their documents."""
    by_document: dict[tuple[str, str | None], list[Annotation]] = {}
    for annotation in (annotation for file in work for annotation in file):
        by_document.setdefault(annotation.document.key, []).append(annotation)
    return by_document


def add_annotations(
    path: Path, added: AddedWork, who: str, change_settings: ChangeSettings = lambda settings: settings
) -> list[Addition]:
    """Add annotations to the documents of a review file; nothing is written if nothing is new."""
    store = Store(path)
    store.acquire()
    try:
        data, record = store.read(), Record.beside(path)
        documents = read_documents(data, path, change_settings, saved=store.saved(), record=record)
        record.drop_unwritten({document.title: document.text for document in documents})
        made = Authorship(who, utc(datetime.now(UTC)))
        changes = [_Change.of(document, added.get(document.document.key, ()), made) for document in documents]
        texts = [
            document.text if change is None else change.text
            for document, change in zip(documents, changes, strict=True)
        ]
        needed = [change for change in changes if change is not None]
        if needed:
            end = record.end
            try:
                for change in needed:
                    change.record(record)
                store.write("".join(texts).encode("utf-8"))
            except BaseException:
                record.truncate(end)
                raise
        return [change.addition for change in needed]
    finally:
        store.release()


@dataclass(frozen=True)
class _Change:
    """New annotations of one document, worked in but not written."""

    old: ReviewDocument
    before: History
    after: History
    """All that is decided now, and the new result."""
    text: str
    addition: Addition
    made: Authorship

    @classmethod
    def of(cls, old: ReviewDocument, added: Sequence[Annotation], made: Authorship) -> "_Change | None":
        """Work new annotations in, or return `None` if all of them are there already."""
        merged = _merged(old.review.annotations, added)
        if merged is None:
            return None
        before = old.open()
        moves = _Moves.of(old, before.snapshot, merged)
        solver = Solver(moves.annotations, _moved_settings(old.settings, moves.places))
        entries, misfits = _fitting(solver, moves.entries, before.snapshot, old)
        titles = before.solver.titles(before.snapshot)
        said = [solver.in_words(entry.statement, titles) for entry in misfits]
        notes = [
            *moves.notes,
            *((before.ids.note(), _farewell(*pair, made)) for pair in zip(misfits, said, strict=True)),
        ]
        limits = first_look(old.settings.limits, SECONDS)
        same_tokens = solver.document.tokens == old.document.tokens
        snapshot = solver.solve(entries, notes, before.snapshot if same_tokens else None, limits)
        fresh = History(solver, replace(snapshot, done=None), before.ids)
        names = {annotation.annotator for annotation in old.review.annotations}
        addition = Addition(
            old.title,
            tuple(annotation.annotator for annotation in added if annotation.annotator not in names),
            tuple(annotation.annotator for annotation in added if annotation.annotator in names),
            tuple(moves.followed),
            tuple(_worded(decision, solver.document) for decision in misfits),
            tuple(_worded(decision, solver.document) for decision in _unmarked(entries, before, solver)),
        )
        return cls(old, before, fresh, fresh.text(fresh.snapshot), addition, made)

    def record(self, record: Record) -> None:
        """Record it as a step, or as a new beginning if tokens have other numbers now."""
        self.old.attach(self.before)
        names = (*self.addition.added, *self.addition.corrected)
        after = self.after
        step = Step(
            after.snapshot,
            [],
            [],
            verb="annotators",
            label=ADDED,
            made=self.made,
            annotators=names,
            solver=after.solver,
        )
        self.old.record_step(step, self.text)
        tokens = len(after.solver.document.tokens)
        if tokens != len(self.before.solver.document.tokens):
            full = {**change_line(None, after.snapshot), "tokens": tokens, "digest": digest_of(self.text)}
            signed = {"do": "open", "label": "", "by": self.made.who, "at": self.made.when}
            record.append(self.old.title, {**signed, **full, **kept_line(after.solver)})


def _merged(old: Sequence[Annotation], added: Sequence[Annotation]) -> list[Annotation] | None:
    """Put new annotations in place of those of the same annotators, or last; `None` if nothing changes."""
    names = [annotation.annotator for annotation in added]
    if twice := next((name for name in names if names.count(name) > 1), None):
        files = [work.document.source for work in added if work.annotator == twice and work.document.source]
        where = f" ({', '.join(files)})" if files else ""
        raise InputError(
            f"--add: there are {names.count(twice)} annotations of '{added[0].document.title}' by one "
            f"annotator, '{twice}'{where}: a folder is the work of one annotator; give the file or folder of "
            "each annotator an --add of its own"
        )
    known = {annotation.annotator: annotation for annotation in old}
    fresh = {work.annotator: work for work in added if not _is_same(known.get(work.annotator), work)}
    if not fresh:
        return None
    return [*(fresh.pop(annotation.annotator, annotation) for annotation in old), *fresh.values()]


def _is_same(old: Annotation | None, new: Annotation) -> bool:
    if old is None:
        return False
    _, moved = align([old, new])
    return {frozenset(chain.mentions) for chain in old.all_chains} == {
        frozenset(chain.mentions) for chain in moved.all_chains
    } and moved.document.tokens == old.document.tokens


@dataclass(frozen=True)
class _Moves:
    """Annotations over the new tokens, and decisions and notes that followed."""

    annotations: tuple[Annotation, ...]
    places: Mapping[int, Span]
    """Where each old token is now."""
    entries: tuple[Decision, ...]
    notes: tuple[tuple[str, Note], ...]
    followed: tuple[str, ...]

    @classmethod
    def of(cls, old: ReviewDocument, snapshot: Snapshot, merged: Sequence[Annotation]) -> "_Moves":
        """Align everything, and let decisions follow tokens and mentions."""
        document = old.document
        own = tuple(Span(token, token) for token in range(1, len(document.tokens) + 1))
        tokens = Annotation.of("", document, [Chain(str(span.start), (span,)) for span in own])
        *aligned, placed = align([*merged, tokens])
        places = {int(chain.id): chain.mentions[0] for chain in placed.all_chains}
        marked = [
            Annotation.of(
                annotation.annotator,
                aligned[0].document,
                [
                    Chain.of(chain.id, [_placed(span, places) for span in chain.mentions])
                    for chain in annotation.all_chains
                ],
            )
            for annotation in old.review.annotations
        ]
        target = moved_mentions(marked, aligned)
        entries, followed = [], []
        for entry in snapshot.entries:
            new = _followed(entry, places, target)
            entries.append(new)
            if any(_placed(span, places) in target for span in entry.statement.mentions):
                followed.append(f"{_worded(entry, document)} -> {_worded(new, aligned[0].document)}")
        notes = tuple((id, _moved_note(note, places, target)) for id, note in snapshot.notes)
        return cls(tuple(aligned), places, tuple(entries), notes, tuple(followed))


def moved_mentions(old: Iterable[Annotation], new: Iterable[Annotation]) -> dict[Span, Span]:
    """Return where mentions are now that nobody marks any more, if all who moved them agree on it.

    A mention moved if its annotator marks exactly one new one that overlaps it.
    """
    now = {annotation.annotator: frozenset(annotation.mentions) for annotation in new}
    everywhere = frozenset(span for spans in now.values() for span in spans)
    moves: dict[Span, set[Span | None]] = {}
    for annotation in old:
        before = frozenset(annotation.mentions)
        fresh = now.get(annotation.annotator, frozenset()) - before
        for span in before - everywhere:
            over = [new for new in fresh if new.start <= span.end and span.start <= new.end]
            moves.setdefault(span, set()).add(over[0] if len(over) == 1 else None)
    return {
        span: target
        for span, targets in moves.items()
        if len(targets) == 1 and (target := next(iter(targets))) is not None
    }


def _placed(span: Span, places: Mapping[int, Span]) -> Span:
    """Return a span over the new tokens."""
    return Span(places[span.start].start, places[span.end].end)


def _moved_settings(settings: Settings, places: Mapping[int, Span]) -> Settings:
    """Return settings over the new tokens: what annotators saw, and variants that were decided about."""
    coverage = settings.coverage
    if isinstance(coverage, Coverage):
        seen = {name: [_placed(span, places) for span in spans] for name, spans in coverage.seen.items()}
        coverage = Coverage.of(seen)
    groups = tuple(
        replace(
            variant,
            spans=tuple(_placed(span, places) for span in variant.spans),
            boundary=_placed(variant.boundary, places),
        )
        for variant in settings.kept_variants
    )
    return replace(settings, coverage=coverage, kept_variants=groups)


def _followed(entry: Decision, places: Mapping[int, Span], target: Mapping[Span, Span]) -> Decision:
    """Return a decision about the same words, or about where its mentions are now."""
    statement = entry.statement
    if statement.kind is StatementKind.EMPTY:
        places_now = (places[token] for token in statement.tokens)
        tokens = (Span(token, token) for now in places_now for token in range(now.start, now.end + 1))
        return replace(entry, statement=statement.over(tokens))
    spans = [_placed(span, places) for span in statement.mentions]
    mentions = {target.get(span, span) for span in spans}
    merging = statement.kind in (StatementKind.CELLS, StatementKind.NAME)
    # Two mentions became one: what was decided about both is left to be listed.
    return replace(
        entry, statement=statement.over(mentions if merging or len(mentions) == len(spans) else spans)
    )


def _moved_note(note: Note, places: Mapping[int, Span], target: Mapping[Span, Span]) -> Note:
    if note.mention is None:
        return note
    span = _placed(note.mention, places)
    return replace(note, mention=target.get(span, span))


def _fitting(
    solver: Solver, entries: Sequence[Decision], before: Snapshot, old: ReviewDocument
) -> tuple[tuple[Decision, ...], list[Decision]]:
    """Return the decisions that hold together, and those that had to go: of each contradiction the newest."""
    kept = list(entries)
    gone: list[Decision] = []
    limits = first_look(old.settings.limits, 0.0)
    while True:
        error = _contradiction(solver, kept, before, limits)
        if error is None:
            return tuple(kept), gone
        blamed = blame(error, kept) or kept[-1:]
        worst = max(blamed, key=lambda entry: (entry.made.when if entry.made else "", kept.index(entry)))
        kept.remove(worst)
        gone.append(worst)


def _contradiction(
    solver: Solver, entries: Sequence[Decision], before: Snapshot, limits: Limits
) -> ContradictionError | None:
    try:
        solver.solve(entries, before.notes, limits=limits)
    except ContradictionError as error:
        return error
    return None


def _farewell(entry: Decision, said: str, made: Authorship) -> Note:
    who = f" (decided by {entry.made.who}, {entry.made.when})" if entry.made else ""
    about = None if entry.statement.kind is StatementKind.EMPTY else entry.statement.mentions[0]
    return Note(f"No longer fits since {ADDED}: {said}{who}", about, made)


def _unmarked(entries: Iterable[Decision], before: History, solver: Solver) -> list[Decision]:
    """Return the decisions about mentions that annotators had marked, and nobody marks now."""
    if solver.document.tokens != before.solver.document.tokens:
        return []
    lost = before.solver.candidates.keys() - solver.candidates.keys()
    return [entry for entry in entries if not lost.isdisjoint(entry.statement.mentions)]


def _worded(entry: Decision, document: Document) -> str:
    """Say a decision with the words of the text."""
    words = ", ".join(f"'{document.text(span)}'" for span in entry.statement.mentions)
    return f"{entry.statement} ({words})"


def add_to_review(
    path: Path,
    work: Sequence[Sequence[Annotation]],
    who: str,
    change_settings: ChangeSettings = lambda settings: settings,
) -> list[str]:
    """Add annotations wherever they belong, and say in lines what that changed."""
    by_document = by_key(work)
    lines = list(
        _added_to_project(path, by_document, who, change_settings)
        if is_project(path)
        else _added(path, by_document, who, change_settings)
    )
    return lines or ["nothing is new in these annotations"]


def _added_to_project(folder: Path, added: AddedWork, who: str, change: ChangeSettings) -> Iterator[str]:
    """Open only the review files of documents that there are annotations of."""
    titles = {Document(name, (), part=part).title for name, part in added}
    with FileLock(folder / NAME):
        documents = [document for document in read_project(folder).documents if document.title in titles]
        for document in documents:
            yield from _added(folder / document.file, added, who, change)
    missing = sorted(titles - {document.title for document in documents})
    if missing:
        yield f"not in the project: {times(len(missing), 'document')} (first: {missing[0]})"


def _added(path: Path, added: AddedWork, who: str, change: ChangeSettings) -> Iterator[str]:
    for addition in add_annotations(path, added, who, change):
        yield from addition.lines()
