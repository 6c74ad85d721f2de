"""A shelf of malformed files for each format: refused in one line that names the place, and quickly."""

import time
from pathlib import Path

import pytest

from caspr.errors import CasprError
from caspr.formats.sources import read_one

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
JSONL = '{"doc_key": "d", "sentences": [["Anna", "is"], ["here"]], "clusters": [[[0, 0], [2, 2]]]}\n'
ANN = "T1\tPER 0 4\tAnna\nT2\tPER 5 7\tis\nR1\tCoref Arg1:T1 Arg2:T2\n"
TEXT = "Anna is \U0001f600 here"
FILES = {
    "x.xmi": XMI,
    "x.json": JSON,
    "x.gate": GATE,
    "x.tsv": TSV,
    "r.tsv": RELATIONS,
    "x.conllu": COREFUD,
    "x.jsonl": JSONL,
    "x.ann": ANN,
}
"""A sound file of each format."""

SHELF = [
    # name, what to replace, by what, what the message says
    ("x.xmi", "</xmi:XMI>", "", r"x\.xmi:\d+: found broken XML"),
    (
        "x.xmi",
        "<xmi:XMI",
        '<!DOCTYPE x [<!ENTITY a "b">]><xmi:XMI',
        r"x\.xmi:2: found a declaration of entity 'a'",
    ),
    ("x.xmi", "<xmi:XMI", '<!DOCTYPE x SYSTEM "y.dtd"><xmi:XMI a="&b;"', r"x\.xmi:2: found"),
    ("x.xmi", 'next="9"', 'next="99"', r"x\.xmi:5: found SLink 8 with next='99'"),
    ("x.xmi", 'begin="5" end="7"', 'begin="5" end="7" next="8"', r"x\.xmi:6: .* cycle"),
    ("x.xmi", 'begin="5"', 'begin="50"', r"x\.xmi:6: found SLink 9 with begin='50'"),
    ("x.xmi", 'begin="5" end="7"', 'begin="9" end="10"', r"begin='9', expected offsets of whole characters"),
    ("x.xmi", 'begin="5"', 'begin="-5"', r"begin='-5'"),
    ("x.xmi", 'begin="5"', 'begin="7"', None),
    ("x.xmi", 'end="7"', 'end="4"', "ends before it begins"),
    ("x.xmi", 'xmi:id="9"', 'xmi:id="8"', r"x\.xmi:6: found xmi:id 8 for the second time"),
    ("x.xmi", 'first="8"', 'first="7"', r"x\.xmi:4: found SChain 7 with first='7'"),
    ("x.xmi", "cas:Sofa ", "cas:Sofo ", "no cas:Sofa"),
    ("x.xmi", "UTF-8", "no-such-code", "unknown encoding"),
    ("x.xmi", "UTF-8", "UTF-16", "broken XML|not utf-16"),
    ("x.json", "]", "", "malformed JSON"),
    ("x.json", '"@next": 4', '"@next": 44', "with next='44'"),
    ("x.json", '"@next": 4', '"@next": 3', "cycle"),
    ("x.json", '"%ID": 4', '"%ID": 3', "%ID 3 for the second time"),
    ("x.json", '"end": 7', '"end": 70', "end='70'"),
    ("x.json", '"sofaString": "Anna is"', '"sofaString": 5', "sofaString"),
    ("x.json", "uima.cas.Sofa", "uima.cas.Sofo", "uima.cas.Sofa"),
    ("x.json", "Anna is", "\\\\ud83d", "not UTF-8"),
    (
        "x.gate",
        "1;2</Value></Feature></Annotation>\n<Ann",
        "1;9</Value></Feature></Annotation>\n<Ann",
        r"x\.gate:5: found a match with '9'",
    ),
    ("x.gate", 'EndNode="4"', 'EndNode="5"', r"x\.gate:5: found EndNode='5'"),
    ("x.gate", 'Id="2"', 'Id="1"', r"x\.gate:7: found annotation '1' for the second time"),
    ("x.gate", '<Node id="4"/>', '<Node id="0"/>', r"x\.gate:3: found node '0' for the second time"),
    ("x.gate", "<GateDocument>", "<GateDocument><!--", "broken XML"),
    ("x.gate", 'StartNode="0" EndNode="4"', 'StartNode="4" EndNode="0"', "ends before it starts"),
    ("x.gate", "<GateDocument>", '<!DOCTYPE a [<!ENTITY x "y">]><GateDocument>', "entity 'x'"),
    ("x.tsv", "*->1-2", "nonsense", r"x\.tsv:7: found 'nonsense'"),
    ("x.tsv", "\tpro[1]\t", "\t", r"x\.tsv:7: found 1 cells, expected 2"),
    ("x.tsv", "1-3\t", "1-2\t", r"x\.tsv:8: found row 1-2 for the second time"),
    ("x.tsv", "11-15", "1-15", r"x\.tsv:9: found token"),
    ("x.tsv", "8-10\t", "8-9\t", r"x\.tsv:8: found token"),
    ("x.tsv", "1-4\t11-15", "here", r"x\.tsv:9"),
    ("x.tsv", "TSV 3.3", "TSV 2.0", r"x\.tsv:1: found '#FORMAT"),
    ("x.tsv", "#T_CH", "#T_SP", "no layer 'with chains'"),
    ("r.tsv", "1-3[2_1]", "1-3[7_1]", r"r\.tsv:6: found a relation to '7'"),
    ("r.tsv", "1-3[2_1]", "nowhere", r"r\.tsv:6: found 'nowhere'"),
    ("r.tsv", "BT_webanno.custom.R", "BT_other", "relation layer webanno.custom.Coref on 'other'"),
    ("x.conllu", "Entity=e1)", "Entity=e9)", r"x\.conllu:4: found 'e9\)', which closes nothing"),
    ("x.conllu", "Entity=e1)", "Entity=", r"x\.conllu:3: found '\(e1', which is never closed"),
    ("x.conllu", "(e2[2/2])", "(e2[3/3])", r"x\.conllu:5: found piece 3 of 3"),
    ("x.conllu", "(e2[2/2])", "_", r"x\.conllu:\d: found"),
    ("x.conllu", "(e2[2/2])", "((e2", r"x\.conllu:5: found malformed"),
    ("x.conllu", "\troot\t_", "\troot", r"x\.conllu:3: found 9 columns"),
    ("x.conllu", "\n3\t", "\nx\t", r"x\.conllu:5: found id 'x'"),
    ("x.conllu", "eid-etype", "etype", "eid or GRP"),
    ("x.jsonl", "[2, 2]", "[2, 3]", r"x\.jsonl:1: found mention '\[2, 3\]'"),
    ("x.jsonl", "[2, 2]", "[2, 1]", r"x\.jsonl:1: found mention"),
    ("x.jsonl", "[2, 2]", '["2", 2]', r"x\.jsonl:1: found mention"),
    ("x.jsonl", "[2, 2]", "7", r"x\.jsonl:1: found mention '7'"),
    ("x.jsonl", "[2, 2]", "[true, 2]", r"x\.jsonl:1: found mention"),
    ("x.jsonl", '"Anna"', "5", "no list of sentences"),
    ("x.jsonl", "}\n", "", r"x\.jsonl:1: found malformed JSON"),
    ("x.jsonl", "}\n", "}\n{\n", r"x\.jsonl:2: found malformed JSON"),
    ("x.jsonl", JSONL, JSONL * 2, r"x\.jsonl:2: found document 'd' for the second time"),
    ("x.jsonl", '"d"', "7", "doc_key 7"),
    ("x.jsonl", '"d"', '"d", "subtoken_map": [0]', "subtoken_map of another length"),
    ("x.jsonl", "Anna", "\\\\udc00", "lone surrogate"),
    ("x.ann", "T2\tPER 5 7", "T2\tPER 5 70", r"x\.ann:2: found offsets 5 70, expected"),
    ("x.ann", "T2\tPER 5 7", "T2\tPER 7 5", r"x\.ann:2: found offsets 7 5"),
    ("x.ann", "T2\tPER 5 7", "T2\tPER five 7", r"x\.ann:2: found 'T2"),
    ("x.ann", "T2\tPER", "T1\tPER", r"x\.ann:2: found id 'T1' for the second time"),
    ("x.ann", "Arg2:T2", "Arg2:T9", r"x\.ann:3: found a link to 'T9'"),
    ("x.ann", "Arg2:T2", "", r"x\.ann:3: found 1 arguments"),
    ("x.ann", "Arg2:T2", "nothing", r"x\.ann:3: found 'R1"),
    ("x.ann", "R1\tCoref Arg1:T1 Arg2:T2", "*\tEquiv", r"x\.ann:3: found '\*"),
]


