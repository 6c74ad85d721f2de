"""Who saw what: intervals add up, tables say where they are wrong, partial work is noticed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caspr.adjudication import adjudicate_document
from caspr.errors import FormatError
from caspr.task.settings import Settings, change
from caspr.text.coverage import (
    Coverage,
    coverage_by_marks,
    outside_coverage,
    partial_coverage,
    read_coverage,
)
from caspr.text.document import Annotation, Chain, Document, Span
from tests.formats.documents import relaxed

TEXT = Document("scene 1", tuple(str(number) for number in range(1, 101)))
INTERVALS = st.lists(
    st.tuples(st.integers(1, 12), st.integers(0, 4)).map(lambda pair: (pair[0], pair[0] + pair[1])),
    max_size=5,
)


def by(name: str, *spans: tuple[int, int]) -> Annotation:
    return Annotation.of(name, TEXT, [Chain.of("1", spans)] if spans else [])


@settings(relaxed)
@given(INTERVALS, INTERVALS)
def test_a_span_is_seen_if_every_token_of_it_was(
    intervals: list[tuple[int, int]], spans: list[tuple[int, int]]
) -> None:
    coverage = Coverage.of({"anna": intervals})
    tokens = {token for start, end in intervals for token in range(start, end + 1)}
    for start, end in spans:
        assert coverage.sees("anna", Span(start, end)) == (set(range(start, end + 1)) <= tokens)
    assert Coverage.of({"anna": reversed(intervals)}) == coverage


def test_who_is_missing_saw_everything() -> None:
    coverage = Coverage.of({"anna": []})
    assert not coverage.sees("anna", Span(1, 1))
    assert coverage.sees("ben", Span(1, 100))
    assert coverage.viewers(["ben", "anna", "carla"], Span(3, 4)) == {0, 2}
    assert coverage
    assert not Coverage()


def test_a_table_of_coverage() -> None:
    table = read_coverage(
        "annotator,document,from,to\nanna,scene 1,1,40\nanna,scene 1,41,60\nben,scene 1,,\nben,scene 2,5,9\n",
        "c.csv",
    )
    assert table.of(TEXT) == Coverage.of({"anna": [(1, 60)], "ben": []})
    assert table.of(Document("scene 2", TEXT.tokens)) == Coverage.of({"ben": [(5, 9)]})
    assert table.of(Document("scene 3", TEXT.tokens)) == Coverage()
    assert table.unknown(["scene 1", "scene 2"], ["anna", "ben", "carla"]) == ()


def test_rows_without_use_are_reported() -> None:
    table = read_coverage("anna,scene 1,1,40\nana,scene 1,41,60\nanna,szene 1,3,4\n", "c.csv")
    [found] = table.unknown(["scene 1"], ["anna", "ben"])
    assert (found.code, found.count, found.where) == ("unused-coverage", 2, "c.csv:2")
    assert "annotator 'ana'; known here: 'anna', 'ben'" in found.message
    [found] = table.unknown(["scene 1"], ["anna", "ana"])
    assert "document 'szene 1'; known here: 'scene 1'" in found.message


@pytest.mark.parametrize(
    "row",
    ["anna,d,0,5", "anna,d,5,4", "anna,d,x,4", "anna,d,5,", "anna,d,,5", "anna,d,-1,5", "anna,d,1.5,5",
     ",d,1,2", "anna,,1,2", "anna,d,1," + "9" * 5000],
)  # fmt: skip
def test_wrong_rows_are_refused_by_line(row: str) -> None:
    with pytest.raises(FormatError, match=r"^c\.csv:2: found"):
        read_coverage(f"anna,d,1,5\n{row}\n", "c.csv")


def test_tokens_beyond_the_document_are_refused() -> None:
    table = read_coverage("anna,scene 1,1,101\n", "c.csv")
    with pytest.raises(
        FormatError, match=r"c.csv:1: found token 101 of document 'scene 1', expected a token from 1 to 100"
    ):
        table.of(TEXT)


def test_coverage_by_marks_goes_from_the_first_to_the_last() -> None:
    alone = Annotation.of("carla", TEXT, [Chain.of("1", [(7, 9)])])
    found = coverage_by_marks([by("anna", (5, 6), (20, 22), (18, 30)), by("ben"), alone])
    assert found == Coverage.of({"anna": [(5, 30)], "ben": [], "carla": [(7, 9)]})


def test_a_part_that_only_others_marked_is_noticed() -> None:
    everywhere = by("anna", *((number, number) for number in range(1, 101, 2)))
    for start, end in ((1, 80), (21, 100)):
        partly = by("ben", *((number, number) for number in range(start, end, 2)))
        [found] = partial_coverage([everywhere, partly])
        assert (found.code, found.count, found.where) == ("partial-coverage", 10, "ben")
    middle = by("ben", *((number, number) for number in range(1, 101, 2) if not 40 < number < 62))
    [found] = partial_coverage([everywhere, middle])
    assert "from token 41 to 61, where others marked 11 mentions" in found.message


def test_few_marks_or_a_small_share_are_not_reported() -> None:
    everywhere = by("anna", *((number, number) for number in range(1, 101, 2)))
    nearly = by("ben", *((number, number) for number in range(1, 82, 2)))
    assert partial_coverage([everywhere, nearly]) == (), "nine marks"
    dense = by("anna", *((number, end) for number in range(1, 100) for end in (number, number + 1)))
    assert (
        partial_coverage([dense, by("ben", (1, 1), *((number, number) for number in range(10, 101)))]) == ()
    )


def test_marks_in_what_was_not_seen_are_reported() -> None:
    text = Document("d", tuple("abcdef"))
    anna, ben = (
        Annotation.of(name, text, [Chain.of("1", [(1, 1), (3, 4), (6, 6)])]) for name in ("anna", "ben")
    )
    [found] = outside_coverage([anna, ben], Coverage.of({"anna": [(1, 3)], "ben": [(1, 6)]}))
    assert (found.code, found.where, found.count) == ("marks-outside-coverage", "anna", 2)
    assert "marked 2 mentions outside" in found.message
    assert not list(outside_coverage([anna, ben], coverage_by_marks([anna, ben])))
    chosen = change(Settings(), {"coverage": Coverage.of({"anna": [(1, 3)]})})
    codes = [one.code for one in adjudicate_document([anna, ben], settings=chosen).findings]
    assert "marks-outside-coverage" in codes


def test_one_without_marks_is_left_to_another_finding() -> None:
    everywhere = by("anna", *((number, number) for number in range(1, 101, 2)))
    assert partial_coverage([everywhere, by("ben")]) == ()
