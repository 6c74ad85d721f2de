"""Disagreements fall into kinds: each disputed mention into one, whoever comes first, as few as possible."""

import random
from collections import Counter
from itertools import combinations, permutations

import pytest

from caspr.measures.marks import Marks
from caspr.measures.typology import (
    DisagreementCounts,
    DisagreementKind,
    Typology,
    align_mentions,
    classify,
    count_all,
    match_entities,
)
from caspr.text.coverage import Coverage
from caspr.text.document import Annotation, Chain, Document, Span

Chains = list[list[tuple[int, int]]]


def annotated(name: str, chains: Chains, tokens: int = 20) -> Annotation:
    document = Document("doc", tuple(f"w{number}" for number in range(1, tokens + 1)))
    return Annotation.of(name, document, [Chain.of(str(n), chain) for n, chain in enumerate(chains)])


def drawn(seed: int, annotators: int = 3, tokens: int = 12) -> list[Annotation]:
    """Draw annotations that share many spans, with nested, crossing and single ones."""
    rng = random.Random(seed)
    pool = [(start, min(tokens, start + rng.choice([0, 0, 1, 2, 4]))) for start in range(1, tokens + 1)]
    pool += [(start, start) for start, _ in pool[::3]]
    found = []
    for number in range(annotators):
        chains: list[list[tuple[int, int]]] = [[] for _ in range(4)]
        for span in sorted(set(pool)):
            if rng.random() < 0.75:
                end = span[1] + (1 if rng.random() < 0.15 and span[1] < tokens else 0)
                rng.choice(chains).append((span[0], end))
        found.append(annotated(f"a{number}", [chain for chain in chains if chain], tokens))
    return found


def kinds(one: Chains, other: Chains, *, singletons: bool | None = None) -> dict[str, int]:
    """Return the kinds of disagreement between two annotators that there are."""
    found = classify([annotated("one", one), annotated("other", other)], singletons=singletons)
    return {str(kind): count for kind, count in found.counts.kinds.items() if count}


KING: Chains = [[(1, 2), (9, 9), (11, 11)]]


class TestKinds:
    def test_boundary(self) -> None:
        assert kinds([[(1, 2), (9, 9)]], [[(1, 3), (9, 9)]]) == {"boundary": 1}
        assert kinds([[(1, 3), (9, 9)]], [[(2, 4), (9, 9)]]) == {"boundary": 1}
        # Nothing but the entity shows that the inner span is the same mention.
        assert kinds([[(1, 5), (9, 9)]], [[(3, 3), (9, 9)]]) == {"boundary": 1}

    def test_two_mentions_of_two_entities_are_not_one_with_other_boundaries(self) -> None:
        one = [[(1, 4), (9, 9)], [(11, 11), (13, 13)]]
        other = [[(9, 9), (15, 15)], [(4, 4), (11, 11), (13, 13)]]
        assert kinds(one, other) == {"mention": 3}

    def test_what_shares_most_of_its_tokens_is_one_mention_whatever_the_entities(self) -> None:
        one = [[(1, 4), (9, 9)], [(11, 11), (13, 13)]]
        other = [[(9, 9), (15, 15)], [(2, 4), (11, 11), (13, 13)]]
        assert kinds(one, other) == {"boundary": 1, "mention": 1}

    def test_who_did_not_see_a_mention_does_not_disagree(self) -> None:
        one, other = annotated("one", [[(1, 1), (5, 5), (9, 9)]]), annotated("other", [[(1, 1), (5, 5)]])
        assert classify([one, other]).counts.disputed == 1
        assert classify([one, other], coverage=Coverage.of({"other": [(1, 8)]})).counts.disputed == 0
        assert classify([one, other], coverage=Coverage.of({"one": [(1, 8)]})).counts.disputed == 1

    def test_mention(self) -> None:
        assert kinds(KING, [[(1, 2), (9, 9)]]) == {"mention": 1}

    def test_nested(self) -> None:
        assert kinds([*KING, [(2, 2), (15, 15)]], KING) == {"nested": 1, "mention": 1}
        assert kinds([*KING, [(1, 5), (15, 15)]], KING) == {"nested": 1, "mention": 1}

    def test_singleton(self) -> None:
        assert kinds([[(1, 2), (9, 9)], [(11, 11)]], KING) == {"singleton": 1}
        assert kinds([*KING, [(15, 15)]], KING, singletons=True) == {"singleton": 1}
        assert kinds([*KING, [(15, 15)]], KING, singletons=False) == {}
        # As one annotator has no chains of one, they do not count unless somebody linked the mention.
        assert kinds([*KING, [(15, 15)]], KING) == {}
        assert kinds([*KING, [(15, 15)]], [*KING, [(17, 17)]]) == {"singleton": 2}

    def test_split_and_its_direction(self) -> None:
        parted: Chains = [[(1, 1), (2, 2), (3, 3)], [(4, 4), (5, 5)]]
        whole: Chains = [[(1, 1), (2, 2), (3, 3), (4, 4), (5, 5)]]
        assert kinds(parted, whole) == {"split": 2}
        found = classify([annotated("one", parted), annotated("other", whole)])
        assert [(one.finer, one.direction) for one in found.disagreements] == [((0,), 1)] * 2
        found = classify([annotated("other", whole), annotated("one", parted)])
        assert [(one.finer, one.direction) for one in found.disagreements] == [((1,), -1)] * 2

    def test_entity(self) -> None:
        one: Chains = [[(1, 1), (2, 2), (3, 3)], [(5, 5), (6, 6)]]
        other: Chains = [[(1, 1), (2, 2)], [(3, 3), (5, 5), (6, 6)]]
        assert kinds(one, other) == {"entity": 1}

    def test_among_three_the_first_kind_of_any_two(self) -> None:
        chains: list[Chains] = [[[(1, 1), (5, 5)]], [[(1, 2), (5, 5)]], [[(5, 5), (7, 7)]]]
        found = classify([annotated(f"a{n}", one) for n, one in enumerate(chains)])
        assert [(str(one.kind), one.spans) for one in found.disagreements] == [
            ("boundary", (Span(1, 1), Span(1, 2), None)),
            ("mention", (None, None, Span(7, 7))),
        ]

    def test_a_span_in_two_chains_counts_in_the_first(self) -> None:
        twice = annotated("one", [[(1, 1), (3, 3)], [(3, 3), (5, 5)]])
        once = annotated("other", [[(1, 1), (3, 3)], [(5, 5), (7, 7)]])
        assert {str(one.kind) for one in classify([twice, once]).disagreements} == {"mention"}


