"""Decisions: what the adjudicator enforced (the paper's section 3.2), who decided it, and notes beside it.

A `Statement` says one thing about some mentions:

    enforced   they exist, in the chain of an id;
    cells      the same, and nothing else starts or ends where they do;
    empty      nothing starts or ends at these tokens;
    together   they exist, in one chain, whichever that is;
    entity     the same, and it is what an answer was shown as an entity: answers about them go before it;
    exists     each of them is in some chain with others;
    mention    they exist, in a chain with others or alone, even where chains of one are dropped;
    alone      they exist and share a chain with nothing;
    absent     they do not exist;
    apart      these two do not share a chain, whether they exist or not;
    nested     these two may share a chain although one is inside the other, and need not;
    name       they are an entity of this name or type; nothing else follows from it.

A `Decision` is a statement with its author. It is the one shape of a decision: the review page shows it, the
record of a review keeps it, and a review file writes it, as a line before the document or, for people who
edit text, as `=` cells of the result column (`cells` and `empty`). A statement becomes words when it
is shown, and is never read back from them.

`Decisions` are all statements together, as the solver wants them. From `cells` and `empty` follow

    chains     mentions that must exist, with those of one id together and those of two ids apart;
    closed     tokens where no other mention may start or end.

All mentions that statements put into one chain form a *group*. Closed tokens and statements are
also the units of blame: when decisions contradict each other, a minimal set of them is named.

**Names.** A name is about an entity, and a chain of the result may change with every decision. So a name
remembers the mentions that its entity had last, and goes to the chain that has more than half of them now:

    named        "Sir William" {1, 4, 9}
    result now   {1, 9, 12}     Sir William
                 {4, 7}

1. No chain gets two names; where names compete, most shared mentions win, then the earlier name.
2. A name waits while no chain has more than half of its mentions.
3. What the adjudicator says of an entity replaces what annotators voted for, separately for name and type.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from typing import Any

from caspr.errors import ArgumentError, InputError
from caspr.text.document import Chain, Document, Flag, Mark, Span
from caspr.text.grouping import Groups, match_one_to_one

CONFIDENCES = ("low", "medium", "high")
"""How sure somebody can be of a decision."""
EDITOR = "editor"
"""The author of what was written into a review file by hand."""
Pair = tuple[Span, Span]


@dataclass(frozen=True)
class Authorship:
    """Who, and when."""

    who: str
    """The name of a person, or `EDITOR`."""
    when: str
    """The time in UTC, to the second: `2026-11-17T09:30:05Z`."""
    category: str = ""
    """What kind of error the decision corrects, in a few words; empty if nobody said."""
    confidence: str = ""
    """How sure they are: one of `CONFIDENCES`, empty if nobody said."""


def utc(moment: datetime) -> str:
    """Return a moment as files have it.

    >>> utc(datetime(2026, 11, 17, 10, 30, 5, tzinfo=UTC))
    '2026-11-17T10:30:05Z'
    """
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True)
class Note:
    """A remark of the adjudicator; it changes no result."""

    text: str
    """Any text, of several lines if need be; may be empty beside a flag."""
    mention: Span | None = None
    """The mention it is about; none for the whole document."""
    made: Authorship | None = None
    flag: str = ""
    """What the mention is flagged as, such as `generic`; empty for a note that is not a flag."""


LONGEST_FLAG = 60


def is_flag(text: object) -> bool:
    r"""Return whether something can be a flag: a short line of text.

    >>> [is_flag(text) for text in ("generic", "", "two\nlines", None)]
    [True, False, False, False]
    """
    return (
        isinstance(text, str)
        and 0 < len(text) <= LONGEST_FLAG
        and text.isprintable()
        and text == text.strip()
    )


def flagged(marks: Mapping[Span, Mark], notes: Iterable[Note]) -> dict[Span, Mark]:
    """Return what is said of mentions together with their flags.

    >>> flagged({}, [Note("see p. 3", Span(2, 2), flag="generic"), Note("hm", Span(1, 1))])
    {Span(start=2, end=2): Mark(label='', pieces=(), flags=(Flag(name='generic', text='see p. 3'),))}
    """
    known = dict(marks)
    for note in notes:
        if note.flag and note.mention is not None:
            mark = known.get(note.mention, Mark())
            known[note.mention] = replace(mark, flags=(*mark.flags, Flag(note.flag, note.text)))
    return known


@dataclass(frozen=True)
class Rule:
    """A rule of one's own (`task.own_rules`), as messages name it."""

    file: str
    """The name of its file."""
    line: int
    title: str
    """What the comment before the rule calls it, else the rule itself."""

    def __str__(self) -> str:
        """Name the rule and its place.

        >>> print(Rule("ours.lp", 3, "no plural with singular"))
        your rule 'no plural with singular' (ours.lp:3)
        """
        return f"your rule '{self.title}' ({self.file}:{self.line})"


