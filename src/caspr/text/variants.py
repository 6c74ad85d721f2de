"""Variants: spans of different annotators that are one mention, with boundaries that differ little.

    Anna    [Sir]  !            two spans share 1 of 2 tokens, and neither annotator marked both:
    Ben     [Sir    !]          one mention, whose boundary is that of most annotators

Two spans are *variants* of each other where they share at least half of the tokens that they cover together
(their Jaccard index), and no annotator marked both: one who did says that they are two mentions. A group of
variants is one mention, so every two of its spans must be variants of each other. Of all ways to put spans
into groups, the one with the largest sum of Jaccard indices over the pairs inside groups is taken, in exact
arithmetic; of several with that sum the first in text order, as `caspr.text.cliques` defines it. So the
groups depend on what was marked, and not on the order of files.

**Boundary.** That of most annotators, counted by their weights; of several the longest, and then the first
in the text.

**Decisions** of the adjudicator go before annotators (`BoundaryDecisions`):

* A *fixed* boundary is that of its group, also where no annotator marked it. Two of them are two mentions.
* A *removed* boundary is chosen for no group in which another is left. Where all are removed, so is the
  mention: the boundary is then chosen as if none were, and `VariantGroup.removed` says that nothing is left.
* A fixed boundary that nobody marked and a removed one are variants where they share any token: the
  adjudicator moved the boundary.
* Spans that are *split* are not in one group.
* *Kept* groups stay what they were, whoever annotated the document since. Their spans join no other group,
  and one who marked two of them has one mention for both. Only decisions change them: a boundary fixed or
  removed since then, or two boundaries fixed or spans split in one group, which is then no longer kept.

Annotators' own boundaries are not lost: a group has all its spans with those who marked them, and
`Variants.own` finds the span that an annotator marked in the place of a boundary.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import lcm

from caspr.text.cliques import partition_into_cliques
from caspr.text.document import Annotation, Document, Mark, Span
from caspr.text.findings import Finding, note, times


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
    """Whether the sum of Jaccard indices is proven largest; see the limit in `caspr.text.cliques`."""

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
        """Return the span that an annotator marked in the place of a boundary; without one, the boundary."""
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
    decided = decisions or BoundaryDecisions()
    marked = _marked(annotations, decided.fixed)
    kept = [
        _renewed(group, marked, weights or {}, decided) for group in decided.kept if _holds(group, decided)
    ]
    for group in kept:
        for span in group.spans:
            marked.pop(span, None)
    spans = sorted(marked)
    found = partition_into_cliques(len(spans), _weights(spans, marked, decided))
    groups = [
        _group([(spans[node], marked[spans[node]]) for node in clique], weights or {}, decided)
        for clique in found.cliques
        if len(clique) > 1
    ]
    return Variants(tuple(sorted((*kept, *groups), key=lambda group: group.spans)), found.exact)


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
    return len(decided.fixed & set(group.spans)) < 2 and not any(
        one in group.spans and other in group.spans for one, other in decided.split
    )


def _renewed(
    group: VariantGroup,
    marked: Mapping[Span, tuple[str, ...]],
    weights: Mapping[str, int],
    decided: BoundaryDecisions,
) -> VariantGroup:
    """Return a kept group with those who marked its spans by now; decisions may have moved its boundary."""
    found = _group([(span, marked.get(span, ())) for span in group.spans], weights, decided)
    if found.boundary in decided.fixed or group.boundary in decided.removed:
        return found
    return replace(found, boundary=group.boundary)


def _weights(
    spans: Sequence[Span], marked: Mapping[Span, tuple[str, ...]], decided: BoundaryDecisions
) -> dict[tuple[int, int], int]:
    """Return the Jaccard indices of all variants, times one whole number that makes them whole."""
    apart = {frozenset(pair) for pair in decided.split}
    moved = {span for span in decided.fixed if not marked.get(span)}
    found = {
        (one, other): _shared(spans[one], spans[other])
        for one, other in _overlapping(spans, moved, decided.removed)
        if set(marked[spans[one]]).isdisjoint(marked[spans[other]])
        and not {spans[one], spans[other]} <= decided.fixed
        and not (apart and frozenset((spans[one], spans[other])) in apart)
    }
    scale = lcm(*(union for _, union in found.values()))
    return {pair: common * (scale // union) for pair, (common, union) in found.items()}


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
        active = [other for other in active if spans[other].end >= span.start]
        for other in active:
            pair = spans[other], span
            is_move = bool(moved) and any(one in moved and two in removed for one, two in (pair, pair[::-1]))
            if is_move or overlap_by_half(*pair):
                yield other, number
        active.append(number)


def overlap_by_half(one: Span, other: Span) -> bool:
    """Return whether two spans share at least half of the tokens that they cover together.

    >>> overlap_by_half(Span(1, 2), Span(2, 2)), overlap_by_half(Span(1, 3), Span(3, 4))
    (True, False)
    """
    if one.end < other.start or other.end < one.start:
        return False
    common, union = _shared(one, other)
    return 2 * common >= union


def _shared(one: Span, other: Span) -> tuple[int, int]:
    """Return how many tokens two overlapping spans share, and how many they cover.

    >>> _shared(Span(1, 3), Span(2, 5))
    (2, 5)
    """
    common = min(one.end, other.end) - max(one.start, other.start) + 1
    return common, max(one.end, other.end) - min(one.start, other.start) + 1


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
        replace(chain, mentions=tuple(sorted({boundaries.get(span, span) for span in chain.mentions})))
        for chain in annotation.all_chains
    ]
    moved = Annotation.of(annotation.annotator, annotation.document, chains, annotation.findings)
    given = tuple(tuple(boundaries.get(span, span) for span in chain) for chain in annotation.as_given)
    return replace(moved, as_given=given, marks=_moved_marks(annotation.marks, boundaries))


def _moved_marks(marks: Mapping[Span, Mark], boundaries: Mapping[Span, Span]) -> dict[Span, Mark]:
    """Move labels to other boundaries; the pieces of a mention with gaps stay with its own boundary only."""
    own = {span: mark for span, mark in marks.items() if boundaries.get(span, span) == span}
    moved = {
        boundaries.get(span, span): Mark(mark.label) for span, mark in sorted(marks.items()) if mark.label
    }
    return {**moved, **own}


def variant_findings(variants: Variants, document: Document, *, used: bool) -> tuple[Finding, ...]:
    """Report the variants of a document, and what `--variants` did or would do about them."""
    if not variants.groups:
        return ()
    mentions = len(variants.groups)
    first = variants.groups[0].spans
    words = ", ".join(f"'{document.text(span)}'" for span in first)
    more = "first: " if mentions > 1 else ""
    where = f"token {min(span.start for span in first)}"
    number = times(mentions, "mention")
    what = f"{number} with variants, boundaries that differ little ({more}{words} at {where})"
    done = "given the boundary of most annotators" if used else "kept apart; --variants unites them"
    found = [note("boundary-variants", f"{what}: {done}", count=mentions)]
    if used and not variants.exact:
        found.append(
            note("greedy-variants", "too many overlapping variants to find the best groups; grouped greedily")
        )
    return tuple(found)
