"""Compare annotators with each other and with the gold standard: scores and agreement, put together."""

from collections.abc import Sequence
from fractions import Fraction

from caspr.measures.agreement import ALPHAS, Conventions, Tally, tally, tally_all
from caspr.measures.comparison import Comparison, Matrix, Rates, Standings
from caspr.measures.scores import SCORES, Scores, score
from caspr.result import Result
from caspr.text.document import Annotation, Chain, Span

MEASURES = (*SCORES, "conll")
"""All measures of which a matrix is made."""


def compare(
    documents: Sequence[Sequence[Annotation]],
    *,
    conventions: Conventions | None = None,
    singletons: bool = True,
) -> Comparison:
    """Compare all annotators over the documents they share.

    Two annotators are scored over the documents that both have; documents are pooled by adding counts.
    """
    names = tuple(dict.fromkeys(one.annotator for annotations in documents for one in annotations))
    whole = tally_all(documents, conventions)
    pairs = {
        (one, other): _shared(documents, (one, other))
        for row, one in enumerate(names)
        for other in names[row + 1 :]
    }
    return Comparison(
        title=_title(documents),
        annotators=names,
        alpha={kind: whole.alpha(kind) for kind in ALPHAS},
        marked=dict(sorted(whole.marked.items())),
        matrices=_score_matrices(names, documents, singletons) | _alpha_matrices(names, pairs, conventions),
        without={name: _without(name, documents, conventions) for name in names},
    )


def compare_each(
    documents: Sequence[Sequence[Annotation]],
    *,
    conventions: Conventions | None = None,
    singletons: bool = True,
) -> list[Comparison]:
    """Compare the annotators of each document by itself."""
    return [
        compare([annotations], conventions=conventions, singletons=singletons) for annotations in documents
    ]


def against_gold(results: Sequence[Result]) -> Standings:
    """Score each annotator against the gold standard, over the documents the annotator has.

    Chains of one count only where the gold standard has any: otherwise they were set aside, and an
    annotator is not blamed for them.
    """
    kept = any(result.gold.singletons for result in results)
    files: dict[str, list[tuple[Annotation, Annotation]]] = {}
    for result in results:
        for annotation in result.instance.annotations:
            files.setdefault(annotation.annotator, []).append((result.gold, annotation))
    return {
        name: _rates(score([gold for gold, _ in pairs], [given for _, given in pairs], singletons=kept))
        for name, pairs in files.items()
    }


def _rates(scores: Scores) -> dict[str, Rates]:
    rates = {
        name: Rates(counts.recall.value, counts.precision.value, counts.f1)
        for name, counts in scores.counts.items()
    }
    return {**rates, "conll": Rates(None, None, scores.conll)}


def _title(documents: Sequence[Sequence[Annotation]]) -> str:
    return documents[0][0].document.title if len(documents) == 1 else "all documents"


def _shared(
    documents: Sequence[Sequence[Annotation]], names: tuple[str, ...]
) -> list[tuple[Annotation, ...]]:
    """Return the annotations of some annotators in the documents that all of them have."""
    found = []
    for annotations in documents:
        by_name = {annotation.annotator: annotation for annotation in annotations}
        if all(name in by_name for name in names):
            found.append(tuple(by_name[name] for name in names))
    return found


def _score_matrices(
    names: Sequence[str], documents: Sequence[Sequence[Annotation]], singletons: bool
) -> dict[str, Matrix]:
    scores = {
        (one, other): _score(_shared(documents, (one, other)), singletons) for one in names for other in names
    }

    def f1(one: str, other: str, measure: str) -> Fraction | None:
        found = scores[one, other]
        return None if found is None else found.f1(measure)

    return {
        measure: tuple(tuple(f1(one, other, measure) for other in names) for one in names)
        for measure in MEASURES
    }


def _score(pairs: Sequence[Sequence[Annotation]], singletons: bool) -> Scores | None:
    if not pairs:
        return None
    key, response = zip(*pairs, strict=True)
    return score(map(in_first_chain, key), map(in_first_chain, response), singletons=singletons)


def in_first_chain(annotation: Annotation) -> Annotation:
    """Keep every span only in the first of its chains, so that the annotation can be a key."""
    seen: set[Span] = set()
    chains = []
    for chain in sorted((*annotation.chains, *annotation.singletons), key=lambda chain: chain.mentions):
        chains.append(Chain.of(chain.id, [span for span in chain.mentions if span not in seen]))
        seen.update(chain.mentions)
    return Annotation.of(
        annotation.annotator, annotation.document, [chain for chain in chains if chain.mentions]
    )


def _alpha_matrices(
    names: Sequence[str],
    pairs: dict[tuple[str, str], list[tuple[Annotation, ...]]],
    conventions: Conventions | None,
) -> dict[str, Matrix]:
    tallies: dict[tuple[str, str], Tally] = {}
    for (one, other), documents in pairs.items():
        tallies[one, other] = tallies[other, one] = tally_all(documents, conventions)
    return {
        kind: tuple(
            tuple(None if one == other else tallies[one, other].alpha(kind) for other in names)
            for one in names
        )
        for kind in ALPHAS
    }


def _without(
    name: str, documents: Sequence[Sequence[Annotation]], conventions: Conventions | None
) -> dict[str, Fraction | None]:
    rest = Tally()
    for annotations in documents:
        others = [annotation for annotation in annotations if annotation.annotator != name]
        if len(others) > 1:
            rest += tally(others, conventions)
    return {kind: rest.alpha(kind) for kind in ALPHAS}
