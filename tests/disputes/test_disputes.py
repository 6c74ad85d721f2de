"""Disputes and their reasons, checked pair by pair on many small results."""

from itertools import combinations

import pytest

from caspr.disputes import Dispute, Explainer, Reason, find_disputes, pairs_to_price
from caspr.engines.brute import judge
from caspr.report.explained_report import explain
from caspr.result import ChangePrice, Result
from caspr.task.decisions import Decisions, Rule, Statement, StatementKind
from caspr.task.instance import Instance, Nesting
from caspr.task.own_rules import Consequence, DerivedRules, Effect
from caspr.text.document import Span
from tests.report.results import annotated, decided_result, random_results, result_of

RESULTS = [
    *random_results(1, 60),
    *random_results(2, 40, decisions=True),
    *random_results(3, 60, decisions=True, odd=True),
]


def pairs_of(dispute: Dispute, result: Result) -> list[tuple[Span, Span]]:
    """List the links of a dispute, without the nested ones that are disputes of their own."""
    if not dispute.second:
        pairs = list(combinations(dispute.first, 2))
    else:
        pairs = [(one, other) for one in dispute.first for other in dispute.second]
    if len(pairs) > 1 and result.instance.nested is not Nesting.ALWAYS:
        pairs = [(one, other) for one, other in pairs if not one.nests_with(other)]
    return [(min(pair), max(pair)) for pair in pairs]


@pytest.mark.parametrize("result", RESULTS, ids=range(len(RESULTS)))
def test_every_disputed_link_is_found_once_with_its_votes(result: Result) -> None:
    instance = result.instance
    home = {span: chain.id for chain in result.chains for span in chain.mentions}
    found: set[tuple[Span, Span]] = set()
    explainer = Explainer(result)
    for dispute in find_disputes(result):
        pairs = pairs_of(dispute, result)
        assert len(pairs) == dispute.links
        assert explainer.explain(dispute).sentence
        for one, other in pairs:
            assert (one, other) not in found
            found.add((one, other))
            evidence = instance.votes.evidence(one, other)
            assert (evidence.k, evidence.n - evidence.k) == (len(dispute.supporters), len(dispute.opponents))
            assert dispute.linked == (one in home and home[one] == home.get(other))
            assert dispute.chains in ((home.get(one), home.get(other)), (home.get(other), home.get(one)))
    spans = sorted(instance.votes.signatures.keys() | home.keys())
    for one, other in combinations(spans, 2):
        linked = one in home and home[one] == home.get(other)
        evidence = instance.votes.evidence(one, other)
        unanimous = evidence.k == (evidence.n if linked else 0)
        assert ((one, other) in found) is not unanimous, (one, other)


def test_what_another_optimum_decides_costs_nothing() -> None:
    seen = set()
    for number, result in enumerate(RESULTS):
        homes = [
            {span: number for number, chain in enumerate(partition) for span in chain}
            for partition in result.solution.partitions
        ]
        for dispute in find_disputes(result):
            one, other = dispute.pair
            decided = {one in home and home[one] == home.get(other) for home in homes}
            assert (dispute.change.price == 0) is (len(decided) > 1), number
            seen.add(len(decided))
    assert seen == {1, 2}


def test_a_tie_is_as_many_for_as_against() -> None:
    seen = set()
    for result in RESULTS:
        explainer = Explainer(result)
        for dispute in find_disputes(result):
            explained = explainer.explain(dispute)
            even = len(dispute.supporters) == len(dispute.opponents)
            if explained.reason is Reason.TIE:
                assert even
            if explained.reason is Reason.VOTES:
                assert not even
            seen.add((explained.reason is Reason.TIE, even))
    assert (True, True) in seen


def test_decisions_and_rules_are_reasons() -> None:
    result = decided_result()
    explainer = Explainer(result)
    reasons = {dispute.pair: explainer.explain(dispute) for dispute in find_disputes(result)}
    assert reasons[Span(1, 2), Span(4, 4)].reason is Reason.DECISION
    assert "ruled out “his”" in reasons[Span(1, 2), Span(4, 4)].sentence
    assert (Span(1, 2), Span(7, 7)) not in reasons


