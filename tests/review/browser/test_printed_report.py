"""A report on paper: what a reader decides by, on a few pages."""

import random
import re
from pathlib import Path

from playwright.sync_api import Browser

from bench.corpora import make_document, novel
from caspr.adjudication import adjudicate_document
from caspr.report.explained_report import explained
from caspr.report.html_pages import report_page

PAGES = 10


def test_a_report_on_hundreds_of_disputes_takes_fewer_than_ten_pages(
    chromium: Browser, tmp_path: Path
) -> None:
    shape = novel(tokens=6_000, mentions=900, longest=200)
    report = explained([adjudicate_document(make_document(shape, random.Random(1)).annotations)])
    assert len(report.documents[0].disputes) > 500
    (tmp_path / "report.html").write_text(report_page(report, "report"), encoding="utf-8")
    page = chromium.new_page()
    page.goto((tmp_path / "report.html").as_uri())
    rows = page.locator(".disputes >> nth=0 >> tbody tr")
    assert rows.count() == 50
    assert rows.last.is_visible()
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf())) < PAGES
    page.close()
