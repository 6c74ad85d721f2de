"""GATE's document feature with all chains, and its JSON."""

import json
from pathlib import Path
from typing import Any

import pytest

from caspr.errors import CasprError
from caspr.formats import gate
from caspr.formats.format import ReadOptions
from caspr.formats.registry import detect, render
from caspr.formats.sources import read_one
from caspr.text.document import Annotation, Chain
from tests.cli.caller import Caller
from tests.formats.sound import GATE, put

# The words: Anna 😀 saw Ben & her
ITEMS = {"1": (0, 4), "2": (17, 20), "3": (12, 15), "9": (8, 11)}
WRAPPED = (
    "&lt;?xml version='1.1'?>&lt;gate.corpora.ObjectWrapper>&lt;value class=\"map\">"
    "&lt;entry>&lt;null/>&lt;list>&lt;list>&lt;int>1&lt;/int>&lt;int>2&lt;/int>&lt;/list>&lt;/list>&lt;/entry>"
    "&lt;entry>&lt;string>other&lt;/string>&lt;list>&lt;list>&lt;int>7&lt;/int>&lt;/list>&lt;/list>&lt;/entry>"
    "&lt;/value>&lt;/gate.corpora.ObjectWrapper>"
)


def xml(copy: str, matches: dict[str, str] | None = None) -> str:
    """Write a document with a copy of the chains, and mentions that list others."""
    nodes = "".join(
        f'<Node id="{at}"/>{text}'
        for at, text in ((0, "Anna"), (4, " 😀 "), (8, "saw"), (11, " "), (12, "Ben"), (15, "&amp; "))
    )
    feature = "<Feature><Name>matches</Name><Value>{}</Value></Feature>"
    items = "\n".join(
        f'<Annotation Id="{id}" Type="Person" StartNode="{start}" EndNode="{end}">'
        f"{feature.format(matches[id]) if matches and id in matches else ''}</Annotation>"
        for id, (start, end) in ITEMS.items()
    )
    return (
        "<?xml version='1.1' encoding='UTF-8'?>\n<GateDocument>\n<GateDocumentFeatures>\n"
        f"<Feature><Name>MatchesAnnots</Name><Value>{copy}</Value></Feature>\n</GateDocumentFeatures>\n"
        f'<TextWithNodes>{nodes}<Node id="17"/>her<Node id="20"/></TextWithNodes>\n'
        f'<AnnotationSet>\n{items}\n</AnnotationSet>\n<AnnotationSet Name="other"/>\n</GateDocument>\n'
    )


def words(annotation: Annotation) -> list[list[str]]:
    return [[annotation.document.text(span) for span in chain.mentions] for chain in annotation.all_chains]


@pytest.mark.parametrize("copy", [WRAPPED.replace("<int>7", "<int>"), "{null=[[1, 2]]}", "[[1, 2]]"])
def test_chains_that_only_the_copy_has(tmp_path: Path, copy: str) -> None:
    path = tmp_path / "d.xml"
    path.write_text(xml(copy.replace("&lt;int>7&lt;/int>", "")), encoding="utf-8")
    [annotation] = read_one(path)
    assert words(annotation) == [["Anna", "her"]]
    assert gate.write([annotation])["d.xml"] != path.read_bytes()
    saw = annotation.document.tokens.index("saw") + 1
    mentions = [annotation.chains[0].mentions[0], (saw, saw)]
    gold = Annotation.of("gold", annotation.document, [Chain.of("1", mentions)])
    data = gate.write([gold])["d.xml"]
    assert isinstance(data, bytes)
    path.write_bytes(data)
    [back] = read_one(path)
    assert words(back) == [["Anna", "saw"]]
    assert not back.findings
    assert b"MatchesAnnots" in data
    assert gate.write([back])["d.xml"] == data
    bare = data.replace(b">matches<", b">other<")
    path.write_bytes(bare)
    assert words(read_one(path)[0]) == [["Anna", "saw"]]


def test_a_copy_that_contradicts_is_warned_about(tmp_path: Path) -> None:
    path = tmp_path / "d.xml"
    path.write_text(xml("{null=[[1, 3]], other=[]}", {"1": "1;2", "2": "1;2", "3": "3"}), encoding="utf-8")
    [annotation] = read_one(path)
    assert words(annotation) == [["Anna", "her"], ["Ben"]]
    assert [(one.code, one.count) for one in annotation.findings] == [("contradicting-copy", 1)]
    [data] = gate.write([annotation]).values()
    assert isinstance(data, bytes)
    path.write_bytes(data)
    assert not read_one(path)[0].findings


def test_lists_with_annotations_that_list_nothing_or_are_not_there(tmp_path: Path) -> None:
    """A set that was copied in GATE lists the annotations of the old one."""
    path = tmp_path / "d.xml"
    for lists, chains, odd in (
        ({"1": "71;72", "2": "71;72", "3": "73"}, [["Anna", "her"], ["Ben"]], [("missing-matches", 3)]),
        ({"1": "1;3"}, [["Anna", "Ben"]], [("one-sided-matches", 1)]),
    ):
        path.write_text(xml("{}", lists), encoding="utf-8")
        [annotation] = read_one(path)
        assert words(annotation) == chains
        assert [(one.code, one.count) for one in annotation.findings] == odd
        [data] = gate.write([annotation]).values()
        assert isinstance(data, bytes)
        path.write_bytes(data)
        [back] = read_one(path)
        assert words(back) == chains
        assert not back.findings


