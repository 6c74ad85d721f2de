"""Notes: what an adjudicator writes down beside decisions."""

from dataclasses import dataclass

from caspr.task.authorship import Authorship
from caspr.text.document import Span


@dataclass(frozen=True)
class Note:
    """A remark of the adjudicator; it changes no result."""

    text: str
    """Any text, of several lines if need be."""
    mention: Span | None = None
    """The mention it is about; none for the whole document."""
    made: Authorship | None = None
    """Who wrote it, and when, if that is known."""
