"""Pseudonyms: the same name for the same person, which only the holder of a key can make. Not anonymity."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
from dataclasses import dataclass, field
from pathlib import Path

from tacit.errors import InvalidParameter

__all__ = ["PseudonymKey"]

_BYTES = 32
_SHOWN = 16


@dataclass(frozen=True, slots=True)
class PseudonymKey:
    """A secret key of at least 32 bytes, kept in a file of its own.

    >>> key = PseudonymKey(bytes(32))
    >>> key.pseudonym("name", "Ada") == key.pseudonym("name", "Ada") != key.pseudonym("mother", "Ada")
    True
    """

    secret: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.secret, bytes) or len(self.secret) < _BYTES:
            raise InvalidParameter("key", given="too few bytes", allowed=f"at least {_BYTES} secret bytes")

    @classmethod
    def create(cls, path: str | Path) -> PseudonymKey:
        """Make a new key and write it to a new file that only its owner can read."""
        secret = secrets.token_bytes(_BYTES)
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            given = f"{path} ({error.strerror})"
            raise InvalidParameter("key", given=given, allowed="a file that does not exist yet") from None
        with open(descriptor, "w", encoding="ascii") as file:
            file.write(secret.hex() + "\n")
        return cls(secret)

    @classmethod
    def read(cls, path: str | Path) -> PseudonymKey:
        """Read a key from its file, which others must not be able to read."""
        try:
            text = Path(path).read_text(encoding="ascii").strip()
            others = os.stat(path).st_mode & (stat.S_IRWXG | stat.S_IRWXO)
        except OSError as error:
            raise InvalidParameter("key", given=f"{path} ({error.strerror})", allowed="a file of a key") from None
        except UnicodeDecodeError:
            text, others = "", 0
        if others and os.name == "posix":
            hint = f"chmod 600 {path}"
            raise InvalidParameter("key", given="a file that others can open", allowed="one of its owner's", hint=hint)
        try:
            return cls(bytes.fromhex(text))
        except ValueError:
            allowed = f"a file with at least {_BYTES} bytes in hexadecimal"
            raise InvalidParameter("key", given=str(path), allowed=allowed) from None

    @staticmethod
    def refuse_beside(path: str | Path, data: str | Path) -> None:
        """A key in the folder of the data, or of the release, goes wherever these go: refused."""
        if Path(path).resolve().parent == Path(data).resolve().parent:
            allowed = "a file in another folder than the data and the release"
            raise InvalidParameter("key", given=f"a file beside {Path(data).name}", allowed=allowed)

    def pseudonym(self, column: str, value: str) -> str:
        """128 bits of HMAC-SHA-256 of the value, under the name of its column."""
        message = len(column.encode()).to_bytes(8, "big") + column.encode() + value.encode()
        return hmac.new(self.secret, message, hashlib.sha256).hexdigest()[: 2 * _SHOWN]
