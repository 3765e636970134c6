"""A word on texts that are compared with days for want of a policy: 31/12/2024 comes after 2026-07-01."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from tacit.tables.expressions.kinds import Kind, is_text, read_date, read_timestamp
from tacit.tables.expressions.tree import Call, Expression
from tacit.tables.session.table import Table

__all__ = ["tell_text_days"]

_COMPARISONS = ("=", "<>", "<", "<=", ">", ">=", "in")


def tell_text_days(table: Table, statements: Sequence[str], declared: Sequence[str]) -> None:
    """Tell which texts are compared with days, unless the shell said their types; by the question alone."""
    known = {one.partition("=")[0].strip().lower() for one in declared}
    found = dict[str, None]()
    for sql in statements:
        tree = table.query(sql).tree
        for one in (tree.where, *tree.keys, *tree.aggregates()):
            found |= dict.fromkeys(_compared(one) if one is not None else ())
    texts = [
        name for name in found if name.lower() not in known and _kind(table, name) is Kind.TEXT
    ]  # of the table itself: columns of a subquery may be called otherwise
    if texts:
        say = " ".join(f"--type {name}=date" for name in texts)
        many = "is a text, and is" if len(texts) == 1 else "are texts, and are"
        click.echo(
            f"{', '.join(texts)} {many} compared as such: letter by letter. {say} reads days "
            "(31/12/2024: with --date-format %d/%m/%Y).",
            err=True,
        )


def _compared(expression: Expression) -> Iterator[str]:
    """The columns that are compared with a text that reads as a day."""
    waiting = [expression]
    while waiting:
        node = waiting.pop()
        waiting += node.measured()
        if isinstance(node, Call) and node.operator in _COMPARISONS:
            texts = [str(one.constant) for one in node.arguments if is_text(one.constant)]
            if any(read_date(text) or read_timestamp(text) for text in texts):
                yield from (one.column_name for one in node.arguments if one.column_name is not None)


def _kind(table: Table, name: str) -> Kind | None:
    column = table.policy.columns.get(name)
    return None if column is None else column.kind
