"""What all routes need: who asks, the body of a request, pages from templates, files to save."""

import json
import re
from functools import lru_cache
from typing import Any
from urllib.parse import urljoin

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response

from caspr.review.exports import Download
from caspr.review.operations import OperationError
from caspr.review.server.guard import PERSON, Keys

HELP = "/help/"
"""Where the help is, on every server of pages."""


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


FORMAT_NAMES = {
    "conll": "CoNLL",
    "conllua": "CoNLL-UA",
    "corefud": "CorefUD",
    "jsonlines": "JSON lines",
    "wlcoref": "wl-coref",
    "preco": "PreCo",
    "gate": "GATE",
    "mmax": "MMAX2",
    "potato": "Potato",
    "inception": "INCEpTION project",
    "webanno": "WebAnno TSV",
    "corefannotator": "CorefAnnotator",
    "cas": "UIMA CAS",
    "rucoco": "RuCoCo",
    "labelstudio": "Label Studio",
    "sacr": "SACR",
    "asp": "ASP facts",
    "soft": "CaspR, with confidence",
}
"""What formats are called on the page, where that is not their name."""


@lru_cache(maxsize=1)
def _environment() -> Environment:
    loader = PackageLoader("caspr.review")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    environment.filters["quoted"] = quoted
    return environment


def quoted(sentence: str) -> list[str]:
    """Return the parts of a sentence; every second one is quoted from a text, which may be right to left.

    >>> quoted("“Anna” and “she” together")
    ['“', 'Anna', '” and “', 'she', '” together']
    """
    return re.split(r"(?<=“)([^”]*)(?=”)", sentence)


def rendered(template: str, home: str = "", **values: Any) -> str:
    """Fill a page template; everything is escaped except the state, which `embedded` made safe.

    `home` is the address of the project on the start page, where a review was opened from there; the help is
    that of the start page then.
    """
    from markupsafe import Markup

    if "state" in values:
        values["state"] = Markup(values["state"])
    known = {"format_names": FORMAT_NAMES, "home": home, "help": urljoin(home, HELP)}
    return _environment().get_template(template).render(**known, **values)


def download(file: Download) -> Response:
    """Return a file to save, or a page to show if it has a policy of its own."""
    headers = {"Content-Disposition": f'attachment; filename="{file.name}"'}
    if file.policy is not None:
        headers = {"Content-Security-Policy": file.policy}
    return Response(file.content, media_type=file.media_type, headers=headers)


async def body_of(request: Request) -> dict[str, Any]:
    """Return the JSON object in a request."""
    try:
        values = json.loads(await request.body())
    except (ValueError, RecursionError, ClientDisconnect):
        values = None
    if not isinstance(values, dict):
        raise OperationError("found no values, expected a JSON object")
    return values


async def missing(request: Request, error: Exception) -> Response:  # noqa: ARG001
    """Answer that there is nothing at an address."""
    page = rendered("error.html", title="No such document", message="There is nothing at this address.")
    return HTMLResponse(page, status_code=404)
