"""Real processes: nothing acknowledged is lost, nobody else gets in, nothing goes out."""

import random
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path
from threading import Thread

import httpx
import pytest

from caspr.formats import review_file
from tests.cli.caller import PAPER
from tests.review.processes import Page, Running, running
from tests.review.sessions import Values, random_operation


def essence(state: Values) -> Values:
    """Return what must survive: what is decided about every mention, and what the result costs."""
    decided = {id: one["decision"] for id, one in state["mentions"].items()}
    return {"decided": decided, "cost": state["cost"], "closed": state["closed"]}


def texts(state: Values) -> list[str]:
    return [note["text"] for note in state["notes"]]


@pytest.mark.parametrize("seed", range(3))
def test_kill_9_loses_no_acknowledged_decision(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    known: Values | None = None
    for turn in range(4):
        with running(tmp_path) as one:
            page = Page(one.address)
            if known is not None:
                found = page.state()
                assert essence(found) == essence(known)
                assert texts(found) in (texts(known), [*texts(known), f"sent in turn {turn - 1}"])
            for _ in range(rng.randint(1, 12)):
                page.do(**random_operation(rng, page.state()))
            known = page.state()
            # Killed with a request on its way: either outcome is right, but nothing half.
            Thread(target=unanswered, args=(page, f"sent in turn {turn}"), daemon=True).start()
            time.sleep(rng.random() * 0.1)
            one.end(signal.SIGKILL)
        review_file.read(tmp_path / "review.conll")


def unanswered(page: Page, text: str) -> None:
    with suppress(httpx.HTTPError):
        page.do(do="note", text=text)


def test_ctrl_c_ends_cleanly_and_inputs_are_untouched(tmp_path: Path) -> None:
    before = {path: Path(path).read_bytes() for path in PAPER}
    with running(tmp_path) as one:
        page = Page(one.address)
        assert page.do(do="together", mentions=["1-3", "6-6"]).status_code == 200
        assert one.end(signal.SIGINT) == 0
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == [".review.conll.history.jsonl", "review.conll"]
    assert {path: Path(path).read_bytes() for path in PAPER} == before


def test_two_tabs_see_each_other_and_cannot_overwrite_each_other(tmp_path: Path) -> None:
    with running(tmp_path) as one:
        first, second = Page(one.address), Page(one.address)
        with second.client.stream("GET", "/d/0/events") as events:
            lines = events.iter_lines()
            assert [next(lines) for _ in range(3)] == ["event: hello", 'data: {"version":1}', ""]
            assert first.do(do="exists", mentions=["4-4"]).status_code == 200
            assert next(line for line in lines if line.startswith("event:")) == "event: update"
            data = next(line for line in lines if line.startswith("data:"))
            assert '"version":2' in data
            path = tmp_path / "review.conll"
            # Replaced as a whole, as editors do: the server must not read half a file as the third version.
            edited = tmp_path / "edited"
            edited.write_text(path.read_text().replace("exists: 4-4", "absent: 4-4"))
            edited.replace(path)
            data = next(line for line in lines if line.startswith("data:") and '"version":3' in line)
            assert '"kind":"absent"' in data
        assert second.do(do="exists", mentions=["4-4"]).status_code == 409
        assert "absent: 4-4" in path.read_text()


def test_a_second_process_on_the_same_file_is_refused(tmp_path: Path) -> None:
    with running(tmp_path) as one:
        command = [sys.executable, "-m", "caspr", "review", "review.conll", "--no-browser"]
        refused = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert refused.returncode == 2
        assert refused.stderr.startswith(
            "caspr: error: review.conll: this file is open in another `caspr` (process "
        )
        assert f"(process {one.process.pid})" in refused.stderr
        one.end(signal.SIGKILL)
    with running(tmp_path, "review.conll") as again:
        assert Page(again.address).state()["cost"]["value"] == 6


def test_a_busy_port_is_replaced(tmp_path: Path) -> None:
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with running(tmp_path, *PAPER, "--port", port) as one:
            assert f":{port}/" not in one.address
            assert Page(one.address).state()["title"] == "example"


def test_only_the_loopback_is_ever_used(tmp_path: Path) -> None:
    log = tmp_path / "sockets"
    with running(tmp_path, watched=log) as one:
        page = Page(one.address)
        page.do(do="together", mentions=["1-3", "6-6"])
        for path in ("questions", "mention/5-5", "export?format=conll", "report"):
            assert page.client.get(f"/d/0/{path}").status_code == 200
        one.end()
    seen = log.read_text().splitlines()
    assert any(line.startswith("socket.bind ('127.0.0.1'") for line in seen)
    assert [line for line in seen if "'127.0.0.1'" not in line] == []


def test_raw_requests(tmp_path: Path) -> None:
    """What no browser sends: paths that climb, hosts that lie, rubbish."""
    with running(tmp_path) as one:
        page = Page(one.address)
        [(name, value)] = page.client.cookies.items()
        port = int(page.base.rpartition(":")[2])
        cookie = f"Cookie: {name}={value}\r\n"
        ours = f"Host: 127.0.0.1:{port}\r\n{cookie}"
        for path in (
            "/static/../guard.py",
            "/static/%2e%2e/guard.py",
            "/static/..%2f..%2fcli/review.py",
            "//etc/passwd",
        ):
            assert asked(port, f"GET {path} HTTP/1.1\r\n{ours}Connection: close\r\n\r\n") == 404
        lying = f"Host: evil.example\r\n{cookie}"
        assert asked(port, f"GET /d/0/state HTTP/1.1\r\n{lying}Connection: close\r\n\r\n") == 403
        assert asked(port, f"GET /d/0/state HTTP/1.0\r\n{cookie}\r\n") == 403
        assert asked(port, "\x16\x03\x01\r\n\r\n") == 400
        posting = f"POST /d/0/do HTTP/1.1\r\n{ours}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        assert asked(port, posting) == 403
        assert page.state()["version"] == 1


def asked(port: int, request: str) -> int:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(request.encode("latin-1"))
        answer = connection.makefile("rb").readline().decode("latin-1")
    found = re.match(r"HTTP/1\.1 (\d+)", answer)
    assert found is not None, answer
    return int(found[1])


def test_the_server_is_not_reached_from_elsewhere(tmp_path: Path) -> None:
    with running(tmp_path) as one:
        port = int(one.address.partition("/?")[0].rpartition(":")[2])
        own = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), port, socket.AF_INET)}
        for address in own - {"127.0.0.1"}:
            if not str(address).startswith("127."):
                with pytest.raises(httpx.ConnectError):
                    httpx.get(f"http://{address}:{port}/")
        assert isinstance(one, Running)
