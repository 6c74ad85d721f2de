"""What the start page lets in, where it looks, and that nothing of the user's is changed."""

import html
import io
import json
import os
import random
import re
import shutil
import sys
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from urllib.parse import quote_plus

import httpx
import pytest

from caspr.errors import InputError
from caspr.formats import read
from caspr.formats.review_file.project import is_project, read_project
from caspr.review.project.project import Project
from caspr.review.server.presence import ALIVE
from caspr.start.draft import COPIES, NAME, RESULTS, is_draft
from caspr.start.folders import MOST_LISTED, is_reviewed, new_folder
from caspr.start.questions import QUESTIONS, usual
from caspr.start.remedies import REMEDIES, recognised
from tests.cli.caller import EXAMPLES, SONG
from tests.start.desk import HOST, OURS, Desk

ROOT = Path(__file__).parents[2]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def with_song(desk: Desk, name: str = "new") -> Path:
    folder = desk.project(name)
    for path in map(Path, SONG):
        assert desk.upload(folder, path.name, path.read_bytes()).json() == {"copied": True}
    return folder


def merged(desk: Desk, **answers: str) -> Path:
    folder = with_song(desk)
    assert desk.post("/merge", answers, at=folder).status_code == 200
    desk.finish(folder)
    return folder


def checked(desk: Desk, folder: Path) -> list[str]:
    """Return the annotators that the check of a project finds."""
    desk.post("/look", at=folder)
    desk.finish(folder)
    return re.findall('<input name="([^"]*)"', desk.get("/check", at=folder).text)


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_files_become_a_project_with_all_results(desk: Desk, tmp_path: Path) -> None:
    folder = with_song(desk)
    assert desk.post("/look", at=folder).json()["to"].startswith("/running?")
    desk.finish(folder)
    page = desk.get("/check", at=folder).text
    assert all(f'value="{name}"' in page for name in ("anna", "ben", "carla"))
    assert "Everything is in order." in page
    answer = desk.post("/names", {"anna": "Änne =1", "ben": "ben", "carla": "carla"}, at=folder)
    assert answer.json()["to"].startswith("/questions?")
    assert desk.post("/merge", {"nested": "never"}, at=folder).status_code == 200
    desk.finish(folder)
    assert is_project(folder)
    review = (folder / "documents" / "song.conll").read_text(encoding="utf-8")
    header = json.loads(review.partition("\n")[0].removeprefix("# caspr review: "))
    assert header["annotators"] == ["Änne =1", "ben", "carla"]
    assert header["settings"]["nested"] == "never"
    assert desk.post("/export", {"what": "all", "format": "jsonlines"}, at=folder).status_code == 200
    desk.finish(folder)
    made = files(folder / RESULTS)
    assert {"report.html", "agreement.tex", "agreement.txt", "methods.txt", "methods.tex"} <= made.keys()
    assert b"\\begin{table}" in made["agreement.tex"]
    [path] = (folder / RESULTS / "gold-jsonlines").iterdir()
    [gold] = read(path)
    assert gold.chains
    page = desk.get("/project", at=folder).text
    assert all(f"name={quote_plus(name)}" in page for name in made)
    table = made["agreement.txt"].decode("utf-8").replace("\r\n", "\n")
    assert f'<pre tabindex="0">{table}</pre>' in html.unescape(page), "of no class, so in a font of one width"
    assert "Paragraph for LaTeX" in page
    shown = desk.get("/result", at=folder, name="report.html")
    assert "sandbox" in shown.headers["content-security-policy"]


def test_a_project_says_whether_its_results_are_proven(desk: Desk) -> None:
    folder = merged(desk)
    assert "It is proven that no other merge" in desk.get("/project", at=folder).text
    project = folder / "caspr-project.json"
    project.write_text(project.read_text().replace('"proven": true', '"proven": false'))
    assert "For this text it is not proven" in desk.get("/project", at=folder).text


def test_every_command_that_is_shown_is_the_one_that_runs(desk: Desk) -> None:
    folder = merged(desk, boundaries="own", reliable="equal")
    job = desk.pages.jobs[folder]
    assert [step.words[0] for step in job.steps] == ["adjudicate"]
    assert job.steps[0].command == (
        f"caspr adjudicate {folder / COPIES} --layout project -o {folder} --variants --time-limit 120"
    )
    assert job.steps[0].command in desk.get("/running", at=folder).text


