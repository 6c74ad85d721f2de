"""Prove results: make a certificate for each document that was solved to optimality."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from caspr.proof.certificate import Certificate, write_certificates
from caspr.result import Result
from caspr.text.findings import Finding, warning


def prove_results(results: Sequence[Result]) -> tuple[dict[str, Any], tuple[Finding, ...]]:
    """Make the certificate file of some results; a document without a proof gets a warning.

    After Ctrl-C, if that ends a proof and not the program (`Limits.interruptible`), no other proof is begun.
    """
    from caspr.engines.native.proof_writer import InterruptedProofError, UnprovenError, prove_optimal

    certificates, findings = [], []
    interrupted: InterruptedProofError | None = None
    for result in results:
        document, given = result.document, result.given
        # Only a program that makes results by hand leaves it out.
        assert given is not None
        limits = replace(given.settings.limits, solutions=1, cancelled=None)
        try:
            if interrupted is not None:
                raise interrupted
            if result.instance.rules.program:
                raise UnprovenError("its rules about the solution are known to an answer set solver only")
            proof = prove_optimal(result.instance, result.solution, limits)
            certificates.append(
                Certificate(document.key, given.settings, given.decisions, proof, result.instance.rules)
            )
        except UnprovenError as refused:
            interrupted = refused if isinstance(refused, InterruptedProofError) else None
            message = f"no certificate for document '{document.title}': {refused}"
            findings.append(warning("no-certificate", message, where=document.title))
    return write_certificates(certificates), tuple(findings)
