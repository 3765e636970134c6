"""The classes of a table: rows that agree on the quasi-identifiers. One pass over the rows; all else is over classes.

Unknown values are a value of their own, or wildcards that agree with everything. With wildcards a row belongs with all
rows that it could be mistaken for, so that these sets overlap.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt

from tacit.anonymity.cells import Cells, cells_of
from tacit.anonymity.connection import quoted_name, quoted_text
from tacit.anonymity.rows import NUMBER, Rows, long_digits
from tacit.errors import InvalidParameter

__all__ = ["Classes", "Unknown", "classes_of"]

Integers = npt.NDArray[np.int64]
_MOST_PATTERNS = 64


class Unknown(Enum):
    """What an unknown quasi-identifier means: a value of its own, or one that agrees with every value."""

    VALUE = "value"
    WILDCARD = "wildcard"


@dataclass(frozen=True, slots=True)
class Classes:
    """Every combination of quasi-identifiers that occurs.

    ``own[i]`` rows have combination i; ``size[i]`` rows could be mistaken for them, themselves included: the same
    number unless unknown values are wildcards. ``cells`` are those of each sensitive column.
    """

    rows: Rows
    table: str
    quasi: tuple[str, ...]
    own: Integers
    size: Integers
    cells: dict[str, Cells]

    def values(self, which: Sequence[int]) -> list[tuple[object, ...]]:
        """The quasi-identifiers of some classes."""
        if not len(which):
            return []
        listed = ", ".join(str(int(one)) for one in which)
        names = ", ".join(f"q{i}" for i in range(len(self.quasi)))
        found = self.rows.run(f"SELECT class, {names} FROM {self.table} WHERE class IN ({listed})").fetchall()
        by_class = {row[0]: tuple(row[1:]) for row in found}
        return [by_class[int(one)] for one in which]

    def forget(self) -> None:
        """Remove what was kept for `values`."""
        self.rows.run(f"DROP TABLE IF EXISTS {self.table}")


def classes_of(
    rows: Rows, quasi: tuple[str, ...], sensitive: tuple[str, ...], unknown: Unknown, named: bool
) -> Classes:
    """Group the rows, once, by quasi-identifiers and sensitive columns, then by quasi-identifiers alone.

    ``named``: whether `Classes.values` will be asked for; keeping them takes time.
    """
    table = f"classes_{secrets.token_hex(8)}"  # so that two checks of the same rows do not share a temporary table
    keys, held = [f"q{i}" for i in range(len(quasi))], [f"s{i}" for i in range(len(sensitive))]
    columns = zip([*quasi, *sensitive], [*keys, *held], strict=True)
    shown = ", ".join(f"{quoted_name(name)} AS {key}" for name, key in columns)
    by = ", ".join(keys)
    kept = f"{by}, " if named or unknown is Unknown.WILDCARD else ""
    if held:
        source = f"(SELECT {shown}, count(*) AS n FROM rows GROUP BY ALL)"
        lists = ", ".join([*(f"list({key}) AS {key}" for key in held), "list(n) AS n"])
    else:
        source, lists = f"(SELECT {shown} FROM rows)", "[count(*)] AS n"
    grouped = f"SELECT row_number() OVER () - 1 AS class, {kept}{lists} FROM {source} GROUP BY {by}"
    if kept:
        rows.run(f"CREATE TEMP TABLE {table} AS {grouped}")
        grouped = f"SELECT * FROM {table}"
    alone, ordered = _counted(rows, f"({grouped}) AS c", "c.class", table, held)
    if not len(alone["n"]):
        raise InvalidParameter("source", given="a table without rows", allowed="at least one row")
    around = alone
    if unknown is Unknown.WILDCARD and _has_unknown(rows, table, keys):
        around, _ = _counted(rows, _overlapping(rows, table, keys), "p.class", table, held)
        rows.run(f"DROP TABLE {table}_pairs")
    found = {}
    for name, key, number in zip(sensitive, held, ordered, strict=True):
        whole = np.bincount(alone[key], weights=alone["n"]).astype(np.int64)  # exact below 2⁵³
        found[name] = cells_of(around["class"], around[key], around["n"], number, whole)
    return Classes(rows, table, quasi, _by_class(alone), _by_class(around), found)


def _by_class(counted: dict[str, Integers]) -> Integers:
    return np.bincount(counted["class"], weights=counted["n"]).astype(np.int64)


def _counted(
    rows: Rows, tables: str, group: str, table: str, held: Sequence[str]
) -> tuple[dict[str, Integers], list[bool]]:
    """The class, the places of the sensitive values and how many rows; and which of these columns are of numbers."""
    listed = "".join(f", unnest(c.{key}) AS {key}" for key in held)
    if not held:
        return _arrays(rows, f"SELECT {group} AS class, unnest(c.n) AS n FROM {tables}"), []
    flat = f"{table}_flat"
    rows.run(f"CREATE TEMP TABLE {flat} AS SELECT {group} AS class{listed}, unnest(c.n) AS n FROM {tables}")
    ordered = [_ranked(rows, flat, key) for key in held]
    places = "".join(f", {flat}_{key}.place AS {key}" for key in held)
    joins = "".join(f" JOIN {flat}_{key} ON {flat}.{key} IS NOT DISTINCT FROM {flat}_{key}.value" for key in held)
    found = _arrays(rows, f"SELECT class{places}, n FROM {flat}{joins}")
    rows.run("".join(f"DROP TABLE {name};" for name in [flat, *(f"{flat}_{key}" for key in held)]))
    return found, ordered


def _arrays(rows: Rows, statement: str) -> dict[str, Integers]:
    found = rows.run(statement).fetchnumpy()
    return {name: np.asarray(values).astype(np.int64, copy=False) for name, values in found.items()}


def _ranked(rows: Rows, flat: str, key: str) -> bool:
    """Give the values of a sensitive column their places in its order, unknown first; whether they are numbers."""
    text = f"CAST({key} AS VARCHAR)"
    number = f"CASE WHEN regexp_full_match({text}, {quoted_text(NUMBER)}) THEN TRY_CAST({text} AS DOUBLE) END"
    distinct = f"SELECT {key} AS value, {text} AS text, {number} AS number FROM {flat} GROUP BY {key}"
    judged = "bool_and(number IS NOT NULL) FILTER (value IS NOT NULL) OVER () AS numbers"
    is_text = f"CASE WHEN NOT numbers THEN text WHEN NOT isnan(number) THEN {long_digits('text')} END"
    along = f"CASE WHEN numbers AND NOT isnan(number) THEN number END NULLS FIRST, {is_text}"
    rows.run(
        f"CREATE TEMP TABLE {flat}_{key} AS SELECT value, numbers, "
        f"dense_rank() OVER (ORDER BY {along} NULLS FIRST) - 1 AS place FROM (SELECT *, {judged} FROM ({distinct}))"
    )
    return bool(rows.run(f"SELECT any_value(numbers) FROM {flat}_{key}").fetchall()[0][0])


def _has_unknown(rows: Rows, table: str, keys: Sequence[str]) -> bool:
    some = " OR ".join(f"{key} IS NULL" for key in keys)
    return bool(rows.run(f"SELECT count(*) > 0 FROM {table} WHERE {some}").fetchall()[0][0])


def _overlapping(rows: Rows, table: str, keys: Sequence[str]) -> str:
    """Which classes agree, where an unknown value agrees with every value.

    Two classes agree if they do on the columns that both know; so each pair of patterns of unknown columns is a join.
    """
    known = " + ".join(f"CASE WHEN {key} IS NULL THEN 0 ELSE {2**place} END" for place, key in enumerate(keys))
    patterns = [int(row[0]) for row in rows.run(f"SELECT DISTINCT {known} FROM {table}").fetchall()]
    if len(patterns) > _MOST_PATTERNS:
        given, allowed = f"{len(patterns)} patterns of unknown columns", f"at most {_MOST_PATTERNS} with wildcards"
        raise InvalidParameter("unknown", given=given, allowed=allowed, hint="Count unknown as a value of its own.")
    rows.run(f"CREATE TEMP TABLE {table}_pairs (class BIGINT, member BIGINT)")
    for mine in patterns:
        for theirs in patterns:
            both = [key for place, key in enumerate(keys) if mine & theirs & 2**place]
            same = " AND ".join(f"a.{key} = b.{key}" for key in both) or "true"
            sides = [f"(SELECT * FROM {table} WHERE {known} = {side})" for side in (mine, theirs)]
            agree = f"SELECT a.class, b.class FROM {sides[0]} AS a JOIN {sides[1]} AS b ON {same}"
            rows.run(f"INSERT INTO {table}_pairs {agree}")
    return f"{table}_pairs AS p JOIN {table} AS c ON c.class = p.member"
