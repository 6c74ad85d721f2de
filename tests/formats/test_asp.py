"""ASP facts: what is read, what is passed over, what is refused."""

from pathlib import Path

import pytest

from caspr.engines.asp.program import facts_text, program
from caspr.errors import FormatError
from caspr.formats.registry import detect, losses
from caspr.formats.sources import read_all, read_one
from caspr.task.decisions import Decisions
from caspr.task.instance import Instance
from caspr.text.document import Annotation, Chain, Document
from tests.formats.everywhere import save
from tests.instances import paper_annotations


def put(folder: Path, text: str, name: str = "x.lp") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_bare_facts_of_a_benchmark(tmp_path: Path) -> None:
    text = "mention(a1,m1,1,3).mention(a1,m2,6,6).\ncm(a1,c1,m1). cm(a1,c1,m2).\nmention(b,1,2,2).\n"
    path = put(tmp_path, text, "facts.txt")
    assert detect(path) == "asp"
    first, second = read_one(path)
    assert (first.annotator, second.annotator) == ("a1", "b")
    assert first.document.tokens == ("1", "2", "3", "4", "5", "6")
    assert first.chains == (Chain.of("c1", [(1, 3), (6, 6)]),)
    assert second.singletons == (Chain.of("1", [(2, 2)]),)


@pytest.mark.parametrize("encoding", ["mm", "cm"])
def test_the_output_of_encode_is_read(tmp_path: Path, encoding: str) -> None:
    instance = Instance(paper_annotations())
    for text in (facts_text(instance, named=True), program(instance, encoding, named=True)):
        back = read_one(put(tmp_path, text))
        assert [work.annotator for work in back] == ["1", "2", "3", "4"]
        given = paper_annotations()
        for one, other in zip(back, given, strict=True):
            assert [chain.mentions for chain in one.chains] == [chain.mentions for chain in other.chains]


def test_decisions_are_counted_and_not_read(tmp_path: Path) -> None:
    decided = Instance(paper_annotations(), decisions=Decisions.of([Chain.of("1", [(1, 3), (6, 6)])]))
    back = read_one(put(tmp_path, facts_text(decided)))
    assert len(back) == 4
    assert [(finding.code, finding.count) for finding in back[0].findings] == [("unread-decisions", 2)]


def test_names_comments_and_texts(tmp_path: Path) -> None:
    text = r"""
    % mention(9,9,9,9).
    %* mention(8,8,
       8,8). *%
    token(1,"A \"b\" \\ % . c"). token(2,"d\ne"). sentence(1,1). sentence(2,2).
    annotator(1). annotator_name(1,"Ünal, 2. % x").
    mention( 1 , "m" , 1 , 2 ) . cm(1,"C 7",m).
    #show result_cm/2.
    x(1..3). :- mention(A,B,C,D), D < C.  mention(A,B,C,D) :- old(A,B,C,D).
    :~ cm(A,_,_), A > 3. [1@1,A]
    cm(1,"C 7",n). mention(1,n,1,1).
    """
    [annotation] = read_one(put(tmp_path, text))
    assert annotation.annotator == "Ünal, 2. % x"
    assert annotation.document.tokens == ('A "b" \\ % . c', "d\ne")
    assert annotation.document.sentence_ends == (1, 2)
    assert annotation.chains == (Chain.of("C 7", [(1, 2), (1, 1)]),)


def test_all_annotators_of_a_document_are_one_file(tmp_path: Path) -> None:
    document = Document("d", ("a", "b", "c"))
    works = [Annotation.of(name, document, [Chain.of("1", [(1, 1), (3, 3)])]) for name in ("Ann", "Ben", "")]
    save([*works, Annotation.of("Eve", document, [])], tmp_path / "d", "asp")
    back = read_all([tmp_path / "d" / "d.lp"])
    assert [work[0].annotator for work in back] == ["Ann", "Ben", "", "Eve"]
    assert back[1][0].chains == works[0].chains
    assert not losses(works, "asp")


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        ("mention(1,1,1..3,4).", 1, "mention"),
        ("annotator(1).\nmention(1,1,1).", 2, "mention"),
        ("mention(1,1,(1;2),4).", 1, "mention"),
        ("mention(1,1,3,1).", 1, "from token 3 to 1"),
        ("mention(1,1,0,1).", 1, "from token 0"),
        ("mention(1,1,a,1).", 1, "'a'"),
        ("mention(1,1,-1,1).", 1, "'-1'"),
        ("mention(1,1,1,99999999999).", 1, "'99999999999'"),
        ("mention(1,1,1,999999999).", None, "ends at token 999999999"),
        ("mention(1,1,1,1).\nmention(1,1,2,2).", 2, "another mention"),
        ("mention(1,1,1,1).\ncm(1,1,2).", None, "without a mention"),
        ('token(1,"a"). mention(1,1,1,2).', None, "ends at token 2"),
        ('token(2,"a"). mention(1,1,1,1).', None, "no token"),
        ('token(1,"a").\ntoken(1,"b").', 2, "another token"),
        ("mention(1,1,1,1)", 1, "mention"),
        ('mention(1,1,1,1).\ncm(1,"1,1).', 2, "cm"),
        ("token(1,a).", None, "no annotator"),
        ("a(1).\n%* never closed\nmention(1,1,1,1).", 2, "never closed"),
        ("a(1).\n" + "x %* y *% %z\n" * 20_000, 2, "x"),
        ("a(" * 50_000, 1, "a"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, line: int | None, found: str) -> None:
    with pytest.raises(FormatError, match=found) as refusal:
        read_one(put(tmp_path, text), format="asp")
    assert refusal.value.line == line


def test_other_programs_are_not_taken_for_facts(tmp_path: Path) -> None:
    for text in ("a(1). b(2) :- a(1).\n", "Minimize\n obj: x + y\nSubject To\n c1: x >= 1\nEnd\n"):
        with pytest.raises(FormatError):
            read_one(put(tmp_path, text))
