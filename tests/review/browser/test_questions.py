"""Questions in a real browser: answered by keys, stable under late updates, kept over a reload."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, Route, expect

from bench.browser import served
from tests.review.browser.actions import expect_in_text, last_change, mention, press, unroute
from tests.review.browser.conftest import EXAMPLES, opened

DELAY = 0.7
"""Seconds by which questions arrive late, longer than it takes to press two keys."""


def card(page: Page) -> Locator:
    return page.locator("#queue .card")


def ask(page: Page, id: str) -> None:
    """Go through the questions until one is on the screen."""
    expect(card(page)).to_be_visible()
    page.locator(f'#queue [data-focus-key="question {id}"]').click()
    expect(page.locator(f'#queue [data-question="{id}"]')).to_be_visible()


def decisions(page: Page) -> Locator:
    return page.locator("#decisions .decision-list > li")


@contextmanager
def late(page: Page, pattern: str) -> Iterator[None]:
    """Let answers of the server arrive late."""

    def delayed(route: Route) -> None:
        response = route.fetch()
        time.sleep(DELAY)
        route.fulfill(response=response)

    page.route(re.compile(pattern), delayed)
    yield
    unroute(page)


def test_a_card_names_entities_voters_and_prices(page: Page) -> None:
    ask(page, "q6-6")
    choices = card(page).locator(".choice")
    expect(choices).to_have_count(2)
    expect(choices.nth(0)).to_contain_text("the result")
    expect(choices.nth(1)).to_contain_text("cost")
    expect(card(page)).not_to_contain_text("being computed")
    assert not re.search(r"\d+–\d+", card(page).inner_text()), "no token numbers"


def test_one_key_for_each_choice(page: Page) -> None:
    ask(page, "q6-6")
    press(page, "2")
    expect(page.locator("#question")).not_to_contain_text("girl")
    expect_in_text(page, "6-6", there=True)
    expect(page.locator("#queue .stakes")).to_contain_text("The last step changed the result.")
    press(page, "D")
    expect(page.locator("#decisions")).to_contain_text("same")


def last_label(page: Page) -> Locator:
    """Find what the last step did, in words: entities that were offered and not chosen are not part of it."""
    return page.locator("#last-change .last-change-label")


def test_the_last_step_names_the_entity_that_was_chosen(page: Page) -> None:
    ask(page, "q6-6")
    press(page, "6")
    option = page.get_by_role("dialog").get_by_role("option").last
    chain = option.locator(".chip").inner_text()
    option.click()
    expect(last_label(page)).to_have_text(re.compile(rf"^In entity {chain}: “6”(; different: .*)?$"))


def test_an_entity_of_the_card_is_found_by_its_words_too(page: Page) -> None:
    ask(page, "q6-6")
    chip = card(page).locator(".choice").nth(1).locator(".chip").inner_text()
    press(page, "6")
    page.get_by_role("dialog").get_by_role("option", name=re.compile(f"^{chip}")).first.click()
    expect(last_label(page)).to_contain_text("Same: “6”")
    expect(last_label(page)).to_contain_text("; different: “")
    expect(page.locator("#last-change .from-to").first).to_contain_text("→")


def test_the_last_step_names_no_other_entity_with_a_new_one(page: Page) -> None:
    ask(page, "q6-6")
    press(page, "7")
    expect(last_label(page)).to_have_text(re.compile("^A new entity: “6”; different: “"))


def test_an_entity_can_be_chosen_while_prices_arrive(page: Page) -> None:
    """Prices are filled into the card while the dialog is open; its answer still counts."""

    def without_prices(route: Route) -> None:
        response = route.fetch()
        read = response.json()
        for priced in (read["leave"], *read["choices"]):
            priced["computed"] = False
        route.fulfill(response=response, json=read)

    held: list[Route] = []
    page.route(re.compile(r"/question/[^?]+$"), without_prices)
    page.route(re.compile(r"/question/.*\?prices"), lambda route: held.append(route))
    ask(page, "q6-6")
    expect(card(page)).to_contain_text("being computed")
    press(page, "6")
    for route in held:
        route.continue_()
    expect(card(page)).not_to_contain_text("being computed")
    page.get_by_role("dialog").get_by_role("option").first.click()
    expect(last_label(page)).to_contain_text("Same: “6”")
    unroute(page)


def test_several_choices_are_one_entity(page: Page) -> None:
    ask(page, "q4-4")
    press(page, "Shift+Digit1", "Shift+Digit2")
    expect(card(page).get_by_role("checkbox", checked=True)).to_have_count(2)
    press(page, "y")
    expect(page.locator('#queue [data-question="q4-4"]')).to_have_count(0)
    assert mention(page, "1-1").get_attribute("data-label") == mention(page, "2-2").get_attribute(
        "data-label"
    )


def test_a_question_from_the_list_comes_into_view(page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 500})
    expect(card(page)).to_be_visible()
    expect(card(page)).not_to_contain_text("price is being computed")  # then the list is built anew
    page.locator("#queue .question-group li button").last.click()
    expect(page.locator("#question")).to_be_in_viewport()


def test_marks_stay_when_the_question_on_the_screen_is_chosen_again(page: Page) -> None:
    ask(page, "q4-4")
    press(page, "Shift+Digit1")
    with late(page, r"/question/"):
        page.locator('#queue [data-focus-key="question q4-4"]').click()
        page.wait_for_timeout(1000 * DELAY + 300)
    expect(card(page).get_by_role("checkbox", checked=True)).to_have_count(1)


def test_an_answer_never_hits_the_next_question(page: Page) -> None:
    """The second key is pressed while the next question is on its way."""
    ask(page, "q6-6")
    with late(page, r"/question/"):
        press(page, "9", "9")
        expect(page.locator('#queue [data-question="q6-6"]')).to_have_count(0)
        expect(card(page)).to_be_visible()
    press(page, "D")
    expect(page.locator("#decisions h2").first).to_have_text("1 decision")
    expect_in_text(page, "6-6", there=False)


def test_a_late_update_is_offered_not_swapped_in(page: Page) -> None:
    ask(page, "q6-6")
    text = page.locator("#question").inner_text()
    shown = card(page).locator(".choice .anchor").all_inner_texts()
    other = page.context.new_page()
    other.goto(page.url)
    expect(card(other)).to_be_visible()
    with late(page, r"/questions?"):
        mention(other, "2-2").click()
        press(other, "x")
        expect_in_text(page, "2-2", there=False)
        assert card(page).locator(".choice .anchor").all_inner_texts() == shown
        expect(card(page).locator(".offer")).to_contain_text("has changed")
    assert page.locator("#question").inner_text() == text
    assert card(page).locator(".choice .anchor").all_inner_texts() == shown
    press(page, "2")
    expect(page.locator('#queue [data-question="q6-6"]')).to_have_count(0)
    press(page, "D")
    expect(decisions(page).filter(has_text="same")).to_have_count(1)


def test_a_changed_question_is_shown_on_demand(page: Page) -> None:
    ask(page, "q6-6")
    other = page.context.new_page()
    other.goto(page.url)
    expect(card(other)).to_be_visible()
    mention(other, "2-2").click()
    press(other, "x")
    page.bring_to_front()
    expect(card(page).locator(".offer")).to_be_visible()
    expect(card(page).locator(".choice").nth(0)).to_contain_text("was the result")
    press(page, "y")
    expect(page.locator("#toast")).to_contain_text("has changed, so y was ignored")
    expect(page.locator('#queue [data-question="q6-6"]')).to_be_visible()
    press(page, ".")
    expect(card(page).locator(".offer")).to_have_count(0)
    expect(card(page).locator(".choice")).to_have_count(1)


def test_a_question_that_the_reader_changed_is_shown_as_it_is_now(page: Page) -> None:
    ask(page, "q6-6")
    mention(page, "2-2").click()
    press(page, "x")
    expect_in_text(page, "2-2", there=False)
    press(page, "Q")
    expect(card(page).locator(".choice")).to_have_count(1)
    expect(page.locator('#queue [data-question="q6-6"]')).to_be_visible()
    expect(card(page).locator(".offer")).to_have_count(0)


def test_order_filter_skips_and_place_survive_a_reload(page: Page) -> None:
    ask(page, "q6-6")
    press(page, "s")
    expect(page.locator('#queue [data-question="q6-6"]')).to_have_count(0)
    expect(page.locator("#queue .question-group li button").last).to_have_attribute(
        "data-focus-key", "question q6-6"
    )
    page.get_by_label("Order of questions").select_option("text")
    page.get_by_label("Kind of question").select_option("link")
    expect(page.locator("#queue .question-group li")).to_have_count(3)
    ask(page, "q5-5")
    page.reload()
    expect(page.locator('#queue [data-question="q5-5"]')).to_be_visible()
    expect(page.get_by_label("Order of questions")).to_have_value("text")
    expect(page.get_by_label("Kind of question")).to_have_value("link")
    expect(page.locator("#queue .question-group li button").last).to_have_attribute(
        "data-focus-key", "question q6-6"
    )


def test_accept_the_rest(page: Page) -> None:
    stakes = page.locator("#queue .stakes")
    expect(stakes).to_contain_text(re.compile(r"^Your answers can still change \d+ mentions"))
    stakes.get_by_role("button", name="Accept the rest").click()
    expect(stakes).to_contain_text("This document is done")
    press(page, "u")
    expect(stakes.get_by_role("button", name="Accept the rest")).to_be_visible()


def test_undo_returns_to_the_question_that_was_undone(page: Page) -> None:
    first = card(page).get_attribute("data-question")
    page.keyboard.press("1")
    expect(card(page)).not_to_have_attribute("data-question", first or "")
    page.keyboard.press("u")
    expect(card(page)).to_have_attribute("data-question", first or "")


def test_after_an_answer_the_most_valuable_question_is_asked(chromium: Browser, tmp_path: Path) -> None:
    """An answer makes others worth less, so the list of before the answer does not say which is next."""
    files = sorted((EXAMPLES / "tales" / "storm").glob("*.conll"))
    with served(tmp_path, *map(str, files)) as server, opened(chromium, server) as page:
        for _ in range(3):
            asked = card(page).get_attribute("data-question") or ""
            page.keyboard.press(str(card(page).locator(".choice").count()))
            expect(card(page)).not_to_have_attribute("data-question", asked)
            read = page.request.get(re.sub(r"[#?].*", "", page.url) + "questions?order=valuable").json()
            expect(card(page)).to_have_attribute("data-question", read["questions"][0]["id"])


def test_the_last_step_names_what_is_no_longer_decided(page: Page) -> None:
    mention(page, "6-6").click()
    press(page, "p")
    expect(last_change(page)).to_contain_text("Alone")
    expect(last_change(page).locator(".replaced")).to_have_count(0)
    press(page, "x")
    expect(last_change(page)).to_contain_text("Not a mention")
    expect(last_change(page).locator(".replaced")).to_have_text("No longer decided: alone “6”.")
    press(page, "u")
    expect(last_change(page)).to_contain_text("Undone")
    expect(last_change(page).locator(".replaced")).to_have_count(0)


def test_a_cost_that_falls_is_no_news_about_the_proof(chromium: Browser, tmp_path: Path) -> None:
    files = sorted((EXAMPLES / "song").glob("*.conll"))
    with served(tmp_path, *map(str, files)) as server, opened(chromium, server) as page:
        proof = page.locator("#status .proof")
        expect(proof).to_have_text("✓ proven optimal")
        before = int(page.locator("#status .cost b").inner_text())
        expect(card(page)).to_be_visible()
        press(page, "y")
        expect(last_change(page)).to_contain_text("Cost lower, as decided links no longer count")
        assert int(page.locator("#status .cost b").inner_text()) < before
        expect(page.locator(".delta")).to_have_count(0)
        expect(proof).to_have_text("✓ proven optimal with your decisions")
        press(page, "u")
        expect(proof).to_have_text("✓ proven optimal")


def test_the_words_that_a_question_quotes_are_isolated(page: Page) -> None:
    question = page.locator("#question")
    expect(question.locator("bdi").first).to_be_visible()
    assert "“" not in "".join(question.locator("bdi").all_inner_texts())


def test_boundaries_that_differ_at_the_far_end_look_different(chromium: Browser, tmp_path: Path) -> None:
    """Two annotators end a long mention a word earlier than the two others."""
    words = [f"word{number}" for number in range(1, 41)]
    for name, end in (("ann", 30), ("bob", 30), ("cora", 29), ("dan", 29)):
        cells = {1: "(0", end: "0)", 40: "(0)"}
        lines = [f"{number}\t{word}\t{cells.get(number, '-')}" for number, word in enumerate(words, 1)]
        text = "\n".join(["#begin document (d);", *lines, "#end document", ""])
        (tmp_path / f"{name}.conll").write_text(text, encoding="utf-8")
    files = sorted(path.name for path in tmp_path.iterdir())
    with served(tmp_path, *files, "--variants") as server, opened(chromium, server) as page:
        anchors = card(page).locator(".choice .anchor")
        expect(anchors).to_have_count(2)
        shown = anchors.all_inner_texts()
        assert all(text.startswith("[word1 ") for text in shown)
        assert sorted(re.findall(r"(\w+)\]", text) for text in shown) == [["word29"], ["word30"]]
