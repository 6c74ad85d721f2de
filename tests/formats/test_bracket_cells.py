import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caspr.formats.bracket_cells import CellError, match, parse, render, split_crossing
from caspr.formats.format import quoted
from caspr.text.document import Chain, Span, is_id
from tests.formats.documents import chains, relaxed


def spans_of(*cells: str) -> dict[str, list[Span]]:
    return match(enumerate(cells, 1))


@pytest.mark.parametrize("cell", ["", "-", "_", "*", " - ", " "])
def test_a_cell_without_mention(cell: str) -> None:
    assert parse(cell) == []


@pytest.mark.parametrize(
    ("cell", "items"),
    [
        ("(1", ["(1"]),
        ("1)", ["1)"]),
        ("(1)", ["(1)"]),
        ("(6(0)", ["(6", "(0)"]),
        ("(1)2)", ["(1)", "2)"]),
        ("1)(2", ["1)", "(2"]),
        ("(1|2)", ["(1", "2)"]),
        ("|(1)", ["(1)"]),
        ("(1)|", ["(1)"]),
        ("(1)||(2)", ["(1)", "(2)"]),
        ("28)30)", ["28)", "30)"]),
        ("(person-1-Name", ["(person-1-Name"]),
        ("(-)", ["(-)"]),
        ("(a=b)", ["(a=b)"]),
        ("(4294967297)|(1)", ["(4294967297)", "(1)"]),
    ],
)
def test_items(cell: str, items: list[str]) -> None:
    assert [f"{'(' * opens}{id}{')' * closes}" for id, opens, closes in parse(cell)] == items


@pytest.mark.parametrize(
    "cell",
    [
        *("1", "(", ")", "()", "(1))", "((1)", "(1|)", "1)2", "|", "||", "-|(1)", ","),
        *("(=1)", "=1)", "=(1)", "(1)|=2)", "(1\u00a0)", "(1\x0b", "(1\u2028)", "(1) (2)", "(1 )", "--"),
    ],
)
def test_malformed_cells(cell: str) -> None:
    with pytest.raises(ValueError, match="malformed"):
        parse(cell)


def test_a_closing_takes_the_last_opened_of_its_id() -> None:
    assert spans_of("(1", "(1", "1)", "1)") == {"1": [Span(2, 3), Span(1, 4)]}
    assert spans_of("(1", "(2", "1)", "2)") == {"1": [Span(1, 3)], "2": [Span(2, 4)]}
    assert spans_of("(1", "1)(1", "1)") == {"1": [Span(1, 2), Span(2, 3)]}
    assert spans_of("(1", "(1|1)", "1)") == {"1": [Span(2, 2), Span(1, 3)]}


@pytest.mark.parametrize(
    ("cells", "token", "message"),
    [
        (["-", "1)"], 2, "closes nothing"),
        (["(1", "-", "(1", "1)"], 1, "never closed"),
        (["(2", "(1", "2)"], 2, "never closed"),
        (["(1", "2)"], 2, "closes nothing"),
        (["(1", "rubbish"], 2, "malformed cell 'rubbish'"),
    ],
)
def test_refusals_name_their_token(cells: list[str], token: int, message: str) -> None:
    with pytest.raises(CellError, match=message) as refusal:
        spans_of(*cells)
    assert refusal.value.token == token


def test_order_of_items() -> None:
    written = render(
        [Chain.of("1", [(1, 4), (2, 4), (4, 4), (4, 6)]), Chain.of("2", [(4, 5)]), Chain.of("0", [(4, 5)])], 6
    )
    assert written == ["(1", "(1", "-", "1)|1)|(1|(0|(2|(1)", "0)|2)", "1)"]


def mentions(given: list[Chain]) -> dict[str, list[Span]]:
    return {chain.id: sorted(chain.mentions) for chain in given}


def test_crossing_mentions_of_one_chain_are_moved() -> None:
    kept, aliases = split_crossing([Chain.of("1", [(1, 3), (2, 4), (3, 5)]), Chain.of("3", [(1, 1)])])
    assert aliases == {"2": "1"}
    assert mentions(kept) == {"1": [Span(1, 3), Span(3, 5)], "3": [Span(1, 1)], "2": [Span(2, 4)]}


@relaxed
@given(st.integers(0, 12).flatmap(lambda length: st.tuples(st.just(length), chains(length))))
def test_rendered_cells_say_the_same(case: tuple[int, list[Chain]]) -> None:
    length, drawn = case
    kept, aliases = split_crossing(drawn)
    read = match(enumerate(render(kept, length), 1))
    assert {id: sorted(spans) for id, spans in read.items()} == mentions(kept)
    joined: dict[str, list[Span]] = {}
    for id, spans in read.items():
        joined.setdefault(aliases.get(id, id), []).extend(spans)
    assert {id: sorted(spans) for id, spans in joined.items()} == mentions(drawn)


@relaxed
@given(st.text("()|1a=- ", max_size=12))
def test_parsing_agrees_with_a_slow_definition(cell: str) -> None:
    def slow(text: str) -> bool:
        """Try all ways to cut an item off the front; ids are never cut in two."""
        for end in range(1, len(text) + 1):
            item = text[:end]
            id = item.removeprefix("(").removesuffix(")")
            if not is_id(id) or len(item) == len(id):
                continue
            if item[-1] != ")" and end < len(text) and text[end] not in "(|":
                continue
            if item[0] == "(" and end < len(text) and text[end] == ")":
                continue
            rest = text[end:]
            if not rest or slow(rest.removeprefix("|")):
                return True
        return False

    try:
        parse(cell)
        valid = True
    except ValueError:
        valid = False
    text = cell.strip(" ")
    items = re.sub(r"\|+", "|", text).strip("|")  # an empty item says nothing
    assert valid == (text in {"", "-", "_", "*"} or slow(items))


def test_long_and_deep_input_is_read_in_linear_time() -> None:
    started = time.process_time()
    id = "x" * 1_000_000
    assert spans_of(f"({id}", f"{id})") == {id: [Span(1, 2)]}
    for rubbish in (id, f"({id}){id}", "(1)" * 300_000 + "x", "(" * 1_000_000):
        with pytest.raises(ValueError, match="malformed"):
            parse(rubbish)
    deep = ["(1"] * 50_000 + ["1)"] * 50_000
    assert len(spans_of(*deep)["1"]) == 50_000
    assert time.process_time() - started < 20


def test_a_long_chain_is_split_quickly() -> None:
    started = time.process_time()
    zigzag = Chain.of("7", [(start, start + 3) for start in range(1, 6001, 2)])
    kept, aliases = split_crossing([zigzag])
    assert aliases == {"1": "7"}
    assert sum(len(chain.mentions) for chain in kept) == 3000
    assert time.process_time() - started < 3


def test_quoting_keeps_messages_on_one_short_line() -> None:
    assert quoted("a\nb\u2028\x1b[31m") == r"'a\nb\u2028\x1b[31m'"
    assert len(quoted("x" * 10_000)) < 80
