"""Contradictions: decisions that cannot hold together, and the fewest cells and statements to blame.

Decisions can be respected if and only if

    (1) no group (mentions enforced into one chain) has two ids, holds two mentions decided to be apart,
        or holds a mention that a closed token or a statement rules out;
    (2) no group holds a mention and one inside it (where nesting is never allowed);
    (3) every mention that is a group alone finds a partner: see `partners`;
    (4) no mention that exists by a statement is ruled out, and none that is alone is in a group of two, or
        in one of one mention (where that needs a partner).

Every cell or statement that is taken away allows more (see `Decisions.restricted_to`), so minimal sets of
them are well defined; one is found by splitting (QuickXplain; Junker 2004).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from textwrap import shorten

from caspr.errors import ContradictionError
from caspr.task.decisions import Decisions, Group, Statement
from caspr.task.instance import Instance, Singletons
from caspr.task.price.partners import Chains, find_partners
from caspr.text.document import Document, Span

_SHOWN = 40
"""How many characters of a mention are quoted."""


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
    """The mentions it is about."""
    words: str
    """A clause about words and tokens, for who edits files."""

    def __str__(self) -> str:
        """Return the words."""
        return self.words


Item = int | Statement
"""A cell, named by its token, or a statement."""


def refuse_contradictions(instance: Instance) -> None:
    """Raise `ContradictionError` with minimal decisions to blame if the decisions cannot be respected."""
    decisions = instance.decisions
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
    document, less = instance.annotations[0].document, _only(instance.decisions, items)
    tokens, statements = _split(items)
    kind = "enforced cells" if not statements else "decisions"
    fault = _reason(instance, less)
    where = document.place(tokens[0]) if tokens else document.source or document.title
    return ContradictionError(
        f"{where}: found {kind} that cannot hold together: {fault} "
        f"({_listed(document, tokens, statements)}); expected decisions that allow a solution: "
        f"change one of these{' cells' if not statements else ''}",
        tokens,
        statements,
        fault,
    )


def _listed(document: Document, tokens: Sequence[int], statements: Sequence[Statement]) -> str:
    parts = [f"cells at {', '.join(document.place(token) for token in tokens)}"] if tokens else []
    said = (statement.in_words(lambda span: called(document, span)) for statement in statements)
    return "; ".join([*parts, *(f"decided: {words}" for words in said)])


def called(document: Document, span: Span) -> str:
    """Return a mention in words of the text, with its tokens as review files have them.

    >>> called(Document("d", ("the", "old", "baker")), Span(2, 3))
    '“old baker” (2-3)'
    """
    return f"“{shorten(document.phrase(span), _SHOWN, placeholder=' …')}” ({span.start}-{span.end})"


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
    """Say why a group cannot be in one chain."""
    call = partial(called, instance.annotations[0].document)
    if len(group.ids) > 1:
        mention = _twice(decisions, group)
        if mention is None:
            chains = " and ".join(f"{id}, with {call(min(decisions.named[id]))}" for id in group.ids)
            words = f"what is decided to be together is enforced in chains {chains}"
            yield Fault(FaultKind.IDS, (), words)
        else:
            words = f"mention {call(mention)} is enforced in chains {' and '.join(group.ids)}"
            yield Fault(FaultKind.IDS, (mention,), words)
    for mention in group.mentions:
        if decisions.rules_out(mention):
            words = f"mention {call(mention)} is enforced and ruled out"
            yield Fault(FaultKind.RULED_OUT, (mention,), words)
        if mention in decisions.alone and len(group.mentions) > 1:
            words = f"mention {call(mention)} is decided to be alone and in one chain with others"
            yield Fault(FaultKind.ALONE, (mention,), words)
        elif mention in decisions.alone & decisions.lone and instance.singletons is Singletons.DROP:
            words = f"mention {call(mention)} is decided to be alone and in some chain with others"
            yield Fault(FaultKind.ALONE, (mention,), words)
    for first, second in decisions.torn:
        if decisions.group_of[first] is group:
            words = f"mentions {call(first)} and {call(second)} are decided to be together and apart"
            yield Fault(FaultKind.TORN, (first, second), words)
    for outer, inner in instance.nested_faults(group.mentions):
        name = f"chain {group.ids[0]}" if group.ids else "a chain"
        words = f"{name} would hold {call(outer)} and {call(inner)} inside it, which --nested never forbids"
        yield Fault(FaultKind.NESTED, (outer, inner), words)


def _twice(decisions: Decisions, group: Group) -> Span | None:
    """Return a mention of a group that was itself given several ids, if there is one."""
    given: dict[Span, set[str]] = {}
    for id, mentions in decisions.named.items():
        for mention in mentions:
            given.setdefault(mention, set()).add(id)
    return next((mention for mention in group.mentions if len(given.get(mention, ())) > 1), None)


def minimal_subset(items: Sequence[int], holds: Callable[[Sequence[int]], bool]) -> list[int]:
    """Return items that cannot hold together, while all of them but any one can.

    `holds` must be true for no items, false for all of them, and never become true by adding items.

    >>> minimal_subset(range(10), lambda chosen: not {2, 7} <= set(chosen))
    [2, 7]
    """

    def explain(background: list[int], changed: bool, suspects: Sequence[int]) -> list[int]:
        # mutant: equivalent (drop-operand 1), because a background that did not change still holds
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
    call = partial(called, instance.annotations[0].document)
    for group in decisions.groups:
        for fault in _faults(instance, decisions, group):
            return fault
    for mention in decisions.overruled:
        words = f"mention {call(mention)} is decided to be a mention and ruled out"
        return Fault(FaultKind.RULED_OUT, (mention,), words)
    lone = tuple(sorted(decisions.lone))
    listed = ", ".join(map(call, lone))
    words = f"the mentions {listed} must be in chains, but have too few mentions to be with"
    if len(lone) == 1:
        words = (
            f"mention {listed} must be in a chain, but no annotator linked it with a mention that is "
            "still allowed"
        )
    return Fault(FaultKind.NO_PARTNER, lone, words)
