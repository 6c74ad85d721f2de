"""Responses: what can be made of annotators, by name, each as one annotation per document.

Settings are written as CaspR names them, `objective=va,singletons=vote`; an empty text means the defaults,
`weights=learn` weights that are learned from the dataset, and `weights=auto` these if they are better.
A whole dataset is adjudicated in one run, so that what is decided once per run is decided once per dataset.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.quality.closures import antecedent_majority, majority_closure, union_closure
from bench.quality.crowd import AGGREGATORS, aggregate
from bench.quality.judged import Judged, JudgedSet
from bench.quality.scoring import score_documents
from caspr.adjudication import adjudicate
from caspr.measures.reliability import Patterns, instance_patterns, learn_reliability, weights_for
from caspr.result import Result
from caspr.task.decisions import Decisions
from caspr.task.settings import MARKS, Settings, change
from caspr.task.weights import WeightsTable
from caspr.text.document import Annotation

LEARN = "learn"
"""The weights that are learned from the dataset."""
AUTO = "auto"
"""These, if they are better than equal votes."""

CLOSURES: Mapping[str, Callable[[Sequence[Annotation]], Annotation]] = {
    "majority closure": majority_closure,
    "union closure": union_closure,
    "antecedent majority": antecedent_majority,
}
"""What needs no optimisation and no learning."""


@dataclass(frozen=True)
class Response:
    """One way to answer, with what it answers for each document."""

    name: str
    answers: Mapping[str, Annotation]
    """By the document's name; an annotator may lack documents."""
    proven: str = ""
    """How many adjudications are proven optimal."""


def baselines(judged: JudgedSet, *, crowd: bool) -> Iterator[Response]:
    """Yield what CaspR is compared with; Dawid-Skene and MACE where `crowd` is set."""
    for annotator in judged.annotators:
        yield Response(f"annotator {annotator}", _single(judged.documents, annotator))
    yield Response("the best annotator of each document", {one.name: _best(one) for one in judged.documents})
    for name, combine in CLOSURES.items():
        yield Response(name, {one.name: combine(one.annotations) for one in judged.documents})
    for name in AGGREGATORS if crowd else ():
        yield Response(f"{name}, closure", aggregate(judged.documents, name))


def _single(documents: Sequence[Judged], annotator: str) -> dict[str, Annotation]:
    return {
        document.name: given
        for document in documents
        for given in document.annotations
        if given.annotator == annotator
    }


def _best(document: Judged) -> Annotation:
    """Return the annotation that is closest to the gold, which is known only with the gold."""

    def conll(annotation: Annotation) -> float:
        return score_documents([document], {document.name: annotation}, singletons=False).f1("conll")

    return max(document.annotations, key=conll)


def adjudicated(
    judged: JudgedSet, words: str, *, seconds: float, weights: WeightsTable | None = None
) -> Response:
    """Adjudicate all documents with settings given as `name=value,name=value`.

    Weights to learn are `weights` where these are given, else those that the dataset itself teaches.
    """
    results = adjudicate_set(judged, words, seconds=seconds, weights=weights)
    proven = sum(result.value == result.bound for result in results.values())
    answers = {name: result.gold for name, result in results.items()}
    return Response(words or "defaults", answers, f"{proven} of {len(results)}")


def adjudicate_set(
    judged: JudgedSet, words: str, *, seconds: float, weights: WeightsTable | None = None
) -> dict[str, Result]:
    """Return the result of each document, by its name."""
    values = {"time_limit": seconds, **read_values(words)}
    if values.get("weights") == LEARN:
        values["weights"] = weights or learn_weights(judged, values)
    elif values.get("weights") == AUTO:
        values["weights"] = advised_weights(judged, values)
    files = [
        [given for document in judged.documents for given in document.annotations if given.annotator == name]
        for name in judged.annotators
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {result.document.name: result for result in adjudicate(files, **values)}


def learn_weights(judged: JudgedSet, values: Mapping[str, Any]) -> WeightsTable:
    """Learn weights from the whole dataset, as `caspr weigh` with the same coverage and variants does."""
    return learn_reliability(_patterns(judged, values)).weights


def advised_weights(judged: JudgedSet, values: Mapping[str, Any]) -> WeightsTable | None:
    """Learn weights if they are better than equal votes, as `caspr corpus` does by default."""
    advice = weights_for(_patterns(judged, values))
    return None if advice.reliability is None else advice.reliability.weights


def _patterns(judged: JudgedSet, values: Mapping[str, Any]) -> list[Patterns]:
    seen = MARKS if values.get("coverage") == MARKS else None
    settings = change(Settings(), {"coverage": seen, "variants": values.get("variants")})
    instances = (settings.instance(document.annotations, Decisions()) for document in judged.documents)
    return [instance_patterns(instance) for instance in instances]


def read_values(words: str) -> Any:
    """Read settings given in one word.

    >>> read_values("objective=va,invent_cost=3,variants=true,time_limit=0.5")
    {'objective': 'va', 'invent_cost': 3, 'variants': True, 'time_limit': 0.5}
    """
    pairs = (word.partition("=") for word in words.split(",") if word.strip())
    return {name.strip().replace("-", "_"): _value(value.strip()) for name, _, value in pairs}


def _value(word: str) -> Any:
    if word in ("", "true", "yes"):
        return True
    if word in ("false", "no"):
        return False
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word
