"""Settings: every choice a user makes about one adjudication, as one value.

One name for each choice, on the command line, in Python and in a review file:

    omit_cost    caspr adjudicate --omit-cost 3    caspr.adjudicate(files, omit_cost=3)    {"omit_cost": 3}

`change` is the only function that knows which field of `Settings` a name stands for. Defaults are those of
the dataclasses; a *preset* is a set of other ones. `stored_settings` writes them into review files and
certificates, `in_words` says what a result or a proof holds under.

`Settings` hold for a whole run. What is decided once for all its documents is decided by `for_run`; what
depends on the document (whose vote weighs how much, who saw what, which boundaries are variants of each
other) is made concrete by `for_document`, and `instance` makes the task for an engine.

**Chains of one.** Some projects mark every mention, others only those that corefer. An annotator *marks
chains of one* if at least 5 % of the annotator's chains, over all documents, have one mention. If at least
half of the annotators do, mentions that end in no chain are kept where votes favour it; otherwise they are
dropped, as in the paper.

**Decisions about boundaries**, where mentions have variants (`text.variants`). A mention that must exist has
the boundary it was decided with. A boundary that is ruled out, by a statement or by a closed token, is
removed. Mentions decided to be apart, in different chains, or nested in one chain, are not variants of each
other. A group of variants that holds a decision stays what it is, whoever annotates the document later.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from pathlib import Path
from typing import Any, Literal, TypedDict

from caspr.errors import ArgumentError, InputError
from caspr.storage import read_text
from caspr.task.decisions import Decisions
from caspr.task.instance import Instance, Nesting, Singletons, read_nesting, read_singletons
from caspr.task.limits import Limits
from caspr.task.objectives import OBJECTIVES, Coefficients, Objective, read_invent_cost
from caspr.task.objectives import objective as named_objective
from caspr.task.own_rules import LIBRARY, RuleFile
from caspr.task.weights import (
    AnnotatorWeights,
    Factor,
    WeightsTable,
    read_factors,
    read_weights,
    unweighted,
    weighted,
)
from caspr.text.arguments import listed, refused
from caspr.text.coverage import Coverage, CoverageTable, coverage_by_marks, read_coverage
from caspr.text.document import Annotation, Span
from caspr.text.findings import Finding, note, times
from caspr.text.variants import BoundaryDecisions, VariantGroup, Variants, find_variants, unify

MARKS = "marks"
"""The coverage from the first to the last mark of each annotator."""
SHARE = 20
"""At least one in this many chains has one mention where an annotator marks chains of one."""
SHOWN = 5
"""How many annotators are named."""


@dataclass(frozen=True)
class Settings:
    """How to adjudicate."""

    objective: Objective = OBJECTIVES["va"]
    engine: str = "auto"
    """`auto` takes the one for daily work."""
    encoding: str = "mm"
    """Of the ASP engines."""
    nested: Nesting = Nesting.VOTE
    forced_votes: bool = False
    """Whether decisions count as votes, as in the paper."""
    singletons: Singletons = Singletons.AUTO
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
    rules: tuple[RuleFile, ...] = ()
    """Rules of one's own, by the content of their files."""
    prices: float = 0.0
    """Seconds to spend on what deciding each link of a result differently would cost."""
    limits: Limits = field(default_factory=Limits)
    """How long and how large the search may get, and how many optima to return."""

    def __post_init__(self) -> None:
        """Refuse a time that is negative or endless, and words that are none of a setting."""
        if not 0 <= self.prices < math.inf:
            raise InputError(f"prices: found {self.prices}, expected seconds from 0")
        object.__setattr__(self, "nested", read_nesting(self.nested))
        object.__setattr__(self, "singletons", read_singletons(self.singletons))

    def for_run(self, documents: Sequence[Sequence[Annotation]]) -> tuple["Settings", tuple[Finding, ...]]:
        """Decide what is decided once for all documents, and refuse weights of annotators who are in none."""
        every = [annotation for annotations in documents for annotation in annotations]
        self.refuse_unknown({annotation.annotator for annotation in every})
        findings = self.unused_coverage(documents)
        if self.singletons is not Singletons.AUTO:
            return self, findings
        singletons, decided = decide_singletons(every)
        return replace(self, singletons=singletons), (*findings, *decided)

    def unused_coverage(self, documents: Sequence[Sequence[Annotation]]) -> tuple[Finding, ...]:
        """Report rows of a table of coverage about documents or annotators that are not there."""
        if not isinstance(self.coverage, CoverageTable):
            return ()
        names = {annotation.annotator for annotations in documents for annotation in annotations}
        return self.coverage.unknown([annotations[0].document.title for annotations in documents], names)

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
                    f"weight: there is no annotator '{factor.annotator}': choose among {', '.join(known)}"
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
        if variants is None:
            variants = concrete.find_variants(annotations, decisions)
        return Instance(
            unify(annotations, variants),
            concrete.objective,
            decisions.on_boundaries(variants.boundaries),
            concrete.nested,
            concrete.forced_votes,
            concrete.singletons,
            concrete._coefficients(annotations),
            concrete._seen(annotations),
        )

    def find_variants(self, annotations: Sequence[Annotation], decisions: Decisions) -> Variants:
        """Find the mentions that differ only in their boundaries, under concrete settings.

        There are none unless settings say that such mentions are one. An annotator's boundary counts for as
        much as it costs to omit a link of the annotator.
        """
        if not self.variants:
            return Variants()
        return find_variants(
            annotations,
            weights={row.annotator: row.omit for row in self._rows(annotations)},
            decisions=boundary_decisions(annotations, decisions, self.kept_variants),
        )

    def _rows(self, annotations: Sequence[Annotation]) -> tuple[AnnotatorWeights, ...]:
        """Return the weights of each annotator of a document; none where all count alike."""
        names = [annotation.annotator for annotation in annotations]
        return () if self.weights is None else self.weights.of(names)

    def _coefficients(self, annotations: Sequence[Annotation]) -> Coefficients | None:
        if self.weights is None:
            return None
        rows = self._rows(annotations)
        return Coefficients(
            tuple(row.omit for row in rows),
            tuple(row.use for row in rows),
            self.objective.invent,
            self.weights.constant,
        )

    def _seen(self, annotations: Sequence[Annotation]) -> tuple[tuple[Span, ...] | None, ...]:
        coverage = self.coverage_of(annotations)
        seen = tuple(coverage.seen.get(annotation.annotator) for annotation in annotations)
        return seen if any(stretches is not None for stretches in seen) else ()


