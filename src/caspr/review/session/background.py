"""The worker: one thread for work that nobody waits for, dropped as soon as there is something newer."""

import logging
from collections.abc import Callable
from threading import Condition, Event, Thread

Cancelled = Callable[[], bool]
Task = Callable[[Cancelled], None]
"""Work that asks now and then whether it is still wanted."""


class BackgroundWorker:
    """Runs the newest task; an older one is told to stop."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._task: Task | None = None
        self._cancel = Event()
        self._thread: Thread | None = None
        self._ended = False
        self._running = False

    @property
    def idle(self) -> bool:
        """Whether nothing runs or waits."""
        with self._changed:
            return self._task is None and not self._running

    def cancel(self) -> None:
        """Tell the running task to stop, and forget one that waits."""
        with self._changed:
            self._task = None
            self._cancel.set()

    def run(self, task: Task) -> None:
        """Start a task as soon as the running one has stopped."""
        with self._changed:
            if self._ended:
                return
            self._task = task
            self._cancel.set()
            if self._thread is None:
                self._thread = Thread(target=self._loop, daemon=True)
                self._thread.start()
            self._changed.notify()

    def end(self, seconds: float = 10.0) -> None:
        """Stop for good, and wait until the running task has seen it."""
        with self._changed:
            self._ended = True
            self._task = None
            self._cancel.set()
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(seconds)

    def _loop(self) -> None:
        while True:
            with self._changed:
                while self._task is None and not self._ended:
                    self._changed.wait()
                if self._ended or self._task is None:
                    return
                task, self._task = self._task, None
                self._cancel = Event()
                cancelled = self._cancel.is_set
                self._running = True
            try:
                task(cancelled)
            except Exception:
                # Whatever happens in the background, the next click must be answered.
                logging.getLogger(__name__).exception("work in the background failed")
            finally:
                self._running = False
