"""What new users do: a folder for everything, files of other programs, words with typing errors."""

import json
import shutil
import warnings
import zipfile
from pathlib import Path

import pytest

import caspr as library
from caspr.formats import read
from caspr.formats.registry import FORMATS, WRITTEN, detect, recognise
from tests.cli.caller import EXAMPLES, SONG, Caller
from tests.cli.test_adjudicate import make
from tests.corpus.corpora import write_corpus
from tests.formats.sound import FILES, put

COMMANDS = ("adjudicate", "check", "agreement", "report", "encode")


@pytest.fixture
def song(tmp_path: Path) -> Path:
    """Return a folder with a file for each annotator."""
    return Path(shutil.copytree(EXAMPLES / "song", tmp_path / "song"))


def result(caspr: Caller, *words: object) -> str:
    """Return what a command prints as its result, which must not fail."""
    outcome = caspr(*words)
    assert outcome.code == 0, outcome
    return outcome.out


@pytest.mark.parametrize("command", COMMANDS)
def test_a_folder_is_as_good_as_its_files(caspr: Caller, song: Path, command: str) -> None:
    files = sorted(song.iterdir())
    assert result(caspr, command, song) == result(caspr, command, *files)


@pytest.mark.parametrize("command", ("adjudicate", "check", "agreement"))
@pytest.mark.parametrize("by", ("annotator", "document"))
def test_a_folder_of_folders(caspr: Caller, tmp_path: Path, command: str, by: str) -> None:
    names, annotators = ("one", "two"), ("ann", "bob", "eve")
    folder = write_corpus(tmp_path / by, names, by=by, annotators=annotators)
    together = write_corpus(tmp_path / "file", names, by="file", annotators=annotators)
    assert result(caspr, command, folder) == result(caspr, command, *sorted(together.iterdir()))


def test_redo_says_that_a_folder_is_no_review_file(caspr: Caller, song: Path) -> None:
    outcome = caspr("redo", song)
    assert (outcome.code, outcome.out) == (2, "")
    assert f"{song}: found a folder without caspr-project.json, expected a review file" in outcome.err


