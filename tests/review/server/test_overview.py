"""The overview: what documents share and where they differ, who did what, annotators, all results at once."""

import io
import re
import zipfile
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from caspr.formats import read
from caspr.formats.review_file.project import read_project
from caspr.review.project.project import Project, SingleFile
from caspr.review.server.guard import Address
from caspr.review.server.overview import by_person, differing, same_everywhere
from caspr.review.server.routes import make_app
from tests.corpus.corpora import document_text
from tests.corpus.processes import until
from tests.review.project.projects import made, opened
from tests.review.project.test_team import ANN, PUBLIC, Browser
from tests.review.sessions import paper, reopened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return made(tmp_path)


@pytest.fixture
def project(folder: Path) -> Iterator[Project]:
    project = opened(folder)
    yield project
    project.close()


@pytest.fixture
def ann(project: Project) -> Browser:
    return Browser(make_app(project, [ANN], Address(8765, PUBLIC)), ANN)


def row(**values: Any) -> dict[str, Any]:
    plain = {
        "status": "open",
        "by": "",
        "at": "",
        "holder": "",
        "assigned": "",
        "answers": 0,
        "asked": None,
        "answered": None,
        "decisions": 0,
        "chains": None,
        "cost": 3,
        "value": None,
        "optimal": True,
        "tokens": 8,
        "annotators": ("ann", "bob"),
        "people": {},
        "index": 0,
        "title": "one",
    }
    return {**plain, **values}


def test_what_is_the_same_everywhere_is_said_once() -> None:
    rows = [row(), row(tokens=9, assigned="Ann"), row(value=4)]
    assert differing(rows) == {"tokens", "assigned", "cost"}
    assert same_everywhere(rows) == ["2 annotators", "proven optimal"]
    assert "proven optimal with the decisions made" in same_everywhere([row(), row(decisions=2)])
    assert same_everywhere([row(assigned="Bob"), row(assigned="Bob", optimal=None)]) == [
        "assigned to Bob",
        "2 annotators",
    ]
    assert "2 annotators each" in same_everywhere([row(), row(annotators=("cem", "dan"))])


def test_each_person_has_a_line() -> None:
    rows = [
        row(assigned="Ann", status="done", people={"Ann": 3, "editor": 1}),
        row(assigned="Ann", holder="Bob", people={"Ann": 1, "Cem": 2}),
    ]
    said = [
        [one[name] for name in ("name", "assigned", "done", "answers")] for one in by_person(rows, ["Bob"])
    ]
    assert said == [["Bob", 0, 0, 0], ["Ann", 2, 1, 4], ["Cem", 0, 0, 2], ["editor", 0, 0, 1]]
    assert by_person(rows, ["Bob"])[0]["working"] == [rows[1]]


def test_answers_are_counted_alike_closed_and_open(project: Project, folder: Path) -> None:
    session, _ = project.at(0)
    for version, operation in enumerate(({"do": "absent", "mentions": ["1-1"]}, {"do": "done"}), 1):
        session.do(0, operation, version, "Béa")
    before = project.summaries()[0]
    project.close()
    again = opened(folder)
    after = again.summaries()[0]
    again.close()
    assert (before["answers"], before["people"]) == (after["answers"], after["people"]) == (1, {"Béa": 1})


def test_the_proof_is_shown_as_the_corpus_found_it(project: Project, folder: Path) -> None:
    assert [one["optimal"] for one in project.summaries()] == [True] * 3
    project.at(1)[0].history(0)
    assert project.summaries()[1]["optimal"] is True
    project.close()
    path = folder / read_project(folder).documents[0].file
    path.write_bytes(path.read_bytes().replace(b"one-1", b"one-11"))
    again = opened(folder)
    assert [one["optimal"] for one in again.summaries()] == [None, True, True]
    again.close()


