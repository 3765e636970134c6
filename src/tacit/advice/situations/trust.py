"""Whom the people trust: somebody who sees their values, somebody who mixes their messages, or nobody."""

from __future__ import annotations

from enum import Enum

from tacit.errors import InvalidParameter

__all__ = ["CURATOR", "NOBODY", "SHUFFLER", "Trust", "read_trust"]


class Trust(Enum):
    """Whom the people trust with what they hold."""

    CURATOR = "curator"
    SHUFFLER = "shuffler"
    NOBODY = "nobody"

    def __repr__(self) -> str:
        return f"tacit.advice.{self.name}"


CURATOR = Trust.CURATOR
SHUFFLER = Trust.SHUFFLER
NOBODY = Trust.NOBODY


def read_trust(trusted: object) -> Trust:
    """One of the three, or its name."""
    try:
        return Trust(trusted)
    except ValueError:
        allowed = "'curator', 'shuffler' or 'nobody'"
        raise InvalidParameter("trusted", given=trusted, allowed=allowed) from None
