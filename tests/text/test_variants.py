"""Boundary variants: which spans are one mention, with which boundary, and what decisions change."""

import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caspr.text import variants
from caspr.text.document import Annotation, Chain, Document, Mark, Span
from caspr.text.variants import (
    BoundaryDecisions,
    VariantGroup,
    Variants,
    find_variants,
    joined,
    partition_into_cliques,
    unify,
    variant_findings,
)
from tests.formats.documents import relaxed
from tests.sweeps import how_many

TEXT = Document("d", tuple("abcdefgh"))
SPANS = st.tuples(st.integers(1, 5), st.integers(0, 3)).map(lambda pair: Span(pair[0], pair[0] + pair[1]))


def by(name: str, *chains: Sequence[tuple[int, int]]) -> Annotation:
    return Annotation.of(name, TEXT, [Chain.of(str(number), chain) for number, chain in enumerate(chains, 1)])


@st.composite
def annotations(draw: st.DrawFn) -> list[Annotation]:
    found = []
    for name in ["anna", "ben", "carla", "dora"][: draw(st.integers(2, 4))]:
        spans = draw(st.lists(SPANS, unique=True, max_size=3))
        cut = draw(st.integers(0, len(spans)))
        found.append(by(name, *(part for part in (spans[:cut], spans[cut:]) if part)))
    return found


@st.composite
def decided(draw: st.DrawFn) -> BoundaryDecisions:
    some = st.frozensets(SPANS, max_size=2)
    pairs = st.frozensets(st.tuples(SPANS, SPANS).filter(lambda pair: pair[0] != pair[1]), max_size=2)
    return BoundaryDecisions(draw(some), draw(some), draw(pairs))


def jaccard(one: Span, other: Span) -> Fraction:
    first, second = (set(range(span.start, span.end + 1)) for span in (one, other))
    return Fraction(len(first & second), len(first | second))


def is_variant(one: Span, other: Span, given: list[Annotation], made: BoundaryDecisions) -> bool:
    both = any({one, other} <= annotation.mentions for annotation in given)
    split = any({one, other} == set(pair) for pair in made.split)
    marked = {span for annotation in given for span in annotation.mentions}
    moved = any(a in made.fixed - marked and b in made.removed for a, b in ((one, other), (other, one)))
    least = Fraction(1, 100) if moved else Fraction(1, 2)
    return jaccard(one, other) >= least and not both and not split and not {one, other} <= made.fixed


def best_groups(given: list[Annotation], made: BoundaryDecisions) -> list[list[Span]]:
    """Try every partition of the spans; return the groups of the first one with the largest sum."""
    spans = sorted(set(made.fixed).union(*(annotation.mentions for annotation in given)))
    best: tuple[Fraction, tuple[Span, ...], list[list[Span]]] | None = None

    def place(number: int, groups: list[list[Span]], firsts: tuple[Span, ...], total: Fraction) -> None:
        nonlocal best
        if number == len(spans):
            if best is None or (-total, firsts) < (-best[0], best[1]):
                best = total, firsts, groups
            return
        span = spans[number]
        for index, group in enumerate(groups):
            if all(is_variant(span, other, given, made) for other in group):
                gain = sum((jaccard(span, other) for other in group), Fraction(0))
                joined = [*groups[:index], [*group, span], *groups[index + 1 :]]
                place(number + 1, joined, (*firsts, group[0]), total + gain)
        place(number + 1, [*groups, [span]], (*firsts, span), total)

    place(0, [], (), Fraction(0))
    assert best is not None
    return sorted(group for group in best[2] if len(group) > 1)


@settings(relaxed, max_examples=how_many(200))
@given(annotations(), decided())
def test_the_groups_are_the_best_of_all(given: list[Annotation], made: BoundaryDecisions) -> None:
    found = find_variants(given, decisions=made)
    assert found.exact
    assert [list(group.spans) for group in found.groups] == best_groups(given, made)


@settings(relaxed, max_examples=how_many(100))
@given(annotations(), decided(), st.randoms(use_true_random=False))
def test_the_order_of_files_does_not_matter(
    given: list[Annotation], made: BoundaryDecisions, random: object
) -> None:
    shuffled = list(given)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert find_variants(shuffled, decisions=made) == find_variants(given, decisions=made)


@settings(relaxed, max_examples=how_many(100))
@given(annotations(), decided())
def test_own_boundaries_come_back(given: list[Annotation], made: BoundaryDecisions) -> None:
    found = find_variants(given, decisions=made)
    for before, after in zip(given, unify(given, found), strict=True):
        assert len(after.mentions) == len(before.mentions)
        back = [
            Chain.of(chain.id, [found.own(after.annotator, span) for span in chain.mentions])
            for chain in after.all_chains
        ]
        assert Annotation.of(before.annotator, TEXT, back) == before


