"""Ground instances are counted right: against combinatorics, and against the text gringo writes."""

import re
import subprocess
import sys
from itertools import combinations

import pytest

from bench.corpora import DS2, generate
from bench.instances import count_instances, main
from caspr.engines.asp.program import chain_limit, program
from caspr.task.decisions import Decisions
from caspr.task.instance import Instance
from caspr.task.objectives import OBJECTIVES
from caspr.task.settings import Settings
from caspr.text.document import Span


def instance(objective: str = "ua", number: int = 20) -> Instance:
    document = list(generate(DS2, scale=0.15))[number]
    return Settings(OBJECTIVES[objective]).instance(document.annotations, Decisions())


def components(task: Instance) -> list[set[Span]]:
    groups: list[set[Span]] = []
    for annotation in task.annotations:
        for chain in annotation.chains:
            touching = [group for group in groups if group & set(chain.mentions)]
            groups = [group for group in groups if not group & set(chain.mentions)]
            groups.append(set(chain.mentions).union(*touching))
    return groups


def test_the_closure_of_mm_has_the_cubes_of_the_components() -> None:
    task = instance()
    first = count_instances(task, "mm")[0]
    assert first.place == "mm.lp:8"
    assert first.rule == "cc(M1,M3) :- cc(M1,M2); cc(M2,M3)."
    assert first.instances == sum(len(group) ** 3 for group in components(task))


def test_the_weak_constraint_of_cm_has_all_pairs_in_all_chains() -> None:
    task = instance()
    first = count_instances(task, "cm")[0]
    assert first.place == "cm_objective.lp:11"
    linked = {
        span for annotation in task.annotations for chain in annotation.chains for span in chain.mentions
    }
    assert first.instances == len(list(combinations(linked, 2))) * chain_limit(task)


TEXT = {
    r":~.*invent\]$": "mm_objective.lp:14",
    r":~.*omit\]$": "mm_objective.lp:11",
    r":~.*use\]$": "mm_objective.lp:12",
    r"cc\(\S+\):-cc\(\S+\),cc\(": "mm.lp:8",
    r"\{uselink\(": "links.lp:8",
    r"notrepresentative\(": "mm.lp:10",
    r":-cc\(\S+,not clink": "mm_objective.lp:13",
    r":-result_cm\(": "rules.lp:15",
    r":-resultchain\(": "rules.lp:12",
}
"""Lines of gringo's text output, and the rule they are instances of."""


@pytest.mark.parametrize("objective", ["v", "ua"])
def test_counts_are_those_of_gringos_text(objective: str) -> None:
    task = instance(objective, 9)
    gringo = [sys.executable, "-m", "clingo", "--mode=gringo", "--text"]
    text = subprocess.run(
        gringo, input=program(task, "mm"), capture_output=True, text=True, check=True
    ).stdout
    lines = [line.replace(", ", ",") for line in text.splitlines()]
    counts = {count.place: count.instances for count in count_instances(task, "mm")}
    for pattern, place in TEXT.items():
        written = sum(re.match(pattern, line) is not None for line in lines)
        assert written == counts[place], pattern


def test_the_quick_form_prints_rule_place_count_and_share(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--quick"])
    out = capsys.readouterr().out
    assert "## MM, UA" in out and "## CM, UA" in out
    assert re.search(r"\| [\d,]+ \| [\d.]+% \| mm\.lp:8 \| `cc\(M1,M3\)", out)


def test_no_files_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([])
    assert "expected those of two annotators" in capsys.readouterr().err
