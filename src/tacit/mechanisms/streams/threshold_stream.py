"""A stream of questions against a noisy threshold: asked one at a time or in arrays, until the allowance is used up."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from tacit.errors import Exhausted, InvalidParameter, NotPrivate
from tacit.mechanisms.selection.scores import kind_of
from tacit.mechanisms.shared.inputs import real_numbers
from tacit.mechanisms.shared.promise import within_floats
from tacit.noise.entropy import BitSource
from tacit.noise.floors import chunks
from tacit.noise.hurdles import ManyThrows, Throw, Throws, gap_floor, reaches
from tacit.noise.lattice import LARGEST, Lattice

__all__ = ["Closed", "ThresholdStream", "exact_value", "read_queries", "read_query", "read_threshold", "usable_scale"]

Booleans = npt.NDArray[np.bool_]

_VALUE_SLACK = 2.0**-49  # of |value| + |threshold|: both become floats, and are subtracted
_FIRST_BLOCK = 256


class Closed:
    """What holds secret noise and an allowance: it cannot be copied, pickled or carried into a forked process."""

    __slots__ = ("_lock", "_process")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process = os.getpid()

    def _same_process(self) -> None:
        if os.getpid() != self._process:
            raise NotPrivate("A stream cannot be used after a fork: both processes would share its noise. Start anew.")

    def __copy__(self) -> NoReturn:
        raise NotPrivate("A stream cannot be copied: the copy would answer with the same noise and a fresh allowance.")

    def __deepcopy__(self, memo: object) -> NoReturn:
        self.__copy__()

    def __reduce__(self) -> NoReturn:
        raise NotPrivate("A stream cannot be pickled: whoever reads it could remove the noise.")


class ThresholdStream(Closed):
    """Answers whether value + noise reaches threshold + noise; ends after its hits, or its length if there is one.

    Each value must have the sensitivity that the mechanism was given. It may depend on the answers so far.
    """

    __slots__ = (
        "_asked",
        "_bar",
        "_bars",
        "_entropy",
        "_gap",
        "_granule",
        "_jumps",
        "_last",
        "_left",
        "_length",
        "_redrawn",
        "_threshold",
        "_threshold_float",
    )

    def __init__(
        self,
        threshold: Fraction,
        *,
        jumps: Throws,
        bars: Throws,
        redrawn: bool,
        hits: int,
        entropy: BitSource,
        length: int | None = None,
        granule: Lattice | None = None,
    ) -> None:
        super().__init__()
        self._threshold = threshold
        self._threshold_float = float(threshold)
        self._jumps = jumps
        self._bars = bars
        self._redrawn = redrawn
        self._left = hits
        self._length = length
        self._granule = granule
        self._entropy = entropy
        self._asked = 0
        self._bar: Throw = bars.one(entropy)
        self._last: tuple[ManyThrows, int, Fraction, Throw] | None = None
        self._gap: float | None = None

    @property
    def exhausted(self) -> bool:
        """Whether the allowance is used up: the next question raises."""
        return self._left == 0 or self._asked == self._length

    @property
    def hits_left(self) -> int:
        """How many more times the answer may be True."""
        return self._left

    @property
    def asked(self) -> int:
        """How many questions were answered."""
        return self._asked

    def ask(self, value: Any) -> bool:
        """Whether the noisy value reaches the noisy threshold. True uses up one hit, False is free."""
        read = read_query(value)
        with self._lock:
            self._ready()
            return bool(self._answer(_one(read))[0])

    def ask_many(self, values: Any) -> Booleans:
        """The answers in order; fewer than the values if the allowance was used up on the way."""
        read = read_queries(values)
        with self._lock:
            self._ready()
            return self._answer(read)

    @property
    def gap(self) -> float:
        """By how much the last hit's noisy value exceeded the noisy threshold, on a public lattice: free of charge.

        Threshold + gap estimates the value; its noise is that of the query less that of the threshold.
        """
        with self._lock:
            self._same_process()
            if self._granule is None:
                raise NotPrivate("The gap is proved to be free for Laplace noise only; ask NumericSparse for numbers.")
            if self._last is None:
                raise InvalidParameter("gap", given=None, allowed="after an answer of True: there was none yet")
            if self._gap is None:
                jumps, index, value, bar = self._last
                steps = gap_floor(value - self._threshold, jumps.throw(index), bar, self._granule.granule)
                self._gap = self._granule.value(steps)
            return self._gap

    def _ready(self) -> None:
        self._same_process()
        if self.exhausted:
            raise Exhausted(
                "The stream has used up its allowance; nothing was drawn. Start another with .start(), and pay again."
            )

    def _answer(self, values: npt.NDArray[Any]) -> Booleans:
        if self._length is not None:
            values = values[: self._length - self._asked]
        out = np.zeros(values.size, dtype=np.bool_)
        for where in chunks(values.size):
            part = values[where]
            done = self._chunk(part, out[where])
            self._asked += done
            if self.exhausted:
                return out[: where.start + done]
        return out

    def _chunk(self, values: npt.NDArray[Any], out: Booleans) -> int:
        """Answers into ``out``; how many were given."""
        jumps = self._jumps.many(values.size, self._entropy)
        leads, slack = self._leads(values)
        leads += jumps.reals
        at, block = 0, _FIRST_BLOCK if self._redrawn else values.size
        while at < values.size:
            stop = min(at + block, values.size)
            hit = self._first_hits(values, leads[at:stop] - self._bar.real, slack[at:stop], at, jumps, out)
            if self._left == 0:
                return hit + 1
            at, block = (stop, 4 * block) if hit < 0 else (hit + 1, _FIRST_BLOCK)
        return values.size

    def _first_hits(
        self,
        values: npt.NDArray[Any],
        margins: npt.NDArray[np.float64],
        slack: npt.NDArray[np.float64],
        start: int,
        jumps: ManyThrows,
        out: Booleans,
    ) -> int:
        """Record hits until the threshold changes or the allowance is used up: the index of that hit, or -1."""
        for i in np.flatnonzero(~(margins < -slack)):
            index = start + int(i)
            if not margins[i] > slack[i]:
                lead = exact_value(values[index]) - self._threshold
                if not reaches(lead, jumps.throw(index), self._bar):
                    continue
            out[index] = True
            self._left -= 1
            self._last, self._gap = (jumps, index, exact_value(values[index]), self._bar), None
            if self._left == 0:
                return index
            if self._redrawn:
                self._bar = self._bars.one(self._entropy)
                return index
        return -1

    def _leads(self, values: npt.NDArray[Any]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """value - threshold in floats, and a bound on the error of a margin made from it."""
        floats = np.array([_float(v) for v in values]) if values.dtype == object else values.astype(np.float64)
        with np.errstate(over="ignore"):
            slack = np.abs(floats)
            slack += abs(self._threshold_float)
            slack *= _VALUE_SLACK
            slack += self._jumps.slack + self._bars.slack
            floats -= self._threshold_float
        return floats, slack

    def __repr__(self) -> str:
        state = "exhausted" if self.exhausted else f"{self._left} hits left"
        return f"<{type(self).__name__}: {self._asked} asked, {state}>"


def read_query(value: Any) -> float | Fraction:
    """One exact number; NaN and infinity are refused."""
    read = real_numbers(value)
    if isinstance(read, np.ndarray):
        if read.ndim:
            hint = "Use .ask_many(values) for several at once."
            raise InvalidParameter("value", given=kind_of(value), allowed="one number", hint=hint)
        return Fraction(read.item())
    return read


def read_threshold(threshold: Any) -> Fraction:
    """A public threshold, exactly; those beyond the floats are refused."""
    exact = Fraction(read_query(threshold))
    if abs(exact) > LARGEST:
        raise InvalidParameter("threshold", given=kind_of(threshold), allowed="a number that a float can hold")
    return exact


def usable_scale(scale: Fraction) -> Fraction:
    """The scale of noise, refused where the error bounds of the comparisons would leave the floats."""
    return within_floats(scale, bits=450)


def read_queries(values: Any) -> npt.NDArray[Any]:
    """A flat array of exact numbers."""
    if isinstance(values, Iterable) and (not isinstance(values, np.ndarray) or values.dtype == object):
        values = list(values)
        if not values:
            return np.empty(0)
    read = real_numbers(values)
    if not isinstance(read, np.ndarray) or read.ndim != 1:
        hint = "Use .ask(value) for one." if not isinstance(read, np.ndarray) else ""
        raise InvalidParameter("values", given=kind_of(values), allowed="a one-dimensional array of numbers", hint=hint)
    return read


def _one(value: float | Fraction) -> npt.NDArray[Any]:
    if isinstance(value, float):
        return np.array([value])
    out = np.empty(1, dtype=object)
    out[0] = value
    return out


def exact_value(value: Any) -> Fraction:
    return Fraction(value.item() if isinstance(value, np.generic) else value)


def _float(value: Fraction | float | int) -> float:
    try:
        return float(value)
    except OverflowError:
        return 1e308 if value > 0 else -1e308  # the sign is all that matters out there
