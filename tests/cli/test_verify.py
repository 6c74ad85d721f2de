"""`caspr verify`: certificates are checked without a solver, and tampered ones refused."""

import json
from pathlib import Path

import pytest

from tests.cli.caller import PAPER, SONG, Caller
from tests.cli.test_redo import edit


@pytest.mark.parametrize("objective", ["v", "va", "u", "ua"])
@pytest.mark.parametrize("files", [PAPER, SONG], ids=["paper", "song"])
def test_certificates_verify(caspr: Caller, tmp_path: Path, objective: str, files: list[str]) -> None:
    proof = tmp_path / "proof.json"
    outcome = caspr("adjudicate", *files, "--objective", objective, "--certificate", proof, "-q")
    assert outcome.code == 0
    verified = caspr("verify", proof, *reversed(files))
    assert verified.code == 0, verified.err
    assert "1 of 1 certificates verified" in verified.out


def test_tampered_certificates_are_refused(caspr: Caller, tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    caspr("adjudicate", *PAPER, "--certificate", proof, "-q")
    whole = proof.read_text()
    for old, new in (
        ('"value":12', '"value":11'),
        ('"use_cost":1', '"use_cost":0'),
        ("[5,5]", "[6,6]"),
        ('"shift":20', '"shift":-1'),
        ('"parts":[', '"parts":[0,'),
        ('"caspr-certificate":1', '"caspr-certificate":2'),
    ):
        assert old in whole
        proof.write_text(whole.replace(old, new))
        assert "certificate" in caspr.fails("verify", proof, *PAPER)
    proof.write_text(whole)
    assert "expected one that the annotators have" in caspr.fails("verify", proof, *SONG)
    proof.write_text(whole[:-20])
    assert "malformed JSON" in caspr.fails("verify", proof, *PAPER)


def test_certificates_of_review_files(caspr: Caller, tmp_path: Path) -> None:
    review, proof = tmp_path / "review.conll", tmp_path / "proof.json"
    caspr("adjudicate", *PAPER, "--objective", "u", "--layout", "review", "-o", review, "-q")
    edit(review, {1: "=(1", 3: "=1)", 6: "=(1)"})
    caspr("redo", review, "--certificate", proof, "-q")
    assert "verified, no solution costs less than 8" in caspr("verify", proof, review).out
    changed = json.loads(proof.read_text())
    changed["documents"][0]["decisions"] = {"chains": {}, "closed": []}
    proof.write_text(json.dumps(changed))
    caspr.fails("verify", proof, review)


def test_no_proof_no_certificate(caspr: Caller, tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    words = ["adjudicate", *PAPER, "--engine", "clingo", "--time-limit", 0, "--certificate", proof]
    assert "no certificate for document 'example'" in caspr(*words).err
