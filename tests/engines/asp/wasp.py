"""A `wasp` for the tests: the real one where it is on PATH, otherwise a stand-in.

The stand-in speaks WASP's language on both sides (smodels text without the incremental line in, answer
sets in braces, COST and OPTIMUM out) and lets clasp do the solving, so that the pipe can be tested on
machines without WASP.
"""

import os
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

STAND_IN = """#!{python}
import re, subprocess, sys
text = sys.stdin.read()
assert not text.startswith("90 "), "WASP refuses the line of incremental programs"
assert "--enable-disjcores" in sys.argv
print("WASP 2.0")
done = subprocess.run(
    [sys.executable, "-m", "clingo", "--mode=clasp", "--opt-strategy=usc", "--quiet=0"],
    input=text, capture_output=True, text=True)
lines = done.stdout.splitlines()
for number, line in enumerate(lines):
    if line.startswith("Answer:"):
        print("{{" + ", ".join(lines[number + 1].split()) + "}}")
    elif line.startswith("Optimization:"):
        print(f"COST {{line.split()[1]}}@1")
    elif line == "OPTIMUM FOUND":
        print("OPTIMUM")
    elif line == "UNSATISFIABLE":
        print("INCOHERENT")
sys.exit(30)
"""


@pytest.fixture(params=["real", "stand-in"])
def wasp(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Put a `wasp` on PATH."""
    if request.param == "real":
        if shutil.which("wasp") is None:
            pytest.skip("no wasp on PATH (it is built from source; a stand-in is tested)")
        yield
        return
    program = tmp_path / "wasp"
    program.write_text(STAND_IN.format(python=sys.executable))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    yield


with_wasp = pytest.mark.usefixtures("wasp")
