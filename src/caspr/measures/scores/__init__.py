"""Scores: how close a response comes to a key; one module is one measure.

To add a measure, write a module with a function from an `Alignment` to `Counts`, and name it in `SCORES`.
Counts are summed over documents before anything is divided, as the reference scorer does.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from caspr.errors import InputError
from caspr.measures.scores import b3, blanc, ceaf, lea, mentions, muc
from caspr.measures.scores.alignment import align
from caspr.measures.scores.counts import Counts, decimal
from caspr.measures.singletons import singletons_count
from caspr.text.checks import refuse_document_twice
from caspr.text.document import Annotation
from caspr.text.findings import Finding, times, warning
from caspr.upward import above

if TYPE_CHECKING:
    from pandas import DataFrame

SCORES: Mapping[str, Callable[..., Counts]] = {
    "mentions": mentions.count,
    "muc": muc.count,
    "b3": b3.count,
    "ceafm": ceaf.count_mentions,
    "ceafe": ceaf.count_entities,
    "blanc": blanc.count,
    "lea": lea.count,
}
"""All measures by name."""

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
}
"""The names of the measures in tables."""


@dataclass(frozen=True)
class Scores:
    """All measures of a response, pooled over documents."""

    counts: Mapping[str, Counts]
    """For each measure of `SCORES`."""
    documents: tuple[tuple[str, "Scores"], ...] = ()
    """The scores of each document by title, where there were any documents."""
    findings: tuple[Finding, ...] = ()
    """What is odd about the two sides."""
    singletons: bool = True
    """Whether chains of one were counted."""

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

    def to_frame(self) -> "DataFrame":
        """Return a pandas DataFrame with a row for each measure."""
        return above("scores_frame")(self)

    def values(self) -> dict[str, Any]:
        """Return everything but the single documents as JSON values."""
        measured = {name: counts.values() for name, counts in self.counts.items()}
        return {**measured, "conll": {"f1": decimal(self.conll)}}


def score(
    key: Iterable[Annotation],
    response: Iterable[Annotation],
    *,
    singletons: bool | None = None,
    overlap: bool = False,
) -> Scores:
    """Score the documents of a response against those of a key.

    A document the response lacks counts as one without mentions; one the key lacks is left out, as in the
    reference scorer. Both are said in findings. Chains of one count where both sides have some; always, as
    in the reference scorer, or never if `singletons` says so. With `overlap`, spans that are not equal can
    match too.
    """
    right, given = _by_key(key), _by_key(response)
    if not right.keys() & given.keys():
        names = [", ".join(one.document.title for one in side.values())[:100] for side in (right, given)]
        raise InputError(
            "found no document that both sides have, expected the same document names: the key has "
            f"{names[0]}, the response {names[1]}; a document that is not named in its file has the name of "
            "the file"
        )
    alone = singletons_count((right.values(), given.values()), singletons)
    documents = []
    for name, annotation in right.items():
        _refuse_different_lengths(annotation, given.get(name))
        aligned = align(annotation, given.get(name), singletons=alone, overlap=overlap)
        counts = {measure: count(aligned) for measure, count in SCORES.items()}
        documents.append((annotation.document.title, Scores(counts, singletons=alone)))
    findings = (*_missing(right, given), *_different_words(right, given))
    return Scores(_pool([scores for _, scores in documents]), tuple(documents), findings, alone)


def _by_key(annotations: Iterable[Annotation]) -> dict[tuple[str, str | None], Annotation]:
    """Return the documents of one side; refuse a folder of several annotators, of whom one would count."""
    given = list(annotations)
    refuse_document_twice(
        given, "give one annotator's file or folder at a time; `caspr agreement` compares several annotators"
    )
    return {annotation.document.key: annotation for annotation in given}


def _pool(documents: Sequence[Scores]) -> dict[str, Counts]:
    pooled = dict(documents[0].counts)
    for scores in documents[1:]:
        pooled = {measure: counts + scores.counts[measure] for measure, counts in pooled.items()}
    return pooled


Side = Mapping[tuple[str, str | None], Annotation]
"""The documents of the key or of the response."""


def _missing(key: Side, response: Side) -> list[Finding]:
    lost = [key[name].document.title for name in key if name not in response]
    extra = [response[name].document.title for name in response if name not in key]
    found = []
    if lost:
        message = f"{times(len(lost), 'document')} of the key not in the response, scored as without mentions"
        found.append(warning("missing-response", f"{message} (first: {lost[0]})", count=len(lost)))
    if extra:
        message = f"{times(len(extra), 'document')} of the response not in the key, left out"
        found.append(warning("missing-key", f"{message} (first: {extra[0]})", count=len(extra)))
    return found


def _refuse_different_lengths(key: Annotation, response: Annotation | None) -> None:
    if response is None or len(key.document.tokens) == len(response.document.tokens):
        return
    one, other = key.document, response.document
    raise InputError(
        f"{other.source or 'the response'}: found {times(len(other.tokens), 'token')} in document "
        f"'{other.title}', expected {len(one.tokens):,} as in {one.source or 'the key'}"
    )


def _different_words(key: Side, response: Side) -> list[Finding]:
    """Warn about other words in the same places: only places are scored, as in the reference scorer."""
    different = [
        (annotation.document, number)
        for name, annotation in key.items()
        if name in response
        for number, (one, other) in enumerate(
            zip(annotation.document.tokens, response[name].document.tokens, strict=True), 1
        )
        if one != other
    ]
    if not different:
        return []
    document, number = different[0]
    message = f"{times(len(different), 'token')} with another word in the response; only places are compared"
    return [warning("different-words", f"{message} (first: {document.place(number)})", count=len(different))]
