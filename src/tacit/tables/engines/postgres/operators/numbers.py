"""Arithmetic and functions of numbers; that of doubles is in `arithmetic`."""

from __future__ import annotations

import math
from collections.abc import Callable

from tacit.tables.engines.chain.form import Form, Given
from tacit.tables.engines.chain.operators.numbers import edges, extreme
from tacit.tables.engines.postgres.arithmetic import divided, plus, positive, powered, remainder, times
from tacit.tables.engines.postgres.terms import once, real, whole
from tacit.tables.expressions.kinds import Kind, is_whole

__all__ = ["ON_NUMBERS"]

_EXACT = 2.0**52
_LEAST, _MOST = f"({-(2**63)})::bigint", f"{2**63 - 1}::bigint"
_HALF = f"BETWEEN {-(2**31)} AND {2**31 - 1}"

Pair = Callable[[str, str], str]


def _of_two(reals: Pair, integers: Pair) -> Form:
    """One form for doubles, another for whole numbers, which are looked at before they are added."""

    def rendered(given: Given) -> str:
        left, right = given.each()
        return reals(left, right) if given.kind is Kind.REAL else once(integers, left, right)

    return rendered


def _sum(x: str, y: str) -> str:
    fits = f"CASE WHEN {y} >= 0 THEN {x} <= {_MOST} - {y} ELSE {x} >= {_LEAST} - {y} END"
    return f"CASE WHEN {fits} THEN {x} + {y} END"


def _difference(x: str, y: str) -> str:
    fits = f"CASE WHEN {y} >= 0 THEN {x} >= {_LEAST} + {y} ELSE {x} <= {_MOST} + {y} END"
    return f"CASE WHEN {fits} THEN {x} - {y} END"


def _product(x: str, y: str) -> str:
    fits = f"{x}::numeric * {y} BETWEEN {_LEAST} AND {_MOST}"
    return f"CASE WHEN {x} {_HALF} AND {y} {_HALF} THEN {x} * {y} WHEN {fits} THEN {x} * {y} END"


def _rest(x: str, y: str) -> str:
    return f"CASE WHEN {y} = 0 THEN NULL WHEN {y} = -1 THEN {x} * 0 ELSE {x} % {y} END"


def _quotient_of_integers(x: str, y: str) -> str:
    return f"CASE WHEN {y} = 0 THEN NULL WHEN {y} = -1 THEN {_opposite(x)} ELSE {x} / {y} END"


def _opposite(x: str) -> str:
    return f"CASE WHEN {x} > {_LEAST} THEN - {x} END"


def _minus(x: str, y: str) -> str:
    return plus(x, f"(- {y})")


def _quotient(given: Given) -> str:
    return positive(divided(given.sql(0, Kind.REAL), given.sql(1, Kind.REAL)))


def _whole_quotient(given: Given) -> str:
    if all(term.kind in (None, Kind.INTEGER) for term in given.terms):
        return once(_quotient_of_integers, *given.each())
    return whole(f"trunc({_quotient(given)})")


def _negative(given: Given) -> str:
    return positive(f"(- {given.sql()})") if given.kind is Kind.REAL else once(_opposite, given.sql())


def _abs(given: Given) -> str:
    if given.kind is Kind.REAL:
        return f"abs({given.sql()})"
    return once(lambda x: f"CASE WHEN {x} > {_LEAST} THEN abs({x}) END", given.sql())


def _whole(form: str) -> Form:
    """A real made whole by a function; an integer is so already."""

    def rendered(given: Given) -> str:
        term = given.terms[0]
        return whole(form.format(term.sql)) if term.kind is Kind.REAL else given.sql()

    return rendered


