"""Settings: every choice a user makes about one adjudication, as one value.

`Settings` hold for a whole run. What depends on the document (whose vote weighs how much, who saw what,
which boundaries are variants of each other) is made concrete by `for_document`; what is decided once for
all documents of a run, by `for_run`. `values` changes settings by the names of options; `stored` writes
them into review files and certificates.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from caspr.errors import InputError
from caspr.task.decisions import Decisions
from caspr.task.instance import Instance, Nesting, Singletons
from caspr.task.limits import Limits
from caspr.task.objectives import OBJECTIVES, Objective
from caspr.task.settings.boundaries import boundary_decisions
from caspr.task.settings.singletons import decide_singletons
from caspr.task.settings.weighting import Factor, unweighted, weighted
from caspr.task.settings.weights_table import WeightsTable
from caspr.task.weights import Coefficients
from caspr.text.coverage import Coverage, CoverageTable, coverage_by_marks
from caspr.text.document import Annotation, Span
from caspr.text.findings import Finding
from caspr.text.variants import VariantGroup, Variants, find_variants, unify

MARKS = "marks"
"""The coverage from the first to the last mark of each annotator."""


@dataclass(frozen=True)
class Settings:
    """How to adjudicate."""

    objective: Objective = OBJECTIVES["va"]
    """What a solution costs."""
    engine: str = "auto"
    """Which engine solves; `auto` takes the one for daily work."""
    encoding: str = "mm"
    """Which encoding the ASP engines use."""
    nested: Nesting = Nesting.VOTE
    """Whether a chain may hold a mention and one inside it."""
    forced_votes: bool = False
    """Whether decisions count as votes, as in the paper."""
    singletons: Singletons = Singletons.AUTO
    """What becomes of mentions that end in no chain."""
    factors: tuple[Factor, ...] = ()
    """How many times as much the votes of some annotators cost as those of others."""
    weights: WeightsTable | None = None
    """What the votes of each annotator cost, in place of the objective's costs."""
    coverage: Coverage | CoverageTable | Literal["marks"] | None = None
    """Who saw what; `None` if everybody saw everything."""
    variants: bool = False
    """Whether mentions that differ only in their boundaries are one mention."""
    kept_variants: tuple[VariantGroup, ...] = ()
    """Variants that decisions were made about, which stay what they are."""
    certainty: float = 0.0
    """Seconds to spend on how certain the links of a result are."""
    limits: Limits = field(default_factory=Limits)
    """How long and how large the search may get, and how many optima to return."""

    def __post_init__(self) -> None:
        """Refuse a time that is none."""
        if not 0 <= self.certainty < math.inf:
            raise InputError(f"certainty: found {self.certainty}, expected seconds from 0")

    def for_run(self, documents: Sequence[Sequence[Annotation]]) -> tuple["Settings", tuple[Finding, ...]]:
        """Decide what is decided once for all documents, and refuse weights of annotators who are in none."""
        names = {one.annotator for annotations in documents for one in annotations}
        self.refuse_unknown(names)
        findings = self.unused_coverage(documents)
        if self.singletons is not Singletons.AUTO:
            return self, findings
        singletons, decided = decide_singletons(one for annotations in documents for one in annotations)
        return replace(self, singletons=singletons), (*findings, *decided)

    def unused_coverage(self, documents: Sequence[Sequence[Annotation]]) -> tuple[Finding, ...]:
        """Report rows of a table of coverage about documents or annotators that are not there."""
        if not isinstance(self.coverage, CoverageTable):
            return ()
        names = {one.annotator for annotations in documents for one in annotations}
        return self.coverage.unknown([one[0].document.title for one in documents], names)

    def coverage_of(self, annotations: Sequence[Annotation]) -> Coverage:
        """Return what the annotators of one document saw of it; the annotations are over the same tokens."""
        if self.coverage == MARKS:
            return coverage_by_marks(annotations)
        if isinstance(self.coverage, CoverageTable):
            return self.coverage.of(annotations[0].document)
        return self.coverage if isinstance(self.coverage, Coverage) else Coverage()

    def unweighted(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return which annotators of a document have no weights in the table that it would use."""
        return () if self.weights is None else unweighted(names, self.weights)

    def refuse_unknown(self, names: Iterable[str]) -> None:
        """Refuse a factor of somebody who is not among the annotators."""
        known = sorted(names)
        for factor in self.factors:
            if factor.annotator not in known:
                raise InputError(
                    f"weight: found annotator '{factor.annotator}', expected one of {', '.join(known)}"
                )

    def for_document(self, annotations: Sequence[Annotation]) -> tuple["Settings", tuple[Finding, ...]]:
        """Make weights and coverage concrete for the annotators and the text of one document.

        The annotations are over the same tokens. What is concrete already stays as it is.
        """
        names = [annotation.annotator for annotation in annotations]
        objective, weights, findings = weighted(self.objective, names, self.factors, self.weights)
        coverage = self.coverage
        if isinstance(coverage, CoverageTable):
            coverage = self.coverage_of(annotations) or None
        singletons = self.singletons
        if singletons is Singletons.AUTO:
            singletons, _ = decide_singletons(annotations)
        concrete = replace(
            self, objective=objective, weights=weights, factors=(), coverage=coverage, singletons=singletons
        )
        return concrete, findings

    def instance(
        self, annotations: Sequence[Annotation], decisions: Decisions, variants: Variants | None = None
    ) -> Instance:
        """Make the task that these settings set for the annotations of one document.

        `variants` are those that `find_variants` returns, if they were found before.
        """
        concrete, _ = self.for_document(annotations)
        found = concrete.find_variants(annotations, decisions) if variants is None else variants
        return Instance(
            unify(annotations, found),
            concrete.objective,
            decisions.on_boundaries(found.boundaries),
            concrete.nested,
            concrete.forced_votes,
            concrete.singletons,
            concrete._coefficients(annotations),
            concrete._seen(annotations),
        )

    def find_variants(self, annotations: Sequence[Annotation], decisions: Decisions) -> Variants:
        """Find the mentions that differ only in their boundaries; none where these are different mentions."""
        if not self.variants:
            return Variants()
        decided = boundary_decisions(annotations, decisions, self.kept_variants)
        weights = self.for_document(annotations)[0]._votes(annotations)
        return find_variants(annotations, weights=weights, decisions=decided)

    def _coefficients(self, annotations: Sequence[Annotation]) -> Coefficients | None:
        if self.weights is None:
            return None
        rows = self.weights.of([annotation.annotator for annotation in annotations])
        return Coefficients(
            tuple(row.omit for row in rows),
            tuple(row.use for row in rows),
            self.objective.invent,
            self.weights.constant,
        )

    def _votes(self, annotations: Sequence[Annotation]) -> dict[str, int]:
        """Return how much an annotator's boundary counts: what omitting a link of the annotator costs."""
        if self.weights is None:
            return {}
        rows = self.weights.of([annotation.annotator for annotation in annotations])
        return {row.annotator: row.omit for row in rows}

    def _seen(self, annotations: Sequence[Annotation]) -> tuple[tuple[Span, ...] | None, ...]:
        coverage = self.coverage_of(annotations)
        seen = tuple(coverage.seen.get(annotation.annotator) for annotation in annotations)
        return seen if any(stretches is not None for stretches in seen) else ()


def without_search(settings: Settings) -> Settings:
    """Return settings under which an engine gives its first answer instead of searching."""
    return replace(settings, limits=replace(settings.limits, seconds=0.0))
