"""`caspr verify`: check a certificate of optimality against the annotations, without any solver."""

import json
from collections.abc import Sequence
from pathlib import Path

import click

from caspr.adjudicate import by_document
from caspr.certificates import verify_documents
from caspr.cli.options import FILES
from caspr.document import Annotation
from caspr.errors import FormatError
from caspr.files import read_text
from caspr.formats import read_all, review


@click.command("verify", context_settings={"max_content_width": 110})
@click.argument("certificate", type=FILES, metavar="CERTIFICATE")
@click.argument("files", nargs=-1, required=True, type=FILES, metavar="A.conll B.conll ...")
def command(certificate: Path, files: tuple[Path, ...]) -> None:
    """Check that the chains in CERTIFICATE are optimal for the annotations in FILES.

    Give the annotators' files, or the one review file, that the certificate was made from. Every step of
    the proof is recomputed in whole numbers from the annotations; nothing else is believed.
    """
    try:
        data = json.loads(read_text(certificate))
    except (ValueError, RecursionError) as error:
        raise FormatError(
            str(certificate), None, "malformed JSON", "a file that --certificate wrote"
        ) from error
    count = 0
    for title, value, settings in verify_documents(data, _documents(files)):
        costs = settings.objective
        invent = "forbidden" if costs.invent is None else costs.invent
        click.echo(
            f"{title}: verified, no solution costs less than {value:,} "
            f"(omit {costs.omit}, use {costs.use}, invent {invent})"
        )
        count += 1
    click.echo(f"{count} of {len(data['documents'])} certificates verified")


def _documents(files: Sequence[Path]) -> list[tuple[Annotation, ...]]:
    if len(files) == 1:
        return [one.annotations for one in review.read(files[0])]
    return by_document(read_all(files))[0]
