"""`caspr convert`, and the other commands on files of every format."""

from dataclasses import replace
from pathlib import Path

import pytest

from caspr.adjudication import adjudicate
from caspr.formats import gold_files, read
from caspr.formats.sources import read_one
from caspr.storage import write_all
from tests.cli.caller import PAPER, SONG, Caller
from tests.formats.everywhere import SUFFIX, assert_same, partition

formats = pytest.mark.parametrize("format", SUFFIX)


def converted(caspr: Caller, files: list[str], folder: Path, format: str) -> list[Path]:
    """Write each annotator's file in a format, in a folder of its own."""
    paths = []
    for file in files:
        place = folder / Path(file).stem
        place.mkdir()
        path = place / f"doc{SUFFIX[format]}"
        outcome = caspr("convert", file, path)
        assert outcome.code == 0, outcome.err
        paths.append(path)
    return paths


@formats
@pytest.mark.parametrize("files", [PAPER, SONG], ids=["paper", "song"])
def test_every_format_gives_the_same_gold(
    caspr: Caller, tmp_path: Path, format: str, files: list[str]
) -> None:
    assert caspr("adjudicate", *files, "-o", tmp_path / "gold.conll").code == 0
    expected = [partition(one) for one in read_one(tmp_path / "gold.conll")]
    paths = converted(caspr, files, tmp_path, format)
    out = tmp_path / f"gold{SUFFIX[format]}"
    outcome = caspr("adjudicate", *paths, "-o", out)
    assert outcome.code == 0, outcome.err
    back = read_one(out)
    assert {one.document.format for one in back} == {format}
    caspr("convert", out, tmp_path / "back.conll", "-q")
    assert [partition(one) for one in read_one(tmp_path / "back.conll")] == expected
    assert caspr("check", *paths).code == 0


@pytest.mark.parametrize("suffix", [*SUFFIX.values(), ".xml", ".bdocjs", ".json"])
def test_gold_files_have_the_form_of_the_first_annotators(caspr: Caller, tmp_path: Path, suffix: str) -> None:
    paths = []
    for file in SONG:
        paths.append(tmp_path / Path(file).stem / f"song{suffix}")
        paths[-1].parent.mkdir()
        assert caspr("convert", "-q", file, paths[-1]).code == 0
    [result] = adjudicate([read(path, path.parent.name) for path in paths])
    files = gold_files([result.gold], "x/y")
    place = f"x/y/y{suffix}" if suffix == ".mmax" else f"x/y{suffix}"
    assert place in files
    write_all({tmp_path / "out" / name: content for name, content in files.items()}, below=tmp_path)
    [back] = read_one(tmp_path / "out" / place)
    assert_same(result.gold, back)
    two = [result.gold, replace(result.gold, document=replace(result.gold.document, name="b"))]
    assert all(name.startswith("x") for name in gold_files(two, "x"))


@formats
def test_folders_are_annotators(caspr: Caller, tmp_path: Path, format: str) -> None:
    converted(caspr, SONG, tmp_path, format)
    folders = [tmp_path / Path(file).stem for file in SONG]
    outcome = caspr("adjudicate", *folders, "-o", tmp_path / "gold.conll")
    assert outcome.code == 0, outcome.err
    assert "3 annotators" in outcome.err


def test_mixed_formats(caspr: Caller, tmp_path: Path) -> None:
    assert caspr("adjudicate", *SONG, "-o", tmp_path / "gold.conll").code == 0
    mixed: list[object] = []
    for file, format in zip(SONG, ("brat", "cas", "mmax"), strict=True):
        mixed += converted(caspr, [file], tmp_path, format)
    assert caspr("adjudicate", *mixed, "-o", tmp_path / "mixed.ann").code == 0
    assert caspr("convert", tmp_path / "mixed.ann", tmp_path / "mixed.conll").code == 0
    gold = [partition(one) for one in read_one(tmp_path / "gold.conll")]
    assert [partition(one) for one in read_one(tmp_path / "mixed.conll")] == gold


