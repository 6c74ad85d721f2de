"""The server without a port: who gets in, what comes out, and that token text stays text."""

import asyncio
import json
import re
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx
import pytest

from caspr.formats.registry import EXPORTED
from caspr.review.project.project import SingleFile
from caspr.review.server.guard import LARGEST_BODY, Address, Keys
from caspr.review.server.routes import make_app
from caspr.review.session import ReviewSession
from caspr.text.document import Annotation, Chain, Document
from tests.review.sessions import Values, opened, paper

HOST = "http://127.0.0.1:8765"
KEYS = Keys("the-token", "the-csrf")
OURS = {"X-CSRF": KEYS.csrf, "Origin": HOST, "Sec-Fetch-Site": "same-origin"}
UNDECIDED = {"version": 1, "op": {"do": "exists", "mentions": ["4-4"]}}


@pytest.fixture
def session(tmp_path: Path) -> ReviewSession:
    return paper(tmp_path / "review.conll")


class Browser:
    """Asks the application without a port, and keeps its cookies."""

    def __init__(self, session: ReviewSession, token: str | None, home: str = "") -> None:
        self.transport = httpx.ASGITransport(make_app(SingleFile(session), [KEYS], Address(8765), home=home))
        self.cookies = httpx.Cookies({} if token is None else {"caspr-8765": token})

    def get(self, path: str, **more: Any) -> httpx.Response:
        return self._wait("GET", path, more)

    def post(self, path: str, **more: Any) -> httpx.Response:
        return self._wait("POST", path, more)

    def _wait(self, method: str, path: str, more: Values) -> httpx.Response:
        # In a thread of its own: the browser tests leave an event loop running in this one.
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, self._ask(method, path, more)).result()

    async def _ask(self, method: str, path: str, more: Values) -> httpx.Response:
        client = httpx.AsyncClient(transport=self.transport, base_url=HOST, cookies=self.cookies)
        async with client:
            answer = await client.request(method, path, **more)
            self.cookies = client.cookies
            return answer


def client(session: ReviewSession, *, token: str | None = KEYS.token) -> Browser:
    return Browser(session, token)


@pytest.fixture
def browser(session: ReviewSession) -> Browser:
    return client(session)


def test_the_printed_address_lets_the_browser_in(session: ReviewSession) -> None:
    stranger = client(session, token=None)
    answer = stranger.get("/?token=the-token")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert stranger.get("/d/0/").status_code == 200


def test_the_address_that_a_browser_is_started_with_works_once(session: ReviewSession) -> None:
    """Everybody on this machine can read the command line of a browser, so the token is not in it."""
    app = make_app(SingleFile(session), [KEYS], Address(8765))
    path = app.invite(KEYS)
    assert KEYS.token not in path
    first, second = client(session, token=None), client(session, token=None)
    first.transport = second.transport = httpx.ASGITransport(app)
    assert first.get(path).status_code == 303
    assert first.get("/d/0/").status_code == 200
    assert second.get(path).status_code == 403
    late = app.invite(KEYS, seconds=-1)
    assert second.get(late).status_code == 403


@pytest.mark.parametrize("token", [None, "", "wrong", "the-token2", "the-toke", "\u00e9"])
@pytest.mark.parametrize("path", ["/", "/d/0/", "/d/0/state", "/d/0/questions", "/static/x.js", "/nothing"])
def test_without_the_token_nothing_is_answered(session: ReviewSession, token: str | None, path: str) -> None:
    stranger = client(session, token=None)
    cookies = {} if token is None else {"Cookie": f"caspr-8765={token}".encode()}
    answer = stranger.get(path, headers=cookies)
    assert answer.status_code == 403
    assert "This page was not opened" in answer.text
    assert stranger.get("/", params={"token": token or ""}).status_code == 403


@pytest.mark.parametrize("host", ["evil.example:8765", "127.0.0.1", "127.0.0.1:80", "[::1]:8765", ""])
def test_foreign_hosts_are_refused(session: ReviewSession, host: str) -> None:
    before = session.state(0)
    browser = client(session)
    assert browser.get("/d/0/state", headers={"Host": host}).status_code == 403
    assert browser.get("/?token=the-token", headers={"Host": host}).status_code == 403
    headers = {**OURS, "Host": host, "Origin": f"http://{host}"}
    assert browser.post("/d/0/do", json=UNDECIDED, headers=headers).status_code == 403
    assert session.state(0) == before


