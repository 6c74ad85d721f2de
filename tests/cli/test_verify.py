"""`caspr verify`: certificates are checked without a solver, and tampered ones refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from caspr.adjudication import adjudicate_document
from caspr.engines.asp import pipes
from caspr.formats import read_all
from caspr.proof.prove import prove_results
from caspr.task.decisions import Decisions, Statement, StatementKind
from caspr.task.limits import Limits
from caspr.task.settings import Settings
from caspr.text.document import Chain
from tests.cli.caller import PAPER, SONG, Caller
from tests.cli.test_redo import edit
from tests.corpus.corpora import write_corpus


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
    caspr("adjudicate", *PAPER, "--preset", "paper", "--certificate", proof, "-q")
    whole = proof.read_text()
    for old, new in (
        ('"value":12', '"value":11'),
        ('"use_cost":1', '"use_cost":0'),
        ("[5,5]", "[6,6]"),
        ('"rivals":[[0,1,2]]', '"rivals":[[0,1,1]]'),
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


def test_rules_are_run_again_so_that_ctrl_c_ends_them(
    caspr: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules, proof = tmp_path / "ours.lp", tmp_path / "proof.json"
    rules.write_text('forbid_mention(M) :- text(M,"5").')
    caspr("adjudicate", *PAPER, "-o", tmp_path / "gold.conll", "--rules", rules, "--certificate", proof)
    ran: list[Limits] = []

    def run_pipe(commands: Any, program: str, limits: Limits, **more: Any) -> Any:
        ran.append(limits)
        return pipes.run_pipe(commands, program, limits, **more)

    monkeypatch.setattr("caspr.engines.asp.grounding.run_pipe", run_pipe)
    assert "1 of 1 certificates verified" in caspr("verify", proof, *PAPER).out
    assert [limits.interruptible for limits in ran] == [True]


def test_no_proof_no_certificate(caspr: Caller, tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    words = ["adjudicate", *PAPER, "--engine", "clingo", "--time-limit", 0, "--certificate", proof]
    assert "no certificate for document 'example'" in caspr(*words).err


def forge(path: Path, decisions: Decisions, settings: Settings) -> dict[str, Any]:
    """Write a flawless certificate of the song, under decisions that are in no annotator's file."""
    annotations = tuple(annotation for (annotation,) in read_all([Path(file) for file in SONG]))
    result = adjudicate_document(annotations, decisions, settings)
    data, _ = prove_results([result])
    path.write_text(json.dumps(data))
    return data


APART = Statement.of(StatementKind.APART, [(1, 1), (6, 6)])


