"""The routes of the review page over a workplace. Started by `serve`, tested without a port.

Pages      one document: its page, state, operations, events, questions, exports
Overview   all documents: the list, who does them, and what was done since when
Hub        server-sent events: changes by other tabs, in the file and in the background, for open pages
"""

import asyncio
import csv
import io
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from caspr.errors import CasprError, OutputError
from caspr.formats.registry import EXPORTED
from caspr.review.exports import Download, export, report
from caspr.review.history import History
from caspr.review.operations import OperationContext, OperationError
from caspr.review.project.project import Workplace
from caspr.review.project.rounds import ROUND, next_anywhere, next_in_rounds, round_of, rounds_of
from caspr.review.project.team import LeaseError, Leases
from caspr.review.questions.queue import Filter
from caspr.review.record import Line
from caspr.review.server.blind import (
    blind_card,
    blind_explanation,
    blind_problem,
    blind_state,
    blind_steps,
    named,
    refuse_named,
)
from caspr.review.server.guard import PERSON, Address, Guard, Keys
from caspr.review.session import MissingError, ReviewSession, StaleError, UnusableError
from caspr.task.limits import Limits
from caspr.text.csv_table import no_formula


def person(request: Request) -> Keys:
    """Return who sent a request; the guard has let nobody else in."""
    keys: Keys = request.scope[PERSON]
    return keys


def embedded(state: dict[str, Any]) -> str:
    """Return JSON that is safe inside a script element.

    >>> embedded({"a": "</script>"})
    '{"a":"\\\\u003c/script\\\\u003e"}'
    """
    text = json.dumps(state, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


@lru_cache(maxsize=1)
def _environment() -> Environment:
    loader = PackageLoader("caspr.review")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined)


def rendered(template: str, **values: Any) -> str:
    """Fill a page template; everything is escaped except the state, which `embedded` made safe."""
    from markupsafe import Markup

    if "state" in values:
        values["state"] = Markup(values["state"])
    return _environment().get_template(template).render(**values)


def download(file: Download) -> Response:
    """Return a file to save, or a page to show if it has a policy of its own."""
    headers = {"Content-Disposition": f'attachment; filename="{file.name}"'}
    if file.policy is not None:
        headers = {"Content-Security-Policy": file.policy}
    return Response(file.content, media_type=file.media_type, headers=headers)


async def missing(request: Request, error: Exception) -> Response:  # noqa: ARG001
    """Answer that there is nothing at an address."""
    page = rendered("error.html", title="No such document", message="There is nothing at this address.")
    return HTMLResponse(page, status_code=404)


POLL_SECONDS = 1.0
"""Seconds between checks whether the file was edited."""
KEEP_ALIVE_SECONDS = 15.0
"""Seconds without an event after which a comment keeps the connection open."""
LONGEST_QUEUE = 200
"""How many events may wait for a slow page; later ones are dropped, and the page fetches the state."""


