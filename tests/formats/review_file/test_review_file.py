import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caspr.errors import FormatError
from caspr.formats import conll, review_file
from caspr.formats.review_file import Review
from caspr.formats.review_file.writing import Filler, display_width, prepare
from caspr.task.decisions import Decision, Decisions, Note
from caspr.text.document import Annotation, Chain, Document, Span
from tests.formats.documents import chains, decisions, documents, one_document, relaxed
from tests.sweeps import how_many

JSON = '{"annotators": ["AK", "JA"], "columns": 2, "settings": {"objective": "u"}, "version": 1}'
HEADER = f"# caspr review: {JSON}\n"


def reviewed(*results: str, header: str = HEADER) -> str:
    """Make a review file of a few tokens with these result cells."""
    rows = [f"{number}\tw{number}\t(7)\t-\t{cell}" for number, cell in enumerate(results, 1)]
    return header + one_document(*rows)


def parse(text: str) -> list[Review]:
    return review_file.parse(text, "review.conll")


def decided(*results: str) -> Decisions:
    [one] = parse(reviewed(*results))
    return one.decisions


def each(decisions: Decisions) -> tuple[Decision, ...]:
    return tuple(map(Decision, decisions.each()))


def unsummed(text: str) -> str:
    """Leave the checksums out."""
    assert '"sums": {' in text
    return re.sub(r'"sums": \{.*?\}, ', "", text)


def test_the_layout() -> None:
    document = Document("d", ("The", "girl", "sang"))
    first = Annotation.of("AK", document, [Chain.of("1", [(1, 2)])])
    second = Annotation.of("JA", document, [Chain.of("4", [(1, 2), (3, 3)])])
    gold = Annotation.of("gold", document, [Chain.of("1", [(1, 2), (3, 3)])])
    enforced = Decisions.of([Chain.of("1", [(1, 2)])])
    written = review_file.write([Review(gold, (first, second), each(enforced), {"objective": "u"})])
    header = HEADER.replace('{"ann', '{"aligned": true, "ann').replace(', "ver', ', "tokens": 3, "ver')
    assert unsummed(written) == header + one_document(
        "1\tThe \t(1\t(4 \t=(1", "2\tgirl\t1)\t4) \t=1)", "3\tsang\t- \t(4)\t(1)"
    )


def test_columns_are_aligned_as_they_are_shown() -> None:
    words = ("Kasım", "I\u0307stanbul", "東京", "a")
    document = Document("d", words)
    chains = [Chain.of("1", [(1, 3), (4, 4)])]
    first, gold = (Annotation.of(name, document, chains) for name in ("AK", "gold"))
    written = review_file.write([Review(gold, (first,), (), {})])
    rows = [line for line in written.splitlines() if "\t" in line]
    places = {tuple(display_width(row[: tab.start()]) for tab in re.finditer("\t", row)) for row in rows}
    assert places == {(1, 10, 14)}
    [read] = parse(written)
    assert read.annotations[0].document.tokens == words
    assert read.annotations[0].chains == first.chains
    assert not read.annotations[0].findings


def test_one_long_word_does_not_make_every_row_long() -> None:
    document = Document("d", ("x" * 500, "a"))
    annotation = Annotation.of("AK", document, [])
    written = review_file.write([Review(annotation, (annotation,), (), {})])
    assert len(written.splitlines()[-2]) < 50
    assert parse(written)[0].annotations[0].document.tokens == document.tokens


@pytest.mark.parametrize("change", [("\t", " "), ("\t", "   "), ("\t", " \t  "), (" *\t", "\t")])
def test_any_spacing_is_read(change: tuple[str, str]) -> None:
    document = Document("d", ("The", "girls", "sang"))
    annotations = [Annotation.of(name, document, [Chain.of("1", [(1, 2), (3, 3)])]) for name in ("AK", "JA")]
    enforced = each(Decisions.of([Chain.of("1", [(1, 2)])]))
    written = review_file.write([Review(annotations[0], tuple(annotations), enforced, {})])
    [asked] = parse(written)
    head, body = written.split("#begin")
    [read] = parse(head + "#begin" + re.sub(*change, body))
    assert read == asked
    assert not [finding for one in read.annotations for finding in one.findings]
    lines = body.splitlines()
    lines[2] = re.sub(*change, lines[2])
    assert parse(head + "#begin" + "\n".join(lines)) == [asked]


