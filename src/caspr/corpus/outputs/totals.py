"""Totals over all documents of a corpus, added up outcome by outcome."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from caspr.corpus.job import FAILED, LEFT_OUT


@dataclass(frozen=True)
class Totals:
    """Sums over documents."""

    documents: int = 0
    """Documents with an outcome."""
    taken_over: int = 0
    """Those among them that an earlier run had done."""
    proven: int = 0
    """Proven optimal."""
    gaps: int = 0
    """Written with a gap between value and bound."""
    failed: int = 0
    """Without a result; the reason is in the summary."""
    left_out: int = 0
    """Not adjudicated, because only one annotator has them."""
    chains: int = 0
    """The entities in all results."""
    singletons: int = 0
    """Those among them with one mention."""
    mentions: int = 0
    """Their mentions."""
    value: int = 0
    """The cost of all results."""
    bound: int = 0
    """The proven lower bound of that cost."""
    omitted: int = 0
    """The cost of links that are not used."""
    used: int = 0
    """The cost of used links that some did not give."""
    invented: int = 0
    """The cost of pairs without a used link."""
    seconds: float = 0.0
    """The time of all engines."""
    megabytes: float = 0.0
    """The most memory that a document took."""
    warnings: int = 0
    """Findings that are warnings."""
    agreements: int = 0
    """Documents whose agreement is defined."""
    agreement: float = 0.0
    """The sum of their agreement."""

    def __add__(self, other: "Totals") -> "Totals":
        """Pool; memory is the larger of the two."""
        sums = {field.name: getattr(self, field.name) + getattr(other, field.name) for field in fields(self)}
        return Totals(**{**sums, "megabytes": max(self.megabytes, other.megabytes)})

    @property
    def mean_agreement(self) -> float | None:
        """The mean agreement of documents; `None` where none is defined."""
        return self.agreement / self.agreements if self.agreements else None

    def values(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        values = asdict(self)
        mean = self.mean_agreement
        del values["agreements"]
        return {
            **values,
            "seconds": round(self.seconds, 3),
            "agreement": None if mean is None else round(mean, 6),
        }


def totals_of(rows: Iterable[Mapping[str, Any]], *, taken_over: bool = False) -> Totals:
    """Count the rows of one document."""
    total = Totals(documents=1, taken_over=int(taken_over))
    statuses = set()
    for row in rows:
        statuses.add(row["status"])
        if "costs" in row:
            total += _counted(row)
    if statuses & {FAILED, LEFT_OUT}:
        return total + Totals(failed=int(FAILED in statuses), left_out=int(FAILED not in statuses))
    optimal = statuses == {"optimal"}
    return total + Totals(proven=int(optimal), gaps=int(not optimal))


def _counted(row: Mapping[str, Any]) -> Totals:
    alpha = row["agreement"]["passonneau"]
    return Totals(
        chains=row["chains"],
        singletons=row["singletons"],
        mentions=row["mentions"],
        value=row["value"],
        bound=row["bound"],
        **row["costs"],
        seconds=row["seconds"],
        megabytes=row["megabytes"],
        warnings=sum(finding["severity"] == "warning" for finding in row["findings"]),
        agreements=int(alpha is not None),
        agreement=alpha or 0.0,
    )