PRESETS: dict[str, Settings] = {
    "default": Settings(),
    "paper": Settings(OBJECTIVES["v"], nested=Nesting.NEVER, singletons=Singletons.DROP, forced_votes=True),
    "systems": Settings(Objective(omit=2, use=3, invent=3)),
}
"""What to start from, by name: what is best for people's annotations by our measurements, what the paper
describes, and what suits runs of a system, where a link needs more than three fifths (docs/ensembles.md)."""


def without_search(settings: Settings) -> Settings:
    """Return settings under which an engine gives its first answer instead of searching."""
    return replace(settings, limits=replace(settings.limits, seconds=0.0))


def decide_singletons(annotations: Iterable[Annotation]) -> tuple[Singletons, tuple[Finding, ...]]:
    """Decide what happens to mentions in no chain; say so where anybody marked chains of one.

    >>> from caspr.text.document import Chain, Document
    >>> text = Document("d", ("a", "b", "c"))
    >>> both = Annotation.of("anna", text, [Chain.of("1", [(1, 1), (2, 2)]), Chain.of("2", [(3, 3)])])
    >>> decide_singletons([both, Annotation.of("ben", text, [])])[0]
    <Singletons.VOTE: 'vote'>
    """
    alone: dict[str, int] = defaultdict(int)
    chains: dict[str, int] = defaultdict(int)
    for annotation in annotations:
        alone[annotation.annotator] += len(annotation.singletons)
        chains[annotation.annotator] += len(annotation.all_chains)
    return decide(alone, chains)


_AUTO = " (--singletons auto)"


def decide(alone: Mapping[str, int], chains: Mapping[str, int]) -> tuple[Singletons, tuple[Finding, ...]]:
    """Decide from how many chains of one, and chains, each annotator has."""
    marking = sum(count > 0 and SHARE * count >= chains[name] for name, count in alone.items())
    who = f"{marking} of {times(len(chains), 'annotator')} regularly marked chains of one"
    if 2 * marking >= len(chains) and marking:
        message = f"mentions in no chain are kept where votes favour it, since {who}"
        return Singletons.VOTE, (note("singletons-kept", message, count=marking, option=_AUTO),)
    if not any(alone.values()):
        return Singletons.DROP, ()
    message = f"mentions in no chain are dropped, since only {who}"
    return Singletons.DROP, (note("singletons-dropped", message, count=marking, option=_AUTO),)


def boundary_decisions(
    annotations: Sequence[Annotation], decisions: Decisions, known: Iterable[VariantGroup] = ()
) -> BoundaryDecisions:
    """Return what decisions say about boundaries; of the known groups, those with a decision are kept."""
    marked = {span for annotation in annotations for span in annotation.mentions}
    removed = {span for span in marked | decisions.absent if decisions.rules_out(span)}
    return BoundaryDecisions(
        fixed=decisions.standing.union(decisions.group_of) - removed,
        removed=frozenset(removed),
        split=decisions.apart | decisions.nested,
        kept=decided_groups(known, decisions),
    )


