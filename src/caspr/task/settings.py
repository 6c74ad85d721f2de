"""Settings: every choice a user makes about one adjudication, as one value.

A review file carries them in a comment line, so they can be written to and read from plain JSON values.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from caspr.errors import InputError
from caspr.task.decisions import Decisions
from caspr.task.instance import Instance, Singletons, read_singletons
from caspr.task.limits import Limits
from caspr.task.objectives import OBJECTIVES, Objective
from caspr.text.document import Annotation


@dataclass(frozen=True)
class Settings:
    """How to adjudicate."""

    objective: Objective = OBJECTIVES["v"]
    """What a solution costs."""
    engine: str = "auto"
    """Which engine solves; `auto` takes the one for daily work."""
    encoding: str = "mm"
    """Which encoding the ASP engines use."""
    allow_nested: bool = False
    """Whether a chain may hold a mention and one inside it."""
    forced_votes: bool = False
    """Whether decisions count as votes, as in the paper."""
    singletons: Singletons = Singletons.DROP
    """What becomes of mentions that end in no chain."""
    certainty: float = 0.0
    """Seconds to spend on telling how sure the links of a result are."""
    limits: Limits = field(default_factory=Limits)
    """How long and how large the search may get, and how many optima to return."""

    def instance(self, annotations: tuple[Annotation, ...], decisions: Decisions) -> Instance:
        """Make the task that these settings set for some annotations."""
        return Instance(
            annotations, self.objective, decisions, self.allow_nested, self.forced_votes, self.singletons
        )


def write_settings(settings: Settings) -> dict[str, Any]:
    """Return what a review file keeps of the settings, as JSON values."""
    return {
        **{f"{kind}_cost": cost for kind, cost in asdict(settings.objective).items()},
        "engine": settings.engine,
        "encoding": settings.encoding,
        "allow_nested": settings.allow_nested,
        "forced_votes": settings.forced_votes,
        "singletons": str(settings.singletons),
        "time_limit": settings.limits.seconds,
        "memory_limit": settings.limits.megabytes,
    }


def read_settings(values: Mapping[str, Any]) -> Settings:
    """Take settings from JSON values; what is missing has its default.

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
    objective = replace(
        OBJECTIVES["v"],
        **{kind: given.pop(f"{kind}_cost") for kind in ("omit", "use", "invent") if f"{kind}_cost" in given},
    )
    limits = Limits(seconds=given.pop("time_limit", None), megabytes=given.pop("memory_limit", None))
    given["singletons"] = read_singletons(given.get("singletons", "drop"))
    return Settings(objective=objective, limits=limits, **given)


def at_once(settings: Settings) -> Settings:
    """Return settings that take the best answer there is without a search."""
    return replace(settings, limits=replace(settings.limits, seconds=0.0))


_KINDS: dict[str, tuple[type, ...]] = {
    "omit_cost": (int,),
    "use_cost": (int,),
    "invent_cost": (int, type(None)),
    "engine": (str,),
    "encoding": (str,),
    "allow_nested": (bool,),
    "forced_votes": (bool,),
    "singletons": (str,),
    "time_limit": (int, float, type(None)),
    "memory_limit": (int, type(None)),
}
