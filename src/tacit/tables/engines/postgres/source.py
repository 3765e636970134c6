"""A table of PostgreSQL as a source of rows: known by its cluster, database and name, whoever wrote which address."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from tacit.errors import LedgerError, PolicyError
from tacit.tables.engines.chain.terms import VIEW, identifier
from tacit.tables.engines.postgres.address import Address
from tacit.tables.engines.postgres.catalog import Described, described
from tacit.tables.engines.postgres.driver import connected
from tacit.tables.engines.postgres.text_casts import can_cast, from_type, refused
from tacit.tables.engines.source import ledgers
from tacit.tables.policy.policy import ColumnPolicy, Role

__all__ = ["PostgresSource"]

_ODD = re.compile(r"[^\w.-]")


class PostgresSource:
    """One table or view."""

    def __init__(self, where: str) -> None:
        self.address = Address.of(where)
        self._described: Described | None = None

    @property
    def described(self) -> Described:
        """As it was when it was first looked at."""
        if self._described is None:
            self._described = self._look()
        return self._described

    def _look(self) -> Described:
        connection = connected(self.address)
        try:
            return described(connection, self.address)
        finally:
            connection.close()

    @property
    def identity(self) -> str:
        return self.described.identity()

    @property
    def selection(self) -> str:
        """What a policy says."""
        return self.address.shown

    @property
    def table_name(self) -> str:
        return self.described.table

    @property
    def rows_of(self) -> frozenset[str]:
        """The relations that may have the same rows."""
        return frozenset(self.described.identity(name) for name in self.described.related)

    @property
    def book(self) -> Path:
        """Where its ledger is, however it is addressed."""
        return _book(self.identity)

    def name_in(self, book: Path) -> str:
        """What a ledger calls these rows: the relation that it was begun for, if they are among its rows."""
        wanted = book.resolve()
        return next((one for one in sorted(self.rows_of) if _book(one).resolve() == wanted), self.identity)

    def refuse_known(self, paid: Path | None = None) -> None:
        """Refuse rows that have a ledger as a view, a partition or a parent of this table."""
        own = {_book(self.identity).resolve(), *([] if paid is None else [paid.resolve()])}
        for name in self.described.related:
            place = _book(self.described.identity(name))
            if place.exists() and place.resolve() not in own:
                raise LedgerError(
                    f"{self.described.schema}.{self.described.table} has rows of {name}, which has a ledger: {place}. "
                    "What has been asked of them is written there, and no second budget is begun. Pay into the same: "
                    f"ledger={str(place)!r} (--ledger {place}). Nothing was spent."
                )

    @property
    def types(self) -> dict[str, str]:
        return dict(self.described.types)

    def column_names(self) -> tuple[str, ...]:
        return tuple(name for name, type_name in self.described.types if not refused(type_name))

    def check(self, columns: Sequence[ColumnPolicy]) -> None:
        """Against the schema as it is now: a column that was dropped is missed before anything is paid."""
        self._described = self._look()
        types, where = self.types, f"{self.described.schema}.{self.described.table}"
        for column in _visible(columns):
            if column.name not in types:
                near = get_close_matches(column.name, types, n=1)
                hint = f" Did you mean {near[0]!r}?" if near else ""
                shown = ", ".join(list(types)[:20]) + (", …" if len(types) > 20 else "")
                raise PolicyError(
                    f"The policy declares a column {column.name!r}, and {where} has, for this role: {shown}.{hint} "
                    "Nothing was spent."
                )
            if not can_cast(types[column.name], column.kind):
                raise PolicyError(
                    f"The policy says that {column.name!r} is {column.kind}, and in {where} it is "
                    f"{types[column.name]}, which cannot be read as that. Nothing was spent."
                )

    def step(self, columns: Sequence[ColumnPolicy], name: str = VIEW) -> str:
        """The named step with its rows: every column total, evaluated once."""
        types = self.types
        shown = [
            f"{from_type(f't.{identifier(one.name)}', types[one.name], one.kind)} AS {identifier(one.name)}"
            for one in _visible(columns)
        ]
        table = f"{identifier(self.described.schema)}.{identifier(self.described.table)}"
        body = f"SELECT {', '.join(shown) or 'NULL AS nothing'} FROM {table} AS t OFFSET 0"
        return f"{identifier(name)} AS NOT MATERIALIZED ({body})"

    def close(self) -> None:
        """Nothing was written."""

    def __repr__(self) -> str:
        return f"PostgresSource({self.address.shown!r})"


def _visible(columns: Sequence[ColumnPolicy]) -> list[ColumnPolicy]:
    return [column for column in columns if column.role is not Role.FORBIDDEN]


def _book(identity: str) -> Path:
    """A name that no other table has: what a file's name cannot have is written by its code."""
    plain = _ODD.sub(lambda found: f"%{ord(found[0]):x}", identity.removeprefix("postgresql://").replace("/", "+"))
    return ledgers() / f"{plain.replace('%2b', '+')}.ledger"
