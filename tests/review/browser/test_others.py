"""Other tabs, the file in a text editor, and a server that is gone."""

from pathlib import Path

from playwright.sync_api import Page, Route, expect

from bench.browser import Served
from tests.review.browser.actions import expect_cost, expect_in_text, mention, press


def test_other_tabs_see_changes(page: Page) -> None:
    other = page.context.new_page()
    other.goto(page.url)
    mention(page, "5-5").click()
    press(page, "x")
    expect_in_text(page, "5-5", there=False)
    expect_in_text(other, "5-5", there=False)
    expect(other.locator("#last-change")).to_contain_text("another tab")


def test_two_writers_do_not_overwrite_each_other(page: Page) -> None:
    late = page.context.new_page()
    late.route("**/events", lambda route: route.abort())
    late.goto(page.url)
    mention(page, "5-5").click()
    press(page, "x")
    expect_in_text(page, "5-5", there=False)
    expect_in_text(late, "5-5", there=True)
    mention(late, "4-4").click()
    press(late, "x")
    banner = late.locator("#banner")
    expect(banner).to_contain_text("changed in the meantime")
    expect_in_text(late, "5-5", there=False)
    expect_in_text(late, "4-4", there=True)
    banner.get_by_role("button", name="Do it now").click()
    expect_in_text(late, "4-4", there=False)
    expect_in_text(page, "4-4", there=False)


def test_the_file_is_edited_meanwhile(alone: Page, folder: Path) -> None:
    review = next(path for path in folder.iterdir() if "# caspr review" in path.read_text(encoding="utf-8"))
    lines = review.read_text(encoding="utf-8").splitlines(keepends=True)
    at = {line.split("\t")[0].strip(): number for number, line in enumerate(lines) if line[:1].isdigit()}
    for token, cell in (("1", "=(1"), ("3", "=1)"), ("6", "=(1)")):
        before = lines[at[token]].rstrip("\n").rpartition("\t")[0]
        lines[at[token]] = f"{before}\t{cell}\n"
    review.write_text("".join(lines), encoding="utf-8")
    expect_in_text(alone, "5-5", there=False)
    expect_cost(alone, 8)
    press(alone, "D")
    expect(alone.locator("#decisions h2").first).not_to_have_text("0 decisions")


def test_a_file_that_cannot_be_read_is_announced(alone: Page, folder: Path) -> None:
    review = folder / "review.conll"
    before = review.read_text(encoding="utf-8")
    review.write_text(before.replace("#end document", ""), encoding="utf-8")
    banner = alone.locator("#banner")
    expect(banner).to_contain_text("Nothing can be saved until this is fixed")
    review.write_text(before, encoding="utf-8")
    expect(banner).to_be_hidden()
    mention(alone, "5-5").click()
    press(alone, "x")
    expect_in_text(alone, "5-5", there=False)


def test_a_server_that_is_gone_is_announced(alone: Page, paper: Served) -> None:
    paper.kill()
    banner = alone.locator("#banner")
    expect(banner).to_contain_text("does not answer")
    mention(alone, "5-5").click()
    press(alone, "x")
    expect(banner).to_contain_text("This may not have been saved: not a mention: “5”")
    expect_in_text(alone, "5-5", there=True)


def test_a_long_search_shows_the_best_so_far_and_can_be_stopped(page: Page) -> None:
    stopped: list[str] = []

    def slow(route: Route) -> None:
        answer = route.fetch()
        update = {**answer.json(), "working": True}
        update["cost"] = {**update["cost"], "status": "gap", "bound": 5}
        route.fulfill(response=answer, json=update)

    def stop(route: Route) -> None:
        stopped.append(route.request.url)
        route.fulfill(status=204)

    page.route("**/do", slow)
    page.route("**/events", lambda route: route.abort())
    page.route("**/cancel", stop)
    page.reload()
    mention(page, "5-5").click()
    press(page, "x")
    working = page.locator("#working")
    expect(working).to_contain_text("best so far")
    expect(working).to_contain_text("none can cost less than 5")
    expect(page.locator("#status .proof")).to_have_text("not proven optimal, bound 5")
    press(page, "q")
    page.wait_for_timeout(200)
    assert stopped
