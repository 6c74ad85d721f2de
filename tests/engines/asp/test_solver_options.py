"""Options of the solver's own: passed on, refused where they change the question, shown what they do."""

import random

import pytest

from caspr.adjudication import adjudicate
from caspr.engines import choose
from caspr.engines.asp.solve import Run, arguments
from caspr.engines.brute import solve as brute
from caspr.errors import InputError
from caspr.task.limits import Limits, silent
from tests.instances import paper_annotations, random_instance
from tests.sweeps import how_many

BRANCH_AND_BOUND = ("--opt-strategy=bb",)


def test_a_strategy_replaces_ours() -> None:
    assert arguments(Run("")) == ["--opt-strategy=usc,oll,disjoint,stratify"]
    own = Limits(solver_options=(*BRANCH_AND_BOUND, "--configuration=trendy"))
    assert arguments(Run("", limits=own)) == ["--opt-strategy=bb", "--configuration=trendy"]
    more = Limits(solver_options=("--configuration=trendy",))
    assert len(arguments(Run("", limits=more))) == 2


@pytest.mark.parametrize("engine", ["clingo", "gringo-clasp"])
@pytest.mark.parametrize("encoding", ["mm", "cm"])
def test_the_optimum_is_the_same(engine: str, encoding: str) -> None:
    rng = random.Random(2700)
    for number in range(how_many(20, 2)):
        instance = random_instance(rng, decisions=True, odd=True)
        lines: list[str] = []
        limits = Limits(
            solver_options=BRANCH_AND_BOUND,
            solutions=1 + 99 * (number % 2),
            debug=lines.append if number % 3 == 0 else None,
        )
        expected = brute(instance, Limits(solutions=100), silent)
        solution = choose(engine, encoding)[1](instance, limits, silent)
        assert solution.status == expected.status
        assert solution.value == expected.value
        if number % 2 and solution.complete:
            assert solution.partitions == expected.partitions
        if number % 3 == 0 and instance.mentions and solution.partitions:
            assert any(line.startswith(("OPTIMUM", "SATISFIABLE")) for line in lines)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--outf=2", "CaspR decides"),
        ("--models=0", "CaspR decides"),
        ("--opt-mod=enum", "CaspR decides"),
        ("-n0", "CaspR decides"),
        ("--supp-models", "CaspR decides"),
        ("--", "CaspR decides"),
        ("-", "CaspR decides"),
        ("rules.lp", "should begin with -"),
        ("--no-such-option", "unknown option"),
        ("--opt-strategy=steam", "opt-strategy"),
    ],
)
def test_what_is_refused(option: str, message: str) -> None:
    files = [[annotation] for annotation in paper_annotations()]
    with pytest.raises(InputError, match=message):
        adjudicate(files, engine="clingo", solver_option=[option])


@pytest.mark.parametrize("engine", ["auto", "native", "brute"])
def test_other_engines_take_no_options(engine: str) -> None:
    files = [[annotation] for annotation in paper_annotations()]
    with pytest.raises(InputError, match="calls no solver that takes --opt-strategy=bb"):
        adjudicate(files, engine=engine, solver_option=BRANCH_AND_BOUND)