def test_words_keep_their_own_blanks() -> None:
    document = Document("d", ("New York", " ", "x"))
    annotation = Annotation.of("AK", document, [Chain.of("1", [(1, 1), (3, 3)])])
    [read] = parse(review_file.write([Review(annotation, (annotation,), (), {})]))
    assert read.annotations[0].document.tokens == document.tokens
    document = Document("d", ("New York", "", "x"))
    annotation = Annotation.of("AK", document, [])
    [read] = parse(review_file.write([Review(annotation, (annotation,), (), {})]))
    assert read.annotations[0].document.tokens == document.tokens


OLD = one_document(
    "1  (2 (1(2) =(1", "2 (3)     -  (2)", "3  2)    1)  =1)", "4 (3)   (2)    -", "5   -     - =(1)"
)


def test_a_file_of_2018_is_read_if_somebody_says_who_the_annotators_are() -> None:
    [review] = review_file.parse(OLD, "old.conll", ["AK", "JA"])
    assert [one.annotator for one in review.annotations] == ["AK", "JA"]
    assert review.annotations[1].mentions == {(1, 3), (1, 1), (4, 4)}
    assert review.annotations[1].chains == (Chain.of("2", [(1, 1), (4, 4)]),)
    assert review.decisions == Decisions.of([Chain.of("1", [(1, 3), (5, 5)])])
    written = review_file.write([review])
    assert parse(written)[0].decisions == review.decisions
    with pytest.raises(FormatError, match="found 2 annotators in the header: 'AK', 'JA', expected the 3"):
        review_file.parse(written, "new.conll", ["a", "b", "c"])
    assert review_file.parse(written, "new.conll", ["a", "b"])


def test_without_that_the_message_says_what_to_type() -> None:
    with pytest.raises(FormatError) as refusal:
        parse(OLD)
    assert "`caspr redo review.conll --annotators 2 --preset paper`" in str(refusal.value)
    with pytest.raises(FormatError) as refusal:
        parse(one_document("1 The (1)", "2 girl -"))
    assert "--annotators" not in str(refusal.value)


def test_too_many_annotators_are_refused() -> None:
    for names in ("abc", "abcdef"):
        with pytest.raises(FormatError, match=f"columns of 2 annotators .* the {len(names)} that were"):
            review_file.parse(OLD, "old.conll", list(names))
    unlike = one_document("girl  (1)  (1)", "she  (1)  (1)")
    with pytest.raises(FormatError, match="columns of 1 annotator before"):
        review_file.parse(unlike, "old.conll", ["a", "b"])


def test_a_result_beside_annotators_files() -> None:
    document = Document("x", ("a", "b", "c", "d", "e"))
    annotations = [Annotation.of(name, document, [Chain.of("1", [(1, 3), (5, 5)])]) for name in ("AK", "JA")]
    text = OLD.replace("(d)", "(x)")
    [review] = review_file.parse_beside(text, "old.conll", [annotations])
    assert review.annotations == tuple(annotations)
    assert review.decisions == Decisions.of([Chain.of("1", [(1, 3), (5, 5)])])
    with pytest.raises(FormatError, match=r"old\.conll:1: found document 'd', expected a document of"):
        review_file.parse_beside(OLD, "old.conll", [annotations])
    with pytest.raises(FormatError, match="found a document of 5 tokens, expected 2"):
        short = replace(document, tokens=("a", "b"))
        review_file.parse_beside(text, "old.conll", [[Annotation.of("AK", short, [])]])
    with pytest.raises(FormatError, match=r"old\.conll:2: found enforced .* whose other end is not enforced"):
        review_file.parse_beside(text.replace("=1)", "1)"), "old.conll", [annotations])


