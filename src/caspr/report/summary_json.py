"""The summary for programs: what `--json` writes."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from caspr.result import Result
from caspr.task.solution import Status
from caspr.text.document import Annotation, Document
from caspr.text.findings import Finding, Severity

LARGEST = 2**63 - 1
"""Larger numbers are left out of JSON: many programs cannot read them."""

NAMED = 5
"""How many entities the summary of a document names."""


def summary(results: Sequence[Result], findings: Iterable[Finding] = ()) -> dict[str, Any]:
    """Return the summary of some results as JSON values.

    `findings` are those that belong to no single document.
    """
    return {
        "documents": [document_summary(result) for result in results],
        "findings": [asdict(finding) for finding in findings],
    }


def document_summary(result: Result) -> dict[str, Any]:
    """Return the summary of one document."""
    gold = result.gold
    return {
        "name": result.document.name,
        "part": result.document.part,
        "value": result.value,
        "bound": result.bound,
        "status": str(result.status),
        "costs": asdict(result.costs),
        "chains": len(gold.chains) + len(gold.singletons),
        "singletons": len(gold.singletons),
        "mentions": len(gold.mentions),
        "named_entities": named_entities(gold),
        "annotators": len(result.instance.annotations),
        "annotator_names": [annotation.annotator for annotation in result.instance.annotations],
        "solutions": len(result.golds),
        "all_solutions": result.solution.complete,
        "optimal_solutions": _optimal_solutions(result),
        "objective": asdict(result.instance.objective),
        "engine": result.engine,
        "seconds": round(result.seconds, 3),
        "findings": [asdict(finding) for finding in result.findings],
    }


def named_entities(gold: Annotation) -> list[dict[str, Any]]:
    """Return the largest entities that have a name, with the ids of their chains and how often they occur."""
    named = [chain for chain in gold.all_chains if chain.name]
    named.sort(key=lambda chain: (-len(chain.mentions), chain.mentions))
    return [
        {"id": chain.id, "name": chain.name, "type": chain.type, "mentions": len(chain.mentions)}
        for chain in named[:NAMED]
    ]


def _optimal_solutions(result: Result) -> dict[str, Any]:
    """Return how many optimal solutions there are, as far as that was asked for and is known."""
    listed = len(result.golds) if result.status is Status.OPTIMAL else 0
    count = listed if result.solution.complete else result.solution.count
    at_least = min(max(listed, result.solution.at_least), LARGEST)
    return {"count": None if count is None or count > LARGEST else count, "at_least": at_least}


def infeasible_summary(document: Document, annotators: Sequence[str], reason: str) -> dict[str, Any]:
    """Return the summary of a document whose decisions contradict each other."""
    finding = Finding("contradiction", Severity.WARNING, reason)
    return {
        "name": document.name,
        "part": document.part,
        "value": None,
        "bound": None,
        "status": str(Status.INFEASIBLE),
        "annotators": len(annotators),
        "annotator_names": list(annotators),
        "solutions": 0,
        "findings": [asdict(finding)],
    }
