"""A browser for all tests, and a review of its own for each."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from bench.browser import Served, browser, find_browser, served

EXAMPLES = Path(__file__).parents[3] / "examples"

expect.set_options(timeout=15_000)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Open the system's browser."""
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
    """Serve a review of the paper's example, with the objective of its section 3.2."""
    annotators = [f"in{number}.conll" for number in range(1, 5)]
    with served(folder, *annotators, "--objective", "u") as server:
        yield server


@pytest.fixture
def page(chromium: Browser, paper: Served) -> Iterator[Page]:
    """Open the paper's example; a script error on the page fails the test."""
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(15_000)
    opened = context.new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.goto(paper.url)
    expect(opened.locator("html[data-ready]")).to_be_attached()
    yield opened
    context.close()
    assert not errors
