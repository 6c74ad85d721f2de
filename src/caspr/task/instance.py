"""An instance: annotations, decisions, objective and structural rules make one task.

The structural rules (the paper's figure 10) are that no chain has a single mention, and that no chain
holds a mention together with one inside it. The second can be switched off, or left to the annotators: a
nested pair may then share a chain if at least half of those who saw both linked it.

`check_task` reports what is odd about a task before it is solved, where settings and decisions matter;
what is odd about the annotations alone is reported by `text.checks`.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from itertools import combinations_with_replacement

from caspr.errors import InputError
from caspr.task.decisions import Decisions
from caspr.task.objectives import OBJECTIVES, Coefficients, Objective
from caspr.task.own_rules import DerivedRules
from caspr.task.pair_price import PairPrice, PairPrices, chosen_sum
from caspr.task.solution import Costs
from caspr.task.votes import Evidence, Stretches, Votes, count_votes, meet
from caspr.text.document import Annotation, Chain, Span, count_overlaps, nested_pairs
from caspr.text.findings import Finding, note, percent, times, warning


class Nesting(StrEnum):
    """Whether a chain may hold a mention and one inside it."""

    VOTE = "vote"
    """Where at least one annotator, and at least half of those who saw both, linked the two."""
    NEVER = "never"
    """Never, as in the paper."""
    ALWAYS = "always"
    """Always, like any other pair."""


class Singletons(StrEnum):
    """What happens to mentions that end in no chain."""

    AUTO = "auto"
    """One of the other two, by how the annotators worked: settings decide which before a task is made."""
    DROP = "drop"
    """They are not mentions, as in the paper."""
    VOTE = "vote"
    """They are kept as chains of one where the coefficients favour it."""


def read_nesting(word: str) -> Nesting:
    """Read the rule on nested mentions.

    >>> read_nesting("vote")
    <Nesting.VOTE: 'vote'>
    """
    if word not in list(Nesting):
        raise InputError(f"nested: found {word!r}, expected {', '.join(Nesting)}")
    return Nesting(word)


def read_singletons(word: str) -> Singletons:
    """Read what happens to mentions that end in no chain."""
    if word not in list(Singletons):
        raise InputError(f"singletons: found {word!r}, expected {', '.join(Singletons)}")
    return Singletons(word)


@dataclass(frozen=True)
class Instance:
    """One document's task for an engine."""

    annotations: tuple[Annotation, ...]
    objective: Objective = OBJECTIVES["v"]
    decisions: Decisions = field(default_factory=Decisions)
    nested: Nesting = Nesting.NEVER
    """Whether a chain may hold a mention and one inside it."""
    forced_votes: bool = False
    """Whether decisions count as the votes of one more annotator, as in the paper."""
    singletons: Singletons = Singletons.DROP
    """What happens to mentions that end in no chain."""
    weights: Coefficients | None = None
    """What each annotator's vote costs, in the order of the annotations; `None` for the objective's costs."""
    seen: tuple[Stretches | None, ...] = ()
    """What each annotator saw, `None` for all of the text; empty if all saw all of it."""
    rules: DerivedRules = field(default_factory=DerivedRules)
    """What rules of one's own derived."""

    def __repr__(self) -> str:
        """Summarise the task in one line, whatever its size."""
        title = self.annotations[0].document.title if self.annotations else ""
        return f"<Instance {title!r}: {times(len(self.annotations), 'annotation')}, {self.objective}>"

    def under(self, rules: DerivedRules) -> "Instance":
        """Return the same task with what rules of one's own derived; votes are not counted again."""
        ruled = replace(self, rules=rules)
        for known in ("votes", "prices", "coefficients"):
            if known in self.__dict__:
                ruled.__dict__[known] = self.__dict__[known]
        return ruled

    @cached_property
    def votes(self) -> Votes:
        """The evidence, with the adjudicator's where decisions are votes."""
        return count_votes(self.annotations, self._forced or None, self.seen)

    @cached_property
    def _forced(self) -> list[Chain]:
        """The adjudicator's chains where decisions are votes: as in the paper, once a mention is enforced."""
        groups = self.decisions.groups if self.forced_votes else ()
        return [Chain(str(number), group.mentions) for number, group in enumerate(groups)]

    @cached_property
    def constraints(self) -> Decisions:
        """All that solutions must respect: decisions, and what rules of one's own forbid and require."""
        stated = self.rules.statements
        decisions = self.decisions
        return replace(decisions, statements=(*decisions.statements, *stated)) if stated else decisions

    @cached_property
    def coefficients(self) -> Coefficients:
        """What the vote of each annotator costs, the adjudicator's where decisions are votes."""
        own = self.weights or Coefficients.equal(self.objective, len(self.annotations))
        return own.with_adjudicator() if self._forced else own

    @property
    def label_weights(self) -> tuple[int, ...]:
        """How much annotations count where names, types and labels are voted; empty if all count alike."""
        return () if self.weights is None else self.weights.omit

    @cached_property
    def prices(self) -> PairPrices:
        """What pairs of mentions cost, by their evidence."""
        return PairPrices(self.coefficients)

    def price(self, first: Span, second: Span) -> PairPrice:
        """Return what it costs to join or to part two mentions, as far as votes are concerned."""
        evidence = self.votes.evidence(first, second)
        return self.prices.given(evidence) if self.rules.gives(first, second) else self.prices.of(evidence)

    def own_gain(self, first: Span, second: Span, price: PairPrice | None = None) -> int:
        """Return what two mentions gain in one chain, costs of rules included, if they may share one."""
        price = price or self.price(first, second)
        saved = self.rules.paired.get(first, {}).get(second, 0)
        return saved + (price.omitted if self.is_free(first, second) else price.gain)

    def gained_by_rules(self, mentions: Collection[Span]) -> int:
        """Return how much more some mentions, at least two, gain in one chain than their evidence says."""
        total = sum(self.chain_gains.get(mention, 0) for mention in mentions) if self.chain_gains else 0
        for first, second in self.rules.pairs_within(mentions):
            price = self.prices.of(self.votes.evidence(first, second))
            by_votes = price.omitted if self.is_free(first, second) else price.gain
            total += self.own_gain(first, second) - by_votes
        return total

    @cached_property
    def chain_gains(self) -> Mapping[Span, int]:
        """What rules let a mention gain by being in a chain with others; negative if that costs."""
        rules = self.rules
        gains = {
            span: rules.leaving.get(span, 0) - rules.joining.get(span, 0)
            for span in (*rules.leaving, *rules.joining)
        }
        known = frozenset(self.mentions) if gains else frozenset()
        return {span: gain for span, gain in gains.items() if gain and span in known}

    def neighbours(self, mention: Span) -> list[Span]:
        """Return all mentions that an annotator or a rule linked with a mention, in text order."""
        linked = self.votes.neighbours(mention)
        given = self.rules.given.get(mention)
        return sorted(given.union(linked)) if given else linked

    @cached_property
    def all_omitted(self) -> int:
        """What it costs to use no link at all."""
        return sum(cost * links for cost, links in zip(self.coefficients.omit, self.votes.links, strict=True))

    @cached_property
    def all_apart(self) -> int:
        """What it costs if no two mentions share a chain, those aside that must.

        A solution costs this, minus what the pairs inside its chains gain.
        """
        rules = self.rules
        return (
            self.all_omitted
            + self.required_costs.total
            + sum(rules.apart.values())
            + sum(rules.leaving.values())
        )

    @cached_property
    def required_costs(self) -> Costs:
        """What votes charge for the pairs that rules require, the same in every solution."""
        omitted = used = invented = 0
        for group in self.constraints.groups if self.rules.required else ():
            if self.rules.required.isdisjoint(group.mentions):
                continue
            for evidence, number in self._voted_pairs(group.mentions):
                price = self.prices.given(evidence)
                if price.gain == price.omitted - (price.used or 0):
                    used += number * (price.used or 0)
                else:
                    omitted += number * price.omitted
                    invented += number * (price.invented or 0)
        return Costs(omitted, used, invented)

    def _voted_pairs(self, mentions: Iterable[Span]) -> Iterator[tuple[Evidence, int]]:
        """Yield the evidence of all pairs of some mentions that no decision joins, and how many have it."""
        groups = () if self.forced_votes else self.decisions.groups
        decided = {span: number for number, group in enumerate(groups) for span in group.mentions}
        kinds = Counter((self.votes.signature(span), decided.get(span)) for span in mentions)
        for first, second in combinations_with_replacement(kinds, 2):
            if first[1] is None or first[1] != second[1]:
                alike = kinds[first] - 1 if first == second else 2 * kinds[second]
                yield meet(first[0], second[0]), kinds[first] * alike // 2

    @property
    def has_idle_pairs(self) -> bool:
        """Whether two mentions may share a chain without a used link and without being charged for it."""
        if any(seen is not None for seen in self.seen):
            return True
        return self.prices.of(Evidence(0, self.votes.everybody)).invented == 0

    @cached_property
    def mentions(self) -> tuple[Span, ...]:
        """The mentions a solution may contain, in text order."""
        constraints = self.constraints
        if constraints == Decisions() and not self.rules.given:
            return tuple(self.votes.signatures)
        known = self.votes.signatures.keys() | constraints.group_of.keys() | self.rules.given.keys()
        return tuple(sorted(span for span in known if not constraints.excludes(span)))

    @cached_property
    def demands(self) -> frozenset[Span]:
        """The mentions that must be in a chain of two or more.

        Where chains of one are kept, an enforced mention may also stay alone.
        """
        if self.singletons is Singletons.VOTE:
            return frozenset()
        return frozenset(self.constraints.group_of)

    @cached_property
    def bundles(self) -> tuple[tuple[Span, ...], ...]:
        """The mentions of each group that is held in one chain.

        A mention that is kept alone and may be so is in no chain, whatever id it was given.
        """
        may_be_alone = self.constraints.alone if self.singletons is Singletons.VOTE else frozenset()
        return tuple(
            group.mentions
            for group in self.constraints.groups
            if len(group.mentions) > 1 or len(group.ids) > 1 or group.mentions[0] not in may_be_alone
        )

    @cached_property
    def free_groups(self) -> Mapping[Span, Span]:
        """The mentions whose links among each other are free of charge, with the first of their group.

        Two mentions enforced into one chain are linked at no cost, unless decisions are votes. Those that a
        rule requires in one chain are, too: what votes charge for them is `required_costs`.
        """
        required = self.rules.required
        return {
            span: group.mentions[0]
            for group in self.constraints.groups
            if not self.forced_votes or not required.isdisjoint(group.mentions)
            for span in group.mentions
        }

    def is_free(self, first: Span, second: Span) -> bool:
        """Return whether the link of a pair is enforced and exempt from all costs."""
        group = self.free_groups.get(first)
        return group is not None and group == self.free_groups.get(second)

    def is_forbidden(self, first: Span, second: Span) -> bool:
        """Return whether a rule or a decision keeps two distinct mentions out of one chain."""
        if self.forbids_nesting(first, second) or self.constraints.separates(first, second):
            return True
        return not self.price(first, second).allowed and not self.is_free(first, second)

    def forbids_nesting(self, first: Span, second: Span) -> bool:
        """Return whether one of two mentions lies inside the other and the rule keeps them apart.

        Heads are counted, whatever their weights. A decision that joins the two permits the pair, unless
        nesting is never allowed; one that permits the pair always does.
        """
        if self.nested is Nesting.ALWAYS or not first.nests_with(second):
            return False
        if self.decisions.nested and (min(first, second), max(first, second)) in self.decisions.nested:
            return False
        if self.nested is Nesting.NEVER:
            return True
        evidence = self.votes.evidence(first, second)
        if evidence.givers and 2 * evidence.k >= evidence.n:
            return False
        return not self.constraints.joins(first, second)

    def nested_faults(self, mentions: Iterable[Span]) -> Iterator[tuple[Span, Span]]:
        """Yield the pairs (outer, inner) of some mentions that the rule on nesting keeps apart."""
        if self.nested is not Nesting.ALWAYS:
            for outer, inner in nested_pairs(mentions):
                if self.forbids_nesting(outer, inner):
                    yield outer, inner

    @cached_property
    def kept_alone(self) -> frozenset[Span]:
        """The mentions to be kept as chains of one if they end in no chain: those that decisions say exist.

        Where annotators have a vote on chains of one, also those that are worth it and all that is enforced.
        Keeping a mention alone pays `use` for each annotator who saw and did not mark it, leaving it out pays
        `omit` for each who did; it is worth it when that is strictly cheaper.
        """
        if self.singletons is Singletons.DROP:
            return self.constraints.standing
        constraints = self.constraints
        return frozenset(
            span
            for span, markers in self.votes.marks.items()
            if self._favours_alone(span, markers) and not constraints.rules_out(span)
        ).union(constraints.group_of, constraints.standing)

    def _favours_alone(self, mention: Span, markers: int) -> bool:
        rest = self.votes.viewers(mention) & ~markers
        costs = self.coefficients
        return chosen_sum(costs.omit, markers) > chosen_sum(costs.use, rest)