def test_a_certificate_is_verified_with_a_folder(caspr: Caller, song: Path, tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    assert caspr("adjudicate", song, "-o", tmp_path / "gold.conll", "--certificate", proof).code == 0
    assert "1 of 1 certificates verified" in result(caspr, "verify", proof, song)


def test_a_folder_of_files_with_several_annotators_each(caspr: Caller, tmp_path: Path) -> None:
    """A GATE document holds an annotation set for each annotator; its folder is no folder of annotators."""
    source = next((EXAMPLES / "formats/gate").glob("*.xml"))
    for name in ("one.xml", "two.xml"):
        (tmp_path / "docs").mkdir(exist_ok=True)
        shutil.copy(source, tmp_path / "docs" / name)
    assert len({annotation.annotator for annotation in read(source)}) > 1
    assert "2 documents" in result(caspr, "check", tmp_path / "docs")


def test_a_gold_standard_is_not_put_among_the_annotators(caspr: Caller, song: Path) -> None:
    message = caspr.fails("adjudicate", song, "-o", song / "gold.conll")
    assert "gold.conll: found an output in the folder of the annotators, expected another folder" in message
    assert not (song / "gold.conll").exists()
    assert caspr("adjudicate", song, "--layout", "review", "-o", song / "review.conll").code == 0
    assert "3 annotators" in caspr("agreement", song).out, "a review file is no annotator's"


@pytest.mark.parametrize(
    ("command", "option", "name"),
    [
        ("report", "-o", "report.html"),
        ("report", "--feedback", "feedback"),
        ("adjudicate", "--report", "report.html"),
        ("adjudicate", "--certificate", "proof.json"),
        ("agreement", "--csv", "agreement.csv"),
        ("agreement", "--latex", "agreement.tex"),
        ("settings", "--json", "settings.json"),
    ],
)
def test_other_results_are_not_put_among_the_annotators_either(
    caspr: Caller, song: Path, command: str, option: str, name: str
) -> None:
    message = caspr.fails(command, song, option, song / name)
    assert f"{name}: found an output in the folder of the annotators, expected another folder" in message
    assert not (song / name).exists()


def test_a_file_of_annotations_in_a_folder_of_its_own_is_told_where_to_go(caspr: Caller, song: Path) -> None:
    (song / "old").mkdir()
    shutil.copy(song / "anna.conll", song / "old")
    out = caspr("check", song).out
    assert "1 file not read: old/anna.conll; put it where the files of the other annotators are" in out


def test_one_file_beside_the_folders_of_annotators_is_named(caspr: Caller, tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / "formats/brat", tmp_path / "brat")
    for suffix in (".ann", ".txt"):
        shutil.move(tmp_path / f"brat/carla/bear{suffix}", tmp_path / "brat")
    message = caspr.fails("check", tmp_path / "brat")
    assert "bear.ann: found a file of annotations beside the folders of annotators, expected it in" in message
    assert "carla: found a folder without files of a known format" in caspr.fails(
        "check", *(tmp_path / "brat" / name for name in ("anna", "ben", "carla"))
    )


def office(path: Path, *parts: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for part in ("[Content_Types].xml", *parts):
            archive.writestr(part, "<x/>")
    return path


def test_files_of_other_programs_are_named(caspr: Caller, tmp_path: Path) -> None:
    table = tmp_path / "table.conll"
    table.write_text("#begin document (x);;\n1;John;(1)\n2;is;-\n3;he;(1)\n#end document;;\n")
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
    (tmp_path / "a.doc").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100))
    (tmp_path / "a.rtf").write_bytes(rb"{\rtf1\ansi John}")
    (tmp_path / "commas.csv").write_text("\ufeff1,John,(1)\n2,is,-\n3,he,(1)\n", encoding="utf-8")
    for path, words in {
        office(tmp_path / "a.docx", "_rels/.rels", "word/document.xml"): "a Word document",
        office(tmp_path / "a.xlsx", "xl/workbook.xml"): "an Excel workbook",
        tmp_path / "a.pdf": "a PDF file",
        tmp_path / "a.doc": "an old Word or Excel file",
        tmp_path / "a.rtf": "a text with layout (RTF)",
        table: "a table with semicolons between its columns",
        tmp_path / "commas.csv": "a table with commas between its columns",
    }.items():
        message = caspr.fails("check", SONG[0], path)
        assert message.startswith(f"{path}:1: found {words}, expected "), message
    assert "save it as text with tabs" in caspr.fails("check", SONG[0], table)


def test_no_file_of_a_format_we_read_is_taken_for_another_program_s(tmp_path: Path) -> None:
    for name, content in FILES.items():
        assert detect(put(tmp_path, name, content))
    found = [path for path in EXAMPLES.rglob("*") if path.is_file() and recognise(path) is not None]
    assert len(found) > 40
    for path in found:
        assert detect(path)


def test_a_mistyped_command_gets_a_suggestion(caspr: Caller) -> None:
    for word, like in {"adjudicte": "adjudicate", "Chek": "check", "convrt": "convert"}.items():
        outcome = caspr(word, "a.conll")
        assert outcome.code == 2
        assert f"found '{word}', expected a command: did you mean {like}?" in outcome.err
    assert "expected a command\n" in caspr("xyzzy").err


def documents(folder: Path, name: str, *titles: str) -> Path:
    parts = [make(folder / "x", "(1)", "(1)", name=title).read_text(encoding="utf-8") for title in titles]
    path = folder / f"{name}.conll"
    path.write_text("".join(parts), encoding="utf-8")
    return path


