"""`caspr redo`: re-optimise a review file around the cells enforced in it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from caspr.cli.options import (
    FILES,
    as_in_the_file,
    changed,
    reporting_options,
    search_options,
    settings_options,
    wants_all,
)
from caspr.cli.reports import extra_texts, refuse_extra
from caspr.cli.run import Reporting, Task, certificate_text, check_outputs, deliver, solve
from caspr.engines import choose
from caspr.errors import InputError
from caspr.formats import conll, review
from caspr.settings import Settings, read_settings, write_settings


@click.command("redo", context_settings={"max_content_width": 110})
@click.argument("file", type=FILES, metavar="review.conll")
@click.option("--gold", type=FILES, help="Also write the clean gold standard there.")
@click.option("-o", "--output", type=FILES, help="Write the new review file there instead of in place.")
@as_in_the_file
@settings_options
@search_options
@reporting_options
def command(
    file: Path,
    gold: Path | None,
    output: Path | None,
    certificate: Path | None,
    json_path: Path | None,
    report: Path | None,
    feedback: Path | None,
    strict: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Re-optimise a review file around its enforced cells, those that begin with '='.

    Nothing but the file is needed: annotators, objective and options are in it, and any option given here
    changes them. The file is rewritten in place and its old version kept as FILE.1.bak, FILE.2.bak, ...
    """
    check_outputs((output, gold, json_path, certificate), [file])
    reporting = Reporting(json_path, strict, quiet)
    reviews = review.read(file)
    settings = [changed(stored_settings(file, one), given) for one in reviews]
    names = dict.fromkeys(annotation.annotator for one in reviews for annotation in one.annotations)
    refuse_extra(report, feedback, names, [file], [output, gold, json_path, certificate])
    tasks = [
        Task(one.annotations, chosen, one.decisions) for one, chosen in zip(reviews, settings, strict=True)
    ]
    results = solve(tasks, reporting)
    renewed = [
        replace(one, gold=result.gold, settings=write_settings(chosen))
        for one, result, chosen in zip(reviews, results, settings, strict=True)
    ]
    texts = {output or file: review.write(renewed)}
    if gold is not None:
        every = wants_all(given)
        texts[gold] = conll.write(
            one for result in results for one in (result.numbered_golds() if every else (result.gold,))
        )
    proofs, unproven = certificate_text(certificate, results, settings)
    texts.update(proofs | extra_texts(results, report, feedback))
    deliver(texts, results, unproven, reporting, rewritten=None if output else file, folder=feedback)


def stored_settings(file: Path, one: review.Review) -> Settings:
    """Read the settings a review file keeps for one of its documents."""
    try:
        settings = read_settings(one.settings)
        choose(settings.engine, settings.encoding)
        return settings
    except InputError as error:
        raise InputError(f"{file}: document '{one.gold.document.title}': {error}") from error
