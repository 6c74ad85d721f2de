"""Which pages are open: each holds one stream, which breaks when it is closed.

A timer of the page would not do: browsers slow the timers of hidden tabs down, and stop them after a while.
A stream stays open as long as the page is there, hidden or not.
"""

import asyncio
import time
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

ALIVE = "/alive"
"""The address of the stream."""
_SECONDS = 10.0
"""Seconds between two comments, which show the server that the page is still there."""
_INTERVAL = 0.5


class Presence:
    """Counts open pages; may be asked from any thread."""

    def __init__(self) -> None:
        self.ended = False
        """Whether the server ends, so that streams do, too."""
        self._open = 0
        self._closed = time.monotonic()

    @property
    def pages(self) -> int:
        """How many pages are open."""
        return self._open

    @property
    def seconds_alone(self) -> float:
        """For how many seconds no page has been open."""
        return 0.0 if self._open else time.monotonic() - self._closed

    async def stream(self, request: Request) -> Response:
        """Answer with a stream that lasts as long as the page."""
        return StreamingResponse(self._beats(request), media_type="text/event-stream")

    async def _beats(self, request: Request) -> AsyncIterator[str]:
        with self:
            yield "retry: 1000\n\n: alive\n\n"
            waited = 0.0
            while not self.ended and not await request.is_disconnected():
                await asyncio.sleep(_INTERVAL)
                waited += _INTERVAL
                if waited >= _SECONDS:
                    waited = 0.0
                    yield ": alive\n\n"

    def __enter__(self) -> "Presence":
        """Count a page that is opened."""
        self._open += 1
        return self

    def __exit__(self, *_: object) -> None:
        """Count a page that is closed."""
        self._open -= 1
        self._closed = time.monotonic()