def noisy(rng: random.Random, mentions: int = 150) -> bytes:
    """Return one annotator's part of a document: a tenth of the mentions is in another chain."""
    cells = [rng.randrange(12) if rng.random() < 0.1 else number % 12 for number in range(mentions)]
    rows = "".join(f"{number}\tw\t({cell + 1})\n" for number, cell in enumerate(cells, 1))
    return f"#begin document (d);\n{rows}#end document\n".encode()


def test_weights_are_learned_where_that_is_wanted(desk: Desk) -> None:
    folder, rng = desk.project(), random.Random(3)
    for name in "abc":
        desk.upload(folder, f"{name}.conll", noisy(rng))
    desk.post("/merge", {"reliable": "learn"}, at=folder)
    job = desk.finish(folder)
    assert job["steps"] == 2
    assert "--weights" in job["command"]
    assert (folder / "weights.csv").is_file()


def test_what_cannot_be_learned_is_said(desk: Desk) -> None:
    folder = with_song(desk)
    desk.post("/merge", {"reliable": "learn"}, at=folder)
    job = desk.finish(folder, "failed")
    assert "give more documents, or no weights" in job["error"]
    assert "answer the last question with Yes" in job["error"]
    assert job["back"].startswith("/questions?")
    assert not is_project(folder)


def test_a_folder_is_used_where_it_is_and_stays_as_it_is(desk: Desk, tmp_path: Path) -> None:
    source = Path(shutil.copytree(EXAMPLES / "tales", tmp_path / "tales"))
    before = files(source)
    folder = desk.project()
    assert desk.post("/use", {"path": str(source)}, at=folder).status_code == 200
    assert str(source) in desk.get("/files", at=folder).text
    desk.post("/merge", {}, at=folder)
    desk.finish(folder)
    assert files(source) == before
    assert len(list((folder / "documents").glob("*.conll"))) == 3
    assert desk.post("/use", {"path": str(tmp_path)}, at=folder).status_code == 422
    assert desk.post("/use", {"path": str(folder / "documents")}, at=folder).status_code == 422


def test_what_is_wrong_with_files_is_said_in_words(desk: Desk) -> None:
    folder = desk.project()
    desk.upload(folder, "anna.conll", b"#begin document (a);\n1\tw\t(1\n#end document\n")
    desk.upload(folder, "ben.conll", b"#begin document (a);\n1\tw\t(1)\n#end document\n")
    desk.post("/look", at=folder)
    desk.finish(folder)
    page = desk.get("/check", at=folder).text
    assert "These files cannot be merged yet" in page
    assert "anna.conll" in page
    assert 'form="names"' not in page
    desk.post("/merge", {}, at=folder)
    job = desk.finish(folder, "failed")
    assert "anna.conll" in job["error"]
    assert not is_project(folder)


def test_one_annotator_is_not_enough(desk: Desk) -> None:
    folder = desk.project()
    desk.upload(folder, "anna.conll", Path(SONG[0]).read_bytes())
    desk.post("/look", at=folder)
    desk.finish(folder)
    assert "Add the files of the others" in desk.get("/check", at=folder).text


@pytest.mark.parametrize(
    "name",
    [
        "../x.conll",
        "/etc/x",
        "a/../../x",
        "..\\x",
        "",
        ".",
        "a//b",
        "a\0b",
        "a\nb",
        "x" * 300,
        "/".join("a" * 20),
    ],
)
def test_hostile_names_are_refused(desk: Desk, tmp_path: Path, name: str) -> None:
    folder = desk.project()
    before = files(tmp_path)
    assert desk.upload(folder, name, b"text").status_code == 422
    assert files(tmp_path) == before


def test_names_that_not_every_system_has_become_plain(desk: Desk) -> None:
    folder = desk.project()
    for name in ("CON.conll", "a:b.conll", "anna/<b>.conll", "שרה.conll"):
        assert desk.upload(folder, name, b"x").json() == {"copied": True}
    for name in (".DS_Store", "anna/Thumbs.db", "anna/.git/config"):
        assert desk.upload(folder, name, b"x").json() == {"copied": False}
    copies = set(files(folder / COPIES))
    assert copies == {"%43ON.conll", "a%3Ab.conll", "anna/%3Cb%3E.conll", "שרה.conll"}
    assert "<b>" not in desk.get("/files", at=folder).text


