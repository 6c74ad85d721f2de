"""Reliability: how far each annotator's links can be trusted, learned from where annotators agree.

For a pair of mentions there is a truth, coreferent or not, that nobody knows. Each annotator has

    sensitivity    the share of the coreferent pairs that the annotator links
    specificity    the share of the other pairs that the annotator does not link

and errs independently of the others (the model of Dawid and Skene for two answers). Expectation
maximisation finds both for every annotator, and the share of coreferent pairs (the prior), from the links
alone: the share of annotators who linked a pair is the first guess of the probability that it is
coreferent; then annotators are estimated from these probabilities and the probabilities from the
annotators, in turn, until nothing changes.

**What is counted**: all pairs of mentions that somebody linked with something in a document,
over the whole corpus. Pairs that nobody linked are among them, and must be: without them, nothing shows how
often annotators agree that two mentions are not coreferent, and the likeliest answer is that only pairs
that everybody linked are. An annotator who did not see both mentions says nothing about a pair, and a pair
that fewer than `ANNOTATORS` annotators saw is left out: with two, nothing shows who is right.

**Coefficients** are the logarithms of what a vote says, in tenths, as whole numbers:

    omit      10 log(sensitivity / (1 - specificity))       how much a link speaks for a pair
    use       10 log(specificity / (1 - sensitivity))       how much a missing link speaks against it
    constant  10 log((1 - prior) / prior)                   how much any pair has against it

so that the cheapest set of pairs is the most probable one. A negative value, of a vote that would speak
against what it says, becomes 0, with a finding. An annotator with few pairs is estimated near the average
of all: everybody's own errors count together with `AVERAGE_ERRORS` errors of an average annotator, in as
many pairs as the average annotator makes them in.

The same files give the same table in whatever order they are read, because patterns are sorted before
anything is added up. These are estimates, in floating point; what follows from the whole numbers is exact.

**Patterns.** Pairs are counted without listing them. The pattern of a pair is who saw both mentions, and who
put them into one chain. Mentions are of one *kind* that are in the same chains and were seen by the same
annotators; all pairs of two kinds have one pattern. So a chain of a thousand mentions costs as much as its
few kinds, and pairs that nobody linked are all pairs less the linked ones. A disputed pair of kinds is one
*disagreement*: where an annotator split a long chain, hundreds of pairs of mentions go with one
misunderstanding. An annotator who marked a mention saw it, whatever the coverage says.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from caspr.errors import InputError
from caspr.measures.matching import count_pairs
from caspr.task.instance import Instance
from caspr.task.votes import Evidence, Signature, meet
from caspr.task.weights import CONSTANT, FEWEST, AnnotatorWeights, WeightsTable
from caspr.text.findings import Finding, warning


class Pattern(NamedTuple):
    """What annotators say about a pair of mentions."""

    viewers: tuple[str, ...]
    """Who saw both, by name."""
    givers: tuple[str, ...]
    """Who linked them, by name."""


@dataclass(frozen=True)
class Patterns:
    """What annotators say about the pairs of mentions of a document, or of several."""

    pairs: Counter[Pattern] = field(default_factory=Counter)
    disagreements: Counter[Pattern] = field(default_factory=Counter)
    """How many pairs of kinds have each disputed pattern: a long chain that somebody split is one."""
    annotators: frozenset[str] = frozenset()
    """Those of documents for which learned weights are used, also if nothing is linked there."""

    def __add__(self, other: "Patterns") -> "Patterns":
        """Pool two documents."""
        return Patterns(
            self.pairs + other.pairs,
            self.disagreements + other.disagreements,
            self.annotators | other.annotators,
        )


def instance_patterns(instance: Instance) -> Patterns:
    """Count all pairs of mentions that somebody linked with something in a document, by pattern.

    Coverage counts as the instance has it, and boundaries are united where it has variants.
    """
    kinds = Counter(instance.votes.signatures.values())
    pairs: Counter[Evidence] = Counter()
    disagreements: Counter[Evidence] = Counter()
    for viewers, number in _viewed_pairs(kinds):
        pairs[Evidence(0, viewers)] += number
    for first, second, number in _linked_pairs(kinds):
        evidence = meet(first, second)
        pairs[Evidence(0, evidence.viewers)] -= number
        pairs[evidence] += number
        disagreements[evidence] += number > 0 and evidence.k < evidence.n
    names = [annotation.annotator for annotation in instance.annotations]
    weighted = names if len(names) >= FEWEST else ()
    return Patterns(_by_name(pairs, names), _by_name(disagreements, names), frozenset(weighted))


def _by_name(counts: Counter[Evidence], names: Sequence[str]) -> Counter[Pattern]:
    patterns: Counter[Pattern] = Counter()
    for evidence, number in counts.items():
        patterns[Pattern(_named(evidence.viewers, names), _named(evidence.givers, names))] += number
    return +patterns


def _named(annotators: int, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted(name for number, name in enumerate(names) if annotators >> number & 1))


def _viewed_pairs(kinds: Counter[Signature]) -> Iterator[tuple[int, int]]:
    """Yield who saw both mentions of all pairs, with how many there are."""
    mentions: Counter[int] = Counter()
    for kind, number in kinds.items():
        mentions[kind.viewers] += number
    for first, second in combinations_with_replacement(mentions, 2):
        yield first & second, count_pairs(mentions[first], None if first == second else mentions[second])


def _linked_pairs(kinds: Counter[Signature]) -> Iterator[tuple[Signature, Signature, int]]:
    """Yield all pairs of kinds that share a chain, with how many pairs of mentions there are."""
    members: dict[tuple[int, int], list[Signature]] = defaultdict(list)
    order = {kind: number for number, kind in enumerate(kinds)}
    for kind in kinds:
        for chain in kind.chains:
            members[chain].append(kind)
    for kind, size in kinds.items():
        yield kind, kind, count_pairs(size)
        for near in {near for chain in kind.chains for near in members[chain]}:
            if order[near] > order[kind]:
                yield kind, near, count_pairs(size, kinds[near])


ANNOTATORS = FEWEST
"""How many annotators must have seen a pair, and be in the corpus, for anything to be learned."""
DISAGREEMENTS = 30
"""How many disagreements there must be for each annotator.

