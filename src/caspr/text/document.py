"""Documents and annotations: the nouns of the paper's section 2, frozen and without I/O.

A *document* is a sequence of tokens, numbered from 1. A *mention* is a span of tokens that an annotator
marked, a *chain* the mentions of one entity, an *annotation* all chains of one annotator for one
document. What a file says beyond this (columns, comments) is kept in `Document.layout`, which only its own
format reads.

Some formats have characters instead of tokens. A document then has both: the characters of the file, and the
offsets of each token in them. What an annotator says of a single mention beyond its tokens, its label and its
pieces where it has gaps, is a *mark*.

**Entities.** The name and the type that annotators gave to chains are voted for the chains of the gold:

    gold chain        {1, 4, 9}
    Ann's chain       {1, 4, 7}  called "Sir William"      2 shared mentions
    Bob's chain       {9}        called "William"          1 shared mention

1. An annotator's chain votes for its name with the mentions that it shares with the gold chain, times the
   weight of the annotator, and likewise for its type. A chain that is mostly about somebody else thus
   counts for as much as it is about this entity.
2. On a tie the value wins whose annotators weigh more together, then the first in alphabetical order: the
   order of files never matters.
3. A chain without a name votes for none: names are kept wherever anybody gave one.
"""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain as flatten
from itertools import combinations, pairwise, repeat
from math import comb
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, NamedTuple, Protocol

from caspr.errors import ArgumentError
from caspr.notebook_methods import above
from caspr.text.findings import Finding, note, times

if TYPE_CHECKING:
    from pandas import DataFrame

_OPENING = re.compile(r"[(\[{]|[^\W\d_]{1,2}['’]")
"""Tokens that have no blank after them, as one reads them."""
_CLOSING = re.compile(r"[.,;:!?…)\]}]|\.\.\.|['’][^\W\d_]{1,2}|n['’]t", re.IGNORECASE)
"""Tokens that have no blank before them."""
_ID = re.compile(r"(?!=)[^()|\s]+")


class Span(NamedTuple):
    """Tokens `start` to `end`, both included, numbered from 1; a mention is a span that was marked."""

    start: int
    end: int

    def contains(self, other: "Span") -> bool:
        """Return whether the other span lies inside this one and is not the same.

        >>> Span(1, 3).contains(Span(2, 2)), Span(1, 3).contains(Span(1, 3)), Span(1, 3).contains(Span(3, 4))
        (True, False, False)
        """
        return self.start <= other.start and other.end <= self.end and self != other

    def overlaps(self, other: "Span") -> bool:
        """Return whether two spans share a token.

        >>> Span(1, 3).overlaps(Span(3, 4)), Span(1, 2).overlaps(Span(3, 4))
        (True, False)
        """
        return self.start <= other.end and other.start <= self.end

    def nests_with(self, other: "Span") -> bool:
        """Return whether one of the two spans lies inside the other."""
        return self.contains(other) or other.contains(self)


@dataclass(frozen=True)
class Flag:
    """What the adjudicator flagged a mention as."""

    name: str
    """Such as `generic`."""
    text: str = ""
    """A remark beside it."""

    def __str__(self) -> str:
        """Return both in one line.

        >>> str(Flag("generic", "see p. 3")), str(Flag("later"))
        ('generic: see p. 3', 'later')
        """
        return f"{self.name}: {' '.join(self.text.split())}" if self.text.strip() else self.name


@dataclass(frozen=True)
class Mark:
    """What an annotator says of one mention beyond its tokens."""

    label: str = ""
    """The mention's type, such as `person` or `nam`; empty where it has none."""
    pieces: tuple[Span, ...] = ()
    """The runs of tokens of a mention with gaps, in text order; empty for a mention without gaps."""
    flags: tuple[Flag, ...] = ()
    """What the adjudicator flagged it as."""


