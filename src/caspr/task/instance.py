"""An instance: annotations, decisions, objective and structural rules make one task.

The structural rules (the paper's figure 9) are that no chain has a single mention, and that no chain
holds a mention together with one inside it; the second can be switched off.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from caspr.errors import InputError
from caspr.task.decisions import Decisions
from caspr.task.objectives import OBJECTIVES, Objective
from caspr.task.votes import Votes, count_votes
from caspr.text.document import Annotation, Chain, Span
from caspr.text.findings import times


class Singletons(StrEnum):
    """What becomes of mentions that end in no chain."""

    DROP = "drop"
    """They are no mentions, as in the paper."""
    VOTE = "vote"
    """They are kept as chains of one where the coefficients favour it."""


def read_singletons(given: str) -> Singletons:
    """Read what becomes of mentions that end in no chain.

    >>> read_singletons("vote")
    <Singletons.VOTE: 'vote'>
    """
    if given not in list(Singletons):
        raise InputError(f"singletons: found {given!r}, expected {' or '.join(Singletons)}")
    return Singletons(given)


@dataclass(frozen=True)
class Instance:
    """One document's task for an engine."""

    annotations: tuple[Annotation, ...]
    """The annotations, in the order given."""
    objective: Objective = OBJECTIVES["v"]
    """What a solution costs."""
    decisions: Decisions = field(default_factory=Decisions)
    """What the adjudicator enforced."""
    allow_nested: bool = False
    """Whether a chain may hold a mention and one inside it."""
    forced_votes: bool = False
    """Whether decisions count as the votes of one more annotator, as in the paper."""
    singletons: Singletons = Singletons.DROP
    """What becomes of mentions that end in no chain."""

    def __repr__(self) -> str:
        """Summarise the task in one line, whatever its size."""
        title = self.annotations[0].document.title if self.annotations else ""
        return f"<Instance {title!r}: {times(len(self.annotations), 'annotation')}, {self.objective}>"

    @cached_property
    def votes(self) -> Votes:
        """The evidence, with the adjudicator's where decisions are votes.

        As in the paper, the adjudicator counts as an annotator once a mention is enforced.
        """
        groups = self.decisions.groups if self.forced_votes else ()
        forced = [Chain(str(number), group.mentions) for number, group in enumerate(groups)]
        return count_votes(self.annotations, forced or None)

    @cached_property
    def mentions(self) -> tuple[Span, ...]:
        """The mentions a solution may contain, in text order."""
        known = self.votes.signatures.keys() | self.decisions.group_of.keys()
        return tuple(sorted(span for span in known if not self.decisions.rules_out(span)))

    @cached_property
    def required(self) -> frozenset[Span]:
        """The mentions that must be in a chain of two or more.

        Where chains of one are kept, an enforced mention may also stay alone.
        """
        if self.singletons is Singletons.VOTE:
            return frozenset()
        return frozenset(self.decisions.group_of)

    @cached_property
    def free_groups(self) -> Mapping[Span, Span]:
        """The mentions whose links among each other are free of charge, with the first of their group.

        Two mentions enforced into one chain are linked at no cost, unless decisions are votes.
        """
        if self.forced_votes:
            return {}
        return {span: group.mentions[0] for span, group in self.decisions.group_of.items()}

    def is_free(self, first: Span, second: Span) -> bool:
        """Return whether the link of a pair is enforced and exempt from all costs."""
        group = self.free_groups.get(first)
        return group is not None and group == self.free_groups.get(second)

    def is_forbidden(self, first: Span, second: Span) -> bool:
        """Return whether a rule or a decision keeps two distinct mentions out of one chain."""
        if not self.allow_nested and first.nests_with(second):
            return True
        if self.decisions.separates(first, second):
            return True
        invents = self.votes.evidence(first, second) == 0 and not self.is_free(first, second)
        return self.objective.invent is None and invents

    @cached_property
    def kept_alone(self) -> frozenset[Span]:
        """The mentions worth keeping as chains of one if they end in no chain.

        Keeping a mention alone pays `use` for each annotator who did not mark it, leaving it out pays
        `omit` for each who did; it is kept when that is strictly cheaper, or when it is enforced.
        """
        if self.singletons is Singletons.DROP:
            return frozenset()
        omit, use, n = self.objective.omit, self.objective.use, self.votes.annotators
        return frozenset(
            span
            for span, marked in self.votes.marks.items()
            if omit * marked > use * (n - marked) and not self.decisions.rules_out(span)
        ) | frozenset(self.decisions.group_of)
