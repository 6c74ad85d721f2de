"""The brute-force engine: every partition of a few mentions. It is the oracle of the tests.

It follows the definition of the paper mention by mention and pair by pair, and shares neither the
shortcuts of the other engines nor those of `certify`. Nine mentions have 21,147 partitions.
"""

from collections.abc import Iterator
from itertools import combinations

from caspr.errors import EngineError
from caspr.task.decisions import StatementKind
from caspr.task.instance import Instance
from caspr.task.limits import Limits, Progress, silent
from caspr.task.solution import INFEASIBLE, Partition, Solution, canonical, found
from caspr.text.document import Span

LARGEST = 9
"""The most mentions this engine takes."""


def solve(instance: Instance, limits: Limits, progress: Progress = silent) -> Solution:
    """Try every partition of the mentions and return the cheapest, or all of them."""
    if len(instance.mentions) > LARGEST:
        raise EngineError(
            f"engine brute: found {len(instance.mentions)} mentions, expected at most {LARGEST}; "
            "choose another engine with --engine"
        )
    best: list[Partition] = []
    value: int | None = None
    for cost, partition in every_solution(instance):
        if value is None or cost <= value:
            if cost != value:
                best.clear()
            value = cost
            best.append(partition)
    if value is None:
        return INFEASIBLE
    progress(value, value)
    chosen = sorted(best)[: limits.solutions]
    return found(value, value, chosen, complete=len(chosen) == len(best))


def every_solution(instance: Instance) -> Iterator[tuple[int, Partition]]:
    """Yield every partition that respects rules and decisions, with what it costs."""
    for chains in _partitions(instance, instance.mentions):
        if _respects_decisions(instance, chains):
            cost = _cost(instance, chains)
            if cost is not None:
                yield cost, canonical(chains)


def _partitions(instance: Instance, mentions: tuple[Span, ...]) -> Iterator[list[list[Span]]]:
    """Yield the chains of every partition without a forbidden pair; a mention alone is in no chain."""

    def place(position: int, blocks: list[list[Span]]) -> Iterator[list[list[Span]]]:
        if position == len(mentions):
            yield [block[:] for block in blocks if len(block) > 1]
            return
        mention = mentions[position]
        for block in blocks:
            if not any(instance.is_forbidden(mention, other) for other in block):
                block.append(mention)
                yield from place(position + 1, blocks)
                block.pop()
        yield from place(position + 1, [*blocks, [mention]])

    yield from place(0, [])


def _respects_decisions(instance: Instance, chains: list[list[Span]]) -> bool:
    """Check that required mentions exist and enforced mentions are together or apart as decided."""
    holder = {mention: number for number, chain in enumerate(chains) for mention in chain}
    if not instance.required <= holder.keys():
        return False
    decisions = instance.decisions
    if any(decisions.rules_out(mention) for mention in decisions.group_of):
        return False

    def together(first: Span, second: Span) -> bool:
        return first == second or (first in holder and holder[first] == holder.get(second))

    stated = [one for one in decisions.statements if one.kind is StatementKind.ENFORCED]
    named = [(span, chain.id) for chain in decisions.chains for span in chain.mentions]
    named += [(span, one.chain) for one in stated for span in one.mentions]
    if any(together(a, b) != (one == other) for (a, one), (b, other) in combinations(named, 2)):
        return False
    for one in decisions.statements:
        pairs = combinations(one.mentions, 2)
        if one.kind is StatementKind.TOGETHER and not all(together(a, b) for a, b in pairs):
            return False
        if one.kind is StatementKind.APART and together(*one.mentions):
            return False
        if one.kind is StatementKind.ABSENT and not holder.keys().isdisjoint(one.mentions):
            return False
    return True


def _cost(instance: Instance, chains: list[list[Span]]) -> int | None:
    """Return what the chains cost with the cheapest choice of used links, or `None` if they fall apart."""
    votes, objective = instance.votes, instance.objective
    holder = {mention: number for number, chain in enumerate(chains) for mention in chain}
    total = 0
    for first, second in combinations(votes.signatures, 2):
        if first not in holder or holder[first] != holder.get(second):
            total += objective.omit * votes.evidence(first, second)
    for chain in chains:
        inside = _chain_cost(instance, chain)
        if inside is None:
            return None
        total += inside
    return total


def _chain_cost(instance: Instance, chain: list[Span]) -> int | None:
    """Price the pairs of one chain, using further links where it would fall apart."""
    objective, n = instance.objective, instance.votes.annotators
    total, extras = 0, []
    for first, second in combinations(chain, 2):
        k = instance.votes.evidence(first, second)
        use = objective.use * (n - k)
        unused = objective.omit * k + (objective.invent or 0)
        if instance.is_free(first, second):
            extras.append((0, first, second))
        elif k == 0:
            total += unused
        elif objective.invent is None or use <= unused:
            total += use
            extras.append((0, first, second))
        else:
            total += unused
            extras.append((use - unused, first, second))
    root = {mention: mention for mention in chain}
    for extra, first, second in sorted(extras):
        one, other = root[first], root[second]
        if one != other:
            total += extra
            root = {mention: one if top == other else top for mention, top in root.items()}
    return total if len(set(root.values())) == 1 else None
