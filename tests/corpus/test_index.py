"""Files with many documents: where each document is, and which files are not documents."""

import io
from pathlib import Path

import pytest

from caspr.corpus.job import DocumentPiece
from caspr.corpus.plan import Found, index
from caspr.formats.folders import are_in_folders, as_file, walk
from caspr.formats.format import Reading
from caspr.formats.registry import folder_format
from tests.corpus.corpora import document_text, write_project
from tests.formats.sound import FILES, put


def found(path: Path) -> tuple[list[Found], bytes]:
    """Return the documents of a file, and what was put into the spool."""
    spool = io.BytesIO()
    return list(index(path, path.name, spool, Reading())), spool.getvalue()


def test_column_files_are_cut_and_not_copied(tmp_path: Path) -> None:
    one, two = document_text("one", "ann"), document_text("two", "ann")
    documents, spool = found(put(tmp_path, "ann.conll", one + two))
    length, lines = len(one.encode()), one.count("\n")
    assert documents == [
        Found("one", "ann", DocumentPiece(0, length, 1, "conll")),
        Found("two", "ann", DocumentPiece(length, len(two.encode()), lines + 1, "conll")),
    ]
    assert spool == b""


def test_a_project_archive_names_its_annotators(tmp_path: Path) -> None:
    documents, spool = found(write_project(tmp_path / "p.zip"))
    assert [(one.document, one.annotator) for one in documents] == [("bär.txt", None), ("zoo", None)]
    for one in documents:
        assert one.piece is not None
        assert (one.piece.line, one.piece.format) == (0, "inception")
        assert spool[one.piece.offset :].startswith(b"PK")


def test_other_files_of_many_documents_are_read(tmp_path: Path) -> None:
    documents, spool = found(put(tmp_path, "x.jsonl", FILES["x.jsonl"]))
    assert documents == [Found("d", "x", DocumentPiece(0, len(spool), 0, ""))]


@pytest.mark.parametrize("name", ["x.ann", "x.gate", "x.tsv", "x.xmi", "x.json"])
def test_a_file_of_one_document_is_left_to_the_worker(tmp_path: Path, name: str) -> None:
    assert found(put(tmp_path, name, FILES[name])) == ([Found(None, None, None)], b"")


def test_files_that_belong_to_documents_are_no_documents(tmp_path: Path) -> None:
    names = {
        "a.ann": True,
        "a.txt": False,
        "b.txt": True,
        "annotation.conf": False,
        "visual.conf": False,
        "tools.conf": False,
        "kb_shortcuts.conf": False,
        "TypeSystem.xml": False,
        "a.xmi": True,
        "a.xmi.bak": False,
        "gate.xml": True,
        "deep/talk.mmax": True,
        "deep/common_paths.xml": False,
        "deep/Basedata/talk_words.xml": False,
        "deep/Basedata/words.dtd": False,
        "deep/Styles/default.xsl": False,
        "deep/Basedata/talk.conll": True,
    }
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert sorted(walk(tmp_path)) == sorted(name for name, is_document in names.items() if is_document)


def test_only_projects_may_be_folders() -> None:
    assert are_in_folders(["d1/ann/x.mmax", "d1/bob/x.mmax"])
    assert not are_in_folders(["d1/ann/x.ann", "d1/bob/x.ann"])
    assert as_file("d1/ann/x.ann") == "d1/ann/x.ann"


def test_an_unpacked_project_is_recognised(tmp_path: Path) -> None:
    assert folder_format(tmp_path) is None
    (tmp_path / "exportedproject.json").touch()
    assert folder_format(tmp_path) == "inception"
