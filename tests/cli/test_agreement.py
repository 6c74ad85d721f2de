"""`caspr agreement` from files to tables and JSON."""

import json
from pathlib import Path

from tests.cli.caller import SONG, Caller
from tests.cli.test_adjudicate import make


def test_the_table(caspr: Caller) -> None:
    outcome = caspr("agreement", *SONG)
    assert outcome.code == 0
    assert "song: 3 annotators" in outcome.out
    assert "mentions marked by 3 of 3" in outcome.out
    assert "anna     1.000   0.852   0.700" in outcome.out


def test_worked_numbers_in_json(caspr: Caller, tmp_path: Path) -> None:
    files = [
        make(tmp_path / "a", "(1)", "(1)", "(1)", "(2)", "(2)"),
        make(tmp_path / "b", "(1)", "(1)", "(3)", "(2)", "(2)"),
    ]
    before = files[0].read_text()
    values = json.loads(caspr("agreement", "--json", *files).out)
    assert files[0].read_text() == before
    assert values["alpha"]["passonneau"] == {"value": 20 / 29, "exact": [20, 29]}
    assert values["alpha"]["nominal"]["exact"] == [8, 35]
    assert values["alpha"]["masi"]["exact"] == [44, 95]
    assert values["conventions"] == {"own_set": "with", "unmarked": "singleton"}
    assert values["matrices"]["mentions"] == [[1, 1], [1, 1]]
    assert values["annotator"]["a"]["without"]["passonneau"] is None
    other = json.loads(
        caspr("agreement", *files, "--own-set", "without", "--unmarked", "missing", "--json").out
    )
    assert other["alpha"]["passonneau"] != values["alpha"]["passonneau"]


def test_undefined_is_null_and_a_dash(caspr: Caller, tmp_path: Path) -> None:
    files = [make(tmp_path / name, "-", "-") for name in "ab"]
    assert json.loads(caspr("agreement", *files, "--json").out)["alpha"]["links"] is None
    assert "alpha over links                     -" in caspr("agreement", *files).out


def test_many_documents_and_missing_ones(caspr: Caller, tmp_path: Path) -> None:
    files = []
    for annotator, names in (("a", "xyz"), ("b", "xy"), ("c", "y")):
        path = tmp_path / annotator
        path.write_text(
            "".join(make(tmp_path / "one", "(1)", "(1)", name=name).read_text() for name in names)
        )
        files.append(path)
    outcome = caspr("agreement", *files, "--per-document", "--matrix", "all")
    assert outcome.code == 0
    assert "'z' is only in" in outcome.err
    assert [line for line in outcome.out.splitlines() if "annotators" in line] == [
        "x: 2 annotators",
        "y: 3 annotators",
        "all documents: 3 annotators",
    ]
    assert "--strict: found 2 warnings" in caspr("agreement", *files, "--strict").err


def test_refusals(caspr: Caller, tmp_path: Path) -> None:
    assert "file of one annotator" in caspr.fails("agreement", SONG[0])
    other = make(tmp_path / "b", "(1)", "(1)", name="song")
    assert "found 31 tokens" in caspr.fails("agreement", SONG[0], other).replace(
        "found token", "found 31 tokens"
    )
    assert "the same file" in caspr.fails("agreement", SONG[0], SONG[0])
