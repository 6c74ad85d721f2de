"""A start page without a port."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx

from caspr.review.server.guard import Address, Keys
from caspr.review.server.presence import Presence
from caspr.start.folders import Folders
from caspr.start.pages import UPLOAD, StartPages, make_start_app
from caspr.start.reviews import Reviews

HOST = "http://127.0.0.1:8765"
KEYS = Keys("the-token", "the-csrf")
OURS = {"X-CSRF": KEYS.csrf, "Origin": HOST, "Sec-Fetch-Site": "same-origin"}


class Desk:
    """Asks the application without a port."""

    def __init__(self, folder: Path, *, largest: int = 1 << 22, token: str | None = KEYS.token) -> None:
        self.folder = folder
        self.pages = StartPages(
            Folders(folder, folder / ".memory" / "recent.json"), Reviews("me"), Presence()
        )
        app = make_start_app(self.pages, KEYS, Address(8765), {UPLOAD: largest})
        self.transport = httpx.ASGITransport(app)
        self.cookies = {} if token is None else {"caspr-8765": token}

    def get(self, page: str, **words: object) -> httpx.Response:
        """Ask for a page."""
        return self.ask("GET", page, params=words)

    def post(self, page: str, values: object = None, **words: object) -> httpx.Response:
        """Press a button."""
        return self.ask("POST", page, params=words, json=values or {}, headers=OURS)

    def upload(self, folder: Path, name: str, content: bytes) -> httpx.Response:
        """Drop a file."""
        return self.ask("POST", UPLOAD, params={"at": folder, "name": name}, content=content, headers=OURS)

    def ask(self, method: str, page: str, **more: Any) -> httpx.Response:
        """Send any request."""
        if "params" in more:
            more["params"] = {name: str(value) for name, value in more["params"].items()}

        async def asked() -> httpx.Response:
            client = httpx.AsyncClient(transport=self.transport, base_url=HOST, cookies=self.cookies)
            async with client:
                return await client.request(method, page, **more)

        # In a thread of its own: the browser tests leave an event loop running in this one.
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, asked()).result()

    def ask_both(
        self, merge: tuple[str, Path], page: str, then: Callable[[], None]
    ) -> tuple[httpx.Response, httpx.Response]:
        """Press a button, ask for a page before that is answered, and call a function in between."""

        async def asked() -> tuple[httpx.Response, httpx.Response]:
            client = httpx.AsyncClient(transport=self.transport, base_url=HOST, cookies=self.cookies)
            async with client:
                address, folder = merge
                pressed = asyncio.create_task(
                    client.post(address, params={"at": str(folder)}, json={}, headers=OURS)
                )
                await asyncio.sleep(0.2)
                shown = await client.get(page)
                assert not pressed.done()
                then()
                return await pressed, shown

        return asyncio.run(asked())

    def project(self, name: str = "new") -> Path:
        """Make a new project."""
        answer = self.post("/make", {"name": name, "in": str(self.folder)})
        assert answer.status_code == 200, answer.text
        return (self.folder / name).resolve()

    def finish(self, folder: Path, state: str = "done") -> dict[str, Any]:
        """Wait until what is being made of a project has ended."""
        deadline = time.monotonic() + 120
        while (job := self.get("/progress", at=folder).json())["state"] == "running":
            assert time.monotonic() < deadline, job
            time.sleep(0.05)
        assert job["state"] == state, job
        return dict(job)
