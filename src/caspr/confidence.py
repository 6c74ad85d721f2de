"""Confidence: how often decisions with such votes are right, by experts' gold standards.

What the result says about a link or a mention is more or less likely to be right, and the votes show how
likely: of those who saw both mentions, the share that is against what the result says. On five sets of
documents with an expert's gold standard, decisions were wrong as often as this:

    votes against    1 of 5  1 of 4  1 of 3  2 of 5  1 of 2  3 of 5  2 of 3  4 of 5
    wrong             12 %    15 %    17 %    23 %    38 %    53 %    47 %    70 %

alike in all five sets. The price of deciding otherwise shows nothing of the kind: long chains have high
prices, right or wrong. `docs/confidence.md` says how all of this was measured, and what it does not say.

`error_rate` smooths the table, so that it answers for any number of annotators and for votes that weigh
differently: between two shares it goes straight, where a larger share was wrong less often (3 of 5 and 2 of
3) it takes the mean, and above the last share it stays what it was there. Where nobody is against, it depends
on how many there are: one annotator alone errs more often than two who agree.

Who is *against*?

    a link       those who saw both mentions and say the opposite of the result
    a mention    those who saw it and take a different *stance*: another entity, alone, or no mention

The stance of an annotator on a mention is the chain of the result that holds most of the other mentions of
the annotator's chain, or chains. Votes count as much as the annotator's weight says: that of a link by
`omit`, that of a missing link by `use`, each compared with the average of the document. Annotators who did
not see a mention have no vote on it. What the adjudicator decided is sure by definition, whatever the votes
say.

A *tie* is what people call a tie: as many for as against.

The module needs an instance and chains, no more, so that every gold standard can carry its confidence
(`Annotation.support`) to the formats that write it.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import groupby
from math import fsum
from operator import itemgetter
from typing import NamedTuple

from caspr.task.instance import Instance
from caspr.task.votes import Evidence, Signature, Votes
from caspr.text.document import Alternative, Chain, Span, Support

MEASURED = {
    (1, 5): 0.12,
    (1, 4): 0.15,
    (1, 3): 0.17,
    (2, 5): 0.23,
    (1, 2): 0.38,
    (3, 5): 0.53,
    (2, 3): 0.47,
    (4, 5): 0.70,
}
"""For votes against the result, of those who saw both: which share of decisions was wrong."""
UNANIMOUS = (0.5, 0.12, 0.013)
"""The same where nobody is against, by how many there are: nobody, one, and two or more."""


def _smoothed(measured: Mapping[tuple[int, int], float]) -> list[tuple[float, float]]:
    """Return shares with rates that never fall; where measured ones do, their mean takes their place."""
    blocks: list[tuple[list[float], list[float]]] = []
    for (against, seen), rate in sorted(measured.items(), key=lambda item: item[0][0] / item[0][1]):
        blocks.append(([against / seen], [rate]))
        while len(blocks) > 1 and _mean(blocks[-2][1]) > _mean(blocks[-1][1]):
            shares, rates = blocks.pop()
            blocks[-1] = (blocks[-1][0] + shares, blocks[-1][1] + rates)
    return [(share, _mean(rates)) for shares, rates in blocks for share in shares]


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers)


def error_rate(against: float, seen: float, annotators: int | None = None) -> float:
    """Return how often decisions are wrong that have some weight of votes against them, of all that is there.

    `annotators` says how many there are, where their votes do not weigh 1 each.

    >>> round(error_rate(1, 3), 3), round(error_rate(1, 6), 3), error_rate(0, 3), error_rate(0, 1)
    (0.17, 0.102, 0.013, 0.12)
    """
    number = round(seen) if annotators is None else annotators
    lowest = UNANIMOUS[min(number, len(UNANIMOUS) - 1)]
    if seen <= 0:
        return UNANIMOUS[0]
    points = _points(lowest)
    share = against / seen
    above = bisect_left(points, share, key=lambda point: point[0])
    if above == 0 or above == len(points):
        return points[min(above, len(points) - 1)][1]
    (left, low), (right, high) = points[above - 1 : above + 1]
    return low + (high - low) * (share - left) / (right - left)


@cache
def _points(lowest: float) -> list[tuple[float, float]]:
    """Return shares of votes with their rates, none below the lowest."""
    return [(0.0, lowest), *((share, max(rate, lowest)) for share, rate in _smoothed(MEASURED))]


@dataclass(frozen=True)
class Confidence:
    """How sure one decision of the result is."""

    value: float
    """How often such decisions are right, from 0 to 1."""
    against: int
    """How many annotators say something else."""
    seen: int
    """How many have a vote."""
    decided: bool = False
    """Whether the adjudicator decided it."""

    @property
    def is_tie(self) -> bool:
        """Whether as many annotators are for the decision as against it."""
        return not self.decided and 0 < self.seen == 2 * self.against

    @property
    def words(self) -> str:
        """Say it for a reader.

        >>> Confidence(0.83, 1, 3).words, Confidence(0.62, 1, 2).words, Confidence(1.0, 2, 3, True).words
        ('83 % (1 of 3 against)', '62 % (a tie, 1 of 2 against)', 'decided by the adjudicator')
        """
        if self.decided:
            return "decided by the adjudicator"
        if not self.seen:
            return "no votes"
        tie = "a tie, " if self.is_tie else ""
        return f"{self.percent} % ({tie}{self.against or 'none'} of {self.seen} against)"

    @property
    def percent(self) -> int:
        """The value in whole percent."""
        return round(100 * self.value)


def by_votes(for_: Sequence[float], against: Sequence[float]) -> Confidence:
    """Return the confidence that votes give, each with what it weighs."""
    heads, weight = len(for_) + len(against), fsum((*for_, *against))
    part, whole = (fsum(against), weight) if weight > 0 else (len(against), heads)
    return Confidence(1 - error_rate(part, whole, heads), len(against), heads)


class VoteWeights:
    """What the vote of each annotator weighs, compared with the average of the document."""

    def __init__(self, instance: Instance) -> None:
        number = len(instance.annotations)
        given = instance.weights
        self.linking = (1.0,) * number if given is None else _relative(given.omit[:number])
        self.parting = (1.0,) * number if given is None else _relative(given.use[:number])


def _relative(weights: Sequence[int]) -> tuple[float, ...]:
    mean = sum(weights) / len(weights) if weights else 0
    return tuple(weight / mean if mean else 1.0 for weight in weights)


class Stance(NamedTuple):
    """What one annotator, or the result, says about a mention."""

    kind: str
    """`entity`, `alone`, `absent` or `unseen`."""
    entity: str | None = None
    """The id of the chain of the result; `None` for an entity that the result lacks."""


_UNSEEN, _ALONE, _ABSENT = map(Stance, ("unseen", "alone", "absent"))


@dataclass(frozen=True)
class Stances:
    """What annotators say about mentions, in terms of the chains of a result."""

    votes: Votes
    homes: Mapping[Span, str | None]
    """The chain that each mention is in, `None` for no chain; a mention that is ruled out is missing."""
    _said: dict[tuple[tuple[tuple[int, int], ...], str | None], Stance | None] = field(
        default_factory=dict, init=False
    )
    _reachable: dict[Signature, list[str]] = field(default_factory=dict, init=False)

    @cached_property
    def _spread(self) -> Mapping[tuple[int, int], Counter[str | None]]:
        """How many mentions of each annotator's chain are in which chain of the result."""
        homes = self.homes
        return {
            chain: Counter([homes[mention] for mention in mentions if mention in homes])
            for chain, mentions in self.votes.members.items()
        }

    def reachable(self, mention: Span) -> list[str]:
        """Return the chains of the result that hold a mention which somebody linked with this one."""
        signature = self.votes.signature(mention)
        if signature not in self._reachable:
            ids = {id for chain in signature.chains for id in self._spread[chain] if id}
            self._reachable[signature] = sorted(ids)
        return self._reachable[signature]

    def of(self, mention: Span) -> list[Stance]:
        """Return what each annotator says about a mention, in the order of the annotations."""
        votes, home = self.votes, self.homes.get(mention)
        stances = [_UNSEEN] * votes.annotators
        marks, viewers = votes.marks.get(mention, 0), votes.viewers(mention)
        for number in range(votes.annotators):
            if viewers >> number & 1:
                stances[number] = _ALONE if marks >> number & 1 else _ABSENT
        for annotator, several in groupby(sorted(votes.signature(mention).chains), key=itemgetter(0)):
            chains = tuple(several)
            if (chains, home) not in self._said:
                self._said[chains, home] = self._entity(chains, home)
            said = self._said[chains, home]
            if said is not None:
                stances[annotator] = said
        return stances

    def _entity(self, chains: tuple[tuple[int, int], ...], home: str | None) -> Stance | None:
        """Return the chain of the result that has most others of an annotator's chains, for one in `home`."""
        spread: Counter[str | None] = Counter()
        for chain in chains:
            spread.update(self._spread.get(chain, ()))
            spread[home] -= 1
        best = min(spread, key=lambda id: (-spread[id], id is None, id != home, id or ""))
        return Stance("entity", best) if spread[best] > 0 else None


