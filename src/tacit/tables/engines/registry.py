"""Every kind of engine by its name: joining this mapping runs the contract suite on it."""

from __future__ import annotations

from collections.abc import Mapping

from tacit.tables.engines.backend import Backend
from tacit.tables.engines.duckdb.backend import DUCKDB
from tacit.tables.engines.postgres.backend import POSTGRES
from tacit.tables.engines.source import DATABASE

__all__ = ["ENGINES", "backend_for"]

ENGINES: Mapping[str, Backend] = {"duckdb": DUCKDB, "postgres": POSTGRES}
"""In the order in which they are asked whether they read a place."""


def backend_for(where: object) -> Backend:
    """The engine that reads rows at that place: the embedded one, unless another says that they are its own."""
    if not isinstance(where, str) or DATABASE not in where:
        return DUCKDB
    return next((one for one in ENGINES.values() if one is not DUCKDB and one.reads(where)), DUCKDB)
