"""Conditions on whether a unit occurs elsewhere: IN (SELECT …) and EXISTS (SELECT …), read as joins on the unit.

``who IN (SELECT who FROM orders WHERE …)`` keeps the rows of whoever is there: a join to a subquery with one row per
unit, which makes one row of each and looks at no other unit's rows. NOT keeps those who are not there: a left join, of
which those are kept that matched nothing. Whether the column is the unit is checked with the policy, as in joins.
"""

from __future__ import annotations

from tacit.tables.query.refusals import not_yet
from tacit.tables.sql.grammar import exp
from tacit.tables.sql.read.joins import unbracketed
from tacit.tables.sql.scope import alias_of, labelled, name_in

__all__ = ["semi_joined"]

_INSTEAD = "Compare the unit by itself: WHERE user_id IN (SELECT user_id FROM … WHERE …), joined to others by AND."
_MOST = 8


def semi_joined(tree: exp.Select) -> exp.Select:
    """The same statement with such conditions written as joins."""
    where = tree.args.get("where")
    if where is None or tree.args.get("from_") is None or where.this.find(exp.Select) is None:
        return tree
    kept, joins, nullable = list[exp.Expr](), list[exp.Join](), _nullable(tree)
    for condition in _conditions(where.this):
        found = _membership(condition, nullable)
        if found is None:
            kept.append(condition)
            continue
        if len(joins) >= _MOST:
            raise not_yet(f"more than {_MOST} conditions IN (SELECT …)", "Ask with fewer of them.")
        join, rest = _joined(tree, *found, number=len(joins) + 1)
        joins.append(join)
        kept += rest
    made = tree.copy()
    made.set("where", exp.Where(this=exp.and_(*kept, copy=False)) if kept else None)
    made.set("joins", [*(made.args.get("joins") or []), *joins])
    return made


def _conditions(node: exp.Expr) -> list[exp.Expr]:
    """What AND joins, from left to right; read in a loop."""
    found, waiting = list[exp.Expr](), [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, exp.Paren) and isinstance(one.this, exp.And):
            one = one.this
        if isinstance(one, exp.And):
            waiting += [one.expression, one.this]
        else:
            found.append(one)
    return found


def _nullable(tree: exp.Select) -> set[str]:
    """What stands right of LEFT JOIN, whose columns are null where nothing matched; "" if a column without a table can
    be of it."""
    lefts = [_called(one.this) for one in tree.args.get("joins") or [] if one.args.get("side")]
    open_to_any = lefts and not _called(tree.args["from_"].this)
    return {one for one in lefts if one} | ({""} if open_to_any else set())


def _called(node: exp.Expression) -> str:
    """What a table after FROM or JOIN is called, in small letters; "" of a subquery without a name."""
    return alias_of(node.args.get("alias"))[0] or (name_in(node.this) or "").lower()


def _membership(node: exp.Expr, nullable: set[str]) -> tuple[exp.Column, exp.Select, bool] | None:
    """The column, the SELECT in which it must occur, and whether it must not; None of other conditions."""
    inside = node.this if isinstance(node, exp.Not) else node
    inside = inside.this if isinstance(inside, exp.Paren) else inside
    denied = isinstance(node, exp.Not)
    if isinstance(inside, exp.Exists):
        column, select = _related(inside.this)
        return column, select, denied
    query = inside.args.get("query") if isinstance(inside, exp.In) else None
    if query is None:
        return None
    asked = unbracketed(query)
    if not isinstance(inside.this, exp.Column) or not isinstance(asked, exp.Select) or len(asked.expressions) != 1:
        raise not_yet("IN (SELECT …)", _INSTEAD)
    if denied and _table(inside.this) in nullable:
        raise not_yet(
            "NOT IN (SELECT …) of a column right of LEFT JOIN",
            "It is null where nothing matched, which is neither in nor not in. Compare the unit left of it; or write "
            "NOT EXISTS (SELECT 1 FROM … WHERE …), which keeps those rows.",
        )
    return inside.this, asked, denied


