"""Keys of groups: the listed ones as a small table."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.tables.engines.chain.dialect import Dialect
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Value

__all__ = ["listed_term", "listing"]

_MANY = 1000
_SEPARATORS = (";", "|", "~", "^")
_WIDENING = {(Kind.INTEGER, Kind.REAL), (Kind.DATE, Kind.TIMESTAMP)}


def listing(dialect: Dialect, listed: Sequence[Sequence[Value]], kinds: Sequence[Kind]) -> str:
    """The listed keys, each with its place g in the list; the first place of a key that is listed more than once."""
    names = ", ".join(f"k{i}" for i in range(len(kinds)))
    packed = _packed(dialect, listed, kinds) if len(listed) > _MANY else ""
    if packed:
        return f"SELECT min(g) AS g, {names}\nFROM ({packed}) AS listing\nGROUP BY {names}"
    rows = []
    for g, values in enumerate(listed):
        terms = [listed_term(dialect, value, kind) for value, kind in zip(values, kinds, strict=True)]
        rows += [] if None in terms else [f"({', '.join([str(g), *map(str, terms)])})"]
    if not rows:
        nothing = ", ".join(f"CAST(NULL AS {dialect.types[kind]}) AS k{i}" for i, kind in enumerate(kinds))
        return f"SELECT 0 AS g, {nothing} LIMIT 0"
    lines = ",\n             ".join(rows)
    return f"SELECT min(g) AS g, {names}\nFROM (VALUES {lines}) AS listing(g, {names})\nGROUP BY {names}"


def _packed(dialect: Dialect, listed: Sequence[Sequence[Value]], kinds: Sequence[Kind]) -> str:
    """A long list of texts or whole numbers as one text per key, which is planned thirty times faster than rows.

    Empty if it cannot be told so: a null, another kind, a text with every separator in it.
    """
    parts = {"g": _unpacked(dialect, Kind.INTEGER, [str(g) for g in range(len(listed))])}
    for i, kind in enumerate(kinds):
        parts[f"k{i}"] = _unpacked(dialect, kind, [_plain(row[i], kind) for row in listed])
    return dialect.side_by_side(parts) if all(parts.values()) else ""


def _unpacked(dialect: Dialect, kind: Kind, texts: Sequence[str | None]) -> str:
    known = [text for text in texts if text is not None]
    joined = "".join(known)
    separator = next((one for one in _SEPARATORS if one not in joined), None)
    if separator is None or len(known) < len(texts) or not joined.isprintable():
        return ""
    return dialect.unpacked(separator.join(known), separator, kind)


def _plain(value: Value, kind: Kind) -> str | None:
    if kind is Kind.INTEGER and type(value) is int and -(2**63) <= value < 2**63:
        return str(value)
    return value if kind is Kind.TEXT and isinstance(value, str) else None


def listed_term(dialect: Dialect, value: Value, kind: Kind) -> str | None:
    """A listed value as SQL of the key's kind, null only if null was listed; None if no row can have it."""
    term = dialect.literal(value)
    fits = term.kind is kind or (term.kind, kind) in _WIDENING
    if term.kind is None or (fits and not term.sql.startswith("CAST(NULL")):
        return dialect.cast(term, kind)
    return None
