"""The one error of an engine that could not finish, whatever it said; and how it is made to stop."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

__all__ = ["EngineFailed", "Running"]

_AGAIN = 0.1
_PATIENCE = 2.0
_TIMES = 600


class EngineFailed(Exception):
    """The engine could not finish. Internal, and of one text."""

    def __init__(self) -> None:
        super().__init__("The engine could not finish this question.")


class Running:
    """What runs, if anything does; ``ask`` tells the engine to stop it.

    Engines forget what they were told while they had nothing to stop: between two jobs, or while they plan. So they are
    told again until it is over.
    """

    def __init__(self, ask: Callable[[], None]) -> None:
        self._ask = ask
        self._stopped = False
        self._over = threading.Event()
        self._over.set()

    @contextmanager
    def statement(self) -> Iterator[None]:
        """One statement runs meanwhile; none does after `stop`."""
        self._over.clear()  # first: whoever stops it now sees that something runs
        try:
            if self._stopped:
                raise EngineFailed
            yield
        finally:
            self._over.set()

    @property
    def is_over(self) -> bool:
        """Whether nothing runs."""
        return self._over.is_set()

    def stop(self) -> None:
        """Stop what runs, from another thread, and begin nothing more; back when it is over, or after two seconds."""
        self._stopped = True
        threading.Thread(target=self._insist, daemon=True).start()
        self._over.wait(_PATIENCE)

    def _insist(self) -> None:
        for _ in range(_TIMES):
            if self._over.is_set():
                return
            with suppress(Exception):  # what it says might quote a row; and it may be over already
                self._ask()
            self._over.wait(_AGAIN)
