"""What every source of rows promises: a view of exactly the declared columns, in which no row can raise.

Names of columns are made so that SQL can tell them apart, from a header as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Protocol

from tacit.errors import InvalidParameter, PolicyError
from tacit.tables.engines.chain.terms import VIEW
from tacit.tables.policy.policy import ColumnPolicy, Role

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = [
    "VIEW",
    "WHICH_TABLE",
    "Source",
    "missing_column",
    "named",
    "quoted_name",
    "quoted_text",
    "refuse_empty",
    "usable_names",
    "view_statement",
    "visible",
]

WHICH_TABLE = 'Say which: --table NAME, or in the policy [reading] table = "…".'
"""What to do about a file that holds several tables."""


class Source(Protocol):
    """A table to ask about, wherever its rows are."""

    @property
    def identity(self) -> str:
        """What the ledger is opened with: the real path of a file with every link followed, or ``frame:NAME``."""

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that a locked connection must still be able to read, once attached."""

    def column_names(self) -> tuple[str, ...]:
        """The names in the source: its schema, and nothing computed from rows; none if there is no schema."""

    def check(self, columns: Sequence[ColumnPolicy]) -> None:
        """Raise `PolicyError` if a column that may be asked about is not in the schema; free, and blind to rows."""

    def attach(self, connection: DuckDBPyConnection, columns: Sequence[ColumnPolicy], view: str = VIEW) -> None:
        """Make a view of the policy's columns that are not forbidden, each cast totally to its kind."""

    def close(self) -> None:
        """Remove whatever was written to read the source."""


def missing_column(name: str, present: Sequence[str], where: str) -> PolicyError:
    """The error for a declared column that the schema does not have."""
    near = get_close_matches(name, present, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    shown = ", ".join(present[:20]) + (", …" if len(present) > 20 else "")
    return PolicyError(f"The policy declares a column {name!r}, and {where} has: {shown}.{hint} Nothing was spent.")


def visible(columns: Sequence[ColumnPolicy]) -> list[ColumnPolicy]:
    """The columns that may be in the view."""
    return [column for column in columns if column.role is not Role.FORBIDDEN]


def view_statement(shown: Sequence[str], scan: str, view: str = VIEW) -> str:
    """The statement that makes the view of these expressions; of nothing but rows if there are none."""
    return f"CREATE VIEW {quoted_name(view)} AS SELECT {', '.join(shown) or 'NULL AS nothing'} FROM {scan}"


def quoted_name(name: str) -> str:
    """A name as SQL spells it."""
    return '"' + name.replace('"', '""') + '"'


def quoted_text(value: str) -> str:
    """A text as SQL spells it."""
    return "'" + value.replace("'", "''") + "'"


def usable_names(header: Iterable[str]) -> tuple[str, ...]:
    """The names of a header: one that is there already gets a number, one that cannot be seen gets its place.

    >>> usable_names(["id", "Value", "value", "", "value_2"])
    ('id', 'Value', 'value_3', 'column4', 'value_2')
    """
    given = [name.strip() for name in header]
    first = {name.casefold(): at for at, name in reversed(list(enumerate(given)))}
    taken = set(first)
    names = list[str]()
    for at, name in enumerate(given):
        base, number = (name, 1) if name.strip() and name.isprintable() else (f"column{at + 1}", 0)
        made = base
        while made.casefold() in taken and first.get(made.casefold()) != at:
            number += 1
            made = f"{base}_{number}"
        taken.add(made.casefold())
        names.append(made)
    return tuple(names)


def named(header: tuple[str, ...], names: tuple[str, ...], where: str) -> tuple[str, ...]:
    """The names that the policy gives in place of those in the header, as many as there are columns."""
    if not names:
        return header
    if len(names) != len(header):
        raise PolicyError(
            f"[reading] names has {len(names)} names, and {where} has {len(header)} columns: one for each, in order. "
            "Nothing was spent."
        )
    return names


def refuse_empty(header: tuple[str, ...], where: str, what: str) -> None:
    """Refuse a source whose first line names nothing."""
    if not any(header):
        hint = "Is it empty, or does its first line hold something else? "
        hint += "Without a header: --no-header, or header = false in [reading]."
        raise InvalidParameter("source", given=where, allowed=f"{what} whose first line names columns", hint=hint)
