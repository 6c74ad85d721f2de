"""The native engine: from an instance to a proven optimum, or the best so far with a bound."""

from contextlib import suppress
from dataclasses import replace

from caspr.engines.baseline import FALLBACK, priced_baseline
from caspr.engines.native.cases import settle
from caspr.engines.native.connectivity import contradicts
from caspr.engines.native.estimate import estimate
from caspr.engines.native.links import gain_inside
from caspr.engines.native.partition.outcome import ignore_bound, ignore_found
from caspr.engines.native.partition.watch import ExpiredError, Watch
from caspr.engines.native.state import Memory, SolveState
from caspr.engines.native.translate import Bundles, enforced_bundles
from caspr.errors import EngineError
from caspr.task.decisions import Pair
from caspr.task.instance import Instance
from caspr.task.limits import Limits, Progress, silent
from caspr.task.solution import INFEASIBLE, Partition, Solution, Stop, canonical
from caspr.task.ties import open_ties, rank
from caspr.text.findings import Finding, warning
from caspr.text.grouping import Groups

SHORTLY = 0.2
"""Seconds for which single annotations are tried after a limit was reached."""
PER_SECOND = 400_000
"""How many mentions, counted once for each annotator, that takes a second of the processor for."""

PATIENCE, TIMES = 1_000_000_000, 10
"""Ties are left open after this much work, or this many times that of the proof, whichever is more."""


def solve(instance: Instance, limits: Limits, progress: Progress = silent) -> Solution:
    """Solve an instance exactly, or as well as the limits allow."""
    return solve_with(instance, limits, progress, memory=Memory(record=limits.certificate))


def solve_with(
    instance: Instance,
    limits: Limits,
    progress: Progress = silent,
    *,
    memory: Memory,
    joined: Bundles = (),
    apart: frozenset[Pair] = frozenset(),
    ties: bool = True,
) -> Solution:
    """Solve with a memory of parts solved before, some mentions joined and some pairs kept apart.

    Unless `ties` are to be decided by the rule for them, any of several optima may be the solution.
    """
    state = SolveState(instance, _watch(instance, limits), memory, progress, apart, joined)
    # What is joined or kept apart beside the decisions is no part of the instance.
    state.fallback = None if joined or apart else False
    solution = _within_limits(state, joined, limits.solutions if ties else 0)
    if state.fallback:
        solution = replace(solution, findings=(*solution.findings, warning("baseline", FALLBACK)))
    return replace(solution, recorded=state) if limits.certificate else solution


def _watch(instance: Instance, limits: Limits) -> Watch:
    """Start the clock; of a time limit, what the baseline may take is left for it, but no more than half."""
    watch = Watch.of(limits)
    if limits.seconds is not None:
        work = len(instance.votes.signatures) * len(instance.annotations)
        watch.deadline -= min(limits.seconds / 2, work / PER_SECOND)
    return watch


def _within_limits(state: SolveState, joined: Bundles, solutions: int) -> Solution:
    """Solve, or return the best so far."""
    try:
        return _solved(state, joined, solutions)
    except ExpiredError:
        return _best_known(state)
    except KeyboardInterrupt:
        state.watch.stop = Stop.INTERRUPT
        state.on_bound, state.on_found = ignore_bound, ignore_found
    try:
        # The watch has expired now, so this only combines the best that is known of every part.
        return _solved(state, joined, solutions)
    except ExpiredError:
        return _best_known(state)
    except KeyboardInterrupt:
        if state.value is None:
            raise
        return _best_known(state)


def _best_known(state: SolveState) -> Solution:
    """Return the best solution so far, where a limit came before there was a relaxation."""
    if state.value is None:
        _offer_baseline(state)
    if state.value is None:
        raise EngineError("engine native: no solution was found within the limits; give it more time")
    return _one_solution(state)


def _offer_baseline(state: SolveState) -> None:
    """Offer what needs no search: no result is worse than the best annotator."""
    if state.fallback is not False:
        return
    try:
        known = priced_baseline(state.instance, SHORTLY)
    except KeyboardInterrupt:
        if state.value is None:
            raise
        state.watch.stop = Stop.INTERRUPT
        return
    if known is not None:
        state.fallback = state.value is None or known[1] < state.value
        state.offer(*known)


