"""Comparisons of annotators: scores and agreement of each with the others, and with the gold standard.

`compare` and `against_gold` make them; the command line and reports show them. All numbers are exact; an
undefined one is `None`.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from caspr.measures.agreement import ALPHAS, Conventions, Tally, tally, tally_all
from caspr.measures.common_view import CoveredPair, score_pairs
from caspr.measures.scores import SCORES, Scores
from caspr.measures.singletons import singletons_count
from caspr.measures.typology import DisagreementCounts, Typology, classify, count_all
from caspr.result import Result
from caspr.text.coverage import Coverage
from caspr.text.document import Annotation, Chain, Document, Span
from caspr.text.findings import times
from caspr.upward import above

if TYPE_CHECKING:
    from pandas import DataFrame

MEASURES = (*SCORES, "conll")
"""All measures of which a matrix is made."""

Matrix = tuple[tuple[Fraction | None, ...], ...]
"""A number for each annotator (row) and each other (column)."""


class Rates(NamedTuple):
    """Recall, precision and F1 of one measure."""

    recall: Fraction | None
    """The share of the gold standard that the annotator has."""
    precision: Fraction | None
    """The share of the annotator's work that the gold standard has."""
    f1: Fraction | None
    """The balance of both."""


Standings = Mapping[str, Mapping[str, Rates]]
"""For each annotator, each measure against the gold standard."""


@dataclass(frozen=True)
class Comparison:
    """How far the annotators of one document, or of several, agree."""

    title: str
    """The document, or what the documents have in common."""
    annotators: tuple[str, ...]
    """Their names, in the order of rows and columns."""
    alpha: Mapping[str, Fraction | None]
    """Chance-corrected agreement of all of them, by kind."""
    matrices: Mapping[str, Matrix]
    """F1 of each pair of annotators by measure, the row being the key; and alpha of the pair, by kind."""
    without: Mapping[str, Mapping[str, Fraction | None]]
    """For each annotator, the agreement of all others, by kind of alpha."""
    typologies: tuple[tuple[Document, Typology], ...]
    """Every document with its disputed mentions."""
    pairs: Mapping[tuple[str, str], DisagreementCounts]
    """The disputed mentions of each annotator and each other by kind, as the first of the two sees them."""

    def __repr__(self) -> str:
        """Summarise the comparison in one line, whatever its size."""
        counts, annotators = self.disagreement, times(len(self.annotators), "annotator")
        disputed = f"{counts.disputed:,} of {times(counts.mentions, 'mention')} disputed"
        return f"<Comparison of {annotators}, {self.title!r}: {disputed}>"

    @cached_property
    def disagreement(self) -> DisagreementCounts:
        """The disputed mentions of all documents, by kind."""
        return sum((typology.counts for _, typology in self.typologies), DisagreementCounts())

    @cached_property
    def marked(self) -> Mapping[tuple[int, int], int]:
        """How many mentions so many of so many annotators who saw them marked, whatever the boundaries."""
        found = sum((Counter(typology.marked) for _, typology in self.typologies), Counter[tuple[int, int]]())
        return dict(sorted(found.items()))

    def to_frame(self, what: str = "conll") -> "DataFrame":
        """Return a pandas DataFrame: a matrix by its name, `numbers`, `kinds` or `disagreements`."""
        return above("comparison_frame")(self, what)

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return str(above("comparison_html")(self))

    def with_others(self, matrix: str, annotator: str) -> Fraction | None:
        """Return the mean of one annotator's numbers with each of the others; undefined ones are left out."""
        row = self.annotators.index(annotator)
        return average([number for column, number in enumerate(self.matrices[matrix][row]) if column != row])

    def between(self, matrix: str) -> Fraction | None:
        """Return the mean over all pairs of annotators."""
        cells = self.matrices[matrix]
        return average(
            [number for row, line in enumerate(cells) for column, number in enumerate(line) if row < column]
        )


