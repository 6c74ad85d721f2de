"""The baseline: what most annotators link, or the best single annotation, made to fit rules and decisions.

Engines return it when a limit is reached before they found anything better, so that a user always gets an
answer that is no worse than the work of the best annotator. It needs no search, and no list of pairs:

the majority    every mention is linked with those just before it in annotators' chains, if more than half of
                the annotators who saw both agree. What these links connect is a chain; where pairs that
                nobody linked are forbidden, mentions are added to it one by one, those in most chains first,
                if all in it are linked with them, and those that are left make another chain.
the annotators  an estimate says whose chains to try first, theirs or the majority's. If every pair is used
                or omitted, what chains save is a sum over all annotators: for each, how many pairs the two
                have in common. It follows from how many mentions each chain of one has in each of the other.
                Where time is up, one answer is enough if a sample of pairs says that it is clearly the best.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations_with_replacement
from math import comb, inf
from random import Random
from time import monotonic

from caspr.task.contradictions import arrangement
from caspr.task.decisions import Decisions
from caspr.task.instance import Instance
from caspr.task.pricing import ListedPairs, chain_faults, listed_pairs, price, price_chain, violations
from caspr.task.solution import Partition, canonical
from caspr.task.votes import Evidence, Signature
from caspr.text.document import Span
from caspr.text.grouping import Groups

COMPARED = 500_000
"""How many chains of two annotators are compared, one mention after the other, to estimate whose are best."""
ENOUGH = 2
"""How many answers are tried whatever the time: as a rule those of the majority and the best annotator."""
CLEARLY, PAIRS = 1.1, 2_000
"""Once time is up, the first is enough if its chains save this many times what the next ones do.

