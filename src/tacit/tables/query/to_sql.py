"""The query tree as canonical SQL: one text per tree, and `parse` reads it back to the same tree.

Everything nested stands in brackets; constants show their kind (1, 1.0, '1', TRUE, DATE '2024-01-01').
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from fractions import Fraction

from tacit.privacy.prices import text
from tacit.tables.expressions.operators import CASTS, OPERATORS
from tacit.tables.expressions.tree import Call, Case, Column, Expression, Grouping, Key, Literal
from tacit.tables.query.canonical import tidy
from tacit.tables.query.functions import AGGREGATE_NAMES, FACT_NAMES, INTERVAL_SHARE, LEVELS, TYPES
from tacit.tables.query.options import ListedGroups, Options
from tacit.tables.query.per_unit import Fact, PerUnit
from tacit.tables.query.relations import Base, Joined, Listed, Relation, Selected, Stacked, called
from tacit.tables.query.tree import Aggregate, Order, Output, Query, Window
from tacit.tables.query.words import RESERVED

__all__ = ["expression_sql", "name_to_sql", "order_sql", "to_sql"]

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_ZERO = Fraction(0)


def to_sql(query: Query) -> str:
    """The statement on one line."""
    query = _shown_units(tidy(query))
    written = _Printer(query)
    parts = ["SELECT", *_clause(query.options), ", ".join(written.output(one) for one in query.outputs)]
    parts += ["FROM", _source(query.source, query.table), *(_joined(one) for one in query.options.listed)]
    if query.where is not None:
        parts += ["WHERE", written.row(query.where)]
    if query.keys:
        parts += ["GROUP BY", written.grouping()]
    if query.having is not None:
        parts += ["HAVING", written.released(query.having)]
    if query.order:
        parts += ["ORDER BY", ", ".join(written.order(term) for term in query.order)]
    if query.limit is not None:
        parts += ["LIMIT", str(query.limit)]
    if query.offset:
        parts += ["OFFSET", str(query.offset)]
    return " ".join(parts)


def _shown_units(query: Query) -> Query:
    """A unit that no column of the subquery shows is counted without its name: COUNT_UNITS()."""
    shown = set() if query.source is None else {name.lower() for name in query.source.names()}

    def visit(node: Expression) -> Expression:
        match node:
            case Aggregate("count_units", Case(((condition, unit),))):  # only FILTER builds it
                return node if _is_in(unit, shown) else replace(node, argument=Case(((condition, Literal(1)),)))
            case Aggregate("count_units", argument):
                return node if _is_in(argument, shown) else replace(node, argument=None)
            case Aggregate():
                return node
        return node.with_parts(tuple(visit(part) for part in node.parts()))

    if not shown:
        return query
    return replace(
        query,
        outputs=tuple(replace(one, expression=visit(one.expression)) for one in query.outputs),
        having=None if query.having is None else visit(query.having),
        order=tuple(replace(one, expression=visit(one.expression)) for one in query.order),
    )


def _is_in(expression: Expression | None, names: Collection[str]) -> bool:
    match expression:
        case Column(name):
            return name.lower() in names
    return False


_CALLED = {PerUnit: "per_unit", Joined: "joined", Stacked: "stacked", Selected: "selected", Listed: "listed"}
"""What relations are called in canonical text, where a column has to be written with it."""


def _source(source: Relation | None, table: str) -> str:
    """What follows FROM."""
    return _side(source, _source_name(source, table), table)


def _body(source: Relation, table: str) -> str:
    """A relation as a SELECT."""
    match source:
        case PerUnit():
            return _per_unit(source, table)
        case Selected():
            return _selected(source, source.names(), table)
        case Stacked(parts):
            return " UNION ALL ".join(_selected(one, source.names(), table) for one in parts)
        case Joined():
            return _joined_tables(source, table)
    raise AssertionError(f"{type(source).__name__} has no SELECT of its own")


def _selected(source: Selected, names: Sequence[str], table: str) -> str:
    shown = (
        _named(name, _expression(one.expression, _column)) for name, one in zip(names, source.columns, strict=True)
    )
    where = "" if source.where is None else f" WHERE {_expression(source.where, _column)}"
    return f"SELECT {', '.join(shown)} FROM {_source(source.source, table)}{where}"


def _joined_tables(source: Joined, table: str) -> str:
    """Columns are written with their table, under the names that the join gives them."""
    tables = [name_to_sql(name) for name in called([one.relation for one in source.members], table)]
    spelled = {one.name: f"{tables[one.member]}.{name_to_sql(one.column)}" for one in source.columns}

    def column(node: Expression) -> str | None:
        match node:
            case Column(name):
                return spelled.get(name, _column(node))
        return _column(node)

    text = ""
    for name, one in zip(tables, source.members, strict=True):
        side = _side(one.relation, name, table)
        text += side if one.on is None else f" {one.join.value} {side} ON {_expression(one.on, column)}"
    shown = (f"{spelled[one.name]} AS {name_to_sql(one.name)}" for one in source.columns)
    return f"SELECT {', '.join(shown)} FROM {text}"


def _side(relation: Relation | None, name: str, table: str) -> str:
    """One side of a join, by the name that it has in the join."""
    match relation:
        case None | Base():
            own = _source_name(relation, table)
            return own if own == name else f"{own} AS {name}"
        case Listed():
            rows = ", ".join(f"({', '.join(_literal(cell) for cell in row)})" for row in relation.rows)
            return f"(VALUES {rows}) AS {name}({', '.join(name_to_sql(one) for one in relation.columns)})"
    return f"({_body(relation, table)}) AS {name}"


def _per_unit(source: PerUnit, table: str) -> str:
    """SELECT keys, facts FROM … GROUP BY keys; a key that has another column's name is written with its table."""
    own = _source_name(source.source, table)
    taken = {name.lower() for name in source.names()}

    def key(node: Expression) -> str | None:
        match node:
            case Column(name) if name.lower() in taken:
                return f"{own}.{name_to_sql(name)}"
        return _column(node)

    plain = {one.name for one in source.keys if one.expression == Column(one.name)}
    shown = [_named(one.name, _expression(one.expression, _column)) for one in source.keys]
    shown += [_named(fact.name, _fact(fact)) for fact in source.facts]
    keys = [name_to_sql(one.name) if one.name in plain else _expression(one.expression, key) for one in source.keys]
    where = "" if source.where is None else f" WHERE {_expression(source.where, _column)}"
    return f"SELECT {', '.join(shown)} FROM {_source(source.source, table)}{where} GROUP BY {', '.join(keys)}"


