"""Drawing outcomes under both neighbours, call by call in random order; an exception is an outcome.

What changes with time or with the number of calls, such as a clock, a counter or a budget that runs out, then changes
for both alike.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from tacit.auditing.calls.inputs import copies
from tacit.auditing.reading.items import frozen
from tacit.auditing.reading.outcomes import (
    Outcomes,
    Raised,
    choose_origin,
    joined,
    read_frozen,
    read_outcomes,
    with_notes,
)
from tacit.errors import InvalidParameter
from tacit.noise.entropy import BitSource

__all__ = ["Both", "Drawn", "Features", "Sampler"]

Run = Callable[[Any], Any]
Repeated = Callable[[Any, int], Any]
Features = Mapping[str, Callable[[Any], Any]]
Drawn = tuple[list[Any], list[Any]]
Both = tuple[Outcomes, Outcomes]

_LOOPED = 4096
_NEVER = float("inf")


class Sampler:
    """Draws outcomes of a function of the data; ``batch`` at a time if it is above 1.

    A batch is what ``repeated`` gives, or what ``run`` gives for an array of that many inputs.
    """

    def __init__(
        self,
        run: Run,
        batch: int,
        progress: Callable[[int], None],
        coins: BitSource,
        *,
        repeated: Repeated | None = None,
        features: Features | None = None,
    ) -> None:
        self._run = run
        self._batch = batch
        self._progress = progress
        self._coins = coins
        self._repeated = repeated
        self._features = features or {}
        self.single = batch == 1
        self.calls = 0
        self.seconds = 0.0
        """Time in calls, the first aside: it may have loaded something."""
        self.work = 0.0
        """The same, and reading what came, in time of this process, which others on the machine hardly stretch."""
        self.message = ""
        """What the first exception said."""

    def draw(self, pair: tuple[Any, Any], count: int, origin: int | None = None, until: float = _NEVER) -> Both:
        """This many outcomes under each, or as many as there is time for, but at least one."""
        parts = list(self.batches(pair, count, origin, until))
        return joined([one for one, _ in parts]), joined([other for _, other in parts])

    def batches(
        self, pair: tuple[Any, Any], count: int, origin: int | None = None, until: float = _NEVER, step: int = _LOOPED
    ) -> Iterator[Both]:
        """This many outcomes under each, in parts of the same size for both."""
        step = self._batch if self._batch > 1 else step
        inputs = tuple(copies(data) for data in pair)
        drawn = 0
        while drawn < count and (drawn == 0 or time.monotonic() < until):
            size = min(step, count - drawn)
            both = self._together(pair, size) if self._batch > 1 else self._singly(inputs, size, until)
            size = len(both[0])
            if origin is None:
                origin = choose_origin(both[0])
            work = time.process_time()
            read = (self._read(both[0], origin), self._read(both[1], origin))
            self.work += time.process_time() - work
            drawn += size
            yield read
            self._progress(2 * size)

    def restart(self) -> None:
        """Measure the pace anew: other inputs may take longer."""
        self.calls, self.seconds, self.work = 0, 0.0, 0.0

    @property
    def pace(self) -> float:
        """Seconds for one outcome under each, by the calls so far."""
        return self.seconds / max(self.calls, 1)

    def _read(self, drawn: Any, origin: int) -> Outcomes:
        if not self._features:
            return read_frozen(drawn, origin) if self.single else read_outcomes(drawn, origin)
        raw = [item for item, _ in drawn]
        notes = {name: [noted[name] for _, noted in drawn] for name in self._features}
        return with_notes(read_frozen(raw, origin), notes)

    def _singly(self, inputs: tuple[Callable[[], Any], ...], count: int, until: float) -> Drawn:
        """One call after the other; a coin decides who of each two goes first."""
        drawn: Drawn = ([], [])
        first, second = inputs
        ones, others = drawn[0].append, drawn[1].append
        one = self._one
        coins = np.unpackbits(self._coins.words(-(-count // 64)).view(np.uint8)).tolist()
        start, work = time.monotonic(), time.process_time()
        for i in range(count):
            if coins[i]:
                ones(one(first))
                others(one(second))
            else:
                others(one(second))
                ones(one(first))
            if i == 0 and not self.calls:
                start, work = (time.monotonic(), time.process_time()) if count > 1 else (start, work)
            if until < _NEVER and time.monotonic() >= until:
                break
        self.calls += len(drawn[0])
        self.seconds += time.monotonic() - start
        self.work += time.process_time() - work
        return drawn

    def _one(self, fresh: Callable[[], Any]) -> Any:
        data = fresh()
        try:
            found = self._run(data)
            if self._features:
                return self._noted(found)
            return frozen(found)
        except (Exception, SystemExit) as error:  # whatever it is, an onlooker sees it
            raised = Raised.of(error)
            self.message = self.message or f"{raised.kind}: {raised.text}"
            read = raised if raised.more is None else frozen(raised)
            return (read, dict.fromkeys(self._features)) if self._features else read

    def _noted(self, found: Any) -> Any:
        """The outcome with what each feature says of it; a feature that fails says that."""
        notes = {}
        for name, feature in self._features.items():
            try:
                notes[name] = feature(found)
            except Exception as error:
                notes[name] = f"raises {type(error).__name__}"
        return frozen(found), notes

    def _together(self, pair: tuple[Any, Any], count: int) -> tuple[Any, Any]:
        start = time.monotonic()
        swapped = bool(self._coins.bits(1))
        drawn = [self._many(data, count) for data in (reversed(pair) if swapped else pair)]
        self.seconds += time.monotonic() - start
        self.calls += count
        return (drawn[1], drawn[0]) if swapped else (drawn[0], drawn[1])

    def _many(self, data: Any, count: int) -> Any:
        if self._repeated is not None:
            found = self._repeated(data, count)
            return [self._noted(one) for one in found] if self._features else found
        failed = False
        try:
            repeated = np.repeat(np.asarray(data)[None], count, axis=0)
            drawn = self._run(repeated)
        except (Exception, SystemExit):  # of one of them: ask one at a time to see which
            failed = True
        if failed:  # and this error is over, or it would be the context of theirs
            fresh = copies(data)
            return [_as_in_a_batch(self._one(fresh)) for _ in range(count)]
        if not hasattr(drawn, "__len__") or len(drawn) != count:
            given = type(drawn).__name__ + (f" of length {len(drawn)}" if hasattr(drawn, "__len__") else "")
            allowed = f"a function that turns an array of {count} inputs into {count} outcomes"
            hint = "Leave batch out, and it is called with one input at a time."
            raise InvalidParameter("batch", given=given, allowed=allowed, hint=hint)
        if self._features:
            return [self._noted(one) for one in drawn]
        return drawn.copy() if isinstance(drawn, np.ndarray) else [frozen(one) for one in drawn]


def _as_in_a_batch(found: Any) -> Any:
    """A row as arrays of rows are read: what type it had alone is not to be told from whether a batch failed."""
    if isinstance(found, np.ndarray | np.generic):
        return found.tolist()
    return list(found) if type(found) is tuple else found
