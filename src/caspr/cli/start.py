"""`caspr start`, and `caspr` alone: everything by clicking, on a page in the browser."""

import webbrowser
from pathlib import Path
from threading import Thread

import click

from caspr.cli.shared import options
from caspr.cli.shared.outputs import print_lines
from caspr.errors import InputError


@options.subcommand("start")
@click.argument("folder", type=options.FILES, default=Path(), metavar="[FOLDER]")
@options.page_options
@click.option(
    "--shortcut",
    metavar="[FOLDER]",
    is_flag=False,
    flag_value="",
    help="Write a file there that opens the page when double-clicked, and end. Default: the desktop.",
)
def command(folder: Path, port: int, browser: bool, shortcut: str | None) -> None:
    """Open a page on this machine for everything: new projects, merging, review, reports, exports.

    The page shows folders below FOLDER, by default the one you are in, and others whose path you type. It
    ends when its last window is closed. `caspr` alone does the same.
    """
    if shortcut is not None:
        from caspr.start.shortcut import desktop, write_shortcut

        path = write_shortcut(Path(shortcut) if shortcut else desktop())
        print_lines([f"wrote {path}: double-click it to open the page"])
        return
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder")
    from caspr.start.folders import kept_in
    from caspr.start.serve import serve_start

    def ready(link: str, once: str) -> None:
        print_lines([f"the page is at {link}", "it ends when its last window is closed, or with Ctrl-C"])
        if browser:
            Thread(target=webbrowser.open, args=(once,), daemon=True).start()

    serve_start(folder, kept_in() / "recent.json", port=port, ready=ready)
