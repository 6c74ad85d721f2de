"""A second run does what is missing, and nothing else."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from caspr.corpus.job import Job, Options, fingerprint
from caspr.task.instance import Nesting, Singletons
from caspr.task.objectives import OBJECTIVES
from caspr.task.own_rules import RuleFile
from caspr.task.weights import AnnotatorWeights, WeightsTable, read_factors
from caspr.text.coverage import read_coverage
from tests.cli.caller import Caller, Outcome
from tests.corpus.corpora import golds, write_corpus
from tests.corpus.processes import all_gone, start, until

BRUTE = ("--engine", "brute")
NAMES = [f"d{number}" for number in range(8)]


def taken_over(output: Path) -> int:
    """Return how many documents the last run took over."""
    return int(json.loads((output / "summary.json").read_text())["totals"]["taken_over"])


def run(caspr: Caller, tmp_path: Path, *words: object) -> Outcome:
    return caspr("corpus", tmp_path / "in", "-o", tmp_path / "out", *BRUTE, *words)


def test_done_documents_are_not_done_again(caspr: Caller, tmp_path: Path) -> None:
    write_corpus(tmp_path / "in", NAMES)
    run(caspr, tmp_path)
    first = golds(tmp_path / "out")
    times = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("*.conll")}
    outcome = run(caspr, tmp_path)
    assert outcome.code == 0
    assert "8 documents, 8 taken over" in outcome.err
    assert taken_over(tmp_path / "out") == 8
    assert golds(tmp_path / "out") == first
    assert times == {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("*.conll")}


def test_only_what_changed_is_done_again(caspr: Caller, tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "in", NAMES)
    run(caspr, tmp_path)
    changed = corpus / "d3/ann.conll"
    changed.write_text(changed.read_text().replace("(1)", "(5)"))
    (corpus / "d4/eve.conll").unlink()
    (tmp_path / "out/d5.conll").unlink()
    run(caspr, tmp_path)
    assert taken_over(tmp_path / "out") == 5
    run(caspr, tmp_path, "--objective", "ua")
    assert taken_over(tmp_path / "out") == 0
    run(caspr, tmp_path, "--objective", "ua", "--processes", 1)
    assert taken_over(tmp_path / "out") == 8
    run(caspr, tmp_path, "--objective", "ua", "--force")
    assert taken_over(tmp_path / "out") == 0


def test_failed_documents_are_tried_again(caspr: Caller, tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "in", NAMES)
    good = (corpus / "d3/ann.conll").read_text()
    (corpus / "d3/ann.conll").write_text("nonsense\n")
    assert run(caspr, tmp_path).code == 1
    assert run(caspr, tmp_path).code == 1
    assert taken_over(tmp_path / "out") == 7
    (corpus / "d3/ann.conll").write_text(good)
    assert run(caspr, tmp_path).code == 0
    assert len(golds(tmp_path / "out")) == 8


def test_what_somebody_edited_is_kept(caspr: Caller, tmp_path: Path) -> None:
    write_corpus(tmp_path / "in", NAMES)
    run(caspr, tmp_path, "--layout", "review")
    edited = tmp_path / "out/d3.conll"
    edited.write_text(edited.read_text() + "# mine\n")
    run(caspr, tmp_path, "--layout", "review")
    assert edited.read_text().endswith("# mine\n"), "an unchanged document is left alone"
    messages = run(caspr, tmp_path, "--layout", "review", "--objective", "u").err
    assert "# mine" not in edited.read_text()
    assert (tmp_path / "out/d3.conll.1.bak").read_text().endswith("# mine\n")
    assert len(list((tmp_path / "out").glob("*.bak"))) == 1
    assert "kept as a backup: 1 file changed by hand" in messages
    assert f"(first: {tmp_path / 'out/d3.conll.1.bak'})" in messages
    edited.write_text("all mine\n")
    messages = run(caspr, tmp_path, "--layout", "review", "--objective", "u", "--force").err
    assert (tmp_path / "out/d3.conll.2.bak").read_text() == "all mine\n"
    assert "d3.conll.2.bak" in messages
    assert "backup" not in run(caspr, tmp_path, "--layout", "review", "--force").err


def test_whatever_a_result_depends_on_is_in_its_fingerprint() -> None:
    """Change every option there is; those that change no result are named here."""
    whole = Options()
    free = {"kill_after", "settings", "reading", "options", "limits", "jobs", "interruptible", "cancelled"}
    free |= {"debug"}
    free.add("kept_variants")  # decisions make them, and there are none in a corpus
    others = {
        "singletons": Singletons.VOTE,
        "nested": Nesting.NEVER,
        "objective": OBJECTIVES["ua"],
        "format": "conll",
        "target": "conll",
        "seconds": 1.0,
        "megabytes": 1,
        "relations": ("x",),
        "factors": read_factors(["anna=2"]),
        "weights": WeightsTable((AnnotatorWeights("anna", 2, 1),)),
        "coverage": read_coverage("anna,d,1,2\n", "c.csv"),
        "rules": (RuleFile("ours.lp", "forbid_mention(mid(1,1))."),),
    }

    def changed(one: Any) -> Iterator[Any]:
        for field in fields(one):
            if field.name not in free:
                now = getattr(one, field.name)
                other = {bool: True, int: 7, float: 7.0, str: "x", type(None): "x"}.get(type(now))
                yield replace(one, **{field.name: others.get(field.name, other)})

    settings, reading = whole.settings, whole.reading
    ways = [
        *changed(whole),
        *(replace(whole, settings=one) for one in changed(settings)),
        *(
            replace(whole, settings=replace(settings, limits=limits))
            for limits in changed(settings.limits)
            if not limits.certificate  # follows from the option of that name
        ),
        *(replace(whole, reading=one) for one in changed(reading)),
        *(replace(whole, reading=replace(reading, options=one)) for one in changed(reading.options)),
    ]
    jobs = [Job("d", (), "/", options) for options in (whole, *ways)]
    jobs += [replace(jobs[0], version="0.0"), replace(jobs[0], annotators=3), replace(jobs[0], document="e")]
    asked = [job.options.values() for job in jobs]
    marks = [fingerprint(job, {}, values) for job, values in zip(jobs, asked, strict=True)]
    marks.append(fingerprint(jobs[0], {("a", 0): b"x"}, asked[0]))
    assert len(set(marks)) == len(marks) > 20


def test_documents_that_are_gone_are_named(caspr: Caller, tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "in", NAMES)
    run(caspr, tmp_path)
    for path in (corpus / "d0").iterdir():
        path.unlink()
    outcome = run(caspr, tmp_path)
    assert "1 file left from documents that are no longer in the corpus" in outcome.err
    rows = json.loads((tmp_path / "out/summary.json").read_text())["documents"]
    assert [row["document"] for row in rows] == NAMES[1:]


def test_interrupt_and_resume(caspr: Caller, tmp_path: Path, pids: Path) -> None:
    names = [f"slow{number}" for number in range(12)]
    corpus = write_corpus(tmp_path / "in", names)
    process = start("corpus", corpus, "-o", tmp_path / "out", *BRUTE, "--processes", 2)
    until(lambda: len(golds(tmp_path / "out")) >= 3)
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    assert "stopped; " in (process.stderr.read() if process.stderr else "")
    assert all_gone(pids)
    done = len(golds(tmp_path / "out"))
    assert 3 <= done < 12
    assert not list((tmp_path / "out").glob(".caspr-*.tmp"))
    assert run(caspr, tmp_path).code == 0
    assert taken_over(tmp_path / "out") >= 3 - 1
    assert len(golds(tmp_path / "out")) == 12
    assert not list((tmp_path / "out").glob("*.bak"))


def test_interrupt_while_the_command_starts_prints_nothing() -> None:
    stop = (
        "import signal, sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'click': signal.raise_signal(signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "from caspr.__main__ import main\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", stop], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, b"")


def test_kill_of_the_whole_run_and_resume(caspr: Caller, tmp_path: Path, pids: Path) -> None:
    corpus = write_corpus(tmp_path / "in", [f"slow{number}" for number in range(12)])
    process = start("corpus", corpus, "-o", tmp_path / "out", *BRUTE, "--processes", 2)
    until(lambda: len(golds(tmp_path / "out")) >= 3)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    until(lambda: all_gone(pids))
    assert run(caspr, tmp_path).code == 0
    assert len([name for name in golds(tmp_path / "out") if name.endswith(".conll")]) == 12
    assert not list((tmp_path / "out").glob("*.bak"))


def test_kill_while_others_take_long_loses_nothing(caspr: Caller, tmp_path: Path, pids: Path) -> None:
    corpus = write_corpus(tmp_path / "in", ["done", "sleepy1", "sleepy2"])
    process = start("corpus", corpus, "-o", tmp_path / "out", *BRUTE, "--processes", 2)
    until(lambda: len(golds(tmp_path / "out")) == 1 and len(list(pids.iterdir())) == 4)
    # The journal is locked, so that it cannot be seen when it is written.
    time.sleep(3)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    for path in pids.iterdir():
        with suppress(ProcessLookupError):
            os.kill(int(path.name), signal.SIGKILL)
    for name in ("sleepy1", "sleepy2"):
        shutil.rmtree(corpus / name)
    assert run(caspr, tmp_path).code == 0
    assert taken_over(tmp_path / "out") == 1


def test_two_runs_do_not_meet_in_one_folder(caspr: Caller, tmp_path: Path, pids: Path) -> None:
    corpus = write_corpus(tmp_path / "in", [f"slow{number}" for number in range(30)])
    process = start("corpus", corpus, "-o", tmp_path / "out", *BRUTE, "--processes", 1)
    until(lambda: len(golds(tmp_path / "out")) >= 1)
    line = caspr.fails("corpus", corpus, "-o", tmp_path / "out", *BRUTE)
    assert "another run is writing to this folder" in line
    process.send_signal(signal.SIGTERM)
    process.wait(30)
    until(lambda: all_gone(pids))
