"""What one solve remembers: proven outcomes for ever, others until something better is known."""

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from caspr.engines.native import state as module
from caspr.engines.native.engine import solve_with
from caspr.engines.native.partition.cuts import Cuts, sharpen
from caspr.engines.native.partition.outcome import SearchOutcome
from caspr.engines.native.partition.problem import UNMET, Labels
from caspr.engines.native.partition.search import search_split
from caspr.engines.native.partition.watch import Watch
from caspr.engines.native.state import Memory, SolveState, solve_exactly, solve_quickly
from caspr.engines.native.translate import Part
from caspr.task.decisions import Decisions, Rule, Statement, StatementKind
from caspr.task.instance import Instance
from caspr.task.limits import Limits
from caspr.task.own_rules import Consequence, DerivedRules, Effect
from caspr.task.pricing import price, price_chain
from caspr.task.solution import Status
from caspr.text.document import Annotation, Span
from tests.engines.native.test_limits import noisy
from tests.proof.verify.forging import task


def begun(instance: Instance | None = None, **more: Any) -> SolveState:
    return SolveState(instance or noisy("ua", mentions=20), Watch.of(Limits()), **more)


def largest(state: SolveState) -> Part:
    return state.translator.translate((), sorted(state.eager))[-1]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Count how often the steps of a search are taken."""
    counted = {"split": 0, "quick": 0, "search_split": 0}

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
        outcome = search_split(*given, **more)
        return replace(outcome, value=outcome.value + value, bound=outcome.bound + bound)

    monkeypatch.setattr(module, "search_split", changed)


def test_a_proven_outcome_is_remembered_for_later_solves(calls: dict[str, int]) -> None:
    first = begun()
    part = largest(first)
    outcome = solve_exactly(first, part)
    assert outcome.proven and calls["search_split"] == 1
    later = begun(first.instance, memory=first.memory)
    for solver in (solve_exactly, solve_quickly):
        assert solver(later, part).value == outcome.value
        assert not len(solver(later, part).cuts)
    assert calls == {"split": 1, "quick": 0, "search_split": 1}


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
    assert state.memory.outcomes and calls["search_split"] == 1


def test_a_part_is_looked_at_and_reduced_once(calls: dict[str, int]) -> None:
    state = begun()
    part = largest(state)
    look = solve_quickly(state, part)
    assert solve_quickly(state, part) is look
    solve_exactly(state, part)
    assert calls == {"split": 1, "quick": 1, "search_split": 1}


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
        begins.append(len(given[2].cuts))
        outcome = search_split(*given, **more)
        return replace(outcome, bound=outcome.bound + 1)

    monkeypatch.setattr(module, "search_split", watched)
    part = largest(state)
    kept = len(solve_exactly(state, part).cuts)
    solve_exactly(state, part)
    assert kept > 0 and begins == [0, kept]


def lonely() -> tuple[SolveState, Part]:
    """Begin to solve a task with a part in which a mention that nobody needs must exist."""
    alone = Span(1, 1)
    state = begun(task([[1, 2, 4]], [[2, 4]], [], [], [], exists=[1]))
    [part] = state.translator.translate(((alone,),), sorted(state.eager), demanded=[alone])
    assert part.demands
    return state, part


def test_a_first_look_at_a_part_with_demands_meets_them() -> None:
    state, part = lonely()
    look = solve_quickly(state, part)
    assert look.value == solve_exactly(state, part).value < 0
    assert look.labels.tolist().count(look.labels[part.nodes.index((Span(1, 1),))]) > 1


def test_a_part_with_demands_that_is_too_large_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "fits", lambda size, watch: False)
    state, part = lonely()
    for solver in (solve_quickly, solve_exactly):
        outcome = solver(state, part)
        assert (outcome.value, outcome.bound) == (UNMET, part.problem.ceiling)


def test_a_part_without_demands_is_searched_however_large_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "fits", lambda size, watch: False)
    for solver in (solve_quickly, solve_exactly):
        state = begun()
        assert solver(state, largest(state)).value > 0


def test_a_large_part_with_demands_gets_no_clustering_that_ignores_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "LARGE", 0)
    state, part = lonely()
    ignoring = SearchOutcome(np.arange(part.problem.size), part.problem.ceiling, part.problem.ceiling)
    monkeypatch.setattr(module, "_grown", lambda part, watch: ignoring)
    look = solve_quickly(state, part)
    assert look.labels.tolist().count(look.labels[part.nodes.index((Span(1, 1),))]) > 1


def test_a_search_with_demands_starts_from_the_first_look_and_the_stars_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state, part = lonely()
    demand, starts = part.demands[0], []
    nodes = range(part.problem.size)
    star = next(pair for pair in itertools.permutations(nodes, 2) if sharpen(demand, pair))
    stars = Cuts.beyond_stars(partner_stars=[(demand.name, star)])

    def watched(*given: Any, **more: Any) -> Any:
        starts.append(given[2])
        outcome = search_split(*given, **more)
        return replace(outcome, cuts=stars, bound=outcome.bound + 1)

    monkeypatch.setattr(module, "search_split", watched)
    solve_exactly(state, part)
    unproven = state.provisional.pop(part.key)
    look = solve_quickly(state, part)
    solve_exactly(state, part)
    assert starts[0].known is None and starts[1].known is look.labels and unproven is not look
    assert [start.cuts.partner_stars for start in starts] == [(), stars.partner_stars]


def test_a_proof_is_recorded_only_if_it_is_wanted() -> None:
    instance = noisy("ua", mentions=40)
    plain, recorded = begun(instance), begun(instance, memory=Memory(record=True))
    part = largest(plain)
    assert solve_exactly(plain, part).proof is None
    assert solve_exactly(recorded, part).proof
    wanted = begun(instance, memory=replace(plain.memory, record=True))
    first = solve_exactly(wanted, part).proof
    assert first and solve_exactly(wanted, part).proof is first


def test_a_search_starts_from_the_first_look(monkeypatch: pytest.MonkeyPatch) -> None:
    known = []

    def watched(*given: Any, **more: Any) -> Any:
        known.append(given[2].known)
        return search_split(*given, **more)

    monkeypatch.setattr(module, "search_split", watched)
    state = begun()
    part = largest(state)
    look = solve_quickly(state, part)
    solve_exactly(state, part)
    solve_exactly(begun(), part)
    assert known[0] is look.labels and known[1] is None


@pytest.mark.parametrize(("smaller", "pairs", "grows"), [(1, 0, True), (0, 0, False), (1, 1, False)])
def test_clusters_of_a_large_part_with_few_pairs_grow_before_it_is_reduced(
    smaller: int, pairs: int, grows: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = begun(noisy("ua", mentions=40))
    part = largest(state)
    alone = SearchOutcome(np.arange(part.problem.size), 0, part.problem.ceiling)
    monkeypatch.setattr(module, "quick", lambda split, watch: alone)
    monkeypatch.setattr(module, "LARGE", part.problem.size - smaller)
    monkeypatch.setattr(module, "LIGHT", len(part.problem.first) - pairs)
    look = solve_quickly(state, part)
    assert part.problem.value(look.labels) == look.value
    assert (look.value > 0) is grows


@pytest.mark.parametrize("more", [0, 1])
def test_the_heuristic_replaces_grown_clusters_only_if_it_finds_more(
    more: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LARGE", 0)
    grown = solve_quickly(begun(), largest(begun()))
    found = replace(grown, value=grown.value + more)
    monkeypatch.setattr(module, "_grown", lambda part, watch: grown)
    monkeypatch.setattr(module, "quick", lambda split, watch: found)
    assert (solve_quickly(begun(), largest(begun())) is found) is (more > 0)


def by_annotator(state: SolveState, part: Part) -> list[Labels]:
    """Return the chains of each annotator as labels of the nodes of a part."""
    return [
        np.array(
            [
                next(
                    (n for n, other in enumerate(part.nodes) if _together(annotation, node[0], other[0])),
                    number,
                )
                for number, node in enumerate(part.nodes)
            ],
            dtype=np.intp,
        )
        for annotation in state.instance.annotations
    ]


def _together(annotation: Annotation, one: Span, other: Span) -> bool:
    return any(one in chain.mentions and other in chain.mentions for chain in annotation.chains)


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


def test_a_tentative_solution_gives_way_to_one_of_the_same_cost_that_is_not() -> None:
    first, second = ((Span(1, 1), Span(2, 2)),), ((Span(3, 3), Span(4, 4)),)
    state, reports = reporting()
    state.offer(first, 9, tentative=True)
    state.offer(second, 9, tentative=True)
    assert state.best == first
    state.offer((), 10)
    assert (state.best, state.value) == (first, 9)
    state.offer(second, 9)
    assert state.best == second
    state.offer(first, 9)
    assert state.best == second
    assert reports == [(9, None)]


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
    state = begun(instance, apart=frozenset({more}))
    assert state.eager == state.forbidden_pairs == {pair, more}
    assert state.distinguished == {*pair, *more}


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


def test_no_chain_is_priced_twice_while_the_votes_stay_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def counted(instance: Instance, chain: tuple[Span, ...]) -> Any:
        asked.append(chain)
        return price_chain(instance, chain)

    monkeypatch.setattr(module, "price_chain", counted)
    state = begun()
    chain = Span(1, 1), Span(2, 2)
    cost = state.cost((chain,))
    assert cost == price(state.instance, (chain,)).total
    together = Statement.of(StatementKind.TOGETHER, chain)
    decided = replace(state.instance, decisions=Decisions.of(statements=[together]))
    later = begun(decided, memory=state.memory)
    assert later.cost((chain,)) == price(decided, (chain,)).total != cost
    assert (state.cost((chain,)), asked) == (cost, [chain, chain])


def test_prices_and_parts_are_forgotten_when_rules_derive_something_else() -> None:
    """A rule gives the link of 1 and 3, which nobody linked: it is used at 1, and else they may not join."""
    instance, memory, pair = task([[1, 2], [3, 4]]), Memory(), (Span(1, 1), Span(3, 3))
    apart = Consequence(Effect.APART_COST, pair, Rule("ours.lp", 1, "a rule"), 9)
    seen = []
    for rules in (DerivedRules(), DerivedRules((apart,)), DerivedRules((replace(apart, cost=5),))):
        ruled = instance.under(rules)
        memory.forget_unless(rules)
        assert not memory.prices and not memory.parts
        state = SolveState(ruled, Watch(), memory)
        seen.append(state.cost((pair,)))
        assert state.cost((pair,)) == price(ruled, (pair,)).total
        _ = largest(state)
        assert memory.prices and memory.parts
        memory.forget_unless(DerivedRules(rules.consequences))
        assert memory.prices and memory.parts
    assert seen == [4, 5, 5]


def test_a_partition_flips_all_that_it_has_to() -> None:
    one, two, three, four, five = (Span(token, token) for token in range(1, 6))
    instance = task([[1, 2, 3, 4, 5]])

    def flips(*chains: tuple[Span, ...], joined: Any = (), apart: Any = ()) -> bool:
        return SolveState(instance, Watch(), joined=joined, apart=frozenset(apart)).flips(chains)

    assert flips((one, two, three, four, five))
    pairs = ((one, two), (three, four))
    for chains, together in (
        (((one, two), (three, four)), 2),
        (((one, two), (four, five)), 1),
        (((three, four, five),), 1),
        (((one, three),), 0),
        ((), 0),
    ):
        assert flips(*chains, joined=pairs) == (together == 2)
        assert flips(*chains, apart=pairs) == (together == 0)
    assert flips((one, two), joined=pairs[:1], apart=pairs[1:])
    assert not flips((one, two, three, four), joined=pairs[:1], apart=pairs[1:])
