"""The routes of the review page over a workplace. Started by `serve`, tested without a port.

`Pages` answers about one document: its page, state, operations, events, questions, exports. `overview` does
about all of them, and `events` streams changes.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from caspr.errors import CasprError, OutputError
from caspr.formats.registry import EXPORTED
from caspr.review.exports import Download, export, report
from caspr.review.history import History
from caspr.review.operations import OperationContext, OperationError
from caspr.review.project.project import Workplace
from caspr.review.project.rounds import ROUND
from caspr.review.project.team import LeaseError
from caspr.review.questions.question import Question
from caspr.review.questions.queue import CLEAR, Filter
from caspr.review.server.blind import (
    blind_card,
    blind_explanation,
    blind_problem,
    blind_state,
    named,
    refuse_named,
)
from caspr.review.server.events import Hub
from caspr.review.server.guard import ANNOTATORS, LARGEST_FILES, Address, Guard, Keys
from caspr.review.server.help import help_routes
from caspr.review.server.overview import Overview, Team
from caspr.review.server.presence import ALIVE, Presence
from caspr.review.server.responses import body_of, download, embedded, missing, person, rendered
from caspr.review.session import MissingError, ReviewSession, StaleError, UnusableError
from caspr.task.limits import Limits

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
    presence: Presence | None = None,
    home: str = "",
) -> Guard:
    """Return the application, wrapped in its guard; `team` knows who works on what, if there is one.

    In a `blind` one, nothing that is sent names annotators. `presence` counts the pages that are open. `home`
    is the address of the project on the start page, if the review was opened there.
    """
    presence = presence or Presence()
    hub = Hub(work, presence, blind=blind)
    pages = Pages(work, hub, team, blind=blind, home=home)
    overview = Overview(work, hub, team, blind=blind, home=home)
    static = Path(str(resources.files("caspr.review") / "static"))
    document = "/d/{number:int}"
    app = Starlette(
        routes=[
            *overview.routes(),
            *help_routes(),
            Route(ALIVE, presence.stream),
            Route(f"{document}/lease", overview.take_over, methods=["POST"]),
            Route(f"{document}/", pages.document),
            Route(f"{document}/state", pages.state),
            Route(f"{document}/do", pages.do, methods=["POST"]),
            Route(f"{document}/cancel", pages.cancel, methods=["POST"]),
            Route(f"{document}/events", pages.events),
            Route(f"{document}/mention/{{mention}}", pages.mention),
            Route(f"{document}/questions", pages.questions),
            Route(f"{document}/question/{{question}}", pages.question),
            Route(f"{document}/alike/{{question}}", pages.alike),
            Route(f"{document}/export", pages.export),
            Route(f"{document}/report", pages.report),
            Mount("/static", StaticFiles(directory=static, check_dir=False)),
        ],
        exception_handlers={MissingError: missing, CasprError: partial(_failed, blind=blind)},
        lifespan=hub.lifespan,
    )
    return Guard(app, people, address, {ANNOTATORS: LARGEST_FILES})


class Pages:
    """The responses to requests about one document."""

    def __init__(self, work: Workplace, hub: Hub, team: Team | None, *, blind: bool, home: str = "") -> None:
        self.work = work
        self.hub = hub
        self.team = team
        self.blind = blind
        self.home = home

    async def document(self, request: Request) -> Response:
        """Show one document."""
        number = request.path_params["number"]
        state = await run_in_threadpool(self._state, number)
        page = rendered(
            "document.html",
            self.home,
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
            order = request.query_params.get("order", "")
            every = queue.open(snapshot, order)
            some = queue.open(snapshot, order, clear=True) if wanted.kind == CLEAR else every
            passing = queue.filtered(some, snapshot, wanted)
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
        history, question = await run_in_threadpool(self._question, request)

        def asked() -> dict[str, Any]:
            snapshot, version = history.snapshot, history.version
            if "prices" in request.query_params:
                history.queue.price(
                    question, snapshot, EXPLANATION_SECONDS, lambda: history.snapshot is not snapshot
                )
            card = {**history.queue.card(question, snapshot), "version": version}
            return blind_card(card, _annotators(history)) if self.blind else card

        return JSONResponse(await run_in_threadpool(asked))

    async def alike(self, request: Request) -> Response:
        """Return the open questions that may be answered like one that is decided."""
        history, question = await run_in_threadpool(self._question, request)
        offers = await run_in_threadpool(history.queue.alike, question, history.snapshot)
        return JSONResponse({"offers": offers})

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

    def _question(self, request: Request) -> tuple[History, Question]:
        history, id = self._history(request), request.path_params["question"]
        question = history.queue.question(id)
        if question is None:
            raise MissingError(id)
        return history, question

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
