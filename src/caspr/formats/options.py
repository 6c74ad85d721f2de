"""Read options: what a user may say about a file that the file leaves open."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ReadOptions:
    """Which of the things in a file to read."""

    layer: str | None = None
    """The chain layer, annotation set or markable level to read, where there are several."""
    relations: tuple[str, ...] = ()
    """The relation types that mean coreference; empty for all whose name says so."""
    unfinished: bool = False
    """Whether to take annotators who have not finished, from a project archive."""
