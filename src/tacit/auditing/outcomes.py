"""What a mechanism did, as columns: the form of each outcome, the numbers in it, their bits, and the whole.

An outcome is anything: a number, a text, None, a list or an array of such, nested; or the exception that was raised.
Whether a batch came as an array or one outcome at a time makes no difference to its columns.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Outcomes", "Raised", "read_outcomes"]

Codes = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

_MOST_NUMBERS = 64
_FORMS: dict[int, str] = {}  # code of a form: its words
_MOST_FORMS = 100_000
_MIX = np.uint64(0x9E3779B97F4A7C15)
_INT64 = 1 << 63
_PLAIN = frozenset({bool, int, float})
_ATOMS = frozenset({str, bytes, type(None)})


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception as an outcome: its type and its text, both of which an onlooker sees."""

    kind: str
    text: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """n outcomes as columns; ``numbers`` and ``bits`` have one column for each number in an outcome, 64 at most."""

    form: Codes
    """A code for the structure: types, lengths, texts, None."""
    numbers: Reals
    """The numbers less ``origin``; NaN where there is none."""
    bits: Codes
    """Whole numbers modulo 2^64, floats bit by bit."""
    whole_number: npt.NDArray[np.bool_]
    """Which columns hold a whole number."""
    whole: Codes
    """A code for the outcome, all of it."""
    counts: Codes
    """How many numbers there are in each outcome, also beyond the 64."""
    origin: int

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
        )

    def widened(self, width: int) -> Outcomes:
        """The same with this many columns of numbers: more are cut off, missing ones are NaN."""
        have = min(self.width, width)
        numbers = np.full((len(self), width), np.nan)
        bits = np.zeros((len(self), width), dtype=np.int64)
        whole = np.zeros((len(self), width), dtype=np.bool_)
        numbers[:, :have], bits[:, :have] = self.numbers[:, :have], self.bits[:, :have]
        whole[:, :have] = self.whole_number[:, :have]
        return Outcomes(self.form, numbers, bits, whole, self.whole, self.counts, self.origin)


def form_words(code: int) -> str:
    """The words for the code of a form that was seen in this process."""
    return _FORMS.get(code, "another form")


def joined(parts: Sequence[Outcomes]) -> Outcomes:
    """Several batches as one."""
    width = max(part.width for part in parts)
    wide = [part if part.width == width else part.widened(width) for part in parts]
    return Outcomes(
        np.concatenate([part.form for part in wide]),
        np.concatenate([part.numbers for part in wide]),
        np.concatenate([part.bits for part in wide]),
        np.concatenate([part.whole_number for part in wide]),
        np.concatenate([part.whole for part in wide]),
        np.concatenate([part.counts for part in wide]),
        parts[0].origin,
    )


def read_outcomes(drawn: Any, origin: int) -> Outcomes:
    """The columns of a batch: an array with one outcome in each row, or a list of outcomes."""
    if isinstance(drawn, np.ndarray) and drawn.dtype.kind in "biuf" and drawn.dtype.itemsize <= 8 and drawn.ndim:
        return _from_array(drawn, origin)
    return _from_items(list(drawn), origin)


def choose_origin(drawn: Any) -> int:
    """What to subtract from whole numbers so that floats can tell them apart: 0, or one of them if they are large."""
    flat = drawn.reshape(-1) if isinstance(drawn, np.ndarray) else drawn
    for item in flat[:100]:
        leaf = next(iter(_leaves(item)), None)
        if isinstance(leaf, numbers.Integral) and abs(int(leaf)) >= 1 << 52:
            return int(leaf)
    return 0


def _from_array(array: npt.NDArray[Any], origin: int) -> Outcomes:
    count = len(array)
    rows = array.reshape(count, -1)
    kind = "bool" if array.dtype.kind == "b" else "int" if array.dtype.kind in "iu" else "float"
    words = kind if array.ndim == 1 else _list_words([kind] * rows.shape[1])
    form = np.full(count, _form_code(words))
    if kind == "float":
        _mark_nan(form, array, np.isnan(rows))
    if kind == "float":
        values = rows.astype(np.float64)
        bits = values.view(np.int64)
        floats = values
    else:
        bits = rows.astype(np.uint64).view(np.int64) if array.dtype.kind == "u" else rows.astype(np.int64)
        floats = _less_origin(rows, origin)
    whole = _mixed(bits, form)
    keep = slice(0, _MOST_NUMBERS)
    return Outcomes(
        form=form,
        numbers=floats[:, keep],
        bits=np.ascontiguousarray(bits[:, keep]),
        whole_number=np.full((count, min(rows.shape[1], _MOST_NUMBERS)), kind != "float"),
        whole=whole,
        counts=np.full(count, rows.shape[1]),
        origin=origin,
    )


def _mark_nan(form: Codes, array: npt.NDArray[Any], missing: npt.NDArray[np.bool_]) -> None:
    """The forms of the rows with NaN in them: one for each pattern of NaN."""
    places = np.flatnonzero(missing.any(axis=1))
    if not places.size:
        return
    patterns = np.packbits(missing[places], axis=1)
    axis = None if patterns.shape[1] == 1 else 0  # up to eight numbers are one byte, and bytes are sorted faster
    _, first, which = np.unique(patterns, axis=axis, return_index=True, return_inverse=True)
    codes = np.array([_form_code(_words(array[places[i]])) for i in first])
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