class Hub:
    """Forwards events from the threads of sessions to the open streams, by the number of the document."""

    def __init__(self, work: Workplace, *, blind: bool) -> None:
        self.work = work
        self.blind = blind
        work.watch(lambda number: bool(self.streams.get(number)))
        self.streams: dict[int, set[asyncio.Queue[str]]] = {}
        self.loop: asyncio.AbstractEventLoop | None = None
        self.ended = asyncio.Event()

    @asynccontextmanager
    async def lifespan(self, app: object) -> AsyncIterator[None]:  # noqa: ARG002
        """Subscribe to all documents and poll their files while the server runs."""
        self.loop = asyncio.get_running_loop()
        self.work.listeners.append(self.publish)
        polling = asyncio.create_task(self._poll())
        try:
            yield
        finally:
            polling.cancel()
            self.work.listeners.remove(self.publish)
            self.ended.set()

    async def _poll(self) -> None:
        while True:
            await asyncio.sleep(POLL_SECONDS)
            with suppress(Exception):
                await asyncio.to_thread(self.work.poll)

    def publish(self, number: int, kind: str, data: dict[str, Any]) -> None:
        """Receive an event in any thread and send it to the pages that show a document."""
        if self.blind and "problem" in data:
            data = {**data, "problem": blind_problem(data["problem"])}
        if self.loop is not None and not self.loop.is_closed() and self.streams.get(number):
            self.loop.call_soon_threadsafe(self._enqueue, number, _event(kind, data))

    def _enqueue(self, number: int, text: str) -> None:
        for queue in self.streams.get(number, ()):
            if queue.qsize() < LONGEST_QUEUE:
                queue.put_nowait(text)

    async def stream(self, number: int, disconnected: Callable[[], Awaitable[bool]]) -> AsyncIterator[str]:
        """Yield the events of one document until the page disconnects or the server ends."""
        queue: asyncio.Queue[str] = asyncio.Queue()
        self.streams.setdefault(number, set()).add(queue)
        try:
            version = await asyncio.to_thread(self._version, number)
            yield _event("hello", {"version": version})
            while not self.ended.is_set() and not await disconnected():
                try:
                    yield await asyncio.wait_for(queue.get(), KEEP_ALIVE_SECONDS)
                except TimeoutError:
                    yield ": alive\n\n"
        finally:
            self.streams[number].discard(queue)

    def _version(self, number: int) -> int:
        with self.work.using(number) as (session, inner):
            return session.history(inner).version


def _event(kind: str, data: dict[str, Any]) -> str:
    return f"event: {kind}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n"


SHOWN = {"all": "all", "open": "open", "work": "in work", "done": "done", "mine": "mine"}
"""Which documents can be listed, by the word in the address."""
_SINCE = re.compile(r"\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}Z?)?)?")
_COLUMNS = ("at", "by", "document", "do", "label", "category", "confidence")


@dataclass
class Team:
    """The adjudicators, and who works on what."""

    names: tuple[str, ...]
    leases: Leases = field(default_factory=Leases)


class Overview:
    """The responses to requests about all documents."""

    def __init__(self, work: Workplace, hub: Hub, team: Team | None, *, blind: bool = False) -> None:
        self.work = work
        self.hub = hub
        self.team = team
        self.blind = blind

    async def index(self, request: Request) -> Response:
        """List the documents, or redirect to the only one."""
        if self.work.count == 1:
            return RedirectResponse("/d/0/", status_code=303)
        who, shown = person(request), request.query_params.get("show", "all")
        documents = [self._with_lease(row) for row in await run_in_threadpool(self.work.summaries)]
        page = rendered(
            "index.html",
            title=self.work.title,
            documents=[
                {**row, "round": round_of(row["answers"])}
                for row in documents
                if _is_shown(row, shown, who.name)
            ],
            totals=totals(documents),
            turn=next_in_rounds(documents, who.name),
            anywhere=next_anywhere(documents, who.name),
            rounds=rounds_of(documents),
            choices=SHOWN,
            shown=shown,
            me=who.name,
            names=self.team.names if self.team else (),
            csrf=who.csrf,
        )
        return HTMLResponse(page)

    def _with_lease(self, row: dict[str, Any]) -> dict[str, Any]:
        lease = None if self.team is None else self.team.leases.of(row["index"])
        return {**row, "holder": "" if lease is None else lease.holder}

    async def following(self, request: Request) -> Response:
        """Redirect to the document that is next, in rounds or anywhere, after one that somebody has open."""
        words = request.query_params
        after = int(words["after"]) if words.get("after", "").isdecimal() else None
        documents = [self._with_lease(row) for row in await run_in_threadpool(self.work.summaries)]
        choose = next_anywhere if "anywhere" in words else next_in_rounds
        row = choose(documents, person(request).name, after)
        return RedirectResponse("/" if row is None else f"/d/{row['index']}/", status_code=303)

    async def history(self, request: Request) -> Response:
        """Show who did what since a time."""
        since, steps = await self._steps(request)
        shown = [*reversed(steps)][:MOST_STEPS]
        page = rendered(
            "history.html",
            title=self.work.title,
            since=since,
            steps=shown,
            count=len(steps),
            single=self.work.count == 1,
        )
        return HTMLResponse(page)

    async def export(self, request: Request) -> Response:
        """Return who did what since a time as a table or as JSON."""
        _, steps = await self._steps(request)
        if request.query_params.get("format") == "json":
            text, name = json.dumps(steps, indent=1, ensure_ascii=False) + "\n", "history.json"
        else:
            text, name = _table(steps), "history.csv"
        return download(Download(name, text.encode("utf-8", "replace")))

    async def _steps(self, request: Request) -> tuple[str, list[Line]]:
        since = request.query_params.get("since", "").strip()
        if since and not _SINCE.fullmatch(since):
            raise OperationError(f"{since[:40]!r} is not a day: write it as 2026-11-17.")
        steps = await run_in_threadpool(self.work.steps, since)
        return since, blind_steps(steps) if self.blind else steps

    async def assign(self, request: Request) -> Response:
        """Assign a document to somebody."""
        values = await body_of(request)
        who = values.get("who")
        if not isinstance(who, str) or not who.isprintable():
            raise OperationError("Give a name, or an empty one for nobody.")
        if self.team is not None and who and who not in self.team.names:
            raise OperationError(
                f"{who[:40]!r} is not in the team: choose one of {', '.join(self.team.names)}."
            )
        await run_in_threadpool(self.work.assign, request.path_params["number"], who)
        return JSONResponse({})

    async def take_over(self, request: Request) -> Response:
        """Take a document over from whoever works on it."""
        number = request.path_params["number"]
        if self.team is None or number >= self.work.count:
            raise MissingError(number)
        lease = self.team.leases.take(number, person(request).name)
        self.hub.publish(number, "lease", lease.view())
        return JSONResponse(lease.view())


