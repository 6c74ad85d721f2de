"""Write an instance as an answer set program: facts, then the figures of the paper.

Facts are made of numbers only: chain ids, annotator and file names never reach the program, so nothing
in them can wrap, clash or be run. Annotators are numbered by what they annotated and not by name or
order, so that permuting or renaming them gives the same program and therefore the same answer. For people,
who want to know which annotator is which, they are numbered as given, and comments name them.
"""

import json
from collections.abc import Iterator, Sequence
from importlib import resources
from typing import NamedTuple

from caspr.task.instance import Instance, Nesting, Singletons
from caspr.task.own_rules import Effect
from caspr.task.solution import Partition
from caspr.text.document import Span

FIGURES = {
    "mm": ("definitions", "costs", "links", "mm", "mm_objective", "rules", "enforce"),
    "cm": ("definitions", "costs", "links", "cm", "cm_objective", "rules", "enforce"),
}
"""The encoding files of each encoding, in the order of the paper."""
WEIGHTED = {
    "costs": "weighted_costs",
    "mm_objective": "mm_weighted_objective",
    "cm_objective": "cm_weighted_objective",
}
"""What takes the place of a file where votes have weights or not everybody saw everything."""

LEAST_CHAIN_LIMIT = 10
"""CM's limit in small documents, where 6/5 of very few chains would be too few."""


def program(
    instance: Instance, encoding: str, *, show: str = "result_cm/2", extra: str = "", named: bool = False
) -> str:
    """Return facts and encoding as one text in gringo's language."""
    parts = [
        facts_text(instance, named=named),
        extra,
        rules_text(figures(instance, encoding), show, instance.rules.program),
    ]
    return "\n".join(part.removesuffix("\n") for part in parts if part) + "\n"


def facts_text(instance: Instance, *, named: bool = False) -> str:
    """Return the facts; if `named`, annotators are numbered as given, and comments name them."""
    return "\n".join(["% The annotations", *facts(instance, named=named), ""])


def rules_text(names: Sequence[str], show: str = "result_cm/2", own: str = "") -> str:
    """Return some encoding files and rules of the user as one text, with what is shown of an answer set."""
    return "\n".join([*(figure(name) for name in names), *([own] if own else []), f"#show {show}.", ""])


def figures(instance: Instance, encoding: str) -> list[str]:
    """Name the encoding files for an instance: the paper's, unless weights or coverage differ."""
    names = [*FIGURES[encoding], *(["own_rules"] if instance.rules.consequences else [])]
    return [WEIGHTED.get(name, name) for name in names] if _is_weighted(instance) else names


def _is_weighted(instance: Instance) -> bool:
    return not instance.coefficients.are_equal or any(seen is not None for seen in instance.seen)


def figure(name: str) -> str:
    """Return the text of one encoding file."""
    return resources.files(__package__).joinpath(f"encodings/{name}.lp").read_text(encoding="utf-8")


def encodings() -> str:
    """Return all encoding files as one text."""
    files = resources.files(__package__).joinpath("encodings").iterdir()
    return "\n".join(file.read_text(encoding="utf-8") for file in files if file.name.endswith(".lp"))


def facts(instance: Instance, *, named: bool = False) -> Iterator[str]:
    """Yield the input facts, a line each, in an order that depends only on what they say, unless `named`."""
    yield from _cost_facts(instance)
    if instance.nested is not Nesting.ALWAYS:
        yield "rule(nested)."
    if instance.nested is Nesting.VOTE:
        yield "rule(vote)."
    if instance.singletons is Singletons.VOTE:
        yield "singletons(vote)."
    if instance.forced_votes:
        yield "votes(forced)."
    annotators = _annotators(instance)
    if not named and not instance.rules.program:  # rules about the solution know annotators as given, too
        annotators.sort()
    for number, annotator in enumerate(annotators, start=1):
        if named:
            name = instance.annotations[number - 1].annotator
            yield f"% annotator {number} is {json.dumps(name, ensure_ascii=not name.isprintable())}"
        yield f"annotator({number})."
        yield from _annotation_facts(str(number), annotator.chains)
        if _is_weighted(instance):
            yield from _vote_facts(str(number), annotator)
    yield from _decision_facts(instance)
    yield from _rule_facts(instance)


class _Annotator(NamedTuple):
    """All that a program says of an annotator; sorting by it makes names and order of files irrelevant."""

    chains: Partition
    omit: int
    use: int
    unseen: tuple[Span, ...]


