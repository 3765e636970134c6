"""Facts about rows that an owner is told while writing a policy, and what public tables hold, by PostgreSQL."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from tacit.errors import PolicyError
from tacit.tables.engines.backend import (
    ColumnContents,
    Contents,
    Found,
    Quality,
    Spread,
    TableSources,
    UnitRows,
)
from tacit.tables.engines.chain.terms import Term, identifier
from tacit.tables.engines.failure import EngineFailed
from tacit.tables.engines.postgres.connection import QuietPostgres
from tacit.tables.engines.postgres.dialect import DIALECT
from tacit.tables.engines.postgres.driver import connected
from tacit.tables.engines.postgres.operators.casts import cast
from tacit.tables.engines.postgres.source import PostgresSource
from tacit.tables.engines.postgres.tables import rows_of
from tacit.tables.engines.postgres.text_casts import own_kind
from tacit.tables.expressions.kinds import Kind
from tacit.tables.policy.policy import ColumnPolicy, OtherTable, Policy

__all__ = ["PostgresSurvey", "contents_of"]

MOST_LISTED = 10_000
LADDER = (1, 2, 3, 5, 10, 20, 50, 100)


class PostgresSurvey:
    """A look at the rows for their owner's eyes alone."""

    def __init__(self, source: PostgresSource, policy: Policy) -> None:
        self._source = source
        self._steps = ",\n".join(rows_of(TableSources(source, replace(policy, others={}), {})).steps)
        self._connection = QuietPostgres(connected(source.address), "")

    def columns(self, sql: str) -> dict[str, list[Any]]:
        """The result of a SELECT over ``rows``."""
        return self._connection.columns(f"WITH {self._steps}\n{sql}")

    def kinds(self, names: Sequence[str], options: Mapping[str, str]) -> Found:
        """The types that the table has: nothing is guessed."""
        types = self._source.types
        return Found({name: own_kind(types[name]) or Kind.TEXT for name in names}, dict(options))

    def rows(self) -> int:
        return int(self.columns("SELECT count(*) AS n FROM rows")["n"][0])

    def spread(self, found: Found, *, exact: bool) -> dict[str, Spread]:
        return {name: self._spread(identifier(name), kind) for name, kind in found.kinds.items()}

    def _spread(self, column: str, kind: Kind) -> Spread:
        wanted = f"count(*) - count({column}) AS empty, count(DISTINCT {column}) AS different"
        if kind.is_number:
            number = cast(Term(f"rows.{column}", Kind.TEXT), Kind.REAL)
            wanted += f", percentile_cont(ARRAY[0.01, 0.99]) WITHIN GROUP (ORDER BY {number}) AS ends"
        one = self.columns(f"SELECT {wanted} FROM rows")
        ends = one["ends"][0] if "ends" in one else None
        pair = None if ends is None or ends[0] is None else (float(ends[0]), float(ends[1]))
        return Spread(int(one["empty"][0]), int(one["different"][0]), pair)

    def present(self, names: Sequence[str]) -> dict[str, int]:
        wanted = ", ".join(f"count({identifier(name)}) AS f{i}" for i, name in enumerate(names))
        found = self.columns(f"SELECT {wanted} FROM rows") if names else {}
        return {name: int(found[f"f{i}"][0]) for i, name in enumerate(names)}

    def quality(self, columns: Sequence[ColumnPolicy], present: Mapping[str, int]) -> dict[str, Quality]:
        rows = self.rows()
        return {one.name: self._quality(one, rows, present[one.name]) for one in columns}

    def _quality(self, column: ColumnPolicy, rows: int, present: int) -> Quality:
        name, outside = f"rows.{identifier(column.name)}", None
        if column.bounds is not None:
            low, high = (float(end) for end in column.bounds)
            outside = f"{name} NOT BETWEEN {low!r} AND {high!r}"
        elif column.keys is not None:
            keys = [DIALECT.literal(key).sql for key in column.keys if key is not None]
            outside = f"{name} NOT IN ({', '.join(keys) or 'NULL'})"
        found = self.columns(
            f"SELECT count({name}) AS known, count(*) FILTER (WHERE {outside or 'FALSE'}) AS outside FROM rows"
        )
        known = int(found["known"][0])
        far = None if outside is None else int(found["outside"][0])
        return Quality(rows - max(present, known), max(present - known, 0), far)

    def unit(self, name: str) -> UnitRows | None:
        column = identifier(name)
        kept = ", ".join(f"sum(least(n, {limit})) / sum(n) AS kept{limit}" for limit in LADDER)
        found = self.columns(
            "SELECT count(*) AS units, percentile_disc(0.5) WITHIN GROUP (ORDER BY n) AS half, "
            f"percentile_disc(0.95) WITHIN GROUP (ORDER BY n) AS most, max(n) AS top, {kept} "
            f"FROM (SELECT count(*) AS n FROM rows WHERE {column} IS NOT NULL GROUP BY {column}) AS counted"
        )
        units = int(found["units"][0])
        if not units:
            return None
        shares = tuple((limit, float(found[f"kept{limit}"][0])) for limit in LADDER)
        half, most, top = (int(found[one][0]) for one in ("half", "most", "top"))
        return UnitRows(units, half, most, top, shares)

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def contents_of(table: OtherTable, source: PostgresSource, policy: Policy) -> Contents:
    """What a public table holds: nothing in it is anybody's secret."""
    public = replace(policy, columns=table.columns, others={})
    try:
        with PostgresSurvey(source, public) as survey:
            columns = {name: _column(survey, identifier(name), one.kind) for name, one in table.columns.items()}
            whole = " || ".join(f"coalesce('=' || {identifier(name)}::text, '-') || chr(31)" for name in table.columns)
            each = f"SELECT md5({whole or repr('')}) AS h FROM rows"
            all_of_them = "coalesce(string_agg(h, '' ORDER BY h COLLATE \"C\"), '')"
            found = survey.columns(f"SELECT count(*) AS n, {all_of_them} AS h FROM ({each}) AS one")
    except EngineFailed:
        raise PolicyError(f"The public table {table.name} cannot be read. Nothing was spent.") from None
    size = int(found["n"][0])
    return Contents(f"{size}:{hashlib.sha256(found['h'][0].encode()).hexdigest()[:16]}", columns, size)


def _column(survey: PostgresSurvey, name: str, kind: Kind) -> ColumnContents:
    listed = survey.columns(f"SELECT DISTINCT {name} AS k FROM rows ORDER BY k LIMIT {MOST_LISTED + 1}")["k"]
    low, high = (DIALECT.extreme(which, name, kind) for which in ("min", "max"))
    ends = survey.columns(f"SELECT {low} AS low, {high} AS high FROM rows")
    alike = f"SELECT count(*) AS n FROM rows WHERE {name} IS NOT NULL GROUP BY {name}"
    most = survey.columns(f"SELECT coalesce(max(n), 1) AS n FROM ({alike}) AS counted")
    values = None if len(listed) > MOST_LISTED else tuple(listed)
    return ColumnContents(values, ends["low"][0], ends["high"][0], int(most["n"][0]))
