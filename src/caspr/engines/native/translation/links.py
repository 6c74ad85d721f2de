"""Links between kinds of mentions, counted without listing the pairs of any chain.

A *kind* is all mentions of one signature. Two kinds share evidence K if K annotators have a chain with
both; the mentions behind them are never listed, so a chain of thousands costs the square of its few
kinds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from caspr.engines.native.partition.problem import Ints, Labels
from caspr.task.votes import Signature, shared

FEW = 12
"""Chains of so few kinds are quicker without arrays."""


@dataclass(frozen=True)
class Links:
    """The evidence between kinds, by position."""

    first: Labels
    second: Labels
    """The pairs of distinct kinds with evidence, the smaller position first."""
    evidence: Ints
    """K of each of these pairs."""
    inside: Ints
    """K of two mentions of one kind, for every kind."""


def count_links(kinds: Sequence[Signature]) -> Links:
    """Count how many annotators link each two kinds.

    >>> links = count_links([frozenset({(0, 1), (1, 1)}), frozenset({(0, 1)}), frozenset({(1, 1)})])
    >>> links.first.tolist(), links.second.tolist(), links.evidence.tolist(), links.inside.tolist()
    ([0, 0], [1, 2], [1, 1], [2, 1, 1])
    """
    chains: dict[int, dict[int, list[int]]] = {}
    for position, kind in enumerate(kinds):
        for annotator, chain in kind:
            chains.setdefault(annotator, {}).setdefault(chain, []).append(position)
    size = len(kinds)
    keys = [_pairs_of_one(list(found.values()), size) for _, found in sorted(chains.items())]
    pairs, evidence = np.unique(np.concatenate(keys or [np.empty(0, dtype=np.int64)]), return_counts=True)
    inside = np.array([shared(kind, kind) for kind in kinds], dtype=np.int64)
    return Links(pairs // max(size, 1), pairs % max(size, 1), evidence.astype(np.int64), inside)


def _pairs_of_one(chains: Sequence[Sequence[int]], size: int) -> Ints:
    """Encode the pairs of kinds that one annotator links, each once, as first * size + second."""
    keys = []
    few: list[int] = []
    for chain in chains:
        if len(chain) <= FEW:
            few += [first * size + second for first, second in combinations(chain, 2)]
        else:
            members = np.array(chain, dtype=np.int64)
            one, other = np.triu_indices(len(members), 1)
            keys.append(members[one] * size + members[other])
    every = np.concatenate([np.array(few, dtype=np.int64), *keys])
    held = sum(len(chain) for chain in chains)
    several = held > len({position for chain in chains for position in chain})
    return np.unique(every) if several else every
