"""Google's clause and the lists of public groups, as options of a query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tacit.tables.expressions.tree import Literal
from tacit.tables.query.options import ListedGroups, Options
from tacit.tables.query.refusals import NotUnderstood, not_yet, shortened
from tacit.tables.sql.grammar import Statement, exp
from tacit.tables.sql.scope import Scope, only

__all__ = ["Lists"]


class Lists:
    """The lists that one statement joins its table to, and its clause."""

    def __init__(self, scope: Callable[..., Scope], tables: frozenset[str], found: Statement) -> None:
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
