"""A worker in this process: the same promises, as far as what it works on listens."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from tacit.work.here import Here
from tacit.work.limits import Work
from tacit.work.worker import Stopped
from tests.work import tasks


class Listening:
    """Something that runs until it is interrupted."""

    def __init__(self) -> None:
        self.heard = threading.Event()

    def wait(self) -> bytes:
        self.heard.wait()
        raise RuntimeError("row 17 is secret")


def wait(state: Listening, given: object) -> bytes:
    if given == "interrupt":
        os.kill(os.getpid(), signal.SIGINT)
    return state.wait()


@pytest.mark.parametrize("why", ["time", "interrupt"])
def test_time_and_interrupts_stop_what_listens(why: str) -> None:
    made: list[Listening] = []

    def make(secret: object) -> Listening:
        made.append(Listening())
        return made[-1]

    worker = Here(make, Work(seconds=0.1 if why == "time" else 600), lambda state: state.heard.set())
    with pytest.raises(Stopped) as caught:
        worker.run(worker.ready(wait), "secret", why)
    assert caught.value.__context__ is None
    assert made[0].heard.is_set()
    with pytest.raises(Stopped):
        Here(tasks.opened, Work()).run(tasks.tell, "secret", None)


def test_what_was_opened_is_kept_and_dropped_after_a_stop() -> None:
    worker = Here(tasks.opened, Work(seconds=60))
    assert worker.run(tasks.say, "secret", 1) == b"['secret', 1]"
    assert worker.run(tasks.say, "secret", 2) == b"['secret', 1, 2]"
    worker.close()
    assert worker.run(tasks.say, "secret", 3) == b"['secret', 3]"