@dataclass(frozen=True)
class Alternative:
    """What some annotators say about a mention and the gold does not."""

    kind: str
    """`entity`, `alone` or `absent`."""
    entity: str | None
    """The id of the chain of the gold; `None` for an entity that it lacks."""
    confidence: float
    votes: tuple[str, ...]
    """The annotators who say so."""


@dataclass(frozen=True)
class Support:
    """How sure a gold is about one mention: that it is in its chain, alone, or none."""

    confidence: float
    """How often such decisions are right, from 0 to 1; see `caspr.confidence`."""
    votes: tuple[str, ...]
    """The annotators who say what the gold says."""
    against: tuple[str, ...]
    """Those who saw the mention and say something else."""
    alternatives: tuple[Alternative, ...] = ()
    """What they say, most votes first."""
    decided: bool = False
    """Whether the adjudicator decided it."""


@dataclass(frozen=True)
class Chain:
    """The mentions of one entity, with the id its file gave it."""

    id: str
    """The chain's name in its file; only equality within one annotation means anything."""
    mentions: tuple[Span, ...]
    """Distinct spans in text order."""
    name: str = field(default="", compare=False, repr=False)
    """What the entity is called, such as `Sir William`; empty where the file does not say."""
    type: str = field(default="", compare=False, repr=False)
    """What kind of entity it is, such as `person`; empty where the file does not say."""

    @classmethod
    def of(cls, id: str, mentions: Iterable[tuple[int, int]]) -> "Chain":
        """Make a chain from spans in any order.

        >>> Chain.of("1", [(6, 6), (1, 3)]).mentions
        (Span(start=1, end=3), Span(start=6, end=6))
        """
        try:
            return cls(id, tuple(sorted({Span(*mention) for mention in mentions})))
        except TypeError as error:
            raise ArgumentError(
                "caspr.Chain.of: expected an id and mentions, each (first token, last token): "
                "Chain.of('1', [(1, 3), (5, 5)])"
            ) from error

    def over(self, mentions: Iterable[tuple[int, int]]) -> "Chain":
        """Return the chain of the same entity with other mentions."""
        return replace(self, mentions=tuple(sorted({Span(*mention) for mention in mentions})))

    @property
    def title(self) -> str:
        """What the entity is called wherever its id is shown: the id, with the name if it has one.

        >>> Chain("3", (), "Sir William").title, Chain("4", ()).title
        ('3 (Sir William)', '4')
        """
        return f"{self.id} ({self.name})" if self.name else self.id

    def called(self, id: str) -> "Chain":
        """Return the same chain under another id."""
        return replace(self, id=id)


class TreeRow(NamedTuple):
    """What a file with dependency trees says of one token, as it is written there."""

    id: str
    """The number of a word in its sentence, as `3`, or of an empty node after it, as `3.1`."""
    head: str
    deps: str
    """What it depends on in the enhanced graph, as `2:nsubj|4:obj`."""

    @classmethod
    def of(cls, line: str) -> "TreeRow":
        """Read a row of CoNLL-U."""
        columns = line.split("\t")
        return cls(columns[0], columns[6], columns[8])


class Tree(Protocol):
    """The dependency trees of a document."""

    def line(self, token: int) -> str:
        """Return all that the file has in the row of a token."""

    def speaker(self, token: int) -> str:
        """Return who says a token; empty if the file does not tell."""


class LentRow(NamedTuple):
    """An empty node that a file lacks, as another annotator's file has it."""

    line: str
    first: bool
    """Whether it stands before the first word of its sentence."""
    parents: tuple[tuple[int, str], ...]
    """The tokens that it depends on, and how; 0 is the root."""


