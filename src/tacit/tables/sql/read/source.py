"""What stands after FROM: the table, or subqueries and common table expressions.

A subquery that stays row-wise is dissolved: its columns are written out as expressions of the table's columns, its
WHERE joins the statement's. What is asked, priced and remembered is the flat question. A subquery that groups becomes a
relation with a row per unit, and is what the subqueries around it dissolve into.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tacit.tables.expressions.tree import Column, Expression
from tacit.tables.query.limits import Sizes
from tacit.tables.query.per_unit import PerUnit
from tacit.tables.query.refusals import CLAUSES, SUBQUERY_CLAUSES, NotUnderstood, not_yet, shortened, void
from tacit.tables.query.relations import MOST_LEVELS
from tacit.tables.query.rows import Catalogue, Rows, conjoined
from tacit.tables.sql.grammar import exp
from tacit.tables.sql.read.joins import joined, joined_to, listed, stacked, unbracketed
from tacit.tables.sql.read.per_unit import grouping_scope, read_grouped
from tacit.tables.sql.read.semi_joins import semi_joined
from tacit.tables.sql.scope import Scope, alias_of, is_star, labelled, name_in, only, written_column
from tacit.tables.sql.translate import scope

__all__ = ["refuse_clauses", "source"]

_ROW_WISE = {"expressions", "from_", "where", "with_", "joins"}


def source(tree: exp.Select, table: str, sizes: Sizes, tables: Mapping[str, Sequence[str]] | None = None) -> Rows:
    """The rows that the outermost SELECT asks about; ``tables`` are the columns of those that can be joined."""
    return _Reader(table, sizes, {}, 0, tables).rows(tree)


def refuse_clauses(tree: exp.Select, understood: set[str], reasons: Mapping[str, tuple[str, str]]) -> None:
    """Refuse a SELECT with a clause that is not understood in its place."""
    for name, value in tree.args.items():
        if name not in understood and value not in (None, False, []):
            unknown = (name.strip("_").replace("_", " ").upper(), "Leave it out.")
            raise not_yet(*reasons.get(name, CLAUSES.get(name, unknown)))


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the sources of one statement; ``known`` are the common table expressions that can be named here."""

    table: str
    sizes: Sizes
    known: Mapping[str, Rows]
    level: int
    tables: Mapping[str, Sequence[str]] | None

    def rows(self, tree: exp.Select) -> Rows:
        """What the SELECT reads from."""
        if self.level > MOST_LEVELS:
            raise NotUnderstood("subqueries", f"stand in each other more than {MOST_LEVELS} deep", "Use WITH.")
        inside = self._with(tree)
        clause = tree.args.get("from_")
        if clause is None:
            raise NotUnderstood("a SELECT without FROM", "asks nothing of the table", f"Write FROM {self.table}.")
        first = inside.side(clause.this)
        joins = tree.args.get("joins")
        if not joins:
            return first
        if self.tables is None:
            raise not_yet(*CLAUSES["joins"])
        found = joined(first, [(one, inside.side(joined_to(one))) for one in joins], inside)
        return Rows(found.naming.aliases, relation=found.relation, naming=found.naming)

    def side(self, node: exp.Expression) -> Rows:
        """One side of a join, or all there is."""
        reader = _SIDES.get(type(node))
        if reader is None or (reader is _Reader._values and self.tables is None):
            raise not_yet(f"FROM {shortened(type(node).__name__)}", f"Write FROM {self.table}.")
        return reader(self, node)

    def _values(self, node: exp.Values) -> Rows:
        only(node, "expressions", "alias")
        name, columns = alias_of(node.args.get("alias"))
        return Rows(frozenset(() if name is None else (name,)), relation=listed(node, columns, self.sizes))

    def columns_of(self, rows: Rows) -> list[tuple[str, Expression]]:
        """The columns that rows show, in order, and what each means."""
        return self.catalogue.columns_of(rows)

    @property
    def catalogue(self) -> Catalogue:
        """The tables that can be named."""
        return Catalogue(self.table, self.tables or {})

    def _with(self, tree: exp.Select) -> _Reader:
        """With the common table expressions of this SELECT; each knows those before it."""
        clause = tree.args.get("with_")
        if clause is None:
            return self
        if clause.args.get("recursive"):
            raise not_yet("WITH RECURSIVE", "Each part may use those before it; leave RECURSIVE out.")
        only(clause, "expressions")
        reader, own = self, set()
        for node in clause.expressions:
            only(node, "this", "alias")
            name, columns = alias_of(node.args.get("alias"))
            if name is None or name in own:
                raise NotUnderstood(f"WITH {name or '…'}", "takes each name once")
            own.add(name)
            found = reader._renamed(reader._select(node.this, name), columns)
            reader = replace(reader, known={**reader.known, name: found})
        return reader

    def _subquery(self, node: exp.Subquery) -> Rows:
        only(node, "this", "alias")
        name, columns = alias_of(node.args.get("alias"))
        return self._renamed(self._select(unbracketed(node.this), name), columns)

    def _renamed(self, rows: Rows, names: Sequence[str]) -> Rows:
        """With other names of its columns, in order: AS t(a, b)."""
        if not names:
            return rows
        if self.tables is None:
            raise not_yet("column names after the name of a table", "Write them inside, with AS.")
        found = self.columns_of(rows)
        if len(found) != len(names) or len({one.lower() for one in names}) != len(names):
            raise NotUnderstood(
                f"({', '.join(names)[:60]})", f"takes {len(found)} different names, one for each column"
            )
        renamed = None if rows.relation is None or not rows.is_plain else rows.relation.renamed(tuple(names))
        if renamed is not None:
            return replace(rows, relation=renamed)
        columns = {name.lower(): meaning for name, (_, meaning) in zip(names, found, strict=True)}
        return replace(rows, columns=columns, everything=False, naming=None)

    def _select(self, node: exp.Expression, name: str | None) -> Rows:
        """A subquery's rows, by the name it is given."""
        names = frozenset(() if name is None else (name,))
        below = replace(self, level=self.level + 1)
        if isinstance(node, exp.Union) and self.tables is not None:
            return Rows(names, relation=stacked(node, below))
        if not isinstance(node, exp.Select):
            raise not_yet(f"{type(node).__name__.upper()} in a subquery", "Write SELECT … FROM the table.")
        return replace(below.read(node), names=names, naming=None)

    def read(self, node: exp.Select) -> Rows:
        """What a subquery shows of its rows, still by the names of the tables that it reads."""
        node = semi_joined(node)
        rows = self.rows(node)
        places = scope(rows.names, "a subquery", aggregates=False, sizes=self.sizes, naming=rows.naming)
        where = self._where(node, rows, places)
        if node.args.get("group") is not None or node.args.get("having") is not None:
            refuse_clauses(node, {*_ROW_WISE, "group", "having"}, SUBQUERY_CLAUSES)
            return self._grouped(node, replace(rows, where=where), places)
        refuse_clauses(node, _ROW_WISE, SUBQUERY_CLAUSES)
        places = places.placed("a subquery without GROUP BY")
        columns: dict[str, Expression] = {}
        everything = False
        for one in node.expressions:
            if _is_star(one, rows):
                everything = True
                continue
            label, value = _output(one, places)
            if label.lower() in columns:
                raise _twice(label)
            columns[label.lower()] = self._admitted(rows.meaning(value))
        if everything and rows.naming is not None:
            rows = replace(rows, columns=rows.naming.plain(), everything=False)
        if everything:
            _refuse_hidden(columns, rows)
            columns = {**rows.columns, **columns}
        return replace(rows, columns=columns, everything=everything and rows.everything, where=where)

    def _where(self, node: exp.Select, rows: Rows, places: Scope) -> Expression | None:
        """The conditions so far, and those of this SELECT."""
        condition, where = node.args.get("where"), None
        if condition is not None:
            only(condition, "this")
            where = rows.meaning(places.placed("WHERE").expression(condition.this))
        both = conjoined([rows.where, where])
        return None if both is None else self._admitted(both)

    def _grouped(self, node: exp.Select, rows: Rows, places: Scope) -> Rows:
        """A subquery that groups; over what its own source means."""
        places = grouping_scope(places)
        outputs = [_output(one, places) for one in node.expressions]
        labels = [label.lower() for label, _ in outputs]
        if len(set(labels)) != len(labels):
            raise _twice(next(label for label in labels if labels.count(label) > 1))
        found = read_grouped(node, places, outputs)
        keys = tuple(
            replace(one, expression=self._admitted(rows.meaning(one.expression))) for one in found.relation.keys
        )
        facts = tuple(
            one if one.argument is None else replace(one, argument=self._admitted(rows.meaning(one.argument)))
            for one in found.relation.facts
        )
        return Rows(rows.names, found.columns, False, found.having, PerUnit(keys, facts, rows.where, rows.relation))

    def _admitted(self, expression: Expression) -> Expression:
        """Substitution could double a tree at each level: too large is refused as it grows."""
        self.sizes.of(expression)
        return expression

    def _named(self, node: exp.Table) -> Rows:
        """A table by its name: the one there is, or a common table expression."""
        table = self.table
        name = name_in(node.this)
        if name is None:
            reason = "no file, table function or network is read from a question"
            raise void(f"FROM {_function_name(node.this)}", reason, f"Write FROM {table}.")
        if node.args.get("db") is not None or node.args.get("catalog") is not None:
            raise void(f"FROM ….{name}", "there is one table, and no schemas", f"Write FROM {table}.")
        found = self.known.get(name.lower())
        if found is None and name.lower() != table.lower():
            found = self.catalogue.named(name)
        for part, value in node.args.items():
            if part not in ("this", "alias") and value not in (None, False, []):
                what, instead = CLAUSES.get(part, (part.strip("_").replace("_", " ").upper(), "Leave it out."))
                raise not_yet(what, instead)
        alias = node.args.get("alias")
        alias_name = None if alias is None else name_in(alias.this)
        if alias is not None and (alias.args.get("columns") or alias_name is None):
            raise not_yet("column names after the name of a table", "Write them inside, with AS.")
        return replace(found or Rows(frozenset()), names=frozenset(((alias_name or name).lower(),)))


