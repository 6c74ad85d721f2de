"""Conflicts and their reasons, checked pair by pair on many small results."""

from itertools import combinations

import pytest

from caspr.disputes.disputes import Conflict, conflicts, disputed_pairs
from caspr.disputes.reasons import Explainer, Reason
from caspr.result import Certainty, Result
from caspr.text.document import Span
from tests.report.results import decided_result, random_results

RESULTS = [
    *random_results(1, 60),
    *random_results(2, 40, decisions=True),
    *random_results(3, 60, decisions=True, odd=True),
]


def pairs_of(conflict: Conflict, result: Result) -> list[tuple[Span, Span]]:
    """List the links of a conflict, without the nested ones that are told apart."""
    if not conflict.second:
        pairs = list(combinations(conflict.first, 2))
    else:
        pairs = [(one, other) for one in conflict.first for other in conflict.second]
    if len(pairs) > 1 and not result.instance.allow_nested:
        pairs = [(one, other) for one, other in pairs if not one.nests_with(other)]
    return [(min(pair), max(pair)) for pair in pairs]


@pytest.mark.parametrize("result", RESULTS, ids=range(len(RESULTS)))
def test_every_disputed_link_is_told_once_and_truly(result: Result) -> None:
    instance = result.instance
    home = {span: chain.id for chain in result.chains for span in chain.mentions}
    told: set[tuple[Span, Span]] = set()
    explainer = Explainer(result)
    for conflict in conflicts(result):
        pairs = pairs_of(conflict, result)
        assert len(pairs) == conflict.links
        assert explainer.explain(conflict).sentence
        for one, other in pairs:
            assert (one, other) not in told
            told.add((one, other))
            assert instance.votes.evidence(one, other) == len(conflict.supporters)
            assert conflict.linked == (one in home and home[one] == home.get(other))
            assert conflict.chains in ((home.get(one), home.get(other)), (home.get(other), home.get(one)))
        assert len(conflict.supporters) + len(conflict.opponents) == instance.votes.annotators
    spans = sorted(instance.votes.signatures.keys() | home.keys())
    for one, other in combinations(spans, 2):
        linked = one in home and home[one] == home.get(other)
        unanimous = instance.votes.evidence(one, other) == (instance.votes.annotators if linked else 0)
        assert ((one, other) in told) is not unanimous, (one, other)


@pytest.mark.parametrize("result", RESULTS, ids=range(len(RESULTS)))
def test_ties_and_certainty_follow_from_all_solutions(result: Result) -> None:
    homes = [
        {span: number for number, chain in enumerate(partition) for span in chain}
        for partition in result.solution.partitions
    ]
    for conflict in conflicts(result):
        one, other = conflict.pair
        decided = {one in home and home[one] == home.get(other) for home in homes}
        if len(decided) > 1:
            assert conflict.certainty == Certainty(always=False, flip=0)
        elif result.solution.complete:
            assert conflict.certainty.always is True
        else:
            assert conflict.certainty.always is None


def test_decisions_and_rules_are_reasons() -> None:
    result = decided_result()
    explainer = Explainer(result)
    reasons = {conflict.pair: explainer.explain(conflict) for conflict in conflicts(result)}
    assert reasons[Span(1, 2), Span(4, 4)].reason is Reason.DECISION
    assert "left no room for “his”" in reasons[Span(1, 2), Span(4, 4)].sentence
    assert (Span(1, 2), Span(7, 7)) not in reasons


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
    explained = {conflict.pair: explainer.explain(conflict) for conflict in conflicts(result)}
    if objective == "u":
        assert explained[Span(2, 2), Span(3, 3)].reason is reason
        assert "would join “a” and “c”, which nobody linked" in explained[Span(2, 2), Span(3, 3)].sentence
    else:
        assert explained[Span(1, 1), Span(2, 2)].reason is Reason.MAJORITY


def test_the_engine_may_tell_how_sure_it_is() -> None:
    from dataclasses import replace

    result = random_results(9, 1)[0]
    result = replace(
        result, solution=replace(result.solution, partitions=result.solution.partitions[:1], complete=False)
    )
    pair = conflicts(result)[0].pair
    told = replace(result, certainties={pair: Certainty(always=True, flip=3)})
    found = {conflict.pair: conflict.certainty for conflict in conflicts(told)}
    assert found[pair] == Certainty(always=True, flip=3)
    told = replace(result, certainties={pair: Certainty(flip=0)})
    assert {conflict.pair: conflict.certainty for conflict in conflicts(told)}[pair].always is False
    told = replace(result, certainties={pair: Certainty(flip=0, exact=False)})
    assert {conflict.pair: conflict.certainty for conflict in conflicts(told)}[pair].always is None
    told = replace(result, certainties={pair: Certainty(possible=False)})
    assert {conflict.pair: conflict.certainty for conflict in conflicts(told)}[pair].always is True
    assert pair in disputed_pairs(told)


@pytest.mark.parametrize("result", RESULTS, ids=range(len(RESULTS)))
def test_majority_means_what_the_votes_alone_say(result: Result) -> None:
    objective, votes = result.instance.objective, result.instance.votes
    explainer = Explainer(result)
    for conflict in conflicts(result):
        explanation = explainer.explain(conflict)
        evidence = len(conflict.supporters)
        parting = objective.omit * evidence
        joining = objective.use * (votes.annotators - evidence)
        if evidence and explanation.reason is Reason.MAJORITY and objective.invent is None:
            assert (joining < parting) if conflict.linked else (parting < joining)
        if explanation.reason is Reason.RULE:
            assert not conflict.linked
            assert conflict.pair[0].nests_with(conflict.pair[1])
