"""Requests that draw: each runs in a thread of its own, goes on when its client has gone, and can be looked at."""

from __future__ import annotations

import secrets
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

from tacit.server.pool import Busy, Slot

__all__ = ["Job", "Jobs"]

_KEPT = 600.0
"""Seconds that a finished one can be looked at; its answer stays on record for ever."""
_MOST_FINISHED = 10_000


class Job:
    """One request: where it is, and what came of it."""

    def __init__(self, who: str, table: str, act: Callable[[Job], Any]) -> None:
        self.id = secrets.token_urlsafe(18)
        self.who = who
        self.table = table
        self.began = time.monotonic()
        self.ended: float | None = None
        self.state = "waiting"
        self.result: Any = None
        self.error: BaseException | None = None
        self.done = threading.Event()
        self.stop = threading.Event()
        self._act = act
        self._slot: Slot | None = None
        self._lock = threading.Lock()
        self._told: list[Callable[[], None]] = []

    def when_done(self, told: Callable[[], None]) -> None:
        """Call it when this has ended, in the thread of it; at once if it has."""
        with self._lock:
            if not self.done.is_set():
                self._told.append(told)
                return
        told()

    def drawing(self, slot: Slot) -> Slot:
        """It has a worker."""
        self._slot = slot
        self.state = "drawing"
        return slot

    def run(self) -> None:
        """To be called in its thread."""
        try:
            self.result = self._act(self)
            self.state = "answered"
        except BaseException as error:
            self.error = error.with_traceback(None)
            self.state = "failed"
        finally:
            self.ended = time.monotonic()
            if self._slot is not None:
                self._slot.close()
            with self._lock:
                self.done.set()
                told, self._told = self._told, []
            for one in told:
                one()

    def cancel(self) -> None:
        """What was paid stays paid; what was not paid yet is not."""
        if not self.done.is_set():
            self.stop.set()
            if self._slot is not None:
                self._slot.stop()

    def to_dict(self) -> dict[str, Any]:
        """How far it is, in words that depend on no row: a reply that is held is still being drawn."""
        end = self.ended if self.ended is not None else time.monotonic()
        return {"id": self.id, "table": self.table, "state": self.state, "seconds": int(end - self.began)}


class Jobs:
    """All requests of this process; ``most`` may be unfinished, ``each`` of one analyst."""

    def __init__(self, most: int, each: int) -> None:
        self._most = most
        self._each = each
        self._lock = threading.Lock()
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._running = 0
        self._of: Counter[str] = Counter()
        self._idle = threading.Condition(self._lock)

    @property
    def running(self) -> int:
        """How many are unfinished."""
        return self._running

    def start(self, who: str, table: str, act: Callable[[Job], Any]) -> Job:
        """Begin one; `Busy` if there are too many."""
        with self._lock:
            self._forget()
            if self._running >= self._most or self._of[who] >= self._each:
                raise Busy
            job = Job(who, table, act)
            self._jobs[job.id] = job
            self._running += 1
            self._of[who] += 1
        threading.Thread(target=self._run, args=(job,), name="tacit-request", daemon=True).start()
        return job

    def _run(self, job: Job) -> None:
        try:
            job.run()
        finally:
            with self._lock:
                self._running -= 1
                self._of[job.who] -= 1
                if not self._of[job.who]:
                    del self._of[job.who]
                self._idle.notify_all()

    def _forget(self) -> None:
        old = time.monotonic() - _KEPT
        gone = [id_ for id_, one in self._jobs.items() if one.ended is not None and one.ended < old]
        finished = [id_ for id_, one in self._jobs.items() if one.ended is not None]
        for id_ in {*gone, *finished[: max(0, len(finished) - _MOST_FINISHED)]}:
            del self._jobs[id_]

    def of(self, id_: str, who: str) -> Job | None:
        """One's own request."""
        with self._lock:
            job = self._jobs.get(id_)
        return job if job is not None and job.who == who else None

    def finish(self, seconds: float) -> bool:
        """Wait until all have ended; False if they have not by then."""
        with self._lock:
            return self._idle.wait_for(lambda: self._running == 0, seconds)
