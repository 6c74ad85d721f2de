"""Parts solved in several processes.

Parts are independent problems, and what a search finds depends on its problem alone; so however many
processes share the work, the answer is the same.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from caspr.engines.native.partition.outcome import SearchOutcome
from caspr.engines.native.partition.search import search_reduced
from caspr.engines.native.partition.sparse.splitting import Split
from caspr.engines.native.partition.watch import Watch


def search_in_processes(
    problems: Sequence[Split], seconds: float, megabytes: float, jobs: int
) -> Iterator[SearchOutcome]:
    """Search reduced problems in processes of their own; yield the outcomes in order."""
    # A forked copy of a process that has used HiGHS may hang in its threads.
    with ProcessPoolExecutor(min(jobs, len(problems)), get_context("spawn")) as pool:
        try:
            yield from pool.map(_search, ((reduced, seconds, megabytes) for reduced in problems))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _search(task: tuple[Split, float, float]) -> SearchOutcome:
    reduced, seconds, megabytes = task
    return search_reduced(reduced, Watch.lasting(seconds, megabytes))


def is_large(problem: Split) -> bool:
    """Return whether a reduced problem is worth a process."""
    return any(len(piece.nodes) > 40 for piece in problem.pieces)