MOST_STEPS = 2000
"""How many steps the page shows; the export has all of them."""


async def body_of(request: Request) -> dict[str, Any]:
    """Return the JSON object in a request."""
    try:
        values = json.loads(await request.body())
    except (ValueError, RecursionError, ClientDisconnect):
        values = None
    if not isinstance(values, dict):
        raise OperationError("found no values, expected a JSON object")
    return values


def totals(documents: list[dict[str, Any]]) -> dict[str, int]:
    """Count over all documents what is known of each."""
    counts = {
        status: sum(row["status"] == status for row in documents) for status in ("open", "in work", "done")
    }
    return {
        "documents": len(documents),
        "asked": sum(row["asked"] or 0 for row in documents),
        "answered": sum(row["answered"] or 0 for row in documents),
        "uncounted": sum(row["asked"] is None for row in documents),
        "answers": sum(row["answers"] for row in documents),
        **counts,
    }


def _is_shown(row: dict[str, Any], shown: str, me: str) -> bool:
    if shown == "mine":
        return bool(me) and me in (row["assigned"], row["holder"])
    return SHOWN.get(shown, "all") in ("all", row["status"])


def _table(steps: list[Line]) -> str:
    """Return steps as a table for spreadsheets, in which no cell is taken for a formula."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for step in steps:
        writer.writerow([no_formula(str(step[name])) for name in _COLUMNS])
    return buffer.getvalue()


EXPLANATION_SECONDS = 1.0
"""Seconds for the prices of one mention."""
MOST_QUESTIONS = 500
"""How many questions the page gets at a time."""


def make_app(
    work: Workplace,
    people: Sequence[Keys],
    address: Address,
    team: Team | None = None,
    *,
    blind: bool = False,
) -> Guard:
    """Return the application, wrapped in its guard; `team` knows who works on what, if there is one.

    In a `blind` one, nothing that is sent names annotators.
    """
    hub = Hub(work, blind=blind)
    pages = Pages(work, hub, team, blind=blind)
    overview = Overview(work, hub, team, blind=blind)
    static = Path(str(resources.files("caspr.review") / "static"))
    document = "/d/{number:int}"
    app = Starlette(
        routes=[
            Route("/", overview.index),
            Route("/next", overview.following),
            Route("/history", overview.history),
            Route("/history/export", overview.export),
            Route(f"{document}/assign", overview.assign, methods=["POST"]),
            Route(f"{document}/lease", overview.take_over, methods=["POST"]),
            Route(f"{document}/", pages.document),
            Route(f"{document}/state", pages.state),
            Route(f"{document}/do", pages.do, methods=["POST"]),
            Route(f"{document}/cancel", pages.cancel, methods=["POST"]),
            Route(f"{document}/events", pages.events),
            Route(f"{document}/mention/{{mention}}", pages.mention),
            Route(f"{document}/questions", pages.questions),
            Route(f"{document}/question/{{question}}", pages.question),
            Route(f"{document}/export", pages.export),
            Route(f"{document}/report", pages.report),
            Mount("/static", StaticFiles(directory=static, check_dir=False)),
        ],
        exception_handlers={MissingError: missing, CasprError: partial(_failed, blind=blind)},
        lifespan=hub.lifespan,
    )
    return Guard(app, people, address)


class Pages:
    """The responses to requests about one document."""

    def __init__(self, work: Workplace, hub: Hub, team: Team | None, *, blind: bool) -> None:
        self.work = work
        self.hub = hub
        self.team = team
        self.blind = blind

    async def document(self, request: Request) -> Response:
        """Show one document."""
        number = request.path_params["number"]
        state = await run_in_threadpool(self._state, number)
        page = rendered(
            "document.html",
            title=state["title"],
            index=number,
            count=self.work.count,
            round=ROUND,
            csrf=person(request).csrf,
            me=person(request).name,
            formats=list(EXPORTED),
            state=embedded(state),
            blind=self.blind,
        )
        return HTMLResponse(page)

    def _state(self, number: int) -> dict[str, Any]:
        with self.work.using(number) as (session, inner):
            state = session.state(inner)
        lease = None if self.team is None else self.team.leases.of(number)
        state = blind_state(state) if self.blind else state
        return {**state, "lease": None if lease is None else lease.view()}

    async def state(self, request: Request) -> Response:
        """Return the whole state of one document."""
        return JSONResponse(await run_in_threadpool(self._state, request.path_params["number"]))

    async def do(self, request: Request) -> Response:
        """Carry out an operation."""
        number, who = request.path_params["number"], person(request).name
        operation, version = await _read_operation(request)

        def act() -> dict[str, Any]:
            with self.work.using(number) as (session, inner):
                if self.team is None:
                    return session.do(inner, operation, version, who)
                lease = self.team.leases.act(number, who)
                update = session.do(inner, operation, version, who)
                if session.history(inner).snapshot.done is not None:
                    self.team.leases.release(number, who)
            self.hub.publish(number, "lease", lease.view())
            return update

        return JSONResponse(await run_in_threadpool(act))

    async def cancel(self, request: Request) -> Response:
        """Stop the search and keep the best result so far."""
        number, who = request.path_params["number"], person(request).name

        def cancel() -> None:
            with self.work.using(number) as (session, inner):
                if self.team is not None:
                    self.team.leases.refuse_others(number, who)
                session.cancel(inner)

        await run_in_threadpool(cancel)
        return JSONResponse({})

    async def events(self, request: Request) -> Response:
        """Stream changes as they happen."""
        number = request.path_params["number"]
        await run_in_threadpool(self._history, request)
        stream = self.hub.stream(number, request.is_disconnected)
        return StreamingResponse(stream, media_type="text/event-stream")

    async def mention(self, request: Request) -> Response:
        """Explain one mention."""
        history = await run_in_threadpool(self._history, request)
        context = OperationContext(history.solver, history.snapshot, history.ids)
        span = context.mention(request.path_params["mention"])
        limits = Limits(seconds=EXPLANATION_SECONDS)
        explanation = await run_in_threadpool(history.viewer.explanation, span, history.snapshot, limits)
        if self.blind:
            explanation = blind_explanation(explanation, _annotators(history))
        return JSONResponse(explanation)

    async def questions(self, request: Request) -> Response:
        """Return the open questions in an order, those that a filter lets through, and what is at stake."""
        history = await run_in_threadpool(self._history, request)
        wanted = Filter.of(request.query_params)
        wanted = replace(wanted, annotator=named(wanted.annotator, _annotators(history)))

        def listed() -> dict[str, Any]:
            snapshot, queue = history.snapshot, history.queue
            every = queue.open(snapshot, request.query_params.get("order", ""))
            passing = queue.filtered(every, snapshot, wanted)
            return {
                "questions": queue.rows(passing[:MOST_QUESTIONS], snapshot),
                "found": len(passing),
                "version": history.version,
                "stakes": history.stakes(every),
                **history.progress(),
            }

        return JSONResponse(await run_in_threadpool(listed))

    async def question(self, request: Request) -> Response:
        """Return a question with its choices; `prices` waits until they are priced, or time is up."""
        history = await run_in_threadpool(self._history, request)
        question = history.queue.question(request.path_params["question"])
        if question is None:
            raise MissingError(request.path_params["question"])

        def asked() -> dict[str, Any]:
            snapshot, version = history.snapshot, history.version
            if "prices" in request.query_params:
                history.queue.price(
                    question, snapshot, EXPLANATION_SECONDS, lambda: history.snapshot is not snapshot
                )
            card = {**history.queue.card(question, snapshot), "version": version}
            return blind_card(card, _annotators(history)) if self.blind else card

        return JSONResponse(await run_in_threadpool(asked))

    async def export(self, request: Request) -> Response:
        """Return the result as a file."""
        name = request.query_params.get("format", "conll")
        if self.blind and name == "review":
            refuse_named("the review file")
        return await self._download(request, lambda session, inner: export(session, inner, name))

    async def report(self, request: Request) -> Response:
        """Return the report as a page."""
        if self.blind:
            refuse_named("the report")
        return await self._download(request, report)

    async def _download(self, request: Request, make: Callable[[ReviewSession, int], Download]) -> Response:
        def made() -> Download:
            with self.work.using(request.path_params["number"]) as (session, inner):
                return make(session, inner)

        return download(await run_in_threadpool(made))

    def _history(self, request: Request) -> History:
        with self.work.using(request.path_params["number"]) as (session, inner):
            return session.history(inner)


def _annotators(history: History) -> list[str]:
    return [annotation.annotator for annotation in history.solver.annotations]


async def _read_operation(request: Request) -> tuple[object, object]:
    """Return the operation in a request and the version it is meant for, both unchecked."""
    body = await body_of(request)
    if not body.keys() >= {"op", "version"}:
        raise OperationError("found no operation, expected JSON with `version` and `op`")
    return body["op"], body["version"]


async def _failed(request: Request, error: Exception, *, blind: bool) -> Response:
    """Return an error as JSON: the message, and what the page needs to offer a remedy."""
    about_text = isinstance(error, OperationError | StaleError | LeaseError | OutputError)
    about_file = isinstance(error, UnusableError) or not about_text
    message = blind_problem(str(error)) if blind and about_file else str(error)
    values: dict[str, Any] = {"error": message, "clashes": [], "remedies": []}
    if isinstance(error, StaleError):
        return JSONResponse({**values, "version": error.version}, 409)
    if isinstance(error, OperationError):
        values["clashes"] = list(error.clashes)
        values["remedies"] = [remedy.view() for remedy in error.remedies]
    if isinstance(error, LeaseError):
        return JSONResponse({**values, "lease": error.lease.view()}, 423)
    unwritten = request.method == "POST" and isinstance(error, OutputError)
    return JSONResponse(values, 507 if unwritten else 422)
