"""The service without its door: tables, keys, the pool, requests, and what may be told of them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable

from tacit.errors import InvalidParameter, PolicyError
from tacit.ledger.postgres.address import PostgresAddress
from tacit.server.jobs import Jobs
from tacit.server.keys import Key, Keys
from tacit.server.pool import Pool
from tacit.server.practice import Practice
from tacit.server.problems import Refused
from tacit.server.rates import Rates
from tacit.server.roles import Act, Role
from tacit.server.served_table import ServedTable
from tacit.server.settings import Settings
from tacit.server.tables_of_keys import place_at

__all__ = ["Service"]

_EACH = 16
"""Unfinished requests of one analyst."""


class Service:
    """Everything that requests share; made once in a process."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.began = time.time()
        self.counted: Counter[tuple[str, int]] = Counter()
        """Requests by what they were for and their status; no names, no values."""
        keys, heads = settings.place_of_keys, settings.place_of_heads
        self.keys = Keys(place_at(keys), None if heads == keys else place_at(heads))
        self.pool = Pool(settings.workers, settings.line)
        self.jobs = Jobs(settings.line + 4 * settings.workers + 128, _EACH)
        self.rates = Rates(settings.per_minute, max(10, int(settings.per_minute / 10)))
        self.strangers = Rates(per_minute=30, at_once=20)
        address = None if settings.ledger is None else PostgresAddress.of(settings.ledger)
        self.served_tables: dict[str, ServedTable] = {}
        try:
            self._open(settings, address)
        except BaseException:
            self._let_go()
            raise
        self.practices = {name: Practice(served.table.policy) for name, served in self.served_tables.items()}

    def _open(self, settings: Settings, address: PostgresAddress | None) -> None:
        for path in settings.policies:
            served = ServedTable(path, address, self.pool, self.keys, settings.reply_steps)
            if served.name in self.served_tables:
                raise PolicyError(f"Two policies are about a table {served.name!r}: give one of them another name.")
            self.served_tables[served.name] = served

    def first_key(self) -> str | None:
        """The owner's first key, if there is none yet; told once."""
        if any(key.role is Role.OWNER and key.revoked is None for key in self.keys.all()):
            return None
        return self.keys.make("owner", Role.OWNER)[1]

    def served(self, key: Key, table: str, act: Act) -> ServedTable:
        """The table that somebody wants something of; one that the key does not open looks like one that is not."""
        served = self.served_tables.get(table)
        if served is None or not key.may(Act.LOOK, table):
            there = ", ".join(name for name in self.served_tables if key.may(Act.LOOK, name)) or "none for this key"
            raise Refused(404, "unknown-table", f"There is no table {table!r} here; there are: {there}.")
        self.allow(key, act)
        return served

    def allow(self, key: Key, act: Act) -> None:
        """Refuse what the key's role is not for."""
        if not key.may(act):
            raise Refused(
                403, "not-allowed", f"A key of the role {key.role.value} is not for this. Ask the owner for another."
            )

    def make_key(
        self, maker: Key, name: str, role: str, tables: list[str] | None, days: float | None
    ) -> tuple[Key, str]:
        """A new key for tables that are here, and that its maker's key opens."""
        self._refuse_wider(maker, tables)
        for one in tables or ():
            if one not in self.served_tables:
                raise InvalidParameter(
                    "tables", given=one, allowed=f"tables of this service: {', '.join(self.served_tables)}"
                )
        return self.keys.make(name, Role(role), tables=tables, days=days)

    def keys_for(self, owner: Key) -> list[Key]:
        """The keys that an owner sees to: those that open no table beyond the owner's. Of others nothing is told."""
        return [one for one in self.keys.all() if not _is_wider(owner, one.tables)]

    def revoke_key(self, owner: Key, id_: str) -> Key:
        """End a key that opens no table beyond the owner's."""
        found = next((one for one in self.keys.all() if one.id == id_), None)
        if found is not None:
            self._refuse_wider(owner, found.tables)
        return self.keys.revoke(id_)

    def _refuse_wider(self, owner: Key, tables: Iterable[str] | None) -> None:
        if owner.tables is not None and _is_wider(owner, tables):
            there = ", ".join(owner.tables)
            raise Refused(403, "not-allowed", f"This key is for keys of these tables alone: {there}. Nothing was done.")

    def close(self) -> None:
        """Wait a little for what is being drawn, then let go of everything."""
        self.jobs.finish(10.0)
        self.pool.close()
        for practice in self.practices.values():
            practice.close()
        self._let_go()

    def _let_go(self) -> None:
        for served in self.served_tables.values():
            served.close()
        self.keys.close()


def _is_wider(owner: Key, tables: Iterable[str] | None) -> bool:
    return owner.tables is not None and (tables is None or not set(tables) <= set(owner.tables))
