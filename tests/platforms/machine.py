"""A machine that runs CaspR: how its Python is started, and what it prints."""

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from tests.cli.caller import Outcome

ELSEWHERE = Path(__file__).parent / "elsewhere"
C_LOCALE = {"LC_ALL": "C", "LANG": "C", "PYTHONIOENCODING": "ascii"}


@dataclass(frozen=True)
class Machine:
    """A Python with CaspR in it."""

    python: tuple[str, ...] = (sys.executable,)
    """The words that start Python."""
    environment: dict[str, str] = field(default_factory=dict)
    """What is added to the environment."""
    patience: float = 60
    """Seconds that a command may take."""

    def start(self, *words: object, cwd: Path) -> "subprocess.Popen[bytes]":
        """Start a command in a folder."""
        return self.start_python("-m", "caspr", *words, cwd=cwd)

    def start_python(self, *words: object, cwd: Path) -> "subprocess.Popen[bytes]":
        """Start Python in a folder; all its streams are pipes."""
        return subprocess.Popen(
            [*self.python, *map(str, words)],
            cwd=cwd,
            env={**os.environ, **self.environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def run(self, *words: object, cwd: Path) -> Outcome:
        """Run a command and wait for it."""
        with self.start(*words, cwd=cwd) as process:
            try:
                out, err = process.communicate(timeout=self.patience)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        return Outcome(process.returncode, out.decode("utf-8"), err.decode("utf-8"))

    def succeed(self, *words: object, cwd: Path) -> str:
        """Run a command that must succeed; return what it printed on both streams."""
        outcome = self.run(*words, cwd=cwd)
        assert outcome.code == 0, outcome
        return outcome.out + outcome.err


HERE = Machine()
"""This machine as it is."""
BARE = Machine(environment={**C_LOCALE, "PYTHONPATH": str(ELSEWHERE), "PYTHONWARNDEFAULTENCODING": "1"})
"""This machine without what only POSIX or only Linux has, in a C locale."""
ASCII = Machine(environment={**C_LOCALE, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"})
"""This machine with file names in ASCII, which no Python uses unless it is told to."""
