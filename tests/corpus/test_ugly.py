"""Other files in folders of real projects harm no document, and are reported where it matters."""

import errno
import json
import os
import shutil
import sqlite3
import zipfile
from pathlib import Path

import pytest

from caspr.corpus.journal import Journal
from caspr.formats.folders import walk
from tests.cli.caller import Caller
from tests.corpus.corpora import golds, write_corpus, write_project

pytestmark = pytest.mark.usefixtures("without_workers")
BRUTE = ("--engine", "brute", "--processes", "1")
GOOD = ["a", "b", "c"]


def reason(output: Path, document: str) -> str:
    """Return why a document failed."""
    rows = json.loads((output / "summary.json").read_text())["documents"]
    return str(next(row["reason"] for row in rows if row["document"] == document))


def test_what_desktops_and_editors_leave_is_no_document(caspr: Caller, tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "in", GOOD)
    for name in (".DS_Store", "Thumbs.db", "a/._ann.conll", "a/desktop.ini", "__MACOSX/a/._ann.conll"):
        (corpus / name).parent.mkdir(parents=True, exist_ok=True)
        (corpus / name).write_bytes(b"\0\1")
    for name in ("a/ann.conll~", "a/bob.conll.bak", "a/#eve.conll#"):
        shutil.copy(corpus / "a/ann.conll", corpus / name)
    (corpus / "empty/below").mkdir(parents=True)
    os.mkfifo(corpus / "b/pipe.conll")
    outcome = caspr("corpus", corpus, "-o", tmp_path / "out", *BRUTE)
    assert outcome.code == 0, outcome
    assert outcome.err.startswith("3 documents\n")
    assert "  3 proven optimal" in outcome.err
    shutil.rmtree(corpus)
    write_corpus(corpus, GOOD)
    assert caspr("corpus", corpus, "-o", tmp_path / "clean", *BRUTE).code == 0
    assert golds(tmp_path / "out") == golds(tmp_path / "clean")


def test_links_that_lead_back_are_not_followed(caspr: Caller, tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "in", GOOD)
    elsewhere = write_corpus(tmp_path / "elsewhere", ["linked"])
    (corpus / "linked").symlink_to(elsewhere / "linked")
    (corpus / "a/up").symlink_to(corpus)
    (corpus / "a/here").symlink_to(".")
    (corpus / "b/gone.conll").symlink_to("nowhere")
    (corpus / "c/self.conll").symlink_to("self.conll")
    outcome = caspr("corpus", corpus, "-o", tmp_path / "out", *BRUTE)
    assert outcome.code == 1, outcome
    assert set(golds(tmp_path / "out")) == {"a.conll", "linked.conll"}
    assert reason(tmp_path / "out", "b").startswith("b/gone.conll: cannot read: No such file")
    assert reason(tmp_path / "out", "c").startswith("c/self.conll: cannot read: Too many levels")


def test_folders_that_link_to_each_other_come_to_an_end(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "in", GOOD)
    (corpus / "a/x").symlink_to(corpus / "b")
    (corpus / "b/y").symlink_to(corpus / "a")
    assert len(list(walk(corpus))) == 9 + 4 * 3


def test_names_that_are_not_text_fail_alone(caspr: Caller, tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "in", GOOD)
    bad = corpus / os.fsdecode(b"d\xff")
    shutil.copytree(corpus / "a", bad)
    (corpus / "c" / os.fsdecode(b"\xe4nn.conll")).touch()
    outcome = caspr("corpus", corpus, "-o", tmp_path / "out", *BRUTE)
    assert outcome.code == 1, outcome
    assert set(golds(tmp_path / "out")) == {"a.conll", "b.conll"}
    expected = "this file name is not UTF-8: rename it"
    assert reason(tmp_path / "out", "d\\xff") == f"d\\xff/ann.conll: {expected}"
    assert reason(tmp_path / "out", "c") == f"c/\\xe4nn.conll: {expected}"
    assert expected in caspr.fails("corpus", corpus / "c", "-o", tmp_path / "other", "--by", "file")


def test_odd_names_stay_themselves(caspr: Caller, tmp_path: Path) -> None:
    names = ["with space", "tab\there", "quote'\"", "-dash", "Bär", "e\u0301", "%41", "Doc", "doc", "DOC"]
    corpus = write_corpus(tmp_path / "in", names)
    shutil.copytree(corpus / "doc", corpus / "new\nline")
    (corpus / "new\nline/bob.conll").write_text("nonsense \x1b[2J\n")
    outcome = caspr("corpus", corpus, "-o", tmp_path / "out", *BRUTE)
    assert len(golds(tmp_path / "out")) == len(names)
    assert "failed: new\\nline: new\\nline/bob.conll:1: " in outcome.err
    assert "\x1b" not in outcome.err


