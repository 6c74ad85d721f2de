"""Settings: every choice a user makes about one adjudication, as one value.

Each choice has one name, listed in `SettingValues`. The command line turns it into an option, Python into a
keyword, and a review file, which carries the choices that shape a result, into a key:

    omit_cost    caspr adjudicate --omit-cost 3    caspr.adjudicate(files, omit_cost=3)    {"omit_cost": 3}

`change` is the only function that knows which field of `Settings` a name stands for. Defaults are those of
the dataclasses.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypedDict, cast

from caspr.errors import InputError
from caspr.task.decisions import Decisions
from caspr.task.instance import Instance, Nesting, Singletons, read_nesting, read_singletons
from caspr.task.limits import Limits
from caspr.task.objectives import OBJECTIVES, Objective, read_invent_cost
from caspr.task.objectives import objective as named_objective
from caspr.text.document import Annotation


class SettingValues(TypedDict, total=False):
    """Settings by name; a name that is missing, or `None`, leaves the setting as it is."""

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
    """What becomes of mentions that end in no chain: `drop` or `vote`."""
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
    jobs: int | None
    """Processes of the native engine."""
    certainty: float | None
    """Seconds per document to find out how certain each link is."""
    max_solutions: int | None
    """How many optimal solutions to return at most."""


@dataclass(frozen=True)
class Settings:
    """How to adjudicate."""

    objective: Objective = OBJECTIVES["v"]
    """What a solution costs."""
    engine: str = "auto"
    """Which engine solves; `auto` takes the one for daily work."""
    encoding: str = "mm"
    """Which encoding the ASP engines use."""
    nested: Nesting = Nesting.NEVER
    """Whether a chain may hold a mention and one inside it."""
    forced_votes: bool = False
    """Whether decisions count as votes, as in the paper."""
    singletons: Singletons = Singletons.DROP
    """What becomes of mentions that end in no chain."""
    certainty: float = 0.0
    """Seconds to spend on how certain the links of a result are."""
    limits: Limits = field(default_factory=Limits)
    """How long and how large the search may get, and how many optima to return."""

    def __post_init__(self) -> None:
        """Refuse a time that is none."""
        if not 0 <= self.certainty < math.inf:
            raise InputError(f"certainty: found {self.certainty}, expected seconds from 0")

    def instance(self, annotations: tuple[Annotation, ...], decisions: Decisions) -> Instance:
        """Make the task that these settings set for some annotations."""
        return Instance(
            annotations, self.objective, decisions, self.nested, self.forced_votes, self.singletons
        )


def change(settings: Settings, values: SettingValues) -> Settings:
    """Return settings with the given values in place of what they were.

    A new objective replaces all coefficients; a cost replaces one.

    >>> change(Settings(), {"objective": "ua", "use_cost": 3}).objective
    Objective(omit=2, use=3, invent=1)
    """
    given: dict[str, Any] = {name: value for name, value in values.items() if value is not None}
    unknown = sorted(given.keys() - SettingValues.__annotations__.keys())
    if unknown:
        raise TypeError(
            f"unknown setting '{unknown[0]}'; settings are {', '.join(SettingValues.__annotations__)}"
        )
    fields = {name: given[name] for name in _SAME_NAME if name in given}
    if "allow_nested" in given:
        given.setdefault("nested", "always" if given["allow_nested"] else "never")
    for name, read in _READERS.items():
        if name in given:
            fields[name] = read(given[name])
    limits = {field: given[name] for name, field in _LIMITS.items() if name in given}
    return replace(
        settings,
        objective=_changed_objective(settings.objective, given),
        limits=replace(settings.limits, **limits),
        **fields,
    )


def _changed_objective(objective: Objective, given: Mapping[str, Any]) -> Objective:
    chosen = given.get("objective", objective)
    if not isinstance(chosen, Objective):
        chosen = named_objective(chosen)
    costs = {kind: given[f"{kind}_cost"] for kind in ("omit", "use", "invent") if f"{kind}_cost" in given}
    if "invent" in costs:
        costs["invent"] = read_invent_cost(costs["invent"])
    return replace(chosen, **costs)


def write_settings(settings: Settings) -> dict[str, Any]:
    """Return what a review file keeps of the settings, as JSON values."""
    return {
        **{f"{kind}_cost": cost for kind, cost in asdict(settings.objective).items()},
        "engine": settings.engine,
        "encoding": settings.encoding,
        "nested": str(settings.nested),
        "forced_votes": settings.forced_votes,
        "singletons": str(settings.singletons),
        "time_limit": settings.limits.seconds,
        "memory_limit": settings.limits.megabytes,
    }


def read_settings(values: Mapping[str, Any]) -> Settings:
    """Take the settings of a review file from JSON values; what is missing has its default.

    An invent cost of null forbids such pairs.

    >>> read_settings(write_settings(Settings(OBJECTIVES["ua"]))) == Settings(OBJECTIVES["ua"])
    True
    """
    unknown = sorted(values.keys() - _KINDS.keys())
    if unknown:
        raise InputError(f"settings: found {unknown[0]!r}, expected only {', '.join(_KINDS)}")
    for name, value in values.items():
        if type(value) not in _KINDS[name]:
            raise InputError(f"settings: found {value!r} as {name}, expected another kind of value")
    given = dict(values)
    if given.get("invent_cost", 0) is None:
        given["invent_cost"] = "forbid"
    return change(Settings(), cast(SettingValues, given))


def without_search(settings: Settings) -> Settings:
    """Return settings under which an engine gives its first answer instead of searching."""
    return replace(settings, limits=replace(settings.limits, seconds=0.0))


_SAME_NAME = ("engine", "encoding", "forced_votes", "certainty")
"""Names that are also fields of `Settings`."""
_READERS: dict[str, Callable[[str], Any]] = {"nested": read_nesting, "singletons": read_singletons}
"""Names that are also fields of `Settings`, given as words."""
_LIMITS = {
    "time_limit": "seconds",
    "memory_limit": "megabytes",
    "jobs": "jobs",
    "max_solutions": "solutions",
}
"""Names that stand for fields of `Limits`."""
_KINDS: dict[str, tuple[type, ...]] = {
    "omit_cost": (int,),
    "use_cost": (int,),
    "invent_cost": (int, type(None)),
    "engine": (str,),
    "encoding": (str,),
    "nested": (str,),
    "allow_nested": (bool,),
    "forced_votes": (bool,),
    "singletons": (str,),
    "time_limit": (int, float, type(None)),
    "memory_limit": (int, type(None)),
}
"""What a review file keeps, with the types of its JSON values."""
