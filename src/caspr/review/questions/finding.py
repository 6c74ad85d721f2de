"""Finding questions: the mentions on which annotators disagree, one question for each.

    link       some annotators, but not all, link the mention with an earlier one: which entity is it?
    mention    some annotators, but not all, marked it: is it a mention?
    boundary   annotators marked it with different boundaries: which one is right?

A mention's *doubts* are earlier mentions: for every annotator who has it in a chain after others, the one of
that chain with which most annotators link it, the nearest of these; there is no doubt where all link it with
some earlier mention of the chain. So a disputed chain of two mentions is one question, about the second.
Nor is there one where all agree on the entity, some mention with which everybody links it, and who does not
link it with the earlier one did not mark that: what is disputed is the earlier one, which has a question.

Spans of different annotators that are one mention with different boundaries (`text.variants`) are one mention
here, whatever the settings say; annotators who gave it different boundaries agree on all else if they link
it with the same. Questions depend on annotations alone and stay the same whatever is decided; `progress`
says which of them decisions leave open.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from caspr.formats.review_file.statements import spelled
from caspr.review.session.solver import Solver
from caspr.task.votes import Evidence, Signature, Votes, count_votes, meet
from caspr.text.document import Annotation, Span
from caspr.text.variants import Variants, find_variants, unify


class QuestionKind(StrEnum):
    """What a question is about."""

    LINK = "link"
    MENTION = "mention"
    BOUNDARY = "boundary"


@dataclass(frozen=True)
class Question:
    """A mention on which annotators disagree, and what they disagree on."""

    id: str
    """The same in every snapshot of a document."""
    kind: QuestionKind
    """What it is about."""
    mention: Span
    """The mention, with the boundary of most annotators."""
    spans: tuple[Span, ...]
    """All its boundaries, in text order."""
    doubts: tuple[Span, ...]
    """Earlier mentions that some annotators link it with and some do not, with the boundaries of most."""
    marked: int
    """How many annotators marked it."""
    seen: int
    """How many annotators saw it."""
    distance: int
    """How far the votes that are in doubt are from being equally divided, the closest of them."""


@dataclass(frozen=True)
class UnitedMentions:
    """The annotations of a document with one boundary for each mention."""

    annotations: tuple[Annotation, ...]
    """The annotations, with the boundary of most annotators in the place of each variant."""
    variants: Variants
    """Which spans are one mention."""
    votes: Votes
    """Who linked which mentions."""

    @classmethod
    def of(cls, solver: Solver) -> "UnitedMentions":
        """Unite the variants of each mention."""
        annotations = solver.annotations
        weights = solver.incremental.instance.label_weights
        by_name = {one.annotator: weight for one, weight in zip(annotations, weights, strict=False)}
        variants = find_variants(annotations, weights=by_name)
        united = unify(annotations, variants)
        return cls(united, variants, count_votes(united, seen=solver.incremental.instance.seen))

    @cached_property
    def spans_of(self) -> Mapping[Span, tuple[Span, ...]]:
        """All boundaries of each mention that has several."""
        return {group.boundary: group.spans for group in self.variants.groups}

    def spans(self, mention: Span) -> tuple[Span, ...]:
        """Return all boundaries of a mention."""
        return self.spans_of.get(mention, (mention,))

    def mention(self, span: Span) -> Span:
        """Return the mention that a span is a boundary of."""
        return self.variants.boundaries.get(span, span)


def find_questions(united: UnitedMentions) -> list[Question]:
    """Return everything annotators disagree on, in the order of the text."""
    votes = united.votes
    doubts: dict[Span, set[Span]] = {}
    for annotation in united.annotations:
        for chain in annotation.chains:
            for earlier, mention in _doubtful(chain.mentions, votes):
                if not _asked_there(earlier, mention, votes):
                    doubts.setdefault(mention, set()).add(earlier)
    found = []
    for mention, markers in votes.marks.items():
        marked, seen = markers.bit_count(), votes.viewers(mention).bit_count()
        spans, before = united.spans(mention), tuple(sorted(doubts.get(mention, ())))
        about = (mention, spans, before, marked, seen, _distance(votes, mention, before))
        if len(spans) > 1:
            found.append(Question(f"b{spelled(mention)}", QuestionKind.BOUNDARY, *about))
        if before:
            found.append(Question(f"q{spelled(mention)}", QuestionKind.LINK, *about))
        elif marked < seen:
            found.append(Question(f"q{spelled(mention)}", QuestionKind.MENTION, *about))
    return sorted(found, key=lambda one: (one.mention, one.id))


def _doubtful(mentions: Sequence[Span], votes: Votes) -> Iterator[tuple[Span, Span]]:
    """Yield for every mention of a chain its best earlier one, unless all annotators agree on some."""
    last: dict[Signature, Span] = {}
    for mention in mentions:
        signature = votes.signatures[mention]
        best = max(((meet(signature, kind), span) for kind, span in last.items()), key=_rank, default=None)
        if best is not None and best[0].givers != best[0].viewers:
            yield best[1], mention
        last[signature] = mention


def _asked_there(earlier: Span, mention: Span, votes: Votes) -> bool:
    """Return whether a doubt is only about the earlier mention, which has a question of its own.

    So it is where whoever does not link the two did not mark the earlier one, and all agree on the entity of
    the later one: there is some mention that everybody links it with.
    """
    evidence = votes.evidence(mention, earlier)
    if evidence.viewers & ~evidence.givers & votes.marks.get(earlier, 0):
        return False
    links = (votes.evidence(mention, other) for other in votes.neighbours(mention))
    return any(one.givers == one.viewers for one in links)


def _distance(votes: Votes, mention: Span, earlier: Sequence[Span]) -> int:
    """Return how far the closest vote about a mention is from being equally divided."""
    links = [votes.evidence(mention, other) for other in earlier]
    viewers, markers = votes.viewers(mention), votes.marks[mention]
    closest = [abs(2 * one.k - one.n) for one in links]
    if markers != viewers:
        closest.append(abs(2 * markers.bit_count() - viewers.bit_count()))
    return min(closest, default=0)


def _rank(candidate: tuple[Evidence, Span]) -> tuple[bool, int, Span]:
    """Prefer what all agree on, then what most say, then the nearest mention."""
    evidence, span = candidate
    return evidence.givers == evidence.viewers, evidence.k, span
