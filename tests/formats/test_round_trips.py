"""Every format: what is written is read again, also from an existing file, and by way of another format."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caspr.formats.registry import FORMATS, READ, WRITTEN, detect, losses, render
from caspr.formats.sources import read_one
from caspr.text.alignment import align
from caspr.text.document import Annotation, Chain, Document, Span
from tests.formats.documents import relaxed
from tests.formats.everywhere import (
    CHARACTERS,
    GAPPED,
    LABELLED,
    SUFFIX,
    again,
    annotations,
    assert_same,
    partition,
    save,
    spans,
)
from tests.sweeps import how_many

formats = pytest.mark.parametrize("format", SUFFIX)
apart = pytest.mark.parametrize("format", [name for name in SUFFIX if not FORMATS[name].many_documents])
"""Formats with a file for each document."""
few = settings(relaxed, max_examples=how_many(30, 5))


def test_all_formats_are_tried() -> None:
    assert {*SUFFIX, "inception"} == {name for name in WRITTEN if name in READ}


@formats
@given(annotation=annotations())
@few
def test_written_is_read(format: str, annotation: Annotation) -> None:
    with TemporaryDirectory() as folder:
        back = again(annotation, Path(folder), format)
        tangled = any(finding.code == "covered-gaps" for finding in losses([annotation], format))
        assert_same(annotation, back, labels=format in LABELLED, gaps=format in GAPPED and not tangled)


@formats
@given(annotation=annotations())
@few
def test_reading_and_writing_is_a_fixpoint(format: str, annotation: Annotation) -> None:
    with TemporaryDirectory() as folder:
        once = again(annotation, Path(folder), format)
        path = Path(folder) / f"x{SUFFIX[format]}"
        assert detect(path) == format
        first = render([once], path, format=format)
        twice = again(once, Path(folder), format)
        assert render([twice], path, format=format) == first
        assert (once.chains, once.singletons) == (twice.chains, twice.singletons)
        assert once.marks == twice.marks


@formats
@given(annotation=annotations(), other=annotations(), data=st.data())
@few
def test_other_chains_into_an_existing_file(
    format: str, annotation: Annotation, other: Annotation, data: st.DataObject
) -> None:
    """The gold standard is the first annotator's file with other chains in it."""
    with TemporaryDirectory() as folder:
        once = again(annotation, Path(folder), format)
        drawn = data.draw(st.lists(st.lists(spans(once.document.tokens), min_size=1, max_size=4), max_size=4))
        drawn = drawn if once.document.tokens else []
        kept = data.draw(
            st.lists(st.sampled_from(once.all_chains), unique=True) if once.all_chains else st.just([])
        )
        chains = [Chain.of(str(number), spans) for number, spans in enumerate(drawn, 1)]
        chains += [Chain(f"9{number}", chain.mentions) for number, chain in enumerate(kept)]
        gold = Annotation.of("gold", once.document, chains, marks=once.marks)
        back = again(gold, Path(folder), format)
        assert_same(gold, back)


@formats
@given(annotation=annotations())
@few
def test_aligned_words_are_written_back(format: str, annotation: Annotation) -> None:
    """A second annotator cuts every word in two; what the first annotator marked stays the same."""
    with TemporaryDirectory() as folder:
        once = again(annotation, Path(folder), format)
        halves = [half for word in once.document.tokens for half in (word[:1], word[1:]) if half]
        other = Annotation.of("other", Document("d", tuple(halves)), [])
        moved = align([once, other])[0]
        assert_same(annotation, again(moved, Path(folder), format))


