"""A worker in a process of its own: it can be killed at any moment, and only finished results ever leave it.

Where this process has no other threads it is forked, which takes a few milliseconds; otherwise it is begun anew, since
a lock that another thread holds would be held for ever in the copy.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import pickle
import select
import signal
import subprocess
import sys
import threading
import time
import weakref
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

from tacit.work.child import READY, serve
from tacit.work.frames import receive, send
from tacit.work.limits import Work
from tacit.work.scratch import Scratch
from tacit.work.worker import CannotSend, Make, Stopped, Task

__all__ = ["Apart", "is_possible"]

_BEGIN = "import sys; sys.path[:] = sys.argv[4:]; from tacit.work.child import serve; serve(*map(int, sys.argv[1:4]))"
_LONGEST_START = 120.0
_TICK = 0.1
_BETWEEN_LOOKS = 0.5
_FITS = 32_768
"""Bytes that an empty pipe takes at once."""


def is_possible() -> bool:
    """Whether a process can be made, limited and killed here."""
    return os.name == "posix" and bool(sys.executable) and hasattr(select, "poll")


class Apart:
    """Runs tasks on what ``make`` opens, in another process, within limits.

    >>> import operator
    >>> worker = Apart(str.encode, Work(seconds=20))
    >>> worker.run(worker.ready(operator.add), "what was opened", b", and what was given")
    b'what was opened, and what was given'
    >>> worker.close()
    """

    def __init__(self, make: Make, work: Work) -> None:
        self._make = make
        self._work = work
        self._child: _Child | None = None
        self._lock = threading.RLock()
        _workers.add(self)

    def ready(self, task: Task) -> bytes:
        """The task as bytes, and a process that waits for it."""
        body = pickle.dumps(task, protocol=5)
        with self._lock:
            self._started()
        return body

    def run(self, ready: bytes, secret: Any, given: Any) -> bytes:
        """Run it within the limits; `Stopped` if there is no result, whatever the reason."""
        result = None
        with self._lock:
            try:
                result = self._result(pickle.dumps((ready, secret, given), protocol=5))
            except (Exception, KeyboardInterrupt):
                pass  # told below, without what it was
            finally:
                if result is None:
                    self.close()
        if result is None:
            raise Stopped
        return result

    def _result(self, message: bytes) -> bytes | None:
        child = self._started()
        end = time.monotonic() + self._work.seconds
        child.send(message)
        reply = child.reply(end, self._work.disk)
        return reply[1:] if reply is not None and reply[:1] == READY else None

    def _started(self) -> _Child:
        """The process, begun if need be; raises `CannotSend` if it cannot open what it would have to."""
        if self._child is not None and not self._child.is_alive():
            self.close()
        if self._child is None:
            try:
                make = pickle.dumps(self._make, protocol=5)
            except Exception:
                raise CannotSend from None
            self._child = _begun()
            try:
                hello = pickle.dumps((sys.path, str(self._child.folder), self._work, make), protocol=5)
                self._child.send(hello)
                reply = self._child.reply(time.monotonic() + _LONGEST_START, sys.maxsize)
            except OSError:
                reply = None
            except BaseException:
                self.close()
                raise
            if reply != READY:
                self.close()
                raise CannotSend
        return self._child

    def close(self) -> None:
        """Kill the process, and remove what it wrote."""
        with self._lock:
            child, self._child = self._child, None
            if child is not None:
                child.end()

    def drop(self) -> None:
        """As `close`, whoever uses it at the moment: for the end."""
        child = getattr(self, "_child", None)
        if child is not None:
            child.end()

    def __del__(self) -> None:
        self.drop()

    def __repr__(self) -> str:
        return "Apart()"


_workers: weakref.WeakSet[Apart] = weakref.WeakSet()


@atexit.register
def _end_all() -> None:
    """At the end of this process the others go first, and then what they wrote."""
    for worker in list(_workers):
        worker.drop()


class _Process(Protocol):
    """A process that was begun."""

    pid: int

    def poll(self) -> int | None: ...

    def kill(self) -> None: ...

    def wait(self) -> int: ...


class _Child:
    """The process, the pipes to and from it, and its folder."""

    def __init__(self, process: _Process, incoming: int, outgoing: int, scratch: Scratch) -> None:
        self._process = process
        self._incoming = incoming
        self._outgoing = outgoing
        self._sender: threading.Thread | None = None
        self._scratch = scratch
        self._owner = os.getpid()

    @property
    def folder(self) -> Path:
        """Where it may write."""
        return self._scratch.path

    @property
    def pid(self) -> int:
        """The process."""
        return self._process.pid

    def is_alive(self) -> bool:
        """Whether it is there, and is ours: not of a process that this one was forked from."""
        return self._owner == os.getpid() and self._process.poll() is None

    def send(self, message: bytes) -> None:
        """Give it a message; from a thread if it may not fit into the pipe, since the reader can be stopped."""
        if len(message) < _FITS:
            send(self._incoming, message)
            return
        self._sender = threading.Thread(target=_sent, args=(self._incoming, message), daemon=True)
        self._sender.start()

    def reply(self, end: float, disk: int) -> bytes | None:
        """Its next message; None if it ended, took too long, or wrote too much."""
        poll, looked = select.poll(), time.monotonic()
        poll.register(self._outgoing, select.POLLIN | select.POLLHUP)
        while True:
            now = time.monotonic()
            if now >= end:
                return None
            if poll.poll(1000 * min(_TICK, end - now)):
                return receive(self._outgoing)
            if now - looked > _BETWEEN_LOOKS:
                looked = now
                if _size(self.folder) > disk:
                    return None

    def end(self) -> None:
        """Kill it; what it held of the data goes with it."""
        if self._owner == os.getpid():
            self._process.kill()
            self._process.wait()
            self._scratch.close()
        if self._sender is not None:
            self._sender.join(_TICK)  # it fails, now that nobody reads
            if self._sender.is_alive():
                return  # a pipe that is closed now could be another file when it goes on
        for pipe in (self._incoming, self._outgoing):
            with contextlib.suppress(OSError):
                os.close(pipe)


class _Forked:
    """A forked process, as `subprocess.Popen` would show it."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._code: int | None = None

    def poll(self) -> int | None:
        return self._ended(os.WNOHANG)

    def wait(self) -> int:
        return self._ended(0) or 0

    def kill(self) -> None:
        if self._code is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def _ended(self, how: int) -> int | None:
        if self._code is None:
            try:
                found, status = os.waitpid(self.pid, how)
            except ChildProcessError:  # somebody else has waited for it
                found, status = self.pid, 0
            if found:
                self._code = status
        return self._code


