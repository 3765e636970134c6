"""Where a table of PostgreSQL is: ``postgresql://host:port/database#schema.table``; never with a password."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

from tacit.errors import InvalidParameter

__all__ = ["Address", "is_address"]

_SCHEMES = ("postgresql://", "postgres://")
_FORM = "postgresql://host/database#schema.table"
_PARAMETERS = ("sslmode", "sslrootcert", "sslcert", "sslkey", "service", "passfile", "target_session_attrs")


def is_address(where: object) -> bool:
    """Whether it names a table of PostgreSQL."""
    return isinstance(where, str) and where.startswith(_SCHEMES)


@dataclass(frozen=True, slots=True)
class Address:
    """One table, as it was written.

    >>> found = Address.of("postgresql://ana@db.example:5433/shop?sslmode=require#public.visits")
    >>> found.schema, found.table, sorted(found.parameters())
    ('public', 'visits', ['dbname', 'host', 'port', 'sslmode', 'user'])
    """

    given: tuple[tuple[str, str], ...]
    schema: str
    table: str
    shown: str

    @classmethod
    def of(cls, where: str) -> Address:
        """Refuses what is no such address, and any password: a policy is read by many."""
        readable = False
        with suppress(ValueError):
            parts = urlsplit(where)
            port, password = parts.port, parts.password
            options = dict(parse_qsl(parts.query, keep_blank_values=True))
            readable = "@" not in parts.path + parts.query + parts.fragment  # else a password has # / or ? in it
        if not readable:
            raise InvalidParameter("source", given="an address that cannot be read", allowed=_FORM)
        if password is not None or "password" in options:
            hint = "Leave it out here: PGPASSWORD, ~/.pgpass or a service file (?service=…) have it. Nothing was spent."
            raise InvalidParameter("source", given="an address with a password", allowed=_FORM, hint=hint)
        schema, _, table = unquote(parts.fragment).rpartition(".")
        unknown = sorted(set(options) - set(_PARAMETERS))
        if not table or unknown:
            given = f"?{unknown[0]}=…" if unknown else where
            allowed = f"one of ?{', '.join(_PARAMETERS)}" if unknown else f"the table after #: {_FORM}"
            raise InvalidParameter("source", given=given, allowed=allowed, hint="Nothing was spent.")
        named = {
            "host": unquote(parts.hostname or "") if "%" in parts.netloc else parts.hostname or "",
            "port": "" if port is None else str(port),
            "user": unquote(parts.username or ""),
            "dbname": unquote(parts.path.lstrip("/")),
        }
        host = _host(parts.netloc)
        if host.startswith("/"):
            named["host"] = host  # a folder with a socket, whose letters keep their case
        given_all = tuple((name, value) for name, value in {**named, **options}.items() if value)
        return cls(given_all, schema or "public", table, where)

    def parameters(self) -> dict[str, str]:
        """What a connection is made with."""
        return dict(self.given)


def _host(netloc: str) -> str:
    return unquote(netloc.rpartition("@")[2])