def by_stances(stances: Sequence[Stance], now: Stance, weights: VoteWeights) -> Confidence:
    """Return how sure it is that a mention is what the result says, by what annotators say."""
    sides: dict[bool, list[float]] = {True: [], False: []}
    for number, stance in enumerate(stances[: len(weights.linking)]):
        if stance.kind != "unseen":
            weight = weights.parting if stance.kind == "absent" else weights.linking
            sides[stance == now].append(weight[number])
    return by_votes(sides[True], sides[False])


@dataclass(frozen=True, eq=False)
class Confidences(Mapping[Span, Support]):
    """How sure a result is: of links, and of mentions; as a mapping, what a gold carries of each mention."""

    instance: Instance
    chains: tuple[Chain, ...]
    """The chains of the result, those of one mention among them."""
    _by_votes: dict[tuple[Evidence, bool], Confidence] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def homes(self) -> Mapping[Span, str]:
        """The chain of each mention of the result."""
        return {span: chain.id for chain in self.chains for span in chain.mentions}

    @cached_property
    def _sizes(self) -> Mapping[str, int]:
        return {chain.id: len(chain.mentions) for chain in self.chains}

    @cached_property
    def _weights(self) -> VoteWeights:
        return VoteWeights(self.instance)

    @cached_property
    def _stances(self) -> Stances:
        rules_out = self.instance.decisions.rules_out
        votes = self.instance.votes
        known = {span: self.homes.get(span) for span in votes.marks if not rules_out(span)}
        return Stances(votes, {**known, **self.homes})

    @property
    def _annotators(self) -> int:
        """The set of annotators, without the adjudicator where decisions count as votes."""
        return (1 << len(self.instance.annotations)) - 1

    def link(self, first: Span, second: Span) -> Confidence:
        """Return how sure it is that two mentions are, or are not, in one chain."""
        home = self.homes.get(first)
        linked = home is not None and home == self.homes.get(second)
        return self.by_evidence(self.instance.votes.evidence(first, second), linked, (first, second))

    def by_evidence(self, evidence: Evidence, linked: bool, pair: tuple[Span, Span]) -> Confidence:
        """Return the same of two mentions where their votes, and whether they are linked, are known."""
        voted = evidence, linked
        if voted not in self._by_votes:
            self._by_votes[voted] = self._voted(*voted)
        return self._unless(self._by_votes[voted], decided=self.instance.decisions.settles(*pair))

    def _voted(self, votes: Evidence, linked: bool) -> Confidence:
        """Return how sure it is that two mentions with some votes are in one chain, or in two."""
        evidence = Evidence(votes.givers & self._annotators, votes.viewers & self._annotators)
        giving = _chosen(self._weights.linking, evidence.givers)
        lacking = _chosen(self._weights.parting, evidence.viewers & ~evidence.givers)
        return by_votes(*((giving, lacking) if linked else (lacking, giving)))

    def now(self, mention: Span) -> Stance:
        """Return what the result says about a mention."""
        home = self.homes.get(mention)
        if home is None:
            return Stance("absent")
        return Stance("entity", home) if self._sizes[home] > 1 else Stance("alone")

    def mention(self, mention: Span) -> Confidence:
        """Return how sure it is that a mention is in its entity, alone, or none, as the result says."""
        confidence = by_stances(self._stances.of(mention), self.now(mention), self._weights)
        return self._unless(confidence, decided=self._is_placed(mention))

    def _is_placed(self, mention: Span) -> bool:
        """Return whether decisions say what a mention is: with others, alone, or none."""
        decisions = self.instance.decisions
        group = decisions.group_of.get(mention)
        placed = group is not None and (len(group.mentions) > 1 or bool(group.ids))
        return placed or mention in decisions.alone or decisions.rules_out(mention)

    @staticmethod
    def _unless(confidence: Confidence, *, decided: bool) -> Confidence:
        return Confidence(1.0, confidence.against, confidence.seen, decided=True) if decided else confidence

    def support(self, mention: Span) -> Support:
        """Return what a gold standard carries about a mention: its confidence, votes and alternatives."""
        stances, now, sure = self._stances.of(mention), self.now(mention), self.mention(mention)
        names = [annotation.annotator for annotation in self.instance.annotations]
        said: dict[Stance, list[str]] = {}
        for name, stance in sorted(zip(names, stances, strict=False)):
            if stance.kind != "unseen":
                said.setdefault(stance, []).append(name)
        others = [stance for stance in said if stance != now]
        others.sort(key=lambda stance: (-len(said[stance]), stance.kind, stance.entity or ""))
        # What is left for the alternatives is theirs in proportion to their votes.
        left, votes = 1 - sure.value, sum(len(said[stance]) for stance in others)
        return Support(
            sure.value,
            tuple(said.get(now, ())),
            tuple(name for stance in others for name in said[stance]),
            tuple(
                Alternative(stance.kind, stance.entity, left * len(said[stance]) / votes, tuple(said[stance]))
                for stance in others
            ),
            decided=sure.decided,
        )

    def __getitem__(self, mention: Span) -> Support:
        """Return the support of a mention that the result has or that somebody marked."""
        if mention not in self.homes and mention not in self.instance.votes.marks:
            raise KeyError(mention)
        return self.support(mention)

    def __iter__(self) -> Iterator[Span]:
        """Yield all mentions that the result has or that somebody marked, in text order."""
        return iter(sorted(self.homes.keys() | self.instance.votes.marks.keys()))

    def __len__(self) -> int:
        """Count them."""
        return len(self.homes.keys() | self.instance.votes.marks.keys())


def _chosen(weights: Iterable[float], annotators: int) -> list[float]:
    return [weight for number, weight in enumerate(weights) if annotators >> number & 1]
