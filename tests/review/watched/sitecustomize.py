"""Write down every address that a socket of this process is bound or connected to, and every name looked up.

Python imports this module when its folder is on PYTHONPATH.
"""

import os
import sys
from pathlib import Path

LOG = Path(os.environ["CASPR_TEST_SOCKETS"])


def watch(event: str, arguments: tuple[object, ...]) -> None:
    """Note what could reach another machine."""
    if event in ("socket.bind", "socket.connect", "socket.sendto"):
        note(f"{event} {arguments[1]!r}")
    elif event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
        note(f"{event} {arguments[0]!r}")


def note(line: str) -> None:
    """Append a line to the log."""
    with LOG.open("a", encoding="utf-8") as log:
        log.write(f"{line}\n")


sys.addaudithook(watch)
