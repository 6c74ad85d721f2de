"""Prove results: make a certificate for each document that was solved to optimality."""

from collections.abc import Sequence
from typing import Any

from caspr.proof.certificate import Certificate, write_certificates
from caspr.result import Result
from caspr.task.limits import Limits
from caspr.text.findings import Finding, warning


def prove_results(results: Sequence[Result]) -> tuple[dict[str, Any], tuple[Finding, ...]]:
    """Make the certificate file of some results; a document without a proof gets a warning."""
    from caspr.engines.native.prove import UnprovenError, prove_optimal

    certificates, findings = [], []
    for result in results:
        document, given = result.document, result.given
        # Only a program that makes results by hand leaves it out.
        # mutant: equivalent (always), because the next line fails, too, without what was given
        assert given is not None
        limits = Limits(given.settings.limits.seconds, given.settings.limits.megabytes)
        try:
            proof = prove_optimal(result.instance, result.solution, limits)
            certificates.append(Certificate(document.key, given.settings, given.decisions, proof))
        except UnprovenError as refused:
            message = f"no certificate for document '{document.title}': {refused}"
            findings.append(warning("no-certificate", message, where=document.title))
    return write_certificates(certificates), tuple(findings)
