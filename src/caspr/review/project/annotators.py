"""Other annotators, late, corrected, renamed or removed, in a review or a project that keeps its decisions.

    tokens      all texts, old and new, are aligned together with the old one, so that every decision still
                names tokens;
    mentions    where an annotator moved a mention and nobody marks its old place, decisions follow it, if all
                who moved it agree on one new place;
    settings    weights, and what annotators saw, go with a new name;
    decisions   all are kept but those that cannot hold together with the rest any more: they become notes;
    result      optimised again.

What was followed, what no longer fits and what names a mention that nobody marks is listed. In the history of
a document this is one step like any other: it can be undone, after a restart, too.
"""

import os
from base64 import b64decode
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from caspr.errors import CasprError, InputError
from caspr.formats import read_all, review_file
from caspr.formats.registry import is_named_after_file
from caspr.formats.review_file.project import NAME, is_project, read_project
from caspr.review.documents import ChangeSettings, ReviewDocument, first_look
from caspr.review.history import ADDED, REMOVED, RENAMED, History, Step, blame
from caspr.review.operations import OperationError
from caspr.review.record import Record
from caspr.review.session import LaterStore, ReviewSession, open_review, write_together
from caspr.review.solver import Snapshot, Solver
from caspr.storage import FileLock
from caspr.task.contradictions import ContradictionError
from caspr.task.decisions import Authorship, Decision, Note, StatementKind, utc
from caspr.task.limits import Limits
from caspr.task.settings import Settings
from caspr.task.weights import AnnotatorWeights, Factor
from caspr.text.alignment import align
from caspr.text.checks import refuse_golds
from caspr.text.coverage import Coverage
from caspr.text.document import Annotation, Chain, Document, Span
from caspr.text.findings import times

SECONDS = 3.0
"""Seconds for the new result of a document; its page searches on."""
LONGEST_NAME = 200
"""How many characters the name of an annotator may have."""
MOST_FILES = 2000
"""How many files are taken at once."""
ALIKE = 90
"""From how many percent on two annotators are likely one."""
ALIKE_BY_NAME = 50
"""The same where one name is the other with an ending."""

AddedWork = Mapping[tuple[str, str | None], Sequence[Annotation]]
"""New annotations by the key of their document."""


@dataclass(frozen=True)
class AnnotatorChanges:
    """What is to change about annotators, in all documents at once.

    >>> AnnotatorChanges(removed=frozenset(["ann"]), renamed={"bob": "Robert"}).called("bob")
    'Robert'
    """

    added: AddedWork = field(default_factory=dict)
    """New annotations; those of an annotator who is there replace the old ones."""
    removed: frozenset[str] = frozenset()
    renamed: Mapping[str, str] = field(default_factory=dict)
    """The new names, by the old ones."""

    def __post_init__(self) -> None:
        """Refuse new names that are not names."""
        for name in self.renamed.values():
            if not name.strip() or not name.isprintable() or len(name) > LONGEST_NAME:
                needed = f"give up to {LONGEST_NAME} printable characters"
                raise InputError(f"{name[:40]!r} is not a name for an annotator: {needed}")

    def called(self, name: str) -> str:
        """Return what an annotator is called afterwards."""
        return self.renamed.get(name, name)

    def refuse_impossible(self, there: Iterable[Sequence[Annotation]]) -> None:
        """Refuse what cannot be done in one of some documents, before anything is done in the others."""
        known: set[str] = set()
        for annotations in there:
            known.update(work.annotator for work in annotations)
            _merged(annotations, self, annotations[0].document.title)
        unknown = sorted((self.removed | self.renamed.keys()) - known)
        if unknown:
            raise InputError(f"there is no annotator '{unknown[0]}': there are {', '.join(sorted(known))}")


