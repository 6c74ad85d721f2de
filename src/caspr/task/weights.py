"""Weights: what each annotator's vote costs in one document, in whole numbers.

The objective has one cost for a link that is omitted and one for a link that is used, whoever gave it or did
not. Here each annotator has costs of its own, so that the vote of a careful annotator counts for more:

    omit_i      annotator i gave the link and it is not used
    use_i       annotator i saw both mentions, did not give the link, and it is used
    constant    on top, for every pair in one chain

With a constant, a pair in one chain that nobody linked costs the constant and `use` of everybody who saw it:
that takes the place of the objective's cost of inventing a link. Without one, inventing has its own cost.

Users say it in two ways:

    --weight anna=1.5        the objective's costs, times 1.5 for Anna: all are scaled to whole numbers
    --weights weights.csv    a table with costs for each annotator; `*constant` may be missing

        annotator,omit,use
        anna,55,27
        ben,31,40
        *constant,29,

Factors also multiply what a table says. All coefficients are scaled alike, so that nothing but the weights
changes what is optimal.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import gcd, lcm

from caspr.errors import FormatError, InputError, reading
from caspr.task.objectives import LARGEST_COEFFICIENT, Objective
from caspr.text.csv_table import TableRow, read_table
from caspr.text.findings import Finding, note

COLUMNS = ("annotator", "omit", "use")
"""The columns of the table."""
CONSTANT = "*constant"
"""The name of the row that is not an annotator's."""
LARGEST = 1_000_000
"""Weights beyond this would leave the 32-bit numbers of answer set solvers."""
FEWEST = 3
"""The fewest annotators of a document for which weights with a constant, as they are learned, are used."""
_EXPECTED = "an annotator and a number from 0 to 999,999 with at most six decimals, as in anna=1.5"


@dataclass(frozen=True)
class AnnotatorWeights:
    """What the votes of one annotator cost."""

    annotator: str
    omit: int
    """What it costs not to use a link that the annotator gave."""
    use: int
    """What it costs to use a link that the annotator did not give."""


@dataclass(frozen=True)
class WeightsTable:
    """What the votes of annotators cost."""

    annotators: tuple[AnnotatorWeights, ...]
    constant: int | None = None
    """What every pair in one chain costs; `None` where nothing is said."""

    def of(self, names: Sequence[str]) -> tuple[AnnotatorWeights, ...]:
        """Return the weights of some annotators in their order; refuse one who has none."""
        known = {row.annotator: row for row in self.annotators}
        missing = [name for name in names if name not in known]
        if missing:
            raise InputError(
                f"weights: found none for annotator '{missing[0]}', expected a row for each annotator; there "
                f"are {', '.join(sorted(known)) or 'none'}"
            )
        return tuple(known[name] for name in names)


def write_weights(weights: WeightsTable) -> str:
    """Write a table as the text of a CSV file.

    >>> print(write_weights(WeightsTable((AnnotatorWeights("anna", 55, 27),), 29)), end="")
    annotator,omit,use
    anna,55,27
    *constant,29,
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows((row.annotator, row.omit, row.use) for row in weights.annotators)
    if weights.constant is not None:
        writer.writerow((CONSTANT, weights.constant, ""))
    return text.getvalue()


def read_weights(text: str, source: str) -> WeightsTable:
    """Read a table from the text of a CSV file, in any of the forms of `caspr.text.csv_table`."""
    with reading(source):
        return _read_weights(read_table(text, COLUMNS))


def _read_weights(rows: Sequence[TableRow]) -> WeightsTable:
    _refuse_repetitions(rows)
    constants = [_constant(row) for row in rows if row.cells[0] == CONSTANT]
    annotators = tuple(_annotator(row) for row in rows if row.cells[0] != CONSTANT)
    if not annotators:
        raise FormatError(None, "no annotator", "a row for each, with the columns annotator, omit, use")
    return WeightsTable(annotators, constants[0] if constants else None)


def _refuse_repetitions(rows: Sequence[TableRow]) -> None:
    seen: Counter[str] = Counter()
    for line, cells in rows:
        seen[cells[0]] += 1
        if seen[cells[0]] > 1:
            raise FormatError(line, f"'{cells[0]}' once more", "one row for each annotator")


def _annotator(row: TableRow) -> AnnotatorWeights:
    name, omit, use = row.cells
    if not name or name.startswith("*"):
        raise FormatError(row.line, f"'{name}'", f"the name of an annotator, or {CONSTANT}")
    return AnnotatorWeights(name, _weight(omit, row), _weight(use, row))


def _constant(row: TableRow) -> int:
    if row.cells[2]:
        raise FormatError(row.line, f"'{row.cells[2]}' after {CONSTANT}", "one number and an empty cell")
    return _weight(row.cells[1], row)


def _weight(cell: str, row: TableRow) -> int:
    if cell.isascii() and cell.isdigit() and len(cell) <= len(str(LARGEST)) and int(cell) <= LARGEST:
        return int(cell)
    expected = f"a whole number from 0 to {LARGEST:,}; for decimals, multiply all weights by 10"
    raise FormatError(row.line, f"'{cell}'", expected)


@dataclass(frozen=True)
class Factor:
    """How many times as much as others the votes of one annotator cost, as a fraction of whole numbers."""

    annotator: str
    numerator: int
    denominator: int = 1


def read_factors(words: Iterable[str] | Mapping[str, float | str]) -> tuple[Factor, ...]:
    """Read factors: `NAME=NUMBER`, or names with numbers; the last one for a name counts.

    >>> read_factors(["ben=0.5"])
    (Factor(annotator='ben', numerator=1, denominator=2),)
    """
    pairs = words.items() if isinstance(words, Mapping) else map(_split, map(str, words))
    factors = {name: _read_factor(name, str(number)) for name, number in pairs}
    return tuple(factors[name] for name in sorted(factors))


def _split(word: str) -> tuple[str, str]:
    name, equals, number = word.rpartition("=")
    if not equals:
        raise InputError(f"weight: found '{word}', expected {_EXPECTED}")
    return name.strip(), number


def _read_factor(name: str, number: str) -> Factor:
    digits = re.fullmatch(r"([0-9]{0,6})(?:[.,]([0-9]{1,6}))?", number.strip())
    if not name or digits is None or not any(digits.groups()):
        raise InputError(f"weight: found '{name}={number}', expected {_EXPECTED}")
    whole, decimals = digits[1] or "0", digits[2] or ""
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
    """Return the annotators who lack weights in a table that is used for their document."""
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
