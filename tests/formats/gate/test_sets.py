"""GATE XML: annotation sets are annotators, and everything else is kept to the byte."""

from pathlib import Path

import pytest

from caspr.errors import CasprError
from caspr.formats import gate
from caspr.formats.format import ReadOptions
from caspr.formats.sources import read_one
from caspr.text.document import Annotation, Chain
from tests.cli.caller import Caller
from tests.formats.everywhere import chain_texts

GATE = """<?xml version='1.0' encoding='UTF-8'?>
<GateDocument>
<!-- a comment -->
<GateDocumentFeatures>
<Feature><Name className="java.lang.String">MatchesAnnots</Name><Value>stale</Value></Feature>
</GateDocumentFeatures>
<TextWithNodes><Node id="0" />Anna<Node id="4" /> &#128512; saw <Node id="12" />Ben<Node id="15" />&amp; <Node id="17" />her<Node id="20" /></TextWithNodes>
<AnnotationSet>
<Annotation Id="9" Type="Lookup" StartNode="0" EndNode="4"><Feature><Name>major</Name><Value>x</Value></Feature></Annotation>
</AnnotationSet>
<AnnotationSet Name="ann">
<Annotation Id="1" Type="Person" StartNode="0" EndNode="4"><Feature><Name>rule</Name><Value>r</Value></Feature><Feature><Name>matches</Name><Value>1;2</Value></Feature></Annotation>
<Annotation Id="2" Type="Pronoun" StartNode="17" EndNode="20"><Feature><Name>matches</Name><Value>1;2</Value></Feature></Annotation>
</AnnotationSet>
<AnnotationSet Name="ben">
<Annotation Id="3" Type="Person" StartNode="12" EndNode="15"><Feature><Name>matches</Name><Value>3;4</Value></Feature></Annotation>
<Annotation Id="4" Type="Person" StartNode="17" EndNode="20"><Feature><Name>matches</Name><Value>3;4</Value></Feature></Annotation>
</AnnotationSet>
</GateDocument>
"""  # noqa: E501


@pytest.fixture
def two_sets(tmp_path: Path) -> Path:
    path = tmp_path / "d.xml"
    path.write_text(GATE, encoding="utf-8")
    return path


def test_sets_are_annotators(two_sets: Path) -> None:
    one, two = read_one(two_sets)
    assert (one.annotator, two.annotator) == ("ann", "ben")
    assert chain_texts(one) == [["Anna", "her"]]
    assert chain_texts(two) == [["Ben", "her"]]
    assert read_one(two_sets, options=ReadOptions("ben"))[0].annotator == "d"
    with pytest.raises(CasprError, match="one of '', 'ann', 'ben'"):
        read_one(two_sets, options=ReadOptions("x"))


def test_gold_is_a_set_of_its_own(two_sets: Path, caspr: Caller) -> None:
    out = two_sets.with_name("gold.xml")
    assert caspr("adjudicate", two_sets, "-o", out, "--objective", "ua").code == 0
    text = out.read_text(encoding="utf-8")
    assert 'Name="ann"' in text
    assert "<!-- a comment -->" in text
    assert "stale" not in text
    [gold] = read_one(out, options=ReadOptions("gold"))
    assert chain_texts(gold) == [["Anna", "Ben", "her"]]
    assert "<Name>rule</Name>" in text[text.index('Name="gold"') :]


def test_in_place(two_sets: Path) -> None:
    [annotation] = read_one(two_sets, options=ReadOptions("ann"))
    anna = annotation.chains[0].mentions[0]
    saw = next(n for n, token in enumerate(annotation.document.tokens, 1) if token == "saw")
    gold = Annotation.of("gold", annotation.document, [Chain.of("1", [anna, (saw, saw)])])
    data = gate.write([gold])["d.xml"]
    assert isinstance(data, bytes)
    two_sets.write_bytes(data)
    [back] = read_one(two_sets, options=ReadOptions("ann"))
    assert chain_texts(back) == [["Anna", "saw"]]
    assert chain_texts(read_one(two_sets, options=ReadOptions("ben"))[0]) == [["Ben", "her"]]
    assert b'<Node id="8" />saw<Node id="11" />' in data
    assert b'Id="2" Type="Pronoun"' in data
