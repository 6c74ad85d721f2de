"""`=` cells for people who edit text: which decisions a review file writes as cells and reads from them.

On the page a decision closes a token only if the adjudicator asks for that: deciding that (1, 3) is a mention
must not rule out (1, 1). An `=` cell closes the token it stands at. It is also easier to see in a text editor
than a line before the document. So

    in_cells   writes mentions in the chain of an id as cells where closing their tokens rules out nothing,
               because no other candidate starts or ends there;
    opened     reads such cells back as decisions that close nothing; all others keep their tokens closed.

What is written and read back is the same decision, with the same author. `signed_cells` tells decisions apart
that were made at different times about the cells of one chain.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from caspr.task.decisions import Decision, Decisions, Statement, StatementKind
from caspr.text.document import Chain, Span

Touching = Mapping[int, frozenset[Span]]
"""The mentions that start or end at each token."""


def touching(mentions: Iterable[Span]) -> Touching:
    """Index mentions by the tokens at which they start and end."""
    index: dict[int, set[Span]] = defaultdict(set)
    for span in mentions:
        index[span.start].add(span)
        index[span.end].add(span)
    return {token: frozenset(spans) for token, spans in index.items()}


def signed_cells(cells: Decisions, signed: Sequence[Decision]) -> Iterator[Decision]:
    """Yield what enforced cells decide: each decision that was `signed`, then what nobody signed."""
    homes = {chain.id: frozenset(chain.mentions) for chain in cells.chains}
    known: set[tuple[str, Span]] = set()
    empty = set(cells.empty_cells)
    for decision in signed:
        said = decision.statement
        if said.kind is StatementKind.CELLS and homes.get(said.chain, frozenset()).issuperset(said.mentions):
            known.update((said.chain, span) for span in said.mentions)
            yield decision
        elif said.kind is StatementKind.EMPTY and cells.empty_cells.issuperset(said.tokens):
            empty.difference_update(said.tokens)
            yield decision
    for chain in cells.chains:
        if rest := tuple(span for span in chain.mentions if (chain.id, span) not in known):
            yield Decision(Statement(StatementKind.CELLS, rest, chain.id))
    for token in sorted(empty):
        yield Decision(Statement.of(StatementKind.EMPTY, [(token, token)]))


def opened(decisions: Sequence[Decision], candidates: Touching) -> tuple[Decision, ...]:
    """Return decisions as the page has them: cells that rule out no candidate close no token."""
    combined = Decisions.combining(decision.statement for decision in decisions)
    free = {chain.id for chain in _harmless(combined.chains, candidates, combined, Decisions())}
    return tuple(
        _as(StatementKind.ENFORCED, decision)
        if decision.statement.kind is StatementKind.CELLS and decision.statement.chain in free
        else decision
        for decision in decisions
    )


def in_cells(decisions: Sequence[Decision], candidates: Touching) -> tuple[Decision, ...]:
    """Return decisions as a file has them: by cells whatever these can express and rule out no candidate."""
    combined = Decisions.combining(decision.statement for decision in decisions)
    stated = {
        statement: Chain(statement.chain, statement.mentions)
        for statement in combined.statements
        if statement.kind is StatementKind.ENFORCED
    }
    free = set(_harmless(list(stated.values()), candidates, combined, combined))
    return tuple(
        _as(StatementKind.CELLS, decision) if stated.get(decision.statement) in free else decision
        for decision in decisions
    )


def _as(kind: StatementKind, decision: Decision) -> Decision:
    return replace(decision, statement=replace(decision.statement, kind=kind))


def _harmless(
    chains: Sequence[Chain], candidates: Touching, named: Decisions, cells: Decisions
) -> list[Chain]:
    """Return the chains whose cells, added to the existing ones, would rule out nothing.

    A chain can stay only if no other candidate, and no mention `named` by a decision, starts or ends at its
    tokens, except mentions of chains that stay too. Dropping one chain can thus force out another, so this
    repeats until nothing is dropped.
    """
    stated = (span for statement in named.statements for span in statement.mentions)
    decided = touching(named.permitted.union(stated))
    kept, before = list(chains), -1
    nothing: frozenset[Span] = frozenset()
    while len(kept) != before:
        before = len(kept)
        let_through = cells.permitted.union(span for chain in kept for span in chain.mentions)
        kept = [
            chain
            for chain in kept
            if all(
                candidates.get(token, nothing) <= let_through
                and decided.get(token, nothing) <= let_through
                and (token not in cells.closed or span in cells.permitted)
                for span in chain.mentions
                for token in span
            )
        ]
    return kept
