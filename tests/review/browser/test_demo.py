"""The demo of the documentation site: one file, with which the page does what it does with its server."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from bench import demo
from bench.browser import Served, served

WAY = ["n", "2", "y", "u", "r", "1", "Shift+s"]
"""Keys: answers, one taken back and given again, another one, and a key without a meaning."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the demo; a process that drives a browser has an event loop that is running."""
    path = tmp_path_factory.mktemp("demo") / "demo.html"
    subprocess.run([sys.executable, "-m", "bench.demo", str(path)], cwd=demo.ROOT, check=True)
    return path


@pytest.fixture
def real(tmp_path: Path) -> Iterator[Served]:
    """Serve a review of the document that the demo shows."""
    folder = Path(shutil.copytree(demo.EXAMPLE, tmp_path / "song"))
    with served(folder, *sorted(path.name for path in folder.glob("*.conll"))) as server:
        yield server


@contextmanager
def shown(chromium: Browser, address: str) -> Iterator[Page]:
    """Open a page with its first question; an error on it, or a request beyond it, fails the test."""
    context = chromium.new_context()
    page = context.new_page()
    errors: list[str] = []
    requests: list[str] = []

    def note(request: Request) -> None:
        requests.append(request.url)

    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", note)
    page.goto(address)
    expect(page.locator(".card")).to_be_visible()
    yield page
    context.close()
    assert not errors
    if address.endswith("demo.html"):
        assert [url for url in requests if not url.startswith("data:")] == [address]


def seen(page: Page) -> list[str]:
    """Return what the page says when it has read the questions again, which it does after a pause."""
    parts = ("#status", "#text", "#queue > .card", "#queue > .empty", ".stakes", "#last-change")
    texts: list[str] = []
    for _ in range(20):
        before = texts
        page.wait_for_timeout(700)
        texts = [text for part in parts for text in page.locator(part).all_inner_texts()]
        if texts == before and "computed" not in " ".join(texts):
            break
    return texts


def test_each_key_does_what_it_does_with_a_server(chromium: Browser, made: Path, real: Served) -> None:
    with shown(chromium, made.as_uri()) as played, shown(chromium, real.url) as alive:
        assert seen(played) == seen(alive)
        for key in WAY:
            for page in (played, alive):
                page.keyboard.press(key)
            assert seen(played) == seen(alive), key
        for page in (played, alive):
            page.keyboard.press("Escape")
            page.get_by_role("tab", name="Matrix").click()
            page.get_by_role("tab", name="Mention").click()
            expect(page.locator("#detail")).not_to_contain_text("Loading")
        mention = [page.locator("#detail").inner_text() for page in (played, alive)]
        assert mention[0] == mention[1]


@pytest.mark.parametrize("key", ["1", "7", "8", "9", "n", "y"])
def test_every_answer_to_the_first_questions_is_recorded(chromium: Browser, made: Path, key: str) -> None:
    with shown(chromium, made.as_uri()) as page:
        for _ in range(demo.EVERY_KIND):
            before = page.locator("#question").inner_text()
            page.keyboard.press(key)
            expect(page.locator("#question")).not_to_have_text(before)
            expect(page.locator("#banner")).to_be_hidden()


def test_a_plain_server_of_files_is_enough(chromium: Browser, made: Path) -> None:
    handler = partial(SimpleHTTPRequestHandler, directory=str(made.parent))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        with shown(chromium, f"http://127.0.0.1:{server.server_port}/demo.html") as page:
            page.keyboard.press("n")
            expect(page.locator("#status")).to_contain_text("1 answer")
        server.shutdown()


def test_what_is_not_recorded_is_refused_with_a_reason(chromium: Browser, made: Path) -> None:
    with shown(chromium, made.as_uri()) as page:
        banner = page.locator("#banner")
        expect(banner).to_contain_text("This is a demo")
        page.get_by_role("button", name="Dismiss").click()
        page.locator("#export summary").click()
        page.get_by_role("link", name="Gold as CoNLL", exact=True).click()
        expect(banner).to_contain_text("A demo has no server")
        page.keyboard.press("n")
        expect(page.locator("#status")).to_contain_text("1 answer")
        page.locator("#text [data-m]").first.click()
        page.keyboard.press("x")
        expect(banner).to_contain_text("The recording ends here")
        expect(page.locator("#status")).to_contain_text("1 answer")
