"""Decisions: what the adjudicator enforced (the paper's section 3.2).

There are two ways to decide. A *cell* is the result column of a review file at one token. An enforced
cell says: exactly these mentions start and end here. From all enforced cells together follow

    chains     mentions that must exist, with those of one id together and those of two ids apart;
    closed     tokens where no other mention may start or end (`=-` closes a token to all of them).

A *statement* says one thing and nothing else; it closes no token:

    enforced   mentions that must exist, in the chain of an id;
    together   mentions that must exist, in one chain, whichever that is;
    exists     mentions that must each be in some chain;
    mention    mentions that exist, in a chain with others or alone, whatever becomes of other chains of one;
    alone      mentions that exist and share a chain with nothing;
    absent     mentions that must not exist;
    apart      two mentions that must not share a chain, whether they exist or not;
    nested     two mentions that may share a chain although one is inside the other, and need not.

All mentions that are in one chain by whatever cells and statements form a *group*. Cells and statements
are also the units of blame: when decisions contradict each other, a minimal set of them is named.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import chain as concatenated

from caspr.errors import InputError
from caspr.task.names import EntityName
from caspr.text.document import Chain, Document, Span
from caspr.text.grouping import Groups

Pair = tuple[Span, Span]


class StatementKind(StrEnum):
    """What a statement says about its mentions."""

    ENFORCED = "enforced"
    TOGETHER = "together"
    EXISTS = "exists"
    MENTION = "mention"
    ALONE = "alone"
    ABSENT = "absent"
    APART = "apart"
    NESTED = "nested"


@dataclass(frozen=True)
class Statement:
    """One thing that the adjudicator decided beside the cells."""

    kind: StatementKind
    mentions: tuple[Span, ...]
    """Distinct, in text order; two of them for `apart` and `nested`."""
    chain: str = ""
    """The id of the chain for `enforced`, empty otherwise."""

    @classmethod
    def of(cls, kind: StatementKind, mentions: Iterable[tuple[int, int]], chain: str = "") -> "Statement":
        """Make a statement from spans in any order."""
        return cls(kind, tuple(sorted({Span(*mention) for mention in mentions})), chain)

    def __str__(self) -> str:
        """Say it in words.

        >>> print(Statement.of(StatementKind.ENFORCED, [(6, 6), (1, 3)], "2"))
        (1, 3) and (6, 6) in chain 2
        >>> print(Statement.of(StatementKind.ABSENT, [(1, 3)]))
        (1, 3) absent
        """
        return self.in_words(lambda mention: str(tuple(mention)))

    def in_words(self, called: Callable[[Span], str]) -> str:
        """Say it in words, with what each mention is called."""
        *others, last = map(called, self.mentions)
        words = f"{', '.join(others)} and {last}" if others else last
        match self.kind:
            case StatementKind.ENFORCED:
                return f"{words} in chain {self.chain}"
            case StatementKind.EXISTS:
                return f"{words} in some chain"
            case StatementKind.MENTION:
                return f"{words} a mention" if len(self.mentions) == 1 else f"{words} mentions"
            case StatementKind.NESTED:
                return f"{words} may share a chain"
            case _:
                return f"{words} {self.kind}"


@dataclass(frozen=True)
class Group:
    """Mentions that decisions put into one chain, or a single one that must be in some chain."""

    mentions: tuple[Span, ...]
    """In text order."""
    ids: tuple[str, ...]
    """The ids this chain was given: one, none, or more where decisions contradict."""


@dataclass(frozen=True)
class Decisions:
    """The enforced part of the answer."""

    chains: tuple[Chain, ...] = ()
    """Mentions enforced by cells; the ids are kept in the result. A chain may have one mention."""
    closed: frozenset[int] = frozenset()
    """Tokens at which only permitted mentions may start or end."""
    permitted: frozenset[Span] = frozenset()
    """Mentions that closed tokens let through."""
    statements: tuple[Statement, ...] = ()
    """What was decided beside the cells, in the order of the decisions."""
    names: tuple[EntityName, ...] = ()
    """What entities are called; it decides nothing about their chains."""
    accompanied: frozenset[Span] = frozenset()
    """Mentions that were in a group with others before some decisions were left out."""

    @classmethod
    def of(
        cls, chains: Iterable[Chain] = (), empty: Iterable[int] = (), statements: Iterable[Statement] = ()
    ) -> "Decisions":
        """Enforce chains, those of one id being one, tokens without any boundary, and statements."""
        by_id: dict[str, list[Span]] = {}
        for chain in chains:
            by_id.setdefault(chain.id, []).extend(chain.mentions)
        enforced = [Chain.of(id, spans) for id, spans in by_id.items()]
        enforced.sort(key=lambda chain: (chain.mentions, chain.id))
        mentions = frozenset(span for chain in enforced for span in chain.mentions)
        boundaries = {token for span in mentions for token in span}
        return cls(tuple(enforced), frozenset(empty) | boundaries, mentions, tuple(statements))

    def __bool__(self) -> bool:
        """Return whether anything is decided."""
        return bool(self.closed or self.statements or self.names)

    def in_words(self) -> tuple[str, ...]:
        """Say what is enforced: a line for each chain of the cells, each empty cell and each statement.

        >>> absent = Statement.of(StatementKind.ABSENT, [(7, 7)])
        >>> Decisions.of([Chain.of("2", [(1, 3), (6, 6)])], [5], [absent]).in_words()
        ('(1, 3) and (6, 6) in chain 2 by cells', 'nothing starts or ends at token 5', '(7, 7) absent')
        """
        return (
            *(f"{Statement(StatementKind.ENFORCED, one.mentions, one.id)} by cells" for one in self.chains),
            *(f"nothing starts or ends at token {token}" for token in sorted(self.empty_cells)),
            *map(str, self.statements),
        )

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
        return tuple(Group(tuple(found), tuple(sorted(ids.get(found[0], ())))) for found in groups.lists())

    @cached_property
    def named(self) -> Mapping[str, Sequence[Span]]:
        """The mentions that each id was given to."""
        named: dict[str, list[Span]] = {}
        enforced = (one for one in self.statements if one.kind is StatementKind.ENFORCED)
        for id, mentions in concatenated(
            ((chain.id, chain.mentions) for chain in self.chains),
            ((one.chain, one.mentions) for one in enforced),
        ):
            named.setdefault(id, []).extend(mentions)
        return {id: mentions for id, mentions in named.items() if mentions}

    def _bundles(self) -> Iterator[Sequence[Span]]:
        yield from self.named.values()
        for one in self.statements:
            if one.kind is StatementKind.TOGETHER:
                yield one.mentions
            elif one.kind is StatementKind.EXISTS:
                yield from ((mention,) for mention in one.mentions)

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
        """Mentions that exist by a statement, while another decision rules them out; in text order."""
        return tuple(sorted(mention for mention in self.standing if self.rules_out(mention)))

    def _stated(self, kind: StatementKind) -> frozenset[Span]:
        return frozenset(mention for one in self.statements if one.kind is kind for mention in one.mentions)

    @cached_property
    def apart(self) -> frozenset[Pair]:
        """Pairs that a statement keeps out of one chain, in text order."""
        return self._pairs(StatementKind.APART)

    @cached_property
    def nested(self) -> frozenset[Pair]:
        """Pairs that may share a chain although one is inside the other, in text order."""
        return self._pairs(StatementKind.NESTED)

    def _pairs(self, kind: StatementKind) -> frozenset[Pair]:
        return frozenset((one.mentions[0], one.mentions[1]) for one in self.statements if one.kind is kind)

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
        one, other = self.group_of.get(first), self.group_of.get(second)
        return one is not None and other is not None and bool(one.ids and other.ids) and one.ids != other.ids

    def on_boundaries(self, boundaries: Mapping[Span, Span]) -> "Decisions":
        """Let pairs that are kept apart name the boundaries that stand for their mentions.

        All other decisions are about boundaries themselves.
        """
        if not boundaries or not (self.apart or self.nested):
            return self
        statements = (
            Statement.of(one.kind, (boundaries.get(span, span) for span in one.mentions))
            if one.kind in (StatementKind.APART, StatementKind.NESTED)
            else one
            for one in self.statements
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
            tuple(one for one in self.statements if one in statements),
            accompanied=frozenset(self.group_of) - self.lone,
        )


def refuse_outside(document: Document, decisions: Decisions) -> None:
    """Raise `InputError` if a decision concerns tokens that the document does not have."""
    last = len(document.tokens)
    stated = [one.mentions for one in decisions.statements] + [one.mentions for one in decisions.names]
    for span in sorted(decisions.permitted.union(*stated)):
        if not 1 <= span.start <= span.end <= last:
            raise InputError(f"decisions: found mention {tuple(span)}, expected tokens from 1 to {last}")
    for token in sorted(decisions.closed):
        if not 1 <= token <= last:
            raise InputError(f"decisions: found token {token}, expected tokens from 1 to {last}")
