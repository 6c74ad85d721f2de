"""`caspr report`, and the reports of `adjudicate` and `redo`."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.caller import EXAMPLES, PAPER, SONG, Caller
from tests.cli.test_adjudicate import make


def test_text_on_the_terminal(caspr: Caller) -> None:
    outcome = caspr("report", *SONG, "--preset", "paper", "--all")
    assert outcome.code == 0
    assert "12 disputed links in 5 groups" in outcome.out
    assert "for: carla; against: anna, ben" in outcome.out
    assert "votes: 2 of 3 annotators keep them apart (either way costs 2)" in outcome.out
    assert "confidence: 83 % (1 of 3 against)" in outcome.out
    assert "against the gold standard" in outcome.out


def test_json_has_every_conflict(caspr: Caller) -> None:
    values = json.loads(caspr("report", *PAPER, "--objective", "va", "--all", "--format", "json", "-q").out)
    (document,) = values["documents"]
    assert (document["value"], document["bound"]) == (11, 11)
    assert "seconds" not in document
    (invented,) = [row for row in document["conflicts"] if not row["for"]]
    assert invented["decided"] == "linked"
    assert invented["reason"] == "transitivity"
    assert invented["price_of_flipping"] == 1
    assert (invented["confidence"], invented["votes_against"], invented["voters"]) == (0.3, 4, 4)
    assert all(
        0 < mention["confidence"] < 1 for chain in document["chain_list"] for mention in chain["mentions"]
    )
    assert values["against_gold"]["in1"]["muc"]["f1"] == {"value": 0.5, "exact": [1, 2]}
    assert values["agreement"]["annotators"] == ["in1", "in2", "in3", "in4"]


@pytest.mark.parametrize(
    ("name", "start"), [("r.html", "<!doctype html>"), ("r.md", "# song"), ("r.TXT", "song:")]
)
def test_the_format_follows_the_name(caspr: Caller, tmp_path: Path, name: str, start: str) -> None:
    assert caspr("report", *SONG, "-o", tmp_path / name).code == 0
    assert (tmp_path / name).read_text().startswith(start)


@pytest.mark.parametrize("name", ["r.pdf", "r.docx", "r.conll"])
def test_other_endings_are_refused(caspr: Caller, tmp_path: Path, name: str) -> None:
    assert "the name of a report must end in" in caspr.fails("report", *SONG, "-o", tmp_path / name)
    assert "the name of a report must end in" in caspr.fails(
        "report", *SONG, "--methods", "-o", tmp_path / name
    )
    assert not any(tmp_path.iterdir())
    assert caspr("report", *SONG, "-o", tmp_path / "r").code == 0
    assert caspr("report", *SONG, "--format", "text", "-o", tmp_path / name).code == 0
    assert (tmp_path / name).read_text() == (tmp_path / "r").read_text()


def test_the_methods_paragraph_is_text(caspr: Caller, tmp_path: Path) -> None:
    found = caspr.fails("report", *SONG, "--methods", "-o", tmp_path / "m.html")
    assert "m.html: --methods writes a paragraph of text: the name must end in .txt, .md" in found


def test_adjudicate_and_redo_report_too(caspr: Caller, tmp_path: Path) -> None:
    review, report = tmp_path / "review.conll", tmp_path / "report.html"
    words = ["--layout", "review", "-o", review, "--report", report, "--feedback", tmp_path / "feedback"]
    assert caspr("adjudicate", *SONG, *words).code == 0
    assert "<title>song</title>" in report.read_text()
    assert sorted(path.name for path in (tmp_path / "feedback").iterdir()) == [
        "anna.html",
        "ben.html",
        "carla.html",
    ]
    assert "You did not mark this mention" in (tmp_path / "feedback" / "carla.html").read_text()
    first = report.read_text()
    report.unlink()
    assert caspr("redo", review, "--report", report, "--feedback", tmp_path / "feedback").code == 0
    assert report.read_text() == first


def test_a_report_on_a_review_file_leaves_it_alone(caspr: Caller, tmp_path: Path) -> None:
    review = tmp_path / "review.conll"
    caspr("adjudicate", *SONG, "--layout", "review", "-o", review, "--objective", "ua")
    lines = review.read_text().splitlines(keepends=True)
    enforced = [
        line.rsplit("\t", 1)[0] + "\t=-\n" if "\tmusician" in line or re.match("3 *\t", line) else line
        for line in lines
    ]
    review.write_text("".join(enforced))
    outcome = caspr("report", review, "-q")
    assert outcome.code == 0
    assert "decision: the adjudicator ruled out “a musician”" in outcome.out
    assert review.read_text() == "".join(enforced)
    assert not list(tmp_path.glob("*.bak"))


class TestRefusals:
    """One line, exit 2, nothing written."""

    def test_writing_onto_an_input(self, caspr: Caller, tmp_path: Path) -> None:
        files = [make(tmp_path / f"{name}.html", "(1)", "(1)") for name in "ab"]
        before = files[0].read_text()
        caspr.fails("report", *files, "-o", files[0])
        caspr.fails("report", *files, "--feedback", tmp_path)
        caspr.fails("adjudicate", *files, "--report", files[0])
        caspr.fails("adjudicate", *files, "--feedback", tmp_path)
        assert files[0].read_text() == before

    def test_a_report_without_format(self, caspr: Caller, tmp_path: Path) -> None:
        message = caspr.fails("adjudicate", *SONG, "--report", tmp_path / "report")
        assert "must end in one of .html" in message
        assert list(tmp_path.iterdir()) == []

    def test_two_outputs_of_one_name(self, caspr: Caller, tmp_path: Path) -> None:
        path = tmp_path / "x.html"
        assert "to the same place" in caspr.fails("adjudicate", *SONG, "-o", path, "--report", path)
        (tmp_path / "feedback").mkdir()
        page = tmp_path / "feedback" / "anna.html"
        assert "to the same place" in caspr.fails(
            "report", *SONG, "-o", page, "--feedback", tmp_path / "feedback"
        )
        assert not path.exists()
        assert not page.exists()

    def test_a_folder_that_cannot_be_made(self, caspr: Caller, tmp_path: Path) -> None:
        outcome = caspr("report", *SONG, "-q", "--feedback", tmp_path / "no" / "where")
        assert outcome.code == 2
        assert outcome.err.count("\n") == 1

    def test_a_plain_file_alone(self, caspr: Caller) -> None:
        assert caspr("report", SONG[0]).code == 2

    def test_strict(self, caspr: Caller, tmp_path: Path) -> None:
        words = [
            "--engine",
            "clingo",
            "--time-limit",
            0,
            "--strict",
            "-o",
            tmp_path / "r.html",
            "--feedback",
            tmp_path / "f",
        ]
        outcome = caspr("report", *PAPER, *words)
        assert outcome.code == 2
        assert list(tmp_path.iterdir()) == []


def test_nothing_to_disagree_about(caspr: Caller, tmp_path: Path) -> None:
    files = [make(tmp_path / f"{name}.conll", "(1)", "(1)") for name in "ab"]
    for format in ("html", "text", "md", "json"):
        outcome = caspr("report", *files, "--format", format, "-q")
        assert outcome.code == 0, outcome.err
    assert "Nobody disagreed about any link" in caspr("report", *files, "--format", "html").out


def test_prices_come_from_the_native_engine(caspr: Caller) -> None:
    values = json.loads(caspr("report", *SONG, "--prices", "20", "--format", "json", "-q").out)
    conflicts = values["documents"][0]["conflicts"]
    prices = {
        row["first"][0]["text"] + "/" + row["second"][0]["text"]: row["price_of_flipping"]
        for row in conflicts
    }
    assert prices["a new song/the song"] == 6
    assert prices["John/my"] == 0
    assert "price to flip" in caspr("report", *SONG, "--prices", "20", "--format", "html", "-q").out


def test_a_paragraph_for_the_methods_section(caspr: Caller, tmp_path: Path) -> None:
    outcome = caspr("report", *SONG, "--methods", "-q")
    assert outcome.code == 0
    assert outcome.out.startswith("Three annotators annotated coreference in 1 document (31 tokens)")
    caspr("report", *SONG, "--methods", "-o", tmp_path / "methods.txt")
    assert (tmp_path / "methods.txt").read_text() == outcome.out


@pytest.mark.parametrize(
    ("signatures", "acts"),
    [
        ((' by "Ann" at 2026-11-17T09:30:05Z', ' by "Ann" at 2026-11-17T09:30:05Z'), "1 answer"),
        ((' by "Ann" at 2026-11-17T09:30:05Z', ' by "Ann" at 2026-11-17T09:30:06Z'), "2 answers"),
        ((' by "Ann" at 2026-11-17T09:30:05Z', ' by "Bob" at 2026-11-17T09:30:05Z'), "2 answers"),
        ((' by "editor" at 2026-11-17T09:30:05Z', ' by "editor" at 2026-11-17T09:30:05Z'), "2 answers"),
        (("", ""), "2 answers"),
    ],
)
def test_one_answer_counts_once_in_the_methods_paragraph(
    caspr: Caller, tmp_path: Path, signatures: tuple[str, str], acts: str
) -> None:
    review = tmp_path / "review.conll"
    caspr("adjudicate", *SONG, "--layout", "review", "-o", review, "-q")
    said = ("# caspr together: 23-23 30-30", "# caspr apart: 1-1 23-23")
    lines = "".join(f"{line}{by}\n" for line, by in zip(said, signatures, strict=True))
    review.write_text(lines + review.read_text("utf-8"), "utf-8")
    assert f"An adjudicator gave {acts}; all else" in caspr("report", review, "--methods", "-q").out
    report = caspr("report", review, "-q").out.partition("\n")[0]
    assert re.fullmatch(rf"(An a|A)djudicators?( \(.+\))? gave {acts}; all else was merged.*\.", report)
    assert all(name in report for name in ("Ann", "Bob") if f'"{name}"' in lines)
    page = review.with_name("r.html")
    assert caspr("redo", review, "--report", page, "-q").code == 0
    assert report in page.read_text("utf-8")


def test_cells_that_one_answer_marked_are_one_decision(caspr: Caller, tmp_path: Path) -> None:
    review = tmp_path / "review.conll"
    caspr("adjudicate", *SONG, "--layout", "review", "-o", review, "-q")
    rows = review.read_text("utf-8").splitlines(keepends=True)
    rows = [
        re.sub(r"\t[^\t]*\n$", "\t=(3)\n", row) if row.startswith(("23\t", "30\t")) else row for row in rows
    ]
    rows = [re.sub(r"\t[^\t]*\n$", "\t=-\n", row) if row.startswith("24\t") else row for row in rows]
    review.write_text("".join(rows), "utf-8")
    assert "gave 2 answers;" in caspr("report", review, "--methods", "-q").out
    by = 'by "Ann" at 2026-11-17T09:30:05Z'
    signed = f"# caspr cells: 23-23 30-30 in 3 {by}\n# caspr empty: 24 {by}\n"
    review.write_text(signed + "".join(rows), "utf-8")
    assert "gave 1 answer;" in caspr("report", review, "--methods", "-q").out


def test_quiet_feedback_prints_no_report_unless_asked(caspr: Caller, tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    outcome = caspr("report", *SONG, "--feedback", folder, "-q")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    assert len(list(folder.iterdir())) == 3
    assert caspr("report", *SONG, "--feedback", folder, "-q", "--format", "text").out
    assert caspr("report", *SONG, "--feedback", folder, "-q", "--methods").out


def test_the_methods_paragraph_for_latex_cites_by_keys_that_the_documentation_has(
    caspr: Caller, tmp_path: Path
) -> None:
    assert caspr("report", *SONG, "--methods", "-o", tmp_path / "m.tex", "-q").code == 0
    text = (tmp_path / "m.tex").read_text("utf-8")
    assert "36\\%" in text
    keys = set(re.findall(r"\\cite\{(\w+)\}", text))
    assert len(keys) == 4
    page = (EXAMPLES.parent / "docs" / "citing.md").read_text("utf-8")
    assert keys <= set(re.findall(r"^@\w+\{(\w+),", page, re.MULTILINE))
    assert "m.tex" in caspr.fails("report", *SONG, "-o", tmp_path / "m.tex")


def test_a_report_on_a_project_has_its_name(caspr: Caller, tmp_path: Path) -> None:
    project = tmp_path / "Dramas"
    assert caspr("corpus", EXAMPLES / "tales", "-o", project, "--layout", "project", "-q").code == 0
    assert caspr("report", project, "-o", tmp_path / "report.html").code == 0
    assert "<h1><bdi>Dramas</bdi></h1>" in (tmp_path / "report.html").read_text(encoding="utf-8")
