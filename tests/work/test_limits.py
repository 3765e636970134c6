"""Limits are read exactly, and what is none is refused."""

from __future__ import annotations

import pytest

from tacit.errors import InvalidParameter
from tacit.work.limits import Work, bytes_in


@pytest.mark.parametrize(("text", "size"), [("1B", 1), ("2 GB", 2 * 10**9), ("1.5MiB", 3 * 2**19), ("10kb", 10**4)])
def test_sizes(text: str, size: int) -> None:
    assert bytes_in(text, "memory") == size


@pytest.mark.parametrize("text", ["", "GB", "-1GB", "1 elephant", "1e3", 0, -1, 1.5, True, None, "9999999999TB"])
def test_what_is_no_size_is_refused(text: object) -> None:
    for name in ("memory", "disk"):
        with pytest.raises(InvalidParameter, match=f"{name}: given"):
            Work(**{name: text})  # type: ignore[arg-type]


@pytest.mark.parametrize("given", [0, -1, float("nan"), float("inf"), "60", True, None, 10**7])
def test_what_are_no_seconds_is_refused(given: object) -> None:
    with pytest.raises(InvalidParameter, match="seconds: given"):
        Work(seconds=given)  # type: ignore[arg-type]


def test_replies_wait_for_the_next_step() -> None:
    work = Work(reply_steps=2)
    times = [0.0, 0.1, 2.0, 2.1, 4.0, 5.0, 9.0]
    assert [passed + work.until_step(passed) for passed in times] == [2, 2, 2, 4, 4, 8, 16]
    assert Work().until_step(3.7) == 0
