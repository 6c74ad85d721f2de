"""Large and dense shapes, scaled down: sparse ways are exact, and limits leave valid bounds."""

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, count
from random import Random

import numpy as np
import pytest

from caspr.engines import brute
from caspr.engines.baseline import baseline
from caspr.engines.native import cases as demands
from caspr.engines.native import estimate as rough
from caspr.engines.native import links, nesting, solve, state, translate
from caspr.engines.native import links as gains
from caspr.engines.native import links as givers
from caspr.engines.native.incremental import FlipPrice, flip_prices
from caspr.engines.native.partition import heuristics as growing
from caspr.engines.native.partition import problem, splitting
from caspr.engines.native.partition import search as searching
from caspr.engines.native.partition import sparse as blocks
from caspr.engines.native.partition.problem import Problem
from caspr.engines.native.partition.sparse import SparseProblem
from caspr.engines.native.partition.splitting import Split
from caspr.engines.native.partition.watch import ExpiredError, Watch
from caspr.engines.native.proof_writer import UnprovenError, prove_optimal
from caspr.proof.certify import certify
from caspr.proof.verify import verify
from caspr.task.decisions import Decisions, Statement, StatementKind
from caspr.task.instance import Instance
from caspr.task.limits import Limits
from caspr.task.objectives import OBJECTIVES
from caspr.task.pricing import price, violations
from caspr.task.solution import Partition, Solution, Status, Stop
from caspr.task.votes import Evidence, Signature, meet
from caspr.text.document import Annotation, Chain, Document, Span
from tests.engines.native.random_instances import random_instance
from tests.engines.native.test_limits import noisy
from tests.sweeps import some


def halves(objective: str, *, mentions: int, annotators: int = 12, lacking: int = 0) -> Instance:
    """Have half of the annotators put all mentions into one chain, and the others pairs of them."""
    random = Random(1)
    document = Document("d", ("w",) * mentions)
    annotations = []
    for number in range(annotators):
        spans = [Span(token, token) for token in range(1, mentions + 1)]
        chains = [Chain.of("1", spans[number % (lacking + 1) :])]
        if number >= annotators // 2:
            random.shuffle(spans)
            chains = [Chain.of(str(i), spans[i : i + 2]) for i in range(0, mentions - 1, 2)]
        annotations.append(Annotation.of(f"a{number}", document, chains))
    return Instance(tuple(annotations), OBJECTIVES[objective])


def nested(objective: str, *, mentions: int, annotators: int = 4) -> Instance:
    """Make a noisy document in which every fourth mention lies inside another."""
    random = Random(3)
    document = Document("d", ("w",) * (2 * mentions))
    spans = [Span(2 * n + 1, 2 * n + 1 + n % 2) for n in range(mentions)]
    spans += [Span(2 * n + 1, 2 * n + 1) for n in range(1, mentions, 4)]
    annotations = []
    for number in range(annotators):
        chains: dict[int, list[Span]] = {}
        for place, span in enumerate(spans):
            entity = random.randrange(6) if random.random() < 0.3 else place % 5
            chains.setdefault(entity, []).append(span)
        found = [Chain.of(str(entity), chain) for entity, chain in chains.items()]
        annotations.append(Annotation.of(f"a{number}", document, found))
    return Instance(tuple(annotations), OBJECTIVES[objective])


