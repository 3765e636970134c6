"""Arithmetic of doubles that never raises, as PostgreSQL's own does on overflow and, of products, on underflow.

Each form looks at its operands first, scaled by powers of two, which is exact: then the engine's own operation is done,
or is known to give nothing. An overflow is null; what underflows is 0. The operands are names or short: see `once`.
"""

from __future__ import annotations

from tacit.tables.engines.postgres.terms import once, real, whole

__all__ = ["divided", "plus", "positive", "powered", "remainder", "times"]


def _two(power: int) -> str:
    return real(2.0**power)


_MODERATE = f"BETWEEN {_two(-500)} AND {_two(500)}"
_DOWN, _UP = _two(-512), _two(512)


def _down(size: str) -> str:
    """A size of at least 1, far below. A constant is multiplied when it is planned, whether or not it comes to that."""
    return f"(greatest({size}, 1) * {_DOWN})"


def _up(size: str) -> str:
    """A size of at most 1, far above."""
    return f"(least({size}, 1) * {_UP})"


def _unknown(x: str, y: str) -> str:
    """Before sizes are compared: greatest and least take a null for nothing at all."""
    return f"WHEN {x} IS NULL OR {y} IS NULL THEN NULL "


def _half(value: str) -> str:
    """Of a value that is not nearly nothing."""
    return f"(CASE WHEN abs({value}) > {real(1e-300)} THEN {value} * {real(0.5)} ELSE {real(0.0)} END)"


def positive(sql: str) -> str:
    """Without the negative zero, which would be another text and another hash."""
    return f"({sql} + {real(0.0)})"


def plus(left: str, right: str) -> str:
    """The sum; of two of one sign that are nearly the largest, whether a quarter of each adds up to less than one."""

    def form(x: str, y: str) -> str:
        near = _two(1022)
        return (
            f"CASE WHEN abs({x}) <= {near} AND abs({y}) <= {near} THEN {x} + {y} {_unknown(x, y)}"
            f"WHEN ({x} > 0) <> ({y} > 0) OR abs({x}) < {_two(900)} OR abs({y}) < {_two(900)} THEN {x} + {y} "
            f"WHEN greatest(abs({x}), 1) * 0.25 + greatest(abs({y}), 1) * 0.25 < {near} THEN {x} + {y} END"
        )

    return once(form, left, right)


def times(left: str, right: str) -> str:
    """The product."""

    def form(x: str, y: str) -> str:
        a, b = f"abs({x})", f"abs({y})"
        return (
            f"CASE WHEN {a} {_MODERATE} AND {b} {_MODERATE} THEN {x} * {y} {_unknown(x, y)}"
            f"WHEN {x} = 0 OR {y} = 0 THEN {real(0.0)} "
            f"WHEN {a} >= 1 AND {b} >= 1 THEN CASE WHEN {_down(a)} * {_down(b)} < 1 THEN {x} * {y} END "
            f"WHEN {a} >= 1 OR {b} >= 1 THEN {x} * {y} "
            f"WHEN {a} < {_two(-540)} AND {b} < {_two(-540)} THEN {real(0.0)} "
            f"WHEN {_up(a)} * {_up(b)} > {_two(-51)} THEN {x} * {y} "
            f"ELSE {real(0.0)} END"
        )

    return once(form, left, right)


def divided(left: str, right: str) -> str:
    """The quotient; null by 0."""

    def form(x: str, y: str) -> str:
        a, b = f"abs({x})", f"abs({y})"
        fits = f"THEN {x} / {y} END"
        return (
            f"CASE WHEN {a} {_MODERATE} AND {b} {_MODERATE} THEN {x} / {y} {_unknown(x, y)}"
            f"WHEN {y} = 0 THEN NULL WHEN {x} = 0 THEN {real(0.0)} "
            f"WHEN {a} >= 1 AND {b} >= 1 THEN {x} / {y} "
            f"WHEN {a} >= 1 AND {b} >= {_two(-500)} THEN CASE WHEN {_down(a)} / {b} < {_UP} {fits} "
            f"WHEN {a} >= 1 THEN CASE WHEN {_down(a)} < {_up(b)} {fits} "
            f"WHEN {b} < 1 AND ({b} >= {_two(-1000)} OR {a} < {_two(-60)}) THEN {x} / {y} "
            f"WHEN {b} < 1 THEN CASE WHEN {a} / {_up(b)} < {_UP} {fits} "
            f"WHEN {a} >= {_two(-50)} THEN {x} / {y} "
            f"WHEN {_up(a)} / {_down(b)} > {_two(-51)} THEN {x} / {y} "
            f"ELSE {real(0.0)} END"
        )

    return once(form, left, right)


