"""What a server says of a table before any row is read: its columns, whose rows they are, and what else has them.

A view is read if each of its rows is computed from one row of one table by functions that look at nothing else;
otherwise one person's row could change everybody's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.errors import InvalidParameter, PolicyError
from tacit.tables.engines.postgres.driver import psycopg_module, transaction

if TYPE_CHECKING:
    import psycopg

    from tacit.tables.engines.postgres.address import Address

__all__ = ["Described", "described"]

_RELATION = """
SELECT c.oid::bigint, c.relkind::text, n.nspname::text, c.relname::text, c.relrowsecurity,
       has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT')
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relname = $2
"""
_COLUMNS = """
WITH RECURSIVE based AS (
  SELECT a.attname::text AS name, a.attnum, a.atttypid AS type,
         has_column_privilege(a.attrelid, a.attnum, 'SELECT') AS may
  FROM pg_attribute AS a WHERE a.attrelid = $1::oid AND a.attnum > 0 AND NOT a.attisdropped
  UNION ALL
  SELECT b.name, b.attnum, t.typbasetype, b.may FROM based AS b JOIN pg_type AS t ON t.oid = b.type AND t.typtype = 'd'
)
SELECT b.name, CASE WHEN t.typtype = 'e' THEN 'enum' WHEN t.typelem <> 0 AND t.typlen = -1 THEN 'array'
       ELSE t.typname::text END, b.may
FROM based AS b JOIN pg_type AS t ON t.oid = b.type AND t.typtype <> 'd' ORDER BY b.attnum
"""
_CLUSTER = "SELECT system_identifier::text, current_database()::text FROM pg_control_system()"
_RELATED = """
WITH RECURSIVE edges AS (
  SELECT inhparent AS one, inhrelid AS other FROM pg_inherits
  UNION SELECT inhrelid, inhparent FROM pg_inherits
  UNION SELECT r.ev_class, d.refobjid FROM pg_rewrite AS r JOIN pg_depend AS d ON d.objid = r.oid
        AND d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> r.ev_class
  UNION SELECT d.refobjid, r.ev_class FROM pg_rewrite AS r JOIN pg_depend AS d ON d.objid = r.oid
        AND d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> r.ev_class
), near AS (
  SELECT $1::oid AS it UNION SELECT e.other FROM near JOIN edges AS e ON e.one = near.it
)
SELECT n.nspname::text || '.' || c.relname::text FROM near JOIN pg_class AS c ON c.oid = near.it
JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
ORDER BY 1
"""
_VIEW = """
SELECT r.ev_action::text, pg_relation_is_updatable(r.ev_class, false), ARRAY(
    SELECT DISTINCT d.refobjid::bigint FROM pg_depend AS d WHERE d.objid = r.oid AND d.classid = 'pg_rewrite'::regclass
    AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> r.ev_class)
FROM pg_rewrite AS r WHERE r.ev_class = $1::oid AND r.rulename = '_RETURN'
"""
_FUNCTIONS = "SELECT count(*) FROM pg_proc WHERE oid = ANY($1::oid[]) AND (provolatile <> 'i' OR oid >= 16384)"
_KIND_OF = "SELECT relkind::text FROM pg_class WHERE oid = $1::oid"
_CALLED = re.compile(r":(?:funcid|opfuncid|hashfuncid|negfuncid) (\d+)")
_TABLES = ("r", "p")


@dataclass(frozen=True, slots=True)
class Described:
    """A table as its server describes it; private to nobody who may connect."""

    cluster: str
    database: str
    schema: str
    table: str
    types: tuple[tuple[str, str], ...]
    """The columns that may be read, in order, and their types by the server's names."""
    related: tuple[str, ...]
    """All relations that may hold the same rows: itself, its views, partitions, parents, what it is a view of."""

    def identity(self, relation: str | None = None) -> str:
        """What rows are known by, however they are addressed."""
        return f"postgresql://{self.cluster}/{self.database}/{relation or f'{self.schema}.{self.table}'}"


def described(connection: psycopg.Connection[Any], address: Address) -> Described:
    """The table; refuses what there is none of, what may not be read, and what is not row by row."""
    failed = False
    try:
        with transaction(connection, 30) as cursor:
            return _described(cursor, address)
    except psycopg_module().Error:
        failed = True
    assert failed
    raise InvalidParameter(
        "source", given=address.shown, allowed="a table that this role may read", hint="Nothing was spent."
    )


def _described(cursor: Any, address: Address) -> Described:
    found = cursor.execute(_RELATION, (address.schema, address.table)).fetchall()
    if not found or not found[0][5]:
        name = f"{address.schema}.{address.table}"
        raise InvalidParameter(
            "source", given=name, allowed="a table that is there, and that this role may SELECT from",
            hint="Nothing was spent.",
        )  # fmt: skip
    oid, kind, schema, table, by_role, _ = found[0]
    if by_role:
        raise PolicyError(
            f"{schema}.{table} has row security: which rows there are depends on who asks. Let Tacit read a table "
            "without it. Nothing was spent."
        )
    if kind not in _TABLES:
        _check_view(cursor, oid, kind, f"{schema}.{table}")
    columns = cursor.execute(_COLUMNS, (oid,)).fetchall()
    cluster, database = cursor.execute(_CLUSTER).fetchone()
    related = tuple(name for (name,) in cursor.execute(_RELATED, (oid,)).fetchall())
    types = tuple((name, type_name) for name, type_name, may in columns if may)
    return Described(cluster, database, schema, table, types, related)


def _check_view(cursor: Any, oid: int, kind: str, name: str, depth: int = 0) -> None:
    """One table below, nothing grouped, limited or looked up, and functions that are the server's own and immutable."""
    rule = cursor.execute(_VIEW, (oid,)).fetchone() if kind == "v" and depth < 20 else None
    if rule is not None:
        tree, updatable, below = rule
        called = sorted({int(one) for one in _CALLED.findall(tree)} - {0})
        impure = cursor.execute(_FUNCTIONS, (called,)).fetchone()[0]
        if updatable & 4 and ":hasSubLinks true" not in tree and not impure and len(below) == 1:
            lower = cursor.execute(_KIND_OF, (below[0],)).fetchone()[0]
            if lower not in _TABLES:
                _check_view(cursor, below[0], lower, name, depth + 1)
            return
    raise PolicyError(
        f"{name} is no table, nor a view whose rows are each computed from one row of one table: one person's row "
        "could change the rows of others. Ask about the table below it. Nothing was spent."
    )
