"""Tiny corpora for tests."""

import random
from collections.abc import Iterable
from pathlib import Path

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
        if path.is_file() and not path.name.startswith((".caspr", "summary."))
    }
