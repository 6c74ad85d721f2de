"""Contradictions: decisions that cannot hold together, and the fewest cells to blame.

Decisions can be respected if and only if

    (1) no mention is enforced in two chains;
    (2) no enforced chain holds a mention and one inside it (while that rule is on);
    (3) every mention enforced alone finds a partner of its own: a mention that is not enforced, not
        ruled out by a closed token, not nested with it, and linked with it by an annotator.

Enforced chains have different ids, so no two of them may join. A chain of two or more enforced mentions
is linked by its decisions and needs nothing else. A mention enforced alone needs at least one more
mention, one suffices, and two such mentions cannot share it: this is a bipartite matching. Condition (3)
falls away where mentions may stay alone.

Every cell that is taken away allows more (see `Decisions.restricted_to`), so minimal sets of cells are
well defined; one is found by splitting (QuickXplain; Junker 2004).
"""

from collections.abc import Callable, Mapping, Sequence

from caspr.decisions import Decisions
from caspr.document import Span
from caspr.errors import ContradictionError
from caspr.instance import Instance, Singletons
from caspr.votes import Votes, count_votes, nested_pairs


def refuse_contradictions(instance: Instance) -> None:
    """Raise `ContradictionError` with a minimal set of cells if the decisions cannot be respected."""
    decisions = instance.decisions
    votes = count_votes(instance.annotations)
    if not decisions or feasible(instance, decisions, votes):
        return
    cells = minimal_subset(
        _suspects(instance, decisions),
        lambda tokens: feasible(instance, decisions.restricted_to(tokens), votes),
    )
    document = instance.annotations[0].document
    places = ", ".join(document.place(token) for token in cells)
    reason = _reason(instance, decisions.restricted_to(cells))
    raise ContradictionError(
        f"{document.place(cells[0])}: found enforced cells that cannot hold together: {reason} "
        f"(cells at {places}); expected decisions that allow a solution: change one of these cells",
        tuple(cells),
    )


def _suspects(instance: Instance, decisions: Decisions) -> list[int]:
    """Return cells that cannot hold together, few and telling ones where a glance shows them."""
    for mention, ids in decisions.chain_ids.items():
        if len(ids) > 1:
            return sorted(set(mention))
    if not instance.allow_nested:
        for chain in decisions.chains:
            for outer, inner in nested_pairs(chain.mentions):
                return sorted({*outer, *inner})
    return sorted(decisions.closed)


def feasible(instance: Instance, decisions: Decisions, votes: Votes) -> bool:
    """Tell whether any solution of an instance respects some decisions."""
    if any(len(ids) > 1 for ids in decisions.chain_ids.values()):
        return False
    if not instance.allow_nested and any(any(nested_pairs(chain.mentions)) for chain in decisions.chains):
        return False
    return partners(instance, decisions, votes) is not None


def partners(instance: Instance, decisions: Decisions, votes: Votes) -> Mapping[Span, Span] | None:
    """Match every mention enforced alone with a mention of its own to be linked with.

    Return `None` if that is not possible; nobody needs a partner where mentions may stay alone.
    """
    if instance.singletons is Singletons.VOTE:
        return {}
    members: dict[tuple[int, int], list[Span]] = {}
    for mention, signature in votes.signatures.items():
        for chain in signature:
            members.setdefault(chain, []).append(mention)
    choices = {
        mention: sorted(
            other
            for other in {span for chain in votes.signature(mention) for span in members[chain]}
            if other not in decisions.chain_ids
            and not decisions.rules_out(other)
            and (instance.allow_nested or not mention.nests_with(other))
        )
        for mention in sorted(decisions.lone)
    }
    return _match(choices)


def _match(choices: Mapping[Span, Sequence[Span]]) -> Mapping[Span, Span] | None:
    """Give every mention one of its choices, no two the same, by augmenting paths."""
    taken: dict[Span, Span] = {}
    for mention in choices:
        path: dict[Span, Span] = {}
        frontier, end = [mention], None
        while frontier and end is None:
            current = frontier.pop()
            for other in choices[current]:
                if other in path:
                    continue
                path[other] = current
                if other not in taken:
                    end = other
                    break
                frontier.append(taken[other])
        if end is None:
            return None
        _flip(mention, end, path, taken)
    return {mention: other for other, mention in sorted(taken.items())}


def _flip(mention: Span, end: Span, path: Mapping[Span, Span], taken: dict[Span, Span]) -> None:
    """Shift partners along an augmenting path from its free end back to the mention it started at."""
    held = {owner: other for other, owner in taken.items()}
    while True:
        owner = path[end]
        taken[end] = owner
        if owner == mention:
            return
        end = held[owner]


def minimal_subset(items: Sequence[int], holds: Callable[[Sequence[int]], bool]) -> list[int]:
    """Return items that cannot hold together, while all of them but any one can.

    `holds` must be true for no items, false for all of them, and never become true by adding items.

    >>> minimal_subset(range(10), lambda chosen: not {2, 7} <= set(chosen))
    [2, 7]
    """

    def explain(background: list[int], changed: bool, suspects: Sequence[int]) -> list[int]:
        if changed and not holds(background):
            return []
        if len(suspects) == 1:
            return list(suspects)
        middle = len(suspects) // 2
        left, right = suspects[:middle], suspects[middle:]
        from_right = explain([*background, *left], True, right)
        from_left = explain([*background, *from_right], bool(from_right), left)
        return from_left + from_right

    return sorted(explain([], False, items))


def _reason(instance: Instance, decisions: Decisions) -> str:
    """Say in words why minimal decisions cannot hold."""
    for mention, ids in decisions.chain_ids.items():
        if len(ids) > 1:
            return f"mention {tuple(mention)} is enforced in chains {' and '.join(ids)}"
    if not instance.allow_nested:
        for chain in decisions.chains:
            for outer, inner in nested_pairs(chain.mentions):
                return (
                    f"chain {chain.id} would hold {tuple(outer)} and {tuple(inner)} inside it, "
                    "which only --allow-nested permits"
                )
    lone = [str(tuple(mention)) for mention in sorted(decisions.lone)]
    if len(lone) == 1:
        return (
            f"mention {lone[0]} must be in a chain, but no annotator linked it with a mention "
            "that is still allowed"
        )
    return (
        f"the mentions {', '.join(lone)} must be in chains of their own, but have too few mentions to be with"
    )