def test_the_paper_example() -> None:
    """Figure 3: mentions (1,3) and (6,6) are in a chain, and token 1 starts no other."""
    enforced = decided("=(1", "(2)", "=1)", "(2)", "(1)", "=(1)")
    assert enforced == Decisions.of([Chain.of("1", [(1, 3), (6, 6)])])
    assert enforced.rules_out(Span(1, 1))


def test_what_cells_cannot_say() -> None:
    lines = ["enforced: 3-3 1-1 in x", "together:  1-1 2-2", "exists: 2-3", "absent: 1-3", "apart: 3-3 1-1"]
    ours = "".join(f"# caspr {line}\n" for line in [*lines, 'note: {"mention": "1-1", "text": "a\\nb"}'])
    [one] = parse(
        HEADER
        + ours
        + one_document(*(f"{n}\tw{n}\t-\t-\t=-" if n == 3 else f"{n}\tw\t-\t-\t-" for n in (1, 2, 3)))
    )
    first, last = Span(1, 1), Span(3, 3)
    assert one.decisions.closed == {3}
    assert one.decisions.absent == {(1, 3)}
    assert one.decisions.apart == {(first, last)}
    assert [group.mentions for group in one.decisions.groups] == [(first, (2, 2), last), ((2, 3),)]
    assert one.decisions.groups[0].ids == ("x",)
    assert one.notes == (Note("a\nb", first),)
    written = review_file.write([one])
    assert written.splitlines()[1:3] == ["# caspr enforced: 1-1 3-3 in x", "# caspr together: 1-1 2-2"]
    assert parse(written) == [one]


def test_only_enforced_cells_matter() -> None:
    assert not decided("(1", "rubbish((", "1)", "2)")
    assert decided("rubbish", "=-", "(((", "=") == Decisions.of(empty=[2, 4])
    assert decided("=_", "=*", "", "= - ") == Decisions.of(empty=[1, 2, 4])
    assert decided("=(1)|(2)", "-") == Decisions.of([Chain.of("1", [(1, 1)]), Chain.of("2", [(1, 1)])])
    assert decided("=(1", "(1", "1)", "=1)") == Decisions.of([Chain.of("1", [(1, 4)])])
    assert decided("=(1", "2)", "(2", "=1)") == Decisions.of([Chain.of("1", [(1, 4)])])
    assert decided("=(1", "1)", "-", "=1)") == Decisions.of([Chain.of("1", [(1, 4)])])
    assert decided("(1", "=(1", "=1)", "1)") == Decisions.of([Chain.of("1", [(2, 3)])])


@pytest.mark.parametrize(
    ("results", "line", "bracket"),
    [
        (["=(1", "1)"], 3, "'(1'"),
        (["(1", "=1)"], 4, "'1)'"),
        (["=(1", "1)", "-", "(1", "=1)"], 3, "'(1'"),
        (["-", "=(1", "=(1", "1)", "(1", "=1)", "=1)"], 5, "'(1'"),
        (["=(1", "=(1", "1)", "=1)", "(1", "=1)"], 3, "'(1'"),
        (["=(1", "=(2)", "=2)", "=1)"], 5, "'2)'"),
    ],
)
def test_both_ends_must_be_enforced(results: list[str], line: int, bracket: str) -> None:
    with pytest.raises(FormatError) as refusal:
        decided(*results)
    assert refusal.value.line == line
    assert f"enforced {bracket} whose other end is not enforced" in str(refusal.value)
    assert "prefix the other cell with `=`" in str(refusal.value)


def stated(line: str) -> str:
    """Make a review file of one token with a line of ours before it."""
    return HEADER + f"# caspr {line}\n" + one_document(ROW)


