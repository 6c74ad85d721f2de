"""`caspr adjudicate` from files to files."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.caller import PAPER, SONG, Caller, column

BEGIN, END = "#begin document (d);\n", "#end document\n"


def make(path: Path, *cells: str, name: str = "d") -> Path:
    """Write a file of numbered tokens with these coreference cells."""
    rows = "".join(f"{number}\tw{number}\t{cell}\n" for number, cell in enumerate(cells, start=1))
    path.write_text(f"#begin document ({name});\n{rows}{END}")
    return path


def test_gold_to_standard_output(caspr: Caller) -> None:
    outcome = caspr("adjudicate", *PAPER, "--objective", "va")
    assert outcome.code == 0
    assert column(outcome.out) == ["(1", "-", "1)", "-", "(1)", "(1)"]
    assert "proven optimal, cost 11 (omitted 6 + used 4 + invented 1)" in outcome.err


def test_json_has_what_is_promised(caspr: Caller, tmp_path: Path) -> None:
    summary = tmp_path / "summary.json"
    words = ["--preset", "paper", "--json", summary, "--all"]
    caspr("adjudicate", *PAPER, "-o", tmp_path / "gold.conll", *words)
    (document,) = json.loads(summary.read_text())["documents"]
    assert document["name"] == "example"
    assert (document["value"], document["bound"], document["status"]) == (12, 12, "optimal")
    assert document["costs"] == {"omitted": 10, "used": 2, "invented": 0}
    assert (document["chains"], document["mentions"], document["annotators"]) == (1, 2, 4)
    assert (document["solutions"], document["engine"]) == (2, "native")
    assert document["seconds"] >= 0
    assert document["findings"] == []


def test_all_solutions_are_documents_of_their_own(caspr: Caller) -> None:
    outcome = caspr("adjudicate", *PAPER, "--preset", "paper", "--all")
    assert "#begin document (example.1);" in outcome.out
    assert "#begin document (example.2);" in outcome.out
    assert column(outcome.out) == ["(1", "-", "1)", "-", "(1)", "-", "(1", "-", "1)", "-", "-", "(1)"]
    capped = caspr("adjudicate", *PAPER, "--all", "--max-solutions", 1)
    assert "example.2" not in capped.out
    assert "the only optimal solution" not in capped.err


def test_a_single_optimum_keeps_its_name(caspr: Caller) -> None:
    single = caspr("adjudicate", *PAPER, "--preset", "paper", "--objective", "u", "--all")
    assert "#begin document (example);" in single.out
    assert "the only optimal solution" in single.err


def test_the_best_within_the_limit_of_chains_is_called_so(
    caspr: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["--objective", "u", "--engine", "clingo", "--encoding", "cm"]
    assert "  proven optimal, cost 6 " in caspr("adjudicate", *PAPER, *words).err
    monkeypatch.setattr("caspr.engines.asp.solve.chain_limit", lambda _: 2)
    limited = caspr("adjudicate", *PAPER, *words).err
    assert (
        "  cost 8, bound 0 (omitted 8 + used 0 + invented 0); optimal within the encoding's limit" in limited
    )
    assert "  proven optimal" not in limited


def test_coefficients_are_free(caspr: Caller) -> None:
    free = caspr("adjudicate", *PAPER, "--objective", "u", "--use-cost", 1, "--invent-cost", 1)
    named = caspr("adjudicate", *PAPER, "--objective", "va")
    assert free.out == named.out
    forbidden = caspr("adjudicate", *PAPER, "--objective", "ua", "--invent-cost", "forbid")
    assert forbidden.out == caspr("adjudicate", *PAPER, "--objective", "u").out


@pytest.mark.parametrize("engine", ["brute", "gringo-clasp", "native"])
@pytest.mark.parametrize("objective", ["u", "ua", "va"])
def test_engines_agree(caspr: Caller, engine: str, objective: str) -> None:
    expected = caspr("adjudicate", *PAPER, "--objective", objective, "--engine", "clingo")
    outcome = caspr("adjudicate", *PAPER, "--objective", objective, "--engine", engine)
    assert outcome.out == expected.out


def test_quiet_prints_nothing(caspr: Caller, tmp_path: Path) -> None:
    outcome = caspr("adjudicate", *PAPER, "-q", "-o", tmp_path / "gold.conll")
    assert (outcome.out, outcome.err) == ("", "")


def test_singletons_vote(caspr: Caller, tmp_path: Path) -> None:
    files = [
        make(tmp_path / "a.conll", "(1)", "(1)", "(2)", "(3)"),
        make(tmp_path / "b.conll", "(1)", "(1)", "(2)", "-"),
        make(tmp_path / "c.conll", "(1)", "(1)", "-", "-"),
    ]
    dropped = caspr("adjudicate", *files, "--singletons", "drop")
    assert column(dropped.out) == ["(1)", "(1)", "-", "-"]
    assert "3 chains of one mention set aside (" in dropped.err
    assert ", first '" in dropped.err
    voted = caspr("adjudicate", *files, "--singletons", "vote")
    assert column(voted.out) == ["(1)", "(1)", "(2)", "-"]
    decided = caspr("adjudicate", *files)
    assert decided.out == voted.out
    assert "kept where votes favour it, since 2 of 3 annotators regularly marked chains of one" in decided.err
    others = [make(tmp_path / f"{name}.conll", "(1)", "(1)", "-", "-") for name in "de"]
    unmarked = caspr("adjudicate", files[0], *others)
    assert "dropped, since only 1 of 3 annotators regularly marked chains of one" in unmarked.err
    everything = caspr("adjudicate", *files, "--singletons", "vote", "--objective", "u")
    assert column(everything.out) == ["(1)", "(1)", "(2)", "(3)"]


def test_the_nesting_rule_is_counted_and_can_be_switched_off(caspr: Caller, tmp_path: Path) -> None:
    files = [make(tmp_path / f"{name}.conll", "(1|(1)", "1)", "(1)") for name in "ab"]
    ruled = caspr("adjudicate", *files, "--nested", "never")
    assert "rule on nesting ruled out 2 of 6 links" in ruled.err
    allowed = caspr("adjudicate", *files, "--nested", "always")
    assert column(allowed.out) == ["(1|(1)", "1)", "(1)"]
    assert "nesting" not in allowed.err
    assert caspr("adjudicate", *files).out == allowed.out


def test_documents_that_some_annotators_lack(caspr: Caller, tmp_path: Path) -> None:
    paths = []
    for name, documents in (("a", "xyz"), ("b", "xy"), ("c", "x")):
        path = tmp_path / f"{name}.conll"
        path.write_text(
            "".join(make(tmp_path / "one", "(1)", "(1)", name=doc).read_text() for doc in documents)
        )
        paths.append(path)
    outcome = caspr("adjudicate", *paths, "-o", tmp_path / "gold")
    assert outcome.code == 0
    written = (tmp_path / "gold").read_text()
    assert "(x)" in written
    assert "(y)" in written
    assert "(z)" not in written
    assert "'z' is only in" in outcome.err
    assert "'y' is in the files of 2 of 3 annotators (a, b)" in outcome.err
    strict = caspr("adjudicate", *paths, "-o", tmp_path / "strict", "--strict")
    assert strict.code == 2
    assert not (tmp_path / "strict").exists()


def test_other_columns_and_blank_lines_survive(caspr: Caller) -> None:
    outcome = caspr("adjudicate", *SONG)
    source = Path(SONG[0]).read_text()
    assert column(outcome.out, 1) == column(source, 1)
    assert outcome.out.count("\n\n") == source.count("\n\n") == 3


@pytest.mark.parametrize("seed", ["0", "1", "4711"])
def test_same_bytes_whatever_the_hash_seed_and_locale(seed: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "caspr", "adjudicate", *SONG, "--objective", "ua", "--layout", "review"]
    environment = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": "C" if seed == "1" else "C.UTF-8"}
    done = subprocess.run(command, capture_output=True, env=environment, check=True)
    reference = subprocess.run(command, capture_output=True, check=True)
    assert done.stdout == reference.stdout


def test_permuting_annotators_changes_nothing(caspr: Caller) -> None:
    for objective in ("u", "ua", "v", "va"):
        one = caspr("adjudicate", *PAPER, "--objective", objective)
        other = caspr("adjudicate", *reversed(PAPER), "--objective", objective)
        assert one.out == other.out


def test_a_time_limit_of_nothing_still_gives_an_answer(caspr: Caller, tmp_path: Path) -> None:
    summary = tmp_path / "s.json"
    outcome = caspr("adjudicate", *PAPER, "--time-limit", 0, "--json", summary, "--engine", "clingo")
    # Scripts learn from the exit code that nothing was found but what needs no search.
    assert outcome.code == 3 and outcome.out
    assert "nothing better was found than the chains of one annotator" in outcome.err
    assert "not proven optimal before the time limit" in outcome.err
    (document,) = json.loads(summary.read_text())["documents"]
    assert document["status"] == "feasible"
    assert document["bound"] < document["value"]
    assert caspr("adjudicate", *PAPER, "--time-limit", 0, "--strict", "--engine", "clingo").code == 2


class TestRefusals:
    """Bad input: one line, exit 2, nothing written."""

    def test_one_annotator(self, caspr: Caller, tmp_path: Path) -> None:
        assert "file of one annotator" in caspr.fails("adjudicate", PAPER[0])

    def test_the_same_file_twice(self, caspr: Caller, tmp_path: Path) -> None:
        (tmp_path / "link.conll").symlink_to(PAPER[0])
        assert "same file" in caspr.fails("adjudicate", PAPER[0], tmp_path / "link.conll")

    def test_writing_onto_an_input(self, caspr: Caller, tmp_path: Path) -> None:
        files = [make(tmp_path / f"{name}.conll", "(1)", "(1)") for name in "ab"]
        before = files[0].read_text()
        (tmp_path / "hard").hardlink_to(files[0])
        for target in (files[0], tmp_path / "hard"):
            caspr.fails("adjudicate", *files, "-o", target)
            caspr.fails("adjudicate", *files, "--json", target)
        assert files[0].read_text() == before

    def test_different_tokens(self, caspr: Caller, tmp_path: Path) -> None:
        one = make(tmp_path / "a.conll", "(1)", "(1)")
        other = make(tmp_path / "b.conll", "(1)", "(1)")
        other.write_text(other.read_text().replace("w2", "v2"))
        message = caspr.fails("adjudicate", one, other, "-o", tmp_path / "gold")
        assert message.startswith(f"{other}:3: found token 'v2', expected 'w2' as in {one}:3")
        assert not (tmp_path / "gold").exists()

    def test_different_lengths(self, caspr: Caller, tmp_path: Path) -> None:
        one = make(tmp_path / "a.conll", "(1)", "(1)")
        other = make(tmp_path / "b.conll", "(1)", "(1)", "-")
        assert f"{other}:4: found token 'w3', expected the end of document 'd'" in caspr.fails(
            "adjudicate", one, other
        )

    def test_a_review_file_as_input(self, caspr: Caller, tmp_path: Path) -> None:
        marked = make(tmp_path / "a.conll", "=(1)", "(1)")
        assert "caspr redo" in caspr.fails("adjudicate", marked, make(tmp_path / "b.conll", "-", "-"))

    def test_missing_and_unwritable_files(self, caspr: Caller, tmp_path: Path) -> None:
        assert "nowhere.conll" in caspr.fails("adjudicate", PAPER[0], tmp_path / "nowhere.conll")
        caspr.fails("adjudicate", PAPER[0], tmp_path)
        outcome = caspr("adjudicate", *PAPER, "-o", tmp_path / "no" / "folder" / "gold")
        assert outcome.code == 2

    def test_a_full_disk(self, caspr: Caller, tmp_path: Path) -> None:
        outcome = caspr("adjudicate", *PAPER, "-o", "/dev/full")
        assert outcome.code == 2
        assert "No space left" in outcome.err

    def test_two_outputs_in_one_place(self, caspr: Caller, tmp_path: Path) -> None:
        same = tmp_path / "same"
        for other in (same, tmp_path / "x" / ".." / "same"):
            assert "to the same place" in caspr.fails("adjudicate", *PAPER, "-o", same, "--json", other)
        assert "to the same place" in caspr.fails("adjudicate", *PAPER, "--json", "-")
        assert not same.exists()

    def test_unwritable_outputs_are_refused_before_the_search(self, caspr: Caller, tmp_path: Path) -> None:
        assert "folder" in caspr.fails("adjudicate", *PAPER, "-o", tmp_path)
        assert "no folder" in caspr.fails("adjudicate", *PAPER, "--json", tmp_path / "no" / "x.json")

    def test_endless_limits(self, caspr: Caller) -> None:
        for limit in ("inf", "nan", "-1"):
            assert caspr("adjudicate", *PAPER, "--time-limit", limit).code == 2

    def test_bad_coefficients(self, caspr: Caller) -> None:
        assert "whole number or 'forbid'" in caspr.fails("adjudicate", *PAPER, "--invent-cost", "lots")
        assert caspr("adjudicate", *PAPER, "--omit-cost", "-1").code == 2
        assert caspr("adjudicate", *PAPER, "--invent-cost", "-1").code == 2

    def test_too_many_mentions_for_brute_force(self, caspr: Caller) -> None:
        assert "at most 9" in caspr.fails("adjudicate", *SONG, "--engine", "brute")


def test_nothing_but_words_without_links(caspr: Caller, tmp_path: Path) -> None:
    files = [make(tmp_path / f"{name}.conll", "-", "(1)", "*") for name in "ab"]
    outcome = caspr("adjudicate", *files, "--singletons", "drop")
    assert outcome.code == 0
    assert column(outcome.out) == ["-", "-", "-"]
    assert "nobody linked any mentions" in outcome.err
    assert column(caspr("adjudicate", *files).out) == ["-", "(1)", "-"]


def test_where_nobody_linked_anything_the_relations_that_were_not_read_are_named(
    caspr: Caller, tmp_path: Path
) -> None:
    for name in ("ann", "ben"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "d.txt").write_text("Anna slept. She woke.")
        mentions = "T1\tPER 0 4\tAnna\nT2\tPER 12 15\tShe\n"
        (tmp_path / name / "d.ann").write_text(f"{mentions}R1\tVerweis Arg1:T2 Arg2:T1\n")
    outcome = caspr("adjudicate", tmp_path, "--to", "conll")
    assert "no chains; the files hold: relation Verweis (choose what links mentions with" in outcome.err


def test_files_in_which_nobody_marked_anything_are_refused(caspr: Caller, tmp_path: Path) -> None:
    files = [make(tmp_path / f"{name}.conll", "-", "_", "*") for name in "ab"]
    for command in ("adjudicate", "check"):
        message = caspr.fails(command, *files)
        assert "a.conll, " in message
        assert "no annotator has any chains" in message
    some = make(tmp_path / "c.conll", "(1)", "-", "(1)")
    assert caspr("adjudicate", *files, some).code == 0


def test_hostile_names_are_only_names(caspr: Caller, tmp_path: Path) -> None:
    hostile = 'x"; $(touch pwned) `id` :- not a. %(part 1); <b>'
    files = [make(tmp_path / f"{name}.conll", "(1)", "(1)", "-", name=hostile) for name in ("a'\"b", "c;d")]
    outcome = caspr("adjudicate", *files, "--layout", "review", "-o", tmp_path / "review.conll")
    assert outcome.code == 0
    assert f"#begin document ({hostile});" in (tmp_path / "review.conll").read_text()
    assert caspr("redo", tmp_path / "review.conll").code == 0
    assert not list(tmp_path.glob("pwned"))


def test_huge_chain_ids_do_not_wrap(caspr: Caller, tmp_path: Path) -> None:
    cells = [f"({4294967297})", "(1)", f"({4294967297})", "(1)"]
    files = [make(tmp_path / f"{name}.conll", *cells) for name in "ab"]
    assert column(caspr("adjudicate", *files).out) == ["(1)", "(2)", "(1)", "(2)"]
