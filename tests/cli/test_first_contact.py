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

TALES_FOLDER = EXAMPLES / "tales"
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
    assert f"{song}: this folder is not a project: give a review file" in outcome.err


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
    assert "gold.conll: this is inside the annotators' folder" in message
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
    assert f"{name}: this is inside the annotators' folder" in message
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
    assert "bear.ann: this file of annotations is beside the folders of annotators: move it into" in message
    assert "carla: no files of a known format in this folder" in caspr.fails(
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
        path = put(tmp_path, name, content)
        assert detect(path) == recognise(path)
    found = [path for path in EXAMPLES.rglob("*") if path.is_file() and recognise(path) is not None]
    assert len(found) > 40
    for path in found:
        assert detect(path) == recognise(path)


def test_a_mistyped_command_gets_a_suggestion(caspr: Caller) -> None:
    for word, like in {"adjudicte": "adjudicate", "Chek": "check", "convrt": "convert"}.items():
        outcome = caspr(word, "a.conll")
        assert outcome.code == 2
        assert f"there is no command '{word}': did you mean {like}?" in outcome.err
    assert "there is no command 'xyzzy': see caspr --help\n" in caspr("xyzzy").err


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
        "warning: 11 documents are not in the files of all annotators; in each, only those who "
        "have it count: 'd1', 'd2', 'd3', 'd4', 'd5' and 6 more",
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
    expected = "give those of two or more; 2 files not read: ben.docx (a PDF file), carla.docx (a PDF file)"
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
    assert "1 review file not read, being the result of an adjudication: review.conll" in out
    assert "1 file not read: weights.csv" in out
    assert out.endswith("1 document, 0 warnings\n")


def test_what_is_mistyped_gets_a_suggestion(caspr: Caller, song: Path) -> None:
    assert f"; did you mean {song / 'ben.conll'}?" in caspr.fails("check", song / "bne.conll", SONG[0])
    assert f"; did you mean {song}?" in caspr.fails("check", song.with_name("sogn"))
    assert f"; did you mean {song}?" in caspr.fails("check", song.with_name("sogn") / "ben.conll", SONG[0])
    assert "did you mean" not in caspr.fails("check", song / "quite-other.txt", SONG[0])
    mistyped = caspr("adjudicate", song, "--varaints").err
    assert "--variants" in mistyped
    assert "--prices" not in mistyped
    assert "there is no command 'help': write caspr adjudicate --help" in caspr("help", "adjudicate").err
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
    assert f"give the certificate first, caspr verify {proof} {gold}" in caspr.fails("verify", gold, proof)
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
    assert set(WRITTEN) == set(FORMATS) - {"potato"}
    for command in ("adjudicate", "convert", "redo"):
        assert "potato" not in caspr(command, "--help").out.split("--format")[0]


def brat(folder: Path, name: str, text: str, word: str = "Anna") -> Path:
    """Write a text and an annotation of its first word."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.txt").write_bytes(text.encode())
    (folder / f"{name}.ann").write_text(f"T1\tPER 0 {len(word)}\t{word}\n", encoding="utf-8")
    return folder / f"{name}.ann"


TALES = (
    "Anna slept. She dreamt of a bear that sang to her.",
    "Anna wrote a long letter. Nobody had ever heard of it before.",
)


def test_two_documents_in_one_folder_of_annotators_are_suspected(caspr: Caller, tmp_path: Path) -> None:
    for who in ("ann", "ben"):
        for number, text in enumerate(TALES):
            brat(tmp_path, f"{who}_{number}", text)
    message = caspr.fails("check", tmp_path)
    assert "these two look like different documents: make a folder for each annotator" in message
    words = (("a", "cat"), ("b", "dog"))
    files = [brat(tmp_path / who, "d", TALES[0].replace("bear", word)) for who, word in words]
    message = caspr.fails("check", *files)
    assert "d.txt, character 28: found token 'dog', expected 'cat'" in message
    assert "different documents" not in message


def test_a_word_that_a_mention_cuts_is_shown_whole_with_its_text_file(caspr: Caller, tmp_path: Path) -> None:
    files = [brat(tmp_path / who, "d", text, "Thie") for who, text in (("a", "Tier da"), ("b", "Thier da"))]
    assert "d.txt, character 0: found token 'Thier', expected 'Tier'" in caspr.fails("check", *files)


def test_signs_that_look_alike_are_named(caspr: Caller, tmp_path: Path) -> None:
    files = [make(tmp_path / "a.conll", "(1)", "(1)"), make(tmp_path / "b.conll", "(1)", "(1)")]
    for path, sign in zip(files, "'\N{RIGHT SINGLE QUOTATION MARK}", strict=True):
        path.write_text(path.read_text().replace("w1", f"don{sign}t", 1), encoding="utf-8")
    message = caspr.fails("check", *files)
    assert "(the signs \N{RIGHT SINGLE QUOTATION MARK} (U+2019) and ' (U+0027) differ)" in message


def test_a_folder_too_high_is_named(caspr: Caller, tmp_path: Path) -> None:
    for who in ("ann", "ben"):
        brat(tmp_path / "export" / who, "d", TALES[0])
    message = caspr.fails("check", tmp_path)
    assert "there is only one folder in it, which is the work of one annotator" in message
    assert f"did you mean {tmp_path / 'export'}?" in message
    assert caspr("check", tmp_path / "export").code == 0


def test_golds_in_place_of_annotators_are_named(caspr: Caller, tmp_path: Path) -> None:
    assert caspr("corpus", TALES_FOLDER, "-o", tmp_path / "golds", "-q").code == 0
    message = caspr.fails("report", tmp_path / "golds")
    assert "this is the gold of an adjudication, not the work of annotators" in message


def test_a_project_is_named_and_agreement_reads_its_annotators(caspr: Caller, tmp_path: Path) -> None:
    project = tmp_path / "project"
    assert caspr("corpus", TALES_FOLDER, "-o", project, "--layout", "project", "-q").code == 0
    for command in ("check", "settings", "weigh"):
        message = caspr.fails(command, project)
        assert "this is a project of review files: give the annotators' files" in message
        assert "give the annotators' files that it was made from" in message
    assert caspr("agreement", project, "-q").out == caspr("agreement", TALES_FOLDER, "-q").out


def test_agreement_reads_the_annotators_of_a_review_file(caspr: Caller, tmp_path: Path) -> None:
    path = tmp_path / "review.conll"
    assert caspr("adjudicate", *SONG, "--layout", "review", "-o", path, "-q").code == 0
    assert caspr("agreement", path, "-q").out == caspr("agreement", *SONG, "-q").out


def test_windows_line_ends_are_suspected(caspr: Caller, tmp_path: Path) -> None:
    files = [brat(tmp_path / who, "d", "\r\nAnna slept.") for who in "ab"]
    for path in files:
        path.write_text("T1\tPER 1 5\tAnna\n", encoding="utf-8")
    assert (
        "1 of these fit where they count as one: save the .txt file with Unix" in caspr("check", *files).out
    )


def test_an_empty_text_and_a_folder_of_texts_are_named(caspr: Caller, tmp_path: Path) -> None:
    path = brat(tmp_path / "a", "d", "")
    message = caspr.fails("check", path)
    assert f"{path.with_suffix('.txt')}: found an empty file, expected the text that d.ann" in message
    texts = tmp_path / "texts"
    texts.mkdir()
    for name in "ab":
        (texts / f"{name}.txt").write_text("Once upon a time there was a miller who had three sons. " * 5)
    message = caspr.fails("check", texts)
    assert (
        "2 files not read: a.txt (a text without annotations), b.txt (a text without annotations)" in message
    )


def test_folders_of_documents_with_the_same_words_are_told_by_the_names_inside(
    caspr: Caller, tmp_path: Path
) -> None:
    for document in ("d1", "d2"):
        (tmp_path / document).mkdir()
        for path in map(Path, SONG):
            text = path.read_text(encoding="utf-8").replace("(song)", f"({document})")
            (tmp_path / document / path.name).write_text(text, encoding="utf-8")
    out = caspr("check", tmp_path).out
    assert "d1: 31 tokens\n  anna" in out
    assert "2 documents" in out


def test_a_document_whose_files_name_annotators_is_called_like_its_folder(
    caspr: Caller, tmp_path: Path
) -> None:
    for who in ("anna", "ben"):
        brat(tmp_path / "tale", who, TALES[0])
    assert caspr("check", tmp_path / "tale").out.startswith("tale: ")
    assert (
        caspr("adjudicate", tmp_path / "tale", "--singletons", "vote", "-o", f"{tmp_path / 'gold'}/").code
        == 0
    )
    assert (tmp_path / "gold" / "tale.ann").is_file()
