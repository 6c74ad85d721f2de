"""How often decisions are wrong by a gold standard, by their votes: the table behind `caspr.confidence`.

    python -m bench.quality ds1 --calibration

A decision is a disputed link, one for each dispute (all links with the same votes and the same decision), a
link between neighbours of a chain where all agree, or what the result says about a mention. It is wrong where
the gold says otherwise: about two mentions, whether they are in one chain; about one mention, which chain of
the result holds most of the other mentions of its chain in the gold; about a boundary, where annotators
marked one mention with several, which of these the gold has, if any. Rates have intervals over documents,
drawn with repetition: decisions of one document go wrong together.
"""

import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bench.quality.judged import Judged, JudgedSet
from bench.quality.responses import adjudicate_set
from bench.quality.scoring import DRAWS, MIDDLE
from caspr.confidence import Confidence, Stances, by_votes
from caspr.disputes import find_disputes
from caspr.result import Result
from caspr.task.votes import count_votes
from caspr.text.document import Span
from caspr.text.variants import find_variants

FEWEST = 5
"""In how many documents decisions must occur for an interval to say something."""


@dataclass(frozen=True)
class Decision:
    """One decision of a result, and whether the gold agrees."""

    kind: str
    """`link`, `mention` or `boundary`."""
    document: int
    confidence: Confidence
    wrong: bool


@dataclass(frozen=True)
class Row:
    """All decisions of one kind with the same votes."""

    kind: str
    against: int
    seen: int
    decisions: int
    documents: int
    expected: float
    """The rate of errors that confidence says, on average."""
    wrong: float
    """The rate that was measured."""
    low: float
    high: float

    @property
    def fits(self) -> bool:
        """Whether what confidence says is within the interval."""
        return self.low <= self.expected <= self.high


def calibrate(judged: JudgedSet, words: str, *, seconds: float, seed: int = 1) -> list[Row]:
    """Adjudicate a dataset, and count its wrong decisions by their votes."""
    results = adjudicate_set(judged, words, seconds=seconds)
    by_votes: dict[tuple[str, int, int], list[Decision]] = defaultdict(list)
    for number, document in enumerate(judged.documents):
        if document.name in results:
            for decision in decisions_of(number, document, results[document.name]):
                sure = decision.confidence
                by_votes[decision.kind, sure.against, sure.seen].append(decision)
    chances = np.full(len(judged.documents), 1 / len(judged.documents))
    drawn = np.random.default_rng(seed).multinomial(len(chances), chances, size=DRAWS)
    return [_row(key, by_votes[key], drawn) for key in sorted(by_votes)]


def decisions_of(number: int, judged: Judged, result: Result) -> Iterator[Decision]:
    """Yield the decisions of one document."""
    gold = {span: chain.id for chain in judged.gold.all_chains for span in chain.mentions}
    home, sure = result.confidences.homes, result.confidences
    agreed = {pair for chain in result.chains for pair in pairwise(chain.mentions)}
    disputed = {dispute.pair for dispute in find_disputes(result)}
    for first, second in sorted(disputed | {pair for pair in agreed if not sure.link(*pair).against}):
        linked = first in home and home[first] == home.get(second)
        right = first in gold and gold[first] == gold.get(second)
        yield Decision("link", number, sure.link(first, second), linked != right)
    expert = Stances(count_votes([judged.gold]), _homes(judged, result, home))
    for mention in sorted(sure):
        [stance] = expert.of(mention)
        yield Decision("mention", number, sure.mention(mention), stance != sure.now(mention))
    yield from _boundaries(number, judged, result)


def _boundaries(number: int, judged: Judged, result: Result) -> Iterator[Decision]:
    """Yield what the result says about boundaries, of mentions that the gold has with one of them."""
    home, right = result.confidences.homes, judged.gold.mentions
    for group in find_variants(result.given.annotations if result.given else judged.annotations).groups:
        # As the review page shows it: of several that are in the result, that of most annotators.
        kept = next((span for span in (group.boundary, *group.spans) if span in home), group.boundary)
        if not right.isdisjoint(group.spans):
            votes = [span == kept for span in group.marked.values()]
            sure = by_votes([1.0] * sum(votes), [1.0] * (len(votes) - sum(votes)))
            yield Decision("boundary", number, sure, kept not in right)


def _homes(judged: Judged, result: Result, home: Mapping[Span, str]) -> dict[Span, str | None]:
    known = judged.gold.mentions | result.instance.votes.marks.keys()
    return {span: home.get(span) for span in known}


def _row(key: tuple[str, int, int], decisions: list[Decision], drawn: NDArray[np.int64]) -> Row:
    wrong, number = np.zeros(drawn.shape[1]), np.zeros(drawn.shape[1])
    for decision in decisions:
        wrong[decision.document] += decision.wrong
        number[decision.document] += 1
    with warnings.catch_warnings(), np.errstate(invalid="ignore", divide="ignore"):
        warnings.simplefilter("ignore")
        low, high = np.nanpercentile((drawn @ wrong) / (drawn @ number), MIDDLE)
    expected = float(np.mean([1 - decision.confidence.value for decision in decisions]))
    rate = float(wrong.sum() / number.sum())
    return Row(*key, len(decisions), int((number > 0).sum()), expected, rate, float(low), float(high))


def calibration_table(name: str, rows: list[Row]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    yield f"| {name} | against | decisions | documents | wrong | 95 % interval | by confidence | within |"
    yield "|---|---:|---:|---:|---:|---:|---:|---|"
    for row in rows:
        within = "few documents" if row.documents < FEWEST else "yes" if row.fits else "no"
        yield (
            f"| {row.kind} | {row.against} of {row.seen} | {row.decisions:,} | {row.documents} | "
            f"{100 * row.wrong:.1f} % | {100 * row.low:.1f} to {100 * row.high:.1f} | "
            f"{100 * row.expected:.1f} % | {within} |"
        )