@settings(relaxed, max_examples=how_many(100))
@given(
    annotations(), decided(), st.dictionaries(st.sampled_from(["anna", "ben", "carla"]), st.integers(0, 3))
)
def test_no_other_boundary_has_a_better_claim(
    given: list[Annotation], made: BoundaryDecisions, weights: dict[str, int]
) -> None:
    for group in find_variants(given, weights=weights, decisions=made).groups:
        support = dict(zip(group.spans, group.annotators, strict=True))

        def claim(
            span: Span, support: dict[Span, tuple[str, ...]] = support
        ) -> tuple[bool, bool, int, int, int]:
            weight = sum(weights.get(name, 1) for name in support[span])
            return (
                span in made.fixed,
                span not in made.removed,
                weight,
                span.end - span.start,
                -span.start,
            )

        assert group.boundary == max(group.spans, key=claim)
        assert group.removed == (set(group.spans) <= made.removed - made.fixed)


def test_sir_is_one_person() -> None:
    given = [by("anna", [(1, 1), (4, 4)]), by("ben", [(1, 2), (4, 4)]), by("carla", [(1, 1), (5, 5)])]
    found = find_variants(given)
    assert found.groups == (
        VariantGroup((Span(1, 1), Span(1, 2)), (("anna", "carla"), ("ben",)), Span(1, 1)),
    )
    assert [annotation.mentions for annotation in unify(given, found)] == [
        {(1, 1), (4, 4)},
        {(1, 1), (4, 4)},
        {(1, 1), (5, 5)},
    ]
    assert find_variants(given, weights={"ben": 3}).groups[0].boundary == (1, 2)
    assert find_variants(given, weights={"ben": 2}).groups[0].boundary == (1, 2), "the longer in a tie"


def test_one_who_marks_both_spans_makes_them_two_mentions() -> None:
    assert find_variants([by("anna", [(1, 1), (1, 2)]), by("ben", [(1, 2), (4, 4)])]) == Variants()


def test_less_than_half_is_no_variant() -> None:
    assert find_variants([by("anna", [(1, 2)]), by("ben", [(1, 5)])]) == Variants()
    assert find_variants([by("anna", [(1, 2)]), by("ben", [(1, 4)])]).groups


def test_a_removed_boundary_leaves_the_mention_to_the_others() -> None:
    given = [by("anna", [(1, 1), (4, 4)]), by("ben", [(1, 2), (4, 4)])]
    [group] = find_variants(given, decisions=BoundaryDecisions(removed=frozenset({Span(1, 2)}))).groups
    assert group.boundary == (1, 1)
    assert not group.removed
    both = frozenset({Span(1, 1), Span(1, 2)})
    [group] = find_variants(given, decisions=BoundaryDecisions(removed=both)).groups
    assert group.boundary == (1, 2)
    assert group.removed


def test_a_boundary_that_nobody_marked_can_be_fixed() -> None:
    given = [by("anna", [(1, 2), (4, 4)]), by("ben", [(1, 4), (6, 6)])]
    [group] = find_variants(given, decisions=BoundaryDecisions(fixed=frozenset({Span(1, 3)}))).groups
    assert (group.boundary, group.annotators) == ((1, 3), (("anna",), (), ("ben",)))


def test_a_late_annotator_changes_no_group_that_is_kept() -> None:
    given = [by("anna", [(1, 1), (4, 4)]), by("ben", [(1, 2), (4, 4)])]
    before = find_variants(given)
    late = [*given, by("carla", [(1, 1), (4, 4)]), by("dora", [(1, 3)])]
    assert find_variants(late).groups[0].spans == ((1, 2), (1, 3)), "the test needs one who would change it"
    after = find_variants(late, decisions=BoundaryDecisions(kept=before.groups))
    assert [(group.spans, group.boundary) for group in after.groups] == [(((1, 1), (1, 2)), (1, 2))]
    assert after.groups[0].annotators == (("anna", "carla"), ("ben",))


def test_one_who_marked_two_spans_of_a_kept_group_has_one_mention() -> None:
    given = [by("anna", [(1, 1), (4, 4)]), by("ben", [(1, 2), (4, 4)])]
    kept = BoundaryDecisions(kept=find_variants(given).groups)
    late = [*given, by("carla", [(1, 1), (1, 2)])]
    found = find_variants(late, decisions=kept)
    assert [chain.mentions for chain in unify(late, found)[2].singletons] == [((1, 2),)]
    assert found.own("carla", Span(1, 2)) == (1, 2)


