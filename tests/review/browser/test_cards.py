"""What the cards of a play say in a real browser: six annotators whose boundaries differ."""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from bench.browser import served
from tests.review.browser.actions import expect_in_text, expect_label, label, last_change, press
from tests.review.browser.conftest import EXAMPLES, opened
from tests.review.browser.test_questions import ask, card


@pytest.fixture
def scene(chromium: Browser, tmp_path: Path) -> Iterator[Page]:
    """Open a review of the scene."""
    folder = Path(shutil.copytree(EXAMPLES / "scene", tmp_path / "scene"))
    names = sorted(path.name for path in folder.glob("*.conll"))
    with served(folder, *names, "--variants") as server, opened(chromium, server) as shown:
        yield shown


def test_a_long_boundary_and_a_short_one_are_asked_as_boundaries(scene: Page) -> None:
    """“JONAS” is nested in “JONAS, her son,” and no variant of it; the entity is the same."""
    ask(scene, "b20-24")
    expect(card(scene).locator(".kind")).to_contain_text("Which boundary?")
    boundaries = card(scene).locator(".choice .anchor")
    expect(boundaries).to_contain_text(["[JONAS, her son,]", "[JONAS] , her", "[JONAS, her son] , sits"])
    entity = label(scene, "20-24")
    press(scene, "2")
    expect(last_change(scene)).to_contain_text("Boundary: “JONAS”")
    expect_label(scene, "20-20", f"={entity}")
    expect_in_text(scene, "20-24", there=False)


def test_a_card_names_an_entity_by_words_that_no_other_has(scene: Page) -> None:
    """The nearest mention of the entity is a pronoun, which may be anybody."""
    ask(scene, "q172-174")
    first = card(scene).locator(".choice").first
    expect(first.locator(".anchor")).to_have_text("Your brother")
    expect(first.locator(".others")).to_have_text(re.compile(r"^.+ in line \d+ · .+; \d+ mentions$"))
    press(scene, "1")
    expect(last_change(scene).get_by_text(re.compile(r"→\d+ Your brother$"))).to_be_visible()


def test_a_card_says_the_words_of_an_entity_once_and_where_they_are(
    chromium: Browser, tmp_path: Path
) -> None:
    """Words that are too long are cut off, which must not make them other words."""
    words = ["the", *["very"] * 20, "old", "man", "met", "him", "and", "him"]
    for name, cells in {
        "ann": {1: "(0", 23: "0)", 25: "(0)", 27: "(0)"},
        "bob": {1: "(0", 23: "0)", 25: "(0)", 27: "(0)"},
        "carl": {1: "(0", 23: "0)", 25: "(0)", 27: "(1)"},
    }.items():
        lines = [f"{number}\t{word}\t{cells.get(number, '-')}" for number, word in enumerate(words, 1)]
        text = "\n".join(["#begin document (d);", *lines, "#end document", ""])
        (tmp_path / f"{name}.conll").write_text(text, encoding="utf-8")
    with served(tmp_path, "ann.conll", "bob.conll", "carl.conll") as server, opened(chromium, server) as page:
        choice = card(page).locator(".choice").first
        expect(choice.locator(".anchor")).to_have_text(re.compile("^the very .* very …$"))
        expect(choice.locator(".others")).to_have_text("him in line 1; 2 mentions")


def test_the_last_step_names_another_entity_by_its_words(page: Page) -> None:
    ask(page, "q6-6")
    shown = set(card(page).locator(".choice .chip").all_inner_texts())
    press(page, "6")
    options = page.get_by_role("dialog").get_by_role("option")
    texts = [option.locator(".chip, .gist").all_inner_texts() for option in options.all()]
    number, words = next((number, words) for number, words in texts if number not in shown)
    page.keyboard.type(number)
    press(page, "Enter")
    placed = last_change(page).locator("p", has=page.get_by_label("is in"))
    expect(placed).to_contain_text(f"→{number} {words.split(' · ')[0]}")


def test_the_advice_when_to_stop_stands_above_the_first_question(scene: Page) -> None:
    advice = scene.locator("#queue > :first-child")
    expect(advice).to_contain_text("answer as many as you like")
    advice.locator("summary").click()
    expect(advice).to_contain_text("often about small entities")
    expect(advice).to_contain_text("What an answer costs is how far it goes against the votes")
    ask(scene, "q39-39")
    expect(advice.locator("p").first).to_be_visible()


SAYS = """#begin document (lines);
{}
#end document
"""


def lines_of(*cells: str) -> str:
    """Write three short lines, with cells for each word."""
    words = [["the", "old", "town", "slept"], ["she", "saw", "the", "town"], ["the", "town", "saw", "her"]]
    rows, left = [], iter(cells)
    for line in words:
        rows += [*(f"{number}\t{word}\t{next(left)}" for number, word in enumerate(line, 1)), ""]
    return SAYS.format("\n".join(rows))


@contextmanager
def lines(chromium: Browser, folder: Path, given: dict[str, str], *options: str) -> Iterator[Page]:
    """Open a review of three short lines."""
    for name, cells in given.items():
        (folder / f"{name}.conll").write_text(lines_of(*cells.split()), encoding="utf-8")
    names = [f"{name}.conll" for name in given]
    with served(folder, *names, *options) as server, opened(chromium, server) as shown:
        yield shown


