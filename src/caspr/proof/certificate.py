"""Certificate files: proofs of optimality for the documents of a run, and their verification.

A certificate file names, for each document, the settings and decisions under which its chains are optimal,
and holds the proof that `caspr.proof.verify` checks against the annotations without any solver. Annotations
do not say whether somebody decided or chose what the file names: whoever shows a verdict shows that, too.
"""

import reprlib
import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from caspr.errors import EngineError, InputError
from caspr.proof.verify import MALFORMED, verify
from caspr.result import Result
from caspr.task.decisions import Decisions, Statement, StatementKind
from caspr.task.limits import Limits
from caspr.task.settings import Settings, read_settings, write_settings
from caspr.text.document import Annotation, Chain
from caspr.text.findings import Finding, times, warning
from caspr.text.ids import is_id
from caspr.text.printable import printable

VERSION = 1
Key = tuple[str, str | None]
"""The name and part of a document."""


def certify_results(
    results: Sequence[Result], settings: Sequence[Settings]
) -> tuple[dict[str, Any], tuple[Finding, ...]]:
    """Make a certificate for each result; a document for which there is none gets a warning."""
    from caspr.engines.native.prove import prove_optimal

    documents, findings = [], []
    for result, chosen in zip(results, settings, strict=True):
        limits = Limits(chosen.limits.seconds, chosen.limits.megabytes)
        proof = prove_optimal(result.instance, result.solution, limits)
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


@dataclass(frozen=True)
class Verified:
    """What a certificate proves of one document: under these settings and decisions nothing costs less."""

    title: str
    """The name of the document."""
    value: int
    """What the chains of the certificate cost, and no other chains less."""
    settings: Settings
    """The settings that the certificate names."""
    decisions: Decisions
    """The decisions that the certificate names."""


def verify_documents(
    data: Any, documents: Iterable[tuple[Sequence[Annotation], Decisions | None]]
) -> Iterator[Verified]:
    """Check every document of a certificate file and yield what is proven of it.

    Each document's annotations come with its decisions, which must be those of the certificate, or with
    `None` where nothing is known about decisions. Raise `EngineError` or `InputError` at the first document
    that does not prove what it says.
    """
    if not isinstance(data, dict) or data.get("caspr-certificate") != VERSION:
        raise InputError("certificate: found something else, expected a file that --certificate wrote")
    entries = data.get("documents")
    if not isinstance(entries, list) or not entries:
        found = "no documents" if entries in (None, []) else f"{reprlib.repr(entries)} as documents"
        raise InputError(f"certificate: found {found}, expected a list of at least one, each with its proof")
    known = {annotations[0].document.key: (annotations, given) for annotations, given in documents}
    for number, entry in enumerate(entries, 1):
        annotations, given = known[_read_key(entry, number, known)]
        title = annotations[0].document.title
        try:
            verified = _verified(entry, tuple(annotations), given)
        except (EngineError, InputError) as error:
            raise type(error)(f"document '{title}': {error}") from error
        yield verified


def shown(line: str) -> str:
    r"""Show what a certificate decides: on one line, not too much of it, nothing that steers a terminal.

    >>> print(shown("(1, 3) in chain \x1b[2K"))
    (1, 3) in chain \x1b[2K
    """
    return textwrap.shorten(printable(line), 110, placeholder=" ...")


def _read_key(entry: Any, number: int, known: Collection[Key]) -> Key:
    """Read which document an entry is about, one that the annotators have."""
    try:
        name, part = entry["name"], entry["part"]
    except MALFORMED as error:
        raise EngineError(f"certificate: document {number}: malformed ({error!r})") from error
    if not isinstance(name, str) or not isinstance(part, str | None):
        found = f"{reprlib.repr((name, part))} as name and part of document {number}"
        raise EngineError(f"certificate: found {found}, expected two texts, or a text and null")
    if (name, part) not in known:
        raise InputError(f"certificate: found document {name!r}, expected one that the annotators have")
    return name, part


def _verified(entry: Any, annotations: tuple[Annotation, ...], given: Decisions | None) -> Verified:
    document = annotations[0].document
    try:
        settings = read_settings(entry["settings"])
        decisions = _read_decisions(entry["decisions"], len(document.tokens))
        proof = entry["certificate"]
    except InputError as error:
        raise InputError(f"certificate: {error}") from error
    except MALFORMED as error:
        raise EngineError(f"certificate: malformed ({error!r})") from error
    if given is not None:
        _refuse_others(decisions, given)
    value = verify(proof, settings.instance(annotations, decisions))
    return Verified(document.title, value, settings, decisions)


def _refuse_others(named: Decisions, given: Decisions) -> None:
    """Refuse decisions that are not the given ones; the order of statements does not matter."""
    one, other = (
        (decisions.chains, decisions.closed, frozenset(decisions.statements)) for decisions in (named, given)
    )
    if one == other:
        return
    ours, theirs = dict.fromkeys(named.in_words()), dict.fromkeys(given.in_words())
    differences = [
        f"only the {where} has '{shown(line)}'"
        for where, more, less in (("certificate", ours, theirs), ("review file", theirs, ours))
        for line in more
        if line not in less
    ]
    raise InputError(
        f"certificate: found {times(len(differences), 'decision')} in which it differs from the review file, "
        f"expected the same decisions in both: {differences[0]}"
    )


def _write_decisions(decisions: Decisions) -> dict[str, Any]:
    return {
        "chains": {chain.id: [list(span) for span in chain.mentions] for chain in decisions.chains},
        "closed": sorted(decisions.closed),
        "statements": [
            {"kind": str(one.kind), "mentions": [list(span) for span in one.mentions], "chain": one.chain}
            for one in decisions.statements
        ],
    }


def _read_decisions(values: Mapping[str, Any], tokens: int) -> Decisions:
    chains = [
        Chain.of(_read_id(id), _read_mentions(mentions, tokens, least=1))
        for id, mentions in values["chains"].items()
    ]
    closed = [_read_token(token, tokens) for token in values["closed"]]
    statements = [_read_statement(one, tokens) for one in values.get("statements", ())]
    return Decisions.of(chains, closed, statements)


def _read_statement(values: Mapping[str, Any], tokens: int) -> Statement:
    kind = StatementKind(values["kind"])
    least = 2 if kind in (StatementKind.APART, StatementKind.TOGETHER) else 1
    mentions = _read_mentions(values["mentions"], tokens, least=least)
    if kind is StatementKind.APART and len(mentions) > 2:
        raise ValueError("more than two mentions apart")
    return Statement.of(kind, mentions, _read_id(values["chain"]) if kind is StatementKind.ENFORCED else "")


def _read_mentions(given: Iterable[Any], tokens: int, *, least: int) -> set[tuple[int, int]]:
    mentions = {(_read_token(start, tokens), _read_token(end, tokens)) for start, end in given}
    if len(mentions) < least or any(start > end for start, end in mentions):
        raise ValueError(f"{reprlib.repr(given)} as mentions")
    return mentions


def _read_token(given: Any, tokens: int) -> int:
    if type(given) is not int or not 1 <= given <= tokens:
        raise ValueError(f"{reprlib.repr(given)} as a token of 1 to {tokens}")
    return given


def _read_id(given: Any) -> str:
    if not isinstance(given, str) or not is_id(given):
        raise ValueError(f"{reprlib.repr(given)} as the id of a chain")
    return given
