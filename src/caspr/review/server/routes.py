"""The routes of the review page over a session. Started by `serve`, tested without a port."""

import json
from functools import lru_cache
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
from caspr.formats.registry import FORMATS
from caspr.review.server.events import Hub
from caspr.review.server.guard import Guard, Keys
from caspr.review.session.exports import Download, export, report
from caspr.review.session.operations import OperationContext, OperationError
from caspr.review.session.session import ReviewSession, StaleError
from caspr.task.limits import Limits

EXPLANATION_SECONDS = 1.0
"""Seconds for the prices of one mention."""
MOST_QUESTIONS = 500
"""How many questions the page gets at a time."""


def make_app(session: ReviewSession, keys: Keys, port: int) -> Guard:
    """Return the application behind its guard."""
    pages = Pages(session, keys)
    static = Path(str(resources.files("caspr.review") / "static"))
    one = "/d/{number:int}"
    app = Starlette(
        routes=[
            Route("/", pages.index),
            Route(f"{one}/", pages.document),
            Route(f"{one}/state", pages.state),
            Route(f"{one}/do", pages.do, methods=["POST"]),
            Route(f"{one}/cancel", pages.cancel, methods=["POST"]),
            Route(f"{one}/events", pages.events),
            Route(f"{one}/mention/{{mention}}", pages.mention),
            Route(f"{one}/questions", pages.questions),
            Route(f"{one}/export", pages.export),
            Route(f"{one}/report", pages.report),
            Mount("/static", StaticFiles(directory=static, check_dir=False)),
        ],
        exception_handlers={IndexError: _missing, CasprError: _failed},
        lifespan=pages.hub.lifespan,
    )
    return Guard(app, keys, port)


class Pages:
    """The responses to requests."""

    def __init__(self, session: ReviewSession, keys: Keys) -> None:
        self.session = session
        self.keys = keys
        self.hub = Hub(session)

    async def index(self, request: Request) -> Response:  # noqa: ARG002
        """List the documents, or redirect to the only one."""
        if len(self.session.documents) == 1:
            return RedirectResponse("/d/0/", status_code=303)
        documents = await run_in_threadpool(self.session.summaries)
        title = self.session.store.path.name
        return HTMLResponse(rendered("index.html", title=title, documents=documents, csrf=self.keys.csrf))

    async def document(self, request: Request) -> Response:
        """Show one document."""
        number = self._number(request)
        state = await run_in_threadpool(self.session.state, number)
        documents = await run_in_threadpool(self.session.summaries)
        page = rendered(
            "document.html",
            title=state["title"],
            index=number,
            count=len(documents),
            documents=documents,
            csrf=self.keys.csrf,
            formats=list(FORMATS),
            state=embedded(state),
        )
        return HTMLResponse(page)

    async def state(self, request: Request) -> Response:
        """Return the whole state of one document."""
        return JSONResponse(await run_in_threadpool(self.session.state, self._number(request)))

    async def do(self, request: Request) -> Response:
        """Carry out an operation."""
        number = self._number(request)
        operation, version = await _read_operation(request)
        return JSONResponse(await run_in_threadpool(self.session.do, number, operation, version))

    async def cancel(self, request: Request) -> Response:
        """Stop the search and keep the best result so far."""
        await run_in_threadpool(self.session.cancel, self._number(request))
        return JSONResponse({})

    async def events(self, request: Request) -> Response:
        """Stream changes as they happen."""
        stream = self.hub.stream(self._number(request), request.is_disconnected)
        return StreamingResponse(stream, media_type="text/event-stream")

    async def mention(self, request: Request) -> Response:
        """Explain one mention."""
        history = await run_in_threadpool(self.session.history, self._number(request))
        context = OperationContext(history.solver, history.snapshot, history.ids)
        span = context.mention(request.path_params["mention"])
        limits = Limits(seconds=EXPLANATION_SECONDS)
        return JSONResponse(
            await run_in_threadpool(history.viewer.explanation, span, history.snapshot, limits)
        )

    async def questions(self, request: Request) -> Response:
        """Return the open questions, the most valuable first."""
        history = await run_in_threadpool(self.session.history, self._number(request))

        def listed() -> dict[str, Any]:
            snapshot, queue = history.snapshot, history.queue
            return {
                "questions": [queue.view(one, snapshot) for one in queue.open(snapshot)[:MOST_QUESTIONS]],
                "version": history.version,
                **queue.progress(snapshot.decisions),
            }

        return JSONResponse(await run_in_threadpool(listed))

    async def export(self, request: Request) -> Response:
        """Return the result as a file."""
        number = self._number(request)
        name = request.query_params.get("format", "conll")
        return _download(await run_in_threadpool(export, self.session, number, name))

    async def report(self, request: Request) -> Response:
        """Return the report as a page."""
        return _download(await run_in_threadpool(report, self.session, self._number(request)))

    def _number(self, request: Request) -> int:
        number: int = request.path_params["number"]
        if number >= len(self.session.documents):
            raise IndexError(number)
        return number


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


async def _read_operation(request: Request) -> tuple[object, object]:
    """Return the operation in a request and the version it is meant for, both unchecked."""
    try:
        body = json.loads(await request.body())
        return body["op"], body["version"]
    except (ValueError, KeyError, TypeError, RecursionError, ClientDisconnect):
        raise OperationError("found no operation, expected JSON with `version` and `op`") from None


def _download(file: Download) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{file.name}"'}
    if file.policy is not None:
        headers = {"Content-Security-Policy": file.policy}
    return Response(file.content, media_type=file.media_type, headers=headers)


async def _missing(request: Request, error: Exception) -> Response:  # noqa: ARG001
    page = rendered("error.html", title="No such document", message="There is nothing at this address.")
    return HTMLResponse(page, status_code=404)


async def _failed(request: Request, error: Exception) -> Response:
    """Return an error as JSON: the message, and what the page needs to offer a remedy."""
    values: dict[str, Any] = {"error": str(error), "clashes": []}
    if isinstance(error, StaleError):
        return JSONResponse({**values, "version": error.version}, 409)
    if isinstance(error, OperationError):
        values["clashes"] = list(error.clashes)
    unwritten = request.method == "POST" and isinstance(error, OutputError)
    return JSONResponse(values, 507 if unwritten else 422)
