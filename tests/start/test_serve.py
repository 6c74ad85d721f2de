"""The start page in a process of its own: it ends when its last page is closed."""

import re
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from bench.browser import started
from caspr.cli import cli
from caspr.start import serve
from caspr.start.shortcut import shortcut, write_shortcut


@contextmanager
def browser(address: str) -> Iterator[httpx.Client]:
    base, _, query = address.partition("/?")
    with httpx.Client(base_url=base, follow_redirects=True, timeout=60) as client:
        assert "Merge coreference annotations" in client.get(f"/?{query}").text
        yield client


def test_caspr_alone_opens_the_start_page(tmp_path: Path) -> None:
    with started(tmp_path, ()) as server, browser(server.url) as client:
        assert str(tmp_path) in client.get("/").text
        assert server.process.poll() is None


def test_it_ends_when_the_last_page_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from threading import Thread

    links: list[str] = []
    thread = Thread(
        target=serve.serve_start,
        args=(tmp_path, tmp_path / ".memory" / "recent.json"),
        kwargs={"ready": lambda link, once: links.append(link), "alone": 1.0},
        daemon=True,
    )
    thread.start()
    while not links:
        time.sleep(0.05)
    with browser(links[0]) as client:
        with client.stream("GET", "/alive") as first, client.stream("GET", "/alive") as second:
            beats = [
                stream.iter_text() for stream in (first, second)
            ]  # kept: a dropped one closes its stream
            assert all(next(beat) for beat in beats)
            time.sleep(2)
            assert thread.is_alive()
        thread.join(30)
    assert not thread.is_alive()


def test_nothing_but_the_loopback_is_listened_on(tmp_path: Path) -> None:
    with started(tmp_path) as server:
        port = int(server.url.rpartition(":")[2].partition("/")[0])
        with socket.socket() as probe:
            probe.settimeout(5)
            try:
                probe.connect((socket.gethostbyname(socket.gethostname()), port))
                assert probe.getpeername()[0].startswith("127.")
            except OSError:
                pass


def test_a_file_to_click_goes_into_the_folder_one_is_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli, ["start", "--shortcut", "."])
    assert done.exit_code == 0, done.output
    assert [path.name.partition(".")[0] for path in tmp_path.iterdir()] == ["CaspR"]


def test_a_file_to_click_is_written_and_never_over_anothers(tmp_path: Path) -> None:
    path = write_shortcut(tmp_path)
    assert write_shortcut(tmp_path) == path
    assert path.stat().st_mode & 0o111
    path.write_text("mine")
    with pytest.raises(Exception, match="another file of this name"):
        write_shortcut(tmp_path)
    assert path.read_text() == "mine"
    with pytest.raises(Exception, match="no such folder"):
        write_shortcut(tmp_path / "nowhere")


@pytest.mark.parametrize("python", ["/opt/my 'x' \"y\" $z/bin/python3", "/opt/%d/ä/python3"])
def test_paths_in_a_file_to_click_are_paths(python: str) -> None:
    """As a shell, Python, and the rules for desktop entries read them."""
    import ast
    import shlex

    _, command = shortcut("darwin", Path(python))
    assert shlex.split(command.splitlines()[-1])[1:] == [python, "-m", "caspr", "start"]
    _, program = shortcut("win32", Path(python))
    [call] = [node for node in ast.walk(ast.parse(program)) if isinstance(node, ast.List)]
    assert ast.literal_eval(call)[1:] == ["-m", "caspr", "start"]
    _, entry = shortcut("linux", Path(python))
    line = next(line for line in entry.splitlines() if line.startswith("Exec="))
    # The general escape rule for strings is applied first, then quoting, then field codes.
    quoted = line.removeprefix("Exec=").replace("\\\\", "\\").rpartition(" -m ")[0]
    assert re.fullmatch(r'"(?:[^"`$\\]|\\["`$\\])*"', quoted)
    assert re.sub(r'\\(["`$\\])', r"\1", quoted[1:-1]).replace("%%", "%") == python
