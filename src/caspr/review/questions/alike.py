"""Questions that are like one that was just answered, so that one click gives them the same answer.

    boundary    “Sir” was chosen, not “Sir !”: always without “!” at the end
    annotator   “Sir” was chosen, not Ann's “the Sir”: never the word that Ann adds at the beginning
    entity      this “Sir” is Sir William: so are the other “Sir” that somebody put into this entity
    absent      this “es” is not a mention: nor are the other “es” that somebody did not mark

Offered are answers that the cards of these questions have, too, and to open questions only, so that nothing
that was decided is decided again. Boundaries are compared at one end: of two that differ at both, and of
three, nobody can say which one is meant.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from caspr.review.questions.choices import Choice, Moves, find_choices
from caspr.review.questions.question import Placing, Question, QuestionKind
from caspr.text.document import Document, Span

MOST_OFFERS = 3
"""How many ways to go on are offered after an answer."""
MOST_ANSWERS = 200
"""How many questions are answered at once."""


@dataclass(frozen=True)
class Trait:
    """What makes a question like another one, and how it is to be answered."""

    kind: str
    words: tuple[str, ...] = ()
    """Those that one boundary has and the other has not, or those of the mention, without capital letters."""
    at_start: bool = False
    """Whether two boundaries differ at the beginning."""
    kept: bool = False
    """Whether the boundary that was chosen is the longer one."""
    annotator: int | None = None
    """The number of the annotator who drew the other boundary, if all of theirs are meant."""
    length: int = 0
    """In how many words those of the annotator differ, so that articles are not meant with whole clauses."""
    shown: str = field(default="", compare=False)
    """The words as the answered question has them."""


@dataclass(frozen=True)
class Alike:
    """Open questions with the same trait."""

    trait: Trait
    answers: tuple[tuple[Question, Choice | None], ...]
    """Each with the choice that answers it; `None` says that it is not a mention."""


def find_alike(placing: Placing, moves: Moves, answered: Question, others: Iterable[Question]) -> list[Alike]:
    """Return the open questions that may be answered like one that is decided.

    Those with the same words come first, then those with most questions.
    """
    rest = [question for question in others if question.id != answered.id]
    if answered.kind is QuestionKind.BOUNDARY:
        found = list(_boundaries(placing, moves, answered, rest))
    else:
        found = list(_same_words(placing, moves, answered, rest))
    distinct = {tuple(question.id for question, _ in alike.answers): alike for alike in reversed(found)}
    offered = [
        replace(alike, answers=alike.answers[:MOST_ANSWERS]) for alike in distinct.values() if alike.answers
    ]
    offered.sort(key=lambda alike: (alike.trait.annotator is not None, -len(alike.answers)))
    return offered[:MOST_OFFERS]


def _boundaries(
    placing: Placing, moves: Moves, answered: Question, others: Iterable[Question]
) -> Iterator[Alike]:
    chosen = placing.span(answered.mention)
    if chosen is None or placing.is_open(answered):
        return
    rivals = [span for span in answered.spans if span != chosen]
    open_ones: list[tuple[Question, Choice, frozenset[Trait]]] = []
    for question in others:
        if question.kind is QuestionKind.BOUNDARY:
            choices = find_choices(placing, moves, question)
            for choice, rival in _either_way(choices):
                traits = frozenset(_traits(placing, question, choice.anchor, [rival.anchor]))
                open_ones.append((question, choice, traits))
    for trait in dict.fromkeys(_traits(placing, answered, chosen, rivals)):
        yield Alike(trait, tuple((question, choice) for question, choice, has in open_ones if trait in has))


def _either_way(choices: Sequence[Choice]) -> Iterator[tuple[Choice, Choice]]:
    """Yield each of two choices with the other one; nothing if there are more or fewer."""
    if len(choices) == 2:
        yield choices[0], choices[1]
        yield choices[1], choices[0]


def _traits(placing: Placing, question: Question, chosen: Span, rivals: Iterable[Span]) -> Iterator[Trait]:
    """Yield how a boundary differs from others that are not chosen: in which words, and from whose."""
    document, group = placing.solver.document, placing.united.variants.group(question.mention)
    marked = {} if group is None else group.marked
    for rival in rivals:
        if (chosen.start == rival.start) == (chosen.end == rival.end):
            continue
        at_start, kept = chosen.end == rival.end, chosen.contains(rival)
        longer, shorter = (chosen, rival) if kept else (rival, chosen)
        extra = Span(longer.start, shorter.start - 1) if at_start else Span(shorter.end + 1, longer.end)
        words = _words(document, extra)
        yield Trait("boundary", words, at_start, kept, shown=document.phrase(extra))
        for number, annotation in enumerate(placing.united.annotations):
            if marked.get(annotation.annotator) == rival:
                yield Trait("annotator", (), at_start, kept, number, len(words))


def _same_words(
    placing: Placing, moves: Moves, answered: Question, others: Iterable[Question]
) -> Iterator[Alike]:
    document, now = placing.solver.document, placing.now(answered.mention)
    if placing.is_open(answered) or now.kind == "alone":
        return
    span = placing.span(answered.mention) or answered.mention
    words, shown = _words(document, span), document.phrase(span)
    same = [
        question
        for question in others
        if question.kind is not QuestionKind.BOUNDARY
        and _words(document, placing.span(question.mention) or question.mention) == words
    ]
    if now.kind == "absent":
        unmarked = (
            question
            for question in same
            if any(stance.kind == "absent" for stance in placing.stances(question.mention))
        )
        yield Alike(Trait("absent", words, shown=shown), tuple((question, None) for question in unmarked))
        return
    yield Alike(
        Trait("entity", words, shown=shown),
        tuple(
            (question, choice)
            for question in same
            for choice in find_choices(placing, moves, question)
            if choice.chain == now.entity and (choice.says or choice.now)
        ),
    )


def _words(document: Document, span: Span) -> tuple[str, ...]:
    """Return the words of a span without capital letters.

    >>> _words(Document("d", ("Sir", "!")), Span(1, 2))
    ('sir', '!')
    """
    return tuple(token.casefold() for token in document.tokens[span.start - 1 : span.end])
