"""What a server says of a table before any row is read: its columns, whose rows they are, and what else has them.

A view is read if each of its rows is computed from one row of one table, by functions that raise for no row. What can
raise (a quotient, a cast of text, a domain) makes a paid answer a lost one exactly if somebody has such a row: there is
a list of what a view may be made of, and everything else is refused before a payment. Columns that are computed
whenever they are read are not there.
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

__all__ = ["TESTED", "Described", "described"]

TESTED = (15, 16, 18)
"""Versions that are known to compute the same integers; newer ones, and 17, are accepted."""

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
  FROM pg_attribute AS a WHERE a.attrelid = $1::oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated <> 'v'
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
_TABLES = ("r", "p")
"""The kinds of relations that are tables."""
_NODES = (
    "QUERY RANGETBLENTRY RTEPERMISSIONINFO ALIAS RANGETBLREF FROMEXPR TARGETENTRY VAR CONST RELABELTYPE BOOLEXPR "
    "NULLTEST BOOLEANTEST OPEXPR DISTINCTEXPR NULLIFEXPR SCALARARRAYOPEXPR ARRAYEXPR CASEEXPR CASEWHEN CASETESTEXPR "
    "COALESCEEXPR FUNCEXPR"
)
"""What a tree of the server's may consist of; an array has one dimension, and what is called is looked at."""
_VIEW = """
SELECT r.ev_action::text, pg_relation_is_updatable(r.ev_class, false), ARRAY(
    SELECT DISTINCT d.refobjid::bigint FROM pg_depend AS d WHERE d.objid = r.oid AND d.classid = 'pg_rewrite'::regclass
    AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> r.ev_class)
FROM pg_rewrite AS r WHERE r.ev_class = $1::oid AND r.rulename = '_RETURN'
"""
_TOTAL = """
WITH plain AS (
  SELECT oid FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace AND typname IN ('bool', 'int2', 'int4',
    'int8', 'float4', 'float8', 'numeric', 'text', 'bpchar', 'date', 'timestamp', 'timestamptz', 'time', 'uuid',
    'anyenum')
), compared AS (
  SELECT a.amopopr AS op, a.amopstrategy AS strategy FROM pg_amop AS a JOIN pg_am AS m ON m.oid = a.amopmethod
  WHERE m.amname = 'btree' AND a.amoppurpose = 's' AND a.oid < 16384
    AND a.amoplefttype IN (SELECT oid FROM plain) AND a.amoprighttype IN (SELECT oid FROM plain)
), total AS (
  SELECT o.oprcode::oid AS it FROM compared AS c JOIN pg_operator AS o ON o.oid = c.op
  UNION SELECT n.oprcode::oid FROM compared AS c JOIN pg_operator AS o ON o.oid = c.op AND c.strategy = 3
        JOIN pg_operator AS n ON n.oid = o.oprnegate
  UNION SELECT castfunc FROM pg_cast WHERE castfunc <> 0 AND oid < 16384
        AND (format_type(castsource, NULL), format_type(casttarget, NULL)) IN (('smallint', 'integer'),
        ('smallint', 'bigint'), ('smallint', 'real'), ('smallint', 'double precision'), ('smallint', 'numeric'),
        ('integer', 'bigint'), ('integer', 'real'), ('integer', 'double precision'), ('integer', 'numeric'),
        ('bigint', 'real'), ('bigint', 'double precision'), ('bigint', 'numeric'), ('real', 'double precision'),
        ('character', 'text'))
)
SELECT p.oid::bigint, EXISTS (SELECT FROM pg_type AS t WHERE t.oid = ANY(p.proargtypes) AND t.typcollation <> 0)
FROM pg_proc AS p JOIN total ON total.it = p.oid WHERE p.provolatile = 'i' AND p.oid < 16384
"""
"""Comparisons and widening casts of the server's own: they have a result for all values; and whether they collate."""
_KIND_OF = """
SELECT relkind::text, EXISTS (SELECT FROM pg_attribute WHERE attrelid = $1::oid AND attgenerated = 'v')
FROM pg_class WHERE oid = $1::oid
"""
_PARTS = """
WITH RECURSIVE parts AS (
  SELECT $1::oid AS it UNION SELECT i.inhrelid FROM parts JOIN pg_inherits AS i ON i.inhparent = parts.it
)
SELECT count(*) FROM parts JOIN pg_class AS c ON c.oid = parts.it WHERE c.relkind NOT IN ('r', 'p')
"""
_NODE = re.compile(r"\{([A-Za-z0-9_]*)")
_CALL = re.compile(r":(?:funcid|opfuncid) ")
_CALLED = re.compile(r":(?:funcid|opfuncid) (\d+)[^{}]*?:inputcollid (\d+)")


@dataclass(frozen=True, slots=True)
class Described:
    """A table as its server describes it; private to nobody who may connect."""

    cluster: str
    database: str
    schema: str
    table: str
    types: tuple[tuple[str, str], ...]
    """The columns that may be read, in order, and their types by the server's names."""
    version: int
    """Of the server: 15, 16, …"""
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
    if kind in _TABLES:
        _check_parts(cursor, oid, f"{schema}.{table}")
    else:
        _check_view(cursor, oid, kind, f"{schema}.{table}")
    columns = cursor.execute(_COLUMNS, (oid,)).fetchall()
    cluster, database = cursor.execute(_CLUSTER).fetchone()
    related = tuple(name for (name,) in cursor.execute(_RELATED, (oid,)).fetchall())
    types = tuple((name, type_name) for name, type_name, may in columns if may)
    version = cursor.connection.info.server_version // 10000
    return Described(cluster, database, schema, table, types, version, related)


def _check_parts(cursor: Any, oid: int, name: str) -> None:
    """A table's partitions and children are tables of this server: a foreign one can fail for one row, there."""
    if cursor.execute(_PARTS, (oid,)).fetchone()[0]:
        raise PolicyError(
            f"{name} has a foreign table among its partitions or children: whether it can be read depends on another "
            "server. Ask about a table that is kept here. Nothing was spent."
        )


def _check_view(cursor: Any, oid: int, kind: str, name: str, depth: int = 0) -> None:
    """One table below, nothing grouped, limited, ordered or looked up, and nothing that could raise."""
    rule = cursor.execute(_VIEW, (oid,)).fetchone() if kind == "v" and depth < 20 else None
    if rule is not None:
        tree, updatable, below = rule
        if updatable & 4 and len(below) == 1 and _is_total(cursor, tree):
            lower, computed = cursor.execute(_KIND_OF, (below[0],)).fetchone()
            if lower not in _TABLES:
                return _check_view(cursor, below[0], lower, name, depth + 1)
            if not computed:
                return _check_parts(cursor, below[0], name)
    raise PolicyError(
        f"{name} is no table, nor a view whose rows are each computed from one row of one table by comparisons, CASE, "
        "COALESCE and widening casts: one person's row could change the rows of others, or end the question. Ask about "
        "the table below it. Nothing was spent."
    )


def _is_total(cursor: Any, tree: str) -> bool:
    """Whether the tree has a value for every row: known nodes, known functions, and an order for texts."""
    if not set(_NODE.findall(tree)) <= set(_NODES.split()) or ":multidims true" in tree or ":hasSubLinks true" in tree:
        return False
    calls = _CALLED.findall(tree)
    if len(calls) != len(_CALL.findall(tree)):
        return False
    collates = dict(cursor.execute(_TOTAL).fetchall())
    return all(int(call) in collates and (int(order) or not collates[int(call)]) for call, order in calls)
