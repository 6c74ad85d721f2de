"""The process of the start page: on the loopback interface, until the last page is closed.

A page that is open holds a stream (`review.server.presence`). When none has been open for `ALONE` seconds,
neither of the start page nor of a review, and nothing is being made, the process ends. Until the first page
is opened it waits longer, since a browser may take its time to start.
"""

import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Event, Thread

from caspr.processes import login
from caspr.review.server.guard import Address, Keys
from caspr.review.server.presence import Presence
from caspr.review.server.serve import LOOPBACK, Serving, bound
from caspr.start.folders import Folders
from caspr.start.pages import LARGEST_FILE, UPLOAD, StartPages, make_start_app
from caspr.start.reviews import Reviews

ALONE = 20.0
"""Seconds without any page after which the process ends: a page that is reloaded is away for a moment."""
UNOPENED = 600.0
"""Seconds until the first page must be opened."""
_INTERVAL = 0.5


def serve_start(
    folder: Path, memory: Path, *, port: int = 0, ready: Callable[[str, str], None], alone: float = ALONE
) -> None:
    """Serve the start page for a folder until the last page is closed, or until interrupted.

    `ready` is called with the link, which contains the token, and with one that works once, for a browser.
    """
    with closing(bound(port)) as listening:
        number = listening.getsockname()[1]
        keys, presence, reviews = Keys(), Presence(), Reviews(login())
        pages = StartPages(Folders(folder, memory), reviews, presence)
        app = make_start_app(pages, keys, Address(number), {UPLOAD: LARGEST_FILE})
        serving, ended = Serving(app, listening), Event()
        Thread(target=_end_when_alone, args=(serving, pages, ended, alone), daemon=True).start()
        address = f"http://{LOOPBACK}:{number}"
        ready(f"{address}/?token={keys.token}", f"{address}{app.invite(keys)}")
        try:
            serving.run()
        finally:
            ended.set()
            presence.ended = True
            pages.close()


def _end_when_alone(serving: Serving, pages: StartPages, ended: Event, alone: float) -> None:
    began, seen = time.monotonic(), False
    while not ended.wait(_INTERVAL):
        seen = seen or bool(pages.presence.pages)
        seconds = min(pages.presence.seconds_alone, pages.reviews.seconds_alone)
        if not seen:
            seconds = time.monotonic() - began - UNOPENED + alone
        if seconds > alone and not pages.is_working:
            serving.end()
            return