ROW = "1\ta\t-\t-\t-"
MALFORMED = [
    (one_document("1\ta\t-"), 1, "caspr adjudicate --layout review"),
    (reviewed("-", header="# caspr review: {\n"), 1, "malformed JSON"),
    (reviewed("-", header="# caspr review: []\n"), 1, "a list, not an object, in JSON"),
    (reviewed("-", header=f"# caspr review: {'[' * 100_000}\n"), 1, "nested too deeply"),
    (reviewed("-", header=HEADER.replace('"version": 1', '"version": 2')), 1, "version '2'"),
    (reviewed("-", header=HEADER.replace(', "version": 1', "")), 1, "version 'None'"),
    (reviewed("-", header=HEADER.replace('["AK", "JA"]', "[]")), 1, "no list of annotators"),
    (reviewed("-", header=HEADER.replace('"JA"', "3")), 1, "no list of annotators"),
    (reviewed("-", header=HEADER.replace('"JA"', '"AK"')), 1, "an annotator named twice"),
    (reviewed("-", header=HEADER.replace('{"objective": "u"}', "1")), 1, "no settings"),
    (reviewed("-", header=HEADER.replace('"columns": 2', '"columns": -1')), 1, "number of columns"),
    (reviewed("-", header=HEADER.replace('"columns": 2', '"tokens": true')), 1, "number of tokens"),
    (
        reviewed("-", header=HEADER.replace('"columns": 2', '"tokens": 2')),
        2,
        "a document of 1 token, expected 2",
    ),
    (reviewed('"=(1)"'), 3, "begin with a plain `=`"),
    (reviewed("\uff1d(1)"), 3, "begin with a plain `=`"),
    (reviewed("-", header=HEADER * 2), 2, "a second line"),
    (HEADER + one_document(ROW, "2\tb\t-\t-"), 4, "found 4 columns, expected 5 columns: 2 of the text"),
    (HEADER + one_document(ROW, "2 b -"), 4, "one for each of 'AK', 'JA', and the result"),
    (HEADER + one_document(ROW, "2\tb\t-\t-\t-\t-"), 4, "found 6 columns"),
    (HEADER + one_document(ROW, "#\tb\t-\t-"), 4, "found 4 columns"),
    (HEADER.replace('"columns": 2, ', "") + one_document("- -"), 3, "3 or more columns"),
    (HEADER + one_document(ROW, "2\tb\tx\t-\t-"), 4, "malformed cell 'x' (annotator 'AK')"),
    (HEADER + one_document(ROW, "2\tb\t-\t=(1)\t-"), 4, "malformed cell '=(1)' (annotator 'JA')"),
    (HEADER + one_document(ROW, "2\tb\t-\t(1\t-"), 4, "'(1', which is never closed (annotator 'JA')"),
    (HEADER + one_document(ROW, "2\tb\t1)\t-\t-"), 4, "'1)', which closes nothing"),
    (HEADER + one_document(ROW, "2\tb\t-\t-\t=x"), 4, "enforced malformed cell 'x'"),
    (HEADER + one_document(ROW, "2\tb\t-\t-\t==(1)"), 4, "enforced malformed cell"),
    (HEADER + one_document(ROW) + one_document(ROW, name="e"), 5, "not in review layout"),
    (HEADER + "#begin document (d);\n", 2, "#end document"),
    (stated("absent: 1-2"), 2, "mention '1-2', expected a mention inside the tokens 1 to 1"),
    (stated("absent: 0-1"), 2, "mention '0-1', expected a mention inside"),
    (stated("absent: 1"), 2, "'1' in '# caspr absent: 1', expected `# caspr absent: 5-7`"),
    (stated("absent:"), 2, "one or more mentions"),
    (stated("apart: 1-1 1-1"), 2, "expected `# caspr apart: 1-3 6-6`, two mentions"),
    (stated("together: 1-1"), 2, "two or more mentions"),
    (stated("enforced: 1-1"), 2, "the id of their chain"),
    (stated("enforced: 1-1 in"), 2, "the id of their chain"),
    (stated("enforced: 1-1 in (2"), 2, "the id of their chain"),
    (stated("enforced: in 2"), 2, "the id of their chain"),
    (
        stated("abscent: 1-1"),
        2,
        "expected one of review, same-chain, enforced, together, entity, exists, mention, alone, absent",
    ),
    (stated("note: x"), 2, 'expected `# caspr note: {"mention"'),
    (stated('note: {"mention": 3, "text": "x"}'), 2, "a note on '3'"),
    (stated('note: {"mention": "2-2", "text": "x"}'), 2, "inside the tokens 1 to 1"),
    ("", None, "no document"),
]


