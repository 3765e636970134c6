"""Where a ledger in PostgreSQL is: an address as libpq takes it, and after # the name of the ledger."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from tacit.errors import InvalidParameter
from tacit.ledger.names import source_name

__all__ = ["PostgresAddress", "is_postgres"]

_BEGINNINGS = ("postgresql://", "postgres://")
_PLAIN = re.compile(r"[a-z0-9_]{1,40}")
_DEFAULT = "ledger"


def is_postgres(where: object) -> bool:
    """Whether an address is one of PostgreSQL.

    >>> is_postgres("postgresql://db.example.org/budgets#visits"), is_postgres("visits.ledger")
    (True, False)
    """
    return isinstance(where, str) and where.startswith(_BEGINNINGS)


@dataclass(frozen=True, slots=True)
class PostgresAddress:
    """An address: what libpq connects to, and which of the ledgers there is meant.

    >>> one = PostgresAddress.of("postgresql://keeper:secret@db.example.org/budgets#visits")
    >>> one.name, one.schema, str(one)
    ('visits', 'tacit_visits', 'postgresql://db.example.org/budgets#visits')
    """

    conninfo: str
    name: str

    @classmethod
    def of(cls, given: object) -> PostgresAddress:
        """The address as typed."""
        if not isinstance(given, str) or not is_postgres(given):
            allowed = "an address such as postgresql://user@host/database#name"
            raise InvalidParameter("ledger", given="another text", allowed=allowed)
        conninfo, mark, name = given.rpartition("#")
        if not mark:
            conninfo, name = given, ""
        if "@" in name or "/" in name or not _is_clean(conninfo):
            allowed = "an address such as postgresql://user@host/database#name"
            hint = "Write # / ? and @ in a password as %23 %2F %3F and %40, or leave it to PGPASSWORD or ~/.pgpass."
            raise InvalidParameter("ledger", given="an address that cannot be read", allowed=allowed, hint=hint)
        return cls(conninfo, source_name(unquote(name)) if name else _DEFAULT)

    @property
    def schema(self) -> str:
        """The schema that the tables of this ledger are in: the name if it is plain, else its hash as well."""
        if _PLAIN.fullmatch(self.name):
            return f"tacit_{self.name}"
        plain = re.sub(r"[^a-z0-9]+", "_", self.name.lower())[:24].strip("_")
        return f"tacit_{plain}_{hashlib.sha256(self.name.encode()).hexdigest()[:16]}"

    def named(self, name: str) -> PostgresAddress:
        """The ledger of another name in the same database."""
        return PostgresAddress(self.conninfo, source_name(name))

    def __str__(self) -> str:
        """The address without who connects and with which password."""
        place = "…"
        if _is_clean(self.conninfo):
            parts = urlsplit(self.conninfo)
            place = f"{unquote(parts.netloc.rpartition('@')[2])}{parts.path}"
        return f"postgresql://{place}#{self.name}"

    def __repr__(self) -> str:
        return f"PostgresAddress({str(self)!r})"


def _is_clean(conninfo: str) -> bool:
    """Whether who connects, the host and the database are told apart: no mark of a password stands between them."""
    try:
        parts = urlsplit(conninfo)
        ports = [one.rpartition(":")[2] for one in _hosts(parts.netloc) if ":" in one]
    except ValueError:
        return False
    plain = "#" not in conninfo and "@" not in parts.path + parts.query and "/" not in parts.path[1:]
    return plain and all(port.isdecimal() or not port for port in ports)


def _hosts(netloc: str) -> list[str]:
    """The hosts, of which libpq takes several; what is in brackets has no port in it."""
    return re.sub(r"\[[^\]]*\]", "", netloc.rpartition("@")[2]).split(",")