They are counted by kinds, not by pairs of mentions, because pairs of one chain go wrong together. Of 170
samples of Hebrew news with three annotators, those with fewer than 80 disagreements lost up to 6.7 points of
CoNLL F1 by learned weights, those with more at most 0.6; by pairs, there is no such border. It is no
guarantee: of simulated corpora with 30 to 60 disagreements for each annotator, 9 of 29 lost more than half a
point, at most 2.6, though they gained 1.1 on average; of those with more, 8 of 98.
"""
AVERAGE_ERRORS = 50.0
"""How many errors of an average annotator count together with an annotator's own.

Pairs of one chain go wrong together, so that fifty wrong pairs can be one misunderstanding. With fewer, one
annotator is trusted too much in small corpora: in 145 corpora of 1 to 20 documents with three to five
simulated annotators, learned weights gain 2.5 points of CoNLL F1 on average with 5, 2.8 with 50 and 2.0 with
300, and lose more than half a point in 24, 19 and 21 of them. On large corpora it changes nothing.
"""
SCALE = 10
"""Coefficients are logarithms times this."""
STEPS = 10_000
"""The most rounds of estimation."""
STILL = 1e-12
"""Estimation ends when no probability changes by more."""


@dataclass(frozen=True)
class AnnotatorReliability:
    """What was learned about one annotator."""

    annotator: str
    links: int
    """The links that the annotator gave, among the pairs that were counted."""
    pairs: int
    sensitivity: float
    """The share of the coreferent pairs that the annotator links."""
    specificity: float
    """The share of the other pairs that the annotator does not link."""
    omit: int
    """What it costs not to use a link of this annotator."""
    use: int
    """What it costs to use a link that this annotator did not give."""


@dataclass(frozen=True)
class Reliability:
    """What was learned about the annotators of a corpus."""

    annotators: tuple[AnnotatorReliability, ...]
    prior: float
    constant: int
    findings: tuple[Finding, ...] = ()
    """Votes that would have spoken against what they say."""

    @property
    def weights(self) -> WeightsTable:
        """The coefficients alone."""
        rows = (AnnotatorWeights(row.annotator, row.omit, row.use) for row in self.annotators)
        return WeightsTable(tuple(rows), self.constant)


def learn_reliability(documents: Iterable[Patterns]) -> Reliability:
    """Learn the reliability of all annotators of a corpus from the patterns of its documents.

    Refuse with `InputError` where there is too little to learn from.
    """
    counts = sum(documents, Patterns())
    known = sorted(pattern for pattern in counts.pairs if len(pattern.viewers) >= ANNOTATORS)
    learned = {name for pattern in known for name in pattern.viewers}
    _refuse_too_little(len(learned), sum(counts.disagreements[pattern] for pattern in known))
    # Unknown annotators get average weights: documents without weights would be refused.
    names = sorted(learned | counts.annotators)
    data = _Data(
        np.array([counts.pairs[pattern] for pattern in known], dtype=float),
        _members(names, (pattern.viewers for pattern in known)),
        _members(names, (pattern.givers for pattern in known)),
    )
    return _table(names, data, _estimate(data))


def _members(names: Sequence[str], rows: Iterable[Sequence[str]]) -> NDArray[np.float64]:
    """Return 1 where a name is in a row, and 0 elsewhere."""
    return np.array([[name in row for name in names] for row in rows], dtype=float)


def _refuse_too_little(annotators: int, disagreements: int) -> None:
    if annotators < ANNOTATORS:
        raise InputError(
            f"learning weights needs documents of {ANNOTATORS} annotators or more, with mentions that all of "
            "them saw and one of them linked: with two annotators, nothing shows who is right"
        )
    if disagreements < DISAGREEMENTS * annotators:
        raise InputError(
            f"learning weights needs {DISAGREEMENTS} disagreements for each annotator, and {annotators} "
            f"annotators have {disagreements:,} in all: give more documents, or no weights"
        )


class _Data(NamedTuple):
    """Patterns as arrays: a row for each pattern, a column for each annotator."""

    counts: NDArray[np.float64]
    saw: NDArray[np.float64]
    gave: NDArray[np.float64]


class _Estimate(NamedTuple):
    """The parameters of the model, with an entry for each annotator."""

    prior: float
    sensitivity: NDArray[np.float64]
    specificity: NDArray[np.float64]

    @property
    def speaks_for(self) -> NDArray[np.float64]:
        """What a link of each annotator says, as a logarithm of odds."""
        return np.asarray(np.log(self.sensitivity / (1 - self.specificity)))

    @property
    def speaks_against(self) -> NDArray[np.float64]:
        """What a missing link of each annotator says."""
        return np.asarray(np.log(self.specificity / (1 - self.sensitivity)))


def _estimate(data: _Data) -> _Estimate:
    """Run expectation maximisation from the share of those who linked each pair."""
    coreferent = data.gave.sum(axis=1) / data.saw.sum(axis=1)
    for _ in range(STEPS):
        following = _probabilities(data, _annotators(data, coreferent))
        change = np.abs(following - coreferent).max()
        coreferent = following
        if change <= STILL:
            break
    return _annotators(data, coreferent)


def _annotators(data: _Data, coreferent: NDArray[np.float64]) -> _Estimate:
    """Estimate annotators from the probability that each pair is coreferent."""
    yes, no = data.counts * coreferent, data.counts * (1 - coreferent)
    return _Estimate(
        float((yes.sum() + 1) / (data.counts.sum() + 2)),
        _shares(yes @ data.gave, yes @ data.saw),
        _shares(no @ (data.saw - data.gave), no @ data.saw),
    )


def _shares(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide, counting some errors of an average annotator with those of everybody; never 0 nor 1."""
    errors = whole - part
    average = (errors.sum() + 1) / (whole.sum() + 2)
    return np.asarray(1 - (errors + AVERAGE_ERRORS) / (whole + AVERAGE_ERRORS / average))


