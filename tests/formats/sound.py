"""A sound file of each format, and ways to write and to spoil them."""

import time
from pathlib import Path

import pytest

from caspr.errors import CasprError
from caspr.formats.sources import read_one
from caspr.text.document import Annotation, Chain, Document
from tests.formats.everywhere import save

XMI = """<?xml version="1.0" encoding="UTF-8"?>
<xmi:XMI xmlns:xmi="http://www.omg.org/XMI" xmlns:cas="http:///uima/cas.ecore"
 xmlns:c="http:///webanno/custom.ecore">
<c:SChain xmi:id="7" sofa="1" first="8"/>
<c:SLink xmi:id="8" sofa="1" begin="0" end="4" next="9"/>
<c:SLink xmi:id="9" sofa="1" begin="5" end="7"/>
<cas:Sofa xmi:id="1" sofaNum="1" sofaID="_InitialView" mimeType="text" sofaString="Anna is \U0001f600 here"/>
<cas:View sofa="1" members="7 8 9"/>
</xmi:XMI>
"""
JSON = """{"%TYPES": {}, "%FEATURE_STRUCTURES": [
{"%ID": 1, "%TYPE": "uima.cas.Sofa", "sofaID": "_InitialView", "sofaString": "Anna is"},
{"%ID": 2, "%TYPE": "c.SChain", "@sofa": 1, "@first": 3},
{"%ID": 3, "%TYPE": "c.SLink", "@sofa": 1, "begin": 0, "end": 4, "@next": 4},
{"%ID": 4, "%TYPE": "c.SLink", "@sofa": 1, "begin": 5, "end": 7}],
"%VIEWS": {"_InitialView": {"%SOFA": 1, "%MEMBERS": [2, 3, 4]}}}
"""
GATE = """<?xml version='1.0' encoding='UTF-8'?>
<GateDocument>
<TextWithNodes><Node id="0"/>Anna<Node id="4"/> is</TextWithNodes>
<AnnotationSet>
<Annotation Id="1" Type="P" StartNode="0" EndNode="4">
<Feature><Name>matches</Name><Value>1;2</Value></Feature></Annotation>
<Annotation Id="2" Type="P" StartNode="0" EndNode="4">
<Feature><Name>matches</Name><Value>1;2</Value></Feature></Annotation>
</AnnotationSet>
</GateDocument>
"""
TSV = """#FORMAT=WebAnno TSV 3.3
#T_CH=webanno.custom.SLink|referenceType|referenceRelation


#Text=Anna is \U0001f600 here
1-1\t0-4\tAnna\tnam[1]\t*->1-1\t
1-2\t5-7\tis\tpro[1]\t*->1-2\t
1-3\t8-10\t\U0001f600\t_\t_\t
1-4\t11-15\there\t_\t_\t
"""
RELATIONS = """#FORMAT=WebAnno TSV 3.2
#T_SP=webanno.custom.R|entity
#T_RL=webanno.custom.Coref|type|BT_webanno.custom.R

#Text=Anna is here
1-1\t0-4\tAnna\tp[1]\tcoref\t1-3[2_1]\t
1-2\t5-7\tis\t_\t_\t_\t
1-3\t8-12\there\tp[2]\t_\t_\t
"""
COREFUD = """# newdoc id = d
# global.Entity = eid-etype-head-other
1\tAnna\t_\tX\t_\t_\t0\troot\t_\tEntity=(e1-person-1
2\tis\t_\tX\t_\t_\t1\tdep\t_\tEntity=e1)(e2[1/2]-x-1)
3\there\t_\tX\t_\t_\t1\tdep\t_\tEntity=(e2[2/2])

"""
CONLLUA = """# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC IDENTITY BRIDGING
# newdoc id = d
1\tAnna\t_\t_\t_\t_\t_\t_\t_\t_\t(EntityID=1|MarkableID=markable_1|Min=1\t_
2\tis\t_\t_\t_\t_\t_\t_\t_\t_\t)(EntityID=2-Pseudo|MarkableID=markable_2)\t_
3\there\t_\t_\t_\t_\t_\t_\t_\t_\t(EntityID=1|MarkableID=markable_3)\t_

"""
JSONL = '{"doc_key": "d", "sentences": [["Anna", "is"], ["here"]], "clusters": [[[0, 0], [2, 2]]]}\n'
ANN = "T1\tPER 0 4\tAnna\nT2\tPER 5 7\tis\nR1\tCoref Arg1:T1 Arg2:T2\n"
TEXT = "Anna is \U0001f600 here"
WLCOREF = """{"document_id": "d", "cased_words": ["Anna", "is", "here"], "sent_id": [0, 0, 1],
"clusters": [[[0, 1], [2, 3]]]}
""".replace('\n"', ' "')
FASTCOREF = '{"doc_key": "d", "text": "Anna is here", "clusters": [[[0, 4], [8, 12]]]}\n'
PRECO = '{"id": "d", "sentences": [["Anna", "is"], ["here"]], "mention_clusters": [[[0, 0, 1], [1, 0, 1]]]}\n'
RUCOCO = '{"entities": [[[0, 4], [8, 12]]], "includes": [[]], "text": "Anna is here"}'
LABELSTUDIO = """[{"id": 7, "data": {"text": "Anna is here"}, "annotations": [{"completed_by": 2, "result": [
{"id": "a", "type": "labels", "value": {"start": 0, "end": 4, "text": "Anna", "labels": ["P"]}},
{"id": "b", "type": "labels", "value": {"start": 8, "end": 12, "text": "here", "labels": ["P"]}},
{"type": "relation", "from_id": "b", "to_id": "a", "labels": ["Coref"]}]}]}]
"""
SACR = '{A:EN="p" Anna} is {A:EN="p" here}\n\n#COLOR:A=red\n'
ASP = """token(1,"Anna"). token(2,"is"). token(3,"here"). % words
annotator(1). annotator_name(1,"Ann").
mention(1,1,1,1). mention(1,2,3,3).
cm(1,7,1). cm(1,7,2).
:~ cm(A,_,_), A > 3. [1@1,A]
"""
POTATO = """{"user_id": "Anna", "instance_id_ordering": ["d"], "current_instance_index": 0,
"instance_id_to_span_to_value": {"d": [
[{"schema": "m", "name": "P", "title": "P", "start": 0, "end": 4, "id": "m_P_0_4"}, 1],
[{"schema": "m", "name": "P", "title": "P", "start": 8, "end": 12, "id": "m_P_8_12"}, 1]]},
"instance_id_to_link_to_value": {"d": {"l": {"id": "l", "schema": "r", "link_type": "Coref",
"span_ids": ["m_P_0_4", "m_P_8_12"], "direction": "undirected", "properties": {}}}}}
"""
FILES = {
    "x.xmi": XMI,
    "x.json": JSON,
    "x.gate": GATE,
    "x.tsv": TSV,
    "r.tsv": RELATIONS,
    "x.conllu": COREFUD,
    "x.conllua": CONLLUA,
    "x.jsonl": JSONL,
    "x.ann": ANN,
    "x.jsonlines": WLCOREF,
    "f.jsonl": FASTCOREF,
    "p.jsonl": PRECO,
    "r.json": RUCOCO,
    "l.json": LABELSTUDIO,
    "x.sacr": SACR,
    "x.lp": ASP,
    "user_state.json": POTATO,
}
"""A sound file of each format."""


def put(folder: Path, name: str, content: str | bytes) -> Path:
    """Write a file, with a text beside it for brat, and with the items of Potato."""
    (folder / "x.txt").write_text(TEXT, encoding="utf-8")
    if name == "user_state.json":
        (folder / "items.jsonl").write_text('{"id": "d", "text": "Anna is here"}\n', encoding="utf-8")
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def project(folder: Path) -> Path:
    """Write an MMAX2 project, and return its main file."""
    document = Document("talk", ("Anna", "slept", ".", "She", "snored"), sentence_ends=(3, 5))
    save([Annotation.of("a", document, [Chain.of("1", [(1, 1), (4, 4)])])], folder / "talk.mmax", "mmax")
    return folder / "talk.mmax"


def refused(folder: Path, name: str, old: str, new: str, message: str) -> None:
    """Spoil a file, and check that it is refused quickly, in one line that names the place."""
    assert old in FILES[name]
    path = put(folder, name, FILES[name].replace(old, new.replace("\\\\u", "\\u"), 1))
    started = time.process_time()
    with pytest.raises(CasprError, match=message) as caught:
        read_one(path)
    assert str(caught.value).startswith(str(folder))
    assert "\n" not in str(caught.value)
    assert time.process_time() - started < 3
