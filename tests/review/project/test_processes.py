"""Real processes over a project: kill -9 loses nothing acknowledged, redo is refused; 1,000 documents."""

import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from threading import Thread

import httpx

from caspr.formats.review_file.project import NAME, ProjectDocument, ProjectFile, project_text, read_project
from caspr.storage import stage
from tests.review.processes import Page, running
from tests.review.project.projects import made, opened
from tests.review.sessions import Values, lasting, random_operation


def act(page: Page, number: int, operation: Values) -> Values | None:
    """Do something in a document; return its state after it, or nothing if it was refused."""
    version = page.client.get(f"/d/{number}/state").json()["version"]
    body = {"version": version, "op": operation}
    answer = page.client.post(f"/d/{number}/do", json=body, headers=page.headers)
    if answer.status_code != 200:
        return None
    state: Values = page.client.get(f"/d/{number}/state").json()
    return state


def test_kill_9_loses_nothing_in_any_document(tmp_path: Path) -> None:
    rng = random.Random(3)
    folder = made(tmp_path)
    known: dict[int, Values] = {}
    for _ in range(2):
        with running(tmp_path, "project", "--name", "Ann") as one:
            page = Page(one.address)
            for number, state in known.items():
                found = page.client.get(f"/d/{number}/state").json()
                assert lasting(found) == lasting(state)
                assert (found["undo"], found["redo"]) == (state["undo"], state["redo"])
            for _ in range(6):
                number = rng.randrange(3)
                state = page.client.get(f"/d/{number}/state").json()
                known[number] = act(page, number, random_operation(rng, state)) or known.get(number, state)
            number = rng.randrange(3)
            known.pop(number, None)  # either outcome of what is on its way is right
            Thread(target=unanswered, args=(page, number), daemon=True).start()
            time.sleep(rng.random() * 0.05)
            one.end(signal.SIGKILL)
        stage(folder / project_files(folder)[0], b"what a killed server left")
    with running(tmp_path, "project") as one:
        Page(one.address)
        assert not list(folder.rglob(".caspr-*.tmp"))
        one.end()
    assert not list(folder.rglob("*.lock"))


def unanswered(page: Page, number: int) -> None:
    with suppress(httpx.HTTPError, ValueError, KeyError):
        act(page, number, {"do": "note", "text": "on its way"})


def project_files(folder: Path) -> list[str]:
    return [one.file for one in read_project(folder).documents]


def test_redo_is_refused_for_an_open_document_and_done_for_another(tmp_path: Path) -> None:
    folder = made(tmp_path)
    first, second, _ = (folder / file for file in project_files(folder))
    with running(tmp_path, "project") as one:
        page = Page(one.address)
        assert act(page, 0, {"do": "note", "text": "x"}) is not None
        before = first.read_bytes()
        for path, code in ((first, 2), (second, 0)):
            done = subprocess.run(
                [sys.executable, "-m", "caspr", "redo", str(path)], capture_output=True, text=True
            )
            assert done.returncode == code, done.stderr
        assert first.read_bytes() == before
        assert act(page, 1, {"do": "note", "text": "y"}) is not None
        assert b"y" in second.read_bytes()


def test_a_thousand_documents(tmp_path: Path) -> None:
    """They are listed without being opened; a click writes two files: the document and its record."""
    folder = made(tmp_path, ["one"])
    source = folder / project_files(folder)[0]
    documents = []
    for number in range(1000):
        file = f"documents/d{number}.conll"
        shutil.copy(source, folder / file)
        documents.append(ProjectDocument(file, f"d{number}"))
    (folder / NAME).write_text(project_text(ProjectFile(tuple(documents))), encoding="utf-8")
    project = opened(folder)
    assert len(project.summaries()) == 1000
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
    session, _ = project.at(999)
    session.do(0, {"do": "note", "text": "x"}, 1)
    after = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
    changed = sorted(path.name for path in after if before.get(path) != after[path])
    assert changed == [".d999.conll.history.jsonl", ".d999.conll.lock", "d999.conll"]
    assert project.summaries()[999]["by"] == ""
    project.close()
