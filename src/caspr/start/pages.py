"""The routes of the start page: what the browser asks for, and what buttons do.

Every page has the address of a folder in it, `at`; which folders that may be is decided by `Folders`. Changes
are POST requests of our own scripts, which the guard of the review page checks. A button that takes time
starts a job for its folder and leads to the page that shows how far it is.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from importlib import resources
from json import loads
from mimetypes import guess_type
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from caspr.errors import CasprError, InputError
from caspr.formats.registry import EXPORTED, FORMATS, READ
from caspr.formats.review_file import project as project_file
from caspr.formats.review_file.project import is_project, read_project
from caspr.review.exports import REPORT_POLICY
from caspr.review.project.project import Index, ProjectRow, first_row
from caspr.review.server.guard import Address, Guard, Keys
from caspr.review.server.help import help_routes
from caspr.review.server.presence import ALIVE, Presence
from caspr.review.server.responses import FORMAT_NAMES, HELP, body_of, person
from caspr.start.draft import COPIES, EXPORTS, NAME, Draft, is_draft, results_of
from caspr.start.folders import (
    Folders,
    copied,
    entries,
    is_reviewed,
    new_folder,
    refuse_leaving,
    remove_copy,
    store,
)
from caspr.start.questions import QUESTIONS, WEIGHTS, checked, usual
from caspr.start.remedies import Recognised, recognised
from caspr.start.reviews import Reviews
from caspr.start.steps import CommandRun, CommandStep, warnings_in

UPLOAD = "/upload"
LARGEST_FILE = 4 << 30
"""How many bytes a dropped file may have."""
LONGEST_NAME = 100
"""How many characters the name of an annotator may have."""
SHOWN = 20_000
"""How many characters of a text are shown on the page; the file has all of them."""
LABELS = {
    "gold": "Gold standard",
    "report.html": "Report",
    "agreement.txt": "Agreement",
    "agreement.tex": "Agreement, table for LaTeX",
    "agreement.csv": "Agreement, table for spreadsheets",
    "methods.txt": "Paragraph for the methods section",
    "methods.tex": "Paragraph for the methods section, for LaTeX",
    "feedback": "Feedback",
}
"""What the results are, by the name of the file or of its folder, in the order in which they are shown."""
_SHOWN_TYPES = (".html", ".txt", ".tex")
_WRITTEN = (NAME, WEIGHTS, project_file.NAME, project_file.FOLDER)
"""What a merge writes into the folder of a project."""
_KEPT = ("project", "name", "source")
"""What the list of folders hands on to the page that asked for a folder."""


@lru_cache(maxsize=1)
def _environment() -> Environment:
    return Environment(loader=PackageLoader("caspr.start"), autoescape=True, undefined=StrictUndefined)


def address(page: str, **words: object) -> str:
    """Return the address of a page.

    >>> address("/check", at=Path("a b"))
    '/check?at=a+b'
    """
    return f"{page}?{urlencode({name: str(value) for name, value in words.items()})}" if words else page


@dataclass
class StartPages:
    """What requests are answered with."""

    folders: Folders
    reviews: Reviews
    presence: Presence
    jobs: dict[Path, CommandRun] = field(default_factory=dict)
    """The last or running job of each folder."""
    seen: dict[Path, Recognised] = field(default_factory=dict)
    """What the files of a project hold, as they were last looked at."""

    @property
    def is_working(self) -> bool:
        """Whether anything is being made."""
        return any(job.state == "running" for job in self.jobs.values())

    def close(self) -> None:
        """End everything that is being made, and all reviews."""
        for job in list(self.jobs.values()):
            if job.state == "running":
                job.cancel()
        self.reviews.close()

    def at(self, request: Request) -> Path:
        """Return the folder or file that a page is about."""
        return self.folders.allowed(request.query_params.get("at", ""))

    def draft(self, request: Request) -> Draft:
        """Return the project in the making that a page is about."""
        folder = self.at(request)
        if not is_draft(folder):
            raise InputError("This folder is not a new project: go back to the start page.")
        return Draft.read(folder)

    async def unanswered(self, request: Request) -> Draft:
        """Return a project that can be merged again; refuse one in whose review something was answered."""
        draft = self.draft(request)
        rows = await run_in_threadpool(_rows, draft.folder)
        if _is_begun(rows):
            raise InputError(
                "In the review, questions are answered or texts are marked already, and merging again would "
                "lose that. To merge with other files or settings, make a new project."
            )
        return draft

    def page(self, request: Request, template: str, **values: Any) -> Response:
        """Fill a template."""
        known = {"csrf": person(request).csrf, "address": address, "help": HELP, **values}
        return HTMLResponse(_environment().get_template(template).render(**known))

    # Which project

    async def home(self, request: Request) -> Response:
        """Show the start page."""
        recent = [path for path in self.folders.recent() if is_reviewed(path) or is_draft(path)]
        return self.page(request, "home.html", recent=recent, start=self.folders.start)

    async def list_folder(self, request: Request) -> Response:
        """Show what is in a folder."""
        folder, purpose = self.at(request), request.query_params.get("for", "open")
        inside, is_cut = await run_in_threadpool(entries, folder)
        try:
            parent = self.folders.allowed(str(folder.parent)) if folder.parent != folder else None
        except InputError:
            parent = None
        kept = {name: request.query_params[name] for name in _KEPT if name in request.query_params}
        shown = {"folder": folder, "entries": inside, "is_cut": is_cut, "parent": parent, "purpose": purpose}
        return self.page(request, "folders.html", **shown, kept=kept)

    async def open(self, request: Request) -> Response:
        """Open what the user typed."""
        path = self.folders.take(_text(await body_of(request), "path"))
        words = request.query_params
        if words.get("for", "open") != "open" and path.is_dir():
            return _to(address("/folders", **{**words, "at": path}))
        return _to(self._page_of(path))

    def _page_of(self, path: Path) -> str:
        if is_reviewed(path) or is_draft(path):
            return address("/project", at=path)
        if path.is_dir():
            return address("/folders", at=path, **{"for": "open"})
        raise InputError(
            f"{path.name} is not a review file. To merge annotators' files, choose New project and add them."
        )

    async def ask_new(self, request: Request) -> Response:
        """Ask for the name and the place of a new project."""
        parent = self.folders.allowed(request.query_params.get("in", str(self.folders.start)))
        kept = {name: request.query_params.get(name, "") for name in ("name", "source")}
        return self.page(request, "new.html", parent=parent, **kept)

    async def make_new(self, request: Request) -> Response:
        """Make the folder of a new project."""
        values = await body_of(request)
        parent = self.folders.take(_text(values, "in"))
        if not parent.is_dir():
            raise InputError(f"{parent} is not a folder.")
        name = _text(values, "name")
        source = self._source(parent / name, _text(values, "source"))
        folder = new_folder(parent, name)
        Draft(folder).changed(source=source)
        self.folders.typed.add(folder)
        self.folders.remember(folder)
        return _to(address("/files", at=folder))

    # Its files

    async def show_files(self, request: Request) -> Response:
        """Show which files a project has, and take more."""
        draft = await self.unanswered(request)
        copies = [str(name) for name in await run_in_threadpool(lambda: list(copied(draft.folder / COPIES)))]
        values = {"draft": draft, "copies": copies, "formats": list(_readable()), "step": draft.check()}
        return self.page(request, "files.html", **values)

    async def upload(self, request: Request) -> Response:
        """Copy a file that was dropped."""
        folder = self.draft(request).folder
        name = request.query_params.get("name", "")
        return JSONResponse({"copied": await store(folder / COPIES, name, request.stream())})

    async def remove(self, request: Request) -> Response:
        """Remove a copy."""
        folder = self.draft(request).folder
        inside = folder / COPIES
        remove_copy(inside, _text(await body_of(request), "name"), list(copied(inside)))
        return _to(address("/files", at=folder))

    async def use(self, request: Request) -> Response:
        """Use the files of a folder where they are."""
        draft = self.draft(request)
        source = self._source(draft.folder, _text(await body_of(request), "path"))
        draft.changed(source=source, names={}, answers={})
        return _to(address("/files", at=draft.folder))

    def _source(self, folder: Path, text: str) -> str:
        """Return the folder of the annotators' files that the user chose for a project; empty for none."""
        source = self.folders.take(text) if text else None
        if source is not None and not source.is_dir():
            raise InputError(f"{source} is a file: choose the folder it is in.")
        if source is not None and (folder.is_relative_to(source) or source.is_relative_to(folder)):
            raise InputError(
                "The project and the annotators' files must not be inside each other: choose another folder."
            )
        return "" if source is None else str(source)

    async def look(self, request: Request) -> Response:
        """Look at the files."""
        draft = self.draft(request)
        at = draft.folder
        return await self._begin(at, [draft.check()], address("/check", at=at), address("/files", at=at))

    async def show_check(self, request: Request) -> Response:
        """Show what the files hold."""
        draft = self.draft(request)
        job = self.jobs.get(draft.folder)
        if job is not None and job.state == "done" and job.steps == (draft.check(),):
            error = job.error.replace(f"{draft.files}{os.sep}", "")
            self.seen[draft.folder] = recognised(_json(job.printed), error)
        if draft.folder not in self.seen:
            return RedirectResponse(address("/files", at=draft.folder), 303)
        values = {"draft": draft, "found": self.seen[draft.folder], "step": draft.check()}
        return self.page(request, "check.html", **values)

    async def name(self, request: Request) -> Response:
        """Keep the names that annotators get."""
        draft = self.draft(request)
        values = await body_of(request)
        names = {old: " ".join(str(new).split()) for old, new in values.items()}
        for new in names.values():
            if not new or not new.isprintable() or len(new) > LONGEST_NAME:
                raise InputError(
                    f"Give every annotator a name of at most {LONGEST_NAME} printable characters."
                )
        if len({new.casefold() for new in names.values()}) < len(names):
            raise InputError("Two annotators have the same name: give each a different one.")
        draft.changed(names={old: new for old, new in names.items() if old != new})
        return _to(address("/questions", at=draft.folder))

    # Merging

    async def ask(self, request: Request) -> Response:
        """Ask the questions on which the settings depend."""
        draft = await self.unanswered(request)
        codes = self.seen[draft.folder].codes if draft.folder in self.seen else frozenset[str]()
        answers = draft.answers or usual(codes)
        values = {"draft": draft, "questions": QUESTIONS, "answers": answers, "codes": codes}
        return self.page(request, "questions.html", **values)

    async def merge(self, request: Request) -> Response:
        """Take the answers, and merge the annotations."""
        draft = await self.unanswered(request)
        at = draft.folder
        if not await run_in_threadpool(self.reviews.release, at):
            raise InputError("The review of this project is open in a window: close it, and merge again.")
        await run_in_threadpool(refuse_leaving, at, *(at / name for name in _WRITTEN))
        draft = draft.changed(answers=checked(await body_of(request)))
        page, back = address("/project", at=at), address("/questions", at=at)
        return await self._begin(at, draft.adjudicate(), page, back)

    async def _begin(self, at: Path, steps: Sequence[CommandStep], then: str, back: str) -> Response:
        """Start a job, and lead to the page that shows it."""
        await run_in_threadpool(self.reviews.release, at)
        job = self.jobs.get(at)
        if job is not None and job.state == "running":
            raise InputError("Something is still being made of this project: wait, or cancel it.")
        job = self.jobs[at] = CommandRun(steps, at if at.is_dir() else at.parent, then, back)
        job.start()
        return _to(address("/running", at=at))

    async def show_job(self, request: Request) -> Response:
        """Show how far a job is."""
        at = self.at(request)
        job = self.jobs.get(at)
        if job is None:
            return RedirectResponse(self._page_of(at), 303)
        return self.page(request, "running.html", at=at, job=job.view())

    async def progress(self, request: Request) -> Response:
        """Return how far a job is."""
        job = self.jobs.get(self.at(request))
        return JSONResponse({"state": "gone"} if job is None else job.view())

    async def cancel(self, request: Request) -> Response:
        """Cancel a job."""
        at = self.at(request)
        job = self.jobs.get(at)
        if job is not None:
            await run_in_threadpool(job.cancel)
        return _to(address("/running", at=at))

    # What came of it

    async def project(self, request: Request) -> Response:
        """Show a project or a review file with all that can be done with it."""
        at = self.at(request)
        if not is_reviewed(at):
            page = address("/files", at=at) if is_draft(at) else address("/folders", at=at, **{"for": "open"})
            return RedirectResponse(page, 303)
        self.folders.remember(at)
        job = self.jobs.get(at)
        rows = await run_in_threadpool(_rows, at)
        said = job.said if job is not None and job.state == "done" else []
        steps = [CommandStep("Review", ("review", str(at)))]
        steps += [replace(export.step(at, "FORMAT"), title=export.label) for export in EXPORTS]
        values = {
            "at": at,
            "rows": rows,
            "done": sum(row.status == "done" for row in rows),
            "answers": sum(row.answers for row in rows),
            "left": _left(rows),
            "is_begun": _is_begun(rows),
            "draft": Draft.read(at) if at.is_dir() else None,
            "unproven": _unproven(rows),
            "warnings": list(warnings_in(said)),
            "exports": EXPORTS,
            "commands": [(step.title, step.command) for step in steps],
            "formats": EXPORTED,
            "format_names": FORMAT_NAMES,
            "results": await run_in_threadpool(_results, at, max((row.at for row in rows), default="")),
            "folder": results_of(at),
        }
        return self.page(request, "project.html", **values)

    async def review(self, request: Request) -> Response:
        """Open the review page of a project."""
        at = self.at(request)
        home = f"{request.url.scheme}://{request.headers['host']}{address('/project', at=at)}"
        return RedirectResponse(await run_in_threadpool(self.reviews.link, at, home), 303)

    async def export(self, request: Request) -> Response:
        """Make something of a project."""
        at, values = self.at(request), await body_of(request)
        exports = [export for export in EXPORTS if values.get("what") in (export.id, "all")]
        format = str(values.get("format", EXPORTED[0]))
        if not exports or format not in EXPORTED or not is_reviewed(at):
            raise InputError("This cannot be made: load the page again.")
        await run_in_threadpool(refuse_leaving, results_of(at))
        try:
            results_of(at).mkdir(exist_ok=True)
        except OSError as error:
            raise InputError(f"{results_of(at)} cannot be made: {error.strerror}.") from error
        page = address("/project", at=at)
        return await self._begin(at, [export.step(at, format) for export in exports], f"{page}#results", page)

    async def result(self, request: Request) -> Response:
        """Return a file that was made."""
        at, name = self.at(request), request.query_params.get("name", "")
        if name not in {result.name for result in await run_in_threadpool(_results, at)}:
            raise InputError("There is no such file any more.")
        path = results_of(at) / name
        if path.suffix == ".html":
            return FileResponse(path, headers={"Content-Security-Policy": REPORT_POLICY})
        if path.suffix in _SHOWN_TYPES and "save" not in request.query_params:
            return FileResponse(path, media_type="text/plain; charset=utf-8")
        kind = guess_type(path.name)[0] or "application/octet-stream"
        return FileResponse(path, media_type=kind, filename=path.name)