def _annotators(instance: Instance) -> list[_Annotator]:
    costs, votes = instance.coefficients, instance.votes
    unseen: list[list[Span]] = [[] for _ in instance.annotations]
    for mention in instance.mentions:
        viewers = votes.viewers(mention)
        for number, spans in enumerate(unseen):
            if not viewers >> number & 1:
                spans.append(mention)
    return [
        _Annotator(
            tuple(sorted(chain.mentions for chain in annotation.chains)),
            costs.omit[number],
            costs.use[number],
            tuple(unseen[number]),
        )
        for number, annotation in enumerate(instance.annotations)
    ]


def _cost_facts(instance: Instance) -> Iterator[str]:
    costs = instance.coefficients
    if not _is_weighted(instance):
        yield f"cost(omit,{costs.omit[0]}). cost(use,{costs.use[0]})."
    elif len(costs.omit) > len(instance.annotations):
        yield f"omit(forced,{costs.omit[-1]}). use(forced,{costs.use[-1]})."
    if costs.invent is not None:
        yield f"cost(invent,{costs.invent})."
    if costs.constant is not None:
        yield f"constant({costs.constant})."


def _vote_facts(name: str, annotator: _Annotator) -> Iterator[str]:
    yield f"omit({name},{annotator.omit}). use({name},{annotator.use})."
    yield from (f"unseen({name},{span.start},{span.end})." for span in annotator.unseen)


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
    named = dict.fromkeys(id for group in groups for id in group.ids)
    ids = {id: number for number, id in enumerate(named, 1)}
    for number, group in enumerate(groups, start=1):
        yield from (f"named({number},{ids[id]})." for id in group.ids)
    for token in sorted(decisions.closed):
        yield f"closed({token})."
    for span in sorted(decisions.permitted):
        yield f"permit({span.start},{span.end})."
    for span in sorted(instance.constraints.absent):
        yield f"absent({span.start},{span.end})."
    for span in sorted(decisions.standing):
        yield f"stands({span.start},{span.end})."
    for span in sorted(decisions.alone):
        yield f"alone({span.start},{span.end})."
    for first, second in sorted(decisions.nested):
        yield f"nested({first.start},{first.end},{second.start},{second.end})."
    for first, second in sorted(instance.constraints.apart):
        yield f"apart({first.start},{first.end},{second.start},{second.end})."


def _rule_facts(instance: Instance) -> Iterator[str]:
    """Yield what rules of one's own derived, beside what they forbid; costs of one pair are added up."""
    rules = instance.rules
    if not rules.consequences:
        return
    for number, group in enumerate(instance.constraints.groups, start=1):
        if not rules.required.isdisjoint(group.mentions):
            yield " ".join(f"held({number},{_mid(span)})." for span in group.mentions)
    if instance.required_costs.total:
        yield f"required_cost({instance.required_costs.total})."
    for span in sorted(
        {one.mentions[0] for one in rules.consequences if one.effect is Effect.REQUIRE_MENTION}
    ):
        yield f"require_mention({_mid(span)})."
    for name, costs in (("together_cost", rules.together), ("apart_cost", rules.apart)):
        for (first, second), cost in sorted(costs.items()):
            yield f"{name}({_mid(first)},{_mid(second)},{cost})."
    for first, second in sorted(rules.apart):
        evidence = instance.votes.evidence(first, second)
        if not evidence.givers:
            yield f"join_cost({_mid(first)},{_mid(second)},{-instance.prices.given(evidence).gain})."
    for sign, alone in ((1, rules.joining), (-1, rules.leaving)):
        yield from (f"mention_cost({_mid(span)},{sign * cost})." for span, cost in sorted(alone.items()))


def _mid(span: Span) -> str:
    return f"mid({span.start},{span.end})"


def positions(instance: Instance) -> str:
    """Return the facts that number the mentions in text order, for `cm_order.lp`."""
    return "\n".join(
        f"position(mid({span.start},{span.end}),{number})."
        for number, span in enumerate(instance.mentions, start=1)
    )


def chain_limit(instance: Instance) -> int:
    """Return the number of chains that CM assumes to suffice, as `cm.lp` computes it."""
    sizes = [len(annotation.chains) for annotation in instance.annotations]
    assumed = 6 * max([*sizes, len(instance.bundles)], default=0) // 5
    return min(max(assumed, LEAST_CHAIN_LIMIT), most_chains(instance))


def most_chains(instance: Instance) -> int:
    """Return a number of chains that no solution exceeds."""
    return len(instance.mentions) // 2
