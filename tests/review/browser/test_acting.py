"""What an adjudicator does on the page beyond answering: boundaries, remedies, names, search, versions."""

import re

from playwright.sync_api import Page, expect

from tests.review.browser.actions import expect_in_text, mention, press
from tests.review.browser.test_axe import violations


def go_to_first(page: Page) -> None:
    """Click the mention of the first three tokens, at the one that is in no other mention."""
    mention(page, "1-3").locator(".t").nth(2).click()


def test_a_boundary_is_moved_by_keys_in_one_step(page: Page) -> None:
    go_to_first(page)
    press(page, "Shift+ArrowLeft", "Shift+ArrowLeft", "Alt+ArrowRight")  # 1-2, 1-1, which ends there
    press(page, "Shift+ArrowRight")
    expect(page.locator("#text .t.boundary")).to_have_count(2)
    expect_in_text(page, "1-2", there=True)
    expect_in_text(page, "1-3", there=False)
    expect(page.locator('#text [data-m="1-3"]').first).to_have_class(re.compile("left-out.*decided"))
    expect(page.locator('#text [data-t="3"]')).to_have_css("text-decoration-line", "none")
    expect(page.locator("#text .m.current").first).to_have_attribute("data-m", "1-2")
    press(page, "u")
    expect_in_text(page, "1-3", there=True)
    expect(page.locator("#undo")).to_be_disabled()


def test_escape_leaves_a_boundary_where_it_was(page: Page) -> None:
    go_to_first(page)
    press(page, "Shift+ArrowLeft")
    expect(page.locator("#text .t.boundary")).to_have_count(2)
    press(page, "Escape")
    expect(page.locator("#text .t.boundary")).to_have_count(0)
    page.wait_for_timeout(800)
    expect_in_text(page, "1-3", there=True)
    expect(page.locator("#undo")).to_be_disabled()


def test_what_comes_next_is_about_the_new_boundary(page: Page) -> None:
    go_to_first(page)
    press(page, "Shift+ArrowLeft", "x")
    expect(page.locator('#text [data-m="1-2"]').first).to_have_class(re.compile("left-out.*decided"))
    expect_in_text(page, "1-3", there=False)


def test_an_edge_is_dragged(page: Page) -> None:
    go_to_first(page)
    first, last = (page.locator(f'#text [data-t="{token}"]').bounding_box() for token in (1, 3))
    assert first is not None and last is not None
    page.mouse.move(last["x"] + last["width"], last["y"] + last["height"] / 2)
    page.mouse.down()
    page.mouse.move(first["x"] + first["width"] / 2, first["y"] + first["height"] / 2, steps=5)
    page.mouse.up()
    expect_in_text(page, "1-3", there=False)
    expect_in_text(page, "1-1", there=True)
    expect(page.locator("#last-change")).to_contain_text("Boundary moved")


def test_a_contradiction_has_remedies_in_words_of_the_text(page: Page) -> None:
    mention(page, "6-6").click()
    press(page, "Space")
    go_to_first(page)
    press(page, "=")
    expect(page.locator("#undo")).to_be_enabled()
    mention(page, "6-6").click()
    press(page, "x")
    dialog = page.get_by_role("alertdialog")
    expect(dialog).to_contain_text("You decided that “6” is a mention, and also that it is not.")
    assert violations(page) == []
    dialog.get_by_role("button", name=re.compile("^Take back: ")).first.click()
    expect(dialog).to_have_count(0)
    expect_in_text(page, "6-6", there=False)
    press(page, "u")
    expect(page.locator("#undo")).to_have_attribute("title", re.compile("together"))


def test_a_mention_that_nobody_linked_stays_alone(page: Page) -> None:
    mention(page, "5-5").click()
    press(page, "p")
    expect_in_text(page, "5-5", there=True)
    expect(page.locator("#detail")).to_contain_text("1 mention")


