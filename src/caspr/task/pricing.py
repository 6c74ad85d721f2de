"""Prices and rules: what chains cost, recomputed from the votes, and what they must respect at any cost.

**A pair** with an enforced link is free. A pair that some annotator linked is used or left unused, whichever
is cheaper (`pair_price`); a pair that nobody linked is invented. Used and free links must connect the chain.
If the cheapest choice does not, the links that connect it at least extra cost are used as well: adding links
is a matroid question, so taking them by extra cost, cheapest first (Kruskal), is exact.

**Many at a time.** The mentions of a chain fall into *classes* with equal signature and equal enforced
group; all pairs between two classes are alike. And the pairs of one class with many others are alike, too:
of those with later classes there are as many kinds as annotators disagree in different ways. So sets of
mentions are whole numbers, each mention a bit, and the set of all later mentions is divided by each
annotator into those of the same chain and the others:

    class 1 | later mentions                111111111
            | annotator 0: in its chain     110110000   -> 110110000, 001001111
            | annotator 1: in its chain     100100110   -> 100100000, 010010000, 000000110, 001001001

Where all annotators count alike, only how many gave a link matters, and sets with the same number are united
again. So a chain of five thousand mentions that all differ is priced in a second, not in millions of steps.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import combinations_with_replacement
from typing import NamedTuple

from caspr.task.instance import Instance
from caspr.task.pair_price import PairPrice
from caspr.task.solution import Costs, Partition
from caspr.task.votes import Evidence, Signature, meet
from caspr.text.document import Span

Class = tuple[Signature, Span | None, Span | None]
"""A signature and the enforced group, which together decide every pair by votes, and the mention itself where
rules give links of it."""
Mentions = int
"""A set of mentions of one chain, as bits."""
Priced = Callable[[Instance, tuple[Span, ...]], tuple[int, Costs]]
"""Prices one chain, whatever the others are."""
Faults = Callable[[Instance, tuple[Span, ...]], Iterable[str]]
"""Yields what is wrong with one chain, whatever the others are."""


class Pairs(NamedTuple):
    """All pairs between the mentions of one class and those of another set: alike in everything."""

    first: Mentions
    second: Mentions
    """Mentions of later classes, or the same as `first`."""
    number: int
    evidence: Evidence
    """What annotators say about each pair."""
    free: bool
    """Whether each link is enforced."""


class ListedPairs(NamedTuple):
    """The pairs of one chain, listed once for all that is asked about them."""

    classes: Counter[Class]
    pairs: tuple[Pairs, ...]
    """All pairs; merely counted where all annotators count alike."""
    given: tuple[tuple[Mentions, Mentions], ...] = ()
    """The pairs whose links rules give."""


def price(instance: Instance, partition: Partition, priced: Priced | None = None) -> Costs:
    """Compute what a partition costs, by kind.

    The partition must be connected by links and free of pairs that must not share a chain: `violations`
    checks that.
    """
    priced = priced or price_chain
    chains = [priced(instance, chain) for chain in partition]
    kept = sum(saved for saved, _ in chains)
    by_votes = sum((costs for _, costs in chains), Costs(omitted=instance.all_omitted - kept))
    return (
        by_votes + instance.required_costs + price_by_rules(instance, partition)
        if instance.rules
        else by_votes
    )


def price_by_rules(instance: Instance, partition: Partition) -> Costs:
    """Compute what rules of one's own charge for a partition."""
    rules = instance.rules
    charged = sum(rules.apart.values()) + sum(rules.leaving.values())
    for chain in partition:
        for pair in rules.pairs_within(chain):
            charged += rules.together.get(pair, 0) - rules.apart.get(pair, 0)
        for mention in chain:
            charged += rules.joining.get(mention, 0) - rules.leaving.get(mention, 0)
    return Costs(rules=charged)


