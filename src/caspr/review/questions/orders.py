"""Orders and filters of questions.

    valuable   links and boundaries before mentions, then the cheapest to decide otherwise, then close votes
    text       in the order of the text
    entity     entity by entity, each in the order of the text

A question about the entity of a mention waits until the boundary of the mention is decided.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from caspr.review.questions.choices import entity_of
from caspr.review.questions.finding import Question, QuestionKind
from caspr.review.questions.placing import Placing, Stance


@dataclass(frozen=True)
class Filter:
    """Which questions to list; what is empty lets all through."""

    annotator: str = ""
    """Only where this annotator disagrees with the result."""
    entity: str = ""
    """Only those that concern this chain of the result."""
    kind: str = ""
    """Only questions of this kind."""
    overruled: bool = False
    """Only where the result is not what most annotators say."""

    @classmethod
    def of(cls, given: Mapping[str, str]) -> "Filter":
        """Read a filter from words such as those of an address; what is unknown matches nothing."""
        return cls(
            given.get("annotator", ""),
            given.get("entity", ""),
            given.get("kind", ""),
            bool(given.get("overruled", "")),
        )

    def lets_through(self, placing: Placing, question: Question) -> bool:
        """Return whether a question is to be listed."""
        if self.kind and question.kind != self.kind:
            return False
        if not (self.annotator or self.entity or self.overruled):
            return True
        stances = placing.stances(question.mention)
        if self.entity and self.entity not in {
            entity_of(placing, question),
            *(one.entity for one in stances),
        }:
            return False
        if self.overruled and not is_overruled(placing, question):
            return False
        names = [annotation.annotator for annotation in placing.united.annotations]
        return not self.annotator or (
            self.annotator in names
            and not _agrees(placing, question, stances[names.index(self.annotator)], self.annotator)
        )


Price = Callable[[Question], int]
"""Estimates what the cheapest other answer to a question costs."""


def now(placing: Placing, question: Question) -> Stance:
    """Return what the result says about a mention."""
    home = placing.home(question.mention)
    if home is None:
        return Stance("absent")
    return Stance("entity", home) if len(placing.chains[home].mentions) > 1 else Stance("alone")


def _agrees(placing: Placing, question: Question, stance: Stance, annotator: str) -> bool:
    """Return whether an annotator says what the result says, or nothing."""
    if question.kind is QuestionKind.BOUNDARY:
        group = placing.united.variants.group(question.mention)
        own = None if group is None else group.marked.get(annotator)
        return own is None or own == placing.span(question.mention)
    return stance.kind == "unseen" or stance == now(placing, question)


def majority(placing: Placing, question: Question) -> Stance | None:
    """Return what more than half of the annotators who saw a mention say about it, if they say the same."""
    stances = [one for one in placing.stances(question.mention) if one.kind != "unseen"]
    best = max(stances, key=stances.count, default=None)
    return best if best is not None and 2 * stances.count(best) > len(stances) else None


def is_overruled(placing: Placing, question: Question) -> bool:
    """Return whether more than half of the annotators say the same and the result says something else."""
    if question.kind is QuestionKind.BOUNDARY:
        group = placing.united.variants.group(question.mention)
        assert group is not None
        most = max(zip(group.annotators, group.spans, strict=True), key=lambda pair: len(pair[0]))
        return 2 * len(most[0]) > question.seen and most[1] != placing.span(question.mention)
    most_say = majority(placing, question)
    return most_say is not None and most_say != now(placing, question)


def valuable(placing: Placing, price: Price, questions: Iterable[Question]) -> list[Question]:  # noqa: ARG001
    """Order by what an answer is worth."""
    listed = list(questions)
    prices = {question.id: price(question) for question in listed}
    best = {one.mention: prices[one.id] for one in listed if one.kind is not QuestionKind.BOUNDARY}

    def rank(one: Question) -> tuple[object, ...]:
        cheapest = min(prices[one.id], best.get(one.mention, prices[one.id]))
        return one.kind is QuestionKind.MENTION, cheapest, one.distance, one.mention

    return sorted(listed, key=rank)


def in_text(placing: Placing, price: Price, questions: Iterable[Question]) -> list[Question]:  # noqa: ARG001
    """Order by the text."""
    return sorted(questions, key=lambda one: (one.mention, one.id))


def by_entity(placing: Placing, price: Price, questions: Iterable[Question]) -> list[Question]:  # noqa: ARG001
    """Order by the first mention of the entity, and then by the text; what is of no entity comes last."""

    def rank(one: Question) -> tuple[object, ...]:
        entity = entity_of(placing, one)
        first = () if entity is None else placing.chains[entity].mentions[0]
        return entity is None, first, one.mention, one.id

    return sorted(questions, key=rank)


Order = Callable[[Placing, Price, Iterable[Question]], list[Question]]

ORDERS: dict[str, Order] = {"valuable": valuable, "text": in_text, "entity": by_entity}
"""All orders by name; the first is the default."""


def without_waiting(questions: Iterable[Question]) -> list[Question]:
    """Leave out the questions that wait for the boundary of their mention."""
    listed = list(questions)
    undecided = {one.mention for one in listed if one.kind is QuestionKind.BOUNDARY}
    return [one for one in listed if one.kind is QuestionKind.BOUNDARY or one.mention not in undecided]
