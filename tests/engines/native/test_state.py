"""What one solve remembers: proven outcomes for ever, others until something better is known."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from caspr.engines.native import state as module
from caspr.engines.native.engine import solve_with
from caspr.engines.native.partition.search import search_reduced
from caspr.engines.native.partition.watch import Watch
from caspr.engines.native.state import Memory, SolveState, solve_exactly, solve_quickly
from caspr.engines.native.translation.translate import Part
from caspr.task.decisions import Decisions, Statement, StatementKind
from caspr.task.instance import Instance
from caspr.task.limits import Limits
from caspr.task.price.pricing import price
from caspr.task.solution import Status
from caspr.text.document import Annotation, Chain, Document, Span
from tests.engines.native.test_limits import noisy
from tests.proof.verify.forging import task


def begun(instance: Instance | None = None, **more: Any) -> SolveState:
    return SolveState(instance or noisy("ua", mentions=20), Watch.of(Limits()), **more)


def largest(state: SolveState) -> Part:
    return state.translator.translate((), sorted(state.eager))[-1]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Count how often the steps of a search are taken."""
    counted = {"split": 0, "quick": 0, "search_reduced": 0}

    def counting(name: str) -> Callable[..., Any]:
        step = getattr(module, name)

        def counted_step(*given: Any, **more: Any) -> Any:
            counted[name] += 1
            return step(*given, **more)

        return counted_step

    for name in counted:
        monkeypatch.setattr(module, name, counting(name))
    return counted


def change_searches(monkeypatch: pytest.MonkeyPatch, *, value: int = 0, bound: int = 0) -> None:
    """Make searches return another value and bound than they found."""

    def changed(*given: Any, **more: Any) -> Any:
        outcome = search_reduced(*given, **more)
        return replace(outcome, value=outcome.value + value, bound=outcome.bound + bound)

    monkeypatch.setattr(module, "search_reduced", changed)


def test_a_proven_outcome_is_remembered_for_later_solves(calls: dict[str, int]) -> None:
    first = begun()
    part = largest(first)
    outcome = solve_exactly(first, part)
    assert outcome.proven and calls["search_reduced"] == 1
    later = begun(first.instance, memory=first.memory)
    for solver in (solve_exactly, solve_quickly):
        assert solver(later, part).value == outcome.value
        assert not len(solver(later, part).cuts)
    assert calls == {"split": 1, "quick": 0, "search_reduced": 1}


