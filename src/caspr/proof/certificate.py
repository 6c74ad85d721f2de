"""The certificate file: for each document a proof, and the settings and decisions under which it holds.

    {"caspr-certificate": 2, "documents": [
        {"name": "song", "part": null, "settings": {...}, "decisions": {...}, "certificate": {...}}]}

Three words, three ideas: `caspr.proof.certify` checks what an engine answers; a *certificate* is what this
file holds; `caspr.proof.verify` checks a certificate without any engine. `caspr.proof.prove` makes one.
"""

import reprlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from caspr.errors import EngineError, InputError
from caspr.proof.verify.reading import MALFORMED, Proof
from caspr.task.decisions import Decisions, Statement, StatementKind
from caspr.task.settings import Settings
from caspr.task.settings.stored import VERSION, read_settings, write_settings
from caspr.text.document import Chain
from caspr.text.ids import is_id

OLDEST = 1
"""The oldest version that is read."""
Key = tuple[str, str | None]
"""The name and part of a document."""


@dataclass(frozen=True)
class Certificate:
    """A proof that some chains of one document are optimal, and what it holds under."""

    key: Key
    """The name and part of the document."""
    settings: Settings
    """The settings under which the chains are optimal."""
    decisions: Decisions
    """The decisions under which they are."""
    proof: Proof
    """What `caspr.proof.verify` checks."""


def write_certificates(certificates: Iterable[Certificate]) -> dict[str, Any]:
    """Write certificates as the content of a file, to be written as JSON."""
    documents = [
        {
            "name": one.key[0],
            "part": one.key[1],
            "settings": write_settings(one.settings),
            "decisions": _write_decisions(one.decisions),
            "certificate": one.proof,
        }
        for one in certificates
    ]
    return {"caspr-certificate": VERSION, "documents": documents}


def read_entries(data: Any) -> tuple[int, list[Any]]:
    """Return the version of a file, and what it has for each document, unread; at least one."""
    version = data.get("caspr-certificate") if isinstance(data, dict) else None
    if type(version) is not int or not OLDEST <= version <= VERSION:
        raise InputError("certificate: found something else, expected a file that --certificate wrote")
    entries = data.get("documents")
    if not isinstance(entries, list) or not entries:
        found = "no documents" if entries in (None, []) else f"{reprlib.repr(entries)} as documents"
        raise InputError(f"certificate: found {found}, expected a list of at least one, each with its proof")
    return version, entries


def read_key(entry: Any, number: int) -> Key:
    """Read which document an entry is about; it is the file's `number`th."""
    try:
        name, part = entry["name"], entry["part"]
    except MALFORMED as error:
        raise EngineError(f"certificate: document {number}: malformed ({error!r})") from error
    if not isinstance(name, str) or not isinstance(part, str | None):
        found = f"{reprlib.repr((name, part))} as name and part of document {number}"
        raise EngineError(f"certificate: found {found}, expected two texts, or a text and null")
    return name, part


def read_certificate(entry: Any, key: Key, tokens: int, version: int = VERSION) -> Certificate:
    """Read the entry of a document that has so many tokens. The proof is not looked at."""
    try:
        settings = read_settings(entry["settings"], version)
        decisions = _read_decisions(entry["decisions"], tokens)
        return Certificate(key, settings, decisions, entry["certificate"])
    except InputError as error:
        raise InputError(f"certificate: {error}") from error
    except MALFORMED as error:
        raise EngineError(f"certificate: malformed ({error!r})") from error


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
    pair = kind in (StatementKind.APART, StatementKind.NESTED)
    least = 2 if pair or kind is StatementKind.TOGETHER else 1
    mentions = _read_mentions(values["mentions"], tokens, least=least)
    if pair and len(mentions) > 2:
        raise ValueError(f"more than two mentions {kind}")
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
