import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caspr.errors import CasprError, FormatError, InputError, OutputError
from caspr.formats import FORMATS, conll, read
from caspr.formats.conll import is_number
from caspr.formats.naming import numbered
from caspr.text.document import Annotation, Chain, Document, Span
from tests.formats.documents import corpora, one_document, relaxed

CONLL_2012 = """\
# a comment
#begin document (wsj/0001 (draft)); part 000
wsj 0  0   John  NNP (TOP*  -  (11)
wsj 0  1   went  VBD   *    -  -   extra  -

wsj 0  0      .    .   *)   -  (9(11)
wsj 0  1      7   CD   *)   -  9)
#end document
#begin document (wsj/0001 (draft)); part 001
wsj 1  0   He  PRP (TOP*  -  (11)
#end document
# at the end
"""


def parse(text: str) -> list[Annotation]:
    return conll.parse(text, "in.conll", "Ann")


def only(text: str) -> Annotation:
    [annotation] = parse(text)
    return annotation


def made(tokens: tuple[str, ...], *chains: Chain, name: str = "d") -> Annotation:
    return Annotation.of("Ann", Document(name, tokens), chains)


def test_reading_conll_2012() -> None:
    first, second = parse(CONLL_2012)
    assert (first.document.name, first.document.part) == ("wsj/0001 (draft)", "000")
    assert first.document.tokens == ("John", "went", ".", "7")
    assert first.document.lines == (3, 4, 6, 7)
    assert first.chains == (Chain.of("11", [(1, 1), (3, 3)]),)
    assert first.singletons == (Chain.of("9", [(3, 4)]),)
    assert second.document.part == "001"


def test_all_other_columns_and_lines_are_copied() -> None:
    written = conll.write(parse(CONLL_2012))
    assert written == CONLL_2012.replace("(9(11)", "(9|(11)")


def test_gum_begin_lines() -> None:
    named, unnamed = parse(
        "# begin document GUM_bio\n0\tDaniel\t(person-1-Daniel\n1\tB\tperson-1-Daniel)\n# end document\n"
        "# BEGIN  document \n0\tA\t_\n# end document\n\n"
    )
    assert named.document.name == "GUM_bio"
    assert named.singletons == (Chain.of("person-1-Daniel", [(1, 2)]),)
    assert unnamed.document.key == ("", None)


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("#begin document (d);", ("d", None)),
        ("#begin document (d)", ("d", None)),
        ("#begin document (d); part 0", ("d", "0")),
        ("#Begin Document (d) ; Part 000 ;", ("d", "000")),
        ("#begin document(d);", ("d", None)),
        ("# begin document d; part 3", ("d", "3")),
        ("# begin document d;", ("d", None)),
        ("#begin document (a); b);", ("a); b", None)),
        ('#begin document ("; #end document (x));', ('"; #end document (x)', None)),
        ("#begin document ();", ("", None)),
    ],
)
def test_names(line: str, key: tuple[str, str | None]) -> None:
    document = only(f"{line}\n#end document").document
    assert (document.name, document.part) == key


@pytest.mark.parametrize(
    ("rows", "tokens"),
    [
        (["0\t0\tDer\t-", "1\t1\tTag\t-"], ("Der", "Tag")),
        (["Der\t-", "7\t-"], ("Der", "7")),
        (["d\t0\t0\tDer\t-", "d\t0\t1\tTag\t-"], ("Der", "Tag")),
        (["d\t0\t0\tDer\t-", "e\t0\t1\tTag\t-"], ("d", "e")),
        (["1 2 -", "3 4 -"], ("1", "3")),
        (["-", "(1)"], ("", "")),
        (["1\tNew York\t(1)", "2\t\t"], ("New York", "")),
        (["1 a\u00a0b (1)", "2 \u2028 -", "3 c\u0085d\x0ce -"], ("a\u00a0b", "\u2028", "c\u0085d\x0ce")),
        (["#\t-", "#1\t(1)", "x\t-"], ("#", "#1", "x")),
        (["#\t-", "#1\t(1)"], ("#", "#1")),
        (["  # x -", "a b -"], ("#", "a")),
    ],
)
def test_the_word_column(rows: list[str], tokens: tuple[str, ...]) -> None:
    text = one_document(*rows)
    assert only(text).document.tokens == tokens
    assert parse(conll.write(parse(text))) == parse(text)