def _source_name(source: Relation | None, table: str) -> str:
    match source:
        case None:
            return name_to_sql(table)
        case Base(own):
            return name_to_sql(own)
    return _CALLED[type(source)]


def _named(name: str, text: str) -> str:
    return text if text == name_to_sql(name) else f"{text} AS {name_to_sql(name)}"


def _fact(fact: Fact) -> str:
    if fact.argument is None:
        return "COUNT(*)"
    inside = _expression(fact.argument, _column)
    if fact.function == "count_distinct":
        return f"COUNT(DISTINCT {inside})"
    return f"{FACT_NAMES[fact.function]}({inside})"


def _clause(options: Options) -> list[str]:
    """Google's clause, if there is anything to say."""
    said = {
        "epsilon": None if options.epsilon is None else text(options.epsilon),
        "delta": None if options.delta is None else text(options.delta),
        "privacy_unit_column": None if options.unit is None else name_to_sql(options.unit),
        "max_groups_contributed": options.groups,
        "max_rows_contributed": options.rows,
        "group_selection_strategy": options.selecting,
        "min_privacy_units_per_group": options.least_units,
    }
    listed = ", ".join(f"{name} = {value}" for name, value in said.items() if value is not None)
    return [f"WITH DIFFERENTIAL_PRIVACY OPTIONS({listed})"] if listed else []


def _joined(groups: ListedGroups) -> str:
    values = ", ".join(_literal(value) for value in groups.values)
    name = name_to_sql(groups.column)
    return f"RIGHT OUTER JOIN UNNEST([{values}]) AS {name} USING ({name})"


