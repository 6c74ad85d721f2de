"""Entities: the name and the type that annotators gave to chains, voted for the chains of the gold.

    gold chain        {1, 4, 9}
    Ann's chain       {1, 4, 7}  called "Sir William"      2 shared mentions
    Bob's chain       {9}        called "William"          1 shared mention

1. An annotator's chain votes for its name with the mentions that it shares with the gold chain, times the
   weight of the annotator, and likewise for its type. A chain that is mostly about somebody else thus
   counts for as much as it is about this entity.
2. On a tie the value wins whose annotators weigh more together, then the first in alphabetical order: the
   order of files never matters.
3. A chain without a name votes for none: names are kept wherever anybody gave one.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from caspr.text.document import Annotation, Chain, Span
from caspr.text.findings import Finding, note, times

Ballots = Mapping[str, tuple[int, int]]
"""For each value its votes, and the weight of the annotators who gave it."""
_Holders = Mapping[Span, Sequence[tuple[int, Chain]]]
"""The chains that hold a mention, each with the number of its annotator."""


def name_entities(
    chains: Iterable[Chain], annotations: Sequence[Annotation], weights: Sequence[int] = ()
) -> tuple[Chain, ...]:
    """Give each chain the name and the type that annotators voted for; `weights` has one for each.

    >>> from caspr.text.document import Document
    >>> document = Document("d", ("a", "b", "c"))
    >>> one = Annotation.of("Ann", document, [Chain("1", (Span(1, 1), Span(2, 2)), "Sir William", "person")])
    >>> two = Annotation.of("Bob", document, [Chain("1", (Span(2, 2), Span(3, 3)), "William", "person")])
    >>> [gold] = name_entities([Chain.of("1", [(1, 1), (2, 2), (3, 3)])], [one, two])
    >>> gold.name, gold.type
    ('Sir William', 'person')
    """
    given = tuple(chains)
    holders = _holders(annotations)
    if not holders:
        return given
    counted = weights or (1,) * len(annotations)
    return tuple(
        replace(
            chain,
            name=winner(_ballots(chain, holders, counted, _name_of)),
            type=winner(_ballots(chain, holders, counted, _type_of)),
        )
        for chain in given
    )


def winner(ballots: Ballots) -> str:
    """Return the value with most votes, on a tie that of more weight, then the first by alphabet.

    >>> winner({"b": (2, 1), "a": (2, 1), "c": (1, 9)}), winner({})
    ('a', '')
    """
    return min(ballots, key=lambda value: (-ballots[value][0], -ballots[value][1], value), default="")


def entity_findings(chains: Iterable[Chain], annotations: Sequence[Annotation]) -> tuple[Finding, ...]:
    """Report the chains to which annotators gave different names, or different types."""
    holders = _holders(annotations)
    given = tuple(chains) if holders else ()
    found = []
    if disputed := _disputed(given, holders, len(annotations), _name_of):
        message = f"{_several(disputed)} different names; that with most votes is kept ({_example(disputed)})"
        found.append(note("different-names", message, count=len(disputed)))
    if disputed := _disputed(given, holders, len(annotations), _type_of):
        message = f"{_several(disputed)} different types; that with most votes is kept ({_example(disputed)})"
        found.append(note("different-types", message, count=len(disputed)))
    return tuple(found)


def _disputed(
    chains: Iterable[Chain], holders: _Holders, annotators: int, value_of: Callable[[Chain], str]
) -> list[tuple[Chain, list[str]]]:
    """List the chains for which annotators gave several values, with these."""
    every = ((chain, sorted(_ballots(chain, holders, (1,) * annotators, value_of))) for chain in chains)
    return [(chain, values) for chain, values in every if len(values) > 1]


def _several(disputed: Sequence[tuple[Chain, list[str]]]) -> str:
    return f"{times(len(disputed), 'entity', 'entities')} to which annotators gave"


def _example(disputed: Sequence[tuple[Chain, list[str]]]) -> str:
    chain, values = disputed[0]
    return f"first: chain {chain.id}, {', '.join(map(repr, values[:3]))}"


def _holders(annotations: Sequence[Annotation]) -> _Holders:
    holders: dict[Span, list[tuple[int, Chain]]] = defaultdict(list)
    for number, annotation in enumerate(annotations):
        for chain in annotation.all_chains:
            if chain.name or chain.type:
                for span in chain.mentions:
                    holders[span].append((number, chain))
    return holders


def _ballots(
    chain: Chain, holders: _Holders, weights: Sequence[int], value_of: Callable[[Chain], str]
) -> dict[str, tuple[int, int]]:
    votes: dict[str, int] = defaultdict(int)
    voters: dict[str, set[int]] = defaultdict(set)
    for number, value in _shared(chain, holders, value_of):
        votes[value] += weights[number]
        voters[value].add(number)
    return {value: (votes[value], sum(weights[number] for number in voters[value])) for value in votes}


def _shared(chain: Chain, holders: _Holders, value_of: Callable[[Chain], str]) -> Iterator[tuple[int, str]]:
    """Yield annotator and value once for each mention that a chain of the annotator shares."""
    for span in chain.mentions:
        for number, other in holders.get(span, ()):
            if value := value_of(other):
                yield number, value


def _name_of(chain: Chain) -> str:
    return chain.name


def _type_of(chain: Chain) -> str:
    return chain.type
