"""Verify every document of a certificate file.

Annotations do not say for which settings and decisions the chains are meant to be optimal: these are taken
from the file, so a verdict must name them.
"""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from caspr.errors import EngineError, InputError
from caspr.proof.certificate import read_certificate, read_entries, read_key
from caspr.proof.verify import verify
from caspr.task.decisions import Decisions
from caspr.task.settings import Settings
from caspr.text.document import Annotation
from caspr.text.findings import times
from caspr.text.printable import printable


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
    version, entries = read_entries(data)
    known = {annotations[0].document.key: (annotations, given) for annotations, given in documents}
    for number, entry in enumerate(entries, 1):
        key = read_key(entry, number)
        if key not in known:
            raise InputError(f"certificate: found document {key[0]!r}, expected one that the annotators have")
        annotations, given = known[key]
        document = annotations[0].document
        try:
            certificate = read_certificate(entry, key, len(document.tokens), version)
            settings, decisions = certificate.settings, certificate.decisions
            if given is not None:
                _require_same(decisions, given)
            value = verify(certificate.proof, settings.instance(tuple(annotations), decisions))
        except (EngineError, InputError) as error:
            raise type(error)(f"document '{document.title}': {error}") from error
        yield Verified(document.title, value, settings, decisions)


def _require_same(named: Decisions, given: Decisions) -> None:
    """Refuse decisions that are not the given ones; the order of statements does not matter."""
    one, other = (
        (decisions.chains, decisions.closed, frozenset(decisions.statements)) for decisions in (named, given)
    )
    if one == other:
        return
    ours, theirs = dict.fromkeys(named.in_words()), dict.fromkeys(given.in_words())
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