def expression_sql(expression: Expression) -> str:
    """One row-wise expression, as it is written in WHERE; aggregates too."""
    return _expression(expression, _column)


def name_to_sql(name: str) -> str:
    """A name, in double quotes where it needs them.

    >>> name_to_sql("city"), name_to_sql("Größe"), name_to_sql("date")
    ('city', '"Größe"', '"date"')
    """
    if _PLAIN_NAME.match(name) and name.upper() not in RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


def _column(node: Expression) -> str | None:
    match node:
        case Column(name):
            return name_to_sql(name)
        case Key(index):
            return f"key {index + 1}"
    return None


class _Printer:
    """Writes the clauses of one query; a column with the name of an output is written with its table."""

    def __init__(self, query: Query) -> None:
        self._query = query
        self._aliases = {one.name.lower(): one for one in query.outputs}

    def row(self, expression: Expression) -> str:
        return _expression(expression, _column)

    def released(self, expression: Expression) -> str:
        def leaf(node: Expression) -> str | None:
            match node:
                case Key(index):
                    return _expression(self._query.keys[index], self._told_apart)
            return _column(node)

        return _expression(expression, leaf)

    def grouping(self) -> str:
        """The keys, or the sets of them."""
        names = [self.released(Key(index)) for index in range(len(self._query.keys))]
        if not self._query.sets:
            return ", ".join(names)
        sets = (", ".join(names[at] for at in one) for one in self._query.sets)
        return f"GROUPING SETS ({', '.join(f'({one})' for one in sets)})"

    def _told_apart(self, node: Expression) -> str | None:
        match node:
            case Column(name):
                taken = self._aliases.get(name.lower())
                if taken is None or str(self._column_of(taken)).lower() == name.lower():
                    return name_to_sql(name)
                return f"{_source_name(self._query.source, self._query.table)}.{name_to_sql(name)}"
        return None

    def _column_of(self, output: Output) -> str | None:
        """The name of the column that an output is, if it is a key and a plain column."""
        match output.expression:
            case Key(index):
                match self._query.keys[index]:
                    case Column(name):
                        return name
        return None

    def output(self, output: Output) -> str:
        text = self.released(output.expression)
        return text if self._column_of(output) == output.name else f"{text} AS {name_to_sql(output.name)}"

    def order(self, term: Order) -> str:
        direction = " DESC" if term.descending else ""
        nulls = " NULLS FIRST" if term.nulls_first else ""
        return f"{self.released(term.expression)}{direction}{nulls}"


Leaf = Callable[[Expression], "str | None"]


def _expression(node: Expression, leaf: Leaf) -> str:
    found = leaf(node)
    if found is not None:
        return found
    match node:
        case Literal():
            return _literal(node)
        case Aggregate():
            return _aggregate(node)
        case Case():
            return _case(node, leaf)
        case Grouping(key):
            return f"GROUPING({_expression(key, leaf)})"
        case Call():
            return _call(node, leaf)
        case Window():
            return _window(node, leaf)
    raise AssertionError(f"{type(node).__name__} is no part of a statement")


def _inner(node: Expression, leaf: Leaf) -> str:
    """An expression as a part of another: in brackets unless it cannot be torn apart."""
    text = _expression(node, leaf)
    match node:
        case Column() | Aggregate() | Case() | Grouping() | Window():
            closed = True
        case Key():
            closed = _is_name(text)
        case Call(operator):
            closed = not OPERATORS[operator].sign and operator not in _OPEN
        case _:
            closed = not text.startswith("-")
    return text if closed else f"({text})"


def _is_name(text: str) -> bool:
    return bool(_PLAIN_NAME.match(text)) or (text.startswith('"') and '"' not in text[1:-1].replace('""', ""))


def _literal(node: Literal) -> str:
    match node.value:
        case None:
            return "NULL"
        case bool(value):
            return "TRUE" if value else "FALSE"
        case str(text):
            return "'" + text.replace("'", "''") + "'"
        case datetime.datetime() as moment:
            return f"TIMESTAMP '{moment.isoformat(sep=' ')}'"
        case datetime.date() as day:
            return f"DATE '{day.isoformat()}'"
    return repr(node.value)


