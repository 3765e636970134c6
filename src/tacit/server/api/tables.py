"""Tables, their schemas, budgets and logs; what an owner does to a ledger."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter

from tacit.errors import InvalidParameter
from tacit.ledger import Terms
from tacit.ledger.log import log_rows
from tacit.ledger.receipts import Receipt
from tacit.privacy import ZCDP, ApproxDP, Promise
from tacit.remote.wire import policy_to_wire
from tacit.server.api.callers import Caller, Served
from tacit.server.api.shapes import Capped, Number, Reason, Said, Unlocked
from tacit.server.roles import Act

if TYPE_CHECKING:
    from tacit.server.keys import Key
    from tacit.server.served_table import ServedTable

__all__ = ["budget_of", "cap_of", "log_of", "promise_of", "router", "schema_of"]

router = APIRouter()


@router.get("/tables", response_model=Said)
def tables(service: Served, key: Caller) -> Any:
    """The tables that this key opens."""
    listed = [served for name, served in service.served_tables.items() if key.may(Act.LOOK, name)]
    return {
        "version": 1,
        "tables": [
            {
                "name": served.name,
                "unit": served.table.policy.unit.column,
                "columns": len(policy_to_wire(served.table.policy)["columns"]),
                "remaining": served.of(key.name).remaining.to_dict(),
            }
            for served in listed
        ],
    }


@router.get("/tables/{table}", response_model=Said)
def schema(table: str, service: Served, key: Caller) -> Any:
    """What may be asked of a table: columns, types, bounds, public values, limits."""
    return schema_of(service.served(key, table, Act.LOOK), key)


def schema_of(served: ServedTable, key: Key) -> dict[str, Any]:
    """The schema as JSON values, with no caps of other analysts."""
    policy = replace(served.table.policy, terms=_terms(served, key))
    return {"version": 1, "data_version": served.table.data_version, "policy": policy_to_wire(policy)}


def _terms(served: ServedTable, key: Key) -> Terms:
    """The terms as far as a key may see them."""
    terms = served.table.policy.terms
    if key.may(Act.SEE_ALL):
        return terms
    return replace(terms, analysts={name: cap for name, cap in terms.analysts.items() if name == key.name})


@router.get("/tables/{table}/budget", response_model=Said)
def budget(table: str, service: Served, key: Caller) -> Any:
    """What has been charged, and what is left: one's own account; all of them for owners and auditors."""
    return budget_of(service.served(key, table, Act.LOOK), key)


def budget_of(served: ServedTable, key: Key) -> dict[str, Any]:
    """The budget as far as a key may see it."""
    own = served.of(key.name).remaining.to_dict()
    if not served.is_begun:
        terms = _terms(served, key)
        return {"version": 1, "begun": False, "terms": terms.to_dict(), "yours": {"name": key.name, "left": own}}
    told = served.ledger.budget().to_dict()
    accounts = [one for one in told["accounts"] if key.may(Act.SEE_ALL) or one["analyst"] == key.name]
    mine = next((one for one in told["accounts"] if one["analyst"] == key.name), None)
    if not key.may(Act.SEE_ALL):
        shown = {name: cap for name, cap in told["terms"].get("analysts", {}).items() if name == key.name}
        told["terms"] = {**told["terms"], "analysts": shown}
    yours = {"name": key.name, "left": own, "account": mine}
    return {**told, "begun": True, "accounts": accounts, "yours": yours}


@router.get("/tables/{table}/log", response_model=Said)
def log(table: str, service: Served, key: Caller) -> Any:
    """Every payment and every owner's act; of an analyst, those of their own."""
    return {"version": 1, "entries": log_of(service.served(key, table, Act.LOOK), key)}


def log_of(served: ServedTable, key: Key) -> list[dict[str, Any]]:
    """The rows that a key may see, oldest first."""
    if not served.is_begun:
        return []
    rows = list(log_rows(list(served.ledger.history())))
    sees_all = key.may(Act.SEE_ALL)
    return [
        row.to_dict() if sees_all else _own(row.to_dict(), key)
        for row in rows
        if sees_all
        or row.analyst == key.name
        or row.entry.kind == "data"
        or row.entry.values.get("analyst") == key.name
    ]


def _own(row: dict[str, Any], key: Key) -> dict[str, Any]:
    """A row without names and caps of other analysts."""
    shown = {name: value for name, value in row.items() if name != "analyst" or value == key.name}
    if isinstance(shown.get("terms"), dict):
        caps = shown["terms"].get("analysts", {})
        shown["terms"] = {**shown["terms"], "analysts": {name: cap for name, cap in caps.items() if name == key.name}}
    return shown


@router.get("/tables/{table}/verify", response_model=Said)
def verify(table: str, service: Served, key: Caller) -> Any:
    """Whether the ledger's chain, totals and answers agree, held against the newest head that was seen."""
    served = service.served(key, table, Act.SEE_ALL)
    if not served.is_begun:
        return {"version": 1, "sound": served.missing() is None, "entries": 0, "problems": []}
    newest = service.keys.newest(served.known_as)
    return served.ledger.verify(None if newest is None else newest[1]).to_dict()


@router.post("/tables/{table}/unlock", response_model=Said)
def unlock(table: str, given: Unlocked, service: Served, key: Caller) -> Any:
    """Forgive what an analyst has lost so far, on record."""
    served = service.served(key, table, Act.MANAGE)
    return _done(served, served.ledger.unlock(given.analyst, owner=key.name, reason=given.reason))


@router.put("/tables/{table}/caps/{analyst}", response_model=Said)
def cap(table: str, analyst: str, given: Capped, service: Served, key: Caller) -> Any:
    """What an analyst may spend of this table in all, on record and in the policy."""
    served = service.served(key, table, Act.MANAGE)
    return _done(served, served.set_cap(analyst, cap_of(served, given), key.name, given.reason))


@router.post("/tables/{table}/restored", response_model=Said)
def restored(table: str, given: Reason, service: Served, key: Caller) -> Any:
    """Go on with an older copy of the ledger, on record."""
    served = service.served(key, table, Act.MANAGE)
    return _done(served, served.sign_off(key.name, given.reason))


def _done(served: ServedTable, receipt: Receipt) -> dict[str, Any]:
    served.seen()
    return receipt.to_dict()


def cap_of(served: ServedTable, given: Capped) -> Promise:
    """What an analyst may spend."""
    return promise_of(served, "cap", given.epsilon, given.rho, given.delta)


def promise_of(
    served: ServedTable, what: str, epsilon: Number | None, rho: Number | None, delta: Number
) -> ApproxDP | ZCDP:
    """An amount in the currency that the ledger is kept in."""
    flavour = served.table.policy.terms.flavour.name
    said = epsilon if flavour == "epsilon" else rho
    if said is None:
        raise InvalidParameter(what, given=None, allowed=f"{flavour}, in which this ledger is kept")
    return ApproxDP(said, delta) if flavour == "epsilon" else ZCDP(said, delta)
