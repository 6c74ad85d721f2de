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
    values = json.loads(caspr("agreement", "--singletons", "yes", "--json", *files).out)
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


def test_only_annotators_who_saw_a_mention_count(caspr: Caller, tmp_path: Path) -> None:
    files = [
        make(tmp_path / "a", "(1)", "(1)", "(2)", "(2)", "-", "-"),
        make(tmp_path / "b", "-", "-", "(2)", "(2)", "(3)", "(3)"),
    ]
    table = tmp_path / "seen.csv"
    table.write_text("annotator,document,from,to\na,d,1,4\nb,d,3,6\nc,d,1,1\n", encoding="utf-8")
    blind = json.loads(caspr("agreement", *files, "--json").out)
    for coverage in (table, "marks"):
        outcome = caspr("agreement", *files, "--coverage", coverage, "--json")
        values = json.loads(outcome.out)
        assert ("1 row not used" in outcome.err) is (coverage == table)
        assert values["mentions"] == [
            {"marked_by": 1, "of": 1, "mentions": 4},
            {"marked_by": 2, "of": 2, "mentions": 2},
        ]
        assert values["disagreement"]["disputed"] == 0
        assert values["alpha"]["passonneau"] is None
        assert values["matrices"]["conll"] == [[1, 1], [1, 1]] != blind["matrices"]["conll"]
    assert blind["mentions"][0] == {"marked_by": 1, "of": 2, "mentions": 4}
    assert "--strict: 1 warning" in caspr("agreement", *files, "--coverage", table, "--strict").err
    table.write_text("annotator,document,from,to\na,d,1,7\n", encoding="utf-8")
    assert "token 7 of document 'd'" in caspr.fails("agreement", *files, "--coverage", table)
    assert "nowhere.csv" in caspr.fails("agreement", *files, "--coverage", tmp_path / "nowhere.csv")


def test_coverage_holds_for_each_document_and_its_intervals(caspr: Caller, tmp_path: Path) -> None:
    files = []
    for annotator, cells in (("a", "(1) (1) (2) (2) - -"), ("b", "- (1) (1) (2) (2) (2)")):
        texts = [make(tmp_path / "one", *cells.split(), name=name).read_text() for name in "xyzuvw"]
        files.append(tmp_path / annotator)
        files[-1].write_text("".join(texts))
    table = tmp_path / "seen.csv"
    table.write_text("annotator,document,from,to\na,x,1,4\nb,x,2,6\n", encoding="utf-8")
    blind = json.loads(caspr("agreement", *files, "--json").out)
    values = json.loads(caspr("agreement", *files, "--coverage", table, "--json").out)
    assert values["documents"][0]["alpha"]["passonneau"]["exact"] == [1, 31]
    assert values["documents"][1:] == blind["documents"][1:]
    assert blind["documents"][0]["alpha"] == blind["documents"][1]["alpha"]
    low, high = values["intervals"]["alpha"]["passonneau"]
    assert low < values["alpha"]["passonneau"]["value"] < high
    assert [low, high] != blind["intervals"]["alpha"]["passonneau"]
    assert "x: 2 annotators" in caspr("agreement", *files, "--coverage", table, "--per-document").out


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
    assert [line for line in outcome.out.splitlines() if line.endswith("annotators")] == [
        "x: 2 annotators",
        "y: 3 annotators",
        "all documents: 3 annotators",
    ]
    assert "--strict: 2 warnings" in caspr("agreement", *files, "--strict").err


def test_refusals(caspr: Caller, tmp_path: Path) -> None:
    assert "file of one annotator" in caspr.fails("agreement", SONG[0])
    other = make(tmp_path / "b", "(1)", "(1)", name="song")
    assert "found 31 tokens" in caspr.fails("agreement", SONG[0], other).replace(
        "found token", "found 31 tokens"
    )
    assert "the same file" in caspr.fails("agreement", SONG[0], SONG[0])


def test_tables_and_a_figure(caspr: Caller, tmp_path: Path) -> None:
    names = ("a.csv", "a.tex", "a.svg")
    words = [
        word
        for option, name in zip(("--csv", "--latex", "--plot"), names, strict=True)
        for word in (option, tmp_path / name)
    ]
    outcome = caspr("agreement", *SONG, *words, "--percent", "--matrix", "b3")
    assert outcome.code == 0, outcome.err
    assert "57.5" in outcome.out
    assert (tmp_path / "a.csv").read_text().startswith("document,of,kind,annotator,other,value,low,high\n")
    assert "tab:agreement-b3" in (tmp_path / "a.tex").read_text()
    assert (tmp_path / "a.svg").read_text().startswith("<svg ")
    alone = caspr("agreement", *SONG, "--csv", "-").out
    assert alone == (tmp_path / "a.csv").read_text()
    assert "must end in one of .svg" in caspr.fails("agreement", *SONG, "--plot", tmp_path / "a.gif")
    assert "to the same place" in caspr.fails(
        "agreement", *SONG, "--csv", tmp_path / "x", "--latex", tmp_path / "x"
    )


