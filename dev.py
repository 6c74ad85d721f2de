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
    "tests/corpus/test_cluster.py",
    "tests/corpus/test_failures.py",
    "tests/corpus/test_golds.py",
    "tests/corpus/test_leftovers.py",
    "tests/corpus/test_resume.py",
    "tests/corpus/test_workers.py",
    "tests/engines/asp/test_limits.py",
    "tests/engines/asp/test_statistics.py",
    "tests/engines/native/test_against_clingo.py",
    "tests/platforms/test_elsewhere.py",
    "tests/review/browser",
    "tests/review/project/test_processes.py",
    "tests/review/server/test_process.py",
    "tests/start/browser",
)
"""Tests that `test` leaves to `test --all`: benches, whole corpora and clusters, clingo's limits and large
instances, servers that are killed, a browser, no POSIX."""
LONG = (
    "tests/platforms/test_windows.py",
    "tests/test_packaging.py",
    "tests/notebook/test_spacy_and_rows.py",
)
"""Tests of which `test` skips those that take minutes or need more than it installs."""


EXTRAS = {
    "test": ("dev", "tests"),
    "site": ("docs", "site"),
    "lock": ("dev", "tests"),
    "test --all": ("integrations", "integrations"),
}
"""What commands need beyond CaspR: an extra of `pyproject.toml`, and what it is for."""
LOCK = "constraints.txt"
"""The versions of all packages with which we develop, for every system and Python."""
PROGRAMS = (
    (("chromium", "chromium-browser", "google-chrome"), ("chromium",)),
    (("/usr/share/java/uimaj-core.jar",), ("libuima-core-java",)),
    (("javac",), ("default-jdk-headless",)),
    (("npm",), ("nodejs", "npm")),
    (("wine",), ("wine", "wine64")),
)
"""Programs of which one is enough, and the packages of Debian that bring it."""
NO_NODE = "found no npm; Node.js brings it (Debian: apt-get install nodejs npm)"


def set_up(command: str) -> None:
    """Make the virtual environment, or renew it when `pyproject.toml` has changed, for a command."""
    if not _is_installed("installed-for"):
        print("setting up .venv (once): Python ...", flush=True)
        venv.create(VENV, with_pip=True, clear=True)
    add_packages(command)


def add_packages(command: str) -> None:
    """Install CaspR with all that a command needs, in one go, if that is not there."""
    extra, purpose = EXTRAS.get(command, ("", "runs"))
    stamps = {"installed-for", f"{purpose}-installed-for"}
    if not all(map(_is_installed, stamps)):
        install(f"what CaspR needs for its {purpose}", "-e", f".[{extra}]" if extra else ".")
        for stamp in stamps:
            _note_installed(stamp)


def _is_installed(stamp: str) -> bool:
    path = VENV / stamp
    return path.exists() and path.read_text(encoding="utf-8") == _wanted()


def _note_installed(stamp: str) -> None:
    (VENV / stamp).write_text(_wanted(), encoding="utf-8")


def _wanted() -> str:
    """Return what an installation depends on: packages, their versions, and the place of the folder."""
    named = (ROOT / "pyproject.toml").read_bytes() + (ROOT / LOCK).read_bytes()
    return hashlib.sha256(named + str(ROOT).encode()).hexdigest()


def install(what: str, *arguments: str) -> None:
    """Install packages with pip and print a line for each that is downloaded; stop if that fails."""
    print(f"setting up .venv (once): {what} ...", flush=True)
    command = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check", "--no-compile"]
    command += ["--progress-bar", "off", "--constraint", LOCK, *arguments]
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


def start(*command: str) -> "subprocess.Popen[bytes]":
    """Start a command in the project folder.

    Python keeps the bytecode of every module in `.venv`, even where the environment forbids bytecode: tests
    start hundreds of processes, and would compile all modules in each.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(VENV / "bytecode")
    return subprocess.Popen(command, cwd=ROOT, env=environment)


def finish(process: "subprocess.Popen[bytes]") -> None:
    """Wait for the end of a command, and stop here if it failed."""
    with process:
        code = process.wait()
    if code:
        sys.exit(code)


def run(*arguments: str) -> None:
    """Run the environment's Python in the project folder and stop at the first failure."""
    finish(start(str(PYTHON), *arguments))


def example() -> None:
    """Adjudicate the shipped example and show the result."""
    inputs = [f"examples/song/{annotator}.conll" for annotator in ("anna", "ben", "carla")]
    print("$ caspr adjudicate --layout review", *inputs, flush=True)
    run("-m", "caspr", "adjudicate", "--layout", "review", *inputs)


