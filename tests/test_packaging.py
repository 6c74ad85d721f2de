"""The wheel and the source archive that `python -m build` makes install and work without the repository."""

import ast
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path
from urllib.request import HTTPCookieProcessor, build_opener

import pytest

import caspr

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "caspr"
SONG = [str(ROOT / "examples/song" / f"{name}.conll") for name in ("anna", "ben", "carla")]
TALES = ROOT / "examples/tales"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Build the source archive, and the wheel from it."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    [wheel] = folder.glob("*.whl")
    [source] = folder.glob("*.tar.gz")
    return wheel, source


def test_the_wheel_has_every_file_of_the_package_and_nothing_else(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[0]) as wheel:
        packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    ours = [path for path in SOURCE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    docs = {name for name in packed if name.startswith("caspr/docs/")}
    assert packed - docs == {path.relative_to(SOURCE.parent).as_posix() for path in ours}
    shown = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "pictures").iterdir()]
    assert {f"caspr/{path.relative_to(ROOT).as_posix()}" for path in shown} <= docs
    assert not any("decisions" in name or "site" in name for name in docs)


def test_the_source_archive_can_be_tested(built: tuple[Path, Path]) -> None:
    with tarfile.open(built[1]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "dev.py",
        "conftest.py",
        "tests/test_packaging.py",
    } <= names
    assert {"examples/song/anna.conll", "docs/install.md"} <= names


def test_the_package_index_accepts_both(built: tuple[Path, Path]) -> None:
    twine = [sys.executable, "-m", "twine", "check", "--strict", *map(str, built)]
    subprocess.run(twine, check=True, capture_output=True)


def make_environment(folder: Path) -> Path:
    """Make an empty environment; return the folder of its programs."""
    venv.create(folder, with_pip=False)
    return folder / ("Scripts" if os.name == "nt" else "bin")


def install(folder: Path, *arguments: str) -> None:
    """Install packages into an environment with the pip of this one."""
    pip = [sys.executable, "-m", "pip", "--python", str(folder), "install", "--quiet"]
    subprocess.run([*pip, "--disable-pip-version-check", *arguments], check=True, capture_output=True)


def use(programs: Path, place: Path) -> None:
    """Use what needs more than Python code: the encodings, the templates of pages, the program itself."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    for words, expected in (
        (["--version"], caspr.__version__),
        (["adjudicate", *SONG, "-o", "gold.conll", "--report", "report.html"], "3 annotators"),
        (["adjudicate", *SONG, "-o", "clingo.conll", "--engine", "clingo"], "engine clingo"),
        (["corpus", str(TALES), "-o", "golds"], "3 documents"),
        (["agreement", *SONG], "alpha"),
    ):
        command = [str(programs / "caspr"), *words]
        done = subprocess.run(command, cwd=place, env=environment, capture_output=True, encoding="utf-8")
        assert done.returncode == 0, done.stderr
        assert expected in done.stdout + done.stderr
    assert (place / "gold.conll").read_bytes() == (place / "clingo.conll").read_bytes()
    open_page(programs, place, environment)
    code = "import caspr; print(caspr.__file__)"
    done = subprocess.run(
        [programs / "python", "-c", code], env=environment, capture_output=True, encoding="utf-8"
    )
    assert Path(done.stdout.strip()).is_relative_to(programs.parent)


def open_page(programs: Path, place: Path, environment: dict[str, str]) -> None:
    """Open the review page of what was adjudicated, as a browser would."""
    words = ["review", *SONG, "-o", "review.conll", "--no-browser"]
    with subprocess.Popen(
        [str(programs / "caspr"), *words],
        cwd=place,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    ) as server:
        assert server.stdout is not None
        try:
            printed = ""
            for line in server.stdout:
                printed += line
                if link := re.search(r"http://\S+", line):
                    browser = build_opener(HTTPCookieProcessor())
                    page = browser.open(link.group(), timeout=60).read().decode("utf-8")
                    assert "<title>song" in page
                    address = link.group().partition("/?")[0]
                    words = browser.open(f"{address}/help/glossary", timeout=60).read().decode("utf-8")
                    assert "proven optimal" in words
                    return
            raise AssertionError(f"no link: {printed}")
        finally:
            server.kill()


def test_the_wheel_works_in_an_environment_of_its_own(built: tuple[Path, Path], tmp_path: Path) -> None:
    """Take the packages that CaspR needs from here: a path in a `.pth` file does not bring our own CaspR."""
    folder = tmp_path / "environment"
    programs = make_environment(folder)
    install(folder, "--no-deps", str(built[0]))
    [packages] = folder.rglob("site-packages")
    (packages / "others.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    use(programs, tmp_path)


@pytest.mark.skipif(not os.environ.get("CASPR_WINDOWS"), reason="only with `dev.py test --all`")
@pytest.mark.parametrize("number", [0, 1], ids=["wheel", "source"])
def test_a_clean_installation_works(built: tuple[Path, Path], tmp_path: Path, number: int) -> None:
    folder = tmp_path / "environment"
    programs = make_environment(folder)
    install(folder, str(built[number]))
    use(programs, tmp_path)


@pytest.mark.skipif(not os.environ.get("CASPR_WINDOWS"), reason="only with `dev.py test --all`")
def test_the_oldest_packages_that_are_allowed_suffice(built: tuple[Path, Path], tmp_path: Path) -> None:
    folder = tmp_path / "environment"
    programs = make_environment(folder)
    oldest = ["pip", "install", "--quiet", "--python", str(folder), "--resolution", "lowest-direct"]
    project = str(ROOT / "pyproject.toml")  # of a wheel, only the wheel itself would be direct
    subprocess.run([sys.executable, "-m", "uv", *oldest, "-r", project], check=True, capture_output=True)
    install(folder, "--no-deps", str(built[0]))
    installed = {path.name.removesuffix(".dist-info") for path in folder.rglob("*.dist-info")}
    assert {"numpy-1.26.0", "click-8.3.0"} <= installed
    use(programs, tmp_path)


def test_every_package_that_is_imported_is_declared() -> None:
    extras: dict[str, list[str]] = PROJECT["optional-dependencies"]
    declared = [*PROJECT["dependencies"], *(one for name in extras if name != "dev" for one in extras[name])]
    names = {re.split(r"[\[<>=!~; ]", one, maxsplit=1)[0].lower() for one in declared}
    own = {NAMES.get(name, name) for name in imported()} - set(sys.stdlib_module_names) - {"caspr"}
    assert own <= names


def test_the_recipe_for_conda_needs_the_same_packages() -> None:
    recipe = (ROOT / "recipe/recipe.yaml").read_text(encoding="utf-8")
    needed = recipe.partition("  run:\n")[2].partition("\n\n")[0]
    packages = [line.removeprefix("    - ").replace(" ", "") for line in needed.splitlines()]
    assert packages == ["python>=${{python_min}}", *PROJECT["dependencies"]]
    assert f'python_min: "{PROJECT["requires-python"].removeprefix(">=")}"' in recipe


NAMES = {"cassis": "dkpro-cassis", "markdown_it": "markdown-it-py"}
"""Packages that are installed under another name."""


def imported() -> set[str]:
    """Return the first names of all modules that CaspR imports."""
    found: set[str] = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add((node.module or "").partition(".")[0])
    return found
