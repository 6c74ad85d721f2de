"""Leases: one person at a time works on a document of a team, and all others watch.

Whoever acts on a document holds it until ten minutes after the last act, until it is done, or until
somebody takes it over. Nobody is locked out by a colleague who went home; nobody overwrites one who is at
work.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock
from typing import Any

from caspr.errors import CasprError

SECONDS = 600.0
"""How long a document stays with whoever acted last."""


class LeaseError(CasprError):
    """Refuse an act on a document that somebody else works on."""

    def __init__(self, lease: "Lease") -> None:
        """Keep who holds the document beside the message."""
        self.lease = lease
        super().__init__(f"{lease.holder} is working on this document")


@dataclass(frozen=True)
class Lease:
    """Who works on a document."""

    holder: str
    """The name."""
    until: float
    """When it ends, in seconds since 1970."""

    def view(self) -> dict[str, Any]:
        """Return it as JSON for the page."""
        when = datetime.fromtimestamp(self.until, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return {"holder": self.holder, "until": when}


@dataclass
class Leases:
    """Who works on which document, by its number."""

    clock: Callable[[], float] = time.time
    """Returns seconds since 1970."""
    _held: dict[int, Lease] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def of(self, number: int) -> Lease | None:
        """Return who works on a document, if anybody does."""
        lease = self._held.get(number)
        return lease if lease is not None and lease.until > self.clock() else None

    def act(self, number: int, who: str) -> Lease:
        """Note that somebody acts, or raise `LeaseError` if the document is somebody else's now."""
        with self._lock:
            lease = self.of(number)
            if lease is not None and lease.holder != who:
                raise LeaseError(lease)
            return self._give(number, who)

    def take(self, number: int, who: str) -> Lease:
        """Take a document over, whoever has it."""
        with self._lock:
            return self._give(number, who)

    def release(self, number: int, who: str) -> None:
        """Give a document back, if one has it."""
        with self._lock:
            lease = self._held.get(number)
            if lease is not None and lease.holder == who:
                del self._held[number]

    def resume(self, number: int, who: str, at: str) -> None:
        """Let somebody go on who acted last before a restart."""
        try:
            acted = datetime.strptime(at, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp()
        except ValueError:
            return
        if acted + SECONDS > self.clock():
            self._held.setdefault(number, Lease(who, acted + SECONDS))

    def _give(self, number: int, who: str) -> Lease:
        lease = Lease(who, self.clock() + SECONDS)
        self._held[number] = lease
        return lease
