"""Late and corrected annotators: new annotations under a review, which keeps all that was decided.

    tokens      all texts, old and new, are aligned together with the old one, so that every decision still
                names tokens;
    mentions    where an annotator moved a mention and nobody marks its old place, decisions follow it, if all
                who moved it agree on one new place;
    decisions   all are kept but those that cannot hold together with the rest any more: they become notes;
    result      optimised anew.

What was followed, what no longer fits and what names a mention that nobody marks is listed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from caspr.errors import ContradictionError, InputError
from caspr.review.session.documents import ChangeSettings, ReviewDocument, first_look, read_documents
from caspr.review.session.entries import Closing, DecisionEntry, EnforcedCells, in_words
from caspr.review.session.history import History, Step, blame
from caspr.review.session.record import Record, change_line, digest_of
from caspr.review.session.solver import Snapshot, Solver
from caspr.review.session.store import Store, utc
from caspr.task.authorship import Authorship
from caspr.task.limits import Limits
from caspr.task.names import EntityName
from caspr.task.notes import Note
from caspr.task.settings import Settings
from caspr.text.alignment import align
from caspr.text.coverage import Coverage
from caspr.text.document import Annotation, Chain, Document, Span

SECONDS = 3.0
"""Seconds for the new result of a document; its page searches on."""

Given = Mapping[tuple[str, str | None], Sequence[Annotation]]
"""New annotations by the key of their document."""


@dataclass(frozen=True)
class Addition:
    """What new annotations changed in one document."""

    title: str
    """The document."""
    added: tuple[str, ...]
    """The annotators that are new."""
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
            *(f"  followed: {one}" for one in self.followed),
            *(f"  no longer fits, kept as a note: {one}" for one in self.misfits),
            *(f"  about a mention that nobody marks now: {one}" for one in self.unmarked),
        ]


def by_key(given: Iterable[Iterable[Annotation]]) -> Given:
    """Sort annotations by their documents."""
    found: dict[tuple[str, str | None], list[Annotation]] = {}
    for annotation in (one for file in given for one in file):
        found.setdefault(annotation.document.key, []).append(annotation)
    return found


def add_annotations(
    path: Path, given: Given, who: str, change_settings: ChangeSettings = lambda settings: settings
) -> list[Addition]:
    """Add annotations to the documents of a review file; nothing is written if nothing is new."""
    store = Store(path)
    store.acquire()
    try:
        data, record = store.read(), Record.beside(path)
        documents = read_documents(data, path, change_settings, saved=store.saved(), record=record)
        record.drop_unwritten({one.title: one.text for one in documents})
        made = Authorship(who, utc(datetime.now(UTC)))
        changes = [_Change.of(one, given.get(one.document.key, ()), made) for one in documents]
        texts = [
            one.text if change is None else change.text
            for one, change in zip(documents, changes, strict=True)
        ]
        found = [change for change in changes if change is not None]
        if found:
            end = record.end
            try:
                for change in found:
                    change.record(record)
                store.write("".join(texts).encode("utf-8"))
            except BaseException:
                record.truncate(end)
                raise
        return [change.addition for change in found]
    finally:
        store.release()


@dataclass(frozen=True)
class _Change:
    """New annotations of one document, worked in but not written."""

    old: ReviewDocument
    """The document before."""
    before: History
    """Its history before."""
    after: Snapshot
    """All that is decided now, and the new result."""
    text: str
    """The new text in the file."""
    tokens: int
    """How many tokens it has now."""
    addition: Addition
    """What changed, in words."""
    made: Authorship
    """Who added the annotations, and when."""

    @classmethod
    def of(cls, old: ReviewDocument, given: Sequence[Annotation], made: Authorship) -> "_Change | None":
        """Work new annotations in, or return `None` if all of them are there already."""
        merged = _merged(old.review.annotations, given)
        if merged is None:
            return None
        before = old.open()
        moves = _Moves.of(old, before.snapshot, merged)
        solver = Solver(moves.annotations, _moved_settings(old.settings, moves.places))
        entries, misfits = _fitting(solver, moves.entries, before.snapshot, old)
        label = _label(old.review.annotations, given)
        said = [in_words(str(one.decision), solver.document, before.titles) for one in misfits]
        notes = [
            *moves.notes,
            *((before.ids.note(), _farewell(*one, label, made)) for one in zip(misfits, said, strict=True)),
        ]
        limits = first_look(old.settings.limits, SECONDS)
        same_tokens = solver.document.tokens == old.document.tokens
        snapshot = solver.solve(entries, notes, before.snapshot if same_tokens else None, limits)
        fresh = History(solver, replace(snapshot, done=None), before.ids)
        names = {one.annotator for one in old.review.annotations}
        addition = Addition(
            old.title,
            tuple(one.annotator for one in given if one.annotator not in names),
            tuple(one.annotator for one in given if one.annotator in names),
            tuple(moves.followed),
            tuple(_worded(one, solver.document) for one in misfits),
            tuple(_worded(one, solver.document) for one in _unmarked(entries, before, solver)),
        )
        text = fresh.text(fresh.snapshot)
        return cls(old, before, fresh.snapshot, text, len(solver.document.tokens), addition, made)

    def record(self, record: Record) -> None:
        """Record it as a step, or as a new beginning if tokens have other numbers now."""
        self.old.attach(self.before)
        label = f"annotations: {', '.join((*self.addition.added, *self.addition.corrected))}"
        step = Step(self.after, [], [], verb="annotators", label=label, made=self.made)
        self.old.record_step(step, self.text)
        if self.tokens != len(self.before.solver.document.tokens):
            full = {**change_line(None, self.after), "tokens": self.tokens, "digest": digest_of(self.text)}
            signed = {"do": "open", "label": "", "by": self.made.who, "at": self.made.when}
            record.append(self.old.title, {**signed, **full})


def _merged(old: Sequence[Annotation], given: Sequence[Annotation]) -> list[Annotation] | None:
    """Put new annotations in place of those of the same annotators, or behind; `None` if nothing changes."""
    names = [one.annotator for one in given]
    if twice := next((name for name in names if names.count(name) > 1), None):
        files = [one.document.source for one in given if one.annotator == twice and one.document.source]
        where = f" ({', '.join(files)})" if files else ""
        raise InputError(
            f"--add: found {names.count(twice)} annotations of '{given[0].document.title}' by one annotator, "
            f"'{twice}'{where}, expected one: a folder is the work of one annotator; give the file or folder "
            "of each annotator an --add of its own"
        )
    known = {one.annotator: one for one in old}
    fresh = {one.annotator: one for one in given if not _is_same(known.get(one.annotator), one)}
    if not fresh:
        return None
    return [*(fresh.pop(one.annotator, one) for one in old), *fresh.values()]


def _is_same(old: Annotation | None, new: Annotation) -> bool:
    if old is None:
        return False
    _, moved = align([old, new])
    return {frozenset(chain.mentions) for chain in old.all_chains} == {
        frozenset(chain.mentions) for chain in moved.all_chains
    } and moved.document.tokens == old.document.tokens


def _label(old: Sequence[Annotation], given: Sequence[Annotation]) -> str:
    names = {one.annotator for one in old}
    return ", ".join(
        f"{one.annotator} was {'corrected' if one.annotator in names else 'added'}" for one in given
    )


@dataclass(frozen=True)
class _Moves:
    """Annotations over the new tokens, and decisions and notes that followed."""

    annotations: tuple[Annotation, ...]
    places: Mapping[int, Span]
    """Where each old token is now."""
    entries: tuple[DecisionEntry, ...]
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
                one.annotator,
                aligned[0].document,
                [
                    Chain.of(chain.id, [_placed(span, places) for span in chain.mentions])
                    for chain in one.all_chains
                ],
            )
            for one in old.review.annotations
        ]
        target = moved_mentions(marked, aligned)
        entries, followed = [], []
        for entry in snapshot.entries:
            new = _followed(entry, places, target)
            entries.append(new)
            if any(_placed(span, places) in target for span in entry.mentions):
                followed.append(f"{_worded(entry, document)} -> {_worded(new, aligned[0].document)}")
        notes = tuple((id, _moved_note(note, places, target)) for id, note in snapshot.notes)
        return cls(tuple(aligned), places, tuple(entries), notes, tuple(followed))


def moved_mentions(old: Iterable[Annotation], new: Iterable[Annotation]) -> dict[Span, Span]:
    """Return where mentions are now that nobody marks any more, if all who moved them agree on it.

    A mention moved if its annotator marks exactly one new one that overlaps it.
    """
    now = {one.annotator: frozenset(one.mentions) for one in new}
    everywhere = frozenset(span for spans in now.values() for span in spans)
    moves: dict[Span, set[Span | None]] = {}
    for annotation in old:
        before = frozenset(annotation.mentions)
        fresh = now.get(annotation.annotator, frozenset()) - before
        for span in before - everywhere:
            over = [one for one in fresh if one.start <= span.end and span.start <= one.end]
            moves.setdefault(span, set()).add(over[0] if len(over) == 1 else None)
    return {
        span: place
        for span, places in moves.items()
        if len(places) == 1 and (place := next(iter(places))) is not None
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
            one,
            spans=tuple(_placed(span, places) for span in one.spans),
            boundary=_placed(one.boundary, places),
        )
        for one in settings.kept_variants
    )
    return replace(settings, coverage=coverage, kept_variants=groups)


def _followed(entry: DecisionEntry, places: Mapping[int, Span], target: Mapping[Span, Span]) -> DecisionEntry:
    """Return a decision about the same words, or about where its mentions are now."""
    decision = entry.decision
    spans = [_placed(span, places) for span in entry.mentions]
    mentions = tuple(sorted({target.get(span, span) for span in spans}))
    if isinstance(decision, Closing):
        tokens = (token for one in decision.tokens for token in range(places[one].start, places[one].end + 1))
        return replace(entry, decision=Closing(tuple(tokens)))
    if isinstance(decision, EnforcedCells):
        return replace(entry, decision=EnforcedCells(Chain(decision.chain.id, mentions)))
    if len(mentions) < len(spans) and not isinstance(decision, EntityName):
        # Two mentions became one: what was decided about both is left to be listed.
        mentions = tuple(sorted(spans))
    return replace(entry, decision=replace(decision, mentions=mentions))


def _moved_note(note: Note, places: Mapping[int, Span], target: Mapping[Span, Span]) -> Note:
    if note.mention is None:
        return note
    place = _placed(note.mention, places)
    return replace(note, mention=target.get(place, place))


def _fitting(
    solver: Solver, entries: Sequence[DecisionEntry], before: Snapshot, old: ReviewDocument
) -> tuple[tuple[DecisionEntry, ...], list[DecisionEntry]]:
    """Return the decisions that hold together, and those that had to go: of each contradiction the newest."""
    kept = list(entries)
    gone: list[DecisionEntry] = []
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
    solver: Solver, entries: Sequence[DecisionEntry], before: Snapshot, limits: Limits
) -> ContradictionError | None:
    try:
        solver.solve(entries, before.notes, limits=limits)
    except ContradictionError as error:
        return error
    return None


def _farewell(entry: DecisionEntry, said: str, label: str, made: Authorship) -> Note:
    who = f" (decided by {entry.made.who}, {entry.made.when})" if entry.made else ""
    about = entry.mentions[0] if entry.mentions else None
    return Note(f"No longer fits since {label}: {said}{who}", about, made)


def _unmarked(entries: Iterable[DecisionEntry], before: History, solver: Solver) -> list[DecisionEntry]:
    """Return the decisions about mentions that annotators had marked, and nobody marks now."""
    if solver.document.tokens != before.solver.document.tokens:
        return []
    lost = before.solver.candidates.keys() - solver.candidates.keys()
    return [entry for entry in entries if not lost.isdisjoint(entry.mentions)]


def _worded(entry: DecisionEntry, document: Document) -> str:
    """Say a decision with the words of the text."""
    words = ", ".join(f"'{document.text(span)}'" for span in entry.mentions)
    return f"{entry.decision} ({words})" if words else str(entry.decision)
