"""A request: what is asked for, by whom, under which key. Nothing in it may be computed from the data.

And the one spelling of each name that a ledger writes down: who asked, which data set, which request.
"""

from __future__ import annotations

import hashlib
import unicodedata
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from tacit.errors import InvalidParameter, NotPrivate
from tacit.ledger.amounts import Amount
from tacit.ledger.chain import canonical
from tacit.noise.entropy import BitSource, system_entropy

__all__ = ["Request", "analyst_name", "beside", "plain_text", "secret_hex", "some_text", "source_name"]


@dataclass(frozen=True, slots=True)
class Request:
    """One question of one analyst under one version of the policy; the ledger treats all three as opaque text.

    Without a ``key``, equal requests at the same price are one request: asking again is free. A ``key`` names one
    request of one analyst for good: the same key with another question, policy or price is refused.

    >>> Request("ada", "SELECT COUNT(*) FROM people").fresh().key is None
    False
    """

    analyst: str
    question: str
    policy: str = ""
    key: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "analyst", analyst_name(self.analyst))
        plain_text(self.question, "question")
        plain_text(self.policy, "policy version", 1000)
        if self.key is not None:
            some_text(self.key, "request key", 1000)

    def fresh(self, entropy: BitSource | None = None) -> Self:
        """The same question under a key nobody has used: it is paid for and drawn anew."""
        return replace(self, key=f"fresh-{secret_hex(entropy)}")

    def digest(self, source: str, price: Amount) -> str:
        """The name under which the answer is stored: (data set, policy version, question, price, analyst, key)."""
        parts = ["tacit request 1", source, self.policy, self.question, price.texts(), self.analyst, self.key]
        return hashlib.sha256(canonical(parts)).hexdigest()


def secret_hex(entropy: BitSource | None = None) -> str:
    """128 secret random bits; a source that can be replayed is refused."""
    bits = system_entropy() if entropy is None else entropy
    if not bits.secret:
        raise NotPrivate(f"{bits!r} can be replayed; a ledger takes its random keys from the operating system only.")
    return f"{bits.bits(128):032x}"


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
