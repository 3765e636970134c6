"""Small policies and sources for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tacit.ledger import Terms
from tacit.privacy import ROW, PureDP
from tacit.tables.engines.duckdb.connection import LockedDuckDB
from tacit.tables.engines.duckdb.sources import open_source
from tacit.tables.expressions.kinds import Kind
from tacit.tables.policy.policy import ColumnPolicy, Policy, Role


def columns(**kinds: str) -> list[ColumnPolicy]:
    """Private columns of these kinds."""
    return [ColumnPolicy(name, Kind(kind), Role.PRIVATE) for name, kind in kinds.items()]


def policy(declared: list[ColumnPolicy]) -> Policy:
    """A policy about single rows."""
    return Policy("t", "t", ROW, {one.name: one for one in declared}, Terms(PureDP(1)))


def rows(
    where: Any, declared: list[ColumnPolicy], options: dict[str, str] | None = None, name: str | None = None
) -> list[tuple[Any, ...]]:
    """What the locked view holds, in no promised order."""
    source = open_source(where, options or {}, name)
    with LockedDuckDB(source, policy(declared), threads=1) as connection:
        found = connection.columns("SELECT * FROM rows")
    return list(zip(*(array.tolist() for array in found.values()), strict=True))


def written(folder: Path, body: bytes, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(body)
    return path
