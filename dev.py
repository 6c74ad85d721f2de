"""Set up and run the project with nothing but Python: `python3 dev.py example`, `python3 dev.py test`.

The first call makes a virtual environment in `.venv` and installs CaspR into it, with what it needs to run;
the first `test` adds what the tests need, the first `site` what makes the documentation site. Later calls
reuse all of it.
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
SLOW = (
    "tests/bench",
    "tests/corpus/outputs/test_golds.py",
    "tests/corpus/run",
    "tests/engines/asp/test_limits.py",
    "tests/engines/asp/test_statistics.py",
    "tests/engines/native/test_against_clingo.py",
    "tests/platforms/test_elsewhere.py",
    "tests/review/browser",
    "tests/review/project/test_processes.py",
    "tests/review/server/test_process.py",
)
"""Tests that `test` leaves to `test --all`: benches, whole corpora and clusters, clingo's limits and large
instances, servers that are killed, a browser, no POSIX."""
LONG = (
    "tests/platforms/test_windows.py",
    "tests/test_packaging.py",
    "tests/notebook/test_spacy_and_rows.py",
)
"""Tests of which `test` skips those that take minutes or need more than it installs."""


EXTRAS = {"test": ("dev", "tests"), "site": ("docs", "site"), "test --all": ("integrations", "integrations")}
"""What commands need beyond CaspR: an extra of `pyproject.toml`, and what it is for."""


def set_up(command: str) -> None:
    """Make the virtual environment, or renew it when `pyproject.toml` has changed."""
    if not _is_installed("installed-for"):
        print("setting up .venv (once): Python ...", flush=True)
        venv.create(VENV, with_pip=True, clear=True)
        install("what CaspR needs", "-e", ".")
        _note_installed("installed-for")
    add_extra(command)


def add_extra(command: str) -> None:
    """Install what a command needs beyond CaspR, if that is not there."""
    extra, purpose = EXTRAS.get(command, ("", ""))
    if extra and not _is_installed(f"{purpose}-installed-for"):
        install(f"for the {purpose}", "-e", f".[{extra}]")
        _note_installed(f"{purpose}-installed-for")


def _is_installed(stamp: str) -> bool:
    path = VENV / stamp
    return path.exists() and path.read_text(encoding="utf-8") == _wanted()


def _note_installed(stamp: str) -> None:
    (VENV / stamp).write_text(_wanted(), encoding="utf-8")


def _wanted() -> str:
    """Return what an installation depends on: the packages that are named, and the place of the folder."""
    return hashlib.sha256((ROOT / "pyproject.toml").read_bytes() + str(ROOT).encode()).hexdigest()


def install(what: str, *arguments: str) -> None:
    """Install packages with pip and print a line for each that is downloaded; stop if that fails."""
    print(f"setting up .venv (once): {what} ...", flush=True)
    command = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check", "--no-compile"]
    command += ["--progress-bar", "off", *arguments]
    printed: list[str] = []
    with subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            printed.append(line)
            if line.lstrip().startswith(("Downloading", "Using cached", "Installing", "Building")):
                print(f"  {line.strip()[:100]}", flush=True)
    if process.returncode:
        print("".join(printed), file=sys.stderr)
        sys.exit(process.returncode)


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
    if not any(shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")):
        install_packages("chromium")


def install_uima() -> None:
    """Install Debian's Apache UIMA and a Java compiler, by which the tests read what we write, where we may.

    Without them these tests are skipped, unless CASPR_JAVA=required.
    """
    if not shutil.which("javac") or not Path("/usr/share/java/uimaj-core.jar").exists():
        install_packages("default-jdk-headless", "libuima-core-java")


def install_packages(*names: str) -> None:
    """Install packages of the system where that is Debian and we are root; otherwise do nothing."""
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0  # Windows has no such function
    if not is_root or not shutil.which("apt-get"):
        return
    print(f"installing {', '.join(names)} (once) ...", flush=True)
    for command in (["update"], ["install", "-y", "--no-install-recommends", *names]):
        subprocess.run(["apt-get", "-qq", *command], check=False, stdout=subprocess.DEVNULL)


def check_javascript() -> None:
    """Lint and type-check the JavaScript of the pages with what `package.json` names.

    Without Node.js, or where npm cannot install its packages, this is skipped, unless CASPR_NODE=required.
    """
    if not shutil.which("npm"):
        install_packages("nodejs", "npm")
    npm = shutil.which("npm")
    reason = "found no npm, expected Node.js" if npm is None else install_node_modules(npm)
    if reason and os.environ.get("CASPR_NODE") == "required":
        sys.exit(f"cannot check the JavaScript: {reason}")
    if npm is None or reason:
        print(f"skipping the checks of the JavaScript: {reason}", flush=True)
        return
    checked = subprocess.run([npm, "run", "--silent", "check"], cwd=ROOT, check=False)
    if checked.returncode:
        sys.exit(checked.returncode)


def install_node_modules(npm: str) -> str:
    """Install what `package.json` names if that has changed; return what went wrong, empty for nothing."""
    modules = ROOT / "node_modules"
    stamp = modules / "installed-for"
    wanted = hashlib.sha256((ROOT / "package.json").read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return ""
    print("setting up node_modules (once) ...", flush=True)
    command = [npm, "install", "--no-audit", "--no-fund", "--silent"]
    if subprocess.run(command, cwd=ROOT, check=False).returncode or not modules.is_dir():
        return "npm could not install the packages of package.json"
    stamp.write_text(wanted, encoding="utf-8")
    return ""


def install_wine() -> None:
    """Install Debian's Wine for the tests on Windows where there is none and we may."""
    if os.name != "nt" and not shutil.which("wine"):
        install_packages("wine", "wine64")


