"""The table of a dataset in Markdown."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bench.quality.scoring import MEASURES, Interval, Scored
from caspr.measures.scores import TITLES


@dataclass(frozen=True)
class Row:
    """How close one response comes to the gold."""

    dataset: str
    response: str
    scored: Scored
    """Without chains of one."""
    with_singletons: Scored
    against: Interval | None
    """By how much it beats the baseline in CoNLL F1 without chains of one; `None` for the baseline."""
    proven: str = ""


def to_markdown(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the lines of the table."""
    titles = [
        *(TITLES[measure] for measure in MEASURES),
        "CoNLL",
        "with singletons",
        "against baseline",
        "proven",
    ]
    yield f"| dataset | response | documents | {' | '.join(titles)} |"
    yield "|---|---|---:|" + "---:|" * len(titles)
    for row in rows:
        yield f"| {' | '.join(_cells(row))} |"


def _cells(row: Row) -> Sequence[str]:
    scores = [f"{row.scored.f1(measure):.1f}" for measure in (*MEASURES, "conll")]
    both = f"{row.with_singletons.f1('conll'):.1f}"
    return [
        row.dataset,
        row.response,
        str(len(row.scored.documents)),
        *scores,
        both,
        difference(row.against),
        row.proven,
    ]


def difference(against: Interval | None) -> str:
    """Write a difference with its interval.

    >>> difference(Interval(1.234, -0.5, 2.0))
    '+1.2 [-0.5, 2.0]'
    """
    if against is None:
        return "baseline"
    return f"{against.difference:+.1f} [{against.low:.1f}, {against.high:.1f}]"
