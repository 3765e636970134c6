"""Facts about rows that an owner is told while writing a policy, and what public tables hold, by Spark."""

from __future__ import annotations

import datetime
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
from tacit.tables.engines.chain.terms import identifier
from tacit.tables.engines.failure import EngineFailed
from tacit.tables.engines.spark.connection import QuietSpark
from tacit.tables.engines.spark.dialect import DIALECT
from tacit.tables.engines.spark.source import SparkSource
from tacit.tables.engines.spark.tables import frames_of, rows_of
from tacit.tables.engines.spark.text_casts import can_cast, own_kind
from tacit.tables.expressions.kinds import Kind
from tacit.tables.policy.policy import ColumnPolicy, OtherTable, Policy

__all__ = ["SparkSurvey", "contents_of"]

MOST_LISTED = 10_000
LADDER = (1, 2, 3, 5, 10, 20, 50, 100)
_EPOCH = datetime.datetime(1970, 1, 1)


class SparkSurvey:
    """A look at the rows for their owner's eyes alone."""

    def __init__(self, source: SparkSource, policy: Policy) -> None:
        self._source = source
        columns = {
            name: replace(one, kind=_readable(one.kind, source.types[name])) for name, one in policy.columns.items()
        }
        table = TableSources(source, replace(policy, columns=columns, others={}), {})
        self._steps = ",\n".join(rows_of(table).steps)
        self._connection = QuietSpark(*frames_of(table), "")

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
            number = f"try_cast({column} AS DOUBLE)"
            wanted += f", percentile({number}, 0.01) AS low, percentile({number}, 0.99) AS high"
        one = self.columns(f"SELECT {wanted} FROM rows")
        low = one["low"][0] if "low" in one else None
        ends = None if low is None else (float(low), float(one["high"][0]))
        return Spread(int(one["empty"][0]), int(one["different"][0]), ends)

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
            low, high = (DIALECT.literal(float(end)).sql for end in column.bounds)
            outside = f"{name} NOT BETWEEN {low} AND {high}"
        elif column.keys is not None:
            keys = [DIALECT.literal(key).sql for key in column.keys if key is not None]
            outside = f"{name} NOT IN ({', '.join(keys) or 'NULL'})"
        found = self.columns(f"SELECT count({name}) AS known, count_if({outside or 'FALSE'}) AS outside FROM rows")
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


def _readable(kind: Kind, type_name: str) -> Kind:
    """A real is counted as itself, where others are counted as texts: Spark's digits of it are not ours."""
    return kind if can_cast(type_name, kind) else own_kind(type_name) or kind


def contents_of(table: OtherTable, source: SparkSource, policy: Policy) -> Contents:
    """What a public table holds: nothing in it is anybody's secret."""
    public = replace(policy, columns=table.columns, others={})
    try:
        with SparkSurvey(source, public) as survey:
            columns = {name: _column(survey, identifier(name), one.kind) for name, one in table.columns.items()}
            whole = " || ".join(
                f"coalesce('=' || {_text(name, one.kind)}, '-') || char(31)" for name, one in table.columns.items()
            )
            each = f"SELECT md5({whole or repr('')}) AS h FROM rows"
            found = survey.columns(
                f"SELECT count(*) AS n, array_join(array_sort(collect_list(h)), '') AS h FROM ({each})"
            )
    except EngineFailed:
        raise PolicyError(f"The public table {table.name} cannot be read. Nothing was spent.") from None
    size = int(found["n"][0])
    return Contents(f"{size}:{hashlib.sha256(found['h'][0].encode()).hexdigest()[:16]}", columns, size)


def _text(name: str, kind: Kind) -> str:
    return DIALECT.written(identifier(name), kind)


def _column(survey: SparkSurvey, name: str, kind: Kind) -> ColumnContents:
    shown = _fetched(name, kind)
    listed = survey.columns(f"SELECT DISTINCT {shown} AS k FROM rows ORDER BY k NULLS LAST LIMIT {MOST_LISTED + 1}")[
        "k"
    ]
    ends = survey.columns(
        f"SELECT {_fetched(f'min({name})', kind)} AS low, {_fetched(f'max({name})', kind)} AS high FROM rows"
    )
    alike = f"SELECT count(*) AS n FROM rows WHERE {name} IS NOT NULL GROUP BY {name}"
    most = survey.columns(f"SELECT coalesce(max(n), 1) AS n FROM ({alike}) AS counted")
    values = None if len(listed) > MOST_LISTED else tuple(_value(one, kind) for one in listed)
    return ColumnContents(values, _value(ends["low"][0], kind), _value(ends["high"][0], kind), int(most["n"][0]))


def _fetched(sql: str, kind: Kind) -> str:
    """Times as whole numbers: Python's own would go through the zone of this machine."""
    return {Kind.DATE: f"unix_date({sql})", Kind.TIMESTAMP: f"unix_micros({sql})"}.get(kind, sql)


def _value(found: Any, kind: Kind) -> Any:
    if found is None or not kind.is_time:
        return found
    if kind is Kind.DATE:
        return (_EPOCH + datetime.timedelta(days=found)).date()
    return _EPOCH + datetime.timedelta(microseconds=found)
