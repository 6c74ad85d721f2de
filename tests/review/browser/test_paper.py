"""The paper's workflow as a person does it, with the mouse: review, enforce, look, take back, export."""

from pathlib import Path

from playwright.sync_api import Page, expect

from tests.review.browser.actions import expect_cost, expect_in_text, last_change, mention
from tests.review.browser.conftest import COPIES


def enforce_together(page: Page) -> None:
    """Say that (1, 3) and (6, 6) are the same entity, as the paper does in its section 3.2."""
    mention(page, "1-3").locator(".t").nth(2).click()
    mention(page, "6-6").click(modifiers=["Control"])
    page.locator("#selection-bar").get_by_role("button", name="Same").click()


def test_enforce_undo_redo_reload(page: Page) -> None:
    before = page.locator("#status .cost b").inner_text()
    expect_in_text(page, "5-5", there=True)
    enforce_together(page)
    expect_in_text(page, "5-5", there=False)
    expect_in_text(page, "6-6", there=True)
    expect_cost(page, 8)
    expect(last_change(page)).to_contain_text("changed elsewhere")
    expect(last_change(page).locator('[data-change="5-5"]')).to_be_visible()
    chains = page.locator('#text [data-m="1-3"], #text [data-m="6-6"]')
    labels = {one.get_attribute("data-label") for one in chains.all() if one.get_attribute("data-label")}
    assert len(labels) == 1

    page.get_by_role("button", name="Undo").click()
    expect_in_text(page, "5-5", there=True)
    expect_cost(page, int(before))
    page.get_by_role("button", name="Redo").click()
    expect_in_text(page, "5-5", there=False)

    page.reload()
    expect_in_text(page, "5-5", there=False)
    expect_cost(page, 8)
    page.get_by_role("tab", name="Decisions").click()
    expect(page.locator("#decisions h2").first).to_have_text("1 decision")


def test_keep_the_old(page: Page) -> None:
    enforce_together(page)
    expect_in_text(page, "5-5", there=False)
    row = last_change(page).locator('[data-change="5-5"]')
    row.get_by_role("button", name="Keep the old").click()
    expect_in_text(page, "5-5", there=True)
    expect_in_text(page, "6-6", there=True)


def test_what_cannot_be_kept_is_explained(page: Page) -> None:
    enforce_together(page)
    row = last_change(page).locator('[data-change="2-2"]')
    row.get_by_role("button", name="Keep the old").click()
    expect(page.get_by_role("alertdialog")).to_contain_text("lies inside")
    expect_in_text(page, "2-2", there=False)


def test_details_of_a_mention(page: Page) -> None:
    mention(page, "5-5").click()
    detail = page.locator("#detail")
    expect(detail.locator("h2")).to_contain_text("5")
    for annotator in ("in1", "in2", "in3", "in4"):
        expect(detail.get_by_role("rowheader", name=annotator)).to_be_visible()
    expect(detail.locator(".votes-table tr").first).to_contain_text("did not mark it")
    expect(detail.locator(".alternatives tr").first).to_be_visible()
    expect(detail.locator(".alternatives")).to_contain_text("the result; leaving it")
    mention(page, "1-3").locator(".t").nth(2).hover()
    expect(mention(page, "5-5")).to_contain_class("highlighted")


def test_questions_are_answered_and_counted(page: Page) -> None:
    expect(page.locator("#queue .card")).to_be_visible()
    open_questions = page.locator("#queue .kind .soft")
    total = int(open_questions.inner_text().split(" of ")[1])
    first = page.locator("#question").inner_text()
    page.locator("#queue").get_by_role("button", name="Skip").click()
    expect(page.locator("#question")).not_to_have_text(first)
    page.locator("#queue").get_by_role("button", name="Not a mention").click()
    expect(page.locator("#status .progress")).to_contain_text("1 answer")
    expect(open_questions).not_to_contain_text(f"of {total}")


