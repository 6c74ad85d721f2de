"""Agreement: worked numbers, the slow definition, and what must always hold."""

import random
from fractions import Fraction
from itertools import combinations, product

import pytest

from caspr.adjudication import adjudicate_document
from caspr.measures.agreement import (
    ALPHAS,
    Conventions,
    Unmarked,
    ValueTable,
    tally,
    tally_all,
    tally_some,
)
from caspr.measures.comparison import against_gold, compare, compare_results, in_first_chain
from caspr.measures.intervals import comparison_intervals
from caspr.measures.scores import score
from caspr.measures.settings_comparison import closeness
from caspr.task.settings import Settings, change
from caspr.text.coverage import Coverage
from caspr.text.document import Annotation, Chain, Document
from tests.measures.agreement_slow import SLOW, alpha, link_units, nominal, saw, set_units
from tests.sweeps import how_many, some

CONVENTIONS = [Conventions(own, unmarked) for own, unmarked in product((True, False), Unmarked)]


def annotated(*chains: str, name: str = "x", document: str = "d") -> Annotation:
    """Make an annotation where every digit of a chain is a mention of one token."""
    spans = [
        Chain.of(str(number), [(int(digit), int(digit)) for digit in chain])
        for number, chain in enumerate(chains)
    ]
    return Annotation.of(name, Document(document, tuple("123456789")), spans)


@pytest.mark.parametrize(
    ("annotations", "kind", "expected"),
    [
        (["123 45", "12 3 45"], "passonneau", Fraction(20, 29)),
        (["123 45", "12 3 45"], "nominal", Fraction(8, 35)),
        (["123 45", "12 3 45"], "masi", Fraction(44, 95)),
        (["123 45", "12 345"], "passonneau", Fraction(4, 13)),
        (["123 45", "123 45", "12 345"], "passonneau", Fraction(15, 29)),
        (["12 34", "12 34"], "passonneau", Fraction(1)),
        (["12 34", "12 34"], "links", Fraction(1)),
        (["123", "123"], "passonneau", None),
        (["123", "123"], "links", None),
        (["", ""], "passonneau", None),
        (["1 2", "1 2"], "links", None),
        (["1 2", "1 2"], "passonneau", Fraction(1)),
    ],
)
def test_worked_numbers(annotations: list[str], kind: str, expected: Fraction | None) -> None:
    assert tally([annotated(*chains.split()) for chains in annotations]).alpha(kind) == expected


def random_annotation(rng: random.Random, document: str, name: str = "x") -> Annotation:
    chains = [""] * rng.randint(1, 4)
    for digit in "1234567":
        if rng.random() < 0.8:
            chains[rng.randrange(len(chains))] += digit
        if rng.random() < 0.08:
            chains[rng.randrange(len(chains))] += digit
    return annotated(*filter(None, chains), name=name, document=document)


def random_coverage(rng: random.Random, names: str) -> Coverage:
    """Let some see everything, some one part or two, and some nothing."""
    parts: dict[str, list[tuple[int, int]]] = {}
    for name in names:
        for _ in range(rng.choice([0, 1, 1, 2])):
            start = rng.randint(1, 7)
            parts.setdefault(name, []).append((start, rng.randint(start, 9)))
        if rng.random() < 0.1:
            parts[name] = []
    return Coverage.of(parts)


@pytest.mark.parametrize("conventions", CONVENTIONS, ids=str)
def test_alpha_equals_its_definition(conventions: Conventions) -> None:
    rng = random.Random(str(conventions))
    for _ in some(range(25), 5):
        annotators = rng.randint(2, 4)
        documents = [
            [random_annotation(rng, name) for _ in range(annotators)] for name in "de"[: rng.randint(1, 2)]
        ]
        pooled = tally_all(documents, conventions)
        everything = [Coverage()] * len(documents)
        for kind, distance in SLOW.items():
            assert pooled.alpha(kind) == alpha(set_units(documents, conventions, everything), distance), kind
        assert pooled.alpha("links") == alpha(link_units(documents, conventions, everything), nominal)


@pytest.mark.parametrize("conventions", CONVENTIONS, ids=str)
def test_who_did_not_see_a_mention_has_no_value_for_it(conventions: Conventions) -> None:
    rng = random.Random(f"coverage {conventions}")
    changed, cases = 0, how_many(15, 6)
    for _ in range(cases):
        names = "abcd"[: rng.randint(2, 4)]
        titles = "de"[: rng.randint(1, 2)]
        documents = [[random_annotation(rng, title, name) for name in names] for title in titles]
        seen = [random_coverage(rng, names) for _ in titles]
        pooled = tally_all(documents, conventions, seen)
        for kind, distance in SLOW.items():
            assert pooled.alpha(kind) == alpha(set_units(documents, conventions, seen), distance), kind
        assert pooled.alpha("links") == alpha(link_units(documents, conventions, seen), nominal)
        changed += pooled != tally_all(documents, conventions)
    assert (changed > cases // 5) == (
        conventions.unmarked is not Unmarked.MISSING
    )  # there only marks have values


