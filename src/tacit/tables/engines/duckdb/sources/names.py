"""Names of columns that SQL can tell apart, from a header as it is."""

from __future__ import annotations

from collections.abc import Iterable

from tacit.errors import InvalidParameter, PolicyError

__all__ = ["named", "refuse_empty", "usable_names"]


def usable_names(header: Iterable[str]) -> tuple[str, ...]:
    """The names of a header: one that is there already gets a number, one that cannot be seen gets its place.

    >>> usable_names(["id", "Value", "value", "", "value_2"])
    ('id', 'Value', 'value_3', 'column4', 'value_2')
    """
    given = [name.strip() for name in header]
    first = {name.casefold(): at for at, name in reversed(list(enumerate(given)))}
    taken = set(first)
    names = list[str]()
    for at, name in enumerate(given):
        base, number = (name, 1) if name.strip() and name.isprintable() else (f"column{at + 1}", 0)
        made = base
        while made.casefold() in taken and first.get(made.casefold()) != at:
            number += 1
            made = f"{base}_{number}"
        taken.add(made.casefold())
        names.append(made)
    return tuple(names)


def named(header: tuple[str, ...], names: tuple[str, ...], where: str) -> tuple[str, ...]:
    """The names that the policy gives in place of those in the header, as many as there are columns."""
    if not names:
        return header
    if len(names) != len(header):
        raise PolicyError(
            f"[reading] names has {len(names)} names, and {where} has {len(header)} columns: one for each, in order. "
            "Nothing was spent."
        )
    return names


def refuse_empty(header: tuple[str, ...], where: str, what: str) -> None:
    """Refuse a source whose first line names nothing."""
    if not any(header):
        hint = "Is it empty, or does its first line hold something else? Without a header: header = false."
        raise InvalidParameter("source", given=where, allowed=f"{what} whose first line names columns", hint=hint)
