"""Why a disputed link is in the result, or is not.

    decision       the adjudicator enforced it, or put one of the mentions together with another one,
                   against the votes for this link
    rule           one mention is inside the other
    tie            another solution of the same cost decides otherwise, or the votes balance
    votes          the votes for this link alone say so, weighed by the objective: not always most of them
    transitivity   the votes for this link alone say otherwise, but coreference is transitive: a link is
                   in the result with all links of its chains, and those outweigh it

The votes alone: what joining and what parting the two mentions costs (`task.price.pair_price`), which
`costs_in_words` explains to readers of a report.
"""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property

from caspr.disputes.disputes import Dispute
from caspr.result import Result
from caspr.task.instance import Instance
from caspr.task.solution import Status
from caspr.text.document import Span
from caspr.text.findings import times

SHOWN = 40
"""How many characters of a mention are quoted."""


class Reason(StrEnum):
    """What decided a disputed link."""

    DECISION = "decision"
    RULE = "rule"
    TIE = "tie"
    VOTES = "votes"
    TRANSITIVITY = "transitivity"


@dataclass(frozen=True)
class Explanation:
    """Why a disputed link was decided as it was."""

    reason: Reason
    """The kind of reason."""
    sentence: str
    """The reason in words."""


@dataclass(frozen=True)
class Explainer:
    """Explains the disputes of one result; caches the explanations that concern pairs of chains."""

    result: Result
    """The result."""

    def explain(self, dispute: Dispute) -> Explanation:
        """Return what decided a dispute."""
        one, other = dispute.pair
        return (
            self._decision(one, other)
            or self._rule(one, other)
            or self._balance(dispute)
            or self._put_elsewhere(dispute)
            or Explanation(Reason.TRANSITIVITY, self._outweighed(dispute))
        )

    @property
    def _instance(self) -> Instance:
        return self.result.instance

    def _decision(self, one: Span, other: Span) -> Explanation | None:
        decisions = self._instance.decisions
        if decisions.joins(one, other):
            return Explanation(Reason.DECISION, "the adjudicator put both into one chain")
        for span in (one, other):
            if span in decisions.alone:
                return Explanation(Reason.DECISION, f"the adjudicator left {self._quote(span)} alone")
        if decisions.separates(one, other):
            return Explanation(Reason.DECISION, "the adjudicator put them into different chains")
        for span in (one, other):
            if decisions.rules_out(span):
                return Explanation(Reason.DECISION, f"the adjudicator left no room for {self._quote(span)}")
        return None

    def _rule(self, one: Span, other: Span) -> Explanation | None:
        if not self._instance.forbids_nesting(one, other):
            return None
        inner, outer = (one, other) if other.contains(one) else (other, one)
        return Explanation(Reason.RULE, f"{self._quote(inner)} is inside {self._quote(outer)}")

    def _balance(self, dispute: Dispute) -> Explanation | None:
        """Compare the costs of joining and of parting, the votes for this link alone."""
        join, part = self._costs(*dispute.pair)
        costs = f"joining them costs {'more than is allowed' if join is None else join}, parting them {part}"
        if dispute.certainty.always is False:
            return Explanation(Reason.TIE, f"another solution of the same cost decides otherwise; {costs}")
        if join == part and not dispute.certainty.always:
            return Explanation(Reason.TIE, f"the votes balance: {costs}")
        if join != part and dispute.linked == (join is not None and join < part):
            return Explanation(Reason.VOTES, f"by the votes for this link alone: {costs}")
        return None

    def _put_elsewhere(self, dispute: Dispute) -> Explanation | None:
        """Name the mention with which the adjudicator put one of two that are not in one chain."""
        if dispute.linked:
            return None
        for span in dispute.pair:
            for other in self._side(span):
                if other != span and self._instance.decisions.joins(span, other):
                    words = f"the adjudicator put {self._quote(span)} together with {self._quote(other)}"
                    return Explanation(Reason.DECISION, words)
        return None

    def _costs(self, one: Span, other: Span) -> tuple[int | None, int]:
        """Return the costs of joining and of parting two mentions; `None` where joining is forbidden."""
        price = self._instance.price(one, other)
        return (price.omitted - price.gain if price.allowed else None), price.omitted

    def _outweighed(self, dispute: Dispute) -> str:
        if dispute.linked:
            return self._held_together(dispute)
        key = tuple(sorted(self._side(span)[0] for span in dispute.pair))
        if key not in self._known:
            self._known[key] = self._kept_apart(*(self._side(span) for span in dispute.pair))
        return self._known[key]

    def _held_together(self, dispute: Dispute) -> str:
        """Name the mention with which both are linked most."""
        one, other = dispute.pair
        evidence = self._instance.votes.evidence
        shared, third = max(
            (
                (min(evidence(one, span).k, evidence(other, span).k), span)
                for span in self._side(one)
                if span not in (one, other)
            ),
            default=(0, one),
            key=lambda found: found[0],
        )
        if not shared:
            return "other links hold their chain together"
        first, second = evidence(one, third), evidence(other, third)
        counts = f"{first.k} and {second.k} of {first.n} annotators"
        if first.n != second.n:
            counts = f"{first.k} of {first.n} and {second.k} of {second.n} annotators"
        return f"both are linked with {self._quote(third)}, by {counts}"

    def _kept_apart(self, side: tuple[Span, ...], far: tuple[Span, ...]) -> str:
        """Name a forbidden pair that would be joined as well, or the additional cost."""
        extra, chains = 0, self._called(side, far)
        for one in side:
            for other in far:
                if self._instance.is_forbidden(one, other):
                    pair = f"{self._quote(one)} and {self._quote(other)}"
                    return f"together, {chains} would join {pair}, {self._obstacle(one, other)}"
                join, part = self._costs(one, other)
                extra += (join or 0) - part
        if extra > 0:
            return f"joining {chains} would cost {extra:,} more in {times(len(side) * len(far), 'link')}"
        if self.result.status is not Status.OPTIMAL:
            return "nothing better was found before the search ended"
        return "one of them is linked more strongly with other mentions"

    def _called(self, side: tuple[Span, ...], far: tuple[Span, ...]) -> str:
        """Return what two chains are called: by the names of their entities, if both have one."""
        one, other = self._names.get(side[0]), self._names.get(far[0])
        return f"{one} and {other}" if one and other else "their chains"

    def _obstacle(self, one: Span, other: Span) -> str:
        if any(span in self._instance.decisions.alone for span in (one, other)):
            return "one of which the adjudicator left alone"
        if self._instance.decisions.separates(one, other):
            return "which the adjudicator put into different chains"
        if self._instance.forbids_nesting(one, other):
            return "one of which is inside the other"
        return "which nobody linked"

    def _side(self, span: Span) -> tuple[Span, ...]:
        """Return the mentions of the chain that a mention is in, or the mention itself."""
        return self._sides.get(span, (span,))

    @cached_property
    def _known(self) -> dict[tuple[Span, ...], str]:
        return {}

    @cached_property
    def _sides(self) -> dict[Span, tuple[Span, ...]]:
        return {span: chain.mentions for chain in self.result.chains for span in chain.mentions}

    @cached_property
    def _names(self) -> dict[Span, str]:
        return {span: chain.name for chain in self.result.chains for span in chain.mentions}

    def _quote(self, span: Span) -> str:
        return f"“{shorten(self.result.document.phrase(span))}”"


