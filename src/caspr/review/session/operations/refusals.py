"""Why an operation cannot be done, in words of the text, and what can be done instead.

A remedy is an operation itself, shown as a button. It does all that is needed in one step:

    “Gasthofe” lies inside “Saal im Gasthofe”, which is in the same entity.
        [Keep both]                both are mentions, and not of one entity
        [Replace “Gasthofe”]       it is no mention, and then what was asked for
        [Allow here]               these two may share an entity, and then what was asked for
    Nobody linked “gewisse Leute” with anything that is left.
        [Keep it alone]            a mention without a partner
        [Choose its entity]        the page asks which
    “er” and “ihn” are decided to be one entity and to be two.
        [Take back: ...]           the earlier decision, and then what was asked for
"""

from collections.abc import Sequence

from caspr.errors import ContradictionError
from caspr.formats.review_file.statements import spelled
from caspr.review.session.entries import DecisionEntry
from caspr.review.session.operations.context import Operation, OperationContext, OperationError, Remedy
from caspr.task.price.contradictions import Fault, FaultKind
from caspr.text.document import Document, Span

MOST_TAKEN_BACK = 3
"""How many earlier decisions are offered to be taken back, one each; of more, all at once."""
LONGEST = 60
"""How many characters of a decision a button shows."""


def refusal(
    context: OperationContext,
    operation: Operation,
    error: ContradictionError,
    blamed: Sequence[DecisionEntry],
) -> OperationError:
    """Return the refusal of an operation that contradicts decisions; `blamed` are earlier ones."""
    fault = error.fault
    assert isinstance(fault, Fault)
    remedies: list[Remedy] = []
    if fault.kind is FaultKind.NESTED:
        remedies += _about_nesting(context, operation, fault)
    elif fault.kind is FaultKind.NO_PARTNER:
        remedies += _about_partners(context, operation, fault)
    remedies += _take_back(context, operation, blamed)
    return OperationError(worded(context.solver.document, fault), [entry.id for entry in blamed], remedies)


def worded(document: Document, fault: Fault) -> str:
    """Say what is wrong in words of the text."""
    words = [f"“{document.phrase(span)}”" for span in fault.mentions]
    listed = " and ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)
    match fault.kind:
        case FaultKind.NESTED:
            return f"{words[1]} lies inside {words[0]}, which is in the same entity."
        case FaultKind.NO_PARTNER if len(words) == 1:
            return f"Nobody linked {listed} with anything that is left."
        case FaultKind.NO_PARTNER:
            return f"{listed} must each be with another mention, and nobody linked them with enough others."
        case FaultKind.TORN:
            return f"{listed} are decided to be one entity and to be two."
        case FaultKind.ALONE:
            return f"{listed} is decided to be alone and to be with others."
        case FaultKind.RULED_OUT:
            return f"{listed} is decided to be a mention and to be none."
        case _:
            return f"{listed or 'What is decided to be one entity'} is decided to be in two entities."


def _about_nesting(context: OperationContext, operation: Operation, fault: Fault) -> list[Remedy]:
    outer, inner = fault.mentions
    asked = _mentions(context, operation)
    other = outer if inner in asked and outer not in asked else inner
    new = [span for span in (outer, inner) if span in asked] or [outer, inner]
    pair = _spelled(outer, inner)
    gone: Operation = {"do": "absent", "mentions": _spelled(other)}
    replaced = gone if other in asked else _together(gone, operation)
    allowed = _together({"do": "nested", "mentions": pair}, operation)
    return [
        Remedy("Keep both", {"do": "mention", "mentions": _spelled(*new)}),
        Remedy(f"Replace {context.quote(other)}", replaced),
        Remedy("Allow here", allowed),
    ]


def _about_partners(context: OperationContext, operation: Operation, fault: Fault) -> list[Remedy]:
    alone: Operation = {"do": "alone", "mentions": _spelled(*fault.mentions)}
    asked = set(_mentions(context, operation))
    only = asked <= set(fault.mentions) and operation.get("do") not in ("absent", "free", "apart", "empty")
    remedy = alone if only else _together(alone, operation)
    if len(fault.mentions) > 1:
        return [Remedy("Keep them alone", remedy)]
    choice = Remedy("Choose its entity", None, choose=fault.mentions[0])
    return [Remedy("Keep it alone", remedy), choice]


def _take_back(
    context: OperationContext, operation: Operation, blamed: Sequence[DecisionEntry]
) -> list[Remedy]:
    if not blamed or operation.get("do") == "free":
        return []
    if len(blamed) > MOST_TAKEN_BACK:
        ids = [entry.id for entry in blamed]
        both = _together({"do": "free", "decisions": ids}, operation)
        return [Remedy(f"Take back {len(ids)} earlier decisions", both)]
    return [
        Remedy(
            f"Take back: {_short(context.words(entry.decision))}",
            _together({"do": "free", "decisions": [entry.id]}, operation),
        )
        for entry in blamed
    ]


def _together(first: Operation, then: Operation) -> Operation:
    """Return two operations as one step."""
    return {"do": "all", "ops": [first, *(then["ops"] if then.get("do") == "all" else [then])]}


def _mentions(context: OperationContext, operation: Operation) -> list[Span]:
    """Return the mentions that an operation names, which was read before."""
    if operation.get("do") == "all":
        return [span for one in operation["ops"] for span in _mentions(context, one)]
    if "start" in operation:
        return [context.span(operation["start"], operation["end"])]
    about = [operation["mention"]] if operation.get("mention") else []
    with_it = operation.get("with", ()) if operation.get("do") == "place" else ()
    return [context.mention(one) for one in (*operation.get("mentions", ()), *about, *with_it)]


def _spelled(*mentions: Span) -> list[str]:
    return [spelled(span) for span in mentions]


def _short(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    head = text[: LONGEST - 1]
    return f"{head.rpartition(' ')[0] or head} …"
