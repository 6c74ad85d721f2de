"""Weighting: from what users say about annotators to what votes cost, in whole numbers.

    --weight anna=1.5        the objective's costs, times 1.5 for Anna: all are scaled to whole numbers
    --weights weights.csv    a table of its own costs for each annotator

Factors also multiply what a table says. All coefficients are scaled alike, so that nothing but the weights
changes what is optimal.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import gcd, lcm

from caspr.errors import InputError
from caspr.task.objectives import LARGEST_COEFFICIENT, Objective
from caspr.task.settings.weights_table import AnnotatorWeights, WeightsTable
from caspr.text.findings import Finding, note

FEWEST = 3
"""Weights with a constant, as they are learned, are used for documents of so many annotators or more."""

_EXPECTED = "an annotator and a number from 0 to 999,999 with at most six decimals, as in anna=1.5"


@dataclass(frozen=True)
class Factor:
    """How many times as much as others the votes of one annotator cost, as a fraction of whole numbers."""

    annotator: str
    """The name."""
    numerator: int
    denominator: int = 1


def read_factors(given: Iterable[str] | Mapping[str, float | str]) -> tuple[Factor, ...]:
    """Read factors: `NAME=NUMBER`, or names with numbers; the last one for a name counts.

    >>> read_factors(["ben=0.5"])
    (Factor(annotator='ben', numerator=1, denominator=2),)
    """
    pairs = given.items() if isinstance(given, Mapping) else map(_split, given)
    factors = {name: _read_factor(name, str(number)) for name, number in pairs}
    return tuple(factors[name] for name in sorted(factors))


def _split(word: str) -> tuple[str, str]:
    name, equals, number = word.rpartition("=")
    if not equals:
        raise InputError(f"weight: found '{word}', expected {_EXPECTED}")
    return name.strip(), number


def _read_factor(name: str, number: str) -> Factor:
    found = re.fullmatch(r"([0-9]{0,6})(?:[.,]([0-9]{1,6}))?", number.strip())
    if not name or found is None or not any(found.groups()):
        raise InputError(f"weight: found '{name}={number}', expected {_EXPECTED}")
    whole, decimals = found[1] or "0", found[2] or ""
    numerator, denominator = int(whole + decimals), 10 ** len(decimals)
    common = gcd(numerator, denominator)
    return Factor(name, numerator // common, denominator // common)


def weighted(
    objective: Objective, names: Sequence[str], factors: Iterable[Factor], table: WeightsTable | None
) -> tuple[Objective, WeightsTable | None, tuple[Finding, ...]]:
    """Return what the votes of some annotators cost, in whole numbers, and the objective in the same scale.

    Weights with a constant need three annotators: with two, each would be believed wherever the other is
    silent. Such documents keep the objective's costs, and a finding says so.

    >>> _, table, _ = weighted(Objective(), ["anna", "ben"], read_factors(["anna=1.5"]), None)
    >>> table.annotators[0], table.annotators[1].omit
    (AnnotatorWeights(annotator='anna', omit=6, use=3), 4)
    """
    findings: tuple[Finding, ...] = ()
    if table is not None and not _is_used(table, names):
        message = f"has {len(names)} annotators, and learned weights need {FEWEST}: all votes count the same"
        table, findings = None, (note("weights-not-used", message),)
    used = {factor.annotator: factor for factor in factors if factor.annotator in names}
    if table is None and not used:
        return objective, None, findings
    equal = tuple(AnnotatorWeights(name, objective.omit, objective.use) for name in names)
    scale = lcm(*(factor.denominator for factor in used.values()))
    rows = [
        _scaled(row, used.get(row.annotator, Factor(row.annotator, 1)), scale)
        for row in (equal if table is None else table.of(names))
    ]
    constant = None if table is None or table.constant is None else table.constant * scale
    _refuse_large([cost for row in rows for cost in (row.omit, row.use)] + [constant or 0])
    return _scaled_objective(objective, scale), WeightsTable(tuple(rows), constant), findings


def unweighted(names: Sequence[str], table: WeightsTable) -> tuple[str, ...]:
    """Return the annotators of a document who have no weights in a table that is used for it."""
    known = {row.annotator for row in table.annotators}
    return tuple(name for name in names if name not in known) if _is_used(table, names) else ()


def _is_used(table: WeightsTable, names: Sequence[str]) -> bool:
    return table.constant is None or len(names) >= FEWEST


def _scaled(row: AnnotatorWeights, factor: Factor, scale: int) -> AnnotatorWeights:
    times = scale // factor.denominator * factor.numerator
    return AnnotatorWeights(row.annotator, row.omit * times, row.use * times)


def _scaled_objective(objective: Objective, scale: int) -> Objective:
    invent = None if objective.invent is None else objective.invent * scale
    return objective if scale == 1 else Objective(objective.omit * scale, objective.use * scale, invent)


def _refuse_large(costs: Iterable[int]) -> None:
    largest = max(costs, default=0)
    if largest > LARGEST_COEFFICIENT:
        raise InputError(
            f"weights: found costs of up to {largest:,} in whole numbers, expected at most "
            f"{LARGEST_COEFFICIENT:,}; use fewer decimals"
        )
