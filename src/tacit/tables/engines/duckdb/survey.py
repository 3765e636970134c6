"""Facts about rows that an owner is told while writing a policy, and what public tables hold: as DuckDB finds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tacit.errors import PolicyError
from tacit.tables.engines.backend import ColumnContents, Contents, Spread, UnitRows
from tacit.tables.engines.duckdb.connection import EngineFailed, LockedDuckDB
from tacit.tables.engines.duckdb.expressions import render
from tacit.tables.engines.duckdb.sources.source import Source, quoted_name
from tacit.tables.engines.duckdb.text_casts import from_text
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Column
from tacit.tables.policy.policy import OtherTable, Policy

__all__ = ["DuckDBSurvey", "contents_of"]

_ENOUGH = 0.99  # of the values that are there
_PLAIN_INTEGER = r"\s*[+-]?\d{1,18}\s*"
_PLAIN_TRUTH = r"(?i)\s*(true|false|t|f|yes|no|y|n)\s*"
_LIKE_TIME = r"(?s) *[^ ].{3}-.*|.{19}"  # all that `from_text` reads as a day or a moment
_PLAIN_DATE = r"\s*\d{4}-\d{1,2}-\d{1,2}\s*"

MOST_LISTED = 10_000
"""The most values of a public table's column that make public groups; with more, groups pass a private selection."""


class DuckDBSurvey(LockedDuckDB):
    """A connection in which every column is text, and what it counts."""

    def kinds(self, names: Sequence[str]) -> dict[str, Kind]:
        """Per column, the narrowest kind that nearly all values can be read as; text if there are none."""
        simple = self._facts({name: _simple_tests(quoted_name(name)) for name in names})
        kinds = {name: _fitting(counts, Kind.INTEGER, Kind.REAL, Kind.BOOLEAN) for name, counts in simple.items()}
        shaped = [name for name in names if kinds[name] is None and _nearly_all(simple[name], "shaped")]
        times = self._facts({name: _tests_of_time(quoted_name(name)) for name in shaped}, at_once=20)
        kinds |= {name: _fitting(simple[name] | times[name], Kind.DATE, Kind.TIMESTAMP) for name in shaped}
        return {name: kind or Kind.TEXT for name, kind in kinds.items()}

    def rows(self) -> int:
        """How many there are."""
        return int(self.columns("SELECT count(*) AS n FROM rows")["n"][0])

    def spread(self, kinds: Mapping[str, Kind], *, exact: bool) -> dict[str, Spread]:
        """Of each column; different values are estimated unless ``exact``."""
        facts = self._facts({name: _spread(quoted_name(name), kind, exact) for name, kind in kinds.items()})
        return {
            name: Spread(int(one["empty"]), int(one["different"]), _pair(one.get("ends")))
            for name, one in facts.items()
        }

    def unit(self, name: str) -> UnitRows | None:
        """Of a column as the unit; None if it has no values."""
        column = quoted_name(name)
        found = self.columns(
            "SELECT count(*) AS units, quantile_disc(n, 0.5) AS half, quantile_disc(n, 0.95) AS most, max(n) AS top "
            f"FROM (SELECT count(*) AS n FROM rows WHERE {column} IS NOT NULL GROUP BY {column})"
        )
        units = int(found["units"][0])
        return UnitRows(units, *(int(found[one][0]) for one in ("half", "most", "top"))) if units else None

    def _facts(self, wanted: dict[str, dict[str, str]], at_once: int = 250) -> dict[str, dict[str, Any]]:
        """Aggregates by column and name, some columns in one look at the file: planning takes more than linear time."""
        found: dict[str, dict[str, Any]] = {}
        names = list(wanted)
        for start in range(0, len(names), at_once):
            some = [(name, fact, sql) for name in names[start : start + at_once] for fact, sql in wanted[name].items()]
            listed = ", ".join(f"{sql} AS f{i}" for i, (_, _, sql) in enumerate(some))
            row = self.columns(f"SELECT {listed} FROM rows")
            for i, (name, fact, _) in enumerate(some):
                found.setdefault(name, {})[fact] = row[f"f{i}"][0]
        return found


