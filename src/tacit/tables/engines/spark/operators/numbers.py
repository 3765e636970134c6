"""Arithmetic and functions of numbers."""

from __future__ import annotations

from tacit.tables.engines.chain.form import Form, Given
from tacit.tables.engines.chain.operators.numbers import edges, extreme
from tacit.tables.engines.spark.terms import down, finite, once, real
from tacit.tables.expressions.kinds import Kind, is_whole

__all__ = ["ON_NUMBERS"]

_EXACT = 2.0**52
_ZERO = "CAST(0 AS BIGINT)"


def _computed(sign: str, tried: str) -> Form:
    """Doubles give an infinity where they overflow; whole numbers are tried. Both are null."""

    def rendered(given: Given) -> str:
        left, right = given.each()
        return finite(f"({left} {sign} {right})") if given.kind is Kind.REAL else f"{tried}({left}, {right})"

    return rendered


def _remainder(given: Given) -> str:
    left, right = given.each()
    if given.kind is Kind.REAL:
        return finite(f"try_mod({left}, {right})")
    return f"try_mod({left}, {once(lambda y: f'CASE WHEN {y} = -1 THEN 1 ELSE {y} END', right)})"


def _quotient(given: Given) -> str:
    return finite(f"try_divide({given.sql(0, Kind.REAL)}, {given.sql(1, Kind.REAL)})")


def _whole_quotient(given: Given) -> str:
    if all(term.kind in (None, Kind.INTEGER) for term in given.terms):
        return once(
            lambda x, y: (
                f"CASE WHEN {y} = 0 THEN NULL WHEN {y} = -1 THEN try_subtract({_ZERO}, {x}) ELSE {x} div {y} END"
            ),
            *given.each(),
        )
    return once(_truncated, _quotient(given))


def _truncated(x: str) -> str:
    """Towards zero, as CAST does; null where 64 bits do not hold it."""
    return f"CASE WHEN {x} >= {real(-(2.0**63))} AND {x} < {real(2.0**63)} THEN CAST({x} AS BIGINT) END"


def _negative(given: Given) -> str:
    if given.kind is Kind.REAL:
        return finite(f"(- {given.sql()})")
    return f"try_subtract({_ZERO}, {given.sql()})"


def _abs(given: Given) -> str:
    if given.kind is Kind.REAL:
        return f"abs({given.sql()})"
    return once(lambda x: f"CASE WHEN {x} < 0 THEN try_subtract({_ZERO}, {x}) ELSE {x} END", given.sql())


def _up(sql: str) -> str:
    """ceil, of 64 bits, or null."""
    return once(lambda x: f"CASE WHEN {x} >= {real(-(2.0**63))} AND {x} < {real(2.0**63)} THEN ceil({x}) END", sql)


def _round(given: Given) -> str:
    """To so many digits: halves go up; a value too large to have that digit stays as it is."""
    if len(given.terms) == 1:
        term = given.terms[0]
        return down(f"({term.sql} + {real(0.5)})") if term.kind is Kind.REAL else given.sql()
    digits = given.constants[1]
    if not is_whole(digits):
        return given.nothing
    factor = real(float(f"1e{min(abs(int(digits)), 300)}"))
    there, back = ("*", "/") if int(digits) >= 0 else ("/", "*")

    def rounded(x: str) -> str:
        near = f"({x} {there} {factor})"
        made = f"CAST(floor({near} + {real(0.5)}) AS DOUBLE) {back} {factor}"
        return f"CASE WHEN abs({near}) < {real(_EXACT)} THEN {made} ELSE {x} END"

    return finite(once(rounded, given.sql(0, Kind.REAL)))


def _of_real(function: str) -> Form:
    """A real function; where it is not defined it gives NaN or null."""
    return lambda given: finite(f"{function}({given.sql(0, Kind.REAL)})")


def _made_whole(form: str) -> Form:
    def rendered(given: Given) -> str:
        term = given.terms[0]
        if term.kind is not Kind.REAL:
            return given.sql()
        return down(term.sql) if form == "floor" else _up(term.sql)

    return rendered


def _width_bucket(given: Given) -> str:
    """0 below low, n + 1 from high on, and 1 to n in between; null if the constants make no buckets."""
    found = edges(given)
    if found is None:
        return given.nothing
    start, end, width = (real(edge) for edge in found[:3])
    last = found[3] - 1

    def form(x: str) -> str:
        step = f"(({x} - {start}) / {width})"
        place = f"CASE WHEN {step} < {last} THEN CAST({step} AS BIGINT) ELSE CAST({last} AS BIGINT) END + 1"
        return (
            f"CASE WHEN {x} < {start} THEN CAST(0 AS BIGINT) WHEN {x} >= {end} THEN CAST({last + 2} AS BIGINT) "
            f"WHEN {x} IS NOT NULL THEN {place} END"
        )

    return once(form, given.sql(0, Kind.REAL))


ON_NUMBERS: dict[str, Form] = {
    "+": _computed("+", "try_add"),
    "-": _computed("-", "try_subtract"),
    "*": _computed("*", "try_multiply"),
    "%": _remainder,
    "/": _quotient,
    "//": _whole_quotient,
    "negative": _negative,
    "abs": _abs,
    "sign": lambda given: f"CAST(signum({given.sql(0, Kind.REAL)}) AS BIGINT)",
    "floor": _made_whole("floor"),
    "ceil": _made_whole("ceil"),
    "round": _round,
    "ln": _of_real("ln"),
    "log10": _of_real("log10"),
    "log2": _of_real("log2"),
    "sqrt": _of_real("sqrt"),
    "exp": _of_real("exp"),
    "power": lambda given: finite(f"power({given.sql(0, Kind.REAL)}, {given.sql(1, Kind.REAL)})"),
    "least": extreme("least"),
    "greatest": extreme("greatest"),
    "width_bucket": _width_bucket,
}
