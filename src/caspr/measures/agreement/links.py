"""Alpha over links: each pair of mentions is a unit, linked or not is an annotator's value for it.

The units are all pairs of mentions that anybody marked. There are only two values, so alpha follows from
how many pairs have how many values m and how many of these are links K:

    Do = 1/n * sum over pairs of 2 K (m - K) / (m - 1),    De = 2 L (n - L) / (n (n - 1)),

n being the number of all values in pairs that have at least two, L that of links among them. Pairs are
not listed: mentions in the same chains of the same annotators are alike, and pairs that nobody linked are
all pairs less the linked ones.

An annotator has a value for a pair who has one for both of its mentions (`sets.valued_by`): who did not see
one of them says nothing about the pair.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations_with_replacement

from caspr.measures.agreement.sets import Conventions, valued_by
from caspr.task.votes import Signature, count_votes, meet
from caspr.text.coverage import Coverage
from caspr.text.document import Annotation

Alike = tuple[Signature, frozenset[int]]
"""What the values of all pairs of a mention depend on: the chains it is in, and who has a value."""


@dataclass(frozen=True)
class LinkTally:
    """How many pairs of mentions have how many values and links."""

    pairs: Counter[tuple[int, int]] = field(default_factory=Counter)
    """Pairs of mentions by the number of annotators with a value and of those who linked them."""

    def __add__(self, other: "LinkTally") -> "LinkTally":
        """Pool two documents."""
        return LinkTally(self.pairs + other.pairs)

    def alpha(self) -> Fraction | None:
        """Return alpha; undefined where all pairs are linked, or none is."""
        paired = {key: count for key, count in self.pairs.items() if key[0] > 1}
        values = sum(count * m for (m, _), count in paired.items())
        links = sum(count * k for (_, k), count in paired.items())
        expected = 2 * links * (values - links)
        if not expected:
            return None
        observed = sum(
            (Fraction(2 * count * k * (m - k), m - 1) for (m, k), count in paired.items()), Fraction(0)
        )
        return 1 - observed * (values - 1) / expected


def tally_links(
    annotations: Sequence[Annotation], conventions: Conventions, coverage: Coverage | None = None
) -> LinkTally:
    """Count the pairs of one document."""
    votes = count_votes(annotations)
    valued = valued_by(annotations, conventions, coverage)
    classes = Counter((votes.signature(span), who) for span, who in valued.items())
    pairs = _linked(classes)
    found = Counter({(m, k): count for (m, k), count in pairs.items() if k})
    linked: Counter[int] = Counter()
    for (m, _), count in pairs.items():
        linked[m] += count
    for m, count in _all_pairs(Counter(valued.values())).items():
        found[m, 0] += count - linked[m]
    return LinkTally(+found)


def _linked(classes: Counter[Alike]) -> Counter[tuple[int, int]]:
    """Count the pairs that some annotator linked."""
    holders: dict[tuple[int, int], list[int]] = defaultdict(list)
    known = list(classes)
    for number, (signature, _) in enumerate(known):
        for chain in signature.chains:
            holders[chain].append(number)
    found: Counter[tuple[int, int]] = Counter()
    near = {pair for numbers in holders.values() for pair in combinations_with_replacement(numbers, 2)}
    for first, second in near:
        one, other = known[first], known[second]
        key = len(one[1] & other[1]), meet(one[0], other[0]).k
        found[key] += _pairs(classes[one], classes[other], same=first == second)
    return found


def _all_pairs(valued: Counter[frozenset[int]]) -> Counter[int]:
    """Count all pairs of mentions by the number of annotators who have a value."""
    found: Counter[int] = Counter()
    for one, other in combinations_with_replacement(list(valued), 2):
        found[len(one & other)] += _pairs(valued[one], valued[other], same=one == other)
    return found


def _pairs(one: int, other: int, *, same: bool) -> int:
    return one * (one - 1) // 2 if same else one * other
