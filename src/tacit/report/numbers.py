"""Numbers for people, at one place: values with their intervals, prices, shares; and texts from strangers, made safe.

What is shown never claims more than is true: the end of an interval moves outwards when it is rounded, a price upwards.
"""

from __future__ import annotations

import datetime
import math
import re
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

from tacit.report.columns import Cell, Column

__all__ = ["cell", "delta", "exact", "number", "percent", "price", "printable", "shortened", "with_interval"]

_NOTHING = "–"
_MOST_PLACES = 15
_LARGEST = 10**15


def cell(column: Column, row: int) -> str:
    """One value of a released column, with its interval if it has one.

    >>> cell(Column.of("n", [1003], [962], [1044], whole=True), 0)
    '1 003 ± 41'
    >>> cell(Column.of("spend", [41.234], [37.19], [44.98]), 0)
    '41.2 (37.1 to 45.0)'
    >>> cell(Column.of("year", [2026]), 0)
    '2026'
    """
    value, (low, high) = column.values[row], column.interval(row)
    if column.is_noisy and isinstance(value, int | float):
        return with_interval(value, low, high, whole=column.whole)
    if type(value) is int and not (column.is_noisy or column.whole) and abs(value) < _LARGEST:
        return str(value)  # a key: years, zip codes
    return _NOTHING if column.is_noisy else _plain(value)


def with_interval(value: float, low: float | None, high: float | None, *, whole: bool = False) -> str:
    """A value and its interval, to two digits of the error; as ``±`` where both sides are alike.

    >>> with_interval(0.0123456, 0.0101, 0.0146)
    '0.0123 ± 0.0023'
    >>> with_interval(-3, None, 12, whole=True)
    '-3 (-∞ to 12)'
    """
    if low == value == high:
        return number(value, whole=whole)
    places = _places(value, low, high, whole)
    shown = _rounded(value, places, ROUND_HALF_EVEN)
    if low is not None and high is not None:
        below = shown - _rounded(low, places, ROUND_FLOOR)
        above = _rounded(high, places, ROUND_CEILING) - shown
        if abs(above - below) <= Decimal(1).scaleb(-places):
            return f"{_spaced(shown, places)} ± {_spaced(max(above, below), places)}"
    return f"{_spaced(shown, places)} ({_end(low, places, ROUND_FLOOR)} to {_end(high, places, ROUND_CEILING)})"


def number(value: float, *, whole: bool = False) -> str:
    """A number without an interval: all digits if whole, otherwise up to six.

    >>> number(1234567), number(0.5), number(2/3)
    ('1 234 567', '0.5', '0.666667')
    """
    if not math.isfinite(value):
        return "∞" if value > 0 else "-∞"
    if abs(value) >= _LARGEST or (value and abs(value) < 1e-9):
        return f"{value:.6g}"
    if whole or value == int(value):
        return _spaced(Decimal(int(value)), 0)
    exact = Decimal(repr(float(value)))
    places = max(0, min(_MOST_PLACES, 5 - exact.adjusted(), -int(exact.as_tuple().exponent)))
    text = _spaced(_rounded(value, places, ROUND_HALF_EVEN), places)
    return text.rstrip("0").rstrip(".") if "." in text else text


def price(given: str) -> str:
    """An ε or ρ as charged, from its exact text: two decimals if that is exact, otherwise up to six, rounded up.

    >>> price("0.5"), price("3"), price("0.125"), price("1/3")
    ('0.50', '3.00', '0.125', '0.333334')
    """
    fraction = Fraction(given)
    if fraction and fraction < Fraction(1, 10_000):
        return delta(given)
    for places in range(2, 6):
        if (fraction * 10**places).denominator == 1:
            return f"{Decimal(int(fraction * 10**places)).scaleb(-places):.{places}f}"
    return f"{Decimal(math.ceil(fraction * 10**6)).scaleb(-6):.6f}"


def delta(given: str) -> str:
    """A δ from its exact text, at most three digits, rounded up.

    >>> delta("1e-09"), delta("0"), delta("1/30000")
    ('1e-9', '0', '3.34e-5')
    """
    fraction = Fraction(given)
    if not fraction:
        return "0"
    digits = Context(prec=3, rounding=ROUND_CEILING).divide(Decimal(fraction.numerator), Decimal(fraction.denominator))
    mantissa, exponent = f"{digits.normalize():e}".lower().split("e")
    return f"{digits.normalize():f}" if -3 <= int(exponent) <= 3 else f"{mantissa}e{int(exponent)}"


def exact(text: str) -> str:
    """An exact number as it was written if that is short, otherwise about four digits of it.

    >>> exact("0.01"), exact("6.103515625e-05"), exact("1/3")
    ('0.01', '≈ 6.104e-05', '1/3')
    """
    if len(text) <= 8:
        return text
    try:
        return f"≈ {float(Fraction(text)):.4g}"
    except (ValueError, ZeroDivisionError, OverflowError):
        return text


def percent(share: float | None) -> str:
    """A relative error: two digits, never less than it is.

    >>> percent(0.0409), percent(0.5), percent(12.0), percent(None)
    ('4.1%', '50%', 'over 999%', '–')
    """
    if share is None:
        return _NOTHING
    if share > 9.99:
        return "over 999%"
    if share < 0.0001:
        return "under 0.01%"
    places = 0 if share >= 0.1 else 1 if share >= 0.01 else 2
    return f"{_rounded(100 * share - 1e-12, places, ROUND_CEILING)}%"


def _plain(value: Cell) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return number(value)
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, datetime.date) else printable(value)


def _places(value: float, low: float | None, high: float | None, whole: bool) -> int:
    """Decimals that show two digits of the larger side of the interval."""
    if whole:
        return 0
    sides = [abs(end - value) for end in (low, high) if end is not None]
    error = max(sides, default=abs(value)) or abs(value) or 1.0
    return max(0, min(_MOST_PLACES, 1 - math.floor(math.log10(error))))


def _rounded(value: float, places: int, rounding: str) -> Decimal:
    exact = Decimal(value) if isinstance(value, int) else Decimal(repr(float(value)))
    with_room = Context(prec=400, rounding=rounding)
    return exact.quantize(Decimal(1).scaleb(-places), context=with_room)


def _end(value: float | None, places: int, rounding: str) -> str:
    if value is None:
        return "-∞" if rounding == ROUND_FLOOR else "∞"
    return _spaced(_rounded(value, places, rounding), places)


def _spaced(value: Decimal, places: int) -> str:
    if abs(value) >= _LARGEST:
        return f"{value:.6g}"
    text = f"{abs(value):,.{places}f}".replace(",", " ")
    return f"-{text}" if value < 0 else text


_UNPRINTABLE = re.compile(
    r"[^\x20-\x7e\xa0-\uffff\U00010000-\U0010ffff]|[\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)


def printable(text: str) -> str:
    """The text with every character written out that could move a cursor, turn the line around or hide itself.

    >>> printable("Aarhus\\x1b[2J")
    'Aarhus\\\\x1b[2J'
    """
    return _UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def shortened(text: str, longest: int) -> str:
    """At most ``longest`` characters, the last of them an ellipsis where something was cut.

    >>> shortened("Taumatawhakatangihanga", 12)
    'Taumatawhak…'
    """
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
