"""SVG plots for HTML pages: disputed mentions and cost by kind, links kept, disputed links along the text.

The numbers of every plot are also given in words.
"""

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from caspr.disputes.disputes import links_by_mention
from caspr.measures.typology import DisagreementCounts
from caspr.report.disagreements import AGAINST_GOLD, TITLES, share
from caspr.report.explained_report import ExplainedDocument

WIDTH = 640
"""The width of a drawing, in its own units."""
BINS = 64
"""The number of bins that a text is divided into."""

Bar = tuple[str, Sequence[tuple[str, float]]]
"""A label and the lengths of the parts of a bar, each with its class."""


def kind_plot(counts: DisagreementCounts) -> str:
    """Draw how many mentions are disputed, by kind."""
    bars: list[Bar] = [
        (f"{TITLES[kind]}: {number:,}", [(f"kind-{kind}", number)]) for kind, number in counts.kinds.items()
    ]
    return _bars("Disputed mentions by kind", bars)


def departure_plot(counts: DisagreementCounts) -> str:
    """Draw in how many mentions an annotator departs from the gold standard, by kind and direction."""
    bars: list[Bar] = [
        (f"{name}: {counts.directed[key]:,}", [(f"kind-{key[0]}", counts.directed[key])])
        for key, name in AGAINST_GOLD.items()
        if counts.directed.get(key)
    ]
    return _bars("Differences from the gold standard", bars)


def annotator_plot(departures: Mapping[str, DisagreementCounts]) -> str:
    """Draw in which share of the mentions each annotator departs from the gold standard, by kind.

    Shares, because annotators need not have annotated equally much.
    """
    bars: list[Bar] = [
        (
            f"{name}: {share(counts.disputed, counts.mentions)}",
            [(f"kind-{kind}", number / max(1, counts.mentions)) for kind, number in counts.kinds.items()],
        )
        for name, counts in departures.items()
    ]
    legend = "".join(
        f'<li><span class="key kind-{kind}"></span> {_text(title)}</li>' for kind, title in TITLES.items()
    )
    drawn = _bars("Share of the mentions in which each annotator departs from the gold standard", bars)
    return f'{drawn}<ul class="legend" aria-hidden="true">{legend}</ul>' if drawn else ""


def cost_plot(document: ExplainedDocument) -> str:
    """Draw the cost by kind."""
    costs = document.result.costs
    kinds = (("omitted", costs.omitted), ("used", costs.used), ("invented", costs.invented))
    bars: list[Bar] = [(f"{kind} {cost:,}", [(kind, cost)]) for kind, cost in kinds]
    return _bars("Cost by kind", bars)


def share_plot(document: ExplainedDocument) -> str:
    """Draw how many of each annotator's links were kept."""
    bars: list[Bar] = [
        (
            f"{share.annotator}: {share.kept:,} of {share.given:,} links kept, {share.added:,} added",
            [("used", share.kept), ("given", share.given - share.kept)],
        )
        for share in document.shares
    ]
    return _bars("Links of each annotator that are in the result", bars)


def place_plot(document: ExplainedDocument) -> str:
    """Draw how many disputed links there are along the text."""
    tokens = len(document.result.document.tokens)
    bins = min(BINS, max(1, tokens))
    heights = [0] * bins
    for span, count in links_by_mention([dispute for dispute, _ in document.disputes]):
        heights[(span.start - 1) * bins // tokens] += count
    top = max(heights, default=0)
    if not top:
        return ""
    step = WIDTH / bins
    drawn = []
    for number, height in enumerate(heights):
        tall = 80 * height / top
        stretch = f"tokens {number * tokens // bins + 1} to {(number + 1) * tokens // bins}: {height:,}"
        drawn.append(
            f'<rect class="bar" x="{number * step:.1f}" y="{86 - tall:.1f}" width="{step * 0.9:.1f}" '
            f'height="{tall:.1f}"><title>{stretch}</title></rect>'
        )
    label = f"Disputed links along the text, from token 1 to {tokens:,}; at most {top:,} in one stretch"
    axis = f'<line class="axis" x1="0" x2="{WIDTH}" y1="86.5" y2="86.5"></line>'
    return _figure(label, _drawing(90, [*drawn, axis]))


def _bars(label: str, bars: Sequence[Bar]) -> str:
    top = max((sum(length for _, length in parts) for _, parts in bars), default=0)
    if not top:
        return ""
    rows = []
    for words, parts in bars:
        drawn, x = [], 0.0
        for kind, length in parts:
            width = WIDTH * length / top
            drawn.append(f'<rect class="{kind}" x="{x:.1f}" y="0" width="{width:.1f}" height="12"></rect>')
            x += width
        rows.append(f"<li><bdi>{_text(words)}</bdi>{_drawing(12, drawn)}</li>")
    return _figure(label, f'<ul class="plain">{"".join(rows)}</ul>')


def _figure(label: str, content: str) -> str:
    return f'<figure><figcaption class="soft">{_text(label)}</figcaption>{content}</figure>'


def _drawing(height: int, parts: Iterable[str]) -> str:
    """Return an SVG as wide as the page; hidden from screen readers, which read the words beside it."""
    return (
        f'<svg aria-hidden="true" viewBox="0 0 {WIDTH} {height}" height="{height}" '
        f'preserveAspectRatio="none">{"".join(parts)}</svg>'
    )


def _text(words: str) -> str:
    return escape(words, quote=True)
