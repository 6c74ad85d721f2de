"""Projects: opened without reading everything, written one file at a time, never losing what was decided."""

import asyncio
import json
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from caspr.corpus.outputs import is_decided
from caspr.errors import FormatError, InputError
from caspr.formats.review_file.project import NAME, read_project
from caspr.review.documents import ReviewDocument
from caspr.review.project import project as module
from caspr.review.project.project import INDEX, Index, Project, first_row
from caspr.review.server.guard import Address, Keys
from caspr.review.server.routes import make_app
from caspr.review.session import ReviewSession
from caspr.storage import stamp_of
from tests.cli.caller import Caller
from tests.corpus.processes import until
from tests.review.project.projects import NAMES, made, opened

HOST = "http://127.0.0.1:8765"
KEYS = Keys("the-token", "the-csrf")
NOTES = 15


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("made"))


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "project"))


@pytest.fixture
def project(folder: Path) -> Iterator[Project]:
    one = opened(folder)
    yield one
    one.close()


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((folder / "documents").glob("*.conll"))}


def act(project: Project, number: int, who: str = "", **operation: object) -> dict[str, Any]:
    session, inner = project.at(number)
    return session.do(inner, operation, session.history(inner).version, who)


def first_answer(project: Project, number: int) -> dict[str, Any]:
    history = project.at(number)[0].history(0)
    question = history.queue.open(history.snapshot)[0]
    operation: dict[str, Any] = history.queue.card(question, history.snapshot)["choices"][0]["answer"]
    return operation


def test_a_corpus_becomes_a_project(folder: Path) -> None:
    listed = read_project(folder)
    assert [one.title for one in listed.documents] == sorted(NAMES)
    assert all((folder / one.file).is_file() for one in listed.documents)
    assert [one.annotators for one in listed.documents] == [3, 3, 3]


def test_nothing_is_solved_or_parsed_on_opening(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*given: object, **more: object) -> None:
        raise AssertionError("a document was opened")

    monkeypatch.setattr(ReviewSession, "open", fail)
    monkeypatch.setattr(ReviewDocument, "open", fail)
    monkeypatch.setattr(module, "read_documents", fail)
    project = opened(folder)
    rows = project.summaries()
    project.close()
    assert [(row["title"], row["status"], row["tokens"]) for row in rows] == [
        (name, "open", 8) for name in sorted(NAMES)
    ]


