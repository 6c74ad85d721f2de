"""Opening: from the files a user names to a session over a review file.

    a review file               is resumed, in place;
    annotators' files, folders  are merged into a new review file; an existing one with the same
                                annotations is resumed.

Annotators' files are never written.
"""

from collections.abc import Sequence
from pathlib import Path

from caspr.adjudication import by_document
from caspr.errors import InputError
from caspr.files import refuse_overwriting, refuse_unwritable
from caspr.formats import review_file
from caspr.formats.sources import read_files
from caspr.result import GOLD
from caspr.review.session.documents import ChangeSettings
from caspr.review.session.session import ReviewSession
from caspr.review.session.store import Store
from caspr.task.decisions import Decisions
from caspr.task.settings import Settings
from caspr.task.settings.stored import write_settings
from caspr.text.alignment import align
from caspr.text.document import Annotation
from caspr.text.findings import Finding

DEFAULT = Path("review.conll")
"""Where a new review file is written unless the user names another place."""


def open_review(path: Path, change_settings: ChangeSettings) -> ReviewSession:
    """Resume a review file."""
    store = Store(path)
    store.acquire()
    try:
        return ReviewSession.open(store, change_settings)
    except BaseException:
        store.release()
        raise


def open_annotations(
    files: Sequence[Path],
    given: Sequence[Sequence[Annotation]],
    output: Path,
    change_settings: ChangeSettings,
    *,
    allow_gold: bool = False,
) -> tuple[ReviewSession, tuple[Finding, ...]]:
    """Merge annotations into a new review file, or resume one that holds the same annotations."""
    refuse_overwriting(output, read_files(files))
    refuse_unwritable(output)
    documents, findings = by_document(given, allow_gold=allow_gold)
    aligned = [align(annotations) for annotations in documents]
    store = Store(output)
    store.acquire()
    try:
        if output.exists():
            _refuse_different(output, review_file.read(output), aligned)
            return ReviewSession.open(store, change_settings), findings
        return _open_fresh(store, aligned, change_settings(Settings())), findings
    except BaseException:
        store.release()
        raise


def _open_fresh(store: Store, documents: Sequence[Sequence[Annotation]], settings: Settings) -> ReviewSession:
    """Write a new review file and open it; if that fails or is interrupted, there is none."""
    session = None
    try:
        fresh = [fresh_review(annotations, settings) for annotations in documents]
        store.write(review_file.write(fresh).encode("utf-8"))
        session = ReviewSession.open(store, lambda _: settings)
        session.fresh = True
        if len(fresh) == 1:
            session.history(0)  # opens and optimises it
            session.save()
            session.fresh = False
    except BaseException:
        if session is not None:
            session.close()
        store.withdraw()
        raise
    return session


def fresh_review(annotations: Sequence[Annotation], settings: Settings) -> review_file.Review:
    """Return a review of annotations in which nothing is decided, without a result."""
    gold = Annotation(GOLD, annotations[0].document, ())
    return review_file.Review(gold, tuple(annotations), Decisions(), write_settings(settings))


def _refuse_different(
    output: Path, there: Sequence[review_file.Review], documents: Sequence[Sequence[Annotation]]
) -> None:
    """Refuse to resume a review of other documents or annotations."""
    known = [_content(one.annotations) for one in there]
    if known != [_content(annotations) for annotations in documents]:
        raise InputError(
            f"{output}: found a review of other annotations, expected one of these files: "
            "name another with -o, or open this one alone"
        )


def _content(annotations: Sequence[Annotation]) -> object:
    """Return what must be equal for annotations to be the same, whatever files they come from."""
    return [
        (one.annotator, one.document.key, one.document.tokens, one.chains, one.singletons)
        for one in annotations
    ]
