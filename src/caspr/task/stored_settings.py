"""Settings as JSON: what a review file and a certificate keep, concrete for their document.

Such a file is complete: `redo` and `verify` need no other. So weights are written for each annotator, what
each annotator saw in tokens, and variants that decisions were made about, span by span. Everything else has
the name of its option (`settings.SettingValues`). A name that is missing means the default.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from caspr.errors import InputError
from caspr.task.instance import read_nesting, read_singletons
from caspr.task.limits import Limits
from caspr.task.objectives import Objective
from caspr.task.own_rules import RuleFile
from caspr.task.settings import MARKS, Settings
from caspr.task.weights import AnnotatorWeights, WeightsTable
from caspr.text.coverage import Coverage
from caspr.text.document import Span
from caspr.text.variants import VariantGroup

VERSION = 1
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
        "variants": write_groups(settings.kept_variants) if settings.variants else None,
        "time_limit": settings.limits.seconds,
        "memory_limit": settings.limits.megabytes,
        **({"rules": [[file.name, file.text] for file in settings.rules]} if settings.rules else {}),
    }


def _write_weights(table: WeightsTable) -> Values:
    rows = {row.annotator: [row.omit, row.use] for row in table.annotators}
    return {"annotators": rows, "constant": table.constant}


def _write_coverage(coverage: Coverage) -> Values:
    return {name: [list(span) for span in spans] for name, spans in coverage.seen.items()}


def write_groups(groups: Iterable[VariantGroup]) -> list[Values]:
    """Return groups of variants as JSON values."""
    return [
        {"boundary": list(group.boundary), "spans": [list(span) for span in group.spans]} for group in groups
    ]


def read_settings(values: Values) -> Settings:
    """Take the settings of a review file from JSON values, which may be anything.

    An invent cost of null forbids such pairs.

    >>> read_settings({"objective": "v"})
    Traceback (most recent call last):
    caspr.errors.InputError: settings: found 'objective', expected only omit_cost, ..., rules
    """
    unknown = sorted(values.keys() - _KINDS.keys())
    if unknown:
        raise InputError(f"settings: found {unknown[0]!r}, expected only {', '.join(_KINDS)}")
    for name, value in values.items():
        if type(value) not in _KINDS[name]:
            raise InputError(f"settings: found {value!r} as {name}, expected another kind of value")
    try:
        return _read({**write_settings(Settings()), **values})
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"settings: found malformed weights, coverage, variants or rules ({error!r})"
        ) from error


def _read(values: Values) -> Settings:
    weights, variants = values["weights"], values["variants"]
    return Settings(
        Objective(values["omit_cost"], values["use_cost"], values["invent_cost"]),
        engine=values["engine"],
        encoding=values["encoding"],
        nested=read_nesting(values["nested"]),
        forced_votes=values["forced_votes"],
        singletons=read_singletons(values["singletons"]),
        weights=None if weights is None else _read_weights(weights),
        coverage=_read_coverage(values["coverage"]),
        variants=variants is not None,
        kept_variants=read_groups(variants or ()),
        rules=tuple(_read_rules(values.get("rules") or ())),
        limits=Limits(values["time_limit"], values["memory_limit"]),
    )


def _read_rules(values: Sequence[Any]) -> Iterator[RuleFile]:
    for name, text in values:
        if not isinstance(name, str) or not isinstance(text, str):
            raise ValueError(f"{text!r} as the text of rules")
        yield RuleFile(name, text)


def _read_weights(values: Values) -> WeightsTable:
    rows = values["annotators"].items()
    annotators = tuple(AnnotatorWeights(name, _whole(omit), _whole(use)) for name, (omit, use) in rows)
    constant = values["constant"]
    return WeightsTable(annotators, None if constant is None else _whole(constant))


def _whole(number: Any) -> int:
    if type(number) is not int or number < 0:
        raise ValueError(f"{number!r} as a whole number")
    return number


def _read_coverage(values: Any) -> Any:
    if values is None or values == MARKS:
        return values
    if isinstance(values, str):
        raise ValueError(f"{values!r} as coverage")
    return Coverage.of({name: [_read_span(span) for span in spans] for name, spans in values.items()})


def _read_span(tokens: Sequence[Any]) -> Span:
    start, end = map(_whole, tokens)
    if not 1 <= start <= end:
        raise ValueError(f"{tokens!r} as tokens")
    return Span(start, end)


def read_groups(values: Iterable[Values]) -> tuple[VariantGroup, ...]:
    """Read groups of variants; raise `KeyError`, `TypeError` or `ValueError` if they are none."""
    return tuple(map(_read_group, values))


def _read_group(values: Values) -> VariantGroup:
    spans = tuple(sorted({_read_span(span) for span in values["spans"]}))
    return VariantGroup(spans, ((),) * len(spans), _read_span(values["boundary"]))


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
    "rules": (list, type(None)),
}
"""What a file keeps, with the types of its JSON values."""