def test_intervals_over_documents(caspr: Caller, tmp_path: Path) -> None:
    files = []
    for annotator, cells in (("a", ["(1)", "(1)", "(1)"]), ("b", ["(1)", "(1)", "-"])):
        path = tmp_path / annotator
        texts = [
            make(
                tmp_path / "one", *(cells if number % 2 else ["(1)", "(1)", "(1)"]), name=f"d{number}"
            ).read_text()
            for number in range(8)
        ]
        path.write_text("".join(texts))
        files.append(path)
    outcome = caspr("agreement", *files)
    assert "95% intervals" in outcome.out
    values = json.loads(caspr("agreement", *files, "--json").out)
    low, high = values["intervals"]["with_others"]["muc"]["a"]
    assert low < values["annotator"]["a"]["with_others"]["muc"]["value"] < high
    scores = json.loads(caspr("score", *files, "--json").out)
    assert scores["muc"]["f1_interval"] == [low, high]


def test_score_agreement_and_report_say_the_same_of_one_pair(caspr: Caller, tmp_path: Path) -> None:
    """With one convention, the numbers of two files do not depend on the command."""
    one = make(tmp_path / "one.conll", "(1)", "(1)", "(2)", "(3)", "(3)", name="d")
    gold = tmp_path / "gold.conll"
    other = make(tmp_path / "other.conll", "(1)", "(1)", "-", "(3)", "(1)", name="d")
    assert caspr("adjudicate", one, other, "-o", gold, "-q", "--singletons", "drop").code == 0
    report = json.loads(caspr("report", one, other, "--format", "json", "-q", "--singletons", "drop").out)
    scored = json.loads(caspr("score", gold, one, "--singletons", "auto", "--json").out)
    together = json.loads(caspr("agreement", gold, one, "--json").out)
    for measure in ("mentions", "muc", "b3", "ceafe", "lea"):
        expected = report["against_gold"]["one"][measure]["f1"]["value"]
        assert scored[measure]["f1"] == expected
        assert together["matrices"][measure][0][1] == expected
    assert scored["singletons"] is False
    convention = "chains of one count where both annotators have some"
    assert f"  in scores (F1), {convention}\n" in caspr("agreement", gold, one).out
    assert caspr("agreement", gold, one, "--latex", "-").out.count(f"In scores (F1), {convention}.") == 3
    for format in ("text", "md", "html"):
        said = caspr("report", one, other, "--format", format, "-q").out
        assert "chains of one count where both sides have some" in said, format


def test_who_marked_nothing_and_copies_are_said_beside_the_numbers(caspr: Caller, tmp_path: Path) -> None:
    files = [
        make(tmp_path / "anna", "(1)", "(1)", "(2)", "(2)"),
        make(tmp_path / "anna (1)", "(1)", "(1)", "(2)", "(2)"),
        make(tmp_path / "dora", "-", "-", "-", "-"),
    ]
    outcome = caspr("agreement", *files)
    assert outcome.code == 0
    assert "warning: dora: marked no mentions: a vote against every link; leave the file out" in outcome.err
    assert "anna and anna (1) are identical" in outcome.err
    assert "--strict: 2 warnings" in caspr("agreement", *files, "--strict").err
    assert "dora" not in caspr("agreement", *files[:2]).err


def test_a_part_that_an_annotator_left_empty_is_said_unless_coverage_says_so(
    caspr: Caller, tmp_path: Path
) -> None:
    whole = [f"({number // 2})" for number in range(30)]
    files = [
        make(tmp_path / "a", *whole),
        make(tmp_path / "b", *whole[:28], "-", "-"),
        make(tmp_path / "c", *whole[:6], *["-"] * 24),
    ]
    assert "warning: c: marked nothing from token 7 to 30" in caspr("agreement", *files).err
    assert caspr("agreement", *files, "--coverage", "marks").err == ""


def test_not_more_than_twenty_such_warnings_are_printed(caspr: Caller, tmp_path: Path) -> None:
    names = [f"d{number:02}" for number in range(25)]
    for annotator, cell in (("a", "(1)"), ("b", "-")):
        text = "".join(
            f"#begin document ({name});\n1\tx\t{cell}\n2\ty\t{cell}\n#end document\n" for name in names
        )
        (tmp_path / f"{annotator}.conll").write_text(text, encoding="utf-8")
    err = caspr("agreement", tmp_path / "a.conll", tmp_path / "b.conll").err
    assert err.count("marked no mentions") == 20
    assert "warning: d00: b: marked no mentions" in err
    assert "5 more warnings like these; `caspr check` prints all" in err


def test_the_tables_go_to_a_file_and_quiet_prints_nothing_else(caspr: Caller, tmp_path: Path) -> None:
    shown = caspr("agreement", *SONG)
    path = tmp_path / "agreement.txt"
    outcome = caspr("agreement", *SONG, "-o", path, "--csv", tmp_path / "n.csv", "-q")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    assert path.read_text("utf-8") == shown.out
    assert caspr("agreement", *SONG, "-q").out == shown.out
    both = caspr("agreement", *SONG, "-o", path, "--json")
    assert both.out == caspr("agreement", *SONG, "--json").out != ""
    assert path.read_text("utf-8") == shown.out
