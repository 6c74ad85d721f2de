"""Matching in files with trees: mentions are sets of words with a head, as the scorer of CorefUD has them.

Key and response may have other empty nodes, so words are known by their places (`text.trees`) and
not by numbers. As in corefud-scorer 1.2 (Novák et al. 2024):

1. Zeros, mentions whose head is an empty node, are matched first: those of one sentence, one to one, by what
   their heads depend on.
2. Mentions of the same words match; with `head`, if their heads are the same, too.
3. What is left matches one to one so that the sum of likenesses is largest, with

       head       the words of both / the words of the key mention, where their heads are the same
       partial    the same, where the response mention lies in the key mention and has its head
       exact      nothing

4. Where matched mentions are not equal, each stands for the other. That one place may be asked for as the
   key's and as the response's, and that the response's answer then wins, is how corefud-scorer does it; so
   recall is counted with mentions of the key renamed, precision with those of the response.

**MOR**, the mention overlap ratio (Žabokrtský et al. 2022): mentions of both sides are paired one to one so
that they share most words. Recall and precision are these over the words of all mentions of a side.

**Zeros**: how zeros are linked that are not the first mention of their entity. One of the key is *found* if
the response has it in an entity with an earlier mention of the key's entity, *wrong* if in another, *missed*
if it has it nowhere, or as the first of an entity; others of the response are *invented*.

    R = found / (found + wrong + missed),   P = found / (found + wrong + invented)
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain as flatten
from typing import NamedTuple

from caspr.errors import InputError
from caspr.measures.assignment import assign, map_one_to_one
from caspr.measures.matching import Alignment, numbered
from caspr.text.document import Annotation, Mark, Unit
from caspr.text.trees import Dependency, TreePlace, dependencies, head_of, likeness, place


class TreeMention(NamedTuple):
    """A mention by the places of its words."""

    words: tuple[TreePlace, ...]
    head: TreePlace
    parents: frozenset[Dependency]
    """What its head depends on, for a zero."""

    @property
    def zero(self) -> bool:
        """Whether its head is an empty node."""
        return self.head.empty > 0

    @property
    def order(self) -> tuple[TreePlace, TreePlace, int]:
        """How mentions are sorted."""
        return self.words[0], self.words[-1], len(self.words)


Mentions = Sequence[Sequence[TreeMention]]
"""The chains of one side."""


def has_trees(key: Annotation, response: Annotation | None) -> bool:
    """Return whether mentions can be matched by trees."""
    return key.document.tree is not None and (response is None or response.document.tree is not None)


def refuse_other_sentences(key: Annotation, response: Annotation) -> None:
    """Raise `InputError` if two files do not have the same numbers of words in the same sentences."""
    sizes = [_sentence_sizes(side) for side in (key, response)]
    if sizes[0] == sizes[1]:
        return
    differ = next((n for n, (a, b) in enumerate(zip(*sizes, strict=False)) if a != b), min(map(len, sizes)))
    found, expected = (f"{side[differ]} words" if differ < len(side) else "no more" for side in sizes[::-1])
    raise InputError(
        f"{response.document.source or 'the response'}: found {found} in sentence {differ + 1} of document "
        f"'{response.document.title}', expected {expected} as in {key.document.source or 'the key'}; only "
        "empty nodes may differ"
    )


def _sentence_sizes(side: Annotation) -> list[int]:
    document = side.document
    counts: Counter[int] = Counter()
    for token in range(1, len(document.tokens) + 1):
        where = place(document, token)
        counts[where.sentence] += not where.empty
    return [counts[sentence] for sentence in range(max(counts, default=-1) + 1)]


def align_trees(
    key: Annotation, response: Annotation | None, *, match: str = "exact", singletons: bool = True
) -> "TreeAlignment":
    """Match two annotations; one that is missing has no chains."""
    if response is not None:
        refuse_other_sentences(key, response)
    right, answer = (
        [] if side is None else _chains(side, match, singletons=singletons) for side in (key, response)
    )
    return TreeAlignment(right, answer, match)


def _chains(annotation: Annotation, match: str, *, singletons: bool) -> list[list[TreeMention]]:
    """Return the chains of one side, each mention once in its chain."""
    chains = []
    for units in annotation.units or _units(annotation):
        own = [_mention(annotation, unit) for unit in units]
        chain = list({_name(mention, match): mention for mention in reversed(own)}.values())[::-1]
        if singletons or len(chain) > 1:
            chains.append(chain)
    return chains


def _name(mention: TreeMention, match: str) -> Hashable:
    """Return what makes a mention equal to another."""
    return (mention.words, mention.head) if match == "head" else mention.words


def _units(annotation: Annotation) -> list[list[Unit]]:
    """Make mentions of spans, with heads from the trees."""
    chains = []
    for chain in annotation.all_chains:
        runs = [annotation.marks.get(span, Mark()).pieces or (span,) for span in chain.mentions]
        tokens = [tuple(flatten.from_iterable(range(a, b + 1) for a, b in pieces)) for pieces in runs]
        chains.append([Unit(own, head_of(annotation.document, own)) for own in tokens])
    return chains


def _mention(annotation: Annotation, unit: Unit) -> TreeMention:
    document = annotation.document
    words = tuple(sorted(place(document, token) for token in unit.tokens))
    head = place(document, unit.head)
    return TreeMention(words, head, dependencies(document, unit.head) if head.empty else frozenset())


@dataclass(frozen=True)
class TreeAlignment:
    """The mentions of key and response of one document, matched."""

    key: Mentions
    response: Mentions
    match: str

    def name(self, mention: TreeMention) -> Hashable:
        """Return what makes a mention equal to another."""
        return _name(mention, self.match)

    @cached_property
    def partner(self) -> Mapping[Hashable, Hashable]:
        """For each mention that is matched with one that is not equal, that one."""
        pairs = [(self.name(wanted), self.name(answered)) for wanted, answered in self._pairs()]
        unequal = [pair for pair in pairs if pair[0] != pair[1]]
        return {**dict(unequal), **{answered: wanted for wanted, answered in unequal}}

    def _pairs(self) -> list[tuple[TreeMention, TreeMention]]:
        """Match mentions that are not equal, and zeros."""
        right, answer = (
            {self.name(mention): mention for chain in side for mention in chain}
            for side in (self.key, self.response)
        )
        zeros = _best_pairs(
            [mention for mention in right.values() if mention.zero],
            [mention for mention in answer.values() if mention.zero],
            "zero",
        )
        for wanted, answered in zeros:
            del right[self.name(wanted)]
            del answer[self.name(answered)]
        free = [right[name] for name in right if name not in answer]
        free_too = [answer[name] for name in answer if name not in right]
        return [*zeros, *(_best_pairs(free, free_too, self.match) if self.match != "exact" else ())]

    @cached_property
    def forward(self) -> Alignment:
        """How many mentions chains share, by the matches of the key's mentions."""
        return self._shared(self.key, self.response)

    @cached_property
    def backward(self) -> Alignment:
        """How many mentions chains share, by the matches of the response's mentions."""
        return self._shared(self.response, self.key)

    @cached_property
    def everywhere(self) -> Alignment:
        """How many mentions chains share, where one that is in several entities counts for each of them."""
        return self._shared(self.key, self.response, every=True)

    def _shared(self, asking: Mentions, asked: Mentions, *, every: bool = False) -> Alignment:
        holders: dict[Hashable, list[int]] = defaultdict(list)
        for number, chain in enumerate(asked):
            for mention in chain:
                holders[self.name(mention)].append(number)
        shared: Counter[tuple[int, int]] = Counter()
        for number, chain in enumerate(asking):
            for mention in chain:
                name = self.name(mention)
                holding = holders.get(self.partner.get(name, name), ())
                for holder in holding if every else holding[-1:]:
                    shared[(number, holder) if asking is self.key else (holder, number)] += 1
        return Alignment(numbered(map(len, self.key)), numbered(map(len, self.response)), shared)


