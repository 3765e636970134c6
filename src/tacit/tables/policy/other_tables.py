"""The other tables of a policy file: ``[public.regions]``, ``[tables.purchases]``; and how each source is read."""

from __future__ import annotations

from collections.abc import Mapping

from tacit.errors import InvalidParameter
from tacit.privacy.neighbours import Unit
from tacit.tables.expressions.kinds import Kind
from tacit.tables.policy.columns import read_columns, read_public_columns
from tacit.tables.policy.policy import ColumnPolicy, OtherTable, Role
from tacit.tables.policy.reader import Section
from tacit.tables.policy.reading import LISTS, NUMBERS, OPTIONS, TRUTHS, Reading, joined

__all__ = ["read_options", "read_others"]

_PATH = "the path of the data, relative to this file"


def read_others(whole: Section, table: str, unit: Unit, columns: Mapping[str, ColumnPolicy]) -> dict[str, OtherTable]:
    """The tables that may be joined to the policy's own, whose name, unit and columns are given."""
    found, taken = dict[str, OtherTable](), {table.casefold(): "the table itself"}
    for kind in ("public", "tables"):
        for name in whole.section(kind).values:
            section = whole.section(kind).section(name)
            if not name.strip() or not name.isprintable():
                raise whole.section(kind).error(name, f"the name of a table must be visible text; given {name!r}")
            if name.casefold() in taken:
                problem = f"{name!r} is the name of {taken[name.casefold()]} too: rename one"
                raise whole.section(kind).error(name, problem)
            taken[name.casefold()] = section.heading
            found[name] = _public(name, section) if kind == "public" else _private(name, section, unit, columns)
    return found


def _public(name: str, section: Section) -> OtherTable:
    if section.has("unit"):
        raise section.error("unit", f"a public table protects nobody; if it does, write [tables.{name}]")
    section.allow(("source", "reading", "columns"))
    columns = read_public_columns(section.section("columns"))
    return OtherTable(name, section.text("source", _PATH), columns, None, read_options(section.section("reading")))


def _private(name: str, section: Section, unit: Unit, columns: Mapping[str, ColumnPolicy]) -> OtherTable:
    section.allow(("source", "unit", "reading", "columns"))
    if unit.column is None:
        problem = 'another private table is about the same units, and unit = "row" protects single rows'
        raise section.document.error(section.path, f"{problem}: name a column as the unit, or leave {name} out")
    own = read_columns(section.section("columns"))
    who = section.text("unit", f"the column that names here who {unit.column} names in the table itself")
    if who not in own:
        raise section.error("unit", f"unit {who!r} is not among the columns of {section.heading}")
    if own[who].role is not Role.IDENTIFIER:
        problem = f'{who!r} is the unit, so its role must be "identifier", not "{own[who].role}"'
        raise section.section("columns").error(who, problem)
    wanted = columns[unit.column].kind
    if own[who].kind is not wanted or wanted is Kind.REAL:
        allowed = f"of one type, and not real; {unit.column} is {wanted}, {who} is {own[who].kind}"
        raise section.section("columns").error(who, f"the columns that name the unit must be {allowed}")
    return OtherTable(name, section.text("source", _PATH), own, who, read_options(section.section("reading")))


def read_options(section: Section) -> dict[str, str]:
    """The options of ``[reading]``."""
    section.allow(OPTIONS)
    options = dict[str, str]()
    for key, value in section.values.items():
        if key in TRUTHS:
            options[key] = joined(section.truth(key))
        elif key in NUMBERS and isinstance(value, int) and not isinstance(value, bool):
            options[key] = joined(value)
        elif key in LISTS and isinstance(value, list) and all(isinstance(one, str) for one in value):
            if any("\n" in one for one in value):
                raise section.error(key, f"{key} must be {OPTIONS[key]}, each on one line")
            options[key] = joined(value)
        elif isinstance(value, str) and key not in NUMBERS:
            options[key] = value
        else:
            quoted = "" if key in NUMBERS else ", in quotes"
            raise section.error(key, f"{key} must be {OPTIONS[key]}{quoted}")
        try:
            Reading.of({key: options[key]})
        except InvalidParameter as error:
            raise section.error(key, f"{key} must be {error.allowed}") from None
    return options
