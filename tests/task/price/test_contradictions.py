"""Contradictory decisions are refused with a minimal set of cells."""

import random

import pytest

from caspr.errors import ContradictionError
from caspr.task.decisions import Decisions
from caspr.task.instance import Instance
from caspr.task.price.contradictions import feasible, minimal_subset, refuse_contradictions
from caspr.task.votes import count_votes
from caspr.text.document import Chain
from tests.instances import annotation, paper_annotations, random_instance


def clash(instance: Instance) -> ContradictionError:
    with pytest.raises(ContradictionError) as caught:
        refuse_contradictions(instance)
    return caught.value


def test_no_decisions_never_contradict() -> None:
    refuse_contradictions(Instance(paper_annotations()))


def test_a_mention_in_two_chains() -> None:
    decisions = Decisions.of([Chain.of("1", [(1, 3), (6, 6)]), Chain.of("2", [(6, 6), (5, 5)])])
    error = clash(Instance(paper_annotations(), decisions=decisions))
    assert error.tokens == (6,)
    assert "enforced in chains 1 and 2" in str(error)


def test_a_mention_inside_another() -> None:
    decisions = Decisions.of([Chain.of("1", [(1, 3), (2, 2), (6, 6)]), Chain.of("2", [(4, 4), (5, 5)])])
    error = clash(Instance(paper_annotations(), decisions=decisions))
    assert error.tokens == (1, 2, 3)
    assert "--allow-nested" in str(error)
    refuse_contradictions(Instance(paper_annotations(), decisions=decisions, allow_nested=True))


def test_a_lone_mention_without_a_partner() -> None:
    decisions = Decisions.of([Chain.of("1", [(1, 1)])], empty=[4, 5])
    error = clash(Instance(paper_annotations(), decisions=decisions))
    assert error.tokens == (1, 4)


def test_mentions_enforced_together_are_not_blamed_for_being_alone() -> None:
    chains = [Chain.of("2", [(2, 2)]), Chain.of("1", [(3, 3), (5, 5)])]
    error = clash(Instance(paper_annotations(), decisions=Decisions.of(chains, empty=[4, 6])))
    assert error.tokens == (2, 4, 6)
    crossing = Decisions.of([Chain.of("1", [(1, 4), (2, 3)])])
    assert clash(Instance(paper_annotations(), decisions=crossing)).tokens == (1, 2, 3, 4)


def test_two_lone_mentions_that_share_their_only_partner() -> None:
    one = annotation("a", [[(1, 1), (2, 2)]])
    two = annotation("b", [[(2, 2), (3, 3)]])
    decisions = Decisions.of([Chain.of("1", [(1, 1)]), Chain.of("2", [(3, 3)])], empty=[5])
    error = clash(Instance((one, two), decisions=decisions))
    assert error.tokens == (1, 3)
    assert "too few" in str(error)


def test_the_blamed_cells_are_minimal() -> None:
    rng = random.Random(11)
    seen = 0
    for _ in range(1500):
        instance = random_instance(rng, mentions=6, decisions=True, odd=True)
        votes = count_votes(instance.annotations)
        if feasible(instance, instance.decisions, votes):
            continue
        seen += 1
        error = clash(instance)
        cells, statements = set(error.tokens), set(error.statements)
        kept = instance.decisions.restricted_to
        assert not feasible(instance, kept(cells, statements), votes)
        assert all(feasible(instance, kept(cells - {cell}, statements), votes) for cell in cells)
        assert all(feasible(instance, kept(cells, statements - {one}), votes) for one in statements)
    assert seen > 50


def test_minimal_subset_asks_few_questions_of_many_items() -> None:
    asked = []

    def holds(chosen: object) -> bool:
        asked.append(chosen)
        return not {17, 901} <= set(chosen)  # type: ignore[call-overload]

    assert minimal_subset(range(1000), holds) == [17, 901]
    assert len(asked) < 60
