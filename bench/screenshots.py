"""Take the pictures of docs/review.md from the running page, with the shipped examples.

python -m bench.screenshots [FOLDER]
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, expect

from bench.browser import Served, browser, find_browser, served

ROOT = Path(__file__).resolve().parents[1]
SONG = ["anna.conll", "ben.conll", "carla.conll"]
PAPER = [f"in{number}.conll" for number in range(1, 5)]


def main() -> None:
    """Take all pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "docs" / "pictures")
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    path = find_browser()
    if path is None:
        raise SystemExit("found no browser, expected chromium on the path")
    with browser(path) as opened, tempfile.TemporaryDirectory() as place:
        for name, words, take in (
            ("song", [*SONG], take_song),
            ("paper", [*PAPER, "--objective", "u"], take_paper),
        ):
            copy = shutil.copytree(ROOT / "examples" / name, Path(place) / name)
            with served(copy, *words) as server:
                take(opened, server, folder)
        take_project(opened, Path(place), folder)


def take_project(opened: Browser, place: Path, folder: Path) -> None:
    """Show the list of a project on which two people work."""
    made = [sys.executable, "-m", "caspr", "corpus", str(ROOT / "examples" / "tales"), "-o", "tales"]
    subprocess.run([*made, "--layout", "project", "-q"], cwd=place, check=True)
    (place / "adjudicators.csv").write_text("name\nAnn\nBob\n", encoding="utf-8")
    with served(place, "tales", "--team", "adjudicators.csv") as server:
        page = visit(opened, server, shown=".documents")
        base = page.url
        for verb in ("exists", "done"):
            page.goto(f"{base}d/{int(verb == 'done')}/")
            expect(page.locator("#queue .card")).to_be_visible(timeout=30_000)
            if verb == "done":
                page.get_by_role("button", name="Done").click()
            else:
                page.keyboard.press("y")
            expect(page.locator("#last-change")).to_be_visible()
        page.goto(base)
        page.get_by_role("button", name="storm: assign").click()
        page.get_by_label("Who is to do it").select_option("Bob")
        page.get_by_role("button", name="Assign", exact=True).click()
        expect(page.get_by_role("button", name="storm: assigned to Bob")).to_be_visible()
        page.reload()
        picture(page, folder / "review-project.png")
        page.context.close()


def take_song(opened: Browser, server: Served, folder: Path) -> None:
    """Show questions, a mention, a step, the matrix and the keys."""
    page = visit(opened, server)
    expect(page.locator("#queue .tag.tie").first).to_be_visible(timeout=30_000)  # all questions are priced
    page.keyboard.press("j")
    picture(page, folder / "review-questions.png")
    page.locator('#text [data-m="21-21"]').click()
    expect(page.locator(".alternatives")).to_be_visible()
    picture(page, folder / "review-mention.png")
    page.locator('#text [data-t="24"]').click(modifiers=["Control"])
    picture(page, folder / "review-selection.png")
    page.keyboard.press("=")
    expect(page.locator("#last-change li")).to_be_visible()
    page.keyboard.press("Q")
    picture(page, folder / "review-step.png")
    page.keyboard.press("v")
    page.keyboard.press("C")
    picture(page, folder / "review-matrix.png")
    page.keyboard.press("Escape")
    page.keyboard.press("v")
    page.set_viewport_size({"width": 1200, "height": 840})
    page.keyboard.press("?")
    picture(page, folder / "review-keys.png")
    page.context.close()


def take_paper(opened: Browser, server: Served, folder: Path) -> None:
    """Show a refused contradiction, in the dark theme."""
    page = visit(opened, server, theme="dark")
    page.locator('#text [data-m="1-3"] .t').nth(2).click()
    page.locator('#text [data-m="6-6"]').click(modifiers=["Control"])
    page.keyboard.press("=")
    expect(page.locator("#last-change")).to_be_visible()
    page.locator('#text [data-m="1-3"] .t').nth(2).click()
    page.locator('#text [data-m="6-6"]').click(modifiers=["Control"])
    page.keyboard.press("d")
    expect(page.get_by_role("alertdialog")).to_be_visible()
    picture(page, folder / "review-contradiction.png")
    page.context.close()


def visit(
    opened: Browser, server: Served, *, theme: Literal["light", "dark"] = "light", shown: str = "#queue .card"
) -> Page:
    """Open the page of a server, and wait until something is shown on it."""
    context = opened.new_context(viewport={"width": 1200, "height": 660}, color_scheme=theme)
    page = context.new_page()
    page.goto(server.url)
    expect(page.locator(shown)).to_be_visible()
    return page


def picture(page: Page, path: Path) -> None:
    """Take one picture after animations and requests have ended."""
    page.wait_for_timeout(800)
    page.screenshot(path=path)


if __name__ == "__main__":
    main()