MOST_NESTED = 1_000_000
"""If more mentions overlap, and more links join such mentions, they are not looked at one by one."""


def check_task(instance: Instance) -> tuple[Finding, ...]:
    """Return everything odd about a task."""
    return (*_set_aside(instance), *_nested(instance), *_new_mentions(instance))


def _set_aside(instance: Instance) -> Iterator[Finding]:
    """Count the chains of one where they are dropped."""
    alone = [len(annotation.singletons) for annotation in instance.annotations]
    if any(alone) and instance.singletons is Singletons.DROP:
        who = times(sum(map(bool, alone)), "annotator")
        first = next(annotation for annotation in instance.annotations if annotation.singletons)
        span = min(span for chain in first.singletons for span in chain.mentions)
        message = (
            f"{times(sum(alone), 'chain')} of one mention set aside ({who} had such, first "
            f"'{first.document.text(span)}' at token {span.start})"
        )
        yield note("singleton-chains", message, count=sum(alone), option="; see --singletons")


def _nested(instance: Instance) -> Iterator[Finding]:
    """Count the links that the rule on nesting takes away from the annotators."""
    votes = instance.votes
    if count_overlaps(votes.signatures) > MOST_NESTED and votes.overlapping_links > MOST_NESTED:
        message = (
            f"more than {MOST_NESTED:,} links join overlapping mentions; the rule on nesting takes away "
            "those of a mention and one inside it"
        )
        yield note("nested-links", message, option=" (see --nested)")
        return
    lost = sum(votes.evidence(*pair).k for pair in votes.nested_links if instance.forbids_nesting(*pair))
    if lost:
        yield note(
            "nested-links",
            f"the rule on nesting ruled out {lost:,} of {times(votes.total, 'link')} given "
            f"({percent(lost, votes.total)}), which join a mention with one inside it",
            count=lost,
            option=" (see --nested)",
        )


def _new_mentions(instance: Instance) -> Iterator[Finding]:
    decided = instance.decisions.standing.union(instance.decisions.group_of)
    new = sorted(decided - instance.votes.marks.keys())
    if new:
        where = instance.annotations[0].document.place(new[0].start)
        message = f"{times(len(new), 'enforced mention')} that no annotator marked (first at {where})"
        yield warning("new-mentions", message, count=len(new))
