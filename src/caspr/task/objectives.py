"""The objectives U, V, UA and VA of the paper's section 3.1, and free coefficients.

A solution pays, for each pair of mentions,

    (C1) omit   for every annotator who gave the link, when the solution does not use it;
    (C2) use    for every annotator who did not give the link, when the solution uses it;
    (C3) invent once, when both mentions are in one chain without a used link between them.

| objective | omit | use | invent    |
|-----------|------|-----|-----------|
| U         | 2    | 0   | forbidden |
| V         | 2    | 1   | forbidden |
| UA        | 2    | 0   | 1         |
| VA        | 2    | 1   | 1         |

Using a link is a choice: where invent is not forbidden, a pair of one chain may leave its link unused
and pay omit and invent instead of use, if that is cheaper and used links still connect the chain.
"""

from dataclasses import dataclass, replace

from caspr.errors import InputError

FORBIDDEN = None
"""The invent cost of objectives that put no two mentions into one chain without evidence."""

LARGEST_COEFFICIENT = 1_000_000
"""Coefficients beyond this would leave the 32-bit weights of ASP solvers."""


@dataclass(frozen=True)
class Objective:
    """What each kind of departure from the annotators costs, in whole numbers."""

    omit: int = 2
    """(C1), per annotator who gave a link that is not used."""
    use: int = 1
    """(C2), per annotator who did not give a link that is used."""
    invent: int | None = FORBIDDEN
    """(C3), per pair in one chain without a used link; `None` forbids such pairs."""

    def __post_init__(self) -> None:
        """Refuse coefficients no engine could work with."""
        for kind, cost in (("omit", self.omit), ("use", self.use), ("invent", self.invent)):
            known = type(cost) is int and 0 <= cost <= LARGEST_COEFFICIENT
            if not known and not (cost is None and kind == "invent"):
                raise InputError(
                    f"{kind} cost: found {cost}, expected a whole number from 0 to {LARGEST_COEFFICIENT:,}"
                )


OBJECTIVES = {
    "v": Objective(2, 1, FORBIDDEN),
    "va": Objective(2, 1, 1),
    "u": Objective(2, 0, FORBIDDEN),
    "ua": Objective(2, 0, 1),
}
"""The paper's objectives by name."""


def read_invent_cost(cost: int | str) -> int | None:
    """Read an invent cost: a whole number or `forbid`.

    >>> read_invent_cost("3"), read_invent_cost(3), read_invent_cost("forbid")
    (3, 3, None)
    """
    if cost == "forbid":
        return FORBIDDEN
    if type(cost) is int:
        return cost
    if isinstance(cost, str) and cost.isascii() and cost.isdigit():
        return int(cost)
    raise InputError(f"invent cost: found '{cost}', expected a whole number or 'forbid'")


def objective(
    name: str = "v",
    *,
    omit_cost: int | None = None,
    use_cost: int | None = None,
    invent_cost: int | str | None = None,
) -> Objective:
    """Take an objective by name and change the coefficients that are given.

    `invent_cost` is a whole number or `"forbid"`.

    >>> objective("ua", invent_cost=3)
    Objective(omit=2, use=0, invent=3)
    >>> objective("VA", invent_cost="forbid") == objective("v")
    True
    """
    if str(name).lower() not in OBJECTIVES:
        raise InputError(f"objective: found '{name}', expected one of {', '.join(OBJECTIVES)}")
    chosen = OBJECTIVES[name.lower()]
    if omit_cost is not None:
        chosen = replace(chosen, omit=omit_cost)
    if use_cost is not None:
        chosen = replace(chosen, use=use_cost)
    if invent_cost is not None:
        chosen = replace(chosen, invent=read_invent_cost(invent_cost))
    return chosen


@dataclass(frozen=True)
class Coefficients:
    """What votes cost, annotator by annotator, in the order of the annotations."""

    omit: tuple[int, ...]
    """(C1) for each annotator: a link that the annotator gave is not used."""
    use: tuple[int, ...]
    """(C2) for each annotator: a link that the annotator did not give is used."""
    invent: int | None
    """(C3): a pair in one chain without a used link; `None` forbids such pairs."""
    constant: int | None = None
    """What every pair in one chain costs; with it, pairs without a link cost this and all `use`."""

    @classmethod
    def equal(cls, objective: Objective, annotators: int) -> "Coefficients":
        """Give all annotators the costs of an objective."""
        return cls((objective.omit,) * annotators, (objective.use,) * annotators, objective.invent)

    @property
    def are_equal(self) -> bool:
        """Whether every vote costs the same, as in the paper."""
        return self.constant is None and len(set(self.omit)) < 2 and len(set(self.use)) < 2

    def with_adjudicator(self) -> "Coefficients":
        """Add the adjudicator as one more annotator, with the largest weight."""
        return replace(
            self,
            omit=(*self.omit, max(self.omit, default=0)),
            use=(*self.use, max(self.use, default=0)),
        )
