"""`caspr redo`: enforce, re-optimise, repeat."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.caller import EXAMPLES, PAPER, SONG, Caller, column


@pytest.fixture
def review(caspr: Caller, tmp_path: Path) -> Path:
    """Make the review file of the paper's example under U."""
    path = tmp_path / "review.conll"
    caspr("adjudicate", *PAPER, "--objective", "u", "--layout", "review", "-o", path)
    return path


def edit(path: Path, cells: dict[int, str]) -> None:
    """Replace the result cells of some tokens."""
    lines = path.read_text().splitlines()
    for number, line in enumerate(lines):
        token = line.split("\t")[0].strip()
        if token.isdigit() and int(token) in cells:
            lines[number] = line.rpartition("\t")[0] + "\t" + cells[int(token)]
    path.write_text("\n".join(lines) + "\n")


def line_of(path: Path, token: int) -> int:
    lines = path.read_text().splitlines()
    return next(
        number for number, line in enumerate(lines, start=1) if line.split("\t")[0].strip() == str(token)
    )


def test_nothing_enforced_changes_nothing(caspr: Caller, review: Path) -> None:
    before = review.read_text()
    assert caspr("redo", review).code == 0
    assert review.read_text() == before


def test_figure_3(caspr: Caller, review: Path, tmp_path: Path) -> None:
    edit(review, {1: "=(1", 3: "=1)", 6: "=(1)"})
    outcome = caspr("redo", review, "--gold", tmp_path / "clean.conll")
    assert outcome.code == 0
    assert column(review.read_text()) == ["=(1", "(3)", "=1)", "(3)", "-", "=(1)"]
    assert column((tmp_path / "clean.conll").read_text()) == ["(1", "(3)", "1)", "(3)", "-", "(1)"]


def test_an_empty_token_and_an_invented_link(caspr: Caller, review: Path) -> None:
    edit(review, {4: "=-", 5: "=(9)", 6: "=(9)"})
    assert caspr("redo", review).code == 0
    assert column(review.read_text()) == ["(9", "-", "9)", "=-", "=(9)", "=(9)"]


def test_marks_stay_and_backups_are_numbered(caspr: Caller, review: Path) -> None:
    edit(review, {4: "=-"})
    marked = review.read_text()
    caspr("redo", review)
    caspr("redo", review, "--objective", "ua")
    assert column(review.read_text())[3] == "=-"
    assert Path(f"{review}.1.bak").read_text() == marked
    assert Path(f"{review}.2.bak").exists()


def test_another_output_leaves_the_file_alone(caspr: Caller, review: Path, tmp_path: Path) -> None:
    edit(review, {4: "=-"})
    before = review.read_text()
    caspr("redo", review, "-o", tmp_path / "new.conll")
    assert review.read_text() == before
    assert column((tmp_path / "new.conll").read_text())[3] == "=-"
    assert not list(tmp_path.glob("*.bak"))


def test_options_can_be_changed_and_are_kept(caspr: Caller, review: Path) -> None:
    caspr("redo", review, "--objective", "va")
    assert column(review.read_text()) == ["(2", "-", "2)", "-", "(2)", "(2)"]
    outcome = caspr("redo", review)
    assert "cost 11" in outcome.err
    assert "cost 4 " in caspr("redo", review, "--objective", "ua").err


def test_forced_votes_count(caspr: Caller, review: Path) -> None:
    edit(review, {5: "=(9)", 6: "=(9)"})
    free = caspr("redo", review, "--objective", "v")
    counted = caspr("redo", review, "--forced-votes")
    assert free.err.split("cost ")[1].split()[0] != counted.err.split("cost ")[1].split()[0]


def test_a_lone_enforced_mention_is_in_some_chain(caspr: Caller, review: Path) -> None:
    edit(review, {2: "=(x)"})
    caspr("redo", review, "--objective", "v")
    cells = column(review.read_text())
    assert cells[1] == "=(x)"
    assert sum("(x)" in cell for cell in cells) == 2


@pytest.mark.parametrize(
    ("cells", "token"),
    [({1: "=(1"}, 1), ({3: "=2)"}, 3), ({1: "=(1", 3: "1)"}, 1), ({1: "=((1"}, 1), ({2: "=1"}, 2)],
)
def test_half_enforced_mentions_are_errors_at_their_line(
    caspr: Caller, review: Path, cells: dict[int, str], token: int
) -> None:
    edit(review, cells)
    before = review.read_text()
    assert caspr.fails("redo", review).startswith(f"{review}:{line_of(review, token)}: ")
    assert review.read_text() == before
    assert not list(review.parent.glob("*.bak"))


