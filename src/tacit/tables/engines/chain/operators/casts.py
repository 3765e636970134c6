"""Which text can be read as which kind, on every engine; and how a cast is looked up. All else is null."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tacit.tables.engines.chain.terms import Term
from tacit.tables.expressions.kinds import Kind

__all__ = ["DAY", "DECIMAL", "FALSE", "HOURS", "MOMENT", "TRUE", "WHOLE", "Readings", "converted"]

WHOLE = "[+-]?[0-9]{1,30}"
DECIMAL = "[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]{1,4})?"
DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
HOURS = "([ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?)?"
MOMENT = DAY + HOURS
"""Regular expressions that mean the same on every engine."""
TRUE = "('true', 't', 'yes', 'y', 'on', '1')"
FALSE = "('false', 'f', 'no', 'n', 'off', '0')"

Readings = Mapping[tuple[Kind, Kind], Callable[[str], str]]
"""How an engine makes a value of one kind of one of another."""


def converted(term: Term, kind: Kind, types: Mapping[Kind, str], readings: Readings) -> str:
    """The value as that kind, or null."""
    if term.kind is None:
        return f"CAST(NULL AS {types[kind]})"
    if term.kind is kind:
        return term.sql
    reading = readings.get((term.kind, kind))
    return f"CAST(NULL AS {types[kind]})" if reading is None else reading(term.sql)