def test_a_mention_that_the_adjudicator_put_elsewhere_is_a_decision_about_its_other_links() -> None:
    words = ["Emil", "saw", "Jonas", "and", "the", "boy", "saw", "him"]
    boy, emil, jonas = Span(5, 6), Span(1, 1), Span(3, 3)
    annotations = [annotated(name, [[jonas, boy, Span(8, 8)]], words) for name in ("ann", "bob")]
    annotations.append(annotated("cem", [[emil, boy], [jonas, Span(8, 8)]], words))
    together = Statement.of(StatementKind.TOGETHER, [emil, boy])
    result = result_of(Instance(tuple(annotations), decisions=Decisions.of(statements=[together])))
    assert result is not None
    explainer = Explainer(result)
    reasons = {dispute.pair: explainer.explain(dispute) for dispute in find_disputes(result)}
    assert not any(jonas in chain.mentions and boy in chain.mentions for chain in result.chains)
    assert reasons[jonas, boy].reason is Reason.DECISION
    assert reasons[jonas, boy].sentence == "the adjudicator put “the boy” together with “Emil”"


@pytest.mark.parametrize(("objective", "reason"), [("v", Reason.TRANSITIVITY), ("u", Reason.TRANSITIVITY)])
def test_transitivity_names_what_stands_in_the_way(objective: str, reason: Reason) -> None:
    from caspr.task.instance import Instance
    from caspr.task.objectives import OBJECTIVES
    from tests.report.results import annotated, result_of

    words = list("abc")
    annotations = tuple(
        annotated(name, [chain], words)
        for name, chain in (("x", [(1, 1), (2, 2)]), ("y", [(1, 1), (2, 2)]), ("z", [(2, 2), (3, 3)]))
    )
    result = result_of(Instance(annotations, OBJECTIVES[objective]))
    assert result is not None
    explainer = Explainer(result)
    explained = {dispute.pair: explainer.explain(dispute) for dispute in find_disputes(result)}
    if objective == "u":
        assert explained[Span(2, 2), Span(3, 3)].reason is reason
        assert (
            "would also join “a” and “c”, which nobody linked" in explained[Span(2, 2), Span(3, 3)].sentence
        )
    else:
        assert explained[Span(1, 1), Span(2, 2)].reason is Reason.VOTES


def test_the_price_of_a_dispute_is_that_of_its_pair() -> None:
    from dataclasses import replace

    result = random_results(9, 1)[0]
    result = replace(
        result, solution=replace(result.solution, partitions=result.solution.partitions[:1], complete=False)
    )
    pair = find_disputes(result)[0].pair
    for change in (ChangePrice(3), ChangePrice(0, exact=False), ChangePrice(possible=False)):
        priced = replace(result, change_prices={pair: change})
        assert {dispute.pair: dispute.change for dispute in find_disputes(priced)}[pair] == change
    assert pair in pairs_to_price(priced)


def test_votes_are_what_the_votes_alone_say() -> None:
    seen: set[tuple[Reason, bool]] = set()
    for number, result in enumerate(RESULTS):
        explainer = Explainer(result)
        for dispute in find_disputes(result):
            reason = explainer.explain(dispute).reason
            judged = judge(result.instance, *dispute.pair)
            if judged.linked and reason is Reason.VOTES and judged.invented is None:
                cheaper, dearer = judged.used, judged.omitted
                assert cheaper <= dearer if dispute.linked else dearer <= cheaper, number
                seen.add((reason, dispute.linked))
            if reason is Reason.RULE:
                assert not dispute.linked, number
                assert dispute.pair[0].nests_with(dispute.pair[1]), number
                seen.add((reason, False))
    assert seen == {(Reason.VOTES, True), (Reason.VOTES, False), (Reason.RULE, False)}


