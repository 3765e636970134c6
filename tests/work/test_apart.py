"""A worker apart: results come back, and whatever stops it says the same and leaves nothing behind."""

from __future__ import annotations

import ast
import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tacit.work.apart import Apart
from tacit.work.limits import Work
from tacit.work.worker import CannotSend, Stopped, Task
from tests.work import tasks

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def worker() -> Iterator[Apart]:
    made = Apart(tasks.opened, Work(seconds=60))
    yield made
    made.close()


def run(worker: Apart, task: Task, given: object = None) -> bytes:
    return worker.run(worker.ready(task), "secret", given)


def pid_of(worker: Apart) -> int:
    assert worker._child is not None
    return worker._child.pid


def is_gone(pid: int) -> bool:
    """Whether it has ended; waits for a minute at most."""
    for _ in range(1200):
        try:
            state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state in "ZX":
            return True
        time.sleep(0.05)
    return False


def test_what_was_opened_is_kept_between_tasks(worker: Apart) -> None:
    assert run(worker, tasks.say, 1) == b"['secret', 1]"
    first = pid_of(worker)
    assert run(worker, tasks.say, 2) == b"['secret', 1, 2]"
    assert pid_of(worker) == first != os.getpid()


def test_a_large_task_and_a_large_result_pass(worker: Apart) -> None:
    big = bytes(3_000_000)
    assert len(run(worker, tasks.say, big)) > 12_000_000


STOPPED: dict[str, tuple[Task, object, Work]] = {
    "an error": (tasks.tell, None, Work(seconds=60)),
    "a crash": (tasks.crash, None, Work(seconds=60)),
    "time": (tasks.sleep, None, Work(seconds=2)),
    "time, in a call that nothing interrupts": (tasks.busy, None, Work(seconds=2)),
    "memory": (tasks.hoard, 4 * 10**9, Work(seconds=300, memory="300MB")),
    "disk": (tasks.fill, 10**6, Work(seconds=300, disk="20MB")),
}


@pytest.mark.parametrize("why", STOPPED)
def test_whatever_stops_it_is_the_same_error_and_nothing_is_left(why: str) -> None:
    task, given, work = STOPPED[why]
    worker = Apart(tasks.opened, work)
    ready = worker.ready(task)
    pid = pid_of(worker)
    assert worker._child is not None
    folder = worker._child.folder
    with pytest.raises(Stopped) as caught:
        worker.run(ready, "secret", given)
    assert str(caught.value) == "The draw was stopped."
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
    assert is_gone(pid)
    assert not folder.exists()
    assert run(worker, tasks.say, why).endswith(f"{why!r}]".encode())  # the next one begins anew
    worker.close()


def test_within_the_limit_of_memory_it_works() -> None:
    worker = Apart(tasks.opened, Work(seconds=300, memory="300MB"))
    assert run(worker, tasks.hoard, 2 * 10**8) == b"20"
    worker.close()


def test_an_interrupt_stops_it_at_once(worker: Apart) -> None:
    ready = worker.ready(tasks.interrupting)
    pid = pid_of(worker)
    with pytest.raises(Stopped) as caught:
        worker.run(ready, "secret", None)
    assert caught.value.__context__ is None
    assert is_gone(pid)


def test_the_process_is_limited_and_its_own(worker: Apart) -> None:
    pid, parent, group, folder, core, largest = ast.literal_eval(run(worker, tasks.inside).decode())
    assert (pid, parent, group) == (pid_of(worker), os.getpid(), pid)  # an interrupt typed here does not reach it
    assert worker._child is not None
    assert Path(folder) == worker._child.folder
    assert (core, largest) == (0, Work().disk)


PARENT = """
import os, sys
sys.path.insert(0, {root!r})
from tacit.work.apart import Apart
from tacit.work.limits import Work
from tests.work import tasks
worker = Apart(tasks.opened, Work(seconds=3600))
ready = worker.ready(tasks.sleep)
print(worker._child.pid, type(worker._child._process).__name__, flush=True)
if {busy}:
    worker.run(ready, "secret", None)
import time; time.sleep(3600)
"""


@pytest.mark.parametrize("busy", [True, False])
@pytest.mark.parametrize(("threads", "kind"), [("1", "_Forked"), ("2", "Popen")])
def test_it_ends_with_its_parent(busy: bool, threads: str, kind: str) -> None:
    """Forked where there is one thread, begun anew where there are more."""
    more = "import threading, time; threading.Thread(target=time.sleep, args=(99,)).start()\n"
    script = ("" if threads == "1" else more) + PARENT.format(root=str(ROOT), busy=busy)
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid, begun = parent.stdout.readline().split()
    assert begun == kind
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert is_gone(int(pid))


def test_what_cannot_be_sent_is_said_before_anything_is_run(worker: Apart) -> None:
    with pytest.raises(CannotSend):
        Apart(tasks.Unsendable(), Work()).ready(tasks.say)
    with pytest.raises((AttributeError, TypeError)):  # pickle's own
        worker.ready(lambda state, given: b"")


def kills(worker: Apart, count: int, seed: int) -> tuple[int, int]:
    """Results and stops, while somebody kills the process at any moment."""
    chance, results, stops = random.Random(seed), 0, 0
    for turn in range(count):
        ready = worker.ready(tasks.say)
        pid = pid_of(worker)
        killer = threading.Timer(chance.choice([0, 0, 0.0005, 0.002, 0.01]), _kill(pid))
        killer.start()
        try:
            assert worker.run(ready, "secret", turn).endswith(f", {turn}]".encode())
            results += 1
        except Stopped:
            stops += 1
        killer.join()
        assert is_gone(pid)
    return results, stops


def _kill(pid: int) -> Callable[[], None]:
    def kill() -> None:
        with contextlib.suppress(ProcessLookupError):  # it ended by itself before
            os.kill(pid, signal.SIGKILL)

    return kill


def test_twenty_kills(worker: Apart) -> None:
    assert sum(kills(worker, 20, seed=1)) == 20


@pytest.mark.attacks
@pytest.mark.slow
def test_two_hundred_kills(worker: Apart) -> None:
    assert sum(kills(worker, 200, seed=2)) == 200
