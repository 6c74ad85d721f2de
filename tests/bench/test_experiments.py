"""Plan, results, table and reports of experiments; the runs are real ones on tiny documents."""

import csv
import io
import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.experiments.__main__ import main, make
from bench.experiments.documents import Documents, find_documents
from bench.experiments.paper import PAPER
from bench.experiments.plan import Choice, Limits, Task, jumps, make_plan
from bench.experiments.render import HEADS, to_csv, to_markdown, to_text
from bench.experiments.run import Record, run
from bench.experiments.store import RESULTS, Store
from bench.experiments.table import choose_reference, make_table
from bench.experiments.watch import watch

RECORD = Record(
    dataset="ds1",
    document="a",
    system="clingo",
    encoding="mm",
    objective="u",
    repetition=1,
    time_limit=300.0,
    memory_limit=5000.0,
    outcome="OPT",
    seconds=10.0,
    wall=11.0,
    megabytes=100.0,
    grounding=1.0,
    choices=1000,
    conflicts=10,
    value=12,
    bound=12,
    mentions=40,
    error="",
    code="x",
    when="2026-01-01",
)


def documents(dataset: str, count: int) -> list[Documents]:
    return [Documents(dataset, f"{dataset}-{number}", ()) for number in range(count)]


@given(st.integers(0, 300))
def test_jumps_visit_everything_once(count: int) -> None:
    assert sorted(jumps(count)) == list(range(count))


@given(st.integers(16, 300))
def test_first_jumps_are_spread_evenly(count: int) -> None:
    for first in (2, 4, 8):
        places = sorted(jumps(count)[: first - 1])
        steps = [b - a for a, b in zip([0, *places], [*places, count], strict=True)]
        assert max(steps) <= min(steps) + 1


def test_a_plan_has_every_run_once_and_is_balanced_wherever_it_is_stopped() -> None:
    tasks = make_plan([documents("ds1", 21), documents("ds2", 33)], Choice(repetitions=2))
    assert len({task.key for task in tasks}) == len(tasks) == 2 * 54 * (4 + 3 * 8)
    assert {task.configuration.encoding for task in tasks if task.configuration.system == "native"} == {"-"}
    half = tasks[: 28 * 10]
    assert {len([t for t in half if t.documents == one.documents]) for one in half} == {28}
    assert {task.documents.dataset for task in half[: 28 * 2]} == {"ds1", "ds2"}


def test_shares_and_limits_of_single_systems() -> None:
    choice = Choice(systems=["native", "clingo"], seconds={"clingo": 7.0}, shares={"clingo": 0.25})
    tasks = make_plan([documents("ds1", 20)], choice)
    by_clingo = [task for task in tasks if task.configuration.system == "clingo"]
    assert {task.limits.seconds for task in by_clingo} == {7.0}
    assert len({task.documents for task in by_clingo}) == 5
    assert len({task.documents for task in tasks}) == 20


