"""Arithmetic and functions of numbers."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from tacit.tables.expressions.intervals import Range, Rule, rising
from tacit.tables.expressions.kinds import Kind, Kinds, common_kind, is_number, is_whole
from tacit.tables.expressions.operator import (
    NUMBERS,
    REST,
    Arguments,
    Constants,
    Find,
    Method,
    Operator,
    always,
    only,
)
from tacit.tables.expressions.values import numeric

__all__ = ["ON_NUMBERS"]

Floats = npt.NDArray[np.float64]
_MOST_BUCKETS = 100_000


def _are_numbers(kinds: Kinds) -> bool:
    return all(kind is None or kind.is_number for kind in kinds)


def _arithmetic(kinds: Kinds) -> Kind | None:
    if len(kinds) != 2 or not _are_numbers(kinds):
        return None
    return Kind.REAL if Kind.REAL in kinds else Kind.INTEGER


def _same_number(kinds: Kinds) -> Kind | None:
    return (kinds[0] or Kind.INTEGER) if len(kinds) == 1 and _are_numbers(kinds) else None


def _rounding(kinds: Kinds) -> Kind | None:
    if not 1 <= len(kinds) <= 2 or not _are_numbers(kinds):
        return None
    return Kind.INTEGER if len(kinds) == 1 else Kind.REAL


def _extreme(kinds: Kinds) -> Kind | None:
    if not kinds or not _are_numbers(kinds):
        return None
    return common_kind(kinds) if any(kinds) else Kind.INTEGER


_WHOLE = only(*NUMBERS, gives=Kind.INTEGER, least=1)
_REAL = only(*NUMBERS, gives=Kind.REAL, least=1)
_REAL_OF_TWO = only(*NUMBERS, gives=Kind.REAL, least=2)


def _remainder(arguments: Arguments, find: Find) -> Range | None:
    below = [one for one in map(find, arguments) if one is not None]
    return below[0] % below[1] if len(below) == 2 else None


def _round(x: Floats, digits: Floats | None = None) -> Floats:
    if digits is None:
        return np.floor(x + 0.5)
    step = 10.0 ** np.abs(digits)
    scaled = np.where(digits >= 0, x * step, x / step)
    rounded = np.floor(scaled + 0.5)
    return np.where(np.abs(scaled) < 2**52, np.where(digits >= 0, rounded / step, rounded * step), x)


def _bucket(x: Floats, low: Floats, high: Floats, count: Floats) -> Floats:
    inside = np.minimum(np.floor((x - low) / ((high - low) / count)), count - 1) + 1
    return np.where(x < low, 0.0, np.where(x >= high, count + 1, inside))


def _buckets(constants: Constants) -> range:
    count = constants[-1]
    return range(2 + (int(count) if count is not None and is_whole(count, 0, _MOST_BUCKETS) else 0))


def _bucket_problem(constants: Constants) -> str:
    if len(constants) != 4:
        return "a number, and literals: low, high, how many"
    low, high, count = constants[1:]
    if not is_number(low) or not is_number(high) or not low < high:
        return "a low end below the high end: WIDTH_BUCKET(age, 0, 100, 10)"
    return "" if is_whole(count, 1, _MOST_BUCKETS) else f"1 to {_MOST_BUCKETS} buckets"


def _digits_problem(constants: Constants) -> str:
    return "" if len(constants) < 2 or is_whole(constants[1], -15, 15) else "-15 to 15 digits"


def _root(x: float) -> float:
    return math.sqrt(max(x, 0.0))


def _function(
    name: str, gives: Callable[[Kinds], Kind | None], compute: np.ufunc, rule: Rule, says: str, *others: str
) -> Operator:
    """A function of one number; ``others`` are its further names in SQL."""
    return Operator(name, "a number", gives, numeric(compute), rule, sql=(name, *others), python=Method(name, says))


ON_NUMBERS = (
    Operator("+", "two numbers", _arithmetic, numeric(np.add), lambda a, b: a + b, sign="+"),
    Operator("-", "two numbers", _arithmetic, numeric(np.subtract), lambda a, b: a - b, sign="-"),
    Operator("*", "two numbers", _arithmetic, numeric(np.multiply), lambda a, b: a * b, sign="*"),
    Operator(
        "%",
        "two numbers",
        _arithmetic,
        numeric(np.fmod),
        range=_remainder,
        sign="%",
        google=("mod",),
        weight=always(100),
    ),
    Operator("/", "two numbers; gives a real", _REAL_OF_TWO, numeric(np.divide), lambda a, b: a / b, sign="/"),
    Operator(
        "//",
        "two numbers; the quotient without its fraction",
        only(*NUMBERS, gives=Kind.INTEGER, least=2),
        numeric(lambda x, y: np.trunc(x / y)),
        lambda a, b: (a / b).whole(np.trunc),
        sign="//",
    ),
    Operator("negative", "a number", _same_number, numeric(np.negative), lambda a: -a),
    _function("abs", _same_number, np.abs, abs, "The distance from 0."),
    Operator(
        "sign",
        "a number",
        _WHOLE,
        numeric(np.sign),
        values=lambda _: range(-1, 2),
        sql=("sign",),
        python=Method("sign", "-1, 0 or 1."),
    ),
    _function("floor", _WHOLE, np.floor, lambda a: a.whole(np.floor), "The next whole number below."),
    _function("ceil", _WHOLE, np.ceil, lambda a: a.whole(np.ceil), "The next whole number above.", "ceiling"),
    Operator(
        "round",
        "a number, and optionally a literal number of digits; halves go up",
        _rounding,
        numeric(_round),
        lambda a, *digits: a.rounded(*digits),
        sql=("round",),
        python=Method("round", "To whole numbers, or to so many digits; halves go up.", perhaps=("digits",)),
        literals=REST,
        problem=_digits_problem,
    ),
    _function("ln", _REAL, np.log, rising(math.log, np.log), "The natural logarithm; null where there is none."),
    _function("log10", _REAL, np.log10, rising(math.log10, np.log10), "The logarithm to base 10."),
    _function("log2", _REAL, np.log2, rising(math.log2, np.log2), "The logarithm to base 2."),
    _function("exp", _REAL, np.exp, rising(math.exp, np.exp, least=0), "e to that power."),
    _function("sqrt", _REAL, np.sqrt, rising(_root, np.sqrt, least=0), "The square root; null for a negative number."),
    Operator(
        "power", "two numbers", _REAL_OF_TWO, numeric(np.power), lambda a, b: a**b, sql=("power",), google=("pow",)
    ),
    Operator(
        "least",
        "numbers; null if one is",
        _extreme,
        numeric(lambda *given: np.minimum.reduce(given)),
        lambda a, *others: a.least(*others),
        sql=("least",),
    ),
    Operator(
        "greatest",
        "numbers; null if one is",
        _extreme,
        numeric(lambda *given: np.maximum.reduce(given)),
        lambda a, *others: a.greatest(*others),
        sql=("greatest",),
    ),
    Operator(
        "width_bucket",
        "a number, and literals: low, high, how many",
        lambda kinds: Kind.INTEGER if len(kinds) == 4 and _are_numbers(kinds) else None,
        numeric(_bucket),
        values=_buckets,
        shows_all=True,
        sql=("width_bucket",),
        python=Method(
            "width_bucket",
            "Which of ``count`` equal steps from low to high: 1 to count, 0 below, count + 1 from high on.",
            ("low", "high", "count"),
        ),
        literals=REST,
        problem=_bucket_problem,
    ),
)
