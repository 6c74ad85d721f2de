"""Agreement: how far annotators agree, corrected for chance where that is possible.

    sets      Krippendorff's alpha over coreference sets, under every distance of `DISTANCES`
    links     Krippendorff's alpha over pairs of mentions, linked or not

Where annotators saw only a part (`Coverage`), a mention that one of them neither saw nor marked has no value
of that annotator: neither marked nor unmarked, linked nor not. Who marked a mention saw it.

Everything is exact. Libraries for alpha (`krippendorff`, `nltk.metrics.agreement`) take floating point
distances and visit every pair of values, of which an act of a play has tens of millions.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from caspr.measures.agreement.distances import DISTANCES
from caspr.measures.agreement.links import LinkTally, tally_links
from caspr.measures.agreement.sets import Conventions, SetTally, Unmarked, tally_sets
from caspr.text.coverage import Coverage
from caspr.text.document import Annotation

__all__ = ["ALPHAS", "DISTANCES", "Conventions", "Tally", "Unmarked", "tally", "tally_all"]

ALPHAS = (*DISTANCES, "links")
"""All kinds of alpha by name."""


@dataclass(frozen=True)
class Tally:
    """All counts from which agreement follows; documents are pooled by adding."""

    sets: SetTally = field(default_factory=SetTally)
    """Pairs of coreference sets."""
    links: LinkTally = field(default_factory=LinkTally)
    """Pairs of mentions."""

    def __add__(self, other: "Tally") -> "Tally":
        """Pool two documents."""
        return Tally(self.sets + other.sets, self.links + other.links)

    def alpha(self, kind: str) -> Fraction | None:
        """Return an alpha of `ALPHAS`; `None` where it is undefined."""
        return self.links.alpha() if kind == "links" else self.sets.alpha(DISTANCES[kind])


def tally(
    annotations: Sequence[Annotation],
    conventions: Conventions | None = None,
    coverage: Coverage | None = None,
) -> Tally:
    """Count everything about the annotations of one document; everybody saw everything by default.

    >>> from caspr.text.document import Chain, Document
    >>> def annotated(*chains):
    ...     spans = [Chain.of(str(n), [(t, t) for t in chain]) for n, chain in enumerate(chains)]
    ...     return Annotation.of("x", Document("d", tuple("abcde")), spans)
    >>> both = tally([annotated((1, 2, 3), (4, 5)), annotated((1, 2), (3,), (4, 5))])
    >>> [str(both.alpha(kind)) for kind in ("passonneau", "masi", "nominal")]
    ['20/29', '44/95', '8/35']
    """
    conventions = conventions or Conventions()
    return Tally(
        tally_sets(annotations, conventions, coverage),
        tally_links(annotations, conventions, coverage),
    )


def tally_all(
    documents: Sequence[Sequence[Annotation]],
    conventions: Conventions | None = None,
    coverages: Sequence[Coverage | None] | None = None,
) -> Tally:
    """Pool the counts of several documents, each with its coverage."""
    seen = coverages or [None] * len(documents)
    tallies = (tally(one, conventions, coverage) for one, coverage in zip(documents, seen, strict=True))
    return sum(tallies, Tally())
