"""Small results to report on, solved by brute force."""

import random
from collections.abc import Sequence
from dataclasses import replace

from caspr.engines.brute import solve
from caspr.proof.certify import certify
from caspr.result import Given, Result
from caspr.task.decisions import Decisions
from caspr.task.instance import Instance
from caspr.task.limits import Limits, silent
from caspr.task.objectives import OBJECTIVES
from caspr.task.settings import Settings
from caspr.task.solution import Status
from caspr.text.document import Annotation, Chain, Document
from caspr.text.variants import Variants
from tests.instances import random_instance

HOSTILE = [
    '<script>document.title="pwned"</script>',
    "<img src=x onerror=alert(1)>",
    '"onmouseover="alert(1)',
    "</style><b>",
    "{{7*7}}{% raw %}",
    "\x1b[31mred",
    "עברית",
    "\u202eevil",
    "|*a*|`b`",
]
"""Tokens that would have an effect if they were not escaped."""


def result_of(instance: Instance, solutions: int = 50) -> Result | None:
    """Solve an instance; nothing where its decisions contradict each other."""
    solution = solve(instance, Limits(solutions=solutions), silent)
    if solution.status is Status.INFEASIBLE:
        return None
    return Result(instance, solution, certify(instance, solution)[0], "brute", 0.5)


def random_results(seed: int, count: int, *, decisions: bool = False, odd: bool = False) -> list[Result]:
    """Make many small results."""
    rng = random.Random(seed)
    found: list[Result] = []
    while len(found) < count:
        instance = random_instance(rng, mentions=6, decisions=decisions, odd=odd)
        result = result_of(instance, solutions=rng.choice([1, 50]))
        if result is not None:
            found.append(result)
    return found


def renamed(result: Result, name: str) -> Result:
    """Return the result of a document of another name."""
    annotations = tuple(
        replace(one, document=replace(one.document, name=name)) for one in result.instance.annotations
    )
    given = Given(annotations, result.instance.decisions, Settings(), Variants())
    return replace(result, instance=replace(result.instance, annotations=annotations), given=given)


def annotated(name: str, chains: Sequence[Sequence[tuple[int, int]]], tokens: Sequence[str]) -> Annotation:
    """Make an annotation of some words."""
    document = Document("<i>doc</i>", tuple(tokens))
    return Annotation.of(
        name, document, [Chain.of(str(number), chain) for number, chain in enumerate(chains, start=1)]
    )


def hostile_result() -> Result:
    """Make a result where every text is hostile."""
    annotations = (
        annotated("<b>ann", [[(1, 1), (2, 2), (3, 3)], [(5, 5), (6, 7)]], HOSTILE),
        annotated("../../b&b", [[(1, 1), (2, 2)], [(3, 3), (4, 4)], [(5, 5), (8, 8)]], HOSTILE),
        annotated('c"', [[(1, 1), (3, 3)], [(5, 5), (6, 7)], [(8, 8), (9, 9)]], HOSTILE),
    )
    result = result_of(Instance(annotations, OBJECTIVES["va"]))
    assert result is not None
    return result


def decided_result() -> Result:
    """Make a result with decisions, a nested pair and a tie."""
    words = ["a", "man", "and", "his", "dog", "saw", "him"]
    annotations = (
        annotated("ann", [[(1, 2), (4, 4), (7, 7)]], words),
        annotated("bob", [[(1, 5), (4, 4)], [(1, 2), (7, 7)]], words),
    )
    decisions = Decisions.of([Chain.of("7", [(1, 2), (7, 7)])], empty=[4])
    result = result_of(replace(Instance(annotations), decisions=decisions))
    assert result is not None
    return result
