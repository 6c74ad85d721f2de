"""Tables and figures for a paper: nothing in a name breaks them, and they hold the numbers."""

import csv
import io
import re
import sys
from collections.abc import Sequence
from xml.etree import ElementTree

import pytest

from caspr.errors import InputError
from caspr.measures.comparison import Comparison, compare
from caspr.measures.intervals import ComparisonIntervals, Interval, comparison_intervals
from caspr.report.comparison_tables import NumberStyle, comparison_lines, comparison_values
from caspr.report.paper.figures import (
    Box,
    MeasuredBar,
    Stroke,
    bar_chart,
    figure_content,
    refuse_figure,
    svg_text,
)
from caspr.report.paper.tables import (
    AGREEMENT_HEAD,
    PaperTable,
    agreement_drawing,
    agreement_rows,
    agreement_tables,
    csv_text,
    latex_escape,
    latex_text,
)
from caspr.text.coverage import Coverage
from caspr.text.document import Annotation, Chain, Document

NAMES = ["a_n&n 50%", "<b>bob</b>", 'c\\{x}~^$#,"\n']


def compared(
    documents: int = 6, names: Sequence[str] = NAMES
) -> tuple[Comparison, ComparisonIntervals | None]:
    """Compare annotators with hostile names."""
    given = []
    for number in range(documents):
        text = Document(f"d{number}", tuple("abcdefgh"))
        chains = [
            [[(1, 1), (3, 3), (5, 5)], [(2, 2), (6, 6)]],
            [[(1, 1), (3, 3)], [(2, 2), (6, 6), (5, 5)]],
            [[(1, 2), (3, 3), (5, 5 + number % 2)]],
        ]
        given.append(
            [
                Annotation.of(name, text, [Chain.of(str(n), c) for n, c in enumerate(found)])
                for name, found in zip(names, chains, strict=True)
            ]
        )
    return compare(given), comparison_intervals(given)


def test_latex_is_well_formed_whatever_the_names() -> None:
    comparison, intervals = compared()
    text = latex_text(agreement_tables(comparison, ["conll", "muc"], NumberStyle(), intervals))
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 5
    for table in text.split(r"\begin{tabular}")[1:]:
        columns = re.match(r"\{(l r*|lr*)\}", table)
        assert columns is not None
        rows = [line for line in table.splitlines() if line.endswith(r"\\")]
        assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {len(columns[1]) - 1}
    assert r"a\_n\&n 50\%" in text
    plain = re.sub(r"\\[a-z]+|\\.", "", text)
    depth = 0
    for character in plain:
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert depth >= 0
    assert depth == 0
    assert not re.search(r"(?<!\\)[#$^~]", text.removeprefix("%"))


def test_latex_escapes_every_special_character() -> None:
    assert latex_escape("\\{}") == r"\textbackslash{}\{\}"
    table = PaperTable("c", "tab:x", ("", "n"), (("a", "1"), ("all", "2")), last=True)
    assert r"\midrule" "\n" r"all & 2 \\" in latex_text([table])


def test_csv_holds_every_number_once() -> None:
    comparison, intervals = compared()
    rows = list(csv.DictReader(io.StringIO(csv_text(AGREEMENT_HEAD, agreement_rows(comparison, intervals)))))
    keys = [tuple(row[name] for name in AGREEMENT_HEAD[:5]) for row in rows]
    assert len(keys) == len(set(keys))
    found = {key[1:]: row for key, row in zip(keys, rows, strict=True)}
    one, other = NAMES[:2]
    assert float(found["pair", "conll", one, other]["value"]) == float(
        comparison.matrices["conll"][0][1] or 0
    )
    assert float(found["all", "masi", "", ""]["value"]) == float(comparison.alpha["masi"] or 0)
    assert intervals is not None
    bounds = intervals.annotators["b3"][one]
    row = found["annotator", "b3", one, ""]
    assert bounds is not None
    assert (float(row["low"]), float(row["high"])) == bounds
    assert int(found["pair", "disputed", one, other]["value"]) == comparison.pairs[one, other].disputed