def _solved(state: SolveState, joined: Bundles, solutions: int) -> Solution:
    state.memory.forget_unless(state.instance.rules)
    bundles = merged((*enforced_bundles(state.instance), *joined))
    if state.instance.constraints.overruled or any(
        contradicts(state.instance, bundle, state.apart) for bundle in bundles
    ):
        return INFEASIBLE
    _offer_bundles(state, bundles)
    if not state.memory.outcomes:
        estimate(state)
    settle(state, bundles)
    if state.value is None or state.best is None:
        return INFEASIBLE
    if solutions == 0 or (state.bound or 0) < state.value:
        return _one_solution(state)
    findings = _decide_ties(state, bundles)
    solution = _one_solution(state) if solutions == 1 else _all_optima(state, bundles, solutions)
    return replace(solution, findings=(*findings, *solution.findings))


def _decide_ties(state: SolveState, bundles: Bundles) -> tuple[Finding, ...]:
    """Replace the best solution by the first of the same cost; report it if that is not proven."""
    from caspr.engines.native.ties import decide_ties

    watch, decided = state.watch, None
    with watch.allowing(max(PATIENCE, TIMES * watch.work)):
        try:
            decided = decide_ties(state, bundles)
        except KeyboardInterrupt:
            watch.stop = Stop.INTERRUPT
        except ExpiredError:
            pass
    if decided is not None and _costs_no_more(state, decided.partition):
        state.best = decided.partition
        if decided.proven:
            return ()
    return (open_ties(str(watch.cause or "there are too many to compare")),)


def _costs_no_more(state: SolveState, partition: Partition) -> bool:
    """Return whether a partition costs what the best one does."""
    return partition == state.best or state.cost(partition) == state.value


def _one_solution(state: SolveState) -> Solution:
    """Return the best solution with its bound, and why it is not proven, if it is not."""
    if (state.bound or 0) < (state.value or 0):
        _offer_baseline(state)
    assert state.value is not None and state.best is not None
    bound = state.bound or 0
    cause = state.watch.cause if bound < state.value else state.watch.stop
    return Solution.of(state.value, bound, [state.best], stop=cause)


def _offer_bundles(state: SolveState, bundles: Bundles) -> None:
    """Offer the first solution there is, where nothing is demanded: all alone but what must be together."""
    instance = state.instance
    state.raise_bound(0)
    if not instance.demands and all(len(bundle) == 1 or bundle in state.held for bundle in bundles):
        chains = [bundle for bundle in bundles if len(bundle) > 1]
        gained = sum(gain_inside(instance, chain) for chain in chains)
        state.offer(canonical(chains), instance.all_apart - gained, tentative=True)


def _all_optima(state: SolveState, bundles: Bundles, limit: int) -> Solution:
    """List all optima up to a limit, or the one known if they cannot be listed."""
    from caspr.engines.native.all_optima import list_optima
    from caspr.engines.native.partition.optima import UNKNOWN, OptimaSet

    assert state.value is not None and state.best is not None
    optima: OptimaSet[Partition] = UNKNOWN
    with suppress(KeyboardInterrupt, ExpiredError):
        optima = list_optima(state, bundles, limit)
    others = sorted((partition for partition in optima.listed if partition != state.best), key=rank)
    partitions = (state.best, *others)[:limit]
    listed = Solution.of(
        state.value,
        state.value,
        partitions,
        complete=optima.count == len(partitions),
        count=optima.count,
        at_least=max(optima.least, len(partitions)),
        stop=state.watch.stop,
    )
    if listed.complete or len(partitions) >= limit or state.watch.stop is None:
        return listed
    message = f"not all optimal solutions were listed: {state.watch.stop}"
    return replace(listed, findings=(warning("solutions-not-listed", message),))


def merged(bundles: Bundles) -> Bundles:
    """Unite bundles that share a mention.

    >>> from caspr.text.document import Span
    >>> a, b, c = Span(1, 1), Span(2, 2), Span(3, 3)
    >>> merged(((a, b), (b, c))) == ((a, b, c),)
    True
    """
    groups = Groups(sorted(mention for bundle in bundles for mention in bundle))
    for bundle in bundles:
        for mention in bundle[1:]:
            groups.join(bundle[0], mention)
    return tuple(map(tuple, groups.lists()))
