"""The policy: the one description of a data set that the library, the shell and the server share.

A value; `policy_file` reads and drafts the TOML. It is written by the data's owner and seen by analysts: nothing in it
may be computed from the data.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction

from tacit.ledger.terms import Terms
from tacit.privacy.neighbours import Unit
from tacit.privacy.prices import text
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Value
from tacit.tables.policy.limits import Limits
from tacit.work.limits import Work

__all__ = ["ColumnPolicy", "Limits", "OtherTable", "Policy", "Role", "is_address"]


def is_address(source: str) -> bool:
    """Whether a source is a table of a database or a cluster, not a path.

    >>> is_address("postgresql://db/shop#public.visits"), is_address("spark:shop.visits"), is_address("visits.csv")
    (True, True, False)
    """
    return "://" in source or source.startswith("spark:")


class Role(Enum):
    """What may be done with a column."""

    IDENTIFIER = "identifier"
    """Names units: it can be counted (COUNT(DISTINCT …) if it is the unit), never shown, filtered or grouped by."""
    PRIVATE = "private"
    """Rows hold secrets: can be filtered, aggregated and grouped by (its keys pass a private selection)."""
    PUBLIC = "public"
    """As private, but the values it can take (``keys``) are public knowledge: groups appear even when empty."""
    FORBIDDEN = "forbidden"
    """Cannot be asked about at all."""

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class ColumnPolicy:
    """A column: its kind, its role, the public range of its values, the public list of its keys.

    ``bounds`` clamp each row, ``group_bounds`` what one unit adds to one group (Google's meaning). ``granule`` is the
    step to which values are rounded before they are added; None lets the planner choose it from the bounds.
    """

    name: str
    kind: Kind
    role: Role
    bounds: tuple[Fraction, Fraction] | None = None
    group_bounds: tuple[Fraction, Fraction] | None = None
    granule: Fraction | None = None
    keys: tuple[Value, ...] | None = None
    repeats: int | None = None
    """Of a public table: how many of its rows have the same value here, at most."""


@dataclass(frozen=True, slots=True)
class OtherTable:
    """A table that questions may join: public, without a unit; or private, about the units that the policy protects."""

    name: str
    source: str
    columns: Mapping[str, ColumnPolicy] = field(hash=False)
    unit: str | None = None
    """The column that names the unit here; None: anybody may know the table."""
    options: Mapping[str, str] = field(default_factory=dict, hash=False)
    contents: str = ""
    """A short name of what a public table holds: another content is another question."""
    size: int = 1
    """How many rows a public table has."""

    @property
    def is_public(self) -> bool:
        """Whether nobody in it is protected."""
        return self.unit is None


@dataclass(frozen=True, slots=True)
class Policy:
    """Who is protected, what may be asked, how much may be learned."""

    table: str
    source: str
    """The address of the data: a path (relative to the policy file), or the name of a frame."""
    unit: Unit
    columns: Mapping[str, ColumnPolicy] = field(hash=False)
    terms: Terms = field(hash=False)
    limits: Limits = field(default_factory=Limits)
    delta: Fraction = Fraction(0)
    """The δ of a question that says none, for private keys or Gaussian noise; the ledger's caps bound both."""
    population: int | None = None
    """A declared minimum number of units, which δ is checked against; never counted in the data."""
    version: int = 1
    options: Mapping[str, str] = field(default_factory=dict, hash=False)
    """How to read the source: delimiter, quote, encoding, compression, null text."""
    others: Mapping[str, OtherTable] = field(default_factory=dict, hash=False)
    """The tables that questions may join, by their names in SQL."""
    work: Work = field(default_factory=Work)
    """What one draw may take. It shapes no answer, and is no part of the fingerprint."""

    def tables(self) -> dict[str, tuple[str, ...]]:
        """The columns that may be asked about of every table, by its name in SQL."""
        every = {self.table: self.columns} | {name: one.columns for name, one in self.others.items()}
        return {
            name: tuple(one.name for one in columns.values() if one.role is not Role.FORBIDDEN)
            for name, columns in every.items()
        }

    def fingerprint(self) -> str:
        """A short name of everything here that shapes an answer; stored with each answer in the ledger."""
        body = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"), default=str)
        return f"{self.version}:{hashlib.sha256(body.encode()).hexdigest()[:16]}"

    def to_dict(self) -> dict[str, object]:
        """The policy as JSON values, numbers as exact text; without the budget, which the ledger keeps."""

        others = {
            name: {
                "source": one.source,
                "unit": one.unit,
                "options": dict(one.options),
                "contents": one.contents,
                "columns": _described(one.columns),
            }
            for name, one in self.others.items()
        }
        return {
            "table": self.table,
            "source": self.source,
            "unit": self.unit.column,
            "limits": {"groups": self.limits.groups, "rows": self.limits.rows},
            "delta": text(self.delta),
            "population": self.population,
            "version": self.version,
            "options": dict(self.options),
            "columns": _described(self.columns),
            **({"others": others} if others else {}),
        }


def _described(columns: Mapping[str, ColumnPolicy]) -> dict[str, object]:
    def pair(bounds: tuple[Fraction, Fraction] | None) -> list[str] | None:
        return None if bounds is None else [text(bounds[0]), text(bounds[1])]

    return {
        one.name: {
            "kind": one.kind.value,
            "role": one.role.value,
            "bounds": pair(one.bounds),
            "group_bounds": pair(one.group_bounds),
            "granule": None if one.granule is None else text(one.granule),
            "keys": None if one.keys is None else list(one.keys),
        }
        for one in columns.values()
    }
