"""What a corpus is: layouts, names, files with many documents."""

import csv
import json
import shutil
from pathlib import Path

import pytest

from caspr.corpus.job import Options
from caspr.corpus.outputs import file_name
from caspr.corpus.plan import Plan
from tests.cli.caller import PAPER, Caller
from tests.corpus.corpora import document_text, golds, write_corpus

pytestmark = pytest.mark.usefixtures("without_workers")
BRUTE = ("--engine", "brute")
NAMES = ["a", "b", "c", "news/d"]


@pytest.mark.parametrize("by", ["document", "annotator", "file"])
def test_the_layout_is_found_by_looking(tmp_path: Path, by: str) -> None:
    plan = Plan([write_corpus(tmp_path / "in", NAMES, by=by)])
    assert plan.by == by
    assert plan.documents == 4
    jobs = list(plan.jobs(Options()))
    assert [job.document for job in jobs] == NAMES
    assert [[source.annotator for source in job.sources] for job in jobs] == [["ann", "bob", "eve"]] * 4
    plan.close()


def test_all_layouts_give_the_same_gold(caspr: Caller, tmp_path: Path) -> None:
    found = []
    for by in ("document", "annotator", "file"):
        corpus = write_corpus(tmp_path / by, NAMES, by=by)
        assert caspr("corpus", corpus, "-o", tmp_path / f"out-{by}", *BRUTE).code == 0
        found.append(golds(tmp_path / f"out-{by}"))
    assert set(found[0]) == {"a.conll", "b.conll", "c.conll", "news/d.conll"}
    assert found[0] == found[1] == found[2]


def test_a_corpus_gives_what_adjudicate_gives(caspr: Caller, tmp_path: Path) -> None:
    assert caspr("corpus", *PAPER, "-o", tmp_path / "out", "--objective", "va").code == 0
    alone = caspr("adjudicate", *PAPER, "--objective", "va")
    assert (tmp_path / "out/example.conll").read_text() == alone.out


def test_certificates_prove_what_was_written(caspr: Caller, tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "in", ["a", "b"])
    assert caspr("corpus", corpus, "-o", tmp_path / "out", "--certificate").code == 0
    for name in ("a", "b"):
        inputs = [corpus / name / f"{annotator}.conll" for annotator in ("ann", "bob", "eve")]
        assert caspr("verify", tmp_path / f"out/certificates/{name}.json", *inputs).code == 0


def test_unclear_and_wrong_layouts_are_refused(caspr: Caller, tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "in", ["a", "b"], annotators=("ann",))
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "there are no documents in the layout" in caspr.fails(
        "corpus", empty, "-o", tmp_path / "x", "--by", "document"
    )
    assert "say --by document" in caspr.fails("corpus", corpus, "-o", tmp_path / "out")
    assert "there are no files in it" in caspr.fails("corpus", empty, "-o", tmp_path / "x")
    shutil.copy(corpus / "a/ann.conll", corpus)
    message = caspr.fails("corpus", corpus, "-o", tmp_path / "out")
    assert "ann.conll: this file of annotations is beside folders" in message
    assert not (tmp_path / "out").exists(), "no empty folder is left"
    two = caspr.fails("corpus", corpus / "a", corpus / "b", "-o", tmp_path / "out")
    assert "a folder beside other inputs: put them into one folder, and give that" in two
    assert "choose an output folder apart" in caspr.fails("corpus", corpus, "-o", corpus / "out")


def test_a_malformed_document_in_a_large_file_spoils_no_other(caspr: Caller, tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "in", ["a", "b", "c"], by="file")
    text = document_text("a", "ann") + document_text("b", "ann").replace("1\tb-1", "b-1\t(1\n1\tb-1")
    (corpus / "ann.conll").write_text(text + document_text("c", "ann"))
    outcome = caspr("corpus", corpus, "-o", tmp_path / "out", *BRUTE)
    assert outcome.code == 1
    assert "failed: b: ann.conll:12: " in outcome.err
    assert set(golds(tmp_path / "out")) == {"a.conll", "c.conll"}


def test_nothing_between_documents_of_a_large_file_is_lost(caspr: Caller, tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "in", ["a", "b"], by="file")
    with (corpus / "ann.conll").open("a") as file:
        file.write("stray\n")
    outcome = caspr("corpus", corpus, "-o", tmp_path / "out", *BRUTE)
    assert outcome.code == 1
    assert "failed: b: ann.conll:21: " in outcome.err


def test_hostile_names_stay_in_the_folder(caspr: Caller, tmp_path: Path) -> None:
    names = ["../../up", "/etc/x", "a\\b", ".hidden", "<script>alert(1)</script>", "=1+1", "x" * 300]
    corpus = write_corpus(tmp_path / "in", names, by="file")
    assert caspr("corpus", corpus, "-o", tmp_path / "out", *BRUTE, "--report").code == 0
    assert len([name for name in golds(tmp_path / "out") if name.endswith(".conll")]) == len(names)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]
    assert "<script>alert" not in (tmp_path / "out/report.html").read_text()


def test_different_names_give_different_files() -> None:
    names = ["a/b", "a%2Fb", "a\\b", "", "%", ".a", "%2Ea", "x" * 200, "x" * 201, ".", ".."]
    assert len({file_name(name) for name in names}) == len(names)


def test_the_summary_says_everything(caspr: Caller, tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "in", [f"d{number}" for number in range(5)])
    caspr("corpus", corpus, "-o", tmp_path / "out", *BRUTE, "--report")
    with (tmp_path / "out/summary.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    summary = json.loads((tmp_path / "out/summary.json").read_text())
    assert [row["document"] for row in table] == [row["document"] for row in summary["documents"]]
    for row in table:
        assert int(row["omitted"]) + int(row["used"]) + int(row["invented"]) == int(row["value"])
        assert row["status"] == "optimal"
        assert float(row["megabytes"]) > 1
        assert row["agreement"]
        assert (tmp_path / "out" / row["file"]).exists()
        assert f'href="reports/{row["document"]}.html"' in (tmp_path / "out/report.html").read_text()
        assert (tmp_path / f"out/reports/{row['document']}.html").exists()
    assert summary["totals"]["value"] == sum(int(row["value"]) for row in table)


def test_parts_of_a_document_share_a_file(caspr: Caller, tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "in", ["a"], by="file")
    for path in corpus.iterdir():
        text = path.read_text()
        first, second = (text.replace("(a);", f"(a); part 00{part}") for part in (0, 1))
        path.write_text(first + second)
    assert caspr("corpus", corpus, "-o", tmp_path / "out", *BRUTE).code == 0
    assert (tmp_path / "out/a.conll").read_text().count("#begin document (a); part 00") == 2
    rows = json.loads((tmp_path / "out/summary.json").read_text())["documents"]
    assert [row["part"] for row in rows] == ["000", "001"]