def test_documents_that_some_annotators_lack_are_one_line(caspr: Caller, tmp_path: Path) -> None:
    titles = [f"d{number}" for number in range(12)]
    files = [
        documents(tmp_path, "ann", *titles),
        documents(tmp_path, "bob", *titles),
        documents(tmp_path, "eve", "d0", "e1", "e2"),
    ]
    summary = tmp_path / "summary.json"
    outcome = caspr("adjudicate", *files, "-o", tmp_path / "gold.conll", "--json", summary)
    lines = [line for line in outcome.err.splitlines() if line.startswith("warning")]
    assert lines == [
        "warning: 11 documents are not in the files of all annotators; in each, only those count who "
        "have it: 'd1', 'd2', 'd3', 'd4', 'd5' and 6 more",
        "warning: 2 documents are in the files of one annotator only; a document needs two annotations, so "
        "they were left out: 'e1', 'e2'",
    ]
    codes = [finding["code"] for finding in json.loads(summary.read_text())["findings"]]
    assert codes == ["missing-annotation"] * 11 + ["single-annotation"] * 2, "programs get every document"
    assert caspr("check", *files).out.splitlines()[-1] == "12 documents, 2 warnings"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        library.adjudicate([library.read(path) for path in files])
    assert len(caught) == 2


@pytest.mark.parametrize("command", ("check", "adjudicate", "agreement", "report", "settings", "encode"))
def test_a_file_that_is_not_read_is_named(caspr: Caller, song: Path, command: str) -> None:
    (song / "finn.txt").write_text("It was a dark night. The boy came home.\nHe slept well.\n")
    (song / "README").write_text("about\n")
    outcome = caspr(command, song)
    assert outcome.code == 0
    assert "warning: " in outcome.out + outcome.err
    assert "1 file not read: finn.txt (a text without annotations); export it" in outcome.out + outcome.err
    assert "note: " in outcome.out + outcome.err
    assert "1 file not read: README" in outcome.out + outcome.err


def test_the_only_readable_file_is_not_alone(caspr: Caller, song: Path) -> None:
    for name in ("ben", "carla"):
        (song / f"{name}.conll").rename(song / f"{name}.docx")
        (song / f"{name}.docx").write_bytes(b"%PDF-1.7")
    expected = (
        "expected those of two or more; 2 files not read: ben.docx (a PDF file), carla.docx (a PDF file)"
    )
    assert expected in caspr.fails("check", song)


def test_what_is_beside_the_folders_of_annotators_is_named(caspr: Caller, tmp_path: Path) -> None:
    folder = write_corpus(tmp_path / "corpus", ("one", "two"), by="annotator", annotators=("ann", "bob"))
    (folder / "eve.rtf").write_bytes(b"{\\rtf1 A girl}")
    (folder / "ann" / "three.pdf").write_bytes(b"%PDF-1.7")
    out = result(caspr, "check", folder)
    assert "1 file not read: eve.rtf (a text with layout (RTF)); export it in a known format" in out
    assert "1 file not read: three.pdf (a PDF file)" in out
    assert out.endswith("2 documents, 2 warnings\n")


def test_review_files_and_tables_beside_annotators_are_noted(caspr: Caller, song: Path) -> None:
    (song / "review.conll").write_text("# caspr review: {}\n")
    (song / "weights.csv").write_text("annotator,omit,use\nanna,2,1\n")
    out = result(caspr, "check", song)
    assert "1 review file left out, as a result of an adjudication: review.conll" in out
    assert "1 file not read: weights.csv" in out
    assert out.endswith("1 document, 0 warnings\n")


