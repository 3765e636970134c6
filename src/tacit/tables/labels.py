"""Names that a question gives to columns: text on one line, which every engine can write and every reader can read."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tacit.errors import InvalidParameter
from tacit.tables.relations import Relation

__all__ = ["check_labels", "labels_in"]

_UNWRITABLE = re.compile(r"[\0\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029\ud800-\udfff]")
"""NUL, whatever ends a line, and halves of characters: no text that is indented and encoded keeps them."""


def check_labels(names: Iterable[object]) -> None:
    """Refuse a name that is empty or blank, or that no engine can be asked for: free, before anything is paid."""
    for name in names:
        if not isinstance(name, str) or not name.strip() or _UNWRITABLE.search(name):
            raise InvalidParameter("name", given=name, allowed="visible text on one line")


def labels_in(relation: Relation | None) -> Iterable[str]:
    """Every name of a column in a relation, and in what it is computed from."""
    if relation is not None:
        yield from relation.names()
        for below in relation.below():
            yield from labels_in(below)
