"""The routes of a whole review: its documents, who does them, and what was done since when."""

import csv
import io
import json
import re
from dataclasses import dataclass, field
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from caspr.review.project.leases import Leases
from caspr.review.project.workplace import Workplace
from caspr.review.server.blind import blind_steps
from caspr.review.server.events import Hub
from caspr.review.server.rendering import download, person, rendered
from caspr.review.session.exports import Download
from caspr.review.session.operations import OperationError
from caspr.review.session.record import Line

SHOWN = {"all": "all", "open": "open", "work": "in work", "done": "done", "mine": "mine"}
"""Which documents can be listed, by the word in the address."""
_SINCE = re.compile(r"\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}Z?)?)?")
_COLUMNS = ("at", "by", "document", "do", "label", "category", "confidence")


@dataclass
class Team:
    """The adjudicators, and who works on what."""

    names: tuple[str, ...]
    """Everybody's name."""
    leases: Leases = field(default_factory=Leases)
    """Who works on which document."""


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
            documents=[row for row in documents if _is_shown(row, shown, who.name)],
            totals=totals(documents),
            next=most_worthwhile(documents, who.name),
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
            single=self._single,
        )
        return HTMLResponse(page)

    @property
    def _single(self) -> bool:
        return self.work.count == 1

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
            raise OperationError(f"found {since[:40]!r}, expected a day such as 2026-11-17")
        steps = await run_in_threadpool(self.work.steps, since)
        return since, blind_steps(steps) if self.blind else steps

    async def assign(self, request: Request) -> Response:
        """Assign a document to somebody."""
        values = await body_of(request)
        who = values.get("who")
        if not isinstance(who, str) or not who.isprintable():
            raise OperationError("found no name, expected one, or an empty one for nobody")
        if self.team is not None and who and who not in self.team.names:
            raise OperationError(f"found {who[:40]!r}, expected one of {', '.join(self.team.names)}")
        await run_in_threadpool(self.work.assign, request.path_params["number"], who)
        return JSONResponse({})

    async def take_over(self, request: Request) -> Response:
        """Take a document over from whoever works on it."""
        number = request.path_params["number"]
        if self.team is None or number >= self.work.count:
            raise IndexError(number)
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
        f"{status}": sum(row["status"] == status for row in documents)
        for status in ("open", "in work", "done")
    }
    return {
        "documents": len(documents),
        "asked": sum(row["asked"] or 0 for row in documents),
        "answered": sum(row["answered"] or 0 for row in documents),
        "uncounted": sum(row["asked"] is None for row in documents),
        **counts,
    }


def most_worthwhile(documents: list[dict[str, Any]], me: str) -> dict[str, Any] | None:
    """Return the document in which answers are most likely to change something, of those that are free to do.

    That is where annotators are about evenly divided most often; where that was not counted yet, where the
    result cost most. What is assigned to oneself comes before what is assigned to nobody.
    """
    free = [
        row
        for row in documents
        if row["status"] not in ("done", "missing")
        and row["holder"] in ("", me)
        and row["assigned"] in ("", me)
        and (row["close"] is None or row["close"] > 0)
    ]

    def worth(row: dict[str, Any]) -> tuple[bool, bool, int, int]:
        mine = bool(me) and row["assigned"] == me
        return mine, row["close"] is not None, row["close"] or row["cost"] or 0, -row["index"]

    return max(free, key=worth, default=None)


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
        cells = [str(step[name]) for name in _COLUMNS]
        writer.writerow([f"'{cell}" if cell[:1] in "=+-@\t\r" and cell else cell for cell in cells])
    return buffer.getvalue()
