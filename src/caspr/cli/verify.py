"""`caspr verify`: check a certificate of optimality against the annotations, without any solver."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from caspr.adjudication import by_document
from caspr.cli.shared.inputs import is_one_folder, read_given
from caspr.cli.shared.options import FILES, subcommand
from caspr.cli.shared.outputs import echo, print_findings
from caspr.errors import InputError, reading
from caspr.formats import review_file
from caspr.formats.containers.json import parse_value
from caspr.proof.certificate import Verified, one_line, verify_documents
from caspr.storage import read_bytes, read_text
from caspr.task.decisions import Decisions
from caspr.task.limits import Limits
from caspr.task.settings import in_words
from caspr.text.document import Annotation
from caspr.text.findings import printable, times

_LISTED = 5
"""How many of a document's decisions are printed."""


@subcommand("verify")
@click.argument("certificate", type=FILES, metavar="CERTIFICATE")
@click.argument("files", nargs=-1, required=True, type=FILES, metavar="A.conll B.conll ...")
def command(certificate: Path, files: tuple[Path, ...]) -> None:
    """Check that the chains in CERTIFICATE are optimal for the annotations in FILES.

    CERTIFICATE is a file, or the folder of all certificates of a corpus.

    Give the annotators' files, or the one review file, that the certificate was made from. Every step of
    the proof is recomputed in whole numbers from the annotations.

    Settings are taken from the certificate; costs, rules and all that is not the default are printed.
    Decisions must be those of the review file. Annotators' files have none: if the certificate names
    decisions, it is verified only under these, and the first of them are printed.
    """
    _refuse_swapped(certificate, files)
    proofs = _proofs(certificate)
    reviewed = len(files) == 1 and not is_one_folder(files)
    documents = _documents(files)
    verified = conditional = in_all = 0
    for proof in proofs:
        with reading(proof):
            data = parse_value(read_text(proof), "a file that --certificate wrote")
        for result in verify_documents(data, documents):
            _refuse_forged_rules(result)
            for line in _verdict(result, reviewed=reviewed):
                echo(line)
            verified += 1
            conditional += bool(result.decisions) and not reviewed
        in_all += len(data["documents"])
    only = f", {conditional} of them only under decisions that the certificate names" if conditional else ""
    echo(f"{verified} of {in_all} certificates verified{only}")


def _refuse_forged_rules(result: Verified) -> None:
    """Run rules of one's own again, and compare what they derive with what the certificate says."""
    if result.settings.rules or result.instance.rules:
        from caspr.engines.asp.grounding import refuse_forged

        refuse_forged(result.instance, result.settings.rules, result.chains, Limits(interruptible=True))


def _proofs(certificate: Path) -> list[Path]:
    """Return a file of certificates, or all files of a folder, as `caspr corpus --certificate` writes it."""
    if not certificate.is_dir():
        return [certificate]
    proofs = sorted(certificate.rglob("*.json"))
    if not proofs:
        raise InputError(
            f"{certificate}: there are no .json files in this folder: give one that `caspr corpus "
            "--certificate` wrote"
        )
    return proofs


def _refuse_swapped(certificate: Path, files: Sequence[Path]) -> None:
    """Refuse a review file, or annotations, where the certificate must be, which comes first."""
    proof = next((path for path in files if path.is_file() and _is_object(path)), None)
    if proof is not None and certificate.exists() and not _is_object(certificate):
        rest = " ".join(str(path) for path in (certificate, *files) if path != proof)
        raise InputError(
            f"{certificate}: this is not a certificate: give the certificate first, caspr verify "
            f"{proof} {rest}"
        )


def _is_object(path: Path) -> bool:
    """Return whether a file begins like an object in JSON, as proofs do."""
    return path.is_file() and read_bytes(path, 64).lstrip().startswith(b"{")


def _documents(files: Sequence[Path]) -> list[tuple[tuple[Annotation, ...], Decisions | None]]:
    """Read annotations, with decisions where the file has them."""
    if len(files) == 1 and not is_one_folder(files):
        return [(review.annotations, review.decisions) for review in review_file.read(files[0])]
    read, _ = read_given(files, {})
    documents, findings = by_document(read, allow_gold=True, allow_empty=True)
    print_findings(findings)
    return [(annotations, None) for annotations in documents]


def _verdict(result: Verified, *, reviewed: bool) -> Iterator[str]:
    """Yield what is proven, and under which decisions."""
    settings = printable(", ".join(in_words(result.settings)))
    sentence = f"no solution costs less than {result.value:,} ({settings})"
    if not result.decisions:
        yield f"{result.title}: verified, {sentence}"
        return
    decided = result.decisions.in_words()
    number = times(len(decided), "decision")
    if reviewed:
        yield f"{result.title}: verified, {sentence} under the {number} of the review file"
        return
    yield f"{result.title}: verified only under {number} that the certificate names, {sentence}"
    for line in decided[:_LISTED]:
        yield f"  {one_line(line)}"
    if len(decided) > _LISTED:
        yield f"  and {len(decided) - _LISTED:,} more"
