"""Parts solved in several processes.

Parts are independent problems, and what a search finds depends on its problem alone; so however many
processes share the work, the answer is the same.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from caspr.engines.native.partition.outcome import SearchOutcome
from caspr.engines.native.partition.problem import Problem
from caspr.engines.native.partition.reductions import Reduced
from caspr.engines.native.partition.search import search_reduced
from caspr.engines.native.partition.watch import Watch
from caspr.process_tree import end_with_parent


def search_in_processes(
    problems: Sequence[Reduced], seconds: float, megabytes: float, jobs: int
) -> Iterator[SearchOutcome]:
    """Search reduced problems in processes of their own; yield the outcomes in order."""
    # A forked copy of a process that has used HiGHS may hang in its threads.
    count = min(jobs, len(problems))
    with ProcessPoolExecutor(count, get_context("spawn"), initializer=end_with_parent) as pool:
        try:
            yield from pool.map(_search, ((reduced, seconds, megabytes) for reduced in problems))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _search(task: tuple[Reduced, float, float]) -> SearchOutcome:
    reduced, seconds, megabytes = task
    return search_reduced(reduced, Watch.lasting(seconds, megabytes))


def is_large(problem: Problem) -> bool:
    """Return whether a reduced problem is worth a process."""
    return problem.size > 40
