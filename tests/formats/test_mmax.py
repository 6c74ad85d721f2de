"""MMAX2: levels are annotators, and all other XML is kept to the byte."""

import random
from pathlib import Path

import pytest

from caspr.errors import CasprError
from caspr.formats.format import ReadOptions
from caspr.formats.mmax import write
from caspr.formats.registry import losses
from caspr.formats.sources import read_one
from caspr.text.document import Annotation, Chain
from tests.cli.caller import Caller
from tests.formats.everywhere import chain_texts
from tests.formats.mutations import mutated
from tests.formats.sound import project
from tests.sweeps import some


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
    assert [one.annotator for one in read_one(path, options=ReadOptions("ben"))] == ["talk"]
    out = tmp_path / "out" / "talk.mmax"
    out.parent.mkdir()
    assert caspr("adjudicate", path, "-o", out).code == 0
    [gold] = read_one(out, options=ReadOptions("gold"))
    assert chain_texts(gold) == [["Anna", "She"]]
    assert [one.annotator for one in read_one(out)] == ["coref", "gold", "ben"]


def test_markables_that_stay_and_attributes(tmp_path: Path) -> None:
    path = project(tmp_path)
    file = tmp_path / "Markables" / "talk_coref_level.xml"
    text = file.read_text().replace('mmax_level="coref"', 'mmax_level="coref"  np_form="ne"')
    file.write_text(text, newline="\n")
    [annotation] = read_one(path)
    gold = Annotation.of("gold", annotation.document, [Chain.of("1", [(1, 1), (5, 5)])])
    data = write([gold])["Markables/talk_coref_level.xml"]
    assert isinstance(data, bytes)
    assert data.count(b'np_form="ne"') == 2
    assert b'span="word_4" coref_class="empty"' in data
    assert b'span="word_5" coref_class="set_1"' in data
    same = write([annotation])["Markables/talk_coref_level.xml"]
    assert same == text.encode()


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("talk.mmax", "talk_words.xml", "other.xml", "the file Basedata/other.xml with its words is missing"),
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
    path = project(tmp_path)
    names = [one for one in tmp_path.rglob("*") if one.suffix in (".xml", ".mmax")]
    chance = random.Random("projects")
    for _ in some(range(150)):
        name = chance.choice(names)
        sound = name.read_bytes()
        name.write_bytes(mutated(sound, chance))
        try:
            write(read_one(path, format="mmax"))
        except CasprError as error:
            assert "\n" not in str(error)
        name.write_bytes(sound)


def pointing(folder: Path) -> Path:
    """Write a project whose chains are pointers, one of them into another level."""
    path = project(folder)
    level = folder / "Markables" / "talk_coref_level.xml"
    head = level.read_text().partition("<markables")[0]
    marks = [
        ("1", "1", "empty"),
        ("4", "4", "markable_1"),
        ("5", "5", "other:markable_9"),
        ("2", "2", "empty"),
    ]
    lines = [
        f'<markable id="markable_{id}" span="word_{word}" antecedent="{to}" x="y"/>' for id, word, to in marks
    ]
    level.write_text(f"{head}<markables>{''.join(lines)}</markables>")
    (folder / "Markables" / "talk_other_level.xml").write_text(
        f'{head}<markables><markable id="markable_9" span="word_3"/></markables>'
    )
    scheme = folder / "Schemes" / "coref_scheme.xml"
    scheme.write_text(
        scheme.read_text().replace("markable_set", "markable_pointer").replace("Coref_class", "Antecedent")
    )
    paths = folder / "common_paths.xml"
    line = '<level name="other" schemefile="">$_other_level.xml</level>\n</annotations>'
    paths.write_text(paths.read_text().replace("</annotations>", line))
    return path


class TestPointers:
    """As in the Potsdam Commentary Corpus: a markable points to its antecedent."""

    def test_what_pointers_connect_is_a_chain(self, tmp_path: Path) -> None:
        [annotation] = read_one(pointing(tmp_path))
        assert chain_texts(annotation) == [["Anna", "She"], [".", "snored"]]
        assert annotation.singletons == ()
        written = write([annotation])
        level = (tmp_path / "Markables" / "talk_coref_level.xml").read_bytes()
        assert written["Markables/talk_coref_level.xml"] == level

    @pytest.mark.parametrize(
        "chains",
        [
            [[1, 2, 3, 4, 5]],
            [[1, 2], [4, 5]],
            [[3, 4], [1, 5]],
            [[2, 3]],
            [[1, 4], [3, 5]],
            [[5, 4, 3], [1, 2]],
        ],
    )
    def test_any_chains_are_written(self, chains: list[list[int]], tmp_path: Path) -> None:
        path = pointing(tmp_path)
        [annotation] = read_one(path)
        made = [Chain.of(str(n), [(word, word) for word in words]) for n, words in enumerate(chains)]
        for name, content in write([annotation.with_chains(made)]).items():
            (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        [back] = read_one(path)
        assert sorted(chain.mentions for chain in back.chains) == sorted(chain.mentions for chain in made)

    def test_chains_of_one_are_counted(self, tmp_path: Path) -> None:
        [annotation] = read_one(pointing(tmp_path))
        lone = annotation.with_chains([Chain.of("1", [(1, 1)])])
        assert [(one.code, one.count) for one in losses([lone], "mmax")] == [("lost-singletons", 1)]

    def test_a_pointer_to_nothing_is_named(self, tmp_path: Path) -> None:
        path = pointing(tmp_path)
        level = tmp_path / "Markables" / "talk_coref_level.xml"
        level.write_text(level.read_text().replace("other:markable_9", "other:markable_8"))
        with pytest.raises(CasprError, match="a pointer to 'other:markable_8', expected the id"):
            read_one(path)