def compare(
    documents: Sequence[Sequence[Annotation]],
    *,
    conventions: Conventions | None = None,
    singletons: bool | None = None,
    coverages: Sequence[Coverage | None] | None = None,
) -> Comparison:
    """Compare all annotators over the documents they share.

    Agreement and disagreements count only annotators who saw a mention, by `coverages`; scores only what
    both saw (`common_view`).
    Two annotators are scored over the documents that both have; documents are pooled by adding counts.
    """
    names = tuple(dict.fromkeys(one.annotator for annotations in documents for one in annotations))
    seen = coverages or [None] * len(documents)
    whole = tally_all(documents, conventions, seen)
    pairs = {
        (one, other): _covered(documents, seen, (one, other))
        for row, one in enumerate(names)
        for other in names[row + 1 :]
    }
    return Comparison(
        title=_title(documents),
        annotators=names,
        alpha={kind: whole.alpha(kind) for kind in ALPHAS},
        matrices=_score_matrices(names, documents, singletons, seen)
        | _alpha_matrices(names, pairs, conventions),
        without={name: _without(name, documents, conventions, seen) for name in names},
        typologies=tuple(_typologies(documents, singletons, seen)),
        pairs=_pair_counts(pairs, singletons),
    )


def compare_results(results: Sequence[Result]) -> Comparison:
    """Compare the annotators of some results, with their own boundaries, each by what that one saw."""
    return compare(
        [result.annotations for result in results], coverages=[coverage_of(one) for one in results]
    )


def coverage_of(result: Result) -> Coverage | None:
    """Return what annotators saw of a document, where the settings of its result say so."""
    return None if result.given is None else result.given.settings.coverage_of(result.given.annotations)


def compare_each(
    documents: Sequence[Sequence[Annotation]],
    *,
    conventions: Conventions | None = None,
    singletons: bool | None = None,
    coverages: Sequence[Coverage | None] | None = None,
) -> list[Comparison]:
    """Compare the annotators of each document by itself."""
    return [
        compare([annotations], conventions=conventions, singletons=singletons, coverages=[coverage])
        for annotations, coverage in zip(documents, coverages or [None] * len(documents), strict=True)
    ]


def against_gold(results: Sequence[Result]) -> Standings:
    """Score each annotator against the gold standard, over what the annotator saw of the documents.

    Chains of one count only where both have some (`singletons.py`): where the gold standard has none, an
    annotator is not blamed for them.
    """
    files: dict[str, list[CoveredPair]] = {}
    for result in results:
        for annotation in result.annotations:
            one = CoveredPair((result.gold, annotation), coverage_of(result))
            files.setdefault(annotation.annotator, []).append(one)
    return {name: _rates(score_pairs(pairs, None)) for name, pairs in files.items()}


def _rates(scores: Scores) -> dict[str, Rates]:
    rates = {
        name: Rates(counts.recall.value, counts.precision.value, counts.f1)
        for name, counts in scores.counts.items()
    }
    return {**rates, "conll": Rates(None, None, scores.conll)}


def deviations(results: Sequence[Result]) -> Mapping[str, DisagreementCounts]:
    """Count the mentions in which each annotator departs from the gold standard, as that one sees them."""
    found: dict[str, list[CoveredPair]] = {}
    for result in results:
        for annotation in result.annotations:
            one = CoveredPair((annotation, result.gold), coverage_of(result))
            found.setdefault(annotation.annotator, []).append(one)
    return {name: _counted(pairs, None) for name, pairs in found.items()}


def _covered(
    documents: Sequence[Sequence[Annotation]], seen: Sequence[Coverage | None], names: tuple[str, str]
) -> list[CoveredPair]:
    return [
        CoveredPair(pair, coverage)
        for annotations, coverage in zip(documents, seen, strict=True)
        for pair in shared_documents([annotations], names)
    ]


def _counted(pairs: Sequence[CoveredPair], singletons: bool | None) -> DisagreementCounts:
    coverages = [pair.coverage for pair in pairs]
    return count_all([pair.annotations for pair in pairs], singletons=singletons, coverages=coverages)


def _typologies(
    documents: Sequence[Sequence[Annotation]], singletons: bool | None, seen: Sequence[Coverage | None]
) -> Iterator[tuple[Document, Typology]]:
    sides: dict[str, list[Annotation]] = {}
    for annotations in documents:
        for one in annotations:
            sides.setdefault(one.annotator, []).append(one)
    alone = singletons_count(sides.values(), singletons)
    for annotations, coverage in zip(documents, seen, strict=True):
        yield annotations[0].document, classify(annotations, singletons=alone, coverage=coverage)


