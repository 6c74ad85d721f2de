"""Measure how long clicks on the review page take, without a browser.

    python -m bench.review FOLDER [--clicks 60] [--objective v] > table.md

FOLDER holds one folder of annotators' files for each act. On each act, random clicks of a patient adjudicator
(answers to the first questions either way, chains accepted, undo) are timed twice: through the session,
and through HTTP by a real `caspr review` process with all it does in the background. A click ends when the
review file is on the disk and the update is there. Every figure is from this run on this machine.
"""

import argparse
import json
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http.client import HTTPConnection, RemoteDisconnected
from pathlib import Path
from typing import Any

from bench.machine import describe_machine, use_one_thread
from caspr.formats import read_all
from caspr.review.operations import OperationError
from caspr.review.session import ReviewSession, open_annotations
from caspr.task.objectives import OBJECTIVES
from caspr.task.settings import PRESETS

Click = Callable[[dict[str, Any]], bool]
Cards = Callable[[str], dict[str, Any]]
Look = Callable[[], tuple[list[dict[str, Any]], list[str], Cards]]


@dataclass
class Times:
    """How long clicks took."""

    seconds: list[float]
    """The time of each click."""
    refused: int = 0
    """How many of them were refused."""

    def __str__(self) -> str:
        """Return median, ninetieth percentile and worst in milliseconds."""
        ordered = sorted(self.seconds)
        ninth = ordered[int(len(ordered) * 0.9)]
        figures = (statistics.median(ordered), ninth, ordered[-1])
        return " / ".join(f"{1000 * figure:.0f}" for figure in figures)


class Tab:
    """A page of a running process, over one connection as in a browser."""

    def __init__(self, address: str) -> None:
        self.host = address.removeprefix("http://").partition("/")[0]
        self.connection = HTTPConnection(self.host, timeout=120)
        self.cookie = self.ask("GET", address.partition(self.host)[2])[1]["set-cookie"].partition(";")[0]
        started = time.perf_counter()
        page = self.ask("GET", "/d/0/")[0].decode()
        self.page_seconds = time.perf_counter() - started
        found = re.search(r'name="csrf" content="([^"]+)"', page)
        assert found is not None
        self.csrf = found[1]
        self.version = self.json("/d/0/state")["version"]

    def ask(self, method: str, path: str, body: bytes | None = None) -> tuple[bytes, dict[str, str]]:
        """Send a request in one piece and return the answer's content and headers."""
        headers = {"Cookie": getattr(self, "cookie", ""), "Origin": f"http://{self.host}"}
        if body is not None:
            headers |= {"X-CSRF": self.csrf, "Content-Type": "application/json"}
        self.connection.request(method, path, body=body, headers=headers)
        try:
            answer = self.connection.getresponse()
        except RemoteDisconnected:  # A server closes a connection over which nothing came for some seconds.
            self.connection.request(method, path, body=body, headers=headers)
            answer = self.connection.getresponse()
        content = answer.read()
        self.status = answer.status
        return content, {name.lower(): value for name, value in answer.getheaders()}

    def json(self, path: str) -> dict[str, Any]:
        """Fetch JSON."""
        values: dict[str, Any] = json.loads(self.ask("GET", path)[0])
        return values

    def look(self) -> tuple[list[dict[str, Any]], list[str], Cards]:
        """Fetch the first questions and the chains; cards are fetched when they are asked for."""
        rows = self.json("/d/0/questions")["questions"]
        chains = list(self.json("/d/0/state")["chains"])
        return rows, chains, lambda id: self.json(f"/d/0/question/{id}")

    def click(self, operation: dict[str, Any]) -> bool:
        """Send an operation and return whether it was done."""
        body = json.dumps({"version": self.version, "op": operation}).encode()
        answer = json.loads(self.ask("POST", "/d/0/do", body)[0])
        self.version = answer.get("version", self.version)
        return self.status == 200


