"""What `caspr check` found, in words for people who click: files, documents, annotators, and what to do."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from caspr.review.server.responses import FORMAT_NAMES

REMEDIES: Mapping[str, str] = {
    "missing-annotation": "Add the missing files, or go on. If the names of the texts differ between the "
    "files, make them equal.",
    "single-annotation": "Add the files of a second annotator, or go on without this text.",
    "second-file": "Remove the file that should not count.",
    "empty-annotation": "If this annotator never worked on the text, remove the file: an empty one counts as "
    "a vote against everything.",
    "partial-coverage": "If this annotator did not read that part, answer the first question on the next "
    "page with “No, some read only a part of a text”.",
    "marks-outside-coverage": "Correct the table of who saw what.",
    "unused-coverage": "Correct the name in the table of who saw what.",
    "copied-annotations": "To take one away, choose “Change the files” below.",
    "near-copies": "To take one away, choose “Change the files” below.",
    "unread-files": "If one of these files is an annotator's work, export it from your tool in a format that "
    "CaspR reads, and add it again. Otherwise you need not do anything.",
    "unfinished": "Let them finish, and export the project again. They are left out for now.",
    "unknown-states": "Add the exported project as it is, without unpacking it.",
    "missing-file": "Export the project again with the secondary format UIMA CAS XMI (XML 1.0).",
    "no-links": "Check that these are the annotated files, and not the texts alone.",
    "span-in-two-chains": "Correct it in your annotation tool if it is a slip. You can go on: in the result, "
    "a mention belongs to one entity.",
    "repeated-mention": "You need not do anything: it counts once.",
    "discontinuous-mention": "You need not do anything; look at these mentions in the result.",
    "negative-weight": "Look at this annotator's work: perhaps the files belong to another text.",
    "different-columns": "You need not do anything, unless another annotator's file has the right columns.",
    "ragged-rows": "Look at the file in an editor: a column may be missing there.",
    "empty-cell": "Look at the file in an editor: a cell of the last column may be missing there.",
    "older-annotations": "The last one counts. If another should count, delete the last one in your tool.",
    "missing-field": "You need not do anything if this text has no annotations.",
    "homeless-mentions": "Give these mentions an entity in CorefAnnotator, if they matter.",
    "unindexed-link": "Open the file in your annotation tool and save it again.",
    "comment-in-document": "You need not do anything, unless the line should be a word of the text.",
    "unended-sentence": "Look at the end of the file: it may be cut off.",
    "text-mismatch": "Check that the text and its annotations belong together.",
    "unreachable-link": "Open the file in your annotation tool and save it again.",
    "contradicting-copy": "Look at the file in your annotation tool.",
    "one-sided-matches": "Look at these relations in your annotation tool.",
    "missing-matches": "Look at these relations in your annotation tool.",
    "unread-relations": "If they mean that two mentions refer to the same thing, ask somebody who uses the "
    "command line: `caspr check --relation NAME` reads them.",
    "unsure-places": "Look at these mentions in the result.",
    "relations-without-number": "Look at these relations in your annotation tool.",
    "unknown-copy": "Open the file in your annotation tool and save it again.",
    "boundary-variants": "The second question on the next page is about them: they become one mention each, "
    "unless you answer it otherwise.",
}
"""What to do on the page about a finding, by its code."""
NOTHING = "You need not do anything."
"""What to do about a finding without a remedy of its own, as most notes are."""


@dataclass(frozen=True)
class Noticed:
    """Something that was noticed, with its remedy."""

    code: str
    where: str
    message: str
    remedy: str
    is_warning: bool


@dataclass(frozen=True)
class Annotator:
    """One annotator over all documents."""

    name: str
    documents: int
    mentions: int
    entities: int
    format: str


@dataclass(frozen=True)
class Recognised:
    """What the annotators' files hold."""

    documents: tuple[Mapping[str, Any], ...] = ()
    annotators: tuple[Annotator, ...] = ()
    noticed: tuple[Noticed, ...] = ()
    is_shared_out: bool = False
    """Whether annotators in groups have texts of their own."""
    error: str = ""
    """Why it cannot go on with these files; empty if it can."""

    @property
    def codes(self) -> frozenset[str]:
        """What was noticed, by code."""
        return frozenset(each.code for each in self.noticed)


def recognised(summary: Mapping[str, Any], error: str = "") -> Recognised:
    """Return in words what `caspr check --json` wrote."""
    documents = tuple(summary.get("documents", ()))
    findings = [
        *((document["name"], finding) for document in documents for finding in document["findings"]),
        *(("", finding) for finding in summary.get("findings", ())),
    ]
    is_shared_out = _is_shared_out(documents)
    if is_shared_out:
        findings = [(title, each) for title, each in findings if each["code"] != "missing-annotation"]
    noticed = tuple(_noticed(title if len(documents) > 1 else "", finding) for title, finding in findings)
    return Recognised(
        documents,
        tuple(_annotators(documents)),
        tuple(sorted(noticed, key=lambda each: not each.is_warning)),
        is_shared_out,
        error,
    )


def _is_shared_out(documents: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether annotators in groups have texts of their own, so that no file is likely to be missing.

    >>> one, two = ({"name": name, "annotators": [{"name": f"{name}{n}"} for n in "ab"]} for name in "xy")
    >>> _is_shared_out([one, two]), _is_shared_out([one, one])
    (True, False)
    """
    documents = list(documents)
    titles = {str(document["name"]).casefold() for document in documents}
    groups = {frozenset(each["name"] for each in document["annotators"]) for document in documents}
    people = frozenset[str]().union(*groups)
    is_disjoint = sum(map(len, groups)) == len(people)
    return len(groups) > 1 and is_disjoint and min(map(len, groups)) > 1 and len(titles) == len(documents)


def _noticed(title: str, finding: Mapping[str, Any]) -> Noticed:
    message = str(finding["message"])
    where = ", ".join(dict.fromkeys(part for part in (title, str(finding["where"])) if part))
    code, is_warning = str(finding["code"]), finding["severity"] == "warning"
    return Noticed(code, where, _sentence(message), REMEDIES.get(code, NOTHING), is_warning)


def _sentence(message: str) -> str:
    """Begin a message with a capital letter, and end it.

    >>> _sentence("12 mentions are odd"), _sentence("is this right?")
    ('12 mentions are odd.', 'Is this right?')
    """
    return f"{message[:1].upper()}{message[1:]}{'' if message.endswith(('.', '?', '!')) else '.'}"


def _annotators(documents: Iterable[Mapping[str, Any]]) -> Iterable[Annotator]:
    work: dict[str, list[Mapping[str, Any]]] = {}
    for document in documents:
        for annotator in document["annotators"]:
            work.setdefault(annotator["name"], []).append(annotator)
    for name, each in work.items():
        mentions = sum(entry["mentions"] + entry["singletons"] for entry in each)
        entities = sum(entry["chains"] + entry["singletons"] for entry in each)
        formats = ", ".join(
            dict.fromkeys(FORMAT_NAMES.get(entry["format"], entry["format"]) for entry in each)
        )
        yield Annotator(name, len(each), mentions, entities, formats)