@dataclass(frozen=True)
class Document:
    """A text: its name and its tokens."""

    name: str
    """The name between the parentheses of `#begin document`."""
    tokens: tuple[str, ...]
    """The words in order; token 1 is `tokens[0]`."""
    part: str | None = None
    """The part number as written, where the file has parts."""
    source: str = field(default="", compare=False)
    """The file it was read from, for messages."""
    lines: tuple[int, ...] = field(default=(), compare=False, repr=False)
    """The line of each token in that file, for messages."""
    layout: object = field(default=None, compare=False, repr=False)
    """What the file says beyond the text; only its own format reads it."""
    format: str = field(default="", compare=False, repr=False)
    """The name of the format it was read from; empty for a document made by a program."""
    characters: str | None = field(default=None, compare=False, repr=False)
    """The text with its blanks and line ends, where the file has it."""
    offsets: tuple[tuple[int, int], ...] = field(default=(), compare=False, repr=False)
    """Where each token begins and ends in the characters, counted in code points, the end excluded."""
    sentence_ends: tuple[int, ...] = field(default=(), compare=False, repr=False)
    """The last token of each sentence, where the file has sentences."""
    origin: tuple[int, ...] = field(default=(), compare=False, repr=False)
    """For each token the token of the file that it is, or is a piece of; 0 for one that the file lacks.

    Empty unless words were cut to align the annotators' texts.
    """
    rows: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """All columns of each token but coreference, by which files are compared; blanks may differ."""
    text_source: str = field(default="", compare=False, repr=False)
    """The file that its words are in, where that is another one, for messages."""
    layers: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """What the file has beside the chains that were read: names of layers or types, for messages."""
    nameless: int = field(default=0, compare=False, repr=False)
    """Its number in a file of many documents that does not name it; 0 for a document with a name."""

    tree: Tree | None = field(default=None, compare=False, repr=False)
    """The dependency trees of its sentences, where the file has them and its tokens are those of the file."""
    old_tree: Tree | None = field(default=None, compare=False, repr=False)
    """The trees of a file whose tokens were cut or that was lent empty nodes; `origin` leads to rows."""
    lent: Mapping[int, LentRow] = field(default_factory=dict, compare=False, repr=False)
    """The empty nodes that others have and the file lacks, by token; where annotators' texts were aligned."""

    def __repr__(self) -> str:
        """Summarise the document in one line, whatever its size."""
        return f"<Document {self.title!r}: {times(len(self.tokens), 'token')}>"

    @property
    def key(self) -> tuple[str, str | None]:
        """What makes this the same document in another annotator's file: `part 0` is `part 000`."""
        part = self.part
        return self.name, part.lstrip("0") or "0" if part and part.isdecimal() else part

    @property
    def title(self) -> str:
        """Name the document in messages.

        >>> Document("wsj", (), part="002").title
        'wsj; part 002'
        """
        return self.name if self.part is None else f"{self.name}; part {self.part}"

    def place(self, token: int) -> str:
        """Return where a token is, for messages: `file:line`, or its number if the file is not known."""
        if 0 < token <= len(self.lines):
            return f"{self.source}:{self.lines[token - 1]}"
        if 0 < token <= len(self.offsets):
            return f"{self.text_source or self.source or self.title}, character {self.offsets[token - 1][0]}"
        return f"{self.source or self.title}, token {token}"

    def text(self, span: Span) -> str:
        """Return the words of a span.

        >>> Document("d", ("A", "girl", "sang")).text(Span(1, 2))
        'A girl'
        """
        return " ".join(self.tokens[span.start - 1 : span.end])

    def phrase(self, span: Span) -> str:
        """Return the words of a span as one reads them, with the blanks that the text has.

        Where the file has tokens only, no blank comes before punctuation that closes and parts such as *'s*,
        or after a bracket that opens and parts such as *l'*.

        >>> Document("d", ("She", "sang", "(", "Ann", "'s", "song", ")", ",", "twice")).phrase(Span(2, 9))
        "sang (Ann's song), twice"
        """
        first, last = span.start - 1, span.end
        if self.characters is not None and len(self.offsets) == len(self.tokens):
            return " ".join(self.characters[self.offsets[first][0] : self.offsets[last - 1][1]].split())
        phrase = self.tokens[first]
        for before, token in pairwise(self.tokens[first:last]):
            phrase += token if _OPENING.fullmatch(before) or _CLOSING.fullmatch(token) else f" {token}"
        return phrase


