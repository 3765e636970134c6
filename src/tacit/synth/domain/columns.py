"""The columns of a table to be made up: which values there are, public; each row's value becomes a code, totally."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.mechanisms.selection.scores import kind_of
from tacit.mechanisms.shared.any_floats import any_floats
from tacit.privacy.prices import price, text

__all__ = ["MOST_CELLS", "Column", "Dates", "Listed", "Numbers"]

Codes = npt.NDArray[np.int64]
MOST_CELLS = 1_000_000
"""Values of one column."""
_CELLS = 100
_EPOCH = datetime.date(1970, 1, 1)


class Column(Protocol):
    """A column: ``cells`` public values, numbered from 0, and one number more for missing if that is allowed."""

    @property
    def name(self) -> str:
        """As in the table."""

    @property
    def cells(self) -> int:
        """How many values there are, without missing."""

    @property
    def ordered(self) -> bool:
        """Whether neighbouring numbers are alike."""

    @property
    def missing(self) -> bool:
        """Whether missing is a value of its own, the last one."""

    def encode(self, values: Any) -> Codes:
        """The number of each row's value: -1 for what is missing or not among the values. Never fails on a value."""

    def decode(self, codes: Codes, uniform: npt.NDArray[np.float64]) -> list[Any]:
        """Values for numbers from 0 to cells - 1; a uniform number each says where within a cell."""

    def label(self, code: int) -> str:
        """What a value is called in reports."""

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A column whose values are listed: texts, truth values, numbers, days; what is not listed counts as missing.

    With ``missing`` the list may be empty: a column of which nothing is known.

    >>> Listed("plan", ("free", "pro")).encode(["pro", "free", None, "PRO"]).tolist()
    [1, 0, -1, -1]
    """

    name: str
    values: tuple[Any, ...]
    ordered: bool = False
    missing: bool = False

    def __post_init__(self) -> None:
        read_name(self.name)
        kinds = (str, bool, int, float, datetime.date, datetime.datetime)
        fine = all(isinstance(value, kinds) and value == value for value in self.values)
        some = bool(self.values) or self.missing
        if not some or not fine or len(set(self.values)) < len(self.values) or len(self.values) > MOST_CELLS:
            allowed = f"from 1 to {MOST_CELLS:,} different texts, numbers, truth values or days; missing is not listed"
            raise InvalidParameter(f"values of {self.name}", given=kind_of(self.values), allowed=allowed)

    @property
    def cells(self) -> int:
        return len(self.values)

    def encode(self, values: Any) -> Codes:
        fast = _small_numbers(self.values, values)
        if fast is not None:
            return fast
        places = {value: place for place, value in enumerate(self.values)}
        return np.fromiter((_place(places, value) for value in plain(values)), dtype=np.int64)

    def decode(self, codes: Codes, uniform: npt.NDArray[np.float64]) -> list[Any]:
        values = self.values
        return [values[code] for code in codes.tolist()]

    def label(self, code: int) -> str:
        return str(self.values[code])

    def to_dict(self) -> dict[str, Any]:
        values = [_written(value) for value in self.values]
        return {"kind": "listed", "name": self.name, "values": values, "ordered": self.ordered, "missing": self.missing}


@dataclass(frozen=True, slots=True)
class Numbers:
    """A column of numbers between public bounds, in cells of equal width; beyond them values are clamped.

    >>> age = Numbers("age", 0, 120, whole=True)
    >>> age.cells, age.encode([0, 7.2, 500, None, float("nan")]).tolist()
    (121, [0, 7, 120, -1, -1])
    """

    name: str
    low: Any
    high: Any
    whole: bool = False
    bins: int | None = None
    missing: bool = False

    def __post_init__(self) -> None:
        read_name(self.name)
        low, high = (price(end, f"bounds of {self.name}") for end in (self.low, self.high))
        whole = not self.whole or (low.denominator == high.denominator == 1)
        if not low <= high or (low == high and not self.whole) or not whole or max(abs(low), abs(high)) > 2**53:
            allowed = "a lower bound below the upper one, whole for whole numbers, within ±2^53"
            raise InvalidParameter(f"bounds of {self.name}", given=(self.low, self.high), allowed=allowed)
        if self.bins is not None and not (type(self.bins) is int and 1 <= self.bins <= MOST_CELLS):
            allowed = f"from 1 to {MOST_CELLS:,} cells"
            raise InvalidParameter(f"bins of {self.name}", given=self.bins, allowed=allowed)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @property
    def ordered(self) -> bool:
        return True

    @property
    def width(self) -> Fraction:
        """Of a cell: at least 1 for whole numbers."""
        span: Fraction = self.high - self.low + (1 if self.whole else 0)
        if self.whole and self.bins is None and span <= 2 * _CELLS:
            return Fraction(1)
        width = span / (self.bins or _CELLS)
        return Fraction(max(1, math.ceil(width))) if self.whole else width

    @property
    def cells(self) -> int:
        span: Fraction = self.high - self.low + (1 if self.whole else 0)
        return max(1, math.ceil(span / self.width))

    def encode(self, values: Any) -> Codes:
        reals = floats(values)
        missing = np.isnan(reals)
        low, high, width = float(self.low), float(self.high), float(self.width)
        inside = np.clip(np.where(missing, low, reals), low, high)
        codes = np.floor((inside - low) / width).astype(np.int64)
        return np.where(missing, -1, np.clip(codes, 0, self.cells - 1))

    def decode(self, codes: Codes, uniform: npt.NDArray[np.float64]) -> list[Any]:
        low, width, high = float(self.low), float(self.width), float(self.high)
        if self.whole:
            steps = np.minimum(np.floor(uniform * width), width - 1)
            return [int(value) for value in np.minimum(low + codes * width + steps, high)]
        digits = max(0, 2 - math.floor(math.log10(width)))
        made = np.clip(np.round(low + (codes + uniform) * width, digits), low, high)
        return [float(value) for value in made]

    def label(self, code: int) -> str:
        start = self.low + code * self.width
        if self.whole and self.width == 1:
            return text(start)
        end = min(start + self.width - 1, self.high) if self.whole else min(start + self.width, self.high)
        return f"{_short(start)}–{_short(end)}"

    def to_dict(self) -> dict[str, Any]:
        ends = {"low": text(self.low), "high": text(self.high)}
        return {"kind": "numbers", "name": self.name, **ends, "whole": self.whole, "bins": self.bins} | {
            "missing": self.missing
        }


@dataclass(frozen=True, slots=True)
class Dates:
    """A column of days between two public days; later and earlier ones are clamped.

    >>> seen = Dates("seen", datetime.date(2026, 1, 1), datetime.date(2026, 1, 31))
    >>> seen.cells, seen.encode([datetime.date(2026, 1, 2), "2030-01-01", None, "soon"]).tolist()
    (31, [1, 30, -1, -1])
    """

    name: str
    low: datetime.date
    high: datetime.date
    missing: bool = False

    def __post_init__(self) -> None:
        read_name(self.name)
        days = [_day(end) for end in (self.low, self.high)]
        if math.isnan(days[0]) or math.isnan(days[1]) or days[0] > days[1]:
            given, allowed = (self.low, self.high), "a first day and a last day"
            raise InvalidParameter(f"bounds of {self.name}", given=given, allowed=allowed)
        for field, day in zip(("low", "high"), days, strict=True):
            object.__setattr__(self, field, _EPOCH + datetime.timedelta(days=int(day)))

    @staticmethod
    def day_of(value: object) -> float:
        """Days since 1970, NaN for what is no day."""
        return _day(value)

    @property
    def in_days(self) -> Numbers:
        """The column as whole numbers of days since 1970."""
        return Numbers(self.name, int(_day(self.low)), int(_day(self.high)), whole=True, missing=self.missing)

    @property
    def ordered(self) -> bool:
        return True

    @property
    def cells(self) -> int:
        return self.in_days.cells

    def encode(self, values: Any) -> Codes:
        return self.in_days.encode([_day(value) for value in plain(values)])

    def decode(self, codes: Codes, uniform: npt.NDArray[np.float64]) -> list[Any]:
        return [_EPOCH + datetime.timedelta(days=day) for day in self.in_days.decode(codes, uniform)]

    def label(self, code: int) -> str:
        start = int(self.in_days.low + code * self.in_days.width)
        return str(_EPOCH + datetime.timedelta(days=start))

    def to_dict(self) -> dict[str, Any]:
        ends = {"low": self.low.isoformat(), "high": self.high.isoformat()}
        return {"kind": "dates", "name": self.name, **ends, "missing": self.missing}


def read_name(name: object) -> None:
    """Refuse what is no name of a column."""
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        raise InvalidParameter("column", given=name, allowed="a name of visible text")


def plain(values: Any) -> Iterable[Any]:
    """The values as Python has them."""
    for method in ("to_pylist", "tolist"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    return list(values)


def floats(values: Any) -> npt.NDArray[np.float64]:
    """The values as doubles, NaN for what is no number; infinities stay."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iufb":
        return values.astype(np.float64)
    return np.fromiter((_float(value) for value in plain(values)), dtype=np.float64)


