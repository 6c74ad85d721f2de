"""The questions of one document: which are open, in which order, what they offer, and what is at stake.

    valuable   links, then mentions, then boundaries; the cheapest to decide differently, then close votes
    text       in the order of the text
    entity     entity by entity, each in the order of the text

A question about the entity of a mention waits until the boundary of the mention is decided; boundaries that
such a question waits for come before the others. A boundary that more than two thirds of those who marked the
mention drew is not asked, unless a filter wants it: it is seldom worth an answer.

What is listed is computed from the snapshot at once; choices and exact prices of a question only when it is
looked at. Prices belong to a snapshot and are forgotten with it. An answer is an operation about the mentions
that were on the screen, so it means the same whatever happens meanwhile.

How sure the result is about a question, the votes say (`caspr.confidence`); a tie is as many for as against.

When may an adjudicator stop? Every open question moves its own mention at most, so the number of their
mentions bounds what further answers change directly. And after `STILL` answers in a row that changed nothing,
little is left: in simulations on sets with a gold standard, 89 to 99 % of what answering everything gained
was reached by then, with 59 to 98 % of the answers (`bench.adjudicator --project`).

`static/state/types.d.ts` declares the fields of the JSON for the page; a test compares the two.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

from caspr.confidence import Stance
from caspr.disputes import DecidedLink, Explainer
from caspr.review.questions.alike import Alike, find_alike
from caspr.review.questions.choices import (
    LEAVE,
    Choice,
    ChoicePrice,
    Moves,
    PriceList,
    agreed_anchor,
    entity_of,
    find_choices,
)
from caspr.review.questions.question import (
    Placing,
    Question,
    QuestionKind,
    UnitedMentions,
    find_questions,
)
from caspr.review.solver import Snapshot, Solver
from caspr.task.decisions import Decisions, spelled
from caspr.text.document import Span
from caspr.text.findings import shorten

MOST_SHOWN = 6
"""How many mentions of an entity a choice names at most, the nearest."""


def sure(placing: Placing, question: Question) -> dict[str, Any]:
    """Return how sure the result is about a question."""
    confidence = placing.confidence(question)
    return {
        "confidence": confidence.percent,
        "against": confidence.against,
        "voters": confidence.seen,
        "tie": confidence.is_tie,
        "markers": placing.counts_boundaries(question),
    }


def row(placing: Placing, question: Question) -> dict[str, Any]:
    """Return what the list shows of a question."""
    span = placing.span(question.mention) or question.mention
    return {
        "id": question.id,
        "kind": str(placing.kind(question)),
        "mention": spelled(span),
        "entity": entity_of(placing, question),
        **sure(placing, question),
    }


def card(
    placing: Placing,
    snapshot: Snapshot,
    question: Question,
    choices: Sequence[Choice],
    prices: Mapping[str, ChoicePrice],
) -> dict[str, Any]:
    """Return a question with its choices."""
    span = placing.span(question.mention) or question.mention
    stances = placing.stances(question.mention)
    names = [annotation.annotator for annotation in placing.united.annotations]
    others = placing.drew_others(question)
    choices = [_said_without(choice, others) for choice in choices]
    return {
        "id": question.id,
        "kind": str(question.kind if choices else QuestionKind.MENTION),
        "mention": spelled(span),
        "text": worded(placing, question, span, choices),
        "entity": entity_of(placing, question),
        "choices": [_choice(placing, question, span, choice, choices, prices) for choice in choices],
        **{
            kind: [
                name
                for name, stance in zip(names, stances, strict=True)
                if stance.kind == kind and name not in others
            ]
            for kind in ("alone", "absent", "unseen")
        },
        "now": placing.now(question.mention).kind,
        **sure(placing, question),
        "leave": _price(prices.get(LEAVE), snapshot),
        "reason": reason(placing, snapshot, question, choices),
        "none": _place(span, [], [doubt for choice in choices for doubt in choice.doubts]),
        "open": placing.is_open(question),
    }


def _said_without(choice: Choice, annotators: Set[str]) -> Choice:
    """Return a choice without the votes of some annotators."""
    says, partly = (
        tuple(name for name in names if name not in annotators) for names in (choice.says, choice.partly)
    )
    return replace(choice, says=says, partly=partly)


def _choice(
    placing: Placing,
    question: Question,
    span: Span,
    choice: Choice,
    choices: Sequence[Choice],
    prices: Mapping[str, ChoicePrice],
) -> dict[str, Any]:
    others = [rival for rival in choices if rival is not choice]
    nearest = sorted(choice.mentions, key=lambda other: (abs(other.start - span.start), other))[:MOST_SHOWN]
    if question.kind is QuestionKind.BOUNDARY:
        operation = _prefer(placing, question, choice, [rival.anchor for rival in others])
    else:
        operation = _place(span, choice.same(span), [doubt for rival in others for doubt in rival.doubts])
    assert placing.snapshot is not None
    telling = placing.telling(span, choice.mentions, choice.chain)
    return {
        "id": choice.id,
        "chain": choice.chain,
        "anchor": spelled(choice.anchor),
        "telling": None if telling is None else spelled(telling),
        "mentions": [
            spelled(mention) for mention in dict.fromkeys((choice.anchor, *choice.doubts, *nearest))
        ],
        "size": len(choice.mentions),
        "doubts": [spelled(doubt) for doubt in choice.doubts],
        "says": list(choice.says),
        "partly": list(choice.partly),
        "now": choice.now,
        **_price(prices.get(choice.id), placing.snapshot),
        "leaving": [spelled(mention) for mention in _leaving(prices.get(choice.id))],
        "answer": operation,
    }


def _offer(placing: Placing, alike: Alike) -> dict[str, Any]:
    """Return questions that may be answered alike, with the operation that answers all of them."""
    trait = alike.trait
    return {
        "kind": trait.kind,
        "words": trait.shown,
        "start": trait.at_start,
        "kept": trait.kept,
        "annotator": trait.annotator,
        "length": trait.length,
        "count": len(alike.answers),
        "answer": {
            "do": "all",
            "ops": [_answer(placing, question, choice) for question, choice in alike.answers],
        },
    }


def _answer(placing: Placing, question: Question, choice: Choice | None) -> dict[str, Any]:
    """Return the operation that gives one of several questions its answer.

    For an entity it names nothing else: what a mention is different from may be another of these mentions.
    """
    span = placing.span(question.mention) or question.mention
    if choice is None:
        return {"do": "absent", "mentions": [spelled(span)]}
    if choice.chain is not None:
        return {"do": "into", "mentions": [spelled(span)], "chain": choice.chain}
    left = [other for other in question.spans if other not in (choice.anchor, *placing.ruled_out)]
    return _prefer(placing, question, choice, left)


def _prefer(placing: Placing, question: Question, choice: Choice, rivals: Iterable[Span]) -> dict[str, Any]:
    anchor = agreed_anchor(placing, question)
    return {
        "do": "prefer",
        "mentions": [spelled(choice.anchor)],
        "over": [spelled(rival) for rival in rivals],
        "with": [] if anchor is None else [spelled(anchor)],
    }


def _place(span: Span, same: Sequence[Span], apart: Sequence[Span]) -> dict[str, Any]:
    return {
        "do": "place",
        "mention": spelled(span),
        "with": [spelled(mention) for mention in same],
        "apart": [spelled(mention) for mention in apart],
    }


def _leaving(known: ChoicePrice | None) -> tuple[Span, ...]:
    return () if known is None else known.leaving


def _price(known: ChoicePrice | None, snapshot: Snapshot) -> dict[str, Any]:
    return {
        "price": None if known is None else known.price,
        "exact": known is None or known.exact,
        "possible": known is None or known.price is not None or not known.exact,
        "computed": known is not None or not snapshot.optimal,
    }


def worded(placing: Placing, question: Question, span: Span, choices: Sequence[Choice]) -> str:
    """Return a question in plain words."""
    document = placing.solver.document
    quoted = f"“{shorten(document.phrase(span))}”"
    if question.kind is QuestionKind.BOUNDARY:
        widest = Span(
            min(variant.start for variant in question.spans), max(variant.end for variant in question.spans)
        )
        return f"Where does the mention in “{shorten(document.phrase(widest))}” begin and end?"
    if not choices:
        return f"Is {quoted} a mention?"
    if len(choices) == 1:
        only = choices[0]
        other = placing.telling(span, only.mentions, only.chain) or only.anchor
        asked = f"{quoted} a mention," if question.kind is QuestionKind.MENTION else quoted
        return f"Is {asked} the same as “{shorten(document.phrase(other))}”?"
    doubt = ", if it is a mention" if question.kind is QuestionKind.MENTION else ""
    return f"Which entity is {quoted}{doubt}?"


def reason(placing: Placing, snapshot: Snapshot, question: Question, choices: Sequence[Choice]) -> str | None:
    """Return why the result is not what most annotators say, or what none of them says; `None` otherwise."""
    sure = placing.confidence(question)
    is_unsaid = 0 < sure.against == sure.seen
    if question.kind is QuestionKind.BOUNDARY or not (is_unsaid or is_overruled(placing, question)):
        return None
    most, now = majority(placing, question), placing.now(question.mention)
    span = placing.span(question.mention)
    wanted = [
        choice for choice in choices if most is not None and choice.chain == most.entity and choice.says
    ]
    here = [choice for choice in choices if choice.now]
    about = wanted if most is not None and most.kind == "entity" else here
    result = placing.solver.result(snapshot)
    is_named = most is not None and most.entity is not None
    if span is not None and choices and is_unsaid and not is_named and now.kind != "entity":
        about = [choice for choice in choices if result.instance.price(span, choice.anchor).gain > 0]
        if not about:
            return _without_votes(now, kept=span in placing.fixed)
    if span is None or not about:
        return None
    anchor = about[0].anchor
    link = DecidedLink((min(span, anchor), max(span, anchor)), about[0].now)
    return Explainer(result).explain(link).sentence


def _without_votes(now: Stance, *, kept: bool) -> str:
    """Say why a mention is with no others although nobody says so; `kept` if decisions say that it is one."""
    if now.kind == "absent":
        return "no entity has enough votes, so it is left out"
    marked = "" if kept else ", but enough annotators marked it"
    return f"no entity has enough votes{marked}, so it stays alone"


CLEAR = "clear"
"""The kind by which a filter wants boundaries that are not asked otherwise."""


@dataclass(frozen=True)
class Filter:
    """Which questions to list; what is empty lets all through."""

    annotator: str = ""
    """Only where this annotator disagrees with the result."""
    entity: str = ""
    """Only those that concern this chain of the result."""
    kind: str = ""
    overruled: bool = False
    """Only where the result is not what most annotators say."""

    @classmethod
    def of(cls, words: Mapping[str, str]) -> "Filter":
        """Read a filter from words such as those of an address; what is unknown matches nothing."""
        return cls(
            words.get("annotator", ""),
            words.get("entity", ""),
            words.get("kind", ""),
            bool(words.get("overruled", "")),
        )

    def lets_through(self, placing: Placing, question: Question) -> bool:
        """Return whether a question is to be listed."""
        if self.kind and (CLEAR if placing.is_clear(question) else placing.kind(question)) != self.kind:
            return False
        if not (self.annotator or self.entity or self.overruled):
            return True
        stances = placing.stances(question.mention)
        if self.entity and self.entity not in {
            entity_of(placing, question),
            *(stance.entity for stance in stances),
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


def _agrees(placing: Placing, question: Question, stance: Stance, annotator: str) -> bool:
    """Return whether an annotator says what the result says, or nothing."""
    if question.kind is QuestionKind.BOUNDARY:
        group = placing.united.variants.group(question.mention)
        own = None if group is None else group.marked.get(annotator)
        return own is None or own == placing.span(question.mention)
    return stance.kind == "unseen" or stance == placing.now(question.mention)


def majority(placing: Placing, question: Question) -> Stance | None:
    """Return what more than half of the annotators who saw a mention say about it, if they say the same."""
    stances = [stance for stance in placing.stances(question.mention) if stance.kind != "unseen"]
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
    return most_say is not None and most_say != placing.now(question.mention)


_KINDS = (QuestionKind.LINK, QuestionKind.MENTION, QuestionKind.BOUNDARY)
"""What is worth more comes first."""


def valuable(placing: Placing, price: Price, questions: Iterable[Question]) -> list[Question]:
    """Order by what an answer is worth."""
    listed = list(questions)
    waiting = {
        question.mention: question for question in listed if question.kind is not QuestionKind.BOUNDARY
    }
    prices = {question.id: price(question) for question in listed}

    def rank(question: Question) -> tuple[object, ...]:
        # Boundaries that something waits for come before the others.
        urgent = waiting.get(question.mention, question)
        kind = _KINDS.index(placing.kind(urgent))
        is_boundary = question.kind is QuestionKind.BOUNDARY
        return is_boundary, kind, prices[urgent.id], urgent.distance, question.mention

    return sorted(listed, key=rank)


def in_text(placing: Placing, price: Price, questions: Iterable[Question]) -> list[Question]:  # noqa: ARG001
    """Order by the text."""
    return sorted(questions, key=lambda question: (question.mention, question.id))


def by_entity(placing: Placing, price: Price, questions: Iterable[Question]) -> list[Question]:  # noqa: ARG001
    """Order by the first mention of the entity, and then by the text; what is of no entity comes last."""

    def rank(question: Question) -> tuple[object, ...]:
        entity = entity_of(placing, question)
        first = () if entity is None else placing.chains[entity].mentions[0]
        return entity is None, first, question.mention, question.id

    return sorted(questions, key=rank)


Order = Callable[[Placing, Price, Iterable[Question]], list[Question]]

ORDERS: dict[str, Order] = {"valuable": valuable, "text": in_text, "entity": by_entity}
"""All orders by name; the first is the default."""


def without_waiting(questions: Iterable[Question]) -> list[Question]:
    """Leave out the questions that wait for the boundary of their mention."""
    listed = list(questions)
    undecided = {question.mention for question in listed if question.kind is QuestionKind.BOUNDARY}
    return [
        question
        for question in listed
        if question.kind is QuestionKind.BOUNDARY or question.mention not in undecided
    ]


LAST = 20
"""How many of the last steps are looked at."""
STILL = 8
"""After how many answers in a row that changed nothing the page says that one may stop."""


def last_changes(steps: Sequence[Snapshot]) -> dict[str, int]:
    """Count the last steps that decided something, those that changed the result, and those since then."""
    recent = steps[-LAST - 1 :]
    pairs = [(before, after) for before, after in pairwise(recent) if before.entries != after.entries]
    changes = [differ(*pair) for pair in pairs]
    still = next((number for number, change in enumerate(reversed(changes)) if change), len(changes))
    return {"steps": len(changes), "changed": sum(changes), "still": still, "enough": STILL}


def differ(before: Snapshot, after: Snapshot) -> bool:
    """Return whether the result of two snapshots differs, in mentions or chains, whatever their names."""
    if before.chains == after.chains:
        return False
    return {chain.mentions for chain in before.chains} != {chain.mentions for chain in after.chains}


FIRST_PRICED = 12
"""How many questions are priced before anybody looks at them, in the default order."""
PRICE_SECONDS = 2.0
"""Seconds for the prices of one question at most."""

DEFAULT_ORDER = next(iter(ORDERS))


@dataclass(frozen=True)
class _InSnapshot:
    """What is known about the questions in one snapshot."""

    placing: Placing
    snapshot: Snapshot
    moves: Moves
    prices: dict[str, dict[str, ChoicePrice]] = field(default_factory=dict)
    """The prices of the choices of each question, by their ids."""
    estimates: dict[str, int] = field(default_factory=dict)
    """What the cheapest other answer to each question costs, by its id, where that was estimated."""

    def price(self, question: Question) -> int:
        """Estimate what the cheapest other answer to a question costs."""
        if question.id not in self.estimates:
            self.estimates[question.id] = self.moves.price(self.placing, question)
        return self.estimates[question.id]


@dataclass
class Queue:
    """The questions of one document, and what is known about them in the last snapshot."""

    solver: Solver
    _known: _InSnapshot | None = field(default=None, repr=False)

    @cached_property
    def united(self) -> UnitedMentions:
        """The annotators' mentions, with one boundary each."""
        return UnitedMentions.of(self.solver)

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """All questions, in the order of the text."""
        return tuple(find_questions(self.united))

    @cached_property
    def _by_id(self) -> dict[str, Question]:
        return {question.id: question for question in self.questions}

    @cached_property
    def moves(self) -> Moves:
        """What it costs to move one mention alone."""
        return Moves(self.solver.incremental.instance)

    def _at(self, snapshot: Snapshot) -> _InSnapshot:
        """Return what is known in a snapshot; other threads may ask about another one meanwhile."""
        known = self._known
        if known is None or known.snapshot is not snapshot:
            self.moves.forget_others(snapshot.chains)
            placing = Placing(self.solver, self.united, snapshot.decisions, snapshot)
            known = self._known = _InSnapshot(placing, snapshot, self.moves)
        return known

    def placing(self, snapshot: Snapshot) -> Placing:
        """Return where the mentions are in a snapshot."""
        return self._at(snapshot).placing

    def _counted(self, decisions: Decisions) -> Placing:
        """Return where mentions are under decisions, in the last result if that has them."""
        known = self._known
        if known is not None and known.placing.decided is decisions:
            return known.placing
        return Placing(self.solver, self.united, decisions)

    def question(self, id: str) -> Question | None:
        """Find a question by its id."""
        return self._by_id.get(id)

    def open(self, snapshot: Snapshot, order: str = "", *, clear: bool = False) -> list[Question]:
        """Return the questions that no decision answers, in an order; one that is unknown is the default.

        Boundaries that need no answer are among them only if `clear` ones are wanted.
        """
        here = self._at(snapshot)
        left = [
            question
            for question in self.questions
            if here.placing.is_open(question) and (clear or not here.placing.is_clear(question))
        ]
        sort = ORDERS.get(order, ORDERS[DEFAULT_ORDER])
        return without_waiting(sort(here.placing, here.price, left))

    def filtered(self, questions: Sequence[Question], snapshot: Snapshot, wanted: Filter) -> list[Question]:
        """Return the questions that a filter lets through."""
        placing = self.placing(snapshot)
        return [question for question in questions if wanted.lets_through(placing, question)]

    def progress(self, decisions: Decisions) -> dict[str, int]:
        """Count the mentions that are asked about, and those of them without an open question."""
        placing = self._counted(decisions)
        questions = [question for question in self.questions if not placing.is_clear(question)]
        asked = {question.mention for question in questions}
        if not decisions:
            return {"asked": len(asked), "answered": 0}
        left = {question.mention for question in questions if placing.is_open(question)}
        return {"asked": len(asked), "answered": len(asked) - len(left)}

    def stake(self, snapshot: Snapshot) -> float | None:
        """Return what the next question of the document is worth beside those of others: the less, the more.

        That is the price of its cheapest other answer, for each mention of the chain that it is in: long
        chains make high prices. Without an open question there is nothing at stake.
        """
        here = self._at(snapshot)
        question = next(iter(self.open(snapshot)), None)
        if question is None:
            return None
        home = here.placing.chains.get(here.placing.home(question.mention) or "")
        return max(0, here.price(question)) / (1 if home is None else len(home.mentions))

    def choices(self, question: Question, snapshot: Snapshot) -> list[Choice]:
        """Return the choices of a question."""
        return find_choices(self.placing(snapshot), self.moves, question)

    def price(
        self, question: Question, snapshot: Snapshot, seconds: float, cancelled: Callable[[], bool]
    ) -> bool:
        """Price the choices of a question that have no price yet; return whether all have one now."""
        here = self._at(snapshot)
        known = here.prices.setdefault(question.id, {})
        choices = find_choices(here.placing, self.moves, question)
        if len(known) <= len(choices):
            known.update(PriceList(here.placing, snapshot).prices(question, choices, seconds, cancelled))
        return len(known) > len(choices)

    def price_first(self, snapshot: Snapshot, seconds: float, cancelled: Callable[[], bool]) -> None:
        """Price the first questions of the default order, before anybody looks at them."""
        for question in self.open(snapshot)[:FIRST_PRICED]:
            if cancelled():
                return
            self.price(question, snapshot, min(seconds, PRICE_SECONDS), cancelled)

    def alike(self, answered: Question, snapshot: Snapshot) -> list[dict[str, Any]]:
        """Return the open questions that may be answered like one that is decided, as JSON for the page."""
        placing = self.placing(snapshot)
        found = find_alike(placing, self.moves, answered, self.open(snapshot))
        return [_offer(placing, alike) for alike in found]

    def rows(self, questions: Sequence[Question], snapshot: Snapshot) -> list[dict[str, Any]]:
        """Return a list of questions as JSON for the page."""
        here = self._at(snapshot)
        return [row(here.placing, question) for question in questions]

    def card(self, question: Question, snapshot: Snapshot) -> dict[str, Any]:
        """Return a question with its choices as JSON for the page."""
        here = self._at(snapshot)
        choices = find_choices(here.placing, self.moves, question)
        return card(here.placing, snapshot, question, choices, here.prices.get(question.id, {}))

    def stakes(self, snapshot: Snapshot, questions: Sequence[Question]) -> dict[str, int]:
        """Return how many mentions some questions can move, and on how many of them the votes are tied."""
        placing = self._at(snapshot).placing
        tied = {question.mention for question in questions if placing.confidence(question).is_tie}
        return {"mentions": len({question.mention for question in questions}), "ties": len(tied)}
