"""Steps over an answer against its columns: names and kinds, found before anything is paid."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from tacit.errors import InvalidParameter, UnknownColumn
from tacit.tables.check.check import Checked
from tacit.tables.check.row_work import weight
from tacit.tables.check.types import Typing, Words, quoted, refuse_no_rows
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.texts import LONGEST_TEXT
from tacit.tables.expressions.tree import Column, Expression
from tacit.tables.query.canonical import check_labels, folded
from tacit.tables.query.later import Later, admit_steps
from tacit.tables.query.limits import Sizes
from tacit.tables.query.tree import RANKS, Output, Window

__all__ = ["MOST_WORK", "admit_work", "check_steps", "is_too_much", "kinds_of", "most_rows"]

Kinds = Mapping[str, "Kind | None"]
MOST_WORK = 200_000_000
"""Rows of the answer, times the weights of what is computed of each: ten seconds of the asking process, about."""
_FEW = 1_000
"""Rows that an answer is taken to have before it is drawn, where its groups are private."""
_NODE, _OUTPUT, _WINDOW, _OTHER = 5, 25, 60, 1_000
"""Weights by the time that Python takes: at least, of a column that is shown, of a window, and at most of what is no
regular expression."""
_AROUND = 64
"""Bytes that starting a regular expression is worth."""


def kinds_of(checked: Checked) -> dict[str, Kind | None]:
    """The kinds of the columns of the answer inside, by their names."""
    keys = [checked.kinds.get(key) for key in checked.query.keys]
    made = dict[str, Kind | None]()
    for one in checked.query.outputs:
        index = getattr(one.expression, "index", None)
        made[one.name] = checked.kinds.get(one.expression) if index is None else keys[index]
    return made


def most_rows(checked: Checked) -> int:
    """How many rows the answer has at most, if its groups are public; else how many it is taken to have."""
    sizes = [None if one is None else len(one) for one in checked.key_domains]
    if None in sizes:
        return _FEW
    return math.prod(size + bool(checked.query.sets) for size in sizes if size is not None)


def admit_work(steps: Sequence[Later], rows: int) -> None:
    """Refuse steps that would take long with an answer of so many rows: they are free, and could be asked for ever."""
    work = _work(steps, {})
    if work * rows > MOST_WORK:
        raise InvalidParameter(
            "work",
            given=Words(f"{rows} rows of an answer × {work} around it"),
            allowed=f"at most {MOST_WORK} steps; a column is {_OUTPUT}, a regular expression up to 5 000 for each sign",
            hint="Compute it of fewer columns, or from the answer inside in Python. Nothing was spent.",
        )


def is_too_much(steps: Sequence[Later], rows: int, longest: Mapping[str, int]) -> bool:
    """Whether steps would take long with a released answer; ``longest`` are the bytes of a column's longest text."""
    return _work(steps, longest) * rows > MOST_WORK


def _work(steps: Sequence[Later], longest: Mapping[str, int]) -> int:
    """What all steps take of a row; the first sees the columns of the answer, of which lengths may be known."""
    work = 0
    for at, step in enumerate(steps):
        sizes, weigh = Sizes(), partial(_weight, longest if at == 0 else {})
        work += _OUTPUT * len(step.outputs) + sum(sizes.work(one, weigh) for one in step.expressions())
    return work


def _weight(longest: Mapping[str, int], node: Expression) -> int:
    if isinstance(node, Window):
        return _WINDOW
    found = weight(node)
    if not node.called.startswith("regexp"):
        return min(max(found, _NODE), _OTHER)
    read = longest.get(node.parts()[0].column_name or "", LONGEST_TEXT)
    return found * min(read + _AROUND, LONGEST_TEXT) // LONGEST_TEXT


def check_steps(steps: Sequence[Later], columns: Kinds) -> tuple[Later, ...]:
    """The steps, every column by its own name and every expression of a kind; refused otherwise."""
    admit_steps(steps)
    found = list[Later]()
    for step in steps:
        made, columns = _checked(step, columns)
        found.append(made)
    return tuple(found)