def price_chain(
    instance: Instance, chain: Iterable[Span], listed: ListedPairs | None = None
) -> tuple[int, Costs]:
    """Return what it saves not to omit the used and free links of a chain, and what its pairs cost."""
    listed = listed or listed_pairs(instance, chain)
    used, invented, kept = 0, 0, 0
    joined = Connection(listed.classes, listed.given)
    left_unused: list[tuple[int, PairPrice, Pairs]] = []
    for pairs in listed.pairs:
        cost = instance.prices.of(pairs.evidence)
        if pairs.free or cost.connects:
            kept += pairs.number * cost.omitted
            used += 0 if pairs.free else pairs.number * (cost.used or 0)
            joined.connect(pairs.first, pairs.second)
        else:
            invented += pairs.number * (cost.invented or 0)
            if cost.extra is not None:
                left_unused.append((cost.extra, cost, pairs))
    for _, cost, pairs in sorted(left_unused, key=lambda entry: entry[0]):
        added = joined.connect(pairs.first, pairs.second)
        kept += added * cost.omitted
        used += added * (cost.used or 0)
        invented -= added * (cost.invented or 0)
    return kept, Costs(used=used, invented=invented) + _used_by_rules(instance, chain)


def _used_by_rules(instance: Instance, chain: Iterable[Span]) -> Costs:
    """Return by how much a chain costs something else because rules give links that nobody else gave."""
    used = invented = 0
    for first, second in instance.rules.links_within(tuple(chain)):
        evidence = instance.votes.evidence(first, second)
        price, given = instance.prices.of(evidence), instance.prices.given(evidence)
        cheaper = price.invented is None or given.gain > price.gain
        if not evidence.givers and cheaper and not instance.is_free(first, second):
            used += given.used or 0
            invented -= price.invented or 0
    return Costs(used=used, invented=invented)


def pairwise_bound(instance: Instance) -> int:
    """Return a cost no solution can go below: every linked pair at the cheaper of apart and together.

    >>> from caspr.text.document import Annotation, Chain, Document
    >>> document = Document("d", ("a", "b", "c"))
    >>> one = Annotation.of("one", document, [Chain.of("1", [(1, 1), (2, 2)])])
    >>> pairwise_bound(Instance((one, Annotation.of("two", document, []))))
    1
    """
    ruled_out = instance.constraints.excludes
    classes = Counter(
        (signature, instance.free_groups.get(mention), ruled_out(mention))
        for mention, signature in instance.votes.signatures.items()
    )
    members: dict[tuple[int, int], list[int]] = {}
    known = list(classes)
    for position, (signature, _, _) in enumerate(known):
        for chain in signature.chains:
            members.setdefault(chain, []).append(position)
    linked = {pair for chain in members.values() for pair in combinations_with_replacement(chain, 2)}
    total = 0
    for first, second in linked:
        (own, group, out), (theirs, other_group, other_out) = known[first], known[second]
        size = classes[known[first]]
        count = size * (size - 1) // 2 if first == second else size * classes[known[second]]
        cost = instance.prices.of(meet(own, theirs))
        if out or other_out:
            total += count * cost.omitted
        elif group is None or group != other_group:
            total += count * min(cost.omitted, cost.used or 0)
    return total


def violations(instance: Instance, partition: Partition, faults: Faults | None = None) -> Iterator[str]:
    """Yield a sentence for every rule or decision that a partition breaks."""
    faults = faults or chain_faults
    candidates = frozenset(instance.mentions)
    holder: dict[Span, int] = {}
    for number, chain in enumerate(partition, start=1):
        if len(set(chain)) < 2:
            yield f"chain {number} has fewer than two mentions"
        for mention in chain:
            if mention not in candidates:
                yield f"chain {number} has {tuple(mention)}, which nobody linked or a decision rules out"
            if mention in holder:
                yield f"chains {holder[mention]} and {number} share {tuple(mention)}"
            holder[mention] = number
        yield from (f"chain {number} {fault}" for fault in faults(instance, chain))
    yield from _broken_decisions(instance, holder)


def chain_faults(
    instance: Instance, chain: tuple[Span, ...], listed: ListedPairs | None = None
) -> Iterator[str]:
    """Yield what is wrong with a chain by itself, which follows from its mentions and their free groups."""
    for outer, inner in instance.nested_faults(chain):
        yield f"has {tuple(inner)} inside {tuple(outer)}"
    listed = listed or listed_pairs(instance, chain)
    joined = Connection(listed.classes, listed.given)
    given = {pair for first, second in listed.given for pair in ((first, second), (second, first))}
    for pairs in listed.pairs:
        if pairs.free or pairs.evidence.givers:
            joined.connect(pairs.first, pairs.second)
        elif not instance.prices.of(pairs.evidence).allowed:
            unlinked = pairs.number - _given_among(pairs, given)
            if unlinked:
                yield f"has {unlinked} pairs that nobody linked"
    if joined.parts > 1:
        yield "is not connected by links"


