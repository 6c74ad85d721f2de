"""`caspr score` from files to tables and JSON."""

import json
from pathlib import Path

from tests.cli.caller import SONG, Caller
from tests.cli.test_adjudicate import make


def test_the_table(caspr: Caller) -> None:
    outcome = caspr("score", SONG[0], SONG[1])
    assert outcome.code == 0
    assert outcome.err == ""
    rows = {line.split()[0]: line.split()[1:] for line in outcome.out.splitlines()[1:-1]}
    assert list(rows) == ["mentions", "MUC", "B3", "CEAFm", "CEAFe", "BLANC", "LEA", "CoNLL"]
    assert rows["B3"] == ["0.806", "0.806", "0.806"]
    assert rows["CoNLL"] == ["0.852"]


def test_json_has_exact_counts(caspr: Caller, tmp_path: Path) -> None:
    values = json.loads(caspr("score", SONG[0], SONG[2], "--json").out)
    assert list(values) == [
        "mentions",
        "muc",
        "b3",
        "ceafm",
        "ceafe",
        "blanc",
        "lea",
        "conll",
        "singletons",
        "match",
    ]
    assert values["muc"] == {"recall": [4, 6], "precision": [4, 6], "f1": 4 / 6}
    assert values["b3"]["recall"] == [35, 54]
    assert "v8.01" in values["blanc"]["definition"]
    assert values["blanc"]["links"]["coreference"] == {"recall": [5, 10], "precision": [5, 9]}
    path = tmp_path / "scores.json"
    outcome = caspr("score", SONG[0], SONG[2], "--json", path)
    assert json.loads(path.read_text()) == values
    assert outcome.out.startswith(" ")


def test_json_never_eats_an_input(caspr: Caller, tmp_path: Path) -> None:
    one, other = (make(tmp_path / name, "(1)", "(1)", cell) for name, cell in (("a", "(1)"), ("b", "-")))
    before = one.read_text(), other.read_text()
    expected = caspr("score", one, other, "--json").out
    assert caspr("score", "--json", one, other).out == expected
    assert caspr("score", one, "--json", other).out == expected
    assert (one.read_text(), other.read_text()) == before
    assert json.loads(expected)["muc"]["recall"] == [1, 2]
    caspr.fails("score", one, other, f"--json={one}")
    assert (one.read_text(), other.read_text()) == before


def test_many_documents(caspr: Caller, tmp_path: Path) -> None:
    key, response = tmp_path / "key", tmp_path / "response"
    key.write_text("".join(make(tmp_path / "x", "(1)", "(1)", name=name).read_text() for name in "abc"))
    response.write_text("".join(make(tmp_path / "x", "(2)", "(2)", name=name).read_text() for name in "cbz"))
    outcome = caspr("score", key, response, "--per-document")
    assert outcome.code == 0
    assert "1 document of the key not in the response" in outcome.err
    assert "1 document of the response not in the key" in outcome.err
    assert [line for line in outcome.out.splitlines() if line.endswith(":")] == [
        "a:",
        "b:",
        "c:",
        "all documents:",
    ]
    values = json.loads(caspr("score", key, response, "--per-document", "--json").out)
    assert values["muc"]["recall"] == [2, 3]
    assert [document["muc"]["recall"] for document in values["documents"]] == [[0, 1], [1, 1], [1, 1]]
    assert "--strict: 2 warnings" in caspr("score", key, response, "--strict").err


def test_undefined_is_null_and_a_dash(caspr: Caller, tmp_path: Path) -> None:
    files = [make(tmp_path / name, "-", "-") for name in "ab"]
    assert "MUC              -          -        -" in caspr("score", *files).out
    assert json.loads(caspr("score", *files, "--json").out)["conll"] == {"f1": None}


def test_singletons(caspr: Caller, tmp_path: Path) -> None:
    key = make(tmp_path / "key", "(1)", "(1)", "(2)")
    response = make(tmp_path / "response", "(1)", "(1)", "-")
    counted = {(): [1, 2], ("--singletons", "yes"): [1, 2], ("--singletons", "auto"): [1, 1]}
    counted[("--singletons", "no")] = [1, 1]
    for options, recall in counted.items():
        assert json.loads(caspr("score", key, response, *options, "--json").out)["ceafe"]["recall"] == recall
    assert caspr("score", key, response).out.endswith("\nchains of one count\n")
    assert caspr("score", key, response, "--singletons", "no").out.endswith("\nchains of one are left out\n")
    assert "Chains of one count." in caspr("score", key, response, "--latex", "-").out


def test_repetitions_in_the_order_of_the_file(caspr: Caller, tmp_path: Path) -> None:
    key = make(tmp_path / "key", "(1)", "(1)", "(2)", "(2)")
    for cell, found in (("(1)|(2)", [1, 2]), ("(2)|(1)", [0, 2])):
        response = make(tmp_path / "response", cell, "(1)", "(2)", "-")
        values = json.loads(caspr("score", key, response, "--json").out)
        assert values["muc"]["recall"] == found, cell
    kept = make(tmp_path / "response", "(1)", "(1)", "-", "-", "-")
    longer = make(tmp_path / "key", "(1)", "(1)", "-", "-", "-")
    kept.write_text(kept.read_text().replace("w4\t-", "w4\t(1)|(1)"))
    assert json.loads(caspr("score", longer, kept, "--json").out)["b3"]["precision"] == [1, 4]
    bad = make(tmp_path / "bad", "(1)", "(1)|(1)")
    assert "'w2' as a mention 2 times" in caspr.fails("score", bad, make(tmp_path / "good", "-", "-"))


def test_refusals(caspr: Caller, tmp_path: Path) -> None:
    assert "nowhere" in caspr.fails("score", SONG[0], tmp_path / "nowhere")
    caspr.fails("score", SONG[0], SONG[1], "--json", tmp_path)
    assert "No space left" in caspr.fails("score", SONG[0], SONG[1], "--json", "/dev/full")
    assert caspr("score", SONG[0]).code == 2
    other = make(tmp_path / "other", "(1)", "(1)")
    assert "the key has song, the response d. " in caspr.fails("score", SONG[0], other)


def test_one_document_on_each_side_needs_no_name(caspr: Caller, tmp_path: Path) -> None:
    converted = tmp_path / "another-name.tsv"
    assert caspr("convert", SONG[0], converted, "-q").code == 0
    outcome = caspr("score", SONG[0], converted)
    assert (outcome.code, outcome.err) == (0, "")
    assert "CoNLL                            1.000" in outcome.out


def test_a_folder_of_several_annotators_is_no_side(caspr: Caller, tmp_path: Path) -> None:
    folder = Path(SONG[0]).parent
    for sides in ((SONG[0], folder), (folder, SONG[0])):
        message = caspr.fails("score", *sides)
        assert "document 'song' was given twice, in" in message
        assert "anna.conll and" in message
    assert "one by one" in caspr.fails("convert", folder, tmp_path / "x.conllu")
    assert not (tmp_path / "x.conllu").exists()
