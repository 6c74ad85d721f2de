"""Patterns: what annotators say about pairs of mentions, counted without listing the pairs.

The pattern of a pair is who saw both mentions, and who put them into one chain. Mentions are of one *kind*
that are in the same chains and were seen by the same annotators; all pairs of two kinds have one pattern.
So a chain of a thousand mentions costs as much as its few kinds, and pairs that nobody linked are all pairs
less the linked ones.

A disputed pair of kinds is one *disagreement*: where an annotator split a long chain, hundreds of pairs of
mentions go with one misunderstanding.

An annotator who marked a mention saw it, whatever the coverage says.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from typing import NamedTuple

from caspr.task.instance import Instance
from caspr.task.settings.weighting import FEWEST
from caspr.task.votes import Evidence, Signature, Votes, count_votes, meet
from caspr.text.coverage import Coverage
from caspr.text.document import Annotation


class Pattern(NamedTuple):
    """What annotators say about a pair of mentions."""

    viewers: tuple[str, ...]
    """Who saw both, by name."""
    givers: tuple[str, ...]
    """Who linked them, by name."""


@dataclass(frozen=True)
class Patterns:
    """What annotators say about the pairs of mentions of a document, or of several."""

    pairs: Counter[Pattern] = field(default_factory=Counter)
    """How many pairs of mentions have each pattern."""
    disagreements: Counter[Pattern] = field(default_factory=Counter)
    """How many pairs of kinds have each disputed pattern: a long chain that somebody split is one."""
    annotators: frozenset[str] = frozenset()
    """Those of documents for which learned weights are used, also if nothing is linked there."""

    def __add__(self, other: "Patterns") -> "Patterns":
        """Pool two documents."""
        return Patterns(
            self.pairs + other.pairs,
            self.disagreements + other.disagreements,
            self.annotators | other.annotators,
        )


def count_patterns(annotations: Sequence[Annotation], coverage: Coverage | None = None) -> Patterns:
    """Count all pairs of mentions that somebody linked with something in a document, by pattern.

    The annotations are over the same tokens.
    """
    seen = [coverage.seen.get(annotation.annotator) for annotation in annotations] if coverage else []
    return _count(count_votes(annotations, seen=seen), annotations)


def instance_patterns(instance: Instance) -> Patterns:
    """Count the same pairs of an instance, with its coverage, and boundaries united where it has variants."""
    return _count(instance.votes, instance.annotations)


def _count(votes: Votes, annotations: Sequence[Annotation]) -> Patterns:
    kinds = Counter(votes.signatures.values())
    pairs: Counter[Evidence] = Counter()
    disagreements: Counter[Evidence] = Counter()
    for viewers, number in _viewed_pairs(kinds):
        pairs[Evidence(0, viewers)] += number
    for one, other, number in _linked_pairs(kinds):
        evidence = meet(one, other)
        pairs[Evidence(0, evidence.viewers)] -= number
        pairs[evidence] += number
        disagreements[evidence] += number > 0 and evidence.k < evidence.n
    names = [annotation.annotator for annotation in annotations]
    weighted = names if len(names) >= FEWEST else ()
    return Patterns(_by_name(pairs, names), _by_name(disagreements, names), frozenset(weighted))


def _by_name(counts: Counter[Evidence], names: Sequence[str]) -> Counter[Pattern]:
    found: Counter[Pattern] = Counter()
    for evidence, number in counts.items():
        found[Pattern(_named(evidence.viewers, names), _named(evidence.givers, names))] += number
    return +found


def _named(annotators: int, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted(name for number, name in enumerate(names) if annotators >> number & 1))


def _viewed_pairs(kinds: Counter[Signature]) -> Iterator[tuple[int, int]]:
    """Yield who saw both mentions of all pairs, with how many there are."""
    mentions: Counter[int] = Counter()
    for kind, number in kinds.items():
        mentions[kind.viewers] += number
    for one, other in combinations_with_replacement(mentions, 2):
        yield one & other, _number(mentions[one], None if one == other else mentions[other])


def _linked_pairs(kinds: Counter[Signature]) -> Iterator[tuple[Signature, Signature, int]]:
    """Yield all pairs of kinds that share a chain, with how many pairs of mentions there are."""
    members: dict[tuple[int, int], list[Signature]] = defaultdict(list)
    order = {kind: number for number, kind in enumerate(kinds)}
    for kind in kinds:
        for chain in kind.chains:
            members[chain].append(kind)
    for kind, size in kinds.items():
        yield kind, kind, _number(size, None)
        for other in {other for chain in kind.chains for other in members[chain]}:
            if order[other] > order[kind]:
                yield kind, other, _number(size, kinds[other])


def _number(size: int, other: int | None) -> int:
    """Count the pairs between so many mentions and so many others, or among themselves."""
    return size * (size - 1) // 2 if other is None else size * other
