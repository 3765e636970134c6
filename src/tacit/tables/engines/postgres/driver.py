"""The one place that loads psycopg, and the one that begins a transaction: read only, one snapshot, settings of ours.

Nothing of a role's or database's own settings can change what a statement means: names are looked up in pg_catalog
alone, times are UTC and ISO, texts are UTF-8 and have no escapes. Settings last as long as the transaction.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tacit.errors import InvalidParameter, MissingPackage

if TYPE_CHECKING:
    import psycopg

    from tacit.tables.engines.postgres.address import Address

__all__ = ["LEAST", "connected", "psycopg_module", "transaction"]

LEAST = 150000
"""The oldest server that is known to compute the same integers."""
_PATIENCE = 10
_SETTINGS = {
    "search_path": "pg_catalog, pg_temp",
    "client_encoding": "UTF8",
    "transform_null_equals": "off",
    "TimeZone": "UTC",
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "bytea_output": "hex",
    "standard_conforming_strings": "on",
    "extra_float_digits": "1",
    "row_security": "off",
    "jit": "off",
    "enable_mergejoin": "off",
    "enable_hashagg": "off",
    "work_mem": "128MB",
    "cursor_tuple_fraction": "1",
    "client_connection_check_interval": "1s",
    "lock_timeout": "30s",
}
"""``row_security`` off: rows that depend on who asks are an error, not another answer."""


def psycopg_module() -> Any:
    """psycopg 3, or how to get it."""
    try:
        return import_module("psycopg")
    except ImportError:
        raise MissingPackage("psycopg", extra="postgres") from None


def connected(address: Address) -> psycopg.Connection[Any]:
    """A connection, with a password from where PostgreSQL's own tools have it; refuses in words of ours."""
    module = psycopg_module()
    problem = ""
    try:
        connection = module.connect(
            **address.parameters(), client_encoding="utf8", connect_timeout=_PATIENCE, application_name="tacit"
        )
    except module.Error as error:
        problem = _why(str(error))
    if problem:  # raised here, so that it does not carry the server's words
        raise InvalidParameter(
            "source",
            given=address.shown,
            allowed="a database that can be reached",
            hint=f"{problem} Nothing was spent.",
        )
    if connection.info.server_version < LEAST or connection.info.parameter_status("server_encoding") != "UTF8":
        version, encoding = connection.info.server_version, connection.info.parameter_status("server_encoding")
        connection.close()
        allowed = "PostgreSQL 15 or newer, with the encoding UTF8"
        given = f"PostgreSQL {version // 10000}, {encoding}"
        raise InvalidParameter("source", given=given, allowed=allowed, hint="Nothing was spent.")
    return connection  # type: ignore[no-any-return]


def _why(said: str) -> str:
    """What to do, by what the server said of the connection: it has seen no row yet."""
    if "password" in said or "no pg_hba.conf entry" in said or "authentication" in said:
        return "The password was not accepted, or none was given: PGPASSWORD, ~/.pgpass or a service file have it."
    if "does not exist" in said:
        return "There is no such database or role."
    if "permission denied" in said:
        return "This role may not connect."
    return "Nobody answers at that host and port, or not soon enough: is the server running, and the name right?"


@contextmanager
def transaction(connection: psycopg.Connection[Any], seconds: float | None = None) -> Iterator[psycopg.Cursor[Any]]:
    """A cursor in a transaction that reads one snapshot and is rolled back; statements end after so many seconds."""
    module = psycopg_module()
    if connection.info.transaction_status != module.pq.TransactionStatus.IDLE:
        connection.rollback()
    connection.read_only = True
    connection.isolation_level = module.IsolationLevel.REPEATABLE_READ
    limit = "0" if seconds is None else str(max(1, min(int(seconds * 1000), 2**31 - 1)))
    settings = {**_SETTINGS, "statement_timeout": limit}
    try:
        with module.RawCursor(connection) as cursor:
            calls = ", ".join(f"set_config('{name}', '{value}', true)" for name, value in settings.items())
            cursor.execute(f"SELECT {calls}")
            yield cursor
    finally:
        if not connection.closed:
            connection.rollback()
