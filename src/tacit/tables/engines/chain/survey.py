"""Facts about the rows of a table with types, for their owner's eyes alone, and what public tables hold."""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from fractions import Fraction
from types import TracebackType
from typing import Any, Protocol, Self

from tacit.errors import PolicyError
from tacit.tables.engines.backend import ColumnContents, Contents, Found, Quality, Spread, UnitRows
from tacit.tables.engines.chain.dialect import Dialect
from tacit.tables.engines.chain.terms import identifier
from tacit.tables.engines.failure import EngineFailed
from tacit.tables.expressions.kinds import Kind
from tacit.tables.policy.policy import ColumnPolicy, OtherTable

__all__ = ["TypedSurvey", "contents", "ends_of"]

MOST_LISTED = 10_000
LADDER = (1, 2, 3, 5, 10, 20, 50, 100)


class Connection(Protocol):
    """What runs a statement that shows what it finds."""

    def columns(self, sql: str) -> dict[str, list[Any]]: ...

    def close(self) -> None: ...


class TypedSurvey(ABC):
    """A look at the rows: counts, in statements that engines write alike but for a few pieces."""

    def __init__(
        self, dialect: Dialect, kinds: Mapping[str, Kind | None], steps: Sequence[str], connection: Connection
    ):
        self.dialect = dialect
        self._kinds = kinds
        self._steps = ",\n".join(steps)
        self._connection = connection

    @abstractmethod
    def quantile(self, column: str, share: float) -> str:
        """The aggregate for a quantile of a column that holds numbers."""

    @abstractmethod
    def text(self, column: str, kind: Kind) -> str:
        """A value of a public table as a text, by which its contents are known again."""

    @abstractmethod
    def joined(self, texts: str) -> str:
        """The aggregate that puts texts together, in their order as bytes."""

    def fetched(self, sql: str, kind: Kind) -> str:
        """A value as it comes back."""
        return sql

    def value(self, found: Any, kind: Kind) -> Any:
        """That as one of Python."""
        return found

    def columns(self, sql: str) -> dict[str, list[Any]]:
        """The result of a SELECT over ``rows``."""
        return self._connection.columns(f"WITH {self._steps}\n{sql}")

    def kinds(self, names: Sequence[str], options: Mapping[str, str]) -> Found:
        """The types that the table has: nothing is guessed."""
        return Found({name: self._kinds[name] or Kind.TEXT for name in names}, dict(options))

    def rows(self) -> int:
        return int(self.columns("SELECT count(*) AS n FROM rows")["n"][0])

    def spread(self, found: Found, *, exact: bool) -> dict[str, Spread]:
        return {name: self._spread(identifier(name), kind) for name, kind in found.kinds.items()}

    def _spread(self, column: str, kind: Kind) -> Spread:
        wanted = f"count(*) - count({column}) AS empty, count(DISTINCT {column}) AS different"
        if kind.is_number:
            wanted += f", {self.quantile(column, 0.01)} AS low, {self.quantile(column, 0.99)} AS high"
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
            low, high = (self.dialect.literal(end).sql for end in ends_of(column.kind, column.bounds))
            outside = f"{name} NOT BETWEEN {low} AND {high}"
        elif column.keys is not None:
            keys = [self.dialect.literal(key).sql for key in column.keys if key is not None]
            outside = f"{name} NOT IN ({', '.join(keys) or 'NULL'})"
        times = f"count(CASE WHEN {outside or 'FALSE'} THEN 1 END)"
        found = self.columns(f"SELECT count({name}) AS known, {times} AS outside FROM rows")
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
        return UnitRows.of(found, LADDER)

    def column_contents(self, name: str, kind: Kind) -> ColumnContents:
        """Of a column of a public table: its values if they are few, its ends, how often the most frequent one is."""
        shown = self.fetched(name, kind)
        listed = f"SELECT DISTINCT {shown} AS k FROM rows ORDER BY k NULLS LAST LIMIT {MOST_LISTED + 1}"
        found = self.columns(listed)["k"]
        low, high = (self.fetched(self.dialect.extreme(which, name, kind), kind) for which in ("min", "max"))
        ends = self.columns(f"SELECT {low} AS low, {high} AS high FROM rows")
        alike = f"SELECT count(*) AS n FROM rows WHERE {name} IS NOT NULL GROUP BY {name}"
        most = self.columns(f"SELECT coalesce(max(n), 1) AS n FROM ({alike}) AS counted")
        values = None if len(found) > MOST_LISTED else tuple(self.value(one, kind) for one in found)
        first, last = (self.value(ends[end][0], kind) for end in ("low", "high"))
        return ColumnContents(values, first, last, int(most["n"][0]))

    def digest(self, kinds: Mapping[str, Kind]) -> tuple[int, str]:
        """How many rows there are, and what changes with any of them, whatever their order."""
        whole = " || ".join(
            f"coalesce('=' || {self.text(identifier(name), kind)}, '-') || chr(31)" for name, kind in kinds.items()
        )
        each = f"SELECT md5({whole or repr('')}) AS h FROM rows"
        found = self.columns(f"SELECT count(*) AS n, {self.joined('h')} AS h FROM ({each}) AS one")
        return int(found["n"][0]), hashlib.sha256(found["h"][0].encode()).hexdigest()[:16]

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def ends_of(kind: Kind, bounds: tuple[Fraction, Fraction]) -> tuple[int | float, int | float]:
    """Bounds as constants that values of the kind are compared with: of whole numbers exactly, beyond 2⁵³ too."""
    if kind is Kind.INTEGER:
        return math.ceil(bounds[0]), math.floor(bounds[1])
    return float(bounds[0]), float(bounds[1])


def contents(table: OtherTable, opened: Callable[[], AbstractContextManager[TypedSurvey]]) -> Contents:
    """What a public table holds: nothing in it is anybody's secret."""
    kinds = {name: one.kind for name, one in table.columns.items()}
    try:
        with opened() as survey:
            columns = {name: survey.column_contents(identifier(name), kind) for name, kind in kinds.items()}
            size, digest = survey.digest(kinds)
    except EngineFailed:
        raise PolicyError(f"The public table {table.name} cannot be read. Nothing was spent.") from None
    return Contents(f"{size}:{digest}", columns, size)
