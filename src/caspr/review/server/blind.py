"""Blind review: what the server sends has no names of annotators in it.

Annotators are called by the order of their columns, the same in every document: `Annotator 1`, `Annotator 2`.
Files that name them are not sent: the review file and the report; nor what is wrong with a file, which may
name a column. Texts that the program writes about the text name nobody; names in texts that people wrote
stay.
"""

from typing import Any

from caspr.review.operations import OperationError
from caspr.review.record import Line

FAULTY = (
    "The file of this document cannot be used. What is wrong with it may name annotators, who are hidden "
    "here: `caspr check FILE` says it."
)


def pseudonyms(names: list[str]) -> dict[str, str]:
    """Return what each annotator is called.

    >>> pseudonyms(["Ann", "Bob"])
    {'Ann': 'Annotator 1', 'Bob': 'Annotator 2'}
    """
    return {name: f"Annotator {number}" for number, name in enumerate(names, 1)}


def blind_state(state: dict[str, Any]) -> dict[str, Any]:
    """Return the state of a document without names."""
    known = list(pseudonyms(state["annotators"]).values())
    return {**state, "annotators": known, "problem": blind_problem(state["problem"])}


def blind_problem(problem: str | None) -> str | None:
    """Return what is wrong with a file without names: where to find it out."""
    return None if problem is None else FAULTY


def blind_explanation(explanation: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """Return an explanation without names."""
    known = pseudonyms(names)
    votes = [{**vote, "annotator": known[vote["annotator"]]} for vote in explanation["votes"]]
    return {**explanation, "votes": votes}


def blind_card(card: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """Return a question without names."""
    known = pseudonyms(names)

    def hidden(group: list[str]) -> list[str]:
        return [known[name] for name in group]

    groups = ("says", "partly")
    choices = [{**choice, **{group: hidden(choice[group]) for group in groups}} for choice in card["choices"]]
    return {
        **card,
        "choices": choices,
        **{group: hidden(card[group]) for group in ("alone", "absent", "unseen")},
    }


def named(pseudonym: str, names: list[str]) -> str:
    """Return the name that a pseudonym stands for, since a page may hide names itself; any other stays.

    >>> named("Annotator 2", ["Ann", "Bob"])
    'Bob'
    """
    known = {pseudonym: name for name, pseudonym in pseudonyms(names).items()}
    return pseudonym if pseudonym in names else known.get(pseudonym, pseudonym)


def blind_steps(steps: list[Line]) -> list[Line]:
    """Return steps of a history without the names of annotators that were added, renamed or removed."""
    return [
        {**step, "label": step["label"].partition(":")[0]} if step["do"] == "annotators" else step
        for step in steps
    ]


def refuse_named(what: str) -> None:
    """Refuse to send something that names annotators."""
    raise OperationError(f"Names of annotators are hidden here, and {what} has them: it is not shown.")
