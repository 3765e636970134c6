"""The tables of a ledger in PostgreSQL, in a schema of their own; their version, and the steps from older versions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tacit.errors import LedgerError

__all__ = ["MIGRATIONS", "VERSION", "create", "differences", "migrate", "version_of"]

VERSION = 1
_APPLICATION = "tacit ledger"
_APPEND_ONLY = {"entries": ("update", "delete"), "answers": ("update", "delete"), "requests": ("delete",)}
_REFUSE = "BEGIN RAISE EXCEPTION 'a ledger is append-only'; END"

_TABLES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "about": (("one", "integer"), ("application", "text"), ("version", "integer")),
    "entries": (("number", "bigint"), ("body", "bytea"), ("hash", "text")),
    "terms": (("one", "integer"), ("ledger", "text"), ("source", "text"), ("terms", "text")),
    "head": (
        ("one", "integer"),
        ("number", "bigint"),
        ("hash", "text"),
        ("time", "text"),
        ("main", "text"),
        ("delta", "text"),
    ),
    "accounts": (("analyst", "text"), ("main", "text"), ("delta", "text")),
    "requests": (
        ("number", "bigint"),
        ("digest", "text"),
        ("analyst", "text"),
        ("key", "bytea"),
        ("drawer", "text"),
    ),
    "answers": (("released", "bigint"), ("number", "bigint"), ("body", "bytea")),
    "secrets": (("one", "integer"), ("secret", "text")),
    "marks": (("kind", "text"), ("source", "text"), ("value", "text")),
    "unanswered": (("number", "bigint"), ("analyst", "text")),
}
"""Every table with its columns; the first column is its key, but for marks."""
_MAY_BE_NULL = {("requests", "key")}
_INDEXES = {
    "requests_by_digest": "UNIQUE INDEX {} ON requests (digest)",
    "requests_by_key": "UNIQUE INDEX {} ON requests (analyst, sha256(key)) WHERE key IS NOT NULL",
    "answers_by_number": "UNIQUE INDEX {} ON answers (number)",
    "marks_once": "UNIQUE INDEX {} ON marks (kind, md5(source), value)",
    "unanswered_by_analyst": "INDEX {} ON unanswered (analyst)",
}

Migration = Callable[[Any], None]
MIGRATIONS: Mapping[int, Migration] = {}
"""version: the step from it to the next. Each runs in one transaction and is recorded in the chain."""


def create(connection: Any) -> None:
    """Make the tables of the current version in the schema of the connection, inside the caller's transaction."""
    connection.execute(";\n".join(_statements()))
    connection.execute("INSERT INTO about VALUES (1, %s, %s)", (_APPLICATION, VERSION))


def _statements() -> Iterator[str]:
    for table, columns in _TABLES.items():
        said = [f"{name} {kind}{'' if (table, name) in _MAY_BE_NULL else ' NOT NULL'}" for name, kind in columns]
        if columns[0][0] == "one":
            said.append("CHECK (one = 1)")
        key = "" if table == "marks" else f", PRIMARY KEY ({columns[0][0]})"
        yield f"CREATE TABLE {table} ({', '.join(said)}{key})".replace("analyst text", 'analyst text COLLATE "C"')
    yield from (f"CREATE {sql.format(name)}" for name, sql in _INDEXES.items())
    yield f"CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $${_REFUSE}$$"
    for table, acts in _APPEND_ONLY.items():
        for act in (*acts, "truncate"):
            each = "STATEMENT" if act == "truncate" else "ROW"
            yield (
                f"CREATE TRIGGER {table}_refuse_{act} BEFORE {act.upper()} ON {table} FOR EACH {each} "
                "EXECUTE FUNCTION refuse()"
            )


