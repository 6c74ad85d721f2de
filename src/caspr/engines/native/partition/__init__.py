"""Clique partitioning: nodes 0..n-1, whole-number gains, forbidden pairs, demands. No linguistics.

`problem` states it, `sparse` states it for many nodes; `reductions` shrink it and `splitting` takes it
apart; `heuristics` find good clusterings; `lp` (with `first_order`), `cuts` and `separation` bound it;
`search` closes the gap, and `statements` are the proof of that; `exhaustive` and `optima` give all optima.
`outcome` is what a search starts from and returns, `watch` the limits that all of them keep.
"""
