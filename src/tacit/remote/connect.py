"""`tacit.connect`: a table that a service keeps, asked like one that was opened here."""

from __future__ import annotations

from typing import Any, cast

from tacit.errors import InvalidParameter
from tacit.remote.access import RemoteAccess
from tacit.remote.http import Way
from tacit.remote.wire import policy_from_wire
from tacit.tables.engines.access import Access
from tacit.tables.session.table import Table

__all__ = ["RemoteTable", "connect"]


class RemoteTable(Table):
    """A table at a service: planned here, from its policy; paid and drawn there. Made by `tacit.connect`."""

    def __init__(self, access: RemoteAccess) -> None:
        self._access = cast("Access", access)
        self._about_types = ""

    def __repr__(self) -> str:
        unit = "each row" if self.policy.unit.is_row else f"one {self.policy.unit.column}"
        return f"Table({self.policy.table!r}, protects {unit}, {self._access.payments.ledger!r})"


def connect(url: str, key: str, table: str | None = None) -> RemoteTable:
    """Connect to a table of a service, with a key that its owner made.

    What comes back is asked like a table of `tacit.open`: ``sql``, ``query``, ``group_by``, ``plan``, ``remaining``;
    estimators and synthesizers fit it there, as one paid request, and no row leaves the service. ``table`` is its name,
    where the key opens several.
    """
    way = Way(url, key)
    me = way.call("GET", "/v1/me").json()
    names = [one["name"] for one in way.call("GET", "/v1/tables").json()["tables"]]
    chosen = names[0] if table is None and len(names) == 1 else table
    if chosen not in names:
        listed = ", ".join(names) or "none for this key"
        raise InvalidParameter("table", given=table, allowed=f"one of the tables of this service: {listed}")
    told: Any = way.call("GET", f"/v1/tables/{chosen}").json()
    return RemoteTable(RemoteAccess(way, policy_from_wire(told["policy"]), me["name"]))