def _aggregate(node: Aggregate) -> str:
    named = "".join(
        f", {name} => ({_bound(pair[0])}, {_bound(pair[1])})"
        for name, pair in (
            ("contribution_bounds_per_row", node.bounds),
            ("contribution_bounds_per_group", node.group_bounds),
            ("contribution_bounds_of_second", node.second_bounds),
        )
        if pair is not None
    )
    named += "" if node.interval_share is None else f", {INTERVAL_SHARE} => {_bound(node.interval_share)}"
    if node.argument is None:
        return "COUNT_UNITS()" if node.estimator == "count_units" else f"COUNT(*{named})"
    if node.estimator == "count_units":
        match node.argument:
            case Case(((condition, value), *_)):  # only FILTER builds it
                counted = "COUNT_UNITS()" if value == Literal(1) else f"COUNT(DISTINCT {_expression(value, _column)})"
                return f"{counted} FILTER (WHERE {_expression(condition, _column)})"
        return f"COUNT(DISTINCT {_expression(node.argument, _column)})"
    inner = ", ".join(_expression(one, _column) for one in node.arguments())
    if node.estimator == "count_distinct":
        return f"COUNT(DISTINCT {inner})"
    if node.estimator == "top" and node.rank is not None:
        return f"TOP_K({inner}, {node.rank[1]})[ORDINAL({node.rank[0]})]"
    if node.estimator == "quantile":
        name = next((name for name, level in LEVELS.items() if level == node.level), "")
        return f"{name.upper()}({inner}{named})" if name else f"QUANTILE({inner}, {_bound(node.level or _ZERO)}{named})"
    return f"{AGGREGATE_NAMES[node.estimator]}({inner}{named})"


def _bound(value: Fraction) -> str:
    if value.denominator == 1:
        return str(value.numerator)
    rest, twos, fives = value.denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    digits = max(twos, fives)
    if rest != 1 or digits > 40:
        return f"{value.numerator}/{value.denominator}"
    scaled = abs(value.numerator) * 10**digits // value.denominator
    whole = str(scaled).rjust(digits + 1, "0")
    return f"{'-' if value < 0 else ''}{whole[:-digits]}.{whole[-digits:]}"


def _case(node: Case, leaf: Leaf) -> str:
    branches = " ".join(
        f"WHEN {_expression(condition, leaf)} THEN {_expression(value, leaf)}" for condition, value in node.branches
    )
    ending = "" if node.otherwise == Literal(None) else f" ELSE {_expression(node.otherwise, leaf)}"
    return f"CASE {branches}{ending} END"


def _window(node: Window, leaf: Leaf) -> str:
    inside = "*" if node.argument is None and node.function == "count" else ""
    inside = inside if node.argument is None else _expression(node.argument, leaf)
    inside += f", {node.count}" if node.function in ("lag", "lead") else ""
    inside = str(node.count) if node.function == "ntile" else inside
    if node.is_total:
        return f"{node.function.upper()}({inside})"
    over = []
    if node.partition:
        over.append(f"PARTITION BY {', '.join(_expression(one, leaf) for one in node.partition)}")
    if node.order:
        over.append(f"ORDER BY {', '.join(_order(one, leaf) for one in node.order)}")
    if node.frame is not None:
        over.append(f"ROWS BETWEEN {_end(node.frame[0], 'PRECEDING')} AND {_end(node.frame[1], 'FOLLOWING')}")
    return f"{node.function.upper()}({inside}) OVER ({' '.join(over)})"


def _end(rows: int | None, side: str) -> str:
    """One end of a frame; ``side`` is where it goes if it has none."""
    if rows is None:
        return f"UNBOUNDED {side}"
    return "CURRENT ROW" if rows == 0 else f"{abs(rows)} {'PRECEDING' if rows < 0 else 'FOLLOWING'}"


def order_sql(term: Order) -> str:
    """One term of ORDER BY, over columns."""
    return _order(term, _column)