def version_of(connection: Any, schema: str, where: str) -> int:
    """The version of the tables, 0 if there is no such schema; a stranger's, or a newer ledger's, is refused."""
    (found,) = connection.execute(
        "SELECT (SELECT oid FROM pg_namespace WHERE nspname = %s), "
        "(SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE n.nspname = %s AND c.relname = 'about')",
        (schema, schema),
    ).fetchall()
    if found[0] is None:
        return 0
    rows = [] if found[1] is None else connection.execute("SELECT application, version FROM about").fetchall()
    if not rows or rows[0][0] != _APPLICATION:
        raise LedgerError(f"{where}: the schema {schema} is there, but it is not a ledger of Tacit. Name another.")
    version = int(rows[0][1])
    if version > VERSION:
        raise LedgerError(
            f"{where} was written by a newer Tacit (version {version} of the tables; this one knows up to {VERSION}). "
            "Upgrade Tacit to use it; nothing was changed."
        )
    return version


def migrate(connection: Any, version: int) -> None:
    """Take every step up to the current version, inside the caller's transaction."""
    while 0 < version < VERSION:
        MIGRATIONS[version](connection)
        version += 1
        connection.execute("UPDATE about SET version = %s", (version,))


def differences(connection: Any, schema: str) -> list[str]:
    """How the tables, indexes, triggers and rules differ from what they should be."""
    found, expected = _described(connection, schema), _expected()
    return [
        *(f"{name} is missing from the ledger's tables" for name in sorted(expected) if name not in found),
        *(f"{name} was added to the ledger's tables" for name in sorted(found) if name not in expected),
        *(f"{name} was altered" for name in sorted(expected) if name in found and found[name] != expected[name]),
    ]


def _expected() -> dict[str, str]:
    made = {
        f"{table}.{name}": f"{kind} {(table, name) not in _MAY_BE_NULL}"
        for table, columns in _TABLES.items()
        for name, kind in columns
    }
    made |= dict.fromkeys(_TABLES, "r false")
    made |= {name: "i " + str("UNIQUE" in sql).lower() for name, sql in _INDEXES.items()}
    made |= {f"{table}_pkey": "i true" for table in _TABLES if table != "marks"}
    made |= {
        f"{table}_refuse_{act}": f"O {table} refuse"
        for table, acts in _APPEND_ONLY.items()
        for act in (*acts, "truncate")
    }
    return made | {"refuse()": _REFUSE}


_DESCRIPTIONS = (
    # Columns of tables: kind and whether null is refused.
    "SELECT c.relname::text || '.' || a.attname, format_type(a.atttypid, a.atttypmod) || ' ' || "
    "CASE WHEN a.attnotnull THEN 'True' ELSE 'False' END "
    "FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid "
    "WHERE c.relnamespace = %s AND c.relkind IN ('r', 'v', 'm', 'f', 'p') AND a.attnum > 0 AND NOT a.attisdropped",
    # Tables, views and the like: row security and rules make another table of it.
    "SELECT relname::text, CASE WHEN relkind = 'r' AND NOT relrowsecurity AND NOT relhasrules AND relpersistence = 'p' "
    "THEN 'r false' ELSE 'changed' END FROM pg_class WHERE relnamespace = %s AND relkind NOT IN ('i', 't')",
    "SELECT c.relname::text, 'i ' || CASE WHEN i.indisunique AND i.indisvalid THEN 'true' ELSE 'false' END "
    "FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid WHERE c.relnamespace = %s",
    "SELECT t.tgname::text, t.tgenabled::text || ' ' || c.relname::text || ' ' || p.proname::text FROM pg_trigger t "
    "JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid "
    "WHERE c.relnamespace = %s AND NOT t.tgisinternal",
    "SELECT p.proname::text || '(' || pg_get_function_arguments(p.oid) || ')', p.prosrc FROM pg_proc p "
    "WHERE p.pronamespace = %s",
)


def _described(connection: Any, schema: str) -> dict[str, str]:
    ((oid,),) = connection.execute("SELECT oid FROM pg_namespace WHERE nspname = %s", (schema,)).fetchall()
    return {name: said for sql in _DESCRIPTIONS for name, said in connection.execute(sql, (oid,)).fetchall()}
