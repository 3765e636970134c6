"""Every kind of question as a function from two neighbouring tables to its loss, as a part of what it costs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tacit
from tacit.tables.session.table import Table
from tests.tables.attacks.losses import (
    loss_of_batch,
    loss_of_cut,
    loss_of_discovery,
    loss_of_limits,
    loss_of_sql,
    loss_of_workload,
)
from tests.tables.attacks.nodes import NODES

__all__ = ["ASKED", "Tables"]

Tables = tuple[Table, Table]


def statement(sql: str) -> Callable[[Tables], float]:
    return lambda tables: loss_of_sql(tables, sql)


def with_cut(sql: str) -> Callable[[Tables], float]:
    return lambda tables: loss_of_cut(tables, sql)


def together(tables: Tables) -> float:
    """A batch, of which each table makes its own."""
    statements = [NODES[node][0] for node in ("counts and sums", "quantiles", "distinct values", "means and variances")]
    statements += [NODES["joins to public tables"][0], NODES["sets of keys"][1]]
    one, other = (table.batch(statements) for table in tables)
    return loss_of_batch((one, other), tables)


def margins(tables: Tables) -> float:
    one, other = (table.margins([], ["plan"], ["plan", "old"], old=tacit.col("age") > 3) for table in tables)
    return loss_of_workload((one, other), tables)


def ranges(tables: Tables) -> float:
    one, other = (table.ranges("hour", hour=tacit.col("at").hour(), branching=3) for table in tables)
    return loss_of_workload((one, other), tables)


def discovered(discover: Callable[[Any, dict[str, Any]], object]) -> Callable[[Tables], float]:
    def ask(tables: Tables) -> float:
        price = {tables[0].policy.terms.flavour.name: 1}
        return loss_of_discovery(tables, lambda found: discover(found, price))

    return ask


ASKED: dict[str, list[Callable[[Tables], float]]] = {
    **{node: [statement(sql) for sql in written] for node, written in NODES.items()},
    "batches": [together],
    "margins and ranges": [margins, ranges],
    "what limits cut": [
        with_cut(NODES[node][at])
        for node, at in (
            ("counts and sums", 0),
            ("counts and sums", 2),
            ("counts and sums", 3),
            ("joins on the unit", 1),
            ("UNION ALL", 1),
            ("sets of keys", 1),
        )
    ],
    "discovery": [
        discovered(lambda found, price: found.bounds("spend", **price)),
        discovered(lambda found, price: found.rows_per_unit(**price)),
        discovered(lambda found, price: found.rows_per_unit("city", **price)),
        discovered(lambda found, price: found.groups_per_unit("city", **price)),
        lambda tables: loss_of_limits(tables, "city"),
        statement("SELECT city FROM visits GROUP BY city"),
    ],
}
