"""The server: routes of the review page over a session. Started by `run`, tested without a port."""

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

EXPLAINING = 1.0
"""Seconds for the prices of one mention."""
ASKED = 500
"""How many questions the page gets at a time."""


def make_app(session: ReviewSession, keys: Keys, port: int) -> Guard:
    """Make the application, guarded."""
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
    """The answers to requests."""

    def __init__(self, session: ReviewSession, keys: Keys) -> None:
        self.session = session
        self.keys = keys
        self.hub = Hub(session)

    async def index(self, request: Request) -> Response:  # noqa: ARG002
        """List the documents, or go to the only one."""
        if len(self.session.folders) == 1:
            return RedirectResponse("/d/0/", status_code=303)
        documents = await run_in_threadpool(self.session.overview)
        title = self.session.store.path.name
        return HTMLResponse(rendered("index.html", title=title, documents=documents, csrf=self.keys.csrf))

    async def document(self, request: Request) -> Response:
        """Show one document."""
        number = self._number(request)
        state = await run_in_threadpool(self.session.state, number)
        documents = await run_in_threadpool(self.session.overview)
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
        """Tell everything about one document."""
        return _json(await run_in_threadpool(self.session.state, self._number(request)))

    async def do(self, request: Request) -> Response:
        """Carry out an operation."""
        number = self._number(request)
        try:
            body = json.loads(await request.body())
            operation, version = body["op"], body["version"]
        except (ValueError, KeyError, TypeError, RecursionError, ClientDisconnect):
            return _json(
                {"error": "found no operation, expected JSON with `version` and `op`", "clashes": []}, 422
            )
        try:
            return _json(await run_in_threadpool(self.session.do, number, operation, version))
        except StaleError as error:
            return _json({"error": str(error), "version": error.version}, 409)
        except OperationError as error:
            return _json({"error": str(error), "clashes": list(error.clashes)}, 422)
        except OutputError as error:
            return _json({"error": str(error), "clashes": []}, 507)

    async def cancel(self, request: Request) -> Response:
        """Stop the search and keep the best so far."""
        await run_in_threadpool(self.session.cancel, self._number(request))
        return _json({})

    async def events(self, request: Request) -> Response:
        """Tell of changes as they happen."""
        stream = self.hub.stream(self._number(request), request.is_disconnected)
        return StreamingResponse(stream, media_type="text/event-stream")

    async def mention(self, request: Request) -> Response:
        """Explain one mention."""
        case = await run_in_threadpool(self.session.case, self._number(request))
        span = OperationContext(case.board, case.position, case.ids).mention(request.path_params["mention"])
        limits = Limits(seconds=EXPLAINING)
        return _json(await run_in_threadpool(case.viewer.explanation, span, case.position, limits))

    async def questions(self, request: Request) -> Response:
        """Tell what is worth asking."""
        case = await run_in_threadpool(self.session.case, self._number(request))

        def listed() -> list[dict[str, Any]]:
            position, queue = case.position, case.queue
            return [queue.view(one, position) for one in queue.open(position)[:ASKED]]

        found = await run_in_threadpool(listed)
        progress = await run_in_threadpool(case.queue.progress, case.position.decisions)
        return _json({"questions": found, "version": case.version, **progress})

    async def export(self, request: Request) -> Response:
        """Hand out the result as a file."""
        number = self._number(request)
        name = request.query_params.get("format", "conll")
        return _download(await run_in_threadpool(export, self.session, number, name))

    async def report(self, request: Request) -> Response:
        """Hand out the report."""
        return _download(await run_in_threadpool(report, self.session, self._number(request)))

    def _number(self, request: Request) -> int:
        number: int = request.path_params["number"]
        if number >= len(self.session.folders):
            raise IndexError(number)
        return number


def embedded(state: dict[str, Any]) -> str:
    """Write JSON that may stand inside a script element.

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
    """Fill a page template; everything in it is escaped but the state, which is safe already."""
    from markupsafe import Markup

    if "state" in values:
        values["state"] = Markup(values["state"])
    return _environment().get_template(template).render(**values)


def _json(values: dict[str, Any], status: int = 200) -> Response:
    return JSONResponse(values, status_code=status)


def _download(file: Download) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{file.name}"'}
    if file.policy is not None:
        headers = {"Content-Security-Policy": file.policy}
    return Response(file.content, media_type=file.media_type, headers=headers)


async def _missing(request: Request, error: Exception) -> Response:  # noqa: ARG001
    page = rendered("error.html", title="No such document", message="There is nothing at this address.")
    return HTMLResponse(page, status_code=404)


async def _failed(request: Request, error: Exception) -> Response:  # noqa: ARG001
    return _json({"error": str(error), "clashes": []}, 422)