def test_what_is_not_counted_yet_is_no_number(ann: Browser, project: Project) -> None:
    page = ann.ask("GET", "/").text
    assert "mentions to decide: …" in page and "data-counting" in page
    project.start()
    until(lambda: all(row["asked"] is not None for row in project.summaries()))
    page = ann.ask("GET", "/").text
    assert re.search(r"[1-9]\d* mentions to decide\.", page) and "data-counting" not in page


def test_many_documents_are_assigned_at_once(ann: Browser, project: Project) -> None:
    assert ann.post("/assign", {"who": "Bob", "documents": [0, 2]}).status_code == 200
    assert project.file.assigned == {project.rows[0].file: "Bob", project.rows[2].file: "Bob"}
    page = ann.ask("GET", "/").text
    assert page.count("<bdi>Bob</bdi>") == 3
    assert "0 of 2" in page


def test_all_results_in_an_archive(ann: Browser, project: Project, tmp_path: Path) -> None:
    ann.post("/d/1/do", {"op": {"do": "done"}, "version": 1})
    answer = ann.ask("GET", "/golds?format=jsonlines")
    archive = zipfile.ZipFile(io.BytesIO(answer.content))
    assert archive.namelist() == ["about.txt", "one.jsonlines", "three.jsonlines", "two.jsonlines"]
    about = archive.read("about.txt").decode()
    assert about.startswith("3 gold standards of project as jsonlines")
    assert "2 documents not marked as done: one, two" in about
    archive.extract("two.jsonlines", tmp_path)
    [gold] = read(tmp_path / "two.jsonlines")
    history = project.at(2)[0].history(0)
    assert gold.chains == history.solver.gold(history.snapshot).chains
    assert ann.ask("GET", "/golds?format=nothing").status_code == 422


def test_a_document_called_about_keeps_its_text(tmp_path: Path) -> None:
    project = opened(made(tmp_path, ["About", "two"]))
    try:
        ann = Browser(make_app(project, [ANN], Address(8765, PUBLIC)), ANN)
        archive = zipfile.ZipFile(io.BytesIO(ann.ask("GET", "/golds?format=brat").content))
    finally:
        project.close()
    assert len({name.lower() for name in archive.namelist()}) == len(archive.namelist()) == 5
    assert archive.read("_about.txt").startswith(b"2 gold standards")


def test_report_and_paragraph(ann: Browser) -> None:
    assert "three" in ann.ask("GET", "/report").text
    ann.post("/d/0/do", {"op": {"do": "absent", "mentions": ["1-1"]}, "version": 1})
    report = ann.ask("GET", "/report").text
    assert "An adjudicator (Ann) gave 1 answer in 1 of 3 documents; all else was merged" in report
    assert "An adjudicator (Ann) gave 1 answer; all else was" in ann.ask("GET", "/d/0/report").text
    paragraph = ann.ask("GET", "/methods").text
    assert "in 1 of 3 documents; all else was merged automatically." in paragraph
    assert "\\cite" in ann.ask("GET", "/methods?format=latex").text


def changed(ann: Browser, **values: object) -> dict[str, Any]:
    answer = ann.post("/annotators", values)
    return {"status": answer.status_code, **answer.json()}


def test_annotators_are_removed_renamed_and_corrected_and_that_is_undone(
    ann: Browser, project: Project
) -> None:
    said = changed(ann, do="remove", name="eve")
    assert said["lines"] == ["one: eve removed", "three: eve removed", "two: eve removed"]
    assert [one["annotators"] for one in project.summaries()] == [("ann", "bob")] * 3
    page = ann.ask("GET", "/").text
    assert 'data-annotator="eve"' not in page
    ann.post("/d/1/do", {"op": {"do": "note", "text": "since"}, "version": 2})
    undone = changed(ann, do="undo", documents=said["documents"])
    assert undone["lines"] == ["three: something has been done since: use Undo on its page"]
    assert [len(one["annotators"]) for one in project.summaries()] == [3, 2, 3]
    hostile = "<b>&\u202eeve"
    assert changed(ann, do="rename", name="ann", to=hostile)["status"] == 422, "it turns the line around"
    assert changed(ann, do="rename", name="ann", to="<b>Änn")["lines"][0] == "one: ann renamed <b>Änn"
    assert 'data-annotator="&lt;b&gt;Änn"' in ann.ask("GET", "/").text


