"""Questions: what is worth asking the adjudicator, the most valuable first.

Two kinds of things annotators can disagree on are asked about, and only where they do:

    mention   a span that some annotators marked and some did not;
    link      for every mention that an annotator has in a chain after others: the earlier mention of that
              chain with which most annotators link it, the nearest of these. Where all link it with some
              earlier mention, this chain asks nothing about it.

So the questions depend on the annotations alone and stay the same whatever is decided; those that decisions
answer are not listed. A *tie* is a question that another optimum answers otherwise. Ties come first,
then the closest votes, then the order of the text.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from time import monotonic
from typing import Any

from caspr.engines.native.flip_prices import FlipPrice
from caspr.formats.review_file.statements import spelled
from caspr.review.session.solver import Snapshot, Solver
from caspr.task.decisions import Decisions
from caspr.task.limits import Limits
from caspr.task.votes import Signature, meet
from caspr.text.document import Document, Span

SHOWN = 60
"""How many characters of a mention a question quotes at most."""
PRICE_SECONDS = 2.0
"""Seconds for the price of one question at most."""
MOST_PRICED = 200
"""How many questions are priced after each decision at most, the closest votes first."""


@dataclass(frozen=True)
class Question:
    """Something annotators disagree on."""

    id: str
    """The same in every snapshot of a document."""
    mentions: tuple[Span, ...]
    """Two for a link, one for a mention."""
    yes: int
    """How many annotators say yes."""
    no: int
    """How many say no."""

    @property
    def is_link(self) -> bool:
        """Whether it is about two mentions."""
        return len(self.mentions) == 2

    @property
    def distance(self) -> int:
        """How far the votes are from being equal."""
        return abs(self.yes - self.no)


@dataclass
class Queue:
    """The questions of one document, and the known prices of deciding them otherwise."""

    solver: Solver
    """The document and its annotations."""
    questions: tuple[Question, ...] = field(init=False)
    """In the order of the text."""
    prices: dict[tuple[Span, ...], FlipPrice] = field(default_factory=dict)
    """What the opposite of the present result costs, by the mentions of a question, where that is known."""

    def __post_init__(self) -> None:
        """Find the questions."""
        self.questions = tuple(sorted(find_questions(self.solver), key=lambda one: one.mentions))

    def open(self, snapshot: Snapshot) -> list[Question]:
        """Return the questions that no decision answers, the most valuable first."""
        decisions = snapshot.decisions
        ruled_out = self.solver.ruled_out(decisions)
        left = [one for one in self.questions if not is_answered(one, decisions, ruled_out)]
        return sorted(left, key=lambda one: (not self.is_tie(one), one.distance, one.mentions))

    def is_tie(self, question: Question) -> bool:
        """Return whether another optimum is known to decide otherwise."""
        known = self.prices.get(question.mentions)
        return known is not None and known.exact and known.price == 0

    def progress(self, decisions: Decisions) -> dict[str, int]:
        """Count the questions, and those that decisions answer."""
        ruled_out = self.solver.ruled_out(decisions)
        answered = 0
        if decisions:
            answered = sum(is_answered(one, decisions, ruled_out) for one in self.questions)
        return {"asked": len(self.questions), "answered": answered}

    def close_calls(self, decisions: Decisions) -> int:
        """Count the questions without an answer on which annotators are about evenly divided."""
        ruled_out = self.solver.ruled_out(decisions)
        return sum(one.distance <= 1 and not is_answered(one, decisions, ruled_out) for one in self.questions)

    def price(self, snapshot: Snapshot, seconds: float, cancelled: Callable[[], bool]) -> Iterator[Question]:
        """Price deciding links otherwise, closest votes first; yield each question that was priced."""
        if not snapshot.optimal:
            return
        # A commit replaces `self.prices`; what is found here belongs to the old snapshot.
        prices, give_up = self.prices, monotonic() + seconds
        instance, solution = self.solver.instance(snapshot.decisions), self.solver.solution(snapshot)
        allowed = set(instance.mentions)
        links = (one for one in self.open(snapshot) if one.is_link and allowed.issuperset(one.mentions))
        for question in islice(links, MOST_PRICED):
            left = min(PRICE_SECONDS, give_up - monotonic())
            if left <= 0 or cancelled():
                return
            pair = question.mentions[0], question.mentions[1]
            limits = Limits(seconds=left, cancelled=cancelled)
            for flip_price in self.solver.incremental.flip_prices(instance, solution, [pair], limits):
                if not cancelled():
                    prices[question.mentions] = flip_price
                    yield question

    def view(self, question: Question, snapshot: Snapshot) -> dict[str, Any]:
        """Return a question as JSON for the page."""
        known = self.prices.get(question.mentions)
        mentions = [spelled(span) for span in question.mentions]
        verbs = ("together", "apart") if question.is_link else ("exists", "absent")
        return {
            "id": question.id,
            "kind": "tie" if self.is_tie(question) else "link" if question.is_link else "mention",
            "mentions": mentions,
            "text": worded(question, self.solver.document),
            "votes": {"yes": question.yes, "no": question.no},
            "now": _now(question, snapshot.chain_of),
            "price": None if known is None else known.price,
            "exact": known is None or known.exact,
            "possible": known is None or known.price is not None,
            "yes": {"do": verbs[0], "mentions": mentions},
            "no": {"do": verbs[1], "mentions": mentions},
        }


def find_questions(solver: Solver) -> Iterator[Question]:
    """Yield everything annotators disagree on, each once.

    Where variants of a mention are united, annotators who gave it different boundaries agree on it.
    """
    instance = solver.incremental.instance
    annotators, votes = len(instance.annotations), instance.votes
    marks = Counter(span for annotation in instance.annotations for span in annotation.mentions)
    for span, marked in marks.items():
        if marked < annotators:
            yield Question(f"m{spelled(span)}", (span,), marked, annotators - marked)
    seen: dict[tuple[Span, Span], int] = {}
    for annotation in instance.annotations:
        for chain in annotation.chains:
            for pair, evidence in _doubtful(chain.mentions, votes.signatures, annotators):
                seen[pair] = evidence
    for pair, evidence in seen.items():
        yield Question(f"l{spelled(pair[0])}_{spelled(pair[1])}", pair, evidence, annotators - evidence)


def _doubtful(
    mentions: Sequence[Span], signatures: Mapping[Span, Signature], annotators: int
) -> Iterator[tuple[tuple[Span, Span], int]]:
    """Yield for every mention of a chain its best earlier one, unless all annotators agree on some."""
    last: dict[Signature, Span] = {}
    for mention in mentions:
        signature = signatures[mention]
        if last:
            evidence, earlier = max((meet(signature, kind).k, span) for kind, span in last.items())
            if 0 < evidence < annotators:
                yield (earlier, mention), evidence
        last[signature] = mention


def is_answered(question: Question, decisions: Decisions, ruled_out: frozenset[Span]) -> bool:
    """Return whether decisions answer a question or rule out one of its mentions."""
    if not ruled_out.isdisjoint(question.mentions):
        return True
    if not question.is_link:
        return question.mentions[0] in decisions.group_of
    first, second = question.mentions
    if decisions.apart and (first, second) in decisions.apart:
        return True
    # Two mentions are joined or separated by ids only if both are enforced.
    both = first in decisions.group_of and second in decisions.group_of
    return both and (decisions.joins(first, second) or decisions.separates(first, second))


def worded(question: Question, document: Document) -> str:
    """Return a question in plain words.

    >>> document = Document("d", ("the", "girl", "she"))
    >>> worded(Question("q", (Span(1, 2), Span(3, 3)), 1, 1), document)
    'Are “the girl” (1-2) and “she” (3-3) the same?'
    """
    quoted = [f"“{shortened(document.text(span))}” ({spelled(span)})" for span in question.mentions]
    return f"Are {' and '.join(quoted)} the same?" if question.is_link else f"Is {quoted[0]} a mention?"


def shortened(text: str) -> str:
    """Return as much of a text as a question quotes."""
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def _now(question: Question, chain_of: Mapping[Span, str]) -> bool:
    """Return what the result answers."""
    homes: Iterable[str | None] = [chain_of.get(span) for span in question.mentions]
    return None not in homes and len(set(homes)) == 1
