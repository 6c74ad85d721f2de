"""One document of a review file, and the line that every one begins with."""

from collections.abc import Mapping
from dataclasses import dataclass

from caspr.result import Result
from caspr.task.decisions import Decisions
from caspr.task.notes import Note
from caspr.task.settings.stored import write_settings
from caspr.text.document import Annotation

OLDEST = 1
"""The oldest version that is read."""
HEADER = "# caspr review:"


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


def review_of(result: Result, gold: Annotation) -> Review:
    """Make the review of a result: the annotators' own boundaries, decisions, concrete settings."""
    given = result.given
    assert given is not None  # only a program that makes results by hand leaves it out
    return Review(gold, given.annotations, given.decisions, write_settings(given.settings))