def _probabilities(data: _Data, estimate: _Estimate) -> NDArray[np.float64]:
    """Estimate the probability that each pair is coreferent from the annotators."""
    prior = np.log(estimate.prior / (1 - estimate.prior))
    votes = data.gave @ estimate.speaks_for - (data.saw - data.gave) @ estimate.speaks_against
    return np.asarray(1 / (1 + np.exp(-np.clip(prior + votes, -500, 500))))


def _table(names: Sequence[str], data: _Data, estimate: _Estimate) -> Reliability:
    omit, use = _whole(estimate.speaks_for), _whole(estimate.speaks_against)
    links, pairs = data.counts @ data.gave, data.counts @ data.saw
    annotators = tuple(
        AnnotatorReliability(
            name,
            int(links[number]),
            int(pairs[number]),
            float(estimate.sensitivity[number]),
            float(estimate.specificity[number]),
            max(0, omit[number]),
            max(0, use[number]),
        )
        for number, name in enumerate(names)
    )
    [constant] = _whole(np.log([(1 - estimate.prior) / estimate.prior]))
    findings = (*_negative(names, omit, use), *_likely_coreferent(constant))
    return Reliability(annotators, estimate.prior, max(0, constant), findings)


def _whole(logarithms: NDArray[np.float64]) -> list[int]:
    return [round(SCALE * float(value)) for value in logarithms]


def _negative(names: Sequence[str], omit: Sequence[int], use: Sequence[int]) -> Iterator[Finding]:
    for name, gave, lacked in zip(names, omit, use, strict=True):
        for value, what in ((gave, "links speak against"), (lacked, "missing links speak for")):
            if value < 0:
                message = (
                    f"the annotator's {what} coreference, as far as others show; they count 0, not {value}"
                )
                yield warning("negative-weight", message, where=name)


def _likely_coreferent(constant: int) -> Iterator[Finding]:
    if constant < 0:
        message = f"more than half of all pairs of mentions are coreferent; the constant is 0, not {constant}"
        yield warning("negative-weight", message, where=CONSTANT)