def test_decisions_of_the_certificate_are_said(caspr: Caller, tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    forge(proof, Decisions.of(statements=[APART]), Settings())
    assert caspr("verify", proof, *SONG).out.splitlines() == [
        "song: verified only under 1 decision that the certificate names, no solution costs less than 34 "
        "(omit 2, use 1, invent 1, nested vote, singletons drop)",
        "  (1, 1) and (6, 6) apart",
        "1 of 1 certificates verified, 1 of them only under decisions that the certificate names",
    ]


def test_many_decisions_are_listed_in_part(caspr: Caller, tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    chain = Chain.of("x\x1b[2K", [(1, 1), (6, 6)])
    forge(
        proof, Decisions.of([chain], [2, 3, 4, 5], [Statement.of(StatementKind.ABSENT, [(7, 7)])]), Settings()
    )
    assert caspr("verify", proof, *SONG).out.splitlines()[1:-1] == [
        "  (1, 1) and (6, 6) in chain x\\x1b[2K, and nothing else starts or ends there",
        *(f"  nothing starts or ends at token {token}" for token in (2, 3, 4, 5)),
        "  and 1 more",
    ]


def test_settings_that_are_not_the_default_are_said(caspr: Caller, tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    words = ["--objective", "ua", "--nested", "always", "--forced-votes", "--singletons", "vote"]
    caspr("adjudicate", *SONG, *words, "--certificate", proof, "-q")
    chosen = "(omit 2, use 0, invent 1, nested always, singletons vote, decisions count as votes)"
    assert chosen in caspr("verify", proof, *SONG).out


def test_decisions_must_be_those_of_the_review_file(caspr: Caller, tmp_path: Path) -> None:
    review, proof = tmp_path / "review.conll", tmp_path / "proof.json"
    caspr("adjudicate", *SONG, "--layout", "review", "-o", review, "-q")
    forge(proof, Decisions.of(statements=[APART]), Settings())
    refusal = caspr.fails("verify", proof, review)
    assert "only the certificate has '(1, 1) and (6, 6) apart'" in refusal
    undecided = review.read_text()
    others = "# caspr absent: 23-23\n# caspr apart: 1-1 6-6\n"
    review.write_text(others + undecided)
    assert "only the review file has '(23, 23) absent'" in caspr.fails("verify", proof, review)
    forge(proof, Decisions.of(statements=[APART, Statement.of(StatementKind.ABSENT, [(23, 23)])]), Settings())
    outcome = caspr("verify", proof, review)
    assert "under the 2 decisions of the review file" in outcome.out
    assert outcome.out.endswith("1 of 1 certificates verified\n")
    caspr("adjudicate", *SONG, "--certificate", proof, "-q")
    assert "found 2 decisions in which it differs" in caspr.fails("verify", proof, review)


INFINITE, MISSING = float("inf"), ...


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (["documents"], MISSING),
        (["documents", 0, "name"], MISSING),
        (["documents", 0, "decisions"], MISSING),
        (["documents"], []),
        (["documents"], 5),
        (["documents"], None),
        (["documents"], {"name": "song"}),
        (["documents", 0], 5),
        (["documents", 0, "name"], []),
        (["documents", 0, "name"], "\ud800\n"),
        (["documents", 0, "part"], INFINITE),
        (["documents", 0, "settings"], []),
        (["documents", 0, "settings", "singletons"], "a\nb"),
        (["documents", 0, "settings", "a\nb"], 1),
        (["documents", 0, "settings", "time_limit"], INFINITE),
        (["documents", 0, "decisions"], None),
        (["documents", 0, "decisions", "closed"], [INFINITE]),
        (["documents", 0, "decisions", "closed"], [0]),
        (["documents", 0, "decisions", "chains"], {"1": [[INFINITE, 1]]}),
        (["documents", 0, "decisions", "chains"], {"1": [[6, 1]]}),
        (["documents", 0, "decisions", "chains"], {"1": []}),
        (["documents", 0, "decisions", "chains"], {"1\nsong: verified": [[1, 1]]}),
        (["documents", 0, "decisions", "statements"], [{"kind": "apart", "mentions": [[1, 1]], "chain": ""}]),
        (["documents", 0, "decisions", "statements"], [{"kind": [], "mentions": [], "chain": []}]),
        (["documents", 0, "certificate"], []),
        (["documents", 0, "certificate", "value"], INFINITE),
        (["documents", 0, "certificate", "chains", 0, 0, 0], INFINITE),
        (["documents", 0, "certificate", "parts", 0, "nodes", 0, 0, 0], INFINITE),
        (["documents", 0, "certificate", "parts", 0, "proof"], [{"shift": INFINITE}]),
        (["documents", 0, "certificate", "parts", 0, "proof"], [{"pair": [INFINITE, 0]}]),
        (["documents", 0, "certificate", "parts", 0, "proof"], [{"stars": [[INFINITE, 0, 1, 2]]}]),
    ],
    ids=str,
)
def test_malformed_certificates_are_refused(
    caspr: Caller, tmp_path: Path, place: list[str | int], value: object
) -> None:
    proof = tmp_path / "proof.json"
    data = forge(proof, Decisions(), Settings())
    inner: Any = data
    for step in place[:-1]:
        inner = inner[step]
    if value is MISSING:
        del inner[place[-1]]
    else:
        inner[place[-1]] = value
    proof.write_text(json.dumps(data))
    assert "certificate: " in caspr.fails("verify", proof, *SONG)


def test_all_certificates_of_a_corpus(caspr: Caller, tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "in", ["a", "b"])
    assert caspr("corpus", corpus, "-o", tmp_path / "out", "--certificate").code == 0
    outcome = caspr("verify", tmp_path / "out/certificates", corpus)
    assert outcome.code == 0
    assert "2 of 2 certificates verified" in outcome.out
    (tmp_path / "empty").mkdir()
    assert "there are no .json files in this folder" in caspr.fails("verify", tmp_path / "empty", corpus)
