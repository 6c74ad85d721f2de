"""The guard: only the user's own browser, at the address that was printed, reaches the routes.

host      a request must name the loopback and our port: DNS rebinding would name another host;
token     the random token in the printed address becomes a cookie that scripts cannot read; a request
          without it gets 403;
origin    a request that changes anything must come from our own page: Origin, Sec-Fetch-Site, and a
          second token in a header, which other sites cannot set;
size      no body may be larger than the page ever sends;
headers   our pages load and run nothing from elsewhere, and are not shown inside another page.
"""

import secrets
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_BODY = 1 << 20
"""How many bytes the body of a request may have."""
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
<p>The review page answers only the browser that was given its address with the token. Open the whole address
that <code>caspr review</code> printed in the terminal, including <code>?token=...</code>.</p>
</html>
"""


@dataclass(frozen=True)
class Keys:
    """The two secrets that only the user's browser knows."""

    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    """In the printed address, then in the cookie."""
    csrf: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    """In our pages, then in a header of every request that changes anything."""


@dataclass
class Guard:
    """Forwards requests to an application, or answers 403."""

    app: ASGIApp
    """The application."""
    keys: Keys
    """The secrets to check."""
    port: int
    """The port that requests must name."""

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

        answer = self._answer(scope)
        if answer is not None:
            await answer(scope, receive, hardened)
        else:
            await self.app(scope, _limited(receive), hardened)

    @property
    def cookie(self) -> str:
        """The name of the cookie; it has the port because cookies are shared by all ports of a host."""
        return f"caspr-{self.port}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """The values of `Host` that are accepted."""
        return f"127.0.0.1:{self.port}", f"localhost:{self.port}"

    def _answer(self, scope: Scope) -> Response | None:
        """Return the guard's own response, or `None` for a request to forward."""
        headers = Headers(scope=scope)
        if headers.get("host", "").lower() not in self.hosts:
            return _refusal("this host is not ours")
        if scope["method"] not in ("GET", "HEAD"):
            reason = self._foreign_reason(headers)
            if reason:
                return _refusal(reason)
        if self._has_cookie(headers):
            return None
        given = _query(scope).get("token", "")
        if scope["path"] == "/" and scope["method"] == "GET" and _equal(given, self.keys.token):
            answer = RedirectResponse("/", status_code=303)
            answer.set_cookie(self.cookie, self.keys.token, httponly=True, samesite="strict", path="/")
            return answer
        return HTMLResponse(FORBIDDEN, status_code=403)

    def _foreign_reason(self, headers: Headers) -> str:
        """Return why a request that would change something is not from our own page; empty if it is."""
        if headers.get("origin", "").lower() != f"http://{headers['host'].lower()}":
            return "the origin is not our page"
        if headers.get("sec-fetch-site", "same-origin") != "same-origin":
            return "the request comes from another site"
        if not _equal(headers.get("x-csrf", ""), self.keys.csrf):
            return "the page's own token is missing"
        try:
            length = int(headers.get("content-length", "0"))
        except ValueError:
            length = -1
        return "" if 0 <= length <= LARGEST_BODY else "the request is too large"

    def _has_cookie(self, headers: Headers) -> bool:
        cookies: SimpleCookie = SimpleCookie()
        try:
            cookies.load(headers.get("cookie", ""))
        except CookieError:
            return False
        found = cookies.get(self.cookie)
        return found is not None and _equal(found.value, self.keys.token)


def _limited(receive: Receive) -> Receive:
    """Disconnect when a body is larger than its declared length allows."""
    seen = 0

    async def limited() -> Message:
        nonlocal seen
        message = await receive()
        if message["type"] == "http.request":
            seen += len(message.get("body", b""))
            if seen > LARGEST_BODY:
                return {"type": "http.disconnect"}
        return message

    return limited


def _query(scope: Scope) -> dict[str, str]:
    from urllib.parse import parse_qsl

    return dict(parse_qsl(scope.get("query_string", b"").decode("latin-1")))


def _refusal(reason: str) -> Response:
    return HTMLResponse(f"<!doctype html><title>403</title><p>Refused: {reason}.</p>\n", status_code=403)


def _equal(given: str, expected: str) -> bool:
    return secrets.compare_digest(given.encode("utf-8", "surrogatepass"), expected.encode())
