"""Scores: how close a response comes to a key, by every measure of `SCORES`.

A measure is a function from an `Alignment` to `Counts`; to add one, write it and name it in `SCORES`. Counts
are exact and are summed over documents before anything is divided, as the reference scorer does. With R and P

    F1 = 2 R P / (R + P),    0 where R + P = 0.

Where one side is empty its ratio is 0/0 and counts as 0, as in the reference scorer. Where both are,
nothing was measured: F1 is undefined, `None`.

**Mentions**: which were found, whatever their chains. Each span counts once, also where the response repeats
it.

    R = |mentions of both| / |mentions of the key|,   P = |mentions of both| / |mentions of the response|

**MUC** (Vilain et al. 1995): how many links are missing to connect each chain. A chain of n mentions needs
n - 1 links. The response cuts a key chain k into parts, one for each response chain it shares mentions with
and one for each mention the response lacks:

    R = sum over k of (|k| - parts of k) / sum over k of (|k| - 1),

and P is the same with the sides exchanged. Both numerators are the sum of (|k & r| - 1) over all pairs of
chains that share mentions. Chains of one have no links: where there are only such, MUC is undefined.

**B-cubed** (Bagga and Baldwin 1998): for each mention, how much of its chain is there. A key mention in key
chain k and response chain r scores |k & r| / |k|, one the response lacks 0:

    R = sum over k, r of |k & r|^2 / |k|, divided by the number of key mentions,

and P is the same with the sides exchanged.

**CEAF** (Luo 2005): the best one-to-one map between key chains and response chains. With a similarity phi of
two chains, S is the largest sum of phi over all maps, and

    R = S / sum over k of phi(k, k),   P = S / sum over r of phi(r, r).

    CEAFm   phi(k, r) = |k & r|,                    so phi(k, k) = |k|
    CEAFe   phi(k, r) = 2 |k & r| / (|k| + |r|),    so phi(k, k) = 1

Chains that share no mention are never worth mapping. The map is chosen in floating point
(`assignment.map_one_to_one`); its sum is then taken exactly.

**BLANC** as the reference scorer v8.01 has it (Recasens and Hovy 2011; Luo et al. 2014 for own mentions).
Every pair of mentions of one side is a coreference link or a non-coreference link. For both kinds

    R = links of both sides / links of the key,   P = links of both sides / links of the response,

and BLANC is the mean of the two kinds, for R, P and F1 alike. Documents are pooled by adding the eight
counts. Where the *key* has no links of one kind, only the other kind counts; a ratio 0/0 is 0. Where neither
side has any pair of mentions, BLANC is undefined.

**LEA** (Moosavi and Strube 2016): how important each entity is, and how much of it is resolved. A chain of n
mentions has importance n and n (n - 1) / 2 links; a chain of one has one link, to itself, which is found only
if the mention is alone on the other side too.

    R = sum over k of |k| * (links of k within response chains) / (links of k), divided by sum of |k|,

and P is the same with the sides exchanged. The reference scorer v8.01 does not have this measure; it is
computed as the authors' own scorer does.

Files with trees, CorefUD's, have mentions with heads, gaps and empty nodes: `tree_matching` matches them as
corefud-scorer does, and has two more measures, MOR and the score of zeros.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import combinations
from operator import add
from typing import TYPE_CHECKING, Any

from caspr.errors import ArgumentError, InputError
from caspr.measures.assignment import map_one_to_one
from caspr.measures.matching import (
    Alignment,
    Chains,
    add_fractions,
    align,
    count_pairs,
    singletons_count,
)
from caspr.measures.tree_matching import align_trees, count_zero_anaphors, has_trees, shared_words
from caspr.notebook_methods import above
from caspr.text.arguments import annotations_of
from caspr.text.checks import refuse_document_twice
from caspr.text.document import Annotation, Document
from caspr.text.findings import Finding, times, warning
from caspr.text.trees import is_empty

if TYPE_CHECKING:
    from pandas import DataFrame

CONLL = ("muc", "b3", "ceafe")
"""The measures whose mean F1 is the CoNLL score."""
TITLES = {
    "mentions": "mentions",
    "muc": "MUC",
    "b3": "B3",
    "ceafm": "CEAFm",
    "ceafe": "CEAFe",
    "blanc": "BLANC",
    "lea": "LEA",
    "conll": "CoNLL",
    "mor": "MOR",
    "zeros": "zeros",
}
"""The names of the measures in tables."""
DEFINITION = "BLANC of the reference scorer v8.01 (Luo et al. 2014)"
"""Which of the published definitions this is."""


@dataclass(frozen=True)
class Ratio:
    """A share: a part of a whole."""

    part: Fraction = Fraction(0)
    """Whole where mentions or links are counted."""
    whole: int = 0
    """0 where there is nothing to have a share of."""

    def __add__(self, other: "Ratio") -> "Ratio":
        """Pool two documents."""
        return Ratio(self.part + other.part, self.whole + other.whole)

    @property
    def value(self) -> Fraction | None:
        """The share, or `None` for 0/0."""
        return self.part / self.whole if self.whole else None

    def values(self) -> list[int]:
        """Return numerator and denominator as whole numbers.

        >>> Ratio(Fraction(7, 3), 6).values(), Ratio(Fraction(2), 4).values()
        ([7, 18], [2, 4])
        """
        return [self.part.numerator, self.part.denominator * self.whole]


def ratio(part: Fraction | int, whole: int) -> Ratio:
    """Make a ratio of any exact number and a whole one."""
    return Ratio(Fraction(part), whole)


@dataclass(frozen=True)
class RecallPrecision:
    """The counts of all measures but BLANC."""

    recall: Ratio = Ratio()
    """The share of the key that the response has."""
    precision: Ratio = Ratio()
    """The share of the response that the key has."""

    def __add__(self, other: "RecallPrecision") -> "RecallPrecision":
        """Pool two documents."""
        return RecallPrecision(self.recall + other.recall, self.precision + other.precision)

    def reversed(self) -> "RecallPrecision":
        """Return the counts with key and response exchanged."""
        return RecallPrecision(recall=self.precision, precision=self.recall)

    @property
    def f1(self) -> Fraction | None:
        """The harmonic mean.

        >>> RecallPrecision(ratio(1, 3), ratio(1, 1)).f1
        Fraction(1, 2)
        >>> RecallPrecision(ratio(0, 0), ratio(0, 2)).f1, RecallPrecision().f1
        (Fraction(0, 1), None)
        """
        return harmonic_mean(self.recall.value, self.precision.value)

    def values(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {"recall": self.recall.values(), "precision": self.precision.values(), "f1": decimal(self.f1)}


def harmonic_mean(x: Fraction | None, y: Fraction | None) -> Fraction | None:
    """Return 2xy / (x + y), counting one undefined number as 0."""
    if x is None and y is None:
        return None
    return 2 * x * y / (x + y) if x and y else Fraction(0)


def decimal(exact: Fraction | None) -> float | None:
    """Return the nearest floating point number."""
    return None if exact is None else float(exact)


def count_mentions(alignment: Alignment) -> RecallPrecision:
    """Count the mentions of one document.

    >>> count_mentions(Alignment(key=((1, 2), (3, 4)), response=((2, 3, 5),)))
    RecallPrecision(recall=Ratio(part=Fraction(2, 1), whole=4), ...)
    """
    common = alignment.common
    return RecallPrecision(
        ratio(common, _distinct(alignment.key)), ratio(common, _distinct(alignment.response))
    )


def _distinct(chains: Chains) -> int:
    return len(set().union(*chains))


def count_muc(alignment: Alignment) -> RecallPrecision:
    """Count the links of one document."""
    common = sum(size - 1 for size in alignment.overlaps.values())
    return RecallPrecision(
        ratio(common, _spanning_links(alignment.key)), ratio(common, _spanning_links(alignment.response))
    )


def _spanning_links(chains: Chains) -> int:
    return sum(len(chain) - 1 for chain in chains)


def count_b3(alignment: Alignment) -> RecallPrecision:
    """Add up the mentions of one document."""
    by_key: Counter[int] = Counter()
    by_response: Counter[int] = Counter()
    for (chain, twin), size in alignment.overlaps.items():
        by_key[len(alignment.key[chain])] += size * size
        by_response[len(alignment.response[twin])] += size * size
    return RecallPrecision(
        ratio(add_fractions(by_key), sum(map(len, alignment.key))),
        ratio(add_fractions(by_response), sum(map(len, alignment.response))),
    )


def count_ceafm(alignment: Alignment) -> RecallPrecision:
    """Count CEAFm in one document."""
    best = _best(alignment, lambda size, _key, _response: (size, 1))
    key, response = alignment.key, alignment.response
    return RecallPrecision(ratio(best, sum(map(len, key))), ratio(best, sum(map(len, response))))


def count_ceafe(alignment: Alignment) -> RecallPrecision:
    """Count CEAFe in one document."""
    best = _best(alignment, lambda size, key, response: (2 * size, key + response))
    return RecallPrecision(ratio(best, len(alignment.key)), ratio(best, len(alignment.response)))


def _best(alignment: Alignment, phi: Callable[[int, int, int], tuple[int, int]]) -> Fraction:
    """Return the largest sum of similarities, each a part and a whole, over all maps."""
    similar = {
        (chain, twin): phi(size, len(alignment.key[chain]), len(alignment.response[twin]))
        for (chain, twin), size in alignment.overlaps.items()
    }
    best: Counter[int] = Counter()
    for pair in map_one_to_one({pair: part / whole for pair, (part, whole) in similar.items()}):
        part, whole = similar[pair]
        best[whole] += part
    return add_fractions(best)


@dataclass(frozen=True)
class Blanc:
    """The eight counts of BLANC."""

    coreference: RecallPrecision
    """Pairs in one chain."""
    non_coreference: RecallPrecision
    """Pairs in two chains."""
    of_either: bool = False
    """Whether a kind counts that only the response has, as in corefud-scorer."""

    def __add__(self, other: "Blanc") -> "Blanc":
        """Pool two documents."""
        return replace(
            self,
            coreference=self.coreference + other.coreference,
            non_coreference=self.non_coreference + other.non_coreference,
        )

    def reversed(self) -> "Blanc":
        """Return the counts with key and response exchanged; F1 counts the kinds that the new key has."""
        swapped = self.coreference.reversed(), self.non_coreference.reversed()
        return replace(self, coreference=swapped[0], non_coreference=swapped[1])

    @property
    def kinds(self) -> list[RecallPrecision]:
        """The kinds of links that the key has."""
        return [
            kind
            for kind in (self.coreference, self.non_coreference)
            if kind.recall.whole or (self.of_either and kind.precision.whole)
        ]

    @property
    def recall(self) -> Ratio:
        """The mean recall of both kinds."""
        return _mean(kind.recall.value for kind in self.kinds)

    @property
    def precision(self) -> Ratio:
        """The mean precision of both kinds; 0/0 counts as 0."""
        if not self.kinds:
            return ratio(0, 1 if self._answered else 0)
        return _mean(kind.precision.value for kind in self.kinds)

    @property
    def f1(self) -> Fraction | None:
        """The mean F1 of both kinds."""
        if not self.kinds:
            return Fraction(0) if self._answered else None
        return _mean(kind.f1 for kind in self.kinds).value

    def values(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            "definition": DEFINITION,
            "links": {
                "coreference": _counts(self.coreference),
                "non_coreference": _counts(self.non_coreference),
            },
            "recall": self.recall.values(),
            "precision": self.precision.values(),
            "f1": decimal(self.f1),
        }

    @property
    def _answered(self) -> bool:
        return bool(self.coreference.precision.whole or self.non_coreference.precision.whole)


Counts = RecallPrecision | Blanc
"""What a measure returns for one document, and for many by adding."""


def count_blanc(alignment: Alignment) -> Blanc:
    """Count the links of one document.

    >>> blanc = count_blanc(Alignment(key=((1, 2), (3, 4, 5)), response=((2, 3, 6), (4, 5))))
    >>> blanc.values()["links"]["coreference"], blanc.f1
    ({'recall': [1, 4], 'precision': [1, 4]}, Fraction(7, 24))
    """
    linked, apart = _common(alignment)
    key_linked, key_apart = _links(alignment.key)
    linked_too, apart_too = _links(alignment.response)
    return Blanc(
        RecallPrecision(ratio(linked, key_linked), ratio(linked, linked_too)),
        RecallPrecision(ratio(apart, key_apart), ratio(apart, apart_too)),
    )


def _links(chains: Chains) -> tuple[int, int]:
    """Count the distinct pairs in one chain, and in two, of chains in which spans may be repeated.

    As in the reference scorer, a span makes a pair with its own repetition, and a pair can be of both
    kinds. Only repeated spans need looking at one by one.
    """
    if _distinct(chains) == sum(map(len, chains)):
        linked = sum(count_pairs(len(chain)) for chain in chains)
        return linked, count_pairs(sum(map(len, chains))) - linked
    holders: dict[Any, set[int]] = {}
    for number, chain in enumerate(chains):
        for span in chain:
            holders.setdefault(span, set()).add(number)
    alone = Counter(next(iter(numbers)) for numbers in holders.values() if len(numbers) == 1)
    several = [numbers for numbers in holders.values() if len(numbers) > 1]
    with_itself = {span for chain in chains for span, times in Counter(chain).items() if times > 1}
    linked = sum(count_pairs(size) for size in alone.values()) + len(with_itself)
    linked += sum(alone[number] for numbers in several for number in numbers)
    linked += sum(not first.isdisjoint(second) for first, second in combinations(several, 2))
    apart = count_pairs(len(holders)) - sum(count_pairs(size) for size in alone.values()) + len(several)
    return linked, apart


def _common(alignment: Alignment) -> tuple[int, int]:
    """Count the pairs that are in one chain on both sides, and those that are in two on both."""
    in_key: Counter[int] = Counter()
    in_response: Counter[int] = Counter()
    for (chain, twin), size in alignment.overlaps.items():
        in_key[chain] += size
        in_response[twin] += size
    linked = sum(map(count_pairs, alignment.overlaps.values()))
    in_one = sum(map(count_pairs, in_key.values())) + sum(map(count_pairs, in_response.values()))
    return linked, count_pairs(alignment.common) - in_one + linked


def _mean(numbers: Iterable[Fraction | None]) -> Ratio:
    """Return the mean as one ratio, undefined numbers counting as 0."""
    known = [number or Fraction(0) for number in numbers]
    mean = sum(known, Fraction(0)) / len(known) if known else Fraction(0)
    return ratio(mean.numerator, mean.denominator if known else 0)


def _counts(kind: RecallPrecision) -> dict[str, list[int]]:
    return {"recall": kind.recall.values(), "precision": kind.precision.values()}


def count_lea(alignment: Alignment) -> RecallPrecision:
    """Add up the entities of one document."""
    by_key: Counter[int] = Counter()
    by_response: Counter[int] = Counter()
    for (chain, twin), size in alignment.overlaps.items():
        n, m = len(alignment.key[chain]), len(alignment.response[twin])
        alone = n == m == 1
        # n * (size choose 2) / (n choose 2) = size * (size - 1) / (n - 1)
        by_key[max(n - 1, 1)] += 1 if alone else size * (size - 1)
        by_response[max(m - 1, 1)] += 1 if alone else size * (size - 1)
    return RecallPrecision(
        ratio(add_fractions(by_key), sum(map(len, alignment.key))),
        ratio(add_fractions(by_response), sum(map(len, alignment.response))),
    )


SCORES: Mapping[str, Callable[..., Counts]] = {
    "mentions": count_mentions,
    "muc": count_muc,
    "b3": count_b3,
    "ceafm": count_ceafm,
    "ceafe": count_ceafe,
    "blanc": count_blanc,
    "lea": count_lea,
}
"""All measures by name."""
_BY_SIDE = ("mentions", "muc", "b3", "lea")
"""Those whose recall asks only for the matches of the key's mentions, and precision for the response's."""
MATCHES = ("exact", "head", "partial", "overlap")
"""How mentions can match; `head` and `partial` need files with trees."""


def _count_trees(
    key: Annotation, response: Annotation | None, match: str, *, singletons: bool
) -> dict[str, Counts]:
    """Count all measures of one document with trees."""
    aligned = align_trees(key, response, match=match, singletons=singletons)
    counts = {measure: count(aligned.forward) for measure, count in SCORES.items()}
    for measure in _BY_SIDE:
        counts[measure] = RecallPrecision(counts[measure].recall, SCORES[measure](aligned.backward).precision)
    for measure in ("ceafm", "ceafe"):
        counts[measure] = SCORES[measure](aligned.everywhere)
    counts["blanc"] = replace(count_blanc(aligned.forward), of_either=True)
    words, of_key, of_response = shared_words(aligned)
    counts["mor"] = RecallPrecision(ratio(words, of_key), ratio(words, of_response))
    zeros = count_zero_anaphors(aligned)
    linked = zeros.found + zeros.wrong
    counts["zeros"] = RecallPrecision(
        ratio(zeros.found, linked + zeros.missed), ratio(zeros.found, linked + zeros.invented)
    )
    return counts


@dataclass(frozen=True)
class Scores:
    """All measures of a response, pooled over documents."""

    counts: Mapping[str, Counts]
    documents: tuple[tuple[str, "Scores"], ...] = ()
    """The scores of each document by title, where there were any documents."""
    findings: tuple[Finding, ...] = ()
    singletons: bool = True
    match: str = "exact"
    """Which mentions match."""

    def __repr__(self) -> str:
        """Summarise the scores in one line."""
        conll = "undefined" if self.conll is None else f"{float(self.conll):.3f}"
        return f"<Scores of {times(len(self.documents) or 1, 'document')}: CoNLL {conll}>"

    @property
    def conll(self) -> Fraction | None:
        """The mean F1 of MUC, B3 and CEAFe; undefined where one of them is."""
        return self.f1("conll")

    def f1(self, measure: str) -> Fraction | None:
        """Return F1 of a measure, `conll` included."""
        if measure != "conll":
            return self.counts[measure].f1
        known = [f1 for name in CONLL if (f1 := self.counts[name].f1) is not None]
        return sum(known, Fraction(0)) / len(CONLL) if len(known) == len(CONLL) else None

    def reversed(self) -> "Scores":
        """Return the measures with key and response exchanged, without documents and findings."""
        counts = {measure: counts.reversed() for measure, counts in self.counts.items()}
        return Scores(counts, singletons=self.singletons, match=self.match)

    def to_frame(self) -> "DataFrame":
        """Return a pandas DataFrame with a row for each measure."""
        return above("scores_frame")(self)

    def values(self) -> dict[str, Any]:
        """Return everything but the single documents as JSON values."""
        measured = {name: counts.values() for name, counts in self.counts.items()}
        return {**measured, "conll": {"f1": decimal(self.conll)}}


Side = Mapping[tuple[str, str | None], Annotation]
"""The documents of the key or of the response."""


def score(
    key: Iterable[Annotation],
    response: Iterable[Annotation],
    *,
    singletons: bool | None = True,
    match: str = "exact",
    trees: bool = True,
) -> Scores:
    """Score the documents of a response against those of a key.

    A document the response lacks counts as one without mentions; one the key lacks is left out, as in the
    reference scorer. Both are said in findings. Chains of one count as in the reference scorer; never, or
    where both sides have some (`None`), if `singletons` says so. `match` says which
    mentions match (`MATCHES`). Without `trees`, spans are compared even where files have trees: so are
    those of annotators, whose texts were aligned.
    """
    if match not in MATCHES:
        raise ArgumentError(f"match: found {match!r}, expected one of {', '.join(MATCHES)}")
    right, answer = (_by_key(annotations_of(side, "caspr.score")) for side in (key, response))
    if not right.keys() & answer.keys():
        names = [", ".join(side[name].document.title for name in side)[:100] for side in (right, answer)]
        raise InputError(
            f"key and response have no document in common: the key has {names[0]}, the response {names[1]}. "
            "Documents are matched by name; one that is not named in its file is called after the file"
        )
    alone = singletons_count((right.values(), answer.values()), singletons)
    pairs = [(annotation, answer.get(name)) for name, annotation in right.items()]
    count = _count_trees if trees and _uses_trees(pairs, match) else _count
    documents = [
        (pair[0].document.title, Scores(count(*pair, match, singletons=alone), singletons=alone))
        for pair in pairs
    ]
    findings = (*_missing(right, answer), *_different_words(right, answer))
    return Scores(pool([scores.counts for _, scores in documents]), tuple(documents), findings, alone, match)


def _uses_trees(pairs: Sequence[tuple[Annotation, Annotation | None]], match: str) -> bool:
    """Return whether trees say which mentions match: where all documents have them."""
    without = next((key for key, response in pairs if not has_trees(key, response)), None)
    if match in ("head", "partial") and without is not None:
        raise InputError(
            f"document '{without.document.title}' has no dependency trees: matching by {match} needs CorefUD "
            "files on both sides, in which mentions have heads"
        )
    return match != "overlap" and without is None


def _count(
    key: Annotation, response: Annotation | None, match: str, *, singletons: bool
) -> dict[str, Counts]:
    """Count all measures of one document without trees."""
    _refuse_different_lengths(key, response)
    aligned = align(key, response, singletons=singletons, overlap=match == "overlap")
    return {measure: count(aligned) for measure, count in SCORES.items()}


def _by_key(annotations: Iterable[Annotation]) -> dict[tuple[str, str | None], Annotation]:
    """Return the documents of one side; refuse a folder of several annotators, of whom one would count."""
    side = list(annotations)
    refuse_document_twice(
        side, "give one annotator's file or folder at a time; `caspr agreement` compares several annotators"
    )
    return {annotation.document.key: annotation for annotation in side}


def pool(documents: Sequence[Mapping[str, Counts]]) -> dict[str, Counts]:
    """Add up the counts of all documents, of which there must be one."""
    return {measure: reduce(add, (counts[measure] for counts in documents)) for measure in documents[0]}


def _missing(key: Side, response: Side) -> list[Finding]:
    lost = [key[name].document.title for name in key if name not in response]
    extra = [response[name].document.title for name in response if name not in key]
    findings = []
    if lost:
        message = f"{times(len(lost), 'document')} of the key not in the response, scored as without mentions"
        findings.append(warning("missing-response", f"{message} (first: {lost[0]})", count=len(lost)))
    if extra:
        message = f"{times(len(extra), 'document')} of the response not in the key, left out"
        findings.append(warning("missing-key", f"{message} (first: {extra[0]})", count=len(extra)))
    return findings


def _refuse_different_lengths(key: Annotation, response: Annotation | None) -> None:
    if response is None or len(key.document.tokens) == len(response.document.tokens):
        return
    right, answer = key.document, response.document
    raise InputError(
        f"{answer.source or 'the response'}: found {times(len(answer.tokens), 'token')} in document "
        f"'{answer.title}', expected {len(right.tokens):,} as in {right.source or 'the key'}"
    )


def _words(document: Document) -> list[tuple[int, str]]:
    """Return the words with their numbers, without empty nodes."""
    numbered = enumerate(document.tokens, 1)
    return [(number, word) for number, word in numbered if not is_empty(document, number)]


def _different_words(key: Side, response: Side) -> list[Finding]:
    """Warn about other words in the same places: only places are scored, as in the reference scorer."""
    shared = ((key[name].document, response[name].document) for name in key if name in response)
    different = [
        (document, number)
        for document, other in shared
        if (document.tokens, document.tree) != (other.tokens, other.tree)
        for (number, word), (_, answer) in zip(_words(document), _words(other), strict=True)
        if word != answer
    ]
    if not different:
        return []
    document, number = different[0]
    message = f"{times(len(different), 'token')} with another word in the response; only places are compared"
    return [warning("different-words", f"{message} (first: {document.place(number)})", count=len(different))]
