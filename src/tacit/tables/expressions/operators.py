"""The allow-list: every operator and function a row-wise expression may use, and the kinds it takes and gives.

Each is total: where a value cannot be computed (division by zero, overflow, a bad cast, a root of a negative number)
the result is null for that row alone, and null arguments give null unless said otherwise. `rules` say what an operator
gives for arguments of given kinds (None stands for an untyped NULL), or None if it does not take them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tacit.tables.expressions.kinds import Kind

__all__ = ["CASTS", "OPERATORS", "TIME_UNITS", "Operator", "common_kind"]

Kinds = tuple["Kind | None", ...]

TIME_UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
"""What date_trunc, date_add and date_diff can count in; a literal first argument."""

CASTS = {f"to_{kind.value}": kind for kind in Kind}
"""Total casts: null where the value cannot be read as that kind."""


@dataclass(frozen=True, slots=True)
class Operator:
    """One allowed operator: its name in `Call`, what it takes in words, and what it gives."""

    name: str
    takes: str
    gives: Callable[[Kinds], Kind | None]
    literal_from: int = 1_000_000
    """Arguments from this position on must be literals."""
    literal_first: bool = False
    """Whether the first argument must be a literal (a unit of time)."""


def common_kind(kinds: Kinds) -> Kind | None:
    """The one kind that values of these kinds have together: numbers and times widen; None if there is none."""
    known = {kind for kind in kinds if kind is not None}
    if not known:
        return Kind.TEXT
    if len(known) == 1:
        return next(iter(known))
    if all(kind.is_number for kind in known):
        return Kind.REAL
    return Kind.TIMESTAMP if all(kind.is_time for kind in known) else None


def _only(*allowed: Kind, gives: Kind, least: int, most: int | None = None) -> Callable[[Kinds], Kind | None]:
    def rule(kinds: Kinds) -> Kind | None:
        fits = least <= len(kinds) <= (least if most is None else most)
        return gives if fits and all(kind is None or kind in allowed for kind in kinds) else None

    return rule


def _comparable(kinds: Kinds) -> Kind | None:
    return Kind.BOOLEAN if len(kinds) == 2 and common_kind(kinds) is not None else None


def _arithmetic(kinds: Kinds) -> Kind | None:
    if len(kinds) != 2 or not all(kind is None or kind.is_number for kind in kinds):
        return None
    return Kind.REAL if Kind.REAL in kinds else Kind.INTEGER


def _same_number(kinds: Kinds) -> Kind | None:
    fits = len(kinds) == 1 and (kinds[0] is None or kinds[0].is_number)
    return (kinds[0] or Kind.INTEGER) if fits else None


def _rounding(kinds: Kinds) -> Kind | None:
    if not 1 <= len(kinds) <= 2 or not all(kind is None or kind.is_number for kind in kinds):
        return None
    return Kind.INTEGER if len(kinds) == 1 else Kind.REAL


def _any_common(kinds: Kinds) -> Kind | None:
    return common_kind(kinds) if kinds else None


def _numbers(kinds: Kinds) -> Kind | None:
    if not kinds or not all(kind is None or kind.is_number for kind in kinds):
        return None
    return common_kind(kinds) if any(kinds) else Kind.INTEGER


def _membership(kinds: Kinds) -> Kind | None:
    return Kind.BOOLEAN if len(kinds) >= 2 and common_kind(kinds) is not None else None


def _truncation(kinds: Kinds) -> Kind | None:
    fits = len(kinds) == 2 and kinds[0] is Kind.TEXT and (kinds[1] is None or kinds[1].is_time)
    return (kinds[1] or Kind.TIMESTAMP) if fits else None


def _moved_time(kinds: Kinds) -> Kind | None:
    fits = len(kinds) == 3 and kinds[0] is Kind.TEXT and kinds[1] is Kind.INTEGER
    return Kind.TIMESTAMP if fits and (kinds[2] is None or kinds[2].is_time) else None


def _time_between(kinds: Kinds) -> Kind | None:
    fits = len(kinds) == 3 and kinds[0] is Kind.TEXT
    return Kind.INTEGER if fits and all(kind is None or kind.is_time for kind in kinds[1:]) else None


def _local(kinds: Kinds) -> Kind | None:
    fits = len(kinds) == 2 and kinds[0] in (None, Kind.TIMESTAMP) and kinds[1] is Kind.TEXT
    return Kind.TIMESTAMP if fits else None


def _local_truncation(kinds: Kinds) -> Kind | None:
    return _local(kinds[:2]) if len(kinds) == 3 and kinds[2] is Kind.TEXT else None


def _buckets(kinds: Kinds) -> Kind | None:
    return Kind.INTEGER if len(kinds) == 4 and all(kind is None or kind.is_number for kind in kinds) else None


def _substring(kinds: Kinds) -> Kind | None:
    fits = 2 <= len(kinds) <= 3 and kinds[0] in (None, Kind.TEXT)
    return Kind.TEXT if fits and all(kind in (None, Kind.INTEGER) for kind in kinds[1:]) else None


_NUMBER = (Kind.INTEGER, Kind.REAL)
_TIME = (Kind.DATE, Kind.TIMESTAMP)
_BOOLEANS = _only(Kind.BOOLEAN, gives=Kind.BOOLEAN, least=2, most=10_000)
_TEXT_TO_TEXT = _only(Kind.TEXT, gives=Kind.TEXT, least=1)
_TEXT_PAIR = _only(Kind.TEXT, gives=Kind.BOOLEAN, least=2)
_REAL_FUNCTION = _only(*_NUMBER, gives=Kind.REAL, least=1)
_PART_OF_DATE = _only(*_TIME, gives=Kind.INTEGER, least=1)
_PART_OF_DAY = _only(Kind.TIMESTAMP, gives=Kind.INTEGER, least=1)

_LISTED = (
    Operator("and", "two or more conditions", _BOOLEANS),
    Operator("or", "two or more conditions", _BOOLEANS),
    Operator("not", "a condition", _only(Kind.BOOLEAN, gives=Kind.BOOLEAN, least=1)),
    *(Operator(sign, "two values of one kind", _comparable) for sign in ("=", "<>", "<", "<=", ">", ">=")),
    Operator("is_null", "any value; never null itself", lambda kinds: Kind.BOOLEAN if len(kinds) == 1 else None),
    Operator("in", "a value and a list of literals", _membership, literal_from=1),
    Operator("like", "a text and a literal pattern", _TEXT_PAIR, literal_from=1),
    Operator("ilike", "a text and a literal pattern", _TEXT_PAIR, literal_from=1),
    Operator("starts_with", "two texts", _TEXT_PAIR),
    Operator("contains", "two texts", _TEXT_PAIR),
    *(Operator(sign, "two numbers", _arithmetic) for sign in ("+", "-", "*", "%")),
    Operator("/", "two numbers; gives a real", _only(*_NUMBER, gives=Kind.REAL, least=2)),
    Operator("//", "two numbers; the quotient without its fraction", _only(*_NUMBER, gives=Kind.INTEGER, least=2)),
    Operator("negative", "a number", _same_number),
    Operator("abs", "a number", _same_number),
    Operator("sign", "a number", _only(*_NUMBER, gives=Kind.INTEGER, least=1)),
    Operator("floor", "a number", _only(*_NUMBER, gives=Kind.INTEGER, least=1)),
    Operator("ceil", "a number", _only(*_NUMBER, gives=Kind.INTEGER, least=1)),
    Operator("round", "a number, and optionally a literal number of digits; halves go up", _rounding, literal_from=1),
    *(Operator(name, "a number", _REAL_FUNCTION) for name in ("ln", "log10", "log2", "exp", "sqrt")),
    Operator("power", "two numbers", _only(*_NUMBER, gives=Kind.REAL, least=2)),
    Operator("least", "numbers; null if one is", _numbers),
    Operator("greatest", "numbers; null if one is", _numbers),
    Operator("coalesce", "values of one kind; the first that is known", _any_common),
    Operator("nullif", "two values of one kind", lambda kinds: common_kind(kinds) if len(kinds) == 2 else None),
    Operator("lower", "a text", _TEXT_TO_TEXT),
    Operator("upper", "a text", _TEXT_TO_TEXT),
    Operator("trim", "a text", _TEXT_TO_TEXT),
    Operator("length", "a text", _only(Kind.TEXT, gives=Kind.INTEGER, least=1)),
    Operator("substring", "a text, a literal start from 1, optionally a literal length", _substring, literal_from=1),
    Operator("concat", "two or more texts; null if one is", _only(Kind.TEXT, gives=Kind.TEXT, least=2, most=100)),
    *(Operator(name, "a date or timestamp", _PART_OF_DATE) for name in ("year", "quarter", "month", "week", "day")),
    Operator("weekday", "a date or timestamp; Monday is 1, Sunday 7", _PART_OF_DATE),
    *(Operator(name, "a timestamp", _PART_OF_DAY) for name in ("hour", "minute")),
    Operator("at_time_zone", "a timestamp, which is in UTC, and a literal name of a time zone", _local, literal_from=1),
    Operator(
        "timestamp_trunc",
        "a timestamp, which is in UTC, a unit of time, and a literal name of a time zone",
        _local_truncation,
        literal_from=1,
    ),
    Operator("date_trunc", "a unit of time and a date or timestamp", _truncation, literal_first=True),
    Operator(
        "date_add", "a unit of time, a whole literal number, a date or timestamp", _moved_time, literal_first=True
    ),
    Operator("date_diff", "a unit of time, and two dates or timestamps", _time_between, literal_first=True),
    Operator("width_bucket", "a number, and literals: low, high, how many", _buckets, literal_from=1),
    *(
        Operator(name, "any value", lambda kinds, kind=kind: kind if len(kinds) == 1 else None)  # type: ignore[misc]
        for name, kind in CASTS.items()
    ),
)

OPERATORS = {operator.name: operator for operator in _LISTED}
"""Every allowed operator by its name."""
