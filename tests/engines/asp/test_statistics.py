"""Answer set engines return the statistics of their solvers, also when a limit ended them."""

import os
import stat
from pathlib import Path

import pytest

from caspr.engines import choose
from caspr.engines.asp import solve
from caspr.engines.asp.pipes import TimeOutError, run_pipe
from caspr.task.instance import Instance
from caspr.task.limits import Limits, silent
from caspr.task.objectives import OBJECTIVES
from caspr.task.solution import Statistics, Stop
from tests.engines.asp.test_limits import hard_instance
from tests.engines.asp.wasp import with_wasp
from tests.instances import paper_annotations


def small_instance() -> Instance:
    return Instance(paper_annotations(), OBJECTIVES["va"])


@pytest.mark.parametrize("encoding", ["mm", "cm"])
@pytest.mark.parametrize("engine", ["clingo", "gringo-clasp"])
@pytest.mark.parametrize("limits", [Limits(), Limits(seconds=60)])
def test_a_finished_search_tells_everything(engine: str, encoding: str, limits: Limits) -> None:
    solution = choose(engine, encoding)[1](small_instance(), limits, silent)
    statistics = solution.statistics
    assert statistics is not None
    assert statistics.value == statistics.bound == solution.value
    assert statistics.grounding is not None and statistics.grounding >= 0
    assert statistics.choices is not None and statistics.conflicts is not None


@with_wasp
def test_wasp_tells_value_bound_and_grounding() -> None:
    statistics = choose("gringo-wasp")[1](small_instance(), Limits(seconds=60), silent).statistics
    assert statistics is not None
    assert statistics.value == statistics.bound
    assert statistics.grounding is not None and statistics.choices is None


@pytest.mark.parametrize("engine", ["clingo", "gringo-clasp"])
def test_a_search_ended_by_its_limit_still_tells(engine: str) -> None:
    solution = choose(engine, "cm")[1](hard_instance(60), Limits(seconds=6), silent)
    assert solution.stop is Stop.TIME
    statistics = solution.statistics
    assert statistics is not None
    assert statistics.grounding is not None and statistics.grounding > 0
    assert statistics.choices is not None and statistics.choices > 0
    assert statistics.bound is not None and (statistics.value is None or statistics.bound < statistics.value)


def test_other_engines_have_no_statistics() -> None:
    assert choose("native")[1](small_instance(), Limits(), silent).statistics is None


def test_later_statistics_complete_earlier_ones() -> None:
    assert Statistics(grounding=1.0, choices=3) | Statistics(choices=4, conflicts=0) == Statistics(1.0, 4, 0)


def test_last_words_are_heard_at_the_time_limit() -> None:
    polite = "trap 'echo goodbye; exit' TERM; echo hello; while :; do sleep 0.05; done"
    seconds: list[float] = []
    lines = run_pipe(
        [["sh", "-c", polite]], "", Limits(seconds=1), success=frozenset({0}), ended=seconds.extend
    )
    received: list[str] = []
    with pytest.raises(TimeOutError):
        for line in lines:
            received.append(line)
    assert received == ["hello", "goodbye"]
    assert len(seconds) == 1


@pytest.mark.parametrize(
    ("said", "version"),
    [("gringo version 5.4.1", "5.4.1"), ("gringo version 4.5.4", None), ("gringo 3", None), ("", None)],
)
def test_only_a_gringo_of_today_is_preferred(
    said: str, version: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "gringo"
    program.write_text(f"#!/bin/sh\necho '{said}'\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    solve.grounder_version.cache_clear()
    try:
        assert solve.grounder_version() == version
    finally:
        solve.grounder_version.cache_clear()
