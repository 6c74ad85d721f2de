"""The native exact engine: weighted clique partitioning with forbidden pairs, solved to a proof.

The way of an instance, module by module:

    translate      mentions become nodes; twins are one node; independent parts
    lazy           nested pairs are forbidden when a solution breaks them
    demands        enforced mentions that may not stay alone, links that must be used: the ways out
    regions        which demands compete with each other
    settling       the search for the best ways out, region by region
    search         reductions and components, then for each component
    rounds         relaxation, cuts, fixing, branching
    alternatives   all optima, as a product over regions and parts (ties: over the components of a part;
                   counting: where there are too many to list)

Around it: `adjudicator` keeps solved parts from decision to decision, `certainty` prices the opposite
of what a result says, `certificate` writes a proof that `caspr.proof.verify` checks without a solver.
"""

from caspr.engines.native.engine import solve, solve_with
from caspr.engines.native.state import Memory

__all__ = ["Adjudicator", "Memory", "solve", "solve_with"]


def __getattr__(name: str) -> object:
    """Import what one adjudication does not need when it is asked for."""
    if name == "Adjudicator":
        from caspr.engines.native.incremental import Adjudicator

        return Adjudicator
    raise AttributeError(f"module 'caspr.engines.native' has no attribute '{name}'")
