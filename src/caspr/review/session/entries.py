"""Entries: decisions with ids, as the page lists them, and how a review file expresses them.

On the page a decision closes a token only if the adjudicator asks for that: deciding that (1, 3) is a mention
must not rule out (1, 1). A review file expresses most decisions by `=` marks, which close the tokens they
stand at, or by statements before the document. Marks are easier to see in a text editor, so they are used
where closing their tokens rules out nothing: where no other candidate starts or ends there. Such marks are
read back as decisions that close nothing; all others are decisions about cells, and keep their tokens closed.
Lines beside the statements say who decided what about cells, and so keep apart what was decided one by one.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from caspr.formats.review_file.authors import NOBODY, Authors
from caspr.task.authorship import Authorship
from caspr.task.decisions import Decisions, Statement, StatementKind
from caspr.task.names import EntityName, follow_names
from caspr.text.document import Chain, Document, Span


@dataclass(frozen=True)
class Closing:
    """Tokens at which no mention starts or ends."""

    tokens: tuple[int, ...]

    def __str__(self) -> str:
        """Return a description for the page and for messages."""
        listed = ", ".join(f"({token}, {token})" for token in self.tokens)
        return f"no mention starts or ends at {listed}"


@dataclass(frozen=True)
class EnforcedCells:
    """A chain enforced by cells, whose tokens are closed to other mentions."""

    chain: Chain

    def __str__(self) -> str:
        """Return a description for the page and for messages."""
        enforced = Statement(StatementKind.ENFORCED, self.chain.mentions, self.chain.id)
        return f"{enforced}, and no others at their ends"


Decision = Statement | Closing | EnforcedCells | EntityName
"""One decision of the adjudicator."""


@dataclass(frozen=True)
class DecisionEntry:
    """One decision as the page lists it."""

    id: str
    """Unique in a session; never given again."""
    decision: Decision
    """What was decided."""
    made: Authorship | None = None
    """Who decided it, and when."""

    @property
    def mentions(self) -> tuple[Span, ...]:
        """The mentions it is about."""
        if isinstance(self.decision, Closing):
            return ()
        return (
            self.decision.chain.mentions
            if isinstance(self.decision, EnforcedCells)
            else self.decision.mentions
        )

    @property
    def tokens(self) -> tuple[int, ...]:
        """The tokens it is about: those it closes, or where its mentions start and end."""
        if isinstance(self.decision, Closing):
            return self.decision.tokens
        return tuple(sorted({token for mention in self.mentions for token in mention}))

    @property
    def chain(self) -> str | None:
        """The id of the chain it enforces, if it names one."""
        if isinstance(self.decision, EnforcedCells):
            return self.decision.chain.id
        return self.decision.chain or None if isinstance(self.decision, Statement) else None


def decisions_of(entries: Iterable[DecisionEntry]) -> Decisions:
    """Combine all entries."""
    made = [entry.decision for entry in entries]
    decisions = Decisions.of(
        (one.chain for one in made if isinstance(one, EnforcedCells)),
        (token for one in made if isinstance(one, Closing) for token in one.tokens),
        (one for one in made if isinstance(one, Statement)),
    )
    return replace(decisions, names=tuple(one for one in made if isinstance(one, EntityName)))


def with_followed_names(
    entries: Sequence[DecisionEntry], before: Sequence[Chain], after: Sequence[Chain]
) -> tuple[DecisionEntry, ...]:
    """Return decisions whose names know the mentions of their entities after a change of the result."""
    names = [entry.decision for entry in entries if isinstance(entry.decision, EntityName)]
    followed = iter(follow_names(names, before, after))
    return tuple(
        replace(entry, decision=next(followed)) if isinstance(entry.decision, EntityName) else entry
        for entry in entries
    )


Touching = Mapping[int, frozenset[Span]]
"""The annotators' mentions that start or end at each token."""


def touching(candidates: Iterable[Span]) -> Touching:
    """Index mentions by the tokens at which they start and end."""
    found: dict[int, set[Span]] = defaultdict(set)
    for span in candidates:
        found[span.start].add(span)
        found[span.end].add(span)
    return {token: frozenset(spans) for token, spans in found.items()}


