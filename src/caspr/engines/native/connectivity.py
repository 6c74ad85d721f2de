"""What holds a chain together: its pieces by links that are free or used without loss.

A link is used at no loss where its price says so (`task.pair_price`). Mentions of one class (signature
and enforced group) are alike, so pieces are found between classes; the pairs of a chain are never listed.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from caspr.task.decisions import Pair
from caspr.task.instance import Instance
from caspr.task.pricing import Class, classes_of, pairs_of
from caspr.task.votes import meet
from caspr.text.document import Span
from caspr.text.grouping import Groups


def pieces(instance: Instance, chain: Collection[Span], glued: Iterable[Pair] = ()) -> list[list[Span]]:
    """Split a chain into the pieces that free, preferred and glued links leave connected, in order."""
    members: dict[Class, list[Span]] = {}
    for mention in sorted(chain):
        key = (instance.votes.signature(mention), instance.free_groups.get(mention), None)
        members.setdefault(key, []).append(mention)
    groups = Groups(sorted(chain))
    for together in _connected_classes(instance, members):
        first = members[together[0]][0]
        for held in together:
            for mention in members[held]:
                groups.join(first, mention)
    inside = set(chain)
    for first, second in (*glued, *instance.rules.links_within(inside)):
        if first in inside and second in inside:
            groups.join(first, second)
    return groups.lists()


def _connected_classes(instance: Instance, members: Mapping[Class, Sequence[Span]]) -> Iterator[list[Class]]:
    """Yield classes whose mentions used links connect, all that belong together at a time.

    A link between two classes connects all their mentions. Classes that are reached are compared with those
    that are not, so a chain that the first class connects costs no more than the number of its classes.
    """
    left = dict.fromkeys(members)
    while left:
        start = next(iter(left))
        del left[start]
        reached = [start]
        for current in reached:
            new = [near for near in left if _used(instance, current, near)]
            for near in new:
                del left[near]
            reached += new
        if len(reached) > 1 or (len(members[start]) > 1 and _used(instance, start, start)):
            yield reached


def _used(instance: Instance, first: Class, second: Class) -> bool:
    free = first[1] is not None and first[1] == second[1]
    return free or instance.prices.of(meet(first[0], second[0])).connects


def extra(instance: Instance, first: Span, second: Span) -> int | None:
    """Return what using a link costs above the cheapest choice; `None` if nobody gave it."""
    return 0 if instance.is_free(first, second) else instance.price(first, second).extra


def first_links(instance: Instance, chain: Collection[Span], demanded: Collection[Span]) -> list[Pair]:
    """Return, for each demanded mention of a chain, its link that costs least extra."""
    links = []
    for mention in sorted(set(chain).intersection(demanded)):
        costs = ((extra(instance, mention, near), near) for near in sorted(chain) if near != mention)
        ranked = [(cost, near) for cost, near in costs if cost is not None]
        if ranked:
            links.append((mention, min(ranked)[1]))
    return links


def contradicts(instance: Instance, bundle: Collection[Span], apart: Collection[Pair] = ()) -> bool:
    """Return whether mentions that must share a chain cannot."""
    inside = set(bundle)
    if not all(_may_exist(instance, span) for span in inside):
        return True
    decisions = instance.constraints
    groups = (decisions.group_of[span] for span in inside if span in decisions.group_of)
    if len({id for group in groups for id in group.ids}) > 1:
        return True
    if next(instance.nested_faults(bundle), None) is not None:
        return True
    if next(instance.rules.faults(inside), None) is not None:
        return True
    if any(first in inside and second in inside for first, second in (*apart, *instance.decisions.apart)):
        return True
    pairs = pairs_of(classes_of(instance, inside), counted=instance.prices.counted)
    barred = sum(
        pair.number for pair in pairs if not (pair.free or instance.prices.of(pair.evidence).allowed)
    )
    # Pairs that only a rule links are counted as barred, and are not.
    return barred > sum(_only_given(instance, *pair) for pair in instance.rules.links_within(inside))


def _only_given(instance: Instance, first: Span, second: Span) -> bool:
    by_votes = instance.prices.of(instance.votes.evidence(first, second))
    return not (by_votes.allowed or instance.is_free(first, second))


def _may_exist(instance: Instance, mention: Span) -> bool:
    known = mention in instance.votes.signatures or mention in instance.constraints.group_of
    known = known or mention in instance.rules.given
    return known and not instance.constraints.excludes(mention)
