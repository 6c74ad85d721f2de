"""Tables as people and spreadsheets write them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caspr.errors import FormatError, reading
from caspr.text.csv_table import TableRow, read_table
from tests.formats.documents import relaxed

COLUMNS = ("annotator", "omit", "use")
CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6).map(str.strip)


def cells(text: str) -> list[tuple[str, ...]]:
    with reading("t.csv"):
        return [row.cells for row in read_table(text, COLUMNS)]


@pytest.mark.parametrize("separator", [",", ";", "\t", ", ", " ; "])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("header", ["", "annotator#omit#use", "Annotator#OMIT cost#Use"])
def test_any_separator_and_line_end(separator: str, end: str, header: str) -> None:
    lines = [header, "anna#2#1", "", "ben#30#4"]
    text = end.join(lines).replace("#", separator) + end
    assert cells(text) == [("anna", "2", "1"), ("ben", "30", "4")]


def test_quoted_cells_may_hold_other_separators() -> None:
    assert cells('"Lee, Anna";2;1\n') == [("Lee, Anna", "2", "1")]
    assert cells('"Lee; ""A""",2,1\n') == [('Lee; "A"', "2", "1")]


def test_empty_cells_behind_the_last_column_are_left_out_but_not_those_of_columns() -> None:
    assert cells("anna,,,,\nben,1,2,,\n,,,,\n") == [("anna", "", ""), ("ben", "1", "2")]
    assert cells("") == []


def test_rows_have_the_lines_of_the_file() -> None:
    assert read_table("\n\nanna,2,1\n\nben,1,1\n", COLUMNS) == [
        TableRow(3, ("anna", "2", "1")),
        TableRow(5, ("ben", "1", "1")),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "anna,2,1\nben,2\n",
            "t.csv:2: found a row of 2 cells separated by commas, expected 3: annotator, omit, use",
        ),
        ("anna;2;1\nben;2;1;7\n", "t.csv:2: found a row of 4 cells separated by semicolons"),
        ("anna 2 1\n", "t.csv:1: found a row of 1 cell"),
        ("a,b;c,d;e\n", "t.csv: found a table that can be read with commas and with semicolons"),
        ('anna,"2"x,1\n', "t.csv:1: .* expected cells quoted as in CSV"),
    ],
)
def test_what_is_no_table_is_refused_by_line(text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        cells(text)


@settings(relaxed)
@given(st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=4), st.sampled_from(",;\t"))
def test_quoted_tables_come_back_or_are_ambiguous(rows: list[tuple[str, str, str]], separator: str) -> None:
    lines = [separator.join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows]
    expected = [row for row in rows if any(row)]
    if expected and expected[0][0].casefold() == COLUMNS[0]:
        expected = expected[1:]
    assert cells("\n".join(lines)) == expected


@settings(relaxed)
@given(st.text(alphabet='a1,;\t"\n\r '))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        assert all(len(row) == 3 for row in cells(text))
    except FormatError as error:
        assert str(error).startswith("t.csv")