@pytest.mark.parametrize("change", [("\n", "\r\n"), ("#begin", "\ufeff#begin")])
def test_what_editors_do_to_files(change: tuple[str, str], tmp_path: Path) -> None:
    text = one_document("1\tthe\t(1", "2\tgirl\t1)", "3\tcarriage\rreturn\t-")
    path = tmp_path / "AK.conll"
    path.write_bytes(text.replace(*change).encode())
    assert read(path) == conll.parse(text, "x", "AK")
    assert read(path, "Ann") == parse(text)


def test_comments_inside_documents_are_counted_and_not_written() -> None:
    text = one_document("# sent_id = 1", "1\tThe\t-", "# text = The", "#\tx\ty\tz\t-", "2\tend\t-")
    annotation = only(text)
    assert annotation.document.tokens == ("The", "end")
    [finding] = annotation.findings
    assert (finding.code, finding.count) == ("comment-in-document", 3)
    assert "# text" not in conll.write([annotation])


def test_repeated_mentions_are_counted() -> None:
    annotation = only(one_document("a (1(1", "b 1)1)", "c (1)(1)(2)"))
    assert annotation.chains == (Chain.of("1", [(1, 2), (3, 3)]),)
    [finding] = annotation.findings
    assert (finding.code, finding.count) == ("repeated-mention", 2)


def test_our_own_comments_are_dropped_and_others_kept() -> None:
    text = "# caspr other: {}\n# mine\n#x\n" + one_document("a -")
    assert conll.write(parse(text)) == text.removeprefix("# caspr other: {}\n")


def test_crossing_mentions_of_one_chain_survive() -> None:
    annotation = made(tuple("abcd"), Chain.of("3", [(1, 3), (2, 4)]), Chain.of("1", [(1, 1), (2, 2)]))
    written = conll.write([annotation])
    assert written.startswith("# caspr same-chain: 2 3\n#begin document (d);\n1\ta\t(3|(1)\n")
    assert only(written) == annotation
    [finding] = conll.crossing_findings(annotation)
    assert (finding.code, finding.count) == ("crossing-in-chain", 1)
    assert "'b c d' of chain 3" in finding.message
    assert conll.crossing_findings(replace(annotation, chains=())) == ()


def test_documents_made_by_programs_get_an_index_unless_all_tokens_are_numbers() -> None:
    assert conll.write([made(("the", "7"))]) == one_document("1\tthe\t-", "2\t7\t-")
    assert conll.write([made(("8", "7"))]) == one_document("8\t-", "7\t-")


@pytest.mark.parametrize(
    ("annotation", "message"),
    [
        (made(("a\tb",)), "token 1 of 'd', 'a\\tb'"),
        (made(("a", "b\nc")), "token 2 of 'd'"),
        (made(("\0",)), "token 1 of 'd'"),
        (made((), name="a\nb"), "a document named 'a\\nb'"),
        (Annotation.of("Ann", Document("d", (), "1 2"), ()), "part '1 2'"),
        (Annotation.of("Ann", Document("d", (), ""), ()), "part ''"),
        (made(("a", "b"), Chain.of("1", [(1, 1)]), Chain.of("1", [(2, 2)])), "two chains have the id '1'"),
        (made(("a",), Chain.of("1", [(1, 2)])), "mention (1, 2) is outside its 1 tokens"),
        (made(("a",), Chain.of("1", [(0, 1)])), "mention (0, 1) is outside"),
        (made(("a", "b"), Chain("1", (Span(2, 1),))), "mention (2, 1) is outside"),
    ],
)
def test_what_cannot_be_read_back_is_not_written(annotation: Annotation, message: str) -> None:
    with pytest.raises(OutputError) as refusal:
        conll.write([annotation])
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


BEGIN, END = "#begin document (d);\n", "#end document\n"

