"""Review pages of the projects that somebody reviews: each on a port of its own, in a thread of this process.

It is the page of `caspr review`, with its own token and lock. A page that nobody has open any more is ended
before a command changes its files.
"""

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, Thread

from caspr.review.project.project import Workplace, open_existing
from caspr.review.server.guard import Address, Guard, Keys
from caspr.review.server.presence import Presence
from caspr.review.server.routes import make_app
from caspr.review.server.serve import LOOPBACK, Serving, bound
from caspr.task.settings import Settings

_PATIENCE = 5.0
"""Seconds for a server to end."""


@dataclass
class ReviewPage:
    """A review page that is served."""

    work: Workplace
    app: Guard
    keys: Keys
    address: str
    presence: Presence
    serving: Serving
    thread: Thread

    @classmethod
    def of(cls, path: Path, who: str, home: str) -> "ReviewPage":
        """Serve a project or a review file, whose page on the start page is `home`."""
        listening = bound(0)
        try:
            work = open_existing(path, _unchanged, who)
        except BaseException:
            listening.close()
            raise
        port, keys, presence = listening.getsockname()[1], Keys(), Presence()
        app = make_app(work, [keys], Address(port), presence=presence, home=home)
        serving = Serving(app, listening)
        thread = Thread(target=serving.run, daemon=True)
        work.start()
        thread.start()
        return cls(work, app, keys, f"http://{LOOPBACK}:{port}", presence, serving, thread)

    def link(self) -> str:
        """Return an address that a browser opens once."""
        return f"{self.address}{self.app.invite(self.keys)}"

    def close(self) -> None:
        """End it; all decisions are on the disk."""
        self.serving.end()
        self.thread.join(_PATIENCE)
        self.work.close()


def _unchanged(settings: Settings) -> Settings:
    return settings


@dataclass
class Reviews:
    """All review pages that are open, by project or review file."""

    who: str
    """Who decides, as decisions are signed."""
    _open: dict[Path, ReviewPage] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def link(self, path: Path, home: str) -> str:
        """Return an address that opens the review of a project or review file once; it links to `home`."""
        with self._lock:
            review = self._open.get(path)
            if review is None or not review.thread.is_alive():
                if review is not None:
                    review.close()
                review = self._open[path] = ReviewPage.of(path, self.who, home)
            return review.link()

    def release(self, path: Path) -> bool:
        """Close the review of a project, unless somebody looks at it; return whether none is open now."""
        with self._lock:
            review = self._open.get(path)
            if review is not None and not review.presence.pages:
                self._open.pop(path).close()
            return path not in self._open

    @property
    def seconds_alone(self) -> float:
        """For how many seconds nobody has had a review page open."""
        with self._lock:
            return min(
                (review.presence.seconds_alone for review in self._open.values()), default=float("inf")
            )

    def close(self) -> None:
        """End all of them."""
        with self._lock:
            for review in self._open.values():
                with suppress(Exception):
                    review.close()
            self._open.clear()
