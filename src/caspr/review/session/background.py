"""One background thread that runs the newest task; a task that is replaced is cancelled."""

import logging
from collections.abc import Callable
from threading import Condition, Event, Thread

Cancelled = Callable[[], bool]
Task = Callable[[Cancelled], None]
"""Work that calls its argument now and then, and returns early when that is true."""


class BackgroundWorker:
    """Runs the newest task and cancels the one before it."""

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
        """Cancel the running task and drop the waiting one."""
        with self._changed:
            self._task = None
            self._cancel.set()

    def run(self, task: Task) -> None:
        """Cancel the running task, and start this one as soon as that has returned."""
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
        """Cancel everything, accept no more tasks, and wait until the running one has returned."""
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
                # A task that fails must not end the thread: the next one needs it.
                logging.getLogger(__name__).exception("work in the background failed")
            finally:
                self._running = False
