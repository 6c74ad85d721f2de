"""Whatever the limit, no result is worse than the best annotator: the baseline needs no search."""

from dataclasses import replace
from functools import partial
from random import Random

import pytest

from bench.corpora import DS1, DS2, Noise, Shape, make_document, novel
from bench.loads import dense, halves
from caspr.engines import baseline as module
from caspr.engines.baseline import baseline, legal_cost, linked_cost, priced_baseline
from caspr.engines.native import solve
from caspr.proof.certify import certify
from caspr.task.instance import Instance
from caspr.task.limits import Limits
from caspr.task.objectives import OBJECTIVES, Coefficients
from caspr.task.pricing import price, violations
from caspr.task.solution import Partition, Status, canonical
from caspr.text.document import Annotation, Chain, Document, Span
from tests.engines.native.random_instances import random_instance
from tests.sweeps import some

NOISY = Noise(found=0.7, moved=0.2, stray=0.2, split=0.3, own=0.1)


def shape(mentions: int, annotators: int, noise: Noise = DS2.noise) -> Shape:
    made = novel(tokens=10 * mentions, mentions=mentions, longest=mentions // 6, annotators=annotators)
    return replace(made, noise=noise)


NOVELS = [shape(mentions, annotators) for mentions in (60, 400, 1200) for annotators in (3, 8, 15, 30)]
CROWDS = [shape(mentions, 15, noise) for mentions in (150, 500) for noise in (DS1.noise, NOISY)]
SHAPES = [partial(make_document, one, Random(number)) for number, one in enumerate([*NOVELS, *CROWDS])]
SHAPES += [partial(made, *size) for made in (dense, halves) for size in ((100, 6), (600, 20))]
"""Twenty documents: novels, crowds that often disagree, and dense ones."""


def fitted(instance: Instance) -> int:
    """Return what the best annotator costs, made to fit the rules."""
    own = ([chain.mentions for chain in one.chains] for one in instance.annotations)
    costs = [legal_cost(instance, module._fit(instance, [], chains)) for chains in own]
    return min(cost for cost in costs if cost is not None)


@pytest.mark.parametrize("case", some(range(len(SHAPES)), few=7))
def test_no_limit_leaves_less_than_the_best_annotator(case: int) -> None:
    random = Random(case)
    instance = Instance(SHAPES[case]().annotations, OBJECTIVES[random.choice(sorted(OBJECTIVES))])
    least = fitted(instance)
    for limit in (0.05, 0.05 * 100 ** random.random()):
        solution = solve(instance, Limits(seconds=limit))
        certify(instance, solution)
        assert solution.bound <= solution.value <= least


def test_what_was_not_searched_is_said() -> None:
    instance = Instance(SHAPES[6]().annotations, OBJECTIVES["u"])
    early = solve(instance, Limits(seconds=0))
    assert early.status is Status.FEASIBLE and early.value == (priced_baseline(instance) or ((), 0))[1]
    assert [finding.code for finding in early.findings] == ["baseline"]
    assert not solve(instance, Limits()).findings


@pytest.mark.parametrize("seed", range(40))
def test_the_baseline_is_a_solution_if_there_is_one(seed: int) -> None:
    instance = random_instance(seed, mentions=8)
    found = priced_baseline(instance)
    if found is not None:
        assert not any(violations(instance, found[0]))
        assert price(instance, found[0]).total == found[1]
        assert baseline(instance) == found[0]


@pytest.mark.parametrize("block", range(4))
def test_where_prices_add_up_they_are_what_all_pairs_cost(block: int) -> None:
    legal = broken = in_full = 0
    for seed in range(block * 60, block * 60 + 60):
        random = Random(seed)
        number, costs = random.randint(1, 6), partial(random.choices, range(1, 9))
        given = [_drawn(random, str(annotator), overlaps=not seed % 5) for annotator in range(number)]
        weights = Coefficients(tuple(costs(k=number)), tuple(costs(k=number)), None)
        instance = Instance(tuple(given), OBJECTIVES["v"], weights=random.choice((weights, None)))
        in_full += not module._adds_up(instance)
        for _ in range(10 if module._adds_up(instance) else 0):
            partition = canonical(chain.mentions for chain in _drawn(random, "", overlaps=False).chains)
            cost = linked_cost(instance, partition)
            assert cost == legal_cost(instance, partition)
            legal, broken = legal + (cost is not None), broken + (cost is None)
    assert legal and broken and in_full


def _drawn(random: Random, name: str, *, overlaps: bool) -> Annotation:
    """Draw chains of a few spans, some of them inside others; the same span is in two if chains overlap."""
    spans = [Span(token, token + length) for token in range(1, 6) for length in (0, 1)]
    document = Document("d", ("w",) * 20)
    marked = random.sample(spans, random.randint(2, 6))
    cut = random.randint(1, len(marked) - 1)
    chains = [marked[:cut], marked[cut - overlaps :]]
    kept = [Chain.of(str(number), chain) for number, chain in enumerate(chains) if len(chain) > 1]
    return Annotation.of(name, document, kept)


def test_prices_do_not_add_up_where_pairs_may_be_invented_or_more_than_votes_counts() -> None:
    given = annotation("a", [1, 2, 3]), annotation("b", [1, 2])
    assert module._adds_up(Instance(given, OBJECTIVES["u"]))
    assert not module._adds_up(Instance(given, OBJECTIVES["ua"]))
    assert not module._adds_up(Instance(given, OBJECTIVES["u"], seen=((Span(1, 2),), None)))


def annotation(name: str, *chains: list[int]) -> Annotation:
    document = Document("d", ("w",) * 20)
    spans = ([Span(token, token) for token in chain] for chain in chains)
    return Annotation.of(name, document, [Chain.of(str(number), chain) for number, chain in enumerate(spans)])


def test_the_majority_is_better_than_every_annotator() -> None:
    """Each annotator errs elsewhere, so most of them are right everywhere."""
    truth = [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]
    split = [[*truth[:n], truth[n][:2], truth[n][2:], *truth[n + 1 :]] for n in range(3)]
    for objective in OBJECTIVES.values():
        found = baseline(Instance(tuple(annotation(str(n), *split[n]) for n in range(3)), objective))
        assert [[mention.start for mention in chain] for chain in found or ()] == truth


def test_chains_of_the_majority_hold_no_pair_that_nobody_linked() -> None:
    """1-2 and 2-3 have majorities, and nobody links 1 with 3."""
    given = [
        annotation("a", [1, 2, 4]),
        annotation("b", [2, 3]),
        annotation("c", [1, 2, 4]),
        annotation("d", [2, 3]),
    ]
    instance = Instance((*given, annotation("e", [1, 2, 4])), OBJECTIVES["u"])
    chains = [set(chain) for chain in module._majority(instance)]
    assert {span.start for span in max(chains, key=len)} == {1, 2, 4}


def test_the_best_annotator_is_tried_first_whatever_weighs() -> None:
    given = (
        annotation("a", [1, 2], [3, 4]),
        annotation("b", [1, 3], [2, 4]),
        annotation("c", [1, 2], [3, 4]),
    )
    assert tried_first(Instance(given)) == ["1-2", "3-4"]
    heavy = Coefficients((1, 9, 1), (1, 9, 1), None)
    assert tried_first(Instance(given, weights=heavy)) == ["1-3", "2-4"]


def tried_first(instance: Instance) -> list[str]:
    """Return the chains that are tried first."""
    first = module._candidates(instance)[0]
    return ["-".join(str(mention.start) for mention in chain) for chain in first]


def test_the_majority_is_tried_first_unless_an_annotator_seems_better() -> None:
    given = annotation("a", [1, 2, 3]), annotation("b", [1, 2]), annotation("c", [1, 2, 3])
    instance = Instance(given, OBJECTIVES["u"])
    *annotators, majority = module._estimated(instance, list(module._majority(instance)))
    assert majority == max(annotators)
    *annotators, worse = module._estimated(instance, [(Span(1, 1), Span(2, 2))])
    assert worse < max(annotators)


def test_once_time_is_up_a_second_answer_is_tried_only_if_it_may_be_the_best(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[Partition] = []

    def linked_cost(instance: Instance, partition: Partition) -> int:
        tried.append(partition)
        return 1

    monkeypatch.setattr(module, "linked_cost", linked_cost)
    sure = annotation("a", [1, 2, 3, 4, 5]), annotation("b", [1, 2, 3, 4, 5]), annotation("c", [7, 8])
    priced_baseline(Instance(sure, OBJECTIVES["u"]), 0)
    assert len(tried) == 1
    alike = [annotation(str(n), [1, 2], [3, 4]) for n in range(2)]
    alike += [annotation(str(n), [1, 3], [2, 4]) for n in (2, 3)]
    priced_baseline(Instance(tuple(alike), OBJECTIVES["u"]), 0)
    assert len(tried) == 3


@pytest.mark.parametrize("third", [(), ([7, 8],)], ids=["nothing marked", "something else"])
def test_chains_without_a_pair_are_compared_too_if_time_is_up(third: tuple[list[int], ...]) -> None:
    """Most annotators link nothing here, so the majority has only chains of one."""
    given = annotation("a", [1, 2, 3]), annotation("b", [4, 5]), annotation("c", *third)
    instance = Instance(given, OBJECTIVES["va"])
    assert priced_baseline(instance, -1) == priced_baseline(instance)
