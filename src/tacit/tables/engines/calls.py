"""Which operators a draw asks for, wherever in it they stand: what an engine without a form for one refuses by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass

from tacit.tables.expressions.tree import Call

__all__ = ["called"]


def called(draw: object) -> Iterator[str]:
    """Their names; each value is looked at once.

    >>> from tacit.tables.expressions.tree import Column
    >>> list(called(({"where": Call("lower", (Column("city"),))},)))
    ['lower']
    """
    waiting, seen = [draw], set[int]()
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, type):
            continue
        seen.add(id(one))
        if isinstance(one, Call):
            yield one.operator
        if is_dataclass(one):
            waiting += [getattr(one, field.name) for field in fields(one)]
        elif isinstance(one, Mapping):
            waiting += [*one.keys(), *one.values()]
        elif isinstance(one, tuple | list | frozenset | set):
            waiting += one
        elif type(one).__module__.startswith("tacit."):
            waiting += getattr(one, "__dict__", {}).values()
