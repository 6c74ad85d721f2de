"""brat: five ways to say chains, and all else is kept."""

from pathlib import Path

import pytest

from caspr.errors import CasprError
from caspr.formats.brat import write
from caspr.formats.format import ReadOptions
from caspr.formats.sources import read_one
from caspr.text.document import Annotation, Chain, Document, Span
from tests.formats.everywhere import again, assert_same

TEXT = "Anna 😀 saw Ben .\nShe\nlaughed at him ."
MENTIONS = (
    "T1\tPER 0 4\tAnna\nT2\tPER 11 14\tBen\nT3\tPER 17 20\tShe\nT4\tPER 32 35\thim\nT5\tVERB 21 28\tlaughed\n"
)
CONVENTIONS = {
    "relations": "R1\tCoreference Arg1:T3 Arg2:T1\nR2\tcoref Arg1:T4 Arg2:T2\nR3\tLoves Arg1:T1 Arg2:T2\n",
    "sets": "*\tEquiv T1 T3\n*\tEquiv T2 T4\n",
    "named sets": "*\tCoreference T1 T3\n*\tCoreference T2 T4\n",
    "events": "E1\tx-CoreferenceLink:T1 next:E2\nE2\tx-CoreferenceLink:T3\n"
    "E3\tx-CoreferenceLink:T2 next:E4\nE4\tx-CoreferenceLink:T4\n",
    "types": "T6\tAnna-1 0 4\tAnna\nT7\tAnna-1 17 20\tShe\nT8\tBen-2 11 14\tBen\nT9\tBen-2 32 35\thim\n",
}


def written(folder: Path, ann: str, text: str = TEXT) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "d.txt").write_bytes(text.encode())
    (folder / "d.ann").write_bytes(ann.encode())
    return folder / "d.ann"


def words(annotation: Annotation) -> list[list[str]]:
    return [[annotation.document.text(span) for span in chain.mentions] for chain in annotation.chains]


def ann_of(annotation: Annotation) -> str:
    content = write([annotation])["d.ann"]
    assert isinstance(content, str)
    return content


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_conventions(convention: str, tmp_path: Path) -> None:
    ann = MENTIONS + CONVENTIONS[convention]
    [annotation] = read_one(written(tmp_path, ann))
    assert words(annotation) == [["Anna", "She"], ["Ben", "him"]]
    assert ann_of(annotation) == ann
    expected = 0 if convention == "events" else 1
    assert len(annotation.singletons) == expected


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_other_chains_in_the_same_convention(convention: str, tmp_path: Path) -> None:
    [annotation] = read_one(written(tmp_path, MENTIONS + CONVENTIONS[convention]))
    she, him = annotation.chains[0].mentions[1], annotation.chains[1].mentions[1]
    gold = Annotation.of("gold", annotation.document, [Chain.of("1", [she, him])])
    text = ann_of(gold)
    [back] = read_one(written(tmp_path, text))
    assert words(back) == [["She", "him"]]
    assert ("T5\tVERB" in text) == (convention == "events")
    assert ("T1\t" in text) == (convention == "relations")
    assert ("Loves" in text) == (convention == "relations")


def test_what_goes_with_a_mention(tmp_path: Path) -> None:
    more = "R1\tCoref Arg1:T3 Arg2:T1\nA1\tGender T2 male\nA2\tGender T1 female\n#1\tAnnotatorNotes T2\tx\n"
    more += "#2\tAnnotatorNotes R1\ty\n"
    [annotation] = read_one(written(tmp_path, MENTIONS + more))
    text = ann_of(Annotation.of("gold", annotation.document, annotation.chains))
    assert "A2" in text
    alone = ann_of(Annotation.of("gold", annotation.document, []))
    assert alone == ""
    assert "A1" not in text
    assert "#1" not in text
    assert "T2" not in text


def test_relations_are_chosen(tmp_path: Path) -> None:
    [annotation] = read_one(
        written(tmp_path, MENTIONS + CONVENTIONS["relations"]), options=ReadOptions(relations=("loves",))
    )
    assert words(annotation) == [["Anna", "Ben"]]


def test_gaps_line_ends_and_blanks(tmp_path: Path) -> None:
    ann = (
        "T1\tX 0 4;7 10\tAnna saw\nT2\tX 17 20;21 28\tShe laughed\nT3\tX 11 15\tBen \n"
        "R1\tCoref Arg1:T1 Arg2:T2\n"
    )
    [annotation] = read_one(written(tmp_path, ann))
    assert words(annotation) == [["Anna 😀 saw", "She laughed"]]
    pieces = [mark.pieces for mark in annotation.marks.values() if mark.pieces]
    assert pieces == [(Span(1, 1), Span(3, 3))]
    assert [finding.code for finding in annotation.findings] == ["discontinuous-mention"]
    assert ann_of(annotation) == ann