@pytest.mark.parametrize("conventions", CONVENTIONS, ids=str)
def test_some_annotators_agree_as_if_there_were_no_others(conventions: Conventions) -> None:
    rng = random.Random(f"some {conventions}")
    for _ in some(range(10), 3):
        annotations = [random_annotation(rng, "d", name) for name in "abcd"]
        for coverage in (None, random_coverage(rng, "abcd")):
            table = ValueTable.of(annotations, conventions, coverage)
            parts = [part for size in (2, 3, 4) for part in combinations(range(4), size)]
            for part in rng.sample(parts, len(parts)):
                alone = tally([annotations[number] for number in part], conventions, coverage)
                counted = tally_some(table, part)
                assert [counted.alpha(kind) for kind in ALPHAS] == [alone.alpha(kind) for kind in ALPHAS]
            assert tally_some(table, [0]).alpha("masi") is None


def test_every_mention_is_counted_once_by_how_many_marked_it() -> None:
    """A mention with different boundaries is one; who saw neither span of it is not counted."""
    document = Document("d", tuple("abcdefgh"))
    ann, bob, cem = (
        Annotation.of(name, document, [Chain.of("1", spans)])
        for name, spans in (
            ("ann", [(1, 2), (4, 4), (8, 8)]),
            ("bob", [(2, 2), (4, 4), (6, 6)]),
            ("cem", [(4, 4), (6, 6)]),
        )
    )
    found = compare([[ann, bob, cem]])
    assert found.marked == {(1, 3): 1, (2, 3): 2, (3, 3): 1}
    assert sum(found.marked.values()) == found.disagreement.mentions == 4
    covered = compare([[ann, bob, cem]], coverages=[Coverage.of({"cem": [(2, 6)]})])
    assert covered.marked == {(1, 2): 1, (2, 3): 2, (3, 3): 1}
    covered = compare([[ann, bob, cem]], coverages=[Coverage.of({"cem": [(3, 6)]})])
    assert covered.marked == {(1, 2): 1, (2, 2): 1, (2, 3): 1, (3, 3): 1}


def test_full_coverage_changes_nothing() -> None:
    rng = random.Random(8)
    whole = Coverage.of({"a": [(1, 4), (5, 9)], "b": [(1, 9)]})
    for conventions in CONVENTIONS:
        annotations = [random_annotation(rng, "d", name) for name in "abc"]
        assert tally(annotations, conventions, whole) == tally(annotations, conventions)
        assert compare([annotations], conventions=conventions, coverages=[whole]) == compare(
            [annotations], conventions=conventions
        )


def test_annotators_who_split_a_text_agree_where_both_saw_it() -> None:
    """Ann did the first half, Bob the second, Cem all of it: they never contradict each other."""
    annotations = [
        annotated("12", "34", name="ann"),
        annotated("56", "78", name="bob"),
        annotated("12", "34", "56", "78", name="cem"),
    ]
    coverage = Coverage.of({"ann": [(1, 4)], "bob": [(5, 9)]})
    blind, found = compare([annotations]), compare([annotations], coverages=[coverage])
    assert blind.marked == {(2, 3): 8}
    assert found.marked == {(2, 2): 8}
    for kind in ALPHAS:
        number = blind.alpha[kind]
        assert number is not None
        assert number < 1 == found.alpha[kind]
        assert found.matrices[kind][0] == (None, None, Fraction(1))
        assert found.without["bob"][kind] == 1
        assert found.without["cem"][kind] is None
    blamed = [number for number in blind.matrices["conll"][2] if number is not None]
    assert max(blamed[:2]) < 1
    full = Fraction(1)
    assert found.matrices["conll"] == ((full, None, full), (None, full, full), (full, full, full))


def seen_part(annotation: Annotation, other: Annotation, coverage: Coverage) -> Annotation:
    """Leave out, mention by mention, what somebody else did not see."""
    chains = [
        Chain.of(chain.id, [span for span in chain.mentions if saw(other, span, coverage)])
        for chain in in_first_chain(annotation).all_chains
    ]
    return Annotation.of(annotation.annotator, annotation.document, [one for one in chains if one.mentions])