def test_losses_are_said(caspr: Caller, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("A b c", encoding="utf-8")
    (tmp_path / "a.ann").write_text("T1\tPER 0 1;4 5\tA c\nT2\tPER 2 3\tb\n", encoding="utf-8")
    outcome = caspr("convert", tmp_path / "a.ann", tmp_path / "a.conll")
    assert outcome.code == 0
    assert "1 mention with gaps written as the span that covers it (first: 'A b c')" in outcome.err
    assert "2 labels of mentions not written" in outcome.err
    message = caspr.fails("convert", "-q", "--strict", tmp_path / "a.ann", tmp_path / "b.conll")
    assert "--strict" in message
    assert not (tmp_path / "b.conll").exists()


def test_into_a_template(caspr: Caller, tmp_path: Path) -> None:
    [anna, ben, _] = converted(caspr, SONG, tmp_path, "gate")
    marked = anna.read_text(encoding="utf-8").replace("<TextWithNodes>", "<!-- Anna -->\n<TextWithNodes>")
    anna.write_text(marked, encoding="utf-8")
    out = tmp_path / "out.gate"
    assert caspr("convert", ben, out, "--template", anna).code == 0
    assert "<!-- Anna -->" in out.read_text(encoding="utf-8")
    assert [partition(one) for one in read_one(out)] == [partition(one) for one in read_one(ben)]


def test_redo_writes_into_a_template(caspr: Caller, tmp_path: Path) -> None:
    paths = converted(caspr, SONG, tmp_path, "cas")
    review, gold = tmp_path / "review.conll", tmp_path / "gold.xmi"
    assert caspr("adjudicate", *paths, "--layout", "review", "-o", review).code == 0
    assert caspr("redo", review, "--gold", gold, "--template", paths[0]).code == 0
    assert caspr("adjudicate", *paths, "-o", tmp_path / "same.xmi").code == 0
    assert [partition(one) for one in read_one(gold)] == [
        partition(one) for one in read_one(tmp_path / "same.xmi")
    ]


def test_different_tokens_go_through(caspr: Caller, tmp_path: Path) -> None:
    one, two, gold = tmp_path / "a.conll", tmp_path / "b.conll", tmp_path / "gold.conll"
    one.write_text(
        "#begin document (d);\n1\tNew-York\tNNP\t(1)\n2\tis\tVB\t-\n3\tit\tPR\t(1)\n#end document\n"
    )
    two.write_text("#begin document (d);\nNew (1\n- -\nYork 1)\nis -\nit (1)\n#end document\n")
    outcome = caspr("adjudicate", one, two, "-o", gold)
    assert outcome.code == 0, outcome.err
    assert "1 word cut" in outcome.err
    assert gold.read_text() == f"# caspr gold: the result of an adjudication\n{one.read_text()}"
    two.write_text("#begin document (d);\nNew -\n- -\nYork (1)\nis -\nit (1)\n#end document\n")
    assert caspr("adjudicate", one, two, "-o", gold, "--objective", "u").code == 0
    assert "York\tNNP\t" in gold.read_text()
    assert caspr("adjudicate", one, two, "--layout", "review", "-o", tmp_path / "review").code == 0
    assert caspr("redo", tmp_path / "review").code == 0


def test_bad_calls(caspr: Caller, tmp_path: Path) -> None:
    [path] = converted(caspr, SONG[:1], tmp_path, "brat")
    assert "would be overwritten" in caspr.fails("convert", path, path)
    assert "give a file name" in caspr.fails("convert", "-q", SONG[0], "-", "--to", "brat")
    assert "only be made from such an archive" in caspr.fails("convert", "-q", SONG[0], tmp_path / "x.zip")
    outcome = caspr("convert", SONG[0], tmp_path / "missing" / "x.conll")
    assert outcome.code == 2
    assert "there is no folder" in outcome.err
    assert "does not say which format" in caspr.fails("convert", SONG[0], tmp_path / "x.foo")
    message = caspr.fails("adjudicate", *converted(caspr, SONG[1:], tmp_path, "brat"))
    assert "give a file name" in message
    many = tmp_path / "many.conll"
    text = Path(SONG[0]).read_text(encoding="utf-8")
    many.write_text(text + text.replace("#begin document (", "#begin document (second "), encoding="utf-8")
    assert "give a folder as output" in caspr.fails("convert", "-q", many, tmp_path / "x.tsv")
    outcome = caspr("convert", SONG[0], tmp_path / "x", "--to", "nonsense")
    assert outcome.code == 2


def test_the_text_beside_an_annotation_is_not_overwritten(caspr: Caller, tmp_path: Path) -> None:
    converted(caspr, SONG[:2], tmp_path, "brat")
    (tmp_path / "gold.txt").write_text("mine", encoding="utf-8")
    before = (tmp_path / "anna" / "doc.txt").read_text(encoding="utf-8")
    inputs = [tmp_path / "anna" / "doc.ann", tmp_path / "ben" / "doc.ann"]
    assert caspr("adjudicate", *inputs, "-o", tmp_path / "anna" / "doc.ann").code == 2
    assert caspr("adjudicate", tmp_path / "anna", tmp_path / "ben", "-o", tmp_path / "anna").code == 2
    assert caspr("convert", tmp_path / "anna", tmp_path / "anna", "--to", "brat").code == 2
    assert (tmp_path / "anna" / "doc.txt").read_text(encoding="utf-8") == before


def test_standard_output(caspr: Caller) -> None:
    for target, start in (
        ("jsonlines", '{"doc_key"'),
        ("cas", "<?xml"),
        ("webanno", "#FORMAT"),
        ("gate", "<?xml"),
    ):
        outcome = caspr("convert", "-q", SONG[0], "-", "--to", target)
        assert outcome.code == 0
        assert outcome.out.startswith(start)