class StatementKind(StrEnum):
    """What a statement says about its mentions."""

    ENFORCED = "enforced"
    CELLS = "cells"
    EMPTY = "empty"
    TOGETHER = "together"
    ENTITY = "entity"
    EXISTS = "exists"
    MENTION = "mention"
    ALONE = "alone"
    ABSENT = "absent"
    APART = "apart"
    NESTED = "nested"
    NAME = "name"


IN_CELLS = frozenset((StatementKind.CELLS, StatementKind.EMPTY))
"""What `=` cells express."""
OF_PAIRS = frozenset((StatementKind.APART, StatementKind.NESTED))
"""What is said of two mentions."""
JOINING = frozenset((StatementKind.TOGETHER, StatementKind.ENTITY))
"""What puts two mentions or more into one chain, whichever that is."""
SHOWN_OF_ENTITY = 3
"""How many mentions of an entity are named in words."""


@dataclass(frozen=True)
class Statement:
    """One thing that the adjudicator says."""

    kind: StatementKind
    mentions: tuple[Span, ...]
    """Distinct, in text order; two of them for `apart` and `nested`, single tokens for `empty`."""
    chain: str = ""
    """The id of the chain for `enforced` and `cells`, empty otherwise."""
    name: str | None = None
    """What an entity is called, empty for nothing; `None` if the annotators' votes decide."""
    type: str | None = None
    """The type of an entity, empty for none; `None` if the annotators' votes decide."""
    rule: Rule | None = None
    """The rule that says it, where it is not the adjudicator."""

    @classmethod
    def of(cls, kind: StatementKind, mentions: Iterable[tuple[int, int]], chain: str = "") -> "Statement":
        """Make a statement from spans in any order."""
        return cls(kind, tuple(sorted({Span(*mention) for mention in mentions})), chain)

    @property
    def tokens(self) -> tuple[int, ...]:
        """The tokens at which its mentions start and end."""
        return tuple(sorted({token for mention in self.mentions for token in mention}))

    def over(self, mentions: Iterable[Span]) -> "Statement":
        """Return the same about other mentions."""
        return replace(self, mentions=tuple(sorted(set(mentions))))

    def __str__(self) -> str:
        """Say it in words, with the numbers of tokens.

        >>> print(Statement.of(StatementKind.ENFORCED, [(6, 6), (1, 3)], "2"))
        (1, 3) and (6, 6) in chain 2
        >>> print(Statement.of(StatementKind.ABSENT, [(1, 3)]))
        (1, 3) absent
        >>> print(Statement(StatementKind.NAME, (Span(1, 3),), name="Sir William", type="person"))
        (1, 3) is named "Sir William", of type "person"
        """
        if self.kind is StatementKind.EMPTY:
            return self.in_words(lambda token: f"token {token.start}")
        return self.in_words(lambda mention: str(tuple(mention)))

    def in_words(self, called: Callable[[Span], str], titled: Callable[[str], str] = str) -> str:
        """Say it in words, with what each mention and each chain is called."""
        *earlier, last = map(called, self.mentions)
        words = f"{', '.join(earlier)} and {last}" if earlier else last
        match self.kind:
            case StatementKind.ENFORCED:
                return f"{words} in chain {titled(self.chain)}"
            case StatementKind.CELLS:
                return f"{words} in chain {titled(self.chain)}, and nothing else starts or ends there"
            case StatementKind.EMPTY:
                return f"nothing starts or ends at {words}"
            case StatementKind.ENTITY:
                shown = ", ".join(map(called, self.mentions[:SHOWN_OF_ENTITY]))
                rest = len(self.mentions) - SHOWN_OF_ENTITY
                return f"{f'{shown} and {rest} more' if rest > 0 else words} held as one entity"
            case StatementKind.EXISTS:
                return f"{words} in some chain"
            case StatementKind.MENTION:
                return f"{words} a mention" if len(self.mentions) == 1 else f"{words} mentions"
            case StatementKind.NESTED:
                return f"{words} may share a chain"
            case StatementKind.NAME:
                more = f" and {len(earlier)} more" if earlier else ""
                return f"{called(self.mentions[0])}{more} {self._naming()}"
            case _:
                return f"{words} {self.kind}"

    def _naming(self) -> str:
        said = (("is named", "has no name", self.name), ("of type", "has no type", self.type))
        return ", ".join(
            f'{verb} "{value}"' if value else without for verb, without, value in said if value is not None
        )


