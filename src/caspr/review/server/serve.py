"""Run the server on the loopback interface until it is interrupted."""

import gc
import socket
from collections.abc import Callable
from contextlib import closing, suppress

import uvicorn

from caspr.errors import InputError
from caspr.review.server.guard import Keys
from caspr.review.server.routes import make_app
from caspr.review.session.session import ReviewSession

LOOPBACK = "127.0.0.1"
_ONE_OWNER: int = getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR)
"""On Windows, SO_REUSEADDR would let other programs take over the port."""


def serve(session: ReviewSession, *, port: int = 0, ready: Callable[[str], None]) -> None:
    """Serve a session until interrupted; `ready` is called with the address, which contains the token.

    A port that is busy is replaced by a free one.
    """
    keys = Keys()
    with closing(bound(port)) as listening:
        number = listening.getsockname()[1]
        config = uvicorn.Config(
            make_app(session, keys, number),
            log_level="critical",
            access_log=False,
            lifespan="on",
            ws="none",
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=1,
        )
        # Documents live as long as the process; scanning them for garbage would only slow down clicks.
        gc.set_threshold(100_000, 50, 100)
        session.start()
        ready(f"http://{LOOPBACK}:{number}/?token={keys.token}")
        try:
            with suppress(KeyboardInterrupt):
                uvicorn.Server(config).run(sockets=[listening])
        finally:
            session.close()


def bound(port: int) -> socket.socket:
    """Return a socket that listens on a port of the loopback, or on a free one if that is busy."""
    for number in (port, 0):
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, _ONE_OWNER, 1)
        try:
            listening.bind((LOOPBACK, number))
            listening.listen(64)
        except (OSError, OverflowError):
            listening.close()
            continue
        return listening
    raise InputError("found no free port on this machine, expected one")
