"""Mentions that must be in a chain find partners exactly where brute force finds a solution."""

import random

import pytest

from caspr.engines import brute
from caspr.task.contradictions import arrangement
from caspr.task.decisions import Decisions, Statement, StatementKind
from caspr.task.demands import find_partners
from caspr.task.instance import Instance, Nesting, Singletons
from caspr.task.objectives import OBJECTIVES
from caspr.task.pricing import violations
from caspr.task.solution import canonical
from tests.instances import annotation
from tests.proof.verify.forging import Mention, task


def found(instance: Instance) -> list[list[int]] | None:
    """Return the chains by the first tokens of their mentions."""
    chains = find_partners(instance, instance.decisions)
    return None if chains is None else sorted(sorted(mention.start for mention in chain) for chain in chains)


def test_a_mention_that_is_not_enforced() -> None:
    assert found(task([[1, 2]], exists=[1])) == [[1, 2]]
    assert found(task([[1, 2]], exists=[1], chains=[[5, 6]])) == [[1, 2], [5, 6]]


def test_no_partner() -> None:
    assert found(task([[1, 2]], exists=[1], absent=[2])) is None
    assert found(task([[1, 2]], exists=[1], apart=[1, 2])) is None
    assert found(task([[2, (1, 3)]], exists=[2])) is None
    assert found(task([[2, (1, 3)]], exists=[2], nested=Nesting.ALWAYS)) == [[1, 2]]
    assert found(task([[1, 2]], exists=[5])) is None


def test_a_mention_that_may_stay_alone_needs_no_partner() -> None:
    assert found(task([[1, 2]], exists=[1], absent=[2], singletons=Singletons.VOTE)) == [[1]]


def test_each_finds_a_partner_of_its_own_by_shifting_others() -> None:
    """1 could take 2, which is all that 3 has, and so on to the end of the row."""
    row: list[list[Mention]] = [[1, 2], [1, 8], [3, 2], [3, 4], [5, 4], [5, 6], [7, 6]]
    instance = task(*([pair] for pair in row), exists=[1, 3, 5, 7])
    assert found(instance) == [[1, 8], [2, 3], [4, 5], [6, 7]]
    assert found(task(*([pair] for pair in row[2:]), exists=[3, 5, 7])) == [[2, 3], [4, 5], [6, 7]]


def test_mentions_that_are_not_enforced_are_preferred() -> None:
    """Lone mentions could be partners of each other, but each has one of its own, or gets it by a shift."""
    assert found(task([[1, 2, 3, 4]], exists=[1, 2])) == [[1, 3], [2, 4]]
    assert found(task([[1, 2]], [[1, 8]], [[3, 2]], [[1, 3]], exists=[1, 3])) == [[1, 8], [2, 3]]


LINKS: list[list[list[Mention]]] = [[[1, 3]], [[1, 4]], [[10, 3]], [[10, 4]]]


def test_mentions_that_compete_are_searched_together() -> None:
    """1 and 10 need 3 and 4, which 2 must leave to them; 5 and 6 have only each other."""
    instance = task(*LINKS, [[2, 4]], [[2, 9]], [[5, 6]], chains=[[1], [2], [10]], exists=[5, 6])
    assert found(instance) == [[1, 3], [2, 9], [4, 10], [5, 6]]


def test_choices_that_lead_nowhere_are_taken_back() -> None:
    assert found(task(*LINKS, [[2, 3]], [[2, 4]], chains=[[1], [2], [10]])) is None


def test_lone_mentions_are_partners_of_each_other() -> None:
    assert found(task([[1, 2]], exists=[1, 2])) == [[1, 2]]
    assert found(task([[1, 2, 3]], exists=[1, 2, 3])) == [[1, 2, 3]]
    assert found(task([[1, 2], [4, 5]], exists=[1, 2, 4, 5])) == [[1, 2], [4, 5]]


def test_a_whole_group_is_a_partner() -> None:
    assert found(task([[1, 5, 6]], exists=[1], chains=[[5, 6]])) == [[1, 5, 6]]
    assert found(task([[1, 5]], exists=[1], chains=[[5, 6]], objective="va")) == [[1, 5, 6]]
    assert found(task([[1, 5]], exists=[1], chains=[[5, 6]])) is None
    assert found(task([[1, 5, 6]], exists=[1], chains=[[5, 6]], apart=[1, 6])) is None
    assert found(task([[(6, 7), 5, 6]], exists=[(6, 7)], chains=[[5, 6]])) is None
    assert found(task([[(6, 7), 5, 6]], exists=[(6, 7)], chains=[[5, 6]], nested=Nesting.ALWAYS)) == [
        [5, 6, 6]
    ]


def test_lone_mentions_of_different_ids_do_not_share_a_chain() -> None:
    assert found(task([[1, 2]], chains=[[1], [2]])) is None
    assert found(task([[1, 2, 3]], chains=[[1], [2]])) is None
    assert found(task([[1, 2, 3, 4]], chains=[[1], [2]])) == [[1, 3], [2, 4]]
    assert found(task([[1, 2, 5, 6]], chains=[[1], [2], [5, 6]])) is None


def random_task(rng: random.Random) -> Instance:
    """Make an instance in which many mentions must be in a chain and have few mentions to be with."""
    spans = [(1, 1), (2, 2), (3, 3), (3, 4), (5, 5), (6, 6), (5, 6)]
    annotations = []
    for number in range(rng.randint(1, 3)):
        chosen = rng.sample(spans, rng.randint(2, 6))
        cut = rng.randint(1, len(chosen) - 1)
        chains = [one for one in (chosen[:cut], chosen[cut:]) if len(one) > 1]
        annotations.append(annotation(f"a{number}", chains))
    statements = [Statement.of(StatementKind.EXISTS, rng.sample(spans, rng.randint(1, 5)))]
    for kind, often, size in (("apart", 0.5, 2), ("absent", 0.3, 1), ("together", 0.4, 2)):
        if rng.random() < often:
            statements.append(Statement.of(StatementKind(kind), rng.sample(spans, size)))
    for id in rng.sample("xyz", rng.randint(0, 3)):
        statements.append(Statement.of(StatementKind.ENFORCED, rng.sample(spans, 1), id))
    return Instance(
        tuple(annotations),
        OBJECTIVES[rng.choice(["v", "va"])],
        Decisions.of(statements=statements),
        nested=rng.choice(list(Nesting)),
        forced_votes=rng.random() < 0.3,
    )


@pytest.mark.parametrize("block", range(8))
def test_partners_are_found_exactly_where_there_is_a_solution(block: int) -> None:
    rng = random.Random(block)
    solvable = 0
    for _ in range(150):
        instance = random_task(rng)
        chains = arrangement(instance, instance.decisions)
        assert (chains is None) == (next(brute.every_solution(instance), None) is None)
        if chains is not None:
            assert not list(violations(instance, canonical(chains)))
            solvable += 1
    assert 20 < solvable < 140
