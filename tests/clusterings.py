"""All ways to cluster a few nodes, for brute force."""

from collections.abc import Iterator


def every_clustering(size: int) -> Iterator[list[int]]:
    """Yield the labels of every clustering once, each cluster numbered by its first node."""
    if not size:
        yield []
        return
    for labels in every_clustering(size - 1):
        for label in range(max(labels, default=-1) + 2):
            yield [*labels, label]