@pytest.fixture
def everything_sparse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have small problems take the ways of large ones."""
    monkeypatch.setattr(splitting, "WRITTEN_OUT", 2)
    monkeypatch.setattr(splitting, "LONG_LIST", 2.0)
    monkeypatch.setattr(links, "WIDE", 3)
    monkeypatch.setattr(links, "MISSING", 0.4)
    monkeypatch.setattr(state, "LARGE", 2)
    monkeypatch.setattr(translate, "LARGE", 2)
    monkeypatch.setattr(rough, "MANY", 0)
    monkeypatch.setattr(rough, "DENSE", 0.0)


@pytest.mark.usefixtures("everything_sparse")
@pytest.mark.parametrize("block", range(8))
def test_sparse_ways_are_exact(block: int) -> None:
    for seed in range(block * 40, block * 40 + 40):
        instance = random_instance(seed, mentions=7)
        ours, truth = solve(instance, Limits(solutions=10**6)), brute.solve(instance, Limits(solutions=10**6))
        assert (ours.status, ours.value) == (truth.status, truth.value), seed
        assert set(ours.partitions) == set(truth.partitions) and ours.complete, seed


@pytest.mark.usefixtures("everything_sparse")
@pytest.mark.parametrize("width", [1, 3, 8])
def test_sparse_ways_are_the_same_in_blocks_of_any_size(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splitting, "LARGEST_MATRIX", 3 if width == 3 else 3000)
    instances = [random_instance(seed, mentions=9) for seed in range(600, 640)]
    instances += [noisy(objective, mentions=24) for objective in OBJECTIVES]
    at_once = [solve(instance, Limits()) for instance in instances]
    in_blocks_of(width, monkeypatch)
    assert [solve(instance, Limits()) for instance in instances] == at_once


@pytest.mark.usefixtures("everything_sparse")
@pytest.mark.parametrize("lacking", [0, 2])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_chains_that_hold_nearly_everything(objective: str, lacking: int) -> None:
    instance = halves(objective, mentions=6, annotators=5, lacking=lacking)
    ours, truth = solve(instance, Limits(solutions=10**6)), brute.solve(instance, Limits(solutions=10**6))
    assert (ours.value, set(ours.partitions)) == (truth.value, set(truth.partitions))


@pytest.mark.usefixtures("everything_sparse")
@pytest.mark.parametrize("seed", range(500, 540))
def test_pieces_that_are_never_written_down_have_valid_bounds(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(splitting, "LARGEST_MATRIX", 3)
    instance = random_instance(seed, mentions=8)
    ours, truth = solve(instance, Limits()), brute.solve(instance, Limits())
    assert (ours.status is Status.INFEASIBLE) == (truth.status is Status.INFEASIBLE)
    if truth.status is not Status.INFEASIBLE:
        certify(instance, ours)
        assert ours.bound <= truth.value <= ours.value
        assert ours.stop is (None if ours.status is Status.OPTIMAL else Stop.SIZE)


def in_blocks_of(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have columns be worked on in blocks of a size."""
    for module in (blocks, gains, givers, growing, links, translate):
        monkeypatch.setattr(module, "BLOCK", block)
    monkeypatch.setattr(problem, "JOINED", block)
    monkeypatch.setattr(blocks, "SAMPLED", 3)
    monkeypatch.setattr(blocks, "NARROW", 4)


@pytest.mark.parametrize("width", [1, 7, 100, 2000])
@pytest.mark.parametrize("shape", ["noisy", "wide", "several chains"])
def test_links_are_the_same_in_blocks_of_any_size(
    shape: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "WIDE", 3)
    instance = {
        "noisy": lambda: noisy("ua", mentions=100, annotators=6),
        "wide": lambda: halves("ua", mentions=60, lacking=2),
        "several chains": lambda: random_instance(11, mentions=8),
    }[shape]()
    kinds = list(dict.fromkeys(map(instance.votes.signature, instance.mentions)))
    at_once = links.find_links(kinds)
    in_blocks_of(width, monkeypatch)
    monkeypatch.setattr(givers, "CROWDED_BLOCK", 0 if width == 7 else 8)
    monkeypatch.setattr(givers, "SHORT", 2)
    in_blocks = links.find_links(kinds)
    for name in ("first", "second", "evidence", "inside", "distinct"):
        assert np.array_equal(getattr(at_once, name), getattr(in_blocks, name))
    monkeypatch.setattr(links, "FEW_PAIRS", 0)
    watch = Watch(deadline=0.0)
    with pytest.raises(ExpiredError):
        links.find_links(kinds, watch)


def test_memory_is_estimated_where_all_chains_hold_nearly_everything() -> None:
    """Then no chain is left to look for partners in."""
    annotators, size = range(12), 210
    lacking = [set(range(10 * annotator, 10 * annotator + 10)) for annotator in annotators]
    kinds = [
        Signature(
            frozenset((annotator, 0) for annotator in annotators if kind not in lacking[annotator]), 4095
        )
        for kind in range(size)
    ]
    found = links.find_links(kinds, Watch(megabytes=1e6))
    assert len(found.first) == sum(range(size - 120, size))


