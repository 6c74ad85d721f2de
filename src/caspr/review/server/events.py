"""Server-sent events: changes by other tabs, in the file and in the background, for open pages."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from caspr.review.project.project import Workplace
from caspr.review.server.blind import blind_problem
from caspr.review.server.presence import Presence

POLL_SECONDS = 1.0
"""Seconds between checks whether the file was edited."""
KEEP_ALIVE_SECONDS = 15.0
"""Seconds without an event after which a comment keeps the connection open."""
LONGEST_QUEUE = 200
"""How many events may wait for a slow page; later ones are dropped, and the page fetches the state."""


class Hub:
    """Forwards events from the threads of sessions to the open streams, by the number of the document."""

    def __init__(self, work: Workplace, presence: Presence, *, blind: bool) -> None:
        self.work = work
        self.presence = presence
        self.blind = blind
        work.watch(lambda number: bool(self.streams.get(number)))
        self.streams: dict[int, set[asyncio.Queue[str]]] = {}
        self.loop: asyncio.AbstractEventLoop | None = None
        self.ended = asyncio.Event()

    @asynccontextmanager
    async def lifespan(self, app: object) -> AsyncIterator[None]:  # noqa: ARG002
        """Subscribe to all documents and poll their files while the server runs."""
        self.loop = asyncio.get_running_loop()
        self.work.listeners.append(self.publish)
        polling = asyncio.create_task(self._poll())
        try:
            yield
        finally:
            polling.cancel()
            self.work.listeners.remove(self.publish)
            self.presence.ended = True
            self.ended.set()

    async def _poll(self) -> None:
        while True:
            await asyncio.sleep(POLL_SECONDS)
            with suppress(Exception):
                await asyncio.to_thread(self.work.poll)

    def publish(self, number: int, kind: str, data: dict[str, Any]) -> None:
        """Receive an event in any thread and send it to the pages that show a document."""
        if self.blind and "problem" in data:
            data = {**data, "problem": blind_problem(data["problem"])}
        if self.loop is not None and not self.loop.is_closed() and self.streams.get(number):
            self.loop.call_soon_threadsafe(self._enqueue, number, _event(kind, data))

    def _enqueue(self, number: int, text: str) -> None:
        for queue in self.streams.get(number, ()):
            if queue.qsize() < LONGEST_QUEUE:
                queue.put_nowait(text)

    async def stream(self, number: int, disconnected: Callable[[], Awaitable[bool]]) -> AsyncIterator[str]:
        """Yield the events of one document until the page disconnects or the server ends."""
        queue: asyncio.Queue[str] = asyncio.Queue()
        self.streams.setdefault(number, set()).add(queue)
        try:
            with self.presence:
                version = await asyncio.to_thread(self._version, number)
                yield _event("hello", {"version": version})
                while not self.ended.is_set() and not await disconnected():
                    try:
                        yield await asyncio.wait_for(queue.get(), KEEP_ALIVE_SECONDS)
                    except TimeoutError:
                        yield ": alive\n\n"
        finally:
            self.streams[number].discard(queue)

    def _version(self, number: int) -> int:
        with self.work.using(number) as (session, inner):
            return session.history(inner).version


def _event(kind: str, data: dict[str, Any]) -> str:
    return f"event: {kind}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n"
