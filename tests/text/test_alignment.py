"""Texts that differ in where words end get one row of tokens; other differences are refused."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caspr.errors import InputError
from caspr.text.alignment import align, transfer
from caspr.text.document import Annotation, Chain, Document, Mark, Span
from tests.formats.documents import relaxed


def annotation(name: str, tokens: str, *spans: tuple[int, int], source: str = "") -> Annotation:
    document = Document("d", tuple(tokens.split(" ")), source=source)
    return Annotation.of(name, document, [Chain.of("1", spans)] if spans else [])


def texts(one: Annotation) -> list[str]:
    return [one.document.text(span).replace(" ", "") for chain in one.all_chains for span in chain.mentions]


def test_same_tokens_are_left_alone() -> None:
    one, two = annotation("a", "A girl", (1, 2)), annotation("b", "A girl")
    assert align([one, two]) == (one, two)


def test_words_are_cut_at_the_union_of_boundaries() -> None:
    one = annotation("a", "New-York is big .", (1, 1), (3, 4))
    two = annotation("b", "New - York is big.", (3, 3), (4, 5))
    first, second = align([one, two])
    assert first.document.tokens == second.document.tokens == ("New", "-", "York", "is", "big", ".")
    assert texts(first) == ["New-York", "big."]
    assert texts(second) == ["York", "isbig."]
    assert first.document.origin == (1, 1, 1, 2, 3, 4)
    assert [finding.code for finding in first.findings] == ["words-cut"]


def test_empty_tokens_keep_their_place() -> None:
    one = Annotation.of("a", Document("d", ("ab", "", "c")), [Chain.of("1", [(2, 2), (3, 3)])])
    two = annotation("b", "a bc", (1, 2))
    first, second = align([one, two])
    assert first.document.tokens == ("a", "b", "", "c")
    assert first.chains[0].mentions == (Span(3, 3), Span(4, 4))
    assert second.singletons[0].mentions == (Span(1, 4),)


def test_pieces_and_labels_move_too() -> None:
    one = Annotation.of(
        "a",
        Document("d", ("ab", "c", "d")),
        [Chain.of("1", [(1, 3)])],
        marks={Span(1, 3): Mark("x", (Span(1, 1), Span(3, 3)))},
    )
    moved = align([one, annotation("b", "a b c d")])[0]
    assert moved.marks == {Span(1, 4): Mark("x", (Span(1, 2), Span(4, 4)))}


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ("A boy sang", "found token 'boy', expected 'girl' as in a.x"),
        ("A girl sang now", "found token .now., expected the end"),
        ("A girl", "found token .sang., expected the end"),
        ("A  girl", "found token .sang., expected the end"),
        ("A girls sang", "token 2: found token 'girls', expected 'girl' as in a.x, token 2"),
        ("A gir sang", "found token 'gir', expected 'girl' as in a.x"),
        ("A girl sangs", "found token 'sangs', expected 'sang' as in a.x"),
        ("Agirl sing", "found token 'sing', expected 'sang' as in a.x"),
        ("A girlsing", "found token 'girlsing', expected 'girl' as in a.x"),
    ],
)
def test_real_differences_name_both_places(other: str, message: str) -> None:
    one = annotation("a", "A girl sang", source="a.x")
    with pytest.raises(InputError, match=message):
        align([one, annotation("b", other, source="b.x")])


def test_unicode_normalisation_is_hinted_at() -> None:
    with pytest.raises(InputError, match="only in Unicode normalisation"):
        align([annotation("a", "é x"), annotation("b", "e\u0301 x")])


@given(st.text("ab ", min_size=1, max_size=20), st.data())
@relaxed
def test_any_cutting_of_a_text_aligns(text: str, data: st.DataObject) -> None:
    solid = "".join(text.split())
    if not solid:
        return
    given = []
    for name in ("a", "b", "c"):
        cuts = sorted(data.draw(st.sets(st.integers(1, len(solid)), max_size=5)) | {0, len(solid)})
        tokens = tuple(solid[start:end] for start, end in pairwise(cuts))
        token = st.integers(1, len(tokens))
        pair = st.tuples(token, token).map(lambda ends: (min(ends), max(ends)))
        spans = data.draw(st.lists(pair, max_size=3))
        chain = [Chain.of("1", spans)] if spans else []
        given.append(Annotation.of(name, Document("d", tokens), chain))
    moved = align(given)
    assert len({one.document.tokens for one in moved}) == 1
    assert [texts(one) for one in moved] == [texts(one) for one in given]


def test_transfer_puts_chains_into_another_document(tmp_path: Path) -> None:
    template = annotation("a", "New-York is big", (1, 1))
    gold = annotation("gold", "New - York is big", (1, 3), (5, 5))
    moved = transfer(gold, template)
    assert texts(moved) == ["New-York", "big"]
    assert moved.document.origin
