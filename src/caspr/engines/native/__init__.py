"""The native exact engine: weighted clique partitioning with forbidden pairs, solved to a proof.

The path of an instance through the modules:

    translate             mentions become nodes, twins one node, in independent parts (`links`: who linked)
    estimate              a first value and bound of dense documents, before any link is listed
    nesting               nested pairs are forbidden when a solution breaks them
    cases                 links that must be used, mentions that may not stay alone: their ways out
    partition.splitting   a part is reduced and falls into pieces (`reductions`)
    partition.search      relaxation, cuts, fixing, branching, and the proof of it all (`statements`)
    all_optima            all optima, as a product over regions and parts (`partition.optima`: over the
                          components of a part)

`state` holds what is known during a solve, and the memory of solved parts. Around it: `incremental` keeps
that memory from decision to decision and prices the opposite of what a result says, `proof_writer` writes the
proof that `caspr.proof.verify` checks without a solver.
"""

from caspr.engines.native.engine import solve, solve_with
from caspr.engines.native.state import Memory

__all__ = ["Memory", "solve", "solve_with"]