def test_the_last_step_names_every_entity_that_was_ticked(chromium: Browser, tmp_path: Path) -> None:
    """Three mentions of the first entity would leave no room for the second."""
    folder = Path(shutil.copytree(EXAMPLES / "tales" / "miller", tmp_path / "miller"))
    names = sorted(path.name for path in folder.glob("*.conll"))
    with served(folder, *names) as server, opened(chromium, server) as miller:
        ask(miller, "q152-153")
        for box in card(miller).get_by_role("checkbox", name="also this entity").all():
            box.check()
        press(miller, "y")
        expect(last_change(miller).locator(".last-change-label")).to_have_text(
            "Same: “The daughters”, “The girls”, “he”"
        )


def test_what_leaves_an_entity_and_what_is_held_of_it_is_said(chromium: Browser, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(EXAMPLES / "tales" / "miller", tmp_path / "miller"))
    names = sorted(path.name for path in folder.glob("*.conll"))
    with served(folder, *names) as server, opened(chromium, server) as miller:
        ask(miller, "q152-153")
        leaving = card(miller).locator(".choice .leaving")
        expect(leaving).to_have_text(re.compile(r"^“the miller” \(line \d+\) leaves it then"))
        press(miller, "2")
        expect(last_change(miller).locator(".holding")).to_have_text(
            "4 mentions of 1 are held together, so that it stays the entity shown; "
            "questions about them stay open."
        )
        press(miller, "u")
        expect(last_change(miller)).to_contain_text("Undone")
        expect(last_change(miller).locator(".holding")).to_have_count(0)


def test_the_last_step_names_all_that_it_put_somewhere(chromium: Browser, tmp_path: Path) -> None:
    """Also where no answer placed it, and the mention of the chosen entity that was in no chain."""
    folder = Path(shutil.copytree(EXAMPLES / "tales" / "miller", tmp_path / "miller"))
    names = sorted(path.name for path in folder.glob("*.conll"))
    with served(folder, *names) as server, opened(chromium, server) as miller:
        placed = last_change(miller).locator(".placed")
        ask(miller, "q30-31")
        entity = label(miller, "30-31")
        press(miller, "8")
        expect(last_change(miller)).to_contain_text("Alone")
        expect(placed).to_have_text([re.compile(r"a stranger line \d+ →\d+")])
        expect(placed).not_to_contain_text(f"→{entity}")
        press(miller, "u")
        expect(placed).to_have_count(0)
        expect(miller.locator('#queue [data-question="q30-31"]')).to_be_visible()  # the undone question
        ask(miller, "q170-170")
        press(miller, "2")
        expect(placed).to_have_text([re.compile("he line"), re.compile(" line ")])


def test_the_label_and_the_question_ask_the_same(chromium: Browser, tmp_path: Path) -> None:
    """Whoever marked the first “town” says that it is the second one; Cora did not mark it."""
    given = {
        "ann": "- - (1) - - - - (1) - (1) - -",
        "bob": "- - (1) - - - - (1) - (1) - -",
        "cora": "- - - - - - - (1) - (1) - -",
    }
    with lines(chromium, tmp_path, given) as page:
        expect(card(page).locator(".kind")).to_contain_text("A mention?")
        expect(page.locator("#question")).to_have_text(
            "Is “town” a mention, the same as “town” (line 1 and line 2)?"
        )


def test_where_the_result_has_no_boundary_that_is_the_result_and_what_y_says(
    chromium: Browser, tmp_path: Path
) -> None:
    """Two of three marked it, each with another boundary, and neither has enough votes."""
    given = {
        "ann": "(1 1) - - (2) - (1 1) - - - (2)",
        "bob": "(3) - - - (2) - - - (3 3) - (2)",
        "cora": "- - - - (2) - - - - - - (2)",
    }
    with lines(chromium, tmp_path, given, "--variants") as page:
        ask(page, "b1-2")
        expect(card(page).locator(".kind")).to_contain_text("Which boundary?")
        expect(card(page).locator(".choice .tag.result, .choice > kbd:has-text('y')")).to_have_count(0)
        absent = card(page).locator(".other-answers li").filter(has_text="Not a mention")
        expect(absent.locator(".tag.result")).to_have_text("the result")
        expect(absent.locator("> kbd")).to_have_text("y")
        expect(card(page).locator(".sure")).to_contain_text("2 of 3 who saw it against")
        press(page, "y")
        expect(last_change(page)).to_contain_text("Not a mention")
        expect(last_change(page)).to_contain_text("Nothing changed elsewhere")


NO_YES = """async () => {
  const { yesAnswer } = await import("/static/questions/card.js");
  const card = (now, choices) => ({ kind: "link", mention: "3-3", now, choices });
  const other = { now: false, answer: { do: "place" } };
  const said = (now) => yesAnswer(card(now, [other, other]), new Set())?.do ?? null;
  return ["entity", "absent", "alone"].map(said);
}"""


def test_y_does_nothing_where_the_result_is_an_entity_that_the_card_does_not_show(page: Page) -> None:
    assert page.evaluate(NO_YES) == [None, "absent", "alone"]


def test_mentions_of_equal_words_are_named_with_their_lines(chromium: Browser, tmp_path: Path) -> None:
    """Bob and Cora put the two towns into no chain, so the result has them in none."""
    given = {
        "ann": "- - - - - - (1 1) (1 1) - -",
        "bob": "- - - - - - (1 1) (2 2) - -",
        "cora": "- - - - - - (1 1) (2 2) - -",
    }
    with lines(chromium, tmp_path, given, "--singletons", "vote") as page:
        expect(page.locator("#question")).to_have_text(
            "Is “the town” the same as “the town” (line 3 and line 2)?"
        )
        press(page, "1")
        expect(last_change(page).locator(".placed")).to_have_text(["the town line 3 →1 the town"])
