"""Spark's pieces of the chain of steps.

All rows of a unit are brought together once, by `found`, and stay there: what later steps group, order or join by
begins with the unit. A step that is named twice would be computed twice; that of `found` is not, since it cannot be
seen to give the same twice, and so is shuffled, and read, once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tacit.tables.engines.chain.dialect import Dialect, Nullable
from tacit.tables.engines.chain.terms import Term, indented
from tacit.tables.engines.chain.values import double
from tacit.tables.engines.contract import Quantised
from tacit.tables.engines.spark import facts
from tacit.tables.engines.spark.operators import FORMS
from tacit.tables.engines.spark.operators.casts import cast
from tacit.tables.engines.spark.terms import TYPES, down, finite, in_64_bits, once, real, text_literal
from tacit.tables.expressions.kinds import Kind

__all__ = ["DIALECT", "SECRET_VIEW", "Spark"]

SECRET_VIEW = "tacit_secret"
"""A view with the secret in its one row: no statement has it, no plan, and no log of them."""

_NARROW = 2**22
"""Below, 2⁴¹ rows of one unit add up in 64 bits: a table cannot have as many."""
_WIDE = f"CAST({2**62} AS DECIMAL(38, 0))"


class Spark(Dialect):
    """As Spark 4 reads it under the settings of `driver`."""

    types = TYPES
    narrow = {"int8": "TINYINT", "int16": "SMALLINT", "int32": "INT", "int64": "BIGINT"}  # noqa: RUF012
    forms = FORMS
    no_integers = "CAST(array() AS ARRAY<BIGINT>)"
    in_place = True

    def step(self, name: str, body: str, stored: bool = False) -> str:
        return f"{name} AS (\n{indented(body)}\n)"

    def found(self, select: str, by: Sequence[str]) -> str:
        if not by:
            return select
        rows = f"SELECT *\nFROM (\n{indented(select)}\n) AS every\nWHERE spark_partition_id() >= 0"
        return f"{rows}\nDISTRIBUTE BY {', '.join(by)}"

    def same(self, left: str, right: str, columns: Nullable) -> str:
        signs = {name: "=" if kind is None else "<=>" for name, kind in columns.items()}
        return " AND ".join(f"{left}.{name} {sign} {right}.{name}" for name, sign in signs.items()) or "TRUE"

    def semi(self, left: str, right: str, condition: str, where: str = "") -> str:
        return f"{left} LEFT SEMI JOIN {right} ON {condition}" + (f"\nWHERE {where}" if where else "")

    def anti(self, left: str, right: str, condition: str) -> str:
        return f"{left} LEFT ANTI JOIN {right} ON {condition}"

    def cuts(self, limit: int) -> str:
        raise NotImplementedError("pairs are ranked in place")

    def first_pairs(self, limit: int, ties: Sequence[str] = ()) -> str:
        order = ", ".join(["place", *(f"{name} NULLS LAST" for name in ties)])
        turn = f"row_number() OVER (PARTITION BY unit ORDER BY {order}) AS turn"
        return f"SELECT *\nFROM (SELECT *, {turn} FROM ranked) AS ordered\nWHERE turn <= {limit}"

    def collected(self, what: str, by: str) -> str:
        return f"transform(array_sort(collect_list(named_struct('a', {by}, 'b', {what}))), one -> one.b)"

    def ordinals(self, times: str) -> str:
        return f"explode(sequence(CAST(1 AS BIGINT), {times}))"

    def quotient(self, number: str, by: int) -> str:
        return f"({number} DIV {by})"

    def real(self, value: float) -> str:
        return real(value)

    def text(self, text: str) -> str:
        return text_literal(text)

    def secret(self, key: str, rest: str) -> str:
        return f"(SELECT secret FROM {SECRET_VIEW}) || ';{rest}'"

    def column(self, sql: str, kind: Kind) -> str:
        """As it is: the promises are kept where rows are read, once."""
        return sql

    def once(self, body: Callable[..., str], *arguments: str) -> str:
        return once(body, *arguments)

    def cast(self, term: Term, kind: Kind) -> str:
        return cast(term, kind)

    def written(self, sql: str, kind: Kind) -> str:
        return _bits(sql) if kind is Kind.REAL else f"CAST({sql} AS STRING)"

    def order_of(self, text: str) -> str:
        return f"reverse(unhex(md5({text})))"

    def number_of(self, text: str) -> str:
        first = f"substr(hex(reverse(unhex(md5({text})))), 1, 8)"
        return f"shiftright(CAST(conv({first}, 16, 10) AS BIGINT), 1)"

    def present(self, x: str) -> str:
        return f"CAST({x} IS NOT NULL AS BIGINT)"

    def granules(self, value: Quantised, x: str, *, surely_whole: bool) -> str:
        low, high, centre, granule = (double(one) for one in (value.low, value.high, value.centre, value.granule))
        inside = f"CASE WHEN {x} < {real(low)} THEN {real(low)} WHEN {x} > {real(high)} THEN {real(high)} ELSE {x} END"
        moved = f"({inside} - {real(centre)})"
        if surely_whole:
            return f"floor({moved} / {real(granule)} + {real(0.5)})"
        return f"coalesce({down(f'(try_divide({moved}, {real(granule)}) + {real(0.5)})')}, CAST(0 AS BIGINT))"

    def place(self, items: Sequence[str], x: str) -> str:
        return f"coalesce(array_position(array({', '.join(items)}), {x}), CAST(0 AS BIGINT))"

    def unpacked(self, text: str, separator: str, kind: Kind) -> str:
        pieces = f"split({text_literal(text)}, '[{separator}]')".replace("[^]", "\\u005c^")
        return pieces if kind is Kind.TEXT else f"transform({pieces}, one -> CAST(one AS {TYPES[kind]}))"

    def side_by_side(self, columns: Mapping[str, str]) -> str:
        return f"SELECT inline(arrays_zip({', '.join(columns.values())})) AS ({', '.join(columns)})"

    def summed(self, widest: int, column: str) -> str:
        """In 64 bits where they cannot be filled, otherwise exactly."""
        return f"sum({column})" if widest < _NARROW else facts.exact_sum(column)

    def total(self, sql: str, widest: int) -> tuple[str, str]:
        if widest < _NARROW:
            return "CAST(0 AS BIGINT)", f"coalesce(sum(CAST({sql} AS BIGINT)), CAST(0 AS BIGINT))"
        total = f"coalesce({facts.exact_sum(sql)}, CAST(0 AS DECIMAL(38, 0)))"
        return f"CAST({total} div {_WIDE} AS BIGINT)", f"CAST({total} % {_WIDE} AS BIGINT)"

    def fetched(self, sql: str, kind: Kind) -> str:
        match kind:
            case Kind.DATE:
                return f"CAST(coalesce(unix_date({sql}), 0) AS BIGINT)"
            case Kind.TIMESTAMP:
                return f"coalesce(unix_micros({sql}), CAST(0 AS BIGINT))"
            case Kind.TEXT:
                return f"coalesce({sql}, '')"
            case Kind.BOOLEAN:
                return f"coalesce({sql}, FALSE)"
        return f"coalesce({sql}, {self.literal(0 if kind is Kind.INTEGER else 0.0).sql})"

    def sum_of_integers(self, x: str) -> str:
        return in_64_bits(facts.exact_sum(x))

    def mean_of_integers(self, x: str) -> str:
        return finite(f"try_divide(CAST({facts.exact_sum(x)} AS DOUBLE), count({x}))")

    def sum_of_reals(self, x: str) -> str:
        return finite(facts.sum_of_reals(x))

    def mean_of_reals(self, x: str) -> str:
        return finite(f"try_divide({facts.sum_of_reals(x)}, count({facts.within(x)}))")


DIALECT = Spark()


def _bits(sql: str) -> str:
    """The 64 bits of a double as a text, from how Java writes it in base 16: neither the negative zero nor infinite."""

    def form(x: str) -> str:
        return once(lambda t: bits(x, t), f"format_string('%a', {x})")

    def bits(x: str, t: str) -> str:
        power = f"CASE WHEN contains({t}, '0x0.') THEN 0 ELSE CAST(split_part({t}, 'p', 2) AS INT) + 1023 END"
        digits = f"rpad(split_part(split_part({t}, '.', 2), 'p', 1), 13, '0')"
        exponent, rest = f"lpad(bin({power}), 11, '0')", f"lpad(conv({digits}, 16, 2), 52, '0')"
        return f"CASE WHEN {x} IS NOT NULL THEN CASE WHEN {x} < 0 THEN '1' ELSE '0' END || {exponent} || {rest} END"

    return once(form, sql)
