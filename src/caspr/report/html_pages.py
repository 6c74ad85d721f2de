"""HTML pages: a report, or another page of `pages/`, as one file that loads nothing from elsewhere.

The content security policy of a page allows only its own style and script, by their hashes: text of tokens or
names could not run even if it were not escaped, which it is.

Mentions may cross, HTML elements may not. So `passages` yields the text as properly nested pieces: where a
mention ends inside another that began after it, the second is closed together with the first and opened again
immediately, as a continuation. A single mention is shown in a few words of its context (`stretches`, `kwic`).

Plots are SVG, and their numbers are given in words, too.
"""

import base64
import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from caspr.disputes import Dispute, Explanation, links_by_mention
from caspr.measures.typology import DisagreementCounts, DisagreementKind
from caspr.report.comparison_tables import KINDS, NumberStyle, decimal, singletons_phrase
from caspr.report.disagreements import (
    AGAINST_GOLD,
    TITLES,
    deviation_sentence,
    disagreement_sentence,
    examples,
    share,
)
from caspr.report.explained_report import ExplainedDocument, Report, decided, entities, flags_of, price
from caspr.report.summary import entities as counted
from caspr.report.summary import outcome
from caspr.task.objectives import OBJECTIVES, Objective
from caspr.text.document import Chain, Document, Span
from caspr.text.findings import shorten, times

SENTENCE_ENDS = frozenset(".!?…。！？؟।")
"""Tokens at which a passage may end."""
CONTEXT = 12
"""How many tokens are shown before and after a single mention."""
WANTED, LONGEST = 60, 300
"""How many tokens a passage should have, and may have at most."""


Stretches = list[tuple[str, str]]
"""Text in stretches, each with the name of what is marked there, or nothing."""


class TextPiece(NamedTuple):
    """Some tokens, or the beginning or end of (a part of) a mention."""

    kind: str
    """`tokens`, `open` or `close`."""
    text: str = ""
    chain: str = ""
    whole: bool = True
    """For `open`, whether the mention starts here; for `close`, whether it ends here."""
    number: int = 0
    """For `tokens`, the first of them."""
    first: bool = False
    """For `close`, whether no earlier mention of the passage is of this chain."""


@dataclass(frozen=True)
class Passage:
    """Some sentences."""

    start: int
    pieces: tuple[TextPiece, ...]


@dataclass(frozen=True)
class _OpenMention:
    """A mention that has begun and not ended."""

    span: Span
    chain: str


def passages(
    document: Document, chains: Iterable[Chain], apart: Collection[int] = frozenset()
) -> Iterator[Passage]:
    """Yield the text of a document with the mentions of chains.

    Tokens with no end of a mention between them are one piece; each of those that are `apart` is a piece.
    """
    starting: dict[int, list[_OpenMention]] = defaultdict(list)
    for chain in chains:
        for span in chain.mentions:
            starting[span.start].append(_OpenMention(span, chain.id))
    begun: list[_OpenMention] = []
    pieces: list[TextPiece] = []
    first, tokens = 1, 0
    for number, token in enumerate(document.tokens, start=1):
        for mention in sorted(
            starting.get(number, ()), key=lambda mention: (-mention.span.end, mention.chain)
        ):
            begun.append(mention)
            pieces.append(_open(mention, whole=True))
        _add_token(pieces, number, token, apart)
        tokens += 1
        _close_ended(begun, number, pieces)
        sentence = tokens >= WANTED and token in SENTENCE_ENDS and not begun
        if sentence or tokens >= LONGEST:
            pieces.extend(_close(mention, whole=False) for mention in reversed(begun))
            yield Passage(first, _with_first(pieces))
            first, tokens = number + 1, 0
            pieces = [_open(mention, whole=False) for mention in begun]
    if tokens:
        yield Passage(first, _with_first(pieces))


def _add_token(pieces: list[TextPiece], number: int, token: str, apart: Collection[int]) -> None:
    """Add a token to the piece before it, or as a piece of its own."""
    last = pieces[-1] if pieces else None
    if last is None or last.kind != "tokens" or number in apart or last.number in apart:
        pieces.append(TextPiece("tokens", token, number=number))
    else:
        pieces[-1] = last._replace(text=f"{last.text} {token}")


def _with_first(pieces: Iterable[TextPiece]) -> tuple[TextPiece, ...]:
    """Mark the first mention of each chain to end in a passage: there the name of the entity is shown."""
    seen: set[str] = set()
    marked = []
    for piece in pieces:
        ends = piece.kind == "close" and piece.whole
        marked.append(piece._replace(first=True) if ends and piece.chain not in seen else piece)
        if ends:
            seen.add(piece.chain)
    return tuple(marked)


