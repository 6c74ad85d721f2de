"""The pairs of a chain, many at a time: classes of mentions, and what holds them together.

The mentions of a chain fall into *classes* with equal signature and equal enforced group; all pairs between
two classes are alike. And the pairs of one class with many others are alike, too: of those with later classes
there are as many kinds as annotators disagree in different ways. So sets of mentions are whole numbers, each
mention a bit, and the set of all later mentions is divided by each annotator into those of the same chain and
the others:

    class 1 | later mentions                111111111
            | annotator 0: in its chain     110110000   -> 110110000, 001001111
            | annotator 1: in its chain     100100110   -> 100100000, 010010000, 000000110, 001001001

Where all annotators count alike, only how many gave a link matters, and sets with the same number are united
again. So a chain of five thousand mentions that all differ is priced in a second, not in millions of steps.
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


def pairs_of(classes: Counter[Class], *, counted: bool = False) -> Iterator[Pairs]:
    """Yield the pairs inside every class, and with the classes after it; every pair once.

    If they are merely `counted`, the evidence says of the first annotators what is true of as many others:
    0b11 for any two givers. That is enough where all annotators count alike.

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
            inside = Evidence(_first(inside.k), _first(inside.n)) if counted else inside
            yield Pairs(own, own, size * (size - 1) // 2, inside, group is not None)
        for others, evidence, free in members.later(one, counted=counted):
            yield Pairs(own, others, size * others.bit_count(), evidence, free)


class ListedPairs(NamedTuple):
    """The pairs of one chain, listed once for all that is asked about them."""

    classes: Counter[Class]
    """Its mentions by class."""
    pairs: tuple[Pairs, ...]
    """All pairs; merely counted where all annotators count alike."""


def listed_pairs(instance: Instance, chain: Iterable[Span]) -> ListedPairs:
    """List the pairs of a chain."""
    classes = classes_of(instance, chain)
    return ListedPairs(classes, tuple(pairs_of(classes, counted=instance.prices.counted)))


def _first(count: int) -> int:
    """Return the set of so many annotators, the first ones."""
    return (1 << count) - 1


class _Members:
    """Which mentions of a chain are in each class, chain of an annotator and enforced group."""

    def __init__(self, classes: Counter[Class]) -> None:
        self.own: dict[Class, Mentions] = {}
        self.chains: dict[tuple[int, int], Mentions] = defaultdict(int)
        self.groups: dict[Span | None, Mentions] = {}
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
                self.groups[group] = self.groups.get(group, 0) | mentions
        self.all: Mentions = (1 << begin) - 1

    def later(self, one: Class, *, counted: bool) -> Iterator[tuple[Mentions, Evidence, bool]]:
        """Divide the mentions of later classes by the evidence of their pairs with a class."""
        (signature, group), own = one, self.own[one]
        rest = self.all >> own.bit_length() << own.bit_length()
        # mutant: equivalent (never), because nothing is divided where nothing is left
        if not rest:
            return
        given: dict[int, Mentions] = {}
        for chain in signature.chains:
            # mutant: equivalent (drop-operand 1), because only the rest is divided
            same = self.chains[chain] & rest
            # mutant: equivalent (always), because who gave nothing divides nothing
            if same:
                given[chain[0]] = given.get(chain[0], 0) | same
        free = self.groups.get(group, 0)
        for viewers, seen in self.viewers.items():
            both = signature.viewers & viewers
            both = _first(both.bit_count()) if counted else both
            for givers, mentions in _divided(rest & seen, given, counted=counted).items():
                if mentions & free:
                    yield mentions & free, Evidence(givers, both), True
                if mentions & ~free:
                    yield mentions & ~free, Evidence(givers, both), False


def _divided(mentions: Mentions, given: dict[int, Mentions], *, counted: bool) -> dict[int, Mentions]:
    """Divide mentions by the annotators who gave their links, or by how many they are."""
    found, by_all = {0: mentions}, 0
    for annotator, same in given.items():
        # mutant: equivalent (never, drop-operand 1, drop-operand 2), because all are divided off otherwise
        if mentions & ~same == 0:
            by_all = by_all << 1 | 1 if counted else by_all | 1 << annotator
            continue
        divided: dict[int, Mentions] = {}
        for givers, some in found.items():
            inside = some & same
            # mutant: equivalent (always), because sets without mentions are left out in the end
            if inside:
                more = givers << 1 | 1 if counted else givers | 1 << annotator
                divided[more] = divided.get(more, 0) | inside
            # mutant: equivalent (always), because of the same
            if inside != some:
                # mutant: equivalent (drop-operand 2), because sets of more givers come first: none is there
                divided[givers] = divided.get(givers, 0) | (some ^ inside)
        found = divided
    if counted:
        return {givers << by_all.bit_count() | by_all: some for givers, some in found.items()}
    return {givers | by_all: some for givers, some in found.items()}


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
        # mutant: equivalent (always), because without links the component only takes its own place
        if links:
            self._alone &= ~sides
            self._components = [one for one in self._components if not one & sides]
            for component in touched:
                sides |= component
            self._components.append(sides)
            self.parts -= links
        return links