def test_nothing_is_replaced(desk: Desk) -> None:
    folder = desk.project()
    assert desk.upload(folder, "a.conll", b"one").status_code == 200
    assert desk.upload(folder, "a.conll", b"one").status_code == 200
    answer = desk.upload(folder, "a.conll", b"two")
    assert answer.status_code == 422
    assert "another file called a.conll" in answer.json()["error"]
    assert files(folder / COPIES) == {"a.conll": b"one"}
    assert desk.post("/make", {"name": "new", "in": str(desk.folder)}).status_code == 422


def test_a_link_among_the_copies_leads_nowhere(desk: Desk, tmp_path: Path) -> None:
    folder = desk.project()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (folder / COPIES).mkdir()
    (folder / COPIES / "anna").symlink_to(elsewhere)
    assert desk.upload(folder, "anna/a.conll", b"x").status_code == 422
    assert list(elsewhere.iterdir()) == []


def test_files_in_a_folder_that_is_no_project_are_not_taken_for_copies(desk: Desk, tmp_path: Path) -> None:
    mine = tmp_path / "corpus" / COPIES / "anna.conll"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    for button, values in (("/remove", {"name": "anna.conll"}), ("/use", {}), ("/names", {"anna": "A"})):
        assert desk.post(button, values, at=tmp_path / "corpus").status_code == 422
    assert files(tmp_path / "corpus") == {f"{COPIES}/anna.conll": b"mine"}


def test_only_copies_are_removed(desk: Desk) -> None:
    folder = desk.project()
    desk.upload(folder, "a.conll", b"one")
    for name in (f"../{NAME}", "b.conll", "", "/etc/passwd"):
        assert desk.post("/remove", {"name": name}, at=folder).status_code == 422
    assert desk.post("/remove", {"name": "a.conll"}, at=folder).status_code == 200
    assert files(folder / COPIES) == {}
    assert (folder / NAME).is_file()


def test_who_has_no_copy_any_more_is_no_annotator(desk: Desk) -> None:
    folder = desk.project()
    for name in ("anna", "ben", "carla"):
        desk.upload(folder, f"{name}/song.conll", Path(SONG[0]).read_bytes())
    desk.post("/remove", {"name": "carla/song.conll"}, at=folder)
    assert checked(desk, folder) == ["anna", "ben"]


def test_one_folder_with_everything_and_one_for_each_annotator_are_read(desk: Desk) -> None:
    whole, apart = desk.project("whole"), desk.project("apart")
    for path in sorted((EXAMPLES / "tales").rglob("*.conll")):
        inside = path.relative_to(EXAMPLES / "tales").as_posix()
        desk.upload(whole, f"tales/{inside}", path.read_bytes())
        desk.upload(apart, inside, path.read_bytes())
    assert checked(desk, whole) == checked(desk, apart) == ["anna", "ben", "carla"]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_folder_whose_name_is_no_text_hides_no_other(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"M\xfcller")).mkdir()
    (tmp_path / "Sara").mkdir()
    assert "Sara" in desk.get("/folders", at=tmp_path).text


def test_an_annotator_whose_name_has_an_equals_sign_is_renamed(desk: Desk) -> None:
    folder = desk.project()
    for name, path in zip(("a=b", "ben"), SONG, strict=False):
        desk.upload(folder, f"{name}.conll", Path(path).read_bytes())
    desk.post("/names", {"a=b": "Anna=1", "ben": "ben"}, at=folder)
    desk.post("/merge", {}, at=folder)
    desk.finish(folder)
    review = (folder / "documents" / "song.conll").read_text(encoding="utf-8")
    assert '"annotators": ["Anna=1", "ben"]' in review


def test_a_file_that_is_too_large_leaves_nothing(tmp_path: Path) -> None:
    desk = Desk(tmp_path, largest=1000)
    folder = desk.project()
    assert desk.upload(folder, "a.conll", b"x" * 1001).status_code == 403
    assert not list((folder / COPIES).rglob("*")) if (folder / COPIES).exists() else True