@dataclass(frozen=True)
class Decision:
    """A statement with its author."""

    statement: Statement
    made: Authorship | None = None
    """Who decided it, and when, if that is known."""
    id: str = ""
    """Unique in a review, and never given again; a file has none."""

    def values(self) -> dict[str, Any]:
        """Return it as JSON, for the page and for the record of a review."""
        statement, made = self.statement, self.made
        return {
            "id": self.id,
            "kind": str(statement.kind),
            "mentions": [spelled(span) for span in statement.mentions],
            "chain": statement.chain or None,
            "name": statement.name,
            "type": statement.type,
            **signature_values(made),
            "category": made.category if made else "",
            "confidence": made.confidence if made else "",
        }

    @classmethod
    def of_values(cls, values: Mapping[str, Any]) -> "Decision":
        """Read back what `values` returned."""
        mentions = tuple(map(read_spelled, values["mentions"]))
        kind = StatementKind(values["kind"])
        statement = Statement(kind, mentions, values["chain"] or "", values["name"], values["type"])
        judged = values["category"], values["confidence"]
        made = None if values["by"] is None else Authorship(values["by"], values["at"], *judged)
        return cls(statement, made, values["id"])


def signature_values(made: Authorship | None) -> dict[str, str | None]:
    """Return who and when as JSON."""
    return {"by": None, "at": None} if made is None else {"by": made.who, "at": made.when}


def spelled(mention: Span) -> str:
    """Write a mention.

    >>> spelled(Span(1, 3))
    '1-3'
    """
    return f"{mention.start}-{mention.end}"


def read_spelled(text: str) -> Span:
    """Read back a mention that `spelled` wrote; raise `ValueError` for anything else."""
    start, end = text.split("-")
    return Span(int(start), int(end))


@dataclass(frozen=True)
class Group:
    """Mentions that decisions put into one chain, or a single one that must be in some chain."""

    mentions: tuple[Span, ...]
    """In text order."""
    ids: tuple[str, ...]
    """The ids this chain was given: one, none, or more where decisions contradict."""


