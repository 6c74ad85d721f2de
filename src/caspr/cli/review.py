"""`caspr review`: adjudicate on a local web page; every click re-optimises the rest."""

import webbrowser
from pathlib import Path
from threading import Thread
from typing import Any

import click

from caspr.cli.delivery.messages import print_lines
from caspr.cli.terminal.options import FILES, changed, format_options, gold_option, reading, settings_options
from caspr.errors import InputError
from caspr.task.settings import Settings


@click.command("review", context_settings={"max_content_width": 110})
@click.argument("files", nargs=-1, required=True, type=FILES, metavar="FILE ...")
@click.option(
    "-o", "--output", type=FILES, help="The review file to write decisions to. Default: review.conll."
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port. Default: any that is free.")
@click.option("--browser/--no-browser", default=True, help="Whether to open the page. Default: yes.")
@click.option("--time-limit", type=click.FloatRange(0), metavar="S", help="Seconds per re-optimisation.")
@format_options
@gold_option
@settings_options
def command(files: tuple[Path, ...], output: Path | None, port: int, browser: bool, **given: Any) -> None:
    """Adjudicate FILES on a page in the browser: click, and the rest is optimised around your decision.

    FILES are those of the annotators, in any format, or folders of them; one folder that holds them all;
    or one review file, which is resumed. Decisions are kept in the review file, each as soon as it is
    made. Ctrl-C ends the page.
    """
    from caspr.review.server.serve import serve
    from caspr.review.session.opening import DEFAULT, is_review, open_annotations, open_review

    def chosen(settings: Settings) -> Settings:
        return changed(settings, given)

    if len(files) == 1 and is_review(files[0]):
        if output is not None:
            raise InputError(
                "-o: found an output beside a review file, expected none: it is resumed in place"
            )
        session = open_review(files[0], chosen)
    else:
        from caspr.cli.delivery.inputs import read_given

        given_files, inputs = read_given(files, reading(given))
        allowed = given["allow_gold"]
        session, findings = open_annotations(
            inputs, given_files, output or DEFAULT, chosen, allow_gold=allowed
        )
        print_lines(findings)
    path = session.store.path

    def ready(address: str) -> None:
        print_lines(
            [f"reviewing {path} at {address}", "decisions are saved as you make them; Ctrl-C ends the page"]
        )
        if browser:
            Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    serve(session, port=port, ready=ready)
