"""What a node can gain at most beside another, where pairs that are not listed are forbidden."""

import numpy as np

from caspr.engines.native.partition.problem import Bools, Ints, Labels
from caspr.engines.native.partition.sparse.blocks import BLOCK, blocks, filled
from caspr.engines.native.partition.sparse.listing import SparseProblem
from caspr.engines.native.partition.watch import Watch

AT_ONCE = 1 << 20
"""How many entries of rows are looked at between two looks at the clock."""


class Beside:
    """best(k, u): what k can gain at most in a cluster with u, where pairs not listed are forbidden."""

    def __init__(self, problem: SparseProblem, watch: Watch) -> None:
        self.problem, self.watch = problem, watch
        problem.index(watch)
        self.known = np.full(len(problem.neighbours.keys), -1, dtype=np.int64)

    def of(self, u: Labels, k: Labels, wanted: Bools) -> Ints:
        """Return best(k, u) where it is wanted, 0 elsewhere; u and k must be listed there."""
        best = np.zeros(len(u), dtype=np.int64)
        for part in blocks(len(u), self.watch, BLOCK // 4):
            best[part] = self._of_some(u[part], k[part], wanted[part])
        return best

    def _of_some(self, u: Labels, k: Labels, wanted: Bools) -> Ints:
        rows, size = self.problem.neighbours, self.problem.size
        best = np.zeros(len(u), dtype=np.int64)
        places, _ = rows.find(u[wanted] * size + k[wanted])
        missing = np.unique(places[self.known[places] < 0])
        total = np.cumsum(np.diff(rows.starts)[rows.others[missing]])
        start = 0
        while start < len(missing):
            self.watch.check()
            before = int(total[start - 1]) if start else 0
            end = max(start + 1, int(np.searchsorted(total, before + AT_ONCE, side="right")))
            self._work_out(missing[start:end])
            start = end
        best[wanted] = self.known[places]
        return best

    def _work_out(self, places: Labels) -> None:
        rows, size = self.problem.neighbours, self.problem.size
        u, k = rows.keys[places] // size, rows.others[places]
        theirs, owner = rows.of(k)
        node = rows.others[theirs]
        _, listed = rows.find(u[owner] * size + node)
        gains = np.maximum(self.problem.gains[rows.pairs[theirs]], 0)
        sums = np.zeros(len(places), dtype=np.int64)
        np.add.at(sums, owner, np.where(listed | (node == u[owner]), gains, 0))
        self.known[places] = sums


def heavy_non_edges(problem: SparseProblem, watch: Watch) -> Bools:
    """Find the listed pairs whose loss outweighs all that one end could gain beside the other."""
    sums = problem.positive
    apart = filled(
        len(problem.first),
        lambda part: -problem.gains[part] > np.minimum(sums[problem.first[part]], sums[problem.second[part]]),
        watch,
        bool,
    )
    doubtful = np.flatnonzero((problem.gains < 0) & ~apart)
    if len(doubtful):
        beside, every = Beside(problem, watch), np.ones(len(doubtful), dtype=bool)
        first, second = problem.first[doubtful], problem.second[doubtful]
        best = np.minimum(beside.of(first, second, every), beside.of(second, first, every))
        watch.check()
        apart[doubtful] = -problem.gains[doubtful] > best
    return apart
