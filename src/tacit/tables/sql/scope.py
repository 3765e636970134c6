"""Where a node stands while it is read, what single nodes say as plain values, and why a node is not read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from tacit.tables.expressions.tree import Expression
from tacit.tables.query.limits import MOST_DEEP, Sizes
from tacit.tables.query.refusals import GROUPINGS, OVER_GROUPS, WINDOWS, NotUnderstood, not_yet, void
from tacit.tables.sql.grammar import exp

__all__ = [
    "Naming",
    "Reader",
    "Scope",
    "alias_of",
    "bare_word",
    "digits_in",
    "function_name",
    "is_star",
    "labelled",
    "name_in",
    "only",
    "place_in",
    "refused",
    "text_in",
    "undistinct",
    "written",
    "written_column",
]

_MOST_LABEL = 200
_NO_MEANING = {"typed", "safe", "big_int", "_type", "nested", "comments"}
Reader = Callable[..., Expression]
"""One function per kind of node: takes the scope and the node."""


class Naming(Protocol):
    """The columns of a join."""

    def column(self, table: str | None, name: str) -> str:
        """What the join calls a column that is written with its table, or without; refuses what could be two."""

    def leaving(self, aliases: Collection[str]) -> Naming:
        """The same, but these names stay as they are written without a table: they may be those of outputs."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Where an expression stands: how columns are named there, and whether aggregates are allowed."""

    readers: Mapping[type[exp.Expression], Reader]
    tables: frozenset[str]
    place: str
    aggregates: bool
    depth: int = 0
    sizes: Sizes = field(default_factory=Sizes)
    naming: Naming | None = None
    """What columns are called, where several tables are joined."""

    def expression(self, node: exp.Expression) -> Expression:
        """Our tree of a node."""
        if self.depth > MOST_DEEP:
            raise NotUnderstood("an expression", f"is nested more than {MOST_DEEP} deep", "Write it in fewer steps.")
        reader = self.readers.get(type(node))
        if reader is None:
            raise refused(node)
        found = reader(replace(self, depth=self.depth + 1), node)
        self.sizes.of(found)  # BETWEEN and CASE x WHEN repeat what they look at: nested, they would double each time
        return found

    def placed(self, place: str) -> Scope:
        """The same names, in another clause."""
        return replace(self, place=place)

    def each(self, nodes: Iterable[exp.Expression]) -> tuple[Expression, ...]:
        return tuple(self.expression(node) for node in nodes)


def written(node: object) -> str:
    """About what was written."""
    try:
        return node.sql() if isinstance(node, exp.Expression) else str(node)
    except Exception:  # the parser's printer is not ours to trust: a name is enough
        return type(node).__name__


def only(node: exp.Expr, *expected: str) -> None:
    """Refuse the node if it says more than expected."""
    for name, value in node.args.items():
        if name not in expected and name not in _NO_MEANING and value not in (None, False, []):
            raise not_yet(written(node), f"Leave out {name.strip('_').replace('_', ' ').upper()}.")


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
    if label is None or not label.strip() or len(label) > _MOST_LABEL:
        raise NotUnderstood("AS …", f"takes a name of at most {_MOST_LABEL} characters")
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


def refused(node: exp.Expression) -> Exception:
    """Why a node is not read, and what to write instead."""
    if type(node) in _VOID:
        return void(*_VOID[type(node)])
    return not_yet(*_NOT_YET.get(type(node), (written(node), "docs/reference/sql.md lists what can be written.")))


_STAR = "Name what is to be computed: COUNT(*), AVG(column) … GROUP BY column."
_SUBQUERY = ("a subquery outside of FROM", "It would look at other people's rows: write the condition itself.")
_PATTERN = ("a regular expression that is no function", "Write REGEXP_MATCHES(x, 'expression').")
_DISTINCT = ("IS DISTINCT FROM", "Write x <> y OR x IS NULL.")
_VOID: dict[type[exp.Expression], tuple[str, str, str]] = {
    exp.Window: ("OVER (…)", WINDOWS, OVER_GROUPS),
    exp.Star: ("*", "rows are never shown", _STAR),
}
"""What would void the promise."""
_NOT_YET: dict[type[exp.Expression], tuple[str, str]] = {
    **dict.fromkeys((exp.Select, exp.Subquery, exp.Exists), _SUBQUERY),
    **dict.fromkeys((exp.RegexpLike, exp.RegexpILike, exp.SimilarTo), _PATTERN),
    **{one: (f"{one.__name__.upper()} (…)", GROUPINGS) for one in (exp.Rollup, exp.Cube, exp.GroupingSets)},
    exp.BitwiseXor: ("^", "Write POWER(x, y)."),
    **dict.fromkeys((exp.NullSafeNEQ, exp.NullSafeEQ), _DISTINCT),
    exp.Interval: ("an INTERVAL alone", "Write date + INTERVAL 3 DAY."),
}
