"""What decisions say about the boundaries of mentions, where these have variants (`text.variants`).

A mention that must exist has the boundary it was decided with. A boundary that is ruled out, by a
statement or by a closed token, is removed. Mentions decided to be apart, in different chains, or
nested in one chain, are not variants of each other. A group of variants that holds a decision stays what
it is, whoever annotates the document later.
"""

from collections.abc import Iterable, Sequence

from caspr.task.decisions import Decisions
from caspr.text.document import Annotation
from caspr.text.variants import BoundaryDecisions, VariantGroup


def boundary_decisions(
    annotations: Sequence[Annotation], decisions: Decisions, known: Iterable[VariantGroup] = ()
) -> BoundaryDecisions:
    """Return what decisions say about boundaries; of the known groups, those with a decision are kept."""
    marked = {span for annotation in annotations for span in annotation.mentions}
    removed = {span for span in marked | decisions.absent if decisions.rules_out(span)}
    return BoundaryDecisions(
        fixed=decisions.standing.union(decisions.group_of) - removed,
        removed=frozenset(removed),
        split=decisions.apart | decisions.nested,
        kept=decided_groups(known, decisions),
    )


def decided_groups(groups: Iterable[VariantGroup], decisions: Decisions) -> tuple[VariantGroup, ...]:
    """Return the groups of variants that hold a decision."""
    touched = {*decisions.group_of, *decisions.standing, *(span for pair in decisions.apart for span in pair)}
    return tuple(
        group
        for group in groups
        if touched & set(group.spans) or any(decisions.rules_out(span) for span in group.spans)
    )
