"""Small instances and forged proofs for them, each stopped by one check."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

from caspr.engines import brute
from caspr.errors import EngineError
from caspr.proof import verify as package
from caspr.proof.verify import cases, parts, reading, tree, verify
from caspr.task.decisions import Decisions, Statement, StatementKind
from caspr.task.instance import Instance
from caspr.task.limits import Limits
from caspr.task.objectives import OBJECTIVES, Objective
from caspr.task.solution import Partition
from caspr.text.document import Annotation, Chain, Document

Plain = dict[str, Any]
LEAF: Plain = {"shift": 0, "stars": []}
"""No inequality: the bound is the sum of all positive gains."""


def task(
    *annotators: Sequence[Sequence[int]],
    objective: str | Objective = "v",
    chains: Iterable[Sequence[int]] = (),
    exists: Sequence[int] = (),
    apart: Sequence[int] = (),
    **rules: Any,
) -> Instance:
    """Make an instance over mentions of one token each; every annotator gives chains of tokens.

    `chains` are enforced, `exists` must be in some chain, the two of `apart` must not share one.
    """
    document = Document("d", ("w",) * 20)
    annotations = [
        Annotation.of(f"a{number}", document, [_chain(f"c{n}", one) for n, one in enumerate(given)])
        for number, given in enumerate(annotators)
    ]
    statements = [
        Statement.of(kind, spans(tokens))
        for kind, tokens in ((StatementKind.EXISTS, exists), (StatementKind.APART, apart))
        if tokens
    ]
    decisions = Decisions.of([_chain(f"d{n}", one) for n, one in enumerate(chains)], (), statements)
    chosen = OBJECTIVES[objective] if isinstance(objective, str) else objective
    return Instance(tuple(annotations), chosen, decisions, **rules)


def _chain(id: str, tokens: Iterable[int]) -> Chain:
    return Chain.of(id, [(token, token) for token in tokens])


def spans(tokens: Iterable[int]) -> list[tuple[int, int]]:
    return [(token, token) for token in tokens]


def part(*nodes: Sequence[int], proof: Plain = LEAF) -> Plain:
    """Make a part that is proven by a tree; a node is a list of tokens."""
    return {"nodes": [_plain(node) for node in nodes], "proof": proof}


def by_cases(mentions: Sequence[int], piece: Sequence[int], *given: Plain) -> Plain:
    """Make a part that is proven by cases."""
    return {"mentions": _plain(mentions), "piece": _plain(piece), "cases": list(given)}


def case(others: Sequence[int], *parts: Plain) -> Plain:
    """Make a case in which a piece is linked to others."""
    return {"with": _plain(others), "conflicts": [], "parts": list(parts)}


def _plain(tokens: Iterable[int]) -> list[list[int]]:
    return [[token, token] for token in tokens]


def proof(*parts: Plain, conflicts: Iterable[Sequence[int]] = ()) -> Plain:
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


@pytest.fixture
def forgery(monkeypatch: pytest.MonkeyPatch) -> Forgery:
    """Return a check that a proof is refused for a reason, and would prove too much but for that check."""

    def check(instance: Instance, given: Plain, message: str, proves: int) -> bool:
        assert optimum(instance) < proves
        assert refused(instance, given, message)

        def lenient(condition: bool, reason: str) -> None:
            if message not in reason:
                reading.require(condition, reason)

        for module in (package, parts, cases, tree):
            monkeypatch.setattr(module, "require", lenient)
        return verify(claimed(instance, proves, given), instance) == proves

    return check
