"""A worker in this process: for where no other can be made. Time and interrupts stop it, if what it works on listens.

The task runs in a thread of its own, so that an interrupt is heard at once, and no error carries what the task knew.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any

from tacit.work.limits import Work
from tacit.work.worker import Make, Stopped, Task

__all__ = ["Here"]

_GRACE = 1.0


class Here:
    """Runs tasks on what ``make`` opens; ``interrupt`` asks that to stop."""

    def __init__(self, make: Make, work: Work, interrupt: Callable[[Any], None] = lambda opened: None) -> None:
        self._make = make
        self._work = work
        self._interrupt = interrupt
        self._opened: list[Any] = []
        self._lock = threading.RLock()

    def ready(self, task: Task) -> Task:
        """The task itself."""
        return task

    def run(self, ready: Task, secret: Any, given: Any) -> bytes:
        """Run it within the limits; `Stopped` if there is no result, whatever the reason."""
        with self._lock:
            turn = _Turn(lambda: ready(self._open(secret), given))
            finished = False
            with contextlib.suppress(KeyboardInterrupt):  # told below, without what it was
                turn.start()
                finished = turn.done.wait(self._work.seconds)
            if not finished:
                self._give_up(turn)
        if turn.escaped is not None:
            raise turn.escaped.with_traceback(None)
        if turn.result is None:
            raise Stopped
        return turn.result

    def _open(self, secret: Any) -> Any:
        if not self._opened:
            self._opened.append(self._make(secret))
        return self._opened[0]

    def _give_up(self, turn: _Turn) -> None:
        """Ask it to stop, and do not use again what it works on."""
        for opened in self._opened:
            self._interrupt(opened)
        self._opened = []
        turn.done.wait(_GRACE)
        turn.result = None

    def close(self) -> None:
        """What was opened belongs to who opened it."""
        self._opened = []

    def __repr__(self) -> str:
        return "Here()"


class _Turn:
    """One task in its thread."""

    def __init__(self, act: Callable[[], bytes]) -> None:
        self.result: bytes | None = None
        self.escaped: BaseException | None = None
        self.done = threading.Event()
        self._act = act

    def start(self) -> None:
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        try:
            self.result = self._act()
        except Exception:
            pass  # nobody is told what it was
        except BaseException as other:  # the end of the interpreter, or of a test
            self.escaped = other
        finally:
            del self._act
            self.done.set()
