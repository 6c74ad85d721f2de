"""Make the demo of the documentation site: the review page as one file, with recorded answers of its server.

    python -m bench.demo [FILE]

Page, modules and styles are those that `caspr review` serves, and its routes gave every answer: the recorder
answers the questions of a small document, notes what the server says, undoes that, and tries the next answer.
`bench/demo.js` replays it in the browser, and refuses what was not recorded; nothing is made up.

An answer can raise new questions, so all answers in any order would be millions. Recorded are four answers to
the questions as they are asked, the first two of every kind, and then that the rest is accepted. At the start
one can also answer any other question, or enforce a mention, and undo that.

Browsers load no modules from files. Here they are data URLs in an import map, so that the page also works
where somebody saved it.
"""

import argparse
import asyncio
import base64
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import caspr
from caspr.review.project.project import SingleFile
from caspr.review.server.guard import PERSON, Address, Keys
from caspr.review.server.responses import embedded
from caspr.review.server.routes import make_app
from caspr.review.session import open_annotations

ROOT = Path(__file__).resolve().parents[1]
STATIC = ROOT / "src" / "caspr" / "review" / "static"
EXAMPLE = ROOT / "examples" / "song"
QUESTIONS = "questions?order=valuable&annotator=&entity=&kind=&overruled="
"""What the page reads as long as its reader chooses no other order and no filter."""
MOST = 4
"""How many answers can be given."""
EVERY_KIND = 2
"""How many of them can be something else than one of the choices, or none of these."""
HIDDEN = ".question-filters, .group-head button { display: none; }"
"""Controls of the list of questions for which nothing is recorded."""
DONE = {"do": "done"}
IMPORT = re.compile(r'^(?:import|\}) .*?"(\.[^"]+)";$', re.MULTILINE)

Values = dict[str, Any]


class Server:
    """The routes of a review of the example, asked without a port."""

    def __init__(self, folder: Path) -> None:
        files = sorted(EXAMPLE.glob("*.conll"))
        annotations = [caspr.read(path) for path in files]
        session, _ = open_annotations(files, annotations, folder / "review.conll", lambda settings: settings)
        self._work = SingleFile(session)
        self._app = make_app(self._work, [Keys()], Address(0)).app
        self._runner = asyncio.Runner()
        self.version = 0

    def __enter__(self) -> Self:
        """Answer requests."""
        self.version = self.read("state")["version"]
        return self

    def __exit__(self, *_: object) -> None:
        """End the review."""
        self._runner.close()
        self._work.close()

    def read(self, path: str) -> Values:
        """Return what the server says at an address below that of the document."""
        answer: Values = json.loads(self._ask(path)[1])
        return answer

    def page(self) -> str:
        """Return the page of the document."""
        return self._ask("")[1].decode("utf-8")

    def do(self, operation: Values) -> tuple[int, Values]:
        """Carry out an operation; return the status and the answer."""
        status, body = self._ask("do", json.dumps({"version": self.version, "op": operation}).encode())
        answer: Values = json.loads(body)
        self.version = answer.get("version", self.version)
        return status, answer

    def _ask(self, path: str, body: bytes = b"") -> tuple[int, bytes]:
        return self._runner.run(self._answer(path, body))

    async def _answer(self, path: str, body: bytes) -> tuple[int, bytes]:
        path, _, query = path.partition("?")
        scope: Values = {
            "type": "http",
            "method": "POST" if body else "GET",
            "path": f"/d/0/{path}",
            "query_string": query.encode(),
            "headers": [],
            PERSON: Keys(),
        }
        sent: list[Any] = []

        async def receive() -> Values:
            return {"type": "http.request", "body": body}

        async def send(message: Any) -> None:
            sent.append(message)

        await self._app(scope, receive, send)
        return sent[0]["status"], b"".join(message.get("body", b"") for message in sent)


