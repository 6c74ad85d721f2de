"""Weights: what each annotator's vote costs in one document, in whole numbers.

The objective has one cost for a link that is omitted and one for a link that is used, whoever gave it or did
not. Here each annotator has costs of its own, so that the vote of a careful annotator counts for more:

    omit_i      annotator i gave the link and it is not used
    use_i       annotator i saw both mentions, did not give the link, and it is used
    constant    on top, for every pair in one chain

With a constant, a pair in one chain that nobody linked costs the constant and `use` of everybody who saw it:
that takes the place of the objective's cost of inventing a link. Without one, inventing has its own cost.
"""

from dataclasses import dataclass, replace

from caspr.task.objectives import Objective


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
