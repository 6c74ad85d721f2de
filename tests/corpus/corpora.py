"""Tiny corpora for tests."""

import random
from collections.abc import Iterable
from pathlib import Path

from caspr.formats import read
from caspr.text.document import Annotation
from tests.formats.everywhere import save
from tests.formats.projects import COREFERENCE, archive, make_cas, packed

ANNOTATORS = ("ann", "bob", "eve")


def document_text(name: str, annotator: str) -> str:
    """Return one annotator's view of a document of eight tokens; the same names give the same text."""
    rng = random.Random(f"{name}/{annotator}")
    rows = []
    for token in range(1, 9):
        chain = rng.choice((1, 1, 2, None)) if token % 2 else None
        rows.append(f"{token}\t{name}-{token}\t{'-' if chain is None else f'({chain})'}\n")
    return f"#begin document ({name});\n{''.join(rows)}#end document\n"


def write_corpus(
    folder: Path, names: Iterable[str], *, by: str = "document", annotators: Iterable[str] = ANNOTATORS
) -> Path:
    """Write a corpus in one of the layouts."""
    folder.mkdir(parents=True, exist_ok=True)
    names, annotators = list(names), list(annotators)
    for annotator in annotators:
        if by == "file":
            text = "".join(document_text(name, annotator) for name in names)
            (folder / f"{annotator}.conll").write_text(text, encoding="utf-8")
            continue
        for name in names:
            path = Path(name, annotator) if by == "document" else Path(annotator, name)
            file = folder / path.with_name(f"{path.name}.conll")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(document_text(name, annotator), encoding="utf-8")
    return folder


def golds(folder: Path) -> dict[str, bytes]:
    """Return every file of an output folder that must have the same bytes each time."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith((".caspr", "summary.", "weights."))
    }


def annotation(folder: Path, name: str, annotator: str) -> Annotation:
    """Return what an annotator of the small corpora says about a document."""
    file = folder / f"{annotator}.conll"
    file.parent.mkdir(exist_ok=True)
    file.write_text(document_text(name, annotator))
    [found] = read(file, annotator)
    return found


def place(folder: Path, name: str, annotator: str, *, by: str) -> Path:
    """Return where an annotator's file is, without its ending."""
    return folder / name / annotator if by == "document" else folder / annotator / name


def write_in(folder: Path, names: Iterable[str], format: str, suffix: str, *, by: str) -> Path:
    """Write a small corpus of two annotators in some format."""
    for name in names:
        for annotator in ANNOTATORS[:2]:
            path = place(folder, name, annotator, by=by)
            path.parent.mkdir(parents=True, exist_ok=True)
            one = annotation(folder.parent / "conll", name, annotator)
            save([one], path.with_name(f"{path.name}{suffix}"), format)
    return folder


def write_project(path: Path) -> Path:
    """Write a project archive of three documents: two people finished one, one the second."""
    chains = {"a": [[(0, 7, "nam"), (21, 23, "pro")]], "b": [[(0, 7, "nam"), (21, 23, "pro"), (26, 32, "")]]}
    work = {
        (name, user): packed(make_cas({COREFERENCE: chains[user]}), user)
        for name in ("bär.txt", "zoo")
        for user in ("a", "b")
    }
    states = {key: "NEW" if key == ("zoo", "b") else "FINISHED" for key in work}
    states["empty", "a"] = "NEW"
    path.write_bytes(archive(work, states))
    return path
