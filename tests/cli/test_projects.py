"""`redo` and `report` on a whole project: golds, one report, and only review files that change rewritten."""

import json
from pathlib import Path

import pytest

from caspr.formats import read
from caspr.formats.review_file.project import NAME, ProjectDocument, ProjectFile, project_text
from caspr.storage import FileLock
from tests.cli.caller import Caller
from tests.cli.test_redo import edit
from tests.instances import annotation
from tests.review.project.projects import NAMES, made
from tests.review.sessions import opened


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return made(tmp_path)


def review(project: Path, name: str) -> Path:
    return project / "documents" / f"{name}.conll"


def written(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith(".")}


def test_golds_in_a_folder_or_in_one_file(caspr: Caller, project: Path, tmp_path: Path) -> None:
    before = written(project / "documents")
    outcome = caspr("redo", project, "--gold", tmp_path / "golds", "--to", "jsonlines")
    assert outcome.code == 0
    assert outcome.err.endswith("0 review files rewritten, 3 unchanged\n")
    assert written(project / "documents") == before
    golds = sorted((tmp_path / "golds").iterdir())
    assert [path.name for path in golds] == sorted(f"{name}.jsonlines" for name in NAMES)
    caspr("redo", project, "--gold", tmp_path / "all.conll", "-q")
    apart = {one.document.title: one.chains for path in golds for one in read(path)}
    assert {one.document.title: one.chains for one in read(tmp_path / "all.conll")} == apart


def test_only_what_changes_is_rewritten(caspr: Caller, project: Path, tmp_path: Path) -> None:
    edit(review(project, "two"), {1: "=(7)", 3: "=(7)"})
    before = written(project / "documents")
    outcome = caspr("redo", project, "--strict", "--json", tmp_path / "summary.json")
    assert outcome.code == 0
    kept = f"old versions are kept beside them, the first as {review(project, 'two')}.1.bak"
    assert outcome.err.endswith(f"1 review file rewritten, 2 unchanged; {kept}\n")
    after = written(project / "documents")
    assert after.pop("two.conll.1.bak") == before["two.conll"]
    assert {name for name in before if before[name] != after[name]} == {"two.conll"}
    documents = json.loads((tmp_path / "summary.json").read_text())["documents"]
    assert sorted(one["name"] for one in documents) == sorted(NAMES)


def test_nothing_is_written_if_a_document_cannot_be(caspr: Caller, project: Path, tmp_path: Path) -> None:
    edit(review(project, "two"), {1: "=(7)", 3: "=(7)"})
    with FileLock(review(project, "two")):
        assert "two.conll" in caspr.fails("redo", project, "--gold", tmp_path / "golds", "-q")
    assert not (tmp_path / "golds").exists()
    edit(review(project, "one"), {1: "=(7"})
    assert "one.conll" in caspr.fails("redo", project, "--gold", tmp_path / "golds", "-q")
    assert not (tmp_path / "golds").exists()
    review(project, "one").unlink()
    assert "this file of 'one' is missing" in caspr.fails("redo", project, "-q")
    assert "redone in place" in caspr.fails("redo", project, "-o", tmp_path / "x.conll")
    assert "this folder is no project" in caspr.fails("redo", tmp_path)


def test_one_report_on_all_documents(caspr: Caller, project: Path, tmp_path: Path) -> None:
    edit(review(project, "two"), {1: "=(7)", 3: "=(7)"})
    outcome = caspr("report", project, "-o", tmp_path / "report.json", "--feedback", tmp_path / "pages", "-q")
    assert outcome.code == 0
    documents = json.loads((tmp_path / "report.json").read_text())["documents"]
    assert sorted(one["name"] for one in documents) == sorted(NAMES)
    [two] = [one for one in documents if one["name"] == "two"]
    assert "7" in [chain["id"] for chain in two["chain_list"]], "decisions count"
    assert sorted(path.name for path in (tmp_path / "pages").iterdir()) == [
        "ann.html",
        "bob.html",
        "eve.html",
    ]


def test_other_commands_say_how(caspr: Caller, project: Path, tmp_path: Path) -> None:
    words = ("convert", project, tmp_path / "x.jsonlines")
    assert "`caspr redo FILE --gold OUT` writes its gold standard" in caspr.fails(*words)
    assert "give the annotators' files that it was made from" in caspr.fails("weigh", project)


def test_golds_are_written_beside_a_page_on_which_only_numbers_differ(caspr: Caller, tmp_path: Path) -> None:
    """A chain keeps its number on the page; a redo would begin at 1 again, which changes no result."""
    path = tmp_path / "project" / "documents" / "doc.conll"
    path.parent.mkdir(parents=True)
    listed = ProjectFile((ProjectDocument("documents/doc.conll", "doc"),))
    (tmp_path / "project" / NAME).write_text(project_text(listed))
    chains = [[(1, 1), (2, 2)], [(3, 3), (4, 4)], [(5, 5), (6, 6)]]
    session = opened(path, [annotation(name, chains) for name in "ab"])
    session.do(0, {"do": "merge", "chains": ["1", "2"]}, 1)
    assert sorted(session.state(0)["chains"]) == ["1", "3"]
    before = path.read_bytes()
    outcome = caspr("redo", tmp_path / "project", "--gold", tmp_path / "golds")
    assert outcome.code == 0, outcome.err
    assert outcome.err.endswith("0 review files rewritten, 1 unchanged\n")
    assert path.read_bytes() == before
    assert (tmp_path / "golds" / "doc.conll").exists()
    session.do(0, {"do": "note", "text": "x"}, 2)
    session.close()
