"""Certificate files are verified document by document, under decisions that a review file must have too."""

import json
from dataclasses import replace
from typing import Any

import pytest

from caspr.adjudication import made_concrete
from caspr.engines import brute
from caspr.engines.native import proof_writer
from caspr.engines.native.partition.watch import ExpiredError
from caspr.errors import EngineError, InputError
from caspr.proof.certificate import _write_decisions, one_line, verify_documents
from caspr.proof.certify import certify
from caspr.proof.prove import prove_results
from caspr.result import Given, Result
from caspr.task.contradictions import ContradictionError, refuse_contradictions
from caspr.task.decisions import Decisions, Statement, StatementKind
from caspr.task.instance import Singletons
from caspr.task.limits import Limits
from caspr.task.own_rules import DerivedRules
from caspr.task.settings import PRESETS, in_words
from caspr.task.solution import Status, Stop
from caspr.text.document import Annotation, Document
from caspr.text.variants import Variants
from tests.instances import paper_annotations

APART = Statement.of(StatementKind.APART, [(1, 3), (5, 5)])
ABSENT = Statement.of(StatementKind.ABSENT, [(2, 2)])
DECIDED = Decisions.of(statements=[APART, ABSENT])


def annotations(name: str = "one") -> tuple[Annotation, ...]:
    document = Document(name, ("w",) * 6)
    return tuple(Annotation.of(one.annotator, document, one.chains) for one in paper_annotations())


def result(name: str = "one", decisions: Decisions | None = None) -> Result:
    given, _ = made_concrete(annotations(name), decisions or Decisions(), PRESETS["paper"])
    instance = given.settings.instance(given.annotations, given.decisions)
    solution = brute.solve(instance, Limits())
    return Result(instance, solution, certify(instance, solution)[0], "brute", 0.0, given=given)


def file(*results: Result) -> Any:
    data, findings = prove_results(results)
    assert findings == ()
    return json.loads(json.dumps(data))


def test_every_document_is_verified() -> None:
    one, two = result("one"), result("two", DECIDED)
    given = [(annotations("two"), None), (annotations("one"), None)]
    first, second = verify_documents(file(one, two), given)
    assert (first.title, first.value, first.decisions) == ("one", one.solution.value, Decisions())
    assert (second.title, second.value, second.decisions) == ("two", two.solution.value, DECIDED)
    assert first.settings == second.settings == PRESETS["paper"]


def interruptible(name: str, *, may: bool) -> Result:
    """Return a result whose proof Ctrl-C may end, or not."""
    one = result(name)
    assert one.given is not None
    settings = replace(one.given.settings, limits=Limits(interruptible=may))
    return replace(one, given=replace(one.given, settings=settings))


