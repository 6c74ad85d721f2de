"""Union-find and greedy matching.

`Groups` is a union-find: it starts with every item alone and joins groups. A group is identified by its first
item, in the order in which items were added, so that results do not depend on the order of joins.

`match_one_to_one` takes pairs from the best to the worst and keeps each whose two sides are still free: the
greedy matching by which chains of two annotators, or of two versions of a result, are found to be the same.
"""

from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

Item = TypeVar("Item", bound=Hashable)
Left = TypeVar("Left", bound=Hashable)
Right = TypeVar("Right", bound=Hashable)


class Groups(Generic[Item]):
    """Disjoint groups of items, which can be joined.

    >>> groups = Groups("abcd")
    >>> groups.join("d", "b")
    >>> groups.first("d"), groups.lists()
    ('b', [['a'], ['b', 'd'], ['c']])
    """

    def __init__(self, items: Iterable[Item] = ()) -> None:
        self._parent: dict[Item, Item] = {}
        self._order: dict[Item, int] = {}
        for item in items:
            self.add(item)

    def add(self, item: Item) -> None:
        """Add an item as a group of its own, unless it is there."""
        if item not in self._parent:
            self._order[item] = len(self._order)
            self._parent[item] = item

    def first(self, item: Item) -> Item:
        """Return the first item of an item's group."""
        parent = self._parent
        while parent[item] != item:
            parent[item] = parent[parent[item]]
            item = parent[item]
        return item

    def join(self, left: Item, right: Item) -> None:
        """Make the groups of two items one."""
        first, second = self.first(left), self.first(right)
        if self._order[second] < self._order[first]:
            first, second = second, first
        self._parent[second] = first

    def firsts(self) -> dict[Item, Item]:
        """Return the first item of every item's group, in the order in which items were added."""
        return {item: self.first(item) for item in self._parent}

    def lists(self) -> list[list[Item]]:
        """Return the groups by their first items, the items of each in the order in which they were added."""
        groups: dict[Item, list[Item]] = {}
        for item, first in self.firsts().items():
            groups.setdefault(first, []).append(item)
        return list(groups.values())


def match_one_to_one(ranked: Iterable[tuple[Left, Right]]) -> dict[Left, Right]:
    """Match greedily: keep each pair, best first, whose sides no earlier pair has taken.

    >>> match_one_to_one([("a", 1), ("a", 2), ("b", 1), ("b", 2)])
    {'a': 1, 'b': 2}
    """
    matched: dict[Left, Right] = {}
    taken: set[Right] = set()
    for left, right in ranked:
        if left not in matched and right not in taken:
            matched[left] = right
            taken.add(right)
    return matched
