"""From six files to a reviewed gold, a report and a LaTeX table by clicks alone; axe in every state."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from bench.browser import started
from tests.cli.caller import EXAMPLES
from tests.platforms.scenarios import write_hard
from tests.review.browser.test_axe import violations

SCENE = sorted((EXAMPLES / "scene").glob("*.conll"))
MINUTE = 60_000


@pytest.fixture
def start(chromium: Browser, tmp_path: Path) -> Iterator[Page]:
    """Open the start page of an empty folder; a script error fails the test."""
    with started(tmp_path) as server:
        context = chromium.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
        context.set_default_timeout(MINUTE)
        page = context.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(server.url)
        yield page
        context.close()
        assert not errors


def ready(page: Page, heading: str) -> None:
    expect(page.get_by_role("heading", name=heading, exact=False).first).to_be_visible(timeout=MINUTE)
    expect(page.locator("html[data-ready]")).to_be_attached()


def check(page: Page, state: str) -> None:
    assert violations(page) == [], state
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{state}: wider than a phone"
    page.set_viewport_size({"width": 1280, "height": 800})


def new_project(page: Page, files: list[Path]) -> None:
    page.get_by_role("link", name="New project").click()
    page.get_by_label("What is it called?").fill("Heron")
    page.get_by_role("button", name="Continue").click()
    ready(page, "the annotators’ files")
    copy(page, "Choose files", files, len(files))


def copy(page: Page, button: str, chosen: list[Path] | Path, copied: int) -> None:
    """Choose files or a folder, and wait until so many files are copied in all."""
    with page.expect_file_chooser() as chooser:
        page.get_by_text(button).click()
    chooser.value.set_files(chosen)
    expect(page.get_by_text(f"{copied} file{'' if copied == 1 else 's'} copied")).to_be_visible(
        timeout=MINUTE
    )


def test_from_six_files_to_results(start: Page, tmp_path: Path) -> None:
    check(start, "the first page")
    new_project(start, SCENE)
    check(start, "files")
    start.get_by_role("button", name="Check these files").click()
    ready(start, "What is in the files")
    check(start, "what they hold")
    start.get_by_label("Name of anna").fill("Änne")
    start.get_by_role("button", name="Continue").click()
    ready(start, "Five questions")
    check(start, "questions")
    start.get_by_label("No, our guidelines forbid it").check()
    start.get_by_role("button", name="Merge the annotations").click()
    ready(start, "Decide where the annotators disagree")
    check(start, "the project")
    with start.expect_popup() as opened:
        start.get_by_role("link", name="Review", exact=True).click()
    review = opened.value
    review.set_default_timeout(MINUTE)
    expect(review.locator("html[data-ready]")).to_be_attached(timeout=MINUTE)
    review.locator("#queue .card").wait_for()
    review.locator("#queue .choices button").first.click()
    expect(review.get_by_role("button", name="Undo").first).to_be_enabled()
    look_at(review)
    review.get_by_role("link", name="‹ Project").click()
    expect(review.get_by_role("heading", name="Take the results with you")).to_be_visible(timeout=MINUTE)
    review.close()
    expect(start.get_by_text("The same in a terminal")).to_have_count(1)
    start.get_by_label("Format of the gold standard").select_option("conll")
    for name in ("Create everything", "Create: Report"):
        start.get_by_role("button", name=name, exact=True).click()
        start.wait_for_url("**/running?**", timeout=MINUTE)
        start.wait_for_url("**/project?**#results", timeout=MINUTE)
        ready(start, "Results")
    check(start, "results")
    folder = tmp_path / "Heron" / "results"
    assert "\\begin{table}" in (folder / "agreement.tex").read_text(encoding="utf-8")
    assert "Änne" in (folder / "report.html").read_text(encoding="utf-8")
    assert (folder / "gold-conll" / "heron.conll").is_file()
    review_file = (tmp_path / "Heron" / "documents" / "heron.conll").read_text(encoding="utf-8")
    assert ' by "' in review_file
    with start.expect_download() as saved:
        start.locator("li", has_text="gold-conll").get_by_role("link", name="Save a copy").click()
    assert saved.value.suggested_filename == "heron.conll"


def look_at(review: Page) -> None:
    """Check that the head leaves the text its place, that menus fit, and that the help is there."""
    review.get_by_role("button", name="Done", exact=True).click()
    expect(review.locator("#people")).to_contain_text("✓ done by")
    for width, head, text in ((1280, 64, 400), (800, 100, 400), (390, 130, 140)):
        review.set_viewport_size({"width": width, "height": 800})
        assert review.locator(".top").evaluate("top => top.offsetHeight") <= head, width
        assert review.locator("#text").evaluate("text => text.offsetHeight") >= text, width
        assert review.evaluate("document.documentElement.scrollWidth <= innerWidth"), width
        for menu in ("#export", "#more"):
            review.locator(f"{menu} summary").click()
            box = review.locator(f"{menu} .menu-list").bounding_box()
            assert box and box["x"] >= 0 and box["y"] + box["height"] <= 800, (menu, width)
            assert violations(review) == [], (menu, width)
            review.keyboard.press("Escape")
            expect(review.locator(f"{menu} .menu-list")).to_be_hidden()
    review.set_viewport_size({"width": 1280, "height": 800})
    review.get_by_label("Help and keys").click()
    with review.expect_popup() as opened:
        review.get_by_role("link", name="What the words mean").click()
    words = opened.value
    expect(words.get_by_role("heading", name="Glossary")).to_be_visible(timeout=MINUTE)
    for page in ("In short", "The review page", "Formats"):
        words.get_by_role("navigation").get_by_role("link", name=page, exact=True).click()
        words.wait_for_load_state()
        check(words, page)
    words.close()


def test_a_search_that_takes_long_is_cancelled(start: Page, tmp_path: Path) -> None:
    new_project(start, write_hard(tmp_path / "hard"))
    start.get_by_role("button", name="Check these files").click()
    ready(start, "What is in the files")
    start.get_by_role("button", name="Continue").click()
    ready(start, "Five questions")
    start.get_by_role("button", name="Merge the annotations").click()
    start.wait_for_url("**/running?**", timeout=MINUTE)
    check(start, "working")
    start.get_by_role("button", name="Cancel").click()
    expect(start.get_by_text("It was cancelled. Everything is as it was before this step.")).to_be_visible(
        timeout=MINUTE
    )
    check(start, "cancelled")
    assert not (tmp_path / "Heron" / "caspr-project.json").exists()
    start.get_by_role("link", name="Back").click()
    ready(start, "Five questions")


def test_what_is_wrong_is_said_where_it_was_done(start: Page, tmp_path: Path) -> None:
    broken = tmp_path / "broken.conll"
    broken.write_text("#begin document (heron);\n1\tw\t(1\n#end document\n")
    start.get_by_label("Where it is").fill("nowhere")
    start.get_by_role("button", name="Open").click()
    expect(start.get_by_role("alert")).to_contain_text("There is no file or folder")
    check(start, "a wrong path")
    new_project(start, [*SCENE[:2], broken])
    start.get_by_role("button", name="Check these files").click()
    ready(start, "What is in the files")
    expect(start.get_by_role("alert").first).to_contain_text("broken.conll")
    check(start, "a broken file")
    start.get_by_role("link", name="Change the files").click()
    start.get_by_role("button", name="Remove the copy of broken.conll").click()
    expect(start.get_by_text("2 files copied")).to_be_visible()
    assert broken.is_file()


def test_folders_are_looked_through(start: Page, tmp_path: Path) -> None:
    (tmp_path / "<b>mine" / "שרה").mkdir(parents=True)
    start.reload()
    start.get_by_role("link", name="Look for it in your folders").click()
    start.get_by_role("link", name="<b>mine").click()
    expect(start.get_by_role("link", name="שרה")).to_be_visible()
    check(start, "folders")


def test_dropped_folders_keep_whose_files_they_are(start: Page, tmp_path: Path) -> None:
    """Drop two folders of annotators as a browser hands them to the page."""
    new_project(start, SCENE[:1])
    start.evaluate(
        """async () => {
            const content = new File(["x"], "a");
            const file = (path) => ({isFile: true, fullPath: path, file: (found) => found(content)});
            const folder = (path, inside) => ({isFile: false, fullPath: path, createReader: () => {
                let left = [inside];
                return {readEntries: (found) => found(left.length ? left.pop() : [])};
            }});
            const entries = ["anna", "ben"].map((name) => folder(`/${name}`, [file(`/${name}/act1.conll`)]));
            const event = new Event("drop", {bubbles: true, cancelable: true});
            event.dataTransfer = {items: entries.map((entry) => ({webkitGetAsEntry: () => entry}))};
            document.querySelector("[data-drop]").dispatchEvent(event);
        }"""
    )
    expect(start.get_by_text("3 files copied")).to_be_visible()
    copies = tmp_path / "Heron" / "annotators"
    assert (copies / "anna" / "act1.conll").read_text() == "x"
    assert (copies / "ben" / "act1.conll").read_text() == "x"


def test_what_cannot_be_read_is_said_and_the_rest_is_copied(start: Page, tmp_path: Path) -> None:
    """Drop a folder that the user may not open beside a file, as a browser hands them to the page."""
    new_project(start, SCENE[:1])
    start.evaluate(
        """async () => {
            const refused = (_, failed) => failed(new DOMException("no", "NotReadableError"));
            const closed = {isFile: false, fullPath: "/closed", createReader: () => ({readEntries: refused})};
            const shut = {isFile: true, fullPath: "/shut.conll", file: refused};
            const content = new File(["x"], "a");
            const sound = {isFile: true, fullPath: "/ben.conll", file: (found) => found(content)};
            const event = new Event("drop", {bubbles: true, cancelable: true});
            const items = [closed, shut, sound].map((entry) => ({webkitGetAsEntry: () => entry}));
            event.dataTransfer = {items};
            document.querySelector("[data-drop]").dispatchEvent(event);
        }"""
    )
    expect(start.get_by_text("2 files copied")).to_be_visible()
    expect(start.get_by_role("alert")).to_contain_text("closed cannot be read")
    expect(start.get_by_role("alert")).to_contain_text("shut.conll cannot be read")
    start.reload()
    expect(start.get_by_role("alert")).to_have_count(0)
    assert (tmp_path / "Heron" / "annotators" / "ben.conll").is_file()


def test_folders_that_are_chosen_one_by_one_keep_whose_files_they_are(start: Page, tmp_path: Path) -> None:
    for name in ("anna", "ben"):
        (tmp_path / "mine" / name).mkdir(parents=True)
        (tmp_path / "mine" / name / "act1.conll").write_bytes(SCENE[0].read_bytes())
    new_project(start, SCENE[:1])
    start.get_by_role("button", name="Remove the copy").click()
    for number, name in enumerate(("anna", "ben"), 1):
        copy(start, "Choose a folder", tmp_path / "mine" / name, number)
    copies = tmp_path / "Heron" / "annotators"
    assert sorted(path.relative_to(copies).as_posix() for path in copies.rglob("*.conll")) == [
        "anna/act1.conll",
        "ben/act1.conll",
    ]
