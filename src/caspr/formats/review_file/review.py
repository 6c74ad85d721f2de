"""One document of a review file, and the line that every one begins with."""

from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from caspr.errors import InputError
from caspr.files import read_bytes
from caspr.formats.review_file.authors import NOBODY, Authors
from caspr.result import Result
from caspr.task.decisions import Decisions
from caspr.task.notes import Note
from caspr.task.settings.stored import write_settings
from caspr.text.document import Annotation, Span
from caspr.text.findings import Finding, warning

OLDEST = 1
"""The oldest version that is read."""
HEADER = "# caspr review:"
EXAMINED = 1_000_000
"""In how many bytes from its beginning a review file has its first header."""


@dataclass(frozen=True)
class Review:
    """One document of a review file."""

    gold: Annotation
    """The result. Without chains when read from a file: it is computed anew from the rest."""
    annotations: tuple[Annotation, ...]
    """The work of the annotators, over one shared document."""
    decisions: Decisions
    """What the adjudicator enforced."""
    settings: Mapping[str, object]
    """How the result was computed, in terms of JSON."""
    notes: tuple[Note, ...] = ()
    """What the adjudicator noted."""
    authors: Authors = NOBODY
    """Who made the decisions, and when, as far as that is known."""
    shown: Mapping[str, tuple[Span, ...]] = field(default_factory=dict, compare=False)
    """Of each id in enforced cells, the mentions that the file shows under it and does not enforce."""


def is_review(path: Path) -> bool:
    """Return whether a file is a review file."""
    if not path.is_file():
        return False
    try:
        head = read_bytes(path, EXAMINED)
    except InputError:
        return False
    return any(line.startswith(HEADER.encode()) for line in head.removeprefix(BOM_UTF8).split(b"\n"))


def review_of(result: Result, gold: Annotation) -> Review:
    """Make the review of a result: the annotators' own boundaries, decisions, concrete settings."""
    given = result.given
    assert given is not None  # only a program that makes results by hand leaves it out
    return Review(gold, given.annotations, given.decisions, write_settings(given.settings))


def strayed_ids(
    result: Result, decisions: Decisions, shown: Mapping[str, tuple[Span, ...]]
) -> Iterator[Finding]:
    """Warn of ids that one mention has in enforced cells, and another chain had in the file.

    To write `=(7)` at one mention says that its chain is called 7, not that it is the chain called 7 so far.
    Several mentions under one id are put together by it, whatever the id.
    """
    chains = {chain.id: frozenset(chain.mentions) for chain in result.gold.all_chains}
    for chain in decisions.chains:
        before = shown.get(chain.id, ())
        if (
            len(chain.mentions) > 1
            or not before
            or not chains.get(chain.id, frozenset(before)).isdisjoint(before)
        ):
            continue
        document = result.document
        words, other = (
            f"'{document.text(one[0])}' at {document.place(one[0].start)}" for one in (chain.mentions, before)
        )
        message = (
            f"{chain.id} is enforced for one mention only ({words}), whose chain is not the one that the "
            f"file showed as {chain.id} ({other}): if it should be, put `=` before the cells of one of that "
            "chain's mentions, too"
        )
        yield warning("id-of-another-chain", message, where=document.title)