def test_what_is_mistyped_gets_a_suggestion(caspr: Caller, song: Path) -> None:
    assert f"; did you mean {song / 'ben.conll'}?" in caspr.fails("check", song / "bne.conll", SONG[0])
    assert f"; did you mean {song}?" in caspr.fails("check", song.with_name("sogn"))
    assert f"; did you mean {song}?" in caspr.fails("check", song.with_name("sogn") / "ben.conll", SONG[0])
    assert "did you mean" not in caspr.fails("check", song / "quite-other.txt", SONG[0])
    mistyped = caspr("adjudicate", song, "--varaints").err
    assert "--variants" in mistyped
    assert "--certainty" not in mistyped
    assert "expected a command: write caspr adjudicate --help" in caspr("help", "adjudicate").err
    assert ".conllu (corefud)" in caspr.fails("convert", SONG[0], song.with_name("x.csv"))


def test_names_that_differ_in_capital_letters(caspr: Caller, song: Path) -> None:
    path = song / "ben.conll"
    path.write_text(path.read_text().replace("(song)", "(Song)"))
    hint = "; 'Song' and 'song' differ only in upper and lower case"
    assert result(caspr, "check", song).count(hint) == 2
    assert hint in caspr.fails("check", song / "anna.conll", path)


def test_words_without_annotations_are_named(caspr: Caller, tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("JONAS\nEmil writes and he\nsleeps\n")
    assert "words.txt:1: found a text without annotations" in caspr.fails("check", words, SONG[0])


def test_a_forgotten_option_is_named(caspr: Caller, song: Path, tmp_path: Path) -> None:
    gold = tmp_path / "gold.conll"
    assert "gold.conll: cannot read: No such file or directory; to write the gold standard there, put -o" in (
        caspr.fails("adjudicate", song, gold)
    )
    assert caspr("adjudicate", song, "-o", gold, "-q").code == 0
    assert "beside a folder of annotators; to write the gold standard there, put -o before it" in caspr.fails(
        "adjudicate", song, gold
    )


def test_annotations_are_not_written_under_the_name_of_a_word_document(
    caspr: Caller, song: Path, tmp_path: Path
) -> None:
    for name in ("gold.docx", "gold.PDF"):
        assert "the name of a file of another program" in caspr.fails(
            "adjudicate", song, "-o", tmp_path / name
        )
        assert not (tmp_path / name).exists()


def test_files_in_the_wrong_place_are_named(caspr: Caller, song: Path, tmp_path: Path) -> None:
    gold, proof = tmp_path / "gold.conll", tmp_path / "proof.json"
    assert caspr("adjudicate", song, "-o", gold, "--certificate", proof, "-q").code == 0
    assert f"the proof comes first, caspr verify {proof} {gold}" in caspr.fails("verify", gold, proof)
    assert "found the gold standard of an adjudication that is not in review layout" in caspr.fails(
        "redo", gold
    )


def test_check_names_every_file_that_cannot_be_read(caspr: Caller, song: Path) -> None:
    files = sorted(song.iterdir())
    for path in files[:2]:
        path.write_text(path.read_text().replace("(1)", "(1", 1))
    for given in ([song], files):
        outcome = caspr("check", *given)
        assert outcome.code == 2
        lines = outcome.err.splitlines()
        assert [line.split(":")[2].strip() for line in lines] == [str(path) for path in files[:2]]


def test_one_hyphen_in_place_of_two(caspr: Caller, song: Path) -> None:
    assert "two hyphens, --layout." in caspr("adjudicate", song, "-layout", "review").err


def test_words_of_options_may_have_capital_letters(caspr: Caller, song: Path, tmp_path: Path) -> None:
    review, gold = tmp_path / "review", tmp_path / "gold.ann"
    assert caspr("adjudicate", song, "--layout", "Review", "-o", review, "-q").code == 0
    assert review.read_text().startswith("# caspr review:")
    assert caspr("adjudicate", song, "--to", "Brat", "-o", gold, "-q").code == 0
    assert gold.exists()


def test_only_formats_that_are_written_are_offered(caspr: Caller, song: Path) -> None:
    assert set(WRITTEN) == {name for name, format in FORMATS.items() if not format.read_only}
    for command in ("adjudicate", "convert", "redo"):
        assert "potato" not in caspr(command, "--help").out.split("--format")[0]