@pytest.mark.parametrize("result", RESULTS, ids=range(len(RESULTS)))
def test_the_least_sure_decisions_are_listed_and_priced_first(result: Result) -> None:
    listed = [dispute for dispute, _ in explain(result).disputes]
    assert sorted(map(repr, listed)) == sorted(map(repr, find_disputes(result)))
    values = [dispute.confidence.value for dispute in listed]
    assert values == sorted(values)
    allowed = set(result.instance.mentions)
    priced = [dispute.pair for dispute in listed if allowed.issuperset(dispute.pair)]
    assert pairs_to_price(result)[: len(set(priced))] == list(dict.fromkeys(priced))


def test_a_row_of_a_report_repeats_no_votes_but_the_sentence_has_them() -> None:
    seen = set()
    for result in RESULTS:
        for dispute, explanation in explain(result).disputes:
            if explanation.reason in (Reason.TIE, Reason.VOTES, Reason.TRANSITIVITY):
                seen.add(explanation.reason)
                assert explanation.votes in explanation.sentence
                assert explanation.fact in explanation.sentence
                assert explanation.votes not in explanation.fact, dispute
    assert {Reason.VOTES, Reason.TRANSITIVITY} <= seen


@pytest.mark.parametrize(("links", "reason"), [(1, Reason.RULE), (3, Reason.VOTES)])
def test_a_cost_of_a_rule_is_the_reason_only_where_it_tips_the_votes(links: int, reason: Reason) -> None:
    first, second = Span(1, 1), Span(3, 3)
    chains = [[[first, second]] if number < links else [[Span(2, 2), Span(4, 4)]] for number in range(4)]
    annotations = [annotated(str(number), one, ["a", "b", "c", "d"]) for number, one in enumerate(chains)]
    rule = Consequence(Effect.APART_COST, (first, second), Rule("ours.lp", 3, "same thing"), 9)
    result = result_of(Instance(tuple(annotations)).under(DerivedRules((rule,))))
    assert result is not None
    explainer = Explainer(result)
    (dispute,) = (one for one in find_disputes(result) if one.pair == (first, second))
    explanation = explainer.explain(dispute)
    assert explanation.reason is reason
    parting = (
        f"parting them {2 * links + 9}, including 9 by your rule 'same thing' (ours.lp:3) for being apart"
    )
    assert parting in explanation.sentence
    against = "3 of 4 annotators keep them apart, but joining them costs 3"
    assert explanation.sentence.startswith(against) is (reason is Reason.RULE)


@pytest.mark.parametrize(
    ("effect", "cost", "links", "sentence"),
    [
        (Effect.MENTION_COST, 20, 4, "4 of 4 annotators link them, but {} charges 20 for “c” in a chain"),
        (
            Effect.MENTION_COST,
            -20,
            1,
            "3 of 4 annotators keep them apart, but {} charges 20 for “c” in no chain",
        ),
        (Effect.REQUIRE_MENTION, 0, 1, "3 of 4 annotators keep them apart, but {} requires “c” in a chain"),
    ],
)
def test_a_rule_about_a_mention_is_the_reason_where_it_outweighs_all_its_links(
    effect: Effect, cost: int, links: int, sentence: str
) -> None:
    a, b, c = Span(1, 1), Span(2, 2), Span(3, 3)
    chains = [[[a, b, c]] if number < links else [[a, b], [c]] for number in range(4)]
    annotations = [annotated(str(number), one, "abc") for number, one in enumerate(chains)]
    rule = Rule("ours.lp", 3, "some cost")
    costs = DerivedRules((Consequence(effect, (c,), rule, cost),))
    result = result_of(Instance(tuple(annotations)).under(costs))
    assert result is not None
    (dispute,) = find_disputes(result)
    explanation = Explainer(result).explain(dispute)
    assert explanation.reason is Reason.RULE
    assert explanation.sentence == sentence.format(rule)