def _related(node: exp.Expression) -> tuple[exp.Column, exp.Select]:
    """EXISTS (SELECT … WHERE inner.who = outer.who AND …) as the outer column, and a SELECT of the inner one."""
    select = unbracketed(node)
    clause, where = select.args.get("from_"), select.args.get("where")
    if not isinstance(select, exp.Select) or clause is None or where is None or select.args.get("joins"):
        raise not_yet("EXISTS (SELECT …)", _INSTEAD)
    _refuse_other_rows(select)
    own = _called(clause.this)
    column, kept = None, list[exp.Expr]()
    for condition in _conditions(where.this):
        pair = [condition.this, condition.expression] if isinstance(condition, exp.EQ) else []
        sides = {_table(one) == own: one for one in pair if isinstance(one, exp.Column) and one.args.get("table")}
        if column is None and len(sides) == 2:
            column, inner = sides[False], sides[True]
        else:
            kept.append(condition)
    outside = any(_table(one) not in ("", own) for one in exp.and_(*kept).find_all(exp.Column)) if kept else False
    if column is None or outside:
        raise not_yet(
            "EXISTS (SELECT …)", f"It must say which unit is meant, and nothing else of the outside. {_INSTEAD}"
        )
    made = select.copy()
    made.set("expressions", [inner.copy()])
    made.set("where", exp.Where(this=exp.and_(*kept)) if kept else None)
    return column, made


def _refuse_other_rows(select: exp.Select) -> None:
    """Refuse outputs on which it depends which rows there are: EXISTS reads none, and they are not kept."""
    group = select.args.get("group")
    keys = [] if group is None else group.expressions
    if not keys and any(one.find(exp.Func) is not None for one in select.expressions):
        raise not_yet(
            "EXISTS (SELECT …) of a function, without GROUP BY",
            "An aggregate has a row even where there is nothing, so that it is always true. Write EXISTS (SELECT 1 …).",
        )
    if group is not None and (not keys or any(isinstance(one, exp.Literal) for one in keys)):
        raise not_yet("GROUP BY ALL or a place, in EXISTS (SELECT …)", "Name the columns: GROUP BY o.customer.")


def _table(column: exp.Column) -> str:
    table = column.args.get("table")
    return "" if table is None else str(table.this).lower()


def _joined(
    tree: exp.Select, column: exp.Column, select: exp.Select, denied: bool, *, number: int
) -> tuple[exp.Join, list[exp.Expr]]:
    """The join to one row per unit of the SELECT, and what is then asked of the rows."""
    unit, count, name = f"in_{number}", f"in_{number}_rows", f"among_{number}"
    inner = select.copy()
    inner.set("expressions", [exp.alias_(labelled(inner.expressions[0])[1].copy(), unit)])
    distinct = inner.args.get("distinct")
    if distinct is not None and distinct.args.get("on") is not None:
        raise not_yet("DISTINCT ON", "It takes one row of several by chance. Write DISTINCT, or GROUP BY … HAVING.")
    if distinct is not None:
        inner.set("distinct", None)  # each is there once anyway
    each = exp.Select(
        expressions=[exp.column(unit), exp.alias_(exp.Anonymous(this="COUNT", expressions=[exp.Star()]), count)],
        from_=exp.From(this=exp.Subquery(this=inner)),
        group=exp.Group(expressions=[exp.column(unit)]),
    )
    alias = exp.TableAlias(this=exp.to_identifier(name))
    left = column.copy()
    clause = tree.args["from_"].this
    own = _called(clause)
    if left.args.get("table") is None and own:
        left.set("table", exp.to_identifier(own, quoted=True))
    on = exp.EQ(this=left, expression=exp.column(unit, table=name))
    join = exp.Join(this=exp.Subquery(this=each, alias=alias), on=on)
    if not denied:
        return join, []
    join.set("side", "LEFT")
    return join, [exp.Is(this=exp.column(count, table=name), expression=exp.Null())]
