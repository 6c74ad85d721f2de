"""The guard: only browsers that opened a link with its token, at the printed address, reach the routes.

host      a request must name the loopback and our port, or the public address that the user gave: DNS
          rebinding would name another host;
token     the random token in a link becomes a cookie that scripts cannot read, and says who it is; a request
          without it gets 403. A browser that we start gets a link that works once, and for a minute only:
          everybody on a machine can read the command lines of its programs;
origin    a request that changes anything must come from our own page: Origin, Sec-Fetch-Site, and a
          second token in a header, which other sites cannot set;
size      no body may be larger than the page ever sends;
headers   our pages load and run nothing from elsewhere, and are not shown inside another page.
"""

import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

PERSON = "caspr.person"
"""Where a request says who sent it, for the routes."""
ANNOTATORS = "/annotators"
"""The route that takes files, which may be large."""
INVITED_SECONDS = 60.0
"""How long a link that works once can be opened."""
LARGEST_BODY = 1 << 20
"""How many bytes the body of a request may have."""
LARGEST_FILES = 64 << 20
"""The same where it holds files of annotators."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-store",
}
FORBIDDEN = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>CaspR: not opened</title>
<h1>This page was not opened</h1>
<p>This page answers only the browser that was given its address with the token. Start CaspR again, or open
the whole address that it printed in the terminal, including <code>?token=...</code>.</p>
</html>
"""


@dataclass(frozen=True)
class Keys:
    """One person, and the two secrets that only that person's browser knows."""

    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    """In the printed address, then in the cookie."""
    csrf: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    """In our pages, then in a header of every request that changes anything."""
    name: str = ""
    """Who it is; empty where there is only one person."""


@dataclass(frozen=True)
class Address:
    """Where browsers reach the server."""

    port: int
    """The port it listens on, which the name of the cookie has: cookies are shared by all ports of a host."""
    public: str = ""
    """The address before a proxy, such as `https://review.example.org`, or that of another interface."""

    @property
    def origins(self) -> dict[str, str]:
        """The origins of our own pages, by the values of `Host` that are accepted."""
        own = (f"127.0.0.1:{self.port}", f"localhost:{self.port}")
        origins = {host: f"http://{host}" for host in own}
        if self.public:
            origins[self.public.partition("://")[2]] = self.public
        return origins


@dataclass
class Guard:
    """Forwards requests to an application, or answers 403."""

    app: ASGIApp
    people: Sequence[Keys]
    """The secrets to check, one pair for each person."""
    address: Address
    """Where requests must be addressed to."""
    larger: Mapping[str, int] = field(default_factory=dict)
    """How many bytes a body may have at addresses that take more than a page sends elsewhere."""
    _invited: dict[str, tuple[Keys, float]] = field(default_factory=dict)
    """Who opens a link that works once, and until when."""

    def invite(self, person: Keys, seconds: float = INVITED_SECONDS) -> str:
        """Return the path of a link that works once and for some seconds, and has no secret that lasts."""
        code = secrets.token_urlsafe(24)
        self._invited[code] = person, time.monotonic() + seconds
        return f"/?once={code}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request and add the security headers to its response."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def hardened(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    if name not in headers:
                        headers[name] = value
            await send(message)

        answer = self._answer(scope)  # which also says who it is
        if answer is not None:
            await answer(scope, receive, hardened)
        else:
            await self.app(scope, _limited(receive, self._largest(scope)), hardened)

    @property
    def cookie(self) -> str:
        """The name of the cookie."""
        return f"caspr-{self.address.port}"

    def _answer(self, scope: Scope) -> Response | None:
        """Return the guard's own response, or `None` for a request to forward."""
        headers = Headers(scope=scope)
        host = headers.get("host", "").lower()
        if host not in self.address.origins:
            return _refusal("this host is not ours")
        person = self._with_cookie(headers)
        if scope["method"] not in ("GET", "HEAD"):
            reason = self._foreign_reason(headers, host, person, self._largest(scope))
            if reason:
                return _refusal(reason)
        if scope["path"] == "/" and scope["method"] == "GET":
            query = _query(scope)
            newcomer = self._by_token(query.get("token", "")) or self._invitee(query.get("once", ""))
            if newcomer is not None:
                return self._welcome(newcomer, host)
        if person is None:
            return HTMLResponse(FORBIDDEN, status_code=403)
        scope[PERSON] = person
        return None

    def _welcome(self, person: Keys, host: str) -> Response:
        """Give a browser the cookie of the person whose link it opened."""
        answer = RedirectResponse("/", status_code=303)
        secure = self.address.origins[host].startswith("https://")
        answer.set_cookie(
            self.cookie, person.token, httponly=True, samesite="strict", path="/", secure=secure
        )
        return answer

    def _by_token(self, token: str) -> Keys | None:
        """Find the person of a token; all tokens are compared, so that time says nothing."""
        people = [person for person in self.people if _equal(token, person.token)]
        return people[0] if people else None

    def _invitee(self, code: str) -> Keys | None:
        """Find the person of a link that works once; from now on it does not."""
        person, until = self._invited.pop(code, (None, 0.0))
        return person if time.monotonic() < until else None

    def _largest(self, scope: Scope) -> int:
        return self.larger.get(scope["path"], LARGEST_BODY)

    def _foreign_reason(self, headers: Headers, host: str, person: Keys | None, largest: int) -> str:
        """Return why a request that would change something is not from our own page; empty if it is."""
        if headers.get("origin", "").lower() != self.address.origins[host]:
            return "the origin is not our page"
        if headers.get("sec-fetch-site", "same-origin") != "same-origin":
            return "the request comes from another site"
        if person is None or not _equal(headers.get("x-csrf", ""), person.csrf):
            return "the page's own token is missing"
        try:
            length = int(headers.get("content-length", "0"))
        except ValueError:
            length = -1
        return "" if 0 <= length <= largest else "the request is too large"

    def _with_cookie(self, headers: Headers) -> Keys | None:
        """Find the person whose cookie a request has."""
        cookies: SimpleCookie = SimpleCookie()
        try:
            cookies.load(headers.get("cookie", ""))
        except CookieError:
            return None
        cookie = cookies.get(self.cookie)
        return None if cookie is None else self._by_token(cookie.value)


def _limited(receive: Receive, largest: int) -> Receive:
    """Disconnect when a body is larger than its declared length allows."""
    seen = 0

    async def limited() -> Message:
        nonlocal seen
        message = await receive()
        if message["type"] == "http.request":
            seen += len(message.get("body", b""))
            if seen > largest:
                return {"type": "http.disconnect"}
        return message

    return limited


def _query(scope: Scope) -> dict[str, str]:
    from urllib.parse import parse_qsl

    return dict(parse_qsl(scope.get("query_string", b"").decode("latin-1")))


def _refusal(reason: str) -> Response:
    return HTMLResponse(f"<!doctype html><title>403</title><p>Refused: {reason}.</p>\n", status_code=403)


def _equal(token: str, expected: str) -> bool:
    return secrets.compare_digest(token.encode("utf-8", "surrogatepass"), expected.encode())
