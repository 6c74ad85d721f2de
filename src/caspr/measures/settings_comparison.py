"""What different settings make of the same documents: how large golds are, what they keep, how they differ.

Distances are CoNLL F1 without chains of one, pooled over documents: settings differ in whether they keep
chains of one, and most annotators do not mark them. All numbers are exact; an undefined one is `None`.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from caspr.measures.comparison import Matrix, coverage_of, seen_by_both
from caspr.measures.intervals import Interval, paired_interval
from caspr.measures.matching import align
from caspr.measures.scores import CONLL, SCORES, Scores, pool, score
from caspr.result import Result
from caspr.task.solution import Costs, Status
from caspr.text.document import Annotation, Chain, Span, count_links

LEVEL = 0.9
"""How much of the draws the interval of a gain holds."""


@dataclass(frozen=True)
class Gain:
    """A difference in CoNLL F1, without chains of one, and where other documents might have it."""

    difference: float
    interval: Interval | None
    """`None` for a single document."""

    @property
    def is_clear(self) -> bool:
        """Whether other documents of this sort would probably show a gain, too."""
        return self.interval is not None and self.interval.low > 0


@dataclass(frozen=True)
class SettingsRow:
    """What some settings make of all documents."""

    settings: str
    proven: int
    """How many documents are proven optimal."""
    chains: int
    """Chains of two mentions or more."""
    singletons: int
    mentions: int
    """Mentions in chains of two or more."""
    given: int
    """The links that annotators gave, each counted as often as it was given."""
    kept: int
    """Those of them that the gold has."""
    costs: Costs
    """The value by kind, in the coefficients of these settings."""
    annotators: Mapping[str, Fraction | None]
    """How close each annotator is to the gold."""
    scores: tuple[Fraction | None, Fraction | None] | None = None
    """How close the gold is to a given gold standard, without chains of one and with them."""
    gain: Gain | None = None
    """By how much it is closer than the gold of the first settings; `None` for these, and without a key."""


@dataclass(frozen=True)
class SettingsComparison:
    """What several settings make of the same documents."""

    documents: int
    rows: tuple[SettingsRow, ...]
    matrix: Matrix
    """How close the golds of each two are to each other."""


def compare_settings(
    results: Mapping[str, Sequence[Result]], key: Sequence[Annotation] = ()
) -> SettingsComparison:
    """Compare the results of several settings, given by name, for the same documents; also with a key.

    With a key, all are compared with the first settings.
    """
    rows = tuple(_row(name, some, key) for name, some in results.items())
    if key:
        rows = tuple(_with_gains(rows, list(results.values()), key))
    golds = [[result.gold for result in some] for some in results.values()]
    above = {
        (row, column): _distance(golds[row], golds[column])
        for column in range(len(golds))
        for row in range(column)
    }
    matrix = tuple(
        tuple(
            Fraction(1) if row == column else above[min(row, column), max(row, column)]
            for column in range(len(golds))
        )
        for row in range(len(golds))
    )
    return SettingsComparison(len(golds[0]) if golds else 0, rows, matrix)


def _with_gains(
    rows: Sequence[SettingsRow], results: Sequence[Sequence[Result]], key: Sequence[Annotation]
) -> Iterator[SettingsRow]:
    """Yield the rows with what each gains over the first."""
    scored = [score(key, [result.gold for result in some], singletons=False) for some in results]
    for number, row in enumerate(rows):
        ours, first = scored[number].conll, scored[0].conll
        if number == 0 or ours is None or first is None:
            yield row
        else:
            bounds = paired_interval(scored[number], scored[0], LEVEL)
            yield replace(row, gain=Gain(float(ours - first), bounds))


def _row(settings: str, results: Sequence[Result], key: Sequence[Annotation]) -> SettingsRow:
    golds = [result.gold for result in results]
    annotations = [annotation for result in results for annotation in result.instance.annotations]
    return SettingsRow(
        settings,
        proven=sum(result.status is Status.OPTIMAL for result in results),
        chains=sum(len(gold.chains) for gold in golds),
        singletons=sum(len(gold.singletons) for gold in golds),
        mentions=sum(len(chain.mentions) for gold in golds for chain in gold.chains),
        given=sum(count_links(annotation.chains) for annotation in annotations),
        kept=sum(_kept(result.gold, each) for result in results for each in result.instance.annotations),
        costs=sum((result.costs for result in results), Costs()),
        annotators=closeness(results),
        scores=_scores(golds, key) if key else None,
    )


def _kept(gold: Annotation, annotation: Annotation) -> int:
    """Count the links of an annotator that are in the gold."""
    holder = {span: number for number, chain in enumerate(gold.chains) for span in chain.mentions}
    shared: dict[int, dict[int, list[Span]]] = defaultdict(lambda: defaultdict(list))
    for number, chain in enumerate(annotation.chains):
        for span in chain.mentions:
            if span in holder:
                shared[holder[span]][number].append(span)
    return sum(count_links(Chain.of("", spans) for spans in chains.values()) for chains in shared.values())


def closeness(results: Sequence[Result]) -> dict[str, Fraction | None]:
    """Return how close each annotator is to the gold, over what the annotator saw of the documents."""
    pairs: dict[str, list[tuple[Annotation, Annotation]]] = {}
    for result in results:
        for annotation in result.instance.annotations:
            both = seen_by_both(result.gold, annotation, coverage_of(result))
            pairs.setdefault(annotation.annotator, []).append(both)
    return {
        name: _distance([gold for gold, _ in some], [annotation for _, annotation in some])
        for name, some in sorted(pairs.items())
    }


def _distance(keys: Iterable[Annotation], responses: Iterable[Annotation]) -> Fraction | None:
    """Return CoNLL F1 without chains of one, pooled over documents."""
    aligned = [align(*pair, singletons=False) for pair in zip(keys, responses, strict=True)]
    measured = [{measure: SCORES[measure](alignment) for measure in CONLL} for alignment in aligned]
    return Scores(pool(measured)).conll if measured else None


def _scores(
    golds: Sequence[Annotation], key: Sequence[Annotation]
) -> tuple[Fraction | None, Fraction | None]:
    without, both = (
        score(key, golds, singletons=singletons, trees=False).conll for singletons in (False, True)
    )
    return without, both