def test_an_entity_is_named_and_found_by_its_name(page: Page) -> None:
    go_to_first(page)
    press(page, "N")
    dialog = page.get_by_role("dialog", name="Name of entity")
    assert violations(page) == []
    dialog.get_by_label("Name", exact=True).fill("Sir William")
    dialog.get_by_label("Type").fill("person")
    press(page, "Enter")
    expect(page.locator("#detail .entity-name").first).to_have_text(" Sir William")
    press(page, "C", "E")
    page.keyboard.type("william")
    expect(page.locator("#chains .chain-head")).to_have_count(1)
    expect(page.locator("#chains .chain-head")).to_contain_text("person")


def test_merging_two_named_entities_asks_which_name_they_keep(page: Page) -> None:
    for token, name in (("4-4", "Sir William"), ("6-6", "Lady Mary, who has a long name for two lines")):
        mention(page, token).click()
        press(page, "N")
        page.get_by_role("dialog").get_by_label("Name", exact=True).fill(name)
        press(page, "Enter")
        expect(page.locator("#last-change")).to_contain_text(f"named {name}")
    press(page, "Space")
    mention(page, "4-4").click()
    press(page, "Space")
    page.set_viewport_size({"width": 500, "height": 800})
    press(page, "m")
    dialog = page.get_by_role("dialog", name="Which name should the merged entity keep?")
    expect(dialog.get_by_role("button", name="Sir William")).to_be_focused()
    assert violations(page) == []
    assert dialog.evaluate("one => one.scrollWidth <= one.clientWidth"), "nothing is cut off"
    press(page, "Enter")
    expect(page.locator("#undo")).to_have_attribute("title", re.compile("merged, called as . .Sir William.$"))


def test_the_text_is_searched(page: Page) -> None:
    press(page, "/")
    page.keyboard.type("2 3 4")
    expect(page.locator("#find-count")).to_have_text("1 of 1")
    expect(page.locator("#text .t.found")).to_have_count(3)
    press(page, "Control+a")
    page.keyboard.type("nowhere")
    expect(page.locator("#find-count")).to_have_text("no match")
    press(page, "Escape", "Q")
    expect(page.locator("#find")).to_have_value("nowhere")


def test_versions_side_by_side_and_without_names(page: Page) -> None:
    page.get_by_role("tab", name="Versions").click()
    versions = page.locator("#versions")
    expect(versions.locator(".only").first).to_be_visible()
    expect(versions.get_by_role("status")).to_contain_text("only in the result (+)")
    versions.get_by_label("Beside it").select_option(label="The result")
    expect(versions.locator(".differs")).to_have_count(0)
    names = versions.get_by_label("Version", exact=True).locator("option").all_inner_texts()
    assert names == ["The result", "in1", "in2", "in3", "in4"]
    versions.get_by_label("Version", exact=True).select_option(label="in2")
    versions.get_by_label("Beside it").select_option(label="in3")
    expect(versions.locator(".differs")).to_have_count(1)
    with page.expect_navigation():
        page.get_by_label("hide names of annotators").click()
    expect(page.locator("html[data-ready]")).to_be_attached()
    expect(page.get_by_label("hide names of annotators")).to_be_checked()
    page.get_by_role("tab", name="Versions").click()
    expect(versions.get_by_label("Version", exact=True)).to_contain_text("Annotator 2")
    assert violations(page) == []
    page.get_by_role("tab", name="Text").click()
    go_to_first(page)
    expect(page.locator("#detail")).to_contain_text("Annotator 3")
    for panel in ("M", "Q", "C", "D", "v"):
        press(page, panel)
        page.wait_for_timeout(100)
        assert not re.search(r"\bin[1-4]\b", page.locator("main").inner_text()), panel


def test_a_decision_is_judged(page: Page) -> None:
    mention(page, "5-5").click()
    press(page, "x", "D")
    page.get_by_role("button", name=re.compile("^Judge")).first.click()
    dialog = page.get_by_role("dialog", name="Judge this decision")
    assert violations(page) == []
    dialog.get_by_label("Category of the error").fill("boundary")
    dialog.get_by_label("Confidence").select_option("low")
    dialog.get_by_role("button", name="OK").click()
    expect(page.locator("#decisions li").first).to_contain_text("boundary · low confidence")