def test_two_annotators_are_scored_over_what_both_saw() -> None:
    rng = random.Random(16)
    changed = 0
    for _ in range(15):
        documents = [[random_annotation(rng, title, name) for name in "ab"] for title in "defghi"]
        seen = [random_coverage(rng, "ab") for _ in documents]
        alone = all(any(in_first_chain(pair[side]).singletons for pair in documents) for side in (0, 1))
        keys, responses = (
            [
                seen_part(pair[one], pair[1 - one], coverage)
                for pair, coverage in zip(documents, seen, strict=True)
            ]
            for one in (0, 1)
        )
        expected = score(keys, responses, singletons=alone)
        found = compare(documents, coverages=seen).matrices
        drawn = comparison_intervals(documents, coverages=seen)
        assert drawn is not None
        for measure in ("mentions", "muc", "b3", "ceafe", "blanc", "lea", "conll"):
            number, interval = found[measure][0][1], drawn.pairs[measure]["a", "b"]
            assert number == expected.f1(measure)
            assert number is None or interval is None or interval.low <= float(number) + 1e-9
        changed += found["conll"] != compare(documents).matrices["conll"]
    assert changed > 3


def test_cutting_brings_no_chains_of_one_into_scores() -> None:
    """Ann linked 4 with what Bob did not see; neither of them marks chains of one."""
    ann, bob = annotated("12", "45", name="ann"), annotated("12", "36", name="bob")
    coverage = Coverage.of({"ann": [(1, 5)], "bob": [(1, 4), (6, 6)]})
    assert compare([[ann, bob]], coverages=[coverage]).matrices["mentions"][0][1] == 1


def test_an_annotator_is_scored_against_the_gold_of_what_that_one_saw() -> None:
    annotations = [annotated("12", "34", name="ann"), annotated("12", "34", "56", "78", name="bob")]
    result = adjudicate_document(
        annotations, settings=change(Settings(), {"coverage": Coverage.of({"ann": [(1, 4)]})})
    )
    assert len(result.gold.chains) == 4
    for name in ("ann", "bob"):
        assert against_gold([result])[name]["conll"].f1 == 1
        assert closeness([result])[name] == 1


def test_results_are_compared_by_the_coverage_of_their_settings() -> None:
    annotations = [
        annotated("12", "34", name="ann"),
        annotated("56", "78", name="bob"),
        annotated("12", "34", "56", "78", name="cem"),
    ]
    given: list[Coverage | str] = [Coverage.of({"ann": [(1, 4)], "bob": [(5, 9)]}), "marks"]
    for coverage in given:
        settings = change(Settings(), {"coverage": coverage})
        result = adjudicate_document(annotations, settings=settings)
        assert compare_results([result]).marked == {(2, 2): 8}
        assert compare_results([result]).disagreement.disputed == 0
        assert compare_results([result]).alpha["links"] == 1
    assert compare_results([adjudicate_document(annotations)]).marked == {(2, 3): 8}


def test_order_and_names_do_not_matter() -> None:
    rng = random.Random(5)
    for _ in range(50):
        annotations = [random_annotation(rng, "d") for _ in range(4)]
        one, other = tally(annotations), tally(annotations[::-1])
        for kind in ALPHAS:
            assert one.alpha(kind) == other.alpha(kind)
            number = one.alpha(kind)
            assert number is None or number <= 1


def test_a_comparison() -> None:
    documents = [
        [
            annotated("123", "45", name="a"),
            annotated("12", "345", name="b"),
            annotated("123", "45", name="c"),
        ],
        [annotated("12", name="a", document="e"), annotated("12", name="b", document="e")],
    ]
    comparison = compare(documents)
    assert comparison.annotators == ("a", "b", "c")
    assert comparison.marked == {(2, 2): 2, (3, 3): 5}
    conll = comparison.matrices["conll"]
    assert conll[0][2] == conll[2][0] == conll[1][1] == 1
    assert conll[0][1] == conll[1][0]
    assert comparison.with_others("b3", "c") == (1 + Fraction(11, 15)) / 2
    assert comparison.without["b"]["passonneau"] == 1
    assert comparison.matrices["passonneau"][0][0] is None
    assert comparison.between("mentions") == 1


def test_annotators_who_share_no_document() -> None:
    documents = [
        [annotated("12", name="a"), annotated("12", name="b")],
        [annotated("12", name="b", document="e"), annotated("12", name="c", document="e")],
    ]
    comparison = compare(documents)
    assert comparison.matrices["conll"][0] == (Fraction(1), Fraction(1), None)
    assert comparison.matrices["links"][0][2] is None


def test_a_span_in_two_chains_stays_in_the_first() -> None:
    assert in_first_chain(annotated("12", "23", "3")) == annotated("12", "3")
    assert compare([[annotated("12", "23", name="a"), annotated("12", name="b")]]).matrices["conll"][0][1]
