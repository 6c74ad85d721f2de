"""Prices: what it would cost to decide each disputed link the other way, asked of the native engine.

One price is one more search, of the parts that the link touches; the rest is remembered. Every conflict
needs one price, because its links are alike.
"""

from dataclasses import replace

from caspr.limits import Limits
from caspr.report.conflicts import disputed_pairs
from caspr.result import Certainty, Result
from caspr.solution import Status


def with_prices(result: Result, limits: Limits | None = None) -> Result:
    """Return an optimal result with the price of every conflict; any other as it is.

    Limits hold for each price; where one comes first, the price is a bound from below.
    """
    if result.status is not Status.OPTIMAL:
        return result
    from caspr.engines.native import certainties

    pairs = disputed_pairs(result)
    told = certainties(result.instance, result.solution, pairs, limits or Limits())
    return replace(
        result,
        certainties={
            (one.first, one.second): Certainty(
                always=True if one.certain else False if one.exact else None,
                flip=one.price,
                exact=one.exact,
                possible=one.price is not None,
            )
            for one in told
        },
    )
