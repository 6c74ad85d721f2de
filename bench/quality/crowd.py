"""Dawid-Skene and MACE over pairs of mentions, from `crowd-kit`, followed by the transitive closure.

A task is a pair of mentions that somebody linked in a document, a worker is an annotator who has the
document, and the answer says whether the annotator linked the pair. Parameters are learned over the whole
dataset. `crowd-kit` comes with `pip install caspr[bench]` and is imported when it is used.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from bench.quality.closures import Pair, closure, links
from bench.quality.judged import Judged
from caspr.text.document import Annotation

AGGREGATORS = {"Dawid-Skene": "DawidSkene", "MACE": "MACE"}
"""What is compared, with the names of crowd-kit's classes."""
ITERATIONS = {"DawidSkene": {"n_iter": 200}, "MACE": {"n_restarts": 10, "n_iter": 50, "random_state": 1}}
"""How long they learn, the same whenever it is run."""

Task = tuple[str, Pair]
"""A document's name and two of its mentions."""


def aggregate(documents: Sequence[Judged], name: str) -> dict[str, Annotation]:
    """Return what an aggregator makes of each document."""
    labels = _labels(documents, AGGREGATORS[name])
    joined: dict[str, list[Pair]] = {}
    for (document, pair), linked in labels.items():
        if linked:
            joined.setdefault(document, []).append(pair)
    return {one.name: closure(one.annotations, sorted(joined.get(one.name, ()))) for one in documents}


def _labels(documents: Sequence[Judged], aggregator: str) -> Mapping[Task, int]:
    aggregation, pandas = _packages()
    rows: list[tuple[int, str, int]] = []
    tasks: list[Task] = []
    for document in documents:
        given = {one.annotator: links(one) for one in document.annotations}
        for pair in sorted(set().union(*given.values())):
            rows += [(len(tasks), annotator, int(pair in own)) for annotator, own in given.items()]
            tasks.append((document.name, pair))
    if not tasks:
        return {}
    answers = pandas.DataFrame(rows, columns=["task", "worker", "label"])
    model: Any = getattr(aggregation, aggregator)(**ITERATIONS[aggregator])
    found = model.fit_predict(answers)
    return {tasks[number]: int(label) for number, label in found.items()}


def _packages() -> tuple[Any, Any]:
    try:
        return import_module("crowdkit.aggregation"), import_module("pandas")
    except ModuleNotFoundError as missing:
        raise SystemExit(
            f"--crowd: found no {missing.name}, expected crowd-kit (pip install crowd-kit)"
        ) from None
