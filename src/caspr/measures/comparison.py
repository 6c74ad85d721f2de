"""Comparisons of annotators: scores and agreement of each with the others, and with the gold standard.

`compare` and `against_gold` make them; the command line and reports show them. All numbers are exact; an
undefined one is `None`.

**Coverage.** Where annotators saw different parts of a text, both sides are cut to what both saw:

    tokens   1 ........ 240 ........ 500
    Anna     =============                      scored from token 200 to 240 only: that Anna has nothing
    Ben             ==================          after it, and Ben nothing before it, is no mistake

A mention counts between two annotators if each of them saw it, or marked it. A chain of which one mention is
left is a chain of one, and counts only where chains of one do, which the uncut annotations decide: cutting
must not bring them into a comparison of annotators who have none. A gold standard is about the whole text;
it is cut to what the annotator saw who is scored against it. Without coverage nothing is cut. Where nothing
was seen by both, nothing is counted.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations, combinations_with_replacement
from typing import TYPE_CHECKING, NamedTuple

from caspr.measures.agreement import ALPHAS, Conventions, Tally, ValueTable, tally_some
from caspr.measures.marks import Flags, Marks
from caspr.measures.matching import align_marks, singletons_count
from caspr.measures.scores import SCORES, Scores, pool, score
from caspr.measures.typology import DisagreementCounts, Typology, classify_marks
from caspr.notebook_methods import above
from caspr.result import Result
from caspr.text.coverage import Coverage
from caspr.text.document import Annotation, Chain, Document, Span
from caspr.text.findings import times

if TYPE_CHECKING:
    from pandas import DataFrame

MEASURES = (*SCORES, "conll")
"""All measures of which a matrix is made."""
Matrix = tuple[tuple[Fraction | None, ...], ...]
"""A number for each annotator (row) and each other (column)."""


class CoveredPair(NamedTuple):
    """What two annotators, of whom one may be a gold standard, say of a document, and what they saw of it."""

    annotations: tuple[Annotation, ...]
    coverage: Coverage | None


class MarkedPair(NamedTuple):
    """Two annotators of a document, by number, and who saw which span of it."""

    marks: Marks
    who: tuple[int, int]
    seen: Flags | None


class Rates(NamedTuple):
    """Recall, precision and F1 of one measure."""

    recall: Fraction | None
    """The share of the gold standard that the annotator has."""
    precision: Fraction | None
    """The share of the annotator's work that the gold standard has."""
    f1: Fraction | None


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
    """The disputed mentions of each annotator and each other by kind, as the first of the two sees them.

    Two of whom nothing can be compared, as those who share no document, are not there.
    """
    singletons: bool | None = None
    """Whether chains of one count in the scores; `None` where both of a pair have some."""

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
        """For each k and n: how many mentions were marked by k of the n annotators who saw them."""
        marked: Counter[tuple[int, int]] = Counter()
        for _, typology in self.typologies:
            marked.update(typology.marked)
        return dict(sorted(marked.items()))

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
    both saw. Two annotators are scored over the documents that both have; documents are pooled by adding
    counts.
    """
    names = tuple(
        dict.fromkeys(annotation.annotator for annotations in documents for annotation in annotations)
    )
    seen = coverages or [None] * len(documents)
    marks = [Marks.of(document) for document in documents]
    flags = [one.seen(coverage) for one, coverage in zip(marks, seen, strict=True)]
    tables = [ValueTable.of_marks(one, saw, conventions) for one, saw in zip(marks, flags, strict=True)]
    whole = _tally(documents, tables, names)
    pairs = {two: _marked_pairs(marks, two, flags) for two in combinations_with_replacement(names, 2)}
    return Comparison(
        title=documents[0][0].document.title if len(documents) == 1 else "all documents",
        annotators=names,
        alpha=_alphas(whole),
        matrices=_score_matrices(names, pairs, singletons) | _alpha_matrices(names, documents, tables),
        without={name: _alphas(_tally(documents, tables, {*names} - {name})) for name in names},
        typologies=tuple(_typologies(documents, marks, singletons, flags)),
        pairs=_pair_counts(pairs, singletons),
        singletons=singletons,
    )


def compare_results(results: Sequence[Result]) -> Comparison:
    """Compare the annotators of some results, with their own boundaries, each by what that one saw."""
    return compare([result.annotations for result in results], coverages=list(map(coverage_of, results)))


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

    Chains of one count only where both have some (`matching`): where the gold standard has none, an
    annotator is not blamed for them.
    """
    return {name: _rates(score_pairs(pairs, None)) for name, pairs in _with_gold(results).items()}