@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_links_are_what_signatures_say(seed: int, counted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is listed at once or left out, with more annotators than one word has bits, and two chains."""
    random = Random(seed)
    annotators = (3, 70)[seed % 2]
    monkeypatch.setattr(givers, "SHORT", (200, 2)[seed // 2 % 2])
    monkeypatch.setattr(links, "WIDE", (200, 5)[seed // 4 % 2])
    monkeypatch.setattr(links, "MISSING", 0.4)
    everybody = (1 << annotators) - 1
    kinds = []
    for _ in range(12):
        marked = [one for one in range(annotators) if random.random() < 0.9]
        chains = frozenset((one, random.choice((1, 1, 1, 2))) for one in marked)
        chains |= {(one, 3) for one in marked if random.random() < 0.1}
        kinds.append(Signature(chains, random.choice((everybody, everybody - 1))))
    kinds = list(dict.fromkeys(kinds))
    found = links.find_links(kinds, counted=counted)

    def told(truth: Evidence) -> Evidence:
        """Return what is said of a pair: of counted annotators, how many they are."""
        return Evidence((1 << truth.k) - 1, (1 << truth.n) - 1) if counted else truth

    pairs = zip(found.first.tolist(), found.second.tolist(), strict=True)
    listed = dict(zip(pairs, found.evidence.tolist(), strict=True))
    for one, other in combinations(range(len(kinds)), 2):
        truth = meet(kinds[one], kinds[other])
        if (one, other) in listed:
            assert found.distinct[listed[one, other]] == told(truth)
        else:
            assert truth.givers == found.everywhere
    assert [found.distinct[number] for number in found.inside] == [told(meet(kind, kind)) for kind in kinds]


@pytest.mark.parametrize("objective", ["v", "ua"])
def test_links_are_listed_with_a_look_at_the_clock_before_every_block(
    objective: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_blocks_of(8, monkeypatch)
    monkeypatch.setattr(links, "FEW_PAIRS", 0)
    monkeypatch.setattr(translate, "LARGE", 2)
    instance, looks = noisy(objective, mentions=60, annotators=6), count()
    translator = translate.Translator(instance, watch=Watch(cancelled=lambda: next(looks) < 0))
    found = next(looks)
    pairs = len(translator.links.first)
    translator.translate((), frozenset())
    # Gather them and find who gave them, then sort them into parts and write down what they gain.
    assert found >= 4 * pairs // 8 and next(looks) - found >= 6 * pairs // 8
    for moment in (0, found // 2, found - 1, found + 3, found + pairs // 8):
        calls = count()
        late = Watch(cancelled=lambda: next(calls) >= moment)  # noqa: B023
        with pytest.raises(ExpiredError):
            translate.Translator(instance, watch=late).translate((), frozenset())


def test_a_large_part_has_a_good_clustering_before_it_is_reduced(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(given: Problem | SparseProblem, watch: Watch, *, record: bool) -> Split:
        if given.size > 20:
            raise KeyboardInterrupt
        return splitting.split(given, watch, record=record)

    monkeypatch.setattr(state, "LARGE", 20)
    instance = noisy("va", mentions=60)
    optimum = solve(instance, Limits())
    monkeypatch.setattr(state, "split", interrupted)
    early = solve(instance, Limits())
    certify(instance, early)
    assert early.stop is Stop.INTERRUPT
    assert early.value - optimum.value < 0.1 * (instance.all_omitted - optimum.value)


def test_a_part_for_which_memory_does_not_suffice_is_said_to_be_the_cause(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(splitting, "BYTES", 2**40)
    instance = noisy("ua", mentions=80)
    assert solve(instance, Limits()).stop is None
    unproven = solve(instance, Limits(megabytes=10_000))
    certify(instance, unproven)
    assert (unproven.status, unproven.stop) == (Status.FEASIBLE, Stop.MEMORY)


@pytest.mark.usefixtures("everything_sparse")
def test_first_estimates_hold() -> None:
    """A value is what a legal partition costs, and no solution costs less than the bound."""
    raised = offered = 0
    dense = [noisy(name, mentions=7, seed=seed) for seed in range(12) for name in OBJECTIVES]
    for seed, instance in enumerate([*dense, *(random_instance(seed, mentions=7) for seed in range(100))]):
        truth, here = brute.solve(instance, Limits()), state.SolveState(instance, Watch())
        rough.estimate(here)
        if truth.status is Status.INFEASIBLE:
            assert here.value is None
            continue
        assert (here.bound or 0) <= truth.value <= (truth.value if here.value is None else here.value), seed
        raised += bool(here.bound)
        if here.value is not None and here.best is not None:
            assert price(instance, here.best).total == here.value and not any(violations(instance, here.best))
            offered += 1
    assert raised > 30 and offered > 30


def demanding(objective: str) -> Instance:
    """Have some mentions of a noisy document exist."""
    instance = noisy(objective, mentions=30)
    alone = [Statement.of(StatementKind.EXISTS, [mention]) for mention in instance.mentions[::4]]
    return replace(instance, decisions=Decisions.of([], [], alone))


SHAPES: dict[str, Callable[[str], Instance]] = {
    "demanding": demanding,
    "dense": lambda objective: noisy(objective, mentions=60, annotators=8),
    "halves": lambda objective: halves(objective, mentions=80),
    "nested": lambda objective: nested(objective, mentions=48),
}


def check(instance: Instance, early: Solution, optimum: int) -> None:
    certify(instance, early)
    assert early.bound <= optimum <= early.value
    assert early.stop is not None or early.status is Status.OPTIMAL


@pytest.mark.parametrize("objective", ["u", "ua"])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_limit_of_any_kind_at_any_moment(
    shape: str, objective: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every look at the clock is a moment at which a limit may be reached."""
    for size, large in (("WRITTEN_OUT", 2), ("LONG_LIST", 2.0)):
        monkeypatch.setattr(splitting, size, large)
    monkeypatch.setattr(rough, "MANY", 1000)
    instance, random, looks = SHAPES[shape](objective), Random(4), count()
    proven = solve(instance, Limits(seconds=120, cancelled=lambda: next(looks) < 0))
    assert proven.status is Status.OPTIMAL
    expired = Watch.expired
    for stop in (Stop.INTERRUPT, Stop.TIME, Stop.MEMORY):
        for moment in random.choices(range(1, next(looks)), k=4):
            calls = count()

            def reached(
                watch: Watch, moment: int = moment, stop: Stop = stop, calls: "count[int]" = calls
            ) -> bool:
                if next(calls) >= moment:
                    watch.stop = watch.stop or stop
                return expired(watch)

            with monkeypatch.context() as patch:
                patch.setattr(Watch, "expired", reached)
                early = solve(instance, Limits())
            check(instance, early, proven.value)


@pytest.mark.usefixtures("everything_sparse")
@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("decided", [False, True])
def test_a_limit_at_every_look_leaves_a_valid_solution_and_bound(
    objective: str, decided: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All optima are wanted, and all pairs are worked on in blocks of a few."""
    in_blocks_of(16, monkeypatch)
    instance = noisy(objective, mentions=9, annotators=5)
    if decided:
        statements = [Statement.of(StatementKind.EXISTS, [mention]) for mention in instance.mentions[::4]]
        apart = Statement.of(StatementKind.APART, instance.mentions[1:3])
        together = Chain.of("1", instance.mentions[5:7])
        instance = replace(instance, decisions=Decisions.of([together], [], [*statements, apart]))
    truth, looks = brute.solve(instance, Limits(solutions=10**6)), count()
    every = solve(instance, Limits(solutions=10**6, cancelled=lambda: next(looks) < 0))
    assert truth.status is Status.OPTIMAL and set(every.partitions) == set(truth.partitions)
    for moment in some(range(next(looks))):
        calls = count()
        early = solve(instance, Limits(solutions=10**6, cancelled=lambda: next(calls) >= moment))  # noqa: B023
        check(instance, early, truth.value)
        assert next(calls) <= moment + 2


@pytest.mark.parametrize("objective", ["u", "va"])
def test_a_limit_at_every_look_ends_prices_and_certificates(objective: str) -> None:
    instance = noisy(objective, mentions=12)
    solution, looks = solve(instance, Limits()), count()
    pair = solution.partitions[0][0][:2]

    def work(cancelled: Callable[[], bool]) -> tuple[FlipPrice, bool]:
        limits = Limits(cancelled=cancelled)
        [price] = flip_prices(instance, solution, [(pair[0], pair[1])], limits)
        try:
            proof = prove_optimal(instance, solution, limits)
        except UnprovenError as refused:
            assert str(refused) == "it was interrupted"
            return price, False
        assert verify(json.loads(json.dumps(proof)), instance) == solution.value
        return price, True

    price, proven = work(lambda: next(looks) < 0)
    assert price.exact and price.price is not None and proven
    moments, unproven = list(some(range(next(looks)))), 0
    for moment in moments:
        calls = count()
        early, proven = work(lambda: next(calls) >= moment)  # noqa: B023
        assert early.price is not None and early.price <= price.price
        assert early == price or not early.exact
        unproven += not proven
    # After the last looks everything is proven already.
    assert 2 * unproven >= len(moments)


def test_the_ways_out_of_an_offence_end_with_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mention of a large document has thousands of possible partners."""
    monkeypatch.setattr(demands, "GRACE", -1.0)
    instance, looks = demanding("va"), count()
    here = state.SolveState(instance, Watch(cancelled=lambda: next(looks) >= 3))
    bundles = instance.bundles
    offence = demands.Offence(0, bundles[0])
    with pytest.raises(ExpiredError):
        list(demands.ways(here, demands.Branch(bundles), offence))
    assert next(looks) == 4


def test_one_annotation_is_enough_where_there_is_no_time_for_all() -> None:
    instance = demanding("v")
    enough, best = baseline(instance, 0.0), baseline(instance)
    assert enough is not None and best is not None
    for answer in (enough, best):
        assert not any(violations(instance, answer))
    assert price(instance, best).total < price(instance, enough).total
    first = [set(chain.mentions) for chain in instance.annotations[0].chains]
    assert sum(any(chain <= own for own in first) for chain in map(set, enough)) > len(first) // 2


@pytest.mark.parametrize("objective", ["va", "ua"])
def test_better_solutions_are_shown_while_a_part_is_searched(objective: str) -> None:
    shown: list[int] = []

    def progress(value: int | None, bound: int | None, *, done: int = 0, parts: int = 0) -> None:
        if value is not None and bound is not None:
            shown.append(value)

    instance = noisy(objective, mentions=60, annotators=8)
    solution = solve(instance, Limits(), progress)
    assert shown[0] == instance.all_omitted
    assert shown == sorted(shown, reverse=True) and shown[-1] == solution.value


def test_better_solutions_that_meet_demands_are_shown_while_a_part_is_searched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(nesting, "OFTEN", 0.0)
    # Nothing is known before the search.
    monkeypatch.setattr(searching, "first_clustering", lambda problem, _: np.arange(problem.size))
    shown: list[int] = []
    offer = state.SolveState.offer

    def offered(self: state.SolveState, chains: Partition, cost: int, *, tentative: bool = False) -> None:
        if tentative:
            shown.append(cost)
            certify(self.instance, Solution.of(cost, 0, [chains]))
        offer(self, chains, cost, tentative=tentative)

    monkeypatch.setattr(state.SolveState, "offer", offered)
    solution = solve(demanding("u"), Limits())
    assert shown and min(shown) == solution.value


def test_listing_all_optima_looks_at_the_clock() -> None:
    """With three annotators under V, a link of one of them gains nothing and loses nothing: ties abound."""
    instance, looks = random_instance(11, mentions=8), count()
    every = solve(instance, Limits(solutions=10**6, cancelled=lambda: next(looks) < 0))
    total, partial = next(looks), 0
    for moment in range(1, total):
        calls = count()
        early = solve(instance, Limits(solutions=10**6, cancelled=lambda: next(calls) >= moment))  # noqa: B023
        assert early.complete <= (early.partitions == every.partitions)
        if early.status is Status.OPTIMAL and not early.complete:
            partial += 1
            assert [finding.code for finding in early.findings] == ["solutions-not-listed"]
            assert set(early.partitions) <= set(every.partitions)
    assert partial