def _checked(step: Later, columns: Kinds) -> tuple[Later, Kinds]:
    check_labels([one.name for one in step.outputs])
    refuse_no_rows(step.limit)
    names = [one.name.lower() for one in step.outputs]
    if not names or len(set(names)) != len(names):
        raise InvalidParameter("SELECT", given="two columns of one name", allowed="each name once, and at least one")
    found = _Step(columns)
    groups = None if step.groups is None else tuple(map(found.plain, step.groups))
    outputs = tuple(Output(one.name, found.of(one.expression)) for one in step.outputs)
    order = tuple(replace(one, expression=found.of(one.expression)) for one in step.order)
    having = (
        None if step.having is None else found.condition(step.having, "HAVING" if groups is not None else "QUALIFY")
    )
    where = None if step.where is None else found.condition(found.plain(step.where), "WHERE")
    if groups is not None:
        for one in (*(output.expression for output in outputs), *(term.expression for term in order)):
            _of_groups(one, groups)
        _of_groups(having, groups)
    made = replace(step, outputs=outputs, where=where, groups=groups, having=having, order=order)
    return made, {one.name: found.kind(one.expression) for one in outputs}


class _Step:
    """The columns that one step sees."""

    def __init__(self, columns: Kinds) -> None:
        self._columns = columns
        self._known = {name.lower(): name for name in columns}
        self._typing = Typing(self._leaf, {})

    def kind(self, expression: Expression) -> Kind | None:
        return self._typing.kind(expression)

    def plain(self, expression: Expression) -> Expression:
        """An expression in which no window stands."""
        if expression.has(Window):
            raise InvalidParameter(
                "window",
                given=Words(quoted(expression)),
                allowed="windows in SELECT, QUALIFY and ORDER BY",
                hint="Compute it in a SELECT, and write the condition in one around that, or after QUALIFY.",
            )
        return self.of(expression)

    def of(self, expression: Expression) -> Expression:
        """The expression over columns as they are named, typed."""
        return self._typing.typed(expression.over(self._named).changed(Window, self._window))

    def condition(self, expression: Expression, place: str) -> Expression:
        return self._typing.condition(expression.over(self._named).changed(Window, self._window), place)

    def _named(self, column: Column) -> Expression:
        name = self._known.get(column.name.lower())
        if name is None:
            raise UnknownColumn(
                f"The answer inside has no column {column.name[:60]!r}; it has {', '.join(self._columns)}. A SELECT "
                "around it sees what it shows, and nothing of the table. Nothing was spent."
            )
        return Column(name)

    def _window(self, window: Window) -> Expression:
        if any(part.has(Window) for part in window.parts()):
            raise InvalidParameter(
                "window", given=Words(quoted(window)), allowed="no window inside", hint="Take two steps: WITH a AS (…)."
            )
        made = window.with_parts(tuple(self._typing.typed(part) for part in window.parts()))
        assert isinstance(made, Window)
        argument = None if made.argument is None else self.kind(made.argument)
        if made.function in ("sum", "avg") and not (argument is not None and argument.is_number):
            given = Words("NULL" if argument is None else str(argument))
            raise InvalidParameter(quoted(window), given=given, allowed="a number")
        if made.function in (*RANKS, "lag", "lead") and not made.order:
            hint = f"Write {made.function.upper()}(…) OVER (ORDER BY …)."
            raise InvalidParameter(quoted(window), given=Words("no ORDER BY"), allowed="an order of rows", hint=hint)
        return made

    def _leaf(self, expression: Expression) -> Kind | None:
        match expression:
            case Column(name):
                return self._columns[name]
            case Window(function, argument):
                if function == "avg" or function == "percent_rank":
                    return Kind.REAL
                if function in RANKS or function == "count":
                    return Kind.INTEGER
                return None if argument is None else self._typing.kind(argument)
        raise InvalidParameter(
            "SELECT", given=Words(quoted(expression)), allowed="columns of the answer inside, and windows over its rows"
        )


def _of_groups(expression: Expression | None, groups: Sequence[Expression]) -> None:
    """Refuse columns outside of totals that are no keys of GROUP BY."""
    known = {folded(one) for one in groups}

    def visit(node: Expression) -> None:
        if folded(node) in known or isinstance(node, Window):
            return
        for column in [node] if node.column_name is not None else []:
            allowed = "columns of its GROUP BY, and totals such as SUM(n)"
            raise InvalidParameter("SELECT", given=Words(quoted(column)), allowed=allowed)
        for part in node.parts():
            visit(part)

    if expression is not None:
        visit(expression)
