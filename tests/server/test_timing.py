"""When replies leave: a clock at the client tells tables apart whose draws take longer, but not within a step.

Draws about one table take most of a second longer, and some fail. Replies are timed by who asked; the two samples
are compared by Kolmogorov and Smirnov at a level of one in a million. Without steps the same clock tells them apart.
How much longer, and how long a step is, is measured first: many times what a draw takes on this machine now.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from tacit.server.roles import Role
from tests.server.conftest import COUNT, Serve, Served, write_table

ROUNDS = 12
KINDS = ("quick", "slow", "quick fails", "slow fails")


class Delayed:
    """A worker that takes longer, or fails, by who asks: in place of what is in the data."""

    def __init__(self, inner: Any, longer: float) -> None:
        self._inner = inner
        self._longer = longer

    def ready(self, task: Any) -> Any:
        return self._inner.ready(task)

    def run(self, ready: Any, secret: Any, receipt: Any) -> bytes:
        if receipt.analyst.startswith("slow"):
            time.sleep(self._longer)
        if "fails" in receipt.analyst:
            raise RuntimeError
        drawn: bytes = self._inner.run(ready, secret, receipt)
        return drawn

    def close(self) -> None:
        self._inner.close()


def timed(served: Served, longer: float, rounds: int = ROUNDS) -> dict[str, list[float]]:
    """Seconds until each reply, by kind; the kinds take turns."""
    table = served.service.served_tables["visits"]
    made = table._worker
    table._worker = lambda: Delayed(made(), longer)  # type: ignore[method-assign]
    found: dict[str, list[float]] = defaultdict(list)

    async def one(kind: str, key: str) -> None:
        began = time.perf_counter()
        headers = {"Authorization": f"Bearer {key}"}
        body = {"sql": COUNT, "epsilon": "0.003"}
        told = await served.send("POST", "/v1/tables/visits/answers", json=body, headers=headers)
        found[kind].append(time.perf_counter() - began)
        assert told.status_code == (410 if "fails" in kind else 200), told.text

    async def one_round(number: int) -> None:
        kinds = KINDS[number % 4 :] + KINDS[: number % 4]
        keys = [served.key(f"{kind} {number} {turn}", Role.ANALYST) for turn in range(2) for kind in kinds]
        await asyncio.gather(*(one(kind, key) for kind, key in zip(2 * kinds, keys, strict=True)))

    for number in range(rounds):
        served.wait(one_round(number))
    return found


def apart(first: list[float], second: list[float]) -> bool:
    """Whether two samples are of two distributions; wrongly once in a million."""
    distance = max(
        abs(sum(one <= at for one in first) / len(first) - sum(one <= at for one in second) / len(second))
        for at in (*first, *second)
    )
    return distance > math.sqrt(math.log(2e6) / 2) * math.sqrt((len(first) + len(second)) / (len(first) * len(second)))


PAIRS = (("quick", "slow"), ("quick fails", "slow fails"), ("quick", "quick fails"))


@pytest.fixture
def longer(serve: Serve, tmp_path: Path) -> float:
    """Seconds that tell on this machine: three times what any of a few rounds took."""
    (tmp_path / "measured").mkdir()
    write_table(tmp_path / "measured")
    found = timed(serve(tmp_path / "measured", workers=8, reply_steps=0.0), 0.0, rounds=3)
    return max(0.7, 3 * max(max(one) for one in found.values()))


@pytest.mark.slow
def test_a_clock_tells_nothing_finer_than_steps(serve: Serve, longer: float) -> None:
    step = 4 * longer  # long enough for every draw, so that none is told at the next one, which steps do tell
    found = timed(serve(workers=8, reply_steps=step), longer)
    assert all(min(one) >= step for one in found.values())
    for first, second in PAIRS:
        assert not apart(found[first], found[second]), (first, sorted(found[first]), sorted(found[second]))


@pytest.mark.slow
def test_without_steps_the_same_clock_tells(serve: Serve, longer: float) -> None:
    found = timed(serve(workers=8, reply_steps=0.0), longer)
    assert apart(found["quick"], found["slow"])
    assert apart(found["quick fails"], found["slow fails"])
