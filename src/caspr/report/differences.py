"""Differences: where one annotator departs from the gold standard, mention by mention, in text order.

    missed      the gold standard has a mention that the annotator did not mark
    extra       the annotator put a mention into a chain that the gold standard does not have
    boundaries  both have a mention here, with different first or last tokens
    chain       both have the mention, and it is in different chains

Chains are matched one to one by `shared_ids`. Chains of one count only where the gold standard has any.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from caspr.report.shared_ids import shared_ids
from caspr.text.document import Annotation, Span


class DifferenceKind(StrEnum):
    """How an annotator can differ from the gold standard."""

    MISSED = "missed"
    EXTRA = "extra"
    BOUNDARIES = "boundaries"
    CHAIN = "chain"


@dataclass(frozen=True)
class Difference:
    """One difference."""

    kind: DifferenceKind
    """What kind of difference."""
    yours: Span | None
    """The annotator's mention, if there is one."""
    gold: Span | None
    """The mention of the gold standard, if there is one."""
    your_others: tuple[Span, ...] = ()
    """What else the annotator put into the chain."""
    gold_others: tuple[Span, ...] = ()
    """What else the gold standard has in the chain."""

    @property
    def place(self) -> Span:
        """The mention of the gold standard, or else the annotator's."""
        return self.gold or self.yours or Span(1, 1)


def differences(annotation: Annotation, gold: Annotation) -> list[Difference]:
    """Return everything in which an annotator differs from the gold standard."""
    alone = bool(gold.singletons)
    yours, theirs = _chains(annotation, alone), _chains(gold, alone)
    (column,) = shared_ids(gold, [annotation])
    home = {span: chain.id for chain in (*gold.chains, *gold.singletons) for span in chain.mentions}
    found = []
    for span in sorted(yours.keys() & theirs.keys()):
        if home[span] not in column[span]:
            found.append(
                Difference(DifferenceKind.CHAIN, span, span, _others(yours, span), _others(theirs, span))
            )
    missed, extra = sorted(theirs.keys() - yours.keys()), sorted(yours.keys() - theirs.keys())
    for span in missed:
        near = next((other for other in extra if other.start <= span.end and span.start <= other.end), None)
        if near is None:
            found.append(Difference(DifferenceKind.MISSED, None, span, gold_others=_others(theirs, span)))
        else:
            extra.remove(near)
            found.append(
                Difference(DifferenceKind.BOUNDARIES, near, span, _others(yours, near), _others(theirs, span))
            )
    found.extend(Difference(DifferenceKind.EXTRA, span, None, _others(yours, span)) for span in extra)
    return sorted(found, key=lambda difference: (difference.place, difference.kind))


def _chains(annotation: Annotation, alone: bool) -> Mapping[Span, tuple[Span, ...]]:
    """Return the chain of each mention, the first one where there are several."""
    found: dict[Span, tuple[Span, ...]] = {}
    for chain in (*annotation.chains, *(annotation.singletons if alone else ())):
        for span in chain.mentions:
            found.setdefault(span, chain.mentions)
    return found


def _others(chains: Mapping[Span, tuple[Span, ...]], span: Span) -> tuple[Span, ...]:
    return tuple(other for other in chains[span] if other != span)