MALFORMED = [
    ("", None, "found no document"),
    ("\n \n\t\n", None, "found no document"),
    ("# only a comment\n", None, "found no document"),
    (f"{BEGIN}1 a -\n", 1, "#end document after it"),
    (f"{BEGIN}1 a -\n{END}{BEGIN.replace('d)', 'e)')}", 4, "#end document after it"),
    (f"{BEGIN}1 a -\n{BEGIN}{END}", 3, "inside the document begun in line 1"),
    (END, 1, "#begin document before it"),
    (f"{BEGIN}{END}{END}", 3, "#begin document before it"),
    (f"1 a -\n{BEGIN}{END}", 1, "outside a document"),
    (f"{BEGIN}{END}\n2 b -\n", 4, "outside a document"),
    (f"{BEGIN}{END}{BEGIN}{END}", 3, "the first is in line 1"),
    ("#begin document (d); part 0\n#end document\n" * 2, 3, "'d; part 0' for the second time"),
    ("#begin document (d\n#end document\n", 1, "`#begin document (name);`"),
    ("#begin document (d) rubbish\n#end document\n", 1, "`#begin document (name);`"),
    ("#begin document (d); part\n#end document\n", 1, "`#begin document (name);`"),
    ("#begin document (d); part 0 1\n#end document\n", 1, "`#begin document (name);`"),
    (f"{BEGIN}1 a (1\n2 b -\n{END}", 2, "'(1', which is never closed"),
    (f"{BEGIN}1 a -\n2 b 1)\n{END}", 3, "'1)', which closes nothing"),
    (f"{BEGIN}1 a (1\n2 b 2)\n{END}", 3, "'2)', which closes nothing"),
    (f"{BEGIN}1 a (1\n\n2 b (1\n3 c 1)\n{END}", 2, "'(1', which is never closed"),
    (f"{BEGIN}1 a (1)\n2 b\n{END}", 3, "found a row of 2 columns, expected at least 3"),
    (f"{BEGIN}1 a (1)\n2 b b\n{END}", 3, "malformed cell 'b'"),
    (f"{BEGIN}1 a ((1)\n{END}", 2, "malformed cell '((1)'"),
    (f"{BEGIN}1 a (1)x|\n{END}", 2, "malformed cell '(1)x|'"),
    (f"{BEGIN}1 a ()\n{END}", 2, "malformed cell '()'"),
    (f"{BEGIN}1\ta\t(1) (2)\n{END}", 2, "malformed cell '(1) (2)'"),
    (f"{BEGIN}1 a =(1)\n{END}", 2, "use `caspr redo`"),
    (f"{BEGIN}1 a -\n2 b =\n{END}", 3, "use `caspr redo`"),
    (f"{BEGIN}1 a -\n-\n{END}", 3, "found a row of 1 columns, expected at least 3 columns"),
    (f"{BEGIN}d 0 0 a x -\nd 0 1 -\n{END}", 3, "at least 5 columns: the word is in column 4"),
    (f"{BEGIN}\u00a0\n{END}", 2, "malformed cell '\\xa0'"),
    (f"{BEGIN}\x0c\n{END}", 2, "malformed cell '\\x0c'"),
    (f"# caspr same-chain: 1\n{BEGIN}{END}", 1, "a new id and the id of its chain"),
    (f"{BEGIN}1 a (1)\u2028(1)\n{END}", 2, "malformed cell"),
    (f"{BEGIN}1 a " + "x" * 100_000 + f"\n{END}", 2, "malformed cell 'xxxx"),
    ("<html>\n", 1, "outside a document"),
]


@pytest.mark.parametrize(("text", "line", "message"), MALFORMED)
def test_malformed_files(text: str, line: int | None, message: str) -> None:
    with pytest.raises(FormatError) as refusal:
        parse(text)
    assert refusal.value.line == line
    assert message in str(refusal.value)
    assert str(refusal.value).startswith("in.conll:")
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 300


