"""Text from strangers, made safe to show: an analyst's SQL, the keys of groups, the names of people."""

from __future__ import annotations

import re

__all__ = ["printable", "shortened"]

_UNPRINTABLE = re.compile(
    r"[^\x20-\x7e\xa0-\uffff\U00010000-\U0010ffff]|[\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)


def printable(text: str) -> str:
    """The text with every character written out that could move a cursor, turn the line around or hide itself.

    >>> printable("Aarhus\\x1b[2J")
    'Aarhus\\\\x1b[2J'
    """
    return _UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def shortened(text: str, longest: int) -> str:
    """At most ``longest`` characters, the last of them an ellipsis where something was cut.

    >>> shortened("Taumatawhakatangihanga", 12)
    'Taumatawhak…'
    """
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
