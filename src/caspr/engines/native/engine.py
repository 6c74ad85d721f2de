"""The native engine: from an instance to a proven optimum, or the best so far with a bound."""

from contextlib import suppress

from caspr.engines.native.partition.outcome import ignore_bound
from caspr.engines.native.partition.watch import Watch
from caspr.engines.native.required.settling import settle
from caspr.engines.native.state import Memory, SolveState
from caspr.engines.native.translation.connectivity import Pair, contradicts
from caspr.engines.native.translation.translate import Bundles, enforced_bundles
from caspr.task.instance import Instance
from caspr.task.limits import Limits, Progress, silent
from caspr.task.solution import INFEASIBLE, Partition, Solution, Stop, found
from caspr.text.grouping import Groups


def solve(instance: Instance, limits: Limits, progress: Progress = silent) -> Solution:
    """Solve an instance exactly, or as well as the limits allow."""
    return solve_with(instance, limits, progress, memory=Memory())


def solve_with(
    instance: Instance,
    limits: Limits,
    progress: Progress = silent,
    *,
    memory: Memory,
    joined: Bundles = (),
    apart: frozenset[Pair] = frozenset(),
) -> Solution:
    """Solve with a memory of parts solved before, some mentions joined and some pairs kept apart."""
    state = SolveState(instance, Watch.of(limits), memory, progress, apart)
    try:
        return _solved(state, joined, limits.solutions)
    except KeyboardInterrupt:
        state.watch.stop = Stop.INTERRUPT
        state.on_bound = ignore_bound
    try:
        # The watch has expired now, so this only combines the best that is known of every part.
        return _solved(state, joined, limits.solutions)
    except KeyboardInterrupt:
        if state.value is None or state.best is None:
            raise
        return found(state.value, state.bound or 0, [state.best], stop=Stop.INTERRUPT)


def _solved(state: SolveState, joined: Bundles, solutions: int) -> Solution:
    bundles = merged((*enforced_bundles(state.instance), *joined))
    if any(contradicts(state.instance, bundle, state.apart) for bundle in bundles):
        return INFEASIBLE
    settle(state, bundles)
    if state.value is None or state.best is None:
        return INFEASIBLE
    bound = state.bound or 0
    if solutions == 1 or bound < state.value:
        return found(state.value, bound, [state.best], stop=state.watch.stop)
    return _all_optima(state, bundles, solutions)


def _all_optima(state: SolveState, bundles: Bundles, limit: int) -> Solution:
    """List all optima up to a limit, or the one known if they cannot be listed."""
    from caspr.engines.native.all_optima import list_optima
    from caspr.engines.native.partition.enumerate import UNKNOWN, OptimaSet

    assert state.value is not None and state.best is not None
    optima: OptimaSet[Partition] = UNKNOWN
    with suppress(KeyboardInterrupt):
        optima = list_optima(state, bundles, limit)
    partitions = tuple(optima.listed) or (state.best,)
    return found(
        state.value,
        state.value,
        partitions,
        complete=optima.count == len(partitions),
        count=optima.count,
        at_least=max(optima.least, len(partitions)),
    )


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
