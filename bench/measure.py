"""Best-of timing in turns, the targets, and peak memory.

Times are CPU seconds of the whole process, all threads counted: on a shared machine they are steadier
than the clock on the wall, which is kept beside them. The contestants of one race take turns, so that a slow spell hits
all of them.
"""

import gc
import math
import resource
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

STATUS = Path("/proc/self/status")


@dataclass(frozen=True, slots=True)
class Contestant:
    """Something to time: `prepare` imports and builds, and returns the action that is timed."""

    name: str
    prepare: Callable[[], Callable[[], Any]]
    units: int = 1  # how many samples, or calls, one action stands for
    rounds: int = 5
    note: str = ""


@dataclass(frozen=True, slots=True)
class Timing:
    """The result of a contestant: seconds per unit, or why there are none."""

    name: str
    note: str
    best: float = math.nan
    first: float = math.nan
    rounds: int = 0
    value: float | None = None
    failure: str = ""
    wall: float = math.nan

    @property
    def ok(self) -> bool:
        return not self.failure


@dataclass(frozen=True, slots=True)
class AtMost:
    """Tacit takes at most `limit` times as long as the other."""

    limit: float

    def met(self, ours: float, theirs: float) -> bool:
        return ours <= self.limit * theirs

    def __str__(self) -> str:
        return f"takes ≤ {self.limit:g}×"


@dataclass(frozen=True, slots=True)
class Faster:
    """Tacit is at least `factor` times faster than the other."""

    factor: float

    def met(self, ours: float, theirs: float) -> bool:
        return ours * self.factor <= theirs

    def __str__(self) -> str:
        return f"≥ {self.factor:g}× faster"


Target = AtMost | Faster


def cpu_seconds(action: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    value = action()
    return time.process_time() - start, value


def race(contestants: Sequence[Contestant]) -> list[Timing]:
    """Time each contestant `rounds` times, in turns, and keep its best; a failure is a result too."""
    ready: dict[str, Callable[[], Any]] = {}
    failed: dict[str, str] = {}
    laps: dict[str, list[float]] = {c.name: [] for c in contestants}
    clock: dict[str, float] = {c.name: math.inf for c in contestants}
    values: dict[str, float] = {}
    for lap in range(-1, max(c.rounds for c in contestants)):
        for c in contestants:
            if c.name in failed or lap >= c.rounds:
                continue
            try:
                if lap < 0:
                    ready[c.name] = c.prepare()
                    continue
                gc.collect()
                start = time.perf_counter()
                seconds, value = cpu_seconds(ready[c.name])
                clock[c.name] = min(clock[c.name], (time.perf_counter() - start) / c.units)
            except Exception as error:  # peers raise what they like; the table shows it
                failed[c.name] = reason(error)
                continue
            laps[c.name].append(seconds / c.units)
            if isinstance(value, float):  # an answer to show; a million samples are not kept
                values.setdefault(c.name, value)
            del value
    return [
        Timing(c.name, c.note, failure=failed[c.name])
        if c.name in failed
        else Timing(
            c.name,
            c.note,
            min(laps[c.name]),
            laps[c.name][0],
            len(laps[c.name]),
            values.get(c.name),
            wall=clock[c.name],
        )
        for c in contestants
    ]


def reason(error: Exception) -> str:
    text = " ".join(str(error).split())
    label = type(error).__name__
    return (text if label == "Unavailable" else f"{label}: {text}")[:200]


def repeated(action: Callable[[], Any], times: int) -> Callable[[], None]:
    """An action too short to time on its own, done `times` times."""

    def run() -> None:
        for _ in range(times):
            action()

    return run


def resident_bytes() -> int:
    """The memory this process holds now (where the system does not say: the most it has held)."""
    return _status("VmRSS:") or _most()


def peak_bytes() -> int:
    """The most memory this process has held; on Linux not `ru_maxrss`, which counts its parent's too."""
    return _status("VmHWM:") or _most()


def _status(field: str) -> int:
    lines = STATUS.read_text().splitlines() if STATUS.exists() else []
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(field)), 0)


def _most() -> int:
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