def _given_among(pairs: Pairs, given: Collection[tuple[Mentions, Mentions]]) -> int:
    """Count the pairs whose links rules give; a mention of such a pair is a class of its own."""
    return sum(first == pairs.first and bool(second & pairs.second) for first, second in given)


def _broken_decisions(instance: Instance, holder: dict[Span, int]) -> Iterator[str]:
    for mention in instance.constraints.overruled:
        yield f"{tuple(mention)} is decided to be a mention and ruled out"
    for mention in sorted(instance.constraints.alone & holder.keys()):
        yield f"{tuple(mention)} is decided to be alone and in a chain"
    for mention in sorted(instance.demands - holder.keys()):
        yield f"{tuple(mention)} is enforced and in no chain"
    held = []
    for group in instance.constraints.groups:
        chains = {holder.get(mention, mention) for mention in group.mentions}
        held.append((group, chains))
        if len(chains) > 1:
            yield f"the mentions enforced together with {tuple(group.mentions[0])} are not in one chain"
    named = ((chain, id) for group, chains in held for chain in chains for id in group.ids)
    taken = Counter(chain for chain, _ in set(named))
    for chain, count in taken.items():
        if count > 1:
            yield f"chain {chain} holds mentions enforced in {count} different chains"
    for first, second in sorted(instance.constraints.apart):
        if first in holder and holder[first] == holder.get(second):
            yield f"{tuple(first)} and {tuple(second)} are decided to be apart and in one chain"


def listed_pairs(instance: Instance, chain: Iterable[Span]) -> ListedPairs:
    """List the pairs of a chain."""
    chain = tuple(chain)
    classes = classes_of(instance, chain)
    pairs = tuple(pairs_of(classes, counted=instance.prices.counted))
    if not instance.rules.given:
        return ListedPairs(classes, pairs)
    own = _Members(classes).own
    alone = {kind[2]: mentions for kind, mentions in own.items()}
    links = instance.rules.links_within(chain)
    return ListedPairs(classes, pairs, tuple((alone[first], alone[second]) for first, second in links))


def classes_of(instance: Instance, chain: Iterable[Span]) -> Counter[Class]:
    """Count the mentions of a chain by class."""
    groups, votes, given = instance.free_groups, instance.votes, instance.rules.given
    return Counter(
        (votes.signature(mention), groups.get(mention), mention if mention in given else None)
        for mention in chain
    )


