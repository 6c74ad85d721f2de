"""Operations: what a click means, as decisions added, changed or taken back.

An operation is JSON that the page sent, so nothing in it is believed. What makes no sense is refused with a
sentence for the user, and with the ids of the decisions that are in the way, if any.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from caspr.errors import CasprError
from caspr.review.session.entries import Closing, DecisionEntry, EnforcedCells, What
from caspr.review.session.solver import Snapshot, Solver
from caspr.task.decisions import Statement, StatementKind
from caspr.task.instance import Singletons
from caspr.task.notes import Note
from caspr.text.document import Chain, Span

LONGEST_NOTE = 10_000
"""How many characters a note may have."""
MOST = 20_000
"""How many mentions or tokens one operation may name."""

Operation = Mapping[str, Any]


class OperationError(CasprError):
    """Refuse an operation that makes no sense, or that decisions are in the way of."""

    def __init__(self, message: str, clashes: Iterable[str] = ()) -> None:
        """Keep the ids of the decisions in the way beside the message."""
        self.clashes = tuple(clashes)
        super().__init__(message)


@dataclass(frozen=True)
class Change:
    """What an operation makes of the decisions and notes."""

    entries: tuple[DecisionEntry, ...]
    notes: tuple[tuple[str, Note], ...]
    label: str
    """What undoing it would take back."""
    asked: frozenset[Span] = frozenset()
    """The mentions the user spoke of; changes to others are told."""


@dataclass
class OperationContext:
    """What operations work on: a board, its position, and ids for what is new."""

    board: Solver
    position: Snapshot
    numbers: "Ids"

    def apply(self, operation: object) -> Change:
        """Return what an operation changes, or raise `OperationError`."""
        if not isinstance(operation, Mapping):
            raise OperationError("found no operation, expected an object with `do`")
        verb = operation.get("do")
        if not isinstance(verb, str) or verb not in VERBS:
            raise OperationError(f"found operation {str(verb)[:40]!r}, expected one of {', '.join(VERBS)}")
        return VERBS[verb](self, operation)

    def add(self, *whats: What, label: str = "", asked: Iterable[Span] = ()) -> Change:
        """Add decisions, unless all of them are there already."""
        present = {entry.what: entry.id for entry in self.position.entries}
        new = [what for what in whats if what not in present]
        if not new:
            raise OperationError("this is decided already", [present[what] for what in whats])
        entries = [DecisionEntry(self.numbers.decision(), what) for what in new]
        spoken = frozenset(span for entry in entries for span in entry.mentions).union(asked)
        return Change(
            (*self.position.entries, *entries),
            self.position.notes,
            label or "; ".join(str(what) for what in new),
            spoken,
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
        last = len(self.board.document.tokens)
        if type(start) is not int or type(end) is not int or not 1 <= start <= end <= last:
            raise OperationError(f"found tokens {start} to {end}, expected some from 1 to {last} in order")
        return Span(start, end)

    def chain(self, given: object) -> Chain:
        """Find a chain of the result by its id."""
        found = self.position.chain(given) if isinstance(given, str) else None
        if found is None:
            raise OperationError(f"found chain {str(given)[:40]!r}, expected one that is there")
        return found

    def is_named(self, id: str) -> bool:
        """Tell whether some decision speaks of a chain by its id."""
        return any(entry.chain == id for entry in self.position.entries)


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


def _together(desk: OperationContext, operation: Operation) -> Change:
    return desk.add(Statement.of(StatementKind.TOGETHER, desk.mentions(operation, least=2)))


def _apart(desk: OperationContext, operation: Operation) -> Change:
    return desk.add(Statement.of(StatementKind.APART, desk.mentions(operation, least=2, most=2)))


def _exists(desk: OperationContext, operation: Operation) -> Change:
    return desk.add(Statement.of(StatementKind.EXISTS, desk.mentions(operation)))


def _absent(desk: OperationContext, operation: Operation) -> Change:
    return desk.add(Statement.of(StatementKind.ABSENT, desk.mentions(operation)))


def _into(desk: OperationContext, operation: Operation) -> Change:
    return _enforced(desk, desk.mentions(operation), desk.chain(operation.get("chain")))


def _enforced(desk: OperationContext, mentions: Sequence[Span], chain: Chain) -> Change:
    """Enforce mentions in a chain; one that no decision names yet is held by its first other mention."""
    held = [] if desk.is_named(chain.id) else [span for span in chain.mentions if span not in mentions][:1]
    return desk.add(Statement.of(StatementKind.ENFORCED, [*mentions, *held], chain.id), asked=mentions)


def _empty(desk: OperationContext, operation: Operation) -> Change:
    given = operation.get("tokens")
    if not isinstance(given, list) or not 0 < len(given) <= MOST:
        raise OperationError("found no tokens, expected a list such as [5]")
    tokens = tuple(sorted({desk.span(token, token).start for token in given}))
    clashes = [
        entry.id
        for entry in desk.position.entries
        if isinstance(entry.what, EnforcedCells) and not set(tokens).isdisjoint(entry.tokens)
    ]
    if clashes:
        raise OperationError("a decision says that a mention starts or ends there", clashes)
    ends = [span for span in desk.position.chain_of if not set(tokens).isdisjoint(span)]
    return desk.add(Closing(tokens), asked=ends)


def _accept(desk: OperationContext, operation: Operation) -> Change:
    chain = desk.chain(operation.get("chain"))
    return desk.add(
        Statement(StatementKind.ENFORCED, chain.mentions, chain.id), label=f"chain {chain.id} as it is"
    )


def _split(desk: OperationContext, operation: Operation) -> Change:
    mentions = desk.mentions(operation)
    home = {desk.position.chain_of.get(mention) for mention in mentions}
    id = home.pop()
    chain = desk.position.chain(id) if id is not None and not home else None
    if chain is None:
        raise OperationError("found mentions of no chain or of several, expected some of one chain")
    rest = [span for span in chain.mentions if span not in mentions]
    if not rest:
        raise OperationError("found a whole chain, expected a part of it to split off")
    kept = Statement.of(StatementKind.ENFORCED, rest, chain.id)
    label = f"{len(mentions)} of chain {chain.id} split off"
    if len(mentions) == 1 and desk.board.settings.singletons is Singletons.DROP:
        # One mention is no chain: it leaves, to wherever it fits, or is none.
        return desk.add(
            kept, Statement.of(StatementKind.APART, [mentions[0], rest[0]]), label=label, asked=mentions
        )
    return desk.add(kept, Statement.of(StatementKind.ENFORCED, mentions, _fresh(desk)), label=label)


def _fresh(desk: OperationContext) -> str:
    """Return an id that no chain and no decision has."""
    taken = {chain.id for chain in desk.position.chains} | {entry.chain for entry in desk.position.entries}
    return next(str(number) for number in count(1) if str(number) not in taken)


def _merge(desk: OperationContext, operation: Operation) -> Change:
    given = operation.get("chains")
    if not isinstance(given, list) or len(set(map(str, given))) < 2 or len(given) > MOST:
        raise OperationError("found fewer than two chains, expected two or more")
    chains = [desk.chain(id) for id in dict.fromkeys(map(str, given))]
    kept = next((chain.id for chain in chains if desk.is_named(chain.id)), chains[0].id)
    merged = {chain.id for chain in chains}
    renamed = [_renamed(entry, merged, kept) for entry in desk.position.entries]
    mentions = [mention for chain in chains for mention in chain.mentions]
    label = f"chains {', '.join(chain.id for chain in chains)} merged"
    desk = replace(desk, position=replace(desk.position, entries=tuple(renamed)))
    return desk.add(Statement.of(StatementKind.ENFORCED, mentions, kept), label=label)


def _renamed(entry: DecisionEntry, ids: Collection[str], id: str) -> DecisionEntry:
    """Let a decision about one of some chains be about the chain they become."""
    what = entry.what
    if entry.chain is None or entry.chain not in ids or isinstance(what, Closing):
        return entry
    if isinstance(what, EnforcedCells):
        return replace(entry, what=EnforcedCells(replace(what.chain, id=id)))
    return replace(entry, what=replace(what, chain=id))


def _new(desk: OperationContext, operation: Operation) -> Change:
    mention = desk.span(operation.get("start"), operation.get("end"))
    if operation.get("chain") is None:
        return desk.add(Statement(StatementKind.EXISTS, (mention,)))
    return _enforced(desk, [mention], desk.chain(operation["chain"]))


def _free(desk: OperationContext, operation: Operation) -> Change:
    ids = operation.get("decisions")
    known = {entry.id: entry for entry in desk.position.entries}
    if not isinstance(ids, list) or not ids or not all(isinstance(id, str) and id in known for id in ids):
        raise OperationError("found no such decision, expected some that are there")
    gone = [known[id] for id in dict.fromkeys(ids)]
    kept = tuple(entry for entry in desk.position.entries if entry not in gone)
    label = f"taken back: {'; '.join(str(entry.what) for entry in gone)}"
    asked = frozenset(span for entry in gone for span in entry.mentions)
    return Change(kept, desk.position.notes, label, asked)


def _note(desk: OperationContext, operation: Operation) -> Change:
    text = operation.get("text")
    if not isinstance(text, str) or not text.strip() or len(text) > LONGEST_NOTE:
        raise OperationError(f"found no text, expected a note of 1 to {LONGEST_NOTE} characters")
    about = operation.get("mention")
    note = Note(text, None if about is None else desk.mention(about))
    notes = (*desk.position.notes, (desk.numbers.note(), note))
    return Change(desk.position.entries, notes, "a note")


def _unnote(desk: OperationContext, operation: Operation) -> Change:
    kept = tuple((id, note) for id, note in desk.position.notes if id != operation.get("id"))
    if len(kept) == len(desk.position.notes):
        raise OperationError("found no such note, expected one that is there")
    return Change(desk.position.entries, kept, "a note taken away")


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
}
"""What each operation means; undo and redo are the session's."""
