"""Chains of one in numbers about annotators: the one convention of scores, agreement and typology.

Some guidelines have chains of one, others do not, and some annotators do not care. Counted where only one
side has them, each is a mention that the other side "missed". So they count between two sides if both have
some, in whichever document; otherwise they are left out of both. Whoever wants it otherwise says so:
always, as the CoNLL reference scorer does, or never.

Alpha needs no such convention: a mention that somebody did not mark is a chain of one for it, unless asked
otherwise.
"""

from collections.abc import Iterable

from caspr.text.document import Annotation


def singletons_count(sides: Iterable[Iterable[Annotation]], wanted: bool | None = None) -> bool:
    """Return whether chains of one count between some sides, each being all documents of an annotator."""
    if wanted is not None:
        return wanted
    return all(any(one.singletons for one in side) for side in sides)
