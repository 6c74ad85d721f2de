"""Soft golds: every mention with how sure it is, and what else annotators say."""

import json
from pathlib import Path

import pytest

from caspr import adjudicate, read
from caspr.errors import CasprError
from caspr.formats import corefud, read_all, soft
from caspr.task.decisions import Decisions, Statement, StatementKind
from caspr.text.document import Span
from tests.cli.caller import SONG, Caller
from tests.instances import paper_annotations


def lines(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def test_every_mention_is_there_with_its_votes() -> None:
    [result] = adjudicate([[one] for one in paper_annotations()])
    head, *mentions = lines(soft.write([result.gold]))
    assert head["tokens"] == list(result.document.tokens)
    home = {span: chain.id for chain in result.chains for span in chain.mentions}
    assert {Span(one["start"], one["end"]) for one in mentions} == {*home, *result.instance.votes.marks}  # type: ignore[arg-type]
    for one in mentions:
        span = Span(one["start"], one["end"])  # type: ignore[arg-type]
        assert one["entity"] == home.get(span)
        assert one["text"] == result.document.text(span)
        shares = [one["confidence"], *(other["confidence"] for other in one["alternatives"])]  # type: ignore[attr-defined]
        assert sum(shares) == pytest.approx(1, abs=0.02) or len(shares) == 1
        votes = [*one["votes"], *(name for other in one["alternatives"] for name in other["votes"])]  # type: ignore[attr-defined, misc]
        assert sorted(votes) == sorted(annotation.annotator for annotation in result.annotations)


def test_a_command_writes_it_and_none_reads_it(caspr: Caller, tmp_path: Path) -> None:
    path = tmp_path / "gold.soft.jsonl"
    assert caspr("adjudicate", *SONG, "-o", path, "-q").code == 0
    assert path.read_text(encoding="utf-8") == caspr("adjudicate", *SONG, "--to", "soft", "-q", "-o", "-").out
    with pytest.raises(CasprError, match="only written"):
        read(path)
    refused = caspr("check", path, path)
    assert refused.code == 2
    assert "--format" in caspr("check", "--help").out
    assert caspr("check", *SONG, "--format", "soft").code == 2


def test_what_an_adjudicator_decided_is_sure() -> None:
    annotations = read_all([Path(name) for name in SONG])
    absent = Decisions.of(statements=[Statement.of(StatementKind.ABSENT, [Span(8, 10)])])
    [result] = adjudicate(annotations, decisions={"song": absent})
    [decided] = [one for one in lines(soft.write([result.gold])) if one.get("text") == "a new song"]
    assert (decided["decided"], decided["confidence"], decided["entity"]) == (True, 1.0, None)


def test_corefud_says_how_sure_it_is_where_annotators_disagree() -> None:
    [result] = adjudicate(read_all([Path(name) for name in SONG]))
    rows = [line.split("\t") for line in corefud.write([result.gold]).splitlines() if "\t" in line]
    items = {row[1]: row[9] for row in rows if "Confidence" in row[9]}
    assert list(items) == ["a"]
    assert items["a"].split("|")[0] == "Confidence=0.83"


def test_an_annotation_that_is_no_gold_has_no_confidence() -> None:
    annotation = paper_annotations()[0]
    _, *mentions = lines(soft.write([annotation]))
    assert all(one["confidence"] is None and one["votes"] == [annotation.annotator] for one in mentions)
    assert len(mentions) == sum(len(chain.mentions) for chain in annotation.all_chains)
