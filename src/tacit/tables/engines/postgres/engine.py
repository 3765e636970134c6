"""The engine on PostgreSQL: a bounded query becomes one statement, whose integers come back."""

from __future__ import annotations

from typing import ClassVar

from tacit.tables.engines.chain.dialect import Dialect
from tacit.tables.engines.chain.engine import ChainEngine
from tacit.tables.engines.postgres.dialect import DIALECT

__all__ = ["PostgresEngine"]


class PostgresEngine(ChainEngine):
    """Runs bounded queries on PostgreSQL; the secret is a parameter of each statement."""

    dialect: ClassVar[Dialect] = DIALECT
