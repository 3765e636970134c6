"""The ``[columns]`` of a policy file."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, cast

from tacit.tables.expressions.kinds import Kind, is_whole, kind_or_none
from tacit.tables.expressions.tree import Value
from tacit.tables.policy.policy import ColumnPolicy, Role
from tacit.tables.policy.reader import Section

__all__ = ["read_columns", "read_public_columns"]

_KEYS = ("type", "role", "bounds", "group_bounds", "granule", "keys", "null")
_MOST_KEYS = 100_000
_Pair = tuple[Fraction, Fraction]
_PUBLIC_KEYS = ("type", "bounds", "granule")
_ROLE = "what may be done with the column"


def read_columns(section: Section) -> dict[str, ColumnPolicy]:
    """Every column that is declared, in the order of the file."""
    return _read(section, 'city = { type = "text", role = "private" }', _column)


def read_public_columns(section: Section) -> dict[str, ColumnPolicy]:
    """The columns of a table that anybody may know: they have a type, and numbers perhaps bounds."""
    return _read(section, 'region = { type = "text" }', _public_column)


def _read(section: Section, example: str, column: Callable[[str, Section], ColumnPolicy]) -> dict[str, ColumnPolicy]:
    if not section.values:
        raise section.document.error(section.path, f"there are no {section.heading}: {example}")
    columns, spelled = dict[str, ColumnPolicy](), dict[str, str]()
    for name in section.values:
        if not name.strip() or not name.isprintable():
            raise section.error(name, f"the name of a column must be visible text; given {name!r}")
        if name.casefold() in spelled:
            raise section.error(
                name, f"columns {spelled[name.casefold()]!r} and {name!r} are the same name in SQL: rename one"
            )
        spelled[name.casefold()] = name
        columns[name] = column(name, section.section(name))
    return columns


def _column(name: str, section: Section) -> ColumnPolicy:
    section.allow(_KEYS)
    kind = Kind(section.one_of("type", [one.value for one in Kind], "what the column holds"))
    role = Role(section.one_of("role", [one.value for one in Role], _ROLE))
    _numbers_only(name, section, kind)
    for key in ("keys", "null"):
        if section.has(key) and role is not Role.PUBLIC:
            raise section.error(key, f'{key} is for public columns, whose values anyone may know; {name!r} is "{role}"')
    bounds, group_bounds = section.pair("bounds"), section.pair("group_bounds")
    granule = _granule(section, bounds, group_bounds)
    return ColumnPolicy(name, kind, role, bounds, group_bounds, granule, _keys(section, kind, role))


def _public_column(name: str, section: Section) -> ColumnPolicy:
    if section.has("role") or section.has("keys"):
        key = "role" if section.has("role") else "keys"
        raise section.error(key, f"{key} is not for the columns of a public table: leave it out")
    section.allow(_PUBLIC_KEYS)
    kind = Kind(section.one_of("type", [one.value for one in Kind], "what the column holds"))
    _numbers_only(name, section, kind)
    bounds = section.pair("bounds")
    return ColumnPolicy(name, kind, Role.PRIVATE, bounds, None, _granule(section, bounds, None))


def _numbers_only(name: str, section: Section, kind: Kind) -> None:
    for key in ("bounds", "group_bounds", "granule"):
        if section.has(key) and not kind.is_number:
            raise section.error(key, f"{key} is for integer and real columns; {name!r} is {kind}")


def _granule(section: Section, bounds: _Pair | None, group_bounds: _Pair | None) -> Fraction | None:
    granule = section.number("granule", "a number above 0") if section.has("granule") else None
    if granule is not None:
        widths = [high - low for low, high in (bounds, group_bounds) if low < high] if bounds and group_bounds else []
        widest = min(widths) if widths else bounds[1] - bounds[0] if bounds else None
        if granule <= 0 or (widest is not None and granule > widest):
            raise section.error("granule", "granule must be above 0, and not wider than the bounds")
    return granule


def _keys(section: Section, kind: Kind, role: Role) -> tuple[Value, ...] | None:
    """The public values; of a public boolean they are known."""
    if role is not Role.PUBLIC:
        return None
    if not section.has("keys") and kind is Kind.BOOLEAN:
        listed: Any = [False, True]
    else:
        listed = section.need("keys", 'a public column lists the values it can take, keys = ["free", "pro"]')
    if not isinstance(listed, list) or not listed:
        raise section.error("keys", 'keys must be a list of values that is not empty, ["free", "pro"]')
    if len(listed) > _MOST_KEYS:
        raise section.error("keys", f"keys must be at most {_MOST_KEYS:,} values; given {len(listed):,}")
    keys = [_key(section, value, kind) for value in listed]
    seen = set[Value]()
    for key in keys:
        if key in seen:
            raise section.error("keys", f"keys must be different values; {_written(key)} is there twice")
        seen.add(key)
    if section.has("null") and section.truth("null"):
        keys.append(None)
    return tuple(keys)


def _key(section: Section, value: Any, kind: Kind) -> Value:
    """One key, of the column's kind."""
    given = kind_or_none(value)
    if kind is Kind.REAL and (given is Kind.INTEGER or isinstance(value, Decimal)):
        return float(section.exact("keys", value, "finite numbers"))
    if given is not kind or kind is Kind.REAL or (kind is Kind.INTEGER and not is_whole(value)):
        raise section.error("keys", f"keys must be values of type {kind}, {_EXAMPLES[kind]}; given {_written(value)}")
    if kind is Kind.TIMESTAMP and value.tzinfo:
        return cast("Value", value.astimezone(datetime.UTC).replace(tzinfo=None))
    return cast("Value", value)


_EXAMPLES = {
    Kind.INTEGER: "[1, 2]",
    Kind.REAL: "[0.5, 1]",
    Kind.TEXT: '["free", "pro"]',
    Kind.BOOLEAN: "[true, false]",
    Kind.DATE: "[2026-01-31]",
    Kind.TIMESTAMP: "[2026-01-31T12:00:00]",
}


def _written(value: object) -> str:
    text = str(value) if isinstance(value, Decimal) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
