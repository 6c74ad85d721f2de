"""Read answer sets: the text of atoms becomes a partition.

In both encodings a chain is a connected component of the chosen links `clink/2`. For MM that is its
definition; CM can give two unconnected groups one number, which is never cheaper than two numbers, and
reading the links separates them.
"""

import re
from collections import defaultdict

from caspr.task.solution import Partition, canonical
from caspr.text.document import Span
from caspr.text.grouping import Groups

_LINK = re.compile(r"clink\(mid\((\d+),(\d+)\),mid\((\d+),(\d+)\)\)")
_RESULT = re.compile(r"result_cm\(((?:mid\(\d+,\d+\))|\d+),mid\((\d+),(\d+)\)\)")


def partition_of_links(atoms: str) -> Partition:
    """Join mentions along the chosen links.

    >>> partition_of_links("clink(mid(1,1),mid(4,4)) clink(mid(4,4),mid(6,6))")
    ((Span(start=1, end=1), Span(start=4, end=4), Span(start=6, end=6)),)
    """
    chains: Groups[Span] = Groups()
    for found in _LINK.finditer(atoms):
        start, end, other_start, other_end = map(int, found.groups())
        one, other = Span(start, end), Span(other_start, other_end)
        chains.add(one)
        chains.add(other)
        chains.join(one, other)
    return canonical(chains.lists())


def partition_of_results(atoms: str) -> Partition:
    """Collect the mentions of each result chain.

    >>> partition_of_results("result_cm(1,mid(6,6)) result_cm(1,mid(1,3))")
    ((Span(start=1, end=3), Span(start=6, end=6)),)
    """
    chains: dict[str, list[Span]] = defaultdict(list)
    for found in _RESULT.finditer(atoms):
        chains[found[1]].append(Span(int(found[2]), int(found[3])))
    return canonical(chains.values())
