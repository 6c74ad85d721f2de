"""Generate corpora like the paper's DS1 and DS2, with the truth they were made from.

The original datasets are no longer available. Ours are made to their table: for each quantity (annotators,
distinct mentions, longest chain) the documents of a corpus follow a power curve that has the paper's minimum,
average and maximum. A document is made in three steps:

    truth        a text of numbered words with mentions in chains, sizes falling like Zipf's law
    annotators   each finds a share of the mentions, moves some boundaries, adds some of their own,
                 and errs on some links: a mention in another chain, a chain split in two
    files        one per annotator, in CoNLL, and the truth as one more

DS1: annotators find their own mentions, so few spans are shared and many are marked by one annotator only;
     chains are confused with any other, so that in several documents nearly all mentions are connected.
DS2: mentions are given, and annotators differ in what they link; nearly all mentions are never connected.

    python -m bench.corpora ds1 OUT [--scale 2] [--seed 1]
    python -m bench.corpora novel OUT

`--scale` makes all documents of a corpus larger or smaller; the longest chain, the number of chains and of
mentions grow with the text. A novel is one document of 200,000 tokens.
"""

import argparse
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from caspr import write
from caspr.text.document import Annotation, Chain, Document, Span

TRUTH = "truth"
"""The annotator name of the truth that the generator starts from."""


@dataclass(frozen=True)
class Range:
    """A quantity over the documents of a corpus: the paper's minimum, average and maximum."""

    least: float
    average: float
    most: float

    def at(self, position: float) -> float:
        """Return the value of the document at a position from 0, the smallest, to 1, the largest."""
        spread = self.most - self.least
        power = spread / (self.average - self.least) - 1
        return float(self.least + spread * position**power)


@dataclass(frozen=True)
class Noise:
    """How annotators differ from the truth; all are probabilities."""

    found: float
    """A true mention is marked at all."""
    moved: float
    """A marked mention has another boundary."""
    stray: float
    """A mention goes to another chain."""
    split: float
    """A chain is cut in two."""
    own: float
    """Mentions of their own, as a share of the true ones."""
    groups: int = 1
    """The number of groups into which chains fall; a mention strays only within the group of its chain."""


@dataclass(frozen=True)
class Shape:
    """The sizes of a document."""

    name: str
    tokens: int
    annotators: int
    mentions: int
    """True mentions."""
    chains: int
    """True chains."""
    longest: int
    """Mentions of the longest true chain."""
    noise: Noise


@dataclass(frozen=True)
class Corpus:
    """The sizes of the documents of a corpus."""

    name: str
    documents: int
    annotators: Range
    mentions: Range
    """True mentions per document, chosen so that the distinct mentions come out like the paper's."""
    chains: Range
    """True chains per document."""
    longest: Range
    noise: Noise

    def shapes(self, scale: float = 1.0) -> Iterator[Shape]:
        """Yield the shape of every document, the smallest first."""
        for number in range(self.documents):
            position = number / (self.documents - 1)
            mentions = self.mentions.at(position) * scale
            yield Shape(
                name=f"{self.name}-{number + 1:02}",
                tokens=max(2, round(mentions * TOKENS * self.documents * scale / self._total(scale))),
                annotators=round(self.annotators.at(position)),
                mentions=max(2, round(mentions)),
                chains=max(1, round(self.chains.at(position) * scale)),
                longest=max(2, round(self.longest.at(position) * scale)),
                noise=self.noise,
            )

    def _total(self, scale: float) -> float:
        return sum(
            self.mentions.at(number / (self.documents - 1)) * scale for number in range(self.documents)
        )


TOKENS = 1634
"""The paper's average number of tokens of a document."""

DS1 = Corpus(
    "ds1",
    documents=21,
    annotators=Range(6, 6.5, 8),
    mentions=Range(74, 129, 243),
    chains=Range(13, 21.5, 22.3),
    longest=Range(6.5, 56, 118),
    noise=Noise(found=0.575, moved=0.26, stray=0.11, split=0.29, own=0.12),
)
DS2 = Corpus(
    "ds2",
    documents=33,
    annotators=Range(9, 10.3, 11),
    mentions=Range(17, 159.8, 358),
    chains=Range(3.6, 26.6, 52),
    longest=Range(6, 29.5, 73),
    noise=Noise(found=0.92, moved=0.0, stray=0.06, split=0.08, own=0.0, groups=3),
)
CORPORA = {"ds1": DS1, "ds2": DS2}
"""The corpora that can be generated, by name."""


@dataclass(frozen=True)
class Generated:
    """A generated document: the truth, and the annotation of each annotator."""

    truth: Annotation
    annotations: tuple[Annotation, ...]


def generate(corpus: Corpus, *, seed: int = 1, scale: float = 1.0) -> Iterator[Generated]:
    """Make the documents of a corpus; the same seed and scale make the same documents."""
    for shape in corpus.shapes(scale):
        yield make_document(shape, random.Random(f"{seed}/{shape.name}"))


