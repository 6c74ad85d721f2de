"""Patterns are counted as if all pairs were listed."""

from collections import Counter
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from caspr.measures.reliability import Pattern, Patterns, instance_patterns
from caspr.task.decisions import Decisions
from caspr.task.settings import Settings
from caspr.text.coverage import Coverage
from caspr.text.document import Annotation, Chain, Document, Span
from tests.formats.documents import relaxed
from tests.sweeps import how_many

TEXT = Document("d", tuple("abcdefgh"))
SPANS = st.tuples(st.integers(1, 7), st.integers(0, 1)).map(lambda pair: Span(pair[0], pair[0] + pair[1]))
NAMES = ("anna", "ben", "carla", "dora")


@st.composite
def annotations(draw: st.DrawFn) -> list[Annotation]:
    chains = st.lists(st.sets(SPANS, min_size=1, max_size=5), max_size=3)
    return [
        Annotation.of(name, TEXT, [Chain.of(str(number), spans) for number, spans in enumerate(draw(chains))])
        for name in NAMES[: draw(st.integers(1, 4))]
    ]


@st.composite
def coverages(draw: st.DrawFn) -> Coverage:
    intervals = st.lists(st.tuples(st.integers(1, 4), st.integers(4, 8)), max_size=1)
    return Coverage.of(draw(st.dictionaries(st.sampled_from(NAMES), intervals, max_size=3)))


def patterns_of(annotations: list[Annotation], coverage: Coverage | None = None) -> Patterns:
    return instance_patterns(Settings(coverage=coverage).instance(annotations, Decisions()))


def listed(given: list[Annotation], coverage: Coverage) -> Counter[Pattern]:
    linked = sorted({span for one in given for chain in one.chains for span in chain.mentions})

    def sees(one: Annotation, span: Span) -> bool:
        return coverage.sees(one.annotator, span) or span in one.mentions

    return Counter(
        Pattern(
            tuple(sorted(one.annotator for one in given if all(sees(one, span) for span in pair))),
            tuple(
                sorted(
                    one.annotator
                    for one in given
                    if any(set(pair) <= set(chain.mentions) for chain in one.chains)
                )
            ),
        )
        for pair in combinations(linked, 2)
    )


@settings(relaxed, max_examples=how_many(200))
@given(annotations(), coverages())
def test_patterns_are_counted_as_if_listed(given: list[Annotation], coverage: Coverage) -> None:
    found = patterns_of(given, coverage)
    assert found.pairs == listed(given, coverage)
    assert patterns_of(given[::-1], coverage) == found
    disputed = {pattern for pattern in found.pairs if 0 < len(pattern.givers) < len(pattern.viewers)}
    assert found.disagreements.keys() == disputed
    assert all(found.disagreements[pattern] <= found.pairs[pattern] for pattern in disputed)


def test_a_chain_of_many_mentions_costs_as_much_as_one_kind() -> None:
    text = Document("d", ("x",) * 3000)
    chain = Chain.of("1", [(number, number) for number in range(1, 3001)])
    three = [Annotation.of(name, text, [chain]) for name in NAMES[:3]]
    pairs = Counter({Pattern(NAMES[:3], NAMES[:3]): 3000 * 2999 // 2})
    assert patterns_of(three) == Patterns(pairs, annotators=frozenset(NAMES[:3]))


def test_a_chain_that_somebody_split_is_one_disagreement() -> None:
    first, second = [(number, number) for number in (1, 2, 3)], [(number, number) for number in (4, 5, 6, 7)]
    anna, ben = (Annotation.of(name, TEXT, [Chain.of("1", [*first, *second])]) for name in NAMES[:2])
    carla = Annotation.of("carla", TEXT, [Chain.of("1", first), Chain.of("2", second)])
    found = patterns_of([anna, ben, carla])
    assert found.pairs[Pattern(NAMES[:3], NAMES[:2])] == 12
    assert found.disagreements == {Pattern(NAMES[:3], NAMES[:2]): 1}


def test_only_mentions_that_somebody_linked_make_pairs() -> None:
    anna = Annotation.of("anna", TEXT, [Chain.of("1", [(1, 1), (2, 2)]), Chain.of("2", [(5, 5)])])
    ben = Annotation.of("ben", TEXT, [Chain.of("1", [(3, 3)])])
    assert patterns_of([anna, ben]).pairs == {Pattern(("anna", "ben"), ("anna",)): 1}
