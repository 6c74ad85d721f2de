"""The native engine: from an instance to a proven optimum, or the best so far with a bound."""

from contextlib import suppress

from caspr.engines.native.partition.outcome import unheard
from caspr.engines.native.partition.watch import Watch
from caspr.engines.native.required.settling import settle
from caspr.engines.native.state import Memory, Pair, SolveState
from caspr.engines.native.translation.connectivity import contradicts
from caspr.engines.native.translation.translate import Bundles, enforced_bundles
from caspr.task.instance import Instance
from caspr.task.limits import Limits, Progress, silent
from caspr.task.solution import INFEASIBLE, Solution, Stop, found
from caspr.text.document import Span


def solve(instance: Instance, limits: Limits, progress: Progress = silent) -> Solution:
    """Solve an instance exactly, or as well as the limits allow."""
    return solve_with(instance, limits, progress, jobs=limits.jobs, memory=Memory())


def solve_with(
    instance: Instance,
    limits: Limits,
    progress: Progress = silent,
    *,
    memory: Memory,
    joined: Bundles = (),
    apart: frozenset[Pair] = frozenset(),
    jobs: int = 1,
) -> Solution:
    """Solve with a memory of parts solved before, some mentions joined and some pairs kept apart.

    With several `jobs`, large parts are searched in processes of their own; the answer is the same.
    """
    session = SolveState(instance, Watch.of(limits), memory, progress, apart, jobs=jobs)
    try:
        return _solved(session, joined, limits.solutions)
    except KeyboardInterrupt:
        session.watch.stop = Stop.INTERRUPT
        session.tell = unheard
    try:
        # Time is over now, so this only puts together the best that is known of every part.
        return _solved(session, joined, limits.solutions)
    except KeyboardInterrupt:
        if session.value is None or session.best is None:
            raise
        return found(session.value, session.bound or 0, [session.best], stop=Stop.INTERRUPT)


def _solved(session: SolveState, joined: Bundles, solutions: int) -> Solution:
    bundles = merged((*enforced_bundles(session.instance), *joined))
    if any(contradicts(session.instance, bundle, session.apart) for bundle in bundles):
        return INFEASIBLE
    settle(session, bundles)
    if session.value is None or session.best is None:
        return INFEASIBLE
    bound = session.bound or 0
    if solutions == 1 or bound < session.value:
        return found(session.value, bound, [session.best], stop=session.watch.stop)
    return _all_optima(session, bundles, solutions)


def _all_optima(session: SolveState, bundles: Bundles, limit: int) -> Solution:
    """List all optima up to a limit, or the one known if they cannot be listed."""
    from caspr.engines.native.all_optima import Alternatives, list_optima

    assert session.value is not None and session.best is not None
    alternatives = Alternatives((), None)
    with suppress(KeyboardInterrupt):
        alternatives = list_optima(session, bundles, limit)
    partitions, count = alternatives.partitions or (session.best,), alternatives.count
    complete = count == len(partitions)
    least = max(alternatives.least, len(partitions))
    return found(session.value, session.value, partitions, complete=complete, count=count, at_least=least)


def merged(bundles: Bundles) -> Bundles:
    """Unite bundles that share a mention.

    >>> a, b, c = Span(1, 1), Span(2, 2), Span(3, 3)
    >>> merged(((a, b), (b, c))) == ((a, b, c),)
    True
    """
    disjoint: list[set[Span]] = []
    for bundle in bundles:
        touching = [group for group in disjoint if group & set(bundle)]
        disjoint = [group for group in disjoint if group not in touching]
        disjoint.append(set(bundle).union(*touching))
    return tuple(sorted(tuple(sorted(group)) for group in disjoint))