def test_bad_copies(tmp_path: Path) -> None:
    path = tmp_path / "d.xml"
    path.write_text(xml("{null=[[1, 77]]}"), encoding="utf-8")
    with pytest.raises(CasprError, match=r"d\.xml: found annotation '77' in MatchesAnnots"):
        read_one(path)
    path.write_text(xml("whatever", {"1": "1;2", "2": "1;2"}), encoding="utf-8")
    [annotation] = read_one(path)
    assert [one.code for one in annotation.findings] == ["unknown-copy"]
    assert b"MatchesAnnots" not in gate.write([annotation])["d.xml"]
    bomb = '&lt;!DOCTYPE x [&lt;!ENTITY a "b">]>&lt;gate.corpora.ObjectWrapper/>'
    path.write_text(xml(bomb), encoding="utf-8")
    with pytest.raises(CasprError, match="entity 'a'"):
        read_one(path)


def bdoc(offsets: str = "p", **sets: list[dict[str, Any]]) -> dict[str, Any]:
    """Make a document as GATE's library for Python writes it."""
    made = {
        name: {"name": name, "annotations": rows, "next_annid": 90, "more": 1} for name, rows in sets.items()
    }
    return {
        "annotation_sets": made,
        "text": "Anna 😀 saw Ben & her",
        "features": {"MatchesAnnots": {"ann": [[1, 2]]}, "x": [1]},
        "offset_type": offsets,
        "name": "d",
    }


def row(id: int, start: int, end: int, matches: list[int] | None, **features: str) -> dict[str, Any]:
    listed = {} if matches is None else {"matches": matches}
    return {"type": "Person", "start": start, "end": end, "id": id, "features": {**features, **listed}}


@pytest.mark.parametrize(("offsets", "more"), [("p", 0), ("j", 1)])
def test_json(tmp_path: Path, offsets: str, more: int) -> None:
    ann = [row(1, 0, 4, [1, 2], rule="r"), row(2, 17 + more, 20 + more, [1, 2]), row(3, 0, 4, None)]
    whole = bdoc(offsets, ann=ann)
    path = tmp_path / "d.bdocjs"
    path.write_text(json.dumps(whole), encoding="utf-8")
    [annotation] = read_one(path)
    assert words(annotation) == [["Anna", "her"]]
    assert json.loads(gate.write([annotation])["d.bdocjs"]) == whole
    saw = annotation.document.tokens.index("saw") + 1
    mentions = [annotation.chains[0].mentions[0], (saw, saw)]
    gold = Annotation.of("gold", annotation.document, [Chain.of("1", mentions)])
    made = json.loads(gate.write([gold])["d.bdocjs"])
    assert made["annotation_sets"]["ann"] == {
        "name": "ann",
        "annotations": [
            row(1, 0, 4, [1, 4], rule="r"),
            row(2, 17 + more, 20 + more, None),
            row(3, 0, 4, None),
            {**row(4, 7 + more, 10 + more, [1, 4]), "type": "Mention"},
        ],
        "next_annid": 90,
        "more": 1,
    }
    assert made["features"] == {"MatchesAnnots": {"ann": [[1, 4]]}, "x": [1]}


def test_json_sets_are_annotators(tmp_path: Path, caspr: Caller) -> None:
    path = tmp_path / "d.bdocjs"
    ann, ben = (
        [row(1, 0, 4, [1, 2], rule="r"), row(2, 17, 20, [1, 2])],
        [row(1, 0, 4, [1, 5]), row(5, 17, 20, [1, 5])],
    )
    path.write_text(json.dumps(bdoc(ann=ann, ben=ben)), encoding="utf-8")
    assert [one.annotator for one in read_one(path)] == ["ann", "ben"]
    out = tmp_path / "gold.bdocjs"
    assert caspr("adjudicate", path, "-o", out).code == 0
    [gold] = read_one(out, options=ReadOptions("gold"))
    assert words(gold) == [["Anna", "her"]]
    made = json.loads(out.read_text(encoding="utf-8"))
    assert made["annotation_sets"]["gold"]["annotations"][0] == row(6, 0, 4, [6, 7], rule="r")
    assert made["annotation_sets"]["ben"]["annotations"] == ben
    assert made["features"]["MatchesAnnots"] == {"ann": [[1, 2]], "gold": [[6, 7]]}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"start": 0', '"start": 99', "annotation 1 with start=99"),
        ('"start": 0', '"start": -1', "annotation 1 with start=-1"),
        ('"start": 0', '"start": "0"', "annotation 1 with start='0'"),
        ('"end": 4', '"end": 3, "start": 4', "ends before it starts"),
        ('"id": 1', '"id": 2', "annotation '2' for the second time"),
        ('"id": 1', '"id": null', "id None"),
        ("[1, 2]", '"1;2"', "matches '1;2'"),
        ('"text"', '"tekst"', "no text"),
        ('"annotations"', '"annotation"', "'ann' without a list"),
        ('"ann": [[', '"ann": [[[', "MatchesAnnots in an unknown form"),
        ('"offset_type": "p"', '"offset_type": "j"', "annotation 3 with start=6"),
        ('"name": "d"}', '"name": "d"', "malformed JSON"),
    ],
)
def test_malformed_json(tmp_path: Path, old: str, new: str, message: str) -> None:
    whole = json.dumps(bdoc(ann=[row(1, 0, 4, [1, 2]), row(2, 17, 20, [1, 2]), row(3, 6, 10, None)]))
    assert old in whole
    text = whole.replace(old, new, 1)
    path = tmp_path / "d.bdocjs"
    path.write_text(text.replace("[[[1, 2]]", "[[[1], 2]]"), encoding="utf-8")
    with pytest.raises(CasprError, match=message):
        read_one(path)