@dataclass(frozen=True)
class Decisions:
    """All statements together: the enforced part of the answer."""

    chains: tuple[Chain, ...] = ()
    """Mentions enforced by cells; the ids are kept in the result. A chain may have one mention."""
    closed: frozenset[int] = frozenset()
    """Tokens at which only permitted mentions may start or end."""
    permitted: frozenset[Span] = frozenset()
    """Mentions that closed tokens let through."""
    statements: tuple[Statement, ...] = ()
    """What was decided beside cells and names, in the order of the decisions."""
    names: tuple[Statement, ...] = ()
    """What entities are called; it decides nothing about their chains."""
    accompanied: frozenset[Span] = frozenset()
    """Mentions that were in a group with others before some decisions were left out."""

    @classmethod
    def of(
        cls, chains: Iterable[Chain] = (), empty: Iterable[int] = (), statements: Iterable[Statement] = ()
    ) -> "Decisions":
        """Enforce chains, those of one id being one, tokens without any boundary, and statements."""
        by_id: dict[str, list[Span]] = {}
        expected = "chains, and a list of tokens: Decisions.of([Chain.of('1', [(1, 3), (6, 6)])], empty=[5])"
        for value in (chains, empty):
            if not isinstance(value, Iterable):
                raise ArgumentError(f"caspr.Decisions.of: found {value!r}, expected {expected}")
        for chain in chains:
            if not isinstance(chain, Chain):
                raise ArgumentError(f"caspr.Decisions.of: found {chain!r}, expected {expected}")
            by_id.setdefault(chain.id, []).extend(chain.mentions)
        enforced = [Chain.of(id, spans) for id, spans in by_id.items()]
        enforced.sort(key=lambda chain: (chain.mentions, chain.id))
        mentions = frozenset(span for chain in enforced for span in chain.mentions)
        boundaries = {token for span in mentions for token in span}
        return cls(tuple(enforced), frozenset(empty) | boundaries, mentions, tuple(statements))

    @classmethod
    def combining(cls, statements: Iterable[Statement]) -> "Decisions":
        """Put statements of any kind together."""
        kinds: dict[StatementKind | None, list[Statement]] = {}
        for statement in statements:
            own = statement.kind in IN_CELLS or statement.kind is StatementKind.NAME
            kinds.setdefault(statement.kind if own else None, []).append(statement)
        combined = cls.of(
            (Chain(stated.chain, stated.mentions) for stated in kinds.get(StatementKind.CELLS, ())),
            (token for stated in kinds.get(StatementKind.EMPTY, ()) for token in stated.tokens),
            kinds.get(None, ()),
        )
        return replace(combined, names=tuple(kinds.get(StatementKind.NAME, ())))

    def each(self) -> tuple[Statement, ...]:
        """Return the statements one by one: each chain of cells, each empty cell, the others, names."""
        return (
            *(Statement(StatementKind.CELLS, chain.mentions, chain.id) for chain in self.chains),
            *(Statement.of(StatementKind.EMPTY, [(token, token)]) for token in sorted(self.empty_cells)),
            *self.statements,
            *self.names,
        )

    @cached_property
    def answers(self) -> "Decisions":
        """Return them without what only holds entities, which answers nothing about their mentions."""
        kept = [said for said in self.statements if said.kind is not StatementKind.ENTITY]
        return self if len(kept) == len(self.statements) else replace(self, statements=tuple(kept))

    def releasing(self, mention: Span) -> "Decisions":
        """Return them with nothing that holds a mention in its entity; the same object if nothing does."""
        released = tuple(
            said.over(set(said.mentions) - {mention}) if said.kind is StatementKind.ENTITY else said
            for said in self.statements
        )
        if released == self.statements:
            return self
        return replace(
            self,
            statements=tuple(
                said for said in released if len(said.mentions) > 1 or said.kind is not StatementKind.ENTITY
            ),
        )

    def __bool__(self) -> bool:
        """Return whether anything is decided."""
        return bool(self.closed or self.statements or self.names)

    def in_words(self) -> tuple[str, ...]:
        """Say what is enforced: a line for each chain of the cells, each empty cell and each statement.

        >>> absent = Statement.of(StatementKind.ABSENT, [(7, 7)])
        >>> for line in Decisions.of([Chain.of("2", [(1, 3), (6, 6)])], [5], [absent]).in_words():
        ...     print(line)
        (1, 3) and (6, 6) in chain 2, and nothing else starts or ends there
        nothing starts or ends at token 5
        (7, 7) absent
        """
        return tuple(map(str, replace(self, names=()).each()))

    @property
    def empty_cells(self) -> frozenset[int]:
        """The tokens at which cells let nothing start or end."""
        return self.closed - {token for chain in self.chains for span in chain.mentions for token in span}

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The mentions that must exist, by what holds them together, in text order."""
        bundles = list(self._bundles())
        groups = Groups(sorted({mention for bundle in bundles for mention in bundle}))
        for bundle in bundles:
            for mention in bundle:
                groups.join(bundle[0], mention)
        ids: dict[Span, set[str]] = {}
        for id, mentions in self.named.items():
            ids.setdefault(groups.first(mentions[0]), set()).add(id)
        return tuple(Group(tuple(group), tuple(sorted(ids.get(group[0], ())))) for group in groups.lists())

    @cached_property
    def named(self) -> Mapping[str, Sequence[Span]]:
        """The mentions that each id was given to."""
        named: dict[str, list[Span]] = {}
        for chain in self.chains:
            named.setdefault(chain.id, []).extend(chain.mentions)
        for statement in self.statements:
            if statement.kind is StatementKind.ENFORCED:
                named.setdefault(statement.chain, []).extend(statement.mentions)
        return {id: mentions for id, mentions in named.items() if mentions}

    def _bundles(self) -> Iterator[Sequence[Span]]:
        yield from self.named.values()
        for statement in self.statements:
            if statement.kind in JOINING:
                yield statement.mentions
            elif statement.kind is StatementKind.EXISTS:
                yield from ((mention,) for mention in statement.mentions)

    @cached_property
    def group_of(self) -> Mapping[Span, Group]:
        """The group of each mention that must exist."""
        return {mention: group for group in self.groups for mention in group.mentions}

    @cached_property
    def lone(self) -> frozenset[Span]:
        """Mentions that form a group alone, which need another mention to be with."""
        alone = frozenset(group.mentions[0] for group in self.groups if len(group.mentions) == 1)
        return alone - self.accompanied

    @cached_property
    def absent(self) -> frozenset[Span]:
        """Mentions that a statement rules out."""
        return self._stated(StatementKind.ABSENT)

    @cached_property
    def alone(self) -> frozenset[Span]:
        """Mentions that a statement keeps apart from all others."""
        return self._stated(StatementKind.ALONE)

    @cached_property
    def standing(self) -> frozenset[Span]:
        """Mentions that exist by a statement, kept as chains of one where they end in no chain."""
        return self._stated(StatementKind.MENTION) | self.alone

    @cached_property
    def overruled(self) -> tuple[Span, ...]:
        """Mentions that must exist, while another decision rules them out; in text order."""
        existing = self.standing.union(self.group_of)
        return tuple(sorted(mention for mention in existing if self.rules_out(mention)))

    def _stated(self, kind: StatementKind) -> frozenset[Span]:
        return frozenset(
            mention
            for statement in self.statements
            if statement.kind is kind
            for mention in statement.mentions
        )

    @cached_property
    def apart(self) -> frozenset[Pair]:
        """Pairs that a statement keeps out of one chain, in text order."""
        return self._pairs(StatementKind.APART)

    @cached_property
    def nested(self) -> frozenset[Pair]:
        """Pairs that may share a chain although one is inside the other, in text order."""
        return self._pairs(StatementKind.NESTED)

    def _pairs(self, kind: StatementKind) -> frozenset[Pair]:
        return frozenset(
            (statement.mentions[0], statement.mentions[1])
            for statement in self.statements
            if statement.kind is kind
        )

    @cached_property
    def torn(self) -> tuple[Pair, ...]:
        """Pairs that are decided to be in one chain and to be apart."""
        return tuple(sorted(pair for pair in self.apart if self.joins(*pair)))

    def rules_out(self, mention: Span) -> bool:
        """Return whether a closed token or a statement forbids a mention."""
        if mention in self.absent:
            return True
        touches = mention.start in self.closed or mention.end in self.closed
        return touches and mention not in self.permitted

    def excludes(self, mention: Span) -> bool:
        """Return whether a mention can share a chain with nothing: it is alone, or ruled out."""
        return mention in self.alone or self.rules_out(mention)

    def joins(self, first: Span, second: Span) -> bool:
        """Return whether two mentions were enforced into one chain."""
        group = self.group_of.get(first)
        return group is not None and group is self.group_of.get(second)

    def separates(self, first: Span, second: Span) -> bool:
        """Return whether two mentions were enforced into different chains, or kept apart."""
        if self.alone and (first in self.alone or second in self.alone):
            return True
        if self.apart and (min(first, second), max(first, second)) in self.apart:
            return True
        own, theirs = self.group_of.get(first), self.group_of.get(second)
        return (
            own is not None and theirs is not None and bool(own.ids and theirs.ids) and own.ids != theirs.ids
        )

    def settles(self, first: Span, second: Span) -> bool:
        """Return whether decisions say that two mentions share a chain, or that they do not."""
        return bool(self) and (
            self.joins(first, second)
            or self.separates(first, second)
            or self.excludes(first)
            or self.excludes(second)
        )

    def on_boundaries(self, boundaries: Mapping[Span, Span]) -> "Decisions":
        """Let pairs that are kept apart name the boundaries that stand for their mentions.

        All other decisions are about boundaries themselves.
        """
        if not boundaries or not (self.apart or self.nested):
            return self
        statements = (
            Statement.of(statement.kind, (boundaries.get(span, span) for span in statement.mentions))
            if statement.kind in OF_PAIRS
            else statement
            for statement in self.statements
        )
        return replace(self, statements=tuple(statements))

    def restricted_to(self, tokens: Collection[int], statements: Collection[Statement] = ()) -> "Decisions":
        """Keep only the cells of some tokens, and some statements.

        A mention stays enforced when both its cells stay; one that was enforced together with others does
        not become a lone mention by losing them. So the less is kept, the more is allowed: this is what
        makes a minimal contradiction well defined.
        """
        kept = frozenset(tokens)
        chains = (
            Chain(chain.id, tuple(span for span in chain.mentions if kept.issuperset(span)))
            for chain in self.chains
        )
        return Decisions(
            tuple(chain for chain in chains if chain.mentions),
            self.closed & kept,
            self.permitted,
            tuple(statement for statement in self.statements if statement in statements),
            accompanied=frozenset(self.group_of) - self.lone,
        )


def refuse_outside(document: Document, decisions: Decisions) -> None:
    """Raise `InputError` if a decision concerns tokens that the document does not have."""
    last = len(document.tokens)
    stated = [statement.mentions for statement in decisions.statements] + [
        name.mentions for name in decisions.names
    ]
    for span in sorted(decisions.permitted.union(*stated)):
        if not 1 <= span.start <= span.end <= last:
            raise InputError(f"decisions: found mention {tuple(span)}, expected tokens from 1 to {last}")
    for token in sorted(decisions.closed):
        if not 1 <= token <= last:
            raise InputError(f"decisions: found token {token}, expected tokens from 1 to {last}")


def match_names(chains: Sequence[Chain], names: Sequence[Statement]) -> Mapping[int, int]:
    """Return the chain of each name that has one, both by their positions.

    >>> chains = [Chain.of("1", [(1, 1), (9, 9), (12, 12)]), Chain.of("2", [(4, 4), (7, 7)])]
    >>> match_names(chains, [Statement.of(StatementKind.NAME, [(1, 1), (4, 4), (9, 9)])])
    {0: 0}
    """
    if not names:
        return {}
    holder = {mention: number for number, chain in enumerate(chains) for mention in chain.mentions}
    claims: dict[tuple[int, int], int] = {}
    for number, name in enumerate(names):
        for mention in name.mentions:
            if mention in holder:
                claim = number, holder[mention]
                claims[claim] = claims.get(claim, 0) + 1
    most = (claim for claim in claims if 2 * claims[claim] > len(names[claim[0]].mentions))
    return match_one_to_one(sorted(most, key=lambda claim: (-claims[claim], claim)))


def follow_names(
    names: Sequence[Statement], before: Sequence[Chain], after: Sequence[Chain]
) -> tuple[Statement, ...]:
    """Return names with the mentions that their entities have after a change of the result.

    An entity keeps its id, whatever mentions it gains or loses; one whose id is gone is where most of its
    mentions are, unless that chain has a name.
    """
    had, position = match_names(before, names), {chain.id: number for number, chain in enumerate(after)}
    placed = {name: position[before[chain].id] for name, chain in had.items() if before[chain].id in position}
    waiting = [number for number in range(len(names)) if number not in placed]
    free = [number for number in range(len(after)) if number not in placed.values()]
    matched = match_names([after[number] for number in free], [names[number] for number in waiting])
    placed |= {waiting[name]: free[chain] for name, chain in matched.items()}
    return tuple(
        replace(name, mentions=after[placed[number]].mentions) if number in placed else name
        for number, name in enumerate(names)
    )


def with_names(chains: Iterable[Chain], names: Sequence[Statement]) -> tuple[Chain, ...]:
    """Give chains the names that the adjudicator gave their entities."""
    unnamed = tuple(chains)
    own = {chain: names[name] for name, chain in match_names(unnamed, names).items()}
    return tuple(_named(chain, own.get(number)) for number, chain in enumerate(unnamed))


def _named(chain: Chain, name: Statement | None) -> Chain:
    if name is None:
        return chain
    return replace(
        chain,
        name=chain.name if name.name is None else name.name,
        type=chain.type if name.type is None else name.type,
    )
