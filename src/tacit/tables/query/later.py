"""What is computed from released numbers alone: a SELECT around an answer, and windows over its rows.

None of it reads a row of the table: the statement inside is what is priced, run and remembered, and these steps are
taken with its answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tacit.errors import InvalidParameter
from tacit.tables.expressions.tree import Expression
from tacit.tables.query.limits import MOST_OUTPUTS, Sizes
from tacit.tables.query.to_sql import expression_sql, name_to_sql, order_sql
from tacit.tables.query.tree import Order, Output, Window

__all__ = ["MOST_FRAME", "MOST_STEPS", "MOST_WINDOWS", "Later", "admit_steps", "steps_sql"]

MOST_FRAME = 1_000
"""How many rows before and after a frame may name."""
MOST_STEPS = 10
"""How many SELECTs may stand around an answer."""
MOST_WINDOWS = 100
"""How many windows and totals may be in all of them: each goes over all rows of the answer."""


@dataclass(frozen=True, slots=True)
class Later:
    """One SELECT over the columns of an answer, which go by their names.

    ``groups`` are its GROUP BY: one row for each; None: a row for each row, with windows beside.
    """

    outputs: tuple[Output, ...]
    where: Expression | None = None
    groups: tuple[Expression, ...] | None = None
    having: Expression | None = None
    """What rows must meet when windows, or totals of groups, are known: QUALIFY, or HAVING."""
    order: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0

    def expressions(self) -> Iterator[Expression]:
        """All of them."""
        yield from (one.expression for one in self.outputs)
        yield from (one for one in (self.where, self.having) if one is not None)
        yield from self.groups or ()
        yield from (one.expression for one in self.order)


def admit_steps(steps: Sequence[Later]) -> None:
    """Refuse more, or larger, steps than are taken."""
    if len(steps) > MOST_STEPS:
        raise InvalidParameter("FROM", given=f"{len(steps)} SELECTs around an answer", allowed=f"at most {MOST_STEPS}")
    sizes = Sizes()
    for step in steps:
        if len(step.outputs) > MOST_OUTPUTS:
            raise InvalidParameter("SELECT", given=f"{len(step.outputs)} columns", allowed=f"at most {MOST_OUTPUTS}")
        for expression in step.expressions():
            sizes.admit(expression)
    windows = sum(1 for step in steps for one in step.expressions() for _ in one.nodes(Window))
    if windows > MOST_WINDOWS:
        raise InvalidParameter("OVER", given=f"{windows} windows and totals", allowed=f"at most {MOST_WINDOWS}")


def steps_sql(inner: str, steps: Sequence[Later]) -> str:
    """The statement inside with its steps around it, as SQL."""
    text = inner
    for step in steps:
        text = _step(text, step)
    return text


def _step(inner: str, step: Later) -> str:
    shown = (_output(one) for one in step.outputs)
    text = f"SELECT {', '.join(shown)} FROM ({inner}) AS answer"
    if step.where is not None:
        text += f" WHERE {expression_sql(step.where)}"
    if step.groups:
        text += f" GROUP BY {', '.join(map(expression_sql, step.groups))}"
    if step.having is not None:
        text += f" {'QUALIFY' if step.groups is None else 'HAVING'} {expression_sql(step.having)}"
    if step.order:
        text += f" ORDER BY {', '.join(map(order_sql, step.order))}"
    text += "" if step.limit is None else f" LIMIT {step.limit}"
    return text + (f" OFFSET {step.offset}" if step.offset else "")


def _output(output: Output) -> str:
    text, name = expression_sql(output.expression), name_to_sql(output.name)
    return text if text == name else f"{text} AS {name}"