def install_programs() -> None:
    """Install the programs that only some tests need: a browser, Apache UIMA, Node.js and Wine, where we may.

    Only `test --all` does so, on Debian and as root. Without a program its tests are skipped with a line that
    says how to get it, unless the environment says `required`: CASPR_BROWSER, CASPR_JAVA, CASPR_NODE,
    CASPR_WINDOWS.
    """
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0  # Windows has no such function
    missing = [name for there, names in PROGRAMS if not any(map(_is_there, there)) for name in names]
    if not missing or not is_root or not shutil.which("apt-get"):
        return
    print(f"installing {', '.join(missing)} (once) ...", flush=True)
    for command in (["update"], ["install", "-y", "--no-install-recommends", *missing]):
        subprocess.run(["apt-get", "-qq", *command], check=False, stdout=subprocess.DEVNULL)


def _is_there(program: str) -> bool:
    return shutil.which(program) is not None or Path("/", program).exists()


def check_types() -> None:
    """Check the types of the Python code, and meanwhile the JavaScript."""
    python = start(str(PYTHON), "-m", "mypy")
    try:
        check_javascript()
    finally:
        finish(python)


def check_javascript() -> None:
    """Lint and type-check the JavaScript of the pages with what `package.json` names.

    Without Node.js, or where npm cannot install its packages, this is skipped, unless CASPR_NODE=required.
    """
    npm = shutil.which("npm")
    reason = NO_NODE if npm is None else install_node_modules(npm)
    if reason and os.environ.get("CASPR_NODE") == "required":
        sys.exit(f"cannot check the JavaScript: {reason}")
    if npm is None or reason:
        print(f"skipping the checks of the JavaScript: {reason}", flush=True)
        return
    finish(start(npm, "run", "--silent", "check"))


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


def test(*arguments: str) -> None:
    """Run linter, type checker, tests, doctests and the documentation's examples.

    Without arguments, sweeps are short (`tests/sweeps.py`). With `--all`, run the whole of them and what
    takes longer (`SLOW`, `LONG`): CaspR on Windows, without what only POSIX has, on a cluster, in a browser,
    with servers that are killed, installed into a clean environment, with spaCy and Hugging Face datasets;
    the benches.
    """
    everything = "--all" in arguments
    arguments = tuple(word for word in arguments if word != "--all")
    # These tests are for the last run only, when all that they need is there.
    windows = os.environ.pop("CASPR_WINDOWS", "wanted") if everything else ""
    if everything:
        install_programs()
    elif not arguments:
        os.environ["CASPR_SWEEPS"] = "short"
    run("-m", "ruff", "check", ".")
    run("-m", "ruff", "format", "--check", ".")
    check_types()
    chosen = arguments or (*COVERAGE, *(f"--ignore={path}" for path in SLOW))
    run("-m", "pytest", "-n", "2", "--dist", "worksteal", *chosen)
    if everything:
        run("-m", "pytest", "-n", "2", "--dist", "worksteal", *SLOW)
        add_packages("test --all")
        os.environ |= {"CASPR_WINDOWS": windows, "CASPR_INTEGRATIONS": "required"}
        run("-m", "pytest", "-n", "0", *LONG)


def site() -> None:
    """Build the documentation site into `build/site`; a warning, such as a link that leads nowhere, fails."""
    folders = ("-c", "docs/site", "-d", "build/doctrees", ".", "build/site")
    run("-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet", *folders)
    print("open build/site/index.html")


def lock() -> None:
    """Write down the newest versions of all packages that go together, for every system and Python."""
    quiet = ("--quiet", "--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links")
    run(
        "-m",
        "uv",
        "pip",
        "compile",
        "--universal",
        "--upgrade",
        "--all-extras",
        *quiet,
        "pyproject.toml",
        "-o",
        LOCK,
    )


COMMANDS = {"example": example, "test": test, "site": site, "lock": lock}

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        sys.exit(f"usage: python3 dev.py {{{','.join(COMMANDS)}}} ...")
    if sys.version_info < (3, 11):  # noqa: UP036 - this file also greets an older Python
        sys.exit(f"CaspR needs Python 3.11 or later; this is {sys.version.split()[0]}")
    set_up(sys.argv[1])
    COMMANDS[sys.argv[1]](*sys.argv[2:])
