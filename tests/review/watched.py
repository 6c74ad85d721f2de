"""Run the command line and write down every address that its sockets use, and every name it looks up.

python tests/review/watched.py LOG review FILE ...
"""

import sys
from pathlib import Path


def watch(log: Path) -> None:
    """Note whatever could reach another machine."""

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event in ("socket.bind", "socket.connect", "socket.sendto"):
            note(f"{event} {arguments[1]!r}")
        elif event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
            note(f"{event} {arguments[0]!r}")

    def note(line: str) -> None:
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")

    sys.addaudithook(hook)


if __name__ == "__main__":
    watch(Path(sys.argv.pop(1)))
    from caspr.cli import main

    main()
