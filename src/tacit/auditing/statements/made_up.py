"""Tables made up from a policy, with and without one unit. Nothing here reads data: what the policy declares is enough.

Ordinary units hold values between the bounds, listed keys and some nulls. The one unit more is of a kind that has
broken promises before: at the ends of every type, unknown throughout, everywhere at once, or not readable at all.
"""

from __future__ import annotations

import csv
import datetime
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from tacit.privacy import Unit
from tacit.tables.expressions.kinds import Kind
from tacit.tables.policy.policy import ColumnPolicy, Policy
from tacit.tables.policy.writer import write

__all__ = ["PEOPLE", "Person", "write_table"]

Cell = Callable[[ColumnPolicy, int], str]

_DAY = datetime.date(2026, 1, 1)
_NULL_EVERY = 11
_PUBLIC_ROWS = 12
_TOP = {
    Kind.INTEGER: "9223372036854775807",
    Kind.REAL: "1.7976931348623157e308",
    Kind.TEXT: "z" * 300,
    Kind.BOOLEAN: "true",
    Kind.DATE: "9999-12-31",
    Kind.TIMESTAMP: "9999-12-31 23:59:59.999999",
}
_BOTTOM = {
    Kind.INTEGER: "-9223372036854775808",
    Kind.REAL: "-1.7976931348623157e308",
    Kind.TEXT: "",
    Kind.BOOLEAN: "false",
    Kind.DATE: "0001-01-01",
    Kind.TIMESTAMP: "0001-01-01 00:00:00",
}
_ODD = {
    Kind.INTEGER: ("9007199254740993", "4611686018427387904", "-1", "0", "abc", "1e18", "9" * 40),
    Kind.REAL: ("5e-324", "NaN", "inf", "-inf", "-0.0", "9007199254740993", "1e-400", "abc"),
    Kind.TEXT: ("%_\\", "a'b\"c;--", "\u0130stanbul\u200b", "x" * 5000, " ", "NaN", "\U0001f4a9"),
    Kind.BOOLEAN: ("maybe", "1", "t", "NO"),
    Kind.DATE: ("2026-02-30", "infinity", "290000-01-01", "1970-01-01", "2024-02-29"),
    Kind.TIMESTAMP: ("2024-02-29 24:00:00", "-infinity", "1969-12-31 23:59:59.999999", "2026-03-29 02:30:00"),
}


@dataclass(frozen=True, slots=True)
class Person:
    """The unit by which two tables differ: how many rows it has, and what each cell of them holds."""

    name: str
    rows: int
    cell: Cell


def _keyed(cells: Mapping[Kind, str]) -> Cell:
    """One value throughout, but in every group that the policy lists."""
    return lambda column, row: _listed(column, row) if column.keys else cells[column.kind]


def _odd(column: ColumnPolicy, row: int) -> str:
    pool = _ODD[column.kind]
    return _listed(column, row) if column.keys and row % 2 else pool[row % len(pool)]


def _listed(column: ColumnPolicy, row: int) -> str:
    assert column.keys is not None
    return _text(column.keys[row % len(column.keys)])


def _ordinary(column: ColumnPolicy, at: int) -> str:
    """What the rows of most units hold: between the bounds, now and then unknown."""
    if at % _NULL_EVERY == _NULL_EVERY - 1:
        return ""
    return _known(column, at)


def _known(column: ColumnPolicy, at: int) -> str:
    if column.keys is not None:
        return _listed(column, at) if at % 7 else "elsewhere"
    if column.kind.is_number:
        low, high = column.bounds or (Fraction(0), Fraction(9))
        value = low + (high - low) * (at % 5) / 4
        return str(round(value)) if column.kind is Kind.INTEGER else repr(float(value))
    if column.kind is Kind.BOOLEAN:
        return "true" if at % 2 else "false"
    if column.kind is Kind.TEXT:
        return f"{column.name[:20]} {at % 4}"
    day = _DAY + datetime.timedelta(days=at % 90)
    return str(day) if column.kind is Kind.DATE else f"{day} {at % 24:02d}:30:00"


PEOPLE: tuple[Person, ...] = (
    Person("at the upper ends", 24, _keyed(_TOP)),
    Person("at the lower ends", 24, _keyed(_BOTTOM)),
    Person("everywhere", 60, lambda column, row: _known(column, row // 2)),
    Person("unknown throughout", 12, lambda column, row: ""),
    Person("hard to read", 28, _odd),
)


def write_table(policy: Policy, folder: Path, person: Person | None, units: int) -> Path:
    """A folder with the tables of a policy, of so many units and perhaps one more; the path of its policy file."""
    folder.mkdir(parents=True)
    others = {}
    for name, table in policy.others.items():
        places = Unit(table.unit) if table.unit is not None else None
        _write(folder / f"{name}.csv", table.columns, places, person, units)
        others[name] = replace(table, source=f"{name}.csv", options={}, contents="")
    _write(folder / "audited.csv", policy.columns, policy.unit, person, units)
    copied = replace(policy, source="audited.csv", options={}, others=others)
    path = folder / "audited.toml"
    path.write_text(write(copied), encoding="utf-8")
    return path


def _write(
    path: Path, columns: Mapping[str, ColumnPolicy], unit: Unit | None, person: Person | None, units: int
) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        rows = list(_public(columns) if unit is None else _private(columns, unit, units))
        extra = [] if unit is None or person is None else list(_own(columns, unit, person, units))
        middle = len(rows) // 2  # where a row stands in the file must not matter
        writer.writerows([*rows[:middle], *extra, *rows[middle:]])


def _public(columns: Mapping[str, ColumnPolicy]) -> Iterator[list[str]]:
    for at in range(_PUBLIC_ROWS):
        yield [_ordinary(column, at + place) for place, column in enumerate(columns.values())]


def _private(columns: Mapping[str, ColumnPolicy], unit: Unit, units: int) -> Iterator[list[str]]:
    for who in range(units):
        for row in range(1 + who % 4):
            at = 5 * who + row
            yield [
                _identifier(column, who) if column.name == unit.column else _ordinary(column, at + place)
                for place, column in enumerate(columns.values())
            ]


def _own(columns: Mapping[str, ColumnPolicy], unit: Unit, person: Person, who: int) -> Iterator[list[str]]:
    for row in range(1 if unit.is_row else person.rows):
        yield [
            _identifier(column, who) if column.name == unit.column else person.cell(column, row)
            for column in columns.values()
        ]


def _identifier(column: ColumnPolicy, who: int) -> str:
    if column.kind is Kind.TEXT:
        return f"unit {who}"
    if column.kind is Kind.DATE:
        return str(_DAY + datetime.timedelta(days=who))
    return str(who) if column.kind.is_number else _ordinary(column, who)


def _text(value: object) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
