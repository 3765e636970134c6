"""Total casts: null where the value cannot be read as that kind."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence

import numpy as np

from tacit.tables.expressions.intervals import Rule
from tacit.tables.expressions.kinds import Kind, read_timestamp
from tacit.tables.expressions.operator import Operator, always
from tacit.tables.expressions.values import Compute, Values, as_moment, each, null, numeric

__all__ = ["CASTS", "CONVERTING"]

_WHOLE = re.compile(r"[+-]?[0-9]{1,30}")
_DECIMAL = re.compile(r"[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]{1,4})?")
_TRUTHS = dict.fromkeys(("true", "t", "yes", "y", "on", "1"), True) | dict.fromkeys(
    ("false", "f", "no", "n", "off", "0"), False
)


def _whole(text: str) -> int | None:
    found = int(text.strip(" ")) if _WHOLE.fullmatch(text.strip(" ")) else None
    return found if found is not None and abs(found) < 2**63 else None


def _real(text: str) -> float | None:
    found = float(text.strip(" ")) if _DECIMAL.fullmatch(text.strip(" ")) else None
    return found if found is not None and abs(found) != float("inf") else None


def _moment(text: str) -> datetime.datetime | None:
    return read_timestamp(text.strip(" "))


def _day(text: str) -> datetime.date | None:
    moment = _moment(text)
    return None if moment is None else moment.date()


_READINGS: dict[tuple[Kind, Kind], Compute] = {
    **{(kind, Kind.INTEGER): numeric(np.rint) for kind in (Kind.INTEGER, Kind.REAL, Kind.BOOLEAN)},
    **{(kind, Kind.REAL): numeric(np.positive) for kind in (Kind.INTEGER, Kind.REAL, Kind.BOOLEAN)},
    **{(kind, Kind.BOOLEAN): each(bool) for kind in (Kind.INTEGER, Kind.REAL, Kind.BOOLEAN)},
    **{(kind, Kind.TEXT): each(str) for kind in (Kind.INTEGER, Kind.REAL, Kind.TEXT, Kind.DATE, Kind.TIMESTAMP)},
    (Kind.BOOLEAN, Kind.TEXT): each(lambda value: str(value).lower()),
    (Kind.TEXT, Kind.INTEGER): each(_whole),
    (Kind.TEXT, Kind.REAL): each(_real),
    (Kind.TEXT, Kind.BOOLEAN): each(lambda text: _TRUTHS.get(text.strip(" ").lower())),
    (Kind.TEXT, Kind.DATE): each(_day),
    (Kind.TEXT, Kind.TIMESTAMP): each(_moment),
    (Kind.DATE, Kind.DATE): each(lambda day: day),
    (Kind.TIMESTAMP, Kind.DATE): each(lambda moment: moment.date()),
    (Kind.DATE, Kind.TIMESTAMP): each(as_moment),
    (Kind.TIMESTAMP, Kind.TIMESTAMP): each(as_moment),
}
"""Every pair of kinds that can be read at all; the others give null."""


def _cast(arguments: Sequence[Values], kind: Kind) -> Values:
    (value,) = arguments
    reading = None if value.kind is None else _READINGS.get((value.kind, kind))
    return null(kind, value.size) if reading is None else reading(arguments, kind)


_NUMBERS: dict[Kind, Rule] = {Kind.INTEGER: lambda a: a.whole(np.rint), Kind.REAL: lambda a: a}


def _cast_to(kind: Kind) -> Operator:
    return Operator(
        f"to_{kind.value}",
        "any value",
        lambda kinds: kind if len(kinds) == 1 else None,
        _cast,
        interval=_NUMBERS.get(kind),
        counts_truth=kind.is_number,
        google=("timestamp",) if kind is Kind.TIMESTAMP else (),
        steps=always(int(kind is Kind.TEXT)),
        weight=always(1_300),
    )


CASTS = {f"to_{kind.value}": kind for kind in Kind}
"""The kind that each of them gives."""

CONVERTING = tuple(_cast_to(kind) for kind in Kind)
