"""Set up and run the project with nothing but Python: `python3 dev.py example`, `python3 dev.py test`.

The first call makes a virtual environment in `.venv` and installs CaspR into it; later calls reuse it.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
COVERAGE = ("--cov", "--cov-report=term:skip-covered")
"""Measured when all tests are run; the floor is `fail_under` in `pyproject.toml`."""


def set_up() -> None:
    """Make the virtual environment, or renew it when `pyproject.toml` has changed."""
    stamp = VENV / "installed-for"
    wanted = hashlib.sha256((ROOT / "pyproject.toml").read_bytes() + str(ROOT).encode()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return
    print("setting up .venv (once) ...", flush=True)
    venv.create(VENV, with_pip=True, clear=True)
    run("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-e", ".[dev]")
    stamp.write_text(wanted)


def run(*arguments: str) -> None:
    """Run the environment's Python in the project folder and stop at the first failure."""
    done = subprocess.run([str(PYTHON), *arguments], cwd=ROOT, check=False)
    if done.returncode:
        sys.exit(done.returncode)


def example() -> None:
    """Adjudicate the shipped example and show the result."""
    inputs = [f"examples/song/{annotator}.conll" for annotator in ("anna", "ben", "carla")]
    print("$ caspr adjudicate --layout review", *inputs, flush=True)
    run("-m", "caspr", "adjudicate", "--layout", "review", *inputs)


def install_browser() -> None:
    """Install Debian's Chromium for the tests of the review page where there is no browser and we may.

    Without one these tests are skipped, unless CASPR_BROWSER=required.
    """
    there = any(shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    if there or not shutil.which("apt-get") or os.geteuid() != 0:
        return
    print("installing chromium (once) ...", flush=True)
    for command in (["update"], ["install", "-y", "--no-install-recommends", "chromium"]):
        subprocess.run(["apt-get", "-qq", *command], check=False, stdout=subprocess.DEVNULL)


def test(*arguments: str) -> None:
    """Run linter, type checker, tests, doctests and the documentation's examples."""
    install_browser()
    run("-m", "ruff", "check", ".")
    run("-m", "ruff", "format", "--check", ".")
    run("-m", "mypy")
    run("-m", "pytest", "-n", "2", *(arguments or COVERAGE))


COMMANDS = {"example": example, "test": test}

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        sys.exit(f"usage: python3 dev.py {{{','.join(COMMANDS)}}}")
    if sys.version_info < (3, 11):  # noqa: UP036 - this file also greets an older Python
        sys.exit(f"CaspR needs Python 3.11 or later; this is {sys.version.split()[0]}")
    set_up()
    COMMANDS[sys.argv[1]](*sys.argv[2:])