@dataclass(frozen=True)
class MadeFile:
    """A file among the results."""

    name: str
    """Its path in the folder of the results."""
    label: str
    is_page: bool
    text: str
    """The content of a short text."""
    made: str
    """When it was made, in local time."""
    is_old: bool
    """Whether something was decided after that."""


def _results(at: Path, decided: str = "") -> list[MadeFile]:
    """List what was made of a project; `decided` is the time of its last decision, as decisions say it."""
    folder = results_of(at)
    made = []
    for name in sorted(copied(folder), key=_rank) if folder.is_dir() else ():
        text = ""
        if name.suffix in (".txt", ".tex") and len(name.parts) == 1:
            with (folder / name).open(encoding="utf-8", errors="replace") as file:
                text = file.read(SHOWN)
        time = datetime.fromtimestamp((folder / name).stat().st_mtime).astimezone()
        is_old = time < _moment(decided)
        is_page = name.suffix in _SHOWN_TYPES
        made.append(MadeFile(str(name), _label(name), is_page, text, f"{time:%d %b %Y, %H:%M}", is_old))
    return made


def _moment(text: str) -> datetime:
    """Return the time that a decision names; long ago if it names none."""
    try:
        return datetime.fromisoformat(text).astimezone()
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)


def _label(name: PurePosixPath) -> str:
    """Return what a result is, in words.

    >>> _label(PurePosixPath("gold-conll/act1.conll")), _label(PurePosixPath("feedback/ann.html"))
    ('Gold standard', 'Feedback')
    """
    known = str(name) if len(name.parts) == 1 else name.parts[0].partition("-")[0]
    return LABELS.get(known, "")