def test_results_survive_and_later_ones_replace_earlier_ones(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.begin({"machine": "this one"})
    store.add(RECORD)
    store.add(replace(RECORD, document="b"))
    store.add(replace(RECORD, outcome="SAT", time_limit=20.0))
    again = Store(tmp_path)
    assert again.find(RECORD.key) is None
    assert [(record.document, record.outcome) for record in again.records] == [("a", "SAT"), ("b", "OPT")]
    assert again.sessions == [{"machine": "this one"}]


@given(st.integers(0, 2000))
def test_a_line_cut_off_anywhere_costs_only_that_line(cut: int) -> None:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        store = Store(Path(folder))
        for name in "abc":
            store.add(replace(RECORD, document=name))
        text = store.path.read_text()
        store.path.write_text(text[:cut])
        left = Store(Path(folder))
        assert len(left.records) == text[:cut].count("\n")
        left.add(replace(RECORD, document="d"))
        assert Store(Path(folder)).records == left.records


def test_a_foreign_line_is_named(tmp_path: Path) -> None:
    (tmp_path / RESULTS).write_text('["run", {"a": 1}]\n')
    with pytest.raises(SystemExit, match=r"results.jsonl:1: found a line"):
        Store(tmp_path)


def test_the_papers_figures_add_up() -> None:
    """Rows of gringo+clasp by encoding and by objective are the same runs."""
    for names in (("CM", "MM"), ("U", "V", "UA", "VA")):
        for field in ("memory_outs", "time_outs", "satisfied", "optimal"):
            total = sum(getattr(PAPER[name], field) for name in names)
            assert total == getattr(PAPER["gringo-clasp"], field), (names, field)
    for name, row in PAPER.items():
        runs = row.memory_outs + row.time_outs + row.satisfied + row.optimal
        assert runs == (21 if "DS1" in name else 33 if "DS2" in name else runs)
        assert row.percent == pytest.approx(100 * row.optimal / runs, abs=1), name


def table_of(*records: Record) -> dict[str, tuple[float | None, ...]]:
    rows = [row for section in make_table(records).sections for row in section.rows]
    return {
        row.name: (row.runs, row.ours.optimal, row.ours.time_outs, row.ours.percent, row.ours.gap)
        for row in rows
    }


def test_rows_accumulate_the_right_runs() -> None:
    native = replace(RECORD, system="native", encoding="-", grounding=None)
    cm = replace(RECORD, encoding="cm", outcome="SAT", value=30, bound=10)
    other = replace(RECORD, document="b", outcome="TO", value=None)
    rows = table_of(RECORD, cm, other, native, replace(native, document="c"))
    assert rows["clingo"] == (2, 1, 0, 50, 1.0)
    assert rows["native"] == (1, 1, 0, 100, 0.0)
    assert rows["MM"] == (2, 1, 1, 50, 0.0)
    assert rows["CM"] == (1, 0, 0, 0, 2.0)
    assert rows["DS1 U MM"] == (2, 1, 1, 50, 0.0)
    assert rows["DS1 U native"] == (1, 1, 0, 100, 0.0)
    assert rows["U native"] == (2, 2, 0, 100, 0.0)
    assert "DS2 V MM" not in rows


def test_the_reference_is_the_papers_unless_another_has_more_runs() -> None:
    piped = replace(RECORD, system="gringo-clasp")
    assert choose_reference([RECORD, piped]) == "gringo-clasp"
    assert choose_reference([RECORD, piped, replace(RECORD, document="b")]) == "clingo"
    assert choose_reference([]) is None


def test_repetitions_are_averaged() -> None:
    second = replace(RECORD, repetition=2, outcome="SAT", seconds=20.0)
    figures = make_table([RECORD, second]).sections[0].rows[0].ours
    assert (figures.optimal, figures.satisfied, figures.seconds) == (0.5, 0.5, 15.0)


def test_tables_say_the_same_in_all_forms() -> None:
    table = make_table([RECORD, replace(RECORD, encoding="cm", outcome="MO", value=None)])
    rows = list(csv.reader(io.StringIO(to_csv(table))))
    assert {len(row) for row in rows} == {len(rows[0])}
    named = {(row[1], row[2]): row for row in rows[1:]}
    assert named["CM", "paper"][-2:] == ["1000000", "331000"]
    assert named["CM", "here"][4] == "1.0"
    for line in to_markdown(table).split("\n\n")[0].splitlines():
        assert line.count("|") == len(HEADS) + 1
    assert "5K" in to_text(table)


def tiny(folder: Path) -> Documents:
    return find_documents("ds2", folder=folder, seed=1, scale=0.08)[16]


@pytest.mark.parametrize("system", ["native", "clingo", "gringo-clasp"])
@pytest.mark.parametrize("encoding", ["mm", "cm"])
def test_systems_agree_and_tell_their_work(system: str, encoding: str, tmp_path: Path) -> None:
    [task] = make_plan([[tiny(tmp_path)]], Choice([system], [encoding], ["ua"], limits=Limits(60.0, 2000.0)))
    record = run(task)
    assert record.outcome == "OPT"
    assert record.gap == 0
    assert record.megabytes > 10 and record.seconds > 0
    if system != "native":
        assert record.grounding is not None and record.choices is not None and record.conflicts is not None


def test_limits_end_a_run_with_the_solvers_best(tmp_path: Path) -> None:
    hard = find_documents("ds1", folder=tmp_path, seed=1, scale=0.5)[10]
    choice = Choice(["clingo"], ["cm"], ["u"], limits=Limits(4.0, 2000.0))
    [task] = make_plan([[hard]], choice)
    record = run(task)
    assert record.outcome == "SAT"
    assert record.value is not None and record.bound is not None and record.bound < record.value
    assert record.choices is not None and record.choices > 0
    assert run(replace(task, limits=Limits(60.0, 30.0))).outcome == "MO"


def test_a_run_that_fails_says_why(tmp_path: Path) -> None:
    (tmp_path / "a.conll").write_text("#begin document (d);\n1\tx\t(1\n#end document\n")
    broken = Documents("own", "d", (tmp_path / "a.conll", tmp_path / "a.conll"))
    [task] = make_plan([[broken]], Choice(["native"], objectives=["v"]))
    record = run(task)
    assert record.outcome == "ERR"
    assert record.error


def test_the_quick_form_end_to_end_and_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--quick", "--out", str(tmp_path), "--objectives", "ua", "--systems", "native", "clingo"]
    main(words)
    written = {Path(line).name for line in capsys.readouterr().out.splitlines() if line.startswith("/")}
    plots = {f"{name}.{suffix}" for name in ("cactus", "scatter", "growth") for suffix in ("svg", "png")}
    assert written == {"table.txt", "table.md", "table.csv", *plots}
    assert "Machine: " in (tmp_path / "table.md").read_text()
    results = tmp_path / RESULTS
    lines = results.read_text().splitlines()
    assert len(lines) == 1 + 2 * (1 + 2)
    svg = (tmp_path / "cactus.svg").read_bytes()
    main(words)
    assert results.read_text().splitlines() == lines
    assert (tmp_path / "cactus.svg").read_bytes() == svg
    results.write_text("\n".join(lines[:-1]) + "\n")
    main([*words, "--redo", "native"])
    kept = results.read_text().splitlines()
    assert kept[: len(lines) - 1] == lines[:-1]
    assert [json.loads(line)[0] for line in kept[len(lines) - 1 :]] == ["session", "run"]


def test_the_papers_eight_scenarios() -> None:
    shares = {"clingo": 0.34, "gringo-clasp": 0.34}
    choice = Choice(["native", "clingo", "gringo-clasp"], shares=shares, scenarios=True)
    tasks = make_plan([documents("ds1", 21), documents("ds2", 33)], choice)
    pairs = {(task.documents.dataset, task.configuration.objective) for task in tasks}
    assert pairs == {("ds1", "u"), ("ds1", "ua"), ("ds2", "v"), ("ds2", "va")}
    for dataset, all_of in (("ds1", 21), ("ds2", 33)):
        of = {
            system: {
                task.documents
                for task in tasks
                if (task.documents.dataset, task.configuration.system) == (dataset, system)
            }
            for system in choice.systems
        }
        assert len(of["native"]) == all_of
        assert 3 * len(of["clingo"]) >= all_of
        assert of["clingo"] == of["gringo-clasp"]
    own = make_plan([documents("plays", 1)], choice)
    assert {task.configuration.objective for task in own} == {"u", "v", "ua", "va"}


def test_several_runs_at_a_time_give_the_same_results(tmp_path: Path) -> None:
    words = ["--quick", "--objectives", "ua", "--systems", "native", "clingo"]
    for jobs in ("1", "3"):
        main([*words, "--out", str(tmp_path / jobs), "--jobs", jobs])
    one, three = (
        {record.key: (record.outcome, record.value) for record in Store(tmp_path / jobs).records}
        for jobs in ("1", "3")
    )
    assert one == three


@pytest.mark.parametrize("jobs", [1, 2])
def test_stopped_runs_leave_no_process_and_can_be_resumed(
    jobs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[str] = []

    def slow(task: Task, stopped: Callable[[], bool]) -> Record:
        name = task.documents.name
        started.append(name)
        if name != "ds1-2":
            watch(
                [sys.executable, "-c", "import time; time.sleep(600)"],
                seconds=60,
                megabytes=500,
                stopped=stopped,
            )
        return replace(RECORD, document=name)

    class Interrupting(Store):
        def add(self, record: Record) -> None:
            super().add(record)
            raise KeyboardInterrupt

    monkeypatch.setattr("bench.experiments.__main__.run", slow)
    tasks = make_plan([documents("ds1", 5)], Choice(["clingo"], ["mm"], ["u"]))
    with pytest.raises(KeyboardInterrupt):
        make(tasks, Interrupting(tmp_path), jobs)
    assert [record.document for record in Store(tmp_path).records] == ["ds1-2"]
    assert len(started) <= jobs + 1
    assert not [
        child for child in psutil.Process().children(recursive=True) if "sleep(600)" in str(child.cmdline())
    ]


def test_folders_of_your_own(tmp_path: Path) -> None:
    document = tiny(tmp_path / "made")
    own = tmp_path / "plays"
    shutil.copytree(document.files[0].parent, own / "act1")
    [found] = find_documents(str(own), folder=tmp_path, seed=1, scale=1)
    assert (found.dataset, found.name) == ("plays", "act1")
    assert {path.name for path in found.files} == {path.name for path in document.files}
    with pytest.raises(SystemExit, match="expected ds1, ds2, or a folder"):
        find_documents("nowhere", folder=tmp_path, seed=1, scale=1)
    with pytest.raises(SystemExit, match="found no folder with the files of two annotators"):
        find_documents(str(own / "act1"), folder=tmp_path, seed=1, scale=1)


def test_documents_of_another_size_are_kept_apart(tmp_path: Path) -> None:
    Store(tmp_path).begin({"seed": 1, "scale": 1.0})
    with pytest.raises(SystemExit, match="found results with seed 1 and scale 1"):
        main(["--quick", "--out", str(tmp_path)])


@pytest.mark.parametrize("word", ["clingo", "clingo=", "clingo=0", "clingo=nan", "dlv=3"])
def test_bad_limits_are_refused(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--limit", word])
    assert "found" in capsys.readouterr().err


def test_without_wasp_it_is_left_out_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match="found no results"):
        main(["--quick", "--systems", "gringo-wasp", "--out", str(tmp_path / "out")])
    assert "gringo-wasp is left out" in capsys.readouterr().err


def test_a_task_and_its_record_have_the_same_key(tmp_path: Path) -> None:
    [task] = make_plan([[tiny(tmp_path)]], Choice(["native"], objectives=["v"]))
    assert isinstance(task, Task)
    assert run(task).key == task.key