def remainder(left: str, right: str) -> str:
    """What C calls fmod, exactly: from whole significands, of which the larger is shifted as far as it takes."""

    def form(x: str, y: str) -> str:
        small = f"abs({x}) < {_two(53)} AND abs({y}) < {_two(53)} AND trunc({x}) = {x} AND trunc({y}) = {y}"
        return (
            f"CASE WHEN {y} = 0 THEN NULL WHEN abs({x}) < abs({y}) THEN {x} "
            f"WHEN {small} THEN ({whole(x)} % {whole(y)})::float8 "
            f"WHEN {x} IS NOT NULL AND {y} IS NOT NULL "
            f"THEN sign({x}) * (SELECT {rest} FROM (SELECT {bits.format(x)} AS p, {bits.format(y)} AS q, "
            f"abs({y}) AS y OFFSET 0) AS bits, LATERAL (SELECT {exponent.format('p')} AS e, "
            f"{exponent.format('q')} AS f, {significand.format('p')} AS m, {significand.format('q')} AS n OFFSET 0) "
            f"AS parts) END"
        )

    bits = "('x' || encode(float8send(abs({})), 'hex'))::bit(64)::bigint"
    exponent = "greatest(({0} >> 52)::int, 1)"
    significand = f"(({{0}} & {2**52 - 1}) + CASE WHEN {{0}} >= {2**52} THEN {2**52} ELSE 0 END)"
    rest = "mod(m * power(2::numeric, e - f), n)::float8 * (bits.y / n::float8)"
    return once(form, left, right)


def powered(left: str, right: str) -> str:
    """x to the power of y, null where it is not defined or overflows; 0 where it surely underflows.

    Whether it does is seen in the power of half of y, which neither does unless the whole is far beyond.
    """

    def form(x: str, y: str) -> str:
        defined = f"NOT ({x} = 0 AND {y} < 0) AND ({x} >= 0 OR trunc({y}) = {y})"
        near = f"({y} * ln(abs({x})))"
        half = f"power(abs({x}), {_half(y)})"
        safe = f"abs({y}) BETWEEN {real(1e-300)} AND {real(1e300)}"
        return (
            f"CASE WHEN {x} IS NULL OR {y} IS NULL OR NOT ({defined}) THEN NULL "
            f"WHEN {y} = 0 OR {x} = 1 THEN {real(1.0)} WHEN {y} = 1 THEN {x} WHEN {x} = 0 THEN {real(0.0)} "
            f"WHEN {x} = -1 THEN CASE WHEN {odd(y)} THEN {real(-1.0)} ELSE {real(1.0)} END "
            f"WHEN NOT ({safe}) THEN CASE WHEN abs({y}) < 1 THEN {real(1.0)} "
            f"WHEN (abs({x}) > 1) = ({y} > 0) THEN NULL ELSE {real(0.0)} END "
            f"WHEN {near} > 1000 THEN NULL WHEN {near} < -1000 THEN {real(0.0)} "
            f"WHEN {half} >= {real(2.0**512 * (1 - 2.0**-50))} THEN NULL "
            f"WHEN {half} < {real(2.0**-537)} THEN {real(0.0)} "
            f"WHEN {half} < {real(2.0**-510.5)} "
            f"THEN CASE WHEN {x} < 0 AND {odd(y)} THEN -1 ELSE 1 END * ({half} * {half}) "
            f"ELSE power({x}, {y}) END"
        )

    def odd(y: str) -> str:
        return f"(abs({y}) < {_two(53)} AND trunc({_half(y)}) * 2 <> {y})"

    return once(form, left, right)
