"""Renaming: chains of a result under the ids that a file used, where other things refer to them."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from caspr.document import Chain, Span


def keep_ids(
    chains: Sequence[Chain],
    known: Iterable[tuple[str, Span]],
    fresh: Iterator[str],
    writable: Callable[[str], bool],
) -> list[Chain]:
    """Give each chain the id of the file's chain with which it shares most mentions.

    A chain that shares none keeps its own id if that can be written and is free, and else gets a fresh one.
    """
    holders: dict[Span, list[str]] = {}
    for id, span in known:
        holders.setdefault(span, []).append(id)
    shared = sorted(
        (-times, id != chain.id, place, id)
        for place, chain in enumerate(chains)
        for id, times in Counter(id for span in chain.mentions for id in holders.get(span, ())).items()
    )
    names: dict[int, str] = {}
    taken: set[str] = set()
    for _, _, place, id in shared:
        if place not in names and id not in taken:
            names[place] = id
            taken.add(id)
    taken.update(id for ids in holders.values() for id in ids)
    for place, chain in enumerate(chains):
        if place not in names:
            own = writable(chain.id) and chain.id not in taken
            names[place] = chain.id if own else next(id for id in fresh if id not in taken)
            taken.add(names[place])
    return [Chain(names[place], chain.mentions) for place, chain in enumerate(chains)]
