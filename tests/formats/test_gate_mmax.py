"""GATE and MMAX2: several annotators in one file, and all other XML kept to the byte."""

from pathlib import Path

import pytest

from caspr.errors import CasprError
from caspr.formats import gate, mmax
from caspr.formats.options import ReadOptions
from caspr.formats.sources import read_one
from caspr.text.document import Annotation, Chain, Document
from tests.cli.caller import Caller
from tests.formats.everywhere import save

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


def words(annotation: Annotation) -> list[list[str]]:
    return [[annotation.document.text(span) for span in chain.mentions] for chain in annotation.chains]


@pytest.fixture
def two_sets(tmp_path: Path) -> Path:
    path = tmp_path / "d.xml"
    path.write_text(GATE, encoding="utf-8")
    return path


def test_sets_are_annotators(two_sets: Path) -> None:
    one, two = read_one(two_sets)
    assert (one.annotator, two.annotator) == ("ann", "ben")
    assert words(one) == [["Anna", "her"]]
    assert words(two) == [["Ben", "her"]]
    assert read_one(two_sets, choices=ReadOptions("ben"))[0].annotator == "d"
    with pytest.raises(CasprError, match="one of '', 'ann', 'ben'"):
        read_one(two_sets, choices=ReadOptions("x"))


def test_gold_is_a_set_of_its_own(two_sets: Path, caspr: Caller) -> None:
    out = two_sets.with_name("gold.xml")
    assert caspr("adjudicate", two_sets, "-o", out, "--objective", "ua").code == 0
    text = out.read_text(encoding="utf-8")
    assert 'Name="ann"' in text
    assert "<!-- a comment -->" in text
    assert "stale" not in text
    [gold] = read_one(out, choices=ReadOptions("gold"))
    assert words(gold)
    assert "<Name>rule</Name>" in text[text.index('Name="gold"') :]


def test_in_place(two_sets: Path) -> None:
    [annotation] = read_one(two_sets, choices=ReadOptions("ann"))
    anna = annotation.chains[0].mentions[0]
    saw = next(n for n, token in enumerate(annotation.document.tokens, 1) if token == "saw")
    gold = Annotation.of("gold", annotation.document, [Chain.of("1", [anna, (saw, saw)])])
    data = gate.write([gold])["d.xml"]
    assert isinstance(data, bytes)
    two_sets.write_bytes(data)
    [back] = read_one(two_sets, choices=ReadOptions("ann"))
    assert words(back) == [["Anna", "saw"]]
    assert words(read_one(two_sets, choices=ReadOptions("ben"))[0]) == [["Ben", "her"]]
    assert b'<Node id="8" />saw<Node id="11" />' in data
    assert b'Id="2" Type="Pronoun"' in data


def project(folder: Path) -> Path:
    document = Document("talk", ("Anna", "slept", ".", "She", "snored"), sentence_ends=(3, 5))
    save([Annotation.of("a", document, [Chain.of("1", [(1, 1), (4, 4)])])], folder / "talk.mmax", "mmax")
    return folder / "talk.mmax"


def test_a_new_project_is_complete(tmp_path: Path) -> None:
    path = project(tmp_path)
    names = {one.relative_to(tmp_path).as_posix() for one in tmp_path.rglob("*") if one.is_file()}
    assert {"talk.mmax", "common_paths.xml", "Basedata/talk_words.xml", "Schemes/coref_scheme.xml"} <= names
    [annotation] = read_one(path)
    assert annotation.document.sentence_ends == (3, 5)
    [same] = read_one(tmp_path)
    assert same.chains == annotation.chains


def test_levels_are_annotators(tmp_path: Path, caspr: Caller) -> None:
    path = project(tmp_path)
    paths = tmp_path / "common_paths.xml"
    line = '<level name="ben" schemefile="coref_scheme.xml">$_ben_level.xml</level>\n</annotations>'
    paths.write_text(paths.read_text().replace("</annotations>", line))
    level = (tmp_path / "Markables" / "talk_coref_level.xml").read_text()
    (tmp_path / "Markables" / "talk_ben_level.xml").write_text(level.replace("set_1", "set_7"))
    assert [one.annotator for one in read_one(path)] == ["coref", "ben"]
    assert [one.annotator for one in read_one(path, choices=ReadOptions("ben"))] == ["talk"]
    out = tmp_path / "out" / "talk.mmax"
    out.parent.mkdir()
    assert caspr("adjudicate", path, "-o", out).code == 0
    [gold] = read_one(out, choices=ReadOptions("gold"))
    assert words(gold) == [["Anna", "She"]]
    assert [one.annotator for one in read_one(out)] == ["coref", "gold", "ben"]


def test_markables_that_stay_and_attributes(tmp_path: Path) -> None:
    path = project(tmp_path)
    file = tmp_path / "Markables" / "talk_coref_level.xml"
    text = file.read_text().replace('mmax_level="coref"', 'mmax_level="coref"  np_form="ne"')
    file.write_text(text)
    [annotation] = read_one(path)
    gold = Annotation.of("gold", annotation.document, [Chain.of("1", [(1, 1), (5, 5)])])
    data = mmax.write([gold])["Markables/talk_coref_level.xml"]
    assert isinstance(data, bytes)
    assert data.count(b'np_form="ne"') == 2
    assert b'span="word_4" coref_class="empty"' in data
    assert b'span="word_5" coref_class="set_1"' in data
    same = mmax.write([annotation])["Markables/talk_coref_level.xml"]
    assert same == text.encode()


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("talk.mmax", "talk_words.xml", "other.xml", "found no file Basedata/other.xml"),
        ("talk.mmax", "talk_words.xml", "../../x", "files below the project's folder"),
        ("common_paths.xml", "Markables/", "../..", "files below the project's folder"),
        (
            "common_paths.xml",
            "<level name",
            "<level nome",
            r"common_paths\.xml:\d+: found <level> without name",
        ),
        (
            "Basedata/talk_words.xml",
            "word_2",
            "word_1",
            r"words\.xml:5: found word 'word_1' for the second time",
        ),
        ("Markables/talk_coref_level.xml", "word_4", "word_9", r"level\.xml:5: found span 'word_9'"),
        ("Markables/talk_coref_level.xml", "word_4", "word_4..word_1", "words of the text in order"),
        ("Markables/talk_coref_level.xml", "markable_2", "markable_1", "for the second time"),
        ("Markables/talk_coref_level.xml", "</markables>", "", "broken XML"),
        ("Schemes/coref_scheme.xml", "markable_set", "nominal", "no level with chains"),
        ("Schemes/coref_scheme.xml", "<annotationscheme>", '<!DOCTYPE a [<!ENTITY b "c">]><a>', "entity 'b'"),
    ],
)
def test_malformed_projects(file: str, old: str, new: str, message: str, tmp_path: Path) -> None:
    path = project(tmp_path)
    broken = tmp_path / file
    text = broken.read_text()
    assert old in text
    broken.write_text(text.replace(old, new))
    with pytest.raises(CasprError, match=message):
        read_one(path)


def test_mutated_projects(tmp_path: Path) -> None:
    import random

    from tests.formats.test_fuzz import mutated

    path = project(tmp_path)
    names = [one for one in tmp_path.rglob("*") if one.suffix in (".xml", ".mmax")]
    chance = random.Random("projects")
    for _ in range(150):
        name = chance.choice(names)
        sound = name.read_bytes()
        name.write_bytes(mutated(sound, chance))
        try:
            mmax.write(read_one(path, format="mmax"))
        except CasprError as error:
            assert "\n" not in str(error)
        name.write_bytes(sound)
