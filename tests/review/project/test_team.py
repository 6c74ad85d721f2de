"""A team: a link for each person, one at a time in a document, and nobody else gets in."""

import asyncio
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from caspr.errors import FormatError, InputError
from caspr.review.project.project import Project
from caspr.review.project.team import LINKS, SECONDS, LeaseError, Leases, Person, read_team, with_links
from caspr.review.server.guard import Address, Keys
from caspr.review.server.overview import Team
from caspr.review.server.routes import make_app
from caspr.review.server.serve import Interface
from tests.review.project.projects import made, opened

PUBLIC = "https://review.example.org"
ANN, BOB = Keys("a" * 20, "csrf-of-ann", "Ann"), Keys("b" * 20, "csrf-of-bob", "Bob")


def test_names_and_tokens_from_a_table(tmp_path: Path) -> None:
    path = tmp_path / "adjudicators.csv"
    path.write_text("\ufeffName;Token\nAnn Ü;\nBob;0123456789abcdef\n;\n", encoding="utf-8")
    assert read_team(path) == (Person("Ann Ü"), Person("Bob", "0123456789abcdef"))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "no names"),
        ("name\n", "no names"),
        ("who\nAnn\n", "expected a column `name`"),
        ("name,token\nAnn,short\n", "unsuitable token"),
        ("name\nAnn\x07\n", "name"),
    ],
)
def test_malformed_tables_are_refused(tmp_path: Path, text: str, found: str) -> None:
    path = tmp_path / "adjudicators.csv"
    path.write_text(text)
    with pytest.raises(FormatError, match=found):
        read_team(path)


@pytest.mark.parametrize(
    "text", ["name\nAnn\nAnn\n", "name,token\nAnn,0123456789abcdef\nBob,0123456789abcdef\n"]
)
def test_nobody_shares_a_name_or_a_link(tmp_path: Path, text: str) -> None:
    path = tmp_path / "adjudicators.csv"
    path.write_text(text)
    with pytest.raises(InputError, match="the same"):
        read_team(path)


def test_links_stay_the_same_and_are_readable_by_their_owner_alone(tmp_path: Path) -> None:
    people = (Person("Ann"), Person("Bob", "0123456789abcdef"))
    first = with_links(people, tmp_path)
    assert with_links(people, tmp_path) == first
    assert len({one.token for one in first}) == 2
    assert first[1].token == "0123456789abcdef"
    assert stat.S_IMODE((tmp_path / LINKS).stat().st_mode) == 0o600
    more = with_links((*people, Person("Cem")), tmp_path)
    assert more[:2] == first
    assert with_links(people, None)[0].token != first[0].token


def test_a_lease_lasts_until_ten_minutes_after_the_last_act() -> None:
    now = [1_800_000_000.0]
    leases = Leases(lambda: now[0])
    leases.act(3, "Ann")
    now[0] += SECONDS - 1
    with pytest.raises(LeaseError, match="Ann is working"):
        leases.act(3, "Bob")
    leases.act(3, "Ann")
    now[0] += SECONDS - 1
    assert leases.of(3) is not None
    now[0] += 2
    leases.act(3, "Bob")
    leases.take(3, "Ann")
    with pytest.raises(LeaseError):
        leases.act(3, "Bob")
    leases.release(3, "Bob")
    assert leases.of(3) is not None
    leases.release(3, "Ann")
    leases.act(3, "Bob")
    leases.resume(4, "Cem", "2027-01-15T07:50:00Z")
    leases.resume(5, "Cem", "2020-01-01T00:00:00Z")
    leases.resume(6, "Cem", "nonsense")
    assert [leases.of(number) and leases.of(number).holder for number in (4, 5, 6)] == [None, None, None]  # type: ignore[union-attr]


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    one = opened(made(tmp_path))
    yield one
    one.close()


class Browser:
    """One person's browser, behind the proxy."""

    def __init__(self, app: Any, keys: Keys | None, base: str = PUBLIC) -> None:
        self.transport = httpx.ASGITransport(app)
        self.base = base
        self.cookies = httpx.Cookies({} if keys is None else {"caspr-8765": keys.token})
        self.headers = {"X-CSRF": keys.csrf if keys else "", "Origin": base}

    def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        async def asked() -> httpx.Response:
            client = httpx.AsyncClient(transport=self.transport, base_url=self.base, cookies=self.cookies)
            async with client:
                return await client.request(method, path, **more)

        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, asked()).result()

    def post(self, path: str, body: object = None, **headers: str) -> httpx.Response:
        return self.ask("POST", path, json=body, headers={**self.headers, **headers})


@pytest.fixture
def app(project: Project) -> Any:
    return make_app(project, [ANN, BOB], Address(8765, PUBLIC), Team(("Ann", "Bob")))


NOTE = {"version": 1, "op": {"do": "note", "text": "x"}}


def test_a_link_says_who_it_is(app: Any, project: Project) -> None:
    stranger = Browser(app, None)
    welcome = stranger.ask("GET", f"/?token={BOB.token}")
    cookie = welcome.headers["set-cookie"].lower()
    assert welcome.status_code == 303
    assert all(word in cookie for word in ("secure", "httponly", "samesite=strict"))
    assert Browser(app, BOB).post("/d/0/do", NOTE).status_code == 200
    assert project.steps()[0]["by"] == "Bob"
    again = Browser(app, BOB).ask("GET", f"/?token={ANN.token}")
    assert ANN.token in again.headers["set-cookie"], "another link makes this browser another person"


