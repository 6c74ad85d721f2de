"""Settings by name: one name for each choice, on the command line, in Python and in a review file.

    omit_cost    caspr adjudicate --omit-cost 3    caspr.adjudicate(files, omit_cost=3)    {"omit_cost": 3}

`change` is the only function that knows which field of `Settings` a name stands for. Defaults are those of
the dataclasses; a *preset* is a set of other ones.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict

from caspr.errors import InputError
from caspr.files import read_text
from caspr.task.instance import Nesting, Singletons, read_nesting, read_singletons
from caspr.task.objectives import OBJECTIVES, Objective, read_invent_cost
from caspr.task.objectives import objective as named_objective
from caspr.task.settings import MARKS, Settings
from caspr.task.settings.weighting import read_factors
from caspr.task.settings.weights_table import WeightsTable, read_weights
from caspr.text.coverage import Coverage, CoverageTable, read_coverage

PRESETS: dict[str, Settings] = {
    "default": Settings(),
    "paper": Settings(OBJECTIVES["v"], nested=Nesting.NEVER, singletons=Singletons.DROP),
}
"""What to start from, by name: what is best by our measurements, and what the paper describes."""


class SettingValues(TypedDict, total=False):
    """Settings by name; a name that is missing, or `None`, leaves the setting as it is."""

    preset: str | None
    """Where to start from: `default` or `paper`; all other settings given count more."""
    objective: str | Objective | None
    """What a solution costs: `v`, `va`, `u`, `ua`, or an objective with coefficients of its own."""
    omit_cost: int | None
    """The objective's cost per annotator of a link that is not used."""
    use_cost: int | None
    """The objective's cost of a used link per annotator who did not give it."""
    invent_cost: int | str | None
    """The objective's cost of a pair in one chain without a used link, or `forbid`."""
    nested: str | None
    """Whether a chain may hold a mention and one inside it: `vote`, `never` or `always`."""
    allow_nested: bool | None
    """The same as in version 0.1: `always` if true, `never` if false."""
    singletons: str | None
    """What becomes of mentions that end in no chain: `auto`, `drop` or `vote`."""
    weight: Sequence[str] | Mapping[str, float | str] | None
    """How many times as much the votes of an annotator cost: `anna=2`, or a mapping from names to numbers."""
    weights: str | Path | WeightsTable | None
    """What the votes of each annotator cost: a table, or the CSV file that holds it."""
    coverage: str | Path | CoverageTable | Coverage | None
    """Who saw what: a table, the CSV file that holds it, or `marks`: from first to last mark."""
    variants: bool | None
    """Whether mentions that differ only in their boundaries are one mention."""
    forced_votes: bool | None
    """Whether decisions count as the votes of one more annotator, as in the paper."""
    encoding: str | None
    """The encoding of the ASP engines: `mm` or `cm`."""
    engine: str | None
    """The engine: `auto` or a name in `ENGINES`."""
    time_limit: float | None
    """Seconds per document."""
    memory_limit: int | None
    """Megabytes of each process of the solver."""
    certainty: float | None
    """Seconds per document to find out how certain each link is."""
    max_solutions: int | None
    """How many optimal solutions to return at most."""


def change(settings: Settings, values: SettingValues) -> Settings:
    """Return settings with the given values in place of what they were.

    A preset replaces all that says what is optimal. A new objective replaces all coefficients; a cost
    replaces one. Factors replace a table of weights, unless one is given with them.

    >>> change(Settings(), {"objective": "ua", "use_cost": 3}).objective
    Objective(omit=2, use=3, invent=1)
    >>> change(Settings(), {"preset": "paper", "nested": "vote"}).objective
    Objective(omit=2, use=1, invent=None)
    """
    given: dict[str, Any] = {name: value for name, value in values.items() if value is not None}
    unknown = sorted(given.keys() - SettingValues.__annotations__.keys())
    if unknown:
        raise TypeError(
            f"unknown setting '{unknown[0]}'; settings are {', '.join(SettingValues.__annotations__)}"
        )
    if "preset" in given:
        settings = _preset(settings, given["preset"])
    if "allow_nested" in given:
        given.setdefault("nested", "always" if given["allow_nested"] else "never")
    fields = {name: given[name] for name in _SAME_NAME if name in given}
    for name, (field, read) in _READERS.items():
        if name in given:
            fields[field] = read(given[name])
    if "weight" in given:
        fields.setdefault("weights", None)
    limits = {field: given[name] for name, field in _LIMITS.items() if name in given}
    return replace(
        settings,
        objective=_changed_objective(settings.objective, given),
        limits=replace(settings.limits, **limits),
        **fields,
    )


def _preset(settings: Settings, name: str) -> Settings:
    if name not in PRESETS:
        raise InputError(f"preset: found '{name}', expected one of {', '.join(PRESETS)}")
    preset = PRESETS[name]
    return replace(
        preset,
        engine=settings.engine,
        encoding=settings.encoding,
        certainty=settings.certainty,
        limits=settings.limits,
    )


def _changed_objective(objective: Objective, given: Mapping[str, Any]) -> Objective:
    chosen = given.get("objective", objective)
    if not isinstance(chosen, Objective):
        chosen = named_objective(chosen)
    costs = {kind: given[f"{kind}_cost"] for kind in ("omit", "use", "invent") if f"{kind}_cost" in given}
    if "invent" in costs:
        costs["invent"] = read_invent_cost(costs["invent"])
    return replace(chosen, **costs)


def _weights(given: str | Path | WeightsTable) -> WeightsTable:
    if given == "learn":
        raise InputError(
            "weights: found 'learn', expected a table: `caspr weigh` learns one from your files, and only "
            "`caspr corpus` learns it by itself (a file of this name is ./learn)"
        )
    return given if isinstance(given, WeightsTable) else read_weights(read_text(Path(given)), str(given))


def _coverage(given: str | Path | CoverageTable | Coverage) -> str | CoverageTable | Coverage:
    if given == MARKS or isinstance(given, CoverageTable | Coverage):
        return given
    return read_coverage(read_text(Path(given)), str(given))


_SAME_NAME = ("engine", "encoding", "forced_votes", "certainty", "variants")
"""Names that are also fields of `Settings`."""
_READERS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "nested": ("nested", read_nesting),
    "singletons": ("singletons", read_singletons),
    "weight": ("factors", read_factors),
    "weights": ("weights", _weights),
    "coverage": ("coverage", _coverage),
}
"""Names with the fields that they stand for, and what makes a field's value of what is given."""
_LIMITS = {
    "time_limit": "seconds",
    "memory_limit": "megabytes",
    "max_solutions": "solutions",
}
"""Names that stand for fields of `Limits`."""
