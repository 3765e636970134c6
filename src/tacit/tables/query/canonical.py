"""Released expressions over the keys of GROUP BY: which parts are keys, what columns of an answer are called.

Shared by the SQL front end and the Python API, so that both build the same tree.

The form of a tree is checked here too, however it was made: names that every engine can write, each once. Engines find
columns by their names, so two of one name could be taken for each other, one of them for the unit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from tacit.errors import InvalidParameter, NotPrivate
from tacit.tables.expressions.kinds import literal
from tacit.tables.expressions.tree import Call, Column, Expression, Grouping, Key, Literal
from tacit.tables.query.limits import Sizes, admit_relation, admit_width
from tacit.tables.query.options import NO_OPTIONS, Options
from tacit.tables.query.refusals import WINDOWS, void
from tacit.tables.query.relations import Joined, Listed, Relation, Stacked
from tacit.tables.query.tree import Aggregate, Order, Output, Query, Window

__all__ = [
    "MOST_SETS",
    "check_labels",
    "check_relation",
    "check_sets",
    "default_name",
    "folded",
    "has_aggregate",
    "keyed",
    "make_query",
    "shown",
    "tidy",
    "unkeyed",
]

MOST_SETS = 64
"""Of keys in one statement: each is paid for."""


def folded(expression: Expression) -> Expression:
    """The expression with its column names in lower case: SQL does not tell them apart."""
    return expression.over(lambda column: Column(column.name.lower()))


def has_aggregate(expression: Expression) -> bool:
    """Whether an aggregate occurs in it."""
    return expression.has(Aggregate)


def keyed(expression: Expression, keys: Sequence[Expression]) -> Expression:
    """The released expression, the largest parts that are keys replaced by `Key`; columns elsewhere stay."""
    places = {folded(key): index for index, key in reversed(list(enumerate(keys)))}

    def visit(node: Expression) -> tuple[Expression, Expression]:
        """The node folded, and the node keyed."""
        plain: Expression
        same: Expression
        match node:
            case Key(index):
                if index not in range(len(keys)):
                    raise InvalidParameter("key", given=index, allowed="the place of a key of GROUP BY")
                return folded(keys[index]), node
            case Aggregate() | Literal():
                return node, node
            case Column(name):
                plain, same = Column(name.lower()), node
            case _:
                below = [visit(part) for part in node.parts()]
                plain = node.with_parts(tuple(one for one, _ in below))
                same = node.with_parts(tuple(one for _, one in below))
        return plain, Key(places[plain]) if plain in places else same

    return visit(expression)[1]


def unkeyed(expression: Expression, keys: Sequence[Expression]) -> Expression:
    """The released expression with each `Key` written out again."""
    return expression.changed(Key, lambda key: keys[key.index])


_WITH_COLUMNS = (
    'Group first: .group_by("city").agg(n=tacit.count()).with_columns(place=tacit.rank().over(order_by="n")); in SQL, '
    "SELECT city, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*)) AS place … GROUP BY city."
)


def shown(expression: Expression, what: str) -> None:
    """Refuse a released expression in which a column stands that is no key."""
    loose = next(expression.nodes(Column), None)
    if any(next(one.nodes(Column), None) is not None for one in expression.nodes(Window)):
        raise void("over(…)", WINDOWS, _WITH_COLUMNS)
    if loose is not None:
        name = loose.name[:60]
        raise NotPrivate(
            f"{name} in {what} would show single rows, which is never done. Put it into GROUP BY (group_by in Python), "
            f'or take an aggregate of it: AVG({name}), COUNT({name}); tacit.mean("{name}"), tacit.count("{name}").'
        )
    if any(type(node.key) is not Key for node in expression.nodes(Grouping)):
        raise InvalidParameter("GROUPING", given="no key", allowed="an expression that stands in GROUP BY")


_NAMES = {"count_rows": "count", "count_units": "count_units", "mean": "avg"}
_LEVELS = {Fraction(0): "min", Fraction(1, 2): "median", Fraction(1): "max"}


def default_name(expression: Expression, keys: Sequence[Expression]) -> str:
    """What a column of the answer is called that was given no name."""
    match expression:
        case Key(index):
            return default_name(keys[index], ())
        case Grouping(key):
            return f"grouping_{default_name(key, keys)}"
        case Column(name):
            return name
        case Aggregate():
            return _aggregate_name(expression)
        case Call(operator) if operator.isidentifier():
            return "_".join((operator, *dict.fromkeys(node.name for node in expression.nodes(Column))))[:60]
    return "value"


def _aggregate_name(aggregate: Aggregate) -> str:
    name = _NAMES.get(aggregate.estimator, aggregate.estimator)
    name = name if aggregate.level is None else _LEVELS.get(aggregate.level, name)
    if aggregate.rank is not None:
        name = f"top_{aggregate.rank[0]}"
    match aggregate.argument:
        case Column(of) if name != "count_units":
            return f"{name}_{of}"
    return name


def make_query(
    table: str,
    outputs: Sequence[tuple[str | None, Expression]],
    *,
    where: Expression | None = None,
    keys: Sequence[Expression] = (),
    having: Expression | None = None,
    order: Sequence[Order] = (),
    limit: int | None = None,
    offset: int = 0,
    options: Options = NO_OPTIONS,
    source: Relation | None = None,
    sets: Sequence[Sequence[int]] = (),
) -> Query:
    """The query in its one form: keys once each, key parts found everywhere, every column named once."""
    admit_width(len(outputs), len(keys))
    admit_relation(source)
    given = Sizes()
    for expression in (*(one for _, one in outputs), where, *keys, having, *(term.expression for term in order)):
        if expression is not None:
            given.admit(expression)
    for expression in () if source is None else source.expressions():
        given.admit(expression)
    check_labels([name for name, _ in outputs if name is not None])
    check_relation(source)
    check_sets(sets, len(keys))
    keys, sets = _in_order(keys, sets)
    kept: dict[Expression, Expression] = {}
    for key in keys:
        if not key.has(Column):
            hint = 'A name with spaces stands in double quotes: GROUP BY "my column".'
            raise InvalidParameter("GROUP BY", given="a constant", allowed="expressions of columns", hint=hint)
        kept.setdefault(folded(key), key)
    places = {folded(key): place for place, key in enumerate(kept.values())}
    sets = _once_each([{places[folded(keys[at])] for at in one} for one in sets])
    keys = tuple(kept.values())
    finished = [(name, keyed(expression, keys)) for name, expression in outputs]
    for _, expression in finished:
        shown(expression, "SELECT")
    if having is not None:
        having = keyed(having, keys)
        shown(having, "HAVING")
    order = tuple(replace(term, expression=keyed(term.expression, keys)) for term in order)
    for term in order:
        shown(term.expression, "ORDER BY")
        if not term.expression.has(Key) and not term.expression.has(Aggregate):
            raise InvalidParameter("ORDER BY", given="a constant", allowed="a column of the answer, or its place")
    query = Query(table, _named(finished, keys), where, keys, having, order, limit, offset, options, sets=sets)
    if source is not None:
        query = replace(query, source=source.reduced(_of_rows(query)))
    if not keys and not query.aggregates():
        raise NotPrivate("Nothing is computed of the rows: write COUNT(*), SUM(column), AVG(column) or GROUP BY.")
    return query


def _in_order(keys: Sequence[Expression], sets: Sequence[Sequence[int]]) -> tuple[list[Expression], list[list[int]]]:
    """Keys in the order in which sets first name them, so that a statement has one form."""
    if not sets:
        return list(keys), []
    order = {at: place for place, at in enumerate(dict.fromkeys(at for one in sets for at in one))}
    return [keys[at] for at in order], [[order[at] for at in one] for one in sets]


def _once_each(sets: Sequence[set[int]]) -> tuple[tuple[int, ...], ...]:
    """Each set sorted; a single one is a plain GROUP BY."""
    if len(sets) > MOST_SETS:
        raise InvalidParameter("GROUP BY", given=f"{len(sets)} sets of keys", allowed=f"at most {MOST_SETS}")
    found = tuple(tuple(sorted(one)) for one in sets)
    if len(set(found)) < len(found):
        allowed = "each set of keys once: it would be paid for twice"
        raise InvalidParameter("GROUP BY", given="the same set of keys twice", allowed=allowed)
    return found if len(found) > 1 else ()


def tidy(query: Query) -> Query:
    """The same query in its one form; one that was built by hand may be in another."""
    return make_query(
        query.table,
        [(output.name, output.expression) for output in query.outputs],
        where=query.where,
        keys=query.keys,
        having=query.having,
        order=query.order,
        limit=query.limit,
        offset=query.offset,
        options=query.options,
        source=query.source,
        sets=query.sets,
    )


def _of_rows(query: Query) -> Iterator[Expression]:
    """The expressions over rows."""
    yield from query.keys
    for one in query.aggregates():
        yield from one.arguments()
    if query.where is not None:
        yield query.where


def _named(outputs: Sequence[tuple[str | None, Expression]], keys: Sequence[Expression]) -> tuple[Output, ...]:
    if not outputs:
        raise InvalidParameter("SELECT", given="no column", allowed="at least one")
    taken: set[str] = set()
    for name, _ in outputs:
        if name is not None and name.lower() in taken:
            raise InvalidParameter("SELECT", given=name, allowed="each name once", hint="Write another AS name.")
        taken |= set() if name is None else {name.lower()}
    found = []
    for name, expression in outputs:
        if name is None:
            name = base = default_name(expression, keys)
            number = 1
            while name.lower() in taken:
                number += 1
                name = f"{base}_{number}"
            taken.add(name.lower())
        found.append(Output(name, expression))
    return tuple(found)


_UNWRITABLE = re.compile(r"[\0\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029\ud800-\udfff]")
"""NUL, whatever ends a line, and halves of characters: no text that is indented and encoded keeps them."""


def check_labels(names: Iterable[object]) -> None:
    """Refuse a name that is empty or blank, or that no engine can be asked for: free, before anything is paid."""
    for name in names:
        if not isinstance(name, str) or not name.strip() or _UNWRITABLE.search(name):
            raise InvalidParameter("name", given=name, allowed="visible text on one line")


def check_relation(relation: Relation | None) -> None:
    """Refuse a relation, or one that it is computed from, that names two columns alike or is no whole."""
    if relation is None:
        return
    below: Sequence[Relation | None] = relation.below()
    match relation:
        case Stacked(parts):
            if not parts:
                raise InvalidParameter("UNION ALL", given="no parts", allowed="at least one")
            below = [one.source for one in parts]
        case Joined():
            _check_members(relation)
        case Listed():
            _check_cells(relation)
    _check_names(relation.names())
    for one in below:
        check_relation(one)


def check_sets(sets: Sequence[Sequence[int]], keys: int) -> None:
    """Refuse sets of keys that name a place at which there is none."""
    if any(at not in range(keys) for one in sets for at in one):
        raise InvalidParameter("GROUP BY", given="a set of keys that are not there", allowed="places of its keys")


def _check_names(names: Sequence[str]) -> None:
    check_labels(names)
    known = set[str]()
    for name in names:
        if name.lower() in known:
            raise InvalidParameter("FROM", given=name, allowed="each name of a column once, whatever its capitals")
        known.add(name.lower())


def _check_members(relation: Joined) -> None:
    places = range(len(relation.members))
    if not relation.members or not relation.columns or any(one.member not in places for one in relation.columns):
        raise InvalidParameter("JOIN", given="columns of no member", allowed="members, and columns of them")
    if any(
        one.relation is not None and one.relation.is_subquery and not one.relation.names() for one in relation.members
    ):
        raise InvalidParameter("JOIN", given="a member without columns", allowed="members with columns")


def _check_cells(relation: Listed) -> None:
    """As many cells in each row as there are names; each a constant that is the same in every engine."""
    if not relation.rows or any(len(row) != len(relation.columns) for row in relation.rows):
        raise InvalidParameter("VALUES", given="rows of other lengths", allowed="a value for each name")
    for row in relation.rows:
        for cell in row:
            literal(cell.value)
