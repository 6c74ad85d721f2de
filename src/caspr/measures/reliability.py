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

**Are learned weights better than equal votes?** `weights_for` learns on four fifths of the documents and asks
how likely the model finds what annotators say in the last fifth, for all five fifths; beside it, a model in
which all annotators are alike. Weights are used only if, over the documents, the first is clearly better (t
above `CLEARLY`), everybody has `DISAGREEMENTS` disagreements, and three annotators' weights would decide
something otherwise (`PUT_RIGHT`). On a corpus of crowd workers, before that last condition, this gained 0.5
points of CoNLL F1 (0.2 to 1.0), on four others it lost nothing. Of 188 small simulated corpora, 109 get
weights and gain 2.0 points on average; 10 of them lose, the worst 0.4. What fools it are annotators who are
not independent: one who copies from another, or one system run twice, agree with each other and so look
reliable. `near_copies` finds them, and weights are not used then.

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
from itertools import combinations, combinations_with_replacement
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from caspr.errors import InputError
from caspr.measures.matching import count_pairs
from caspr.task.instance import Instance
from caspr.task.objectives import OBJECTIVES
from caspr.task.votes import Evidence, Signature, meet
from caspr.task.weights import CONSTANT, FEWEST, AnnotatorWeights, WeightsTable
from caspr.text.findings import Finding, warning


class TooFewDisagreementsError(InputError):
    """There is too little disagreement to learn weights from."""


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
point, at most 2.6, though they gained 1.1 on average; of those with more, 8 of 98. Many annotators
need as many each: three Hebrew texts with 14 or 15 annotators have 27 for each, and learned weights would
lose 8 to 15 points there.
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
    learned = _compared(counts)
    if len(learned) < ANNOTATORS:
        raise InputError(
            f"learning weights needs documents of {ANNOTATORS} annotators or more, with mentions that all of "
            "them saw and one of them linked: with two annotators, nothing shows who is right"
        )
    if too_few := _too_few(counts):
        raise TooFewDisagreementsError(f"{too_few}: give more documents, or no weights")
    # Unknown annotators get average weights: documents without weights would be refused.
    names = sorted({*learned, *counts.annotators})
    data = _data(counts, names)
    return _table(names, data, _estimate(data))


def _compared(counts: Patterns) -> list[str]:
    """Return who saw pairs together with enough others."""
    return sorted({name for pattern in counts.pairs if _shows_who(pattern) for name in pattern.viewers})


def _shows_who(pattern: Pattern) -> bool:
    """Return whether enough annotators saw a pair to show who of them is right."""
    return len(pattern.viewers) >= ANNOTATORS


def _data(counts: Patterns, names: Sequence[str]) -> "_Data":
    """Return what something is learned from, as arrays, in an order that does not depend on that of files."""
    known = sorted(filter(_shows_who, counts.pairs))
    return _Data(
        np.array([counts.pairs[pattern] for pattern in known], dtype=float),
        _members(names, (pattern.viewers for pattern in known)),
        _members(names, (pattern.givers for pattern in known)),
    )


def _members(names: Sequence[str], rows: Iterable[Sequence[str]]) -> NDArray[np.float64]:
    """Return 1 where a name is in a row, and 0 elsewhere."""
    return np.array([[name in row for name in names] for row in rows], dtype=float)


def _too_few(counts: Patterns) -> str:
    """Say that there are too few disagreements to learn from; nothing if there are enough."""
    names = _compared(counts)
    disagreements = sum(number for pattern, number in counts.disagreements.items() if _shows_who(pattern))
    if disagreements >= DISAGREEMENTS * len(names):
        return ""
    return (
        f"learning weights needs {DISAGREEMENTS} disagreements for each annotator, and {len(names)} "
        f"annotators have {disagreements:,} in all"
    )


