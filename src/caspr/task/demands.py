"""Demands: mentions that must not be left alone, while no decision says whom they are with; their partners.

A group of two or more enforced mentions is linked by its decisions and needs nothing else. A mention that
is a group alone needs at least one more mention in its chain, one that an annotator linked it with: a
mention that is not enforced, another lone mention, or a whole group. Whatever shares a chain must not have
two ids, be apart or (while that rule is on) nested; and where pairs without a vote are forbidden, each
pair across must have one.

If every lone mention finds a mention of its own that is not enforced, these pairs are chains that respect
everything; to find them is a bipartite matching. Only where there is none, all choices are searched: in every
solution the chain of a lone mention holds a mention that is linked with it, so joining it with each of
these in turn misses no solution. Lone mentions whose choices lie in different chains do not influence
each other and are searched separately. No partner is needed where mentions may stay alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from caspr.task.decisions import Decisions
from caspr.task.instance import Instance, Singletons
from caspr.text.document import Span
from caspr.text.grouping import Groups

Chains = list[tuple[Span, ...]]
Choices = Mapping[Span, Sequence[Span]]
"""For each lone mention, the mentions it could be with, in text order."""


def find_partners(instance: Instance, decisions: Decisions) -> Chains | None:
    """Return the groups as chains, lone mentions with partners; `None` if some cannot have any.

    `decisions` are those of the instance or a part of them. Where decisions are votes, these link the
    mentions of a group with each other, so they never link a lone mention with another.
    """
    chains = [group.mentions for group in decisions.groups]
    if instance.singletons is Singletons.VOTE:
        return chains
    choices = {
        mention: [
            partner
            for partner in instance.neighbours(mention)
            if not decisions.excludes(partner)
            and not decisions.separates(mention, partner)
            and not instance.forbids_nesting(mention, partner)
        ]
        for mention in sorted(decisions.lone)
    }
    free = {
        mention: [partner for partner in partners if partner not in decisions.group_of]
        for mention, partners in choices.items()
    }
    matched = _match(free)
    if matched is not None:
        return [(*chain, matched[chain[0]]) if chain[0] in matched else chain for chain in chains]
    return _search(instance, decisions, choices)


def _match(choices: Choices) -> Mapping[Span, Span] | None:
    """Give every mention one of its choices, no two the same, by augmenting paths."""
    taken: dict[Span, Span] = {}
    for mention in choices:
        path: dict[Span, Span] = {}
        end = _free_end(mention, choices, taken, path)
        if end is None:
            return None
        _flip(mention, end, path, taken)
    return {mention: partner for partner, mention in sorted(taken.items())}


def _free_end(
    mention: Span, choices: Choices, taken: Mapping[Span, Span], path: dict[Span, Span]
) -> Span | None:
    """Search a choice that is not taken, from mention to choice to the mention that has taken it.

    `path` gets, for every choice that was reached, the mention it was reached from.
    """
    reached = [mention]
    for current in reached:
        for partner in choices[current]:
            if partner not in path:
                path[partner] = current
                if partner not in taken:
                    return partner
                reached.append(taken[partner])
    return None


def _flip(mention: Span, end: Span, path: Mapping[Span, Span], taken: dict[Span, Span]) -> None:
    """Shift partners along an augmenting path from its free end back to the mention it started at."""
    held = {owner: partner for partner, owner in taken.items()}
    while (owner := path[end]) != mention:
        taken[end] = owner
        end = held[owner]
    taken[end] = mention


def _search(instance: Instance, decisions: Decisions, choices: Choices) -> Chains | None:
    chain_of = {mention: group.mentions for group in decisions.groups for mention in group.mentions}
    for lone in _independent(choices, chain_of):
        trial = _Trial(instance, decisions, choices, dict(chain_of))
        if not trial.settle(lone):
            return None
        chain_of = trial.chain_of
    return sorted(set(chain_of.values()))


def _independent(choices: Choices, chain_of: Mapping[Span, tuple[Span, ...]]) -> list[list[Span]]:
    """Split the lone mentions into those that compete for the same choices, fewest choices first."""
    groups = Groups(sorted(choices, key=lambda mention: len(choices[mention])))
    for mention, partners in choices.items():
        for partner in partners:
            first = chain_of.get(partner, (partner,))[0]
            groups.add(first)
            groups.join(mention, first)
    parts = ([mention for mention in group if mention in choices] for group in groups.lists())
    return sorted(parts, key=len)


@dataclass
class _Trial:
    """Chains in which some lone mentions have partners, changed and restored as choices are tried."""

    instance: Instance
    decisions: Decisions
    choices: Choices
    chain_of: dict[Span, tuple[Span, ...]] = field(default_factory=dict)

    def settle(self, lone: Iterable[Span]) -> bool:
        """Find partners for all lone mentions, those with the fewest choices first."""
        alone = [mention for mention in lone if len(self.chain_of[mention]) == 1]
        if not alone:
            return True
        joinable = {mention: self._joinable(mention) for mention in alone}
        mention = min(alone, key=lambda mention: len(joinable[mention]))
        for partners in joinable[mention]:
            joined = tuple(sorted((mention, *partners)))
            before = {span: self.chain_of.get(span) for span in joined}
            self.chain_of.update(dict.fromkeys(joined, joined))
            if self.settle(alone):
                return True
            for span, chain in before.items():
                if chain is None:
                    del self.chain_of[span]
                else:
                    self.chain_of[span] = chain
        return False

    def _joinable(self, mention: Span) -> list[tuple[Span, ...]]:
        """Return the chains that a mention could join, a mention that is in none being one."""
        chains = dict.fromkeys(self.chain_of.get(partner, (partner,)) for partner in self.choices[mention])
        return [chain for chain in chains if all(self._fits(mention, member) for member in chain)]

    def _fits(self, mention: Span, partner: Span) -> bool:
        if self.decisions.separates(mention, partner) or self.instance.forbids_nesting(mention, partner):
            return False
        return self.instance.price(mention, partner).allowed
