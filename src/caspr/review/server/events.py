"""Events: what other tabs, the file and the background did, told to every page that listens."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from caspr.review.session.session import ReviewSession

POLLING = 1.0
"""Seconds between looks at the file."""
ALIVE = 15.0
"""Seconds after which a silent stream says that it is alive."""
MOST = 200
"""How many events may wait for a slow page; one that is slower must fetch the state."""


class Hub:
    """Passes events from the session's threads on to open streams."""

    def __init__(self, session: ReviewSession) -> None:
        self.session = session
        self.streams: dict[int, set[asyncio.Queue[str]]] = {}
        self.loop: asyncio.AbstractEventLoop | None = None
        self.ended = asyncio.Event()

    @asynccontextmanager
    async def lifespan(self, app: object) -> AsyncIterator[None]:  # noqa: ARG002
        """Listen to the session and watch its file while the server runs."""
        self.loop = asyncio.get_running_loop()
        self.session.listeners.append(self._hear)
        polling = asyncio.create_task(self._poll())
        try:
            yield
        finally:
            polling.cancel()
            self.session.listeners.remove(self._hear)
            self.ended.set()

    async def _poll(self) -> None:
        while True:
            await asyncio.sleep(POLLING)
            with suppress(Exception):
                await asyncio.to_thread(self.session.poll)

    def _hear(self, number: int, kind: str, data: dict[str, Any]) -> None:
        """Take an event from any thread."""
        if self.loop is not None and not self.loop.is_closed() and self.streams.get(number):
            self.loop.call_soon_threadsafe(self._pass_on, number, _event(kind, data))

    def _pass_on(self, number: int, text: str) -> None:
        for queue in self.streams.get(number, ()):
            if queue.qsize() < MOST:
                queue.put_nowait(text)

    async def stream(self, number: int, gone: Callable[[], Awaitable[bool]]) -> AsyncIterator[str]:
        """Yield the events of one document until the page is gone or the server ends."""
        queue: asyncio.Queue[str] = asyncio.Queue()
        self.streams.setdefault(number, set()).add(queue)
        try:
            yield _event("hello", {"version": (await asyncio.to_thread(self.session.case, number)).version})
            while not self.ended.is_set() and not await gone():
                try:
                    yield await asyncio.wait_for(queue.get(), ALIVE)
                except TimeoutError:
                    yield ": alive\n\n"
        finally:
            self.streams[number].discard(queue)


def _event(kind: str, data: dict[str, Any]) -> str:
    return f"event: {kind}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n"
