"""A SELECT, read into the query tree; nothing that is not on the allow-list gets through.

>>> parse("select City, count(*) as n from visits group by city", "visits").outputs[0]
Output(name='City', expression=Key(index=0))
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tacit.tables.expressions.tree import Column, Expression
from tacit.tables.query.canonical import folded, has_aggregate, make_query
from tacit.tables.query.limits import Sizes
from tacit.tables.query.options import NO_OPTIONS, Options
from tacit.tables.query.refusals import CLAUSES, NotUnderstood, not_yet, shortened
from tacit.tables.query.rows import Qualified, Rows, Unsettled, conjoined
from tacit.tables.query.to_sql import to_sql
from tacit.tables.query.tree import Aggregate, Order, Query
from tacit.tables.sql.google.lists import Lists

if TYPE_CHECKING:
    from tacit.tables.sql.scope import Scope

__all__ = ["parse", "parse_condition", "parse_released", "states_price"]

_UNDERSTOOD = {"expressions", "from_", "where", "group", "having", "order", "limit", "offset", "with_", "joins"}


Tables = Mapping[str, Sequence[str]]


def parse(text: str, table: str, tables: Tables | None = None) -> Query:
    """The query that a statement asks of the table; ``tables`` are the columns of all that it may join, by name."""
    with _bounded():
        query, is_plain = _parsed(text, table, tables)
        return query if is_plain else _parsed(to_sql(query), table, tables)[0]  # dissolved, as if it was written so


@contextmanager
def _bounded() -> Iterator[None]:
    """Whatever is nested deeper than Python goes is refused like what is nested deeper than we allow."""
    try:
        yield
    except RecursionError:
        raise NotUnderstood("the statement", "is nested too deep", "Write it in fewer steps.") from None


def _parsed(text: str, table: str, tables: Tables | None) -> tuple[Query, bool]:
    """The query, and whether it was asked of the table itself."""
    translate = import_module("tacit.tables.sql.translate")  # loads the parser: only who writes SQL pays for it
    grammar = import_module("tacit.tables.sql.grammar")
    found = grammar.read(text)
    if isinstance(found.tree, grammar.exp.Union):
        raise not_yet("UNION of answers", "Ask two questions instead; UNION ALL of tables stands in FROM (…).")
    if not isinstance(found.tree, grammar.exp.Select):
        raise not_yet(type(found.tree).__name__.upper(), "Write one SELECT … FROM the table.")
    source = _source(found.tree, table, tables)
    lists = Lists(translate, grammar.exp, source.names, found)
    if found.lists and not source.is_table:
        raise not_yet("a list of public groups beside a subquery", f"Write FROM {table}, with the conditions in WHERE.")
    reading = _Reading(translate, grammar.exp, found.tree, source, lists)
    return reading.query(table, lists.options()), source.is_table


def states_price(text: str) -> bool:
    """Whether a statement says its price itself: OPTIONS(epsilon = …)."""
    grammar = import_module("tacit.tables.sql.grammar")
    return grammar.read(text).clause.options.epsilon is not None


def parse_condition(text: str, table: str, rows: Rows) -> Expression:
    """A condition on rows, as after WHERE, over what they are made of: what `.where("age > 40")` reads."""
    if not isinstance(text, str) or not text.strip():
        raise NotUnderstood("an empty condition", "write something like age > 40")
    with _bounded():
        reading = _of_clause("where", text, table, rows)
        found = reading._one("where", reading.rows)
        assert found is not None
        return reading._plain(found)


def parse_released(text: str, table: str, rows: Rows) -> Expression:
    """A condition on released values, as after HAVING; in it names without a table are still as they are written."""
    with _bounded():
        reading = _of_clause("having", text, table, rows)
        scope = reading.released if rows.naming is None else replace(reading.released, naming=Unsettled(rows.naming))
        found = reading._one("having", scope)
        assert found is not None
        return found


def _of_clause(clause: str, text: str, table: str, rows: Rows) -> _Reading:
    """A statement that has nothing but this clause."""
    translate = import_module("tacit.tables.sql.translate")
    grammar = import_module("tacit.tables.sql.grammar")
    tree = grammar.statement(f"SELECT COUNT(*) FROM {_quoted(table)} {clause.upper()} {text}")
    said = {name for name, value in tree.args.items() if value not in (None, False, [])}
    if not isinstance(tree, grammar.exp.Select) or said != {"expressions", "from_", clause}:
        raise not_yet(text, "Only a condition goes there; grouping and ordering have functions of their own.")
    _source(tree, table)  # refuses whatever else was written
    return _Reading(translate, grammar.exp, tree, rows)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _source(tree: Any, table: str, tables: Tables | None = None) -> Rows:
    """What the statement asks about; refuses clauses that are not understood, and any other source."""
    sources = import_module("tacit.tables.sql.read.source")
    sources.refuse_clauses(tree, _UNDERSTOOD, {})
    found: Rows = sources.source(tree, table, Sizes(), tables)
    return found


class _Reading:
    """One statement being read: its outputs first, since other clauses may use their names."""

    def __init__(self, translate: Any, exp: Any, tree: Any, source: Rows, lists: Lists | None = None) -> None:
        self.exp = exp
        self.columns = {} if lists is None else lists.columns
        self.tree = tree
        self.only = translate.only
        self.source = source
        names = source.names if lists is None else source.names | lists.aliases
        self.rows: Scope = translate.scope(names, "WHERE", aggregates=False, naming=source.naming)
        self.released: Scope = replace(self.rows, place="SELECT", aggregates=True)
        self.arrays = translate
        self.written: list[Expression | None] = []
        self.outputs: list[tuple[str | None, Expression]] = []
        for node in tree.expressions:
            several = self._array(node)
            found = [self._output(node)] if several is None else several
            self.outputs += found
            self.written.append(found[0][1] if several is None else None)
        for _, expression in self.outputs:
            self.rows.sizes.admit(expression)
        self.aliases = {name.lower(): expression for name, expression in self.outputs if name is not None}

    def query(self, table: str, options: Options = NO_OPTIONS) -> Query:
        sets = self._sets()
        keys = list(dict.fromkeys(key for one in sets for key in one))
        where = self._one("where", self.rows)
        having = self._one("having", self._aliasing(self.released))
        return make_query(
            table,
            [(name, self._plain(expression)) for name, expression in self.outputs],
            where=conjoined([self.source.where, None if where is None else self._plain(where)]),
            keys=keys,
            having=None if having is None else self._plain(self._aliased(having)),
            order=self._order(),
            limit=self._count("limit"),
            offset=self._count("offset") or 0,
            source=self.source.relation,
            options=options,
            sets=[[keys.index(key) for key in one] for one in sets],
        )

    def _output(self, node: Any) -> tuple[str | None, Expression]:
        if not isinstance(node, self.exp.Alias):
            expression = self.released.expression(node)
            return (node.this.this if isinstance(node, self.exp.Column) else None), expression
        return self._alias(node), self.released.expression(node.this)

    def _alias(self, node: Any) -> str:
        self.only(node, "this", "alias")
        alias = node.args["alias"]
        if not isinstance(alias, self.exp.Identifier) or not str(alias.this).strip() or len(str(alias.this)) > 200:
            raise NotUnderstood("AS …", "takes a name of at most 200 characters")
        return str(alias.this)

    def _array(self, node: Any) -> list[tuple[str | None, Expression]] | None:
        """The columns of an output that is an array; None for any other."""
        named = isinstance(node, self.exp.Alias)
        inner = node.this if named else node
        if not self.arrays.array_name(inner):
            return None
        base, made = self.arrays.array(self.released, inner)
        base = self._alias(node) if named else base
        return [(f"{base}_{ending}", one) for ending, one in made]

    def _one(self, clause: str, scope: Scope) -> Expression | None:
        node = self.tree.args.get(clause)
        if node is None:
            return None
        self.only(node, "this")
        return scope.expression(node.this)

    def _plain(self, expression: Expression) -> Expression:
        """Over the table's own columns: those of subqueries, and those written with their table, are written out."""
        found = self.source.meaning(self._listed(expression))
        self.rows.sizes.of(found)
        return found

    def _listed(self, expression: Expression) -> Expression:
        """The names that joined lists have given to columns are those of the columns."""
        if not self.columns:
            return expression
        if isinstance(expression, Column):
            return self._column(expression)
        if isinstance(expression, Aggregate):
            return expression.of(self._listed)
        return expression.with_parts(tuple(self._listed(part) for part in expression.parts()))

    def _column(self, column: Column) -> Column:
        """The table's column that a name stands for: a list that is joined may have given it a name."""
        meant = self.columns.get(column.name.lower())
        if meant is None or meant.lower() == column.name.lower():
            return Column(column.name)
        if isinstance(column, Qualified):
            raise not_yet(
                f"….{shortened(column.name)}", f"Write {shortened(column.name)} alone: it is the list's name."
            )
        return Column(meant)

    def _aliased(self, expression: Expression) -> Expression:
        """Names of outputs replaced by what they stand for."""
        if isinstance(expression, Column) and not isinstance(expression, Qualified):
            meant = self.aliases.get(expression.name.lower(), expression)
            self.rows.sizes.admit(meant)
            return meant
        return expression.with_parts(tuple(self._aliased(part) for part in expression.parts()))

    def _sets(self) -> Sequence[Sequence[Expression]]:
        """The keys of each grouping: one list, or those of GROUPING SETS, ROLLUP and CUBE."""
        group = self.tree.args.get("group")
        if group is None:
            return [()]
        for what in ("grouping_sets", "rollup", "cube", "totals"):
            if group.args.get(what):
                written = f"WITH {what.upper()}"
                raise not_yet(written, "Write GROUP BY ROLLUP (a, b), CUBE (a, b) or GROUPING SETS ((a), (b), ()).")
        self.only(group, "expressions", "all")
        if group.args.get("all"):
            return [[self._plain(one) for _, one in self.outputs if not has_aggregate(one) and _of_rows(one)]]
        scope = self._aliasing(self.rows.placed("GROUP BY"))
        read = import_module("tacit.tables.sql.read.groupings")
        found: list[tuple[Expression, ...]] = read.groupings(
            group.expressions, lambda node: self._plain(self._key(scope, node))
        )
        return found

    def _key(self, scope: Scope, node: Any) -> Expression:
        found = self._position(node, "GROUP BY")
        if found is None:
            found = scope.expression(node)
            if isinstance(found, Column) and not isinstance(found, Qualified):
                found = self._key_named(found)
        if has_aggregate(found):
            raise not_yet("an aggregate in GROUP BY", "Group by columns, or expressions of them.")
        return found

    def _aliasing(self, scope: Scope) -> Scope:
        """Where names of outputs may stand: in a join they are not looked for among the columns first."""
        return scope if scope.naming is None else replace(scope, naming=scope.naming.leaving(self.aliases))

    def _key_named(self, column: Column) -> Expression:
        """A lone name in GROUP BY: a column, or what is shown under that name."""
        meant = self.aliases.get(column.name.lower())
        if meant is not None and self.source.naming is not None:
            column = Column(self.source.naming.within(column.name))
        if meant is None or has_aggregate(meant) or folded(self._listed(meant)) == folded(self._listed(column)):
            return column
        if folded(column) in (folded(node) for node in meant.walk() if isinstance(node, Column)):
            raise NotUnderstood(
                f"GROUP BY {shortened(column.name)}",
                "could mean the column or what SELECT calls by that name",
                "Write GROUP BY with the expression itself or its place (GROUP BY 1), or choose another name.",
            )
        return meant

    def _position(self, node: Any, clause: str) -> Expression | None:
        """The output that a bare number names."""
        if not isinstance(node, self.exp.Literal) or node.is_string:
            return None
        text = str(node.this)
        if not text.isascii() or not text.isdecimal() or len(text) > 6 or not 1 <= int(text) <= len(self.written):
            raise NotUnderstood(f"{clause} {text[:20]}", f"the places are 1 to {len(self.written)}")
        found = self.written[int(text) - 1]
        if found is None:
            raise NotUnderstood(f"{clause} {text}", "is a list of several columns", "Name one of them.")
        return found

    def _order(self) -> list[Order]:
        order = self.tree.args.get("order")
        if order is None:
            return []
        self.only(order, "expressions")
        scope = self._aliasing(self.released.placed("ORDER BY"))
        found = []
        for node in order.expressions:
            if not isinstance(node, self.exp.Ordered):
                raise not_yet("ORDER BY …", "Name columns of the answer.")
            self.only(node, "this", "desc", "nulls_first")
            meant = self._position(node.this, "ORDER BY")
            meant = self._aliased(scope.expression(node.this)) if meant is None else meant
            found.append(Order(self._plain(meant), bool(node.args.get("desc")), bool(node.args.get("nulls_first"))))
        return found

    def _count(self, clause: str) -> int | None:
        node = self.tree.args.get(clause)
        if node is None:
            return None
        if not isinstance(node, self.exp.Limit | self.exp.Offset):
            raise not_yet(*CLAUSES.get("fetch", ("FETCH", "")))
        self.only(node, "expression")
        number = node.expression
        text = str(number.this) if isinstance(number, self.exp.Literal) and not number.is_string else ""
        if not text.isascii() or not text.isdecimal() or len(text) > 15:
            raise NotUnderstood(f"{clause.upper()} …", "takes a whole number", f"Write {clause.upper()} 10.")
        return int(text)


def _of_rows(expression: Expression) -> bool:
    return any(isinstance(node, Column) for node in expression.walk())
