"""Malformed files: rubbish, wrong encodings and bombs of all formats, and faults that only one can have."""

from pathlib import Path

import pytest

from caspr.errors import CasprError
from caspr.formats.sources import read_one
from tests.formats.sound import FILES, GATE, put, refused

FAULTS = [
    # name, what to replace, by what, what the message says
    ("x.ann", "T2\tPER 5 7", "T2\tPER 7 5", r"x\.ann:2: found offsets 7 5"),
    ("x.ann", "T2\tPER 5 7", "T2\tPER five 7", r"x\.ann:2: found 'T2"),
    ("x.ann", "Arg2:T2", "", r"x\.ann:3: found 1 arguments"),
    ("x.ann", "Arg2:T2", "nothing", r"x\.ann:3: found 'R1"),
    ("x.ann", "R1\tCoref Arg1:T1 Arg2:T2", "*\tEquiv", r"x\.ann:3: found '\*"),
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
    ("x.jsonl", "}\n", "}\n{\n", r"x\.jsonl:2: found malformed JSON"),
    ("x.jsonl", '"d"', "7", "doc_key 7"),
    ("x.jsonl", '"d"', '"d", "subtoken_map": [0]', "subtoken_map of another length"),
    ("x.jsonl", "Anna", "\\\\udc00", "lone surrogate"),
    ("x.xmi", "</xmi:XMI>", "", r"x\.xmi:\d+: found broken XML \(no element found\).*may be cut off"),
    ("x.xmi", "</xmi:XMI>", "</xmi:XMI><x/>", r"found broken XML \(junk.*two files may have been joined"),
    ("x.xmi", "<xmi:XMI", '<!DOCTYPE x SYSTEM "y.dtd"><xmi:XMI a="&b;"', r"x\.xmi:2: found"),
    ("x.xmi", 'begin="5" end="7"', 'begin="5" end="7" next="8"', r"x\.xmi:6: .* cycle"),
    ("x.xmi", 'begin="5"', 'begin="50"', r"x\.xmi:6: found SLink 9 with begin='50'"),
    ("x.xmi", 'begin="5" end="7"', 'begin="9" end="10"', r"begin='9', expected offsets of whole characters"),
    ("x.xmi", 'begin="5"', 'begin="-5"', r"begin='-5'"),
    ("x.xmi", 'end="7"', 'end="4"', "ends before it begins"),
    ("x.xmi", 'first="8"', 'first="7"', r"x\.xmi:4: found SChain 7 with first='7'"),
    ("x.xmi", "cas:Sofa ", "cas:Sofo ", "no cas:Sofa"),
    ("x.xmi", "UTF-8", "no-such-code", "unknown encoding"),
    ("x.xmi", "UTF-8", "UTF-16", "broken XML|not utf-16"),
    ("x.json", "]", "", "malformed JSON"),
    ("x.json", '"sofaString": "Anna is"', '"sofaString": 5', "sofaString"),
    ("x.json", "uima.cas.Sofa", "uima.cas.Sofo", "uima.cas.Sofa"),
    ("x.json", "Anna is", "\\\\ud83d", "not UTF-8"),
    ("x.gate", 'EndNode="4"', 'EndNode="5"', r"x\.gate:5: found EndNode='5'"),
    ("x.gate", '<Node id="4"/>', '<Node id="0"/>', r"x\.gate:3: found node '0' for the second time"),
    ("x.gate", "<GateDocument>", "<GateDocument><!--", "broken XML"),
    ("x.gate", 'StartNode="0" EndNode="4"', 'StartNode="4" EndNode="0"', "ends before it starts"),
    ("x.gate", "<GateDocument>", '<!DOCTYPE a [<!ENTITY x "y">]><GateDocument>', "entity 'x'"),
    ("x.tsv", "*->1-2", "nonsense", r"x\.tsv:7: found 'nonsense'"),
    ("x.tsv", "\tpro[1]\t", "\t", r"x\.tsv:7: found 1 cells, expected 2"),
    ("x.tsv", "11-15", "1-15", r"x\.tsv:9: found token"),
    ("x.tsv", "8-10\t", "8-9\t", r"x\.tsv:8: found token"),
    ("x.tsv", "1-4\t11-15", "here", r"x\.tsv:9"),
    ("x.tsv", "TSV 3.3", "TSV 2.0", r"x\.tsv:1: found '#FORMAT"),
    ("x.tsv", "#T_CH", "#T_SP", "no layer with chains or relations, only webanno"),
    ("r.tsv", "p[1]\tcoref\t1-3[2_1]", "p[1]|q[3]\tcoref\t1-3[2_0]", r"the number of one of \[1\], \[3\]"),
    ("x.tsv", "#FORMAT=", " # ", "found WebAnno TSV 2, an old version, expected version 3: import"),
    ("r.tsv", "1-3[2_1]", "nowhere", r"r\.tsv:6: found 'nowhere'"),
    ("r.tsv", "BT_webanno.custom.R", "BT_other", "relation layer webanno.custom.Coref on 'other'"),
]
"""What only one format can say, or says in a way of its own; `test_bad_input` has what is alike in many."""


@pytest.mark.parametrize("name", FILES)
def test_sound_files_are_read(name: str, tmp_path: Path) -> None:
    [annotation] = read_one(put(tmp_path, name, FILES[name]))
    assert len(annotation.mentions) >= 1
    assert not [finding for finding in annotation.findings if finding.code == "unread-files"]


@pytest.mark.parametrize(("name", "old", "new", "message"), FAULTS)
def test_a_fault_is_refused_in_one_line_that_names_the_place(
    name: str, old: str, new: str, message: str, tmp_path: Path
) -> None:
    refused(tmp_path, name, old, new, message)


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
    assert path.name in str(caught.value)


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
