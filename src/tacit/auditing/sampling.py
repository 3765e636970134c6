"""Drawing outcomes: one call for each, or one call for a whole batch; an exception is an outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tacit.auditing.outcomes import Outcomes, Raised, choose_origin, joined, read_outcomes
from tacit.errors import InvalidParameter

__all__ = ["Sampler"]

Run = Callable[[Any], Any]
Repeated = Callable[[Any, int], Any]

_LOOPED = 4096


class Sampler:
    """Draws outcomes of a function of the data; ``batch`` at a time if it is above 1.

    A batch is what ``repeated`` gives, or what ``run`` gives for an array of that many inputs.
    """

    def __init__(
        self, run: Run, batch: int, progress: Callable[[int], None], *, repeated: Repeated | None = None
    ) -> None:
        self._run = run
        self._batch = batch
        self._progress = progress
        self._repeated = repeated

    def draw(self, data: Any, count: int, origin: int | None = None) -> Outcomes:
        """This many outcomes at once; without an origin for whole numbers, one is chosen."""
        return joined(list(self.batches(data, count, origin)))

    def batches(self, data: Any, count: int, origin: int | None = None) -> Iterator[Outcomes]:
        """This many outcomes, in parts."""
        step = self._batch if self._batch > 1 else _LOOPED
        for start in range(0, count, step):
            size = min(step, count - start)
            drawn = self._together(data, size) if self._batch > 1 else self._singly(data, size)
            if origin is None:
                origin = choose_origin(drawn)
            yield read_outcomes(drawn, origin)
            self._progress(size)

    def _singly(self, data: Any, count: int) -> list[Any]:
        return [self._one(data) for _ in range(count)]

    def _one(self, data: Any) -> Any:
        try:
            return self._run(data)
        except Exception as error:  # whatever it is, an onlooker sees it
            return Raised(type(error).__name__, _text(error))

    def _together(self, data: Any, count: int) -> Any:
        if self._repeated is not None:
            return self._repeated(data, count)
        try:
            repeated = np.repeat(np.asarray(data)[None], count, axis=0)
            drawn = self._run(repeated)
        except Exception:  # of one of them: ask one at a time to see which
            return self._singly(data, count)
        if not hasattr(drawn, "__len__") or len(drawn) != count:
            given = type(drawn).__name__ + (f" of length {len(drawn)}" if hasattr(drawn, "__len__") else "")
            allowed = f"a function that turns an array of {count} inputs into {count} outcomes"
            hint = "Leave batch out, and it is called with one input at a time."
            raise InvalidParameter("batch", given=given, allowed=allowed, hint=hint)
        return drawn


def _text(error: Exception) -> str:
    try:
        return str(error)
    except Exception:  # a text that cannot be had is none
        return ""