def decided_groups(groups: Iterable[VariantGroup], decisions: Decisions) -> tuple[VariantGroup, ...]:
    """Return the groups of variants that hold a decision."""
    touched = {*decisions.group_of, *decisions.standing, *(span for pair in decisions.apart for span in pair)}
    return tuple(
        group
        for group in groups
        if touched & set(group.spans) or any(decisions.rules_out(span) for span in group.spans)
    )


class SettingValues(TypedDict, total=False):
    """Settings by name; a name that is missing, or `None`, leaves the setting as it is."""

    preset: str | None
    """Where to start from: `default`, `paper` or `systems`; all other settings go before it."""
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
    singletons: str | None
    """What happens to mentions that end in no chain: `auto`, `drop` or `vote`."""
    weight: Sequence[str] | Mapping[str, float | str] | None
    """How many times as much the votes of an annotator cost: `anna=2`, or a mapping from names to numbers."""
    weights: str | Path | WeightsTable | None
    """What the votes of each annotator cost: a table, or the CSV file that holds it."""
    coverage: str | Path | CoverageTable | Coverage | None
    """Who saw what: a table, the CSV file that holds it, or `marks`: from first to last mark."""
    variants: bool | None
    """Whether mentions that differ only in their boundaries are one mention."""
    rules: str | Path | RuleFile | Sequence[str | Path | RuleFile] | None
    """Rules of one's own: files, names of the library that ships, or `none`."""
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
    prices: float | None
    """Seconds per document to find out how certain each link is."""
    max_solutions: int | None
    """How many optimal solutions to return at most."""
    solver_option: Sequence[str] | None
    """Options of the answer set solver's own, such as `--opt-strategy=bb`."""


_KINDS: dict[str, tuple[Any, str]] = {
    "weight": (Iterable, "factors: {'anna': 1.5}"),
    "weights": (str | Path | WeightsTable, "the file that caspr weigh wrote; factors are weight={'anna': 2}"),
    "coverage": (str | Path | CoverageTable | Coverage, "the file of a table, or 'marks'"),
    "variants": (bool, "True or False"),
    "forced_votes": (bool, "True or False"),
    "time_limit": (Real, "a number of seconds"),
    "memory_limit": (Real, "a number of megabytes"),
    "prices": (Real, "a number of seconds"),
    "max_solutions": (Real, "a whole number"),
}
"""What settings may be whose values are used as they are, and what to say where they are something else."""


def change(settings: Settings, values: SettingValues) -> Settings:
    """Return settings with the given values in place of what they were.

    A preset replaces all that says what is optimal. A new objective replaces all coefficients; a cost
    replaces one. Factors replace a table of weights, unless one is given with them.

    >>> change(Settings(), {"objective": "ua", "use_cost": 3}).objective
    Objective(omit=2, use=3, invent=1)
    >>> change(Settings(), {"preset": "paper", "nested": "vote"}).objective
    Objective(omit=2, use=1, invent=None)
    """
    chosen: dict[str, Any] = {name: value for name, value in values.items() if value is not None}
    unknown = sorted(chosen.keys() - SettingValues.__annotations__.keys())
    if unknown:
        raise ArgumentError(
            f"unknown setting '{unknown[0]}'; settings are {', '.join(SettingValues.__annotations__)}"
        )
    for name, (kinds, expected) in _KINDS.items():
        if name in chosen and not isinstance(chosen[name], kinds):
            raise refused(name, chosen[name], expected)
    if "preset" in chosen:
        settings = _preset(settings, chosen["preset"])
    fields = {name: chosen[name] for name in _SAME_NAME if name in chosen}
    for name, (attribute, read) in _READERS.items():
        if name in chosen:
            fields[attribute] = read(chosen[name])
    if "weight" in chosen:
        fields.setdefault("weights", None)
    limits = {field: chosen[name] for name, field in _LIMITS.items() if name in chosen}
    if "solver_option" in chosen:
        expected = "a list: ['--opt-strategy=bb']"
        limits["solver_options"] = tuple(listed(chosen["solver_option"], "solver_option", expected))
    return replace(
        settings,
        objective=_changed_objective(settings.objective, chosen),
        limits=replace(settings.limits, **limits),
        **fields,
    )


def _preset(settings: Settings, name: str) -> Settings:
    if name not in PRESETS:
        raise InputError(f"preset: found '{name}', expected one of {', '.join(PRESETS)}")
    return replace(
        PRESETS[name],
        engine=settings.engine,
        encoding=settings.encoding,
        prices=settings.prices,
        limits=settings.limits,
    )


