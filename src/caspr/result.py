"""Results: a certified solution with all that is needed to write, report or explain it.

Chains are numbered by first mention from 1. A chain with an enforced mention keeps the id it was enforced
under, and those ids are not given to others. Where a result follows another one, as on the review page and
wherever a review file is read, chains keep the ids that they had (`number_chains`): an entity has one number
on the page, in the file, in the gold standard and in reports.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any

from caspr.confidence import Confidences
from caspr.notebook_methods import above
from caspr.task.decisions import Decisions, Note, Statement, flagged, with_names
from caspr.task.instance import Instance
from caspr.task.settings import Settings
from caspr.task.solution import Costs, Partition, Solution, Status
from caspr.text.document import Annotation, Chain, Document, Mark, Span, name_entities
from caspr.text.findings import Finding, times
from caspr.text.grouping import match_one_to_one
from caspr.text.variants import Variants

if TYPE_CHECKING:
    from pandas import DataFrame

GOLD = "gold"
"""The annotator name of results."""


@dataclass(frozen=True)
class ChangePrice:
    """What it costs to decide otherwise whether two mentions are in one chain, whoever is right."""

    price: int | None = None
    """How much more the best solution that decides otherwise costs, where that is known."""
    exact: bool = True
    """Whether that price is proven; otherwise it is at least this."""
    possible: bool = True
    """Whether any solution decides otherwise, as far as is known."""


@dataclass(frozen=True)
class Given:
    """What a result was made from, as it was given: what a review file and a certificate keep."""

    annotations: tuple[Annotation, ...]
    """With the annotators' own boundaries."""
    decisions: Decisions
    """As the adjudicator made them."""
    settings: Settings
    """Concrete for the document."""
    variants: Variants
    """Mentions that differ only in their boundaries, where these are one mention."""
    notes: tuple[Note, ...] = ()
    """What the adjudicator remarked and flagged."""
    before: tuple[Chain, ...] = ()
    """The result that a review file showed, or a page shows: chains keep their ids."""


@dataclass(frozen=True)
class Result:
    """The outcome of adjudicating one document."""

    instance: Instance
    solution: Solution
    """What the engine answered, certified."""
    costs: Costs
    """The value by kind, recomputed from the votes."""
    engine: str
    seconds: float
    """How long the engine took."""
    findings: tuple[Finding, ...] = ()
    """What is odd about the input or the result."""
    change_prices: Mapping[tuple[Span, Span], ChangePrice] | None = None
    """What it costs to decide each pair otherwise, where that was computed; pairs may be missing."""
    given: Given | None = None
    """What it was made from; `None` for a result that a program made from an instance."""

    def of_review(self, notes: Sequence[Note], before: Mapping[str, Sequence[Span]]) -> "Result":
        """Return the result with what the adjudicator remarked, and the ids that a review file showed."""
        if self.given is None:
            return self
        chains = tuple(Chain.of(id, mentions) for id, mentions in before.items())
        return replace(self, given=replace(self.given, notes=tuple(notes), before=chains))

    def with_more(
        self,
        findings: Iterable[Finding] = (),
        prices: Mapping[tuple[Span, Span], ChangePrice] | None = None,
    ) -> "Result":
        """Return the result with more findings, or with prices; what was made of its solution is kept."""
        result = replace(
            self,
            findings=(*self.findings, *findings),
            change_prices=self.change_prices if prices is None else prices,
        )
        made = (name for name in ("golds", "confidences", "kept") if name in self.__dict__)
        result.__dict__.update({name: self.__dict__[name] for name in made})
        return result

    @property
    def annotations(self) -> tuple[Annotation, ...]:
        """What the annotators gave, with their own boundaries."""
        return self.instance.annotations if self.given is None else self.given.annotations

    def __repr__(self) -> str:
        """Summarise the result in one line, whatever its size."""
        bound = "" if self.status is Status.OPTIMAL else f", bound {self.bound}"
        chains = times(len(self.solution.partitions[0]), "chain")
        return f"<Result for {self.document.title!r}: {chains}, {self.status}, cost {self.value}{bound}>"

    @property
    def document(self) -> Document:
        """The document, as the first annotator's file has it."""
        return self.instance.annotations[0].document

    @property
    def value(self) -> int:
        """What the chains cost."""
        return self.solution.value

    @property
    def bound(self) -> int:
        """No solution costs less than this."""
        return self.solution.bound

    @property
    def status(self) -> Status:
        """Whether the value is proven optimal."""
        return self.solution.status

    @cached_property
    def golds(self) -> tuple[Annotation, ...]:
        """Every solution as an annotation of the document; the first is the result."""
        return tuple(self._gold(partition) for partition in self.solution.partitions)

    @cached_property
    def confidences(self) -> Confidences:
        """How sure each link and each mention of the result is."""
        return Confidences(self.instance, self.gold.all_chains)

    @cached_property
    def kept(self) -> dict[str, Any]:
        """What other modules made of the solution and ask for more than once, by name."""
        return {}

    @property
    def gold(self) -> Annotation:
        """The result as an annotation of the document."""
        return self.golds[0]

    @property
    def chains(self) -> tuple[Chain, ...]:
        """The chains of the result, those of one mention last."""
        return self.gold.all_chains

    def to_frame(self, what: str = "mentions") -> "DataFrame":
        """Return `mentions` with every annotator's chain, `chains`, `votes` or `conflicts` for pandas."""
        return above("result_frame")(self, what)

    def conflicts(self) -> "DataFrame":
        """Return every disputed link, who was for and against it, what was decided and why, for pandas."""
        return self.to_frame("conflicts")

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return str(above("result_html")(self))

    def numbered_golds(self) -> tuple[Annotation, ...]:
        """Return every solution as a document of its own: `name.1`, `name.2`; a single one keeps its name."""
        if len(self.golds) == 1:
            return self.golds
        return tuple(
            replace(gold, document=replace(gold.document, name=f"{gold.document.name}.{number}"))
            for number, gold in enumerate(self.golds, start=1)
        )

    def _gold(self, partition: Partition) -> Annotation:
        instance, decisions = self.instance, self.instance.decisions
        in_chains = {mention for chain in partition for mention in chain}
        alone = tuple((mention,) for mention in instance.kept_alone if mention not in in_chains)
        before = () if self.given is None else self.given.before
        chains = number_chains((*partition, *alone), decisions, before)
        weights = instance.label_weights
        gold = make_gold(self.document, chains, instance.annotations, weights, decisions.names)
        if self.given is not None and self.given.notes:
            gold = replace(gold, marks=flagged(gold.marks, self.given.notes))
        return replace(gold, support=Confidences(instance, gold.all_chains))