def test_only_those_who_share_a_text_dispute_mentions() -> None:
    given = []
    for title, team in (("one", "abc"), ("two", "de"), ("three", "f")):
        text = Document(title, tuple("xxxxxx"))
        for_all = [[(1, 1), (2, 2)], [(1, 1), (2, 2), (3, 3)], [(1, 1), (2, 2), (4, 4), (5, 5)]]
        pairs = zip(team, for_all, strict=False)
        given.append([Annotation.of(name, text, [Chain.of("1", chain)]) for name, chain in pairs])
    comparison = compare(given)
    means = {"a": "1.5", "b": "2.0", "c": "2.5", "d": "1.0", "e": "1.0", "f": "-"}
    lines = [line.split() for line in comparison_lines(comparison)]
    start = next(number for number, line in enumerate(lines) if line[:1] == ["disputed"]) + 1
    assert {line[0]: line[-1] for line in lines[start : start + 6]} == means
    table = next(t for t in agreement_tables(comparison, [], NumberStyle()) if t.label == "tab:annotators")
    assert {row[0]: row[1] for row in table.rows} == means
    rows = csv.DictReader(io.StringIO(csv_text(AGREEMENT_HEAD, agreement_rows(comparison))))
    found = {(row["annotator"], row["other"]): row["value"] for row in rows if row["kind"] == "disputed"}
    assert (found["a", "b"], found["a", "d"], found["e", "d"], found["f", "a"]) == ("1", "", "1", "")
    assert len(found) == 1 + 6 * 5
    values = comparison_values(comparison)["disagreement_of_pairs"]
    assert [pair["annotators"] for pair in values] == [["a", "b"], ["a", "c"], ["b", "c"], ["d", "e"]]


def test_those_who_saw_nothing_in_common_dispute_no_mentions() -> None:
    text = Document("d", tuple("xxxxxx"))
    chains = {"a": [(1, 1), (2, 2)], "b": [(5, 5), (6, 6)], "c": [(1, 1), (6, 6)]}
    given = [Annotation.of(name, text, [Chain.of("1", chain)]) for name, chain in chains.items()]
    comparison = compare([given], coverages=[Coverage.of({"a": [(1, 3)], "b": [(4, 6)]})])
    assert {frozenset(pair) for pair in comparison.pairs} == {frozenset("ac"), frozenset("bc")}


def test_figures_are_xml_with_every_number() -> None:
    comparison, intervals = compared()
    drawing = agreement_drawing(comparison, "conll", NumberStyle(), intervals)
    text = svg_text(drawing)
    root = ElementTree.fromstring(text)
    words = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "<b>bob</b>" in words
    assert NumberStyle().text(comparison.matrices["conll"][0][1]) in words
    assert svg_text(drawing) == text
    for shape in drawing.shapes:
        if isinstance(shape, Box):
            assert 0 <= shape.x <= shape.x + shape.width <= drawing.width
            assert 0 <= shape.y <= shape.y + shape.height <= drawing.height


def test_whiskers_are_where_the_interval_is() -> None:
    bars = [MeasuredBar("a", 0.5, "0.5", Interval(0.25, 0.75)), MeasuredBar("b", None, "-")]
    drawing = bar_chart("t", bars)
    (half, nothing) = [shape for shape in drawing.shapes if isinstance(shape, Box)]
    whisker = next(shape for shape in drawing.shapes if isinstance(shape, Stroke) and shape.y == shape.to_y)
    assert whisker.x == pytest.approx(half.x + half.width / 2)
    assert whisker.to_x == pytest.approx(half.x + half.width * 1.5)
    assert nothing.width == 0


@pytest.mark.parametrize(("name", "start"), [("f.png", b"\x89PNG"), ("f.PDF", b"%PDF")])
def test_raster_files(name: str, start: bytes) -> None:
    pytest.importorskip("matplotlib")
    comparison, intervals = compared()
    drawing = agreement_drawing(comparison, "conll", NumberStyle(), intervals)
    content = figure_content(drawing, name)
    assert isinstance(content, bytes)
    assert content.startswith(start)
    assert content == figure_content(drawing, name)


def test_figures_that_cannot_be_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("figure", "figure.gif"):
        with pytest.raises(InputError, match=r"must end in one of \.svg \.png \.pdf"):
            refuse_figure(name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    refuse_figure("figure.svg")
    with pytest.raises(InputError, match=r"need matplotlib: pip install 'caspr\[plot\]'; \.svg"):
        refuse_figure("figure.png")