def _best_pairs(
    key: Iterable[TreeMention], response: Iterable[TreeMention], match: str
) -> list[tuple[TreeMention, TreeMention]]:
    """Match one to one with the largest sum of likenesses.

    All mentions of a document are in one matrix, in text order: on a tie the solver of scipy then chooses as
    it does for corefud-scorer.
    """
    rows, columns = (sorted(side, key=lambda mention: mention.order) for side in (key, response))
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for number, mention in enumerate(columns):
        for group in _groups(mention, match, asked=True):
            groups[group].append(number)
    alike = {
        (row, column): value
        for row, mention in enumerate(rows)
        for group in _groups(mention, match, asked=False)
        for column in groups.get(group, ())
        if (value := _likeness(mention, columns[column], match)) > 0
    }
    return [(rows[row], columns[column]) for row, column in assign(alike, len(rows), len(columns))]


def _groups(mention: TreeMention, match: str, *, asked: bool) -> Iterable[Hashable]:
    """Return by what mentions that may be alike are found."""
    if match == "zero":
        return [mention.head.sentence]
    return mention.words if match == "partial" and asked else [mention.head]


def _likeness(key: TreeMention, response: TreeMention, match: str) -> float:
    if match == "zero":
        return float(likeness(key.parents, response.parents))
    words, answer = set(key.words), set(response.words)
    if match == "partial" and not answer <= words:
        return 0.0
    return len(words & answer) / len(words)


def shared_words(alignment: TreeAlignment) -> tuple[int, int, int]:
    """Return how many words mentions share if paired one to one, and the words of both sides (MOR)."""
    right, answer = (
        [mention.words for chain in side for mention in chain] for side in (alignment.key, alignment.response)
    )
    at: dict[TreePlace, list[int]] = defaultdict(list)
    for number, words in enumerate(right):
        for word in words:
            at[word].append(number)
    common = Counter(
        (row, column) for column, words in enumerate(answer) for word in words for row in at.get(word, ())
    )
    best = sum(common[pair] for pair in map_one_to_one(common))
    return best, sum(map(len, right)), sum(map(len, answer))


class ZeroCounts(NamedTuple):
    """How the zeros of one document are linked."""

    found: int
    wrong: int
    """Linked, but not with an earlier mention of their entity."""
    missed: int
    invented: int


def count_zero_anaphors(alignment: TreeAlignment) -> ZeroCounts:
    """Count zeros that are not the first of their entity."""
    holder = {
        alignment.name(mention): number
        for number, chain in enumerate(alignment.response)
        for mention in chain
    }
    firsts = {alignment.name(min(chain, key=lambda mention: mention.order)) for chain in alignment.response}
    counts: Counter[str] = Counter()
    covered: set[Hashable] = set()
    for chain in alignment.key:
        before: set[int] = set()
        for number, mention in enumerate(sorted(chain, key=lambda mention: mention.order)):
            name: Hashable | None = alignment.name(mention)
            name = name if name in holder else alignment.partner.get(name)
            entity = None if name is None else holder.get(name)
            if number and mention.zero:
                if name is None or name in firsts:
                    counts["missed"] += 1
                else:
                    counts["found" if entity in before else "wrong"] += 1
                covered.add(name)
            if entity is not None:
                before.add(entity)
    invented = sum(
        mention.zero and (name := alignment.name(mention)) not in firsts and name not in covered
        for chain in alignment.response
        for mention in chain
    )
    return ZeroCounts(counts["found"], counts["wrong"], counts["missed"], invented)
