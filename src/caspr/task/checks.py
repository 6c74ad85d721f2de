"""Checks: what is odd about a task before it is solved, as coded findings.

What is odd about the annotations alone is found by `text.checks`; here settings and decisions matter.
"""

from collections.abc import Iterator

from caspr.task.instance import Instance, Singletons
from caspr.text.findings import Finding, note, percent, times, warning


def check_task(instance: Instance) -> tuple[Finding, ...]:
    """Return everything odd about a task."""
    return (*_set_aside(instance), *_nested(instance), *_new_mentions(instance))


def _set_aside(instance: Instance) -> Iterator[Finding]:
    """Count the chains of one where they are dropped."""
    alone = [len(annotation.singletons) for annotation in instance.annotations]
    if any(alone) and instance.singletons is Singletons.DROP:
        who = times(sum(map(bool, alone)), "annotator")
        first = next(annotation for annotation in instance.annotations if annotation.singletons)
        span = min(span for chain in first.singletons for span in chain.mentions)
        document = first.document
        message = (
            f"{times(sum(alone), 'chain')} of one mention set aside ({who} had such, first "
            f"'{document.text(span)}' at token {span.start}; see --singletons)"
        )
        yield note("singleton-chains", message, count=sum(alone))


def _nested(instance: Instance) -> Iterator[Finding]:
    """Count the links that the rule on nesting takes away from the annotators."""
    votes = instance.votes
    given = {pair: votes.evidence(*pair).k for pair in votes.nested_links if instance.forbids_nesting(*pair)}
    if given:
        lost = sum(given.values())
        yield note(
            "nested-links",
            f"the rule on nesting ruled out {lost:,} of {times(votes.total, 'link')} given "
            f"({percent(lost, votes.total)}), which join a mention with one inside it (see --nested)",
            count=lost,
        )


def _new_mentions(instance: Instance) -> Iterator[Finding]:
    decided = instance.decisions.standing.union(instance.decisions.group_of)
    new = sorted(decided - instance.votes.marks.keys())
    if new:
        place = instance.annotations[0].document.place(new[0].start)
        message = f"{times(len(new), 'enforced mention')} that no annotator marked (first at {place})"
        yield warning("new-mentions", message, count=len(new))
