"""Certification refuses every solution that is not what it says."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from caspr.engines import brute
from caspr.errors import EngineError
from caspr.proof import certify as module
from caspr.proof.certify import Certifier, certify
from caspr.task.decisions import Decisions, Statement, StatementKind
from caspr.task.instance import Instance, Nesting
from caspr.task.limits import Limits
from caspr.task.objectives import OBJECTIVES
from caspr.task.own_rules import DerivedRules
from caspr.task.pricing import price
from caspr.task.solution import INFEASIBLE, Solution, Status
from caspr.text.document import Chain, Span
from tests.instances import annotation, paper_annotations

INSTANCE = Instance(paper_annotations(), OBJECTIVES["u"])


@pytest.fixture
def solution() -> Solution:
    return brute.solve(INSTANCE, Limits())


def test_a_true_solution_passes(solution: Solution) -> None:
    (costs,) = certify(INSTANCE, solution)
    assert (costs.omitted, costs.used, costs.invented) == (6, 0, 0)


OTHER = (((Span(1, 3), Span(6, 6)),),)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"value": 5, "bound": 5}, "says its solution costs 5, it costs 6"),
        ({"value": 7, "bound": 7}, "says its solution costs 7, it costs 6"),
        ({"bound": 7}, "value 6, bound 7 and optimal do not fit"),
        ({"bound": 7, "status": Status.FEASIBLE}, "value 6, bound 7 and feasible do not fit"),
        ({"bound": 5}, "value 6, bound 5 and optimal do not fit"),
        ({"status": Status.FEASIBLE}, "value 6, bound 6 and feasible do not fit"),
        ({"partitions": OTHER}, "says its solution costs 6, it costs 10"),
        ({"partitions": (((Span(1, 3), Span(2, 2)),),)}, "breaks a rule: chain 1 has"),
    ],
)
def test_a_false_solution_is_refused(solution: Solution, change: dict[str, object], complaint: str) -> None:
    with pytest.raises(EngineError, match=complaint):
        certify(INSTANCE, replace(solution, **change))  # type: ignore[arg-type]


def test_a_solution_that_breaks_a_rule_is_refused_whatever_it_costs() -> None:
    nested = ((Span(1, 3), Span(2, 2)),)
    loose = replace(INSTANCE, nested=Nesting.ALWAYS, objective=OBJECTIVES["ua"])
    cost = price(loose, nested).total
    with pytest.raises(EngineError, match="inside"):
        certify(replace(loose, nested=Nesting.NEVER), Solution.of(cost, 0, [nested]))


def test_a_bound_below_the_value_is_no_fault_of_a_solution_that_is_not_optimal(solution: Solution) -> None:
    assert certify(INSTANCE, replace(solution, bound=5, status=Status.FEASIBLE))


def test_nothing_is_claimed_of_an_infeasible_task() -> None:
    assert certify(INSTANCE, INFEASIBLE) == ()
    assert certify(INSTANCE, replace(INFEASIBLE, bound=3)) == ()


def test_the_same_solution_twice_is_refused(solution: Solution) -> None:
    with pytest.raises(EngineError, match="twice"):
        certify(INSTANCE, replace(solution, partitions=solution.partitions * 2))


def test_only_rules_about_the_solution_charge_what_chains_do_not_tell(solution: Solution) -> None:
    asked = INSTANCE.under(DerivedRules(program=":~ chain(C). [1,C]"))

    def charging(charged: int, *, value: int) -> Solution:
        return replace(solution, charged=charged, value=value, bound=value)

    (costs,) = certify(asked, charging(2, value=8))
    assert (costs.rules, costs.total) == (2, 8)
    assert certify(asked, charging(0, value=6)) == certify(INSTANCE, solution)
    for instance, charged in ((INSTANCE, 2), (asked, -1), (INSTANCE, -1)):
        with pytest.raises(EngineError, match="charges what no rule"):
            certify(instance, charging(charged, value=6 + charged))
    with pytest.raises(EngineError, match="says its solution costs 6, it costs 8"):
        certify(asked, charging(2, value=6))


CHAIN = Decisions.of([Chain.of("1", [(1, 3), (4, 4)])])


@pytest.mark.parametrize("forced_votes", [False, True])
@pytest.mark.parametrize("objective", ["ua", "va"])
def test_a_certifier_says_what_certify_says_while_decisions_change(
    objective: str, forced_votes: bool
) -> None:
    certifier = Certifier()
    instance = Instance(paper_annotations(), OBJECTIVES[objective], forced_votes=forced_votes)
    for decisions in (Decisions(), CHAIN, Decisions(), CHAIN):
        decided = replace(instance, decisions=decisions)
        answer = brute.solve(decided, Limits(solutions=100))
        assert certifier.certify(decided, answer) == certify(decided, answer)


def test_a_certifier_refuses_what_certify_refuses(solution: Solution) -> None:
    certifier = Certifier()
    certifier.certify(INSTANCE, solution)
    nested = ((Span(1, 3), Span(2, 2)),)
    for wrong in (replace(solution, value=5, bound=5), replace(solution, partitions=(nested,))):
        for _ in range(2):
            with pytest.raises(EngineError):
                certifier.certify(INSTANCE, wrong)


def test_a_certifier_asks_again_when_a_nested_pair_is_no_longer_permitted() -> None:
    certifier, pair = Certifier(), [Span(1, 3), Span(2, 2)]
    instance = Instance((annotation("a", [[(1, 3), (2, 2)]]),), OBJECTIVES["v"], nested=Nesting.NEVER)
    permitted = replace(
        instance, decisions=Decisions.of(statements=[Statement.of(StatementKind.NESTED, pair)])
    )
    answer = brute.solve(permitted, Limits())
    assert answer.partitions == ((tuple(pair),),)
    certifier.certify(permitted, answer)
    with pytest.raises(EngineError):
        certifier.certify(instance, answer)
    certifier.certify(permitted, answer)


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Keep what a certifier asks about chains."""
    looked: list[str] = []

    def spied(name: str) -> Callable[..., object]:
        real = getattr(module, name)

        def spy(*given: object) -> object:
            looked.append(name)
            return real(*given)

        return spy

    for name in ("price_chain", "chain_faults"):
        monkeypatch.setattr(module, name, spied(name))
    return looked


