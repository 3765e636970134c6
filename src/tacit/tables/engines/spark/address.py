"""Where a table of Spark is: ``spark:catalog.schema.table``."""

from __future__ import annotations

import re

from tacit.errors import InvalidParameter

__all__ = ["FORM", "is_address", "name_of"]

_SCHEME = "spark:"
FORM = "spark:catalog.schema.table"
_NAME = re.compile(r"\w+(\.\w+){0,2}")


def is_address(where: object) -> bool:
    """Whether it names a table of Spark."""
    return isinstance(where, str) and where.startswith(_SCHEME)


def name_of(where: str) -> str:
    """The name of the table, as Spark writes it.

    >>> name_of("spark:lake.shop.visits")
    'lake.shop.visits'
    """
    name = where.removeprefix(_SCHEME)
    if not _NAME.fullmatch(name):
        raise InvalidParameter("source", given=where, allowed=FORM, hint="Nothing was spent.")
    return name
