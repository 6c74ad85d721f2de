"""Follow the documentation literally: every console block of every page is run and compared.

Lines that start with `$ ` are commands, the lines below them what they print (`...` stands for anything).
Each page starts in a new folder with a copy of `examples/` in it; `cd` holds for the rest of the page.
"""

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#]+)")


def commands(page: Path) -> list[tuple[str, str]]:
    """Return every command of a page with what it should print."""
    found: list[tuple[str, str]] = []
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = part.partition("\n")
            while command.endswith("\\"):
                more, _, expected = expected.partition("\n")
                command = command[:-1] + more.strip()
            found.append((command, expected))
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_console_blocks(page: Path, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    folder = tmp_path
    for command, expected in commands(page):
        if command.startswith("cd "):
            folder = folder / command.removeprefix("cd ")
            continue
        if command.startswith(("python3 dev.py", "pip ", "git ")):
            continue
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env={**os.environ, "PATH": path, "COLUMNS": "100"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        same = doctest.OutputChecker().check_output(expected, done.stdout, flags)
        assert same, f"$ {command}\n--- printed\n{done.stdout}--- expected\n{expected}"


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


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
