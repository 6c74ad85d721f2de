"""Documents with their gold: generated ones, or a folder of your own.

A folder of your own has a folder for each document with a file for each annotator, and the gold in one of
two places: `_gold/DOCUMENT.*` beside those folders, or `truth.*` among the annotators' files, as the
generators of `bench.corpora` write it. Where a gold has a span in several chains, it stays in the longest
of them, the first in a tie: scores need a gold in which every mention has one place.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.corpora import TRUTH
from bench.experiments.documents import Documents, find_documents
from bench.experiments.plan import jumps
from caspr.formats import read_all
from caspr.text.alignment import align
from caspr.text.document import Annotation, Chain, Span

GOLD = "_gold"
"""The folder with the gold of each document."""


@dataclass(frozen=True)
class Judged:
    """A document with its gold, all over the same tokens."""

    gold: Annotation
    annotations: tuple[Annotation, ...]
    """Two annotators or more, by name."""

    @property
    def name(self) -> str:
        """The document's name, unique in its dataset."""
        return self.gold.document.name


@dataclass(frozen=True)
class JudgedSet:
    """The documents of one dataset."""

    name: str
    documents: tuple[Judged, ...]

    @property
    def annotators(self) -> list[str]:
        """The names of all annotators."""
        return sorted({one.annotator for document in self.documents for one in document.annotations})


def read_set(
    source: str, *, folder: Path, seed: int = 1, scale: float = 1.0, most: int | None = None
) -> JudgedSet:
    """Read a dataset: generated in `folder` if it is the name of one, `most` documents over all sizes."""
    found = [one for one in find_documents(source, folder=folder, seed=seed, scale=scale) if one.name != GOLD]
    chosen = sorted(jumps(len(found))[:most])
    return JudgedSet(found[0].dataset, tuple(read_judged(found[place]) for place in chosen))


def read_judged(documents: Documents) -> Judged:
    """Read a document and its gold."""
    gold = _one(read_all([_gold_file(documents)]), documents.name)
    annotations = [_one([given], documents.name) for given in read_all(documents.files)]
    aligned = align([gold, *sorted(annotations, key=lambda one: one.annotator)])
    return Judged(_without_repetitions(aligned[0]), aligned[1:])


def _without_repetitions(gold: Annotation) -> Annotation:
    taken: set[Span] = set()
    chains = []
    for chain in sorted(gold.all_chains, key=lambda chain: (-len(chain.mentions), chain.mentions)):
        chains.append(Chain.of(chain.id, set(chain.mentions) - taken))
        taken |= set(chain.mentions)
    return Annotation.of(gold.annotator, gold.document, [chain for chain in chains if chain.mentions])


def _gold_file(documents: Documents) -> Path:
    place = documents.files[0].parent
    beside = place.parent / GOLD
    found = [path for path in sorted(place.iterdir()) if path.stem == TRUTH]
    if beside.is_dir():
        found += [path for path in sorted(beside.iterdir()) if path.stem == documents.name]
    if not found:
        raise SystemExit(
            f"{place}: found no gold, expected '{TRUTH}.*' in it or '{GOLD}/{documents.name}.*' beside it"
        )
    return found[0]


def _one(files: Sequence[Sequence[Annotation]], name: str) -> Annotation:
    """Return the only annotation of the only file, with the name of the document's folder."""
    [[annotation]] = files
    return replace(annotation, document=replace(annotation.document, name=name, part=None))
