"""How sure decisions are, by the votes: the table, its smoothing, weights, coverage and decisions."""

from itertools import combinations, pairwise

import pytest

from caspr.confidence import MEASURED, Confidences, by_votes, error_rate
from caspr.result import Result
from caspr.task.decisions import Decisions, Statement, StatementKind
from caspr.task.instance import Instance, Singletons
from caspr.task.objectives import Coefficients
from caspr.text.document import Span
from tests.instances import permuted
from tests.report.results import annotated, random_results, result_of

ANNA, SHE, BEA, HER = (Span(number, number) for number in (1, 3, 5, 7))
WORDS = ["Anna", "sang", "she", "and", "Bea", "heard", "her"]
RESULTS = [*random_results(4, 40), *random_results(5, 40, decisions=True, odd=True)]


def three(**settings: object) -> Result:
    """Two annotators link Anna, she and her; one links her with Bea instead."""
    most = [[ANNA, SHE, HER]]
    annotations = (
        annotated("x", most, WORDS),
        annotated("y", most, WORDS),
        annotated("z", [[ANNA, SHE], [BEA, HER]], WORDS),
    )
    result = result_of(Instance(annotations, **settings))  # type: ignore[arg-type]
    assert result is not None
    return result


def test_the_rates_are_those_that_were_measured_as_far_as_they_rise() -> None:
    for (against, seen), rate in MEASURED.items():
        expected = 0.5 if (against, seen) in ((3, 5), (2, 3)) else rate
        assert error_rate(against, seen) == pytest.approx(expected)


@pytest.mark.parametrize("annotators", [1, 2, 3, 4, 5, 7, 15])
def test_more_votes_against_never_make_a_decision_surer(annotators: int) -> None:
    rates = [error_rate(against, annotators) for against in range(annotators + 1)]
    assert all(less <= more for less, more in pairwise(rates))
    assert 0 < rates[0] <= rates[-1] < 1


def test_one_alone_errs_more_often_than_two_who_agree() -> None:
    assert error_rate(0, 1) > error_rate(0, 2) >= error_rate(0, 5)
    assert error_rate(0, 0) == 0.5


def test_votes_that_weigh_the_same_count_as_heads_whatever_they_weigh() -> None:
    for weight in (0.0, 0.2, 1.0, 7.0):
        assert by_votes([weight, weight], [weight]).value == pytest.approx(1 - error_rate(1, 3))
    assert by_votes([2.0, 2.0], [1.0]).value > by_votes([1.0, 1.0], [1.0]).value
    assert by_votes([1.0], [1.0]).is_tie
    assert not by_votes([1.0, 1.0], [1.0]).is_tie


def test_a_mention_has_the_votes_of_those_who_have_it_in_the_same_entity() -> None:
    sure = three().confidences
    assert (sure.mention(HER).against, sure.mention(HER).seen) == (1, 3)
    assert sure.mention(HER).value == pytest.approx(0.83)
    assert (sure.mention(ANNA).against, sure.mention(ANNA).seen) == (0, 3)
    # One annotator marked Bea, and the result does not have her.
    assert (sure.mention(BEA).against, sure.mention(BEA).seen) == (1, 3)
    assert (sure.link(ANNA, HER).against, sure.link(BEA, HER).against) == (1, 1)


def test_alternatives_share_what_is_left() -> None:
    support = three().gold.support
    assert (support[HER].votes, support[HER].against) == (("x", "y"), ("z",))
    [other] = support[HER].alternatives
    assert (other.kind, other.entity, other.votes) == ("entity", None, ("z",))
    for mention in support:
        total = support[mention].confidence + sum(other.confidence for other in support[mention].alternatives)
        assert total == pytest.approx(1.0) or not support[mention].alternatives


def test_the_vote_of_one_who_weighs_more_counts_for_more() -> None:
    plain = three().confidences.mention(HER)
    careful = three(weights=Coefficients((8, 8, 2), (4, 4, 1), None)).confidences.mention(HER)
    assert careful.value > plain.value
    assert (careful.against, careful.seen) == (plain.against, plain.seen)


def test_those_who_did_not_see_a_mention_have_no_vote() -> None:
    result = three(seen=(None, None, (Span(1, 4),)))
    assert (result.confidences.mention(ANNA).seen, result.confidences.mention(SHE).against) == (3, 0)
    # The third marked Bea and her, and so saw them.
    assert result.confidences.mention(HER).seen == 3
    short = three(seen=(None, (Span(1, 2),), None))
    assert short.confidences.link(SHE, HER).seen == 3


@pytest.mark.parametrize(("kind", "spans"), [("together", (ANNA, HER)), ("apart", (ANNA, HER))])
def test_what_is_decided_is_sure(kind: str, spans: tuple[Span, Span]) -> None:
    statement = Statement.of(StatementKind(kind), list(spans))
    result = three(decisions=Decisions.of(statements=[statement]))
    link = result.confidences.link(*spans)
    assert (link.value, link.decided, link.is_tie) == (1.0, True, False)
    assert link.words == "decided by the adjudicator"


def test_without_a_decision_nothing_is_quite_sure() -> None:
    for result in RESULTS:
        sure = result.confidences
        decisions = result.instance.decisions
        for mention in sure:
            assert 0 <= sure.mention(mention).against <= sure.mention(mention).seen
            if not decisions:
                assert 0 < sure.mention(mention).value < 1
        for first, second in combinations(result.instance.votes.signatures, 2):
            evidence = result.instance.votes.evidence(first, second)
            link = sure.link(first, second)
            linked = any({first, second} <= set(chain.mentions) for chain in result.chains)
            if not result.instance.forced_votes:
                assert link.seen == evidence.n
                assert link.against == (evidence.n - evidence.k if linked else evidence.k)


def test_nothing_depends_on_the_order_of_annotators() -> None:
    for result in RESULTS:
        backwards = permuted(result.instance, [*range(len(result.instance.annotations))][::-1])
        there, back = (Confidences(one, result.gold.all_chains) for one in (result.instance, backwards))
        assert dict(there) == dict(back)


def test_the_chains_of_one_annotator_that_share_a_mention_count_together() -> None:
    annotations = (
        annotated("x", [[ANNA, SHE, HER], [BEA, HER]], WORDS),
        annotated("y", [[BEA, HER], [ANNA, SHE, HER]], WORDS),
        annotated("z", [[ANNA, SHE, HER]], WORDS),
    )
    result = result_of(Instance(annotations))
    assert result is not None
    assert result.confidences.mention(HER).against == 0


def test_a_mention_that_is_kept_alone_is_sure_by_those_who_have_it_alone() -> None:
    annotations = tuple(
        annotated(name, chains, WORDS)
        for name, chains in (("x", [[ANNA, SHE], [BEA]]), ("y", [[ANNA, SHE], [BEA]]), ("z", [[ANNA, SHE]]))
    )
    result = result_of(Instance(annotations, singletons=Singletons.VOTE))
    assert result is not None
    sure = result.confidences.mention(BEA)
    assert (sure.against, sure.seen) == (1, 3)
    assert result.gold.support[BEA].alternatives[0].kind == "absent"
