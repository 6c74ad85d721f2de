"""Contradictions: decisions that no solution can respect, and the fewest cells and statements to blame.

Decisions can be respected if and only if

    (1) no group (mentions enforced into one chain) has two ids, holds two mentions decided to be apart,
        or holds a mention that a closed token or a statement rules out;
    (2) no group holds a mention and one inside it (where nesting is never allowed);
    (3) every mention that is a group alone finds a partner: see `demands`;
    (4) no mention that exists by a statement is ruled out, and none that is alone is in a group of two, or
        in one of one mention (where that needs a partner).

Every cell or statement that is taken away allows more (see `Decisions.restricted_to`), so minimal sets of
them are well defined; one is found by splitting (QuickXplain; Junker 2004).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

from caspr.errors import CasprError
from caspr.task.decisions import Decisions, Group, Rule, Statement
from caspr.task.demands import Chains, find_partners
from caspr.task.instance import Instance, Singletons
from caspr.text.document import Document, Span
from caspr.text.findings import shorten

_RULES_SAY = "your rules say"


class FaultKind(StrEnum):
    """What is wrong with decisions that cannot hold together."""

    IDS = "ids"
    """Mentions, or one, that are enforced in two chains."""
    RULED_OUT = "ruled out"
    """A mention that must exist and must not."""
    ALONE = "alone"
    """A mention that is alone and with others."""
    TORN = "torn"
    """Two mentions that are together and apart."""
    NESTED = "nested"
    """An outer and an inner mention in one chain, against the rule."""
    NO_PARTNER = "no partner"
    """Mentions that must be in chains, with too few to be with."""


@dataclass(frozen=True)
class Fault:
    """Why decisions cannot hold together."""

    kind: FaultKind
    mentions: tuple[Span, ...]
    """The mentions it is about; the outer one first where one is inside the other."""
    ids: tuple[str, ...] = ()
    """The chains that mentions were put into, where these are the fault."""
    words: str = ""
    """A clause about words and tokens, for those who edit files."""
    said: str = "you decided"
    """Who says what cannot hold: the adjudicator, rules, or both."""
    rules: tuple[Rule, ...] = ()
    """The rules of one's own among those that say it."""

    def __str__(self) -> str:
        """Return the words."""
        return self.words

    def in_words(self, called: Callable[[Span], str]) -> str:
        """Say what is wrong in a clause, with what each mention is called."""
        *earlier, last = map(called, self.mentions)
        listed = f"{', '.join(earlier)} and {last}" if earlier else last
        match self.kind:
            case FaultKind.IDS if earlier:
                return f"you put {listed} together, and also into chains {' and '.join(self.ids)}"
            case FaultKind.IDS:
                return f"you put {listed} into chains {' and '.join(self.ids)}"
            case FaultKind.RULED_OUT:
                return f"{self.said} that {listed} is a mention, and also that it is not"
            case FaultKind.ALONE:
                return f"{self.said} that {listed} is alone, and also that it is with others"
            case FaultKind.TORN:
                return f"{self.said} that {listed} are one entity, and also that they are two"
            case FaultKind.NESTED:
                return f"{last} lies inside {earlier[0]}, which is in the same entity"
            case FaultKind.NO_PARTNER if earlier:
                return f"{listed} each need a mention to be with, and nobody linked them with enough others"
            case FaultKind.NO_PARTNER:
                return f"nobody linked {listed} with anything that is left"


class ContradictionError(CasprError):
    """Refuse decisions that cannot hold together, naming a minimal set of them."""

    def __init__(
        self, message: str, tokens: tuple[int, ...], statements: tuple[Statement, ...], fault: Fault
    ) -> None:
        """Keep the tokens of the clashing cells, the clashing statements, and what is wrong with them."""
        super().__init__(message)
        self.tokens = tokens
        self.statements = statements
        self.fault = fault


Item = int | Statement
"""A cell, named by its token, or a statement."""


def refuse_contradictions(instance: Instance) -> None:
    """Raise `ContradictionError` with minimal decisions to blame if the decisions cannot be respected."""
    decisions = instance.constraints
    if feasible(instance, decisions):
        return
    items = _suspects(instance, decisions)
    blamed = minimal_subset(
        range(len(items)),
        lambda chosen: feasible(instance, _only(decisions, [items[number] for number in chosen])),
    )
    raise _explained(instance, [items[number] for number in blamed])


def _only(decisions: Decisions, items: Sequence[Item]) -> Decisions:
    tokens, statements = _split(items)
    return decisions.restricted_to(tokens, frozenset(statements))


def _split(items: Sequence[Item]) -> tuple[tuple[int, ...], tuple[Statement, ...]]:
    """Return the cells, by their tokens, and the statements among some items."""
    tokens = tuple(item for item in items if isinstance(item, int))
    return tokens, tuple(item for item in items if isinstance(item, Statement))


