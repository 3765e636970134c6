"""Advice as text: a ranked table, what to paste, why, and what was left out."""

from __future__ import annotations

import textwrap
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from tacit.privacy.composition import Guarantee
from tacit.privacy.guarantees.gaussian import GaussianDP
from tacit.privacy.guarantees.zcdp import ZCDP
from tacit.privacy.prices import text

if TYPE_CHECKING:
    from tacit.advice.options import Advice, Option

__all__ = ["WIDTH", "as_text", "digits", "digits_up", "promise_text"]

WIDTH = 100


def as_text(advice: Advice, width: int = WIDTH) -> str:
    """All of it, for a terminal of a hundred columns or fewer; what is to be pasted stays on one line."""
    lines = [f"{advice.situation.title()}, {advice.asked}", *_wrapped(f"error: {advice.measured_as}", "", width), ""]
    lines += _table(advice.options)
    for place, one in enumerate(advice.options, start=1):
        lines += ["", f"{place:>3}  {one.call}"]
        grows = f"error grows {one.error_grows}" + (f"; time {one.time_grows}" if one.time_grows else "")
        lines += _wrapped(f"{one.why}; {grows}.", "     ", width)
    if advice.left_out:
        lines += ["", "Left out:"]
        for left in advice.left_out:
            lines += _wrapped(f"{left.name}: {left.reason}", "     ", width)
    return "\n".join(lines)


def _table(options: tuple[Option, ...]) -> list[str]:
    proven = any(one.comes_to < one.error for one in options)
    headings = ["", "mechanism", "promise", "scale", *(["proven", "comes to"] if proven else ["error"]), "× best"]
    rows = [headings]
    best = options[0].ranked_by
    for place, one in enumerate(options, start=1):
        errors = [digits(one.error), digits(one.comes_to)] if proven else [digits(one.error)]
        times = f"{one.ranked_by / best:.2f}" if best else ("1.00" if not one.ranked_by else "–")
        rows.append([str(place), one.name, promise_text(one.promise), digits(one.scale), *errors, times])
    widths = [max(len(row[i]) for row in rows) for i in range(len(headings))]
    return ["  ".join(_cell(cell, i, widths[i]) for i, cell in enumerate(row)).rstrip() for row in rows]


def _cell(cell: str, column: int, width: int) -> str:
    return cell.ljust(width) if column in (1, 2) else cell.rjust(width if column else 3)


def _wrapped(line: str, indent: str, width: int) -> list[str]:
    return textwrap.wrap(line, width, initial_indent=indent, subsequent_indent=indent)


def digits(value: float) -> str:
    """Three digits, as people read them; what is above a thousand whole.

    >>> digits(9903.49), digits(0.09761), digits(1234567.8)
    ('9,903', '0.0976', '1,230,000')
    """
    if not 1000 <= abs(value) < 1e15:
        return f"{value:.3g}"
    return f"{value if abs(value) < 1e5 else float(f'{value:.3g}'):,.0f}"


def digits_up(value: float) -> str:
    """Three digits, rounded up, as a number is typed.

    >>> digits_up(0.7134), digits_up(12.0), digits_up(43211.0)
    ('0.714', '12', '43300')
    """
    return text(Fraction(_THREE.create_decimal(Decimal(value))))


_THREE, _SIX = (Context(prec=digits, rounding=ROUND_CEILING) for digits in (3, 6))


def promise_text(promise: Guarantee) -> str:
    """ε, δ, ρ or μ, each rounded up to what is worth reading.

    >>> from tacit.privacy import ApproxDP
    >>> promise_text(ApproxDP(1, "1e-6")), promise_text(ApproxDP("1/3", "0.0001"))
    ('ε 1, δ 1e-06', 'ε 0.333334, δ 0.0001')
    >>> promise_text(ZCDP("0.1", "1e-9"))
    'ρ 0.1, δ 1e-09'
    """
    stated = promise.as_approx()
    if stated is None:
        if isinstance(promise, ZCDP):
            return f"ρ {float(promise.rho):.6g}" + (f", δ {_up(promise.dlt, _THREE):g}" if promise.dlt else "")
        return f"μ {promise.mu:.6g}" if isinstance(promise, GaussianDP) else repr(promise)
    epsilon, delta = stated
    told = f"ε {_up(epsilon, _SIX):.6g}"
    return told + (f", δ {_up(delta, _THREE):g}" if delta else "")


def _up(exact: Fraction, to: Context) -> float:
    return float(to.divide(Decimal(exact.numerator), Decimal(exact.denominator)))
