"""Every kind of bad input in every format that can have it: refused, and nothing is written."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.caller import Caller
from tests.formats.projects import COREFERENCE, archive, make_cas, zipped
from tests.formats.sound import FILES, project, put

CONLL = "#begin document (d);\n1\tAnna\t(1)\n2\tis\t-\n3\there\t(1)\n#end document\n"
BDOC = json.dumps(
    {
        "text": "Anna is here",
        "annotation_sets": {
            "": {
                "name": "",
                "annotations": [
                    {"id": 1, "type": "P", "start": 0, "end": 4, "features": {"matches": [1, 2]}},
                    {"id": 2, "type": "P", "start": 5, "end": 7, "features": {"matches": [1, 2]}},
                ],
            }
        },
    },
    indent=1,
)
EVENTS = "T1\tP 0 4\tAnna\nT2\tP 5 7\tis\nE1\tCoreferenceLink:T1 next:E2\nE2\tCoreferenceLink:T2\n"
ROWS = FILES["r.tsv"][FILES["r.tsv"].index("\n1-1") :]
SOUND = {**FILES, "x.conll": CONLL, "x.bdocjs": BDOC, "e.ann": EVENTS}
CAS = make_cas({COREFERENCE: [[(0, 7, "nam"), (20, 22, "pro")]]}).to_xmi()
Case = tuple[str, str, str, str]
"""A file, what to replace in it, by what, and what the message says."""

KINDS: dict[str, list[Case]] = {
    "cut off": [
        ("x.conll", "#end document\n", "", r"x\.conll:1: found #begin document without an end"),
        ("x.conllu", "\tdep\t_\tEntity=(e2[2/2])\n\n", "", r"x\.conllu:5: found 7 columns"),
        ("x.jsonl", "}\n", "", r"x\.jsonl:1: found malformed JSON"),
        ("x.ann", " Arg2:T2\n", "", r"x\.ann:3: found 1 arguments"),
        ("x.gate", "</GateDocument>\n", "", r"x\.gate:10: found broken XML"),
        ("x.bdocjs", "]", "", r"x\.bdocjs:\d+: found malformed JSON"),
        ("words.xml", "</words>", "", r"words\.xml:\d+: found broken XML"),
        ("x.tsv", "1-4\t11-15\there\t_\t_\t\n", "", r"x\.tsv:8: found no row for 'here'"),
        ("r.tsv", ROWS, "", r"r\.tsv:5: found a sentence without rows"),
        ("x.xmi", "</xmi:XMI>\n", "", r"x\.xmi:\d+: found broken XML"),
        ("x.json", "}}}\n", "", r"x\.json:\d+: found malformed JSON"),
        ("p.zip", "</xmi:XMI>", "", r"a\.zip/a\.xmi:\d+: found broken XML"),
    ],
    "offsets out of range": [
        ("x.jsonl", "[2, 2]", "[2, 9]", r"x\.jsonl:1: found mention '\[2, 9\]'"),
        ("x.ann", "PER 5 7", "PER 5 70", r"x\.ann:2: found offsets 5 70"),
        ("x.gate", 'EndNode="4"', 'EndNode="9"', r"x\.gate:5: found EndNode='9'"),
        ("x.bdocjs", '"end": 7', '"end": 70', r"x\.bdocjs: found annotation 2 with end=70"),
        ("coref_level.xml", "word_4", "word_9", r"level\.xml:5: found span 'word_9'"),
        ("x.tsv", "11-15", "11-99", r"x\.tsv:9: found token 'here'"),
        ("r.tsv", "8-12", "8-99", r"r\.tsv:8: found token 'here'"),
        ("x.xmi", 'end="7"', 'end="70"', r"x\.xmi:6: found SLink 9 with end='70'"),
        ("x.json", '"end": 7', '"end": 70', r"x\.json: found SLink 4 with end='70'"),
        ("p.zip", 'end="23"', 'end="230"', r"a\.xmi:\d+: found \w+ \d+ with end='230'"),
    ],
    "links to what is not there": [
        ("x.conll", "here\t(1)", "here\t9)", r"x\.conll:4: found"),
        ("x.conllu", "Entity=e1)", "Entity=e9)", r"x\.conllu:4: found 'e9\)', which closes nothing"),
        ("x.ann", "Arg2:T2", "Arg2:T9", r"x\.ann:3: found a link to 'T9'"),
        ("e.ann", "next:E2", "next:E9", r"e\.ann:3: found a link to 'E9'"),
        ("r.tsv", "1-3[2_1]", "1-3[7_1]", r"r\.tsv:6: found a relation to annotation 7"),
        ("x.xmi", 'next="9"', 'next="99"', r"x\.xmi:5: found SLink 8 with next='99'"),
        ("x.xmi", 'first="8"', 'first="88"', r"x\.xmi:4: found SChain 7 with first='88'"),
        ("x.json", '"@next": 4', '"@next": 44', r"x\.json: found SLink 3 with next='44'"),
        ("p.zip", 'first="', 'first="9', r"found CoreferenceChain \d+ with first='9\d+'"),
    ],
    "cycles": [
        ("x.xmi", 'begin="5"', 'next="8" begin="5"', r"x\.xmi:6: found SLink 9 with next='8', .* cycle"),
        ("x.json", '"@next": 4', '"@next": 3', r"x\.json: found SLink 3 with next='3', which is a cycle"),
        ("e.ann", "Link:T2", "Link:T2 next:E1", r"e\.ann:4: found E2 with next:E1, which is a cycle"),
    ],
    "an id twice": [
        ("x.conll", CONLL, CONLL * 2, r"x\.conll:6: found document 'd' for the second time"),
        ("x.conllu", FILES["x.conllu"], FILES["x.conllu"] * 2, "found document 'd' more than once"),
        ("x.jsonl", FILES["x.jsonl"], FILES["x.jsonl"] * 2, r"x\.jsonl:2: found document 'd' for the second"),
        ("x.ann", "T2\tPER", "T1\tPER", r"x\.ann:2: found id 'T1' for the second time"),
        ("x.gate", 'Id="2"', 'Id="1"', r"x\.gate:7: found annotation '1' for the second time"),
        ("x.bdocjs", '"id": 2', '"id": 1', r"x\.bdocjs: found annotation '1' for the second time"),
        ("words.xml", "word_2", "word_1", r"words\.xml:5: found word 'word_1' for the second time"),
        ("coref_level.xml", "markable_2", "markable_1", "for the second time"),
        ("x.tsv", "1-3\t", "1-2\t", r"x\.tsv:8: found row 1-2 for the second time"),
        ("r.tsv", "1-3\t", "1-2\t", r"r\.tsv:8: found row 1-2 for the second time"),
        ("x.xmi", 'xmi:id="9"', 'xmi:id="8"', r"x\.xmi:6: found xmi:id 8 for the second time"),
        ("x.json", '"%ID": 4', '"%ID": 3', "found %ID 3 for the second time"),
        ("p.zip", 'xmi:id="3"', 'xmi:id="2"', "found xmi:id 2 for the second time"),
    ],
    "wrong encoding": [
        (name, "Anna", "\udce4nna", r"not (UTF|utf)-8")
        for name in (*FILES, "x.conll", "x.bdocjs", "words.xml")
        if name != "x.ann"
    ]
    + [
        ("x.ann", "\tAnna", "\t\udce4nna", "not UTF-8"),
        ("p.zip", "ANIMAL", "\udcff", r"a\.xmi:\d+: .*not utf-8"),
    ],
    "entity declarations": [
        (name, old, new, "found a declaration of entity 'a'")
        for name, old, new in (
            ("x.gate", "<GateDocument", '<!DOCTYPE x [<!ENTITY a "b">]><GateDocument'),
            ("x.xmi", "<xmi:XMI", '<!DOCTYPE x [<!ENTITY a "b">]><xmi:XMI'),
            ("p.zip", "<xmi:XMI", '<!DOCTYPE x [<!ENTITY a "b">]><xmi:XMI'),
            ("words.xml", 'dtd">', 'dtd" [<!ENTITY a "b">]>'),
            ("coref_level.xml", 'dtd">', 'dtd" [<!ENTITY a "b">]>'),
            ("common_paths.xml", "<!DOCTYPE common_paths>", '<!DOCTYPE x [<!ENTITY a "b">]>'),
        )
    ],
}
"""What can be wrong, in each format in which it can be said at all."""


def spoilt(text: str, old: str, new: str) -> bytes:
    """Change a file; lone surrogates stand for single bytes."""
    assert old in text, old
    return text.replace(old, new, 1).encode("utf-8", "surrogateescape")


def make(folder: Path, name: str, change: Callable[[str], bytes]) -> Path:
    """Write a bad file, with what belongs to it, and return what to give to caspr."""
    if name in SOUND:
        path = put(folder, name, change(SOUND[name]))
        path.with_suffix(".txt").write_text("Anna is \U0001f600 here", encoding="utf-8")
        return path
    if name == "p.zip":
        bad = zipped({"a.xmi": change(CAS)})
        path = folder / name
        path.write_bytes(archive({("d.txt", "a"): bad}, {("d.txt", "a"): "FINISHED"}))
        return path
    path = project(folder)
    [part] = [one for one in folder.rglob("*.xml") if one.name.endswith(name)]
    part.write_bytes(change(part.read_text(encoding="utf-8")))
    return path


CASES = [pytest.param(case, id=f"{kind}-{case[0]}") for kind, cases in KINDS.items() for case in cases]


@pytest.mark.parametrize("case", CASES)
def test_bad_input(case: Case, tmp_path: Path, caspr: Caller) -> None:
    name, old, new, message = case
    path = make(tmp_path, name, lambda text: spoilt(text, old, new))
    before = {one: one.stat().st_mtime_ns for one in tmp_path.rglob("*")}
    said = caspr.fails("convert", path, tmp_path / "out.conll")
    assert re.search(message, said), said
    assert said.startswith(str(tmp_path))
    assert {one: one.stat().st_mtime_ns for one in tmp_path.rglob("*")} == before


@pytest.mark.parametrize("name", [*SOUND, "p.zip", "words.xml"])
def test_the_files_are_sound_before(name: str, tmp_path: Path, caspr: Caller) -> None:
    path = make(tmp_path, name, lambda text: text.encode("utf-8"))
    outcome = caspr("convert", path, tmp_path / "out.conll")
    assert outcome.code == 0, outcome.err
