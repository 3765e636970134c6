"""Names that a ledger writes down: who asked, which data set, which request."""

from __future__ import annotations

import unicodedata
from pathlib import Path

from tacit.errors import InvalidParameter

__all__ = ["analyst_name", "beside", "plain_text", "some_text", "source_name"]

_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def analyst_name(value: object) -> str:
    """The one spelling under which an analyst's account is kept: composed Unicode, no invisible characters.

    >>> analyst_name("Zoe\\u0308") == analyst_name("Zoë")
    True
    >>> analyst_name("bob\\u200b")
    Traceback (most recent call last):
    ...
    tacit.errors.InvalidParameter: analyst: given 'bob\\u200b'; allowed: a name of 1 to 200 visible characters.
    """
    return _name(value, "analyst", 200)


def source_name(value: object) -> str:
    """The one spelling of a data source's identity, which the caller chooses: a resolved path, a table's address."""
    return _name(value, "source", 4000)


def plain_text(value: object, name: str, longest: int = 1_000_000) -> str:
    """A text that the ledger stores without looking into it."""
    if isinstance(value, str) and len(value) <= longest and not _has_surrogates(value):
        return value
    raise InvalidParameter(name, given=value, allowed=f"text of at most {longest:,} characters")


def some_text(value: object, name: str, longest: int) -> str:
    """A text that must say something."""
    if isinstance(value, str) and value.strip():
        return plain_text(value, name, longest)
    raise InvalidParameter(name, given=value, allowed=f"text of 1 to {longest:,} characters, not all of them spaces")


def beside(data: str | Path) -> Path:
    """Where the ledger of a file lives: next to the data itself, whichever link or policy led there.

    >>> beside("/data/people.csv").name
    'people.ledger'
    """
    found = Path(data).resolve()
    if not found.name:
        raise InvalidParameter("data", given=str(data), allowed="the path of a file")
    return found.with_suffix(".ledger")


def _name(value: object, name: str, longest: int) -> str:
    if isinstance(value, str) and not _has_surrogates(value):
        if value.isascii() and value.isprintable() and 0 < len(value) <= longest and value == value.strip():
            return value
        spelled = unicodedata.normalize("NFC", value).strip()
        if 0 < len(spelled) <= longest and not any(unicodedata.category(char) in _INVISIBLE for char in spelled):
            return spelled
    raise InvalidParameter(name, given=value, allowed=f"a name of 1 to {longest} visible characters")


def _has_surrogates(value: str) -> bool:
    return any("\ud800" <= char <= "\udfff" for char in value) if not value.isascii() else False
