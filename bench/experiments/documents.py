"""The documents of an experiment: generated like the paper's datasets, or folders of your own."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.corpora import CORPORA, TRUTH, generate, save


@dataclass(frozen=True)
class Documents:
    """The annotators' files of one document."""

    dataset: str
    name: str
    files: tuple[Path, ...]


def find_documents(source: str, *, folder: Path, seed: int, scale: float) -> list[Documents]:
    """Return the documents of a dataset: made in `folder` if it is the name of a generated one.

    A folder of your own has one folder per document with a file per annotator in it; a file with the
    truth, as the generators write it, is left out.
    """
    if source in CORPORA:
        return list(_generated(source, folder / "documents" / source, seed, scale))
    own = Path(source)
    if not own.is_dir():
        names = ", ".join(CORPORA)
        raise SystemExit(
            f"datasets: found '{source}', expected {names}, or a folder with a folder per document"
        )
    found = [
        Documents(own.resolve().name, place.name, files)
        for place in sorted(own.iterdir())
        if place.is_dir() and len(files := annotator_files(place)) > 1
    ]
    if not found:
        raise SystemExit(
            f"{source}: found no folder with the files of two annotators, expected one per document"
        )
    return found


def annotator_files(place: Path) -> tuple[Path, ...]:
    """Return the annotators' files in a document's folder."""
    files = (path for path in place.iterdir() if path.is_file() and not path.name.startswith("."))
    return tuple(sorted(path for path in files if path.stem != TRUTH))


def _generated(name: str, folder: Path, seed: int, scale: float) -> Iterator[Documents]:
    for generated in generate(CORPORA[name], seed=seed, scale=scale):
        document = generated.truth.document.name
        yield Documents(name, document, tuple(save(generated, folder / document)))
