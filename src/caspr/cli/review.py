"""`caspr review`: adjudicate on a web page; every click re-optimises the rest."""

import webbrowser
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import click

from caspr.cli.shared import options
from caspr.cli.shared.annotators import annotator_options, change_annotators
from caspr.cli.shared.outputs import Outputs, print_findings, print_lines, requested
from caspr.cli.shared.progress import ended_by_interrupt
from caspr.errors import InputError
from caspr.processes import login
from caspr.task.settings import Settings

if TYPE_CHECKING:
    from caspr.review.project.project import Workplace
    from caspr.review.project.team import Person


@options.subcommand("review")
@click.argument("files", nargs=-1, required=True, type=options.FILES, metavar="PROJECT | FILE ...")
@options.file_option("-o", "--output", help="The review file to write decisions to. Default: review.conll.")
@annotator_options
@click.option(
    "--name", metavar="NAME", help="Your name, noted with each decision. Default: your name on this computer."
)
@click.option(
    "--team",
    type=options.FILES,
    metavar="CSV",
    help="A table of adjudicators with a column `name`; each gets a link of their own.",
)
@click.option(
    "--host",
    metavar="ADDRESS",
    help="Where others reach the page: https://NAME of a proxy before it, or an address of this machine. "
    "Needs --team. Default: only this machine.",
)
@options.flag("--blind", help="Do not show who annotated what.")
@options.page_options
@click.option("--time-limit", type=click.FloatRange(0), metavar="S", help="Seconds per re-optimisation.")
@options.format_options
@options.gold_option
@options.settings_options
def command(
    files: tuple[Path, ...],
    output: Path | None,
    name: str | None,
    team: Path | None,
    host: str | None,
    blind: bool,
    port: int,
    browser: bool,
    **values: Any,
) -> None:
    """Adjudicate FILES on a page in the browser: click, and the rest is optimised around your decision.

    FILES are the annotators' files in any format, or folders of them; one folder that holds them all; or one
    review file to resume. PROJECT is a folder that `caspr adjudicate` or `caspr corpus` made with `--layout
    project`. Every decision is saved in the review file as soon as it is made. Ctrl-C ends the page.
    """
    from caspr.review.server.serve import Interface, serve

    if host is not None and team is None:
        raise InputError("--host needs --team: everybody who reaches the page needs a link of their own")
    interface = Interface.of(host)
    Outputs(requested("-o", output)).refuse_inputs()
    folder = files[0] if len(files) == 1 else None
    people = _people(team, folder)
    who = name or login()
    change_annotators(files, who, values)
    with ended_by_interrupt():  # a first result that is cut short is of no use: there is no page yet
        work = _workplace(files, output, who, values)

    def ready(links: list[tuple[str, str]], once: str) -> None:
        print_lines(_lines(work, links, host))
        if browser and not people:
            Thread(target=webbrowser.open, args=(once,), daemon=True).start()

    serve(work, port=port, place=interface, people=people, ready=ready, blind=blind)


def _workplace(files: tuple[Path, ...], output: Path | None, who: str, values: dict[str, Any]) -> "Workplace":
    """Open a project, a review file, or a new review of annotators' files."""
    from caspr.formats.review_file import is_review
    from caspr.formats.review_file.project import is_project
    from caspr.review.project.adjudications import are_adjudications
    from caspr.review.project.project import SingleFile, open_existing
    from caspr.review.session import DEFAULT, open_annotations

    def chosen(settings: Settings) -> Settings:
        return options.changed(settings, values)

    if are_adjudications(files):
        return _merged(files, output, who, chosen)
    if len(files) == 1 and (is_project(files[0]) or is_review(files[0])):
        if output is not None:
            kind = "a project" if is_project(files[0]) else "a review file"
            raise InputError(f"-o cannot be used with {kind}, which is resumed in place")
        return open_existing(files[0], chosen, who)
    from caspr.cli.shared.inputs import read_given

    given_files, inputs = read_given(files, options.reading(values))
    session, findings = open_annotations(
        inputs, given_files, output or DEFAULT, chosen, allow_gold=values["allow_gold"]
    )
    print_findings(findings)
    session.who = who
    return SingleFile(session)


def _merged(
    files: tuple[Path, ...], output: Path | None, who: str, chosen: Callable[[Settings], Settings]
) -> "Workplace":
    """Open a new review of what several adjudicators say, each in a review file or a project."""
    from caspr.formats.review_file.project import is_project
    from caspr.review.project.adjudications import merge_projects, results_of
    from caspr.review.project.project import Project, SingleFile
    from caspr.review.session import DEFAULT, open_annotations

    if is_project(files[0]) and output is None:
        raise InputError("give the folder of a new project with -o: these adjudications are merged into it")
    adjudications = [results_of(path) for path in files]
    if output is not None and is_project(files[0]):
        print_findings(merge_projects(adjudications, output, chosen))
        return Project.opened(output, chosen, who)
    session, findings = open_annotations(
        list(files), adjudications, output or DEFAULT, chosen, allow_gold=True
    )
    print_findings(findings)
    session.who = who
    return SingleFile(session)


def _people(team: Path | None, folder: Path | None) -> "tuple[Person, ...]":
    if team is None:
        return ()
    from caspr.formats.review_file.project import is_project
    from caspr.review.project.team import read_team, with_links

    return with_links(read_team(team), folder if folder is not None and is_project(folder) else None)


def _lines(work: "Workplace", links: list[tuple[str, str]], host: str | None) -> list[str]:
    if not links[0][0]:
        lines = [f"reviewing {work.title} at {links[0][1]}"]
    else:
        lines = [
            f"reviewing {work.title}; a link for each person:",
            *(f"  {who}: {link}" for who, link in links),
        ]
    if host is not None and not host.startswith("https://"):
        lines.append(
            "warning: whoever can read the network can read these links: put a proxy with TLS in front, and "
            "give its address, --host https://NAME"
        )
    return [*lines, "decisions are saved as you make them; Ctrl-C ends the page"]
