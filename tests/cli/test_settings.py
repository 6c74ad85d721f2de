"""`caspr settings` from files to tables."""

import json
from pathlib import Path

import pytest

from caspr.cli.settings import TRIED
from tests.cli.caller import EXAMPLES, SONG, Caller

TALES = EXAMPLES / "tales"
GOLD = EXAMPLES / "tales-gold"


def test_it_is_said_that_scores_leave_out_chains_of_one(caspr: Caller, tmp_path: Path) -> None:
    """They are not those of `score` then, because settings keep them or not."""
    for name in "ab":
        text = "#begin document (d);\n1\tJohn\t(1)\n2\the\t(1)\n3\tit\t(2)\n#end document\n"
        (tmp_path / f"{name}.conll").write_text(text, encoding="utf-8")
    kept, dropped = (
        caspr("settings", tmp_path, "--try", f"--singletons {word}").out for word in ("vote", "drop")
    )
    assert "leaves out chains of one" in kept
    assert "leaves out chains of one" not in dropped


def test_a_selection_of_settings_is_shown(caspr: Caller) -> None:
    outcome = caspr("settings", *SONG)
    assert outcome.code == 0
    assert f"1 document, {len(TRIED)} settings" in outcome.out
    assert outcome.out.count("\n 1  (defaults)") == 4
    assert "to yours" not in outcome.out


def test_golds_are_those_of_adjudicate_and_scores_those_of_score(caspr: Caller, tmp_path: Path) -> None:
    words = "--objective ua --use-cost 1"
    values = json.loads(caspr("settings", *SONG, "--try", words, "--gold", SONG[0], "--json").out)
    summary = tmp_path / "s.json"
    caspr("adjudicate", *SONG, "-o", tmp_path / "gold.conll", *words.split(), "--json", summary)
    [document] = json.loads(summary.read_text(encoding="utf-8"))["documents"]
    [defaults, row] = values["settings"]
    assert (defaults["settings"], row["settings"]) == ("(defaults)", words)
    assert row["gain"]["conll"] == pytest.approx(row["gold"]["conll"] - defaults["gold"]["conll"])
    assert (row["gain"]["low"], row["gain"]["clear"]) == (None, False)
    assert sum(row["cost"].values()) == document["value"]
    scored = json.loads(caspr("score", SONG[0], tmp_path / "gold.conll", "--singletons", "no", "--json").out)
    assert row["gold"]["conll"] == scored["conll"]["f1"]


def test_a_folder_of_documents_and_one_of_golds(caspr: Caller) -> None:
    outcome = caspr("settings", TALES, "--gold", GOLD, "--try", "", "--try", "--objective u")
    assert "3 documents, 2 settings" in outcome.out
    assert "how close the gold is to yours" in outcome.out
    assert " 2  --objective u " in outcome.out


def test_wrong_options_are_refused_before_anything_is_solved(caspr: Caller) -> None:
    for words in ("--objective x", "--nosuch 1", '--objective "v', "file.conll"):
        outcome = caspr("settings", "nosuch.conll", "--try", words)
        assert outcome.code == 2
        assert f"--try '{words}': these are not options of adjudicate" in outcome.err


def test_json_does_not_overwrite_an_input(caspr: Caller) -> None:
    before = Path(SONG[0]).read_bytes()
    assert caspr("settings", *SONG[1:], "--json", SONG[0]).code == 0
    assert Path(SONG[0]).read_bytes() == before


def test_gains_over_the_defaults_have_intervals_and_nothing_may_be_clearly_better(caspr: Caller) -> None:
    outcome = caspr("settings", TALES, "--gold", GOLD, "--try", "--objective ua", "--try", "--variants")
    assert "gain over the defaults, 90 % interval" in outcome.out
    assert outcome.out.index("(defaults)") < outcome.out.index("--objective ua")
    assert "no setting is clearly better than the defaults" in outcome.out
    assert "too narrow" in outcome.out
    one = caspr("settings", *SONG, "--gold", SONG[0], "--try", "", "--try", "--variants").out
    assert "one document says nothing about others" in one
    alone = caspr("settings", TALES, "--gold", GOLD, "--try", "").out
    assert "gain" not in alone
