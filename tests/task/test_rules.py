"""Every rule and decision is checked, and nothing else is complained of."""

from dataclasses import replace
from itertools import combinations

import pytest

from caspr.task.decisions import Decisions, Rule, Statement, StatementKind
from caspr.task.instance import Instance, Nesting, Singletons
from caspr.task.objectives import OBJECTIVES
from caspr.task.own_rules import Consequence, DerivedRules, Effect
from caspr.task.pricing import violations
from caspr.task.solution import Partition
from caspr.text.document import Chain, Span
from tests.instances import annotation

INSTANCE = Instance(
    (
        annotation("a", [[(1, 3), (6, 6)], [(2, 2), (4, 4)]]),
        annotation("b", [[(1, 3), (5, 5)], [(2, 2), (1, 3)]]),
        annotation("c", [[(6, 6), (5, 5)]]),
    ),
    OBJECTIVES["va"],
)


def partition(*chains: list[tuple[int, int]]) -> Partition:
    return tuple(tuple(Span(*mention) for mention in chain) for chain in chains)


def broken(instance: Instance, *chains: list[tuple[int, int]]) -> list[str]:
    return list(violations(instance, partition(*chains)))


def enforced(*chains: list[tuple[int, int]]) -> Decisions:
    return Decisions.of(Chain.of(f"c{number}", chain) for number, chain in enumerate(chains, 1))


def stated(kind: StatementKind, *mentions: tuple[int, int]) -> Decisions:
    return Decisions.of(statements=[Statement.of(kind, mentions)])


def test_chains_that_break_nothing() -> None:
    assert broken(INSTANCE) == []
    assert broken(INSTANCE, [(1, 3), (6, 6), (5, 5)], [(2, 2), (4, 4)]) == []


def test_a_chain_has_two_mentions() -> None:
    assert broken(INSTANCE, [(6, 6)]) == ["chain 1 has fewer than two mentions"]
    assert broken(INSTANCE, [(1, 3), (6, 6)], [(5, 5)]) == ["chain 2 has fewer than two mentions"]
    assert "chain 1 has fewer than two mentions" in broken(INSTANCE, [(6, 6), (6, 6)])


def test_mentions_are_known_and_not_ruled_out() -> None:
    complaint = "chain 1 has (5, 5), which nobody linked or a decision rules out"
    absent = replace(INSTANCE, decisions=stated(StatementKind.ABSENT, (5, 5)))
    assert broken(absent, [(1, 3), (5, 5)]) == [complaint]
    assert broken(absent, [(1, 3), (6, 6)]) == []
    unknown = "chain 1 has (3, 3), which nobody linked or a decision rules out"
    assert unknown in broken(INSTANCE, [(6, 6), (3, 3)])


def test_a_mention_is_in_one_chain() -> None:
    assert broken(INSTANCE, [(1, 3), (6, 6)], [(5, 5), (6, 6)]) == ["chains 1 and 2 share (6, 6)"]


def test_no_mention_inside_another_unless_that_is_allowed() -> None:
    assert broken(INSTANCE, [(1, 3), (2, 2)]) == ["chain 1 has (2, 2) inside (1, 3)"]
    assert broken(replace(INSTANCE, nested=Nesting.ALWAYS), [(1, 3), (2, 2)]) == []


def test_pairs_that_nobody_linked_where_invent_is_forbidden() -> None:
    strict = replace(INSTANCE, objective=OBJECTIVES["v"], nested=Nesting.ALWAYS)
    assert broken(strict, [(1, 3), (2, 2), (4, 4)]) == ["chain 1 has 1 pairs that nobody linked"]
    assert broken(replace(strict, objective=OBJECTIVES["va"]), [(1, 3), (2, 2), (4, 4)]) == []
    assert broken(strict, [(1, 3), (6, 6), (5, 5)]) == []


def test_enforced_links_need_no_vote() -> None:
    decided = replace(INSTANCE, objective=OBJECTIVES["v"], decisions=enforced([(4, 4), (6, 6)]))
    assert broken(decided, [(4, 4), (6, 6)]) == []


def test_a_chain_is_connected_by_links() -> None:
    assert broken(INSTANCE, [(4, 4), (6, 6)]) == ["chain 1 is not connected by links"]
    apart = [(1, 3), (6, 6)], [(2, 2), (4, 4)]
    loose = replace(INSTANCE, nested=Nesting.ALWAYS, annotations=INSTANCE.annotations[:1])
    assert broken(loose, *apart) == []
    assert broken(loose, [*apart[0], *apart[1]]) == ["chain 1 is not connected by links"]


def test_enforced_mentions_are_in_a_chain_unless_they_may_stay_alone() -> None:
    exists = replace(INSTANCE, decisions=stated(StatementKind.EXISTS, (5, 5), (6, 6)))
    assert broken(exists, [(1, 3), (6, 6)]) == ["(5, 5) is enforced and in no chain"]
    assert broken(exists, [(1, 3), (5, 5), (6, 6)]) == []
    assert broken(replace(exists, singletons=Singletons.VOTE), [(1, 3), (6, 6)]) == []