def _close_ended(begun: list[_OpenMention], number: int, pieces: list[TextPiece]) -> None:
    """Close the mentions that end at a token; those that began later and continue are reopened."""
    continued: list[_OpenMention] = []
    while any(mention.span.end == number for mention in begun):
        mention = begun.pop()
        ends = mention.span.end == number
        pieces.append(_close(mention, whole=ends))
        if not ends:
            continued.append(mention)
    for mention in reversed(continued):
        begun.append(mention)
        pieces.append(_open(mention, whole=False))


def _open(mention: _OpenMention, *, whole: bool) -> TextPiece:
    return TextPiece("open", chain=mention.chain, whole=whole)


def _close(mention: _OpenMention, *, whole: bool) -> TextPiece:
    return TextPiece("close", chain=mention.chain, whole=whole)


def stretches(document: Document, marks: Mapping[str, Span | None], context: int = CONTEXT) -> Stretches:
    """Return the text around some mentions; where several have a token, it is the shortest one's.

    >>> text = Document("d", ("a", "girl", "from", "Rome"))
    >>> stretches(text, {"yours": Span(1, 4), "gold": Span(1, 2)})
    [('a girl', 'gold'), ('from Rome', 'yours')]
    >>> stretches(text, {"yours": Span(1, 2), "gold": Span(1, 4)})
    [('a girl', 'yours'), ('from Rome', 'gold')]
    """
    marked = [(name, span) for name, span in marks.items() if span is not None]
    spans = dict(sorted(marked, key=lambda mark: mark[1].start - mark[1].end))
    first = max(1, min(span.start for span in spans.values()) - context)
    last = min(len(document.tokens), max(span.end for span in spans.values()) + context)
    parts: list[tuple[list[str], str]] = []
    for token in range(first, last + 1):
        names = [name for name, span in spans.items() if span.start <= token <= span.end]
        name = names[-1] if names else ""
        if not parts or parts[-1][1] != name:
            parts.append(([], name))
        parts[-1][0].append(document.tokens[token - 1])
    return [(" ".join(words), name) for words, name in parts]