@pytest.mark.parametrize(
    ("data", "line", "message"),
    [
        (
            f"{BEGIN}1 \xe4 -\n{END}".encode("latin-1"),
            2,
            "byte 0xe4, which is not UTF-8, expected UTF-8 text",
        ),
        (b"\xef\xbb\xbf\n\n\xff", 3, "byte 0xff"),
        (f"{BEGIN}{END}".encode("utf-16"), 1, "found UTF-16 text, expected UTF-8 text"),
        (f"\ufeff{BEGIN}{END}".encode("utf-16-be"), 1, "found UTF-16 text"),
        (f"{BEGIN}{END}".encode("utf-32"), 1, "found UTF-32 text"),
        (f"{BEGIN}1 \0 -\n{END}".encode(), 2, "a NUL character"),
    ],
)
def test_other_encodings(data: bytes, line: int, message: str, tmp_path: Path) -> None:
    path = tmp_path / "in.conll"
    path.write_bytes(data)
    with pytest.raises(FormatError) as refusal:
        conll.read(path)
    assert refusal.value.line == line
    assert message in str(refusal.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path, message in [
        (tmp_path / "none.conll", "cannot read: .*No such file"),
        (tmp_path, "no files of a known format in this folder"),
        (tmp_path / "a\0b", "cannot read: .*null"),
        (tmp_path / "x" / "y", "cannot read: .*No such file"),
    ]:
        with pytest.raises(CasprError, match=message):
            read(path)


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(InputError, match="choose one of conll"):
        read(Path("x"), format="pdf")
    assert FORMATS["conll"].write([]) == ""


@relaxed
@given(corpora())
def test_what_was_written_is_read_back(annotations: list[Annotation]) -> None:
    written = conll.write(annotations)
    again = parse(written)
    expected = [one.with_chains(numbered(one.all_chains, is_number)) for one in annotations]
    assert again == expected
    for one, two in zip(again, expected, strict=True):
        assert [chain.name for chain in one.all_chains] == [chain.name for chain in two.all_chains]
    assert conll.write(again) == written


FILE_WORDS = st.one_of(
    st.sampled_from(["the", "#", "#x", "12", "\u00a0", "(1)", "=x", "\u2028"]), st.text("ab#1(|=", min_size=1)
)


@st.composite
def raw_files(draw: st.DrawFn) -> tuple[str, int]:
    """Draw a file somebody else wrote, and how many tokens it has."""
    separator = draw(st.sampled_from(["\t", " ", "   "]))
    lines = draw(st.lists(st.sampled_from(["# c", "", "#c\t-"]), max_size=2))
    count = 0
    for number in range(draw(st.integers(1, 3))):
        width = draw(st.integers(1, 4))
        lines.append(f"#begin document (d{number});")
        for _ in range(draw(st.integers(0, 6))):
            word = f"w{draw(FILE_WORDS)}"
            columns = [word, *draw(st.lists(FILE_WORDS, min_size=width, max_size=width))]
            lines.append(separator.join([*columns, draw(st.sampled_from(["-", "(1)", "(1)(2)", "_", "*"]))]))
            count += 1
            lines.extend(draw(st.lists(st.sampled_from(["", " ", "# note"]), max_size=1)))
        lines.append("#end document")
        lines.extend(draw(st.lists(st.sampled_from(["# c", "", "#"]), max_size=2)))
    return draw(st.sampled_from(["\n", "\r\n"])).join(lines), count


@relaxed
@given(raw_files())
def test_foreign_files_reach_a_fixpoint_and_lose_no_token(case: tuple[str, int]) -> None:
    text, count = case
    first = parse(text)
    assert sum(len(annotation.document.tokens) for annotation in first) == count
    written = conll.write(first)
    assert parse(written) == first
    assert conll.write(parse(written)) == written
    assert [line for line in text.splitlines() if line.startswith("# c")] == [
        line for line in written.splitlines() if line.startswith("# c")
    ]


def test_a_long_text_is_read_quickly() -> None:
    rows = [f"{number}\tword\t({number % 997})" for number in range(200_000)]
    text = one_document(*rows)
    started = time.process_time()
    annotation = only(text)
    assert time.process_time() - started < 60  # about one second; hours if it were quadratic
    assert len(annotation.chains) == 997
    assert conll.write([annotation]) == text
