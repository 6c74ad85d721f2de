"""Questions as JSON for the page: rows of the list, and the card with all choices.

`static/state/types.d.ts` declares the same fields for the page; a test compares the two. An answer is an
operation about the mentions that were on the screen, so it means the same whatever happens meanwhile.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from caspr.disputes.disputes import Dispute
from caspr.disputes.reasons import Explainer, shorten
from caspr.formats.review_file.statements import spelled
from caspr.result import Certainty
from caspr.review.questions.choices import Choice, agreed_anchor, entity_of
from caspr.review.questions.finding import Question, QuestionKind
from caspr.review.questions.orders import is_overruled, majority
from caspr.review.questions.placing import Placing
from caspr.review.questions.pricing import LEAVE, ChoicePrice
from caspr.review.session.solver import Snapshot
from caspr.text.document import Span

MOST_SHOWN = 6
"""How many mentions of an entity a choice names at most, the nearest."""


def row(placing: Placing, question: Question, *, tie: bool) -> dict[str, Any]:
    """Return what the list shows of a question."""
    span = placing.span(question.mention) or question.mention
    return {
        "id": question.id,
        "kind": str(question.kind),
        "mention": spelled(span),
        "entity": entity_of(placing, question),
        "tie": tie,
        "marked": question.marked,
        "seen": question.seen,
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
    return {
        "id": question.id,
        "kind": str(question.kind),
        "mention": spelled(span),
        "text": worded(placing, question, span, choices),
        "entity": entity_of(placing, question),
        "choices": [_choice(placing, question, span, one, choices, prices) for one in choices],
        "alone": [name for name, one in zip(names, stances, strict=True) if one.kind == "alone"],
        "absent": [name for name, one in zip(names, stances, strict=True) if one.kind == "absent"],
        "unseen": [name for name, one in zip(names, stances, strict=True) if one.kind == "unseen"],
        "now": _now(placing, question),
        "leave": _price(prices.get(LEAVE), snapshot),
        "reason": reason(placing, snapshot, question, choices),
        "none": _place(span, [], [doubt for one in choices for doubt in one.doubts]),
        "open": placing.is_open(question),
    }


def _choice(
    placing: Placing,
    question: Question,
    span: Span,
    choice: Choice,
    choices: Sequence[Choice],
    prices: Mapping[str, ChoicePrice],
) -> dict[str, Any]:
    others = [one for one in choices if one is not choice]
    nearest = sorted(choice.mentions, key=lambda other: (abs(other.start - span.start), other))[:MOST_SHOWN]
    if question.kind is QuestionKind.BOUNDARY:
        anchor = agreed_anchor(placing, question)
        operation: dict[str, Any] = {
            "do": "prefer",
            "mentions": [spelled(choice.anchor)],
            "over": [spelled(one.anchor) for one in others],
            "with": [] if anchor is None else [spelled(anchor)],
        }
    else:
        operation = _place(span, choice.doubts, [doubt for one in others for doubt in one.doubts])
    assert placing.snapshot is not None
    return {
        "id": choice.id,
        "chain": choice.chain,
        "anchor": spelled(choice.anchor),
        "mentions": [spelled(one) for one in dict.fromkeys((choice.anchor, *choice.doubts, *nearest))],
        "size": len(choice.mentions),
        "doubts": [spelled(one) for one in choice.doubts],
        "says": list(choice.says),
        "partly": list(choice.partly),
        "now": choice.now,
        **_price(prices.get(choice.id), placing.snapshot),
        "answer": operation,
    }


def _place(span: Span, same: Sequence[Span], apart: Sequence[Span]) -> dict[str, Any]:
    return {
        "do": "place",
        "mention": spelled(span),
        "with": [spelled(one) for one in same],
        "apart": [spelled(one) for one in apart],
    }


def _now(placing: Placing, question: Question) -> str:
    """Return what the result says: `entity`, `alone` or `absent`."""
    home = placing.home(question.mention)
    if home is None:
        return "absent"
    return "entity" if len(placing.chains[home].mentions) > 1 else "alone"


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
        widest = Span(min(one.start for one in question.spans), max(one.end for one in question.spans))
        return f"Where does the mention in “{shorten(document.phrase(widest))}” begin and end?"
    if question.kind is QuestionKind.MENTION and not choices:
        return f"Is {quoted} a mention?"
    if len(choices) == 1:
        return f"Is {quoted} the same as “{shorten(document.phrase(choices[0].anchor))}”?"
    return f"Which entity is {quoted}?"


def reason(placing: Placing, snapshot: Snapshot, question: Question, choices: Sequence[Choice]) -> str | None:
    """Return why the result is not what most annotators say; `None` if it is."""
    if question.kind is QuestionKind.BOUNDARY or not is_overruled(placing, question):
        return None
    most = majority(placing, question)
    span = placing.span(question.mention)
    wanted = [one for one in choices if most is not None and one.chain == most.entity and one.says]
    here = [one for one in choices if one.now]
    about = wanted if most is not None and most.kind == "entity" else here
    if span is None or not about:
        return None
    pair = sorted((span, about[0].anchor))
    linked = about[0].now
    dispute = Dispute((pair[0],), (pair[1],), 1, (), (), linked, (None, None), Certainty())
    return Explainer(placing.solver.result(snapshot)).explain(dispute).sentence