def entries_of(
    decisions: Decisions, candidates: Touching, authors: Authors = NOBODY
) -> dict[Decision, Authorship | None]:
    """Split the decisions of a review file into single ones, cells first, each with its author if known."""
    found: dict[Decision, Authorship | None] = {}
    open_chains = _open(decisions.chains, candidates, touching(_named(decisions)), Decisions())
    for chain in decisions.chains:
        for mentions, made in _parts(chain, authors):
            part = Chain(chain.id, mentions)
            is_open = chain in open_chains
            decision = (
                Statement(StatementKind.ENFORCED, mentions, chain.id) if is_open else EnforcedCells(part)
            )
            found[decision] = made
    boundaries = {token for span in decisions.permitted for token in span}
    empty = decisions.closed - boundaries
    for tokens, made in authors.empty:
        if empty.issuperset(tokens):
            found[Closing(tokens)] = made
    closed = {token for one in found if isinstance(one, Closing) for token in one.tokens}
    found.update({Closing((token,)): None for token in sorted(empty - closed)})
    found.update({one: authors.statements.get(one) for one in decisions.statements})
    found.update({one: authors.names.get(one) for one in decisions.names})
    return found


def _parts(chain: Chain, authors: Authors) -> Iterator[tuple[tuple[Span, ...], Authorship | None]]:
    """Yield what was decided at one time about the cells of a chain; what nobody signed comes last."""
    inside = frozenset(chain.mentions)
    signed: set[Span] = set()
    for one, made in authors.cells:
        if one.chain == chain.id and inside.issuperset(one.mentions):
            signed.update(one.mentions)
            yield one.mentions, made
    rest = tuple(span for span in chain.mentions if span not in signed)
    if rest:
        yield rest, None


def authors_of(entries: Iterable[DecisionEntry], written: Decisions, done: Authorship | None) -> Authors:
    """Return who made the decisions, as a review file says it that expresses them as `written`."""
    stated = frozenset(written.statements)
    statements: dict[Statement, Authorship] = {}
    cells: list[tuple[Statement, Authorship]] = []
    empty: list[tuple[tuple[int, ...], Authorship]] = []
    names: dict[EntityName, Authorship] = {}
    for entry in entries:
        decision = entry.decision
        if entry.made is None:
            continue
        if isinstance(decision, Closing):
            empty.append((decision.tokens, entry.made))
        elif isinstance(decision, EntityName):
            names[decision] = entry.made
        elif isinstance(decision, Statement) and decision in stated:
            statements[decision] = entry.made
        else:
            mentions = Statement(StatementKind.ENFORCED, entry.mentions, entry.chain or "")
            cells.append((mentions, entry.made))
    return Authors(statements, tuple(cells), tuple(empty), names, done)


def as_written(decisions: Decisions, candidates: Touching) -> Decisions:
    """Express by cells whatever they can express without ruling out any candidate."""
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
    written = Decisions.of(
        (*decisions.chains, *chosen),
        decisions.closed - boundaries,
        (one for one in decisions.statements if one not in moved),
    )
    return replace(written, names=decisions.names)


def _named(decisions: Decisions) -> frozenset[Span]:
    """Return the mentions that decisions name."""
    return decisions.permitted.union(span for one in decisions.statements for span in one.mentions)


def _open(chains: Sequence[Chain], marked: Touching, named: Touching, cells: Decisions) -> list[Chain]:
    """Return the chains whose cells, added to the existing ones, would rule out nothing.

    A chain can stay only if no other mention starts or ends at its tokens, except mentions of chains that
    stay too. Dropping one chain can thus force out another, so this repeats until nothing is dropped.
    """
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


def in_words(label: str, document: Document, titles: Mapping[str, str] | None = None) -> str:
    """Say what a label says with the words of the text instead of the numbers of tokens.

    `titles` has what entities are called, by the ids of their chains.

    >>> text = Document("d", ("the", "girl", "sang", "it"))
    >>> in_words("(1, 2) and (4, 4) together", text)
    '“the girl” and “it” together'
    >>> in_words("(1, 2) in chain 3, and no others at their ends", text, {"3": "3 (Ann)"})
    '“the girl” in chain 3 (Ann), and no others at their ends'
    """
    last = len(document.tokens)

    def worded(found: re.Match[str]) -> str:
        span = Span(int(found[1]), int(found[2]))
        return f"“{document.phrase(span)}”" if 1 <= span.start <= span.end <= last else found[0]

    called = titles or {}
    named = re.sub(
        r"(?<=\) in chain )[^\s,;]+(?=[,;]|$)", lambda found: called.get(found[0], found[0]), label
    )
    return re.sub(r"\((\d{1,9}), (\d{1,9})\)", worded, named)
