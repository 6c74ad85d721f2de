"""Weights are written so that they come back, and edited tables are checked."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caspr.errors import FormatError, InputError
from caspr.task.weights import (
    LARGEST,
    AnnotatorWeights,
    WeightsTable,
    read_weights,
    write_weights,
)
from tests.formats.documents import relaxed

NAMES = (
    st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n"), min_size=1, max_size=8)
    .map(str.strip)
    .filter(lambda name: name and not name.startswith("*") and name.casefold() != "annotator")
)
WEIGHTS = st.integers(0, LARGEST)


@settings(relaxed)
@given(
    st.lists(
        st.builds(AnnotatorWeights, NAMES, WEIGHTS, WEIGHTS), min_size=1, unique_by=lambda one: one.annotator
    ),
    st.none() | WEIGHTS,
)
def test_what_is_written_comes_back(annotators: list[AnnotatorWeights], constant: int | None) -> None:
    weights = WeightsTable(tuple(annotators), constant)
    assert read_weights(write_weights(weights), "w.csv") == weights


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ("ben,1.5,2", "'1.5'"),
        ("ben,-1,2", "'-1'"),
        ("ben,,2", "''"),
        ("ben,2,1000001", "'1000001'"),
        ("ben,2,١", "'١'"),
        ("*constant,3,3", "'3' after \\*constant"),
        ("*konstant,3,3", "'\\*konstant'"),
        (",3,3", "''"),
        ("anna,1,1", "'anna' once more"),
        ("ben,3", "a row of 2 cells"),
    ],
)
def test_wrong_rows_are_refused_by_line(row: str, found: str) -> None:
    with pytest.raises(FormatError, match=f"^w.csv:3: found {found}"):
        read_weights(f"annotator,omit,use\nanna,2,1\n{row}\n", "w.csv")


def test_a_table_without_annotators_is_refused() -> None:
    with pytest.raises(FormatError, match=r"w\.csv: found no annotator"):
        read_weights("annotator,omit,use\n*constant,3,\n", "w.csv")


def test_weights_are_looked_up_by_name() -> None:
    anna, ben = AnnotatorWeights("anna", 2, 1), AnnotatorWeights("ben", 4, 2)
    assert WeightsTable((anna, ben)).of(["ben", "anna"]) == (ben, anna)
    with pytest.raises(
        InputError,
        match=r"none for annotator .carla., expected a row for each .*; there are anna, ben",
    ):
        WeightsTable((anna, ben)).of(["anna", "carla"])
