"""What a mechanism did, as columns: the form of each outcome, the numbers in it, their bits, and the whole.

An outcome is anything: a number, a text, None, a frame, a list or an array of such, nested; or the exception that was
raised. Whether a batch came as an array or one outcome at a time makes no difference to its columns.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.auditing.reading.forms import Raised, form_code, form_words, list_words
from tacit.auditing.reading.inside import array_words
from tacit.auditing.reading.items import ATOMS, PLAIN, SCALARS, Read, frozen, read_item

__all__ = [
    "MISSING",
    "Codes",
    "Outcomes",
    "Raised",
    "Reals",
    "choose_origin",
    "form_words",
    "joined",
    "read_frozen",
    "read_outcomes",
    "with_notes",
]

Codes = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Column = npt.NDArray[Any]

MISSING = np.iinfo(np.int64).min
"""The label of what is not there."""
_MOST_NUMBERS = 4096
_MOST_CELLS = 1 << 22  # numbers of one batch that are kept
_MIX = np.uint64(0x9E3779B97F4A7C15)
_INT64 = 1 << 63


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """n outcomes as columns; ``numbers`` and ``bits`` have one column for each number in an outcome."""

    form: Codes
    """A code for the structure: types, lengths, texts without their numbers, None."""
    numbers: Reals
    """The numbers less ``origin``; NaN where there is none."""
    bits: Codes
    """Whole numbers modulo 2^64, floats bit by bit."""
    whole_number: npt.NDArray[np.bool_]
    """Which columns hold a whole number."""
    whole: Codes
    """A code for the outcome, all of it."""
    counts: Codes
    """How many numbers there are in each outcome, also beyond those that are kept."""
    origin: int
    opaque: npt.NDArray[np.bool_]
    """Which outcomes hold something that could not be read."""
    marks: Mapping[str, Column] = field(default_factory=dict)
    """Further columns by name: floats are numbers, whole numbers are labels."""

    def __len__(self) -> int:
        return len(self.form)

    @property
    def width(self) -> int:
        return int(self.numbers.shape[1])

    def rows(self, chosen: Any) -> Outcomes:
        """Some of the outcomes: by a slice, or by their places."""
        return Outcomes(
            self.form[chosen],
            self.numbers[chosen],
            self.bits[chosen],
            self.whole_number[chosen],
            self.whole[chosen],
            self.counts[chosen],
            self.origin,
            self.opaque[chosen],
            {name: column[chosen] for name, column in self.marks.items()},
        )

    def widened(self, width: int) -> Outcomes:
        """The same with this many columns of numbers: more are cut off, missing ones are NaN."""
        if width == self.width:
            return self
        have = min(self.width, width)
        numbers = np.full((len(self), width), np.nan)
        bits = np.zeros((len(self), width), dtype=np.int64)
        whole = np.zeros((len(self), width), dtype=np.bool_)
        numbers[:, :have], bits[:, :have] = self.numbers[:, :have], self.bits[:, :have]
        whole[:, :have] = self.whole_number[:, :have]
        return Outcomes(self.form, numbers, bits, whole, self.whole, self.counts, self.origin, self.opaque, self.marks)

    def mark(self, name: str) -> Column:
        """A further column, also where no outcome of this batch has it."""
        found = self.marks.get(name)
        return np.full(len(self), MISSING) if found is None else found


def joined(parts: Sequence[Outcomes]) -> Outcomes:
    """Several batches as one."""
    if len(parts) == 1:
        return parts[0]
    width = max(part.width for part in parts)
    wide = [part.widened(width) for part in parts]
    return Outcomes(
        np.concatenate([part.form for part in wide]),
        np.concatenate([part.numbers for part in wide]),
        np.concatenate([part.bits for part in wide]),
        np.concatenate([part.whole_number for part in wide]),
        np.concatenate([part.whole for part in wide]),
        np.concatenate([part.counts for part in wide]),
        parts[0].origin,
        np.concatenate([part.opaque for part in wide]),
        _joined_marks(wide),
    )


def _joined_marks(parts: Sequence[Outcomes]) -> dict[str, Column]:
    names = dict.fromkeys(name for part in parts for name in part.marks)
    return {name: _one_kind([part.mark(name) for part in parts]) for name in names}


def _one_kind(columns: Sequence[Column]) -> Column:
    """Numbers stay numbers only where all of them are."""
    if len({column.dtype for column in columns}) > 1:
        columns = [_as_numbers(column) for column in columns]
    return np.concatenate(columns)


def _as_numbers(column: Column) -> Reals:
    found: Reals = np.where(column == MISSING, np.nan, column.astype(np.float64))
    return found


def read_outcomes(drawn: Any, origin: int) -> Outcomes:
    """The columns of a batch: an array with one outcome in each row, or a list of outcomes."""
    if isinstance(drawn, np.ndarray) and drawn.dtype.kind in "biuf" and drawn.dtype.itemsize <= 8 and drawn.ndim:
        return _from_array(drawn, origin)
    return read_frozen([frozen(item) for item in drawn], origin)


def choose_origin(drawn: Any) -> int:
    """What to subtract from whole numbers so that floats can tell them apart: 0, or one of them if they are large."""
    flat = drawn.reshape(-1) if isinstance(drawn, np.ndarray) else drawn
    for item in flat[:100]:
        leaf = next(iter(read_item(item).leaves), None)
        if isinstance(leaf, numbers.Integral) and abs(int(leaf)) >= 1 << 52:
            return int(leaf)
    return 0


def _kept_width(count: int, width: int) -> int:
    return min(width, _MOST_NUMBERS, max(64, _MOST_CELLS // max(count, 1)))


def _from_array(array: npt.NDArray[Any], origin: int, seen: str = "") -> Outcomes:
    """One outcome in each row; ``seen`` says what the rows were before."""
    count = len(array)
    rows = array.reshape(count, -1)
    kind = "bool" if array.dtype.kind == "b" else "int" if array.dtype.kind in "iu" else "float"
    form = np.full(count, form_code(_row_words([kind] * rows.shape[1], seen, single=array.ndim == 1)))
    if kind == "float":
        _mark_nan(form, np.isnan(rows), seen, single=array.ndim == 1)
        values = rows.astype(np.float64)
        bits = values.view(np.int64)
        floats = values
    else:
        bits = rows.astype(np.uint64).view(np.int64) if array.dtype.kind == "u" else rows.astype(np.int64)
        floats = _less_origin(rows, origin)
    keep = slice(0, _kept_width(count, rows.shape[1]))
    return Outcomes(
        form=form,
        numbers=floats[:, keep],
        bits=bits[:, keep],
        whole_number=np.broadcast_to(np.bool_(kind != "float"), (count, min(rows.shape[1], keep.stop))),
        whole=_mixed(bits, form),
        counts=np.full(count, rows.shape[1]),
        origin=origin,
        opaque=np.broadcast_to(np.bool_(False), (count,)),
    )


def _row_words(kinds: list[str], seen: str, *, single: bool) -> str:
    return f"{seen} {kinds[0]}".strip() if single else seen + list_words(kinds)


def _mark_nan(form: Codes, missing: npt.NDArray[np.bool_], seen: str, *, single: bool) -> None:
    """The forms of the rows with NaN in them: one for each pattern of NaN."""
    places = np.flatnonzero(missing.any(axis=1))
    if not places.size:
        return
    patterns = np.packbits(missing[places], axis=1)
    axis = None if patterns.shape[1] == 1 else 0  # up to eight numbers are one byte, and bytes are sorted faster
    _, first, which = np.unique(patterns, axis=axis, return_index=True, return_inverse=True)
    kinds = [["NaN" if gap else "float" for gap in missing[places[i]].tolist()] for i in first]
    codes = np.array([form_code(_row_words(row, seen, single=single)) for row in kinds])
    form[places] = codes[which.reshape(-1)]


def _less_origin(rows: npt.NDArray[Any], origin: int) -> Reals:
    floats = rows.astype(np.float64)
    if not origin:
        return floats
    coarse = floats - float(origin)
    with np.errstate(over="ignore"):
        fine = (rows.astype(np.int64) - np.int64(_wrapped(origin))).astype(np.float64)
    result: Reals = np.where(np.abs(coarse) < 2.0**61, fine, coarse)
    return result


def read_frozen(items: list[Any], origin: int) -> Outcomes:
    """The same of outcomes that were read when they came: equal plain shapes through an array, others one by one."""
    groups: dict[Any, list[int]] = {}
    for i, item in enumerate(items):
        groups.setdefault(_plain_shape(item), []).append(i)
    parts = []
    for shape, places in groups.items():
        chosen = [items[i] for i in places] if len(groups) > 1 else items
        parts.append(_from_same(chosen, origin) if shape is not None else _one_by_one(chosen, origin))
    if len(parts) == 1:
        return parts[0]
    back = np.argsort(np.concatenate([np.array(places) for places in groups.values()]), kind="stable")
    return joined(parts).rows(back)


def _plain_shape(item: Any) -> Any:
    """What a number, an array of numbers or a list of numbers of one type looks like; None for anything else."""
    kind = type(item)
    if kind in PLAIN or kind in SCALARS:
        return kind
    if kind is tuple or kind is list:  # of one plain type: others have been read
        return kind, type(item[0]), len(item)
    return (item.dtype, item.shape) if kind is np.ndarray else None


def _shape_words(item: Any) -> str:
    """What an onlooker sees of a plain shape besides its numbers; nothing for plain numbers and lists of them."""
    if type(item) is np.ndarray:
        return array_words(item)
    return "" if type(item) in PLAIN or type(item) is list else type(item).__name__


def _from_same(items: list[Any], origin: int) -> Outcomes:
    array = np.array(items)
    if array.dtype.kind in "biuf" and array.dtype.itemsize <= 8 and array.dtype != np.uint64:
        return _from_array(array, origin, _shape_words(items[0]))
    return _one_by_one(items, origin)


def _one_by_one(items: list[Any], origin: int) -> Outcomes:
    """Texts and None are read once each, however often they were drawn."""
    if not set(map(type, items)) <= ATOMS:
        return _each_read(items, origin)
    places = {item: i for i, item in enumerate(dict.fromkeys(items))}
    return _each_read(list(places), origin).rows(np.array([places[item] for item in items], dtype=np.intp))


def _each_read(items: list[Any], origin: int) -> Outcomes:
    found = [read_item(item) for item in items]
    count = len(items)
    counts = np.array([len(one.leaves) for one in found], dtype=np.int64)
    width = _kept_width(count, int(counts.max(initial=0)))
    values = np.full((count, width), np.nan)
    bits = np.zeros((count, width), dtype=np.int64)
    whole_number = np.zeros((count, width), dtype=np.bool_)
    form = np.empty(count, dtype=np.int64)
    whole = np.empty(count, dtype=np.int64)
    for i, (item, one) in enumerate(zip(items, found, strict=True)):
        form[i] = form_code(one.words)
        codes = []
        for j, leaf in enumerate(one.leaves):
            number, code, integral = _number(leaf, origin)
            codes.append(code)
            if j < width:
                values[i, j], bits[i, j], whole_number[i, j] = number, code, integral
        if one.keys is not None:
            codes.append(_wrapped(hash((one.keys, one.further))))
        whole[i] = _mix_one(codes, int(form[i]))
        if isinstance(item, str | bytes) and codes:  # how a number was written is part of the whole
            whole[i] = form_code(repr(item))
    opaque = np.array([one.opaque for one in found], dtype=np.bool_)
    return Outcomes(form, values, bits, whole_number, whole, counts, origin, opaque, _marks(found))


def _marks(found: list[Read]) -> dict[str, Column]:
    """The order of keys, where outcomes have keys."""
    marks: dict[str, Column] = {}
    if any(one.keys is not None and len(one.keys) > 1 for one in found):
        orders = [MISSING if one.keys is None else form_code(f"({', '.join(one.keys)})") for one in found]
        marks["order of the keys"] = np.array(orders, dtype=np.int64)
        marks["first key"] = np.array([form_code(str(one.keys[0])) if one.keys else MISSING for one in found])
    if any(len(one.further) > 1 for one in found):
        inner = [form_code(f"({', '.join(one.further)})") if one.further else MISSING for one in found]
        marks["order of the keys further in"] = np.array(inner, dtype=np.int64)
    return marks


def with_notes(outcomes: Outcomes, notes: Mapping[str, list[Any]]) -> Outcomes:
    """The same with what the caller's own features say of each outcome."""
    found = {name: _noted(values) for name, values in notes.items()}
    return replace(outcomes, marks={**outcomes.marks, **found}) if found else outcomes