def test_an_unproven_outcome_is_searched_again(
    calls: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    state = begun()
    part = largest(state)
    with monkeypatch.context() as patch:
        change_searches(patch, bound=5)
        assert not solve_exactly(state, part).proven
    assert state.memory.outcomes == {}
    assert solve_exactly(state, part).proven
    assert state.memory.outcomes and calls["search_reduced"] == 1


def test_a_part_is_looked_at_and_reduced_once(calls: dict[str, int]) -> None:
    state = begun()
    part = largest(state)
    look = solve_quickly(state, part)
    assert solve_quickly(state, part) is look
    solve_exactly(state, part)
    assert calls == {"split": 1, "quick": 1, "search_reduced": 1}


@pytest.mark.parametrize(("value", "better"), [(-1, False), (0, True), (1, True)])
def test_an_unfinished_search_replaces_a_first_look_that_is_no_better(
    value: int, better: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = begun()
    part = largest(state)
    look = solve_quickly(state, part)
    gap = look.value - solve_exactly(begun(state.instance), part).value
    change_searches(monkeypatch, value=value + gap, bound=50)
    unfinished = solve_exactly(state, part)
    assert (unfinished.value - look.value, unfinished.proven) == (value, False)
    assert solve_quickly(state, part) is (unfinished if better else look)


def test_an_unfinished_search_is_a_first_look_where_there_was_none(monkeypatch: pytest.MonkeyPatch) -> None:
    state = begun()
    part = largest(state)
    change_searches(monkeypatch, value=-100)
    unfinished = solve_exactly(state, part)
    assert solve_quickly(state, part) is unfinished


def test_a_part_that_is_solved_again_starts_from_its_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    state, begins = begun(noisy("ua", mentions=40)), []

    def watched(*given: Any, **more: Any) -> Any:
        begins.append(len(more["cuts"]))
        outcome = search_reduced(*given, **more)
        return replace(outcome, bound=outcome.bound + 1)

    monkeypatch.setattr(module, "search_reduced", watched)
    part = largest(state)
    kept = len(solve_exactly(state, part).cuts)
    solve_exactly(state, part)
    assert kept > 0 and begins == [0, kept]


def two_blocks(mentions: int) -> Instance:
    """Put two noisy documents side by side."""
    one, two = noisy("ua", mentions=mentions, seed=1), noisy("ua", mentions=mentions, seed=2)
    length = len(one.annotations[0].document.tokens)
    document = Document("d", ("w",) * (2 * length))

    def moved(chain: Chain) -> Chain:
        return Chain.of(f"b{chain.id}", [(start + length, end + length) for start, end in chain.mentions])

    annotations = tuple(
        Annotation.of(first.annotator, document, [*first.chains, *map(moved, second.chains)])
        for first, second in zip(one.annotations, two.annotations, strict=True)
    )
    return replace(one, annotations=annotations)


Report = tuple[int | None, int | None]


def reporting() -> tuple[SolveState, list[Report]]:
    reports: list[Report] = []

    def progress(value: int | None, bound: int | None, **_: Any) -> None:
        reports.append((value, bound))

    return begun(progress=progress), reports


def test_only_better_solutions_and_bounds_are_taken_and_reported() -> None:
    state, reports = reporting()
    state.raise_bound(-3)
    state.raise_bound(-1)
    state.raise_bound(4)
    state.raise_bound(3)
    state.offer((), 9)
    state.offer(((Span(1, 1), Span(2, 2)),), 9)
    state.offer((), 12)
    state.raise_bound(20)
    assert reports == [(None, 0), (None, 4), (9, 4), (9, 9)]
    assert (state.best, state.value, state.bound) == ((), 9, 9)
    state.offer(((Span(1, 1), Span(2, 2)),), 8)
    assert state.best == ((Span(1, 1), Span(2, 2)),)


def test_a_bound_never_exceeds_the_value() -> None:
    state, reports = reporting()
    state.offer((), 5)
    state.raise_bound(-2)
    state.raise_bound(7)
    assert reports == [(5, None), (5, 0), (5, 5)]


def test_groups_are_held_by_free_links_unless_decisions_are_votes() -> None:
    together = Statement.of(StatementKind.TOGETHER, [(1, 1), (2, 2)])
    instance = replace(noisy("ua", mentions=20), decisions=Decisions.of(statements=[together]))
    assert begun(instance).held == {(Span(1, 1), Span(2, 2))}
    assert begun(replace(instance, forced_votes=True)).held == frozenset()


def test_pairs_to_be_kept_apart_are_forbidden_beside_all_others() -> None:
    apart = Statement.of(StatementKind.APART, [(1, 1), (2, 2)])
    instance = replace(noisy("ua", mentions=20), decisions=Decisions.of(statements=[apart]))
    pair, more = (Span(1, 1), Span(2, 2)), (Span(3, 3), Span(4, 4))
    assert begun(instance).eager == {pair}
    assert begun(instance, apart=frozenset({more})).eager == {pair, more}


def test_a_mention_to_be_kept_apart_is_not_taken_for_one_that_is_alike() -> None:
    """Mention 1 must be with 2 or with 4, which are alike but for the pair that is kept apart."""
    instance = task([[1, 2, 4]], [], [], [], exists=[1])
    for kept, other in ((2, 4), (4, 2)):
        pair = Span(1, 1), Span(kept, kept)
        found = solve_with(instance, Limits(), memory=Memory(), apart=frozenset({pair}))
        assert (found.status, found.value) == (Status.OPTIMAL, 7)
        assert found.partitions == (((Span(1, 1), Span(other, other)),),)


def test_a_chain_is_priced_again_only_where_its_groups_differ() -> None:
    instance = noisy("va", mentions=20)
    state = begun(instance)
    solution = solve_with(instance, Limits(), memory=state.memory)
    [partition] = solution.partitions
    assert state.cost(partition) == state.cost(partition) == price(instance, partition).total
    chain = max(partition, key=len)
    together = Statement.of(StatementKind.TOGETHER, chain[:2])
    decided = replace(instance, decisions=Decisions.of([], [], [together]))
    other = SolveState(decided, Watch.of(Limits()), state.memory)
    assert other.cost(partition) == price(decided, partition).total != state.cost(partition)
    assert len(state.memory.prices) == len(partition) + 1
    voting = SolveState(replace(decided, forced_votes=True), Watch.of(Limits()), state.memory)
    assert voting.cost(partition) == price(voting.instance, partition).total
    assert len(state.memory.prices) == len(partition) + 1
