"""A search that continues may move the same mention several times; only its first and last chain count."""

from playwright.sync_api import Page

ADD = """async (updates) => {
  const { LastChange } = await import("/static/panels/last_change.js");
  const app = {
    store: { state: { cost: { value: 1 } }, words: () => "word" },
    text: { showChanged: () => {} },
    minimap: { draw: () => {} },
  };
  const root = document.createElement("section");
  const last = new LastChange(root, app);
  const update = (changed) => ({ full: false, cost: { value: 1 }, changed });
  last.begin("Step", update([]), { chains: {}, cost: { value: 1 } });
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
