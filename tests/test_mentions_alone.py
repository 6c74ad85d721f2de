"""Spans that the adjudicator calls mentions: in a chain or alone, and never lost."""

import json
import random
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

from caspr.adjudication import adjudicate_document
from caspr.engines import brute, choose
from caspr.engines.native.proof_writer import prove_optimal
from caspr.errors import EngineError
from caspr.proof.verify import verify
from caspr.task.contradictions import feasible
from caspr.task.decisions import Decisions, Statement, StatementKind
from caspr.task.instance import Instance, Nesting, Singletons
from caspr.task.limits import Limits, silent
from caspr.task.settings import PRESETS, Settings
from caspr.text.document import Span
from tests.instances import annotation, paper_annotations, random_instance

PAPER = PRESETS["paper"]


def say(kind: str, *mentions: tuple[int, int]) -> Decisions:
    return Decisions.of(statements=[Statement.of(StatementKind(kind), mentions)])


def chains(decisions: Decisions, settings: Settings = PAPER) -> set[tuple[Span, ...]]:
    result = adjudicate_document(paper_annotations(), decisions, settings)
    return {chain.mentions for chain in result.chains}


@pytest.mark.parametrize("singletons", [Singletons.DROP, Singletons.VOTE])
@pytest.mark.parametrize("kind", ["mention", "alone"])
def test_a_span_without_a_partner_is_a_chain_of_one(kind: str, singletons: Singletons) -> None:
    settings = replace(PAPER, singletons=singletons)
    assert ((3, 3),) in chains(say(kind, (3, 3)), settings)  # nobody marked it
    assert ((3, 3),) not in chains(Decisions(), settings)


def test_a_mention_may_be_in_a_chain_and_need_not() -> None:
    free = chains(Decisions())
    in_chain = next(iter(free))[0]
    assert chains(say("mention", in_chain)) == free
    assert chains(say("alone", in_chain)) != free
    assert (in_chain,) in chains(say("alone", in_chain))


def test_a_mention_that_is_alone_has_the_boundary_it_was_decided_with() -> None:
    both = [annotation("a", [[(1, 2), (4, 4)]]), annotation("b", [[(1, 1), (4, 4)]])]
    settings = replace(PAPER, variants=True)
    for span in ((1, 1), (1, 2)):
        for kind in ("mention", "alone"):
            result = adjudicate_document(both, say(kind, span), settings)
            marked = {mention for chain in result.chains for mention in chain.mentions}
            assert span in marked
            assert len(marked & {(1, 1), (1, 2)}) == 1


def test_brute_force_on_the_decisions_written_as_pairs() -> None:
    """Alone is the same as apart from everything, and a mention decides nothing about chains."""
    rng, native, compared = random.Random(29), choose("native")[1], 0
    for _ in range(60):
        instance = random_instance(rng, mentions=6, odd=True)
        spans = instance.mentions
        if len(spans) < 2:
            continue
        span = rng.choice(spans)
        pairs = [Statement.of(StatementKind.APART, [span, other]) for other in spans if other != span]
        apart = replace(instance, decisions=Decisions.of(statements=pairs))
        alone = replace(instance, decisions=say("alone", span))
        mention = replace(instance, decisions=say("mention", span))
        every = Limits(solutions=10_000)
        assert brute.solve(alone, every).partitions == brute.solve(apart, every).partitions
        assert brute.solve(mention, every).partitions == brute.solve(instance, every).partitions
        assert native(alone, every, silent).partitions == brute.solve(apart, every).partitions
        compared += 1
    assert compared > 40


def test_nested_pairs_that_a_decision_permits() -> None:
    """Every engine lets exactly these share a chain, and the proof of it verifies."""
    rng, shared = random.Random(37), 0
    engines = [choose("native")[1], choose("clingo", "mm")[1]]
    for _ in range(60):
        instance = replace(random_instance(rng, mentions=6, odd=True), nested=Nesting.NEVER)
        pairs = [pair for pair in combinations(instance.mentions, 2) if pair[0].nests_with(pair[1])]
        if not pairs:
            continue
        pair = rng.choice(pairs)
        permitted = replace(instance, decisions=say("nested", *pair))
        expected = brute.solve(permitted, Limits(solutions=1000))
        for engine in engines:
            assert engine(permitted, Limits(solutions=1000), silent).partitions == expected.partitions
        assert verify(prove(permitted), permitted) == expected.value
        if expected.value < brute.solve(instance, Limits()).value:
            assert any(set(pair) <= set(chain) for chain in expected.partitions[0])
            with pytest.raises(EngineError):
                verify(prove(permitted), instance)
            shared += 1
    assert shared > 0


def test_certificates_of_results_with_mentions_alone() -> None:
    rng, proven, refused = random.Random(31), 0, 0
    for _ in range(90):
        instance = random_instance(rng, mentions=6, decisions=True, odd=True)
        spans = sorted({span for one in instance.annotations for span in one.mentions})
        if not spans:
            continue
        statements = [
            Statement.of(StatementKind.ALONE, [rng.choice(spans)]),
            Statement.of(StatementKind.MENTION, [rng.choice(spans)]),
        ]
        decisions = replace(instance.decisions, statements=(*instance.decisions.statements, *statements))
        decided = replace(instance, decisions=decisions)
        if not feasible(decided, decisions):
            continue
        proof = prove(decided)
        assert verify(proof, decided) == brute.solve(decided, Limits()).value
        proven += 1
        without = brute.solve(instance, Limits())
        if without.value < proof["value"]:
            # With other decisions, the chains of one break a decision and the bound of the other is too high.
            for forged, task in ((prove(instance), decided), (proof, instance)):
                with pytest.raises(EngineError):
                    verify(forged, task)
            refused += 1
    assert proven > 15
    assert refused > 0


def prove(instance: Instance) -> dict[str, Any]:
    written = prove_optimal(instance, choose("native")[1](instance, Limits(), silent), Limits())
    assert written is not None
    plain: dict[str, Any] = json.loads(json.dumps(written))
    return plain
