"""Operations on whole chains: keep, split, merge and name them."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import count

from caspr.review.operations.context import (
    MOST,
    Change,
    DecidedError,
    Operation,
    OperationContext,
    OperationError,
    without_replaced,
)
from caspr.task.decisions import Decision, Statement, StatementKind
from caspr.task.instance import Singletons
from caspr.text.document import Chain, Span
from caspr.text.findings import is_encodable

LONGEST_NAME = 200
"""How many characters the name or the type of an entity may have."""


def accept(context: OperationContext, operation: Operation) -> Change:
    """Keep a chain of the result as it is."""
    chain = context.chain(operation.get("chain"))
    return context.add(
        Statement(StatementKind.ENFORCED, chain.mentions, chain.id),
        label=f"entity {context.titles[chain.id]} as it is",
    )


def split(context: OperationContext, operation: Operation) -> Change:
    """Make some mentions of a chain a chain of their own."""
    mentions = context.mentions(operation)
    home = {context.snapshot.chain_of.get(mention) for mention in mentions}
    id = home.pop()
    chain = context.snapshot.chain(id) if id is not None and not home else None
    if chain is None:
        raise OperationError("These mentions are in no entity, or in several. Choose some of one entity.")
    rest = [span for span in chain.mentions if span not in mentions]
    if not rest:
        raise DecidedError("This is already a whole entity. Choose a part of it to split off.")
    context = _without(context, mentions, chain.id)
    kept = Statement.of(StatementKind.ENFORCED, rest, chain.id)
    label = f"{len(mentions)} of entity {context.titles[chain.id]} split off"
    if len(mentions) == 1 and context.solver.settings.singletons is Singletons.DROP:
        # One mention is not a chain: it leaves this one, for another chain or for none.
        return context.add(
            kept, Statement.of(StatementKind.APART, [mentions[0], rest[0]]), label=label, named=mentions
        )
    return context.add(kept, Statement.of(StatementKind.ENFORCED, mentions, _fresh(context)), label=label)


def _without(context: OperationContext, mentions: Collection[Span], chain: str) -> OperationContext:
    """Take mentions out of decisions that put them into a chain."""
    gone = Statement.of(StatementKind.ALONE, mentions)
    entries = tuple(
        kept
        for entry in context.snapshot.entries
        for kept in (
            without_replaced([entry], gone, mentions) if entry.statement.chain == chain else (entry,)
        )
    )
    return replace(context, snapshot=replace(context.snapshot, entries=entries))


def _fresh(context: OperationContext) -> str:
    """Return an id that no chain and no decision has."""
    taken = {chain.id for chain in context.snapshot.chains} | {
        entry.statement.chain for entry in context.snapshot.entries
    }
    return next(str(number) for number in count(1) if str(number) not in taken)


def merge(context: OperationContext, operation: Operation) -> Change:
    """Make one chain of several; `called` is the one whose name is kept, if the user was asked."""
    ids = operation.get("chains")
    if not isinstance(ids, list) or len(set(map(str, ids))) < 2 or len(ids) > MOST:
        raise OperationError("Choose two entities or more.")
    chains = [context.chain(id) for id in dict.fromkeys(map(str, ids))]
    kept = next((chain.id for chain in chains if context.is_named(chain.id)), chains[0].id)
    merged = {chain.id for chain in chains}
    entries = _with_one_name(context, chains, kept, operation.get("called"))
    renamed = [
        replace(entry, statement=replace(entry.statement, chain=kept))
        if entry.statement.chain in merged
        else entry
        for entry in entries
    ]
    mentions = [mention for chain in chains for mention in chain.mentions]
    label = f"entities {', '.join(context.titles[chain.id] for chain in chains)} merged"
    if operation.get("called") is not None:
        label += f", called as {context.titles[context.chain(operation['called']).id]}"
    context = replace(context, snapshot=replace(context.snapshot, entries=tuple(renamed)))
    return context.add(Statement.of(StatementKind.ENFORCED, mentions, kept), label=label)


def _with_one_name(
    context: OperationContext, merged: Sequence[Chain], kept: str, called: object
) -> list[Decision]:
    """Return the decisions with one name for merged chains: of the `called`, the kept or the oldest one."""
    named = [(context.name_of(chain), chain.id) for chain in merged]
    entries = {entry.id: (entry, id) for entry, id in named if entry is not None}
    home = next(chain.mentions for chain in merged if chain.id == kept)
    if called is not None:
        return _called(context, entries, context.chain(called), home)
    if not entries:
        return list(context.snapshot.entries)
    oldest = next(entry for entry in context.snapshot.entries if entry.id in entries)
    chosen = next((entry for entry, id in entries.values() if id == kept), oldest)
    return [
        replace(entry, statement=replace(entry.statement, mentions=home)) if entry is chosen else entry
        for entry in context.snapshot.entries
        if entry.id not in entries or entry is chosen
    ]


def _called(
    context: OperationContext, named: Collection[str], chain: Chain, home: tuple[Span, ...]
) -> list[Decision]:
    """Return the decisions with the name and type of one chain, given or voted, in place of some names."""
    shown = next(named for named in context.solver.named_chains(context.snapshot) if named.id == chain.id)
    name = Statement(StatementKind.NAME, home, name=shown.name, type=shown.type or None)
    rest = [entry for entry in context.snapshot.entries if entry.id not in named]
    return [*rest, context.decided(name)]


def name(context: OperationContext, operation: Operation) -> Change:
    """Give the entity of a chain a name or a type; what annotators voted for needs no decision."""
    chain = context.chain(operation.get("chain"))
    [voted] = context.solver.voted_names(context.snapshot, [chain])
    said = {key: _label(operation.get(key)) for key in ("name", "type") if operation.get(key) is not None}
    if not said:
        raise OperationError("Give a name or a type.")
    old = context.name_of(chain)
    before = old.statement if old is not None else Statement(StatementKind.NAME, chain.mentions)
    votes = {"name": voted.name, "type": voted.type}
    own = {key: None if value == votes[key] else value for key, value in said.items()}
    new = replace(
        before,
        mentions=chain.mentions,
        name=own.get("name", before.name),
        type=own.get("type", before.type),
    )
    if (new.name, new.type) == (before.name, before.type):
        raise DecidedError("The entity already has this name.")
    entries = [entry for entry in context.snapshot.entries if entry is not old]
    if new.name is not None or new.type is not None:
        entries.append(context.decided(new))
    called = Statement(StatementKind.NAME, chain.mentions, "", said.get("name"), said.get("type"))
    return Change(tuple(entries), context.snapshot.notes, context.words(called))


def _label(value: object) -> str:
    """Read a name or a type; white space becomes single blanks."""
    text = " ".join(value.split()) if isinstance(value, str) else None
    if text is None or len(text) > LONGEST_NAME or not is_encodable(text) or not text.isprintable():
        raise OperationError(f"A name has at most {LONGEST_NAME} characters.")
    return text