def pairs_of(classes: Counter[Class], *, counted: bool = False) -> Iterator[Pairs]:
    """Yield the pairs inside every class, and with the classes after it; every pair once.

    If they are merely `counted`, the evidence says of the first annotators what is true of as many others:
    0b11 for any two givers. That is enough where all annotators count alike.

    >>> one, other = Signature(frozenset({(0, 1)}), 1), Signature(frozenset({(0, 2)}), 1)
    >>> for pairs in pairs_of(Counter({(one, None, None): 2, (other, None, None): 1})):
    ...     print(bin(pairs.first), bin(pairs.second), pairs.number, pairs.evidence)
    0b11 0b11 1 Evidence(givers=1, viewers=1)
    0b11 0b100 2 Evidence(givers=0, viewers=1)
    """
    members = _Members(classes)
    for kind, own in members.own.items():
        (signature, group, _), size = kind, classes[kind]
        if size > 1:
            inside = meet(signature, signature)
            inside = Evidence(_first(inside.k), _first(inside.n)) if counted else inside
            yield Pairs(own, own, size * (size - 1) // 2, inside, group is not None)
        for later, evidence, free in members.later(kind, counted=counted):
            yield Pairs(own, later, size * later.bit_count(), evidence, free)


def _first(count: int) -> int:
    """Return the set of the first `count` annotators."""
    return (1 << count) - 1


class _Members:
    """Which mentions of a chain are in each class, chain of an annotator and enforced group."""

    def __init__(self, classes: Counter[Class]) -> None:
        self.own: dict[Class, Mentions] = {}
        self.chains: dict[tuple[int, int], Mentions] = defaultdict(int)
        self.groups: dict[Span | None, Mentions] = {}
        self.viewers: dict[int, Mentions] = defaultdict(int)
        begin = 0
        for kind, size in classes.items():
            (signature, group, _), mentions = kind, ((1 << size) - 1) << begin
            begin += size
            self.own[kind] = mentions
            self.viewers[signature.viewers] |= mentions
            for chain in signature.chains:
                self.chains[chain] |= mentions
            if group is not None:
                self.groups[group] = self.groups.get(group, 0) | mentions
        self.all: Mentions = (1 << begin) - 1

    def later(self, kind: Class, *, counted: bool) -> Iterator[tuple[Mentions, Evidence, bool]]:
        """Divide the mentions of later classes by the evidence of their pairs with a class."""
        (signature, group, _), own = kind, self.own[kind]
        rest = self.all >> own.bit_length() << own.bit_length()
        if not rest:
            return
        linked: dict[int, Mentions] = {}
        for chain in signature.chains:
            same = self.chains[chain] & rest
            if same:
                linked[chain[0]] = linked.get(chain[0], 0) | same
        free = self.groups.get(group, 0)
        for viewers, seen in self.viewers.items():
            both = signature.viewers & viewers
            both = _first(both.bit_count()) if counted else both
            here = rest & seen
            parts = _counted(here, linked.values()) if counted else _divided(here, linked)
            for givers, mentions in parts.items():
                if mentions & free:
                    yield mentions & free, Evidence(givers, both), True
                if mentions & ~free:
                    yield mentions & ~free, Evidence(givers, both), False


def _divided(mentions: Mentions, linked: Mapping[int, Mentions]) -> dict[int, Mentions]:
    """Divide mentions by the annotators who gave their links."""
    parts, by_all = {0: mentions}, 0
    for annotator, same in linked.items():
        if mentions & ~same == 0:
            by_all |= 1 << annotator
        else:
            parts = _told_apart(parts, same, 1 << annotator)
    return {givers | by_all: some for givers, some in parts.items()}


def _told_apart(parts: Mapping[int, Mentions], same: Mentions, bit: int) -> dict[int, Mentions]:
    """Divide parts into what is in a set, whose number gets another bit, and what is not."""
    divided: dict[int, Mentions] = {}
    for number, some in parts.items():
        inside = some & same
        if inside:
            divided[number | bit] = inside
        if inside != some:
            divided[number] = some ^ inside
    return divided


def _counted(mentions: Mentions, linked: Iterable[Mentions]) -> dict[int, Mentions]:
    """Divide mentions by how many annotators gave their links: by the first of as many annotators.

    Sets are added up digit by digit, all mentions at once: the first of `digits` holds those with an odd
    number of links, the next those of whose number the second binary digit is 1, and so on.
    """
    digits: list[Mentions] = []
    for same in linked:
        carried = same
        for place, digit in enumerate(digits):
            digits[place], carried = digit ^ carried, digit & carried
        if carried:
            digits.append(carried)
    parts = {0: mentions}
    for place, digit in enumerate(digits):
        parts = _told_apart(parts, digit, 1 << place)
    return {_first(count): some for count, some in parts.items()}


class Connection:
    """Which mentions of a chain are connected."""

    def __init__(self, classes: Counter[Class], given: Iterable[tuple[Mentions, Mentions]] = ()) -> None:
        self.parts = classes.total()
        """The number of connected components of the chain."""
        self._alone: Mentions = (1 << self.parts) - 1
        self._components: list[Mentions] = []
        for first, second in given:
            self.connect(first, second)

    def connect(self, first: Mentions, second: Mentions) -> int:
        """Link every mention of one set with every one of the other; return how many links it took."""
        if self.parts == 1:
            return 0
        sides = first | second
        touched = [component for component in self._components if component & sides]
        links = len(touched) + (sides & self._alone).bit_count() - 1
        if links:
            self._alone &= ~sides
            self._components = [component for component in self._components if not component & sides]
            for component in touched:
                sides |= component
            self._components.append(sides)
            self.parts -= links
        return links
