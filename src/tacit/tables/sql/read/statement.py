"""One statement being read: its outputs first, since other clauses may use their names; then clause by clause."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from tacit.tables.expressions.tree import Column, Expression, Literal
from tacit.tables.query.canonical import folded, has_aggregate, make_query
from tacit.tables.query.later import Later
from tacit.tables.query.limits import Sizes
from tacit.tables.query.options import NO_OPTIONS, ListedGroups, Options
from tacit.tables.query.refusals import CLAUSES, NotUnderstood, not_yet, shortened
from tacit.tables.query.rows import Rows, Unsettled, conjoined
from tacit.tables.query.to_sql import to_sql
from tacit.tables.query.tree import Order, Query
from tacit.tables.sql import grammar
from tacit.tables.sql.grammar import exp
from tacit.tables.sql.read.arrays import ARRAYS, array
from tacit.tables.sql.read.groupings import SETS, groupings
from tacit.tables.sql.read.histograms import histogrammed
from tacit.tables.sql.read.later import split, step_of
from tacit.tables.sql.read.semi_joins import semi_joined
from tacit.tables.sql.read.source import refuse_clauses, source
from tacit.tables.sql.scope import Scope, digits_in, function_name, labelled, only, place_in, written_column
from tacit.tables.sql.translate import scope

__all__ = ["Statements"]

_UNDERSTOOD = {"expressions", "from_", "where", "group", "having", "order", "limit", "offset", "with_", "joins"}
Tables = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Statements:
    """Reads statements about a table; ``tables`` are the columns of all that they may join, by name."""

    table: str
    tables: Tables | None = None

    def query(self, text: str) -> tuple[Query, bool]:
        """The query that a statement asks, and whether it was asked of the table itself."""
        return self._query(grammar.read(text))

    def around(self, text: str) -> tuple[Query, list[Later]] | None:
        """The query inside of a statement around an answer, and the steps that it takes; None if it is none."""
        found = grammar.read(text)
        parts = split(found.tree) if isinstance(found.tree, exp.Select) and not found.lists else None
        if parts is None:
            return None
        inner, is_plain = self._query(replace(found, tree=parts.inner))
        inner = inner if is_plain else self.query(to_sql(inner))[0]
        steps, names = list[Later](), [one.name for one in inner.outputs]
        for tree in parts.around:
            steps.append(step_of(tree, names))
            names = [one.name for one in steps[-1].outputs]
        return inner, steps

    def _query(self, found: grammar.Statement) -> tuple[Query, bool]:
        tree = found.tree
        if isinstance(tree, exp.Union):
            raise not_yet("UNION of answers", "Ask two questions instead; UNION ALL of tables stands in FROM (…).")
        if not isinstance(tree, exp.Select):
            raise not_yet(type(tree).__name__.upper(), "Write one SELECT … FROM the table.")
        tree = _rewritten(tree)
        rows = self._rows(tree)
        lists = _Lists(rows.names, found)
        if found.lists and not rows.is_table:
            instead = f"Write FROM {self.table}, with the conditions in WHERE."
            raise not_yet("a list of public groups beside a subquery", instead)
        return _Reading(tree, rows, lists).query(self.table, lists.options()), rows.is_table

    def price(self, text: str) -> Fraction | None:
        """The ε that a statement states itself."""
        return grammar.read(text).clause.options.epsilon

    def condition(self, text: str, rows: Rows) -> Expression:
        """A condition on rows, over what they are made of."""
        reading = self._of_clause("where", text, rows)
        return reading.plain(reading.one("where", reading.rows))

    def released(self, text: str, rows: Rows) -> Expression:
        """A condition on released values; names without a table stay as they are written."""
        reading = self._of_clause("having", text, rows)
        naming = None if rows.naming is None else Unsettled(rows.naming)
        return reading.one("having", reading.released if naming is None else replace(reading.released, naming=naming))

    def _of_clause(self, clause: str, text: str, rows: Rows) -> _Reading:
        """A statement that has nothing but this clause."""
        quoted = '"' + self.table.replace('"', '""') + '"'
        tree = grammar.statement(f"SELECT COUNT(*) FROM {quoted} {clause.upper()} {text}")
        said = {name for name, value in tree.args.items() if value not in (None, False, [])}
        if not isinstance(tree, exp.Select) or said != {"expressions", "from_", clause}:
            raise not_yet(text, "Only a condition goes there; grouping and ordering have functions of their own.")
        self._rows(tree)  # refuses whatever else was written
        return _Reading(tree, rows)

    def _rows(self, tree: exp.Select) -> Rows:
        """What the statement asks about; refuses clauses that are not understood, and any other source."""
        refuse_clauses(tree, _UNDERSTOOD, {})
        return source(tree, self.table, Sizes(), self.tables)


def _rewritten(tree: exp.Select) -> exp.Select:
    """With a histogram as groups, and conditions on who occurs elsewhere as joins; as it is where it has neither."""
    if any(function_name(labelled(one)[1]) == "histogram" for one in tree.expressions):
        tree = histogrammed(tree)
    where = tree.args.get("where")
    return tree if where is None or where.this.find(exp.Select) is None else semi_joined(tree)


class _Lists:
    """The lists that one statement joins its table to, and its clause."""

    def __init__(self, tables: frozenset[str], found: grammar.Statement) -> None:
        self._options: Options = found.clause.options
        for table in (*found.clause.tables, *(one.table for one, _ in found.lists if one.table is not None)):
            if table.lower() not in tables:
                allowed = " or ".join(sorted(tables))
                raise not_yet(f"{shortened(table)}.…", f"Columns are those of {allowed}; write the name alone.")
        self.columns = {one.name.lower(): one.column for one, _ in found.lists}
        self.aliases = frozenset(one.alias.lower() for one, _ in found.lists if one.alias is not None)
        if len(self.columns) != len(found.lists) or self.aliases & tables:
            raise NotUnderstood("RIGHT JOIN UNNEST(…)", "the same name stands for two things", "Choose another name.")
        if len({one.column.lower() for one, _ in found.lists}) != len(found.lists):
            raise NotUnderstood("RIGHT JOIN UNNEST(…)", "takes one list for each column", "Leave one list out.")
        inside = scope(tables, "UNNEST([…])", aggregates=False)
        self._listed = tuple(ListedGroups(one.column, _constants(inside, values)) for one, values in found.lists)

    def options(self) -> Options:
        """The options of the statement."""
        return replace(self._options, listed=self._listed)


def _constants(place: Scope, tree: exp.Expr) -> tuple[Literal, ...]:
    only(tree, "expressions")
    values = place.each(tree.expressions)
    if not all(one.is_literal for one in values):
        raise NotUnderstood("UNNEST([…])", "lists constants", "Write UNNEST(['a', 'b']).")
    return tuple(dict.fromkeys(Literal(one.constant) for one in values))


class _Reading:
    """A SELECT, its outputs read."""

    def __init__(self, tree: exp.Select, rows: Rows, lists: _Lists | None = None) -> None:
        self.columns = {} if lists is None else lists.columns
        self.tree = tree
        self.source = rows
        names = rows.names if lists is None else rows.names | lists.aliases
        self.rows = scope(names, "WHERE", aggregates=False, naming=rows.naming)
        self.released = replace(self.rows, place="SELECT", aggregates=True)
        self.written: list[Expression | None] = []
        self.outputs: list[tuple[str | None, Expression]] = []
        for node in tree.expressions:
            found = self._outputs(node)
            self.outputs += found
            self.written.append(None if function_name(labelled(node)[1]) in ARRAYS else found[0][1])
        for _, expression in self.outputs:
            self.rows.sizes.admit(expression)
        self.aliases = {name.lower(): expression for name, expression in self.outputs if name is not None}

    def query(self, table: str, options: Options = NO_OPTIONS) -> Query:
        sets = self._sets()
        keys = list(dict.fromkeys(key for one in sets for key in one))
        where, having = self.tree.args.get("where"), None
        if self.tree.args.get("having") is not None:
            having = self.plain(self._aliased(self.one("having", self._aliasing(self.released))))
        return make_query(
            table,
            [(name, self.plain(expression)) for name, expression in self.outputs],
            where=conjoined([self.source.where, None if where is None else self.plain(self.one("where", self.rows))]),
            keys=keys,
            having=having,
            order=self._order(),
            limit=self._count("limit"),
            offset=self._count("offset") or 0,
            source=self.source.relation,
            options=options,
            sets=[[keys.index(key) for key in one] for one in sets],
        )

    def _outputs(self, node: exp.Expression) -> list[tuple[str | None, Expression]]:
        """The column that an output is, or the columns of one that is an array."""
        label, inner = labelled(node)
        if function_name(inner) not in ARRAYS:
            expression = self.released.expression(inner)
            return [(written_column(inner) if label is None else label, expression)]
        base, made = array(self.released, inner)
        return [(f"{label or base}_{ending}", one) for ending, one in made]

    def one(self, clause: str, place: Scope) -> Expression:
        """The condition of a clause that is there."""
        node = self.tree.args[clause]
        only(node, "this")
        return place.expression(node.this)

    def plain(self, expression: Expression) -> Expression:
        """Over the table's own columns: those of subqueries, and those written with their table, are written out."""
        found = self.source.meaning(self._listed(expression))
        self.rows.sizes.of(found)
        return found

    def _listed(self, expression: Expression) -> Expression:
        """The names that joined lists have given to columns are those of the columns."""
        return expression.over(self._column) if self.columns else expression

    def _column(self, column: Column) -> Column:
        """The table's column that a name stands for: a list that is joined may have given it a name."""
        meant = self.columns.get(column.name.lower())
        if meant is None or meant.lower() == column.name.lower():
            return Column(column.name)
        if column.bare_name is None:
            raise not_yet(
                f"….{shortened(column.name)}", f"Write {shortened(column.name)} alone: it is the list's name."
            )
        return Column(meant)

    def _aliased(self, expression: Expression) -> Expression:
        """Names of outputs replaced by what they stand for."""
        return expression.changed(Column, self._meant)

    def _meant(self, column: Column) -> Expression:
        if column.bare_name is None:
            return column
        meant = self.aliases.get(column.bare_name.lower(), column)
        self.rows.sizes.admit(meant)
        return meant

    def _sets(self) -> Sequence[Sequence[Expression]]:
        """The keys of each grouping: one list, or those of GROUPING SETS, ROLLUP and CUBE."""
        group = self.tree.args.get("group")
        if group is None:
            return [()]
        for what in ("grouping_sets", "rollup", "cube", "totals"):
            if group.args.get(what):
                written = f"WITH {what.upper()}"
                raise not_yet(written, "Write GROUP BY ROLLUP (a, b), CUBE (a, b) or GROUPING SETS ((a), (b), ()).")
        only(group, "expressions", "all")
        if group.args.get("all"):
            return [[self.plain(one) for _, one in self.outputs if not has_aggregate(one) and one.has(Column)]]
        place = self._aliasing(self.rows.placed("GROUP BY"))
        if not any(isinstance(node, SETS) for node in group.expressions):
            return [[self.plain(self._key(place, node)) for node in group.expressions]]
        return groupings(group.expressions, lambda node: self.plain(self._key(place, node)))

    def _key(self, place: Scope, node: exp.Expression) -> Expression:
        found = self._position(node, "GROUP BY")
        if found is None:
            found = place.expression(node)
            if found.bare_name is not None:
                found = self._key_named(Column(found.bare_name))
        if has_aggregate(found):
            raise not_yet("an aggregate in GROUP BY", "Group by columns, or expressions of them.")
        return found

    def _aliasing(self, place: Scope) -> Scope:
        """Where names of outputs may stand: in a join they are not looked for among the columns first."""
        return place if place.naming is None else replace(place, naming=place.naming.leaving(self.aliases))

    def _key_named(self, column: Column) -> Expression:
        """A lone name in GROUP BY: a column, or what is shown under that name."""
        meant = self.aliases.get(column.name.lower())
        if meant is not None and self.source.naming is not None:
            column = Column(self.source.naming.within(column.name))
        if meant is None or has_aggregate(meant) or folded(self._listed(meant)) == folded(self._listed(column)):
            return column
        if folded(column) in map(folded, meant.nodes(Column)):
            raise NotUnderstood(
                f"GROUP BY {shortened(column.name)}",
                "could mean the column or what SELECT calls by that name",
                "Write GROUP BY with the expression itself or its place (GROUP BY 1), or choose another name.",
            )
        return meant

    def _position(self, node: exp.Expression, clause: str) -> Expression | None:
        """The output that a bare number names."""
        place = place_in(node, clause, len(self.written))
        if place is None:
            return None
        found = self.written[place]
        if found is None:
            raise NotUnderstood(f"{clause} {digits_in(node)}", "is a list of several columns", "Name one of them.")
        return found

    def _order(self) -> list[Order]:
        order = self.tree.args.get("order")
        if order is None:
            return []
        only(order, "expressions")
        place = self._aliasing(self.released.placed("ORDER BY"))
        found = []
        for node in order.expressions:
            if not isinstance(node, exp.Ordered):
                raise not_yet("ORDER BY …", "Name columns of the answer.")
            only(node, "this", "desc", "nulls_first")
            meant = self._position(node.this, "ORDER BY")
            meant = self._aliased(place.expression(node.this)) if meant is None else meant
            found.append(Order(self.plain(meant), bool(node.args.get("desc")), bool(node.args.get("nulls_first"))))
        return found

    def _count(self, clause: str) -> int | None:
        node = self.tree.args.get(clause)
        if node is None:
            return None
        if not isinstance(node, exp.Limit | exp.Offset):
            raise not_yet(*CLAUSES.get("fetch", ("FETCH", "")))
        only(node, "expression")
        text = digits_in(node.expression)
        if not text.isascii() or not text.isdecimal() or len(text) > 15:
            raise NotUnderstood(f"{clause.upper()} …", "takes a whole number", f"Write {clause.upper()} 10.")
        return int(text)