def test_later_decisions_move_or_end_a_kept_group() -> None:
    given = [by("anna", [(1, 1), (4, 4)]), by("ben", [(1, 2), (4, 4)])]
    kept = find_variants(given).groups
    fixed = BoundaryDecisions(fixed=frozenset({Span(1, 1)}), kept=kept)
    assert find_variants(given, decisions=fixed).groups[0].boundary == (1, 1)
    removed = BoundaryDecisions(removed=frozenset({Span(1, 2)}), kept=kept)
    assert find_variants(given, decisions=removed).groups[0].boundary == (1, 1)
    split = BoundaryDecisions(split=frozenset({(Span(1, 2), Span(1, 1))}), kept=kept)
    assert find_variants(given, decisions=split) == Variants()
    both = BoundaryDecisions(fixed=frozenset({Span(1, 2), Span(1, 1)}), kept=kept)
    assert find_variants(given, decisions=both) == Variants()


def test_labels_move_and_pieces_stay_with_their_own_boundary() -> None:
    gap = Mark("person", (Span(1, 1), Span(3, 3)))
    anna = Annotation.of("anna", TEXT, [Chain.of("1", [(1, 3), (5, 5)])], marks={Span(1, 3): gap})
    ben = by("ben", [(1, 4), (5, 5)])
    moved, _ = unify([anna, ben], find_variants([anna, ben]))
    assert moved.marks == {Span(1, 4): Mark("person")}
    kept, _ = unify([anna, ben], find_variants([anna, ben], weights={"anna": 2}))
    assert kept.marks == {Span(1, 3): gap}


def test_repeated_mentions_are_moved_as_well() -> None:
    anna = Annotation(
        "anna", TEXT, (Chain.of("1", [(1, 1), (4, 4)]),), as_given=((Span(1, 1), Span(1, 1), Span(4, 4)),)
    )
    ben = by("ben", [(1, 2), (4, 4)])
    moved, _ = unify([anna, ben], find_variants([anna, ben]))
    assert moved.as_given == (((1, 2), (1, 2), (4, 4)),)


def test_findings_say_what_would_happen() -> None:
    found = find_variants([by("anna", [(1, 1), (4, 4)]), by("ben", [(1, 2), (4, 4)])])
    [without] = variant_findings(found, TEXT, used=False)
    [used] = variant_findings(found, TEXT, used=True)
    assert (without.code, without.count) == ("boundary-variants", 1)
    assert "--variants" in str(without)
    assert f"('{TEXT.text(Span(1, 1))}', '{TEXT.text(Span(1, 2))}' at " in without.message
    assert "--variants" not in str(used)
    assert variant_findings(Variants(), TEXT, used=True) == ()
    assert [one.code for one in variant_findings(Variants(found.groups, exact=False), TEXT, used=True)][
        1:
    ] == ["greedy-variants"]


def test_every_two_spans_of_a_group_are_variants_although_overlaps_form_a_row() -> None:
    row = [by("anna", [(1, 3)]), by("ben", [(2, 4)]), by("carla", [(3, 5)])]
    found = find_variants(row)
    assert [group.spans for group in found.groups] == [((1, 3), (2, 4))]
    assert all(
        jaccard(*pair) >= Fraction(1, 2) for group in found.groups for pair in combinations(group.spans, 2)
    )


def test_what_is_joined_overlaps_and_has_the_boundary_of_most_annotators() -> None:
    row = [by("anna", [(1, 3)]), by("ben", [(1, 4)]), by("carla", [(1, 1)]), by("dora", [(6, 6)])]
    found = find_variants(row)
    [group] = joined(found, [{Span(1, 4), Span(1, 1)}], row, {"carla": 3}).groups
    assert (group.spans, group.boundary) == ((Span(1, 1), Span(1, 3), Span(1, 4)), Span(1, 1))
    assert group.marked == {"anna": Span(1, 3), "ben": Span(1, 4), "carla": Span(1, 1)}
    assert joined(found, [{Span(1, 4), Span(6, 6)}], row, {}) == found


def test_where_too_many_spans_overlap_no_pair_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of mentions inside each other must not take minutes, for a note that nobody asked for."""
    tokens = 3000
    document = Document("d", ("w",) * tokens)
    nest = [Span(start, tokens + 1 - start) for start in range(1, tokens // 2)]
    nests = [Annotation.of(name, document, [Chain.of("1", nest)]) for name in "ab"]
    monkeypatch.setattr(variants, "overlap_by_half", never)
    found = find_variants(nests)
    assert (found.groups, found.exact, found.sought) == ((), False, False)
    for used in (True, False):
        assert [one.code for one in variant_findings(found, document, used=used)] == ["variants-not-sought"]


def never(*pair: Span) -> bool:
    raise AssertionError(pair)


def test_the_search_for_groups_ends_after_so_many_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(1)
    weights = {
        (one, one + step): rng.randint(1, 9) for one in range(400) for step in (1, 2, 3) if rng.random() < 0.8
    }
    assert partition_into_cliques(403, weights).exact
    monkeypatch.setattr(variants, "STEPS", 100)
    hasty = partition_into_cliques(403, weights)
    assert not hasty.exact
    assert sorted(node for clique in hasty.cliques for node in clique) == list(range(403))
