"""Write an instance as an answer set program: facts, then the figures of the paper.

Facts are made of numbers only: chain ids, annotator and file names never reach the program, so nothing
in them can wrap, clash or be run. Annotators are numbered by what they annotated and not by name or
order, so that permuting or renaming them gives the same program and therefore the same answer.
"""

from collections.abc import Iterator
from importlib import resources

from caspr.task.instance import Instance, Singletons
from caspr.task.solution import Partition

FIGURES = {
    "mm": ("definitions", "links", "mm", "mm_objective", "rules", "enforce"),
    "cm": ("definitions", "links", "cm", "cm_objective", "rules", "enforce"),
}
"""The encoding files of each encoding, in the order of the paper."""


LEAST_CHAIN_LIMIT = 10
"""CM's limit in small documents, where 6/5 of very few chains would be too few."""


def program(instance: Instance, encoding: str, *, show: str = "result_cm/2", extra: str = "") -> str:
    """Return facts and encoding as one text that any ASP system can run."""
    parts = [
        "% The annotations",
        *facts(instance),
        extra,
        *(figure(name) for name in FIGURES[encoding]),
        f"#show {show}.",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def figure(name: str) -> str:
    """Return the text of one encoding file."""
    return resources.files(__package__).joinpath(f"encodings/{name}.lp").read_text(encoding="utf-8")


def facts(instance: Instance) -> Iterator[str]:
    """Yield the input facts, a line each, in an order that depends only on what they say."""
    objective = instance.objective
    yield f"cost(omit,{objective.omit}). cost(use,{objective.use})."
    if objective.invent is not None:
        yield f"cost(invent,{objective.invent})."
    if not instance.allow_nested:
        yield "rule(nested)."
    if instance.singletons is Singletons.VOTE:
        yield "singletons(vote)."
    if instance.forced_votes:
        yield "votes(forced)."
    contents = sorted(
        tuple(sorted(chain.mentions for chain in annotation.chains)) for annotation in instance.annotations
    )
    for number, chains in enumerate(contents, start=1):
        yield f"annotator({number})."
        yield from _annotation_facts(str(number), chains)
    yield from _decision_facts(instance)


def _annotation_facts(annotator: str, chains: Partition) -> Iterator[str]:
    spans = sorted({span for chain in chains for span in chain})
    numbers = {span: number for number, span in enumerate(spans, start=1)}
    for span, number in numbers.items():
        yield f"mention({annotator},{number},{span.start},{span.end})."
    for number, chain in enumerate(chains, start=1):
        yield " ".join(f"cm({annotator},{number},{numbers[span]})." for span in chain)


def _decision_facts(instance: Instance) -> Iterator[str]:
    decisions = instance.decisions
    groups = sorted(decisions.groups, key=lambda group: group.mentions)
    yield from _annotation_facts("forced", tuple(group.mentions for group in groups))
    ids = {id: number for number, id in enumerate(dict.fromkeys(id for one in groups for id in one.ids), 1)}
    for number, group in enumerate(groups, start=1):
        yield from (f"named({number},{ids[id]})." for id in group.ids)
    for token in sorted(decisions.closed):
        yield f"closed({token})."
    for span in sorted(decisions.permitted):
        yield f"permit({span.start},{span.end})."
    for span in sorted(decisions.absent):
        yield f"absent({span.start},{span.end})."
    for first, second in sorted(decisions.apart):
        yield f"apart({first.start},{first.end},{second.start},{second.end})."


def positions(instance: Instance) -> str:
    """Return the facts that number the mentions in text order, for `cm_order.lp`."""
    return "\n".join(
        f"position(mid({span.start},{span.end}),{number})."
        for number, span in enumerate(instance.mentions, start=1)
    )


def chain_limit(instance: Instance) -> int:
    """Return the number of chains that CM assumes to suffice, as `cm.lp` computes it."""
    sizes = [len(annotation.chains) for annotation in instance.annotations]
    assumed = 6 * max([*sizes, len(instance.decisions.groups)], default=0) // 5
    return min(max(assumed, LEAST_CHAIN_LIMIT), most_chains(instance))


def most_chains(instance: Instance) -> int:
    """Return a number of chains that no solution exceeds."""
    return len(instance.mentions) // 2