def test(*arguments: str) -> None:
    """Run linter, type checker, tests, doctests and the documentation's examples.

    With `--all`, also run what takes longer (`SLOW`, `LONG`): CaspR on Windows, without what only POSIX has,
    on a cluster, in a browser, with servers that are killed, installed into a clean environment, with spaCy
    and Hugging Face datasets; the benches.
    """
    everything = "--all" in arguments
    arguments = tuple(word for word in arguments if word != "--all")
    # These tests are for the last run only, when all that they need is there.
    windows = os.environ.pop("CASPR_WINDOWS", "wanted") if everything else ""
    if everything or arguments:
        install_browser()
    install_uima()
    run("-m", "ruff", "check", ".")
    run("-m", "ruff", "format", "--check", ".")
    run("-m", "mypy")
    check_javascript()
    chosen = arguments or (*COVERAGE, *(f"--ignore={path}" for path in SLOW))
    run("-m", "pytest", "-n", "2", "--dist", "worksteal", *chosen)
    if everything:
        run("-m", "pytest", "-n", "2", "--dist", "worksteal", *SLOW)
        install_wine()
        add_extra("test --all")
        os.environ |= {"CASPR_WINDOWS": windows, "CASPR_INTEGRATIONS": "required"}
        run("-m", "pytest", "-n", "0", *LONG)


def site() -> None:
    """Build the documentation site into `build/site`; a warning, such as a link that leads nowhere, fails."""
    folders = ("-c", "docs/site", "-d", "build/doctrees", ".", "build/site")
    run("-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet", *folders)
    print("open build/site/index.html")


COMMANDS = {"example": example, "test": test, "site": site}

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        sys.exit(f"usage: python3 dev.py {{{','.join(COMMANDS)}}} ...")
    if sys.version_info < (3, 11):  # noqa: UP036 - this file also greets an older Python
        sys.exit(f"CaspR needs Python 3.11 or later; this is {sys.version.split()[0]}")
    set_up(sys.argv[1])
    COMMANDS[sys.argv[1]](*sys.argv[2:])
