"""Variants: spans of different annotators that are one mention, with boundaries that differ little.

    Anna    [Sir]  !            two spans share 1 of 2 tokens, and neither annotator marked both:
    Ben     [Sir    !]          one mention, whose boundary is that of most annotators

Two spans are *variants* of each other where they share at least half of the tokens that they cover together
(their Jaccard index), and no annotator marked both: one who did says that they are two mentions. A group of
variants is one mention, so every two of its spans must be variants of each other. Of all ways to put spans
into groups, the one with the largest sum of Jaccard indices over the pairs inside groups is taken, in exact
arithmetic; of several with that sum the first in text order. So the groups depend on what was marked, and
not on the order of files.

**Boundary.** That of most annotators, counted by their weights; of several the longest, and then the first
in the text.

**Decisions** of the adjudicator go before annotators (`BoundaryDecisions`):

* A *fixed* boundary is that of its group, also where no annotator marked it. Two of them are two mentions.
* A *removed* boundary is chosen for no group in which another is left. Where all are removed, so is the
  mention: the boundary is then chosen as if none were, and `VariantGroup.removed` says that nothing is left.
* A fixed boundary that nobody marked and a removed one are variants where they share any token: the
  adjudicator moved the boundary. So every two spans of a group share a token, and half of their tokens
  where decisions say nothing about them; `VariantGroup` refuses anything else, whoever makes one.
* Spans that are *split* are not in one group.
* *Kept* groups stay what they were, whoever annotated the document since. Their spans join no other group,
  and one who marked two of them has one mention for both. Only decisions change them: a boundary fixed or
  removed since then, or two boundaries fixed, spans split or a move taken back in one group, which is then
  no longer kept.

Annotators' own boundaries are not lost: a group has all its spans with those who marked them, and
`Variants.own` finds the span that an annotator marked in the place of a boundary.

**Grouping** is to partition the nodes of a weighted graph into cliques, so that the weights inside cliques
add up to most:

    a --- b --- c        a-b 3, b-c 2, no edge a-c: {a, b} {c} has 3, {a} {b, c} only 2

Nodes are numbered; all weights are positive whole numbers. Of several partitions with the largest sum, the
one is returned whose list of *first nodes* (for each node, in order, the smallest node of its clique) is
the smallest. So the answer depends on nothing but the graph.

*Method.* Parts of the graph that no edge connects are solved by themselves. In each, nodes are taken in
order and put into an open clique or a new one. A clique is open as long as some later node is a neighbour
of all its nodes; what can still happen depends on nothing but the open cliques. So of all ways to get the
same open cliques only the best is kept, and the last node leaves one way, which is the best. Where numbers
follow the text, edges are short, and few cliques are open at a time: the number of ways does not grow with
the length of a part.

*Bound.* An edge between two cliques is lost. A later node keeps its edges to one open clique at most and
loses its other edges to earlier nodes. A way that has lost more than a greedy partition loses in all is
dropped; ways that lose as much are kept for the sake of ties. This keeps dense parts small: in a clique
nothing is ever lost.

*Limits.* A part that needs more than `WAYS` ways at a time, or is reached after `STEPS` steps of the search,
gets the greedy partition instead, which joins the ends of edges by weight, then by number, where that makes a
clique. `CliquePartition.exact` says so. Where more than `PAIRS` pairs of spans overlap, as in tens of
thousands of mentions inside each other, nothing is grouped, and `Variants.sought` says so. The answer stays
the same on every machine, since ways, steps and pairs are counted, not seconds.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import lcm

from caspr.text.document import Annotation, Document, Mark, Span, count_overlaps
from caspr.text.findings import Finding, note, times
from caspr.text.grouping import Groups

WAYS = 3000
"""How many sets of open cliques are followed at a time."""
STEPS = 500_000
"""How often it is asked, in one document, whether a node fits into a clique: about half a second."""
PAIRS = 1_000_000
"""How many overlapping pairs of spans are looked at in one document: less than a second."""
Clique = tuple[int, ...]
"""Nodes in order."""
Way = tuple[int, tuple[int, ...]]
"""The weight kept so far, and the first node of the clique of each node so far."""


@dataclass(frozen=True)
class VariantGroup:
    """One mention that annotators marked with different boundaries."""

    spans: tuple[Span, ...]
    """Two or more, in text order."""
    annotators: tuple[tuple[str, ...], ...]
    """Who marked each span, by name; nobody where the adjudicator set the boundary."""
    boundary: Span
    """The span that stands for all of them, one of `spans`."""
    removed: bool = False
    """Whether decisions removed every one of the spans, and so the mention."""

    def __post_init__(self) -> None:
        """Refuse what cannot be one mention."""
        apart = any(not first.overlaps(second) for first, second in combinations(self.spans, 2))
        if len(self.spans) < 2 or self.boundary not in self.spans or apart:
            raise ValueError(f"{self.spans!r} with boundary {self.boundary!r} as variants")

    @property
    def marked(self) -> Mapping[str, Span]:
        """The span that each annotator marked; of several in a kept group, the boundary or else the first."""
        pairs = [
            (name, span) for span, names in zip(self.spans, self.annotators, strict=True) for name in names
        ]
        pairs.sort(key=lambda pair: (pair[1] != self.boundary, pair[1]), reverse=True)
        return dict(pairs)


@dataclass(frozen=True)
class BoundaryDecisions:
    """What an adjudicator said about boundaries."""

    fixed: frozenset[Span] = frozenset()
    """Spans that must be mentions: enforced, together with others, or existing."""
    removed: frozenset[Span] = frozenset()
    """Spans that must not be mentions."""
    split: frozenset[tuple[Span, Span]] = frozenset()
    """Pairs of spans, in any order, that are two mentions: decided apart, or in different chains."""
    kept: tuple[VariantGroup, ...] = ()
    """Groups that decisions were made about, as they were then; no span is in two of them."""


@dataclass(frozen=True)
class Variants:
    """All groups of variants of one document."""

    groups: tuple[VariantGroup, ...] = ()
    """In text order."""
    exact: bool = True
    """Whether the sum of Jaccard indices is proven largest; see the limits in `caspr.text.variants`."""
    sought: bool = True
    """Whether variants were looked for, apart from kept ones; not where too many spans overlap."""

    @cached_property
    def boundaries(self) -> Mapping[Span, Span]:
        """The boundary that stands for each span of a group."""
        return {span: group.boundary for group in self.groups for span in group.spans}

    @cached_property
    def _by_boundary(self) -> Mapping[Span, VariantGroup]:
        return {group.boundary: group for group in self.groups}

    def group(self, boundary: Span) -> VariantGroup | None:
        """Return the group that a boundary stands for, if it does."""
        return self._by_boundary.get(boundary)

    def own(self, annotator: str, boundary: Span) -> Span:
        """Return the span that an annotator marked instead of a boundary; the boundary if there is none."""
        group = self.group(boundary)
        return boundary if group is None else group.marked.get(annotator, boundary)


def find_variants(
    annotations: Sequence[Annotation],
    *,
    weights: Mapping[str, int] | None = None,
    decisions: BoundaryDecisions | None = None,
) -> Variants:
    """Find the mentions that annotators marked with different boundaries.

    The annotations are of one document, over the same tokens. An annotator without a weight has weight 1.
    """
    decided, weights = decisions or BoundaryDecisions(), weights or {}
    marked = _marked(annotations, decided.fixed)
    kept = [_renewed(group, marked, weights, decided) for group in decided.kept if _holds(group, decided)]
    for group in kept:
        for span in group.spans:
            marked.pop(span, None)
    spans = sorted(marked)
    alike = _weights(spans, marked, decided)
    partition = partition_into_cliques(len(spans), alike or {})
    groups = [
        _group([(spans[node], marked[spans[node]]) for node in clique], weights, decided)
        for clique in partition.cliques
        if len(clique) > 1
    ]
    every = tuple(sorted((*kept, *groups), key=lambda group: group.spans))
    return Variants(every, partition.exact and alike is not None, sought=alike is not None)


def _marked(annotations: Iterable[Annotation], decided: Iterable[Span]) -> dict[Span, tuple[str, ...]]:
    """Return who marked each span, by name."""
    marked: dict[Span, list[str]] = defaultdict(list)
    for span in decided:
        marked[span] = []
    for annotation in sorted(annotations, key=lambda annotation: annotation.annotator):
        for span in annotation.mentions:
            marked[span].append(annotation.annotator)
    return {span: tuple(names) for span, names in marked.items()}


def _holds(group: VariantGroup, decided: BoundaryDecisions) -> bool:
    """Return whether decisions let a kept group be one mention."""
    spans = set(group.spans)
    if len(decided.fixed & spans) > 1 or any(spans.issuperset(pair) for pair in decided.split):
        return False
    return all(_are_variants(pair, decided.fixed, decided.removed) for pair in combinations(group.spans, 2))


def _renewed(
    group: VariantGroup,
    marked: Mapping[Span, tuple[str, ...]],
    weights: Mapping[str, int],
    decided: BoundaryDecisions,
) -> VariantGroup:
    """Return a kept group with those who marked its spans by now; decisions may have moved its boundary."""
    renewed = _group([(span, marked.get(span, ())) for span in group.spans], weights, decided)
    if renewed.boundary in decided.fixed or group.boundary in decided.removed:
        return renewed
    return replace(renewed, boundary=group.boundary)


def _weights(
    spans: Sequence[Span], marked: Mapping[Span, tuple[str, ...]], decided: BoundaryDecisions
) -> dict[tuple[int, int], int] | None:
    """Return the Jaccard indices of all variants, times one whole number that makes them whole.

    Return `None` where too many spans overlap.
    """
    if count_overlaps(spans) > PAIRS:
        return None
    apart = {frozenset(pair) for pair in decided.split}
    moved = {span for span in decided.fixed if not marked.get(span)}
    shared = {
        (first, second): _shared(spans[first], spans[second])
        for first, second in _overlapping(spans, moved, decided.removed)
        if set(marked[spans[first]]).isdisjoint(marked[spans[second]])
        and not {spans[first], spans[second]} <= decided.fixed
        and not (apart and frozenset((spans[first], spans[second])) in apart)
    }
    scale = lcm(*(union for _, union in shared.values()))
    return {pair: common * (scale // union) for pair, (common, union) in shared.items()}


def _overlapping(
    spans: Sequence[Span], moved: Collection[Span] = (), removed: Collection[Span] = ()
) -> Iterator[tuple[int, int]]:
    """Yield the numbers of all pairs of sorted spans that share at least half of their tokens.

    A span that was moved and one that was removed need share one token only.
    """
    active: list[int] = []
    reach = 0
    for number, span in enumerate(spans):
        if span.start > reach:
            active, reach = [number], span.end
            continue
        reach = max(reach, span.end)
        active = [earlier for earlier in active if spans[earlier].end >= span.start]
        for earlier in active:
            if _are_variants((spans[earlier], span), moved, removed):
                yield earlier, number
        active.append(number)


def _are_variants(pair: tuple[Span, Span], moved: Collection[Span], removed: Collection[Span]) -> bool:
    """Return whether two overlapping spans may be one mention; one moved from the other may be anywhere."""
    is_move = bool(moved) and any(new in moved and old in removed for new, old in (pair, pair[::-1]))
    return is_move or overlap_by_half(*pair)


def overlap_by_half(first: Span, second: Span) -> bool:
    """Return whether two spans share at least half of the tokens that they cover together.

    >>> overlap_by_half(Span(1, 2), Span(2, 2)), overlap_by_half(Span(1, 3), Span(3, 4))
    (True, False)
    """
    if first.end < second.start or second.end < first.start:
        return False
    common, union = _shared(first, second)
    return 2 * common >= union


def _shared(first: Span, second: Span) -> tuple[int, int]:
    """Return how many tokens two overlapping spans share, and how many they cover.

    >>> _shared(Span(1, 3), Span(2, 5))
    (2, 5)
    """
    common = min(first.end, second.end) - max(first.start, second.start) + 1
    return common, max(first.end, second.end) - min(first.start, second.start) + 1


def _group(
    members: Sequence[tuple[Span, tuple[str, ...]]], weights: Mapping[str, int], decided: BoundaryDecisions
) -> VariantGroup:
    """Choose the boundary of a group."""
    spans = [span for span, _ in members]
    chosen = [span for span in spans if span in decided.fixed]
    left = chosen or [span for span in spans if span not in decided.removed]

    def support(member: tuple[Span, tuple[str, ...]]) -> tuple[int, int, int]:
        span, names = member
        return sum(weights.get(name, 1) for name in names), span.end - span.start, -span.start

    boundary, _ = max((member for member in members if member[0] in (left or spans)), key=support)
    return VariantGroup(tuple(spans), tuple(names for _, names in members), boundary, removed=not left)


def joined(
    variants: Variants,
    mentions: Iterable[Collection[Span]],
    annotations: Iterable[Annotation],
    weights: Mapping[str, int],
) -> Variants:
    """Return variants with more spans in one group: for each mention its spans, or the boundaries of groups.

    What cannot be one group, because two of its spans share no token, stays what it is.
    """
    marked, groups = _marked(annotations, ()), {group.boundary: group for group in variants.groups}
    for mention in mentions:
        spans = sorted(span for own in mention for span in (groups[own].spans if own in groups else (own,)))
        if all(first.overlaps(second) for first, second in combinations(spans, 2)):
            group = _group([(span, marked[span]) for span in spans], weights, BoundaryDecisions())
            groups = {boundary: other for boundary, other in groups.items() if boundary not in mention}
            groups[group.boundary] = group
    return replace(variants, groups=tuple(sorted(groups.values(), key=lambda group: group.spans)))


def unify(annotations: Sequence[Annotation], variants: Variants) -> tuple[Annotation, ...]:
    """Return the annotations with the boundary of its group in the place of each variant.

    Two spans of one annotator become one only in kept groups; a chain that then has one mention is set aside
    with the chains of one.
    """
    return tuple(_unified(annotation, variants.boundaries) for annotation in annotations)


def _unified(annotation: Annotation, boundaries: Mapping[Span, Span]) -> Annotation:
    if not annotation.mentions & boundaries.keys():
        return annotation
    chains = [
        chain.over(boundaries.get(span, span) for span in chain.mentions) for chain in annotation.all_chains
    ]
    moved = Annotation.of(annotation.annotator, annotation.document, chains, annotation.findings)
    as_given = tuple(tuple(boundaries.get(span, span) for span in chain) for chain in annotation.as_given)
    return replace(moved, as_given=as_given, marks=_moved_marks(annotation.marks, boundaries))


def _moved_marks(marks: Mapping[Span, Mark], boundaries: Mapping[Span, Span]) -> dict[Span, Mark]:
    """Move labels to other boundaries; the pieces of a mention with gaps stay with its own boundary only."""
    own = {span: mark for span, mark in marks.items() if boundaries.get(span, span) == span}
    moved = {
        boundaries.get(span, span): Mark(mark.label) for span, mark in sorted(marks.items()) if mark.label
    }
    return {**moved, **own}


def variant_findings(variants: Variants, document: Document, *, used: bool) -> tuple[Finding, ...]:
    """Report the variants of a document, and what `--variants` did or would do about them."""
    if not variants.sought:
        message = f"more than {PAIRS:,} pairs of mentions overlap: variants were not looked for"
        return (note("variants-not-sought", message),)
    if not variants.groups:
        return ()
    mentions = len(variants.groups)
    first = variants.groups[0].spans
    words = ", ".join(f"'{document.text(span)}'" for span in first)
    more, token = "first: " if mentions > 1 else "", min(span.start for span in first)
    were = "was" if mentions == 1 else "were"
    number = f"{times(mentions, 'mention')} {were} marked with slightly different boundaries"
    what = f"{number} ({more}{words} at token {token})"
    done = "merged, with the boundary of most annotators" if used else "kept separate"
    option = "" if used else "; --variants merges them"
    findings = [note("boundary-variants", f"{what}: {done}", count=mentions, option=option)]
    if used and not variants.exact:
        message = "too many overlapping variants to find the best groups; grouped greedily"
        findings.append(note("greedy-variants", message))
    return tuple(findings)


@dataclass(frozen=True)
class CliquePartition:
    """Every node in one clique."""

    cliques: tuple[Clique, ...]
    """By their first nodes; those of one node included."""
    exact: bool
    """Whether no partition has a larger sum; false where a part reached the limit."""


def partition_into_cliques(
    nodes: int, weights: Mapping[tuple[int, int], int], *, ways: int = WAYS
) -> CliquePartition:
    """Partition nodes 0, 1, ...; `weights` has each edge once, the smaller node first.

    >>> partition_into_cliques(4, {(0, 1): 3, (1, 2): 2})
    CliquePartition(cliques=((0, 1), (2,), (3,)), exact=True)
    """
    graph = _Graph(weights)
    connected = sorted({node for edge in weights for node in edge})
    parts = Groups(connected)
    for edge in weights:
        parts.join(*edge)
    cliques: list[Clique] = [(node,) for node in sorted(set(range(nodes)) - set(connected))]
    exact = True
    for part in parts.lists():
        if len(part) == 2:
            cliques.append(tuple(part))
            continue
        greedy = _greedy(graph, part)
        lost = graph.weight_of_part(part) - sum(map(graph.weight, greedy))
        # Where nothing is lost, the part is one clique, as all weights are positive.
        best = _best(graph, part, lost, ways) if lost else greedy
        exact = exact and best is not None
        cliques.extend(greedy if best is None else best)
    return CliquePartition(tuple(sorted(cliques)), exact)


class _Graph:
    """Edges looked up from either end."""

    def __init__(self, weights: Mapping[tuple[int, int], int]) -> None:
        self.edges: dict[int, dict[int, int]] = defaultdict(dict)
        for (first, second), weight in weights.items():
            self.edges[first][second] = weight
            self.edges[second][first] = weight
        self.steps = 0
        """How often a gain was asked for."""

    def gain(self, node: int, clique: Iterable[int]) -> int:
        """Return what a node adds to a clique; 0 if it does not fit."""
        self.steps += 1
        gains = [self.edges[node].get(member, 0) for member in clique]
        return sum(gains) if all(gains) else 0

    def weight(self, nodes: Sequence[int]) -> int:
        """Return the weight of all edges between some nodes."""
        return sum(self.edges[first].get(second, 0) for first in nodes for second in nodes) // 2

    def weight_of_part(self, part: Iterable[int]) -> int:
        """Return the same for nodes without edges to others."""
        return sum(sum(self.edges[node].values()) for node in part) // 2


def _greedy(graph: _Graph, part: Sequence[int]) -> list[Clique]:
    """Join the ends of edges, the heaviest first, where the result is a clique."""
    holder = {node: [node] for node in part}
    edges = [
        (-weight, first, second)
        for first in part
        for second, weight in graph.edges[first].items()
        if first < second
    ]
    for _, first, second in sorted(edges):
        left, right = holder[first], holder[second]
        if left is not right and all(graph.edges[node].keys() >= set(right) for node in left):
            left += right
            holder.update(dict.fromkeys(right, left))
    return [tuple(sorted(clique)) for node, clique in holder.items() if node == min(clique)]


def _best(graph: _Graph, part: Sequence[int], most_lost: int, ways: int) -> list[Clique] | None:
    """Return the best partition of a connected part, which loses at most `most_lost`; `None` at the limit."""
    best: dict[tuple[Clique, ...], Way] = {(): (0, ())}
    seen = 0
    by_first = defaultdict(list)
    for node in part:
        by_first[min(graph.edges[node])].append(node)
    waiting: set[int] = set()
    for node in part:
        seen += sum(weight for earlier, weight in graph.edges[node].items() if earlier < node)
        waiting.update(later for later in by_first[node] if later > node)
        waiting.discard(node)
        following: dict[tuple[Clique, ...], Way] = {}
        for cliques, (kept, firsts) in best.items():
            for joined, gain, first in _choices(graph, cliques, node):
                opened = tuple(
                    clique for clique in joined if any(graph.gain(later, clique) for later in waiting)
                )
                way = (kept + gain, (*firsts, first))
                if opened not in following or _rank(way) < _rank(following[opened]):
                    following[opened] = way
        best = {
            cliques: way
            for cliques, way in following.items()
            if seen - way[0] + _doomed(graph, cliques, waiting, node) <= most_lost
        }
        if len(best) > ways or graph.steps > STEPS:
            return None
    [(_, firsts)] = best.values()
    nodes_of: dict[int, list[int]] = defaultdict(list)
    for node, first in zip(part, firsts, strict=True):
        nodes_of[first].append(node)
    return [tuple(clique) for clique in nodes_of.values()]


def _rank(way: Way) -> Way:
    """Return a key by which the way that keeps most, then the one with the smallest first nodes, is least."""
    return -way[0], way[1]


def _choices(
    graph: _Graph, cliques: tuple[Clique, ...], node: int
) -> Iterator[tuple[tuple[Clique, ...], int, int]]:
    """Yield the cliques after each choice for a node, what it gains, and the first node of its clique."""
    yield (*cliques, (node,)), 0, node
    for number, clique in enumerate(cliques):
        gain = graph.gain(node, clique)
        if gain:
            yield (*cliques[:number], (*clique, node), *cliques[number + 1 :]), gain, clique[0]


def _doomed(graph: _Graph, cliques: Iterable[Clique], waiting: Iterable[int], node: int) -> int:
    """Return the weight that later nodes lose to the nodes up to this one, whatever they join."""
    doomed = 0
    for later in waiting:
        earlier = sum(weight for placed, weight in graph.edges[later].items() if placed <= node)
        doomed += earlier - max((graph.gain(later, clique) for clique in cliques), default=0)
    return doomed