class Recorder:
    """What a server says after each sequence of answers: a tree, whose bodies are kept once each."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._bodies: dict[str, int] = {}
        self._nodes: list[Values] = []
        self._first: list[str] = []
        """The questions before any answer."""

    def recorded(self) -> Values:
        """Record everything; return it as `demo.js` reads it."""
        self._explore(0)
        return {"nodes": self._nodes, "bodies": [json.loads(body) for body in self._bodies]}

    def _explore(self, depth: int, listed: Sequence[str] = ()) -> int:
        """Record what can be read after some answers, and what follows from each step.

        The page asks what comes next in the list as it was `listed` before the last answer.
        """
        read, cards = self._read()
        steps: Values = {}
        number = self._node(read, steps)
        if depth == MOST:
            steps[_key(DONE)] = self._step(DONE)
            return number
        open_cards = {card["id"]: card for card in cards}
        asked = next((id for id in (*listed, *open_cards) if id in open_cards), None)
        if asked is not None:
            rest = [id for id in open_cards if id != asked]
            for operation in answers(open_cards[asked], every=depth < EVERY_KIND):
                steps[_key(operation)] = self._step(operation, lambda: self._explore(depth + 1, rest))
        if depth == 0:
            for operation in self._single(cards[1:]):
                steps[_key(operation)] = self._step(operation)
        return number

    def _step(self, operation: Values, explore: Callable[[], int] | None = None) -> Values:
        """Record a step, what is explored after it, and that it is taken back."""
        status, answer = self._server.do(operation)
        if status != 200:
            return {"refused": self._kept(answer), "status": status}
        to = explore() if explore else self._node(self._read()[0], {})
        _, undone = self._server.do({"do": "undo"})
        return {"to": to, "done": self._kept(answer), "undone": self._kept(undone)}

    def _node(self, read: dict[str, int], steps: Values) -> int:
        self._nodes.append({"read": read, "steps": steps})
        return len(self._nodes) - 1

    def _read(self) -> tuple[dict[str, int], list[Values]]:
        """Read questions, their cards and the mentions; return where they are kept, and the cards.

        The page reads the card of an answered question, too, when the answer is given again.
        """
        questions, state = self._server.read(QUESTIONS), self._server.read("state")
        listed = [row["id"] for row in questions["questions"]]
        self._first = self._first or listed
        cards = {id: self._server.read(f"question/{id}?prices") for id in listed}
        closed = {id: self._server.read(f"question/{id}") for id in self._first if id not in cards}
        shown = {f"question/{id}": card for id, card in (cards | closed).items()}
        mentions = {f"mention/{id}": self._server.read(f"mention/{id}") for id in state["mentions"]}
        answers = {QUESTIONS: questions, **shown, **mentions}
        return {address: self._kept(answer) for address, answer in answers.items()}, [*cards.values()]

    def _single(self, cards: list[Values]) -> Iterator[Values]:
        """Return steps after which nothing is recorded: answers out of turn, and mentions enforced."""
        for card in cards:
            yield from answers(card)
        for id, mention in self._server.read("state")["mentions"].items():
            yield {"do": "mention", "mentions": [id]}
            if mention["chain"] is not None:
                yield {"do": "into", "mentions": [id], "chain": mention["chain"]}

    def _kept(self, answer: Values) -> int:
        """Return the number under which an answer is kept; its version is that of the page."""
        body = json.dumps({name: value for name, value in answer.items() if name != "version"})
        return self._bodies.setdefault(body, len(self._bodies))


def answers(card: Values, *, every: bool = True) -> list[Values]:
    """Return what the keys of a question send, as `static/questions/card.js` puts it together."""
    operations = [*(choice["answer"] for choice in card["choices"]), card["none"]]
    if every:
        doubts = [doubt for choice in card["choices"] for doubt in choice["doubts"]]
        operations += [
            {"do": "place", "mention": card["mention"], "with": [], "apart": doubts, "exists": True},
            {"do": "alone", "mentions": [card["mention"]]},
            {"do": "absent", "mentions": [card["mention"]]},
        ]
    return list({_key(operation): operation for operation in operations}.values())


def _key(operation: Values) -> str:
    return json.dumps(operation, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def bundled(entry: Path) -> dict[str, str]:
    """Return a module and all that it imports, each as a data URL under its path in the repository."""
    modules: dict[str, str] = {}
    waiting = [entry]
    while waiting:
        path = waiting.pop()
        if _name(path) in modules:
            continue
        text = path.read_text(encoding="utf-8")
        imported = {name: (path.parent / name).resolve() for name in IMPORT.findall(text)}
        waiting += imported.values()
        for specifier, target in imported.items():
            text = text.replace(f'"{specifier}";', f'"{_name(target)}";')
        modules[_name(path)] = _data_url("text/javascript", text)
    return modules


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _data_url(kind: str, text: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(text.encode()).decode()}"


def in_one_file(page: str, recording: Values) -> str:
    """Return the page of a document with everything that it loads, and a recording, in it."""

    def static(path: str) -> str:
        return (STATIC / path).read_text(encoding="utf-8")

    player, app = Path(__file__).with_suffix(".js").resolve(), STATIC / "app.js"
    modules = json.dumps({"imports": bundled(player) | bundled(app)})
    scripts = [
        f"<style>{HIDDEN}</style>",
        f'<script type="importmap">{modules}</script>',
        f'<script type="application/json" id="recording">{embedded(recording)}</script>',
        f'<script type="module">import "{_name(player)}";import "{_name(app)}";</script>',
    ]
    replacements = (
        (r'<link rel="stylesheet" href="/static/(.+?)">', lambda found: f"<style>{static(found[1])}</style>"),
        (
            r'href="/static/(icon\.svg)"',
            lambda found: f'href="{_data_url("image/svg+xml", static(found[1]))}"',
        ),
        (r'<script src="/static/(.+?)">', lambda found: f"<script>{static(found[1])}"),
        (r'<script type="module" src="/static/app\.js"></script>', lambda _: "".join(scripts)),
    )
    for pattern, replacement in replacements:
        page = re.sub(pattern, replacement, page)
    return page


def make(path: Path) -> None:
    """Write the demo."""
    with tempfile.TemporaryDirectory() as folder, Server(Path(folder)) as server:
        page = server.page()
        path.write_text(in_one_file(page, Recorder(server).recorded()), encoding="utf-8")


def main() -> None:
    """Make the demo where the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, default=Path("demo.html"))
    make(parser.parse_args().file)


if __name__ == "__main__":
    main()