def _explained(instance: Instance, items: Sequence[Item]) -> ContradictionError:
    document = instance.annotations[0].document
    tokens, statements = _split(items)
    rules = tuple(dict.fromkeys(statement.rule for statement in statements if statement.rule))
    fault = replace(_reason(instance, _only(instance.constraints, items)), said=_said(items), rules=rules)
    words = fault.in_words(partial(called, document))
    if fault.kind is FaultKind.NESTED:
        words += ": --nested never forbids that"
    where = document.place(tokens[0]) if tokens else document.source or document.title
    what = "decisions" if statements else "enforced cells"
    if any(statement.rule for statement in statements):
        what = "rules" if fault.said == _RULES_SAY else "decisions and rules"
    return ContradictionError(
        f"{where}: {what} contradict each other: {words} "
        f"({_listed(document, tokens, statements)}); change one of these",
        tokens,
        statements,
        replace(fault, words=words),
    )


def _said(items: Sequence[Item]) -> str:
    by_rules = [isinstance(item, Statement) and item.rule is not None for item in items]
    return _RULES_SAY if all(by_rules) else "your decisions and rules say" if any(by_rules) else "you decided"


def _listed(document: Document, tokens: Sequence[int], statements: Sequence[Statement]) -> str:
    parts = [f"cells at {', '.join(document.place(token) for token in tokens)}"] if tokens else []
    said = (
        (statement.rule or "decided", statement.in_words(lambda span: called(document, span)))
        for statement in statements
    )
    return "; ".join([*parts, *(f"{who}: {words}" for who, words in said)])


def called(document: Document, span: Span) -> str:
    """Return a mention in words of the text, with its tokens as review files have them.

    >>> called(Document("d", ("the", "old", "baker")), Span(2, 3))
    '“old baker” (2-3)'
    """
    return f"“{shorten(document.phrase(span))}” ({span.start}-{span.end})"


def _suspects(instance: Instance, decisions: Decisions) -> list[Item]:
    """Return decisions that cannot hold together, only those about one group where these suffice.

    They do where the group by itself cannot be in one chain: the cells and statements about its mentions
    make the same group again, with the same fault.
    """
    everything: list[Item] = [*sorted(decisions.closed), *dict.fromkeys(decisions.statements)]
    faulty = [set(group.mentions) for group in decisions.groups if any(_faults(instance, decisions, group))]
    for inside in (*faulty, {*decisions.overruled[:1]}):
        if inside:
            tokens = {token for mention in inside for token in mention}
            return [
                item
                for item in everything
                if (item in tokens if isinstance(item, int) else not inside.isdisjoint(item.mentions))
            ]
    return everything


def feasible(instance: Instance, decisions: Decisions) -> bool:
    """Return whether any solution of an instance respects some decisions."""
    return arrangement(instance, decisions) is not None


def arrangement(instance: Instance, decisions: Decisions) -> Chains | None:
    """Return chains that hold all groups, lone mentions with partners; `None` if there are none."""
    if decisions.overruled:
        return None
    if any(fault for group in decisions.groups for fault in _faults(instance, decisions, group)):
        return None
    return find_partners(instance, decisions)


def _faults(instance: Instance, decisions: Decisions, group: Group) -> Iterator[Fault]:
    """Say why a group cannot be in one chain, apart from mentions that are ruled out (`overruled`)."""
    if len(group.ids) > 1:
        mention = _twice(decisions, group)
        one_of_each = tuple(sorted(min(decisions.named[id]) for id in group.ids))
        yield Fault(FaultKind.IDS, one_of_each if mention is None else (mention,), group.ids)
    for mention in group.mentions:
        lone = mention in decisions.lone and instance.singletons is Singletons.DROP
        if mention in decisions.alone and (len(group.mentions) > 1 or lone):
            yield Fault(FaultKind.ALONE, (mention,))
    for pair in decisions.torn:
        if decisions.group_of[pair[0]] is group:
            yield Fault(FaultKind.TORN, pair)
    for outer, inner in instance.nested_faults(group.mentions):
        yield Fault(FaultKind.NESTED, (outer, inner))


def _twice(decisions: Decisions, group: Group) -> Span | None:
    """Return a mention of a group that was itself given several ids, if there is one."""
    ids: dict[Span, set[str]] = {}
    for id, mentions in decisions.named.items():
        for mention in mentions:
            ids.setdefault(mention, set()).add(id)
    return next((mention for mention in group.mentions if len(ids.get(mention, ())) > 1), None)


def minimal_subset(items: Sequence[int], holds: Callable[[Sequence[int]], bool]) -> list[int]:
    """Return items that cannot hold together, while all of them but any one can.

    `holds` must be true for no items, false for all of them, and never become true by adding items.

    >>> minimal_subset(range(10), lambda chosen: not {2, 7} <= set(chosen))
    [2, 7]
    """

    def explain(background: list[int], changed: bool, suspects: Sequence[int]) -> list[int]:
        if changed and not holds(background):
            return []
        if len(suspects) == 1:
            return list(suspects)
        middle = len(suspects) // 2
        left, right = suspects[:middle], suspects[middle:]
        from_right = explain([*background, *left], True, right)
        from_left = explain([*background, *from_right], bool(from_right), left)
        return from_left + from_right

    return sorted(explain([], False, items))


def _reason(instance: Instance, decisions: Decisions) -> Fault:
    """Say why minimal decisions cannot hold."""
    for group in decisions.groups:
        for fault in _faults(instance, decisions, group):
            return fault
    if decisions.overruled:
        return Fault(FaultKind.RULED_OUT, decisions.overruled[:1])
    return Fault(FaultKind.NO_PARTNER, tuple(sorted(decisions.lone)))