def operations(
    rng: random.Random, questions: list[dict[str, Any]], chains: list[str], cards: Cards
) -> dict[str, Any]:
    """Choose what an adjudicator does next."""
    kind = rng.random()
    if kind < 0.08:
        return {"do": "undo"}
    if kind < 0.2 or not questions:
        return {"do": "accept", "chain": rng.choice(chains)}
    card = cards(rng.choice(questions[:30])["id"])
    absent = {"do": "absent", "mentions": [card["mention"]]}
    answers: list[dict[str, Any]] = [*(choice["answer"] for choice in card["choices"]), card["none"], absent]
    return rng.choice([one for one in answers if one["do"] != "place" or one["with"] or one["apart"]])


def timed(clicks: int, click: Click, look: Look) -> Times:
    """Time random clicks; the same seed gives the same adjudicator."""
    rng, times = random.Random(7), Times([])
    for _ in range(clicks):
        operation = operations(rng, *look())
        started = time.perf_counter()
        done = click(operation)
        times.seconds.append(time.perf_counter() - started)
        times.refused += not done
    return times


def through_session(
    files: list[Path], folder: Path, objective: str, clicks: int
) -> tuple[ReviewSession, Times]:
    """Time clicks on a session in this process, with nothing in the background."""
    settings = replace(PRESETS["paper"], objective=OBJECTIVES[objective])
    session, _ = open_annotations(files, read_all(files), folder / "session.conll", lambda _: settings)
    history = session.history(0)

    def click(operation: dict[str, Any]) -> bool:
        try:
            session.do(0, operation, history.version)
        except OperationError:
            return False
        session.cancel(0)
        return True

    def card(id: str) -> dict[str, Any]:
        question = history.queue.question(id)
        assert question is not None
        return history.queue.card(question, history.snapshot)

    def look() -> tuple[list[dict[str, Any]], list[str], Cards]:
        rows = history.queue.rows(history.queue.open(history.snapshot)[:30], history.snapshot)
        return rows, [chain.id for chain in history.snapshot.chains], card

    times = timed(clicks, click, look)
    session.close()
    return session, times


@contextmanager
def served(files: Sequence[Path], folder: Path, *options: str) -> Iterator[Tab]:
    """Run `caspr review` in a process of its own and open its page."""
    words = [*map(str, files), "--no-browser", *options, "-o", str(folder / "http.conll")]
    process = subprocess.Popen(
        [sys.executable, "-m", "caspr", "review", *words], stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        found = next(match for line in process.stderr if (match := re.search(r"http://\S+", line)))
        yield Tab(found[0])
    finally:
        process.terminate()
        process.wait()


def through_http(files: list[Path], folder: Path, objective: str, clicks: int) -> tuple[Tab, Times]:
    """Time clicks on a real process."""
    with served(files, folder, "--objective", objective) as tab:
        return tab, timed(clicks, tab.click, tab.look)


def rows(folder: Path, objective: str, clicks: int) -> Iterator[tuple[str, Times, Times]]:
    """Yield a line of the table for each act, with its times."""
    for act in sorted(path for path in folder.iterdir() if path.is_dir()):
        files = sorted(path for path in act.iterdir() if path.is_file())
        with tempfile.TemporaryDirectory() as temporary:
            place = Path(temporary)
            session, inside = through_session(files, place, objective, clicks)
            tab, outside = through_http(files, place, objective, clicks)
        solver = session.history(0).solver
        size = f"{len(solver.document.tokens)} | {len(solver.candidates)} | {len(solver.annotations)}"
        refused = inside.refused + outside.refused
        page = f"{1000 * tab.page_seconds:.0f}"
        yield f"| {act.name} | {size} | {inside} | {outside} | {page} | {refused} |", inside, outside


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--clicks", type=int, default=60)
    parser.add_argument("--objective", choices=list(OBJECTIVES), default="v")
    given = parser.parse_args()
    use_one_thread("bench.review")
    print(describe_machine(), end="\n\n")
    print("| act | tokens | mentions | annotators | session ms | HTTP ms | page ms | refused |")
    print("|---|---|---|---|---|---|---|---|")
    inside: list[float] = []
    outside: list[float] = []
    for line, session, http in rows(given.folder, given.objective, given.clicks):
        print(line, flush=True)
        inside += session.seconds
        outside += http.seconds
    print(f"| all | | | | {Times(inside)} | {Times(outside)} | | |")
    print("\nMilliseconds are median / nine in ten / worst.")


if __name__ == "__main__":
    main()