def costs_in_words(instance: Instance) -> str:
    """Say how the costs in reasons are counted, and how many votes a link needs.

    >>> from caspr.task.objectives import OBJECTIVES
    >>> print(costs_in_words(Instance((), OBJECTIVES["v"])))
    Parting two mentions costs 2 for each annotator who linked them; joining them costs 1 for each who did \
not. So the votes alone favour a link that more than 1 in 3 gave.
    """
    costs, objective = instance.coefficients, instance.objective
    if not costs.are_equal:
        constant = f" and {costs.constant}" if costs.constant else ""
        return (
            "Parting two mentions costs what the votes of those weigh who linked them (omit); joining them "
            f"costs what the votes of the others weigh (use){constant}{_unused(objective.invent)}."
        )
    share = Fraction(objective.use, (objective.omit + objective.use) or 1)
    enough = f"more than {share.numerator} in {share.denominator} gave" if share else "somebody gave"
    return (
        f"Parting two mentions costs {objective.omit} for each annotator who linked them; joining them costs "
        f"{objective.use} for each who did not{_unused(objective.invent)}. So the votes alone favour a link "
        f"that {enough}."
    )


def _unused(invent: int | None) -> str:
    """Say what joining two mentions costs if their link is not used."""
    return "" if invent is None else f" or, where that is less, {invent} more than parting them"


def shorten(text: str, length: int = SHOWN) -> str:
    """Cut the middle out of a long text, between words if it has several.

    >>> shorten("the man who sold the world to a girl in a red dress", 20)
    'the man who … dress'
    >>> shorten("Donaudampfschifffahrtsgesellschaft", 20)
    'Donaudampfsc…lschaft'
    """
    if len(text) <= length:
        return text
    first, last = length * 3 // 5, len(text) - (length * 2 // 5 - 1)
    head, tail = text[:first], text[last:]
    if " " in text[: first + 1]:
        head = f"{text[: first + 1].rpartition(' ')[0].rstrip()} "
    if " " in text[last - 1 :]:
        tail = f" {text[last - 1 :].partition(' ')[2].lstrip()}"
    return f"{head}…{tail}"
