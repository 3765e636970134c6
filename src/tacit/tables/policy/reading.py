"""How a text file is to be read: the owner's words in ``[reading]``, checked."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from tacit.errors import InvalidParameter

__all__ = ["FORMATS", "OPTIONS", "Reading"]

FORMATS = ("csv", "json lines", "parquet", "duckdb")
OPTIONS = {
    "format": "one of " + ", ".join(FORMATS),
    "delimiter": "one ASCII character; unless given, the commonest of , ; | and tab in the header",
    "quote": "one ASCII character, or empty for none",
    "encoding": "a name such as utf-8, latin-1 or utf-16",
    "null": "the text that stands for null besides the empty one; several, one per line",
    "header": "true or false: whether the first line names the columns",
    "lines": "true or false: whether a line is always a row, even within quotes",
    "table": "the name of the table in a DuckDB file",
}
"""Every option of ``[reading]``, and what it takes."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The options, typed; ``delimiter`` None: found in the header, which is schema, never in rows."""

    format: str | None = None
    delimiter: str | None = None
    quote: str = '"'
    encoding: str | None = None
    null: tuple[str, ...] = ()
    header: bool = True
    lines: bool = False
    table: str | None = None

    @classmethod
    def of(cls, options: Mapping[str, str]) -> Self:
        """The options of a policy, each checked."""
        for name in options:
            if name not in OPTIONS:
                raise InvalidParameter("reading", given=name, allowed=", ".join(OPTIONS))
        return cls(
            format=_one_of(options.get("format"), "format", FORMATS),
            delimiter=_character(options.get("delimiter"), "delimiter"),
            quote=_character(options.get("quote", '"') or None, "quote") or "",
            encoding=_encoding(options.get("encoding")),
            null=tuple(text for text in options.get("null", "").split("\n") if text),
            header=_truth(options.get("header", "true"), "header"),
            lines=_truth(options.get("lines", "false"), "lines"),
            table=options.get("table"),
        )


def _one_of(value: str | None, name: str, allowed: tuple[str, ...]) -> str | None:
    if value is None or value in allowed:
        return value
    raise InvalidParameter(name, given=value, allowed=", ".join(allowed))


def _truth(value: str, name: str) -> bool:
    if value in ("true", "false"):
        return value == "true"
    raise InvalidParameter(name, given=value, allowed="true or false")


def _character(value: str | None, name: str) -> str | None:
    if value is None or (len(value) == 1 and value.isascii() and value not in "\r\n\0"):
        return value
    raise InvalidParameter(name, given=value, allowed="one ASCII character, not a line break")


def _encoding(value: str | None) -> str | None:
    if value is None:
        return None
    try:
        found = codecs.lookup(value)
        "".encode(found.name)  # refuses codecs such as hex, which are not about text
    except (LookupError, ValueError):
        raise InvalidParameter("encoding", given=value, allowed="a name such as utf-8, latin-1 or utf-16") from None
    return found.name