_SIDES: dict[type[exp.Expression], Callable[[_Reader, Any], Rows]] = {
    exp.Subquery: _Reader._subquery,
    exp.Values: _Reader._values,
    exp.Table: _Reader._named,
}
"""What can stand after FROM or JOIN."""


def _is_star(node: exp.Expression, rows: Rows) -> bool:
    if isinstance(node, exp.Column) and is_star(node.this):
        only(node, "this", "table")
        table = node.args.get("table")
        if table is not None and (rows.naming is not None or str(table.this).lower() not in rows.names):
            raise not_yet(f"{shortened(str(table.this))}.*", "Write * alone.")
        node = node.this
    if is_star(node):
        only(node)
    return is_star(node)


def _output(node: exp.Expression, places: Scope) -> tuple[str, Expression]:
    label, node = labelled(node)
    value = places.expression(node)
    label = label or written_column(node) or value.column_name
    if label is None:
        raise not_yet("a computed column of a subquery without a name", "Give it one: age // 10 AS decade.")
    return label, value


def _refuse_hidden(columns: Mapping[str, Expression], rows: Rows) -> None:
    """SELECT *, age // 10 AS age: engines disagree on which of the two is meant later."""
    for name, meaning in columns.items():
        own = name in rows.columns or any(part.name.lower() == name for part in meaning.nodes(Column))
        if own and rows.columns.get(name) != meaning:
            problem = "is the name of a column of * too"
            raise NotUnderstood(shortened(name), problem, "Choose another name, or list the columns instead of *.")


def _twice(label: str) -> NotUnderstood:
    return NotUnderstood(shortened(label), "is the name of two columns of a subquery", "Choose another.")


def _function_name(node: object) -> str:
    return f"{shortened(str(getattr(node, 'this', 'a function')))}(…)"