@pytest.fixture
def interrupted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Press Ctrl-C in the middle of the second proof; count the proofs that are begun."""
    begun: list[int] = []
    prove = proof_writer._ProofWriter.prove

    def pressed(*given: Any) -> Any:
        begun.append(1)
        if len(begun) == 2:
            raise KeyboardInterrupt
        return prove(*given)

    monkeypatch.setattr(proof_writer._ProofWriter, "prove", pressed)
    return begun


def test_an_interrupt_ends_the_proofs_and_keeps_what_there_is(interrupted: list[int]) -> None:
    names = ("one", "two", "three")
    data, findings = prove_results([interruptible(name, may=True) for name in names])
    assert [entry["name"] for entry in data["documents"]] == ["one"]
    assert [(one.code, one.where) for one in findings] == [("no-certificate", name) for name in names[1:]]
    assert all(str(one).endswith("it was interrupted") for one in findings)
    assert len(interrupted) == 2


def test_an_interrupt_ends_a_program_that_does_not_want_to_go_on(interrupted: list[int]) -> None:
    with pytest.raises(KeyboardInterrupt):
        prove_results([interruptible(name, may=False) for name in ("one", "two")])
    assert len(interrupted) == 2


def test_an_interrupt_that_the_search_took_for_a_limit_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(writer: proof_writer._ProofWriter, *_: Any) -> None:
        writer.state.watch.stop = Stop.INTERRUPT
        raise ExpiredError

    monkeypatch.setattr(proof_writer._ProofWriter, "prove", stopped)
    _, findings = prove_results([interruptible(name, may=True) for name in ("one", "two")])
    assert [str(one).endswith("it was interrupted") for one in findings] == [True, True]


def test_a_result_that_is_not_proven_gets_a_warning_and_no_certificate() -> None:
    one, two = result("one"), result("two")
    unproven = replace(one, solution=replace(one.solution, status=Status.FEASIBLE, bound=0))
    data, (finding,) = prove_results([unproven, two])
    assert finding.code == "no-certificate" and "'one'" in str(finding)
    assert [entry["name"] for entry in data["documents"]] == ["two"]


def test_rules_about_the_solution_leave_a_warning_and_no_certificate() -> None:
    one, two = result("one"), result("two")
    ruled = replace(one, instance=one.instance.under(DerivedRules(program=":~ chain(C). [1,C]")))
    data, (finding,) = prove_results([ruled, two])
    assert "rules about the solution" in str(finding) and "'one'" in str(finding)
    assert [entry["name"] for entry in data["documents"]] == ["two"]


def test_a_document_that_nobody_annotated_is_refused() -> None:
    with pytest.raises(InputError, match="found document 'one', expected one that the annotators have"):
        list(verify_documents(file(result("one")), [(annotations("two"), None)]))


def test_an_error_names_its_document_and_comes_after_what_was_verified_before() -> None:
    data = file(result("one"), result("two"))
    data["documents"][1]["certificate"]["value"] += 1
    verified = verify_documents(data, [(annotations("one"), None), (annotations("two"), None)])
    assert next(verified).title == "one"
    with pytest.raises(EngineError, match="document 'two': certificate: the chains do not cost the value"):
        next(verified)


def test_decisions_are_those_of_the_review_file_in_any_order() -> None:
    data = file(result(decisions=DECIDED))
    turned = Decisions.of(statements=[ABSENT, APART])
    (verified,) = verify_documents(data, [(annotations(), turned)])
    assert verified.decisions == DECIDED


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (Decisions(), r"found 2 decisions in which.*only the certificate has '\(1, 3\) and \(5, 5\) apart'"),
        (Decisions.of(statements=[APART]), r"found 1 decision in which.*only the certificate has '\(2, 2\)"),
        (
            Decisions.of((), [4], [APART, ABSENT]),
            "only the review file has 'nothing starts or ends at token 4'",
        ),
    ],
)
def test_other_decisions_are_refused(given: Decisions, complaint: str) -> None:
    with pytest.raises(InputError, match=f"document 'one': certificate: .*{complaint}"):
        list(verify_documents(file(result(decisions=DECIDED)), [(annotations(), given)]))


def test_words_of_a_certificate_are_printed_on_one_short_line() -> None:
    assert one_line("a\nb \x1b[2K") == "a\\nb \\x1b[2K"
    assert len(one_line("word " * 100)) <= 110


def test_only_what_was_checked_is_said_to_be_verified() -> None:
    """Learned weights are not used for two annotators, so a verdict must not name them."""
    two = annotations()[:2]
    names = [one.annotator for one in two]
    given, _ = made_concrete(two, Decisions(), PRESETS["paper"])
    solution = brute.solve(given.settings.instance(two, Decisions()), Limits())
    instance = given.settings.instance(two, Decisions())
    data = file(Result(instance, solution, certify(instance, solution)[0], "brute", 0.0, given=given))
    table = {"annotators": {name: [9, 5] for name in names}, "constant": 3}
    data["documents"][0]["settings"]["weights"] = table
    [verified] = verify_documents(data, [(two, None)])
    assert verified.settings.weights is None
    assert not any("9" in words for words in in_words(verified.settings))


@pytest.mark.parametrize("rule", [ABSENT, None])
def test_decisions_that_contradict_each_other_verify_nothing(rule: Statement | None) -> None:
    """Nothing can be right under them, so nothing is optimal: `redo` refuses them, too."""
    settings = replace(PRESETS["default"], singletons=Singletons.VOTE)
    enforced = Statement.of(StatementKind.ENFORCED, [(2, 2)], "7")
    decisions = Decisions.of([], [] if rule else [2], [enforced, *([rule] if rule else [])])
    one = annotations()
    loose = settings.instance(one, Decisions.of([], [2], [ABSENT]))
    solution = brute.solve(loose, Limits())
    given = Given(one, Decisions.of([], [2], [ABSENT]), settings, Variants())
    data = file(Result(loose, solution, certify(loose, solution)[0], "brute", 0.0, given=given))
    [entry] = data["documents"]
    entry["decisions"] = _write_decisions(decisions)
    with pytest.raises(ContradictionError):
        refuse_contradictions(settings.instance(one, decisions))
    with pytest.raises(EngineError, match="ruled out"):
        list(verify_documents(data, [(one, None)]))