FOLDS = 5
"""In how many parts documents are held out, one after the other."""
CLEARLY = 1.65
"""How large t must be for learned weights to be used: in 1 of 20 corpora of equal annotators it is larger."""
EQUAL = OBJECTIVES["va"]
"""What links cost where votes are equal."""
PUT_RIGHT = 0.005
"""Which share of the disputed links weights must put right, by the model, where nobody is a fourth annotator.

With three, weights either overrule votes or change only what long chains cost. Then there is nothing to
gain: in 29 of 144 small simulated corpora, learned weights lost 0.07 points of CoNLL F1 on average, up to
0.85 in 19 of them, while 66 others of three annotators gained 2.5, and 4 of these lost, at most 0.39. With
four and more annotators, no such border was found.
"""
COPIES = 0.88
"""The share of links that two annotators must have in common to be taken for near copies ..."""
CLOSER = 2.5
"""... and how many times fewer disagreements they must have with each other than with anybody else.

Tried on 5 to 40 Hebrew texts with a copy of one annotator as the fourth: all of 24 copies with 1 % of the
mentions and chains changed are found, 23 of 24 with 2 %, one with 5 %. The people themselves have at most
0.87 in common, and at most 1.5 times fewer disagreements.
"""


@dataclass(frozen=True)
class WeightsAdvice:
    """Whether learned weights should be used for a corpus, and why."""

    reliability: Reliability | None
    """What to use; `None` for equal votes."""
    reason: str
    """Why, to be read after a colon; empty where there are too few annotators to ask."""
    copies: tuple[tuple[str, str, float], ...] = ()
    """Annotators who may have copied, two and two, with the share of links that they have in common."""


def weights_for(documents: Sequence[Patterns]) -> WeightsAdvice:
    """Learn weights from the documents of a corpus, and say whether they are better than equal votes."""
    counts = sum(documents, Patterns())
    names = _compared(counts)
    if len(names) < ANNOTATORS:
        return WeightsAdvice(None, "")
    copies = tuple(near_copies(counts))
    if copies:
        return WeightsAdvice(None, "some annotators are near copies of each other", copies)
    fewest = min(_disagreements(counts, name) for name in names)
    if fewest < DISAGREEMENTS:
        return WeightsAdvice(
            None, f"somebody has only {fewest} disagreements with others, fewer than {DISAGREEMENTS}"
        )
    if len(documents) < FOLDS:
        return WeightsAdvice(None, f"there are fewer than {FOLDS} documents to try learned weights on")
    if too_few := _too_few(counts):
        return WeightsAdvice(None, too_few)
    t = _held_out(documents, names)
    if t <= CLEARLY:
        return WeightsAdvice(
            None, f"learned weights do not predict held-out documents clearly better (t = {t:.2f})"
        )
    if not _decides_otherwise(_data(counts, names)):
        return WeightsAdvice(None, "learned weights would change next to none of the links")
    return WeightsAdvice(learn_reliability([counts]), f"they predict held-out documents better (t = {t:.2f})")


def _disagreements(counts: Patterns, name: str) -> int:
    disagreements = counts.disagreements.items()
    return sum(number for pattern, number in disagreements if _shows_who(pattern) and name in pattern.viewers)


def _held_out(documents: Sequence[Patterns], names: Sequence[str]) -> float:
    """Return t over documents: how much likelier each is by annotators of their own than by equal ones.

    What falls into one fold depends on what documents hold, not on the order in which they were read.
    """
    documents = sorted(documents, key=lambda document: sorted(document.pairs.items()))
    folds = [sum(documents[number::FOLDS], Patterns()) for number in range(FOLDS)]
    gains: list[float] = []
    for number in range(FOLDS):
        rest = _data(sum((fold for other, fold in enumerate(folds) if other != number), Patterns()), names)
        if not len(rest.counts):
            continue
        own, pooled = _estimate(rest), _estimate(rest, pooled=True)
        for document in documents[number::FOLDS]:
            data = _data(document, names)
            if len(data.counts):
                gains.append(_likelihood(data, own) - _likelihood(data, pooled))
    spread = float(np.std(gains, ddof=1)) if len(gains) > 1 else 0.0
    mean = float(np.mean(gains)) if gains else 0.0
    return mean / (spread / len(gains) ** 0.5) if spread else 0.0


def _decides_otherwise(data: "_Data") -> bool:
    """Return whether weights would put right enough of what equal votes decide, if the model is right."""
    given, missing = data.gave.sum(axis=1), (data.saw - data.gave).sum(axis=1)
    if (given + missing).max() > ANNOTATORS:
        return True
    coreferent = _probabilities(data, _estimate(data))
    otherwise = (coreferent > 0.5) != (EQUAL.omit * given > EQUAL.use * missing)
    disputed = (given > 0) & (missing > 0)
    gain = data.counts @ (otherwise * np.abs(2 * coreferent - 1))
    return bool(gain >= PUT_RIGHT * (data.counts @ disputed))