@pytest.mark.parametrize(("text", "line", "message"), MALFORMED)
def test_malformed_files(text: str, line: int | None, message: str) -> None:
    with pytest.raises(FormatError) as refusal:
        parse(text)
    assert refusal.value.line == line
    assert message in str(refusal.value)


@st.composite
def reviews(draw: st.DrawFn) -> Review:
    document = draw(documents())
    length = len(document.tokens)
    names = draw(st.lists(st.text(max_size=3), min_size=1, max_size=3, unique=True))
    given = tuple(Annotation.of(name, document, draw(chains(length))) for name in names)
    gold = Annotation.of("gold", document, draw(chains(length)))
    kept = {"seed": draw(st.integers()), "ö\u2028": None}
    return Review(gold, given, each(draw(decisions(length))), kept, tuple(draw(notes(length))))


def notes(length: int) -> st.SearchStrategy[list[Note]]:
    token = st.integers(1, max(length, 1))
    span = st.tuples(token, token).map(lambda ends: Span(min(ends), max(ends)))
    about = st.one_of(st.none(), span) if length else st.none()
    return st.lists(st.builds(Note, st.text(max_size=9), about), max_size=3)


@settings(relaxed, max_examples=how_many(60, 10))
@given(st.lists(reviews(), min_size=1, max_size=3, unique_by=lambda one: one.gold.document.key))
def test_annotations_decisions_and_settings_survive(given: list[Review]) -> None:
    written = review_file.write(given)
    again = parse(written)
    assert [one.annotations for one in again] == [one.annotations for one in given]
    assert [one.decisions for one in again] == [one.decisions for one in given]
    assert [one.settings for one in again] == [one.settings for one in given]
    assert [one.notes for one in again] == [one.notes for one in given]
    assert all(not one.gold.chains for one in again)
    kept = [replace(new, gold=old.gold) for new, old in zip(again, given, strict=True)]
    assert review_file.write(kept) == written


@settings(relaxed, max_examples=how_many(60, 10))
@given(st.data())
def test_one_result_after_another_is_written_as_if_it_were_the_first(data: st.DataObject) -> None:
    one = data.draw(reviews())
    length = len(one.gold.document.tokens)
    filler = Filler(prepare(one.annotations, one.settings, one.gold.document))
    for drawn in data.draw(st.lists(chains(length), min_size=2, max_size=4)):
        after = replace(one, gold=Annotation.of("gold", one.gold.document, drawn))
        filled = filler.fill(after.gold, after.decided, after.notes, after.done)
        assert filled == review_file.write([after])


def clean_gold(one: Review, gold: Annotation) -> str:
    return conll.write([replace(one.annotations[0], chains=gold.chains, singletons=gold.singletons)])


FOREIGN = """\
# kept
#begin document (wsj); part 000
wsj 0  0   John  NNP  (1)
wsj 0  1   #no   VBD  -  -

# a note\twith a tab
wsj 0  0      .    .  (1)
#end document
# end
"""


def test_comments_and_blank_lines_and_columns_are_kept() -> None:
    [annotation] = conll.parse(FOREIGN, "in", "AK")
    written = review_file.write([Review(annotation, (annotation,), (), {})])
    assert unsummed(written).splitlines() == [
        "# kept",
        '# caspr review: {"annotators": ["AK"], "settings": {}, "tokens": 3, "version": 1}',
        "#begin document (wsj); part 000",
        "wsj\t0\t0\tJohn\tNNP\t(1)\t(1)",
        "wsj\t0\t1\t#no\tVBD\t-\t-\t-",
        "",
        "# a note with a tab",
        "wsj\t0\t0\t.\t.\t(1)\t(1)",
        "#end document",
        "# end",
    ]
    [one] = parse(written)
    assert one.annotations == (annotation,)
    assert review_file.write([replace(one, gold=annotation)]) == written
    assert clean_gold(one, annotation).splitlines() == [
        "# kept",
        "#begin document (wsj); part 000",
        "wsj\t0\t0\tJohn\tNNP\t(1)",
        "wsj\t0\t1\t#no\tVBD\t-\t-",
        "",
        "wsj\t0\t0\t.\t.\t(1)",
        "#end document",
        "# end",
    ]