def test_corrected_files_ask_whose_they_are(ann: Browser, project: Project) -> None:
    text = document_text("one", "eve").replace("(2)", "-")
    files = {"../../eve_v2.conll": b64encode(text.encode()).decode()}
    said = changed(ann, do="add", name="eve_v2", files=files)
    assert (said["old"], said["new"]) == ("eve", "eve_v2")
    assert all(len(one["annotators"]) == 3 for one in project.summaries())
    said = changed(ann, do="add", name="eve", files=files, certain=True)
    assert (said["lines"], said["documents"]) == (["one: eve corrected"], [0])


def test_files_of_other_documents_are_named(ann: Browser, project: Project) -> None:
    files = {
        f"{name}.conll": b64encode(document_text(name, "zoe").encode()).decode() for name in ("one", "four")
    }
    said = changed(ann, do="add", name="zoe", files=files, certain=True)
    assert said["lines"] == ["one: zoe added", "not in project: 1 document (first: four)"]
    del files["one.conll"]
    said = changed(ann, do="add", name="zoe", files=files, certain=True)
    assert said["lines"] == ["not in project: 1 document (first: four)"]


def test_two_files_of_one_name_are_not_taken_for_one(ann: Browser, project: Project) -> None:
    content = b64encode(document_text("one", "zoe").encode()).decode()
    said = changed(ann, do="add", name="zoe", files={"a/x.conll": content, "b/x.conll": content})
    assert said["status"] == 422
    assert "'x.conll' cannot be used as a file" in said["error"]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"do": "remove", "name": "dora"}, "there is no annotator 'dora'"),
        ({"do": "remove"}, "expected a name"),
        ({"do": "add", "name": "x", "files": {}}, "found no files"),
        ({"do": "add", "name": "x", "files": {"a.conll": "?"}}, "'a.conll' cannot be used as a file"),
        ({"do": "add", "name": "x", "files": {"a.conll": "eHl6"}}, "a.conll"),
        ({"do": "add", "name": "", "files": {"a.conll": "eHl6"}}, "is not a name"),
        ({"do": "undo", "documents": [7.5]}, "found no documents"),
    ],
)
def test_what_makes_no_sense_is_refused(ann: Browser, project: Project, values: Any, said: str) -> None:
    answer = ann.post("/annotators", values)
    assert answer.status_code == 422
    assert said in answer.json()["error"]
    assert "/tmp" not in answer.json()["error"]
    assert project.steps() == []


def test_blind_adjudicators_see_no_annotators(project: Project) -> None:
    blind = Browser(make_app(project, [ANN], Address(8765, PUBLIC), blind=True), ANN)
    page = blind.ask("GET", "/").text
    assert "eve" not in page
    assert blind.post("/annotators", {"do": "remove", "name": "eve"}).status_code == 422
    for path in ("/report", "/methods"):
        assert blind.ask("GET", path).status_code == 422
    assert blind.ask("GET", "/golds").status_code == 200


def test_one_document_has_an_overview_too(tmp_path: Path) -> None:
    session = paper(tmp_path / "review.conll")
    ann = Browser(make_app(SingleFile(session), [ANN], Address(8765, PUBLIC)), ANN)
    assert 'href="/?show=all"' in ann.ask("GET", "/d/0/").text
    assert ann.ask("GET", "/").status_code == 303
    page = ann.ask("GET", "/?show=all").text
    assert page.count("data-annotator=") == 4
    assert "data-choose" not in page, "a file alone has no place for who is to do it"
    assert changed(ann, do="remove", name="a")["lines"] == ["doc: a removed"]
    session.close()
    assert len(reopened(tmp_path / "review.conll").state(0)["annotators"]) == 3