@pytest.mark.parametrize(
    ("changed", "base"),
    [
        ({"Origin": "http://review.example.org"}, PUBLIC),
        ({"Origin": "https://evil.example"}, PUBLIC),
        ({"Sec-Fetch-Site": "cross-site"}, PUBLIC),
        ({"X-CSRF": ANN.csrf}, PUBLIC),
        ({"Host": "evil.example"}, PUBLIC),
        ({}, "https://127.0.0.1"),
        ({}, "https://review.example.org:8765"),
    ],
)
def test_others_are_refused_and_change_nothing(
    app: Any, project: Project, changed: dict[str, str], base: str
) -> None:
    """Bob's own cookie does not help another site, nor Ann's page, nor another host."""
    bob = Browser(app, BOB, base)
    for path, body in (
        ("/d/0/do", NOTE),
        ("/d/0/lease", None),
        ("/assign", {"who": "Bob", "documents": [0]}),
    ):
        assert bob.post(path, body, **changed).status_code == 403
    assert project.steps() == []
    assert project.file.assigned == {}
    for path in ("/", "/history", "/history/export", "/d/0/", "/static/app.js"):
        assert Browser(app, None).ask("GET", path).status_code == 403


def test_one_works_and_the_other_watches_until_the_document_is_taken_over(app: Any, project: Project) -> None:
    ann, bob = Browser(app, ANN), Browser(app, BOB)
    assert ann.post("/d/0/do", NOTE).status_code == 200
    state = bob.ask("GET", "/d/0/state").json()
    assert state["lease"]["holder"] == "Ann"
    refused = bob.post("/d/0/do", {**NOTE, "version": 2})
    assert (refused.status_code, refused.json()["lease"]["holder"]) == (423, "Ann")
    assert bob.post("/d/0/cancel").status_code == 423
    assert bob.post("/d/1/do", NOTE).status_code == 200, "another document is free"
    assert bob.post("/d/0/lease").json()["holder"] == "Bob"
    assert bob.post("/d/0/do", {**NOTE, "version": 2}).status_code == 200
    assert ann.post("/d/0/do", {**NOTE, "version": 3}).status_code == 423
    assert bob.post("/d/0/do", {"version": 3, "op": {"do": "done"}}).status_code == 200
    assert ann.post("/d/0/do", {"version": 4, "op": {"do": "reopen"}}).status_code == 200, (
        "done gives it back"
    )
    title = project.rows[0].title
    done = [one["by"] for one in project.steps() if one["document"] == title]
    assert done == ["Ann", "Bob", "Bob", "Ann"]


def test_the_list_says_who_does_what_and_what_is_worth_doing_next(app: Any, project: Project) -> None:
    ann = Browser(app, ANN)
    assert ann.post("/assign", {"who": "Bob", "documents": [1]}).status_code == 200
    for who in ("Mallory", 1, "a\nb"):
        assert ann.post("/assign", {"who": who, "documents": [1]}).status_code == 422
    for documents in ([], "1", [True], None):
        assert ann.post("/assign", {"who": "Bob", "documents": documents}).status_code == 422
    assert ann.post("/assign", []).status_code == 422
    assert ann.post("/assign", {"who": "Bob", "documents": [0, 9]}).status_code == 404
    Browser(app, BOB).post("/d/2/do", NOTE)
    page = ann.ask("GET", "/").text
    assert "<bdi>Bob</bdi> is working on it" in page
    assert 'Next in this round: <a href="/d/0/">' in page
    assert 'Next in this round: <a href="/d/1/">' in Browser(app, BOB).ask("GET", "/").text
    assert page.count("<tr data-document") == 3
    assert Browser(app, BOB).ask("GET", "/?show=mine").text.count("<tr data-document") == 2
    assert project.file.assigned == {project.rows[1].file: "Bob"}


def test_the_history_can_be_narrowed_and_exported(app: Any) -> None:
    bob = Browser(app, BOB)
    bob.post("/d/0/do", {"version": 1, "op": {"do": "note", "text": "x"}})
    bob.post("/d/1/do", {"version": 1, "op": {"do": "done"}})
    page = bob.ask("GET", "/history").text
    assert page.count("<bdi>Bob</bdi>") == 2
    assert "the document is done" in page
    assert bob.ask("GET", "/history?since=2999-01-01").text.count("<bdi>Bob</bdi>") == 0
    assert bob.ask("GET", "/history?since=<script>").status_code == 422
    table = bob.ask("GET", "/history/export").text.splitlines()
    assert table[0] == "at,by,document,do,label,category,confidence"
    assert [line.split(",")[1] for line in table[1:]] == ["Bob", "Bob"]
    assert [one["do"] for one in bob.ask("GET", "/history/export?format=json").json()] == ["note", "done"]


@pytest.mark.parametrize("host", ["0.0.0.0", "LocalHost"])
def test_the_printed_links_let_other_machines_in(project: Project, host: str) -> None:
    """Whatever interface was given: a link names an address that others can reach, and that is let in."""
    place = Interface.of(host)
    public = place.reached_at(8765)
    assert "0.0.0.0" not in public
    stranger = Browser(make_app(project, [ANN], Address(8765, public), Team(("Ann",))), None, public)
    assert stranger.ask("GET", f"/?token={ANN.token}").status_code == 303


@pytest.mark.parametrize("host", ["http://x.example", "https://", "https://x/y", "a b", "", "ftp://x", "x/y"])
def test_addresses_that_are_none_are_refused(host: str) -> None:
    with pytest.raises(InputError, match="--host"):
        Interface.of(host)
