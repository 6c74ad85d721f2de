"""The example for a server in the documentation, with a real proxy: TLS outside, the loopback inside."""

import re
import shutil
import socket
import ssl
import subprocess
from pathlib import Path

import httpx
import pytest

from caspr.review.project.team import read_team
from tests.corpus.processes import until
from tests.review.processes import Running
from tests.review.project.projects import made

DOCS = Path(__file__).parents[3] / "docs" / "team-server.md"
OPTIONS = "{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n}\n"


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def caddyfile(outside: int, inside: int) -> str:
    """Return the example of the documentation for a name and ports of this machine."""
    found = re.search(r"^review\.example\.org \{\n.*?^\}", DOCS.read_text(encoding="utf-8"), re.S | re.M)
    assert found is not None
    text = found[0].replace("review.example.org {", f"localhost:{outside} {{\n\ttls internal")
    assert "127.0.0.1:8765" in text
    return OPTIONS + text.replace("127.0.0.1:8765", f"127.0.0.1:{inside}") + "\n"


@pytest.mark.skipif(shutil.which("caddy") is None, reason="no Caddy (Debian: apt-get install caddy)")
def test_a_team_behind_caddy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "caddy"))
    outside, inside = free_port(), free_port()
    (tmp_path / "Caddyfile").write_text(caddyfile(outside, inside))
    team = tmp_path / "adjudicators.csv"
    team.write_text("name,token\nAnn,0123456789abcdef-ann\nBob,0123456789abcdef-bob\n")
    assert [one.name for one in read_team(team)] == ["Ann", "Bob"]
    folder, base = made(tmp_path), f"https://localhost:{outside}"
    words = (folder, "--team", team, "--host", base, "--port", inside)
    command = ["caddy", "run", "--config", str(tmp_path / "Caddyfile"), "--adapter", "caddyfile"]
    server = Running(tmp_path, *words)
    proxy = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        assert server.address == f"{base}/?token=0123456789abcdef-ann"
        root = tmp_path / "caddy" / "caddy" / "pki" / "authorities" / "local" / "root.crt"
        until(lambda: root.exists() and _answers(outside, root))
        trusted = ssl.create_default_context(cafile=str(root))
        with httpx.Client(verify=trusted, follow_redirects=True, timeout=30) as browser:
            found = re.search(r'name="csrf" content="([^"]+)"', browser.get(server.address).text)
            assert found is not None
            ours = {"X-CSRF": found[1], "Origin": base}
            body = {"version": 1, "op": {"do": "note", "text": "x"}}
            post = f"{base}/d/0/do"
            assert (
                browser.post(post, json=body, headers={**ours, "Origin": "https://evil.example"}).status_code
                == 403
            )
            assert browser.post(post, json=body, headers=ours).status_code == 200
            with browser.stream("GET", f"{base}/d/0/events") as events:
                assert next(events.iter_lines()) == "event: hello"
        with httpx.Client(verify=trusted) as stranger:
            assert stranger.get(f"{base}/d/0/state").status_code == 403
    finally:
        proxy.kill()
        proxy.wait()
        server.end()


def _answers(port: int, root: Path) -> bool:
    """Return whether the proxy has its certificate by now."""
    try:
        httpx.get(f"https://localhost:{port}/", verify=ssl.create_default_context(cafile=str(root)))
    except (httpx.TransportError, ssl.SSLError):
        return False
    return True


def test_behind_a_proxy_a_busy_port_is_not_replaced(tmp_path: Path) -> None:
    team = tmp_path / "adjudicators.csv"
    team.write_text("name\nAnn\n")
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        options = ("--team", str(team), "--host", "https://review.example.org", "--port", port)
        with pytest.raises(AssertionError, match=f"port {port} is busy"):
            Running(tmp_path, made(tmp_path), *options)
