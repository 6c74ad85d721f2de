"""From files to a program, from a solver's answer to a gold standard, and back to the same."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from caspr.engines.brute import solve as brute
from caspr.task.limits import Limits, silent
from tests.cli.caller import EXAMPLES, PAPER, SONG, Caller, column
from tests.sweeps import how_many

OLD = EXAMPLES / "paper-2018/figure3.conll"


def clingo(program: str, *options: str) -> str:
    """Run clingo as a user would."""
    command = [sys.executable, "-m", "clingo", *options, "-"]
    return subprocess.run(command, input=program, capture_output=True, text=True, check=False).stdout


@pytest.mark.parametrize("words", [["--objective", "u"], ["--preset", "paper", "--encoding", "cm"], []])
@pytest.mark.parametrize("options", [[], ["--outf=2"], ["--outf=1"], ["--opt-strategy=usc"]])
def test_there_and_back(caspr: Caller, tmp_path: Path, words: list[str], options: list[str]) -> None:
    answer = tmp_path / "answer.txt"
    answer.write_text(clingo(caspr("encode", *PAPER, *words).out, *options))
    decoded = caspr("decode", answer, "--like", *PAPER, "--json", tmp_path / "s.json", *words)
    solved = caspr("adjudicate", *PAPER, *words, "--json", tmp_path / "t.json")
    assert decoded.code == 0
    [one], [other] = (json.loads((tmp_path / name).read_text())["documents"] for name in ("s.json", "t.json"))
    assert (one["value"], one["engine"]) == (other["value"], "decoded")
    if words[:1] != ["--preset"]:
        assert column(decoded.out) == column(solved.out)
    assert "the solver calls this optimal" in decoded.err


def test_a_review_file_gives_the_semi_automatic_program(caspr: Caller, tmp_path: Path) -> None:
    words = ["--annotators", 4, "--preset", "paper", "--objective", "u"]
    program = caspr("encode", OLD, *words).out
    assert "mention(forced,1,1,3)." in program
    answer = tmp_path / "answer.txt"
    answer.write_text(clingo(program))
    gold = caspr("decode", answer, "--like", OLD, *words)
    assert column(gold.out) == ["(1", "(2)", "1)", "(2)", "-", "(1)"]
    review = tmp_path / "review.conll"
    assert caspr("decode", answer, "--like", OLD, *words, "--layout", "review", "-o", review).code == 0
    assert "is unchanged" in caspr("redo", review).err
    assert caspr("encode", review).out == program
    again = caspr("decode", answer, "--like", review, "-q")
    assert again.out == gold.out


def test_annotators_have_the_numbers_of_their_files(caspr: Caller) -> None:
    text = caspr("encode", *PAPER, "--facts").out
    other = caspr("encode", *reversed(PAPER), "--facts").out
    assert '% annotator 2 is "in2"\nannotator(2).\nmention(2,1,1,3).\nmention(2,2,5,5).\n' in text
    assert '% annotator 3 is "in2"\nannotator(3).\nmention(3,1,1,3).\nmention(3,2,5,5).\n' in other
    assert ":-" not in text


def test_facts_and_rules_apart_are_the_program(caspr: Caller) -> None:
    for words in ([], ["--weight", "in1=2"], ["--encoding", "cm"]):
        facts, rules = (caspr("encode", *PAPER, *words, option).out for option in ("--facts", "--rules-only"))
        assert facts + rules == caspr("encode", *PAPER, *words).out
    alone = caspr("encode", "--rules-only").out
    assert alone == caspr("encode", *PAPER, "--rules-only").out
    assert "give one of them" in caspr.fails("encode", *PAPER, "--facts", "--rules-only")
    assert caspr("encode").code == 2


def test_names_in_comments_cannot_be_run(caspr: Caller, tmp_path: Path) -> None:
    files = []
    for number, path in enumerate(PAPER):
        file = tmp_path / f'x"\n:- {number}=0. %.conll'
        file.write_bytes(Path(path).read_bytes())
        files.append(file)
    named = caspr("encode", *files, "--objective", "u").out
    assert "Optimization : 6" in clingo(named)


def test_an_answer_of_other_files_is_refused(caspr: Caller, tmp_path: Path) -> None:
    answer = tmp_path / "answer.txt"
    answer.write_text(clingo(caspr("encode", *PAPER, "--objective", "u").out))
    refused = caspr.fails("decode", answer, "--like", *SONG)
    assert "does not fit the files and options" in refused
    assert "`caspr encode` was given" in refused
    refused = caspr.fails("decode", answer, "--like", *PAPER, "-o", PAPER[0])
    assert column(Path(PAPER[0]).read_text())
    answer.write_text("UNSATISFIABLE")
    assert "UNSATISFIABLE: no answer set" in caspr.fails("decode", answer, "--like", *PAPER)


def test_a_cost_that_is_not_that_of_the_votes_is_reported(caspr: Caller, tmp_path: Path) -> None:
    answer = tmp_path / "answer.txt"
    program = caspr("encode", *PAPER, "--objective", "va").out
    answer.write_text(clingo(program + ":~ annotator(1). [7@1,own]\n"))
    words = ["decode", answer, "--like", *PAPER, "--objective", "va"]
    decoded = caspr(*words)
    assert decoded.code == 0
    assert "warning: the solver says that this costs 18; by the votes it costs 11" in decoded.err
    assert caspr(*words, "--strict", "-o", tmp_path / "gold.conll").code == 2
    assert not (tmp_path / "gold.conll").exists()


def test_rules_of_ones_own_go_with_the_program(caspr: Caller, tmp_path: Path) -> None:
    answer = tmp_path / "answer.txt"
    program = caspr("encode", *PAPER, "--preset", "paper").out
    answer.write_text(clingo(program + ":- result_cm(C,mid(5,5)).\n"))
    decoded = caspr("decode", answer, "--like", *PAPER, "--preset", "paper")
    assert column(decoded.out) == ["(1", "-", "1)", "-", "-", "(1)"]


def test_into_any_format_and_from_standard_input(tmp_path: Path, caspr: Caller) -> None:
    answer = clingo(caspr("encode", *PAPER, "--objective", "va").out)
    output = tmp_path / "gold.conllu"
    command = [sys.executable, "-m", "caspr", "decode", "-", "-o", str(output), "--like", *map(str, PAPER)]
    done = subprocess.run(command, input=answer, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Entity=" in output.read_text()


def test_ones_own_random_documents(caspr: Caller, tmp_path: Path) -> None:
    from caspr.formats.conll import write
    from tests.instances import random_instance

    rng = random.Random(27)
    for _ in range(how_many(40, 3)):
        instance = random_instance(rng)
        files = []
        for annotation in instance.annotations:
            file = tmp_path / f"{annotation.annotator}.conll"
            file.write_text(write([annotation]))
            files.append(file)
        costs = instance.objective
        words = ["--omit-cost", costs.omit, "--use-cost", costs.use, "--nested", instance.nested.value]
        words += ["--invent-cost", "forbid" if costs.invent is None else costs.invent, "--singletons", "drop"]
        encoded = caspr("encode", *files, *words)
        if encoded.code:
            continue  # nobody marked anything
        answer = tmp_path / "answer.txt"
        answer.write_text(clingo(encoded.out, "--opt-strategy=usc"))
        summary = tmp_path / "summary.json"
        decoded = caspr("decode", answer, "--like", *files, *words, "--json", summary)
        assert decoded.code == 0, decoded.err
        [document] = json.loads(summary.read_text())["documents"]
        assert document["value"] == brute(instance, Limits(), silent).value