def test_only_folders_below_the_start_and_typed_ones_are_shown(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "other" / "inside").mkdir(parents=True)
    desk = Desk(tmp_path / "mine")
    assert desk.get("/folders", at=tmp_path / "mine").status_code == 200
    for page in ("/folders", "/project", "/files", "/review", "/check", "/questions", "/result"):
        for at in (tmp_path / "other", tmp_path / "mine" / ".." / "other", "/", "", "a\0b", "~"):
            answer = desk.get(page, at=at)
            assert answer.status_code == 422, (page, at)
            assert "inside" not in answer.text
    assert desk.post("/open", {"path": str(tmp_path / "other")}).status_code == 200
    assert "inside" in desk.get("/folders", at=tmp_path / "other").text
    assert desk.get("/folders", at=tmp_path).status_code == 422
    assert desk.get("/folders", at=tmp_path / "a b").status_code == 422
    (tmp_path / "a b").mkdir()
    assert desk.post("/open", {"path": (tmp_path / "a b").as_uri()}).status_code == 200
    assert desk.get("/folders", at=tmp_path / "a b").status_code == 200
    for path in ("", "nowhere", "a\0b", "x" * 5000, 7):
        assert desk.post("/open", {"path": path}).status_code == 422


def test_a_list_of_folders_that_is_cut_says_so(desk: Desk, tmp_path: Path) -> None:
    for number in range(MOST_LISTED):
        (tmp_path / f"{number:03}").mkdir()
    assert "Only the first" not in desk.get("/folders", at=tmp_path).text
    (tmp_path / "one more").mkdir()
    page = desk.get("/folders", at=tmp_path, **{"for": "new", "name": "Sara"}).text
    assert f"Only the first {MOST_LISTED} are shown" in page
    assert "one more" not in page
    way = html.unescape(re.findall('data-post="(/open[^"]*)"', page)[0])
    answer = desk.ask("POST", way, json={"path": str(tmp_path / "one more")}, headers=OURS).json()["to"]
    assert "Put it into this folder" in desk.ask("GET", answer).text


@pytest.mark.parametrize(
    "changed",
    [
        {"Origin": "http://evil.example"},
        {"Origin": None},
        {"Sec-Fetch-Site": "cross-site"},
        {"X-CSRF": "wrong"},
        {"X-CSRF": None},
        {"Host": "evil.example:8765"},
        {"Cookie": "caspr-8765=wrong"},
    ],
)
def test_what_others_send_is_refused_and_changes_nothing(
    tmp_path: Path, changed: dict[str, str | None]
) -> None:
    known = Desk(tmp_path)
    folder = with_song(known)
    before = files(tmp_path)
    desk = Desk(tmp_path, token=None if "Cookie" in changed else "the-token")
    headers = {name: value for name, value in {**OURS, **changed}.items() if value is not None}
    app = desk.transport.app
    posts = {route.path for route in app.app.routes if "POST" in (getattr(route, "methods", None) or ())}  # type: ignore[attr-defined]
    assert len(posts) >= 10
    for page in posts:
        body = json.dumps({"path": str(tmp_path), "name": "a.conll", "in": str(tmp_path)})
        answer = desk.ask("POST", page, params={"at": folder, "name": "x"}, content=body, headers=headers)
        assert answer.status_code == 403, page
    assert files(tmp_path) == before


def test_without_the_token_nothing_is_shown(tmp_path: Path) -> None:
    desk = Desk(tmp_path, token=None)
    for page in ("/", "/folders", "/new", "/alive", "/static/styles/base.css", "/own/start.js", "/review"):
        assert desk.get(page, at=tmp_path).status_code == 403
    answer = Desk(tmp_path).get("/")
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    assert Desk(tmp_path).ask("GET", "/", headers={"Host": "evil.example"}).status_code == 403


def test_results_are_only_files_that_were_made(desk: Desk) -> None:
    folder = merged(desk)
    (folder / RESULTS).mkdir()
    (folder / RESULTS / "report.html").write_text("<script>alert(1)</script>")
    for name in ("../caspr-project.json", "/etc/passwd", "nothing", "", ".hidden"):
        assert desk.get("/result", at=folder, name=name).status_code == 422
    assert "sandbox" in desk.get("/result", at=folder, name="report.html").headers["content-security-policy"]


def test_nothing_that_is_decided_is_lost_by_merging_again(desk: Desk) -> None:
    folder = merged(desk)
    review = folder / "documents" / "song.conll"
    decided = re.sub(r"(?m)^(23\tmy *\t.*)-$", r"\1=(3)", review.read_text())
    assert decided != review.read_text()
    review.write_text(decided)
    desk.post("/merge", {}, at=folder)
    assert "would lose" in desk.finish(folder, "failed")["error"]
    assert review.read_text() == decided


