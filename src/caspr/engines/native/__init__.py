"""The native exact engine: weighted clique partitioning with forbidden pairs, solved to a proof.

The way of an instance, module by module:

    translation.translate      mentions become nodes; twins are one node; independent parts
    translation.nesting        nested pairs are forbidden when a solution breaks them
    required.demands           mentions that may not stay alone, links that must be used: the ways out
    required.regions           which demands compete with each other
    required.settling          the search for the best ways out, region by region
    partition.search           reductions and components, then for each component
    partition.cutting_planes   relaxation, cuts, fixing, branching
    all_optima                 all optima, as a product over regions and parts (partition.enumerate: over
                               the components of a part; partition.counting: too many to list)

`state` holds what is known during a solve, and the memory of solved parts. Around it: `incremental` keeps
that memory from decision to decision, `flip_prices` prices the opposite of what a result says, `prove`
writes a proof that `caspr.proof.verify` checks without a solver.
"""

from caspr.engines.native.engine import solve, solve_with
from caspr.engines.native.state import Memory

__all__ = ["Memory", "solve", "solve_with"]
