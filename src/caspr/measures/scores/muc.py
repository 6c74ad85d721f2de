"""MUC (Vilain et al. 1995): how many links are missing to connect each chain.

A chain of n mentions needs n - 1 links. The response cuts a key chain k into parts, one for each response
chain it shares mentions with and one for each mention the response lacks:

    R = sum over k of (|k| - parts of k) / sum over k of (|k| - 1),

and P is the same with the sides exchanged. Both numerators are the sum of (|k & r| - 1) over all pairs of
chains that share mentions. Chains of one have no links: where there are only such, MUC is undefined.
"""

from caspr.measures.scores.alignment import Alignment, Chains
from caspr.measures.scores.counts import RecallPrecision, ratio


def count(alignment: Alignment) -> RecallPrecision:
    """Count the links of one document."""
    found = sum(size - 1 for size in alignment.overlaps.values())
    return RecallPrecision(ratio(found, _links(alignment.key)), ratio(found, _links(alignment.response)))


def _links(chains: Chains) -> int:
    return sum(len(chain) - 1 for chain in chains)