def test_an_answer_on_the_review_page_ends_the_offer_to_merge_again(desk: Desk) -> None:
    folder = merged(desk)
    offered = desk.get("/project", at=folder).text
    assert "answer the questions again" in offered and "0 answers given." in offered
    project = Project.opened(folder, lambda settings: settings, "me")
    try:
        session, number = project.at(0)
        for operation in ({"do": "alone", "mentions": ["23-23"]}, {"do": "done"}):
            session.do(number, operation, session.history(number).version, "me")
    finally:
        project.close()
    page = desk.get("/project", at=folder).text
    assert "answer the questions again" not in page and "1 answer given" in page
    before = files(folder / "documents")
    for answer in (
        desk.post("/merge", {}, at=folder),
        desk.get("/questions", at=folder),
        desk.get("/files", at=folder),
    ):
        assert answer.status_code == 422
        assert "merging again would lose that" in answer.text
    assert "Back to the project" in desk.get("/questions", at=folder).text
    assert files(folder / "documents") == before


def test_texts_with_annotators_of_their_own_are_in_order(desk: Desk) -> None:
    folder = desk.project()
    for text, names in (("song", "abc"), ("psalm", "def")):
        for path, name in zip(map(Path, SONG), names, strict=True):
            content = path.read_text().replace("(song)", f"({text})")
            desk.upload(folder, f"{text}/{name}.conll", content.encode())
    assert sorted(checked(desk, folder)) == list("abcdef")
    page = desk.get("/check", at=folder).text
    assert page.count("only they count there") == 1
    assert "Each text has annotators of its own" in page and "Everything is in order." in page


def test_a_merge_that_waits_for_a_review_holds_up_no_page(desk: Desk) -> None:
    folder, ended = with_song(desk), Event()

    def release(path: Path) -> bool:
        return ended.wait(60)

    desk.pages.reviews.release = release  # type: ignore[method-assign]
    with ThreadPoolExecutor(1) as thread:
        merging = thread.submit(desk.ask_both, ("/merge", folder), "/", ended.set)
        merged, home = merging.result()
    assert (merged.status_code, home.status_code) == (200, 200)
    desk.finish(folder)


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
@pytest.mark.parametrize("name", ["results/report.html", "results"])
def test_no_link_leads_results_out_of_the_project(desk: Desk, tmp_path: Path, name: str) -> None:
    folder = merged(desk)
    mine = tmp_path / "mine"
    if name == "results":
        mine.mkdir()
    else:
        (folder / "results").mkdir()
        mine.write_text("mine")
    (folder / name).symlink_to(mine)
    answer = desk.post("/export", {"what": "report", "format": "conll"}, at=folder)
    assert answer.status_code == 422
    assert "nothing is written outside of the project" in answer.json()["error"]
    assert mine.is_dir() or mine.read_text() == "mine"


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_no_link_leads_a_merge_out_of_the_project(desk: Desk, tmp_path: Path) -> None:
    folder = with_song(desk)
    (folder / "documents").symlink_to(tmp_path)
    answer = desk.post("/merge", {}, at=folder)
    assert "is a link to" in answer.json()["error"]
    assert not (tmp_path / "song.conll").exists()


def test_a_draft_goes_on_after_a_restart(desk: Desk, tmp_path: Path) -> None:
    folder = with_song(desk)
    desk.post("/names", {"anna": "A", "ben": "B", "carla": "C"}, at=folder)
    later = Desk(tmp_path)
    assert f">{folder.name}<" in later.get("/").text
    assert later.get("/project", at=folder).headers["location"].startswith("/files?")
    assert "anna.conll" in later.get("/files", at=folder).text
    for text in ("", "[1]", "{", '{"names": 7, "answers": [], "source": 5}'):
        (folder / NAME).write_text(text)
        assert later.get("/files", at=folder).status_code == 200