def test_mentions_enforced_together_are_in_one_chain() -> None:
    decided = replace(INSTANCE, decisions=stated(StatementKind.TOGETHER, (1, 3), (4, 4)))
    complaint = "the mentions enforced together with (1, 3) are not in one chain"
    assert broken(decided, [(1, 3), (6, 6)], [(2, 2), (4, 4)]) == [complaint]
    vote = replace(decided, singletons=Singletons.VOTE)
    assert broken(vote, [(1, 3), (6, 6)]) == [complaint]
    assert broken(vote) == [complaint]
    assert broken(decided, [(1, 3), (4, 4)]) == []


def test_mentions_enforced_in_different_chains_are_in_different_chains() -> None:
    decided = replace(INSTANCE, decisions=enforced([(1, 3), (6, 6)], [(5, 5)]))
    complaint = "chain 1 holds mentions enforced in 2 different chains"
    assert broken(decided, [(1, 3), (6, 6), (5, 5)]) == [complaint]
    other = replace(INSTANCE, decisions=enforced([(1, 3)], [(2, 2), (4, 4)]))
    assert broken(other, [(1, 3), (6, 6)], [(2, 2), (4, 4)]) == []


def test_mentions_that_are_apart_share_no_chain() -> None:
    decided = replace(INSTANCE, decisions=stated(StatementKind.APART, (5, 5), (6, 6)))
    complaint = "(5, 5) and (6, 6) are decided to be apart and in one chain"
    assert broken(decided, [(1, 3), (5, 5), (6, 6)]) == [complaint]
    assert broken(decided, [(1, 3), (5, 5)]) == []
    assert broken(decided, [(1, 3), (6, 6)]) == []
    assert broken(decided) == []


def test_mentions_that_are_alone_are_in_no_chain() -> None:
    decided = replace(INSTANCE, decisions=stated(StatementKind.ALONE, (5, 5)))
    complaint = "(5, 5) is decided to be alone and in a chain"
    assert complaint in broken(decided, [(1, 3), (5, 5), (6, 6)])
    assert broken(decided, [(1, 3), (6, 6)]) == broken(decided) == []


def test_a_span_that_is_a_mention_is_not_ruled_out() -> None:
    decided = replace(INSTANCE, decisions=stated(StatementKind.MENTION, (5, 5)))
    assert broken(decided) == broken(decided, [(1, 3), (5, 5)]) == []
    closed = Decisions.of((), [5], decided.decisions.statements)
    complaint = "(5, 5) is decided to be a mention and ruled out"
    assert broken(replace(INSTANCE, decisions=closed)) == [complaint]


def test_faults_of_chains_can_come_from_a_memory() -> None:
    remembered = partition([(1, 3), (6, 6)])
    found = list(violations(INSTANCE, remembered, lambda _, chain: [f"of {len(chain)} is bad"]))
    assert found == ["chain 1 of 2 is bad"]


@pytest.mark.parametrize("objective", ["v", "va"])
def test_pairs_of_one_class_are_counted(objective: str) -> None:
    alone = annotation("a", [[(1, 1), (2, 2)], [(3, 3), (4, 4)]])
    instance = Instance((alone,), OBJECTIVES[objective])
    complaints = broken(instance, [(1, 1), (2, 2), (3, 3), (4, 4)])
    pairs = ["chain 1 has 4 pairs that nobody linked"] if objective == "v" else []
    assert complaints == [*pairs, "chain 1 is not connected by links"]


def given_by_rules(*pairs: tuple[int, int]) -> DerivedRules:
    """Return a rule that charges 5 if some pairs of tokens are apart, and so gives their links."""
    return DerivedRules(
        tuple(
            Consequence(Effect.APART_COST, (Span(u, u), Span(v, v)), Rule("ours.lp", 1, "a rule"), 5)
            for u, v in pairs
        )
    )


def test_links_that_rules_give_are_not_among_the_pairs_that_nobody_linked() -> None:
    linked = annotation("a", [[(1, 1), (2, 2)], [(3, 3), (4, 4), (5, 5)]])
    chain = [(token, token) for token in range(1, 6)]
    across = [(u, v) for u in (1, 2) for v in (3, 4, 5)]
    for number in range(len(across) + 1):
        for pairs in combinations(across, number):
            instance = Instance((linked,), OBJECTIVES["v"]).under(given_by_rules(*pairs))
            complaints = broken(instance, chain)
            counts = [int(words.split()[3]) for words in complaints if words.endswith("that nobody linked")]
            assert sum(counts) == 6 - number
            assert complaints[len(counts) :] == ([] if pairs else ["chain 1 is not connected by links"])
    three = annotation("a", [[(1, 1), (2, 2)], [(3, 3), (4, 4)], [(5, 5), (6, 6)]])
    for pairs in combinations([(1, 3), (1, 5), (2, 4), (3, 5), (4, 6)], 2):
        instance = Instance((three,), OBJECTIVES["v"]).under(given_by_rules(*pairs))
        complaints = broken(instance, [*chain, (6, 6)])
        assert sum(int(words.split()[3]) for words in complaints if "nobody" in words) == 12 - 2