def test_other_forms_are_refused_by_name(tmp_path: Path) -> None:
    for suffix, name in ((".bdocym", "YAML"), (".bdocmp", "MessagePack")):
        path = tmp_path / f"d{suffix}"
        path.write_bytes(b"x")
        with pytest.raises(CasprError, match=f"a GATE document as {name}, expected JSON"):
            read_one(path)


def test_one_form_becomes_the_other_with_everything_in_it(tmp_path: Path, caspr: Caller) -> None:
    """Issue 16, point 9: GATE XML to bdoc of the same file was refused."""
    path, xml, back = tmp_path / "d.bdocjs", tmp_path / "x.xml", tmp_path / "y.bdocjs"
    content = bdoc(ann=[row(1, 0, 4, [1, 2]), row(2, 5, 7, [1, 2]), {**row(3, 0, 7, []), "type": "Other"}])
    content["annotation_sets"]["ann"]["annotations"][2]["features"] = {
        "a": 3,
        "b": True,
        "c": "x;y",
        "d": [1.5],
    }
    content["features"] = {"source": "x", "n": 2}
    path.write_text(json.dumps(content), encoding="utf-8")
    assert caspr("convert", "-q", path, xml).code == 0
    assert caspr("convert", "-q", xml, back).code == 0
    once, twice = json.loads(path.read_text()), json.loads(back.read_text())
    assert twice["text"] == once["text"]
    assert twice["features"] == once["features"]
    before, after = (
        {one["id"]: one for one in each["annotation_sets"]["ann"]["annotations"]} for each in (once, twice)
    )
    assert before.keys() == after.keys()
    for id, one in before.items():
        assert {**one, "features": one["features"]} == {**after[id], "features": after[id]["features"]}
    [first], [second] = read_one(path), read_one(back)
    assert (first.chains, first.marks) == (second.chains, second.marks)


def test_annotations_without_a_number_are_passed_over(tmp_path: Path) -> None:
    """Old versions of GATE wrote such; one with `matches` needs its number."""
    bare = '<Annotation Type="T" StartNode="0" EndNode="4">\n</Annotation>\n<Annotation Id="1"'
    path = put(tmp_path, "x.gate", GATE.replace('<Annotation Id="1"', bare))
    [annotation] = read_one(path)
    [before] = read_one(put(tmp_path, "y.gate", GATE))
    assert annotation.chains == before.chains
    written = render([annotation], tmp_path / "z.gate", format="gate")[tmp_path / "z.gate"]
    assert isinstance(written, bytes)
    assert b'<Annotation Type="T" StartNode="0" EndNode="4">' in written
    assert '"id": 0' in str(render([annotation], tmp_path / "z.bdocjs", format="gate"))
    with pytest.raises(CasprError, match="<Annotation> without Id"):
        read_one(put(tmp_path, "x.gate", GATE.replace('Id="1" ', "")))


def test_a_word_that_is_called_like_a_field_does_not_confuse(tmp_path: Path) -> None:
    row = '{"type": "T", "start": 0, "end": 9, "id": 0, "features": {"string": "sentences"}}'
    bdoc = f'{{"text": "sentences", "annotation_sets": {{"": {{"annotations": [{row}]}}}}}}'
    assert detect(put(tmp_path, "x.bdocjs", bdoc)) == "gate"


def test_xml_becomes_json_and_json_becomes_xml(tmp_path: Path, caspr: Caller) -> None:
    """Issue 16, point 9: the form of a file was kept, and another one refused."""
    feature = "<Feature><Name>kind</Name><Value>nam</Value></Feature></Annotation>\n<Annotation Id"
    path = put(tmp_path, "x.gate", GATE.replace("</Annotation>\n<Annotation Id", feature))
    [before] = read_one(path)
    for source, target in (("x.gate", "y.bdocjs"), ("y.bdocjs", "z.gate")):
        assert caspr("convert", tmp_path / source, tmp_path / target).code == 0
        [after] = read_one(tmp_path / target)
        assert [chain.mentions for chain in after.all_chains] == [
            chain.mentions for chain in before.all_chains
        ]
        assert after.document.characters == before.document.characters
        assert "nam" in (tmp_path / target).read_text()
