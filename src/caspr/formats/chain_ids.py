"""Ids of chains: those that a file used, where other things refer to them, or plain ones."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count

from caspr.text.document import Annotation, Chain, Span
from caspr.text.grouping import match_one_to_one

_PLAIN = re.compile(r"[A-Za-z0-9_.:]+(?:-[A-Za-z0-9_.:]+)*")


def plain_ids(annotation: Annotation) -> Annotation:
    """Number the chains whose ids other formats might not be able to write.

    >>> from caspr.text.document import Document
    >>> chains = [Chain.of("e1", [(1, 1)]), Chain.of("a (b)", [(2, 2)])]
    >>> [chain.id for chain in plain_ids(Annotation.of("a", Document("d", ("x", "y")), chains)).singletons]
    ['e1', '1']
    """
    used = {chain.id for chain in annotation.all_chains if _PLAIN.fullmatch(chain.id)}
    fresh = (str(number) for number in count(1) if str(number) not in used)
    chains = [chain if chain.id in used else chain.called(next(fresh)) for chain in annotation.all_chains]
    return annotation.with_chains(chains)


def numbered(chains: Sequence[Chain], writable: Callable[[str], bool]) -> list[Chain]:
    """Number the chains whose ids cannot be written, and keep those ids as names where there is no other.

    >>> numbered([Chain.of("1", [(1, 1)]), Chain.of("T1", [(2, 2)])], str.isdecimal)[1].id
    '2'
    """
    used = {chain.id for chain in chains if writable(chain.id)}
    fresh = (str(number) for number in count(1) if str(number) not in used)
    return [
        chain if chain.id in used else Chain(next(fresh), chain.mentions, chain.name or chain.id, chain.type)
        for chain in chains
    ]


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
    names = match_one_to_one((place, id) for _, _, place, id in shared)
    taken = {id for ids in holders.values() for id in ids}
    for place, chain in enumerate(chains):
        if place not in names:
            own = writable(chain.id) and chain.id not in taken
            names[place] = chain.id if own else next(id for id in fresh if id not in taken)
            taken.add(names[place])
    return [chain.called(names[place]) for place, chain in enumerate(chains)]