@dataclass(frozen=True)
class AnnotatorReport:
    """What changed about the annotators of one document."""

    title: str
    said: tuple[str, ...]
    """Who was added, corrected, renamed or removed, in words."""
    followed: tuple[str, ...] = ()
    """Decisions that followed a mention to where it is now."""
    misfits: tuple[str, ...] = ()
    """Decisions that cannot hold any more, and became notes."""
    unmarked: tuple[str, ...] = ()
    """Decisions about mentions that annotators had marked, and nobody marks now."""

    def lines(self) -> list[str]:
        """Say it in words."""
        return [
            f"{self.title}: {', '.join(self.said)}",
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


def of_one_document(changes: AnnotatorChanges, document: Document) -> AnnotatorChanges:
    """Take new annotations of one document, which is only named after its file, as those of a document."""
    if len(changes.added) != 1:
        return changes
    [works] = changes.added.values()
    if not all(is_named_after_file(work.document) for work in works):
        return changes
    named = [
        replace(work, document=replace(work.document, name=document.name, part=document.part))
        for work in works
    ]
    return replace(changes, added={document.key: named})


def left_out(changes: AnnotatorChanges, titles: Collection[str], where: str) -> list[str]:
    """Say which new annotations are of no document that is there, from the titles of those."""
    given = {Document(name, (), part=part).title for name, part in changes.added}
    missing = sorted(given.difference(titles))
    return [f"not in {where}: {times(len(missing), 'document')} (first: {missing[0]})"] if missing else []


@dataclass(frozen=True)
class Correction:
    """An annotator with a new name who is likely one who is there."""

    new: str
    old: str
    percent: int
    """How much of what either marked and linked both did."""

    def __str__(self) -> str:
        """Say it to a person.

        >>> print(Correction("carla_v2", "carla", 97))
        'carla_v2' is 97 % the same as 'carla'
        """
        return f"'{self.new}' is {self.percent} % the same as '{self.old}'"


def likely_corrections(there: Iterable[Sequence[Annotation]], added: AddedWork) -> list[Correction]:
    """Return which new annotators look like corrected versions of those who are there.

    Those whose marks and links are nearly the same, or in good part where the name only has a new ending, as
    in `carla_v2`. Annotations that are exactly the same correct nothing.
    """
    shared: Counter[tuple[str, str]] = Counter()
    total: Counter[tuple[str, str]] = Counter()
    known: set[str] = set()
    for old in there:
        known.update(work.annotator for work in old)
        for new in added.get(old[0].document.key, ()):
            for before in old:
                pair = new.annotator, before.annotator
                marks = [_marked(work) for work in align([before, new])]
                shared[pair] += 2 * (marks[0] & marks[1]).total()
                total[pair] += marks[0].total() + marks[1].total()
    likely: dict[str, Correction] = {}
    for (new_name, old_name), number in sorted(total.items()):
        same = shared[new_name, old_name]
        enough = ALIKE_BY_NAME if _has_new_ending(new_name, old_name) else ALIKE
        if new_name in known or not enough * number <= 100 * same < 100 * number:
            continue
        best = Correction(new_name, old_name, 100 * same // number)
        likely[new_name] = max(likely.get(new_name, best), best, key=lambda correction: correction.percent)
    return list(likely.values())


def _marked(work: Annotation) -> Counter[tuple[Span, Span]]:
    """Return each mention with the one before it in its chain, or with itself."""
    return Counter(
        (span, before)
        for chain in work.all_chains
        for before, span in pairwise((chain.mentions[0], *chain.mentions))
    )


def _has_new_ending(new: str, old: str) -> bool:
    """Return whether a name is another one with an ending.

    >>> [_has_new_ending(name, "carla") for name in ("carla_v2", "Carla (corrected)", "carla2", "carlanda")]
    [True, True, True, False]
    """
    ending = new.casefold().removeprefix(old.casefold())
    return ending != new.casefold() and not (ending[:1].isalpha() or (ending[:1] + old[-1:]).isdigit())


def asked_changes(values: Mapping[str, Any]) -> AnnotatorChanges:
    """Read what a page asks for: to remove or rename an annotator, or files as base64 and whose they are."""
    name, verb = values.get("name"), values.get("do")
    if not isinstance(name, str):
        raise OperationError("found no annotator, expected a name")
    if verb == "remove":
        return AnnotatorChanges(removed=frozenset([name]))
    if verb == "rename":
        return AnnotatorChanges(renamed={name: " ".join(str(values.get("to", "")).split())})
    files = values.get("files")
    if verb != "add" or not isinstance(files, dict) or not 0 < len(files) <= MOST_FILES:
        raise OperationError("found no files, expected those of an annotator")
    AnnotatorChanges(renamed={"": name})  # refuses what is not a name
    groups = _uploaded(files)
    if len(groups) > 1:
        raise InputError("there are several annotators in these files: choose the files of one")
    for group in groups:
        refuse_golds(group, others=1)
    return AnnotatorChanges(by_key([[replace(work, annotator=name) for work in group] for group in groups]))


def _uploaded(files: Mapping[str, object]) -> list[list[Annotation]]:
    """Read files that a page sent."""
    with TemporaryDirectory(prefix="caspr-") as folder:
        for number, (file, content) in enumerate(files.items()):
            plain = PurePosixPath(file.replace("\\", "/")).name.lstrip(".") or f"file{number}"
            try:
                with (Path(folder) / plain).open("xb") as written:  # not over another of the same name
                    written.write(b64decode(str(content), validate=True))
            except (ValueError, OSError) as error:
                raise OperationError(f"{plain[:80]!r} cannot be used as a file.") from error
        try:
            return read_all([Path(folder)])
        except CasprError as error:
            said = str(error).replace(f"{folder}{os.sep}", "").replace(folder, "these files")
            raise InputError(said) from error


def change_session(
    session: ReviewSession, changes: AnnotatorChanges, who: str, numbers: Collection[int] | None = None
) -> list[AnnotatorReport]:
    """Change the annotators of some documents of a review, or all; nothing is written if nothing changes."""
    made = Authorship(who, utc(datetime.now(UTC)))
    reports: list[AnnotatorReport] = []

    def steps(documents: Sequence[ReviewDocument]) -> dict[int, Step]:
        taken = {}
        for number in range(len(documents)) if numbers is None else numbers:
            document = documents[number]
            merged = _merged(document.review.annotations, changes, document.title)
            if merged is not None:
                change = _Change.of(document, session.history(number), merged, changes, made)
                taken[number] = change.step
                reports.append(change.report)
        return taken

    session.take_steps(steps)
    return reports


@dataclass(frozen=True)
class _Merged:
    """The annotations of one document after the change, and what is said of that."""

    before: tuple[Annotation, ...]
    """The old ones, with the new names."""
    annotations: tuple[Annotation, ...]
    label: str
    said: tuple[str, ...]
    """The same with names."""


@dataclass(frozen=True)
class _Change:
    """Other annotators of one document, worked in but not written."""

    step: Step
    report: AnnotatorReport

    @classmethod
    def of(
        cls,
        old: ReviewDocument,
        history: History,
        merged: _Merged,
        changes: AnnotatorChanges,
        made: Authorship,
    ) -> "_Change":
        """Work changes in."""
        before = history.snapshot
        moves = _Moves.of(old.document, before, merged)
        decided = history.solver.settings_with(before.decisions)
        settings = _renamed_settings(decided, changes)
        solver = Solver(moves.annotations, _moved_settings(settings, moves.places))
        entries, misfits = _fitting(solver, moves.entries, before, old)
        titles = history.solver.titles(before)
        said = [solver.in_words(entry.statement, titles) for entry in misfits]
        notes = [
            *moves.notes,
            *(
                (history.ids.note(), _farewell(*pair, merged.label, made))
                for pair in zip(misfits, said, strict=True)
            ),
        ]
        limits = first_look(old.settings.limits, SECONDS)
        same_tokens = solver.document.tokens == old.document.tokens
        after = solver.solve(entries, notes, before if same_tokens else None, limits)
        after = replace(after, done=before.done if merged.label is RENAMED else None)
        report = AnnotatorReport(
            old.title,
            merged.said,
            tuple(moves.followed),
            tuple(_worded(decision, solver.document) for decision in misfits),
            tuple(_worded(decision, solver.document) for decision in _unmarked(entries, history, solver)),
        )
        return cls(_step(history, after, solver, merged, made), report)


def _step(history: History, after: Snapshot, solver: Solver, merged: _Merged, made: Authorship) -> Step:
    left = history.left
    return Step(
        after,
        [*history.past, (left, merged.label)],
        [],
        verb="annotators",
        label=merged.label,
        made=made,
        annotators=merged.said,
        solver=solver,
        under=left.under,
    )


def _merged(old: Sequence[Annotation], changes: AnnotatorChanges, title: str) -> _Merged | None:
    """Return the annotations of a document after the change; `None` if nothing changes.

    New annotations come in place of those of the same annotator, or last.
    """
    _refuse_twice(changes.added.get(old[0].document.key, ()))
    gone = tuple(work.annotator for work in old if work.annotator in changes.removed)
    renamed = {name: new for name, new in changes.renamed.items() if name != new and name not in gone}
    renamed = {work.annotator: renamed[work.annotator] for work in old if work.annotator in renamed}
    before = tuple(replace(work, annotator=renamed.get(work.annotator, work.annotator)) for work in old)
    stay = [work for work, was in zip(before, old, strict=True) if was.annotator not in gone]
    _refuse_doubled([work.annotator for work in stay], title)
    kept = {work.annotator: work for work in stay}
    added = changes.added.get(old[0].document.key, ())
    fresh = {work.annotator: work for work in added if not _is_same(kept.get(work.annotator), work)}
    after = {**kept, **fresh}
    if not after:
        raise InputError(f"{title}: {', '.join(gone)} cannot be removed: nobody else annotated this document")
    if not (gone or renamed or fresh):
        return None
    said = (
        *(f"{name} {'corrected' if name in kept else 'added'}" for name in fresh),
        *(f"{name} renamed {new}" for name, new in renamed.items()),
        *(f"{name} removed" for name in gone),
    )
    label = ADDED if fresh else REMOVED if gone else RENAMED
    return _Merged(before, tuple(after.values()), label, said)


def _refuse_twice(added: Sequence[Annotation]) -> None:
    names = [annotation.annotator for annotation in added]
    if twice := next((name for name in names if names.count(name) > 1), None):
        files = [work.document.source for work in added if work.annotator == twice and work.document.source]
        where = f" ({', '.join(files)})" if files else ""
        raise InputError(
            f"--add: there are {names.count(twice)} annotations of '{added[0].document.title}' by one "
            f"annotator, '{twice}'{where}: a folder is the work of one annotator; give the file or folder of "
            "each annotator an --add of its own"
        )


def _refuse_doubled(names: Sequence[str], title: str) -> None:
    doubled = next((name for name in names if names.count(name) > 1), None)
    if doubled is not None:
        raise InputError(f"{title}: two annotators would be called '{doubled}': choose another name")


def _is_same(old: Annotation | None, new: Annotation) -> bool:
    if old is None:
        return False
    _, moved = align([old, new])
    return {frozenset(chain.mentions) for chain in old.all_chains} == {
        frozenset(chain.mentions) for chain in moved.all_chains
    } and moved.document.tokens == old.document.tokens


def _renamed_settings(settings: Settings, changes: AnnotatorChanges) -> Settings:
    """Return settings in which annotators have their new names, and those who left are not named."""
    weights, coverage = settings.weights, settings.coverage
    if weights is not None:
        weights = replace(weights, annotators=tuple(_called(weights.annotators, changes)))
    if isinstance(coverage, Coverage):
        stayed = coverage.seen.keys() - changes.removed
        coverage = Coverage.of({changes.called(name): coverage.seen[name] for name in stayed})
    groups = tuple(
        replace(
            group,
            annotators=tuple(
                tuple(changes.called(name) for name in names if name not in changes.removed)
                for names in group.annotators
            ),
        )
        for group in settings.kept_variants
    )
    factors = tuple(_called(settings.factors, changes))
    return replace(settings, factors=factors, weights=weights, coverage=coverage, kept_variants=groups)


_Row = TypeVar("_Row", Factor, AnnotatorWeights)


def _called(rows: Iterable[_Row], changes: AnnotatorChanges) -> Iterator[_Row]:
    """Yield the rows of those who stay, by their new names."""
    for row in rows:
        if row.annotator not in changes.removed:
            yield replace(row, annotator=changes.called(row.annotator))


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
    def of(cls, document: Document, snapshot: Snapshot, merged: _Merged) -> "_Moves":
        """Align everything, and let decisions follow tokens and mentions."""
        own = tuple(Span(token, token) for token in range(1, len(document.tokens) + 1))
        tokens = Annotation.of("", document, [Chain(str(span.start), (span,)) for span in own])
        *aligned, placed = align([*merged.annotations, tokens])
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
            for annotation in merged.before
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


def _farewell(entry: Decision, said: str, label: str, made: Authorship) -> Note:
    who = f" (decided by {entry.made.who}, {entry.made.when})" if entry.made else ""
    about = None if entry.statement.kind is StatementKind.EMPTY else entry.statement.mentions[0]
    return Note(f"No longer fits since {label}: {said}{who}", about, made)


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


def change_annotators(
    path: Path,
    changes: AnnotatorChanges,
    who: str,
    change_settings: ChangeSettings = lambda settings: settings,
) -> list[str]:
    """Change the annotators of a review file or a project that nobody has open; say in lines what changed.

    Of a project, no review file is replaced before all are worked out.
    """
    titles = {Document(name, (), part=part).title for name, part in changes.added}
    reports: list[AnnotatorReport] = []
    known: set[str] = set()
    if changes.removed or changes.renamed:
        changes.refuse_impossible(annotations_there(path))
    with FileLock(path / NAME) if is_project(path) else nullcontext(), _Together() as together:
        for file in _files(path, changes, titles):
            with closing(together.opened(file, change_settings)) as session:
                if not is_project(path) and len(session.documents) == 1:
                    changes = of_one_document(changes, session.documents[0].document)
                reports += change_session(session, changes, who)
                known.update(document.title for document in session.documents)
        together.write()
    lines = [line for report in reports for line in report.lines()]
    lines += left_out(changes, known, "the project" if is_project(path) else "the review")
    return lines or ["nothing is new in these annotations"]


class _Together(AbstractContextManager["_Together"]):
    """Review files that are all changed or, where anything fails or somebody cancels, all as they were."""

    def __init__(self) -> None:
        self._stores: list[LaterStore] = []
        self._recorded: list[tuple[Path, int]] = []
        self._is_written = False

    def opened(self, file: Path, change_settings: ChangeSettings) -> ReviewSession:
        """Open a review file, which is not written before all are."""

        def later(path: Path) -> LaterStore:
            self._stores.append(LaterStore(path))
            return self._stores[-1]

        session = open_review(file, change_settings, later)
        session.rests = True
        self._recorded.append((session.record.path, session.record.end))
        return session

    def write(self) -> None:
        """Write all of them."""
        write_together(self._stores)
        self._is_written = True

    def __exit__(self, *_: object) -> None:
        """Take the steps out of the records if nothing was written."""
        for path, end in () if self._is_written else self._recorded:
            Record(path).truncate(end)


def _files(path: Path, changes: AnnotatorChanges, titles: Collection[str] | None) -> list[Path]:
    """Return the review files of documents that may change."""
    if not is_project(path):
        return [path]
    documents = read_project(path).documents
    every = titles is None or changes.removed or changes.renamed
    return [path / document.file for document in documents if every or document.title in (titles or ())]


def annotations_there(path: Path) -> Iterator[Sequence[Annotation]]:
    """Yield the annotations of each document of a review file or a project."""
    for file in _files(path, AnnotatorChanges(), None):
        for review in review_file.read(file):
            yield review.annotations
