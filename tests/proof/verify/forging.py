"""Small instances and forged proofs for them, each stopped by one check."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

from caspr.engines import brute
from caspr.errors import EngineError
from caspr.proof.verify import verify
from caspr.task.decisions import Decisions, Statement, StatementKind
from caspr.task.instance import Instance
from caspr.task.limits import Limits
from caspr.task.objectives import OBJECTIVES, Objective
from caspr.task.solution import Partition
from caspr.text.document import Annotation, Chain, Document

Plain = dict[str, Any]
Mention = int | tuple[int, int]
"""A token, or the first and the last one."""
LEAF: Plain = {"shift": 0, "stars": []}
"""No inequality: the bound is the sum of all positive gains."""


def task(
    *annotators: Sequence[Sequence[Mention]],
    objective: str | Objective = "v",
    chains: Iterable[Sequence[Mention]] = (),
    exists: Sequence[Mention] = (),
    apart: Sequence[Mention] = (),
    absent: Sequence[Mention] = (),
    **rules: Any,
) -> Instance:
    """Make an instance from the chains of every annotator.

    `chains` are enforced, `exists` must be in some chain, the two of `apart` must not share one, `absent`
    must not exist.
    """
    document = Document("d", ("w",) * 20)
    annotations = [
        Annotation.of(f"a{number}", document, [_chain(f"c{n}", one) for n, one in enumerate(given)])
        for number, given in enumerate(annotators)
    ]
    stated = {StatementKind.EXISTS: exists, StatementKind.APART: apart, StatementKind.ABSENT: absent}
    statements = [Statement.of(kind, map(_span, given)) for kind, given in stated.items() if given]
    decisions = Decisions.of([_chain(f"d{n}", one) for n, one in enumerate(chains)], (), statements)
    chosen = OBJECTIVES[objective] if isinstance(objective, str) else objective
    return Instance(tuple(annotations), chosen, decisions, **rules)


def _chain(id: str, mentions: Iterable[Mention]) -> Chain:
    return Chain.of(id, map(_span, mentions))


def _span(mention: Mention) -> tuple[int, int]:
    return (mention, mention) if isinstance(mention, int) else mention


def part(*nodes: Sequence[Mention], proof: Plain = LEAF, demands: Sequence[int] = ()) -> Plain:
    """Make a part that is proven by one statement; the nodes of some numbers must not stay alone."""
    plain = {"nodes": [_plain(node) for node in nodes], "proof": [proof]}
    return {**plain, "demands": list(demands)} if demands else plain


def by_cases(mentions: Sequence[Mention], piece: Sequence[Mention], *given: Plain) -> Plain:
    """Make a part that is proven by cases."""
    return {"mentions": _plain(mentions), "piece": _plain(piece), "cases": list(given)}


def case(others: Sequence[Mention], *parts: Plain) -> Plain:
    """Make a case in which a piece is linked to others."""
    return {"with": _plain(others), "conflicts": [], "parts": list(parts)}


def _plain(mentions: Iterable[Mention]) -> list[list[int]]:
    return [list(_span(mention)) for mention in mentions]


def proof(*parts: Plain, conflicts: Iterable[Sequence[Mention]] = ()) -> Plain:
    """Make a proof without chains and value."""
    return {"conflicts": [_plain(pair) for pair in conflicts], "parts": list(parts)}


def claimed(instance: Instance, value: int, given: Plain) -> Plain:
    """Complete a proof by chains that cost a value."""
    chains = next(chains for cost, chains in brute.every_solution(instance) if cost == value)
    return {"value": value, "chains": plain(chains), **given}


def plain(partition: Partition) -> list[list[list[int]]]:
    return [[list(mention) for mention in chain] for chain in partition]


def optimum(instance: Instance) -> int:
    return brute.solve(instance, Limits()).value


def proves_the_optimum(instance: Instance, given: Plain) -> bool:
    value = optimum(instance)
    return verify(claimed(instance, value, given), instance) == value


def refused(instance: Instance, given: Plain, message: str) -> bool:
    """Try a proof on every solution; each time it must be refused, and for this reason."""
    for cost, chains in brute.every_solution(instance):
        with pytest.raises(EngineError, match=re.escape(message)):
            verify({"value": cost, "chains": plain(chains), **given}, instance)
    return True


Forgery = Callable[[Instance, Plain, str, int], bool]
"""Checks that a proof is refused for a reason, and would prove a value but for that check."""