def test_contradictions_name_a_minimal_set_of_lines(caspr: Caller, review: Path) -> None:
    edit(review, {1: "=(1", 2: "=(1)", 3: "=1)", 4: "=-", 5: "=-"})
    before = review.read_text()
    summary = review.parent / "summary.json"
    message = caspr.fails("redo", review, "--nested", "never", "--json", summary)
    lines = [line_of(review, token) for token in range(1, 7)]
    assert all(f"{review}:{line}" in message for line in lines[:3])
    assert not any(f"{review}:{line}" in message for line in lines[3:])
    assert review.read_text() == before
    assert json.loads(summary.read_text())["documents"][0]["status"] == "infeasible"


def test_outputs_and_backups_do_not_collide(caspr: Caller, review: Path) -> None:
    before = review.read_text()
    backup = review.with_name(f"{review.name}.1.bak")
    assert caspr("redo", review, "--objective", "ua", "--gold", backup).code == 0
    assert review.with_name(f"{review.name}.2.bak").read_text() == before
    assert "#begin" in backup.read_text()
    assert "to the same place" in caspr.fails(
        "redo", review, "-o", review.parent / "y", "--gold", review.parent / "y"
    )


def test_a_failed_write_leaves_no_backup(caspr: Caller, review: Path) -> None:
    assert caspr("redo", review, "--gold", "/dev/full").code == 2
    assert not list(review.parent.glob("*.bak"))


def test_strict_writes_nothing(caspr: Caller, review: Path) -> None:
    edit(review, {4: "=(8)", 5: "=(8)"})
    before = review.read_text()
    assert caspr("redo", review, "--time-limit", 0, "--engine", "clingo", "--strict").code == 2
    assert review.read_text() == before
    assert not list(review.parent.glob("*.bak"))


def test_a_plain_file_is_refused(caspr: Caller) -> None:
    assert "--layout review" in caspr.fails("redo", PAPER[0])


def test_a_mention_nobody_marked_can_be_enforced(caspr: Caller, review: Path) -> None:
    edit(review, {4: "=(1", 5: "=1)", 1: "=(1", 3: "=1)"})
    outcome = caspr("redo", review)
    assert outcome.code == 0
    assert "1 enforced mention that no annotator marked" in outcome.err
    assert column(review.read_text())[3:5] == ["=(1", "=1)"]


def test_a_broken_header_is_refused(caspr: Caller, review: Path) -> None:
    text = review.read_text()
    for wrong, found in (
        ('"engine": 3', f"{review}: document 'example': settings: found 3 as engine"),
        ('"engine": "magic"', "'magic'"),
        ('"motor": "auto"', f"{review}: document 'example': settings: found"),
    ):
        review.write_text(text.replace('"engine": "auto"', wrong))
        message = caspr.fails("redo", review)
        assert found in message


def test_all_solutions_side_by_side_can_be_redone(caspr: Caller, tmp_path: Path) -> None:
    path = tmp_path / "all.conll"
    caspr("adjudicate", *PAPER, "--preset", "paper", "--all", "--layout", "review", "-o", path)
    before = path.read_text()
    assert before.count("#begin document (example.") == 2
    edit(path, {5: "=-"})
    assert caspr("redo", path).code == 0
    assert column(path.read_text()) == ["(1", "-", "1)", "-", "=-", "(1)"] * 2


def loosely(path: Path) -> str:
    """Return the text of a review file without the blanks that align its columns."""
    return re.sub(" +\t", "\t", path.read_text())


def edited(path: Path, *changes: tuple[str, str]) -> None:
    """Change a file as an editor would."""
    text = loosely(path)
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path.write_text(text)


def test_changes_that_are_not_enforced_are_reported(caspr: Caller, tmp_path: Path) -> None:
    review = tmp_path / "review.conll"
    assert caspr("adjudicate", *SONG, "--layout", "review", "-o", review).code == 0
    assert "warning" not in caspr("redo", review).err
    row = next(line for line in loosely(review).splitlines() if line.startswith("21\tIt\t"))
    start, _, _ = row.rpartition("\t")
    edited(review, (row, f"{start}\t=(7)"))
    assert "warning" not in caspr("redo", review).err
    edited(review, (f"{start}\t=(7)", f"{start}\t(7)"))
    assert "warning" not in caspr("redo", review).err, "an enforced cell is released"
    edited(review, (f"{start}\t(7)", f"{start}\t(9)"), ("22\tis\t-\t-\t-\t-", "22\tis\t-\t-\t-\t(9)"))
    before = review.read_bytes()
    found = caspr("redo", review, "--strict")
    assert (found.code, review.read_bytes()) == (2, before)
    assert "2 changed cells of the result without `=` ignored and computed again (first at " in found.err
    assert "'(9)')" in found.err
    assert caspr("redo", review).code == 0
    assert "(7)" in next(line for line in review.read_text().splitlines() if line.startswith("21\t"))
    assert "warning" not in caspr("redo", review).err