def _order(term: Order, leaf: Leaf) -> str:
    direction = " DESC" if term.descending else ""
    return f"{_expression(term.expression, leaf)}{direction}{' NULLS FIRST' if term.nulls_first else ''}"


def _call(node: Call, leaf: Leaf) -> str:
    writer = _WRITERS.get(node.operator)
    return writer(node, leaf) if writer is not None else _written(node, leaf)


def _written(node: Call, leaf: Leaf) -> str:
    """As nearly all are: a sign between brackets, or a function."""
    operator = OPERATORS[node.operator]
    if operator.sign:
        return f" {operator.sign} ".join(_inner(part, leaf) for part in node.arguments)
    name = operator.sql[0] if operator.sql else operator.name
    return f"{name.upper()}({', '.join(_expression(part, leaf) for part in node.arguments)})"


def _not(node: Call, leaf: Leaf) -> str:
    below = node.arguments[0]
    test = _TESTS.get(below.called)
    return f"NOT ({_expression(below, leaf)})" if test is None else test(below.parts(), leaf, "NOT ")


def _is_null(parts: Sequence[Expression], leaf: Leaf, negation: str) -> str:
    return f"{_inner(parts[0], leaf)} IS {negation}NULL"


def _in(parts: Sequence[Expression], leaf: Leaf, negation: str) -> str:
    return f"{_inner(parts[0], leaf)} {negation}IN ({', '.join(_expression(part, leaf) for part in parts[1:])})"


def _like(word: str) -> Callable[[Sequence[Expression], Leaf, str], str]:
    return lambda parts, leaf, negation: f"{_inner(parts[0], leaf)} {negation}{word} {_inner(parts[1], leaf)}"


_TESTS: dict[str, Callable[[Sequence[Expression], Leaf, str], str]] = {
    "is_null": _is_null,
    "in": _in,
    "like": _like("LIKE"),
    "ilike": _like("ILIKE"),
}
"""Conditions that are denied by a word inside of them."""


def _negative(node: Call, leaf: Leaf) -> str:
    return f"-({_expression(node.arguments[0], leaf)})"


def _cast(node: Call, leaf: Leaf) -> str:
    return f"TRY_CAST({_inner(node.arguments[0], leaf)} AS {TYPES[CASTS[node.operator]]})"


def _with_grammar(node: Call, leaf: Leaf) -> str:
    """Functions with a grammar of their own, in which an argument could be torn apart: it stands in brackets."""
    return f"{node.operator.upper()}({', '.join(_inner(part, leaf) for part in node.arguments)})"


def _at_time_zone(node: Call, leaf: Leaf) -> str:
    return " AT TIME ZONE ".join(_inner(part, leaf) for part in node.arguments)


def _timestamp_trunc(node: Call, leaf: Leaf) -> str:
    value, unit, *zone = (_expression(part, leaf) for part in node.arguments)
    return f"TIMESTAMP_TRUNC({', '.join((value, unit.strip(chr(39)).upper(), *zone))})"


def _date_add(node: Call, leaf: Leaf) -> str:
    """A date moved by a fixed interval has a grammar of its own."""
    if not all(one.is_literal for one in node.arguments[:2]):
        return _written(node, leaf)
    unit, count, value = node.arguments
    return f"{_inner(value, leaf)} + INTERVAL '{count.constant}' {str(unit.constant).upper()}"


_WRITERS: dict[str, Callable[[Call, Leaf], str]] = {
    **{name: lambda node, leaf: _TESTS[node.operator](node.arguments, leaf, "") for name in _TESTS},
    "not": _not,
    "negative": _negative,
    "date_add": _date_add,
    "at_time_zone": _at_time_zone,
    "timestamp_trunc": _timestamp_trunc,
    "substring": _with_grammar,
    "trim": _with_grammar,
    **dict.fromkeys(CASTS, _cast),
}
"""Operators that are written neither with a sign nor as a function."""

_OPEN = (*_TESTS, "not", "negative", "date_add", "at_time_zone")
"""Those that stand in brackets as a part of another, as all with a sign do."""
