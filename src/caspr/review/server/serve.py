"""Run the server until it is interrupted: on the loopback interface, or where a team reaches it."""

import gc
import socket
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

import uvicorn

from caspr.errors import InputError
from caspr.review.project.project import Workplace
from caspr.review.project.team import SECONDS, Person
from caspr.review.server.guard import Address, Guard, Keys
from caspr.review.server.overview import Team
from caspr.review.server.routes import make_app

LOOPBACK = "127.0.0.1"
EVERYWHERE = "0.0.0.0"
"""Stands for all interfaces of a machine."""
ELSEWHERE = "192.0.2.1"
"""An address of no machine, kept for examples (RFC 5737)."""
_ONE_OWNER: int = getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR)
"""On Windows, SO_REUSEADDR would let other programs take over the port."""


@dataclass(frozen=True)
class Interface:
    """Where to listen, and what browsers call that."""

    address: str = LOOPBACK
    public: str = ""
    """What comes before the path of an address: `https://review.example.org`; empty for the loopback."""

    @classmethod
    def of(cls, host: str | None) -> "Interface":
        """Read what the user gave: nothing, the address before a proxy, or an interface of this machine.

        >>> Interface.of("https://review.example.org")
        Interface(address='127.0.0.1', public='https://review.example.org')
        >>> Interface.of("192.168.1.5")
        Interface(address='192.168.1.5', public='')
        """
        if host is None:
            return cls()
        parts = urlsplit(host)
        if "://" not in host and host and not set(host) & set("/?#@ "):
            return cls(host.lower())
        if parts.scheme == "https" and parts.netloc and parts.path in ("", "/") and not parts.query:
            return cls(LOOPBACK, f"https://{parts.netloc.lower()}")
        needed = "an address of this machine, or that of a proxy, such as https://review.example.org"
        raise InputError(f"--host: {host!r} is not an address: give {needed}")

    def reached_at(self, port: int) -> str:
        """Return what browsers call a port of it, from other machines where they reach it."""
        address = _own_address() if self.address == EVERYWHERE else self.address
        return self.public or f"http://{address}:{port}"


def _own_address() -> str:
    """Return the address from which this machine reaches others, and they reach it; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((ELSEWHERE, 9))
        except OSError:
            return socket.gethostname().lower()
        return str(probe.getsockname()[0])


class Serving:
    """An application that answers at a port, in any thread, until it is ended."""

    def __init__(self, app: Guard, listening: socket.socket) -> None:
        self._listening = listening
        config = uvicorn.Config(
            app,
            log_level="critical",
            access_log=False,
            lifespan="on",
            ws="none",
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)

    def run(self) -> None:
        """Answer until `end` is called, or Ctrl-C is pressed where this is the main thread."""
        with suppress(KeyboardInterrupt):
            self._server.run(sockets=[self._listening])

    def end(self) -> None:
        """Let `run` return soon."""
        self._server.should_exit = True


def serve(
    work: Workplace,
    *,
    port: int = 0,
    place: Interface | None = None,
    people: Sequence[Person] = (),
    ready: Callable[[list[tuple[str, str]], str], None],
    blind: bool = False,
) -> None:
    """Serve documents until interrupted; `ready` is called with each name and link, which contains the token.

    With them comes the link that a browser can be started with, which works once. Without people there is one
    link, of nobody in particular. A port that is busy is replaced by a free one, except behind a proxy, which
    would not find it. If `blind`, no names of annotators are sent.
    """
    place = place or Interface()
    keys = [Keys(token=person.token, name=person.name) for person in people] or [Keys()]
    with closing(bound(port, place.address, instead=not place.public)) as listening:
        number = listening.getsockname()[1]
        address = place.reached_at(number)
        team = _team(work, people) if people else None
        app = make_app(work, keys, Address(number, address), team, blind=blind)
        # Documents live as long as the process; scanning them for garbage would only slow down clicks.
        gc.set_threshold(100_000, 50, 100)
        work.start()
        links = [(key.name, f"{address}/?token={key.token}") for key in keys]
        ready(links, f"{address}{app.invite(keys[0])}")
        try:
            Serving(app, listening).run()
        finally:
            work.close()


def _team(work: Workplace, people: Sequence[Person]) -> Team:
    """Return the team; whoever acted within the last minutes before a restart goes on."""
    team = Team(tuple(person.name for person in people))
    for number, who, at in work.last_acts(SECONDS):
        if who in team.names:
            team.leases.resume(number, who, at)
    return team


def bound(port: int, interface: str = LOOPBACK, *, instead: bool = True) -> socket.socket:
    """Return a socket that listens on a port of an interface, or on a free one `instead` if that is busy."""
    for number in (port, 0) if instead else (port,):
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, _ONE_OWNER, 1)
        try:
            listening.bind((interface, number))
            listening.listen(64)
        except (OSError, OverflowError):
            listening.close()
            continue
        return listening
    if not instead:
        raise InputError(f"port {port} is busy: is this page already running? The proxy needs this port")
    where = "this machine" if interface == LOOPBACK else f"{interface}, if that is an address of this machine"
    raise InputError(f"there is no free port on {where}")