def kwic(document: Document, span: Span) -> Stretches:
    """Return a mention with a few words before and after it."""
    return stretches(document, {"yours": span}, CONTEXT // 2)


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
    """Draw in how many mentions an annotator differs from the gold standard, by kind and direction."""
    bars: list[Bar] = [
        (f"{name}: {counts.directed[key]:,}", [(f"kind-{key[0]}", counts.directed[key])])
        for key, name in AGAINST_GOLD.items()
        if counts.directed.get(key)
    ]
    return _bars("Differences from the gold standard", bars)


def annotator_plot(departures: Mapping[str, DisagreementCounts]) -> str:
    """Draw in which share of the mentions each annotator differs from the gold standard, by kind.

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
    drawn = _bars("Share of the mentions in which each annotator differs from the gold standard", bars)
    return f'{drawn}<ul class="legend" aria-hidden="true">{legend}</ul>' if drawn else ""


def cost_plot(document: ExplainedDocument) -> str:
    """Draw the cost by kind."""
    costs = document.result.costs
    bars: list[Bar] = [(f"{kind} {cost:,}", [(kind, cost)]) for kind, cost in costs.by_kind.items()]
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
    for span, count in links_by_mention(document.disputed):
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


if TYPE_CHECKING:
    from jinja2 import Environment

ROWS = 200
"""How many rows of a table are in one foldable part, so that a browser lays out only those that are open."""
COLOURS = 12
"""How many colours there are for chains."""
MEASURES = ("mentions", "muc", "b3", "ceafm", "ceafe", "blanc", "lea", "conll")
"""The measures shown against the gold standard."""

Disputes = Sequence[tuple[Dispute, Explanation]]
"""Disputes, each with the reason of its decision."""


def report_page(report: Report, title: str) -> str:
    """Return the report as an HTML page."""
    documents = list(enumerate(report.documents, start=1))
    return page(
        "report.html",
        title,
        script=_read("script.js"),
        report=report,
        examples=[(kind, examples(report.comparison, kind)) for kind in DisagreementKind],
        anchors={number: _anchors(document) for number, document in documents},
        numbers={number: _numbers(document) for number, document in documents},
    )


def page(template: str, title: str, *, script: str = "", **values: Any) -> str:
    """Return a page as a whole."""
    return "".join(rendered(template, title, script=script, **values))


def fragment(template: str, **values: Any) -> str:
    """Return a part of a page, for a notebook."""
    return _environment().get_template(template).render(kinds=KINDS, **values)


def rendered(template: str, title: str, *, script: str, **values: Any) -> Iterator[str]:
    """Yield a page piece by piece."""
    from markupsafe import Markup

    style = _read("style.css")
    allowed = f"style-src {_hash(style)}" + (f"; script-src {_hash(script)}" if script else "")
    policy = f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
    yield from (
        _environment()
        .get_template(template)
        .generate(
            title=title,
            policy=policy,
            style=Markup(style),
            script=Markup(script),
            kinds=KINDS,
            titles=TITLES,
            measures=MEASURES,
            size=ROWS,
            **values,
        )
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _read(name: str) -> str:
    return files("caspr.report").joinpath("pages", name).read_text(encoding="utf-8")


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(_read), autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True
    )
    environment.filters.update(_filters())
    return environment


def _filters() -> dict[str, Callable[..., Any]]:
    from markupsafe import Markup

    return {
        "decimal": decimal,
        "link": quote,
        "shade": _shade,
        "opacity": lambda number: f"{0.6 * max(0.0, min(1.0, float(number or 0))):.2f}",
        "shade_counts": lambda counts: _shade(Fraction(counts.disputed, counts.mentions or 1)),
        "shorten": shorten,
        "where": where,
        "times": times,
        "grouped": lambda number: f"{number:,}",
        "reasons": _reasons,
        "first_apart": _first_apart,
        "outcome": outcome,
        "flags": flags_of,
        "objective": _objective,
        "counted": counted,
        "passages": lambda document, apart: passages(document.result.document, document.result.chains, apart),
        "colour": lambda number: f"k{number % COLOURS}",
        "mention_rows": _mention_rows,
        "part": lambda loop, size, part: f"{(loop.index0 * size) + 1} to {loop.index0 * size + len(part)}",
        "names": lambda names: ", ".join(names) or "nobody",
        "decided": decided,
        "entities": entities,
        "price": price,
        "cost_plot": lambda document: Markup(cost_plot(document)),
        "kind_plot": lambda counts: Markup(kind_plot(counts)),
        "departure_plot": lambda counts: Markup(departure_plot(counts)),
        "annotator_plot": lambda departures: Markup(annotator_plot(departures)),
        "disagreement": disagreement_sentence,
        "departure": deviation_sentence,
        "kwic": lambda row: kwic(row.document, row.disagreement.place),
        "two": NumberStyle(digits=2).text,
        "alone": singletons_phrase,
        "share_plot": lambda document: Markup(share_plot(document)),
        "place_plot": lambda document: Markup(place_plot(document)),
    }


def where(span: Span) -> str:
    """Return the token numbers of a mention, for display.

    >>> where(Span(4, 4)), where(Span(4, 6))
    ('4', '4–6')
    """
    return str(span.start) if span.start == span.end else f"{span.start}–{span.end}"


def _anchors(document: ExplainedDocument) -> frozenset[int]:
    """Return the tokens at which any mention starts."""
    return frozenset(span.start for column in document.columns for span in column) | frozenset(
        span.start for dispute, _ in document.disputes for span in (*dispute.first, *dispute.second)
    )


def _numbers(document: ExplainedDocument) -> dict[str, int]:
    """Number all shared chain ids, those of the gold standard first."""
    ids = [chain.id for chain in document.result.chains]
    ids += [id for column in document.columns for cell in column.values() for id in cell]
    return {id: number for number, id in enumerate(dict.fromkeys(ids))}


def _mention_rows(document: ExplainedDocument) -> list[tuple[Span, list[tuple[str, ...]]]]:
    spans = sorted({span for column in document.columns for span in column})
    return [(span, [column.get(span, ()) for column in document.columns]) for span in spans]


def _shade(number: Fraction | None) -> str:
    return "" if number is None else f"h{max(0, min(10, int(number * 10)))}"


def _first_apart(rows: Sequence[Any], shown: int, size: int) -> Iterator[dict[str, Any]]:
    """Yield rows in parts: some that are shown, and the rest in parts of a size, which are folded away.

    >>> [(part["first"], part["last"]) for part in _first_apart("abcdefg", 2, 3)]
    [(1, 2), (3, 5), (6, 7)]
    """
    for start in (0, *range(shown, len(rows), size)):
        part = rows[start : start + (size if start else shown)]
        yield {"first": start + 1, "last": start + len(part), "rows": part}


def _reasons(disputes: Disputes) -> list[tuple[str, int]]:
    return sorted(Counter(str(explanation.reason) for _, explanation in disputes).items())


def _objective(objective: Objective) -> str:
    name = next((name.upper() for name, known in OBJECTIVES.items() if known == objective), "of its own")
    costs = (f"{kind} {'forbidden' if cost is None else cost}" for kind, cost in asdict(objective).items())
    return f"{name} ({', '.join(costs)})"
