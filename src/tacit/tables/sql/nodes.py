"""What single nodes of the parser's tree say, as plain values; nothing where a node is something else."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.tables.query.refusals import NotUnderstood, not_yet
from tacit.tables.sql.grammar import exp
from tacit.tables.sql.scope import only

__all__ = [
    "alias_of",
    "bare_word",
    "digits_in",
    "function_name",
    "is_star",
    "labelled",
    "name_in",
    "place_in",
    "text_in",
    "undistinct",
    "written_column",
]

MOST_LABEL = 200


def name_in(node: object) -> str | None:
    """The name that an identifier is."""
    return str(node.this) if isinstance(node, exp.Identifier) else None


def digits_in(node: object) -> str:
    """A number, as it was written."""
    return str(node.this) if isinstance(node, exp.Literal) and not node.is_string else ""


def text_in(node: object) -> str | None:
    """A constant in quotes."""
    return str(node.this) if isinstance(node, exp.Literal) and node.is_string else None


def function_name(node: object) -> str:
    """The name of a function that is called, in small letters."""
    return str(node.this).lower() if isinstance(node, exp.Anonymous) else ""


def is_star(node: object) -> bool:
    """Whether it is *."""
    return isinstance(node, exp.Star)


def labelled(node: exp.Expression) -> tuple[str | None, exp.Expression]:
    """An output: what it is called with AS, and what it is."""
    if not isinstance(node, exp.Alias):
        return None, node
    only(node, "this", "alias")
    label = name_in(node.args["alias"])
    if label is None or not label.strip() or len(label) > MOST_LABEL:
        raise NotUnderstood("AS …", f"takes a name of at most {MOST_LABEL} characters")
    return label, node.this


def written_column(node: exp.Expression) -> str | None:
    """The name of a column as it was written, without that of its table."""
    return name_in(node.this) if isinstance(node, exp.Column) else None


def bare_word(node: exp.Expression) -> str | None:
    """A word that stands where a column could, such as a unit of time."""
    return str(node.this) if isinstance(node, exp.Var) else written_column(node)


def place_in(node: exp.Expression, clause: str, most: int) -> int | None:
    """The place, from 0 on, that a bare number names among so many outputs."""
    text = digits_in(node)
    if not text:
        return None
    if not text.isascii() or not text.isdecimal() or len(text) > 6 or not 1 <= int(text) <= most:
        raise NotUnderstood(f"{clause} {text[:20]}", f"the places are 1 to {most}")
    return int(text) - 1


def alias_of(alias: exp.Expression | None) -> tuple[str | None, list[str]]:
    """What a table is called, in small letters, and the names of its columns behind it: AS t(a, b)."""
    if alias is None:
        return None, []
    name = name_in(alias.this)
    if alias.this is not None and name is None:
        raise not_yet("a name of a table", "Write AS and a name.")
    columns = [name_in(one) for one in alias.args.get("columns") or []]
    if None in columns:
        raise not_yet("column names after the name of a table", "Write them inside, with AS.")
    return None if name is None else name.lower(), [str(one) for one in columns]


def undistinct(given: Sequence[exp.Expression]) -> tuple[list[exp.Expression], bool]:
    """The arguments of an aggregate, and whether DISTINCT stands before them."""
    if not given or not isinstance(given[0], exp.Distinct):
        return list(given), False
    only(given[0], "expressions")
    return [*given[0].expressions, *given[1:]], True