@pytest.mark.parametrize(("format", "suffix"), [("cas", ".json"), ("gate", ".bdocjs")])
@given(annotation=annotations(), data=st.data())
@few
def test_the_json_forms(format: str, suffix: str, annotation: Annotation, data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        once = again(annotation, Path(folder), format, suffix)
        assert_same(annotation, once, labels=True)
        path = Path(folder) / f"x{suffix}"
        assert detect(path) == format
        [(_, before)] = render([once], path, format=format).items()
        assert path.read_bytes() == before
        drawn = data.draw(st.lists(st.lists(spans(once.document.tokens), min_size=1, max_size=4), max_size=4))
        chains = [
            Chain.of(str(number), one) for number, one in enumerate(drawn if once.document.tokens else [])
        ]
        gold = Annotation.of("gold", once.document, chains)
        assert_same(gold, again(gold, Path(folder), format, suffix))


@given(
    annotation=annotations(), first=st.sampled_from(sorted(SUFFIX)), second=st.sampled_from(sorted(SUFFIX))
)
@few
def test_by_way_of_two_formats(annotation: Annotation, first: str, second: str) -> None:
    with TemporaryDirectory() as folder:
        assert_same(annotation, again(again(annotation, Path(folder), first), Path(folder), second))


@formats
def test_losses_are_counted(format: str, tmp_path: Path) -> None:
    from caspr.text.document import Mark

    document = Document("d", ("a", "b", "c"))
    marks = {Span(1, 3): Mark("person", (Span(1, 1), Span(3, 3)))}
    annotation = Annotation.of("Ann", document, [Chain.of("1", [(1, 3)])], marks=marks)
    codes = {finding.code: finding.count for finding in losses([annotation], format)}
    assert ("covered-gaps" in codes) == (format not in GAPPED)
    assert ("lost-labels" in codes) == (format not in LABELLED)


@formats
def test_empty_words_at_the_ends_of_mentions_are_counted(format: str) -> None:
    document = Document("d", ("a", "", "b"))
    annotation = Annotation.of("Ann", document, [Chain.of("1", [(1, 2), (2, 2), (1, 3)])])
    codes = {finding.code: finding.count for finding in losses([annotation], format)}
    assert codes.get("lost-edges", 0) == (1 if format in CHARACTERS else 0)


@formats
def test_empty_documents_and_empty_mentions(format: str, tmp_path: Path) -> None:
    nothing = Annotation.of("Ann", Document("d", ("a",)), [])
    assert partition(again(nothing, tmp_path, format)) == []
    hollow = Annotation.of("Ann", Document("d", ("a", "", "b")), [Chain.of("1", [(2, 2), (3, 3)])])
    assert_same(hollow, again(hollow, tmp_path, format))


@formats
def test_several_documents(format: str, tmp_path: Path) -> None:
    given = [
        Annotation.of("Ann", Document(name, ("a", "b")), [Chain.of("1", [(1, 1), (2, 2)])])
        for name in ("d", "e/f")
    ]
    path = tmp_path / (f"out{SUFFIX[format]}" if FORMATS[format].many_documents else "out")
    save(given, path, format)
    back = read_one(path, "Ann")
    assert [one.document.name for one in back] == ["d", "e/f"]
    assert [partition(one) for one in back] == [partition(one) for one in given]
    assert {one.document.format for one in back} == {format}


@apart
def test_documents_of_one_name_do_not_overwrite_each_other(format: str, tmp_path: Path) -> None:
    from caspr.errors import CasprError

    chains = [Chain.of("1", [(1, 1), (2, 2)])]
    one = Annotation.of("Ann", Document("d", ("a", "b")), chains)
    two = replace(one, document=Document("d", ("x", "y")))
    with pytest.raises(CasprError, match="two documents"):
        save([one, two], tmp_path / "out", format)


@apart
@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", "..", "a\0b", ""])
def test_hostile_names_stay_in_the_folder(format: str, name: str, tmp_path: Path) -> None:
    from caspr.errors import CasprError

    given = [
        Annotation.of("Ann", Document(one, ("a", "b")), [Chain.of("1", [(1, 1), (2, 2)])])
        for one in (name, "z")
    ]
    with pytest.raises(CasprError, match="safe file name"):
        save(given, tmp_path / "deep" / "out", format)
    assert not list(tmp_path.iterdir())


def test_unknown_formats_are_refused(tmp_path: Path) -> None:
    from caspr.errors import CasprError

    annotation = Annotation.of("Ann", Document("d", ("a",)), [])
    with pytest.raises(CasprError, match="unknown format 'nonsense': choose one of conll"):
        render([annotation], tmp_path / "x", format="nonsense")
