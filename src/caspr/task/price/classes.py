"""The pairs of a chain, many at a time: classes of mentions, and what holds them together.

The mentions of a chain fall into *classes* with equal signature and equal enforced group; all pairs between
two classes are alike. And the pairs of one class with many others are alike, too: of those with later classes
there are as many kinds as annotators disagree in different ways. So sets of mentions are whole numbers, each
mention a bit, and the set of all later mentions is divided by each annotator into those of the same chain and
the others:

    class 1 | later mentions                111111111
            | annotator 0: in its chain     110110000   -> 110110000, 001001111
            | annotator 1: in its chain     100100110   -> 100100000, 010010000, 000000110, 001001001

A chain of five thousand mentions that all differ is so priced in about a second, not in millions of steps.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from caspr.task.instance import Instance
from caspr.task.votes import Evidence, Signature, meet
from caspr.text.document import Span

Class = tuple[Signature, Span | None]
"""A signature and the enforced group, which together decide every pair."""
Mentions = int
"""A set of mentions of one chain, as bits."""


class Pairs(NamedTuple):
    """All pairs between the mentions of one class and those of another set: alike in everything."""

    first: Mentions
    second: Mentions
    """Mentions of later classes, or the same as `first`."""
    number: int
    """How many pairs of mentions."""
    evidence: Evidence
    """What annotators say about each pair."""
    free: bool
    """Whether each link is enforced."""


def classes_of(instance: Instance, chain: Iterable[Span]) -> Counter[Class]:
    """Count the mentions of a chain by class."""
    groups, votes = instance.free_groups, instance.votes
    return Counter((votes.signature(mention), groups.get(mention)) for mention in chain)


def pairs_of(classes: Counter[Class]) -> Iterator[Pairs]:
    """Yield the pairs inside every class, and with the classes after it; every pair once.

    >>> one, other = Signature(frozenset({(0, 1)}), 1), Signature(frozenset({(0, 2)}), 1)
    >>> for pairs in pairs_of(Counter({(one, None): 2, (other, None): 1})):
    ...     print(bin(pairs.first), bin(pairs.second), pairs.number, pairs.evidence)
    0b11 0b11 1 Evidence(givers=1, viewers=1)
    0b11 0b100 2 Evidence(givers=0, viewers=1)
    """
    members = _Members(classes)
    for one, own in members.own.items():
        (signature, group), size = one, classes[one]
        if size > 1:
            inside = meet(signature, signature)
            yield Pairs(own, own, size * (size - 1) // 2, inside, group is not None)
        for others, evidence, free in members.later(one):
            yield Pairs(own, others, size * others.bit_count(), evidence, free)


class _Members:
    """Which mentions of a chain are in each class, chain of an annotator and enforced group."""

    def __init__(self, classes: Counter[Class]) -> None:
        self.own: dict[Class, Mentions] = {}
        self.chains: dict[tuple[int, int], Mentions] = defaultdict(int)
        self.groups: dict[Span, Mentions] = defaultdict(int)
        self.viewers: dict[int, Mentions] = defaultdict(int)
        begin = 0
        for one, size in classes.items():
            (signature, group), mentions = one, ((1 << size) - 1) << begin
            begin += size
            self.own[one] = mentions
            self.viewers[signature.viewers] |= mentions
            for chain in signature.chains:
                self.chains[chain] |= mentions
            if group is not None:
                self.groups[group] |= mentions
        self.all: Mentions = (1 << begin) - 1

    def later(self, one: Class) -> Iterator[tuple[Mentions, Evidence, bool]]:
        """Divide the mentions of later classes by the evidence of their pairs with a class."""
        (signature, group), own = one, self.own[one]
        rest = self.all >> own.bit_length() << own.bit_length()
        if not rest:
            return
        given: dict[int, Mentions] = defaultdict(int)
        for chain in signature.chains:
            given[chain[0]] |= self.chains[chain]
        free = 0 if group is None else self.groups[group]
        for viewers, seen in self.viewers.items():
            found = [(rest & seen, 0)] if rest & seen else []
            for annotator, same in given.items():
                found = [part for old in found for part in _divided(*old, same, 1 << annotator)]
            for mentions, givers in found:
                evidence = Evidence(givers, signature.viewers & viewers)
                for part, is_free in _divided(mentions, 0, free, 1):
                    yield part, evidence, bool(is_free)


def _divided(mentions: Mentions, mark: int, inside: Mentions, more: int) -> Iterator[tuple[Mentions, int]]:
    """Divide mentions into those of another set, whose mark gets a bit more, and the others."""
    both = mentions & inside
    if both:
        yield both, mark | more
    if both != mentions:
        yield mentions ^ both, mark


class Connection:
    """Which mentions of a chain are connected."""

    def __init__(self, classes: Counter[Class]) -> None:
        self.parts = classes.total()
        """The number of connected components of the chain."""
        self._alone: Mentions = (1 << self.parts) - 1
        self._components: list[Mentions] = []

    def connect(self, first: Mentions, second: Mentions) -> int:
        """Link every mention of one set with every one of the other; return how many links it took."""
        # mutant: equivalent (never), because what is in one component takes 1 + 0 - 1 links below, too
        if self.parts == 1:
            return 0
        sides = first | second
        touched = [component for component in self._components if component & sides]
        links = len(touched) + (sides & self._alone).bit_count() - 1
        if links:
            self._alone &= ~sides
            self._components = [one for one in self._components if not one & sides]
            for component in touched:
                sides |= component
            self._components.append(sides)
            self.parts -= links
        return links