def test_a_click_writes_one_file_and_looks_at_no_other(
    project: Project, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the number of documents, an operation reads and writes only its own."""
    before = files(folder)
    listed = (folder / NAME).read_bytes()
    session, _ = project.at(1)
    session.state(0)
    touched: set[str] = set()
    real = Path.open

    def noted(self: Path, *given: Any, **more: Any) -> Any:
        touched.add(self.name)
        return real(self, *given, **more)

    monkeypatch.setattr(Path, "open", noted)
    act(project, 1, **first_answer(project, 1))
    monkeypatch.undo()
    own = Path(project.rows[1].file).name
    assert {name for name in touched if "conll" in name} <= {own, f".{own}.history.jsonl"}
    after = files(folder)
    assert [name for name in after if after[name] != before[name]] == [own]
    assert (folder / NAME).read_bytes() == listed


def test_status_progress_and_assignment(project: Project, folder: Path) -> None:
    act(project, 0, "Bob", **first_answer(project, 0))
    act(project, 1, "Cem", do="done")
    project.assign([2], "  Dora  Ü ")
    rows = project.summaries()
    assert [(row["status"], row["by"], row["assigned"]) for row in rows] == [
        ("in progress", "Bob", ""),
        ("done", "Cem", ""),
        ("open", "", "Dora Ü"),
    ]
    assert rows[0]["answered"] > 0
    assert rows[0]["at"].startswith("20")
    project.close()
    again = opened(folder)
    kept = again.summaries()
    names = ("status", "by", "at", "assigned", "decisions", "asked", "answered", "answers", "stake", "value")
    assert [[row[name] for name in names] for row in kept[:2]] == [
        [row[name] for name in names] for row in rows[:2]
    ]
    (folder / ".caspr-index.json").unlink()
    again.reload()
    assert [(row["status"], row["by"]) for row in again.summaries()] == [
        ("in progress", "Bob"),
        ("done", "Cem"),
        ("open", ""),
    ]
    again.assign([2], "")
    assert read_project(folder).assigned == {}
    again.close()


def test_questions_are_counted_in_the_background(project: Project, folder: Path) -> None:
    assert [row["asked"] for row in project.summaries()] == [None] * 3
    project.start()
    until(lambda: all(row["asked"] is not None for row in project.summaries()))
    project.close()
    assert all(
        Index(folder).apply(first_row(folder, one)).asked is not None
        for one in read_project(folder).documents
    )


def test_only_some_documents_stay_open(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_OPEN", 1)
    project = opened(folder)
    act(project, 0, **first_answer(project, 0))
    version = project.at(0)[0].history(0).version
    for number in (1, 2):
        project.at(number)[0].state(0)
    assert not list((folder / "documents").glob(f".{Path(project.rows[0].file).name}.lock"))
    again, _ = project.at(0)
    assert again.history(0).version == version, "a page that was left open goes on"
    assert again.state(0)["undo"] is not None
    project.watch(lambda number: number == 0)
    for number in (1, 2):
        project.at(number)
    assert project.at(0)[0] is again
    project.close()


def test_documents_in_use_at_once_are_not_closed_under_an_operation(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More documents than stay open, each asked for by its own thread, without a page that watches."""
    monkeypatch.setattr(module, "MOST_OPEN", 1)
    project = opened(folder)
    app = make_app(project, [KEYS], Address(8765))

    def work(number: int) -> list[int]:
        return asyncio.run(notes(app, number))

    with ThreadPoolExecutor(3) as threads:
        answered = list(threads.map(work, range(3)))
    assert {status for statuses in answered for status in statuses} == {200}
    for number in range(3):
        assert len(project.at(number)[0].state(0)["notes"]) == NOTES
    project.close()


async def notes(app: Any, number: int) -> list[int]:
    """Write notes as a page does that knows the version it was answered last."""
    headers = {"X-CSRF": KEYS.csrf, "Origin": HOST, "Sec-Fetch-Site": "same-origin"}
    cookies = {"caspr-8765": KEYS.token}
    statuses = []
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url=HOST, cookies=cookies) as client:
        version = (await client.get(f"/d/{number}/state")).json()["version"]
        for _ in range(NOTES):
            asked = {"version": version, "op": {"do": "note", "text": "x"}}
            answer = await client.post(f"/d/{number}/do", json=asked, headers=headers)
            statuses.append(answer.status_code)
            version = answer.json().get("version", version)
    return statuses


