"""Every kind of engine by its name: joining this mapping runs the contract suite on it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tacit.tables.engines.backend import Backend
from tacit.tables.engines.duckdb.backend import DUCKDB
from tacit.tables.engines.postgres.backend import POSTGRES
from tacit.tables.engines.spark.backend import SPARK
from tacit.tables.policy.policy import is_address

__all__ = ["ENGINES", "backend_for"]

ENGINES: Mapping[str, Backend] = {"duckdb": DUCKDB, "postgres": POSTGRES, "spark": SPARK}
"""In the order in which they are asked whether they read a place."""


def backend_for(where: object, options: Mapping[str, object] | None = None) -> Backend:
    """The engine that reads rows at that place: the embedded one, unless another says that they are its own.

    Of files, which every engine could read, the options of [reading] may name one.
    """
    if isinstance(where, str | Path) and not options and not is_address(str(where)):
        return DUCKDB
    named = (options or {}).get("engine")
    if named in ENGINES:
        return ENGINES[str(named)]
    return next((one for one in ENGINES.values() if one is not DUCKDB and one.reads(where)), DUCKDB)
