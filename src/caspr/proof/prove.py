"""Prove results: make a certificate for each document that was solved to optimality."""

from collections.abc import Sequence
from typing import Any

from caspr.proof.certificate import Certificate, write_certificates
from caspr.result import Result
from caspr.task.limits import Limits
from caspr.task.settings import Settings
from caspr.text.findings import Finding, warning


def prove_results(
    results: Sequence[Result], settings: Sequence[Settings]
) -> tuple[dict[str, Any], tuple[Finding, ...]]:
    """Make the certificate file of some results; a document without a proof gets a warning."""
    from caspr.engines.native.prove import prove_optimal

    certificates, findings = [], []
    for result, chosen in zip(results, settings, strict=True):
        document = result.document
        limits = Limits(chosen.limits.seconds, chosen.limits.megabytes)
        proof = prove_optimal(result.instance, result.solution, limits)
        if proof is not None:
            certificates.append(Certificate(document.key, chosen, result.instance.decisions, proof))
            continue
        title = document.title
        message = f"no certificate for document '{title}': not proven optimal, or no time for a proof"
        findings.append(warning("no-certificate", message, where=title))
    return write_certificates(certificates), tuple(findings)