def _with_gold(results: Sequence[Result]) -> dict[str, list[CoveredPair]]:
    """Return the gold standard and what each annotator says, for each document of the annotator."""
    pairs: dict[str, list[CoveredPair]] = {}
    for result in results:
        for annotation in result.annotations:
            pair = CoveredPair((result.gold, annotation), coverage_of(result))
            pairs.setdefault(annotation.annotator, []).append(pair)
    return pairs


def _rates(scores: Scores) -> dict[str, Rates]:
    rates = {
        name: Rates(counts.recall.value, counts.precision.value, counts.f1)
        for name, counts in scores.counts.items()
    }
    return {**rates, "conll": Rates(None, None, scores.conll)}


def deviations(results: Sequence[Result]) -> Mapping[str, DisagreementCounts]:
    """Count the mentions in which each annotator departs from the gold standard, as that one sees them."""
    shared: dict[str, list[MarkedPair]] = {}
    for result in results:
        marks = Marks.of([result.gold, *result.annotations])
        flags = marks.seen(coverage_of(result))
        for number, annotation in enumerate(result.annotations, 1):
            shared.setdefault(annotation.annotator, []).append(MarkedPair(marks, (number, 0), flags))
    return {name: _counted(pairs, None) for name, pairs in shared.items()}


def _marked_pairs(
    documents: Sequence[Marks], names: tuple[str, str], seen: Sequence[Flags | None]
) -> list[MarkedPair]:
    """Return two annotators, who may be one and the same, in the documents that both have."""
    return [
        MarkedPair(marks, (marks.annotators.index(names[0]), marks.annotators.index(names[1])), flags)
        for marks, flags in zip(documents, seen, strict=True)
        if {*names} <= {*marks.annotators}
    ]


def shared_documents(
    documents: Sequence[Sequence[Annotation]], names: tuple[str, ...]
) -> list[tuple[Annotation, ...]]:
    """Return the annotations of some annotators in the documents that all of them have."""
    shared = []
    for annotations in documents:
        by_name = {annotation.annotator: annotation for annotation in annotations}
        if all(name in by_name for name in names):
            shared.append(tuple(by_name[name] for name in names))
    return shared


def score_pairs(pairs: Sequence[CoveredPair], singletons: bool | None) -> Scores:
    """Score the second annotation of each document against the first, over what both saw."""
    alone = singletons_count(zip(*(pair.annotations for pair in pairs), strict=True), singletons)
    seen = [seen_by_both(key, response, coverage) for (key, response), coverage in pairs]
    keys, responses = [key for key, _ in seen], [response for _, response in seen]
    return score(keys, responses, singletons=alone, trees=False)


def seen_by_both(
    first: Annotation, second: Annotation, coverage: Coverage | None
) -> tuple[Annotation, Annotation]:
    """Return what two annotators, of whom one may be a gold standard, say about what both saw.

    >>> from caspr.text.document import Document
    >>> text = Document("d", ("a", "b", "c"))
    >>> anna = Annotation.of("anna", text, [Chain.of("1", [(1, 1), (2, 2), (3, 3)])])
    >>> ben = Annotation.of("ben", text, [Chain.of("1", [(2, 2), (3, 3)])])
    >>> seen = seen_by_both(anna, ben, Coverage.of({"ben": [(2, 3)]}))
    >>> [chain.mentions for one in seen for chain in one.chains] == [ben.chains[0].mentions] * 2
    True
    """
    return _cut(first, second, coverage), _cut(second, first, coverage)


def _cut(annotation: Annotation, partner: Annotation, coverage: Coverage | None) -> Annotation:
    """Leave out what another annotator did not see."""
    if not coverage:
        return annotation
    own, marked = annotation.mentions, partner.mentions
    kept = {span for span in own if span in marked or coverage.sees(partner.annotator, span)}
    if len(kept) == len(own):
        return annotation
    cut = Annotation.of(
        annotation.annotator,
        annotation.document,
        [
            Chain.of(chain.id, left)
            for chain in annotation.all_chains
            if (left := _left(chain.mentions, kept))
        ],
    )
    return replace(cut, as_given=tuple(left for spans in annotation.as_given if (left := _left(spans, kept))))


def _left(mentions: tuple[Span, ...], kept: set[Span]) -> tuple[Span, ...]:
    return tuple(span for span in mentions if span in kept)


def keyed(pairs: Iterable[CoveredPair]) -> list[CoveredPair]:
    """Make each annotation of some pairs fit to be a key."""
    return [pair._replace(annotations=tuple(map(in_first_chain, pair.annotations))) for pair in pairs]


