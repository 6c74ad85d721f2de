"""The summary of results: a few lines per document for people, JSON values for programs (`--json`).

People count annotators, mentions and entities; what the result costs, and how that is known, comes after.
What annotators marked is counted in spans: where they drew different boundaries, how many mentions it is
depends on who matches them (`measures.typology`), and on the settings.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from math import log10
from typing import Any

from caspr.result import Result
from caspr.task.decisions import EDITOR
from caspr.task.solution import Status
from caspr.text.document import Annotation, Document, Span
from caspr.text.findings import Finding, Severity, percent, times


def summary_lines(results: Sequence[Result]) -> Iterator[str]:
    """Yield the summary of each document, and the totals if there are several."""
    for result in results:
        yield from document_lines(result)
    if len(results) > 1:
        proven = sum(result.status is Status.OPTIMAL for result in results)
        value = sum(result.value for result in results)
        seconds = sum(result.seconds for result in results)
        yield f"{times(len(results), 'document')}: {entities([result.gold for result in results])}"
        yield f"  {proven:,} proven optimal, cost {value:,}, {seconds:.1f} s"


def document_lines(result: Result) -> Iterator[str]:
    """Yield the lines about one document: who marked how much, what came of it, outcome, findings."""
    annotations = result.annotations
    marked = frozenset[Span]().union(*(annotation.mentions for annotation in annotations))
    who = f"{result.document.title}: {times(len(annotations), 'annotator')} marked"
    yield f"{who} {times(len(marked), 'span')} -> {entities([result.gold])}"
    yield f"  {outcome(result)}"
    yield f"  {times(result.instance.votes.total, 'link')}, engine {result.engine}, {result.seconds:.2f} s"
    for finding in result.findings:
        yield f"  {finding}"


def entities(golds: Sequence[Annotation]) -> str:
    """Return in words how many entities and mentions gold standards have."""
    sizes = [len(chain.mentions) for gold in golds for chain in gold.all_chains]
    return counted_entities(len(sizes), sum(sizes), sizes.count(1))


def counted_entities(number: int, mentions: int, single: int) -> str:
    """Return in words how many entities there are with how many mentions, those with one mention among them.

    >>> counted_entities(3, 8, 0), counted_entities(2, 3, 1)
    ('3 entities with 8 mentions', '2 entities with 3 mentions (1 of the entities has only one)')
    """
    counted = f"{times(number, 'entity', 'entities')} with {times(mentions, 'mention')}"
    have = "has" if single == 1 else "have"
    return counted + (f" ({single:,} of the entities {have} only one)" if single else "")


def outcome(result: Result) -> str:
    """Return the cost of a result, by kind, and whether it is proven optimal, in words."""
    if result.status is Status.OPTIMAL:
        cost = f"proven optimal, cost {result.value:,}"
    else:
        gap = f", gap {percent(result.value - result.bound, result.bound)}" if result.bound else ""
        cost = f"cost {result.value:,}, bound {result.bound:,}{gap}"
    kinds = " + ".join(f"{kind} {cost:,}" for kind, cost in result.costs.by_kind.items())
    return f"{cost} ({kinds}){_ties(result)}"


def _is_best_within_limit(result: Result) -> bool:
    """Return whether an ASP solver proved its answer for CM, whose bound holds within its limit of chains."""
    work = result.solution.statistics
    return work is not None and work.value == work.bound == result.value


def _ties(result: Result) -> str:
    """Return how many solutions cost the same, in words, as far as that was asked for and is known."""
    if result.status is not Status.OPTIMAL and _is_best_within_limit(result):
        return "; optimal within the encoding's limit of chains"
    solution, listed = result.solution, len(result.golds)
    if solution.complete:
        return f"; {listed:,} optimal solutions" if listed > 1 else "; the only optimal solution"
    if solution.count is not None:
        return f"; {rounded(solution.count)} optimal solutions, {listed:,} of them listed"
    known = max(listed, solution.at_least)
    kind = "optimal solutions" if result.status is Status.OPTIMAL else "solutions of this cost"
    return f"; at least {rounded(known)} {kind}" if known > 1 else ""


def answered(results: Sequence[Result], acts: int = 0, who: str = "An adjudicator") -> str:
    """Say how often somebody decided something; nothing if nothing is decided.

    `acts` is how often, where that is known: one answer on the review page may make several decisions.
    Without it, these are counted.
    """
    decided = [result.instance.decisions for result in results if result.instance.decisions]
    if not decided:
        return ""
    made = acts or sum(len(some.in_words()) + len(some.names) for some in decided)
    where = f" in {len(decided):,} of {times(len(results), 'document')}" if len(results) > 1 else ""
    return f"{who} gave {times(made, 'answer')}{where}; all else was merged automatically."


def adjudicators(answers: Mapping[str, int]) -> str:
    """Name those who decided something at the beginning of a sentence, with their numbers of answers.

    >>> adjudicators({"Ann": 8, "editor": 3}), adjudicators({"Ann": 8, "Ben": 9}), adjudicators({"Ann": 8})
    ('An adjudicator (Ann: 8; by hand: 3)', 'Adjudicators (Ben: 9; Ann: 8)', 'An adjudicator (Ann)')
    """
    people = [who for who in answers if who != EDITOR]
    ranked = sorted(answers.items(), key=lambda item: (-item[1], item[0]))
    called = [f"{'by hand' if who == EDITOR else who}: {number:,}" for who, number in ranked]
    named = f" ({'; '.join(called) if len(called) > 1 else people[0]})" if people else ""
    return f"{'Adjudicators' if len(people) > 1 else 'An adjudicator'}{named}"


def rounded(count: int) -> str:
    """Format a number that may be very large, rounded down.

    >>> rounded(171360), rounded(10**40 * 6 // 7), rounded(10**9000 - 1)
    ('171,360', '8.5 x 10^39', '9.9 x 10^8999')
    """
    if count < 10**15:
        return f"{count:,}"
    # Python refuses to convert numbers of thousands of digits to text.
    exponent = int(log10(count))
    exponent += (count >= 10 ** (exponent + 1)) - (count < 10**exponent)
    first, second = divmod(count // 10 ** (exponent - 1), 10)
    return f"{first}.{second} x 10^{exponent}"


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
        "costs": result.costs.by_kind,
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
        "solver": None if result.solution.statistics is None else asdict(result.solution.statistics),
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
