"""Read options: what a user may choose where a file leaves it open."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ReadOptions:
    """Which parts of a file to read."""

    layer: str | None = None
    """The chain layer, annotation set or markable level to read, where there are several."""
    relations: tuple[str, ...] = ()
    """The relation types that mean coreference; empty for all whose name says so."""
    unfinished: bool = False
    """Whether annotators of a project archive who have not finished are read, too."""
    allow_gold: bool = False
    """Whether golds of earlier adjudications may vote beside annotators."""