def test_a_document_that_was_edited_while_it_was_closed_is_another_version(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_OPEN", 1)
    project = opened(folder)
    version = project.at(0)[0].history(0).version
    for number in (1, 2):
        project.at(number)[0].state(0)
    path = folder / project.rows[0].file
    path.write_text(
        path.read_text().replace("#begin", '# caspr note: {"mention": null, "text": "y"}\n#begin')
    )
    assert project.at(0)[0].history(0).version > version
    project.close()


@pytest.mark.parametrize("counts", [7, "x", [], None, {"asked": "x"}, {"close": [1]}, {"value": {}}])
@pytest.mark.parametrize("stamp", [None, 7, [1], "abc"])
def test_an_index_of_wrong_types_is_counted_again(folder: Path, counts: object, stamp: object) -> None:
    listed = read_project(folder)
    path = folder / listed.documents[0].file
    stamps = stamp_of(path) if stamp is None else stamp
    (folder / INDEX).write_text(json.dumps({listed.documents[0].file: [stamps, counts]}))
    project = opened(folder)
    browser = httpx.ASGITransport(make_app(project, [KEYS], Address(8765)))
    assert asyncio.run(asked(browser, "/")).status_code == 200
    project.close()


async def asked(transport: httpx.ASGITransport, path: str) -> httpx.Response:
    cookies = {"caspr-8765": KEYS.token}
    async with httpx.AsyncClient(transport=transport, base_url=HOST, cookies=cookies) as client:
        return await client.get(path)


def test_an_index_that_is_nested_deeply_is_counted_again(folder: Path) -> None:
    (folder / INDEX).write_text("[" * 100_000)
    opened(folder).close()


def test_a_name_with_a_control_character_is_refused(folder: Path) -> None:
    text = (folder / NAME).read_text()
    (folder / NAME).write_text(text.replace("documents/one.conll", "documents/o\\u0000ne.conll"))
    with pytest.raises(FormatError, match="below the folder"):
        opened(folder)


def test_two_cannot_open_one_project_nor_one_of_its_documents(project: Project, folder: Path) -> None:
    with pytest.raises(InputError, match="open in another"):
        opened(folder)
    session, _ = project.at(0)
    from caspr.review.session import open_review

    with pytest.raises(InputError, match="open in another"):
        open_review(session.store.path, lambda settings: settings)


def test_running_the_corpus_again_never_touches_files_with_decisions(tmp_path: Path) -> None:
    folder = made(tmp_path)
    project = opened(folder)
    act(project, 0, "Bob", **first_answer(project, 0))
    act(project, 1, "Bob", do="note", text="only a note")
    project.assign([2], "Ann")
    project.close()
    before = files(folder)
    (tmp_path / "corpus" / "eve" / "one.conll").unlink()
    for name in NAMES:  # a fourth annotator: every document is done again
        made(tmp_path, [name], ("dora",))
    made(tmp_path)
    after = files(folder)
    changed = [name for name in after if after[name] != before[name]]
    assert changed == [Path(read_project(folder).documents[2].file).name]
    assert b"dora" in after[changed[0]]
    assert read_project(folder).assigned == {read_project(folder).documents[2].file: "Ann"}
    assert not list(folder.rglob("*.bak"))


def test_the_corpus_waits_while_the_project_is_reviewed(tmp_path: Path) -> None:
    folder = made(tmp_path)
    project = opened(folder)
    with pytest.raises(InputError, match="open in another"):
        made(tmp_path)
    project.close()
    made(tmp_path)


def test_what_counts_as_decided(tmp_path: Path, folder: Path) -> None:
    path = folder / read_project(folder).documents[0].file
    assert not is_decided(path)
    text = path.read_text()
    for change in (
        ("#begin", "# caspr absent: 1-1\n#begin"),
        ("#begin", '# caspr done: by "Ann" at 2026-11-17T09:30:05Z\n#begin'),
        ("\t-\n", "\t=-\n"),
        ("#begin", "#bogus"),
    ):
        path.write_text(text.replace(*change, 1))
        assert is_decided(path), change
    assert not is_decided(tmp_path / "none")


@pytest.mark.parametrize(
    "content",
    [
        "[]",
        "{",
        '{"version": 2, "documents": []}',
        '{"version": 1, "documents": {}}',
        '{"version": 1, "documents": [{"title": "x"}]}',
        '{"version": 1, "documents": [{"file": "../x.conll"}]}',
        '{"version": 1, "documents": [{"file": "/etc/passwd"}]}',
        '{"version": 1, "documents": [{"file": "c:\\\\x"}]}',
    ],
)
def test_malformed_project_files_are_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / NAME).write_text(content)
    with pytest.raises(FormatError):
        opened(tmp_path)
    assert not list(tmp_path.glob(".*.lock"))


def test_a_missing_or_faulty_document_does_not_stop_the_others(folder: Path) -> None:
    listed = read_project(folder).documents
    (folder / listed[0].file).unlink()
    (folder / listed[1].file).write_text("rubbish")
    project = opened(folder)
    project.start()
    assert project.summaries()[0]["status"] == "missing"
    for number in (0, 1):
        with pytest.raises((InputError, FormatError)):
            project.at(number)
    act(project, 2, **first_answer(project, 2))
    project.close()


def test_history_over_all_documents(project: Project) -> None:
    act(project, 0, "Bob", do="note", text="x")
    act(project, 2, "Cem", do="note", text="y")
    steps = project.steps()
    assert [(one["by"], one["document"], one["label"]) for one in steps] == [
        ("Bob", "one", "a note"),
        ("Cem", "two", "a note"),
    ]
    assert project.steps("2999-01-01") == []


def test_the_command_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    call = Caller(monkeypatch, capsys)
    assert "-o cannot be used with a project" in call.fails("review", folder, "-o", "x")
    assert "--host needs --team" in call.fails("review", folder, "--host", "0.0.0.0")
    data = json.loads((folder / NAME).read_text())
    data["version"] = 7
    (folder / NAME).write_text(json.dumps(data))
    assert "version 7" in call.fails("review", folder)
