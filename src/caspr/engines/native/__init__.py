"""The native exact engine: weighted clique partitioning with forbidden pairs, solved to a proof.

The way of an instance, module by module:

    translate    mentions become nodes; twins are one node; independent parts
    lazy         nested pairs are forbidden when a solution breaks them
    demands      enforced mentions that may not stay alone, links that must be used
    search       reductions, components, then for each
    rounds       relaxation, cuts, fixing, branching
    ties         all optima, as a product
"""

from caspr.engines.native.engine import solve

__all__ = ["solve"]
