"""The routes of the review page over a workplace. Started by `serve`, tested without a port."""

import json
from collections.abc import Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from caspr.errors import CasprError, OutputError
from caspr.formats.registry import EXPORTED
from caspr.review.project.leases import LeaseError
from caspr.review.project.workplace import Workplace
from caspr.review.questions.orders import Filter
from caspr.review.server.blind import (
    blind_card,
    blind_explanation,
    blind_state,
    blind_texts,
    named,
    refuse_named,
)
from caspr.review.server.events import Hub
from caspr.review.server.guard import Address, Guard, Keys
from caspr.review.server.overview import Overview, Team
from caspr.review.server.rendering import download, embedded, missing, person, rendered
from caspr.review.session.exports import export, report
from caspr.review.session.history import History
from caspr.review.session.operations import OperationContext, OperationError
from caspr.review.session.session import StaleError
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
) -> Guard:
    """Return the application behind its guard; `team` knows who works on what, if there is one.

    In a `blind` one, nothing that is sent names annotators.
    """
    hub = Hub(work, shown=blind_texts if blind else None)
    pages = Pages(work, hub, team, blind=blind)
    overview = Overview(work, hub, team, blind=blind)
    static = Path(str(resources.files("caspr.review") / "static"))
    one = "/d/{number:int}"
    app = Starlette(
        routes=[
            Route("/", overview.index),
            Route("/history", overview.history),
            Route("/history/export", overview.export),
            Route(f"{one}/assign", overview.assign, methods=["POST"]),
            Route(f"{one}/lease", overview.take_over, methods=["POST"]),
            Route(f"{one}/", pages.document),
            Route(f"{one}/state", pages.state),
            Route(f"{one}/do", pages.do, methods=["POST"]),
            Route(f"{one}/cancel", pages.cancel, methods=["POST"]),
            Route(f"{one}/events", pages.events),
            Route(f"{one}/mention/{{mention}}", pages.mention),
            Route(f"{one}/questions", pages.questions),
            Route(f"{one}/question/{{question}}", pages.question),
            Route(f"{one}/export", pages.export),
            Route(f"{one}/report", pages.report),
            Mount("/static", StaticFiles(directory=static, check_dir=False)),
        ],
        exception_handlers={IndexError: missing, CasprError: _failed},
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
            csrf=person(request).csrf,
            me=person(request).name,
            formats=list(EXPORTED),
            state=embedded(state),
            blind=self.blind,
        )
        return HTMLResponse(page)

    def _state(self, number: int) -> dict[str, Any]:
        session, inner = self.work.at(number)
        lease = None if self.team is None else self.team.leases.of(number)
        state = blind_state(session.state(inner)) if self.blind else session.state(inner)
        return {**state, "lease": None if lease is None else lease.view()}

    async def state(self, request: Request) -> Response:
        """Return the whole state of one document."""
        return JSONResponse(await run_in_threadpool(self._state, request.path_params["number"]))

    async def do(self, request: Request) -> Response:
        """Carry out an operation."""
        number, who = request.path_params["number"], person(request).name
        operation, version = await _read_operation(request)

        def act() -> dict[str, Any]:
            session, inner = self.work.at(number)
            if self.team is None:
                return session.do(inner, operation, version, who)
            lease = self.team.leases.act(number, who)
            update = session.do(inner, operation, version, who)
            if session.history(inner).snapshot.done is not None:
                self.team.leases.release(number, who)
            self.hub.publish(number, "lease", lease.view())
            return update

        update = await run_in_threadpool(act)
        return JSONResponse(blind_texts(update) if self.blind else update)

    async def cancel(self, request: Request) -> Response:
        """Stop the search and keep the best result so far."""
        session, inner = await run_in_threadpool(self.work.at, request.path_params["number"])
        await run_in_threadpool(session.cancel, inner)
        return JSONResponse({})

    async def events(self, request: Request) -> Response:
        """Stream changes as they happen."""
        number = request.path_params["number"]
        await run_in_threadpool(self.work.at, number)
        stream = self.hub.stream(number, request.is_disconnected)
        return StreamingResponse(stream, media_type="text/event-stream")

    async def mention(self, request: Request) -> Response:
        """Explain one mention."""
        history = await run_in_threadpool(self._history, request)
        context = OperationContext(history.solver, history.snapshot, history.ids)
        span = context.mention(request.path_params["mention"])
        limits = Limits(seconds=EXPLANATION_SECONDS)
        found = await run_in_threadpool(history.viewer.explanation, span, history.snapshot, limits)
        return JSONResponse(blind_explanation(found, _annotators(history)) if self.blind else found)

    async def questions(self, request: Request) -> Response:
        """Return the open questions in an order, those that a filter lets through, and what is at stake."""
        history = await run_in_threadpool(self._history, request)
        wanted = Filter.of(request.query_params)
        wanted = replace(wanted, annotator=named(wanted.annotator, _annotators(history)))

        def listed() -> dict[str, Any]:
            snapshot, queue = history.snapshot, history.queue
            every = queue.open(snapshot, request.query_params.get("order", ""))
            found = queue.filtered(every, snapshot, wanted)
            return {
                "questions": queue.rows(found[:MOST_QUESTIONS], snapshot),
                "found": len(found),
                "version": history.version,
                "stakes": history.stakes(every),
                **queue.progress(snapshot.decisions),
            }

        return JSONResponse(await run_in_threadpool(listed))

    async def question(self, request: Request) -> Response:
        """Return a question with its choices; `prices` waits until they are priced, or time is up."""
        history = await run_in_threadpool(self._history, request)
        question = history.queue.question(request.path_params["question"])
        if question is None:
            raise IndexError(request.path_params["question"])

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
        session, inner = await run_in_threadpool(self.work.at, request.path_params["number"])
        name = request.query_params.get("format", "conll")
        if self.blind and name == "review":
            refuse_named("the review file")
        return download(await run_in_threadpool(export, session, inner, name))

    async def report(self, request: Request) -> Response:
        """Return the report as a page."""
        if self.blind:
            refuse_named("the report")
        session, inner = await run_in_threadpool(self.work.at, request.path_params["number"])
        return download(await run_in_threadpool(report, session, inner))

    def _history(self, request: Request) -> History:
        session, inner = self.work.at(request.path_params["number"])
        return session.history(inner)


def _annotators(history: History) -> list[str]:
    return [annotation.annotator for annotation in history.solver.annotations]


async def _read_operation(request: Request) -> tuple[object, object]:
    """Return the operation in a request and the version it is meant for, both unchecked."""
    try:
        body = json.loads(await request.body())
        return body["op"], body["version"]
    except (ValueError, KeyError, TypeError, RecursionError, ClientDisconnect):
        raise OperationError("found no operation, expected JSON with `version` and `op`") from None


async def _failed(request: Request, error: Exception) -> Response:
    """Return an error as JSON: the message, and what the page needs to offer a remedy."""
    values: dict[str, Any] = {"error": str(error), "clashes": [], "remedies": []}
    if isinstance(error, StaleError):
        return JSONResponse({**values, "version": error.version}, 409)
    if isinstance(error, OperationError):
        values["clashes"] = list(error.clashes)
        values["remedies"] = [remedy.view() for remedy in error.remedies]
    if isinstance(error, LeaseError):
        return JSONResponse({**values, "lease": error.lease.view()}, 423)
    unwritten = request.method == "POST" and isinstance(error, OutputError)
    return JSONResponse(values, 507 if unwritten else 422)