def _begun() -> _Child:
    scratch = Scratch()
    theirs, incoming = os.pipe()
    outgoing, ours = os.pipe()
    try:
        process = _forked(theirs, ours) if _is_alone() else _spawned(theirs, ours)
    except BaseException:
        for pipe in (incoming, outgoing):
            os.close(pipe)
        scratch.close()
        raise
    finally:
        for pipe in (theirs, ours):
            os.close(pipe)
    return _Child(process, incoming, outgoing, scratch)


def _is_alone() -> bool:
    """Whether this thread is the only one, of any library's: then a copy of the process is whole."""
    try:
        return len(os.listdir("/proc/self/task")) == 1
    except OSError:
        return False


def _close_all_but(*kept: int) -> None:
    """Let go of what the parent has open: sockets, locks, files."""
    most = os.sysconf("SC_OPEN_MAX")
    edges = [2, *sorted(kept), most if 0 < most < 2**16 else 2**16]
    for low, high in pairwise(edges):
        os.closerange(low + 1, high)


def _forked(theirs: int, ours: int) -> _Process:
    parent, frozen = os.getpid(), gc.get_freeze_count()
    gc.freeze()  # the copy does not look for garbage among what it shares: each page it touched would be copied
    try:
        pid = os.fork()
        if pid == 0:
            try:
                os.setsid()
                _close_all_but(theirs, ours)
            finally:
                serve(theirs, ours, parent)
    finally:
        if not frozen:  # who had frozen something means it to stay so
            gc.unfreeze()
    return _Forked(pid)


def _spawned(theirs: int, ours: int) -> _Process:
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", _BEGIN, str(theirs), str(ours), str(os.getpid()), *map(str, sys.path)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(theirs, ours),
        start_new_session=True,
        env={**os.environ, "MALLOC_ARENA_MAX": "2", "OPENBLAS_NUM_THREADS": "1"},
    )


def _sent(pipe: int, message: bytes) -> None:
    with contextlib.suppress(OSError):
        send(pipe, message)


def _size(folder: Path) -> int:
    """What a folder takes on disk."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_blocks * 512
    return total