def _noted(values: list[Any]) -> Column:
    if all(isinstance(value, numbers.Real | np.bool_) for value in values):
        return np.array([_to_float(value) for value in values])
    return np.array([form_code(read_item(value).words) for value in values], dtype=np.int64)


def _number(leaf: Any, origin: int) -> tuple[float, int, bool]:
    """The number less the origin, its 64 bits, and whether it is a whole number."""
    if isinstance(leaf, numbers.Integral | np.bool_):
        exact = int(leaf)
        return _to_float(exact - origin), _wrapped(exact), True
    value = _to_float(leaf)
    return value, int(np.float64(value).view(np.int64)), False


def _to_float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _wrapped(number: int) -> int:
    return (number + _INT64) % (2 * _INT64) - _INT64


def _mixed(bits: Codes, form: Codes) -> Codes:
    """One code for each row; different rows may share one by accident, which costs power and never a false verdict."""
    code = form.view(np.uint64).copy()
    for column in bits.T:
        code = (code ^ column.view(np.uint64)) * _MIX
        code ^= code >> np.uint64(29)
    return code.view(np.int64)


def _mix_one(codes: list[int], form: int) -> int:
    """What `_mixed` gives, for one outcome."""
    code = form % (2 * _INT64)
    for one in codes:
        code = ((code ^ (one % (2 * _INT64))) * int(_MIX)) % (2 * _INT64)
        code ^= code >> 29
    return _wrapped(code)
