"""What a worker promises: it runs a task on what it has opened, within limits, and gives back bytes or `Stopped`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

__all__ = ["CannotSend", "Make", "Stopped", "Task", "Worker"]

Make = Callable[[Any], Any]
"""Opens what tasks work on, given a secret that is known after the first payment only."""
Task = Callable[[Any, Any], bytes]
"""What is done with it and with what was paid; the bytes are all that comes back."""


class Stopped(Exception):
    """There is no result: too long, too much memory or disk, a crash, an interrupt, an error. Nobody is told which."""

    def __init__(self) -> None:
        super().__init__("The draw was stopped.")


class CannotSend(Exception):
    """What has to be opened cannot be sent to another process."""


class Worker(Protocol):
    """Where tasks are run."""

    def ready(self, task: Task) -> Any:
        """The task in the form that `run` takes, and a worker that waits for it: before anything is paid."""

    def run(self, ready: Any, secret: Any, given: Any) -> bytes:
        """Run it within the limits; `Stopped` if there is no result, whatever the reason."""

    def close(self) -> None:
        """Let go of what was opened."""