def test_names_that_one_disk_does_not_tell_apart_are_refused(caspr: Caller, tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "in", ["a", "Ärger", "ärger"])
    output = tmp_path / "out"
    output.mkdir()
    # As on a disk that takes large and small letters for the same.
    (output / ".CASPR-JOURNAL.SQLITE").touch()
    line = caspr.fails("corpus", corpus, "-o", output)
    assert "documents 'Ärger' and 'ärger' would be one file on this disk" in line
    shutil.rmtree(corpus / "Ärger")
    assert caspr("corpus", corpus, "-o", output, *BRUTE).code == 0


def test_an_unpacked_project_is_read_like_its_archive(caspr: Caller, tmp_path: Path) -> None:
    packed = write_project(tmp_path / "project.zip")
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(tmp_path / "in")
    outcome = caspr("corpus", tmp_path / "in", "-o", tmp_path / "out")
    assert outcome.code == 0
    assert outcome.err == caspr("corpus", packed, "-o", tmp_path / "packed").err


def test_a_second_file_of_an_annotator_is_a_warning(caspr: Caller, tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "in", GOOD)
    (corpus / "a/ann.conllu").write_text("another format\n")
    (corpus / "b/ann.txt").write_text("only the text\n")
    outcome = caspr("corpus", corpus, "-o", tmp_path / "out", *BRUTE)
    assert outcome.code == 0
    assert "; 1 warning\n" in outcome.err
    assert "warning: a: a/ann.conllu: ann has two files: a/ann.conll is read" in outcome.err
    assert "ann has two files: a/ann.conll is read, a/ann.conllu is not" in (
        tmp_path / "out/summary.json"
    ).read_text(encoding="utf-8")
    assert caspr("corpus", corpus, "-o", tmp_path / "out", *BRUTE, "--strict").code == 1


def test_files_beside_the_folders_are_a_warning(caspr: Caller, tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "in", GOOD)
    (corpus / "README").write_text("about this corpus")
    for number, given in enumerate(((), ("--by", "document"))):
        outcome = caspr("corpus", corpus, "-o", tmp_path / f"out{number}", *BRUTE, *given)
        assert outcome.code == 0
        assert "warning: not read: 1 file beside the folders of each document (first: README)" in outcome.err


def test_guidelines_in_the_folder_of_an_annotator_are_no_document(caspr: Caller, tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "in", GOOD, by="annotator")
    (corpus / "ann/Guidelines.docx").write_bytes(b"PK\x03\x04[Content_Types].xml word/")
    outcome = caspr("corpus", corpus, "-o", tmp_path / "out", *BRUTE)
    assert outcome.code == 0
    words = "not read: 1 file of other programs in annotators' folders (first: ann/Guidelines.docx)"
    assert f"warning: {words}" in outcome.err
    (corpus / "bob/Guidelines.docx").write_bytes(b"PK\x03\x04[Content_Types].xml word/")
    outcome = caspr("corpus", corpus, "-o", tmp_path / "both", *BRUTE)
    assert outcome.code == 1, "what two annotators have may be their work"
    assert "failed: Guidelines: ann/Guidelines.docx:1: found a Word document" in outcome.err


@pytest.mark.parametrize("document", ["good", "news/good"])
def test_a_file_that_cannot_be_written_fails_alone(caspr: Caller, tmp_path: Path, document: str) -> None:
    corpus = write_corpus(tmp_path / "in", [*GOOD, document])
    output = tmp_path / "out"
    output.mkdir()
    if "/" in document:
        (output / "news").write_text("in the way")
    else:
        (output / "good.conll").mkdir()
    outcome = caspr("corpus", corpus, "-o", output, *BRUTE)
    assert outcome.code == 1, outcome
    assert f"failed: {document}: {output}" in outcome.err
    assert {"a.conll", "b.conll", "c.conll"} <= set(golds(output))
    (output / "news").unlink() if "/" in document else (output / "good.conll").rmdir()
    outcome = caspr("corpus", corpus, "-o", output, *BRUTE)
    assert outcome.err.startswith("4 documents, 3 taken over")
    assert f"{document}.conll" in golds(output)


def test_a_full_disk_ends_the_run_in_one_line(
    caspr: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = write_corpus(tmp_path / "in", GOOD)

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        line = caspr.fails("corpus", corpus, "-o", tmp_path / "out", *BRUTE)
    assert "cannot write: No space left on device" in line
    assert caspr("corpus", corpus, "-o", tmp_path / "out", *BRUTE).code == 0
    assert len(golds(tmp_path / "out")) == 3


def test_on_a_full_disk_nobody_is_told_to_delete_the_journal(tmp_path: Path) -> None:
    full = sqlite3.OperationalError("database or disk is full")
    spoilt = sqlite3.DatabaseError("file is not a database")
    journal = Journal(tmp_path)
    assert "cannot write there: database or disk is full" in journal._message(full)
    assert "delete it" not in journal._message(full)
    assert "delete it to do everything again" in journal._message(spoilt)
    journal.close()