@pytest.mark.parametrize(
    "changed",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1:8765"},
        {"Origin": "http://127.0.0.1:8766"},
        {"Origin": None},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"X-CSRF": "wrong"},
        {"X-CSRF": None},
        {"Cookie": "caspr-8765=wrong"},
        {"Content-Length": str(LARGEST_BODY + 1)},
        {"Content-Length": "-1"},
    ],
)
def test_what_other_sites_send_is_refused_and_changes_nothing(
    session: ReviewSession, changed: dict[str, str | None]
) -> None:
    before, file = session.state(0), session.store.path.read_bytes()
    wanted = {**OURS, **changed}
    headers = {name: value for name, value in wanted.items() if value is not None}
    browser = client(session, token=None if "Cookie" in changed else KEYS.token)
    for path in ("/d/0/do", "/d/0/cancel"):
        assert browser.post(path, content=json.dumps(UNDECIDED), headers=headers).status_code == 403
    assert session.state(0) == before
    assert session.store.path.read_bytes() == file
    assert client(session).post("/d/0/do", json=UNDECIDED, headers=OURS).status_code == 200


def test_every_answer_is_hardened(browser: Browser, session: ReviewSession) -> None:
    stranger = client(session, token=None)
    paths = ["/d/0/", "/d/0/state", "/d/9/", "/nothing", "/static/../server.py", "/d/0/questions"]
    for answer in [*map(browser.get, paths), stranger.get("/"), browser.get("/d/0/export?format=nope")]:
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in answer.headers


def test_a_click(browser: Browser, session: ReviewSession) -> None:
    state: Values = browser.get("/d/0/state").json()
    answer = browser.post("/d/0/do", json=UNDECIDED, headers=OURS)
    assert answer.status_code == 200
    assert answer.json()["version"] == state["version"] + 1
    assert "exists: 4-4" in session.store.path.read_text()
    stale = browser.post("/d/0/do", json=UNDECIDED, headers=OURS)
    assert (stale.status_code, stale.json()["version"]) == (409, 2)
    clash = {"version": 2, "op": {"do": "empty", "tokens": [4]}}
    refused = browser.post("/d/0/do", json=clash, headers=OURS)
    assert (refused.status_code, refused.json()["clashes"]) == (422, ["d1"])
    assert refused.json()["remedies"][0]["op"]["do"] == "all"
    assert browser.get("/d/0/state").json()["version"] == 2


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b'{"op": 1}', b"\xff", b"[" * 100_000, b'{"version":1,"op":{}}']
)
def test_invalid_bodies_are_refused(browser: Browser, body: bytes) -> None:
    answer = browser.post("/d/0/do", content=body, headers=OURS)
    assert answer.status_code == 422
    assert answer.json()["error"]


@pytest.mark.parametrize(
    "path", ["/d/1/", "/d/1/state", "/d/99/questions", "/d/-1/", "/d/x/", "/d/0/nothing"]
)
def test_unknown_addresses(browser: Browser, path: str) -> None:
    assert browser.get(path).status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        "/static/../guard.py",
        "/static/%2e%2e/guard.py",
        "/static//etc/passwd",
        "/static/..%2fguard.py",
        "/static/",
    ],
)
def test_static_files_lead_nowhere_else(browser: Browser, path: str) -> None:
    assert browser.get(path).status_code == 404


def test_one_mention_is_explained(browser: Browser) -> None:
    answer = browser.get("/d/0/mention/5-5").json()
    assert answer["votes"] == [
        {"annotator": "b", "chain": "1", "name": "", "with": ["1-3"], "boundary": "5-5"},
        {"annotator": "d", "chain": "1", "name": "", "with": ["1-3"], "boundary": "5-5"},
    ]
    assert [(one["chain"], one["evidence"], one["now"]) for one in answer["alternatives"]] == [("2", 2, True)]
    assert answer["alternatives"][0]["price"] == 2
    assert browser.get("/d/0/mention/5-9").status_code == 422


def test_questions_are_answered_by_decisions(browser: Browser) -> None:
    answer = browser.get("/d/0/questions").json()
    first = answer["questions"][0]
    shown = browser.get(f"/d/0/question/{first['id']}").json()
    assert shown["open"]
    assert len(shown["choices"]) > 1
    op = shown["choices"][0]["answer"]
    assert browser.post("/d/0/do", json={"version": 1, "op": op}, headers=OURS).status_code == 200
    later = browser.get("/d/0/questions").json()
    assert first["id"] not in [question["id"] for question in later["questions"]]
    assert not browser.get(f"/d/0/question/{first['id']}").json()["open"]
    assert later["answered"] > answer["answered"] == 0
    assert later["asked"] == answer["asked"]