def _changed_objective(objective: Objective, chosen: Mapping[str, Any]) -> Objective:
    base = chosen.get("objective", objective)
    if not isinstance(base, Objective):
        base = named_objective(base)
    costs = {kind: chosen[f"{kind}_cost"] for kind in ("omit", "use", "invent") if f"{kind}_cost" in chosen}
    if "invent" in costs:
        costs["invent"] = read_invent_cost(costs["invent"])
    return replace(base, **costs)


def _weights_table(table: str | Path | WeightsTable) -> WeightsTable:
    if table == "learn":
        raise InputError(
            "weights: found 'learn', expected a table: `caspr weigh` learns one from your files, and only "
            "`caspr corpus` learns it by itself (a file of this name is ./learn)"
        )
    return table if isinstance(table, WeightsTable) else read_weights(read_text(Path(table)), str(table))


def _coverage(table: str | Path | CoverageTable | Coverage) -> str | CoverageTable | Coverage:
    if table == MARKS or isinstance(table, CoverageTable | Coverage):
        return table
    return read_coverage(read_text(Path(table)), str(table))


def read_rule_files(names: str | Path | RuleFile | Iterable[str | Path | RuleFile]) -> tuple[RuleFile, ...]:
    """Read files of rules, or take them from the library by name; `none` alone stands for no rules.

    A file that is given twice counts once.

    >>> [file.name for file in read_rule_files("same-type")]
    ['same-type.lp']
    """
    if not isinstance(names, Iterable | Path | RuleFile):
        raise refused("rules", names, "the name of a file, or a list of them")
    every = [names] if isinstance(names, str | Path | RuleFile) else list(names)
    if every == ["none"]:
        return ()
    return tuple(dict.fromkeys(map(_rule_file, every)))


def _rule_file(name: str | Path | RuleFile) -> RuleFile:
    if isinstance(name, RuleFile):
        return name
    if str(name) in LIBRARY and not Path(name).exists():
        from importlib import resources

        text = resources.files(__package__).joinpath(f"rule_library/{name}.lp").read_text(encoding="utf-8")
        return RuleFile(f"{name}.lp", text)
    if not Path(name).exists() and Path(name).suffix != ".lp":
        raise InputError(f"rules: there is no file '{name}'; CaspR comes with {', '.join(LIBRARY)}")
    return RuleFile(Path(name).name, read_text(Path(name)))


_SAME_NAME = ("engine", "encoding", "forced_votes", "prices", "variants")
"""Names that are also fields of `Settings`."""
_READERS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "nested": ("nested", read_nesting),
    "singletons": ("singletons", read_singletons),
    "weight": ("factors", read_factors),
    "weights": ("weights", _weights_table),
    "coverage": ("coverage", _coverage),
    "rules": ("rules", read_rule_files),
}
"""Names with the fields that they stand for, and what makes a field's value of what is given."""
_LIMITS = {"time_limit": "seconds", "memory_limit": "megabytes", "max_solutions": "solutions"}
"""Names that stand for fields of `Limits`."""


def in_words(settings: Settings) -> Iterator[str]:
    """Yield the costs, the rules, and whatever else is not the default, of concrete settings.

    >>> list(in_words(Settings()))
    ['omit 2, use 1, invent 1', 'nested vote', 'singletons auto']
    """
    if settings.weights is None:
        yield f"omit {settings.objective.omit}, use {settings.objective.use}, {_invent(settings)}"
    else:
        yield from _weights_in_words(settings, settings.weights)
    yield f"nested {settings.nested}"
    yield f"singletons {settings.singletons}"
    if settings.forced_votes:
        yield "decisions count as votes"
    if settings.coverage == MARKS:
        yield "annotators saw what lies between their first and their last mark"
    elif isinstance(settings.coverage, Coverage):
        yield f"{times(len(settings.coverage.seen), 'annotator')} saw only a part"
    if settings.variants:
        yield "variants of boundaries united"
    if settings.rules:
        yield f"rules of {', '.join(file.name for file in settings.rules)}"


def _invent(settings: Settings) -> str:
    cost = settings.objective.invent
    return f"invent {'forbidden' if cost is None else cost}"


def _weights_in_words(settings: Settings, table: WeightsTable) -> Iterator[str]:
    rows = [f"{row.annotator} {row.omit}/{row.use}" for row in table.annotators[:SHOWN]]
    more = len(table.annotators) - len(rows)
    yield "omit/use by annotator: " + ", ".join(rows) + (f" and {more} more" if more > 0 else "")
    if table.constant is None or settings.objective.invent is None:
        yield _invent(settings)
    if table.constant is not None:
        yield f"constant {table.constant}"