def test_changed_words_and_annotators_are_reported(caspr: Caller, tmp_path: Path) -> None:
    review = tmp_path / "review.conll"
    assert caspr("adjudicate", *SONG, "--layout", "review", "-o", review).code == 0
    whole = loosely(review)
    edited(review, ("\n1\tJohn\t", "\n1\tJon\t"))
    (line,) = [one for one in caspr("redo", review).err.splitlines() if "warning" in one]
    assert "the words, or other columns of the text, were changed" in line
    review.write_text(whole)
    edited(review, ("\n21\tIt\t(2)\t(2)\t", "\n21\tIt\t(2)\t-\t"))
    (line,) = [one for one in caspr("redo", review).err.splitlines() if "warning" in one]
    assert "the cells of 'ben' were changed" in line
    review.write_text(re.sub(r'"sums": \{.*?\}, ', "", whole).replace("\n1\tJohn\t", "\n1\tJon\t"))
    assert "warning" not in caspr("redo", review).err, "older files have no checksums"


def test_an_enforced_id_that_becomes_another_chain_is_reported(caspr: Caller, tmp_path: Path) -> None:
    review = tmp_path / "review.conll"
    assert caspr("adjudicate", EXAMPLES / "scene", "--layout", "review", "-o", review, "-q").code == 0
    whole = review.read_text()
    edit(review, {239: "=(7", 240: "=7)"})
    found = caspr("redo", review).err
    assert "7 is enforced for one mention only ('The boy' at " in found
    assert "that the file showed as 7 ('Emil' at " in found
    assert "warning" not in caspr("redo", review).err, "the file shows the new chain as 7 now"
    review.write_text(whole)
    edit(review, {53: "=(7)", 239: "=(7", 240: "=7)"})
    assert "warning" not in caspr("redo", review).err


def test_an_equals_sign_before_each_of_two_mentions_is_told_where_it_belongs(
    caspr: Caller, tmp_path: Path
) -> None:
    review = tmp_path / "review.conll"
    caspr("adjudicate", *SONG, "--layout", "review", "-o", review, "-q")
    text = re.sub(r"(?m)^(1 *\t.*\t)[^\t]*$", r"\1=(1)|=(2)", review.read_text("utf-8"))
    review.write_text(text, "utf-8")
    message = caspr.fails("redo", review)
    assert "found enforced malformed cell '(1)|=(2)'" in message
    assert "or `-` for none and one = for the whole cell, at its start" in message


def test_a_file_in_which_nothing_changes_is_not_rewritten(caspr: Caller, tmp_path: Path) -> None:
    review = tmp_path / "review.conll"
    caspr("adjudicate", *SONG, "--layout", "review", "-o", review, "-q")
    before = review.stat().st_mtime_ns
    outcome = caspr("redo", review)
    assert f"{review} is unchanged, and was not rewritten" in outcome.err
    assert review.stat().st_mtime_ns == before
    assert list(tmp_path.glob("*.bak")) == []


OLD = Path(__file__).parents[2] / "examples/paper-2018/figure3.conll"


def test_the_file_of_the_papers_figure_3(caspr: Caller, tmp_path: Path) -> None:
    path = tmp_path / "old.conll"
    path.write_bytes(OLD.read_bytes())
    refused = caspr("redo", path)
    assert refused.code == 2
    assert f"`caspr redo {path} --annotators 4 --preset paper`" in refused.err
    assert path.read_bytes() == OLD.read_bytes()
    done = caspr("redo", path, "--annotators", 4, "--preset", "paper", "--objective", "u")
    assert "proven optimal, cost 8" in done.err
    assert column(path.read_text()) == ["=(1", "(2)", "=1)", "(2)", "-", "=(1)"]
    again = caspr("redo", path, "--annotators", 4)
    assert "is unchanged" in again.err
    assert "found 4 annotators in the header" in caspr("redo", path, "--annotators", "a,b").err


def test_the_annotators_of_such_a_file_by_name_and_by_file(caspr: Caller, tmp_path: Path) -> None:
    path = tmp_path / "old.conll"
    words = ["--preset", "paper", "--objective", "u", "-o", tmp_path / "new.conll"]
    path.write_bytes(OLD.read_bytes())
    named = caspr("redo", path, "--annotators", "anna,ben,carla,dora", *words)
    assert named.code == 0
    assert '"annotators": ["anna", "ben", "carla", "dora"]' in (tmp_path / "new.conll").read_text()
    # All columns but the last are ignored where the annotators' own files are given.
    path.write_text("\n".join(re.sub(r"^(\d).* ", r"\1 (9) ", line) for line in OLD.read_text().splitlines()))
    files = [word for file in PAPER for word in ("--annotators", file)]
    beside = caspr("redo", path, *files, *words)
    assert "proven optimal, cost 8" in beside.err
    assert '"annotators": ["in1", "in2", "in3", "in4"]' in (tmp_path / "new.conll").read_text()
    assert "there is no such file" in caspr("redo", path, *files, "--annotators", "in5.conll").err
    assert "give each annotator a name" in caspr("redo", path, "--annotators", "a,a").err
