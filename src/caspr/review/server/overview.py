"""The overview: all documents, who does them, who annotated them, what was done, and all results at once."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from caspr.formats.registry import EXPORTED
from caspr.review.documents import ReviewDocument
from caspr.review.exports import Download, export_all, methods_of_all, report_on_all
from caspr.review.operations import OperationError
from caspr.review.project.annotators import (
    asked_changes,
    change_session,
    left_out,
    likely_corrections,
    of_one_document,
)
from caspr.review.project.project import Workplace
from caspr.review.project.rounds import Row, next_anywhere, next_in_rounds, round_of, rounds_of
from caspr.review.project.team import Leases
from caspr.review.record import Line
from caspr.review.server.blind import blind_steps, refuse_named
from caspr.review.server.events import Hub
from caspr.review.server.guard import ANNOTATORS
from caspr.review.server.responses import body_of, download, person, rendered
from caspr.review.session import MissingError, ReviewSession
from caspr.text.csv_table import no_formula
from caspr.text.findings import times

SHOWN = {"all": "all", "open": "open", "work": "in progress", "done": "done", "mine": "mine"}
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

    def __init__(
        self, work: Workplace, hub: Hub, team: Team | None, *, blind: bool = False, home: str = ""
    ) -> None:
        self.work = work
        self.hub = hub
        self.team = team
        self.blind = blind
        self.home = home

    def routes(self) -> list[Route]:
        """Return where its responses are."""
        return [
            Route("/", self.index),
            Route("/next", self.following),
            Route("/history", self.history),
            Route("/history/export", self.export),
            Route("/assign", self.assign, methods=["POST"]),
            Route(ANNOTATORS, self.annotators, methods=["POST"]),
            Route("/golds", self.golds),
            Route("/report", self.report),
            Route("/methods", self.methods),
        ]

    async def index(self, request: Request) -> Response:
        """List the documents, or redirect to the only one."""
        if self.work.count == 1 and "show" not in request.query_params:
            return RedirectResponse("/d/0/", status_code=303)
        who, shown = person(request), request.query_params.get("show", "all")
        documents = [self._with_lease(row) for row in await run_in_threadpool(self.work.summaries)]
        page = rendered(
            "index.html",
            self.home,
            title=self.work.title,
            documents=[
                {**row, "round": round_of(row["answers"])}
                for row in documents
                if _is_shown(row, shown, who.name)
            ],
            columns=differing(documents),
            same=same_everywhere(documents),
            people=by_person(documents, self.team.names if self.team else ()),
            annotators={} if self.blind else annotators_of(documents),
            flags=[(row, flag) for row in documents for flag in row["flags"]],
            assignable=any("file" in row for row in documents),
            formats=EXPORTED,
            blind=self.blind,
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
            self.home,
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
        """Assign documents to somebody."""
        values = await body_of(request)
        who, documents = values.get("who"), _numbers(values.get("documents"))
        if not isinstance(who, str) or not who.isprintable():
            raise OperationError("Give a name, or an empty one for nobody.")
        if self.team is not None and who and who not in self.team.names:
            raise OperationError(
                f"{who[:40]!r} is not in the team: choose one of {', '.join(self.team.names)}."
            )
        await run_in_threadpool(self.work.assign, documents, who)
        return JSONResponse({})

    async def annotators(self, request: Request) -> Response:
        """Add, correct, rename or remove annotators, or undo that."""
        if self.blind:
            refuse_named("the list of annotators")
        values, who = await body_of(request), person(request).name
        act = self._undo_annotators if values.get("do") == "undo" else self._change_annotators
        return JSONResponse(await run_in_threadpool(act, values, who))

    def _change_annotators(self, values: dict[str, Any], who: str) -> dict[str, Any]:
        changes = asked_changes(values)
        there = [document.review.annotations for document in self._documents()]
        if self.work.count == 1:
            changes = of_one_document(changes, there[0][0].document)
        if values.get("certain") is not True:
            for correction in likely_corrections(there, changes.added):
                return {"asks": str(correction), "old": correction.old, "new": correction.new}
        changes.refuse_impossible(there)
        self._refuse_leased(who, range(self.work.count))
        lines, changed = [], []
        for number in range(self.work.count):
            with self.work.using(number) as (session, inner):
                reports = change_session(session, changes, who or session.who, [inner])
            lines += [line for report in reports for line in report.lines()]
            changed += [number] if reports else []
        lines += left_out(changes, [works[0].document.title for works in there], self.work.title)
        return {"lines": lines or ["Nothing is new in these annotations."], "documents": changed}

    def _undo_annotators(self, values: dict[str, Any], who: str) -> dict[str, Any]:
        """Take a change of annotators back in the documents where nothing was done since."""
        documents = _numbers(values.get("documents"))
        self._refuse_leased(who, documents)
        lines = []
        for number in documents:
            with self.work.using(number) as (session, inner):
                history = session.history(inner)
                if history.past and history.past[-1][0].under:
                    session.do(inner, {"do": "undo"}, history.version, who)
                else:
                    title = session.documents[inner].title
                    lines.append(f"{title}: something has been done since: use Undo on its page")
        return {"lines": lines, "documents": documents}

    def _documents(self) -> Iterator[ReviewDocument]:
        for number in range(self.work.count):
            with self.work.using(number) as (session, inner):
                yield session.documents[inner]

    def _refuse_leased(self, who: str, numbers: Collection[int]) -> None:
        for number in numbers if self.team is not None else ():
            assert self.team is not None
            self.team.leases.refuse_others(number, who)

    def _opened(self) -> Iterator[tuple[ReviewSession, int]]:
        for number in range(self.work.count):
            with self.work.using(number) as found:
                yield found

    async def golds(self, request: Request) -> Response:
        """Return all results in an archive."""
        name = request.query_params.get("format", "conll")
        return download(await run_in_threadpool(lambda: export_all(self._opened(), name, self.work.title)))

    async def report(self, request: Request) -> Response:  # noqa: ARG002
        """Return one report on all documents."""
        if self.blind:
            refuse_named("the report")
        return download(await run_in_threadpool(lambda: report_on_all(self._opened(), self.work.title)))

    async def methods(self, request: Request) -> Response:
        """Return the paragraph for a paper."""
        if self.blind:
            refuse_named("the paragraph on methods")
        latex = request.query_params.get("format") == "latex"
        return download(await run_in_threadpool(lambda: methods_of_all(self._opened(), latex=latex)))

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


def totals(documents: list[dict[str, Any]]) -> dict[str, int]:
    """Count over all documents what is known of each."""
    statuses = [row["status"] for row in documents]
    counts = {status: statuses.count(status) for status in ("open", "in progress", "done")}
    return {
        "documents": len(documents),
        "asked": sum(row["asked"] or 0 for row in documents),
        "answered": sum(row["answered"] or 0 for row in documents),
        "uncounted": sum(row["asked"] is None for row in documents),
        "answers": sum(row["answers"] for row in documents),
        **counts,
    }


_DIFFERING = (
    *("status", "assigned", "answers", "asked", "decisions"),
    *("chains", "cost", "proof", "tokens", "annotators"),
)
"""The columns of the overview beside the title."""


def _cell(row: Row, column: str) -> object:
    """Return what a column says of a document."""
    if column == "annotators":
        return len(row["annotators"])
    if column == "cost":
        return row["cost"] if row["value"] is None else row["value"]
    if column == "asked":
        return row["asked"] is None, row["answered"] == row["asked"], round_of(row["answers"])
    if column == "status":
        return row["status"], row["by"], row["at"], row["holder"]
    return row["optimal"] if column == "proof" else row[column]


def differing(documents: Sequence[Row]) -> frozenset[str]:
    """Return the columns in which documents differ; the others need no place."""
    return frozenset(column for column in _DIFFERING if len({_cell(row, column) for row in documents}) > 1)


def same_everywhere(documents: Sequence[Row]) -> list[str]:
    """Say what is the same in all documents, in place of the columns that would repeat it."""
    if not documents:
        return []
    first, differ = documents[0], differing(documents)
    given = " with the decisions made" if any(row["decisions"] for row in documents) else ""
    each = " each" if len({frozenset(row["annotators"]) for row in documents}) > 1 else ""
    said = {
        "assigned": f"assigned to {first['assigned']}" if first["assigned"] else "",
        "annotators": f"{times(len(first['annotators']), 'annotator')}{each}",
        "proof": {True: f"proven optimal{given}", False: "not proven optimal yet"}.get(first["optimal"], ""),
    }
    return [words for column, words in said.items() if column not in differ and words]


def by_person(documents: Sequence[Row], team: Sequence[str]) -> list[dict[str, Any]]:
    """Return what each person has to do, has done and has answered: the team first, then all others."""
    others = {row["assigned"] for row in documents} | {name for row in documents for name in row["people"]}
    rows = []
    for name in (*team, *sorted(others - {"", *team})):
        own = [row for row in documents if row["assigned"] == name]
        rows.append(
            {
                "name": name,
                "assigned": len(own),
                "done": sum(row["status"] == "done" for row in own),
                "answers": sum(row["people"].get(name, 0) for row in documents),
                "working": [row for row in documents if row["holder"] == name],
            }
        )
    return rows


def annotators_of(documents: Sequence[Row]) -> dict[str, int]:
    """Return in how many documents each annotator is, in the order of their columns."""
    return dict(Counter(name for row in documents for name in row["annotators"]))


def _numbers(values: object) -> list[int]:
    if not isinstance(values, list) or not values or any(type(value) is not int for value in values):
        raise OperationError("found no documents, expected a list of their numbers")
    return list(dict.fromkeys(values))


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
