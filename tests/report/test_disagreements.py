"""Disagreements in words and on pages: all of them, in text order, with what each side says."""

import re
from html import unescape
from typing import Any

from caspr.adjudication import adjudicate_document
from caspr.measures.comparison import against_gold, compare, deviations
from caspr.measures.typology import DisagreementKind, classify
from caspr.report.comparison_tables import counts_values
from caspr.report.corpus_page import counts_of, overview_page
from caspr.report.disagreements import companion, examples, named, says
from caspr.report.explained_report import explained
from caspr.report.feedback_page import LABELS, feedback_page
from caspr.report.html_pages import report_page, stretches
from caspr.task.settings import Settings, change
from caspr.text.coverage import Coverage
from caspr.text.document import Document, Span
from tests.report.results import HOSTILE, annotated, decided_result, hostile_result, random_results
from tests.report.test_html_pages import Checker, check

WORDS = ["the", "man", "saw", "his", "dog", "and", "him", "there"]


def test_who_says_what() -> None:
    one = annotated("ann", [[(1, 2), (4, 4), (7, 7)], [(5, 5), (8, 8)]], WORDS)
    other = annotated("bob", [[(1, 2), (7, 7)], [(4, 4), (5, 5), (8, 8)]], WORDS)
    typology = classify([one, other])
    (found,) = typology.disagreements
    assert named(says(one.document, typology, found)) == "with “the man”: ann; with “dog”: bob"
    assert companion(found, 1) == Span(5, 5)
    (example,) = examples(compare([[one, other]]), DisagreementKind.ENTITY)
    assert example.disagreement == found
    assert example.line == "“his” (with “the man”: ann; with “dog”: bob)"


def test_what_an_annotator_did_not_see_is_no_difference() -> None:
    halves = {
        "ann": [[(1, 1), (4, 4)]],
        "bob": [[(5, 5), (8, 8)]],
        "cem": [[(1, 1), (4, 4)], [(5, 5), (8, 8)]],
    }
    given = [annotated(name, chains, WORDS) for name, chains in halves.items()]
    coverage = Coverage.of({"ann": [(1, 4)], "bob": [(5, 8)]})
    for settings, number in (Settings(), 2), (change(Settings(), {"coverage": coverage}), 0):
        result = adjudicate_document(given, settings=settings)
        page = feedback_page("ann", against_gold([result])["ann"], [result])
        assert page.count("<blockquote") == number


def test_a_page_says_whether_an_adjudicator_decided() -> None:
    given = [annotated(name, [[(1, 1), (4, 4)]], WORDS) for name in ("ann", "bob")]
    plain = adjudicate_document(given)
    for result, decided in (plain, False), (decided_result(), True):
        page = feedback_page("ann", against_gold([result])["ann"], [result])
        assert ("what an adjudicator decided" in page) is decided


def test_both_boundaries_can_be_seen_in_a_passage() -> None:
    long, short = Span(2, 6), Span(3, 4)
    for yours, gold in ((long, short), (short, long)):
        found = stretches(Document("d", tuple(WORDS)), {"yours": yours, "gold": gold})
        assert {name for _, name in found} == {"", "yours", "gold"}


def test_a_page_for_each_annotator_shows_every_difference_once() -> None:
    for result in random_results(11, 15, odd=True):
        standings = against_gold([result])
        for annotation in result.instance.annotations:
            name = annotation.annotator
            page = feedback_page(name, standings[name], [result])
            check(page)
            counts = deviations([result])[name]
            assert page.count("<blockquote") == counts.disputed
            for key, number in counts.directed.items():
                heading = re.search(rf"<h3>{re.escape(LABELS[key])}</h3> <span[^>]*>(\d+) ", unescape(page))
                assert heading is not None
                assert int(heading[1]) == number


def test_the_report_speaks_of_mentions_before_any_cost() -> None:
    result = hostile_result()
    page = report_page(explained([result]), "title")
    words = "".join(check(page).text)
    assert "They disagree about" in words
    assert words.index("They disagree about") < words.index("What annotators disagree about")
    assert words.index("What annotators disagree about") < words.index("cost")
    assert any(token in words for token in HOSTILE)


def row(name: str, **values: Any) -> dict[str, Any]:
    return {"document": name, "status": "optimal", "value": 3, "bound": 3, "annotators": 2, **values}


def test_the_overview_of_a_corpus() -> None:
    (result,) = random_results(3, 1)
    counts = classify(result.instance.annotations).counts
    finding = {
        "code": "odd-thing",
        "severity": "warning",
        "message": "<b>3 odd things",
        "count": 3,
        "where": "a",
    }
    lacking = {**finding, "code": "lacking", "message": "document 'noisy' lacks ann", "where": "noisy"}
    told = {
        "disagreement": counts_values(counts),
        "departures": {name: counts_values(one) for name, one in deviations([result]).items()},
        "agreement": {"passonneau": 0.12345},
    }
    rows = [
        row("calm", findings=[]),
        row("noisy", **told, findings=[finding, finding, lacking], report="reports/noisy.html"),
        row("gap", bound=1, findings=[]),
        {"document": "broken", "status": "failed", "reason": "no such file"},
        {"document": "alone", "status": "left out", "reason": "only ann annotated it"},
    ]
    names = ("value", "bound", "omitted", "used", "invented")
    totals = {"documents": 5, "proven": 2, "gaps": 1, "failed": 1, "left_out": 1, "agreement": 0.12345}
    page = "".join(overview_page(rows, totals | dict.fromkeys(names, 7), "Corpus"))
    checker = Checker()
    checker.feed(page)
    words = re.sub(r"\s+", " ", "".join(checker.text))
    assert checker.open == []
    assert f"{counts.disputed} of {counts.mentions} mentions" in words
    assert "<b>3 odd things; the same 1 more time" in words
    assert "odd-thing" not in words
    assert "document 'noisy' lacks ann" in words
    assert "noisy: document 'noisy'" not in words, "a document is named once"
    assert "0.12 " in words
    assert "0.12345" not in words
    assert re.search("Fix what failed: broken: no such file", words)
    assert re.search("Search longer: gap: cost 3, bound 1", words)
    table = words[words.index("Most disputed first") :]
    assert table.index("noisy") < table.index("calm")
    assert words.index("What needs a person next") < words.index("Cost")


def test_counts_survive_json() -> None:
    for result in random_results(5, 10):
        counts = classify(result.instance.annotations).counts
        assert counts_of(counts_values(counts)).kinds == counts.kinds