def test_a_project_is_not_made_where_its_files_cannot_be_used(desk: Desk, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    for source in (tmp_path, tmp_path / "nothing"):
        values = {"name": "new", "in": str(tmp_path), "source": str(source)}
        assert desk.post("/make", values).status_code == 422
    assert sorted(tmp_path.rglob("*")) == before


def test_a_document_with_decisions_stays_in_its_project(desk: Desk) -> None:
    folder = desk.project()
    for path in map(Path, SONG):
        for name in ("song", "psalm"):
            text = path.read_text().replace("(song)", f"({name})")
            desk.upload(folder, f"{path.stem}/{name}.conll", text.encode())
    desk.post("/merge", {}, at=folder)
    desk.finish(folder)
    review = folder / "documents" / "psalm.conll"
    review.write_text(re.sub(r"(?m)^(23\tmy *\t.*)-$", r"\1=(3)", review.read_text()))
    before = files(folder / "documents")
    for path in map(Path, SONG):
        desk.post("/remove", {"name": f"{path.stem}/psalm.conll"}, at=folder)
    desk.post("/merge", {}, at=folder)
    assert "would lose the 1 decision" in desk.finish(folder, "failed")["error"]
    assert [document.title for document in read_project(folder).documents] == ["psalm", "song"]
    assert files(folder / "documents") == before


def test_what_may_not_be_looked_into_is_no_project(desk: Desk, tmp_path: Path) -> None:
    assert not is_reviewed(tmp_path / ("x" * 300))
    assert not is_draft(tmp_path / ("x" * 300))
    for path in ("~nobody-of-this-name/x", "a\0", "x" * 300):
        assert desk.post("/open", {"path": path}).status_code == 422
    with pytest.raises(InputError, match="gets a folder of its name"):
        new_folder(tmp_path, "\ud800")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="the administrator may look anywhere")
def test_a_project_that_is_closed_today_does_not_close_the_start_page(desk: Desk) -> None:
    folder = desk.project()
    folder.chmod(0)
    try:
        assert desk.get("/").status_code == 200
        assert "cannot be opened" in desk.get("/folders", at=folder).text
    finally:
        folder.chmod(0o700)


def test_memory_that_is_damaged_is_no_harm(tmp_path: Path) -> None:
    (tmp_path / ".memory").mkdir()
    for text in ("", "{}", '[1, "relative", "/nowhere"]', "[" * 5000):
        (tmp_path / ".memory" / "recent.json").write_text(text)
        assert Desk(tmp_path).get("/").status_code == 200


def test_names_of_annotators_are_names(desk: Desk) -> None:
    folder = with_song(desk)
    for names in ({"anna": ""}, {"anna": "x" * 101}, {"anna": "a", "ben": "A"}, {"anna": "a\u202eb"}):
        assert desk.post("/names", names, at=folder).status_code == 422


def test_every_warning_about_files_has_a_remedy() -> None:
    text = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    about_files = text[text.index("## Which documents") : text.index("## What the output format cannot")]
    warnings = set(re.findall(r"^\| `([a-z-]+)` \| warning ", about_files, re.MULTILINE))
    assert warnings - REMEDIES.keys() == set()


def test_boundaries_that_differ_lead_to_the_question_about_them() -> None:
    finding = {"code": "boundary-variants", "severity": "note", "message": "2 mentions differ", "where": ""}
    (noticed,) = recognised({"findings": [finding]}).noticed
    assert noticed.remedy.startswith("The second question on the next page is about them")
    assert QUESTIONS[1].sign == "boundary-variants" and usual({"boundary-variants"})["boundaries"] == "own"


def test_project_names_that_lead_elsewhere_are_refused(desk: Desk, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    for name in ("", " ", "..", ".hidden", "a/b", "a\\b", "CON", "a:b", "x" * 400, "a\0"):
        assert desk.post("/make", {"name": name, "in": str(tmp_path)}).status_code == 422, name
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="the administrator may write anywhere")
def test_a_folder_that_cannot_be_written_is_named(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o500)
    answer = desk.post("/make", {"name": "new", "in": str(tmp_path / "closed")})
    assert answer.status_code == 422
    assert "closed" in answer.json()["error"]


def test_the_review_opens_at_an_address_of_its_own(desk: Desk) -> None:
    folder = merged(desk)
    try:
        link = desk.get("/review", at=folder).headers["location"]
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?once=\S+", link)
        assert not link.startswith(HOST)
        again = desk.get("/review", at=folder).headers["location"]
        assert again.partition("?")[0] == link.partition("?")[0]
        # Nobody looks at it, so that it does not keep others from changing its files.
        desk.post("/merge", {"nested": "never"}, at=folder)
        desk.finish(folder)
    finally:
        desk.pages.close()


def test_a_project_whose_review_somebody_looks_at_is_not_merged_again(desk: Desk) -> None:
    folder = merged(desk)
    try:
        with httpx.Client() as browser:
            link = desk.get("/review", at=folder).headers["location"]
            browser.get(link, follow_redirects=True)
            with browser.stream("GET", link.partition("?")[0] + ALIVE.removeprefix("/")) as page:
                beats = page.iter_text()
                assert "alive" in next(beats)
                answer = desk.post("/merge", {"nested": "never"}, at=folder)
        assert answer.status_code == 422
        assert "open in a window" in answer.json()["error"]
        assert desk.get("/progress", at=folder).json()["state"] == "done"
    finally:
        desk.pages.close()


