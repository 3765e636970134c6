"""Arithmetic and functions of numbers."""

from __future__ import annotations

from tacit.tables.engines.chain.form import Form, Given
from tacit.tables.engines.chain.operators.numbers import edges, extreme
from tacit.tables.engines.duckdb.terms import finite, in_64_bits, once, real
from tacit.tables.expressions.kinds import Kind, is_whole

__all__ = ["ON_NUMBERS"]

_EXACT = 2**52


def _computed(form: str) -> Form:
    """Doubles give an infinity where they overflow, whole numbers one that 64 bits do not hold: both are null.

    TRY, which would do, takes a thousand times as long for a row in which it is needed: one person's values would show.
    """

    def rendered(given: Given) -> str:
        if given.kind is Kind.REAL:
            return finite(form.format(*given.each()))
        return in_64_bits(form.format(*(f"CAST({sql} AS HUGEINT)" for sql in given.each())))

    return rendered


def _remainder(given: Given) -> str:
    left, right = given.each()
    if given.kind is Kind.REAL:
        return finite(f"({left} % {right})")
    return f"({left} % {once(lambda y: f'CASE WHEN {y} = -1 THEN 1 ELSE {y} END', right)})"


def _quotient(given: Given) -> str:
    return finite(f"({given.sql(0, Kind.REAL)} / {given.sql(1, Kind.REAL)})")


def _whole_quotient(given: Given) -> str:
    if all(term.kind in (None, Kind.INTEGER) for term in given.terms):
        return _computed("({} // {})")(given)
    return f"TRY_CAST(trunc({_quotient(given)}) AS BIGINT)"


def _abs(given: Given) -> str:
    return f"abs({given.sql()})" if given.kind is Kind.REAL else _computed("abs({})")(given)


def _whole(form: str) -> Form:
    """A real made whole by a function; an integer is so already."""

    def rendered(given: Given) -> str:
        term = given.terms[0]
        return f"TRY_CAST({form.format(term.sql)} AS BIGINT)" if term.kind is Kind.REAL else given.sql()

    return rendered


def _round(given: Given) -> str:
    """To so many digits: halves go up; a value too large to have that digit stays as it is."""
    if len(given.terms) == 1:
        return _whole("floor({} + 0.5)")(given)
    digits = given.constants[1]
    if not is_whole(digits):
        return given.nothing
    factor = f"CAST('1e{min(abs(int(digits)), 300)}' AS DOUBLE)"
    there, back = ("*", "/") if int(digits) >= 0 else ("/", "*")
    return finite(
        once(
            lambda x: (
                f"CASE WHEN abs({x} {there} {factor}) < {_EXACT} "
                f"THEN floor({x} {there} {factor} + 0.5) {back} {factor} ELSE {x} END"
            ),
            given.sql(),
        )
    )


def _where_defined(function: str, condition: str) -> Form:
    """A real function, null outside its domain."""

    def rendered(given: Given) -> str:
        return finite(f"{function}({once(lambda x: f'CASE WHEN {x} {condition} THEN {x} END', given.sql())})")

    return rendered


def _width_bucket(given: Given) -> str:
    """0 below low, n + 1 from high on, and 1 to n in between; null if the constants make no buckets."""
    found = edges(given)
    if found is None:
        return given.nothing
    start, end, width = (real(edge) for edge in found[:3])
    count = found[3]
    return once(
        lambda x: (
            f"CASE WHEN {x} < {start} THEN 0 WHEN {x} >= {end} THEN {count + 1} WHEN {x} IS NOT NULL "
            f"THEN CAST(least(floor(({x} - {start}) / {width}), {count - 1}) AS BIGINT) + 1 END"
        ),
        given.sql(0, Kind.REAL),
    )


ON_NUMBERS: dict[str, Form] = {
    **{sign: _computed(f"({{}} {sign} {{}})") for sign in ("+", "-", "*")},
    "%": _remainder,
    "/": _quotient,
    "//": _whole_quotient,
    "negative": _computed("(- {})"),
    "abs": _abs,
    "sign": lambda given: f"CAST(sign({given.sql(0, given.terms[0].kind or Kind.INTEGER)}) AS BIGINT)",
    "floor": _whole("floor({})"),
    "ceil": _whole("ceil({})"),
    "round": _round,
    "ln": _where_defined("ln", "> 0"),
    "log10": _where_defined("log10", "> 0"),
    "log2": _where_defined("log2", "> 0"),
    "sqrt": _where_defined("sqrt", ">= 0"),
    "exp": lambda given: finite(f"exp({given.sql()})"),
    "power": lambda given: finite(f"pow({given.sql()}, {given.sql(1)})"),
    "least": extreme("least"),
    "greatest": extreme("greatest"),
    "width_bucket": _width_bucket,
}
