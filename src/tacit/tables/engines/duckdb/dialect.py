"""DuckDB's pieces of the chain of steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tacit.tables.engines.chain.dialect import Dialect, Nullable
from tacit.tables.engines.chain.terms import Term
from tacit.tables.engines.chain.values import double
from tacit.tables.engines.contract import Quantised
from tacit.tables.engines.duckdb import facts
from tacit.tables.engines.duckdb.operators import FORMS
from tacit.tables.engines.duckdb.operators.casts import cast
from tacit.tables.engines.duckdb.terms import TYPES, finite, in_calendar, once, real, text_literal
from tacit.tables.expressions.kinds import Kind

__all__ = ["DIALECT", "DuckDB"]

_SMALL_HEAP = 16
"""Up to this many groups, every unit has a heap of that size; beyond, only crowded units are sorted."""


class DuckDB(Dialect):
    """As DuckDB 1.5 reads it."""

    types = TYPES
    narrow = {"int8": "TINYINT", "int16": "SMALLINT", "int32": "INTEGER", "int64": "BIGINT"}  # noqa: RUF012
    forms = FORMS
    no_integers = "CAST([] AS BIGINT[])"

    def same(self, left: str, right: str, columns: Nullable) -> str:
        return " AND ".join(f"{left}.{column} IS NOT DISTINCT FROM {right}.{column}" for column in columns) or "TRUE"

    def semi(self, left: str, right: str, condition: str, where: str = "") -> str:
        return f"{left} SEMI JOIN {right} ON {condition}" + (f"\nWHERE {where}" if where else "")

    def anti(self, left: str, right: str, condition: str) -> str:
        return f"{left} ANTI JOIN {right} ON {condition}"

    def first(self, columns: Sequence[str], source: str, by: Sequence[str], order: str, limit: int) -> str:
        turn = f"row_number() OVER (PARTITION BY {', '.join(by)} ORDER BY {order})"
        return f"SELECT {', '.join(columns)}\nFROM {source}\nQUALIFY {turn} <= {limit}"

    def cuts(self, limit: int) -> str:
        if limit <= _SMALL_HEAP:
            return (
                f"SELECT unit, min(place, {limit})[{limit}] AS cut\nFROM ranked\nGROUP BY unit"
                f"\nHAVING count(*) > {limit}"
            )
        crowded = f"(SELECT unit FROM pairs GROUP BY unit HAVING count(*) > {limit})"
        return (
            f"SELECT unit, list_sort(list(place))[{limit}] AS cut\n"
            f"FROM ranked SEMI JOIN {crowded} AS crowded USING (unit)\nGROUP BY unit"
        )

    def collected(self, what: str, by: str) -> str:
        return f"list({what} ORDER BY {by})"

    def ordinals(self, times: str) -> str:
        return f"unnest(range(1, {times} + 1))"

    def quotient(self, number: str, by: int) -> str:
        return f"({number} // {by})"

    def real(self, value: float) -> str:
        return real(value)

    def text(self, text: str) -> str:
        return text_literal(text)

    def bytes_of(self, text: str) -> str:
        return f"strlen({text})"

    def secret(self, key: str, rest: str) -> str:
        return text_literal(f"{key};{rest}")

    def column(self, sql: str, kind: Kind) -> str:
        if kind is Kind.REAL:
            return finite(sql)
        return in_calendar(sql, kind) if kind.is_time else sql

    def once(self, body: Callable[..., str], *arguments: str) -> str:
        return once(body, *arguments)

    def cast(self, term: Term, kind: Kind) -> str:
        return cast(term, kind)

    def written(self, sql: str, kind: Kind) -> str:
        return f"CAST(CAST({sql} AS BIT) AS VARCHAR)" if kind is Kind.REAL else f"CAST({sql} AS VARCHAR)"

    def order_of(self, text: str) -> str:
        return f"md5_number({text})"

    def number_of(self, text: str) -> str:
        return f"CAST(md5_number({text}) >> 97 AS BIGINT)"

    def present(self, x: str) -> str:
        return f"CAST({x} IS NOT NULL AS BIGINT)"

    def granules(self, value: Quantised, x: str, *, surely_whole: bool) -> str:
        ends = (double(one) for one in (value.low, value.high, value.centre, value.granule))
        low, high, centre, granule = (real(one) for one in ends)
        inside = (
            f"CASE WHEN {x} < {low} THEN {low} WHEN {x} > {high} THEN {high} ELSE {x} END"  # a third of least(greatest)
        )
        near = f"floor(({inside} - {centre}) / {granule} + 0.5)"
        return f"CAST({near} AS BIGINT)" if surely_whole else f"coalesce(TRY_CAST({near} AS BIGINT), 0)"

    def place(self, items: Sequence[str], x: str) -> str:
        return f"CAST(coalesce(list_position([{', '.join(items)}], {x}), 0) AS BIGINT)"

    def unpacked(self, text: str, separator: str, kind: Kind) -> str:
        return f"CAST(unnest(string_split({text_literal(text)}, '{separator}')) AS {TYPES[kind]})"

    def summed(self, widest: int, column: str) -> str:
        """In 64 bits where even 2⁴⁸ rows could not fill them, otherwise in 128."""
        return f"CAST(sum(CAST({column} AS SMALLINT)) AS BIGINT)" if widest < 2**15 else f"sum({column})"

    def total(self, sql: str, widest: int) -> tuple[str, str]:
        total = f"coalesce(sum(CAST({sql} AS BIGINT)), 0)"
        return f"CAST({total} // {2**62} AS BIGINT)", f"CAST({total} % {2**62} AS BIGINT)"

    def fetched(self, sql: str, kind: Kind) -> str:
        match kind:
            case Kind.DATE:
                return f"CAST(coalesce({sql} - DATE '1970-01-01', 0) AS BIGINT)"
            case Kind.TIMESTAMP:
                return f"coalesce(epoch_us({sql}), 0)"
            case Kind.TEXT:
                return f"coalesce({sql}, '')"
            case Kind.BOOLEAN:
                return f"coalesce({sql}, FALSE)"
        return f"coalesce({sql}, 0)"

    def sum_of_integers(self, x: str) -> str:
        return f"TRY_CAST(sum({x}) AS BIGINT)"

    def mean_of_integers(self, x: str) -> str:
        return finite(f"({facts.nearest(f'sum({x})')} / count({x}))")

    def sum_of_reals(self, x: str) -> str:
        return finite(facts.sum_of_reals(x))

    def mean_of_reals(self, x: str) -> str:
        return finite(f"({facts.sum_of_reals(x)} / count({facts.within(x)}))")


DIALECT = DuckDB()