def _from_items(items: list[Any], origin: int) -> Outcomes:
    """Outcomes of the same plain shape go through an array, the others one by one."""
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
    """What a number, or a list of numbers of one type, looks like; None for anything else."""
    kind = type(item)
    if kind in _PLAIN:
        return kind
    if kind is list or kind is tuple:
        inner = set(map(type, item))
        if len(inner) == 1 and next(iter(inner)) in _PLAIN:
            return next(iter(inner)), len(item)
    return None


def _from_same(items: list[Any], origin: int) -> Outcomes:
    array = np.array(items)
    if array.dtype.kind in "bif" and array.dtype.itemsize <= 8:
        return _from_array(array, origin)
    return _one_by_one(items, origin)


def _one_by_one(items: list[Any], origin: int) -> Outcomes:
    """Texts and None are read once each, however often they were drawn."""
    if not set(map(type, items)) <= _ATOMS:
        return _each_read(items, origin)
    places = {item: i for i, item in enumerate(dict.fromkeys(items))}
    return _each_read(list(places), origin).rows(np.array([places[item] for item in items], dtype=np.intp))


def _each_read(items: list[Any], origin: int) -> Outcomes:
    leaves = [list(_leaves(item)) for item in items]
    found = [[leaf for leaf in listed if _is_number(leaf)] for listed in leaves]
    width = min(_MOST_NUMBERS, max((len(listed) for listed in found), default=0))
    count = len(items)
    values = np.full((count, width), np.nan)
    bits = np.zeros((count, width), dtype=np.int64)
    whole_number = np.zeros((count, width), dtype=np.bool_)
    form = np.empty(count, dtype=np.int64)
    whole = np.empty(count, dtype=np.int64)
    for i, (item, listed) in enumerate(zip(items, found, strict=True)):
        form[i] = _form_code(_words(item))
        codes = []
        for j, leaf in enumerate(listed):
            number, code, integral = _number(leaf, origin)
            codes.append(code)
            if j < width:
                values[i, j], bits[i, j], whole_number[i, j] = number, code, integral
        whole[i] = _mix_one(codes, int(form[i]))
    counts = np.array([len(listed) for listed in found], dtype=np.int64)
    return Outcomes(form, values, bits, whole_number, whole, counts, origin)


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
    for column in np.ascontiguousarray(bits).view(np.uint64).T:
        code = (code ^ column) * _MIX
        code ^= code >> np.uint64(29)
    return code.view(np.int64)


def _mix_one(codes: list[int], form: int) -> int:
    """What `_mixed` gives, for one outcome."""
    code = form % (2 * _INT64)
    for one in codes:
        code = ((code ^ (one % (2 * _INT64))) * int(_MIX)) % (2 * _INT64)
        code ^= code >> 29
    return _wrapped(code)


def _form_code(words: str) -> int:
    code = hash(words)
    if code not in _FORMS and len(_FORMS) < _MOST_FORMS:
        _FORMS[code] = words if len(words) <= 80 else f"{words[:70]}…"
    return code


def _is_number(leaf: Any) -> bool:
    return isinstance(leaf, numbers.Real | np.bool_) and not isinstance(leaf, Raised)


def _children(item: Any) -> list[Any] | None:
    """What is inside, in a fixed order; None for what has no inside."""
    if isinstance(item, np.ndarray):
        return list(item) if item.ndim else [item.item()]
    if isinstance(item, list | tuple):
        return list(item)
    if isinstance(item, Mapping):
        return [part for pair in sorted(item.items(), key=repr) for part in pair]
    if isinstance(item, Set):
        return sorted(item, key=repr)
    return None


def _leaves(item: Any) -> Iterator[Any]:
    inside = _children(item)
    if inside is None:
        yield item
    else:
        for part in inside:
            yield from _leaves(part)


def _words(item: Any) -> str:
    """The structure of an outcome in words: types of numbers, everything else as it is."""
    if isinstance(item, Raised):
        return f"raises {item.kind}: {item.text}" if item.text else f"raises {item.kind}"
    if isinstance(item, bool | np.bool_):
        return "bool"
    if isinstance(item, numbers.Integral):
        return "int"
    if isinstance(item, float | np.floating):
        return "NaN" if item != item else "float"
    if isinstance(item, numbers.Real):
        return type(item).__name__
    inside = _children(item)
    if inside is not None:
        parts = _list_words([_words(part) for part in inside])
        return parts if isinstance(item, list | tuple | np.ndarray) else f"{type(item).__name__}{parts}"
    shown = repr(item)
    if isinstance(item, str | bytes | None):
        return shown
    return type(item).__name__ if " at 0x" in shown else f"{type(item).__name__} {shown}"


def _list_words(parts: list[str]) -> str:
    if len(parts) > 3 and len(set(parts)) == 1:
        return f"[{parts[0]} × {len(parts)}]"
    return f"[{', '.join(parts)}]"
