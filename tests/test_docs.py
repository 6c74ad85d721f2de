"""Follow the documentation literally: every console block of every page is run and compared.

Lines that start with `$ ` are commands, the lines below them what they print (`...` stands for anything).
Each page starts in a new folder with a copy of `examples/` in it; `cd` holds for the rest of the page. The
page of `caspr review` is fetched once instead of opened in a browser, and then ended.

The other direction: every command, option, setting, finding code and public name is documented, and every
path that docs/architecture.md and docs/decisions name exists.
"""

import ast
import doctest
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import fields
from pathlib import Path

import pytest

from caspr.cli import main

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#]+)")
PACKAGE = ROOT / "src" / "caspr"
FINDING = re.compile(r"^\| `([a-z-]+)` \| (note|warning) \| \S.* \| \S.* \|$", re.MULTILINE)
"""A row of docs/findings.md: code, kind, what it means, what to do."""
NAMED = re.compile(r"`((?:[a-z_0-9.*]+/)+[a-z_0-9.*]*|[a-z_0-9]+\.py)`")
"""A path in running text: something with a slash, or a module."""


EDIT = re.compile(r"^<!-- edit (\S+): token (\d+): (\S+) -->\n", re.MULTILINE)
"""What the reader does in an editor, in a comment: the last cell of a token in a file gets another text."""


def commands(page: Path) -> list[tuple[str, str]]:
    """Return every command of a page with what it should print."""
    found: list[tuple[str, str]] = []
    text = EDIT.sub(r"```console\n$ edit \1 \2 \3\n```\n", page.read_text(encoding="utf-8"))
    for block in BLOCK.findall(text):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = part.partition("\n")
            while command.endswith("\\"):
                more, _, expected = expected.partition("\n")
                command = command[:-1] + more.strip()
            found.append((command, expected))
    return found


def edit(folder: Path, name: str, token: str, cell: str) -> None:
    """Change the last cell of a token in a file with columns."""
    path = folder / name
    text, count = re.subn(rf"(?m)^({token} *\t.*\t)\S+$", rf"\1{cell}", path.read_text(encoding="utf-8"))
    assert count == 1, f"{name} has {count} tokens {token}"
    path.write_text(text, encoding="utf-8")


