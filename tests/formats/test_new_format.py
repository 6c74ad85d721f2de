"""CONTRIBUTING's recipe for a new format, followed literally in a copy of the package."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

import caspr

RECIPE = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
ANN = "Anna/1\nslept\nShe/1\nsaw\nBen/2\nand\nhim/2\n"
BEN = "Anna/1\nslept\nShe/1\nsaw\nBen/1\nand\nhim\n"


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Do steps 1 and 2 of the recipe in a copy of the sources."""
    root = tmp_path_factory.mktemp("copy")
    ignored = shutil.ignore_patterns("__pycache__", "static")
    shutil.copytree(Path(caspr.__file__).parent, root / "caspr", ignore=ignored)
    path = re.search(r"`src/(caspr/formats/slash\.py)`", RECIPE)
    code = re.search(r"^   ```python\n(.*?)^   ```", RECIPE, re.MULTILINE | re.DOTALL)
    line = re.search(r"Add the line `(.*?)` at the end of `FORMATS`", RECIPE)
    assert path
    assert code
    assert line
    (root / path[1]).write_text(dedent(code[1]), encoding="utf-8")
    registry = root / "caspr" / "formats" / "registry.py"
    before, table, after = registry.read_text(encoding="utf-8").partition("FORMATS: ")
    longer = after.replace("\n)", f"\n    {line[1]}\n)", 1)
    registry.write_text(f"{before}{table}{longer}", encoding="utf-8")
    return root


class Shell:
    """Run the copy."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.environment = {**os.environ, "PYTHONPATH": str(root)}
        self.folder = folder

    def __call__(self, *words: str, code: int = 0, module: str = "caspr") -> str:
        """Run a command, and return what it prints."""
        done = subprocess.run(
            [sys.executable, "-m", module, *words],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout
        return done.stdout


@pytest.fixture
def run(copy: Path, tmp_path: Path) -> Shell:
    for name, text in (("ann", ANN), ("ben", BEN)):
        (tmp_path / f"{name}.slash").write_text(text)
    return Shell(copy, tmp_path)


def test_it_is_recognised_and_converted_both_ways(run: Shell) -> None:
    assert "slash: 1 document" not in run("convert", "ann.slash", "ann.conll")
    assert "slash: 1 document, 2 chains of 4 mentions" in run("convert", "ann.conll", "back.slash")
    assert (run.folder / "back.slash").read_text() == ANN
    run("convert", "ann.slash", "ann.jsonl")
    run("convert", "ann.jsonl", "again.out", "--to", "slash")
    assert (run.folder / "again.out").read_text() == ANN


def test_losses_are_counted(run: Shell) -> None:
    rows = "#begin document (d);\n1\tThe\t(1\n2\tgirl\t1)\n3\tsaw\t-\n4\ther\t(1)\n#end document\n"
    (run.folder / "d.conll").write_text(rows)
    assert "1 mention of several words not written" in run("convert", "d.conll", "d.slash")
    assert "--strict: 1 warning" in run("convert", "d.conll", "e.slash", "--strict", code=2)
    assert not (run.folder / "e.slash").exists()


def test_malformed_files_are_refused(run: Shell) -> None:
    (run.folder / "bad.slash").write_text("Anna/1\n/\n")
    assert "bad.slash:2: found '/', expected a word" in run("convert", "bad.slash", "x.conll", code=2)


def test_golds_have_the_format_of_the_first_annotator(run: Shell) -> None:
    shown = run("adjudicate", "ann.slash", "ben.slash")
    assert "Anna/1\nslept\nShe/1\n" in shown
    run("adjudicate", "ann.slash", "ben.slash", "-o", "gold.slash")
    assert (run.folder / "gold.slash").read_text().startswith("Anna/1\nslept\nShe/1\n")


@pytest.mark.parametrize("layout", ["document", "annotator"])
def test_a_corpus(run: Shell, layout: str) -> None:
    for document in ("one", "two"):
        for annotator, text in (("ann", ANN), ("ben", BEN)):
            place = (document, annotator) if layout == "document" else (annotator, document)
            path = Path(run.folder, "in", place[0], f"{place[1]}.slash")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text if document == "one" else f"{text}{document}\n")
    other = layout == "annotator"
    said = run("corpus", "in", "-o", "out", "--processes", "1", *(("--to", "conll") if other else ()))
    assert "2 proven optimal" in said
    for document in ("one", "two"):
        gold = (run.folder / "out" / f"{document}.{'conll' if other else 'slash'}").read_text()
        assert "Anna\t(1)\n" in gold if other else gold.startswith("Anna/1\nslept\nShe/1\n")


def test_a_folder_of_files(run: Shell) -> None:
    (run.folder / "all").mkdir()
    (run.folder / "ann.slash").rename(run.folder / "all" / "one.slash")
    (run.folder / "ben.slash").rename(run.folder / "all" / "two.slash")
    run("convert", "all", "all.conll")
    run("convert", "all.conll", "back", "--to", "slash")
    assert (run.folder / "back" / "one.slash").read_text() == ANN
    assert (run.folder / "back" / "two.slash").read_text() == BEN