def test_rows_that_start_with_a_hash_stay_rows() -> None:
    text = one_document("#\t(1)", "  #x (1)")
    [annotation] = conll.parse(text, "in", "AK")
    written = review_file.write([Review(annotation, (annotation,), (), {})])
    for form in (written, written.replace("\t", " ")):
        [one] = parse(form)
        assert one.annotations[0].document.tokens == ("#", "#x")


@pytest.mark.parametrize(
    ("old", "new"), [("\n", "\r\n"), ("\t", "    "), ("# caspr review", "\ufeff# caspr review")]
)
def test_what_editors_do_to_files(old: str, new: str, tmp_path: Path) -> None:
    text = reviewed("=(1", "-", "=1)", "=-")
    path = tmp_path / "review.conll"
    path.write_bytes(text.replace(old, new).encode())
    [one] = review_file.read(path)
    assert one.decisions == Decisions.of([Chain.of("1", [(1, 3)])], [4])
    assert one.annotations == parse(text)[0].annotations
    assert one.gold.document.lines == (3, 4, 5, 6)
    assert clean_gold(one, one.annotations[1]) == one_document("1\tw1\t-", "2\tw2\t-", "3\tw3\t-", "4\tw4\t-")


def test_mentions_that_cross_in_their_chain_survive_in_every_column() -> None:
    document = Document("d", tuple("abcd"))
    crossing = Chain.of("3", [(1, 3), (2, 4)])
    given = tuple(Annotation.of(name, document, [crossing]) for name in ("AK", "JA"))
    written = review_file.write([Review(given[0], given, each(Decisions.of([crossing])), {})])
    assert [line for line in written.splitlines() if "same-chain" in line] == [
        "# caspr same-chain[1]: 1 3",
        "# caspr same-chain[2]: 1 3",
        "# caspr same-chain: 1 3",
    ]
    [one] = parse(written)
    assert one.annotations == given
    assert one.decisions == Decisions.of([crossing])


def test_decisions_survive_a_result_that_does_not_follow_them() -> None:
    document = Document("d", tuple("abcd"))
    gold = Annotation.of("gold", document, [Chain.of("1", [(1, 2), (3, 4)]), Chain.of("2", [(1, 4), (2, 2)])])
    enforced = Decisions.of([Chain.of("1", [(1, 3)])], [2])
    [one] = parse(review_file.write([Review(gold, (gold,), each(enforced), {})]))
    assert one.decisions == enforced


def test_repeated_mentions_are_reported_for_the_annotator() -> None:
    [one] = parse(HEADER + one_document("1\ta\t(1)(1)\t-\t-"))
    assert [finding.code for finding in one.annotations[0].findings] == ["repeated-mention"]
    assert "(annotator 'AK')" in one.annotations[0].findings[0].message


def test_hostile_annotator_names_stay_on_one_line() -> None:
    document = Document("d", ("a",))
    name = 'x"\n#end document\u2028\ud800'
    written = review_file.write(
        [Review(Annotation("gold", document, ()), (Annotation(name, document, ()),), (), {})]
    )
    written.encode("ascii")
    assert len(written.split("\n")) == 5
    assert json.loads(written.split("\n")[0].partition(":")[2])["annotators"] == [name]
    assert parse(written)[0].annotations[0].annotator == name


def test_of_two_names_of_one_chain_none_is_lost() -> None:
    text = reviewed("(1)", "(1)")
    twice = '# caspr name: 1 "Ann"\n# caspr name: 1 "Bob"\n#begin'
    with pytest.raises(FormatError, match="a second name of chain '1', 'Bob'"):
        parse(text.replace("#begin", twice))
    [one] = parse(text.replace("#begin", twice.replace("Bob", "Ann")))
    assert [name.name for name in one.decisions.names] == ["Ann"]
