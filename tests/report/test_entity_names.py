"""Names of entities are wherever their ids are: reports in every form, feedback, overview, notebooks."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

import caspr
from caspr.cli.shared.reports import feedback_texts, report_text
from caspr.report.corpus_page import overview_page
from caspr.report.summary import document_summary
from caspr.result import Result
from caspr.task.instance import Instance
from caspr.task.objectives import OBJECTIVES
from caspr.text.document import Annotation
from tests.report.results import annotated, result_of

WORDS = ["Will", "met", "Mary", ".", "He", "saw", "her", ".", "She", "left", "him"]
WILL, MARY = "Sir <William>", "Lady Mary"


def named(annotation: Annotation, names: Mapping[str, str]) -> Annotation:
    """Give chains names, by their ids."""
    chains = [replace(chain, name=names.get(chain.id, ""), type="person") for chain in annotation.all_chains]
    return Annotation.of(annotation.annotator, annotation.document, chains)


@pytest.fixture(scope="module")
def result() -> Result:
    will, mary = [(1, 1), (5, 5), (10, 10)], [(3, 3), (7, 7), (9, 9)]
    called = {"1": WILL, "2": MARY}
    annotations = [
        named(annotated("ann", [will, mary], WORDS), called),
        named(annotated("bob", [will, mary], WORDS), called),
        annotated("carl", [[(1, 1), (5, 5), (9, 9)], [(3, 3), (7, 7), (10, 10)]], WORDS),
    ]
    found = result_of(Instance(tuple(annotations), replace(OBJECTIVES["va"], omit=3)))
    assert found is not None
    assert [chain.title for chain in found.chains] == [f"1 ({WILL})", f"2 ({MARY})"]
    return found


def test_reports_in_words(result: Result) -> None:
    text, markdown = (report_text([result], form) for form in ("text", "md"))
    for said in (text, markdown.replace("\\", "")):
        assert f"not linked, {WILL} and {MARY}" in said
        assert f"linked in {MARY}" in said
        assert f"most other votes keep {WILL} and {MARY} apart" in said
    [document] = json.loads(report_text([result], "json"))["documents"]
    assert [WILL, MARY] in [one["names"] for one in document["conflicts"]]
    assert [one["name"] for one in document["named_entities"]] == [WILL, MARY]


def test_pages(result: Result) -> None:
    safe = WILL.replace("<", "&lt;").replace(">", "&gt;")
    page = report_text([result], "html")
    assert f"<sub>1 <bdi>{safe}</bdi></sub>" in page
    assert page.count("<sub>1</sub>") == 2, "once in a passage is enough"
    assert f"</span> <bdi>{safe}</bdi>" in page
    assert f"{safe} and {MARY}</bdi></div></td>" in page
    feedback = feedback_texts([result], Path())[Path("carl.html")]
    assert f"in <b><bdi>{MARY}</bdi></b>, with" in feedback
    assert "into <b>" not in feedback, "carl gave no names"
    row = {**document_summary(result), "document": "d", "findings": []}
    totals = dict.fromkeys(
        ("documents", "agreement", "proven", "gaps", "failed", "left_out", "value", "bound", "omitted"), 0
    )
    overview = "".join(overview_page([row], {**totals, "used": 0, "invented": 0}, "title"))
    assert f"{safe} (3), {MARY} (3)" in overview


def test_notebooks(result: Result) -> None:
    pytest.importorskip("pandas")
    mentions, chains = result.to_frame(), result.to_frame("chains")
    assert list(mentions[mentions["start"] == 9]["name"]) == [MARY]
    assert list(chains["name"]) == [WILL, MARY]
    assert set(chains["type"]) == {"person"}
    assert f"1 ({WILL}) and 2 ({MARY})" in set(result.conflicts()["entities"])
    carl = result.annotations[2].to_frame()
    assert carl["name"].isna().all()
    safe = WILL.replace("<", "&lt;").replace(">", "&gt;")
    assert f"<sub>1 <bdi>{safe}</bdi></sub>" in result._repr_html_()


def test_rows_keep_names(result: Result) -> None:
    rows = caspr.to_rows([result.gold])
    [again] = caspr.from_rows(rows, "gold")
    assert [(chain.name, chain.type) for chain in again.chains] == [(WILL, "person"), (MARY, "person")]
    with pytest.raises(caspr.CasprError, match="1 cluster_names for 2 clusters"):
        caspr.from_rows([{**rows[0], "cluster_names": ["x"]}], "gold")
