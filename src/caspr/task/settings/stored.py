"""Settings as JSON: what a review file and a certificate keep, concrete for their document.

Such a file is complete: `redo` and `verify` need no other. So weights are written for each annotator, what
each annotator saw in tokens, and variants that decisions were made about, span by span. Everything else has
the name of its option (`values`).

Version 1 had less. What its files lack means what it meant then: the paper's settings.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from typing import Any

from caspr.errors import InputError
from caspr.task.instance import read_nesting, read_singletons
from caspr.task.limits import Limits
from caspr.task.objectives import Objective
from caspr.task.settings import MARKS, Settings
from caspr.task.settings.weights_table import AnnotatorWeights, WeightsTable
from caspr.text.coverage import Coverage
from caspr.text.document import Span
from caspr.text.variants import VariantGroup, overlap_by_half

VERSION = 2
"""The version of review files and certificates."""
Values = Mapping[str, Any]


def write_settings(settings: Settings) -> dict[str, Any]:
    """Return what a review file keeps of the concrete settings of its document, as JSON values."""
    weights, coverage = settings.weights, settings.coverage
    return {
        **{f"{kind}_cost": cost for kind, cost in asdict(settings.objective).items()},
        "engine": settings.engine,
        "encoding": settings.encoding,
        "nested": str(settings.nested),
        "forced_votes": settings.forced_votes,
        "singletons": str(settings.singletons),
        "weights": None if weights is None else _write_weights(weights),
        "coverage": _write_coverage(coverage) if isinstance(coverage, Coverage) else coverage,
        "variants": [_write_group(one) for one in settings.kept_variants] if settings.variants else None,
        "time_limit": settings.limits.seconds,
        "memory_limit": settings.limits.megabytes,
    }


def _write_weights(table: WeightsTable) -> Values:
    rows = {row.annotator: [row.omit, row.use] for row in table.annotators}
    return {"annotators": rows, "constant": table.constant}


def _write_coverage(coverage: Coverage) -> Values:
    return {name: [list(span) for span in spans] for name, spans in coverage.seen.items()}


def _write_group(group: VariantGroup) -> Values:
    return {"boundary": list(group.boundary), "spans": [list(span) for span in group.spans]}


def read_settings(values: Values, version: int = VERSION) -> Settings:
    """Take the settings of a review file from JSON values, which may be anything.

    An invent cost of null forbids such pairs.

    >>> read_settings({"objective": "v"})
    Traceback (most recent call last):
    caspr.errors.InputError: settings: found 'objective', expected only omit_cost, ..., memory_limit
    """
    values = upgrade(values, version)
    unknown = sorted(values.keys() - _KINDS.keys())
    if unknown:
        raise InputError(f"settings: found {unknown[0]!r}, expected only {', '.join(_KINDS)}")
    for name, value in values.items():
        if type(value) not in _KINDS[name]:
            raise InputError(f"settings: found {value!r} as {name}, expected another kind of value")
    given = {**write_settings(Settings()), **values}
    try:
        return _read(given)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"settings: found malformed weights, coverage or variants ({error!r})") from error


def _read(given: Values) -> Settings:
    variants = given["variants"]
    return Settings(
        Objective(given["omit_cost"], given["use_cost"], given["invent_cost"]),
        engine=given["engine"],
        encoding=given["encoding"],
        nested=read_nesting(given["nested"]),
        forced_votes=given["forced_votes"],
        singletons=read_singletons(given["singletons"]),
        weights=None if given["weights"] is None else _read_weights(given["weights"]),
        coverage=_read_coverage(given["coverage"]),
        variants=variants is not None,
        kept_variants=tuple(_read_group(one) for one in variants or ()),
        limits=Limits(given["time_limit"], given["memory_limit"]),
    )


def _read_weights(values: Values) -> WeightsTable:
    rows = values["annotators"].items()
    annotators = tuple(AnnotatorWeights(name, _whole(omit), _whole(use)) for name, (omit, use) in rows)
    constant = values["constant"]
    return WeightsTable(annotators, None if constant is None else _whole(constant))


def _whole(given: Any) -> int:
    if type(given) is not int or given < 0:
        raise ValueError(f"{given!r} as a whole number")
    return given


def _read_coverage(values: Any) -> Any:
    if values is None or values == MARKS:
        return values
    if isinstance(values, str):
        raise ValueError(f"{values!r} as coverage")
    return Coverage.of({name: [_read_span(span) for span in spans] for name, spans in values.items()})


def _read_span(given: Sequence[Any]) -> Span:
    start, end = map(_whole, given)
    if not 1 <= start <= end:
        raise ValueError(f"{given!r} as tokens")
    return Span(start, end)


def _read_group(values: Values) -> VariantGroup:
    spans = tuple(sorted({_read_span(span) for span in values["spans"]}))
    boundary = _read_span(values["boundary"])
    alike = all(overlap_by_half(one, other) for one, other in combinations(spans, 2))
    if len(spans) < 2 or boundary not in spans or not alike:
        raise ValueError(f"{values!r} as variants")
    return VariantGroup(spans, ((),) * len(spans), boundary)


def upgrade(values: Values, version: int) -> Values:
    """Return the values of an older file as those of this version, which mean the same.

    >>> upgrade({"allow_nested": True}, 1)["nested"], upgrade({}, 1)["singletons"]
    ('always', 'drop')
    """
    if version >= VERSION:
        return values
    paper = {"omit_cost": 2, "use_cost": 1, "invent_cost": None, "singletons": "drop"}
    kept = {name: value for name, value in values.items() if name != "allow_nested"}
    nested = values.get("allow_nested", False)
    if type(nested) is not bool:
        raise InputError(f"settings: found {nested!r} as allow_nested, expected true or false")
    return {**paper, "nested": "always" if nested else "never", **kept}


_KINDS: dict[str, tuple[type, ...]] = {
    "omit_cost": (int,),
    "use_cost": (int,),
    "invent_cost": (int, type(None)),
    "engine": (str,),
    "encoding": (str,),
    "nested": (str,),
    "forced_votes": (bool,),
    "singletons": (str,),
    "weights": (dict, type(None)),
    "coverage": (dict, str, type(None)),
    "variants": (list, type(None)),
    "time_limit": (int, float, type(None)),
    "memory_limit": (int, type(None)),
}
"""What a file keeps, with the types of its JSON values."""
