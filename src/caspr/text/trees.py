"""Dependency trees: where a word stands, what a mention's head is, and which empty nodes are the same.

A format that has trees gives a `Tree` to its documents, which returns the row of a token:

    id    head  deps
    1     2     2:nsubj       a word; its parent is word 2
    1.1   _     2:obj         an empty node after word 1, such as a dropped pronoun

1. **Places.** The place of a token is its sentence, the number of its word and, for empty nodes, its number
   after that word. Files of one text have the same words at the same places; their empty nodes may differ.
2. **Heads.** The head of a mention is the first token whose parent lies outside the mention. Where several
   are, those go whose parents in the enhanced graph (`deps`) lie inside: so an empty node that depends on a
   word of the mention is not its head.
3. **Zeros.** Annotators put one dropped subject at node 1.1 or at 2.1. Empty nodes of one sentence are the
   same by what they depend on: they are matched one to one so that the sum of

       10 * F1 of the dependencies (parent and relation) + F1 of the parents alone

   is large (Novák et al. 2024): the relation decides, then the parent, then which is nearer. Scores look for
   the largest sum; among annotators, the most alike go first, and nodes that share no parent with another are
   the same if they stand at the same place.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Hashable, Sequence, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

from caspr.text.document import Document, Tree, TreeRow
from caspr.text.grouping import match_one_to_one

_ID = re.compile(r"([0-9]+)(?:\.([0-9]+))?")


class TreePlace(NamedTuple):
    """Where a token stands."""

    sentence: int
    word: int
    """The number of the word, or of the word before an empty node."""
    empty: int = 0
    """The number of an empty node after its word; 0 for a word."""


Dependency = tuple[TreePlace, str]
"""What a token depends on, and how."""


@dataclass(frozen=True)
class _AlignedTree:
    """The rows of a document whose tokens were cut or that was lent empty nodes (`text.alignment`)."""

    document: Document
    tree: Tree
    """The trees of its file."""

    def line(self, token: int) -> str:
        """Return all that the file, or that of the lender, has in the row of a token."""
        origin, lent = self.document.origin[token - 1], self.document.lent
        if origin:
            return self.tree.line(origin)
        return lent[token].line if token in lent else "\t".join([str(token), *"_" * 9])

    def speaker(self, token: int) -> str:
        """Return who says a token."""
        origin = self.document.origin[token - 1]
        return self.tree.speaker(origin) if origin else ""


def with_tree(document: Document) -> Document:
    """Return a document with the trees of its file, also where its tokens are no longer those of the file."""
    if document.tree is not None or document.old_tree is None:
        return document
    return replace(document, tree=_AlignedTree(document, document.old_tree))


def place(document: Document, token: int) -> TreePlace:
    """Return where a token stands."""
    row = _row(document, token)
    return _place(bisect_left(document.sentence_ends, token), row.id) or TreePlace(0, token)


def is_empty(document: Document, token: int) -> bool:
    """Return whether a token is an empty node."""
    return "." in _row(document, token).id


def without_empty_forms(document: Document) -> Document:
    """Return a document in which empty nodes have no characters, whatever the file calls them."""
    tokens = enumerate(document.tokens, 1)
    return replace(document, tokens=tuple("" if is_empty(document, n) else token for n, token in tokens))


def dependencies(document: Document, token: int) -> frozenset[Dependency]:
    """Return what a token depends on in the enhanced graph."""
    sentence = bisect_left(document.sentence_ends, token)
    parents = []
    for item in _row(document, token).deps.split("|"):
        id, _, relation = item.partition(":")
        parent = _place(sentence, id)
        if parent is not None:
            parents.append((parent, relation))
    return frozenset(parents)


def head_of(document: Document, tokens: Sequence[int]) -> int:
    """Return the token that is the head of a mention by the trees; the first where there are none."""
    if document.tree is None or len(tokens) == 1:
        return tokens[0]
    rows = [_row(document, token) for token in tokens]
    inside = {row.id for row in rows}
    tops = [token for token, row in zip(tokens, rows, strict=True) if row.head not in inside]
    if len(tops) > 1:
        within = {place(document, token) for token in tokens}
        free = [
            token
            for token in tops
            if not any(parent in within for parent, _ in dependencies(document, token))
        ]
        tops = free or tops
    return tops[0] if tops else tokens[0]


def likeness(first: Set[tuple[Hashable, str]], second: Set[tuple[Hashable, str]]) -> Fraction:
    """Return how alike two empty nodes of one sentence are, by what they depend on.

    >>> subject, object_ = frozenset([(TreePlace(0, 2), "nsubj")]), frozenset([(TreePlace(0, 2), "obj")])
    >>> likeness(subject, subject), likeness(subject, object_), likeness(subject, frozenset())
    (Fraction(11, 1), Fraction(1, 1), Fraction(0, 1))
    """
    parents = ({parent for parent, _ in deps} for deps in (first, second))
    return 10 * _f1(first, second) + _f1(*parents)


@dataclass(frozen=True)
class EmptyNode:
    """An empty node of one file, described so that it can be recognised in another."""

    token: int
    at: int
    """How many characters stand before it."""
    first: bool
    """Whether it stands before the first word of its sentence."""
    depends: frozenset[tuple[Hashable, str]]
    """What it depends on, where a word is known by the characters before it."""


def empty_nodes(document: Document, starts: Sequence[int]) -> list[EmptyNode]:
    """Return the empty nodes of a document, of whose tokens it is known how many characters precede them."""
    places = [place(document, token) for token in range(1, len(document.tokens) + 1)]
    tokens = {where: token for token, where in enumerate(places, 1)}

    def known(parent: TreePlace, depth: int = 4) -> Hashable:
        if parent not in tokens or not depth:
            return parent
        if not parent.empty:
            return starts[tokens[parent] - 1]
        above = dependencies(document, tokens[parent])
        return frozenset((known(where, depth - 1), relation) for where, relation in above)

    return [
        EmptyNode(
            token,
            starts[token - 1],
            where.word == 0,
            frozenset((known(parent), relation) for parent, relation in dependencies(document, token)),
        )
        for token, where in enumerate(places, 1)
        if where.empty
    ]


def same_nodes(files: Sequence[Sequence[EmptyNode]]) -> tuple[list[tuple[int, EmptyNode]], list[list[int]]]:
    """Find the nodes of several files that are the same.

    Returns all different nodes, each with the first file that has it, and for each node of each file which of
    these it is.
    """
    different: list[tuple[int, EmptyNode]] = []
    numbers: list[list[int]] = []
    for file, nodes in enumerate(files):
        matched = _match([node for _, node in different], nodes)
        own = []
        for number, node in enumerate(nodes):
            if number not in matched:
                matched[number] = len(different)
                different.append((file, node))
            own.append(matched[number])
        numbers.append(own)
    return different, numbers


def _match(known: Sequence[EmptyNode], nodes: Sequence[EmptyNode]) -> dict[int, int]:
    """Match nodes one to one with known ones: by what they depend on, then by place."""
    by_parent: dict[Hashable, list[int]] = defaultdict(list)
    by_place: dict[tuple[int, bool], list[int]] = defaultdict(list)
    for number, node in enumerate(known):
        by_place[node.at, node.first].append(number)
        for parent in {parent for parent, _ in node.depends}:
            by_parent[parent].append(number)
    alike = {
        (number, other): likeness(node.depends, known[other].depends)
        for number, node in enumerate(nodes)
        for parent, _ in node.depends
        for other in by_parent.get(parent, ())
    }

    def rank(pair: tuple[int, int]) -> tuple[Fraction, int, int, int]:
        return -alike[pair], abs(nodes[pair[0]].at - known[pair[1]].at), abs(pair[0] - pair[1]), pair[0]

    here = [
        (number, other)
        for number, node in enumerate(nodes)
        for other in by_place.get((node.at, node.first), ())
    ]
    return match_one_to_one([*sorted(alike, key=rank), *here])


def _f1(first: Set[Any], second: Set[Any]) -> Fraction:
    common = len(first & second)
    return Fraction(2 * common, len(first) + len(second)) if common else Fraction(0)


def _row(document: Document, token: int) -> TreeRow:
    return TreeRow(str(token), "_", "_") if document.tree is None else TreeRow.of(document.tree.line(token))


def _place(sentence: int, id: str) -> TreePlace | None:
    matched = _ID.fullmatch(id)
    return TreePlace(sentence, int(matched[1]), int(matched[2] or 0)) if matched else None
