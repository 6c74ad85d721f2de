"""The certificate file: for each document a proof, and the settings and decisions under which it holds.

    {"caspr-certificate": 1, "documents": [
        {"name": "song", "part": null, "settings": {...}, "decisions": {...}, "certificate": {...}}]}

Three words, three ideas: `caspr.proof.certify` checks what an engine answers; a *certificate* is what this
file holds; `caspr.proof.verify` checks a certificate without any engine. `caspr.proof.prove` makes one.

`verify_documents` checks every document of a file. Annotations do not say for which settings and decisions
the chains are meant to be optimal: these are taken from the file, so a verdict must name them.
"""

import reprlib
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from caspr.errors import EngineError, InputError
from caspr.proof.verify import verify
from caspr.proof.verify.facts import MALFORMED, Proof, read_spans
from caspr.task.decisions import JOINING, Decisions, Statement, StatementKind
from caspr.task.instance import Instance
from caspr.task.own_rules import DerivedRules, read_derived, write_derived
from caspr.task.settings import Settings
from caspr.task.solution import Partition, canonical
from caspr.task.stored_settings import VERSION, read_settings, write_settings
from caspr.text.document import Annotation, Chain, is_id
from caspr.text.findings import printable, times

Key = tuple[str, str | None]
"""The name and part of a document."""


@dataclass(frozen=True)
class Certificate:
    """A proof that some chains of one document are optimal, and what it holds under."""

    key: Key
    settings: Settings
    """The settings under which the chains are optimal."""
    decisions: Decisions
    """The decisions under which they are."""
    proof: Proof
    """What `caspr.proof.verify` checks."""
    rules: DerivedRules = field(default_factory=DerivedRules)
    """What rules of one's own derived, under which they are."""


def write_certificates(certificates: Iterable[Certificate]) -> dict[str, Any]:
    """Write certificates as the content of a file, to be written as JSON."""
    documents = [
        {
            "name": certificate.key[0],
            "part": certificate.key[1],
            "settings": write_settings(certificate.settings),
            "decisions": _write_decisions(certificate.decisions),
            **({"rules": write_derived(certificate.rules)} if certificate.settings.rules else {}),
            "certificate": certificate.proof,
        }
        for certificate in certificates
    ]
    return {"caspr-certificate": VERSION, "documents": documents}


def read_entries(data: Any) -> list[Any]:
    """Return what a file has for each document, unread; at least one."""
    version = data.get("caspr-certificate") if isinstance(data, dict) else None
    if type(version) is not int or version != VERSION:
        raise InputError("this is not a certificate; give a file that --certificate wrote")
    entries = data.get("documents")
    if not isinstance(entries, list) or not entries:
        found = "no documents" if entries in (None, []) else f"{reprlib.repr(entries)} as documents"
        raise InputError(f"certificate: found {found}, expected a list of at least one, each with its proof")
    return entries


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


def read_certificate(entry: Any, key: Key, tokens: int) -> Certificate:
    """Read the entry of a document with this number of tokens. The proof is not looked at."""
    try:
        settings = read_settings(entry["settings"])
        decisions = _read_decisions(entry["decisions"], tokens)
        rules = read_derived(entry["rules"], tokens) if settings.rules or "rules" in entry else DerivedRules()
        return Certificate(key, settings, decisions, entry["certificate"], rules)
    except InputError as error:
        raise InputError(f"certificate: {error}") from error
    except MALFORMED as error:
        raise EngineError(f"certificate: malformed ({error!r})") from error


def _write_decisions(decisions: Decisions) -> dict[str, Any]:
    return {
        "chains": {chain.id: [list(span) for span in chain.mentions] for chain in decisions.chains},
        "closed": sorted(decisions.closed),
        "statements": [
            {
                "kind": str(statement.kind),
                "mentions": [list(span) for span in statement.mentions],
                "chain": statement.chain,
            }
            for statement in decisions.statements
        ],
    }


def _read_decisions(values: Mapping[str, Any], tokens: int) -> Decisions:
    chains = [
        Chain.of(_read_id(id), _read_mentions(mentions, tokens, least=1))
        for id, mentions in values["chains"].items()
    ]
    closed = [_read_token(token, tokens) for token in values["closed"]]
    statements = [_read_statement(statement, tokens) for statement in values.get("statements", ())]
    return Decisions.of(chains, closed, statements)