def test_a_text_that_does_not_fit_is_counted(tmp_path: Path) -> None:
    [annotation] = read_one(written(tmp_path, "T1\tX 0 4\tAnne\n"))
    assert [finding.code for finding in annotation.findings] == ["text-mismatch"]


def test_a_byte_order_mark_and_carriage_returns_count(tmp_path: Path) -> None:
    (tmp_path / "d.txt").write_bytes(b"\xef\xbb\xbfAnna\r\nBen")
    (tmp_path / "d.ann").write_bytes(b"T1\tX 1 5\tAnna\r\nT2\tX 7 10\tBen\r\n*\tCoref T1 T2\r\n")
    [annotation] = read_one(tmp_path / "d.ann")
    assert words(annotation) == [["Anna", "Ben"]]
    assert not annotation.findings
    text = write([annotation])["d.txt"]
    assert text == "\ufeffAnna\r\nBen"


def test_a_byte_order_mark_is_no_part_of_a_word(tmp_path: Path) -> None:
    plain = written(tmp_path / "a", MENTIONS)
    marked = written(tmp_path / "b", "T1\tX 1 5\tAnna\n")
    text = plain.with_suffix(".txt").read_bytes()
    marked.with_suffix(".txt").write_bytes(b"\xef\xbb\xbf" + text)
    [one], [two] = read_one(plain), read_one(marked)
    assert two.document.tokens == one.document.tokens
    assert [two.document.text(span) for span in two.mentions] == ["Anna"]


def test_a_byte_order_mark_that_an_editor_added_later_moves_no_mention(tmp_path: Path) -> None:
    (tmp_path / "d.txt").write_bytes(b"\xef\xbb\xbfAnna\r\nBen")
    (tmp_path / "d.ann").write_bytes(b"T1\tX 0 4\tAnna\nT2\tX 6 9\tBen\n*\tCoref T1 T2\n")
    [annotation] = read_one(tmp_path / "d.ann")
    assert words(annotation) == [["Anna", "Ben"]]
    assert not annotation.findings


def test_triggers_are_no_mentions(tmp_path: Path) -> None:
    [annotation] = read_one(written(tmp_path, MENTIONS + "E1\tLaugh:T5 Agent:T3\n*\tEquiv T1 T3\n"))
    assert len(annotation.singletons) == 2


def test_a_missing_text(tmp_path: Path) -> None:
    (tmp_path / "d.ann").write_text("")
    with pytest.raises(CasprError, match=r"put d\.txt beside it"):
        read_one(tmp_path / "d.ann")


def test_an_empty_word_at_the_start_of_a_line(tmp_path: Path) -> None:
    """A mention across lines has no gap, even where an empty mention stands at the line's start."""
    document = Document("d", ("a", "b", "", "c"), sentence_ends=(2, 4))
    annotation = Annotation.of("a", document, [Chain.of("1", [(1, 4), (3, 3)])])
    assert_same(annotation, again(annotation, tmp_path, "brat"), gaps=True)


def test_relations_of_a_type_that_is_not_read_are_a_warning_with_the_option(tmp_path: Path) -> None:
    """Whoever calls coreference otherwise would vote against every link."""
    ann = MENTIONS + "R1\tVerweis Arg1:T3 Arg2:T1\nR2\tVerweis Arg1:T4 Arg2:T2\n"
    path = written(tmp_path, ann)
    [annotation] = read_one(path)
    [finding] = annotation.findings
    assert (finding.code, finding.severity, finding.count) == ("unread-relations", "warning", 2)
    assert finding.where == str(path)
    assert "2 relations of type 'Verweis' not read" in finding.message
    assert "use --relation Verweis" in finding.message
    [annotation] = read_one(path, options=ReadOptions(relations=("Verweis",)))
    assert annotation.findings == ()


def test_the_option_names_again_what_is_read(tmp_path: Path) -> None:
    """`--relation` replaces what is read without it."""
    path = written(tmp_path, MENTIONS + CONVENTIONS["relations"] + "R4\tPart Arg1:T1 Arg2:T2\n")
    [finding] = read_one(path)[0].findings
    assert finding.severity == "warning"
    assert "of type 'Loves' (1), 'Part' (1)" in finding.message
    assert "--relation Coreference --relation coref --relation Loves --relation Part" in finding.message
    [finding] = read_one(path, options=ReadOptions(relations=("coref",)))[0].findings
    assert finding.severity == "note"
    assert "'Coreference' (1)" in finding.message


def test_other_types_of_an_annotator_are_a_warning_where_no_named_one_is_read(tmp_path: Path) -> None:
    path = written(tmp_path, MENTIONS + "R1\tCoref Arg1:T3 Arg2:T1\n")
    [finding] = read_one(path, options=ReadOptions(relations=("Verweis",)))[0].findings
    assert finding.severity == "warning"
    assert finding.message.endswith("use --relation Verweis --relation Coref")
