"""Released values with their intervals as an inline SVG: no library, no script, colours from the page's style."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tacit.report.columns import Column
from tacit.report.markup import Html, element
from tacit.report.numbers import number, printable, shortened

__all__ = ["MOST_BARS", "picture"]

MOST_BARS = 40
_WIDTH, _ROW, _TOP, _BOTTOM = 440.0, 20.0, 6.0, 24.0
_LONGEST_LABEL = 24
_CHARACTER = 6.3


def picture(labels: Sequence[str], column: Column, first: int = 0, most: int = MOST_BARS) -> Html:
    """One bar per label from zero to the value, its interval as a whisker: ``most`` of them, from the ``first`` on.

    Parts of one column are drawn on one scale, whichever part it is.
    """
    rows = range(first, min(len(labels), first + most))
    shown = len(rows)
    names = [shortened(printable(labels[row]), _LONGEST_LABEL) for row in rows]
    left = 8 + _CHARACTER * max((_width(name) for name in names), default=0)
    low, high, ticks = _axis(column, len(labels))

    def across(value: float) -> float:
        share = (min(max(value, low), high) - low) / (high - low)
        return round(left + share * (_WIDTH - left - 14), 1)

    height = _TOP + _ROW * shown + _BOTTOM
    drawn = [mark for tick in ticks for mark in _tick(across(tick), number(tick), height - _BOTTOM)]
    for place, (row, name) in enumerate(zip(rows, names, strict=True)):
        drawn += _bar(column, row, name, left, across, _TOP + _ROW * (place + 0.5))
    drawn.append(_line(across(0.0), _TOP, across(0.0), height - _BOTTOM, "zero"))
    title = f"{column.name}: {shown} values with intervals"
    return element(
        "svg",
        element("title", title),
        *drawn,
        class_="picture",
        viewBox=f"0 0 {_WIDTH:g} {height:g}",
        role="img",
        xmlns="http://www.w3.org/2000/svg",
    )


def _bar(column: Column, row: int, name: str, left: float, across: object, middle: float) -> list[Html]:
    assert callable(across)
    drawn = [element("text", name, x=round(left - 6, 1), y=middle + 4, class_="label", text_anchor="end")]
    value, (low, high) = column.values[row], column.interval(row)
    if not isinstance(value, int | float):
        return drawn
    zero, end = across(0.0), across(float(value))
    drawn.append(
        element("rect", x=min(zero, end), y=middle - 6, width=round(abs(end - zero), 1), height=12, class_="bar")
    )
    if column.is_noisy:
        first, last = across(-math.inf if low is None else low), across(math.inf if high is None else high)
        drawn.append(_line(first, middle, last, middle, "whisker"))
        drawn += [_line(x, middle - 4, x, middle + 4, "whisker") for x in (first, last)]
    return drawn


def _axis(column: Column, shown: int) -> tuple[float, float, list[float]]:
    """Ends of the axis, with zero and every finite end of an interval between them, and its ticks."""
    reach = [0.0]
    for row in range(shown):
        value = column.values[row]
        reach += [float(end) for end in (value, *column.interval(row)) if isinstance(end, int | float)]
    low, high = min(reach), max(reach)
    if low == high:
        high = low + 1.0
    step = _step((high - low) / 5)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    room = 0.02 * (high - low)  # a whisker that ends at the edge would look cut
    return low - room * (low < 0), high + room * (high > 0), [step * i for i in range(first, last + 1)]


def _step(rough: float) -> float:
    """1, 2 or 5 times a power of ten, at least ``rough``."""
    power: float = 10.0 ** math.floor(math.log10(rough))
    return next(power * lead for lead in (1, 2, 5, 10) if power * lead >= rough * (1 - 1e-9))


def _tick(x: float, label: str, bottom: float) -> list[Html]:
    return [
        _line(x, _TOP, x, bottom, "grid"),
        element("text", label, x=x, y=bottom + 15, class_="tick", text_anchor="middle"),
    ]


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Html:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=kind)


def _width(name: str) -> float:
    """Rough width in characters: letters of East Asian scripts and pictograms count twice."""
    return sum(1.9 if ord(letter) >= 0x1100 else 1.0 for letter in name)
