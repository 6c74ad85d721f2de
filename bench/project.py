"""How long a project takes to open, and what a click costs, with one document and with many.

    python -m bench.project [--documents 1000] [--clicks 20]

The project is made by `caspr corpus --layout project` from generated annotations, in a folder that is
removed again. The click is an operation through the project: solving, the record, the review file, all
synced. The ratio of both medians is what we promise about: the number of documents does not matter.
"""

import argparse
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from caspr.review.project.project import Project

WORDS = ("the", "girl", "sang", "a", "new", "song", "it", "was", "her", "favorite", "and", "she", "liked")
ANNOTATORS = ("ann", "ben", "cem", "dora")
TOKENS, MENTIONS, CHAINS = 300, 60, 12


def write_corpus(folder: Path, documents: int) -> None:
    """Write a folder for each annotator with a file for each document; they err in one of seven mentions."""
    for who in ANNOTATORS:
        (folder / who).mkdir(parents=True)
        for number in range(documents):
            (folder / who / f"doc{number:05}.conll").write_text(_file(who, number), encoding="utf-8")


def _file(who: str, number: int) -> str:
    truth, own = random.Random(number), random.Random(f"{who} {number}")
    cells = {}
    for token in sorted(truth.sample(range(1, TOKENS + 1), MENTIONS)):
        chain = truth.randrange(CHAINS)
        if own.random() < 0.95:
            cells[token] = f"({1 + (chain if own.random() < 0.85 else own.randrange(CHAINS))})"
    rows = (
        f"{token}\t{WORDS[(token * 7 + number) % len(WORDS)]}\t{cells.get(token, '-')}\n"
        for token in range(1, TOKENS + 1)
    )
    return f"#begin document (doc{number:05});\n{''.join(rows)}#end document\n"


def measure(folder: Path, clicks: int) -> tuple[float, float]:
    """Return the seconds to open a project, and the median of a click in its first document."""
    start = time.perf_counter()
    project = Project.opened(folder, lambda settings: settings)
    project.summaries()
    opened = time.perf_counter() - start
    session, _ = project.at(0)
    session.state(0)
    times = []
    for click in range(clicks):
        history = session.history(0)
        card = history.queue.card(history.queue.open(history.snapshot)[0], history.snapshot)
        operation = card["choices"][0]["answer"] if click % 2 else card["none"]
        start = time.perf_counter()
        session.do(0, operation, session.history(0).version)
        times.append(time.perf_counter() - start)
    project.close()
    return opened, statistics.median(times)


def main() -> None:
    """Make both projects, measure them, and print the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--clicks", type=int, default=20)
    given = parser.parse_args()
    medians = {}
    for documents in (1, given.documents):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_corpus(folder / "corpus", documents)
            command = [sys.executable, "-m", "caspr", "corpus", str(folder / "corpus"), "--by", "annotator"]
            subprocess.run([*command, "-o", str(folder / "project"), "--layout", "project", "-q"], check=True)
            opened, medians[documents] = measure(folder / "project", given.clicks)
            print(
                f"{documents} documents: opened in {opened:.2f} s, a click takes {medians[documents]:.4f} s"
            )
    print(f"ratio of a click: {medians[given.documents] / medians[1]:.2f}")


if __name__ == "__main__":
    main()