def bomb() -> bytes:
    """Return an archive that is small and unpacks to a lot."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("exportedproject.json", '{"a": "' + " " * (100 << 20) + '"}')
    return packed.getvalue()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (bomb, "a.zip/exportedproject.json: found entry"),
        (lambda: "#begin document (a);\n1\tÄrger\t(1)\n".encode("latin-1"), "which is not UTF-8"),
        (lambda: b"%PDF-1.4", "no files of a known format"),
        (lambda: b"", "no files of a known format"),
    ],
    ids=["bomb", "latin", "pdf", "empty"],
)
def test_files_of_any_kind_are_answered_in_words(desk: Desk, content: Callable[[], bytes], said: str) -> None:
    folder = desk.project()
    data = content()
    name = "a.zip" if data.startswith(b"PK") else "a.conll" if b"#begin" in data else "a.pdf"
    desk.upload(folder, name, data)
    desk.post("/look", at=folder)
    desk.finish(folder)
    page = html.unescape(desk.get("/check", at=folder).text)
    assert said in page
    assert 'form="names"' not in page


def test_names_in_files_are_text(desk: Desk) -> None:
    text = b"#begin document (<script>alert(1)</script>);\n1\tx\t(1)\n2\ty\t(1)\n#end document\n"
    folder = desk.project()
    for name in ("<img src=x onerror=alert(1)>.conll", "b.conll"):
        desk.upload(folder, name, text)
    desk.post("/look", at=folder)
    desk.finish(folder)
    desk.post("/merge", {}, at=folder)
    desk.finish(folder)
    for page in ("/files", "/check", "/questions", "/project", "/running"):
        shown = desk.get(page, at=folder).text
        assert "<script>alert" not in shown
        assert "<img" not in shown


def test_a_result_that_is_older_than_the_last_answer_is_marked(desk: Desk, tmp_path: Path) -> None:
    folder = merged(desk)
    assert desk.post("/export", {"what": "report"}, at=folder).status_code == 200
    desk.finish(folder)
    assert "older than your last answer" not in desk.get("/project", at=folder).text
    [review] = (folder / "documents").glob("*.conll")
    decision = '# caspr together: 1:1 12:13 by "me" at 2999-01-01T00:00:00Z\n'
    header, _, rest = review.read_text(encoding="utf-8").partition("\n")
    review.write_text(f"{header}\n{decision}{rest}", encoding="utf-8")
    assert "older than your last answer" in desk.get("/project", at=folder).text
    # A time that is none, as somebody may type it, does no harm.
    review.write_text(f"{header}\n{decision.replace('2999-01-01T', '2999-99-99T')}{rest}", encoding="utf-8")
    assert "older than your last answer" not in desk.get("/project", at=folder).text


def test_choosing_a_folder_keeps_what_was_typed(desk: Desk, tmp_path: Path) -> None:
    page = desk.get("/folders", **{"at": tmp_path, "for": "new", "name": "Sara", "source": "x"}).text
    assert "name=Sara&amp;source=x" in page
    assert 'value="Sara"' in desk.get("/new", **{"in": tmp_path, "name": "Sara"}).text


def test_hints_about_options_are_for_the_terminal_only(desk: Desk, tmp_path: Path) -> None:
    folder = desk.project()
    for path in (EXAMPLES / "scene").glob("*.conll"):
        desk.upload(folder, path.name, path.read_bytes())
    desk.post("/look", at=folder)
    desk.finish(folder)
    page = desk.get("/check", at=folder).text
    noticed = page[page.index("Also noticed") : page.index("The same in a terminal")]
    assert "kept separate" in noticed
    assert "--" not in noticed


def test_a_project_from_elsewhere_opens_no_other_folder(desk: Desk, tmp_path: Path) -> None:
    folder = desk.project()
    (folder / NAME).write_text(json.dumps({"source": str(Path("/").resolve())}), encoding="utf-8")
    assert desk.get("/files", at=folder).status_code == 200
    assert desk.get("/folders", **{"at": Path("/").resolve(), "for": "open"}).status_code == 422
