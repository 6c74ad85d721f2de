"""Clique partitioning: nodes 0..n-1, whole-number gains, forbidden pairs. No linguistics.

`problem` states it, `sparse` states it for many nodes and takes it apart, `reductions` shrink it,
`heuristics` find good clusterings, `lp` and `cuts` bound it, `cutting_planes` and `search` close the gap;
`enumerate` and `counting` give all optima. `watch` holds the limits that all of them keep.
"""
