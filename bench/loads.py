"""Documents that are large or dense, to see that limits hold and that sparse problems stay small.

dense     every annotator puts mentions into few chains, often at random: somebody links nearly every pair
halves    half of the annotators put everything into one chain, the others pairs of random mentions

Rows for `bench.performance`: how far a run exceeds its limit, and a novel under every objective.
"""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.corpora import Generated, make_document, novel, save
from bench.measure import Measure, measure
from caspr.text.document import Annotation, Chain, Document, Span

ENTITIES = 8
"""How many chains there are in dense documents."""
NOISE = 0.4
"""How often a mention of a dense document goes to a random chain."""
PATIENCE = 1.0
"""Seconds by which a limit may be exceeded."""


def dense(mentions: int, annotators: int) -> Generated:
    """Make a document in which nearly all pairs are linked by somebody."""
    rng, document = random.Random(1), _document("dense", mentions)
    annotations = []
    for _ in range(annotators):
        chains: dict[int, list[Span]] = {}
        for place, span in enumerate(_spans(mentions)):
            entity = rng.randrange(ENTITIES) if rng.random() < NOISE else place % ENTITIES
            chains.setdefault(entity, []).append(span)
        annotations.append(list(chains.values()))
    return _generated(document, annotations)


def halves(mentions: int, annotators: int) -> Generated:
    """Make a document that half of the annotators take for one chain, and the others for pairs."""
    rng, document = random.Random(1), _document("halves", mentions)
    annotations = []
    for number in range(annotators):
        spans = _spans(mentions)
        if number < annotators // 2:
            annotations.append([spans])
        else:
            rng.shuffle(spans)
            annotations.append([spans[start : start + 2] for start in range(0, mentions - 1, 2)])
    return _generated(document, annotations)


def _document(name: str, mentions: int) -> Document:
    return Document(name, tuple(f"w{number}" for number in range(1, mentions + 1)))


def _spans(mentions: int) -> list[Span]:
    return [Span(token, token) for token in range(1, mentions + 1)]


def _generated(document: Document, annotations: Sequence[Sequence[Sequence[Span]]]) -> Generated:
    given = tuple(
        Annotation.of(
            f"annotator{number}", document, [Chain.of(str(n), chain) for n, chain in enumerate(chains)]
        )
        for number, chains in enumerate(annotations, 1)
    )
    return Generated(given[0], given)


def overruns(folder: Path, *, quick: bool) -> Iterator[tuple[str, Measure, float]]:
    """Yield what a run was, what it took and the limit it had."""
    sizes = ((200, 8),) if quick else ((800, 8), (1600, 8))
    loads = [(f"dense {n:,} x {k}", dense(n, k), 2.0) for n, k in sizes]
    most = 500 if quick else 5000
    loads += [(f"{make.__name__} {most:,} x 12", make(most, 12), 5.0) for make in (dense, halves)]
    for name, generated, limit in loads:
        files = save(generated, folder / name.replace(" ", "-"))
        for objective in ("u", "ua"):
            yield f"{name} {objective.upper()}", measure(files, "native", objective, seconds=limit), limit


def novels(folder: Path, *, quick: bool) -> Iterator[tuple[str, Measure]]:
    """Yield what a novel takes under each objective."""
    shape = novel(tokens=20_000, mentions=2_000, longest=300) if quick else novel()
    files = save(make_document(shape, random.Random(1)), folder / "novel-objectives")
    for objective in ("v", "va", "u", "ua"):
        yield objective.upper(), measure(files, "native", objective, seconds=60, megabytes=1000)
