"""Finite classes of hypotheses, each of which counts the mistakes of all its members at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.mechanisms.selection.scores import kind_of, read_count
from tacit.mechanisms.shared.any_floats import any_floats
from tacit.privacy.prices import price

__all__ = [
    "Conjunction",
    "Conjunctions",
    "HypothesisClass",
    "Interval",
    "Intervals",
    "Listed",
    "Threshold",
    "Thresholds",
    "read_labels",
    "read_numbers",
    "read_table",
]

Booleans = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

_MOST = 5_000_000


class HypothesisClass(Protocol):
    """What a learner needs of a class: public, finite, and a hypothesis says yes or no to one example at a time."""

    @property
    def size(self) -> int: ...

    def mistakes(self, examples: Any, labels: Booleans) -> Integers:
        """How many examples each hypothesis gets wrong; one example counts at most once, whatever the others."""

    def hypothesis(self, index: int) -> Any:
        """The hypothesis at this place: a value with ``predict(examples)``."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """Yes from the cut on.

    >>> Threshold(3.0).predict([1, 3, float("nan")]).tolist()
    [False, True, False]
    """

    cut: float

    def predict(self, examples: Any) -> Booleans:
        with np.errstate(invalid="ignore"):
            found: Booleans = read_numbers(examples) >= self.cut
        return found


@dataclass(frozen=True, slots=True)
class Interval:
    """Yes from low on and below high; never, where they are the same."""

    low: float
    high: float

    def predict(self, examples: Any) -> Booleans:
        numbers = read_numbers(examples)
        with np.errstate(invalid="ignore"):
            found: Booleans = (numbers >= self.low) & (numbers < self.high)
        return found


@dataclass(frozen=True, slots=True)
class Conjunction:
    """Yes where all of ``required`` features hold and none of ``forbidden``."""

    required: tuple[int, ...]
    forbidden: tuple[int, ...]

    def predict(self, examples: Any) -> Booleans:
        table = np.asarray(examples).astype(np.bool_)
        met = table[:, list(self.required)].all(axis=1) & ~table[:, list(self.forbidden)].any(axis=1)
        return np.asarray(met, dtype=np.bool_)


@dataclass(frozen=True, slots=True)
class _Predicate:
    function: Callable[[Any], Any]

    def predict(self, examples: Any) -> Booleans:
        return np.array([_says(self.function, example) for example in examples], dtype=np.bool_)


class Thresholds:
    """x ≥ cut, for public cuts.

    >>> Thresholds([0, 1, 2]).mistakes([0.5, 1.5, 2.5], read_labels([0, 1, 1], 3)).tolist()
    [1, 0, 1]
    """

    def __init__(self, cuts: Any) -> None:
        self.cuts = read_cuts(cuts)

    @property
    def size(self) -> int:
        return len(self.cuts)

    def mistakes(self, examples: Any, labels: Booleans) -> Integers:
        yes, no = _cells(self.cuts, examples, labels)
        missed = yes.cumsum()[:-1]  # positive examples below each cut
        wrong: Integers = missed + no.sum() - no.cumsum()[:-1]
        return wrong

    def hypothesis(self, index: int) -> Threshold:
        return Threshold(float(self.cuts[index]))

    def __repr__(self) -> str:
        return f"Thresholds({self.cuts.tolist()!r})"


class Intervals:
    """low ≤ x < high for any two public cuts, and the empty one, which comes last.

    >>> Intervals([0, 1, 2]).mistakes([0.5, 1.5, 2.5], read_labels([0, 1, 0], 3)).tolist()    # 0..1, 0..2, 1..2, none
    [2, 1, 0, 1]
    """

    def __init__(self, cuts: Any) -> None:
        self.cuts = read_cuts(cuts)
        _small(self.size)

    @property
    def size(self) -> int:
        return math.comb(len(self.cuts), 2) + 1

    def mistakes(self, examples: Any, labels: Booleans) -> Integers:
        yes, no = _cells(self.cuts, examples, labels)
        running = (no - yes).cumsum()[:-1]
        low, high = np.triu_indices(len(self.cuts), 1)
        missed = yes.sum()
        return np.append(missed + running[high] - running[low], missed)

    def hypothesis(self, index: int) -> Interval:
        low, high = np.triu_indices(len(self.cuts), 1)
        if index == self.size - 1:
            return Interval(float(self.cuts[0]), float(self.cuts[0]))
        return Interval(float(self.cuts[low[index]]), float(self.cuts[high[index]]))

    def __repr__(self) -> str:
        return f"Intervals({self.cuts.tolist()!r})"


class Conjunctions:
    """All 3^d conjunctions of d features that hold or do not: each is required, forbidden, or left alone.

    >>> made = Conjunctions(2)
    >>> wrong = made.mistakes([[1, 0], [1, 1], [0, 1]], read_labels([1, 1, 0], 3))
    >>> made.size, made.hypothesis(int(wrong.argmin()))
    (9, Conjunction(required=(0,), forbidden=()))
    """

    def __init__(self, features: int) -> None:
        self.features = read_count(features, "features", most=13)
        _small(self.size)

    @property
    def size(self) -> int:
        return int(3**self.features)

    def mistakes(self, examples: Any, labels: Booleans) -> Integers:
        codes = read_table(examples, self.features) @ (1 << np.arange(self.features - 1, -1, -1))
        yes = self._covered(np.bincount(codes[labels], minlength=1 << self.features))
        no = self._covered(np.bincount(codes[~labels], minlength=1 << self.features))
        wrong: Integers = int(labels.sum()) - yes + no
        return wrong

    def _covered(self, counts: Integers) -> Integers:
        """How many rows each conjunction covers: feature by feature, left alone, required, forbidden."""
        cube = counts.reshape((2,) * self.features)
        for axis in range(self.features):
            off, on = np.take(cube, 0, axis), np.take(cube, 1, axis)
            cube = np.stack((off + on, on, off), axis)
        return cube.reshape(-1)

    def hypothesis(self, index: int) -> Conjunction:
        digits = np.unravel_index(index, (3,) * self.features)
        required = tuple(i for i, digit in enumerate(digits) if digit == 1)
        return Conjunction(required, tuple(i for i, digit in enumerate(digits) if digit == 2))

    def __repr__(self) -> str:
        return f"Conjunctions({self.features})"


class Listed:
    """Any functions of one example, public; one that fails on an example says no to it.

    >>> made = Listed([str.isupper, str.islower])
    >>> made.mistakes(["A", "b", 7], read_labels([1, 0, 0], 3)).tolist()
    [0, 2]
    """

    def __init__(self, functions: Sequence[Callable[[Any], Any]]) -> None:
        self.functions = tuple(functions)
        if not self.functions or not all(map(callable, self.functions)):
            raise InvalidParameter("functions", given=list(functions), allowed="at least one function of an example")

    @property
    def size(self) -> int:
        return len(self.functions)

    def mistakes(self, examples: Any, labels: Booleans) -> Integers:
        rows = list(examples)
        return np.array([int((_Predicate(f).predict(rows) != labels).sum()) for f in self.functions], dtype=np.int64)

    def hypothesis(self, index: int) -> _Predicate:
        return _Predicate(self.functions[index])

    def __repr__(self) -> str:
        return f"Listed(<{self.size} functions>)"


def read_labels(labels: Any, count: int) -> Booleans:
    """One label per example: yes for anything but 0, False and NaN."""
    reals = any_floats(labels)
    if reals is None or reals.shape != (count,):
        raise InvalidParameter("labels", given=kind_of(labels), allowed="one number or truth value per example")
    return np.nan_to_num(reals, nan=0.0).astype(np.bool_)


def read_cuts(cuts: Any) -> Reals:
    """Public cuts, at least one, in order."""
    allowed = "at least one finite number"
    try:
        read = sorted({float(price(cut, "cuts")) for cut in (cuts.tolist() if hasattr(cuts, "tolist") else cuts)})
    except TypeError:
        raise InvalidParameter("cuts", given=cuts, allowed=allowed) from None
    if not read:
        raise InvalidParameter("cuts", given=cuts, allowed=allowed)
    return np.array(read)


def _cells(cuts: Reals, examples: Any, labels: Booleans) -> tuple[Integers, Integers]:
    """How many positive and negative examples have 0, 1, … cuts at or below them; NaN has none."""
    places = np.searchsorted(
        cuts, np.nan_to_num(read_numbers(examples), nan=-math.inf, posinf=math.inf, neginf=-math.inf), side="right"
    )
    cells = len(cuts) + 1
    return np.bincount(places[labels], minlength=cells), np.bincount(places[~labels], minlength=cells)


def read_numbers(examples: Any) -> Reals:
    """One number per example: too large is infinite, NaN stays."""
    reals = any_floats(examples)
    if reals is None or reals.ndim != 1:
        raise InvalidParameter("examples", given=kind_of(examples), allowed="a list of numbers")
    return reals


def read_table(examples: Any, features: int) -> Booleans:
    """A row of features per example, each there (anything but 0 and NaN) or not."""
    reals = any_floats(examples)
    if reals is None or reals.ndim != 2 or reals.shape[1] != features:
        allowed = f"a table of {features} columns of 0 and 1"
        raise InvalidParameter("examples", given=kind_of(examples), allowed=allowed)
    return np.nan_to_num(reals, nan=0.0).astype(np.bool_)


def _small(size: int) -> None:
    if size > _MOST:
        raise InvalidParameter("class", given=f"{size:,} hypotheses", allowed=f"at most {_MOST:,}")


def _says(function: Callable[[Any], Any], example: Any) -> bool:
    try:
        return bool(function(example))
    except Exception:  # what one example does must not be seen, nor change what is said of the others
        return False
