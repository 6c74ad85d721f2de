"""`--rules` in the commands that take settings: they are kept by content, proven, reported and verified."""

import json
from pathlib import Path

from tests.cli.caller import SONG, Caller


def test_the_commands_take_rules(caspr: Caller, tmp_path: Path) -> None:
    rules = tmp_path / "ours.lp"
    rules.write_text('% John is no musician\nforbid(M1,M2) :- text(M1,"John"), text(M2,"a musician").\n')
    review, proof, report = (tmp_path / name for name in ("r.conll", "c.json", "r.md"))
    options = ["--layout", "review", "-o", str(review), "--certificate", str(proof), "--report", str(report)]
    called = caspr("adjudicate", *SONG, "--rules", str(rules), *options)
    assert "your rule 'John is no musician' (ours.lp:2): 2 pairs kept apart" in called.err
    assert "keeps these apart" in report.read_text(encoding="utf-8")
    rules.unlink()
    assert "rules of ours.lp" in caspr("verify", str(proof), str(review)).out
    text = proof.read_text(encoding="utf-8")
    proof.write_text(text.replace('["forbid",[[1,1],[3,4]],0,0],', ""), encoding="utf-8")
    forged = caspr("verify", str(proof), *SONG)
    assert forged.code == 2 and "also derives forbid of [(1, 1), (3, 4)]" in forged.err
    nobodys = json.loads(text)
    nobodys["documents"][0]["settings"]["rules"] = []
    proof.write_text(json.dumps(nobodys), encoding="utf-8")
    forged = caspr("verify", str(proof), *SONG)
    assert forged.code == 2 and "does not derive forbid" in forged.err
    assert caspr("redo", str(review)).code == 0
    dropped = caspr("redo", str(review), "--rules", "none")
    assert dropped.code == 0 and "ours.lp" not in review.read_text(encoding="utf-8")


def test_encode_and_settings_take_rules(caspr: Caller, tmp_path: Path) -> None:
    rules = tmp_path / "ours.lp"
    rules.write_text("mention_cost(M,3) :- in_chain(1,_,M).", encoding="utf-8")
    assert "mention_cost(mid(1,1),3)." in caspr("encode", *SONG, "--rules", str(rules)).out
    table = caspr("settings", *SONG, "--try", "", "--try", f"--rules {rules}").out
    assert "omitted  used  invented  rules  in all" in table


def test_a_rule_that_cannot_be_used_is_shown_with_its_line(caspr: Caller, tmp_path: Path) -> None:
    rules = tmp_path / "ours.lp"
    rules.write_text("\nforbid(M1,M2) :- text(M1,_).", encoding="utf-8")
    refused = caspr("adjudicate", *SONG, "--rules", str(rules))
    assert refused.code == 2 and "ours.lp:2: nothing on the right says what M2 is" in refused.err
    assert "CaspR comes with same-type" in caspr("adjudicate", *SONG, "--rules", "nothing").err
