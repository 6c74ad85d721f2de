"""Settings in words: what a result or a proof holds under, for a terminal."""

from collections.abc import Iterator

from caspr.task.settings import MARKS, Settings
from caspr.task.settings.weights_table import WeightsTable
from caspr.text.coverage import Coverage
from caspr.text.findings import times

SHOWN = 5
"""How many annotators are named."""


def in_words(settings: Settings) -> Iterator[str]:
    """Yield the costs, the rules, and whatever else is not the default, of concrete settings.

    >>> list(in_words(Settings()))
    ['omit 2, use 1, invent 1', 'nested vote', 'singletons auto']
    """
    if settings.weights is None:
        yield f"omit {settings.objective.omit}, use {settings.objective.use}, {_invent(settings)}"
    else:
        yield from _weights(settings, settings.weights)
    yield f"nested {settings.nested}"
    yield f"singletons {settings.singletons}"
    if settings.forced_votes:
        yield "decisions count as votes"
    if settings.coverage == MARKS:
        yield "annotators saw what lies between their first and their last mark"
    elif isinstance(settings.coverage, Coverage):
        yield f"{times(len(settings.coverage.seen), 'annotator')} saw only a part"
    if settings.variants:
        kept = settings.kept_variants
        yield "variants of boundaries united" + (f", {len(kept)} of them as decided" if kept else "")


def _invent(settings: Settings) -> str:
    cost = settings.objective.invent
    return f"invent {'forbidden' if cost is None else cost}"


def _weights(settings: Settings, table: WeightsTable) -> Iterator[str]:
    rows = [f"{row.annotator} {row.omit}/{row.use}" for row in table.annotators[:SHOWN]]
    more = len(table.annotators) - len(rows)
    yield "omit/use by annotator: " + ", ".join(rows) + (f" and {more} more" if more > 0 else "")
    if table.constant is None or settings.objective.invent is None:
        yield _invent(settings)
    if table.constant is not None:
        yield f"constant {table.constant}"
