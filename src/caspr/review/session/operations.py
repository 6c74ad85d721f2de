"""Operations: what a click means, as decisions added, changed or taken back.

An operation is JSON that the page sent, so every part of it is checked. An invalid one is refused with a
sentence for the user, and with the ids of the decisions that it contradicts, if any.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from caspr.errors import CasprError
from caspr.review.session.entries import Closing, Decision, DecisionEntry, EnforcedCells
from caspr.review.session.solver import Snapshot, Solver
from caspr.task.authorship import Authorship
from caspr.task.decisions import Statement, StatementKind
from caspr.task.instance import Singletons
from caspr.task.notes import Note
from caspr.text.document import Chain, Span
from caspr.text.printable import is_encodable

LONGEST_NOTE = 10_000
"""How many characters a note may have."""
MOST = 20_000
"""How many mentions or tokens one operation may name."""

Operation = Mapping[str, Any]


class OperationError(CasprError):
    """Refuse an operation that is invalid or contradicts earlier decisions."""

    def __init__(self, message: str, clashes: Iterable[str] = ()) -> None:
        """Keep the ids of the contradicted decisions beside the message."""
        self.clashes = tuple(clashes)
        super().__init__(message)


@dataclass(frozen=True)
class Change:
    """The decisions and notes after an operation."""

    entries: tuple[DecisionEntry, ...]
    """All decisions, oldest first."""
    notes: tuple[tuple[str, Note], ...]
    """All notes with their ids, oldest first."""
    label: str
    """What undoing it would take back."""
    named: frozenset[Span] = frozenset()
    """The mentions the operation is about; the page lists what changed for all others."""
    done: Authorship | None = None
    """Who has said that nothing is left to decide; deciding more takes that back."""


@dataclass
class OperationContext:
    """What operations work on."""

    solver: Solver
    """The document and its annotations."""
    snapshot: Snapshot
    """The decisions and the result that the operation starts from."""
    ids: "Ids"
    """Gives ids to new decisions and notes."""
    made: Authorship | None = None
    """Who acts, and when."""

    def apply(self, operation: object) -> Change:
        """Return what an operation changes, or raise `OperationError`."""
        if not isinstance(operation, Mapping):
            raise OperationError("found no operation, expected an object with `do`")
        verb = operation.get("do")
        if not isinstance(verb, str) or verb not in VERBS:
            raise OperationError(f"found operation {str(verb)[:40]!r}, expected one of {', '.join(VERBS)}")
        return VERBS[verb](self, operation)

    def add(self, *decisions: Decision, label: str = "", named: Iterable[Span] = ()) -> Change:
        """Add decisions; refuse if all of them were made before."""
        present = {entry.decision: entry.id for entry in self.snapshot.entries}
        new = [one for one in decisions if one not in present]
        if not new:
            raise OperationError("this is decided already", [present[one] for one in decisions])
        entries = [DecisionEntry(self.ids.decision(), one, self.made) for one in new]
        mentions = frozenset(span for entry in entries for span in entry.mentions)
        return Change(
            (*self.snapshot.entries, *entries),
            self.snapshot.notes,
            label or "; ".join(map(str, new)),
            mentions.union(named),
        )

    def mentions(self, operation: Operation, least: int = 1, most: int = MOST) -> list[Span]:
        """Read the mentions of an operation, in text order."""
        given = operation.get("mentions")
        if not isinstance(given, list) or len(given) > MOST:
            raise OperationError("found no mentions, expected a list such as ['1-3', '6-6']")
        found = sorted({self.mention(one) for one in given})
        if not least <= len(found) <= most:
            expected = str(least) if least == most else f"{least} or more"
            raise OperationError(f"found {len(found)} different mentions, expected {expected}")
        return found

    def mention(self, given: object) -> Span:
        """Read one mention."""
        start, _, end = given.partition("-") if isinstance(given, str) else ("", "", "")
        if not (start.isascii() and end.isascii() and start.isdecimal() and end.isdecimal()):
            raise OperationError(f"found {str(given)[:40]!r}, expected a mention such as '1-3'")
        return self.span(int(start[:10]), int(end[:10]))

    def span(self, start: object, end: object) -> Span:
        """Check that tokens make a mention of this document."""
        last = len(self.solver.document.tokens)
        if type(start) is not int or type(end) is not int or not 1 <= start <= end <= last:
            raise OperationError(f"found tokens {start} to {end}, expected some from 1 to {last} in order")
        return Span(start, end)

    def chain(self, given: object) -> Chain:
        """Find a chain of the result by its id."""
        found = self.snapshot.chain(given) if isinstance(given, str) else None
        if found is None:
            raise OperationError(f"found chain {str(given)[:40]!r}, expected one that is there")
        return found

    def is_named(self, id: str) -> bool:
        """Return whether some decision names a chain by its id."""
        return any(entry.chain == id for entry in self.snapshot.entries)


@dataclass
class Ids:
    """Ids for decisions and notes, each given once."""

    decisions: "count[int]" = field(default_factory=lambda: count(1))
    notes: "count[int]" = field(default_factory=lambda: count(1))

    def decision(self) -> str:
        """Return an id for a decision."""
        return f"d{next(self.decisions)}"

    def note(self) -> str:
        """Return an id for a note."""
        return f"n{next(self.notes)}"


def _together(context: OperationContext, operation: Operation) -> Change:
    return context.add(Statement.of(StatementKind.TOGETHER, context.mentions(operation, least=2)))


def _apart(context: OperationContext, operation: Operation) -> Change:
    return context.add(Statement.of(StatementKind.APART, context.mentions(operation, least=2, most=2)))


def _exists(context: OperationContext, operation: Operation) -> Change:
    return context.add(Statement.of(StatementKind.EXISTS, context.mentions(operation)))


def _absent(context: OperationContext, operation: Operation) -> Change:
    return context.add(Statement.of(StatementKind.ABSENT, context.mentions(operation)))


def _into(context: OperationContext, operation: Operation) -> Change:
    return _enforced(context, context.mentions(operation), context.chain(operation.get("chain")))


def _enforced(context: OperationContext, mentions: Sequence[Span], chain: Chain) -> Change:
    """Enforce mentions in a chain, and with them one that is in it already if no decision names the chain.

    Otherwise the enforced mentions could end up alone under the id of the chain.
    """
    anchor = (
        [] if context.is_named(chain.id) else [span for span in chain.mentions if span not in mentions][:1]
    )
    return context.add(Statement.of(StatementKind.ENFORCED, [*mentions, *anchor], chain.id), named=mentions)


def _empty(context: OperationContext, operation: Operation) -> Change:
    given = operation.get("tokens")
    if not isinstance(given, list) or not 0 < len(given) <= MOST:
        raise OperationError("found no tokens, expected a list such as [5]")
    tokens = tuple(sorted({context.span(token, token).start for token in given}))
    clashes = [
        entry.id
        for entry in context.snapshot.entries
        if isinstance(entry.decision, EnforcedCells) and not set(tokens).isdisjoint(entry.tokens)
    ]
    if clashes:
        raise OperationError("a decision says that a mention starts or ends there", clashes)
    ends = [span for span in context.snapshot.chain_of if not set(tokens).isdisjoint(span)]
    return context.add(Closing(tokens), named=ends)


def _accept(context: OperationContext, operation: Operation) -> Change:
    chain = context.chain(operation.get("chain"))
    return context.add(
        Statement(StatementKind.ENFORCED, chain.mentions, chain.id), label=f"chain {chain.id} as it is"
    )


def _split(context: OperationContext, operation: Operation) -> Change:
    mentions = context.mentions(operation)
    home = {context.snapshot.chain_of.get(mention) for mention in mentions}
    id = home.pop()
    chain = context.snapshot.chain(id) if id is not None and not home else None
    if chain is None:
        raise OperationError("found mentions of no chain or of several, expected some of one chain")
    rest = [span for span in chain.mentions if span not in mentions]
    if not rest:
        raise OperationError("found a whole chain, expected a part of it to split off")
    kept = Statement.of(StatementKind.ENFORCED, rest, chain.id)
    label = f"{len(mentions)} of chain {chain.id} split off"
    if len(mentions) == 1 and context.solver.settings.singletons is Singletons.DROP:
        # One mention is no chain: it leaves this one, for another chain or for none.
        return context.add(
            kept, Statement.of(StatementKind.APART, [mentions[0], rest[0]]), label=label, named=mentions
        )
    return context.add(kept, Statement.of(StatementKind.ENFORCED, mentions, _fresh(context)), label=label)


def _fresh(context: OperationContext) -> str:
    """Return an id that no chain and no decision has."""
    taken = {chain.id for chain in context.snapshot.chains} | {
        entry.chain for entry in context.snapshot.entries
    }
    return next(str(number) for number in count(1) if str(number) not in taken)


def _merge(context: OperationContext, operation: Operation) -> Change:
    given = operation.get("chains")
    if not isinstance(given, list) or len(set(map(str, given))) < 2 or len(given) > MOST:
        raise OperationError("found fewer than two chains, expected two or more")
    chains = [context.chain(id) for id in dict.fromkeys(map(str, given))]
    kept = next((chain.id for chain in chains if context.is_named(chain.id)), chains[0].id)
    merged = {chain.id for chain in chains}
    renamed = [_renamed(entry, merged, kept) for entry in context.snapshot.entries]
    mentions = [mention for chain in chains for mention in chain.mentions]
    label = f"chains {', '.join(chain.id for chain in chains)} merged"
    context = replace(context, snapshot=replace(context.snapshot, entries=tuple(renamed)))
    return context.add(Statement.of(StatementKind.ENFORCED, mentions, kept), label=label)


def _renamed(entry: DecisionEntry, ids: Collection[str], id: str) -> DecisionEntry:
    """Make a decision about one of the merged chains a decision about the chain that results."""
    decision = entry.decision
    if entry.chain is None or entry.chain not in ids or isinstance(decision, Closing):
        return entry
    if isinstance(decision, EnforcedCells):
        return replace(entry, decision=EnforcedCells(replace(decision.chain, id=id)))
    return replace(entry, decision=replace(decision, chain=id))


def _new(context: OperationContext, operation: Operation) -> Change:
    mention = context.span(operation.get("start"), operation.get("end"))
    if operation.get("chain") is None:
        return context.add(Statement(StatementKind.EXISTS, (mention,)))
    return _enforced(context, [mention], context.chain(operation["chain"]))


def _free(context: OperationContext, operation: Operation) -> Change:
    ids = operation.get("decisions")
    known = {entry.id: entry for entry in context.snapshot.entries}
    if not isinstance(ids, list) or not ids or not all(isinstance(id, str) and id in known for id in ids):
        raise OperationError("found no such decision, expected some that are there")
    gone = [known[id] for id in dict.fromkeys(ids)]
    kept = tuple(entry for entry in context.snapshot.entries if entry not in gone)
    label = f"taken back: {'; '.join(str(entry.decision) for entry in gone)}"
    named = frozenset(span for entry in gone for span in entry.mentions)
    return Change(kept, context.snapshot.notes, label, named)


def _note(context: OperationContext, operation: Operation) -> Change:
    text = operation.get("text")
    if not isinstance(text, str) or not text.strip() or len(text) > LONGEST_NOTE:
        raise OperationError(f"found no text, expected a note of 1 to {LONGEST_NOTE} characters")
    if not is_encodable(text):
        raise OperationError(
            "found half a character (a lone surrogate), expected text that can be saved as UTF-8"
        )
    about = operation.get("mention")
    note = Note(text, None if about is None else context.mention(about), context.made)
    notes = (*context.snapshot.notes, (context.ids.note(), note))
    return Change(context.snapshot.entries, notes, "a note", done=context.snapshot.done)


def _unnote(context: OperationContext, operation: Operation) -> Change:
    kept = tuple((id, note) for id, note in context.snapshot.notes if id != operation.get("id"))
    if len(kept) == len(context.snapshot.notes):
        raise OperationError("found no such note, expected one that is there")
    return Change(context.snapshot.entries, kept, "a note taken away", done=context.snapshot.done)


def _done(context: OperationContext, operation: Operation) -> Change:  # noqa: ARG001
    if context.snapshot.done is not None:
        raise OperationError("this document is done already")
    return Change(context.snapshot.entries, context.snapshot.notes, "the document is done", done=context.made)


def _reopen(context: OperationContext, operation: Operation) -> Change:  # noqa: ARG001
    if context.snapshot.done is None:
        raise OperationError("this document is not done, expected one that is")
    return Change(context.snapshot.entries, context.snapshot.notes, "the document is open again")


VERBS: dict[str, Callable[[OperationContext, Operation], Change]] = {
    "together": _together,
    "apart": _apart,
    "into": _into,
    "exists": _exists,
    "absent": _absent,
    "empty": _empty,
    "accept": _accept,
    "split": _split,
    "merge": _merge,
    "new": _new,
    "free": _free,
    "note": _note,
    "unnote": _unnote,
    "done": _done,
    "reopen": _reopen,
}
"""What each operation means, by the verb in its `do`; undo and redo belong to the history."""
