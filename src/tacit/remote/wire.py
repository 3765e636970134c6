"""A policy as it travels: what may be asked, and nothing of where the data are."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from tacit.errors import InvalidParameter
from tacit.ledger.terms import Terms
from tacit.privacy import ROW, Unit
from tacit.privacy.prices import text
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Value
from tacit.tables.policy.policy import ColumnPolicy, Limits, OtherTable, Policy, Role

__all__ = ["policy_from_wire", "policy_to_wire"]

WIRE_VERSION = 1
_READ: dict[Kind, Any] = {
    Kind.DATE: datetime.date.fromisoformat,
    Kind.TIMESTAMP: datetime.datetime.fromisoformat,
}


def policy_to_wire(policy: Policy) -> dict[str, Any]:
    """The policy as JSON values; what is forbidden is left out, since it cannot be asked about."""
    return {
        "version": WIRE_VERSION,
        "table": policy.table,
        "unit": policy.unit.column,
        "columns": _columns(policy.columns.values()),
        "terms": policy.terms.to_dict(),
        "limits": {"groups": policy.limits.groups, "rows": policy.limits.rows},
        "delta": text(policy.delta),
        "population": policy.population,
        "policy_version": policy.version,
        "others": [
            {
                "name": one.name,
                "unit": one.unit,
                "contents": one.contents,
                "size": one.size,
                "columns": _columns(one.columns.values()),
            }
            for one in policy.others.values()
        ],
    }


def policy_from_wire(made: Mapping[str, Any]) -> Policy:
    """The policy that `policy_to_wire` wrote; another version is refused."""
    if made.get("version") != WIRE_VERSION:
        allowed = f"version {WIRE_VERSION}: the service runs another Tacit than this one; upgrade the older"
        raise InvalidParameter("policy", given=f"version {made.get('version')}", allowed=allowed)
    others = {
        one["name"]: OtherTable(
            one["name"], one["name"], _read(one["columns"]), one["unit"], {}, one["contents"], one["size"]
        )
        for one in made["others"]
    }
    return Policy(
        made["table"],
        made["table"],
        ROW if made["unit"] is None else Unit(made["unit"]),
        _read(made["columns"]),
        Terms.read(made["terms"]),
        Limits(made["limits"]["groups"], made["limits"]["rows"]),
        Fraction(made["delta"]),
        made["population"],
        made["policy_version"],
        others=others,
    )


def _columns(columns: Iterable[ColumnPolicy]) -> list[dict[str, Any]]:
    return [
        {
            "name": one.name,
            "type": one.kind.value,
            "role": one.role.value,
            "bounds": _pair(one.bounds),
            "group_bounds": _pair(one.group_bounds),
            "granule": None if one.granule is None else text(one.granule),
            "keys": None if one.keys is None else [_plain(key) for key in one.keys],
            "repeats": one.repeats,
        }
        for one in columns
        if one.role is not Role.FORBIDDEN
    ]


def _read(columns: Iterable[Mapping[str, Any]]) -> dict[str, ColumnPolicy]:
    found = {}
    for one in columns:
        kind = Kind(one["type"])
        read = _READ.get(kind, float if kind is Kind.REAL else lambda value: value)
        keys = None if one["keys"] is None else tuple(None if key is None else read(key) for key in one["keys"])
        found[one["name"]] = ColumnPolicy(
            one["name"],
            kind,
            Role(one["role"]),
            _ends(one["bounds"]),
            _ends(one["group_bounds"]),
            None if one["granule"] is None else Fraction(one["granule"]),
            keys,
            one["repeats"],
        )
    return found


def _pair(bounds: tuple[Fraction, Fraction] | None) -> list[str] | None:
    return None if bounds is None else [text(bounds[0]), text(bounds[1])]


def _ends(pair: list[str] | None) -> tuple[Fraction, Fraction] | None:
    return None if pair is None else (Fraction(pair[0]), Fraction(pair[1]))


def _plain(value: Value) -> Any:
    return value.isoformat() if isinstance(value, datetime.date) else value
