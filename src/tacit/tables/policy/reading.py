"""How a source is to be read: the owner's words in ``[reading]``, checked."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from tacit.errors import InvalidParameter

__all__ = ["FORMATS", "LISTS", "NUMBERS", "OPTIONS", "TRUTHS", "Reading", "joined"]

FORMATS = ("csv", "json lines", "json", "parquet", "duckdb", "sqlite", "excel")
ENGINES = ("duckdb", "spark")
OPTIONS = {
    "format": "one of " + ", ".join(FORMATS),
    "delimiter": "one ASCII character; unless given, the commonest of , ; | and tab in the header",
    "quote": "one ASCII character, or empty for none",
    "encoding": "a name such as utf-8, latin-1 or utf-16",
    "null": "the text that stands for null besides the empty one; several, as a list",
    "header": "true or false: whether the first line names the columns",
    "names": "a list of names for all columns, in the order of the file",
    "skip": "how many lines stand before the header",
    "lines": "true or false: whether a line is always a row, even within quotes",
    "trim": "true or false: whether blanks around a text are left out",
    "decimal": 'the decimal mark of numbers, "." or ","',
    "dates": 'how days and moments are written, such as "%d/%m/%Y"; several, as a list',
    "engine": "the engine that reads a folder of Parquet files: one of " + ", ".join(ENGINES),
    "table": "the name of the table in a DuckDB or SQLite file, or of the sheet of a workbook",
}
"""Every option of ``[reading]``, and what it takes."""

TRUTHS = ("header", "lines", "trim")
NUMBERS = ("skip",)
LISTS = ("null", "names", "dates")
"""Options that are no single text: truth values, whole numbers, and lists, which are kept one per line."""

_MOST_SKIPPED = 10_000
_DIRECTIVES = "YymdbBHMSfIp"
_DAY = ({"d"}, {"m", "b", "B"}, {"Y", "y"})


@dataclass(frozen=True, slots=True)
class Reading:
    """The options, typed; ``delimiter`` None: found in the header, which is schema, never in rows."""

    format: str | None = None
    delimiter: str | None = None
    quote: str = '"'
    encoding: str | None = None
    null: tuple[str, ...] = ()
    header: bool = True
    names: tuple[str, ...] = ()
    skip: int = 0
    lines: bool = False
    trim: bool = False
    decimal: str = "."
    dates: tuple[str, ...] = ()
    table: str | None = None
    engine: str | None = None

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
            names=_names(options.get("names")),
            skip=_count(options.get("skip", "0"), "skip"),
            lines=_truth(options.get("lines", "false"), "lines"),
            trim=_truth(options.get("trim", "false"), "trim"),
            decimal=_one_of(options.get("decimal", "."), "decimal", (".", ",")) or ".",
            dates=tuple(_date(one) for one in options.get("dates", "").split("\n") if one),
            table=options.get("table"),
            engine=_one_of(options.get("engine"), "engine", ENGINES),
        )


def joined(value: object) -> str:
    """An option's value as the text that `Reading.of` takes: lists one per line, truth values in small letters."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "\n".join(str(one) for one in value)
    return str(value)


def _one_of(value: str | None, name: str, allowed: tuple[str, ...]) -> str | None:
    if value is None or value in allowed:
        return value
    raise InvalidParameter(name, given=value, allowed=", ".join(allowed))


def _truth(value: str, name: str) -> bool:
    if value in ("true", "false"):
        return value == "true"
    raise InvalidParameter(name, given=value, allowed="true or false")


def _count(value: str, name: str) -> int:
    if value.isascii() and value.isdigit() and int(value) <= _MOST_SKIPPED:
        return int(value)
    raise InvalidParameter(name, given=value, allowed=f"a whole number from 0 to {_MOST_SKIPPED:,}")


def _character(value: str | None, name: str) -> str | None:
    if value is None or (len(value) == 1 and value.isascii() and value not in "\r\n\0"):
        return value
    raise InvalidParameter(name, given=value, allowed="one ASCII character, not a line break")


def _names(value: str | None) -> tuple[str, ...]:
    """Names that SQL can tell apart."""
    names = () if value is None else tuple(value.split("\n"))
    folded = {name.casefold() for name in names}
    if len(folded) < len(names) or not all(name.strip() and name.isprintable() for name in names):
        raise InvalidParameter("names", given=", ".join(names), allowed="visible names, each of which is there once")
    return names


def _date(value: str) -> str:
    """A format of days: a day, a month and a year, and perhaps hours, minutes, seconds."""
    found = re.findall(r"%(.)", value)
    unknown = [one for one in found if one not in _DIRECTIVES]
    whole = all(len(part & set(found)) == 1 for part in _DAY) and len(found) == len(set(found))
    if unknown or not whole or value.count("%") != len(found) or not value.isprintable():
        allowed = "a day, a month and a year, such as %d/%m/%Y, %m/%d/%y or %d.%m.%Y %H:%M:%S"
        raise InvalidParameter("dates", given=value, allowed=allowed)
    return value


def _encoding(value: str | None) -> str | None:
    if value is None:
        return None
    try:
        found = codecs.lookup(value)
        "".encode(found.name)  # refuses codecs such as hex, which are not about text
    except (LookupError, ValueError):
        raise InvalidParameter("encoding", given=value, allowed="a name such as utf-8, latin-1 or utf-16") from None
    return found.name