def put(folder: Path, name: str, content: str | bytes) -> Path:
    """Write a file, with a text beside it for brat."""
    (folder / "x.txt").write_text(TEXT, encoding="utf-8")
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


@pytest.mark.parametrize("name", FILES)
def test_sound_files_are_read(name: str, tmp_path: Path) -> None:
    [annotation] = read_one(put(tmp_path, name, FILES[name]))
    assert len(annotation.mentions) >= 1
    assert not [finding for finding in annotation.findings if finding.code == "unread-files"]


@pytest.mark.parametrize(("name", "old", "new", "message"), SHELF)
def test_malformed_files(name: str, old: str, new: str, message: str | None, tmp_path: Path) -> None:
    assert old in FILES[name]
    path = put(tmp_path, name, FILES[name].replace(old, new.replace("\\\\u", "\\u"), 1))
    started = time.process_time()
    if message is None:
        read_one(path)
        return
    with pytest.raises(CasprError, match=message) as caught:
        read_one(path)
    assert str(caught.value).startswith(str(tmp_path))
    assert "\n" not in str(caught.value)
    assert time.process_time() - started < 3


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("data", [b"", b"\xff\xfe\x00", b"\x00", b"PK\x03\x04broken", b"\xe4\xf6"])
def test_rubbish(name: str, data: bytes, tmp_path: Path) -> None:
    path = put(tmp_path, name, data)
    if name == "x.ann" and data == b"":
        assert not read_one(path)[0].mentions
        return
    with pytest.raises(CasprError) as caught:
        read_one(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", FILES)
def test_wrong_encoding(name: str, tmp_path: Path) -> None:
    path = put(tmp_path, name, FILES[name].replace("Anna", "Ännä").encode("latin-1", "replace"))
    with pytest.raises(CasprError, match=r"UTF-8|utf-8"):
        read_one(path)


def test_billion_laughs_are_refused_at_once(tmp_path: Path) -> None:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "ha"}">' for n in range(30))
    bomb = f"<!DOCTYPE x [{entities}]><GateDocument>&e29;</GateDocument>"
    with pytest.raises(CasprError, match="entity 'e0'"):
        read_one(put(tmp_path, "x.gate", bomb))


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CasprError, match="inside each other"):
        read_one(put(tmp_path, "x.gate", "<GateDocument>" + "<a>" * 100_000))
    with pytest.raises(CasprError, match=r"nested too deeply|malformed"):
        read_one(put(tmp_path, "x.jsonl", '{"sentences": ' + "[" * 200_000))


def test_bare_document_types_are_tolerated(tmp_path: Path) -> None:
    text = GATE.replace("<GateDocument>", '<!DOCTYPE GateDocument SYSTEM "gate.dtd"><GateDocument>')
    assert len(read_one(put(tmp_path, "x.gate", text))[0].mentions) == 1
