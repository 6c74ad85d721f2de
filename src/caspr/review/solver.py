"""The solver of one document: decisions go in, certified results come out.

A *snapshot* is all that is decided at one moment and the result of it. Snapshots are never changed; undoing
is going back to an earlier one. Chains keep their ids from snapshot to snapshot as far as they keep their
mentions, so that only what changes looks changed.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property

from caspr.adjudication import made_concrete, prepare, solve_and_certify, with_rules
from caspr.confidence import Confidences
from caspr.engines.native.incremental import IncrementalSolver
from caspr.errors import EngineError, InputError
from caspr.formats import review_file
from caspr.formats.review_file.cells import Touching, touching
from caspr.proof.certify import Certifier
from caspr.result import GOLD, Given, Result, merge_marks, number_chains
from caspr.task.decisions import (
    Authorship,
    Decision,
    Decisions,
    Note,
    Statement,
    StatementKind,
    flagged,
    follow_names,
    with_names,
)
from caspr.task.instance import Instance, check_task
from caspr.task.limits import Limits, Progress, silent
from caspr.task.settings import Settings, decided_groups
from caspr.task.solution import Costs, Partition, Solution
from caspr.task.stored_settings import read_settings, write_settings
from caspr.text.document import Annotation, Chain, Document, Mark, Span, name_entities
from caspr.text.findings import Finding
from caspr.text.variants import VariantGroup


@dataclass(frozen=True)
class Snapshot:
    """All that is decided about a document at one moment, and the result."""

    entries: tuple[Decision, ...]
    """The decisions, oldest first."""
    notes: tuple[tuple[str, Note], ...]
    """The notes with their ids, oldest first."""
    chains: tuple[Chain, ...]
    """The result, with ids that last."""
    value: int
    bound: int
    """No solution costs less."""
    costs: Costs
    done: Authorship | None = None
    """Who has said that nothing is left to decide, and when."""
    recorded: bool = field(default=False, compare=False)
    """Whether it comes from the record of an earlier session, and was not computed in this one."""
    under: str = field(default="", compare=False)
    """The review file of the annotations it is a result of, where going to it changes who annotated what."""

    @property
    def optimal(self) -> bool:
        """Whether the result is proven optimal."""
        return self.value == self.bound

    @cached_property
    def decisions(self) -> Decisions:
        """All entries put together."""
        return Decisions.combining(entry.statement for entry in self.entries)

    @cached_property
    def chain_of(self) -> dict[Span, str]:
        """The chain of each mention that is in one."""
        return {mention: chain.id for chain in self.chains for mention in chain.mentions}

    @property
    def partition(self) -> Partition:
        """The chains of two mentions or more, in canonical order."""
        return tuple(sorted(chain.mentions for chain in self.chains if len(chain.mentions) > 1))

    def bare(self) -> "Snapshot":
        """Return the same snapshot without what was derived from it, to be kept for long."""
        return replace(self)

    def chain(self, id: str) -> Chain | None:
        """Find a chain of the result."""
        return next((chain for chain in self.chains if chain.id == id), None)


@dataclass
class Solver:
    """One document to be adjudicated."""

    annotations: tuple[Annotation, ...]
    settings: Settings
    findings: tuple[Finding, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Align the annotators' texts and make the solver ready."""
        self.annotations, self.findings = prepare(self.annotations)
        concrete, odd = made_concrete(self.annotations, Decisions(), self.settings)
        self.settings = replace(concrete.settings, kept_variants=self.settings.kept_variants)
        self._by_boundaries: dict[object, tuple[IncrementalSolver, Certifier]] = {}
        self._certifier = Certifier()
        self._named: list[tuple[Snapshot, tuple[Chain, ...]]] = []
        instance, about_rules = self._ruled(self.settings.instance(self.annotations, Decisions()))
        self.incremental = IncrementalSolver(instance)
        self.findings += (*odd, *about_rules, *check_task(self.incremental.instance))

    @property
    def document(self) -> Document:
        """The text, as the first annotator's file has it."""
        return self.annotations[0].document

    def without_result(self) -> str:
        """Return a review file of the annotations and settings, from which the same solver can be made."""
        gold = Annotation(GOLD, self.document, ())
        return review_file.write(
            [review_file.Review(gold, self.annotations, (), write_settings(self.settings))]
        )

    @classmethod
    def of_text(cls, text: str, settings: Settings) -> "Solver":
        """Make the solver of a review file that `without_result` wrote.

        Of its settings, only those about annotators and their mentions count.
        """
        [review] = review_file.parse(text, "the record")
        own = read_settings(review.settings)
        about = {name: getattr(own, name) for name in ("factors", "weights", "coverage", "kept_variants")}
        return cls(review.annotations, replace(settings, **about))

    @cached_property
    def candidates(self) -> Counter[Span]:
        """Every span that annotators marked, with how many did."""
        return Counter(span for annotation in self.annotations for span in annotation.mentions)

    @cached_property
    def touching(self) -> Touching:
        """The annotators' mentions at each token."""
        return touching(self.candidates)

    @cached_property
    def _all_marks(self) -> dict[Span, Mark]:
        return merge_marks(self.annotations, self.incremental.instance.label_weights)

    def ruled_out(self, decisions: Decisions) -> frozenset[Span]:
        """Return the annotators' mentions that decisions forbid."""
        near = (span for token in decisions.closed for span in self.touching.get(token, ()))
        return decisions.absent.union(near) - (decisions.permitted - decisions.absent)

    def instance(self, decisions: Decisions) -> Instance:
        """Set the task with some decisions; votes are not counted again."""
        return self._prepared(decisions)[2]

    def _prepared(self, decisions: Decisions) -> tuple[IncrementalSolver, Certifier, Instance]:
        """Return the task, with what was solved and certified before for the same boundaries of mentions."""
        if not self.settings.variants:
            return self.incremental, self._certifier, self.incremental.with_decisions(decisions)
        variants = self.settings.find_variants(self.annotations, decisions)
        key = tuple(sorted(variants.boundaries.items()))
        if key not in self._by_boundaries:
            fresh, _ = self._ruled(self.settings.instance(self.annotations, Decisions(), variants))
            self._by_boundaries[key] = IncrementalSolver(fresh), Certifier()
        incremental, certifier = self._by_boundaries[key]
        moved = decisions.on_boundaries(variants.boundaries)
        return incremental, certifier, incremental.with_decisions(moved)

    def _ruled(self, instance: Instance) -> tuple[Instance, tuple[Finding, ...]]:
        """Add what rules of one's own derive; the page solves again at once, which only native can."""
        instance, findings = with_rules(instance, self.settings)
        if instance.rules.program:
            raise InputError(
                "rules: yours are about the solution, which the review page cannot respect after each click: "
                "use `caspr adjudicate` and `caspr redo`"
            )
        return instance, findings

    def are_one(self, span: Span, other: Span, decisions: Decisions) -> bool:
        """Return whether two spans are boundaries of one mention: votes for one count for the other."""
        boundaries = self.settings.find_variants(self.annotations, decisions).boundaries
        return span in boundaries and boundaries[span] == boundaries.get(other)

    def settings_with(self, decisions: Decisions) -> Settings:
        """Return the settings for a review file with some decisions, which keep their variants."""
        if not self.settings.variants:
            return self.settings
        variants = self.settings.find_variants(self.annotations, decisions)
        return replace(self.settings, kept_variants=decided_groups(variants.groups, decisions))

    def keeping(self, groups: tuple[VariantGroup, ...]) -> "Solver":
        """Return the same solver with other groups of variants that stay what they are."""
        other = copy(self)
        other.settings = replace(self.settings, kept_variants=groups)
        return other

    def solve(
        self,
        entries: Sequence[Decision],
        notes: Sequence[tuple[str, Note]] = (),
        before: Snapshot | None = None,
        limits: Limits | None = None,
        progress: Progress = silent,
        shown: Sequence[Chain] = (),
    ) -> Snapshot:
        """Optimise around decisions; raise `ContradictionError` if they cannot hold together.

        Chains keep their ids from the snapshot before, or from what a file `shown` has.
        """
        incremental, certifier, instance = self._prepared(
            Decisions.combining(entry.statement for entry in entries)
        )
        certified = solve_and_certify(
            instance, incremental.answer, limits or self.settings.limits, progress, certifier.certify
        )
        if certified.instance.rules is not instance.rules:
            incremental.instance = incremental.instance.under(certified.instance.rules)
        solution = certified.solution
        chains = self._chains(instance, solution.partitions[0], shown if before is None else before.chains)
        entries = _with_followed_names(entries, () if before is None else before.chains, chains)
        return Snapshot(entries, tuple(notes), chains, solution.value, solution.bound, certified.costs)

    def confirm(self, recorded: Snapshot, limits: Limits) -> Snapshot:
        """Return a recorded snapshot if its result is as good as the one that its decisions lead to now.

        Its chains are certified like those of an engine. Otherwise the new result is returned.
        """
        solved = self.solve(recorded.entries, recorded.notes, recorded, limits)
        solved = replace(solved, done=recorded.done)
        _, certifier, instance = self._prepared(recorded.decisions)
        try:
            known = Solution.of(solved.value, solved.bound, [recorded.partition])
            [costs] = certifier.certify(instance, known)
        except EngineError:
            return solved
        alone = {chain.mentions[0] for chain in recorded.chains if len(chain.mentions) == 1}
        expected = frozenset(instance.kept_alone) - {span for chain in recorded.partition for span in chain}
        ids = recorded.chain_of
        named = all(
            ids.get(group.mentions[0]) == group.ids[0] for group in instance.decisions.groups if group.ids
        )
        if costs.total != solved.value or alone != expected or not named:
            return solved
        return replace(solved, entries=recorded.entries, chains=recorded.chains, costs=costs)

    def _chains(self, instance: Instance, partition: Partition, before: Sequence[Chain]) -> tuple[Chain, ...]:
        """Name the chains, as before where they were there before."""
        inside = {mention for chain in partition for mention in chain}
        alone = tuple((mention,) for mention in instance.kept_alone if mention not in inside)
        return number_chains((*partition, *alone), instance.decisions, before)

    def gold(self, snapshot: Snapshot) -> Annotation:
        """Return the result as an annotation."""
        named = self.named_chains(snapshot)
        marks = flagged(self._all_marks, (note for _, note in snapshot.notes))
        gold = Annotation.of(GOLD, self.document, named, marks=marks, adjudicated=True)
        return replace(gold, support=Confidences(self.instance(snapshot.decisions), named))

    def named_chains(self, snapshot: Snapshot) -> tuple[Chain, ...]:
        """Return the chains with names and types: the adjudicator's, or those that annotators voted for."""
        for known, chains in self._named:
            if known is snapshot:
                return chains
        voted = self.voted_names(snapshot, snapshot.chains)
        named = with_names(voted, snapshot.decisions.names)
        # An update compares two snapshots.
        self._named = [(snapshot, named), *self._named[:1]]
        return named

    def titles(self, snapshot: Snapshot) -> dict[str, str]:
        """Return what the entities of the result are called, by the ids of their chains."""
        return {chain.id: chain.title for chain in self.named_chains(snapshot)}

    def in_words(self, statement: Statement, titles: Mapping[str, str]) -> str:
        """Say a statement in words of the text, with what chains are called."""
        return statement.in_words(self.quote, lambda id: titles.get(id, id))

    def quote(self, mention: Span) -> str:
        """Return the words of a mention."""
        return f"“{self.document.phrase(mention)}”"

    def voted_names(self, snapshot: Snapshot, chains: Sequence[Chain]) -> tuple[Chain, ...]:
        """Return chains with the names and types that annotators voted for."""
        instance = self.instance(snapshot.decisions)
        return name_entities(chains, instance.annotations, instance.label_weights)

    def result(self, snapshot: Snapshot) -> Result:
        """Return the result as reports want it."""
        return Result(
            self.instance(snapshot.decisions),
            self.solution(snapshot),
            snapshot.costs,
            engine="native",
            seconds=0.0,
            findings=self.findings,
            given=self._given(snapshot),
        )

    def _given(self, snapshot: Snapshot) -> Given:
        decisions, notes = snapshot.decisions, tuple(note for _, note in snapshot.notes)
        variants = self.settings.find_variants(self.annotations, decisions)
        settings = self.settings_with(decisions)
        return Given(self.annotations, decisions, settings, variants, notes, snapshot.chains)

    def solution(self, snapshot: Snapshot) -> Solution:
        """Return the result as engines give it."""
        return Solution.of(snapshot.value, snapshot.bound, [snapshot.partition])


def _with_followed_names(
    entries: Sequence[Decision], before: Sequence[Chain], after: Sequence[Chain]
) -> tuple[Decision, ...]:
    """Return decisions whose names know the mentions of their entities after a change of the result."""
    names = [entry.statement for entry in entries if entry.statement.kind is StatementKind.NAME]
    followed = iter(follow_names(names, before, after))
    return tuple(
        replace(entry, statement=next(followed)) if entry.statement.kind is StatementKind.NAME else entry
        for entry in entries
    )
