"""For everybody: names, landmarks, contrast in both themes, narrow windows, and text that is hostile."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from bench.browser import served
from tests.review.browser.actions import expect_in_text, mention, press

NAMELESS = """() => {
  const named = (e) => e.getAttribute("aria-label") || e.textContent.trim() || e.title
    || (e.id && document.querySelector(`label[for="${e.id}"]`)) || e.closest("label");
  return [...document.querySelectorAll("button, a, input, select, textarea, summary, [role=tab]")]
    .filter((e) => !named(e)).map((e) => e.outerHTML);
}"""

FAINT = """() => {
  const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const over = (...colours) => {
    pen.clearRect(0, 0, 1, 1);
    for (const colour of colours) { pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1); }
    return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (rgb) => {
    const linear = (v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = rgb.map((v) => linear(v / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const seen = (e) => {
    let share = 1;
    for (; e; e = e.parentElement) share *= Number(getComputedStyle(e).opacity);
    return share;
  };
  const grounds = (e) => {
    const all = [];
    for (; e; e = e.parentElement) all.unshift(getComputedStyle(e).backgroundColor);
    return ["white", ...all];
  };
  const faint = [];
  const look = (e, pseudo, text) => {
    const style = getComputedStyle(e, pseudo);
    const behind = pseudo ? [...grounds(e), style.backgroundColor] : grounds(e);
    const share = Math.round(100 * seen(e) * (pseudo ? Number(style.opacity) : 1));
    const ink = `color-mix(in srgb, ${style.color} ${share}%, transparent)`;
    const [one, other] = [light(over(...behind, ink)), light(over(...behind))].sort((a, b) => b - a);
    const ratio = (one + 0.05) / (other + 0.05);
    if (ratio < 4.5) faint.push([ratio.toFixed(2), text.slice(0, 40), e.className]);
  };
  for (const e of document.querySelectorAll("body *")) {
    if (!e.checkVisibility() || e.closest("[aria-disabled=true], [disabled]")) continue;
    const text = [...e.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data).join("").trim();
    if (text) look(e, null, text);
    if (e.dataset.label) look(e, "::after", e.dataset.label);
    if (e.dataset.n) look(e, "::before", e.dataset.n);
  }
  return faint;
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_names_landmarks_and_contrast(page: Page, theme: str) -> None:
    if theme == "dark":
        page.get_by_label("Help and keys").click()
        page.get_by_role("button", name="Dark").click()
    for landmark in ("banner", "main", "complementary"):
        expect(page.get_by_role(landmark)).to_have_count(1)
    mention(page, "5-5").click()
    press(page, "x")
    expect_in_text(page, "5-5", there=False)
    for key in ("Q", "M", "C", "D", "v", "?"):
        press(page, key)
        page.wait_for_timeout(150)
        assert page.evaluate(NAMELESS) == []
        assert page.evaluate(FAINT) == []


@pytest.mark.parametrize("width", [1280, 800, 390])
def test_nothing_is_cut_off(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 700})
    sizes = "[document.documentElement.scrollWidth, innerWidth]"
    for key in ("Q", "M", "C", "D"):
        press(page, key)
        wide, inner = page.evaluate(sizes)
        assert wide <= inner
    for tab in page.get_by_role("tab").all():
        box = tab.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width


@pytest.mark.parametrize("height", [844, 600])
def test_on_a_phone_the_text_ends_where_the_panel_begins(page: Page, height: int) -> None:
    page.set_viewport_size({"width": 390, "height": height})
    side = page.locator("#side").bounding_box()
    assert side is not None
    for view in ("text", "matrix", "versions"):
        page.locator(f"#tab-{view}").click()
        box = page.locator(f"#{view}").bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= side["y"] + 1


def test_announcements(page: Page) -> None:
    mention(page, "5-5").click()
    press(page, "x")
    live = page.locator("#live")
    expect(live).to_contain_text("cost")
    expect(live).to_have_attribute("aria-live", "polite")
    press(page, "ArrowRight")
    focused = "document.activeElement.getAttribute('aria-label')"
    assert "entity" in page.evaluate(focused)


HOSTILE = [
    "<script>hacked=1</script>",
    '"><img',
    "src=x",
    "onerror=hacked=1>",
    "مرحبا",
    "يا",
    "صديقي",
    "</script><script>hacked=1</script>",
    "👩‍👩‍👧‍👦",
    "\u202eabc",
    "{{7*7}}",
    "W" * 200,
    "\u200b",
    "javascript:hacked=1",
]


@pytest.fixture
def hostile(chromium: Browser, tmp_path: Path) -> Iterator[Page]:
    """Open a document whose words, names and chains try to be more than text."""
    cells = {1: "(1", 4: "1)", 5: "(1", 7: "1)", 9: "(2)", 11: "(2)|(3", 12: "3)", 14: "(3)"}
    for name in ("<img src=x onerror=hacked=1>", "'b' && `c`"):
        rows = [
            f"{number}\t{token}\t{cells.get(number, '-')}" for number, token in enumerate(HOSTILE, start=1)
        ]
        text = "\n".join(["#begin document (<script>hacked=1</script>);", *rows, "#end document", ""])
        (tmp_path / f"{name}.conll").write_text(text, encoding="utf-8")
    files = [path.name for path in tmp_path.iterdir()]
    with served(tmp_path, *files) as server:
        context = chromium.new_context()
        page = context.new_page()
        page.goto(server.url)
        expect(page.locator("html[data-ready]")).to_be_attached()
        yield page
        context.close()


def test_tokens_are_text(hostile: Page) -> None:
    complaints: list[str] = []
    hostile.on("console", lambda message: complaints.append(message.text))
    hostile.on("dialog", lambda dialog: complaints.append(dialog.message))
    expect(hostile.locator('[data-t="1"]')).to_have_text("<script>hacked=1</script>")
    expect(hostile.locator(".line").first).to_have_attribute("dir", "auto")
    press(hostile, "ArrowRight", "Enter", "C", "Escape", "D", "Escape", "v", "v", "j", "i")
    hostile.get_by_role("dialog").get_by_role("textbox").fill("</script><script>hacked=1</script>")
    hostile.get_by_role("dialog").get_by_role("button", name="OK").click()
    press(hostile, "D")
    expect(hostile.locator("#decisions .notes")).to_contain_text("hacked")
    hostile.reload()
    expect(hostile.locator("html[data-ready]")).to_be_attached()
    assert hostile.evaluate("typeof hacked") == "undefined"
    assert hostile.locator("#text img, #text script").count() == 0
    assert [text for text in complaints if "Content Security Policy" in text] == []


def test_at_a_zoom_of_200_percent_a_question_is_read_with_its_choices(page: Page) -> None:
    """A window of 1280 by 800 has 640 by 400 then."""
    page.set_viewport_size({"width": 640, "height": 400})
    expect(page.locator("#queue .card")).to_be_visible()
    page.locator('#queue [data-focus-key="question q6-6"]').click()
    expect(page.locator('#queue [data-question="q6-6"]')).to_be_visible()
    expect(page.locator("#queue .card")).not_to_contain_text("being computed")
    boxes = [page.locator("#question").bounding_box()]
    boxes += [choice.bounding_box() for choice in page.locator("#queue .choice").all()]
    for box in boxes:
        assert box is not None
        assert 0 <= box["y"] <= box["y"] + box["height"] <= 400


@pytest.mark.parametrize("width", [1280, 800, 390])
def test_the_last_step_covers_no_question(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    expect(page.locator("#queue .card")).to_be_visible()
    press(page, "1")
    expect(page.locator("#last-change")).to_be_visible()
    last, queue = page.locator("#last-change").bounding_box(), page.locator("#queue").bounding_box()
    assert last is not None
    assert queue is not None
    assert last["y"] + last["height"] <= queue["y"] + 1 or last["x"] + last["width"] <= queue["x"] + 1