SEEDS = range(150)


@pytest.mark.parametrize("seed", SEEDS)
def test_properties(seed: int) -> None:
    annotations = drawn(seed)
    found = classify(annotations)
    every_mention_once(annotations)
    disputed_is_a_partition(found)
    order_does_not_matter(annotations, found)
    assert classify([annotations[0]] * 3).disagreements == ()
    for one, other in combinations(annotations, 2):
        as_few_as_possible([one, other])


def every_mention_once(annotations: list[Annotation]) -> None:
    rows = align_mentions(Marks.of(annotations))
    for number, annotation in enumerate(annotations):
        spans = [row[number] for row in rows if row[number] is not None]
        assert sorted(span for span in spans if span) == sorted(annotation.mentions)


def disputed_is_a_partition(found: Typology) -> None:
    assert sum(found.counts.kinds.values()) == found.counts.disputed == len(found.disagreements)
    marks = [(n, span) for one in found.disagreements for n, span in enumerate(one.spans) if span]
    assert len(marks) == len(set(marks))
    assert found.counts.disputed <= found.mentions


def order_does_not_matter(annotations: list[Annotation], found: Typology) -> None:
    expected = Counter((one.kind, one.place) for one in found.disagreements)
    for order in permutations(annotations):
        turned = classify(order)
        assert Counter((one.kind, one.place) for one in turned.disagreements) == expected
        assert turned.mentions == found.mentions
    one, other = annotations[:2]
    assert classify([one, other]).counts.reversed() == classify([other, one]).counts


def as_few_as_possible(annotations: list[Annotation]) -> None:
    """Compare with all one-to-one maps of the entities of two annotators."""
    homes = [
        {span: chain.mentions for chain in reversed(one.chains) for span in chain.mentions}
        for one in annotations
    ]
    chains = [sorted(set(home.values())) for home in homes]
    linked = [
        (chains[0].index(homes[0][one]), chains[1].index(homes[1][other]))
        for one, other in align_mentions(Marks.of(annotations))
        if one in homes[0] and other in homes[1]
    ]
    entities = sorted({one for one, _ in linked})
    others: list[int | None] = [*sorted({other for _, other in linked}), *([None] * len(entities))]
    fewest = min(
        sum(dict(zip(entities, images, strict=True))[one] != other for one, other in linked)
        for images in set(permutations(others, len(entities)))
    )
    chosen = match_entities(Counter(linked))
    assert sum(chosen.get(one) != other for one, other in linked) == fewest
    assert len(set(chosen.values())) == len(chosen)


def test_documents_are_added() -> None:
    first, second = drawn(1), drawn(2)
    both = count_all([first, second], singletons=True)
    assert both == classify(first, singletons=True).counts + classify(second, singletons=True).counts
    assert both + DisagreementCounts() == both
    assert list(both.kinds) == list(DisagreementKind)
