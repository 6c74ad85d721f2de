"""What operations work on, and what they lead to."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from caspr.errors import CasprError
from caspr.review.session.entries import Decision, DecisionEntry, in_words
from caspr.review.session.operations.replacing import without_replaced
from caspr.review.session.solver import Snapshot, Solver
from caspr.task.authorship import Authorship
from caspr.task.decisions import Statement
from caspr.task.names import EntityName, match_names
from caspr.task.notes import Note
from caspr.text.document import Chain, Span

MOST = 20_000
"""How many mentions or tokens one operation may name."""

Operation = Mapping[str, Any]


@dataclass(frozen=True)
class Remedy:
    """What can be done instead of a refused operation."""

    label: str
    """A few words for a button."""
    operation: Operation | None
    """The operation that does it; `None` if the page asks for an entity first."""
    choose: Span | None = None
    """The mention whose entity the page asks for."""

    def view(self) -> dict[str, Any]:
        """Return it as JSON."""
        choose = None if self.choose is None else f"{self.choose.start}-{self.choose.end}"
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

    def add(self, *decisions: Decision, label: str = "", named: Iterable[Span] = ()) -> Change:
        """Add decisions, in the place of what they say otherwise about a mention than before.

        Refuse if all of them were made before. A statement is about the `named` mentions among its own, or
        about all of them.
        """
        present = {entry.decision: entry.id for entry in self.snapshot.entries}
        new = [one for one in decisions if one not in present]
        if not new:
            raise DecidedError("This is decided already.", [present[one] for one in decisions])
        kept, about = self.snapshot.entries, frozenset(named)
        for one in new:
            if isinstance(one, Statement):
                kept = without_replaced(kept, one, about.intersection(one.mentions) or one.mentions)
        entries = [DecisionEntry(self.ids.decision(), one, self.made) for one in new]
        mentions = frozenset(span for entry in entries for span in entry.mentions)
        return Change(
            (*kept, *entries),
            self.snapshot.notes,
            label or "; ".join(map(str, new)),
            mentions.union(named),
        )

    def mentions(self, operation: Operation, least: int = 1, most: int = MOST) -> list[Span]:
        """Read the mentions of an operation, in text order."""
        given = operation.get("mentions")
        if not isinstance(given, list) or len(given) > MOST:
            raise OperationError("found no mentions, expected a list of some")
        found = sorted({self.mention(one) for one in given})
        if not least <= len(found) <= most:
            expected = str(least) if least == most else f"{least} or more"
            raise OperationError(f"found {len(found)} different mentions, expected {expected}")
        return found

    def mention(self, given: object) -> Span:
        """Read one mention."""
        start, _, end = given.partition("-") if isinstance(given, str) else ("", "", "")
        if not (start.isascii() and end.isascii() and start.isdecimal() and end.isdecimal()):
            raise OperationError("found no mention, expected its first and its last token")
        return self.span(int(start[:10]), int(end[:10]))

    def span(self, start: object, end: object) -> Span:
        """Check that tokens make a mention of this document."""
        last = len(self.solver.document.tokens)
        if type(start) is not int or type(end) is not int or not 1 <= start <= end <= last:
            raise OperationError("found tokens outside the text, expected some inside it, in order")
        return Span(start, end)

    def chain(self, given: object) -> Chain:
        """Find a chain of the result by its id."""
        found = self.snapshot.chain(given) if isinstance(given, str) else None
        if found is None:
            raise OperationError(f"found chain {str(given)[:40]!r}, expected one that is there")
        return found

    def quote(self, mention: Span) -> str:
        """Return the words of a mention, for a message."""
        return f"“{self.solver.document.phrase(mention)}”"

    def words(self, decision: Decision) -> str:
        """Say a decision in words of the text."""
        return in_words(str(decision), self.solver.document, self.titles)

    @property
    def titles(self) -> dict[str, str]:
        """What the entities of the result are called, by the ids of their chains."""
        return self.solver.titles(self.snapshot)

    def name_of(self, chain: Chain) -> DecisionEntry | None:
        """Return the decision that names the entity of a chain of the result, if there is one."""
        named = {e.decision: e for e in self.snapshot.entries if isinstance(e.decision, EntityName)}
        names, position = list(named), self.snapshot.chains.index(chain)
        matched = match_names(self.snapshot.chains, names)
        return next((named[names[one]] for one, place in matched.items() if place == position), None)

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
