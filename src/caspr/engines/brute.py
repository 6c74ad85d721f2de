"""The brute-force engine: every partition of a few mentions. It is the oracle of the tests.

It follows the definition of the paper mention by mention, pair by pair and annotator by annotator, and shares
neither the shortcuts of the other engines nor those of `certify`. Nine mentions have 21,147 partitions.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import NamedTuple

from caspr.errors import EngineError
from caspr.task.decisions import StatementKind
from caspr.task.instance import Instance
from caspr.task.limits import Limits, Progress, silent
from caspr.task.own_rules import Consequence, Effect
from caspr.task.solution import INFEASIBLE, Partition, Solution, canonical
from caspr.task.ties import rank
from caspr.task.votes import Stretches
from caspr.text.document import Span

LARGEST = 9
"""The most mentions this engine takes."""


class Judgement(NamedTuple):
    """What annotators say about a pair, added up one by one."""

    linked: bool
    omitted: int
    """(C1) if it is not used."""
    used: int
    """(C2) if it is used."""
    invented: int | None
    """(C3) if both are in one chain without it; `None` if that is forbidden."""


Judged = Mapping[tuple[Span, Span], Judgement]
"""What annotators say about every pair, the earlier span first."""


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
    chosen = sorted(best, key=rank)[: limits.solutions]
    return Solution.of(value, value, chosen, complete=len(chosen) == len(best))


def every_solution(instance: Instance) -> Iterator[tuple[int, Partition]]:
    """Yield every partition that respects rules and decisions, with what it costs."""
    spans = sorted({*instance.mentions, *instance.votes.signatures})
    judged = {pair: judge(instance, *pair) for pair in combinations(spans, 2)}
    for chains in _partitions(instance, instance.mentions):
        if _respects_decisions(instance, chains):
            cost = _cost(instance, chains, judged)
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
            if not any(instance.is_forbidden(mention, member) for member in block):
                block.append(mention)
                yield from place(position + 1, blocks)
                block.pop()
        yield from place(position + 1, [*blocks, [mention]])

    yield from place(0, [])


def _respects_decisions(instance: Instance, chains: list[list[Span]]) -> bool:
    """Check that required mentions exist and enforced mentions are together or apart as decided."""
    holder = {mention: number for number, chain in enumerate(chains) for mention in chain}
    if not instance.demands <= holder.keys():
        return False
    decisions = instance.constraints
    if any(decisions.rules_out(mention) for mention in decisions.group_of):
        return False
    exist = (StatementKind.MENTION, StatementKind.ALONE)
    stating = [statement for statement in decisions.statements if statement.kind in exist]
    if any(decisions.rules_out(span) for statement in stating for span in statement.mentions):
        return False

    def together(first: Span, second: Span) -> bool:
        return first == second or (first in holder and holder[first] == holder.get(second))

    stated = [statement for statement in decisions.statements if statement.kind is StatementKind.ENFORCED]
    named = [(span, chain.id) for chain in decisions.chains for span in chain.mentions]
    named += [(span, statement.chain) for statement in stated for span in statement.mentions]
    if any(together(a, b) != (id == twin) for (a, id), (b, twin) in combinations(named, 2)):
        return False
    for statement in decisions.statements:
        mentions = statement.mentions
        match statement.kind:
            case StatementKind.TOGETHER | StatementKind.ENTITY:
                broken = not all(together(a, b) for a, b in combinations(mentions, 2))
            case StatementKind.APART:
                broken = together(*mentions)
            case StatementKind.ALONE | StatementKind.ABSENT:
                broken = not holder.keys().isdisjoint(mentions)
            case _:
                broken = False
        if broken:
            return False
    return True


def _cost(instance: Instance, chains: list[list[Span]], judged: Judged) -> int | None:
    """Return what the chains cost with the cheapest choice of used links, or `None` if they fall apart."""
    holder = {mention: number for number, chain in enumerate(chains) for mention in chain}
    total = 0
    for first, second in combinations(sorted(instance.votes.signatures), 2):
        if first not in holder or holder[first] != holder.get(second):
            total += judged[first, second].omitted
    for chain in chains:
        inside = _chain_cost(instance, chain, judged)
        if inside is None:
            return None
        total += inside
    return total + sum(_charge(said, holder) for said in instance.rules.consequences)


def _charge(said: Consequence, holder: Mapping[Span, int]) -> int:
    """Return what a rule charges for chains."""
    together = said.mentions[0] in holder and len({holder.get(span) for span in said.mentions}) == 1
    match said.effect:
        case Effect.TOGETHER_COST:
            return said.cost if together else 0
        case Effect.APART_COST:
            return 0 if together else said.cost
        case Effect.MENTION_COST:
            return max(said.cost, 0) if together else max(-said.cost, 0)
        case _:
            return 0


def _chain_cost(instance: Instance, chain: list[Span], judged: Judged) -> int | None:
    """Price the pairs of one chain, using further links where it would fall apart."""
    total, extras = 0, []
    for first, second in combinations(sorted(chain), 2):
        pair = judged[first, second]
        unused = pair.omitted + (pair.invented or 0)
        free = instance.is_free(first, second)
        if free and not instance.forced_votes and instance.decisions.joins(first, second):
            extras.append((0, first, second))
        elif free or instance.rules.gives(first, second):
            total += pair.used if pair.invented is None else min(pair.used, unused)
            extras.append((0, first, second))
        elif not pair.linked:
            total += unused
        elif pair.invented is None or pair.used <= unused:
            total += pair.used
            extras.append((0, first, second))
        else:
            total += unused
            extras.append((pair.used - unused, first, second))
    root = {mention: mention for mention in chain}
    for extra, first, second in sorted(extras):
        kept, merged = root[first], root[second]
        if kept != merged:
            total += extra
            root = {mention: kept if top == merged else top for mention, top in root.items()}
    return total if len(set(root.values())) == 1 else None


def judge(instance: Instance, first: Span, second: Span) -> Judgement:
    """Ask every annotator, and the adjudicator where decisions are votes, about a pair."""
    costs = instance.coefficients
    voters = [([chain.mentions for chain in voter.chains], voter.mentions) for voter in instance.annotations]
    seen = list(instance.seen) or [None] * len(voters)
    if instance.forced_votes and instance.decisions.groups:
        groups = [group.mentions for group in instance.decisions.groups]
        voters.append((groups, frozenset(span for group in groups for span in group)))
        seen.append(None)
    linked, omitted, used, viewers, against = False, 0, costs.constant or 0, 0, 0
    for number, ((chains, marked), stretches) in enumerate(zip(voters, seen, strict=True)):
        if any(first in chain and second in chain for chain in chains):
            linked = True
            omitted += costs.omit[number]
        elif all(span in marked or _saw(stretches, span) for span in (first, second)):
            used += costs.use[number]
        else:
            continue
        viewers += 1
        against += costs.use[number]
    if not viewers:
        return Judgement(False, 0, 0, 0)
    charged = costs.invent is not None and costs.constant is not None
    invented = (costs.constant or 0) + against if charged else costs.invent
    return Judgement(linked, omitted, used, invented)


def _saw(stretches: Stretches | None, span: Span) -> bool:
    return stretches is None or any(run.start <= span.start and span.end <= run.end for run in stretches)