def make_gold(
    document: Document,
    chains: Iterable[Chain],
    annotations: Sequence[Annotation],
    weights: Sequence[int] = (),
    names: Sequence[Statement] = (),
) -> Annotation:
    """Make the annotation of a result.

    Labels and gaps of mentions are voted, and so are names and types of entities that `names` does not give.
    """
    named = with_names(name_entities(chains, annotations, weights), names)
    marks = merge_marks(annotations, weights)
    return Annotation.of(GOLD, document, named, marks=marks, adjudicated=True)


def merge_marks(annotations: Sequence[Annotation], weights: Sequence[int] = ()) -> dict[Span, Mark]:
    """Give every marked mention the label and the pieces that most annotators gave it.

    Each annotator counts as much as its weight; on a tie the first by alphabet wins, and a mention without
    gaps before one with gaps, so that the order of files never matters.
    """
    marks: dict[Span, list[tuple[Mark, int]]] = defaultdict(list)
    marked = {span for annotation in annotations for span in annotation.marks}
    for annotation, weight in zip(annotations, weights or (1,) * len(annotations), strict=True):
        for span in annotation.mentions & marked:
            marks[span].append((annotation.marks.get(span, Mark()), weight))
    return {span: _majority(marks[span]) for span in sorted(marks)}


def _majority(marks: Sequence[tuple[Mark, int]]) -> Mark:
    labels: Counter[str] = Counter()
    pieces: Counter[tuple[Span, ...]] = Counter()
    for mark, weight in marks:
        pieces[mark.pieces] += weight
        if mark.label:
            labels[mark.label] += weight
    best_label = min(labels, key=lambda label: (-labels[label], label), default="")
    return Mark(best_label, min(pieces, key=lambda runs: (-pieces[runs], runs)))


def number_chains(
    partition: Partition, decisions: Decisions, before: Sequence[Chain] = ()
) -> tuple[Chain, ...]:
    """Give every chain its id: the enforced one, the one that most of its mentions had, or a new one.

    New ones follow the first mentions, and are none of those before. A chain that stays what it was is the
    same object.

    >>> from caspr.text.document import Span
    >>> enforced = Decisions.of([Chain.of("2", [(9, 9)])])
    >>> partition = ((Span(1, 1), Span(9, 9)), (Span(2, 2), Span(3, 3)), (Span(4, 4),))
    >>> [chain.id for chain in number_chains(partition, enforced)]
    ['2', '1', '3']
    >>> before = [Chain.of("7", [(2, 2)]), Chain.of("2", [(4, 4)])]
    >>> [chain.id for chain in number_chains(partition, enforced, before)]
    ['2', '7', '1']
    """
    enforced = {span: group.ids[0] for group in decisions.groups if group.ids for span in group.mentions}
    old = {chain.mentions: chain for chain in before}
    home = {span: chain.id for chain in before for span in chain.mentions}
    taken = set(enforced.values())
    names: dict[tuple[Span, ...], str] = {}
    claims = []
    for chain in partition:
        ids = {enforced[span] for span in chain if span in enforced}
        if ids:
            names[chain] = min(ids)
            continue
        if chain in old and old[chain].id not in taken:
            names[chain] = old[chain].id  # which no other chain can claim
            continue
        had = Counter(home[span] for span in chain if span in home)
        claims += [(-number, chain, id) for id, number in had.items()]
    names |= match_one_to_one((chain, id) for _, chain, id in sorted(claims) if id not in taken)
    used = {*taken, *names.values(), *(chain.id for chain in before)}
    fresh = (str(number) for number in count(1) if str(number) not in used)
    numbered = []
    for chain in sorted(partition):
        name = names.get(chain) or next(fresh)
        same = old.get(chain)
        numbered.append(same if same is not None and same.id == name else Chain(name, tuple(chain)))
    return tuple(numbered)
