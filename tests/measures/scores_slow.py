"""Every measure once more, slowly and straight from its definition, on chains of letters.

A chain is a string. Only `annotation` knows repetitions.
"""

from fractions import Fraction
from functools import cache
from itertools import combinations

from caspr.text.document import Annotation, Chain, Document, Span

Chains = list[str]
Numbers = tuple[Fraction, int]


def annotation(chains: Chains, name: str = "d") -> Annotation:
    """Make an annotation where every letter is a token; a capital repeats its small letter."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    given = [[(letters.index(letter.lower()) + 1,) * 2 for letter in chain] for chain in chains]
    document = Document(name, tuple(letters))
    made = Annotation.of("x", document, [Chain.of(str(number), spans) for number, spans in enumerate(given)])
    if len({letter.lower() for chain in chains for letter in chain}) == sum(map(len, chains)):
        return made
    as_given = tuple(tuple(Span(*span) for span in spans) for spans in given)
    return Annotation("x", document, made.chains, made.singletons, as_given=as_given)


def muc(one: Chains, other: Chains) -> Numbers:
    """Return numerator and denominator of MUC recall."""
    found, wanted = 0, 0
    for chain in one:
        parts = {next((n for n, c in enumerate(other) if letter in c), letter) for letter in chain}
        found += len(chain) - len(parts)
        wanted += len(chain) - 1
    return Fraction(found), wanted


def b3(one: Chains, other: Chains) -> Numbers:
    """Return numerator and denominator of B3 recall."""
    total = Fraction(0)
    for chain in one:
        for letter in chain:
            there = next((c for c in other if letter in c), "")
            total += Fraction(len(set(chain) & set(there)), len(chain))
    return total, sum(map(len, one))


def _assign(one: Chains, other: Chains, table: dict[tuple[str, str], Fraction]) -> Fraction:
    @cache
    def best(position: int, free: frozenset[int]) -> Fraction:
        if position == len(one):
            return Fraction(0)
        skipped = best(position + 1, free)
        return max(
            [skipped, *(table[one[position], other[n]] + best(position + 1, free - {n}) for n in free)]
        )

    return best(0, frozenset(range(len(other))))


def ceafm(one: Chains, other: Chains) -> Numbers:
    """Return numerator and denominator of CEAFm recall."""
    table = {(k, r): Fraction(len(set(k) & set(r))) for k in one for r in other}
    return _assign(one, other, table), sum(map(len, one))


def ceafe(one: Chains, other: Chains) -> Numbers:
    """Return numerator and denominator of CEAFe recall."""
    table = {(k, r): Fraction(2 * len(set(k) & set(r)), len(k) + len(r)) for k in one for r in other}
    return _assign(one, other, table), len(one)


def lea(one: Chains, other: Chains) -> Numbers:
    """Return numerator and denominator of LEA recall."""
    total = Fraction(0)
    for chain in one:
        links = [frozenset(pair) for pair in combinations(chain, 2)]
        found = sum(any(link <= set(c) for c in other) for link in links)
        if len(chain) == 1:
            links, found = [frozenset(chain)], int(chain in other)
        total += len(chain) * Fraction(found, len(links))
    return total, sum(map(len, one))


def blanc_links(chains: Chains) -> tuple[set[frozenset[str]], set[frozenset[str]]]:
    """Return all coreference and all non-coreference links."""
    linked = {frozenset(pair) for chain in chains for pair in combinations(chain, 2)}
    every = {frozenset(pair) for pair in combinations("".join(chains), 2)}
    return linked, every - linked


SLOW = {"muc": muc, "b3": b3, "ceafm": ceafm, "ceafe": ceafe, "lea": lea}
