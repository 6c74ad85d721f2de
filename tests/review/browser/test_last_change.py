"""What the last step changed, elsewhere and of what it is about.

A search that continues may move the same mention several times; only its first and last chain count.
"""

import re
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from bench.browser import served
from tests.review.browser.actions import last_change, press
from tests.review.browser.conftest import opened

ADD = """async (updates) => {
  const { LastChange } = await import("/static/panels/last_change.js");
  const app = {
    store: { state: { cost: { value: 1 }, decisions: [] }, words: () => "word" },
    text: { showChanged: () => {} },
    minimap: { draw: () => {} },
  };
  const root = document.createElement("section");
  const last = new LastChange(root, app);
  const update = (changed) => ({ full: false, cost: { value: 1 }, changed, mentions: {} });
  last.begin("Step", update([]), { chains: {}, cost: { value: 1 }, decisions: [] });
  for (const changed of updates) last.add(update(changed));
  return [...root.querySelectorAll("[data-change]")].map((item) =>
    [item.dataset.change, item.querySelector(".from-to").textContent]);
}"""


def moved(source: str | None, target: str | None) -> list[dict[str, str | None]]:
    return [{"mention": "5-5", "from": source, "to": target}]


def test_only_the_first_and_the_last_chain_of_a_mention_count(page: Page) -> None:
    assert page.evaluate(ADD, [moved("1", "2"), moved("2", "3")]) == [["5-5", "1→3"]]
    assert page.evaluate(ADD, [moved(None, "2"), moved("2", "3")]) == [["5-5", "–→3"]]
    assert page.evaluate(ADD, [moved("1", None), moved(None, "1")]) == []
    assert page.evaluate(ADD, [moved(None, "2"), moved("2", None)]) == []


def test_mentions_of_the_step_that_leave_the_result_are_named(chromium: Browser, tmp_path: Path) -> None:
    text = "#begin document (pair);\n1\tAnna\t{}\n2\tsang\t-\n3\tshe\t{}\n#end document\n"
    for name, one in (("ann", "(1)"), ("bob", "(1)"), ("carl", "-")):
        (tmp_path / f"{name}.conll").write_text(text.format(one, one), encoding="utf-8")
    with served(tmp_path, "ann.conll", "bob.conll", "carl.conll") as server, opened(chromium, server) as page:
        expect(page.locator("#question")).to_have_text("Is “she” the same as “Anna”?")
        press(page, "n")
        expect(last_change(page)).to_contain_text(re.compile("Anna.*and.*she.*are no longer in the result"))
        expect(last_change(page)).to_contain_text("Nothing changed elsewhere.")
        press(page, "u", "x")
        expect(last_change(page)).not_to_contain_text("no longer in the result")
