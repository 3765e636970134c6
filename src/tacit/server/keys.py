"""Keys: who is asking, made of 256 random bits of which only a hash is kept; and sign-ins of the page."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from tacit.errors import InvalidParameter, LedgerError
from tacit.ledger.chain import now, stamp
from tacit.ledger.names import analyst_name
from tacit.server.roles import Act, Role, may
from tacit.server.tables_of_keys import Place

__all__ = ["Key", "Keys"]

_FORM = re.compile(r"tacit_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
_NOBODY = hashlib.sha256(b"nobody").hexdigest()
_SIGNED_IN = timedelta(hours=12)
_COLUMNS = "id, name, role, tables, hash, made, expires, revoked"


@dataclass(frozen=True, slots=True)
class Key:
    """A key as the service knows it: never the key itself."""

    id: str
    name: str
    """Whose account pays."""
    role: Role
    tables: tuple[str, ...] | None
    """The tables that it opens; None: all."""
    made: str
    expires: str | None
    revoked: str | None

    def may(self, act: Act, table: str | None = None) -> bool:
        """Whether it is for this, and for this table."""
        return may(self.role, act) and (table is None or self.tables is None or table in self.tables)

    def to_dict(self) -> dict[str, Any]:
        """The key as JSON values."""
        return {
            "id": self.id,
            "name": self.name,
            "role": self.role.value,
            "tables": None if self.tables is None else list(self.tables),
            "made": self.made,
            "expires": self.expires,
            "revoked": self.revoked,
        }


class Keys:
    """The keys of a service. Revoking takes effect with the next request, in every process."""

    def __init__(self, place: Place, heads: Place | None = None, clock: Callable[[], datetime] = now) -> None:
        self._place = place
        self._heads = place if heads is None else heads
        self._beside = place.beside()
        self._clock = clock
        self._latest = clock()

    def _now(self) -> datetime:
        """Never earlier than it was: a clock that is set back opens nothing that has ended, while this process runs."""
        self._latest = max(self._latest, self._clock())
        return self._latest

    def make(
        self, name: str, role: Role, *, tables: Sequence[str] | None = None, days: float | None = None
    ) -> tuple[Key, str]:
        """A new key, and its text, which is shown once and kept nowhere."""
        if days is not None and not 0 < days <= 36_500:
            raise InvalidParameter("days", given=days, allowed="above 0, up to 36500")
        moment = self._now()
        key = Key(
            secrets.token_hex(6),
            analyst_name(name),
            role,
            None if tables is None else tuple(tables),
            stamp(moment),
            None if days is None else stamp(moment + timedelta(days=days)),
            None,
        )
        secret = secrets.token_urlsafe(32)
        scope = None if key.tables is None else json.dumps(list(key.tables))
        self._place.run(
            f"INSERT INTO keys ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            *(key.id, key.name, role.value, scope, _hashed(secret), key.made, key.expires, None),
        )
        return key, f"tacit_{key.id}_{secret}"

    def known(self, text: str) -> Key | None:
        """The key behind a text, if it is one that is valid now; the same work is done for one that is not."""
        return self._known(text, self._place)

    def known_at_once(self, text: str) -> Key | None:
        """The same for one thread that may wait for nobody: None also where it would have to."""
        try:
            return None if self._beside is None else self._known(text, self._beside)
        except LedgerError:  # somebody writes
            return None

    def _known(self, text: str, place: Place) -> Key | None:
        found = _FORM.fullmatch(text)
        rows = place.run(f"SELECT {_COLUMNS} FROM keys WHERE id = ?", found[1] if found else "")
        row = rows[0] if rows else None
        right = hmac.compare_digest(_hashed(found[2] if found else ""), str(row[4]) if row else _NOBODY)
        return self._valid(row) if right and row else None

    def _valid(self, row: Any) -> Key | None:
        key = _key(row)
        if key.revoked is not None or (key.expires is not None and key.expires <= stamp(self._now())):
            return None
        return key

    def all(self) -> list[Key]:
        """Every key that was made."""
        return [_key(row) for row in self._place.run(f"SELECT {_COLUMNS} FROM keys ORDER BY made, id")]

    def revoke(self, id_: str) -> Key:
        """End a key for good, and every sign-in by it."""
        if not self._place.run("SELECT id FROM keys WHERE id = ?", id_):
            raise InvalidParameter("key", given=id_, allowed="the id of a key that was made")
        self._place.run("UPDATE keys SET revoked = ? WHERE id = ? AND revoked IS NULL", stamp(self._now()), id_)
        self._place.run("DELETE FROM signins WHERE id = ?", id_)
        return next(key for key in self.all() if key.id == id_)

    # The page.

    def sign_in(self, key: Key) -> str:
        """What a cookie holds: not the key, and not for long."""
        token = secrets.token_urlsafe(32)
        moment = self._now()
        self._place.run("DELETE FROM signins WHERE expires <= ?", stamp(moment))
        self._place.run("INSERT INTO signins VALUES (?, ?, ?)", _hashed(token), key.id, stamp(moment + _SIGNED_IN))
        return token

    def signed_in(self, token: str) -> Key | None:
        """The key that a cookie stands for, if both are valid now."""
        rows = self._place.run("SELECT id, expires FROM signins WHERE hash = ?", _hashed(token))
        if not rows or rows[0][1] <= stamp(self._now()):
            return None
        found = self._place.run(f"SELECT {_COLUMNS} FROM keys WHERE id = ?", rows[0][0])
        return self._valid(found[0]) if found else None

    def sign_out(self, token: str) -> None:
        """Forget a cookie."""
        self._place.run("DELETE FROM signins WHERE hash = ?", _hashed(token))

    # Newest heads, kept apart from the ledgers: an older copy that is put back does not have them.

    def newest(self, ledger: str) -> tuple[int, str] | None:
        """The newest entry of a ledger that was seen: its number and hash."""
        rows = self._heads.run("SELECT number, hash FROM heads WHERE ledger = ?", ledger)
        return (int(rows[0][0]), str(rows[0][1])) if rows else None

    def saw(self, ledger: str, number: int, link: str, *, anew: bool = False) -> None:
        """Remember it, if it is newer than what was seen; or ``anew``, since the owner said so."""
        self._heads.run(
            "INSERT INTO heads VALUES (?, ?, ?) ON CONFLICT (ledger) DO UPDATE SET number = excluded.number, "
            "hash = excluded.hash" + ("" if anew else " WHERE excluded.number > heads.number"),
            *(ledger, number, link),
        )

    def close(self) -> None:
        """Let go of the places."""
        if self._beside is not None:
            self._beside.close()
        self._place.close()
        if self._heads is not self._place:
            self._heads.close()


def _hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


@lru_cache(maxsize=1000)
def _key(row: Any) -> Key:
    id_, name, role, tables, _, made, expires, revoked = row
    scope = None if tables is None else tuple(json.loads(tables))
    return Key(id_, name, Role(role), scope, made, expires, revoked)