class Unit(NamedTuple):
    """A mention as a file with trees has it."""

    tokens: tuple[int, ...]
    """All its tokens, those in its gaps left out."""
    head: int
    """The token that is its head."""


@dataclass(frozen=True)
class Annotation:
    """All chains of one annotator in one document."""

    annotator: str
    """Who annotated; unique among the annotations of a document."""
    document: Document
    """The text as this annotator's file has it."""
    chains: tuple[Chain, ...]
    """Chains of two or more mentions, by first mention; a span may be in several."""
    singletons: tuple[Chain, ...] = ()
    """Chains of one mention, set aside as in the paper."""
    findings: tuple[Finding, ...] = field(default=(), compare=False)
    """What the reader found odd."""
    as_given: tuple[tuple[Span, ...], ...] = field(default=(), compare=False, repr=False)
    """Where a span was given more than once, all chains in the order of the file, repetitions included."""
    units: tuple[tuple[Unit, ...], ...] = field(default=(), compare=False, repr=False)
    """Where the file has trees, tokens and heads of all mentions, by chain; empty after any change."""
    marks: Mapping[Span, Mark] = field(default_factory=dict, compare=False, repr=False)
    """Labels and pieces of mentions that have them."""
    adjudicated: bool = field(default=False, compare=False, repr=False)
    """Whether this is the gold of an adjudication, and not the work of an annotator."""
    support: Mapping[Span, Support] = field(default_factory=dict, compare=False, repr=False)
    """How sure a gold is about each mention, also about those that it does not have; empty for others."""

    def __repr__(self) -> str:
        """Summarise the annotation in one line, whatever its size."""
        mentions = sum(len(chain.mentions) for chain in self.chains)
        chains = f"{times(len(self.chains), 'chain')} of {times(mentions, 'mention')}"
        alone = f", {times(len(self.singletons), 'singleton')}" if self.singletons else ""
        return f"<Annotation by {self.annotator!r} of {self.document.title!r}: {chains}{alone}>"

    @classmethod
    def of(
        cls,
        annotator: str,
        document: Document,
        chains: Iterable[Chain],
        findings: Iterable[Finding] = (),
        *,
        marks: Mapping[Span, Mark] | None = None,
        adjudicated: bool = False,
    ) -> "Annotation":
        """Make an annotation from chains of any size, setting those of one mention aside."""
        if not isinstance(document, Document) or isinstance(document.tokens, str):
            found = "a text" if isinstance(document, Document) else type(document).__name__
            raise ArgumentError(
                f"caspr.Annotation.of: found {found} as the document, expected "
                "caspr.Document('name', ('the', 'words'))"
            )
        ordered = sorted(chains, key=lambda chain: (chain.mentions, chain.id))
        return cls(
            annotator,
            document,
            tuple(chain for chain in ordered if len(chain.mentions) > 1),
            tuple(chain for chain in ordered if len(chain.mentions) == 1),
            tuple(findings),
            marks=dict(marks or {}),
            adjudicated=adjudicated,
        )

    def with_chains(
        self,
        chains: Iterable[Chain],
        *,
        document: Document | None = None,
        marks: Mapping[Span, Mark] | None = None,
    ) -> "Annotation":
        """Return the annotation with other chains of any size, and perhaps another document and marks."""
        return Annotation.of(
            self.annotator,
            document or self.document,
            chains,
            self.findings,
            marks=self.marks if marks is None else marks,
            adjudicated=self.adjudicated,
        )

    def to_frame(self) -> "DataFrame":
        """Return a pandas DataFrame with a row for each mention."""
        return above("annotation_frame")(self)

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return str(above("annotation_html")(self))

    @property
    def all_chains(self) -> tuple[Chain, ...]:
        """Every chain, those of one mention last."""
        return (*self.chains, *self.singletons)

    @cached_property
    def mentions(self) -> frozenset[Span]:
        """Every span this annotator marked, chains of one included."""
        return frozenset(flatten.from_iterable(chain.mentions for chain in self.all_chains))


