"""Ties: which of several solutions of equal cost is the result.

Of all solutions of the least cost, the result is the one with

1. the fewest pairs of mentions in one chain;
2. of those, the fewest mentions in chains of two or more;
3. of those, the first in text order: go through the mentions in the order of the text (by first token,
   then by last). At the first one whose chain begins elsewhere in the other solution, the solution in which
   its chain begins earlier comes first. A mention that is in no chain begins with itself.

For instance, if *ab* and *bc* are equally good and *a*, *b*, *c* cannot all be one, the result is *ab*: the
chain of *b* then begins with *a*, and otherwise with *b*.

The rule knows neither chain ids nor annotators nor files, so the result depends on documents, settings and
decisions alone. It also decides part by part. Let the mentions fall into parts such that the solutions of
least cost are all combinations of those of each part. Pairs and mentions of the parts add up, and where a
chain begins depends on its own part only; so the first solution of all is made of the first solution of
each part, and what is decided in one part moves nothing in another.
"""

from collections.abc import Collection, Iterable, Sequence

from caspr.text.document import Span
from caspr.text.findings import Finding, note

Rank = tuple[int, int, tuple[tuple[Span, ...], ...]]
"""Pairs, mentions, and text order: the smallest comes first."""
END = (Span(1 << 62, 1 << 62),)
"""Comes after every mention of a text."""


def rank(chains: Collection[Sequence[Span]]) -> Rank:
    """Return what solutions of equal cost are compared by: the smallest is the result.

    In text order only mentions after the first of their chain matter, each with that first one: all others
    begin with themselves, which is later than any chain that they could be in.

    >>> a, b, c = Span(1, 1), Span(2, 2), Span(3, 3)
    >>> rank([(a, b)]) < rank([(b, c)]) < rank([(a, b, c)])
    True
    """
    pairs = sum(len(chain) * (len(chain) - 1) // 2 for chain in chains)
    mentions = sum(len(chain) for chain in chains if len(chain) > 1)
    return pairs, mentions, _order(chains)


def _order(chains: Iterable[Sequence[Span]]) -> tuple[tuple[Span, ...], ...]:
    begun = []
    for chain in chains:
        first, *later = sorted(chain)
        begun += [(mention, first) for mention in later]
    return (*sorted(begun), END)


def open_ties(why: str) -> Finding:
    """Report that a solution is proven to be of the least cost, but not to be the first of these."""
    message = f"no solution costs less, but one of the same cost may come first by the rule for ties: {why}"
    return note("ties-open", message)
