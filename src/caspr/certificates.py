"""Certificate files: proofs of optimality for the documents of a run, and their verification.

A certificate file names, for each document, the settings and decisions under which its chains are optimal,
and holds the proof that `caspr.verify` checks against the annotations without any solver.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from caspr.decisions import Decisions, Kind, Statement
from caspr.document import Annotation, Chain
from caspr.errors import EngineError, InputError
from caspr.findings import Finding, warning
from caspr.limits import Limits
from caspr.result import Result
from caspr.settings import Settings, read_settings, write_settings
from caspr.verify import verify

VERSION = 1


def certify_results(
    results: Sequence[Result], settings: Sequence[Settings]
) -> tuple[dict[str, Any], tuple[Finding, ...]]:
    """Make a certificate for each result; a document for which there is none gets a warning."""
    from caspr.engines.native import certificate

    documents, findings = [], []
    for result, chosen in zip(results, settings, strict=True):
        limits = Limits(chosen.limits.seconds, chosen.limits.megabytes)
        proof = certificate(result.instance, result.solution, limits)
        title = result.document.title
        if proof is None:
            message = f"no certificate for document '{title}': not proven optimal, or no time for a proof"
            findings.append(warning("no-certificate", message, where=title))
            continue
        documents.append(
            {
                "name": result.document.name,
                "part": result.document.part,
                "settings": write_settings(chosen),
                "decisions": _write_decisions(result.instance.decisions),
                "certificate": proof,
            }
        )
    return {"caspr-certificate": VERSION, "documents": documents}, tuple(findings)


def verify_documents(
    data: Any, documents: Sequence[Sequence[Annotation]]
) -> Iterator[tuple[str, int, Settings]]:
    """Check every document of a certificate file; yield its title, proven value and settings.

    Raise `EngineError` at the first that does not prove what it says.
    """
    if not isinstance(data, dict) or data.get("caspr-certificate") != VERSION:
        raise InputError("certificate: found something else, expected a file that --certificate wrote")
    known = {annotations[0].document.key: annotations for annotations in documents}
    for entry in data.get("documents", ()):
        try:
            key = entry["name"], entry["part"]
            settings = read_settings(entry["settings"])
            decisions = _read_decisions(entry["decisions"])
            proof = entry["certificate"]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise EngineError(f"certificate: malformed ({error!r})") from error
        if key not in known:
            raise InputError(f"certificate: found document '{key[0]}', expected one that the annotators have")
        annotations = tuple(known[key])
        try:
            value = verify(proof, settings.instance(annotations, decisions))
        except EngineError as error:
            raise EngineError(f"document '{annotations[0].document.title}': {error}") from error
        yield annotations[0].document.title, value, settings


def _write_decisions(decisions: Decisions) -> dict[str, Any]:
    return {
        "chains": {chain.id: [list(span) for span in chain.mentions] for chain in decisions.chains},
        "closed": sorted(decisions.closed),
        "statements": [
            {"kind": str(one.kind), "mentions": [list(span) for span in one.mentions], "chain": one.chain}
            for one in decisions.statements
        ],
    }


def _read_decisions(values: Mapping[str, Any]) -> Decisions:
    chains = [Chain.of(id, [(int(a), int(b)) for a, b in spans]) for id, spans in values["chains"].items()]
    statements = [
        Statement.of(Kind(one["kind"]), [(int(a), int(b)) for a, b in one["mentions"]], one["chain"])
        for one in values.get("statements", ())
    ]
    return Decisions.of(chains, map(int, values["closed"]), statements)