def _pair_counts(
    pairs: dict[tuple[str, str], list[CoveredPair]], singletons: bool | None
) -> dict[tuple[str, str], DisagreementCounts]:
    found = {}
    for (one, other), documents in pairs.items():
        counts = _counted(documents, singletons)
        found[one, other], found[other, one] = counts, counts.reversed()
    return found


def _title(documents: Sequence[Sequence[Annotation]]) -> str:
    return documents[0][0].document.title if len(documents) == 1 else "all documents"


def shared_documents(
    documents: Sequence[Sequence[Annotation]], names: tuple[str, ...]
) -> list[tuple[Annotation, ...]]:
    """Return the annotations of some annotators in the documents that all of them have."""
    found = []
    for annotations in documents:
        by_name = {annotation.annotator: annotation for annotation in annotations}
        if all(name in by_name for name in names):
            found.append(tuple(by_name[name] for name in names))
    return found


def _score_matrices(
    names: Sequence[str],
    documents: Sequence[Sequence[Annotation]],
    singletons: bool | None,
    seen: Sequence[Coverage | None],
) -> dict[str, Matrix]:
    scores = {
        (one, other): _score(_covered(documents, seen, (one, other)), singletons)
        for one in names
        for other in names
    }

    def f1(one: str, other: str, measure: str) -> Fraction | None:
        found = scores[one, other]
        return None if found is None else found.f1(measure)

    return {
        measure: tuple(tuple(f1(one, other, measure) for other in names) for one in names)
        for measure in MEASURES
    }


def _score(pairs: Sequence[CoveredPair], singletons: bool | None) -> Scores | None:
    return score_pairs(keyed(pairs), singletons) if pairs else None


def keyed(pairs: Iterable[CoveredPair]) -> list[CoveredPair]:
    """Make each annotation of some pairs fit to be a key."""
    return [pair._replace(annotations=tuple(map(in_first_chain, pair.annotations))) for pair in pairs]


def in_first_chain(annotation: Annotation) -> Annotation:
    """Keep every span only in the first of its chains, so that the annotation can be a key."""
    seen: set[Span] = set()
    chains = []
    for chain in sorted((*annotation.chains, *annotation.singletons), key=lambda chain: chain.mentions):
        chains.append(Chain.of(chain.id, [span for span in chain.mentions if span not in seen]))
        seen.update(chain.mentions)
    return Annotation.of(
        annotation.annotator, annotation.document, [chain for chain in chains if chain.mentions]
    )


def _alpha_matrices(
    names: Sequence[str],
    pairs: dict[tuple[str, str], list[CoveredPair]],
    conventions: Conventions | None,
) -> dict[str, Matrix]:
    tallies: dict[tuple[str, str], Tally] = {}
    for (one, other), documents in pairs.items():
        tallies[one, other] = tallies[other, one] = tally_all(
            [pair.annotations for pair in documents], conventions, [pair.coverage for pair in documents]
        )
    return {
        kind: tuple(
            tuple(None if one == other else tallies[one, other].alpha(kind) for other in names)
            for one in names
        )
        for kind in ALPHAS
    }


def _without(
    name: str,
    documents: Sequence[Sequence[Annotation]],
    conventions: Conventions | None,
    seen: Sequence[Coverage | None],
) -> dict[str, Fraction | None]:
    rest = Tally()
    for annotations, coverage in zip(documents, seen, strict=True):
        others = [annotation for annotation in annotations if annotation.annotator != name]
        if len(others) > 1:
            rest += tally(others, conventions, coverage)
    return {kind: rest.alpha(kind) for kind in ALPHAS}


def average(numbers: Sequence[Fraction | None]) -> Fraction | None:
    """Return the mean of those that are defined.

    >>> average([Fraction(1, 2), None, Fraction(1)]), average([None])
    (Fraction(3, 4), None)
    """
    known = [number for number in numbers if number is not None]
    return sum(known, Fraction(0)) / len(known) if known else None
