"""Entries: decisions with ids, as the page lists them, and how a review file says them.

On the page a decision never closes a token unless it says so: deciding that (1, 3) is a mention must not
rule out (1, 1). A review file can say most decisions by `=` marks, which close the tokens they stand at,
or by statements before the document. Marks are what one sees in a text editor, so they are used where
closing their tokens rules out nothing: where no other candidate starts or ends there. Such marks are read
back as decisions that close nothing; all others are decisions about cells, and keep their tokens closed.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from caspr.task.decisions import Decisions, Statement, StatementKind
from caspr.text.document import Chain, Span


@dataclass(frozen=True)
class Closing:
    """Tokens at which no mention starts or ends."""

    tokens: tuple[int, ...]

    def __str__(self) -> str:
        """Say it in words."""
        listed = ", ".join(map(str, self.tokens))
        return f"no mention starts or ends at token{'s' * (len(self.tokens) > 1)} {listed}"


@dataclass(frozen=True)
class EnforcedCells:
    """A chain enforced by cells, whose tokens are closed to other mentions."""

    chain: Chain

    def __str__(self) -> str:
        """Say it in words."""
        enforced = Statement(StatementKind.ENFORCED, self.chain.mentions, self.chain.id)
        return f"{enforced}, and no others at their ends"


What = Statement | Closing | EnforcedCells


@dataclass(frozen=True)
class DecisionEntry:
    """One decision as the page lists it."""

    id: str
    """Given once and never again in a session."""
    what: What
    """What was decided."""

    @property
    def mentions(self) -> tuple[Span, ...]:
        """The mentions it is about."""
        if isinstance(self.what, Closing):
            return ()
        return self.what.chain.mentions if isinstance(self.what, EnforcedCells) else self.what.mentions

    @property
    def tokens(self) -> tuple[int, ...]:
        """The tokens it is about: those it closes, or where its mentions start and end."""
        if isinstance(self.what, Closing):
            return self.what.tokens
        return tuple(sorted({token for mention in self.mentions for token in mention}))

    @property
    def chain(self) -> str | None:
        """The id of the chain it enforces, if it names one."""
        if isinstance(self.what, EnforcedCells):
            return self.what.chain.id
        return self.what.chain or None if isinstance(self.what, Statement) else None


def decisions_of(entries: Iterable[DecisionEntry]) -> Decisions:
    """Put all entries together."""
    whats = [entry.what for entry in entries]
    return Decisions.of(
        (what.chain for what in whats if isinstance(what, EnforcedCells)),
        (token for what in whats if isinstance(what, Closing) for token in what.tokens),
        (what for what in whats if isinstance(what, Statement)),
    )


Touching = Mapping[int, frozenset[Span]]
"""The annotators' mentions that start or end at each token."""


def touching(candidates: Iterable[Span]) -> Touching:
    """Sort mentions by the tokens at which they start and end."""
    found: dict[int, set[Span]] = defaultdict(set)
    for span in candidates:
        found[span.start].add(span)
        found[span.end].add(span)
    return {token: frozenset(spans) for token, spans in found.items()}


def entries_of(decisions: Decisions, candidates: Touching) -> list[What]:
    """Take the decisions of a review file apart, cells first."""
    boundaries = {token for span in decisions.permitted for token in span}
    found: list[What] = []
    open_chains = _open(decisions.chains, candidates, touching(_named(decisions)), Decisions())
    for chain in decisions.chains:
        if chain in open_chains:
            found.append(Statement(StatementKind.ENFORCED, chain.mentions, chain.id))
        else:
            found.append(EnforcedCells(chain))
    found += [Closing((token,)) for token in sorted(decisions.closed - boundaries)]
    return [*found, *decisions.statements]


def as_written(decisions: Decisions, candidates: Touching) -> Decisions:
    """Say by cells whatever they can say without ruling out any candidate."""
    stated = {
        Chain(one.chain, one.mentions): one
        for one in decisions.statements
        if one.kind is StatementKind.ENFORCED
    }
    chosen = _open(list(stated), candidates, touching(_named(decisions)), decisions)
    if not chosen:
        return decisions
    moved = {stated[chain] for chain in chosen}
    boundaries = {token for span in decisions.permitted for token in span}
    return Decisions.of(
        (*decisions.chains, *chosen),
        decisions.closed - boundaries,
        (one for one in decisions.statements if one not in moved),
    )


def _named(decisions: Decisions) -> frozenset[Span]:
    """Return the mentions that decisions speak of."""
    return decisions.permitted.union(span for one in decisions.statements for span in one.mentions)


def _open(chains: Sequence[Chain], marked: Touching, named: Touching, cells: Decisions) -> list[Chain]:
    """Return the chains whose cells, beside those that are there, would rule out nothing."""
    chosen = list(chains)
    nothing: frozenset[Span] = frozenset()
    while True:
        let_through = cells.permitted.union(span for chain in chosen for span in chain.mentions)
        kept = [
            chain
            for chain in chosen
            if all(
                marked.get(token, nothing) <= let_through
                and named.get(token, nothing) <= let_through
                and (token not in cells.closed or span in cells.permitted)
                for span in chain.mentions
                for token in span
            )
        ]
        if len(kept) == len(chosen):
            return kept
        chosen = kept