def _likelihood(data: "_Data", estimate: "_Estimate") -> float:
    """Return the logarithm of how likely a model finds what annotators say about the pairs of a document."""
    missing = data.saw - data.gave
    yes = np.log(estimate.prior) + data.gave @ np.log(estimate.sensitivity)
    yes += missing @ np.log(1 - estimate.sensitivity)
    no = np.log(1 - estimate.prior) + data.gave @ np.log(1 - estimate.specificity)
    no += missing @ np.log(estimate.specificity)
    return float(data.counts @ np.logaddexp(yes, no))


def near_copies(counts: Patterns) -> Iterator[tuple[str, str, float]]:
    """Yield two annotators each who may have copied, with the share of links that they have in common.

    They agree on nearly all links, and disagree with each other much less than with anybody else, though the
    others have enough to say. Two who are merely careful, beside one who is not, may look the same: nothing
    shows the difference, so this is worth a question and no proof.
    """
    names = sorted({name for pattern in counts.pairs for name in pattern.viewers})
    apart: Counter[tuple[str, str]] = Counter()
    for pattern, number in counts.disagreements.items():
        for first, second in combinations(pattern.viewers, 2):
            apart[first, second] += number * ((first in pattern.givers) != (second in pattern.givers))
    for first, second in combinations(names, 2):
        common, either = _common_links(counts, first, second)
        thirds = [
            apart[min(name, third), max(name, third)]
            for third in names
            for name in (first, second)
            if third not in (first, second)
        ]
        seldom = min(thirds, default=0) >= max(DISAGREEMENTS, CLOSER * apart[first, second])
        if seldom and either and common >= COPIES * either:
            yield first, second, common / either


def copy_findings(copies: Iterable[tuple[str, str, float]]) -> Iterator[Finding]:
    """Warn of annotators who may have copied."""
    for first, second, common in copies:
        message = (
            f"{first} and {second} gave nearly the same links ({100 * common:.0f} %), unlike all others: if "
            "one was made from the other, leave one out, because their votes count twice"
        )
        yield warning("near-copies", message)


def _common_links(counts: Patterns, first: str, second: str) -> tuple[int, int]:
    """Count the links that both annotators gave, and those that one of them gave, where both had a vote."""
    common = either = 0
    for pattern, number in counts.pairs.items():
        if first in pattern.viewers and second in pattern.viewers:
            gave = (first in pattern.givers) + (second in pattern.givers)
            common += number * (gave == 2)
            either += number * (gave > 0)
    return common, either


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


def _estimate(data: _Data, *, pooled: bool = False) -> _Estimate:
    """Run expectation maximisation from the share of those who linked each pair; pooled, all are alike."""
    coreferent = data.gave.sum(axis=1) / data.saw.sum(axis=1)
    for _ in range(STEPS):
        following = _probabilities(data, _annotators(data, coreferent, pooled=pooled))
        change = np.abs(following - coreferent).max()
        coreferent = following
        if change <= STILL:
            break
    return _annotators(data, coreferent, pooled=pooled)


def _annotators(data: _Data, coreferent: NDArray[np.float64], *, pooled: bool = False) -> _Estimate:
    """Estimate annotators from the probability that each pair is coreferent."""
    yes, no = data.counts * coreferent, data.counts * (1 - coreferent)
    counted = [yes @ data.gave, yes @ data.saw, no @ (data.saw - data.gave), no @ data.saw]
    if pooled:
        counted = [np.full_like(each, each.sum()) for each in counted]
    return _Estimate(
        float((yes.sum() + 1) / (data.counts.sum() + 2)), _shares(*counted[:2]), _shares(*counted[2:])
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
                    f"judging by the others, the annotator's {what} coreference; they count 0, not {value}"
                )
                yield warning("negative-weight", message, where=name)


def _likely_coreferent(constant: int) -> Iterator[Finding]:
    if constant < 0:
        message = f"more than half of all pairs of mentions are coreferent; the constant is 0, not {constant}"
        yield warning("negative-weight", message, where=CONSTANT)