def _float(value: Any) -> float:
    try:
        is_number = isinstance(value, int | float | np.number | Fraction) or hasattr(value, "as_integer_ratio")
        read = any_floats([value]) if is_number else None
        return math.nan if read is None or read.shape != (1,) else float(read[0])
    except Exception:  # what one row holds must not be seen
        return math.nan


def _day(value: Any) -> float:
    """Days since 1970, NaN for what is no day."""
    try:
        if isinstance(value, str):
            value = datetime.date.fromisoformat(value[:10])
        if isinstance(value, datetime.datetime):
            value = value.date()
        return float((value - _EPOCH).days)
    except Exception:  # what one row holds must not be seen
        return math.nan


def _place(places: dict[Any, int], value: Any) -> int:
    try:
        return places.get(value, -1)
    except Exception:  # unhashable, or compares in strange ways: not listed
        return -1


def _small_numbers(listed: Sequence[Any], values: Any) -> Codes | None:
    """Codes at array speed where the list is 0, 1, 2, … and the values are an array of integers: by types alone."""
    if not (isinstance(values, np.ndarray) and values.dtype.kind in "iu") or listed != tuple(range(len(listed))):
        return None
    if any(type(value) is not int for value in listed):
        return None
    inside = (values >= 0) & (values < len(listed))
    return np.where(inside, values, -1).astype(np.int64)


def _short(value: Fraction) -> str:
    return f"{float(value):.6g}"


def _written(value: Any) -> Any:
    if isinstance(value, datetime.datetime):
        return {"time": value.isoformat()}
    return {"day": value.isoformat()} if isinstance(value, datetime.date) else value
