"""Blind review: what the server sends has no names of annotators in it.

Annotators are called by the order of their columns, the same in every document: `Annotator 1`, `Annotator 2`.
Files that name them are not sent: the review file and the report. Texts that the program wrote say that
annotators were added or corrected, not who; names in texts that people wrote stay.
"""

import re
from typing import Any

from caspr.review.session.operations import OperationError
from caspr.review.session.record import Line

ADDED = "annotators were added or corrected"
"""What is said in place of who was added or corrected."""
_WAS = r".*? was (?:added|corrected)"
_BY_US = re.compile(rf"(?<=^No longer fits since ){_WAS}(?:, {_WAS})*(?=: )|^annotations: .*", re.DOTALL)
"""What the program writes of who was added or corrected: in notes, and as the name of a step."""


def pseudonyms(names: list[str]) -> dict[str, str]:
    """Return what each annotator is called.

    >>> pseudonyms(["Ann", "Bob"])
    {'Ann': 'Annotator 1', 'Bob': 'Annotator 2'}
    """
    return {name: f"Annotator {number}" for number, name in enumerate(names, 1)}


def blind_state(state: dict[str, Any]) -> dict[str, Any]:
    """Return the state of a document without names."""
    return {**blind_texts(state), "annotators": list(pseudonyms(state["annotators"]).values())}


def blind_texts(view: dict[str, Any]) -> dict[str, Any]:
    """Return a state or an update without the names of annotators in texts that the program wrote.

    >>> note = {"id": "n1", "text": "No longer fits since Ann was added, Bob was corrected: “it” absent"}
    >>> blind_texts({"undo": "annotations: Ann", "redo": None, "notes": [note]})["notes"][0]["text"]
    'No longer fits since annotators were added or corrected: “it” absent'
    """
    steps = {key: _hidden(view[key]) for key in ("undo", "redo") if view.get(key)}
    notes = [{**note, "text": _hidden(note["text"])} for note in view.get("notes", ())]
    return {**view, **steps, **({"notes": notes} if notes else {})}


def _hidden(text: str) -> str:
    return _BY_US.sub(ADDED, text, count=1)


def blind_explanation(explanation: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """Return an explanation without names."""
    known = pseudonyms(names)
    votes = [{**vote, "annotator": known[vote["annotator"]]} for vote in explanation["votes"]]
    return {**explanation, "votes": votes}


def blind_card(card: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """Return a question without names."""
    known = pseudonyms(names)

    def hidden(given: list[str]) -> list[str]:
        return [known[name] for name in given]

    groups = ("says", "partly")
    choices = [{**choice, **{one: hidden(choice[one]) for one in groups}} for choice in card["choices"]]
    return {
        **card,
        "choices": choices,
        **{group: hidden(card[group]) for group in ("alone", "absent", "unseen")},
    }


def named(pseudonym: str, names: list[str]) -> str:
    """Return the name behind a pseudonym, which a page may use that hides names itself; others stay.

    >>> named("Annotator 2", ["Ann", "Bob"])
    'Bob'
    """
    known = {other: name for name, other in pseudonyms(names).items()}
    return pseudonym if pseudonym in names else known.get(pseudonym, pseudonym)


def blind_steps(steps: list[Line]) -> list[Line]:
    """Return steps of a history without the names of annotators that were added."""
    return [{**step, "label": ADDED} if step["do"] == "annotators" else step for step in steps]


def refuse_named(what: str) -> None:
    """Refuse to send something that names annotators."""
    raise OperationError(f"Names of annotators are hidden here, and {what} has them: it is not shown.")
