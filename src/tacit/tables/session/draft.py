"""A first policy for a table: names and types in the file, everything else drawn from rows in hints for its owner.

Run by the data's owner on the owner's machine. Types are guessed from the rows; nothing else of them goes into the
text, which analysts will see. The hints are exact numbers: they are for the owner's screen only.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from tacit.errors import UnknownColumn
from tacit.ledger import Terms
from tacit.privacy import ROW, PureDP
from tacit.tables.engines.duckdb.connection import LockedDuckDB
from tacit.tables.engines.duckdb.sources import Source, open_source
from tacit.tables.engines.duckdb.sources.csv import CsvSource
from tacit.tables.engines.duckdb.sources.json_lines import JsonLinesSource
from tacit.tables.engines.duckdb.sources.source import quoted_name
from tacit.tables.engines.duckdb.text_casts import from_text
from tacit.tables.expressions.kinds import Kind
from tacit.tables.policy.policy import ColumnPolicy, Policy, Role
from tacit.tables.policy.writer import key, quoted

__all__ = ["Draft", "draft"]

_NAMES_OF_UNITS = (
    "user",
    "person",
    "patient",
    "customer",
    "client",
    "member",
    "account",
    "student",
    "employee",
    "household",
)
_ENOUGH = 0.99  # of the values that are there
_MOST_COUNTED = 200  # columns whose different values are counted to the last one
_PLAIN_INTEGER = r"\s*[+-]?\d{1,18}\s*"
_PLAIN_TRUTH = r"(?i)\s*(true|false|t|f|yes|no|y|n)\s*"
_LIKE_TIME = r"(?s) *[^ ].{3}-.*|.{19}"  # all that `from_text` reads as a day or a moment
_PLAIN_DATE = r"\s*\d{4}-\d{1,2}-\d{1,2}\s*"


@dataclass(frozen=True, slots=True)
class Draft:
    """The text of a policy file, and what its owner may want to know while completing it."""

    text: str
    hints: tuple[str, ...]
    unit: str | None
    """The unit in the text; None if it is still open."""

    def __repr__(self) -> str:
        return "Draft(private)"


def draft(source_path: str | Path, unit: str | None = None, *, beside: str | Path | None = None) -> Draft:
    """Draft a policy for a file; ``beside`` is the folder that the policy will be in, that of the data unless given."""
    path = Path(source_path)
    source = open_source(path)
    there = source.names_in_rows() if isinstance(source, JsonLinesSource) else source.column_names()
    names = _usable(there)
    if unit is not None and unit != "row" and unit not in names:
        raise _unknown(unit, names)
    everything = {name: ColumnPolicy(name, Kind.TEXT, Role.PRIVATE) for name in names}
    policy = Policy("draft", str(path), ROW, everything, Terms(PureDP(1)))
    with LockedDuckDB(source, policy) as connection:
        kinds = _kinds(connection, names)
        hints = (*_hints(connection, kinds, unit), *_left_out(there, names))
    folder = path.parent if beside is None else Path(beside)
    shown = os.path.relpath(path.resolve(), folder.resolve())
    return Draft(_text(shown, source, kinds, unit), hints, unit)


def likely_units(names: list[str]) -> list[str]:
    """The columns whose names sound like a person's, best first."""
    named = [name for name in names if any(word in name.lower() for word in _NAMES_OF_UNITS)]
    ids = [name for name in names if name.lower() == "id" or name.lower().endswith(("_id", " id", "id"))]
    return sorted(dict.fromkeys(named + ids), key=lambda name: (name not in named, name not in ids))[:3]


def _usable(given: tuple[str, ...]) -> list[str]:
    """Names that a policy can hold: visible, and different in SQL."""
    folded = Counter(name.casefold() for name in given)
    return [name for name in given if name.strip() and name.isprintable() and folded[name.casefold()] == 1]


