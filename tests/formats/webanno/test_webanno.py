"""WebAnno TSV: layers, relations, escapes and parts of tokens."""

from pathlib import Path

import pytest

from caspr.errors import CasprError, FormatError
from caspr.formats.format import ReadOptions
from caspr.formats.sources import read_one
from caspr.formats.webanno import write
from caspr.text.alignment import transfer
from caspr.text.document import Annotation, Chain, Document, Mark, Span
from tests.formats.everywhere import assert_same, chain_texts
from tests.formats.sound import RELATIONS, TSV, put


def test_keeps_everything(tmp_path: Path) -> None:
    for name, text in (("x.tsv", TSV), ("r.tsv", RELATIONS)):
        [annotation] = read_one(put(tmp_path, name, text))
        assert write([annotation]) == {name: text}
        assert annotation.document.characters is not None


def test_parts_of_tokens_and_escapes(tmp_path: Path) -> None:
    [annotation] = read_one(put(tmp_path, "x.tsv", TSV))
    document = Document("d", ("An", "na", "is", "😀", "he", "re"))
    gold = Annotation.of(
        "gold", document, [Chain.of("1", [(2, 3), (4, 5)])], marks={Span(2, 3): Mark("a|b_[c]->*")}
    )
    text = write([transfer(gold, annotation)])["x.tsv"]
    assert isinstance(text, str)
    assert "1-1.1\t2-4\tna\ta\\|b\\_\\[c\\]\\->\\*[1]\t*->1-1\t" in text
    assert "1-4.1\t11-13\the\t" in text
    [back] = read_one(put(tmp_path, "y.tsv", text))
    assert_same(gold, back, labels=True)


def test_layers(tmp_path: Path) -> None:
    two = TSV.replace("\n\n\n", "\n#T_CH=webanno.custom.OtherLink|referenceType|referenceRelation\n\n\n", 1)
    two = "\n".join(f"{line}_\t_\t" if line.endswith("\t") else line for line in two.split("\n"))
    path = put(tmp_path, "x.tsv", two)
    with pytest.raises(
        CasprError, match=r"--layer to choose one of webanno\.custom\.SLink, webanno\.custom\.OtherLink"
    ):
        read_one(path)
    assert chain_texts(read_one(path, options=ReadOptions("SLink"))[0]) == [["Anna", "is"]]
    assert not read_one(path, options=ReadOptions("webanno.custom.Other"))[0].mentions


def test_relations_that_name_a_row_in_place_of_a_number(tmp_path: Path) -> None:
    """Seen in AMALGUM, where the annotation of the row has a number."""
    assert "[2_1]" in RELATIONS
    for ends in ("[2_0]", "[0_1]", ""):
        [annotation] = read_one(put(tmp_path, "r.tsv", RELATIONS.replace("[2_1]", ends)))
        assert chain_texts(annotation) == [["Anna", "here"]]
        assert [(one.code, one.count) for one in annotation.findings] == [("relations-without-number", 1)]
        assert write([annotation]) == {"r.tsv": RELATIONS}


def test_relations_are_chosen(tmp_path: Path) -> None:
    text = RELATIONS.replace("coref\t", "bridge\t")
    [annotation] = read_one(put(tmp_path, "r.tsv", text))
    assert chain_texts(annotation) == []
    assert [(one.code, one.severity) for one in annotation.findings] == [("other-relations", "note")]
    [finding] = read_one(put(tmp_path, "r.tsv", text), options=ReadOptions(relations=("x",)))[0].findings
    assert "1 relation of type 'bridge' not read" in finding.message
    assert chain_texts(
        read_one(put(tmp_path, "r.tsv", text), options=ReadOptions(relations=("bridge",)))[0]
    ) == [["Anna", "here"]]


TOKENS = """#FORMAT=WebAnno TSV 3.3
#T_RL=webanno.custom.Coref|type|BT_de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Token


#Text=Anna is here
1-1\t0-4\tAnna\t_\t_\t
1-2\t5-7\tis\tbridging\t1-1\t
1-3\t8-12\there\tcoref\t1-1[0_0]\t
"""


def test_relations_on_tokens_join_mentions_of_one_token(tmp_path: Path) -> None:
    [annotation] = read_one(put(tmp_path, "t.tsv", TOKENS))
    assert chain_texts(annotation) == [["Anna", "here"]]
    assert annotation.singletons == ()
    assert [finding.code for finding in annotation.findings] == ["relations-on-tokens", "other-relations"]
    [text] = write([annotation]).values()
    assert isinstance(text, str)
    [again] = read_one(put(tmp_path, "again.tsv", text))
    assert chain_texts(again) == [["Anna", "here"]]


def test_relations_on_tokens_may_be_syntax(tmp_path: Path) -> None:
    """Dependencies are written the same way: they are not chains unless the user says so."""
    path = put(tmp_path, "t.tsv", TOKENS.replace("custom.Coref", "custom.Dependency"))
    with pytest.raises(CasprError, match=r"t\.tsv:1: .*Token', expected relations on a span layer.*--layer"):
        read_one(path)
    for options in (ReadOptions(layer="Dependency"), ReadOptions(relations=("coref",))):
        assert chain_texts(read_one(path, options=options)[0]) == [["Anna", "here"]]
    with pytest.raises(CasprError, match=r"t\.tsv:8: found a relation to annotation 0 in row 7-7"):
        read_one(put(tmp_path, "t.tsv", TOKENS.replace("1-1[0_0]", "7-7")))


def test_rows_out_of_order_are_refused(tmp_path: Path) -> None:
    """Mentions of several words begin at the first of their rows: in another order some would be lost."""
    source = Path(__file__).parents[3] / "examples/formats/webanno/anna.tsv"
    lines = source.read_text(encoding="utf-8").split("\n")
    rows = [number for number, line in enumerate(lines) if line[:2] == "1-"]
    lines[rows[2]], lines[rows[9]] = lines[rows[9]], lines[rows[2]]
    path = tmp_path / "anna.tsv"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(FormatError, match="in the order of the text"):
        read_one(path)