def test_matrix_and_chain_list(page: Page) -> None:
    page.get_by_role("tab", name="Matrix").click()
    matrix = page.get_by_role("table", name="Mentions by annotator")
    expect(matrix.get_by_role("columnheader")).to_have_count(6)
    expect(page.locator("#matrix .filters")).to_contain_text("6 spans")
    row = matrix.locator('[data-row="1-3"]')
    expect(row.get_by_role("cell")).to_have_count(5)
    row.click()
    expect(page.locator("#detail h2")).to_contain_text("1 2 3")
    page.get_by_role("tab", name="Entities").click()
    chains = page.locator("#chains")
    heads = chains.locator(".chain-head")
    expect(heads).to_have_count(3)
    chains.get_by_role("searchbox").fill("1 2 3")
    expect(heads).to_have_count(1)
    heads.first.click()
    chains.get_by_role("button", name="Accept as it is").click()
    chains.get_by_label("Which entities").select_option("decided")
    expect(heads).to_have_count(1)


def test_export_and_report(page: Page, tmp_path: Path) -> None:
    enforce_together(page)
    expect_cost(page, 8)
    page.locator("#export summary").click()
    with page.expect_download() as waiting:
        page.locator("#export").get_by_role("link", name="Gold as CoNLL", exact=True).click()
    waiting.value.save_as(tmp_path / "gold.conll")
    gold = (tmp_path / "gold.conll").read_text(encoding="utf-8").splitlines()
    cells = [line.split("\t")[-1] for line in gold if line[:1].isdigit()]
    assert cells[4] == "-"
    assert "=" not in "".join(cells)
    page.locator("#export summary").click()
    with page.context.expect_page() as opening:
        page.locator("#export").get_by_role("link", name="Report").click()
    expect(opening.value.locator("body")).to_contain_text("proven optimal")


def test_contradictions_are_refused_with_what_they_clash_with(page: Page) -> None:
    enforce_together(page)
    expect_cost(page, 8)
    mention(page, "6-6").click()
    page.keyboard.press("x")
    dialog = page.get_by_role("alertdialog")
    expect(dialog).to_contain_text("Nothing was changed")
    clashing = dialog.locator("[data-decision]")
    expect(clashing).to_have_count(1)
    dialog.get_by_role("button", name="Take back: ").first.click()
    expect(dialog).to_be_hidden()
    page.get_by_role("tab", name="Decisions").click()
    expect(page.locator("#decisions .tag")).to_have_text(["not a mention"])


def test_notes(page: Page) -> None:
    mention(page, "5-5").click()
    page.locator("#detail").get_by_role("button", name="Note").click()
    page.get_by_role("dialog").get_by_role("textbox").fill("Ask Ben about <b>this</b>.")
    page.get_by_role("dialog").get_by_role("button", name="OK").click()
    expect(page.locator("#detail .notes")).to_contain_text("Ask Ben about <b>this</b>.")
    page.reload()
    page.get_by_role("tab", name="Decisions").click()
    expect(page.locator("#decisions .notes")).to_contain_text("Ask Ben about <b>this</b>.")
    page.get_by_role("button", name="Delete the note").click()
    expect(page.locator("#decisions .notes")).to_have_count(0)


def test_nested_mentions_by_repeated_clicks(page: Page) -> None:
    word = page.locator('#text [data-t="1"]')
    current = page.locator("#text .current")
    for expected in ("1-1", "1-3", "1-1"):
        word.click()
        expect(current).to_have_attribute("data-m", expected)


def test_a_new_mention_by_dragging(page: Page) -> None:
    start, end = (page.locator(f'#text [data-t="{token}"]').bounding_box() for token in (4, 6))
    assert start is not None
    assert end is not None
    page.mouse.move(start["x"] + 1, start["y"] + 10)
    page.mouse.down()
    page.mouse.move(end["x"] + end["width"] - 1, end["y"] + 10, steps=4)
    page.mouse.up()
    expect(page.locator("#selection-bar")).to_contain_text("3 tokens: 4 5 6")
    page.get_by_role("button", name="New mention").click()
    page.get_by_role("dialog").get_by_role("option").nth(1).click()
    expect_in_text(page, "4-6", there=True)
    expect(mention(page, "4-6")).to_be_focused()


def test_all_documents_with_their_progress(page: Page) -> None:
    mention(page, "5-5").click()
    page.locator("#detail").get_by_role("button", name="Not a mention").click()
    expect_in_text(page, "5-5", there=False)
    number = page.url.rstrip("/").rpartition("/")[2]
    page.get_by_role("link", name=f" of {COPIES}").click()
    row = page.get_by_role("row").filter(has=page.get_by_role("link", name=f"example {number}", exact=True))
    expect(row.locator('[data-label="Answers"]')).to_have_text("1")
    row.get_by_role("link").click()
    expect_in_text(page, "5-5", there=False)