def novel(
    *, tokens: int = 200_000, mentions: int = 20_000, longest: int = 3_000, annotators: int = 5
) -> Shape:
    """Return the shape of a novel with given mentions."""
    return Shape(
        name="novel",
        tokens=tokens,
        annotators=annotators,
        mentions=mentions,
        chains=max(1, mentions // 10),
        longest=longest,
        noise=replace(DS2.noise, stray=0.03, groups=1),
    )


def make_document(shape: Shape, rng: random.Random) -> Generated:
    """Make one document of a shape."""
    document = Document(shape.name, tuple(f"w{number}" for number in range(1, shape.tokens + 1)))
    chains = _true_chains(shape, rng)
    truth = _annotation(TRUTH, document, chains)
    annotations = tuple(
        _annotation(f"annotator{number}", document, _perceived(chains, shape, rng))
        for number in range(1, shape.annotators + 1)
    )
    return Generated(truth, annotations)


def _annotation(name: str, document: Document, chains: list[list[Span]]) -> Annotation:
    return Annotation.of(
        name, document, [Chain.of(str(number), chain) for number, chain in enumerate(chains, 1) if chain]
    )


def _true_chains(shape: Shape, rng: random.Random) -> list[list[Span]]:
    """Place mentions in the text and distribute them to chains of falling sizes."""
    spans = _spans(shape, rng)
    rng.shuffle(spans)
    chains: list[list[Span]] = []
    for size in _sizes(len(spans), shape.chains, shape.longest):
        chains.append(spans[:size])
        spans = spans[size:]
    return chains


def _spans(shape: Shape, rng: random.Random) -> list[Span]:
    """Choose distinct spans of one to four tokens; some lie inside others."""
    spans: set[Span] = set()
    while len(spans) < shape.mentions:
        start = rng.randint(1, shape.tokens)
        spans.add(Span(start, min(shape.tokens, start + rng.choice((0, 0, 0, 1, 1, 2, 3)))))
    return sorted(spans)


def _sizes(mentions: int, chains: int, longest: int) -> list[int]:
    """Return chain sizes with the given sum and maximum, the others falling like Zipf's law from 2."""
    longest = min(longest, mentions)
    rest = max(chains - 1, 1)
    weights = [1 / (rank + 1) for rank in range(rest)]
    free = max(mentions - longest - 2 * rest, 0)
    sizes = [2 + round(free * weight / sum(weights)) for weight in weights]
    sizes = [min(size, longest) for size in sizes]
    left = mentions - longest - sum(sizes)
    for position in range(abs(left)):
        sizes[position % rest] += 1 if left > 0 else -1
    return [longest, *(size for size in sizes if size > 0)]


def _perceived(chains: list[list[Span]], shape: Shape, rng: random.Random) -> list[list[Span]]:
    """Return the chains as one annotator sees them."""
    noise = shape.noise
    seen: list[list[Span]] = [[] for _ in chains]
    for number, chain in enumerate(chains):
        for span in chain:
            if rng.random() < noise.found:
                home = _astray(number, len(chains), noise, rng) if rng.random() < noise.stray else number
                seen[home].append(_moved(span, shape, rng))
    for _ in range(round(noise.own * shape.mentions)):
        start = rng.randint(1, shape.tokens)
        rng.choice(seen).append(Span(start, min(shape.tokens, start + rng.choice((0, 1, 2)))))
    return [part for chain in seen for part in _split(chain, noise, rng)]


def _astray(number: int, chains: int, noise: Noise, rng: random.Random) -> int:
    """Choose a chain of the group that a chain belongs to."""
    group = range(number % noise.groups, chains, noise.groups)
    return group[rng.randrange(len(group))]


def _moved(span: Span, shape: Shape, rng: random.Random) -> Span:
    """Move one boundary of a span now and then."""
    if rng.random() >= shape.noise.moved:
        return span
    if rng.random() < 0.5 and span.start < span.end:
        return Span(span.start + 1, span.end)
    return Span(span.start, min(shape.tokens, span.end + rng.choice((1, 1, 2))))


def _split(chain: list[Span], noise: Noise, rng: random.Random) -> list[list[Span]]:
    if len(chain) < 4 or rng.random() >= noise.split:
        return [chain]
    cut = rng.randint(2, len(chain) - 2)
    return [chain[:cut], chain[cut:]]


def save(generated: Generated, folder: Path) -> list[Path]:
    """Write one file per annotator and one with the truth into a folder; return the annotators' files."""
    folder.mkdir(parents=True, exist_ok=True)
    write([generated.truth], folder / f"{TRUTH}.gold")
    files = [folder / f"{annotation.annotator}.conll" for annotation in generated.annotations]
    for annotation, path in zip(generated.annotations, files, strict=True):
        write([annotation], path)
    return files


def main(words: Sequence[str] | None = None) -> None:
    """Write a corpus as a folder for each document."""
    parser = argparse.ArgumentParser(prog="python -m bench.corpora", description="Write a generated corpus.")
    parser.add_argument("corpus", choices=[*CORPORA, "novel"])
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scale", type=float, default=1.0, help="size of the documents; default: 1")
    given = parser.parse_args(words)
    if not 0 < given.scale < math.inf:
        parser.error(f"--scale: found {given.scale}, expected a number above 0")
    for generated in _documents(given.corpus, given.seed, given.scale):
        save(generated, given.out / generated.truth.document.name)
        print(generated.truth.document.name)


def _documents(name: str, seed: int, scale: float) -> Iterator[Generated]:
    if name in CORPORA:
        yield from generate(CORPORA[name], seed=seed, scale=scale)
        return
    whole = novel()
    tokens, mentions, longest = (
        max(2, round(size * scale)) for size in (whole.tokens, whole.mentions, whole.longest)
    )
    shape = novel(tokens=tokens, mentions=mentions, longest=longest)
    yield make_document(shape, random.Random(f"{seed}/{shape.name}"))


if __name__ == "__main__":
    main()
