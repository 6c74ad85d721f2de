"""Pages: nothing hostile survives, nothing is fetched, mentions nest; also in a real browser."""

import json
import os
import random
import re
import shutil
import subprocess
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings

from caspr.adjudication import adjudicate
from caspr.cli.shared.reports import feedback_texts, report_text
from caspr.disputes import MOST_SHOWN
from caspr.report.explained_report import explain, shared_ids
from caspr.report.html_pages import TextPiece, passages
from caspr.task.decisions import Decisions, Statement, StatementKind
from caspr.task.own_rules import RuleFile
from caspr.text.document import Annotation, Chain, Document, Span
from tests.formats.documents import annotations as drawn_annotations
from tests.report.results import HOSTILE, annotated, decided_result, hostile_result, random_results, renamed
from tests.sweeps import how_many

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
REQUIRED = os.environ.get("CASPR_BROWSER") == "required"
EMPTY = {"meta", "input", "rect", "line", "br"}


class Checker(HTMLParser):
    """Collects what a page consists of, and sees that every element is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
        self.links.extend(value or "" for name, value in attrs if name in ("href", "src", "action", "data"))
        self.ids.extend(value or "" for name, value in attrs if name == "id")
        if tag not in EMPTY - {"rect", "line"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def check(page: str) -> Checker:
    """Check what holds for every page."""
    checker = Checker()
    checker.feed(page)
    assert checker.open == []
    assert not checker.tags & {"img", "iframe", "object", "embed", "link", "base", "form", "b>"}
    assert not {
        name for name in checker.attributes if name.startswith("on") or name in ("style", "src", "action")
    }
    assert all(link.startswith("#") for link in checker.links)
    assert {link[1:] for link in checker.links} <= set(checker.ids)
    assert len(set(checker.ids)) == len(checker.ids)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert "default-src &#39;none&#39;" in policy[1]
    assert "unsafe" not in policy[1]
    assert "http" not in policy[1]
    return checker


def test_hostile_text_is_text() -> None:
    result = hostile_result()
    pages = [report_text([result], "html"), *feedback_texts([result], Path("f")).values()]
    for page in pages:
        words = "".join(check(page).text)
        assert any(token in words for token in HOSTILE) or "0 differences" in words
        assert page.count("<script") == (1 if page == pages[0] else 0)
    assert {path.as_posix() for path in feedback_texts([result], Path("f"))} == {
        "f/b_ann.html",
        "f/b_b.html",
        "f/c.html",
    }


@pytest.mark.parametrize("format", ["text", "md"])
def test_no_control_characters_in_text(format: str) -> None:
    text = report_text([hostile_result()], format)
    assert "\x1b" not in text
    assert "\u202e" not in text
    if format == "md":
        assert "<script" not in text.replace("\\<script", "")
        tables = [line for line in text.splitlines() if line.startswith("|")]
        assert {len(re.findall(r"(?<!\\)\|", line)) for line in tables} == {3, 4, 4 + 1, 9, 5, 10}


def test_what_rules_derived_is_said_in_pages_and_in_markdown() -> None:
    rules = RuleFile("ours.lp", 'forbid_mention(M) :- lower_text(M,"two").')
    [result] = adjudicate(
        [[annotated(name, [[(1, 1), (2, 2)]], ["one", "two"])] for name in "ab"], rules=rules
    )
    said = "your rule 'forbid_mention(M) :- lower_text(M,\"two\").' (ours.lp:1): 1 mention ruled out"
    assert f"* note: {said}" in re.sub(r"\\(.)", r"\1", report_text([result], "md"))
    assert said in unescape(report_text([result], "html"))


def test_pages_of_many_small_results() -> None:
    results = [*random_results(4, 12, odd=True), decided_result()]
    for result in results:
        check(report_text([result], "html"))
    several = [results[0], results[-1], *random_results(5, 4)]
    page = report_text([renamed(one, f"d{number}") for number, one in enumerate(several)], "html")
    assert check(page).tags >= {"details", "table", "svg", "main", "nav"}
    assert " and 5 more" in page


def test_same_bytes_whatever_the_time_it_took() -> None:
    from dataclasses import replace

    result = hostile_result()
    for format in ("html", "json", "text", "md"):
        assert report_text([result], format) == report_text([replace(result, seconds=99.0)], format)


def plain(pieces: tuple[TextPiece, ...]) -> list[str]:
    """Check that pieces nest, and return the tokens."""
    begun: list[str] = []
    for piece in pieces:
        if piece.kind == "open":
            begun.append(piece.chain)
        elif piece.kind == "close":
            assert begun.pop() == piece.chain
    assert begun == []
    return [piece.text for piece in pieces if piece.kind == "tokens"]


@given(drawn_annotations())
@settings(deadline=None, max_examples=how_many(150))
def test_passages_hold_every_token_and_mention(annotation: Annotation) -> None:
    chains = (*annotation.chains, *annotation.singletons)
    words = annotation.document.tokens
    found = list(passages(annotation.document, chains, apart=range(1, len(words) + 1)))
    assert tuple(token for one in found for token in plain(one.pieces)) == words
    together = [text for one in passages(annotation.document, chains) for text in plain(one.pieces)]
    assert " ".join(together) == " ".join(words)
    wholes = [piece for one in found for piece in one.pieces if piece.kind == "open" and piece.whole]
    assert len(wholes) == sum(len(chain.mentions) for chain in chains)


def test_long_texts_are_cut_and_long_mentions_continued() -> None:
    document = Document("d", ("word", "word", ".") * 400)
    found = list(
        passages(document, [Chain.of("1", [(2, 1100), (5, 6)]), Chain.of("2", [(4, 5), (1190, 1200)])])
    )
    assert [one.start for one in found] == [1, 301, 601, 901, 1102, 1162]
    for one in found:
        plain(one.pieces)


def test_shared_ids_match_chains_by_overlap() -> None:
    words = ["a", "b", "c", "d", "e"]
    gold = annotated("gold", [[(1, 1), (2, 2), (3, 3)], [(4, 4), (5, 5)]], words)
    one = annotated("one", [[(1, 1), (4, 4)], [(2, 2), (3, 3)], [(5, 5), (1, 2)]], words)
    (column,) = shared_ids(gold, [one])
    assert column[Span(2, 2)] == ("1",)
    assert column[Span(1, 1)] == column[Span(4, 4)] == ("2",)
    assert column[Span(5, 5)] == ("x1",)
    assert shared_ids(gold, [one, one])[1] == column


@pytest.mark.skipif(
    CHROMIUM is None and not REQUIRED, reason="no Chromium (Debian: apt-get install chromium)"
)
def test_in_a_real_browser(tmp_path: Path) -> None:
    """The page's own script runs under its policy, and nothing else does."""
    path = tmp_path / "report.html"
    path.write_text(report_text([hostile_result()], "html"), encoding="utf-8")
    done = subprocess.run(
        [
            str(CHROMIUM),
            *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
            *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
            f"--user-data-dir={tmp_path / 'profile'}",
            "--dump-dom",
            path.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if not REQUIRED and (done.returncode or "<html" not in done.stdout):
        pytest.skip(f"Chromium does not start here: {done.stderr[-200:]}")
    assert "<title>&lt;i&gt;doc&lt;/i&gt;</title>" in done.stdout
    assert re.search(r'<div class="filter" data-for="d1-list">', done.stdout), "the page's script did not run"


def test_variants_that_were_united_are_one_row_with_the_other_boundaries_below() -> None:
    words = ["The", "old", "baker", "opened", "her", "shop"]
    annotations = [
        annotated("anna", [[(1, 3), (5, 5)]], words),
        annotated("ben", [[(1, 3), (5, 5)]], words),
        annotated("clara", [[(2, 3), (5, 5)]], words),
    ]
    [result] = adjudicate([[one] for one in annotations], variants=True)
    document = explain(result)
    gold = result.gold.chains[0].id
    assert document.columns[2] == {Span(1, 3): (gold,), Span(5, 5): (gold,)}
    assert document.other_boundaries(Span(1, 3)) == [(Span(2, 3), ("clara",))]
    assert document.other_boundaries(Span(5, 5)) == []
    page = report_text([result], "html")
    assert "as <bdi>“old baker”</bdi>: clara" in page
    [apart] = adjudicate([[one] for one in annotations], variants=False)
    assert Span(2, 3) in explain(apart).columns[2]
    assert explain(apart).other_boundaries(Span(1, 3)) == []


def test_a_report_for_people_shows_what_matters_most_and_counts_the_rest() -> None:
    """Three annotators put 150 mentions into seven chains each, so that most pairs are disputed."""
    rng, words = random.Random(1), [f"w{number}" for number in range(1, 151)]
    annotations = []
    for name in ("ann", "bob", "cleo"):
        chains: list[list[tuple[int, int]]] = [[] for _ in range(7)]
        for number in range(1, 151):
            rng.choice(chains).append((number, number))
        annotations.append(annotated(name, chains, words))
    [result] = adjudicate([[one] for one in annotations], time_limit=1, prices=0)
    everything = explain(result).disputes
    assert len(everything) > MOST_SHOWN
    sentence = f"Of {len(everything):,} disputes, the 1,000 that matter most are shown here; the report for"
    for format in ("html", "text", "md"):
        assert sentence in report_text([result], format)
    assert report_text([result], "html").count("<tr data-reason=") == MOST_SHOWN
    assert explain(result, MOST_SHOWN).disputes == everything[:MOST_SHOWN]
    assert len(json.loads(report_text([result], "json"))["documents"][0]["conflicts"]) == len(everything)


def test_what_an_adjudicator_decided_comes_first_although_it_is_sure() -> None:
    """There are more disputes than a page shows, and all but two are less sure than those decided."""
    rng, words = random.Random(1), [f"w{number}" for number in range(1, 151)]
    annotations = [
        annotated(name, [[(n, n) for n in range(1, 151) if parts[n] == part] for part in range(7)], words)
        for name in ("ann", "bob", "cleo")
        for parts in [[rng.randrange(7) for _ in range(151)]]
    ]
    pairs = [(Span(3, 3), Span(140, 140)), (Span(5, 5), Span(60, 60))]
    held = Statement.of(StatementKind.ENTITY, [(7, 7), (8, 8)])
    apart = [Statement.of(StatementKind.APART, pair) for pair in pairs]
    decisions = Decisions.of(statements=[*apart, held])
    [result] = adjudicate([[one] for one in annotations], decisions=decisions, time_limit=1, prices=0)
    explained = explain(result, MOST_SHOWN).disputes
    assert len(explained) == MOST_SHOWN < len(explain(result).disputes)
    first = [dispute.pair for dispute, why in explained if why.reason == "decision"]
    disputed = [pair for pair in pairs if result.instance.votes.evidence(*pair).k]
    assert disputed, "somebody linked one of them"
    assert first[: len(disputed)] == [dispute.pair for dispute, _ in explained[: len(disputed)]] == disputed
    values = [dispute.confidence.value for dispute, _ in explained[len(disputed) :]]
    assert values == sorted(values), "the others are in the order of what matters"
    page = report_text([result], "html")
    assert '<tr data-reason="decision">' in page
    assert "What the adjudicator decided comes first" in page
    assert "<bdi>An adjudicator gave 3 answers; all else was merged automatically.</bdi>" in page


def test_reasons_name_the_only_person_who_decided() -> None:
    by_ann = report_text([decided_result()], "text", {"Ann": 2})
    assert "decision: Ann " in by_ann
    assert "decision: the adjudicator" not in by_ann
    for answers in ({}, {"Ann": 2, "Ben": 1}, {"Ann": 2, "editor": 1}):
        assert "decision: the adjudicator " in report_text([decided_result()], "text", answers)


def test_who_decided_is_said_first_and_is_text() -> None:
    answers = {"<b>Ann": 2, "editor": 1}
    said = "An adjudicator (<b>Ann: 2; by hand: 1) gave 3 answers; all else was merged automatically."
    page = report_text([decided_result()], "html", answers)
    words = "".join(check(page).text)
    assert words.index(said) < words.index("What annotators disagree about")
    assert report_text([decided_result()], "text", answers).startswith(said)
    assert said in re.sub(r"\\(.)", r"\1", report_text([decided_result()], "md", answers))
    for format in ("html", "text", "md"):
        assert "merged automatically" not in report_text([hostile_result()], format)


def test_those_who_share_no_text_dispute_nothing_on_a_page() -> None:
    one, other = (
        annotated(name, [[(1, 1), (3, 3)], [(2, 2), (end, end)]], HOSTILE)
        for name, end in (("ann", 5), ("bob", 6))
    )
    [first] = adjudicate([[one], [other]])
    [second] = adjudicate([[replace(one, annotator="cia")], [replace(other, annotator="dan")]])
    page = report_text([renamed(first, "1"), renamed(second, "2")], "html")
    table = page.partition("Mentions disputed between each pair of annotators")[2].partition("</table>")[0]
    rows = [re.findall(r"<td[^>]*>([^<]*)", row) for row in table.split("<tr>")[2:]]
    assert [[cell.strip() for cell in row] for row in rows] == [
        ["", "2", "-", "-"],
        ["2", "", "-", "-"],
        ["-", "-", "", "2"],
        ["-", "-", "2", ""],
    ]
