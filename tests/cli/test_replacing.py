"""What commands replace: their own outputs of an earlier call; never anybody's work, never decisions."""

from pathlib import Path

import pytest

from tests.cli.caller import SONG, Caller

NOTES = "my private notes\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a working directory with the song of three annotators."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "song").mkdir()
    for source in map(Path, SONG):
        (tmp_path / "song" / source.name).write_bytes(source.read_bytes())
    return tmp_path


def reviewed(caspr: Caller, folder: Path, *, decided: bool) -> bytes:
    """Write a review file, with a decision or without, and return what it holds."""
    assert caspr("adjudicate", "song", "--layout", "review", "-o", "review.conll", "-q").code == 0
    path = folder / "review.conll"
    if decided:
        path.write_text(path.read_text().replace("\t-\n", "\t=-\n", 1))
    return path.read_bytes()


@pytest.mark.parametrize(
    "words",
    [
        ("adjudicate", "song", "--layout", "review", "-o", "review.conll"),
        ("adjudicate", "song", "-o", "review.conll"),
        ("agreement", "song", "--csv", "review.conll"),
    ],
)
def test_decisions_are_not_replaced(caspr: Caller, folder: Path, words: tuple[str, ...]) -> None:
    held = reviewed(caspr, folder, decided=True)
    message = caspr.fails(*words)
    assert "review.conll: this would lose the 1 decision in a review file" in message
    assert "`caspr redo review.conll`" in message
    assert (folder / "review.conll").read_bytes() == held


def test_notes_and_unreadable_review_files_are_not_replaced(caspr: Caller, folder: Path) -> None:
    text = reviewed(caspr, folder, decided=False).decode()
    path = folder / "review.conll"
    words = ("adjudicate", "song", "--layout", "review", "-o", path)
    path.write_text(text.replace("#begin", '# caspr note: {"mention": null, "text": "ask"}\n#begin', 1))
    assert "the 1 note in a review file" in caspr.fails(*words)
    path.write_text(text.replace("\t-\n", "\t=(\n", 1))
    assert "this would replace a review file that cannot be read" in caspr.fails(*words)


def test_a_review_file_without_decisions_is_replaced(caspr: Caller, folder: Path) -> None:
    reviewed(caspr, folder, decided=False)
    changed = ("adjudicate", "song", "--layout", "review", "-o", "review.conll", "--objective", "u")
    assert caspr(*changed).code == 0


def test_a_copy_of_a_review_file_is_replaced_while_it_holds_no_more_decisions(
    caspr: Caller, folder: Path
) -> None:
    held = reviewed(caspr, folder, decided=True).decode()
    path = folder / "review.conll"
    assert caspr("redo", path, "-o", "copy.conll", "-q").code == 0
    path.write_text(path.read_text().replace("\t-\n", "\t=-\n", 1))
    assert caspr("redo", path, "-o", "copy.conll", "-q").code == 0
    path.write_text(held)
    assert "copy.conll: this would lose the 2 decisions" in caspr.fails("redo", path, "-o", "copy.conll")


def test_a_gold_standard_replaces_no_annotators_file(caspr: Caller, folder: Path) -> None:
    reviewed(caspr, folder, decided=True)
    anna = folder / "song" / "anna.conll"
    held = anna.read_bytes()
    assert "song/anna.conll: CaspR did not write this file" in caspr.fails(
        "redo", "review.conll", "--gold", "song/anna.conll"
    )
    rest = ["song/ben.conll", "song/carla.conll"]
    assert "CaspR did not write" in caspr.fails("adjudicate", *rest, "-o", "song/anna.conll")
    assert "CaspR did not write" in caspr.fails(
        "adjudicate", *rest, "--layout", "review", "-o", "song/anna.conll"
    )
    assert caspr("adjudicate", "song", "-o", "gold.conll", "-q").code == 0
    assert "CaspR did not write" in caspr.fails("convert", "gold.conll", "song/anna.conll")
    assert anna.read_bytes() == held


def test_the_text_beside_annotations_is_not_replaced(caspr: Caller, folder: Path) -> None:
    (folder / "notes.txt").write_text(NOTES)
    message = caspr.fails("convert", "song/anna.conll", "notes.ann")
    assert "notes.txt: CaspR did not write this file" in message
    assert "as a part of notes.ann" in message
    assert (folder / "notes.txt").read_text() == NOTES
    assert not (folder / "notes.ann").exists()


@pytest.mark.parametrize("name", ["notes.conll", "notes.ann"])
def test_notes_are_not_replaced_by_annotations(caspr: Caller, folder: Path, name: str) -> None:
    (folder / name).write_text(NOTES)
    assert "CaspR did not write" in caspr.fails("adjudicate", "song", "-o", name)
    assert (folder / name).read_text() == NOTES


ORDINARY = [
    ("adjudicate", "song", "-o", "x.conll", "--certificate", "c.json", "--json=s.json"),
    ("adjudicate", "song", "-o", "x.ann"),
    ("convert", "song/anna.conll", "x.ann"),
    ("convert", "song/anna.conll", "x.tsv"),
    ("report", "song", "-o", "r.html", "--feedback", "pages"),
    ("report", "song", "-o", "r.md"),
    ("report", "song", "-o", "r.txt"),
    ("report", "song", "-o", "r.json"),
    ("report", "song", "--methods", "-o", "m.txt"),
    ("agreement", "song", "--csv", "a.csv", "--latex", "a.tex", "--plot", "a.svg", "--json=a.json"),
]


@pytest.mark.parametrize("words", ORDINARY, ids=" ".join)
def test_a_command_may_be_repeated_when_its_inputs_have_changed(
    caspr: Caller, folder: Path, words: tuple[str, ...]
) -> None:
    assert caspr(*words).code == 0
    first = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    (folder / "song" / "anna.conll").write_bytes(Path(SONG[1]).read_bytes())
    assert caspr(*words).code == 0
    written = [path for path in first if path.parent.name != "song"]
    assert written
    assert any(path.read_bytes() != first[path] for path in written)


@pytest.mark.parametrize(
    "words",
    [
        ("report", "song", "-o", "anna.txt"),
        ("agreement", "song", "--csv", "anna.txt"),
        ("adjudicate", "song", "--certificate", "anna.txt"),
    ],
)
def test_reports_and_tables_replace_no_annotations(
    caspr: Caller, folder: Path, words: tuple[str, ...]
) -> None:
    anna = folder / "anna.txt"
    held = (folder / "song" / "anna.conll").read_bytes()
    anna.write_bytes(held)
    assert "anna.txt: CaspR did not write this file" in caspr(*words).err
    assert anna.read_bytes() == held


def test_decisions_are_counted_as_everywhere_else(caspr: Caller, folder: Path) -> None:
    """A chain that was enforced at two mentions is one decision."""
    held = reviewed(caspr, folder, decided=False).decode()
    (folder / "review.conll").write_text(held.replace("\t(1)\n", "\t=(1)\n"))
    message = caspr.fails("adjudicate", "song", "--layout", "review", "-o", "review.conll")
    assert "this would lose the 1 decision in a review file" in message
    assert "gave 1 answer;" in caspr("report", "review.conll", "--methods", "-q").out
