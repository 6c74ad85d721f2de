"""A file to double-click, which opens the start page without a terminal.

    Windows   CaspR.pyw       runs pythonw, which shows no window of its own
    macOS     CaspR.command   opens a window of Terminal, which may be closed after the page
    Linux     CaspR.desktop   a launcher

It names the Python in which CaspR is installed, so that it works wherever it is put, until CaspR is installed
anew somewhere else.
"""

import os
import shlex
import sys
from pathlib import Path

from caspr.errors import InputError, OutputError
from caspr.storage import write_all

_MARK = "made by caspr start --shortcut"


def desktop() -> Path:
    """Return the folder of what is shown on the desktop, or the home folder where there is none."""
    home = Path.home()
    folders = (home / "Desktop", home / "OneDrive" / "Desktop")
    return next((folder for folder in folders if folder.is_dir()), home)


def shortcut(platform: str, python: Path) -> tuple[str, str]:
    """Return the name and the content of the file for a system and a Python.

    >>> name, text = shortcut("darwin", Path("/opt/my caspr/bin/python3"))
    >>> name
    'CaspR.command'
    >>> text.splitlines()[-1]
    "exec '/opt/my caspr/bin/python3' -m caspr start"
    """
    if platform == "win32":
        windowless = python.with_name("pythonw.exe")
        return "CaspR.pyw", (
            f"# {_MARK}\nimport pathlib\nimport subprocess\n\n"
            f"subprocess.Popen([{str(windowless)!r}, '-m', 'caspr', 'start'], cwd=pathlib.Path.home())\n"
        )
    if platform == "darwin":
        return (
            "CaspR.command",
            f'#!/bin/sh\n# {_MARK}\ncd "$HOME"\nexec {shlex.quote(str(python))} -m caspr start\n',
        )
    quoted = str(python)
    for sign in '\\"`$':
        quoted = quoted.replace(sign, f"\\{sign}")
    quoted = quoted.replace("\\", "\\\\").replace("%", "%%")
    return "CaspR.desktop", (
        f"[Desktop Entry]\n# {_MARK}\nType=Application\nName=CaspR\n"
        "Comment=Merge coreference annotations\n"
        f'Exec="{quoted}" -m caspr start\nPath={Path.home()}\nTerminal=false\nCategories=Education;Science;\n'
    )


def write_shortcut(folder: Path) -> Path:
    """Write the file for this system into a folder, and return its path."""
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder; make it first, or name another one")
    # Not resolved: the Python of an environment is a link to one that knows nothing of CaspR.
    name, text = shortcut(sys.platform, Path(sys.executable))
    path = folder / name
    if path.exists() and _MARK not in path.read_text(encoding="utf-8", errors="replace"):
        raise InputError(f"{path}: there is another file of this name: move it away, or name another folder")
    write_all({path: text})
    if os.name == "posix":
        try:
            path.chmod(0o755)
        except OSError as error:
            raise OutputError(f"{path}: cannot be made executable: {error.strerror}") from error
    return path
