"""What operations work on, what they lead to, and how they are refused.

Where a mention belongs is one answer: in which chain, alone, or nowhere. Whoever gives another has changed
their mind, so the new answer replaces the old one instead of contradicting it (`without_replaced`). What
relates a mention to another one (`together`, `apart`) stays, unless its very opposite is said of the same
mentions. What holds an entity (`entity`) never stands in the way: it lets go of a mention about which
something else is said, and of both that are said to be different.

A refusal says in words of the text why an operation cannot be done, and what can be done instead. A remedy is
an operation itself, shown as a button. It does all that is needed in one step:

    “Gasthofe” lies inside “Saal im Gasthofe”, which is in the same entity.
        [Keep both]                both are mentions, and not of one entity
        [Replace “Gasthofe”]       it is not a mention, and then what was asked for
        [Allow here]               these two may share an entity, and then what was asked for
    Nobody linked “gewisse Leute” with anything that is left.
        [Keep it alone]            a mention without a partner
        [Choose its entity]        the page asks which
    You decided that “er” and “ihn” are one entity, and also that they are two.
        [Take back: ...]           the earlier decision, and then what was asked for
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from caspr.errors import CasprError
from caspr.review.entities import Held, hold
from caspr.review.solver import Snapshot, Solver
from caspr.task.contradictions import ContradictionError, Fault, FaultKind
from caspr.task.decisions import Authorship, Decision, Note, Statement, StatementKind, match_names, spelled
from caspr.text.document import Chain, Document, Span

_PLACED = frozenset((StatementKind.ENFORCED, StatementKind.CELLS))
_EXISTING = _PLACED | {StatementKind.EXISTS, StatementKind.MENTION, StatementKind.ALONE}
_NOWHERE = frozenset((StatementKind.ALONE, StatementKind.ABSENT))
REPLACED = {
    StatementKind.ABSENT: _EXISTING,
    StatementKind.ALONE: _EXISTING | {StatementKind.ABSENT},
    StatementKind.ENFORCED: _PLACED | _NOWHERE,
    StatementKind.EXISTS: _NOWHERE,
    StatementKind.TOGETHER: _NOWHERE,
    StatementKind.MENTION: frozenset((StatementKind.ABSENT,)),
}
"""The earlier answers about a mention that a new one takes the place of."""
OPPOSITES = frozenset((StatementKind.TOGETHER, StatementKind.APART))
_REPLACING_HELD = _PLACED | _NOWHERE
"""The answers about a mention that let it go from what holds its entity."""


def without_replaced(
    entries: Sequence[Decision], new: Statement, about: Collection[Span]
) -> Iterator[Decision]:
    """Yield earlier decisions without what a new one contradicts about some of its mentions."""
    chains = [entry.statement.chain for entry in entries]
    for entry in entries:
        old = entry.statement
        if old.kind is StatementKind.ENTITY:
            yield from _still_held(entry, new, about)
            continue
        if {old.kind, new.kind} == OPPOSITES:
            replaced = set(old.mentions) == set(new.mentions)
            left: tuple[Span, ...] = ()
        else:
            same = new.kind is StatementKind.ENFORCED and old.chain == new.chain
            replaced = old.kind in REPLACED.get(new.kind, ()) and not same
            left = tuple(span for span in old.mentions if span not in about)
        if not replaced or left == old.mentions:
            yield entry
            continue
        # What is left of a chain may have been named only to say which chain was meant.
        anchor = old.kind in _PLACED and len(left) == 1 and chains.count(old.chain) == 1
        if left and not anchor:
            yield replace(entry, statement=old.over(left))


def _still_held(entry: Decision, new: Statement, about: Collection[Span]) -> Iterator[Decision]:
    """Yield what an entity holds after a new decision, unless that is one mention or said by the new one."""
    held = entry.statement.mentions
    if new.kind is StatementKind.APART:
        leaves = set(new.mentions) <= set(held)
    else:
        leaves = new.kind in _REPLACING_HELD
    if new.kind is StatementKind.ENTITY and set(held) <= set(new.mentions):
        return
    yield from released(entry, about if leaves else ())


def released(entry: Decision, mentions: Collection[Span]) -> Iterator[Decision]:
    """Yield what holds an entity without some mentions, if two or more are left."""
    left = tuple(span for span in entry.statement.mentions if span not in mentions)
    if left == entry.statement.mentions:
        yield entry
    elif len(left) > 1:
        yield replace(entry, statement=entry.statement.over(left))


MOST = 20_000
"""How many mentions or tokens one operation may name."""

Operation = Mapping[str, Any]


@dataclass(frozen=True)
class Remedy:
    """What can be done instead of a refused operation."""

    label: str
    operation: Operation | None
    """The operation that does it; `None` if the page asks for an entity first."""
    choose: Span | None = None
    """The mention whose entity the page asks for."""

    def view(self) -> dict[str, Any]:
        """Return it as JSON."""
        choose = None if self.choose is None else spelled(self.choose)
        return {"label": self.label, "op": self.operation, "choose": choose}


class OperationError(CasprError):
    """Refuse an operation that is invalid or contradicts earlier decisions."""

    def __init__(self, message: str, clashes: Iterable[str] = (), remedies: Iterable[Remedy] = ()) -> None:
        """Keep the ids of the contradicted decisions and the remedies beside the message."""
        self.clashes = tuple(clashes)
        self.remedies = tuple(remedies)
        super().__init__(message)


class DecidedError(OperationError):
    """Refuse an operation that was done before."""


@dataclass(frozen=True)
class Change:
    """The decisions and notes after an operation."""

    entries: tuple[Decision, ...]
    notes: tuple[tuple[str, Note], ...]
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
    snapshot: Snapshot
    """The decisions and the result that the operation starts from."""
    ids: "Ids"
    made: Authorship | None = None

    def add(self, *statements: Statement, label: str = "", named: Iterable[Span] = ()) -> Change:
        """Decide something, replacing what was decided about its mentions before.

        Refuse if all of it was decided before. A statement is about the `named` mentions among its own, or
        about all of them.
        """
        present = {entry.statement: entry.id for entry in self.snapshot.entries}
        new = [statement for statement in statements if statement not in present]
        if not new:
            raise DecidedError("This is already decided.", [present[statement] for statement in statements])
        kept, about = self.snapshot.entries, frozenset(named)
        for statement in new:
            touched = about.intersection(statement.mentions) or statement.mentions
            kept = tuple(without_replaced(kept, statement, touched))
        # What holds an entity is not part of what somebody said, so it is not named.
        said = [statement for statement in new if statement.kind is not StatementKind.ENTITY] or new
        mentions = about.union(span for statement in said for span in statement.mentions)
        words = label or "; ".join(map(self.words, said))
        return Change((*kept, *map(self.decided, new)), self.snapshot.notes, words, mentions)

    def decided(self, statement: Statement) -> Decision:
        """Return a new decision of whoever acts."""
        return Decision(statement, self.made, self.ids.decision())

    def mentions(self, operation: Operation, least: int = 1, most: int = MOST) -> list[Span]:
        """Read the mentions of an operation, in text order."""
        listed = operation.get("mentions")
        if not isinstance(listed, list) or len(listed) > MOST:
            raise OperationError("found no mentions, expected a list of some")
        spans = sorted({self.mention(words) for words in listed})
        if not least <= len(spans) <= most:
            expected = str(least) if least == most else f"{least} or more"
            raise OperationError(f"Choose {expected} mentions, not {len(spans)}.")
        return spans

    def mention(self, words: object) -> Span:
        """Read one mention."""
        start, _, end = words.partition("-") if isinstance(words, str) else ("", "", "")
        if not (start.isascii() and end.isascii() and start.isdecimal() and end.isdecimal()):
            raise OperationError("found no mention, expected its first and its last token")
        return self.span(int(start[:10]), int(end[:10]))

    def span(self, start: object, end: object) -> Span:
        """Check that tokens make a mention of this document."""
        last = len(self.solver.document.tokens)
        if type(start) is not int or type(end) is not int or not 1 <= start <= end <= last:
            raise OperationError("found tokens outside the text, expected some inside it, in order")
        return Span(start, end)

    def chain(self, id: object) -> Chain:
        """Find a chain of the result by its id."""
        chain = self.snapshot.chain(id) if isinstance(id, str) else None
        if chain is None:
            raise OperationError(f"There is no entity {str(id)[:40]!r}.")
        return chain

    def words(self, statement: Statement) -> str:
        """Say a statement in words of the text."""
        return self.solver.in_words(statement, self.titles)

    @property
    def titles(self) -> dict[str, str]:
        """What the entities of the result are called, by the ids of their chains."""
        return self.solver.titles(self.snapshot)

    def held(self, chain: Chain, asked: Iterable[Span], anchors: Sequence[Span]) -> Held:
        """Return what must stay together for a chain to be the entity that an answer names."""
        return hold(self.solver.instance(self.snapshot.decisions), chain, asked, anchors)

    def name_of(self, chain: Chain) -> Decision | None:
        """Return the decision that names the entity of a chain of the result, if there is one."""
        names = [entry for entry in self.snapshot.entries if entry.statement.kind is StatementKind.NAME]
        matched = match_names(self.snapshot.chains, [name.statement for name in names])
        position = self.snapshot.chains.index(chain)
        return next((names[name] for name, number in matched.items() if number == position), None)

    def is_named(self, id: str) -> bool:
        """Return whether some decision names a chain by its id."""
        return any(entry.statement.chain == id for entry in self.snapshot.entries)


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


MOST_TAKEN_BACK = 3
"""How many earlier decisions are offered to be taken back, one each; of more, all at once."""
LONGEST = 60
"""How many characters of a decision a button shows."""


def refusal(
    context: OperationContext,
    operation: Operation,
    error: ContradictionError,
    blamed: Sequence[Decision],
) -> OperationError:
    """Return the refusal of an operation that contradicts decisions; `blamed` are earlier ones."""
    fault = error.fault
    assert isinstance(fault, Fault)
    remedies: list[Remedy] = []
    if fault.kind is FaultKind.NESTED:
        remedies += _about_nesting(context, operation, fault)
    elif fault.kind is FaultKind.NO_PARTNER:
        remedies += _about_partners(context, operation, fault)
    remedies += _take_back(context, operation, blamed)
    return OperationError(worded(context.solver.document, fault), [entry.id for entry in blamed], remedies)


def worded(document: Document, fault: Fault) -> str:
    """Say what is wrong in words of the text."""
    words = fault.in_words(lambda mention: f"“{document.phrase(mention)}”")
    rules = f" ({'; '.join(map(str, fault.rules))})" if fault.rules else ""
    return f"{words[0].upper()}{words[1:]}{rules}."


def _about_nesting(context: OperationContext, operation: Operation, fault: Fault) -> list[Remedy]:
    outer, inner = fault.mentions
    asked = _mentions(context, operation)
    other = outer if inner in asked and outer not in asked else inner
    new = [span for span in (outer, inner) if span in asked] or [outer, inner]
    pair = _spelled(outer, inner)
    gone: Operation = {"do": "absent", "mentions": _spelled(other)}
    replaced = gone if other in asked else _together(gone, operation)
    allowed = _together({"do": "nested", "mentions": pair}, operation)
    return [
        Remedy("Keep both", {"do": "mention", "mentions": _spelled(*new)}),
        Remedy(f"Replace {context.solver.quote(other)}", replaced),
        Remedy("Allow here", allowed),
    ]


def _about_partners(context: OperationContext, operation: Operation, fault: Fault) -> list[Remedy]:
    alone: Operation = {"do": "alone", "mentions": _spelled(*fault.mentions)}
    asked = set(_mentions(context, operation))
    only = asked <= set(fault.mentions) and operation.get("do") not in ("absent", "free", "apart", "empty")
    remedy = alone if only else _together(alone, operation)
    if len(fault.mentions) > 1:
        return [Remedy("Keep them alone", remedy)]
    choice = Remedy("Choose its entity", None, choose=fault.mentions[0])
    return [Remedy("Keep it alone", remedy), choice]


def _take_back(context: OperationContext, operation: Operation, blamed: Sequence[Decision]) -> list[Remedy]:
    if not blamed or operation.get("do") == "free":
        return []
    if len(blamed) > MOST_TAKEN_BACK:
        ids = [entry.id for entry in blamed]
        both = _together({"do": "free", "decisions": ids}, operation)
        return [Remedy(f"Take back {len(ids)} earlier decisions", both)]
    return [
        Remedy(
            f"Take back: {_short(context.words(entry.statement))}",
            _together({"do": "free", "decisions": [entry.id]}, operation),
        )
        for entry in blamed
    ]


def _together(first: Operation, then: Operation) -> Operation:
    """Return two operations as one step."""
    return {"do": "all", "ops": [first, *(then["ops"] if then.get("do") == "all" else [then])]}


def _mentions(context: OperationContext, operation: Operation) -> list[Span]:
    """Return the mentions that an operation names, which was read before."""
    if operation.get("do") == "all":
        return [span for step in operation["ops"] for span in _mentions(context, step)]
    if "start" in operation:
        return [context.span(operation["start"], operation["end"])]
    about = [operation["mention"]] if operation.get("mention") else []
    with_it = operation.get("with", ()) if operation.get("do") == "place" else ()
    return [context.mention(words) for words in (*operation.get("mentions", ()), *about, *with_it)]


def _spelled(*mentions: Span) -> list[str]:
    return [spelled(span) for span in mentions]


def _short(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    head = text[: LONGEST - 1]
    return f"{head.rpartition(' ')[0] or head} …"