def _pair(ends: Any) -> tuple[float, float] | None:
    return None if ends is None else (float(ends[0]), float(ends[1]))


def _fitting(counts: dict[str, Any], *kinds: Kind) -> Kind | None:
    return next((kind for kind in kinds if _nearly_all(counts, kind.value)), None)


def _nearly_all(counts: dict[str, Any], test: str) -> bool:
    known = int(counts["known"])
    return known > 0 and int(counts[test]) >= _ENOUGH * known


def _simple_tests(column: str) -> dict[str, str]:
    """How many values of a column there are, can be read as each simple kind, or may be a time by their shape."""
    return {
        "known": f"count({column})",
        Kind.INTEGER.value: _times(_is_like(column, _PLAIN_INTEGER)),
        Kind.REAL.value: f"count({from_text(column, Kind.REAL)})",
        Kind.BOOLEAN.value: _times(_is_like(column, _PLAIN_TRUTH)),
        "shaped": _times(_is_like(column, _LIKE_TIME)),
    }


def _tests_of_time(column: str) -> dict[str, str]:
    """How many values can be read as days and moments: dear, and so only for columns of that shape."""
    day = f"CASE WHEN {_is_like(column, _PLAIN_DATE)} THEN {from_text(column, Kind.DATE)} END"
    return {Kind.DATE.value: f"count({day})", Kind.TIMESTAMP.value: f"count({from_text(column, Kind.TIMESTAMP)})"}


def _is_like(column: str, pattern: str) -> str:
    return f"regexp_full_match({column}, '{pattern}')"


def _times(test: str) -> str:
    """How often it holds. FILTER says the same, in a time that grows with the square of how many there are."""
    return f"count(CASE WHEN {test} THEN 1 END)"


def _spread(column: str, kind: Kind, exact: bool) -> dict[str, str]:
    different = f"count(DISTINCT {column})" if exact else f"approx_count_distinct({column})"
    wanted = {"empty": f"count(*) - count({column})", "different": different}
    if kind.is_number:
        wanted |= {"ends": f"quantile_cont({from_text(column, kind)}, [0.01, 0.99])"}
    return wanted


def contents_of(table: OtherTable, source: Source, policy: Policy) -> Contents:
    """What a public table holds: nothing in it is anybody's secret."""
    kinds = {one.name: one.kind for one in table.columns.values()}
    terms = {name: render(Column(name), kinds).sql for name in kinds}
    try:
        with LockedDuckDB(source, replace(policy, columns=table.columns, others={})) as connection:
            hashed = connection.columns(
                f"SELECT count(*) AS n, coalesce(sum(hash({', '.join(terms.values())})), 0) AS h FROM rows"
            )
            columns = {name: _column_contents(connection, sql) for name, sql in terms.items()}
    except EngineFailed:
        raise PolicyError(f"The public table {table.name} cannot be read. Nothing was spent.") from None
    return Contents(f"{hashed['n'][0]}:{int(hashed['h'][0]):x}", columns, int(hashed["n"][0]))


def _column_contents(connection: LockedDuckDB, sql: str) -> ColumnContents:
    found = connection.columns(f"SELECT DISTINCT {sql} AS k FROM rows ORDER BY k LIMIT {MOST_LISTED + 1}")
    listed = found["k"].tolist()
    ends = connection.columns(f"SELECT min({sql}) AS low, max({sql}) AS high FROM rows")
    values = None if len(listed) > MOST_LISTED else tuple(listed)
    alike = f"SELECT count(*) AS n FROM rows WHERE {sql} IS NOT NULL GROUP BY {sql}"
    most = connection.columns(f"SELECT coalesce(max(n), 1) AS n FROM ({alike}) AS counted")
    return ColumnContents(values, ends["low"].tolist()[0], ends["high"].tolist()[0], int(most["n"][0]))
