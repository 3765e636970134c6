"""Which operators a draw asks for, and which queries, wherever in it they stand: what an engine refuses by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import TypeVar

from tacit.tables.expressions.tree import Call

Found = TypeVar("Found")

__all__ = ["called", "inside", "last_bits"]


def called(draw: object) -> Iterator[str]:
    """The names of operators.

    >>> from tacit.tables.expressions.tree import Column
    >>> list(called(({"where": Call("lower", (Column("city"),))},)))
    ['lower']
    """
    return (one.operator for one in inside(draw, Call))


def inside(draw: object, wanted: type[Found]) -> Iterator[Found]:
    """All values of a type; each value is looked at once."""
    waiting, seen = [draw], set[int]()
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, type):
            continue
        seen.add(id(one))
        if isinstance(one, wanted):
            yield one
        if is_dataclass(one):
            waiting += [getattr(one, field.name) for field in fields(one)]
        elif isinstance(one, Mapping):
            waiting += [*one.keys(), *one.values()]
        elif isinstance(one, tuple | list | frozenset | set):
            waiting += one
        elif type(one).__module__.startswith("tacit."):
            waiting += getattr(one, "__dict__", {}).values()


_BY_LIBRARY = ("ln", "log10", "log2", "exp", "power")


def last_bits(query: object) -> tuple[str, ...]:
    """What is said of functions that each engine has from another library.

    >>> from tacit.tables.expressions.tree import Column
    >>> last_bits(Call("exp", (Column("x"),)))
    ("EXP may differ from DuckDB's in the last bit: a row's value by one granule at most",)
    """
    found = sorted({name.upper() for name in called(query)} & {name.upper() for name in _BY_LIBRARY})
    said = "may differ from DuckDB's in the last bit: a row's value by one granule at most"
    return (f"{', '.join(found)} {said}",) if found else ()