def _left_out(given: tuple[str, ...], usable: list[str]) -> list[str]:
    lost = dict.fromkeys(name for name in given if name not in usable)
    return [f"{name!r}: left out, its name is there twice or cannot be typed" for name in lost]


def _unknown(unit: str, names: list[str]) -> UnknownColumn:
    near = get_close_matches(unit, names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return UnknownColumn(f"There is no column {unit!r} to be the unit; there are: {', '.join(names)}, or row.{hint}")


def _kinds(connection: LockedDuckDB, names: list[str]) -> dict[str, Kind]:
    """Per column, the narrowest kind that nearly all values can be read as; text if there are none."""
    simple = _facts(connection, {name: _simple_tests(quoted_name(name)) for name in names})
    kinds = {name: _fitting(counts, Kind.INTEGER, Kind.REAL, Kind.BOOLEAN) for name, counts in simple.items()}
    shaped = [name for name in names if kinds[name] is None and _nearly_all(simple[name], "shaped")]
    times = _facts(connection, {name: _tests_of_time(quoted_name(name)) for name in shaped}, at_once=20)
    kinds |= {name: _fitting(simple[name] | times[name], Kind.DATE, Kind.TIMESTAMP) for name in shaped}
    return {name: kind or Kind.TEXT for name, kind in kinds.items()}


def _fitting(counts: dict[str, Any], *kinds: Kind) -> Kind | None:
    return next((kind for kind in kinds if _nearly_all(counts, kind.value)), None)


def _nearly_all(counts: dict[str, Any], test: str) -> bool:
    known = int(counts["known"])
    return known > 0 and int(counts[test]) >= _ENOUGH * known


def _simple_tests(column: str) -> dict[str, str]:
    """How many values of a column there are, can be read as each simple kind, or may be a time by their shape."""
    return {
        "known": f"count({column})",
        Kind.INTEGER.value: _times(_is_like(column, _PLAIN_INTEGER)),
        Kind.REAL.value: f"count({from_text(column, Kind.REAL)})",
        Kind.BOOLEAN.value: _times(_is_like(column, _PLAIN_TRUTH)),
        "shaped": _times(_is_like(column, _LIKE_TIME)),
    }


def _tests_of_time(column: str) -> dict[str, str]:
    """How many values can be read as days and moments: dear, and so only for columns of that shape."""
    day = f"CASE WHEN {_is_like(column, _PLAIN_DATE)} THEN {from_text(column, Kind.DATE)} END"
    return {Kind.DATE.value: f"count({day})", Kind.TIMESTAMP.value: f"count({from_text(column, Kind.TIMESTAMP)})"}


def _is_like(column: str, pattern: str) -> str:
    return f"regexp_full_match({column}, '{pattern}')"


def _times(test: str) -> str:
    """How often it holds. FILTER says the same, in a time that grows with the square of how many there are."""
    return f"count(CASE WHEN {test} THEN 1 END)"


def _facts(
    connection: LockedDuckDB, wanted: dict[str, dict[str, str]], at_once: int = 250
) -> dict[str, dict[str, Any]]:
    """Aggregates by column and name, some columns in one look at the file: planning takes more than linear time."""
    found: dict[str, dict[str, Any]] = {}
    names = list(wanted)
    for start in range(0, len(names), at_once):
        some = [(name, fact, sql) for name in names[start : start + at_once] for fact, sql in wanted[name].items()]
        listed = ", ".join(f"{sql} AS f{i}" for i, (_, _, sql) in enumerate(some))
        row = connection.columns(f"SELECT {listed} FROM rows")
        for i, (name, fact, _) in enumerate(some):
            found.setdefault(name, {})[fact] = row[f"f{i}"][0]
    return found


def _text(shown: str, source: Source, kinds: dict[str, Kind], unit: str | None) -> str:
    table = Path(shown).name.partition(".")[0]
    likely = " or ".join(quoted(name) for name in likely_units(list(kinds))) or "a column's name"
    lines = [
        "version = 1",
        f"source = {quoted(shown)}",
        f"table = {quoted(table)}",
        f"unit = {quoted(unit or '?')}  # who is protected: "
        + ("every row that shares a value of this column" if unit else f'{likely}; "row" if each row is a person'),
        "# population = 10000  # a number of units that is surely exceeded; delta is checked against it",
        "",
    ]
    if unit != "row":
        lines += ["[limits]  # how much of one unit counts; more is left out", "groups = 1", "rows = 1", ""]
    lines += [
        "[budget]  # how much may be learned, by everybody together",
        "epsilon = 3.0",
        "delta = 1e-8",
        "# least = { epsilon = 0.003 }  # the least price of a payment: a thousandth of epsilon unless given",
        "# strikes = 3  # so many lost or interrupted answers lock an analyst's account; tacit unlock opens it again",
        "",
    ]
    if isinstance(source, CsvSource) and source.delimiter != ",":
        lines += ["[reading]", f"delimiter = {quoted(source.delimiter)}", ""]
    lines += [
        "# role: private (may be asked about, protected by noise), public (its values are no secret: list them as",
        "# keys), identifier (names units), forbidden (may not be asked about). Delete a line to forbid a column.",
        "[columns]",
    ]
    width = max((len(key(name)) for name in kinds), default=0)
    for name, kind in kinds.items():
        role = Role.IDENTIFIER if name == unit else Role.PRIVATE
        line = f'{key(name):{width}} = {{ type = "{kind}", role = "{role}" }}'
        if kind.is_number and role is Role.PRIVATE:
            line += "  # to sum or average it, add bounds = [low, high], known without looking at the data"
        lines.append(line)
    return "\n".join(lines) + "\n"


def _hints(connection: LockedDuckDB, kinds: dict[str, Kind], unit: str | None) -> list[str]:
    """Exact facts about the rows, one line each."""
    total = int(connection.columns("SELECT count(*) AS n FROM rows")["n"][0])
    hints = [_many(total, "row")]
    exact = len(kinds) <= _MOST_COUNTED
    for name, found in _facts(connection, {name: _spread(name, kind, exact) for name, kind in kinds.items()}).items():
        different = f"{'' if exact else 'about '}{_many(int(found['different']), 'different value')}"
        hint = f"{name}: {kinds[name]}, {different}, {int(found['empty']):,} empty"
        low, high = (math.nan, math.nan) if found.get("ends") is None else found["ends"]
        if math.isfinite(low) and math.isfinite(high):
            hint += f", 98% of them between {low:g} and {high:g}"
        hints.append(hint)
    for name in [unit] if unit and unit != "row" else [] if unit else likely_units(list(kinds)):
        hints += _unit_hints(connection, name)
    return hints


def _spread(name: str, kind: Kind, exact: bool) -> dict[str, str]:
    """What is told about a column."""
    column = quoted_name(name)
    different = f"count(DISTINCT {column})" if exact else f"approx_count_distinct({column})"
    wanted = {"empty": f"count(*) - count({column})", "different": different}
    if kind.is_number:
        wanted |= {"ends": f"quantile_cont({from_text(column, kind)}, [0.01, 0.99])"}
    return wanted


def _unit_hints(connection: LockedDuckDB, name: str) -> list[str]:
    column = quoted_name(name)
    found = connection.columns(
        "SELECT count(*) AS units, quantile_disc(n, 0.5) AS half, quantile_disc(n, 0.95) AS most, max(n) AS top "
        f"FROM (SELECT count(*) AS n FROM rows WHERE {column} IS NOT NULL GROUP BY {column})"
    )
    units = int(found["units"][0])
    if not units:
        return [f"as unit, {name}: no values"]
    half, most, top = (int(found[one][0]) for one in ("half", "most", "top"))
    rows = f"half have at most {_many(half, 'row')}, 95% at most {most:,}, one has {top:,}"
    return [f"as unit, {name}: {_many(units, 'unit')}; {rows}"]


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