def _round(given: Given) -> str:
    """To so many digits: halves go up; a value too large to have that digit stays as it is."""
    if len(given.terms) == 1:
        return _whole(f"floor({{}} + {real(0.5)})")(given)
    digits = given.constants[1]
    if not is_whole(digits):
        return given.nothing
    factor = float(f"1e{min(abs(int(digits)), 300)}")
    f = real(factor)

    def finer(x: str) -> str:
        inside = f"CASE WHEN abs({x} * {f}) < {real(_EXACT)} THEN floor({x} * {f} + {real(0.5)}) / {f} ELSE {x} END"
        return f"CASE WHEN abs({x}) < {real(2 * _EXACT / factor)} THEN {inside} ELSE {x} END"

    def coarser(x: str) -> str:
        near = times(f"floor({x} / {f} + {real(0.5)})", f)
        return (
            f"CASE WHEN abs({x}) < {real(factor / 4)} THEN {real(0.0)} "
            f"WHEN abs({x} / {f}) < {real(_EXACT)} THEN {near} ELSE {x} END"
        )

    return once(finer if int(digits) >= 0 else coarser, given.sql(0, Kind.REAL))


def _where_defined(function: str, condition: str) -> Form:
    """A real function, null outside its domain."""
    return lambda given: once(lambda x: f"CASE WHEN {x} {condition} THEN {function}({x}) END", given.sql())


def _log2(given: Given) -> str:
    """From the natural logarithm, in which powers of two are made exact; others may differ in the last bit."""

    def form(x: str, y: str) -> str:
        exact = f"abs({y}) < 1000 AND power({real(2.0)}, round({y})) = {x}"
        return f"CASE WHEN {exact} THEN round({y}) ELSE {y} END"

    return once(lambda x: once(form, x, f"(CASE WHEN {x} > 0 THEN ln({x}) END / {real(math.log(2))})"), given.sql())


def _exp(given: Given) -> str:
    """Beyond the largest double null, below the smallest 0; in halves where the engine takes small for none."""

    def form(x: str) -> str:
        half = f"exp({x} * {real(0.5)})"
        return (
            f"CASE WHEN {x} > {real(709.782712893384)} THEN NULL WHEN {x} < {real(-744.4)} THEN {real(0.0)} "
            f"WHEN {x} < -708 THEN {half} * {half} ELSE exp({x}) END"
        )

    return once(form, given.sql())


def _width_bucket(given: Given) -> str:
    """0 below low, n + 1 from high on, and 1 to n in between; null if the constants make no buckets."""
    found = edges(given)
    if found is None:
        return given.nothing
    start, end, width = (real(edge) for edge in found[:3])
    last = found[3] - 1

    def form(x: str) -> str:
        step = divided(plus(x, f"(- {start})"), width)
        place = f"coalesce(least(floor({step}), {last}), {last})::bigint + 1"
        return f"CASE WHEN {x} < {start} THEN 0 WHEN {x} >= {end} THEN {last + 2} WHEN {x} IS NOT NULL THEN {place} END"

    return once(form, given.sql(0, Kind.REAL))


ON_NUMBERS: dict[str, Form] = {
    "+": _of_two(plus, _sum),
    "-": _of_two(_minus, _difference),
    "*": _of_two(lambda x, y: positive(times(x, y)), _product),
    "%": _of_two(lambda x, y: positive(remainder(x, y)), _rest),
    "/": _quotient,
    "//": _whole_quotient,
    "negative": _negative,
    "abs": _abs,
    "sign": lambda given: f"sign({given.sql(0, Kind.REAL)})::bigint",
    "floor": _whole("floor({})"),
    "ceil": _whole("ceil({})"),
    "round": _round,
    "ln": _where_defined("ln", "> 0"),
    "log10": _where_defined("log10", "> 0"),
    "log2": _log2,
    "sqrt": _where_defined("sqrt", ">= 0"),
    "exp": _exp,
    "power": lambda given: powered(given.sql(), given.sql(1)),
    "least": extreme("least"),
    "greatest": extreme("greatest"),
    "width_bucket": _width_bucket,
}
