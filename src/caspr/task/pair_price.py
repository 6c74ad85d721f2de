"""The price of a pair: the one place that says what it costs to join or to part two mentions.

Votes, prices of chains, rules, the encodings' facts, the native engine's gains and the verifier all ask here.
With L the annotators who gave the link and S those who saw both mentions (see `task.votes`, `task.weights`):

    omitted     sum of omit over L                        the link is not used
    used        constant + sum of use over S without L    the link is used; there is one unless L is empty
    invented    invent, or constant + sum of use over S   in one chain without a used link, besides `omitted`
                0 if S is empty                           nobody could have linked them: nothing is charged

    in different chains                       omitted
    in one chain, the cheaper of the two      used   or   omitted + invented

What the pair *gains* in one chain is the difference of the two lines, so the cost of a solution is the sum of
`omitted` over all linked pairs, minus what the pairs inside its chains gain. Using a link is a choice (see
`task.objectives`); *extra* is what it costs above the cheaper choice, where the link must be used to hold a
chain together.

>>> from caspr.task.objectives import Coefficients
>>> from caspr.task.votes import Evidence
>>> va = PairPrices(Coefficients((2,) * 6, (1,) * 6, invent=1))
>>> everybody = 0b111111
>>> va.of(Evidence(0b000011, everybody))
PairPrice(omitted=4, used=4, invented=1, gain=0, extra=0)
>>> va.of(Evidence(0b000001, everybody))
PairPrice(omitted=2, used=5, invented=1, gain=-1, extra=2)
>>> va.of(Evidence(0, 0))
PairPrice(omitted=0, used=None, invented=0, gain=0, extra=None)
"""

from functools import cached_property
from typing import NamedTuple

from caspr.task.objectives import Coefficients
from caspr.task.votes import Evidence


class PairPrice(NamedTuple):
    """The choices for two mentions, and what each costs."""

    omitted: int
    """What it costs that their link is not used."""
    used: int | None
    """What it costs to use their link; `None` if nobody gave it."""
    invented: int | None
    """What it costs besides `omitted` to have both in one chain without a used link; `None` if forbidden."""
    gain: int
    """What joining them saves, at the cheaper choice; negative if it costs, 0 if it is forbidden."""
    extra: int | None
    """What using their link costs above the cheaper choice; `None` if there is no link."""

    @property
    def allowed(self) -> bool:
        """Whether both may be in one chain, as far as votes are concerned."""
        return self.extra is not None or self.invented is not None

    @property
    def connects(self) -> bool:
        """Whether their link is used without loss, so that it holds a chain together."""
        return self.extra == 0


class PairPrices:
    """The prices of all pairs of one document, each kind of evidence computed once."""

    def __init__(self, coefficients: Coefficients) -> None:
        self.coefficients = coefficients
        self._known: dict[Evidence, PairPrice] = {}
        self._given: dict[Evidence, PairPrice] = {}

    @cached_property
    def counted(self) -> bool:
        """Whether all annotators count alike, so that only how many gave a link and saw a pair matters."""
        return all(len(set(numbers)) <= 1 for numbers in (self.coefficients.omit, self.coefficients.use))

    def of(self, evidence: Evidence) -> PairPrice:
        """Return the price of a pair with some evidence."""
        price = self._known.get(evidence)
        if price is None:
            price = self._known[evidence] = self._computed(evidence)
        return price

    def given(self, evidence: Evidence) -> PairPrice:
        """Return the price of a pair whose link a rule gives as well (`task.own_rules`).

        The link may be used at what it costs those who did not give it, also where that is everybody, and
        holds a chain together at no extra cost.

        >>> from caspr.task.objectives import Coefficients
        >>> PairPrices(Coefficients((2, 2), (1, 1), invent=None)).given(Evidence(0, 0b11))
        PairPrice(omitted=0, used=2, invented=None, gain=-2, extra=0)
        """
        price = self._given.get(evidence)
        if price is None:
            price = self._given[evidence] = self._with_rule(evidence)
        return price

    def _with_rule(self, evidence: Evidence) -> PairPrice:
        price = self.of(evidence)
        against = self._sum(self.coefficients.use, evidence.viewers & ~evidence.givers)
        used = against + (self.coefficients.constant or 0)
        unused = used if price.invented is None else price.omitted + price.invented
        return price._replace(used=used, gain=price.omitted - min(used, unused), extra=0)

    def _computed(self, evidence: Evidence) -> PairPrice:
        omitted = self._sum(self.coefficients.omit, evidence.givers)
        invented = self._invented(evidence.viewers)
        if not evidence.givers:
            return PairPrice(omitted, None, invented, -(invented or 0), None)
        against = self._sum(self.coefficients.use, evidence.viewers & ~evidence.givers)
        used = against + (self.coefficients.constant or 0)
        extra = 0 if invented is None else max(0, used - omitted - invented)
        gain = omitted - used if extra == 0 else -(invented or 0)
        return PairPrice(omitted, used, invented, gain, extra)

    def _invented(self, viewers: int) -> int | None:
        """Return what a pair without a used link costs in one chain."""
        coefficients = self.coefficients
        if not viewers:
            return 0
        if coefficients.invent is None or coefficients.constant is None:
            return coefficients.invent
        return coefficients.constant + self._sum(coefficients.use, viewers)

    def _sum(self, numbers: tuple[int, ...], annotators: int) -> int:
        """Add up the numbers of some annotators; where all are the same, it is enough to count."""
        if self.counted:
            return sum(numbers[:1]) * annotators.bit_count()
        return chosen_sum(numbers, annotators)


def chosen_sum(numbers: tuple[int, ...], annotators: int) -> int:
    """Add up the numbers of some annotators.

    >>> chosen_sum((2, 3, 5), 0b101)
    7
    """
    return sum(number for position, number in enumerate(numbers) if annotators >> position & 1)
