"""Chains as pointers from a markable to its antecedent, the other way in which MMAX2 expresses them.

    <markable id="markable_7" span="word_9" anaphor_antecedent="markable_3"/>

1. A pointer names one markable or several (`markable_3;markable_5`), in its own level or in another
   (`secmark:markable_4`). What pointers connect is a chain; a markable that has no pointer and that none
   leads to is no mention.
2. Written back, pointers inside a chain stay, and as few are added as hold it together. A chain of one has no
   pointer, so that it is not written, and counted.
"""

from collections.abc import Iterator, Sequence

from caspr.formats.containers.xml import Element
from caspr.formats.mmax.project import Level, MmaxProject
from caspr.formats.text_layer.relation_names import means_coreference
from caspr.text.grouping import Groups

NONE = ("", "empty")
"""The values of an attribute that holds no chain."""


def pointer_attribute(level: Level) -> str | None:
    """Return the attribute of a level that points to antecedents, if its scheme has one."""
    for one in level.scheme.root.all() if level.scheme is not None else ():
        name = one.attributes.get("name", "").lower()
        kind = one.attributes.get("type", "").lower()
        if one.name == "attribute" and kind == "markable_pointer" and means_coreference([name]):
            return name
    return None


def targets(value: str) -> list[str]:
    """Return the markables that a value points to.

    >>> targets("markable_3;secmark:markable_4"), targets("empty")
    (['markable_3', 'secmark:markable_4'], [])
    """
    return [part.strip() for part in value.split(";") if part.strip() not in NONE]


def pointed(project: MmaxProject, level: Level, attribute: str) -> Iterator[tuple[str, str, Level, Element]]:
    """Yield each markable that pointers connect with others, with its chain and its level."""
    known = {one.attributes.get("id", ""): (level, one) for one in level.markup.root.named("markable")}
    for other in project.levels:
        if other is not level:
            every = other.markup.root.named("markable")
            known |= {f"{other.name}:{one.attributes.get('id', '')}": (other, one) for one in every}
    groups = Groups(known)
    linked: set[str] = set()
    for id, (where, one) in known.items():
        for target in targets(one.attributes.get(attribute, "")) if where is level else ():
            # A level may name itself, too.
            end = target.removeprefix(f"{level.name}:")
            if end not in known:
                raise level.markup.refuse(one, f"a pointer to {target!r}", "the id of a markable")
            groups.join(id, end)
            linked |= {id, end}
    heads = groups.firsts()
    for id, (where, one) in known.items():
        if id in linked:
            yield id, heads[id], where, one


def pointer_values(chains: Sequence[Sequence[str]], before: dict[str, str]) -> dict[str, str]:
    """Return what the attribute of each markable of the level is, so that chains hold together.

    `before` has the values of the markables of the level; ids with a colon are in other levels, and get none.
    """
    values: dict[str, str] = {}
    for chain in chains:
        own = {
            id: [end for end in targets(before.get(id, "")) if end in chain] for id in chain if ":" not in id
        }
        groups = Groups(chain)
        for id, ends in own.items():
            for end in ends:
                groups.join(id, end)
        first, *others = groups.lists()
        for group in others:
            bare = sorted((id for id in group if id in own), key=lambda id: len(own[id]))
            if bare:
                own[bare[0]].append(first[0])
            elif any(id in own for id in first):
                own[next(id for id in first if id in own)].append(group[0])
            first = [*first, *group]
        values |= {id: ";".join(ends) or "empty" for id, ends in own.items()}
    return values
