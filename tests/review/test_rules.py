"""Rules of one's own on the review page: they hold after every decision, and are named if one breaks them."""

from pathlib import Path

import pytest

from caspr import read
from caspr.errors import InputError
from caspr.review.operations.context import worded
from caspr.review.session import open_review
from caspr.review.solver import Solver
from caspr.task.contradictions import ContradictionError
from caspr.task.decisions import Decision, Statement, StatementKind
from caspr.task.own_rules import RuleFile
from caspr.task.settings import Settings, change
from caspr.text.document import Span

SONG = sorted((Path(__file__).parents[2] / "examples" / "song").glob("*.conll"))
TEXT = '% John is no musician\nforbid(M1,M2) :- text(M1,"John"), text(M2,"a musician").'


def solver(text: str) -> Solver:
    annotations = tuple(read(path)[0] for path in SONG)
    return Solver(annotations, change(Settings(), {"rules": RuleFile("ours.lp", text)}))


def test_rules_hold_and_a_decision_against_them_is_refused_by_name() -> None:
    page = solver(TEXT)
    assert page.solve(()).optimal
    together = Statement.of(StatementKind.TOGETHER, [(1, 1), (3, 4)])
    with pytest.raises(ContradictionError) as refused:
        page.solve([Decision(together)])
    assert worded(page.document, refused.value.fault) == (
        "Your decisions and rules say that “John” and “a musician” are one entity, and also that they are "
        "two (your rule 'John is no musician' (ours.lp:2))."
    )


def test_costs_of_rules_are_shown() -> None:
    page = solver("mention_cost(M,1) :- in_chain(_,_,M).")
    snapshot = page.solve(())
    chained = [chain for chain in snapshot.chains if len(chain.mentions) > 1]
    assert snapshot.costs.rules == sum(len(chain.mentions) for chain in chained)
    alone = page.solve([Decision(Statement.of(StatementKind.ABSENT, [(1, 1)]))])
    assert Span(1, 1) not in alone.chain_of


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (":- resultchain(_).", "the review page cannot respect after each click"),
        ("forbid(M1,M2) :- text(M1,_).", r"ours.lp:1: nothing on the right says what M2 is"),
        (f'{TEXT} require(M1,M2) :- text(M1,"John"), text(M2,"a musician").', "rules contradict each other"),
    ],
)
def test_rules_that_cannot_be_used_are_refused_before_there_is_a_page(
    text: str, message: str, tmp_path: Path
) -> None:
    review = tmp_path / "review.conll"
    review.write_text(solver("").without_result(), encoding="utf-8")
    rules = RuleFile("ours.lp", text)
    with pytest.raises((InputError, ContradictionError), match=message):
        open_review(review, lambda settings: change(settings, {"rules": rules}))
