"""The summary for people: a few lines per document, and the totals of many."""

from collections.abc import Iterator, Sequence

from caspr.findings import times
from caspr.result import Result
from caspr.solution import Costs, Status
from caspr.votes import Votes


def summary_lines(results: Sequence[Result]) -> Iterator[str]:
    """Yield the lines that tell what came of each document, and of all together if there are several."""
    for result in results:
        yield from document_lines(result)
    if len(results) > 1:
        proven = sum(result.status is Status.OPTIMAL for result in results)
        value = sum(result.value for result in results)
        seconds = sum(result.seconds for result in results)
        yield f"{times(len(results), 'document')}: {proven:,} proven optimal, cost {value:,}, {seconds:.1f} s"


def document_lines(result: Result) -> Iterator[str]:
    """Yield the lines about one document: outcome, sizes, findings."""
    yield f"{result.document.title}: {_outcome(result)}"
    gold, votes = result.gold, result.instance.votes
    yield (
        f"  {times(len(result.instance.annotations), 'annotator')}, {_evidence(votes)} -> "
        f"{times(len(gold.chains), 'chain')} of {times(sum(len(c.mentions) for c in gold.chains), 'mention')}"
        + (f" and {times(len(gold.singletons), 'chain')} of one" if gold.singletons else "")
    )
    yield f"  engine {result.engine}, {result.seconds:.2f} s"
    for finding in result.findings:
        yield f"  {finding}"


def _outcome(result: Result) -> str:
    if result.status is Status.OPTIMAL:
        found = f"proven optimal, cost {result.value:,}"
    else:
        gap = f", gap {(result.value - result.bound) / result.bound:.1%}" if result.bound else ""
        found = f"cost {result.value:,}, bound {result.bound:,}{gap}"
    count = len(result.golds)
    if result.solution.complete and count > 1:
        ties = f"; {count} optimal solutions"
    elif count > 1:
        ties = f"; at least {count} solutions of this cost"
    else:
        ties = "; the only optimal solution" if result.solution.complete else ""
    return f"{found} ({_kinds(result.costs)}){ties}"


def _kinds(costs: Costs) -> str:
    return f"omitted {costs.omitted:,} + used {costs.used:,} + invented {costs.invented:,}"


def _evidence(votes: Votes) -> str:
    return f"{times(votes.total, 'link')} between {times(len(votes.signatures), 'mention')}"