def test_questions_are_ordered_filtered_and_priced_on_demand(browser: Browser) -> None:
    def listed(words: str) -> list[str]:
        return [one["id"] for one in browser.get(f"/d/0/questions?{words}").json()["questions"]]

    every = listed("")
    assert listed("order=text") == sorted(every)
    assert listed("order=nonsense&entity=") == every
    assert set(listed("kind=mention")) < set(every)
    assert listed("annotator=nobody") == listed("kind=x") == []
    priced = browser.get(f"/d/0/question/{every[0]}?prices").json()
    assert all(choice["computed"] for choice in priced["choices"])
    assert priced["leave"]["computed"]
    assert browser.get("/d/0/question/q9-9").status_code == 404


def test_every_entry_of_the_menu_export_gives_a_file(browser: Browser) -> None:
    links = re.findall(r'href="(/d/0/export\?format=\w+)"', browser.get("/d/0/").text)
    assert [link.partition("=")[2] for link in links] == ["review", *EXPORTED]
    for link in links:
        answer = browser.get(link)
        assert answer.status_code == 200, link
        assert answer.headers["content-disposition"].startswith('attachment; filename="doc')
        assert answer.content


def test_the_report_is_cut_off_from_the_page(browser: Browser) -> None:
    answer = browser.get("/d/0/report")
    assert answer.headers["content-security-policy"].startswith("sandbox allow-scripts; default-src 'none'")
    assert "<h1" in answer.text


HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\u2028\u2029&amp;",
    "{{7*7}}",
    "{% raw %}",
    "';--",
    "../../etc",
)


class Scripts(HTMLParser):
    """Collects the scripts and the attributes of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.inline: list[str] = []
        self.sources: list[str | None] = []
        self.handlers: list[str] = []
        self.images = 0
        self.inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handlers += [name for name, _ in attrs if name.startswith("on")]
        self.images += tag == "img"
        if tag == "script":
            self.sources.append(dict(attrs).get("src"))
            self.inside = dict(attrs).get("src") is None

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.inline.append(data)

    def handle_endtag(self, tag: str) -> None:
        self.inside = False


def test_hostile_tokens_and_names_stay_text(tmp_path: Path) -> None:
    name = '<b>"x"</b>\r; filename=evil.sh ../..'
    document = Document(name, HOSTILE)
    given = [
        Annotation.of(f"<i>{n}</i>", document, [Chain.of("<u>", [(1, 1), (2, 2), (n, n)])]) for n in (3, 4)
    ]
    session = opened(tmp_path / "review.conll", given)
    browser = client(session)
    page = browser.get("/d/0/")
    read = Scripts()
    read.feed(page.text)
    assert (read.handlers, read.images) == ([], 0)
    [embedded] = [text for text in read.inline if text.startswith("{")]
    assert not re.search("[<>&\u2028\u2029]", embedded)
    assert json.loads(embedded)["tokens"] == list(HOSTILE)
    assert all(source is None or source.startswith("/static/") for source in read.sources)
    note = {"version": 1, "op": {"do": "note", "mention": None, "text": HOSTILE[0]}}
    assert browser.post("/d/0/do", json=note, headers=OURS).status_code == 200
    assert HOSTILE[0] not in browser.get("/d/0/").text
    answer = browser.get("/d/0/export?format=conll")
    assert re.fullmatch(r'attachment; filename="[A-Za-z0-9._-]+"', answer.headers["content-disposition"])
    assert "<script>alert" not in browser.get("/d/0/report").text


def test_several_documents_are_listed(tmp_path: Path) -> None:
    names = ("<script>alert(1)</script>", "b")
    given = [
        [Annotation.of(who, Document(name, ("a", "b")), [Chain.of("1", [(1, 1), (2, 2)])]) for name in names]
        for who in ("x", "y")
    ]
    from caspr.review.session import open_annotations

    session, _ = open_annotations([], given, tmp_path / "review.conll", lambda settings: settings)
    browser = client(session)
    page = browser.get("/").text
    assert "&lt;script&gt;" in page
    assert "<script>alert" not in page
    assert [browser.get(f"/d/{n}/state").json()["title"] for n in (0, 1)] == list(names)
    answer = browser.post("/d/1/do", json={"version": 1, "op": {"do": "accept", "chain": "1"}}, headers=OURS)
    assert answer.status_code == 200
    assert browser.get("/d/0/state").json()["version"] == 1
    from_start = Browser(session, KEYS.token, "http://127.0.0.1:1/project?at=x")
    for path in ("/d/0/", "/d/1/", "/history"):
        head = from_start.get(path).text.partition("</header>")[0]
        links = re.findall(r'<a href="([^"]*)"[^>]*>‹ (\w+)</a>', head)
        assert links == [("http://127.0.0.1:1/project?at=x", "Project"), ("/", "Texts")]
        assert re.findall(r">‹ (\w+)</a>", browser.get(path).text.partition("</header>")[0]) == ["Texts"]
    session.close()
