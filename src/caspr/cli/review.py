"""`caspr review`: adjudicate on a web page; every click re-optimises the rest."""

import getpass
import webbrowser
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import click

from caspr.cli.delivery.messages import print_findings, print_lines
from caspr.cli.terminal.options import FILES, changed, format_options, gold_option, reading, settings_options
from caspr.cli.terminal.stopping import ended_by_interrupt
from caspr.errors import InputError
from caspr.task.settings import Settings

if TYPE_CHECKING:
    from caspr.review.project.team import Person
    from caspr.review.project.workplace import Workplace


@click.command("review", context_settings={"max_content_width": 110})
@click.argument("files", nargs=-1, required=True, type=FILES, metavar="PROJECT | FILE ...")
@click.option(
    "-o", "--output", type=FILES, help="The review file to write decisions to. Default: review.conll."
)
@click.option(
    "--add",
    "added",
    type=FILES,
    multiple=True,
    metavar="ANNOTATOR",
    help="Add a late annotator's file or folder to a review, or a corrected one; all decisions are kept.",
)
@click.option("--name", metavar="NAME", help="Who decides. Default: your name on this computer.")
@click.option(
    "--team",
    type=FILES,
    metavar="CSV",
    help="A table of adjudicators with a column `name`: each gets a link of their own.",
)
@click.option(
    "--host",
    metavar="ADDRESS",
    help="Where others reach the page: https://NAME of a proxy before it, or an address of this machine. "
    "Needs --team. Default: only this machine.",
)
@click.option("--blind", is_flag=True, help="Send no names of annotators to the page.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port. Default: any that is free.")
@click.option("--browser/--no-browser", default=True, help="Whether to open the page. Default: yes.")
@click.option("--time-limit", type=click.FloatRange(0), metavar="S", help="Seconds per re-optimisation.")
@format_options
@gold_option
@settings_options
def command(
    files: tuple[Path, ...],
    output: Path | None,
    added: tuple[Path, ...],
    name: str | None,
    team: Path | None,
    host: str | None,
    blind: bool,
    port: int,
    browser: bool,
    **given: Any,
) -> None:
    """Adjudicate FILES on a page in the browser: click, and the rest is optimised around your decision.

    FILES are those of the annotators, in any format, or folders of them; one folder that holds them all; or
    one review file, which is resumed. PROJECT is a folder that `caspr corpus --layout project` made.
    Decisions are kept in the review files, each as soon as it is made. Ctrl-C ends the page.
    """
    from caspr.review.server.serve import Interface, serve

    if host is not None and team is None:
        raise InputError("--host: found no --team, expected one: everybody who reaches the page needs a link")
    place = Interface.of(host)
    folder = files[0] if len(files) == 1 else None
    people = _people(team, folder)
    who = name or _login()
    if added:
        _add(files, added, who, given)
    with ended_by_interrupt():  # a first result that is cut short is of no use: there is no page yet
        work = _workplace(files, output, who, given)

    def ready(links: list[tuple[str, str]]) -> None:
        print_lines(_lines(work, links, host))
        if browser and not people:
            Thread(target=webbrowser.open, args=(links[0][1],), daemon=True).start()

    serve(work, port=port, place=place, people=people, ready=ready, blind=blind)


def _workplace(files: tuple[Path, ...], output: Path | None, who: str, given: dict[str, Any]) -> "Workplace":
    """Open a project, a review file, or a new review of annotators' files."""
    from caspr.formats.review_file import is_review
    from caspr.review.project.adjudications import are_adjudications
    from caspr.review.project.listing import is_project
    from caspr.review.project.project import Project
    from caspr.review.project.workplace import SingleFile
    from caspr.review.session.opening import DEFAULT, open_annotations, open_review

    def chosen(settings: Settings) -> Settings:
        return changed(settings, given)

    if are_adjudications(files):
        return _merged(files, output, who, chosen)
    if len(files) == 1 and (is_project(files[0]) or is_review(files[0])):
        if output is not None:
            kind = "a project" if is_project(files[0]) else "a review file"
            raise InputError(f"-o: found an output beside {kind}, expected none: it is resumed in place")
        if is_project(files[0]):
            return Project.opened(files[0], chosen, who)
        session = open_review(files[0], chosen)
    else:
        from caspr.cli.delivery.inputs import read_given

        given_files, inputs = read_given(files, reading(given))
        session, findings = open_annotations(
            inputs, given_files, output or DEFAULT, chosen, allow_gold=given["allow_gold"]
        )
        print_findings(findings)
    session.who = who
    return SingleFile(session)


def _merged(
    files: tuple[Path, ...], output: Path | None, who: str, chosen: Callable[[Settings], Settings]
) -> "Workplace":
    """Open a new review of what several adjudicators say, each in a review file or a project."""
    from caspr.review.project.adjudications import merge_projects, results_of
    from caspr.review.project.listing import is_project
    from caspr.review.project.project import Project
    from caspr.review.project.workplace import SingleFile
    from caspr.review.session.opening import DEFAULT, open_annotations

    if is_project(files[0]) and output is None:
        raise InputError("-o: found none, expected the folder of a new project for what these lead to")
    given = [results_of(path) for path in files]
    if output is not None and is_project(files[0]):
        print_findings(merge_projects(given, output, chosen))
        return Project.opened(output, chosen, who)
    session, findings = open_annotations(list(files), given, output or DEFAULT, chosen, allow_gold=True)
    print_findings(findings)
    session.who = who
    return SingleFile(session)


def _add(files: tuple[Path, ...], added: tuple[Path, ...], who: str, given: dict[str, Any]) -> None:
    """Add annotations to a project or a review file, and print what that changed."""
    from caspr.formats import read_all
    from caspr.formats.review_file import is_review
    from caspr.review.project.adding import add_to_review
    from caspr.review.project.listing import is_project
    from caspr.text.checks import refuse_golds

    reviewed = [path for path in files if is_project(path) or is_review(path)]
    if len(files) != 1 or not reviewed:
        remedy = f"; write --add {added[0]}{''.join(f' --add {one}' for one in files if one not in reviewed)}"
        raise InputError(
            "--add: found annotators' files, expected a project or a review file to add to, and an --add for "
            f"each annotator{remedy if len(reviewed) == 1 else ''}"
        )
    annotations = read_all(added, **reading(given))
    for group in annotations if not given["allow_gold"] else ():
        refuse_golds(group, others=1)
    try:
        with ended_by_interrupt():
            lines = add_to_review(files[0], annotations, who, lambda settings: changed(settings, given))
    except KeyboardInterrupt:
        click.echo("caspr: error: interrupted; the same command adds what is missing", err=True)
        raise SystemExit(130) from None
    print_lines(lines)


def _people(team: Path | None, folder: Path | None) -> "tuple[Person, ...]":
    if team is None:
        return ()
    from caspr.review.project.listing import is_project
    from caspr.review.project.team import read_team, with_links

    return with_links(read_team(team), folder if folder is not None and is_project(folder) else None)


def _login() -> str:
    """Return the user's name on this computer, where there is one."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "adjudicator"


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