def test_a_certifier_looks_at_a_chain_once(solution: Solution, looked: list[str]) -> None:
    certifier = Certifier()
    certifier.certify(INSTANCE, solution)
    chains = len(solution.partitions[0])
    assert sorted(looked) == ["chain_faults"] * chains + ["price_chain"] * chains
    certifier.certify(INSTANCE, solution)
    assert len(looked) == 2 * chains
    certifier.certify(
        replace(INSTANCE, decisions=CHAIN), brute.solve(replace(INSTANCE, decisions=CHAIN), Limits())
    )
    assert len(looked) > 2 * chains


def test_a_chain_of_several_solutions_is_looked_at_once(looked: list[str]) -> None:
    common, one, other = (Span(1, 1), Span(2, 2)), (Span(3, 3), Span(4, 4)), (Span(4, 4), Span(5, 5))
    given = [annotation(name, [list(common), list(more)]) for name, more in (("a", one), ("b", other))]
    instance = Instance(tuple(given), OBJECTIVES["v"])
    both = [(common, one), (common, other)]
    certify(instance, Solution.of(3, 3, both))
    assert sorted(looked) == ["chain_faults"] * 3 + ["price_chain"] * 3
    with pytest.raises(EngineError, match="breaks a rule"):
        certify(instance, Solution.of(3, 3, [both[0], (common, (Span(3, 4), Span(4, 4)))]))


def test_a_nested_pair_permitted_elsewhere_changes_no_chain(solution: Solution, looked: list[str]) -> None:
    certifier = Certifier()
    certifier.certify(INSTANCE, solution)
    asked = len(looked)
    elsewhere = Statement.of(StatementKind.NESTED, [Span(1, 3), Span(2, 2)])
    assert not any({Span(1, 3), Span(2, 2)} <= set(chain) for chain in solution.partitions[0])
    certifier.certify(replace(INSTANCE, decisions=Decisions.of(statements=[elsewhere])), solution)
    assert len(looked) == asked


def test_a_chain_costs_something_else_once_there_are_more_votes() -> None:
    """Where decisions are votes, a decision elsewhere makes one more annotator who did not give a link."""
    one = annotation("a", [[(1, 1), (2, 2)], [(3, 3), (4, 4)]])
    instance = Instance((one,), OBJECTIVES["v"], forced_votes=True)
    decided = replace(instance, decisions=Decisions.of([Chain.of("1", [(3, 3), (4, 4)])]))
    certifier = Certifier()
    for given, cost in ((instance, 0), (decided, 1), (instance, 0)):
        answer = brute.solve(given, Limits())
        (costs,) = certifier.certify(given, answer)
        assert costs.total == cost