_PER_TOKEN = ("tokens", "lines", "layout", "rows", "characters", "offsets", "sentence_ends")
"""The fields of a document that may be as long as its text."""


def sharing(document: Document, other: Document) -> Document:
    """Return a document that holds the same objects as another wherever both say the same.

    Annotators' files of one text differ in little but their chains, so a text is kept once for all of them.

    >>> first, second = Document("d", tuple("ab")), Document("d", tuple("ab"))
    >>> first.tokens is second.tokens, first.tokens is sharing(second, first).tokens
    (False, True)
    """
    both = ((name, getattr(document, name), getattr(other, name)) for name in _PER_TOKEN)
    return replace(document, **{name: theirs for name, own, theirs in both if own == theirs})


def is_id(text: str) -> bool:
    """Return whether a text is a valid id of a chain.

    >>> is_id("person-1-Daniel"), is_id("a b"), is_id("=1"), is_id("")
    (True, False, False, False)
    """
    return _ID.fullmatch(text) is not None


def count_links(chains: Iterable[Chain]) -> int:
    """Count the distinct pairs that the chains of one annotator link.

    A pair that two chains share is counted once, which needs only the mentions of several chains.

    >>> count_links([Chain.of("1", [(1, 1), (2, 2), (3, 3)]), Chain.of("2", [(2, 2), (3, 3)])])
    3
    """
    chains = tuple(chains)
    marked = list(flatten.from_iterable(chain.mentions for chain in chains))
    holders: dict[Span, set[int]] = defaultdict(set)
    if len(set(marked)) < len(marked):
        counts = Counter(marked)
        for index, chain in enumerate(chains):
            for mention in chain.mentions:
                if counts[mention] > 1:
                    holders[mention].add(index)
    shared = (len(first & second) for first, second in combinations(holders.values(), 2))
    repeated = sum(number - 1 for number in shared if number)
    return sum(len(chain.mentions) * (len(chain.mentions) - 1) // 2 for chain in chains) - repeated


def count_overlaps(mentions: Iterable[Span]) -> int:
    """Count the pairs of distinct spans that share a token, without looking at each.

    >>> count_overlaps([Span(1, 3), Span(2, 2), Span(3, 4), Span(5, 5)])
    2
    """
    spans = set(mentions)
    ends = sorted(map(itemgetter(1), spans))
    # All pairs but those in which one ends before the other starts.
    return comb(len(spans), 2) - sum(map(bisect_left, repeat(ends), map(itemgetter(0), spans)))


def nested_pairs(mentions: Iterable[Span]) -> Iterator[tuple[Span, Span]]:
    """Yield every pair (outer, inner) of distinct spans where one contains the other.

    >>> list(nested_pairs([Span(1, 5), Span(1, 2), Span(2, 2), Span(4, 7)]))[:2]
    [(Span(start=1, end=5), Span(start=1, end=2)), (Span(start=1, end=5), Span(start=2, end=2))]
    """
    active: list[Span] = []
    reach = 0
    # By their starts, and longer ones before shorter ones: a stable sort of what is sorted by the ends.
    by_end = sorted(set(mentions), key=itemgetter(1), reverse=True)
    for span in sorted(by_end, key=itemgetter(0)):
        start, end = span
        if start > reach:
            active, reach = [span], end
            continue
        active = [outer for outer in active if outer.end >= start]
        yield from ((outer, span) for outer in active if outer.end >= end)
        active.append(span)
        reach = max(reach, end)


Ballots = Mapping[str, tuple[int, int]]
"""For each value its votes, and the weight of the annotators who gave it."""
_Holders = Mapping[Span, Sequence[tuple[int, Chain]]]
"""The chains that hold a mention, each with the number of its annotator."""
_NAME: Callable[[Chain], str] = attrgetter("name")
_TYPE: Callable[[Chain], str] = attrgetter("type")


def name_entities(
    chains: Iterable[Chain], annotations: Sequence[Annotation], weights: Sequence[int] = ()
) -> tuple[Chain, ...]:
    """Give each chain the name and the type that annotators voted for; `weights` has one for each.

    >>> document = Document("d", ("a", "b", "c"))
    >>> one = Annotation.of("Ann", document, [Chain("1", (Span(1, 1), Span(2, 2)), "Sir William", "person")])
    >>> two = Annotation.of("Bob", document, [Chain("1", (Span(2, 2), Span(3, 3)), "William", "person")])
    >>> [gold] = name_entities([Chain.of("1", [(1, 1), (2, 2), (3, 3)])], [one, two])
    >>> gold.name, gold.type
    ('Sir William', 'person')
    """
    chains, holders = tuple(chains), _holders(annotations)
    if not holders:
        return chains
    weights = weights or (1,) * len(annotations)
    return tuple(
        replace(
            chain,
            name=winner(_ballots(chain, holders, weights, _NAME)),
            type=winner(_ballots(chain, holders, weights, _TYPE)),
        )
        for chain in chains
    )


def winner(ballots: Ballots) -> str:
    """Return the value with most votes, on a tie that of more weight, then the first by alphabet.

    >>> winner({"b": (2, 1), "a": (2, 1), "c": (1, 9)}), winner({})
    ('a', '')
    """
    return min(ballots, key=lambda value: (-ballots[value][0], -ballots[value][1], value), default="")


def entity_findings(chains: Iterable[Chain], annotations: Sequence[Annotation]) -> tuple[Finding, ...]:
    """Report the chains to which annotators gave different names, or different types."""
    holders = _holders(annotations)
    chains, heads = tuple(chains) if holders else (), (1,) * len(annotations)
    names, types = (
        [
            (chain, sorted(values))
            for chain in chains
            if len(values := _ballots(chain, holders, heads, value_of)) > 1
        ]
        for value_of in (_NAME, _TYPE)
    )
    findings = []
    if names:
        findings.append(note("different-names", _different("names", names), count=len(names)))
    if types:
        findings.append(note("different-types", _different("types", types), count=len(types)))
    return tuple(findings)


def _different(what: str, disputed: Sequence[tuple[Chain, list[str]]]) -> str:
    chain, values = disputed[0]
    return (
        f"{times(len(disputed), 'entity', 'entities')} to which annotators gave different {what}; that with "
        f"most votes is kept (first: chain {chain.id}, {', '.join(map(repr, values[:3]))})"
    )


def _holders(annotations: Sequence[Annotation]) -> _Holders:
    holders: dict[Span, list[tuple[int, Chain]]] = defaultdict(list)
    for number, annotation in enumerate(annotations):
        for chain in annotation.all_chains:
            if chain.name or chain.type:
                for span in chain.mentions:
                    holders[span].append((number, chain))
    return holders


def _ballots(
    chain: Chain, holders: _Holders, weights: Sequence[int], value_of: Callable[[Chain], str]
) -> dict[str, tuple[int, int]]:
    """Let each annotator vote once for each mention that a chain of the annotator shares."""
    votes: dict[str, int] = defaultdict(int)
    voters: dict[str, set[int]] = defaultdict(set)
    for span in chain.mentions:
        for annotator, holder in holders.get(span, ()):
            if value := value_of(holder):
                votes[value] += weights[annotator]
                voters[value].add(annotator)
    return {value: (votes[value], sum(weights[number] for number in voters[value])) for value in votes}
