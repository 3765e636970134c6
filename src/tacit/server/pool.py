"""A bounded pool of processes that draw, shared by all analysts of all tables; who comes later waits in line.

The reply to a payment is held to steps of 1, 2, 4, 8, … seconds after the draw began, answers and failures alike, and
whoever cancels before it leaves gets nothing. While a reply is held, its process already draws for others; for further
requests of the same analyst it counts as drawing until the reply leaves, so that these begin, wait and are refused
alike whenever the draw was finished.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from typing import Any

from tacit.work.limits import Work
from tacit.work.worker import Stopped, Task, Worker

__all__ = ["Busy", "Pool", "Slot"]


_LOOK = 0.5
"""Seconds until who waits looks whether it was taken back."""


class Busy(Exception):
    """Too many wait already."""


class _Ticket:
    """A place in the line."""

    def __init__(self, who: str, lock: threading.Lock) -> None:
        self.who = who
        self.turn = threading.Condition(lock)


class Pool:
    """At most ``size`` workers at a time, and at most ``line`` who wait for one.

    A worker that is idle is kept for its table; where the pool is full, the one idle longest makes room.
    """

    def __init__(self, size: int, line: int) -> None:
        self._size = size
        self._line = line
        self._lock = threading.Lock()
        self._idle: list[tuple[str, Worker]] = []
        self._busy = 0
        self._held: Counter[str] = Counter()
        """Replies of each analyst that have not left, though their workers were given back."""
        self._waiting: deque[_Ticket] = deque()
        self._closed = False

    @property
    def waiting(self) -> int:
        """How many wait for a worker."""
        return len(self._waiting)

    @property
    def busy(self) -> int:
        """How many draw."""
        return self._busy

    def take(self, who: str, table: str, make: Callable[[], Worker], work: Work, stop: threading.Event) -> Slot | None:
        """A worker for a table, in the order of coming; None if ``stop`` was set. `Busy` if the line is full.

        Who has replies that are held is passed by others, while these would take the last workers.
        """
        ticket = _Ticket(who, self._lock)
        with self._lock:
            if len(self._waiting) >= self._line + max(0, self._free(who)):
                raise Busy
            self._waiting.append(ticket)
            try:
                while not stop.is_set() and not self._closed:
                    if self._next() is ticket:
                        break
                    ticket.turn.wait(_LOOK)
                else:
                    return None
                self._busy += 1
            finally:
                self._waiting.remove(ticket)
                self._call()
            worker = self._kept(table)
        return Slot(self, who, table, make() if worker is None else worker, work, stop)

    def _free(self, who: str) -> int:
        """How many workers are free, as an analyst may know it."""
        return self._size - self._busy - self._held[who]

    def _next(self) -> _Ticket | None:
        """Whose turn it is."""
        return next((one for one in self._waiting if self._free(one.who) > 0), None)

    def _call(self) -> None:
        """Wake whose turn it is, and nobody else: of many who wait, all but one would look in vain."""
        ticket = self._next()
        if ticket is not None:
            ticket.turn.notify()

    def _kept(self, table: str) -> Worker | None:
        """An idle worker of the table; if there is none, room for one."""
        for place in range(len(self._idle) - 1, -1, -1):
            if self._idle[place][0] == table:
                return self._idle.pop(place)[1]
        if len(self._idle) + self._busy > self._size and self._idle:
            self._idle.pop(0)[1].close()
        return None

    def give_back(self, table: str, worker: Worker, holds: str | None = None) -> None:
        """Somebody else's turn; not yet that of whose reply it ``holds``."""
        with self._lock:
            self._busy -= 1
            if holds is not None:
                self._held[holds] += 1
            if self._closed:
                worker.close()
            else:
                self._idle.append((table, worker))
            self._call()

    def left(self, who: str) -> None:
        """A reply that was held leaves."""
        with self._lock:
            self._held[who] -= 1
            if not self._held[who]:
                del self._held[who]
            self._call()

    def close(self) -> None:
        """End what is idle; what draws ends when it is given back."""
        with self._lock:
            self._closed = True
            for _, worker in self._idle:
                worker.close()
            self._idle = []
            for ticket in self._waiting:
                ticket.turn.notify()


class Slot:
    """A worker for one request. It is given back when the draw has ended, before the reply leaves."""

    def __init__(self, pool: Pool, who: str, table: str, worker: Worker, work: Work, stop: threading.Event) -> None:
        self._pool = pool
        self._who = who
        self._table = table
        self._worker: Worker | None = worker
        self._work = work
        self._stop = stop
        self._lock = threading.Lock()

    def ready(self, task: Task) -> Any:
        """The task as the worker takes it."""
        assert self._worker is not None
        return self._worker.ready(task)

    def run(self, ready: Any, secret: Any, given: Any) -> bytes:
        """Draw, give the worker back, and hold the reply until the next step."""
        began, result, worker = time.monotonic(), None, self._worker
        assert worker is not None
        try:
            try:
                if not self._stop.is_set():
                    result = worker.run(ready, secret, given)
            except Exception:
                result = None  # whatever it was, it is told when an answer would be, and no sooner
            finally:
                self._give_back(holds=self._who)
            self._stop.wait(self._work.until_step(time.monotonic() - began))
        finally:
            self._pool.left(self._who)
        if result is None or self._stop.is_set():
            raise Stopped
        return result

    def stop(self) -> None:
        """Cancel: a process that draws is killed, and a reply that is held is not given."""
        self._stop.set()
        with self._lock:
            worker = self._worker
            if worker is not None:
                getattr(worker, "drop", worker.close)()

    def close(self) -> None:
        """Give the worker back, once."""
        self._give_back(holds=None)

    def _give_back(self, holds: str | None) -> None:
        with self._lock:
            worker, self._worker = self._worker, None
        if worker is not None:
            self._pool.give_back(self._table, worker, holds)
