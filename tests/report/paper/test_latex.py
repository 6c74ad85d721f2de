"""What we write for LaTeX compiles, whatever annotators are called; skipped where there is no pdflatex."""

import shutil
import subprocess
from pathlib import Path

import pytest

from caspr.measures.scores import score
from caspr.report.comparison_tables import NumberStyle
from caspr.report.paper.tables import PaperTable, agreement_tables, latex_text, score_tables
from caspr.text.document import Annotation, Chain, Document
from tests.report.paper.test_paper import compared

NAMES = ("[a]_b & 50% $x#{y}~^", "*back\\slash <l>|`q' --", "José Łukasz Đorđe")
COMPILER = shutil.which("pdflatex")


def numbers(*names: str) -> PaperTable:
    """Return a matrix of annotators with long names."""
    return PaperTable("c", "tab:x", ("", *names), tuple((name, *["-0.5"] * len(names)) for name in names))


def test_the_first_lines_say_what_the_document_must_load() -> None:
    def first(name: str) -> list[str]:
        return [line for line in latex_text([numbers(name)]).splitlines() if line.startswith("%")]

    assert first("anna – “x”") == [r"% \usepackage{booktabs}"]
    assert first("Jose\u0301")[1:] == [r"% \usepackage[T1]{fontenc}"]
    for name in ("קורא", "Ħ", "ſ", "读者"):
        assert "LuaLaTeX" in first(name)[1]


def test_columns_of_a_wide_matrix_have_numbers() -> None:
    names = [f"annotator {letter} of the university" for letter in "abc"]
    wide = latex_text([numbers(*names)])
    assert r" & 1 & 2 & 3 \\" in wide
    assert r"3 annotator c of the university & $-$0.5 &" in wide
    assert r" & anna & ben \\" in latex_text([numbers("anna", "ben")])


@pytest.mark.skipif(COMPILER is None, reason="no pdflatex (Debian: apt-get install texlive-latex-extra)")
def test_pdflatex_takes_every_name(tmp_path: Path) -> None:
    comparison, intervals = compared(names=NAMES)
    tables = agreement_tables(comparison, ["conll", "passonneau"], NumberStyle(), intervals)
    given = [Annotation.of("x", Document("d", ("a", "b")), [Chain.of("1", [(1, 1), (2, 2)])])]
    tables += [*score_tables(score(given, given), NumberStyle(), {}), numbers(*NAMES)]
    text = latex_text(tables)
    loaded = [line.removeprefix("% ") for line in text.splitlines() if line.startswith("%")]
    document = [r"\documentclass{article}", *loaded, r"\begin{document}", text, r"\end{document}"]
    (tmp_path / "paper.tex").write_text("\n".join(document), encoding="utf-8")
    command = [str(COMPILER), "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Missing character" not in (tmp_path / "paper.log").read_text("utf-8", "replace")
