"""A statement around an answer: split into the statement inside, which is asked, and the steps that are taken after it.

What is inside groups, or computes aggregates; what is around it sees the columns that the inside shows and nothing of
the table. A SELECT that groups and has windows beside its aggregates is such a pair, written in one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tacit.tables.expressions.tree import Column, Expression
from tacit.tables.query.functions import AGGREGATES, LEVELS, PAIRS, QUANTILES
from tacit.tables.query.later import MOST_FRAME, MOST_STEPS, Later
from tacit.tables.query.refusals import CLAUSES, NotUnderstood, not_yet
from tacit.tables.query.tree import FRAMED, PLACES, RANKS, Order, Output, Window
from tacit.tables.sql.grammar import exp
from tacit.tables.sql.read.arrays import ARRAYS
from tacit.tables.sql.read.functions import function
from tacit.tables.sql.read.quantiles import GEOMETRIC
from tacit.tables.sql.scope import (
    Reader,
    Scope,
    alias_of,
    digits_in,
    function_name,
    is_star,
    labelled,
    name_in,
    only,
    place_in,
    refused,
    text_in,
    written_column,
)
from tacit.tables.sql.translate import scope

__all__ = ["Split", "split", "step_of"]

_CALLS = {"count", "count_units", "count_if", "countif", "approx_count_distinct", *AGGREGATES, *PAIRS, *LEVELS}
_CALLS |= {*QUANTILES, *GEOMETRIC, *ARRAYS, "histogram"}
_UNDERSTOOD = {"expressions", "from_", "where", "group", "having", "qualify", "order", "limit", "offset", "windows"}
_MEAN = {"mean": "avg"}


@dataclass(frozen=True, slots=True)
class Split:
    """The statement that is asked, and those around it, from the inside out."""

    inner: exp.Select
    around: tuple[exp.Select, ...]


def split(tree: exp.Select) -> Split | None:
    """The parts of a statement that is around an answer; None if it is none."""
    return _split(tree, {}, 0)


def _split(tree: exp.Select, known: Mapping[str, exp.CTE], level: int) -> Split | None:
    if level > MOST_STEPS:
        raise NotUnderstood("subqueries", f"stand around an answer more than {MOST_STEPS} deep", "Take fewer steps.")
    known = {**known, **_defined(tree)}
    if any(isinstance(one, exp.Kwarg) for one in _own(tree)) and not _has_window(tree):
        return None  # bounds are of rows: a row per unit was meant
    inside = None if tree.args.get("joins") else _inside(tree, known)
    found = None if inside is None else _split(*inside, level + 1)
    if found is not None:
        return Split(found.inner, (*found.around, *_parted(tree)))
    if inside is not None and _is_answer(inside[0]):
        return Split(_with(*inside), _parted(tree))
    if _is_answer(tree) and _has_window(tree):
        inner, outer = _apart(tree)
        return Split(_with(inner, known), (outer,))
    return None


def _parted(tree: exp.Select) -> tuple[exp.Select, ...]:
    """A step that totals rows and has windows beside is two."""
    return _apart(tree) if _is_answer(tree) and _has_window(tree) else (tree,)


def _defined(tree: exp.Select) -> dict[str, exp.CTE]:
    clause = tree.args.get("with_")
    if clause is None or clause.args.get("recursive"):
        return {}
    return {str(alias_of(one.args.get("alias"))[0]): one for one in clause.expressions}


def _inside(tree: exp.Select, known: Mapping[str, exp.CTE]) -> tuple[exp.Select, Mapping[str, exp.CTE]] | None:
    """The one SELECT that it reads from, and what can be named there."""
    clause = tree.args.get("from_")
    node = None if clause is None else clause.this
    below = known
    if isinstance(node, exp.Table):
        name = (name_in(node.this) or "").lower()
        if name not in known:
            return None
        if alias_of(known[name].args.get("alias"))[1]:
            return None
        below = {one: part for one, part in known.items() if list(known).index(one) < list(known).index(name)}
        node = known[name].this
    while isinstance(node, exp.Subquery):
        if alias_of(node.args.get("alias"))[1]:
            return None
        node = node.this
    return (node, below) if isinstance(node, exp.Select) else None


def _own(tree: exp.Select) -> Iterator[exp.Expr]:
    """What stands in its outputs and after QUALIFY, HAVING and ORDER BY; not in subqueries."""
    clauses = [tree.args.get(name) for name in ("qualify", "having", "order")]
    waiting: list[Any] = [*tree.expressions, *(one for one in clauses if one is not None)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, exp.Select | exp.Subquery):
            continue
        yield node
        waiting += node.iter_expressions()


def _is_answer(tree: exp.Select) -> bool:
    """Whether it groups, or computes aggregates outside of windows."""
    inside = {id(one.this) for one in _own(tree) if isinstance(one, exp.Window)}
    inside |= {id(one.this.this) for one in _own(tree) if isinstance(one, exp.Window) and _is_call(one.this.this)}
    called = any(function_name(one) in _CALLS and id(one) not in inside for one in _own(tree))
    return tree.args.get("group") is not None or called


def _is_call(node: object) -> bool:
    return isinstance(node, exp.Expr)


def _has_window(tree: exp.Select) -> bool:
    return any(isinstance(one, exp.Window) for one in _own(tree))


def _with(tree: exp.Select, known: Mapping[str, exp.CTE]) -> exp.Select:
    """The SELECT with the common table expressions that it needs, in front of it."""
    used, waiting = set[str](), [tree]
    while waiting:
        for table in waiting.pop().find_all(exp.Table):
            name = (name_in(table.this) or "").lower()
            if name in known and name not in used:
                used.add(name)
                waiting.append(known[name].this)
    made = tree.copy()
    own = list(_defined(tree).values())
    before = [part.copy() for name, part in known.items() if name in used and name not in _defined(tree)]
    made.set("with_", exp.With(expressions=[*before, *(one.copy() for one in own)]) if before or own else None)
    return made


def _apart(tree: exp.Select) -> tuple[exp.Select, exp.Select]:
    """Aggregates and keys inside, by the names they are shown under; windows and what is made of all around them."""
    pulled = _Pulled(tree)
    inner = tree.copy()
    outputs = [exp.alias_(pulled.around(labelled(one)[1]), _label(one), quoted=True) for one in tree.expressions]
    qualify, order = (tree.args.get(name) for name in ("qualify", "order"))
    outer = exp.Select(expressions=outputs, from_=exp.From(this=exp.to_table("answer")))
    if qualify is not None:
        outer.set("qualify", exp.Qualify(this=pulled.around(qualify.this)))
    if order is not None:
        terms = [exp.Ordered(**{**one.args, "this": pulled.around(one.this)}) for one in order.expressions]
        outer.set("order", exp.Order(expressions=terms))
    for name in ("limit", "offset", "windows"):
        outer.set(name, tree.args.get(name))
    inner.set("expressions", [exp.alias_(node.copy(), label, quoted=True) for label, node in pulled.inner.items()])
    group = inner.args.get("group")
    if group is not None and pulled.keys:
        group.set("expressions", [key.copy() for key in pulled.keys])
    for name in ("qualify", "order", "limit", "offset", "windows"):
        inner.set(name, None)
    return inner, outer


def _label(node: exp.Expr) -> str:
    """What an output is called, or what it is."""
    label, inner = labelled(node)  # type: ignore[arg-type]
    if label is not None:
        return label
    found = inner.this if isinstance(inner, exp.Window) else inner
    return written_column(inner) or function_name(found) or "value"


class _Pulled:
    """The keys and aggregates of a SELECT, each under one name."""

    def __init__(self, tree: exp.Select) -> None:
        self.inner: dict[str, exp.Expr] = {}
        self._labels: dict[str, str] = {}
        self._tree = tree
        group = tree.args.get("group")
        self.keys = [self._meant(one) for one in group.expressions] if group is not None else []
        if group is not None and group.args.get("all"):
            raise not_yet("GROUP BY ALL beside windows", "Name the keys: GROUP BY city.")
        for one in tree.expressions:
            label, node = labelled(one)
            if self._is_pulled(node):
                self._name(node, label or written_column(node))
        for key in self.keys:
            self._name(key, written_column(key))  # type: ignore[arg-type]

    def _meant(self, node: exp.Expr) -> exp.Expr:
        """A key by itself, where its place or its name among the outputs is written."""
        outputs = [labelled(one) for one in self._tree.expressions]
        place = place_in(node, "GROUP BY", len(outputs))  # type: ignore[arg-type]
        if place is not None:
            return outputs[place][1]
        name = written_column(node)  # type: ignore[arg-type]
        meant = [
            one for label, one in outputs if label is not None and name is not None and label.lower() == name.lower()
        ]
        return meant[0] if meant and not isinstance(meant[0], exp.Window) else node

    def _is_pulled(self, node: exp.Expr) -> bool:
        below = node.this if isinstance(node, exp.Filter | exp.WithinGroup | exp.Bracket) else node
        return function_name(below) in _CALLS or _text(node) in map(_text, self.keys)

    def _name(self, node: exp.Expr, label: str | None = None) -> str:
        text = _text(node)
        if text not in self._labels:
            base = name = label or function_name(node) or "value"
            number = 1
            while name.lower() in (one.lower() for one in self.inner):
                number += 1
                name = f"{base}_{number}"
            self._labels[text] = name
            self.inner[name] = node
        return self._labels[text]

    def around(self, node: exp.Expr) -> exp.Expr:
        """The same over the columns of the answer inside."""
        if self._is_pulled(node):
            return exp.column(exp.to_identifier(self._name(node), quoted=True))
        made = node.copy()
        for name, value in node.args.items():
            if isinstance(value, list):
                made.set(name, [self.around(one) if isinstance(one, exp.Expr) else one for one in value])
            elif isinstance(value, exp.Expr) and not (isinstance(node, exp.Window) and name == "this"):
                made.set(name, self.around(value))
            elif isinstance(value, exp.Expr):
                call = value.copy()
                call.set("expressions", [self.around(one) for one in value.expressions])
                made.set(name, call)
        return made


def _text(node: exp.Expr) -> str:
    return node.sql().lower()


def step_of(tree: exp.Select, names: Sequence[str]) -> Later:
    """What a SELECT makes of an answer with these columns."""
    for name, value in tree.args.items():
        if name not in {*_UNDERSTOOD, "with_"} and value not in (None, False, []):
            raise not_yet(*CLAUSES.get(name, (name.strip("_").upper(), "Leave it out.")))
    return _Step(tree, names).later()


class _Step:
    """One SELECT over an answer."""

    def __init__(self, tree: exp.Select, names: Sequence[str]) -> None:
        self._tree, self._names = tree, names
        clause = tree.args["from_"].this
        alias = alias_of(clause.args.get("alias"))[0]
        self._tables = frozenset({(alias or name_in(clause.this) or "answer").lower()})
        self._windows = {str(name_in(one.this)).lower(): one for one in tree.args.get("windows") or []}
        group = tree.args.get("group")
        self._total = _is_answer(tree) and not _has_window(tree)
        self._groups: tuple[Expression, ...] = ()
        plain = self._scope("GROUP BY")
        self._meant = dict[str, Expression]()
        if group is not None:
            only(group, "expressions")
            self._groups = tuple(self._key(plain, one) for one in group.expressions)

    def later(self) -> Later:
        tree = self._tree
        outputs = [one for node in tree.expressions for one in self._outputs(node)]
        self._meant = {name.lower(): one for name, one in outputs if name.lower() not in map(str.lower, self._names)}
        self._shown = [one for _, one in outputs]
        self._labels = {name.lower(): one for name, one in outputs}
        held = tree.args.get("qualify") or tree.args.get("having")
        if tree.args.get("having") is not None and not self._total:
            raise not_yet("HAVING around an answer", "Write WHERE, or QUALIFY for a condition on windows.")
        return Later(
            _named(outputs),
            None if tree.args.get("where") is None else self._scope("WHERE").expression(tree.args["where"].this),
            self._groups if self._total else None,
            None if held is None else self._aliased(self._scope("QUALIFY").expression(held.this)),
            tuple(self._order(tree.args.get("order"), self._scope("ORDER BY"), places=True)),
            self._count("limit"),
            self._count("offset") or 0,
        )

    def _scope(self, place: str) -> Scope:
        made = scope(self._tables, place, aggregates=False)
        own: dict[type[exp.Expression], Reader] = {exp.Anonymous: self._function, exp.Window: self._window}
        return replace(made, readers={**made.readers, **own})

    def _outputs(self, node: exp.Expression) -> list[tuple[str, Expression]]:
        label, inner = labelled(node)
        if is_star(inner) or (isinstance(inner, exp.Column) and is_star(inner.this)):
            return [(name, Column(name)) for name in self._names]
        found = self._scope("SELECT").expression(inner)
        return [(label or written_column(inner) or _label(node), found)]

    def _key(self, plain: Scope, node: exp.Expression) -> Expression:
        place = place_in(node, "GROUP BY", len(self._tree.expressions))
        meant = [labelled(one) for one in self._tree.expressions]
        if place is not None:
            return plain.expression(meant[place][1])
        name = written_column(node)
        named = [one for label, one in meant if label is not None and label.lower() == str(name).lower()]
        is_own = name is not None and name.lower() in map(str.lower, self._names)
        return plain.expression(named[0] if named and not is_own else node)

    def _aliased(self, expression: Expression) -> Expression:
        return expression.changed(Column, lambda column: self._meant.get(column.name.lower(), column))

    def _function(self, place: Scope, node: exp.Anonymous) -> Expression:
        """A total of the rows of a group, or a function of one row."""
        name = _MEAN.get(function_name(node), function_name(node))
        if name in FRAMED and self._total:
            if place.place in ("WHERE", "GROUP BY"):
                raise not_yet(f"{name.upper()}(…) in {place.place}", "Write it after HAVING.")
            return replace(self._made(place, name, node, self._groups, (), None), is_total=True)
        if name in (*RANKS, *PLACES):
            raise not_yet(f"{name.upper()}(…) without OVER", f"Write {name.upper()}(…) OVER (ORDER BY …).")
        if name in _CALLS:
            what = f"{name.upper()}(…) of an answer"
            raise not_yet(what, "Of released numbers there are SUM, AVG, COUNT, MIN and MAX; ask for others inside.")
        return function(place, node)

    def _window(self, place: Scope, node: exp.Window) -> Expression:
        named = node.args.get("alias")
        if named is not None:
            defined = self._windows.get(str(name_in(named)).lower())
            if defined is None or any(node.args.get(one) for one in ("partition_by", "order", "spec")):
                raise not_yet("OVER a name", "Write what stands after WINDOW … AS, in brackets after OVER.")
            node = exp.Window(**{**defined.args, "this": node.this, "over": "OVER"})
        only(node, "this", "partition_by", "order", "spec", "over")
        name = _MEAN.get(function_name(node.this), function_name(node.this))
        if not isinstance(node.this, exp.Anonymous) or name not in (*FRAMED, *PLACES, *RANKS):
            listed = ", ".join(one.upper() for one in (*FRAMED, *RANKS, *PLACES))
            raise not_yet(f"{name.upper() or 'that'} OVER (…)", f"The windows are: {listed}.")
        inside = self._plain(place)
        partition = inside.each(node.args.get("partition_by") or [])
        order = tuple(self._order(node.args.get("order"), inside, places=False))
        return self._made(inside, name, node.this, partition, order, _frame(node.args.get("spec")))

    def _plain(self, place: Scope) -> Scope:
        """Inside of a window, or a total, there is none."""
        own: dict[type[exp.Expression], Reader] = {exp.Anonymous: function, exp.Window: _inside_of_another}
        return replace(place, readers={**place.readers, **own})

    def _made(
        self,
        place: Scope,
        name: str,
        node: exp.Anonymous,
        partition: tuple[Expression, ...],
        order: tuple[Order, ...],
        frame: tuple[int | None, int | None] | None,
    ) -> Window:
        given, count = list(node.expressions), 1
        if name in ("lag", "lead") and len(given) == 2:
            count = _whole(given.pop(), name)
        if name == "ntile" and len(given) == 1:
            count = max(_whole(given.pop(), name), 1)
        if name == "count" and (not given or is_star(given[0])) and len(given) <= 1:
            return Window(name, None, partition, order, frame)
        if len(given) != (0 if name in RANKS else 1) or (given and is_star(given[0])):
            takes = "nothing" if name in RANKS else "one value"
            raise NotUnderstood(f"{name.upper()}(…)", f"takes {takes} here", f"Write {name.upper()}(n) OVER (…).")
        if given and isinstance(given[0], exp.Distinct):
            raise refused(given[0])
        argument = None if not given else self._plain(place).expression(given[0])
        return Window(name, argument, partition, order, frame, count)

    def _order(self, node: exp.Expr | None, place: Scope, *, places: bool) -> Iterator[Order]:
        for one in [] if node is None else node.expressions:
            if not isinstance(one, exp.Ordered):
                raise not_yet("ORDER BY …", "Name columns of the answer.")
            only(one, "this", "desc", "nulls_first")
            at = place_in(one.this, "ORDER BY", len(self._shown)) if places else None
            meant = place.expression(one.this) if at is None else self._shown[at]
            if places and at is None:  # a name alone is that of an output; within an expression, of a column first
                meant = self._labels.get((meant.column_name or "").lower()) or self._aliased(meant)
            yield Order(meant, bool(one.args.get("desc")), bool(one.args.get("nulls_first")))

    def _count(self, clause: str) -> int | None:
        node = self._tree.args.get(clause)
        if node is None:
            return None
        text = digits_in(node.expression) if isinstance(node, exp.Limit | exp.Offset) else ""
        if not text.isascii() or not text.isdecimal() or len(text) > 15:
            raise NotUnderstood(f"{clause.upper()} …", "takes a whole number", f"Write {clause.upper()} 10.")
        return int(text)


def _inside_of_another(place: Scope, node: exp.Window) -> Expression:
    raise not_yet("a window inside of another", "Take two steps: WITH a AS (SELECT …) SELECT … FROM a.")


def _frame(spec: exp.WindowSpec | None) -> tuple[int | None, int | None] | None:
    if spec is None:
        return None
    only(spec, "kind", "start", "start_side", "end", "end_side")
    ends = [_end(spec.args.get(side), spec.args.get(f"{side}_side"), side) for side in ("start", "end")]
    if str(spec.args.get("kind")).upper() != "ROWS":
        whole = ends == [None, 0]
        if whole or ends == [None, None]:
            return None if whole else (None, None)
        raise not_yet("RANGE BETWEEN …", "Write ROWS BETWEEN 2 PRECEDING AND CURRENT ROW, which counts rows.")
    return ends[0], ends[1]


def _end(value: object, side: object, which: str) -> int | None:
    if value is None:
        return 0  # ROWS 3 PRECEDING ends with the current row
    if str(value).upper() == "CURRENT ROW":
        return 0
    if str(value).upper() == "UNBOUNDED":
        if (str(side).upper() == "PRECEDING") != (which == "start"):
            raise NotUnderstood("ROWS BETWEEN …", "goes from an earlier row to a later one")
        return None
    return _whole(value, "ROWS BETWEEN") * (-1 if str(side).upper() == "PRECEDING" else 1)


def _whole(node: object, what: str) -> int:
    text = digits_in(node) or text_in(node) or ""
    if not text.isascii() or not text.isdecimal() or int(text[:9] or 0) > MOST_FRAME or len(text) > 9:
        raise NotUnderstood(f"{what.upper()} …", f"takes a whole number up to {MOST_FRAME}")
    return int(text)


def _named(outputs: Sequence[tuple[str, Expression]]) -> tuple[Output, ...]:
    """Each under a name of its own."""
    taken, found = set[str](), list[Output]()
    for name, expression in outputs:
        label, number = name, 1
        while label.lower() in taken:
            number += 1
            label = f"{name}_{number}"
        taken.add(label.lower())
        found.append(Output(label, expression))
    return tuple(found)
