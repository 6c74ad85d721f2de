"""Names and types of entities: voted, whatever the order of files."""

from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caspr.adjudication import adjudicate
from caspr.result import merge_marks
from caspr.text.document import Annotation, Chain, Document, Mark, Span, name_entities

DOCUMENT = Document("d", tuple("abcdef"))


def annotation(name: str, *chains: Chain) -> Annotation:
    return Annotation.of(name, DOCUMENT, chains)


def chain(tokens: str, name: str = "", type: str = "") -> Chain:
    spans = [Span("abcdef".index(one) + 1, "abcdef".index(one) + 1) for one in tokens]
    return Chain(tokens, tuple(spans), name, type)


def test_mentions_count_and_then_weights_and_then_the_alphabet() -> None:
    annotators = [
        annotation("1", chain("ab", "Sir William", "person")),
        annotation("2", chain("c", "William", "place")),
        annotation("3", chain("d", "Bill", "place")),
    ]
    [gold] = name_entities([chain("abcd")], annotators)
    assert (gold.name, gold.type) == ("Sir William", "place")
    [gold] = name_entities([chain("abcd")], annotators, [1, 1, 3])
    assert (gold.name, gold.type) == ("Bill", "place")
    [gold] = name_entities([chain("cd")], annotators)
    assert gold.name == "Bill"
    [gold] = name_entities([chain("cd")], annotators, [1, 2, 1])
    assert gold.name == "William"


def test_on_a_tie_of_votes_more_annotators_win() -> None:
    annotators = [
        annotation("1", chain("ab", "alone")),
        annotation("2", chain("c", "two")),
        annotation("3", chain("d", "two")),
    ]
    [gold] = name_entities([chain("abcd")], annotators)
    assert gold.name == "two"


drawn = st.builds(
    chain,
    st.sampled_from(["a", "ab", "bc", "cd", "ef", "def"]),
    st.sampled_from(["", "x", "y"]),
    st.sampled_from(["", "p", "q"]),
)
chains = st.lists(
    drawn,
    max_size=3,
    unique_by=lambda one: one.id,
)


@given(st.lists(chains, min_size=3, max_size=3), st.lists(st.integers(1, 3), min_size=3, max_size=3))
def test_the_order_of_files_does_not_matter(given_chains: list[list[Chain]], weights: list[int]) -> None:
    annotators = [annotation(str(number), *ones) for number, ones in enumerate(given_chains)]
    golds = [chain("abc"), chain("def")]
    found = set()
    for order in permutations(range(3)):
        named = name_entities(golds, [annotators[n] for n in order], [weights[n] for n in order])
        found.add(tuple((one.name, one.type) for one in named))
    assert len(found) == 1


marks = st.builds(Mark, st.sampled_from(["", "nam", "pro"]), st.sampled_from([(), (Span(1, 1), Span(3, 3))]))


@given(st.lists(marks, min_size=3, max_size=3))
def test_the_order_of_files_does_not_matter_for_marks(given_marks: list[Mark]) -> None:
    span = Span(1, 3)
    annotators = [
        Annotation.of(
            str(number), DOCUMENT, [Chain.of("1", [span])], marks={span: mark} if mark != Mark() else {}
        )
        for number, mark in enumerate(given_marks)
    ]
    assert len({tuple(merge_marks(order).items()) for order in permutations(annotators)}) == 1


def test_the_gold_has_names_and_types_and_differences_are_reported() -> None:
    one = annotation("1", chain("ab", "Anna", "person"), chain("ef", "Ben"))
    two = annotation("2", chain("ab", "Anne", "person"), chain("ef", "Ben"))
    [result] = adjudicate([[one], [two]])
    assert [(found.name, found.type) for found in result.chains] == [("Anna", "person"), ("Ben", "")]
    reported = {finding.code: finding.message for finding in result.findings}
    assert "1 entity to which annotators gave different names" in reported["different-names"]
    assert "'Anna', 'Anne'" in reported["different-names"]
    assert "different-types" not in reported
    assert result.gold.adjudicated


def test_names_and_types_are_those_of_mentions_with_other_boundaries_too() -> None:
    """Two annotators draw the boundary of the first mention differently, and disagree about the type."""
    short, long = Span(1, 1), Span(1, 2)
    last = Span(5, 5)
    one = annotation("1", Chain("1", (short, last), "Anna", "place"))
    two = annotation("2", Chain("1", (long, last), "Anna", "person"))
    three = annotation("3", Chain("1", (long, last), "", "person"))
    found = set()
    for order in permutations([one, two, three]):
        [result] = adjudicate([[given] for given in order], variants=True)
        [gold] = result.chains
        found.add((gold.mentions, gold.name, gold.type))
        assert "different-types" in {finding.code for finding in result.findings}
    assert found == {((long, last), "Anna", "person")}
    [weighted] = adjudicate([[one], [two], [three]], variants=True, weight={"1": 5})
    assert [(gold.mentions[0], gold.type) for gold in weighted.chains] == [(short, "place")]
    [alone] = adjudicate(
        [[one], [replace(two, chains=(replace(two.chains[0], name="", type=""),))]], variants=True
    )
    assert [(gold.mentions[0], gold.name, gold.type) for gold in alone.chains] == [(long, "Anna", "place")]


@pytest.mark.parametrize("layout", ["gold", "review"])
def test_names_are_in_the_files_that_are_written(layout: str) -> None:
    from caspr.formats import conll, review_file

    one = annotation("1", chain("ab", "Anna", "person"))
    two = replace(one, annotator="2", chains=(chain("ab", 'An"na\n'),))
    [result] = adjudicate([[one], [two]])
    if layout == "gold":
        text = conll.write([result.gold])
        [back] = conll.parse(text, "x", "y")
        assert (back.chains[0].name, back.chains[0].type) == ('An"na\n', "person")
        return
    review = review_file.Review(result.gold, result.instance.annotations, (), {"objective": "v"})
    text = review_file.write([review])
    assert '# caspr name: 1 "An\\"na\\n"\n' in text
    assert '# caspr name[1]: ab "Anna"\n# caspr type[1]: ab "person"\n' in text
    [read] = review_file.parse(text, "x")
    assert [found.chains[0].name for found in read.annotations] == ["Anna", 'An"na\n']
