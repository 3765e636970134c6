"""The engine on DuckDB: a bounded query becomes one statement over the view ``rows``, whose integers come back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from tacit.errors import PolicyError
from tacit.tables.engines.chain.dialect import Dialect
from tacit.tables.engines.chain.engine import ChainEngine, Connection
from tacit.tables.engines.chain.terms import identifier, other_view
from tacit.tables.engines.duckdb.dialect import DIALECT
from tacit.tables.engines.duckdb.sources.source import VIEW
from tacit.tables.engines.duckdb.terms import TYPES
from tacit.tables.expressions.kinds import Kind

__all__ = ["DuckDBEngine"]

_KINDS = {name: kind for kind, name in TYPES.items()}


class DuckDBEngine(ChainEngine):
    """Runs bounded queries on DuckDB; ``key`` is the secret of the hash that chooses rows, ``others`` are tables."""

    dialect: ClassVar[Dialect] = DIALECT

    def __init__(self, connection: Connection, key: str, others: Sequence[str] = ()) -> None:
        super().__init__(connection, _Views(connection, others), key)


@dataclass(frozen=True, slots=True)
class _Views:
    """See `chain.engine.Rows`: views of the declared columns, which the connection has."""

    connection: Connection
    names: Sequence[str]
    steps: tuple[str, ...] = ()

    @property
    def kinds(self) -> Mapping[str, Kind]:
        return self._described(VIEW)

    @property
    def others(self) -> Mapping[str, Mapping[str, Kind]]:
        return {name: self._described(other_view(name)) for name in self.names}

    def _described(self, view: str) -> Mapping[str, Kind]:
        """The kinds of a view's columns, from its declaration alone."""
        described = f"SELECT column_name, column_type FROM (DESCRIBE {identifier(view)})"
        found = self.connection.columns(described)
        types = dict(zip(map(str, found["column_name"]), map(str, found["column_type"]), strict=True))
        if odd := sorted(set(types.values()) - set(_KINDS)):
            raise PolicyError(f"the view of the source has columns of the types {', '.join(odd)}")
        return {name: _KINDS[type_name] for name, type_name in types.items()}