That is judged by this number of pairs of each, chosen at random.
"""
FALLBACK = (
    "nothing better was found than the chains of one annotator, or of the majority, made to fit rules and "
    "decisions"
)
"""The warning when the baseline is the result."""
Chains = Sequence[tuple[Span, ...]]


def baseline(instance: Instance, seconds: float = inf) -> Partition | None:
    """Return the cheapest of the majority's and all annotators' chains, fitted, or `None` if none fits.

    After some seconds, no more are tried once there are `ENOUGH`.
    """
    best = priced_baseline(instance, seconds)
    return None if best is None else best[0]


def priced_baseline(instance: Instance, seconds: float = inf) -> tuple[Partition, int] | None:
    """Return the baseline and what it costs."""
    deadline = monotonic() + seconds
    arranged = arrangement(instance, instance.constraints)
    if arranged is None:
        return None
    enforced = [list(chain) for chain in arranged if len(chain) > 1]
    legal: dict[Partition, int] = {}
    cost_of = linked_cost if _adds_up(instance) else legal_cost
    candidates = _candidates(instance)
    for chains in candidates:
        late = bool(legal) and monotonic() > deadline
        if late and (len(legal) >= ENOUGH or _is_clear(instance, candidates[0], chains)):
            break
        answer = _fit(instance, enforced, chains)
        cost = None if answer in legal else cost_of(instance, answer)
        if cost is not None:
            legal[answer] = cost
    return min(sorted(legal.items()), key=lambda answer: answer[1], default=None)


def legal_cost(instance: Instance, partition: Partition) -> int | None:
    """Return what a partition costs, or `None` if it breaks a rule; no pairs are listed twice."""
    known: dict[Iterable[Span], ListedPairs] = {chain: listed_pairs(instance, chain) for chain in partition}
    if any(violations(instance, partition, lambda _, chain: chain_faults(instance, chain, known[chain]))):
        return None
    return price(instance, partition, lambda _, chain: price_chain(instance, chain, known[chain])).total


def _adds_up(instance: Instance) -> bool:
    """Return whether only votes count and every pair of a chain must be linked, so that all are used."""
    if instance.decisions != Decisions() or instance.rules or instance.votes.seen:
        return False
    kinds = instance.votes.signatures.values()
    alone = all(len(dict(kind.chains)) == len(kind.chains) for kind in kinds)
    return alone and instance.coefficients.invent is None


def linked_cost(instance: Instance, partition: Partition) -> int | None:
    """Return what `legal_cost` does where prices add up, in a tenth of the time.

    A pair saves what omitting its link would cost, minus what using it costs: a sum over its annotators, for
    each of whom it is enough to know how many mentions of a chain each chain of theirs has.
    """
    signatures, costs = instance.votes.signatures, instance.coefficients
    if any(violations(instance, partition, lambda *_: ())):
        return None
    use, saved = sum(costs.use) + (costs.constant or 0), 0
    for chain in partition:
        held: dict[tuple[int, int], int] = defaultdict(int)
        for number, mention in enumerate(chain):
            for home in signatures[mention].chains:
                held[home] |= 1 << number
        linked = (_linked(signatures[mention], held) for mention in chain)
        every = (1 << len(chain)) - 1
        if any(mentions != every for mentions in linked) or any(True for _ in instance.nested_faults(chain)):
            return None
        for (annotator, _), mentions in held.items():
            saved += comb(mentions.bit_count(), 2) * (costs.omit[annotator] + costs.use[annotator])
        saved -= comb(len(chain), 2) * use
    return instance.all_omitted - saved


def _linked(signature: Signature, held: Mapping[tuple[int, int], int]) -> int:
    """Return the mentions that a mention is linked with, and itself, as bits."""
    linked = 0
    for chain in signature.chains:
        linked |= held[chain]
    return linked


def _is_clear(instance: Instance, first: Chains, second: Chains) -> bool:
    """Return whether some chains save clearly more than others, by a sample of their pairs."""
    return _saved_by_some(instance, first) > CLEARLY * _saved_by_some(instance, second)


def _saved_by_some(instance: Instance, chains: Chains) -> float:
    """Estimate what the pairs of chains save; those that are forbidden save nothing."""
    random, pairs = Random(1), [comb(len(chain), 2) for chain in chains]
    if not any(pairs):
        return 0.0
    prices = (instance.price(*random.sample(chain, 2)) for chain in random.choices(chains, pairs, k=PAIRS))
    return sum(price.gain for price in prices if price.allowed) / PAIRS * sum(pairs)


def _candidates(instance: Instance) -> list[Chains]:
    """Return chains to try, those first that probably save most."""
    majority = list(_majority(instance))
    chains: list[Chains] = [[chain.mentions for chain in one.chains] for one in instance.annotations]
    saved = _estimated(instance, majority)
    # Of equal ones the majority comes first.
    numbers = sorted(range(len(saved)), key=lambda number: (-saved[number], number < len(chains), number))
    chains.append(majority)
    return [*(chains[number] for number in numbers), ()]


def _majority(instance: Instance) -> Iterable[tuple[Span, ...]]:
    """Return what the links of most annotators connect, without pairs that are forbidden."""
    signatures, last = instance.votes.signatures, dict[tuple[int, int], Span]()
    groups = Groups(signatures)
    for mention, signature in signatures.items():
        for other in set(map(last.get, signature.chains)):
            if other is not None and groups.first(other) != groups.first(mention):
                near = signatures[other]
                # Who has both in two chains counts twice: this is no more than a guess.
                agreeing = len(signature.chains & near.chains)
                if 2 * agreeing > (signature.viewers & near.viewers).bit_count():
                    groups.join(other, mention)
        last.update(dict.fromkeys(signature.chains, mention))
    free = instance.prices.of(Evidence(0, instance.votes.everybody)).allowed
    for chain in groups.lists():
        yield from [tuple(chain)] if free else _linked_chains(instance, chain)


def _linked_chains(instance: Instance, mentions: list[Span]) -> Iterable[tuple[Span, ...]]:
    """Divide mentions into chains in which every two are linked; sets of mentions are bits."""
    signatures = instance.votes.signatures
    left = sorted(mentions, key=lambda mention: (-len(signatures[mention].chains), mention))
    while len(left) > 1:
        held: dict[tuple[int, int], int] = defaultdict(int)
        for number, mention in enumerate(left):
            for chain in signatures[mention].chains:
                held[chain] |= 1 << number
        kept, chosen = 0, list[Span]()
        for number, mention in enumerate(left):
            if kept & ~_linked(signatures[mention], held) == 0:
                kept |= 1 << number
                chosen.append(mention)
        yield tuple(chosen)
        left = [mention for number, mention in enumerate(left) if not kept >> number & 1]


def _estimated(instance: Instance, majority: Sequence[tuple[Span, ...]]) -> list[int]:
    """Return what the chains of each annotator save, and last those of the majority, on some mentions."""
    voters, costs = range(len(instance.annotations)), instance.coefficients
    numbers = range(instance.votes.annotators + 1)
    mentions = list(instance.votes.signatures.items())
    sample = mentions[:: -(-len(mentions) * len(numbers) ** 2 // (2 * COMPARED)) or 1]
    chains = [[-1] * len(sample) for _ in numbers]
    for place, (_, signature) in enumerate(sample):
        for annotator, chain in signature.chains:
            chains[annotator][place] = chain
    home = {mention: number for number, chain in enumerate(majority) for mention in chain}
    chains = [*chains[: len(voters)], [home.get(mention, -1) for mention, _ in sample]]
    saved = [0] * len(chains)
    for one, other in combinations_with_replacement(range(len(chains)), 2):
        shared = Counter(zip(chains[one], chains[other], strict=True))
        common = sum(n * (n - 1) // 2 for (a, b), n in shared.items() if a >= 0 and b >= 0)
        if other in voters:
            saved[one] += common * (costs.omit[other] + costs.use[other])
        if one in voters and one != other:
            saved[other] += common * (costs.omit[one] + costs.use[one])
        if one == other:
            saved[one] -= common * sum(costs.use)
    return saved


def _fit(instance: Instance, enforced: list[list[Span]], chains: Chains) -> Partition:
    """Add an annotator's chains to the enforced ones, without what rules, decisions or overlaps forbid."""
    allowed = set(instance.mentions)
    taken = {mention for chain in enforced for mention in chain} | set(instance.constraints.group_of)
    fitted = list(enforced)
    against: dict[Span, set[Span]] = defaultdict(set)
    for first, second in instance.constraints.apart:
        against[first].add(second)
        against[second].add(first)
    for chain in chains:
        kept: list[Span] = []
        reach = 0
        for mention in sorted(chain):
            if mention not in allowed or mention in taken:
                continue
            # Mentions that are alone, or enforced anywhere, do not come here.
            if mention in against and not against[mention].isdisjoint(kept):
                continue
            # Those before it in the text end at `reach` at the latest.
            if mention.start > reach or not any(instance.forbids_nesting(mention, span) for span in kept):
                kept.append(mention)
                reach = max(reach, mention.end)
        if len(kept) > 1:
            fitted.append(kept)
            taken.update(kept)
    return canonical(fitted)