def _rank(name: PurePosixPath) -> tuple[int, str]:
    label = _label(name)
    return [*LABELS.values(), ""].index(label), str(name)


def _rows(at: Path) -> list[ProjectRow]:
    """Return what is known about each document of a project; nothing is known about those of a file."""
    if not is_project(at):
        return []
    index = Index(at)
    return [index.apply(first_row(at, document)) for document in read_project(at).documents]


def _is_begun(rows: Sequence[ProjectRow]) -> bool:
    """Return whether something was decided or marked as done in a project, which merging again would lose."""
    return any(row.answers or row.decisions or row.flags or row.status == "done" for row in rows)


def _left(rows: Sequence[ProjectRow]) -> int | None:
    """Return how many mentions have an open question; `None` before the review page counted them."""
    counted = [row.asked - row.answered for row in rows if row.asked is not None and row.answered is not None]
    return sum(counted) if counted and len(counted) == len(rows) else None


def _unproven(rows: Sequence[ProjectRow]) -> int | None:
    """Return how many results were not proven optimal; `None` where that is not known of all."""
    proven = [row.proven for row in rows]
    return None if not proven or None in proven else proven.count(False)


def _readable() -> Iterator[str]:
    """Yield the formats that files of annotators may have, with the ending that shows each.

    >>> list(_readable())[:3]
    ['CoNLL (.conll)', 'CoNLL-UA (.conllua)', 'CorefUD (.conllu)']
    """
    for name in READ:
        ending = FORMATS[name].suffixes[0]
        shown = f" ({ending})" if ending.count(".") == 1 and ending.startswith(".") else ""
        yield f"{FORMAT_NAMES.get(name, name)}{shown}"