def reviewing(folder: Path, command: str) -> str:
    """Return what `caspr review` prints, after its page was fetched."""
    words = [sys.executable, "-m", *command.split(), "--no-browser"]
    with subprocess.Popen(
        words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as server:
        try:
            assert server.stdout is not None
            printed = ""
            for line in server.stdout:
                printed += line
                if line.startswith("decisions are saved"):
                    break
            opened = re.search(r"http://\S+", printed)
            assert opened is not None, printed
            browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            with browser.open(opened[0], timeout=60) as page:
                assert page.status == 200
        finally:
            server.terminate()
    return printed


def in_this_process(command: str) -> str:
    """Return what `caspr` prints with some words, without a shell or a process of its own."""
    data = io.BytesIO()
    printed = io.TextIOWrapper(data, encoding="utf-8", write_through=True)
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(printed), redirect_stderr(printed):
        patch.setattr(sys, "argv", shlex.split(command))
        with suppress(SystemExit):
            main()
    return data.getvalue().decode("utf-8")


def in_a_shell(command: str) -> str:
    """Return what a command prints, in which there may be pipes and patterns of file names."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", command],
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    ).stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_console_blocks(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for command, expected in commands(page):
        if command.startswith("cd "):
            monkeypatch.chdir(command.removeprefix("cd "))
            continue
        if command.startswith(("python3 dev.py", "pip ", "git ")):
            continue
        if command.startswith("edit "):
            edit(Path(), *command.split()[1:])
            continue
        if command.startswith("caspr review "):
            printed = reviewing(Path(), command)
        elif re.fullmatch(r"caspr [^|&;<>$*]*", command):
            printed = in_this_process(command)
        else:
            printed = in_a_shell(command)
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        same = doctest.OutputChecker().check_output(expected, printed, flags)
        assert same, f"$ {command}\n--- printed\n{printed}--- expected\n{expected}"


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", ["README.md", "docs/tutorial.md"])
def test_first_pages_need_no_programs_that_windows_lacks(page: str) -> None:
    known = {"caspr", "cat", "cd", "python3"}
    lines = [command for command, _ in commands(ROOT / page)]
    assert {line.split()[0] for line in lines} <= {*known, "edit"}
    assert not any(sign in line for line in lines for sign in "*>|")


def test_what_is_not_published_is_said_before_the_first_command() -> None:
    """Expect the warning until the release: the name in the package index may be somebody else's before."""
    unreleased = "(unreleased)" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    before, _, _ = (ROOT / "docs/install.md").read_text(encoding="utf-8").partition("```")
    assert ("is not published yet" in before) is unreleased


def test_every_command_has_a_page() -> None:
    from caspr.cli import COMMANDS

    for command in COMMANDS:
        assert (ROOT / "docs" / f"{command}.md").exists(), command


def test_every_format_has_a_page() -> None:
    from caspr.formats import FORMATS

    pages = {page.stem for page in (ROOT / "docs" / "formats").glob("*.md")}
    overview = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    assert pages == set(FORMATS)
    for name in FORMATS:
        assert f"(formats/{name}.md)" in overview


def test_every_option_is_on_its_page() -> None:
    from caspr.cli import COMMANDS, cli

    for name in COMMANDS:
        command = cli.get_command(None, name)  # type: ignore[arg-type]
        assert command is not None
        page = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
        for parameter in command.params:
            for option in parameter.opts:
                if option.startswith("--"):
                    assert option in page, f"docs/{name}.md does not mention {option}"


def test_every_command_is_in_the_readme() -> None:
    from caspr.cli import COMMANDS

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for command in COMMANDS:
        assert f"| `caspr {command}` |" in readme, command


def test_every_setting_is_documented() -> None:
    from caspr.task.settings import Settings
    from caspr.task.stored_settings import write_settings

    page = (ROOT / "docs" / "adjudicate.md").read_text(encoding="utf-8")
    _, _, section = page.partition("## Settings\n")
    for name in {*write_settings(Settings()), *(field.name for field in fields(Settings))}:
        assert f"`{name}`" in section, f"docs/adjudicate.md does not explain the setting {name}"


def codes() -> Iterator[tuple[str, str]]:
    """Yield the code and kind of every finding that is made anywhere in the package."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if path == PACKAGE / "text" / "findings.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            if node.func.id in ("note", "warning", "Finding"):
                code = node.args[0]
                assert isinstance(code, ast.Constant), f"{path}:{node.lineno}: the code is not a literal"
                kind = node.func.id
                if kind == "Finding":
                    kind = ast.unparse(node.args[1]).rpartition(".")[2].lower()
                yield str(code.value), kind


def test_every_finding_is_documented() -> None:
    page = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    documented = FINDING.findall(page)
    assert len(documented) == len(dict(documented)), "a code is listed twice"
    assert set(documented) == set(codes())


def test_every_decision_is_in_the_index() -> None:
    folder = ROOT / "docs" / "decisions"
    index = (folder / "README.md").read_text(encoding="utf-8")
    for page in sorted(folder.glob("[0-9]*.md")):
        title = page.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
        number, _, name = title.partition(". ")
        assert f"| {number} | [{name}]({page.name}) |" in index
        assert page.name.startswith(f"{number:0>2}-")


def test_versions_and_dates_are_in_step() -> None:
    import caspr

    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    heading = re.search(r"^## ([0-9.]+) \((unreleased|[0-9-]+)\)$", changes, re.MULTILINE)
    assert heading is not None
    version, day = heading.groups()
    assert f"\nversion: {caspr.__version__}\n" in citation
    assert f'version: "{caspr.__version__}"' in (ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8")
    pinned = {name for page in PAGES for name in re.findall(r"caspr\S*==([\d.]+)", page.read_text("utf-8"))}
    assert pinned == {caspr.__version__}
    if day != "unreleased":
        assert version == caspr.__version__
        assert f'\ndate-released: "{day}"\n' in citation


def test_every_room_is_on_the_page_of_the_architecture() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    for path in PACKAGE.iterdir():
        name = f"{path.name}/" if path.is_dir() else path.name
        if name not in ("__pycache__/", "__init__.py", "__main__.py", "py.typed"):
            assert f"`{name}`" in page, f"docs/architecture.md does not name {name}"


@pytest.mark.parametrize(
    "page",
    [ROOT / "docs" / "architecture.md", *sorted((ROOT / "docs" / "decisions").glob("*.md"))],
    ids=lambda page: page.name,
)
def test_paths_in_running_text_exist(page: Path) -> None:
    for name in NAMED.findall(page.read_text(encoding="utf-8")):
        there = [place for root in (PACKAGE, ROOT) for place in root.glob(name)]
        assert there, f"{page.name} names {name}"
