"""A browser for all tests, and a review of its own for each."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from bench.browser import Served, browser, find_browser, served
from tests.review.browser.actions import unroute

EXAMPLES = Path(__file__).parents[3] / "examples"
ANNOTATORS = [f"in{number}.conll" for number in range(1, 5)]
COPIES = 100
"""At least as many as there are tests that use one, since one process may run them all."""

expect.set_options(timeout=15_000)


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """Open the system's browser; while it is open, its event loop runs, and other tests need their own."""
    path = find_browser()
    if path is None:
        reason = "no browser: install Debian's chromium to run the tests of the review page"
        if os.environ.get("CASPR_BROWSER") == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    with browser(path) as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Copy the paper's example to where it can be worked on."""
    return Path(shutil.copytree(EXAMPLES / "paper", tmp_path / "paper"))


@pytest.fixture
def paper(folder: Path) -> Iterator[Served]:
    """Serve a review of the paper's example alone, for tests that do something to the file or the server."""
    with served(folder, *ANNOTATORS, "--preset", "paper", "--objective", "u") as server:
        yield server


@pytest.fixture(scope="session")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, Iterator[int]]]:
    """Serve a review of many copies of the paper's example, one for each test, and count through them."""
    folder = tmp_path_factory.mktemp("copies")
    for name in ANNOTATORS:
        text = (EXAMPLES / "paper" / name).read_text(encoding="utf-8")
        several = (text.replace("(example)", f"(example {number})") for number in range(COPIES))
        (folder / name).write_text("".join(several), encoding="utf-8")
    with served(folder, *ANNOTATORS, "--preset", "paper", "--objective", "u") as server:
        yield server, iter(range(COPIES))


@pytest.fixture
def page(chromium: Browser, copies: tuple[Served, Iterator[int]]) -> Iterator[Page]:
    """Open a copy of the paper's example."""
    server, numbers = copies
    with opened(chromium, server) as shown:
        shown.goto(f"{shown.url}d/{next(numbers)}/")
        expect(shown.locator("html[data-ready]")).to_be_attached()
        yield shown


@pytest.fixture
def alone(chromium: Browser, paper: Served) -> Iterator[Page]:
    """Open the paper's example on a server of its own."""
    with opened(chromium, paper) as shown:
        expect(shown.locator("html[data-ready]")).to_be_attached()
        yield shown


@contextmanager
def opened(chromium: Browser, server: Served) -> Iterator[Page]:
    """Open a server's page at the printed address; a script error on it fails the test."""
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(15_000)
    shown = context.new_page()
    errors: list[str] = []
    shown.on("pageerror", lambda error: errors.append(str(error)))
    shown.goto(server.url)
    yield shown
    unroute(shown)
    context.close()
    assert not errors