def _json(text: str) -> Mapping[str, Any]:
    try:
        summary = loads(text)
    except (ValueError, RecursionError):
        return {}
    return summary if isinstance(summary, dict) else {}


def _text(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name, "")
    if not isinstance(value, str):
        raise InputError("This request is not complete: load the page again.")
    return value


def _to(page: str) -> Response:
    """Tell the script of a page which one is next."""
    return JSONResponse({"to": page})


async def _failed(request: Request, error: Exception) -> Response:
    """Say what went wrong: on a page of its own, or on the page whose script asked."""
    if request.method == "GET":
        page = _environment().get_template("failed.html")
        project = "" if request.url.path == "/project" else request.query_params.get("at", "")
        said = page.render(message=str(error), csrf="", address=address, help=HELP, project=project)
        return HTMLResponse(said, status_code=422)
    return JSONResponse({"error": str(error)}, 422)


def make_start_app(pages: StartPages, keys: Keys, where: Address, larger: Mapping[str, int]) -> Guard:
    """Return the application, wrapped in the guard of the review page."""
    review, own = (Path(str(resources.files(room) / "static")) for room in ("caspr.review", "caspr.start"))
    shown = {
        "/": pages.home,
        "/folders": pages.list_folder,
        "/new": pages.ask_new,
        "/files": pages.show_files,
        "/check": pages.show_check,
        "/questions": pages.ask,
        "/running": pages.show_job,
        "/progress": pages.progress,
        "/project": pages.project,
        "/review": pages.review,
        "/result": pages.result,
        ALIVE: pages.presence.stream,
    }
    done = {
        "/open": pages.open,
        "/make": pages.make_new,
        UPLOAD: pages.upload,
        "/remove": pages.remove,
        "/use": pages.use,
        "/look": pages.look,
        "/names": pages.name,
        "/merge": pages.merge,
        "/cancel": pages.cancel,
        "/export": pages.export,
    }
    app = Starlette(
        routes=[
            *(Route(path, answer) for path, answer in shown.items()),
            *help_routes(),
            *(Route(path, answer, methods=["POST"]) for path, answer in done.items()),
            Mount("/static", StaticFiles(directory=review, check_dir=False)),
            Mount("/own", StaticFiles(directory=own, check_dir=False)),
        ],
        exception_handlers={CasprError: _failed, OSError: _failed},
    )
    return Guard(app, [keys], where, larger)
