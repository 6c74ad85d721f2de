"""Whatever happens to one document, all others are done, and its reason is given. Processes are real."""

import json
import os
import signal
from pathlib import Path

import pytest

from tests.cli.caller import Caller
from tests.corpus.corpora import golds, write_corpus
from tests.corpus.processes import all_gone, start, until

BRUTE = ("--engine", "brute")
GOOD = [f"good{number}" for number in range(6)]


def reasons(output: Path) -> dict[str, str]:
    """Return the reason of every document that failed, from the summary."""
    documents = json.loads((output / "summary.json").read_text())["documents"]
    return {row["document"]: row["reason"] for row in documents if row["status"] == "failed"}


@pytest.mark.parametrize("processes", [1, 2])
def test_every_kind_of_failure_at_once(caspr: Caller, tmp_path: Path, pids: Path, processes: int) -> None:
    bad = ["killed-a", "killed-b", "hungry", "buggy", "malformed"]
    corpus = write_corpus(tmp_path / "in", [*GOOD, *bad, "noisy"])
    (corpus / "malformed/bob.conll").write_text("#begin document (malformed);\n1\tx\t(1\n#end document\n")
    limits = ("--memory-limit", 300, "--kill-after", 60)
    outcome = caspr("corpus", corpus, "-o", tmp_path / "out", *BRUTE, *limits, "--processes", processes)
    assert outcome.code == 1, outcome
    found = reasons(tmp_path / "out")
    assert set(found) == set(bad)
    assert "killed by SIGKILL" in found["killed-a"]
    assert "killed by SIGKILL" in found["killed-b"]
    assert found["hungry"] == "out of memory: limit 300 MB"
    assert "ZeroDivisionError: a bug" in found["buggy"]
    assert found["malformed"].startswith("malformed/bob.conll:2: found ")
    assert set(golds(tmp_path / "out")) == {f"{name}.conll" for name in [*GOOD, "noisy"]}
    for name, reason in found.items():
        assert f"failed: {name}: {reason}" in outcome.err


def test_an_engine_that_sleeps_for_ever(caspr: Caller, tmp_path: Path, pids: Path) -> None:
    corpus = write_corpus(tmp_path / "in", [*GOOD, "sleepy"])
    outcome = caspr("corpus", corpus, "-o", tmp_path / "out", *BRUTE, "--kill-after", 3)
    assert outcome.code == 1, outcome
    assert reasons(tmp_path / "out") == {"sleepy": "no answer after 3 s; the worker was killed"}
    assert len(golds(tmp_path / "out")) == len(GOOD)
    assert len(list(pids.iterdir())) == 2
    assert all_gone(pids), "its solver, in a session of its own, still runs"


def test_kill_of_a_worker_from_outside(tmp_path: Path, pids: Path) -> None:
    corpus = write_corpus(tmp_path / "in", ["sleepy", *GOOD])
    run = start("corpus", corpus, "-o", tmp_path / "out", *BRUTE, "--processes", 2)
    until(lambda: len(list(pids.iterdir())) == 2 and len(golds(tmp_path / "out")) == len(GOOD))
    worker = min(int(path.name) for path in pids.iterdir())
    os.kill(worker, signal.SIGKILL)
    assert run.wait(60) == 1
    assert "killed by SIGKILL" in reasons(tmp_path / "out")["sleepy"]
    until(lambda: all_gone(pids))


def test_a_thousand_documents_with_one_in_a_hundred_malformed(caspr: Caller, tmp_path: Path) -> None:
    names = [f"d{number:04}" for number in range(1000)]
    corpus = write_corpus(tmp_path / "in", names, annotators=("ann", "bob"))
    bad = names[::100]
    for name in bad:
        (corpus / name / "ann.conll").write_text("not a document\n")
    outcome = caspr("corpus", corpus, "-o", tmp_path / "out", *BRUTE)
    assert outcome.code == 1
    assert sorted(reasons(tmp_path / "out")) == bad
    assert len(golds(tmp_path / "out")) == 990
    totals = json.loads((tmp_path / "out/summary.json").read_text())["totals"]
    assert (totals["documents"], totals["proven"], totals["failed"]) == (1000, 990, 10)


def test_strict_makes_documents_with_warnings_fail(caspr: Caller, tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "in", GOOD, by="annotator")
    (corpus / "eve/good1.conll").unlink()
    arguments = ("corpus", corpus, "-o", tmp_path / "out", *BRUTE)
    assert caspr(*arguments).code == 0
    assert caspr(*arguments, "--strict").code == 1
    assert "missing" not in reasons(tmp_path / "out")
    assert "good1" in reasons(tmp_path / "out")
    assert (tmp_path / "out/good1.conll.1.bak").exists()
    assert not (tmp_path / "out/good1.conll").exists()


def test_a_document_of_one_annotator_is_left_out_with_its_reason(caspr: Caller, tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "in", GOOD)
    for annotator in ("bob", "eve"):
        (corpus / "good0" / f"{annotator}.conll").unlink()
    outcome = caspr("corpus", corpus, "-o", tmp_path / "out", *BRUTE)
    assert outcome.code == 0
    assert "1 left out" in outcome.err
    rows = json.loads((tmp_path / "out/summary.json").read_text())["documents"]
    assert rows[0]["status"] == "left out"
    assert "only ann annotated it" in rows[0]["reason"]