def in_first_chain(annotation: Annotation) -> Annotation:
    """Keep every span only in the first of its chains, so that the annotation can be a key."""
    marks = sum(len(chain.mentions) for chain in annotation.all_chains)
    if not annotation.as_given and marks == len(annotation.mentions):
        return annotation
    seen: set[Span] = set()
    chains = []
    for chain in sorted(annotation.all_chains, key=lambda chain: chain.mentions):
        chains.append(Chain.of(chain.id, [span for span in chain.mentions if span not in seen]))
        seen.update(chain.mentions)
    return Annotation.of(
        annotation.annotator, annotation.document, [chain for chain in chains if chain.mentions]
    )


def _counted(pairs: Sequence[MarkedPair], singletons: bool | None) -> DisagreementCounts:
    """Count the mentions that two annotators dispute, in all documents that both have."""
    if singletons is None:
        singletons = all(any(marks.singletons[who[side]] for marks, who, _ in pairs) for side in (0, 1))
    counts = (classify_marks(marks, who, singletons, seen).counts for marks, who, seen in pairs)
    return sum(counts, DisagreementCounts())


def _typologies(
    documents: Sequence[Sequence[Annotation]],
    marks: Sequence[Marks],
    singletons: bool | None,
    seen: Sequence[Flags | None],
) -> Iterator[tuple[Document, Typology]]:
    sides: dict[str, list[Annotation]] = {}
    for annotations in documents:
        for annotation in annotations:
            sides.setdefault(annotation.annotator, []).append(annotation)
    alone = singletons_count(sides.values(), singletons)
    for annotations, one, flags in zip(documents, marks, seen, strict=True):
        yield annotations[0].document, classify_marks(one, range(len(annotations)), alone, flags)


def _pair_counts(
    pairs: Mapping[tuple[str, str], Sequence[MarkedPair]], singletons: bool | None
) -> dict[tuple[str, str], DisagreementCounts]:
    by_pair = {}
    for (first, second), shared in pairs.items():
        if first != second and any(map(_is_comparable, shared)):
            counts = _counted(shared, singletons)
            by_pair[first, second], by_pair[second, first] = counts, counts.reversed()
    return by_pair


def _is_comparable(pair: MarkedPair) -> bool:
    """Return whether either of two annotators marked anything that the other saw."""
    return any(kept.any() for kept in pair.marks.kept(pair.who, pair.seen))


def _score_matrices(
    names: Sequence[str], pairs: Mapping[tuple[str, str], Sequence[MarkedPair]], singletons: bool | None
) -> dict[str, Matrix]:
    scores: dict[tuple[str, str], Scores | None] = {}
    for (key, response), shared in pairs.items():
        scored = _scored(shared, singletons) if shared else None
        scores[response, key] = None if scored is None else scored.reversed()
        scores[key, response] = scored

    def f1(key: str, response: str, measure: str) -> Fraction | None:
        pair = scores[key, response]
        return None if pair is None else pair.f1(measure)

    return {
        measure: tuple(tuple(f1(key, response, measure) for response in names) for key in names)
        for measure in MEASURES
    }


def _scored(pairs: Sequence[MarkedPair], singletons: bool | None) -> Scores:
    """Score the second of two annotators against the first, over what both saw."""
    if singletons is None:
        singletons = all(
            any(marks.first_chain_alone[who[side]] for marks, who, _ in pairs) for side in (0, 1)
        )
    aligned = [align_marks(*pair, singletons=singletons) for pair in pairs]
    return Scores(pool([{measure: count(each) for measure, count in SCORES.items()} for each in aligned]))


def _alpha_matrices(
    names: Sequence[str], documents: Sequence[Sequence[Annotation]], tables: Sequence[ValueTable]
) -> dict[str, Matrix]:
    alphas = {frozenset(pair): _alphas(_tally(documents, tables, pair)) for pair in combinations(names, 2)}
    return {
        kind: tuple(
            tuple(None if first == second else alphas[frozenset((first, second))][kind] for second in names)
            for first in names
        )
        for kind in ALPHAS
    }


def _alphas(counts: Tally) -> dict[str, Fraction | None]:
    return {kind: counts.alpha(kind) for kind in ALPHAS}


def _tally(
    documents: Sequence[Sequence[Annotation]], tables: Sequence[ValueTable], names: Collection[str]
) -> Tally:
    """Pool the counts of some annotators over all documents; where there is only one, nothing is counted."""
    parts = (
        tally_some(table, [number for number, one in enumerate(annotations) if one.annotator in names])
        for annotations, table in zip(documents, tables, strict=True)
    )
    return sum(parts, Tally())


def average(numbers: Sequence[Fraction | None]) -> Fraction | None:
    """Return the mean of those that are defined.

    >>> average([Fraction(1, 2), None, Fraction(1)]), average([None])
    (Fraction(3, 4), None)
    """
    known = [number for number in numbers if number is not None]
    return sum(known, Fraction(0)) / len(known) if known else None