def _read_statement(values: Mapping[str, Any], tokens: int) -> Statement:
    kind = StatementKind(values["kind"])
    pair = kind in (StatementKind.APART, StatementKind.NESTED)
    least = 2 if pair or kind in JOINING else 1
    mentions = _read_mentions(values["mentions"], tokens, least=least)
    if pair and len(mentions) > 2:
        raise ValueError(f"more than two mentions {kind}")
    return Statement.of(kind, mentions, _read_id(values["chain"]) if kind is StatementKind.ENFORCED else "")


def _read_mentions(spans: Iterable[Any], tokens: int, *, least: int) -> set[tuple[int, int]]:
    mentions = {(_read_token(start, tokens), _read_token(end, tokens)) for start, end in spans}
    if len(mentions) < least or any(start > end for start, end in mentions):
        raise ValueError(f"{reprlib.repr(spans)} as mentions")
    return mentions


def _read_token(token: Any, tokens: int) -> int:
    if type(token) is not int or not 1 <= token <= tokens:
        raise ValueError(f"{reprlib.repr(token)} as a token of 1 to {tokens}")
    return token


def _read_id(id: Any) -> str:
    if not isinstance(id, str) or not is_id(id):
        raise ValueError(f"{reprlib.repr(id)} as the id of a chain")
    return id


@dataclass(frozen=True)
class Verified:
    """What a certificate proves of one document: under these settings and decisions nothing costs less."""

    title: str
    value: int
    """What the chains of the certificate cost, and no other chains less."""
    settings: Settings
    decisions: Decisions
    instance: Instance
    """The task that was proven, with what the certificate says that rules derived."""
    chains: Partition


def verify_documents(
    data: Any, documents: Iterable[tuple[Sequence[Annotation], Decisions | None]]
) -> Iterator[Verified]:
    """Check every document of a certificate file and yield what is proven of it.

    Each document's annotations come with its decisions, which must be those of the certificate, or with
    `None` where nothing is known about decisions. Raise `EngineError` or `InputError` at the first document
    that does not prove what it says.
    """
    entries = read_entries(data)
    known = {annotations[0].document.key: (annotations, expected) for annotations, expected in documents}
    for number, entry in enumerate(entries, 1):
        key = read_key(entry, number)
        if key not in known:
            raise InputError(f"certificate: found document {key[0]!r}, expected one that the annotators have")
        annotations, expected = known[key]
        document = annotations[0].document
        try:
            certificate = read_certificate(entry, key, len(document.tokens))
            # What is said to be verified is what was checked, such as weights where they are used.
            settings, _ = certificate.settings.for_document(annotations)
            decisions = certificate.decisions
            if expected is not None:
                _require_same(decisions, expected)
            instance = settings.instance(tuple(annotations), decisions).under(certificate.rules)
            value = verify(certificate.proof, instance)
            chains = canonical(read_spans(chain) for chain in certificate.proof["chains"])
        except (EngineError, InputError) as error:
            raise type(error)(f"document '{document.title}': {error}") from error
        yield Verified(document.title, value, settings, decisions, instance, chains)


def _require_same(named: Decisions, expected: Decisions) -> None:
    """Refuse decisions that are not the expected ones; the order of statements does not matter."""
    certified, filed = (
        (decisions.chains, decisions.closed, frozenset(decisions.statements))
        for decisions in (named, expected)
    )
    if certified == filed:
        return
    ours, theirs = dict.fromkeys(named.in_words()), dict.fromkeys(expected.in_words())
    differences = [
        f"only the {where} has '{one_line(words)}'"
        for where, more, less in (("certificate", ours, theirs), ("review file", theirs, ours))
        for words in more
        if words not in less
    ]
    raise InputError(
        f"certificate: found {times(len(differences), 'decision')} in which it differs from the review file, "
        f"expected the same decisions in both: {differences[0]}"
    )


def one_line(words: str) -> str:
    r"""Make words from a certificate fit to print: on one line, shortened, without control characters.

    >>> print(one_line("(1, 3) in chain \x1b[2K"))
    (1, 3) in chain \x1b[2K
    """
    return textwrap.shorten(printable(words), 110, placeholder=" ...")
