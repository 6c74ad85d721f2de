"""The help: the pages of `docs/`, for people who have neither a terminal nor a network.

They are Markdown; a wheel has them in `caspr/docs`, and in a copy of the repository they are where they are
written. A link to what is not among them (the code, a decision of ours) is shown as its text.
"""

import re
from functools import cache
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from caspr.review.server.responses import HELP, missing, rendered

if TYPE_CHECKING:
    from markdown_it.token import Token

FIRST = "help"
"""The page that is shown first."""
CONTENTS = {
    FIRST: "In short",
    "start": "The start page",
    "review": "The review page",
    "glossary": "Glossary",
    "faq": "Frequent questions",
    "choosing": "The five questions",
    "formats": "Formats",
    "report": "The report",
    "troubleshooting": "Error messages",
    "index": "Everything else",
}
"""The pages that every page of the help names."""
_PACKAGE = Path(__file__).parents[2]
FOLDER = next((path for path in (_PACKAGE / "docs", _PACKAGE.parents[1] / "docs") if path.is_dir()), _PACKAGE)
_NAME = re.compile(r"(?:[a-z-]+/)?[a-z0-9-]+")
_PICTURE = re.compile(r"(?:pictures/)?[a-z0-9-]+\.(?:png|svg)")


def help_routes() -> list[Route]:
    """Return the routes of the help."""
    return [Route("/help", _first), Route("/help/{name:path}", _show)]


async def _first(request: Request) -> Response:  # noqa: ARG001
    return RedirectResponse(HELP, 303)


async def _show(request: Request) -> Response:
    """Show a page of the help, or a picture on one."""
    name = request.path_params["name"] or FIRST
    path = FOLDER / (name if _PICTURE.fullmatch(name) else f"{name}.md")
    if not path.is_file() or not (_PICTURE.fullmatch(name) or _NAME.fullmatch(name)):
        return await missing(request, FileNotFoundError(name))
    if path.suffix != ".md":
        return FileResponse(path)
    from markupsafe import Markup

    title, text = await run_in_threadpool(help_page, name)
    return HTMLResponse(rendered("help.html", title=title, text=Markup(text), contents=CONTENTS, name=name))


@cache
def help_page(name: str) -> tuple[str, str]:
    """Return the title of a page and the page itself as HTML.

    >>> help_page("glossary")[0]
    'Glossary'
    """
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark").enable("table")
    tokens = [
        token
        for token in markdown.parse((FOLDER / f"{name}.md").read_text(encoding="utf-8"))
        if not token.info.startswith("{")  # a directive of the site
    ]
    title = ""
    for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        token.attrs.pop("style", None)  # the policy of our pages allows none
        if token.children is None:
            continue
        if before.type == "heading_open":
            words = "".join(child.content for child in token.children)
            before.attrs["id"], title = _anchor(words), title or words
        if before.type == "th_open" and not token.content:
            before.tag = after.tag = "td"  # which names no column
        token.children = _linked(token.children, name)
    return title, str(markdown.renderer.render(tokens, markdown.options, {}))


def _linked(tokens: list["Token"], page: str) -> list["Token"]:
    """Return what is inside a paragraph, with links and pictures that lead to the pages of the help."""
    kept: list[Token] = []
    leads = False
    for token in tokens:
        if token.type == "link_open":
            target = _address(page, str(token.attrs["href"]))
            leads = target is not None
            token.attrs["href"] = target or ""
        if token.type == "image":
            token.attrs["src"] = f"{HELP}{_inside(page, str(token.attrs['src']))}"
        if leads or token.type not in ("link_open", "link_close"):
            kept.append(token)
    return kept


def _address(page: str, target: str) -> str | None:
    """Return where a link leads, `None` if that is not part of the help."""
    if target.startswith(("https:", "http:", "mailto:", "#")):
        return target
    path, mark, place = target.partition("#")
    name = _inside(page, path)
    if not name.endswith(".md") or not (FOLDER / name).is_file() or not _NAME.fullmatch(name[:-3]):
        return None
    return f"{HELP}{name[:-3]}{mark}{place}"


def _inside(page: str, path: str) -> str:
    """Return a path that a page names, as it is in the folder of all pages.

    >>> _inside("formats/conll", "../objectives.md")
    'objectives.md'
    """
    return normpath(join(dirname(page), path))


def _anchor(words: str) -> str:
    """Return the name of the place of a heading, as GitHub and Sphinx make it.

    >>> _anchor("What it does, and `--why`")
    'what-it-does-and---why'
    """
    return re.sub(r"[^\w -]", "", words.lower()).replace(" ", "-")
