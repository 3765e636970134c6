"""The other tables of a session: opened, what is public of them found out, and one ledger kept for all of them.

`Stamps` tells whether the public files are still those that were opened; it looks at nothing that is private.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

from tacit.errors import InvalidParameter, LedgerError, PolicyError
from tacit.ledger import beside
from tacit.ledger.elsewhere import refuse_elsewhere
from tacit.ledger.same_data import refuse_known
from tacit.tables.engines.backend import Backend, ColumnContents
from tacit.tables.engines.source import Source, has_files, is_frame
from tacit.tables.expressions.kinds import Kind
from tacit.tables.policy.file import placed
from tacit.tables.policy.policy import ColumnPolicy, OtherTable, Policy, Role

__all__ = [
    "Claim",
    "Stamps",
    "book_of",
    "known",
    "name_in",
    "open_others",
    "refuse_lost",
    "refuse_second",
    "with_public",
]


def open_others(policy: Policy, folder: Path, backend: Backend) -> dict[str, Source]:
    """The sources of the other tables; their paths are relative to the policy's folder."""
    return {name: backend.source(placed(one.source, folder), one.options, name) for name, one in policy.others.items()}


def with_public(
    policy: Policy, others: Mapping[str, Source], given: Mapping[str, Any], private: object, backend: Backend
) -> tuple[Policy, dict[str, Source]]:
    """With the public tables that a call names: files, whose columns are text unless they say, or frames."""
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise InvalidParameter("public", given=type(given).__name__, allowed='{"regions": a file or a frame}')
    tables, sources = dict(policy.others), dict(others)
    for name, where in given.items():
        if where is private:
            raise PolicyError(f"{name} is declared public, and is the private table itself.")
        if name.casefold() in (one.casefold() for one in (policy.table, *tables)):
            raise InvalidParameter("public", given=name, allowed="a name that no other table has")
        source = backend.source(where, {}, name)
        kinds = backend.kinds(source)
        columns = {
            column: ColumnPolicy(column, kinds.get(column, Kind.TEXT), Role.PRIVATE) for column in source.column_names()
        }
        tables[name], sources[name] = OtherTable(name, source.identity, columns), source
    return replace(policy, others=tables), sources


def known(policy: Policy, source: Source, others: Mapping[str, Source], backend: Backend) -> Policy:
    """The policy with what public tables hold: their values are keys of groups, and numbers have ends."""
    found = dict[str, OtherTable]()
    protected = [source, *(one for name, one in others.items() if not policy.others[name].is_public)]
    private = {_rows_of(one, of_views=True) for one in protected}
    for name, table in policy.others.items():
        others[name].check(tuple(table.columns.values()))
        if not table.is_public:
            if _rows_of(others[name]) == _rows_of(source) and table.unit != policy.unit.column:
                raise PolicyError(
                    f"{name} is the table itself, and its unit is {table.unit}, not {policy.unit.column}: its rows "
                    "would be of somebody else. Nothing was spent."
                )
            found[name] = table
            continue
        if _rows_of(others[name], of_views=True) in private or any(_share(others[name], one) for one in protected):
            raise PolicyError(f"{name} is declared public, and its source is that of a private table too.")
        held = backend.contents(table, others[name], policy)
        columns = {column: _described(table.columns[column], one) for column, one in held.columns.items()}
        found[name] = replace(table, columns=columns, contents=held.stamp, size=held.size)
    return replace(policy, others=found)


def _share(one: Source, other: Source) -> bool:
    """Whether a folder that is one table has a file of the other in it, or tables of a database have the same rows."""
    if not getattr(one, "rows_of", frozenset()).isdisjoint(getattr(other, "rows_of", frozenset())):
        return True
    some, more = ({*getattr(part, "paths", ())} if os.path.isdir(part.identity) else set() for part in (one, other))
    return not some.isdisjoint({*more, other.identity}) or one.identity in more


def _rows_of(source: Source, *, of_views: bool = False) -> tuple[str, str]:
    """Which rows a source reads: a file, by any of its names, and of one that holds several tables, which.

    ``of_views``: of a view, the table that it is about.
    """
    table = getattr(source, "table", "")
    which = str(getattr(source, "base", table) if of_views else table).casefold()
    try:
        found = os.stat(source.identity)
    except (OSError, ValueError):  # a frame
        return source.identity, which
    return f"{found.st_dev}:{found.st_ino}", which


def _described(column: ColumnPolicy, held: ColumnContents) -> ColumnPolicy:
    column = replace(column, repeats=held.repeats)
    if column.kind.is_number and column.bounds is None and held.low is not None:
        column = replace(column, bounds=(Fraction(held.low), Fraction(held.high)))
    return column if held.values is None else replace(column, role=Role.PUBLIC, keys=held.values)


@dataclass(frozen=True, slots=True)
class Claim:
    """What says beside every private source that its budget is kept in the ledger of another."""

    book: Path | None
    links: tuple[Path, ...]

    @classmethod
    def of(cls, place: Path | None, policy: Policy, others: Mapping[str, Source]) -> Claim:
        """Refuses sources that have a ledger of their own: what a unit spends would be in two books."""
        if place is None:  # the ledger was chosen by the caller
            return cls(None, ())
        book, links = Path(os.path.realpath(place)), []
        for name, table in policy.others.items():
            if is_frame(others[name]):
                continue
            own = book_of(others[name])
            refuse_lost(own)
            if os.path.realpath(own) == str(book):
                continue
            if os.path.lexists(own):
                raise _taken(table, own, book)
            if not table.is_public:
                refuse_second(others[name], own, book)
                links.append(own)
        return cls(book, tuple(links))

    def make(self) -> None:
        """Put a link to the ledger beside each private source that has none."""
        for place in self.links:
            assert self.book is not None
            try:
                os.symlink(os.path.relpath(self.book, place.parent), place)
            except FileExistsError:
                if os.path.realpath(place) != str(self.book):
                    raise LedgerError(f"{place} has just become a ledger of its own. Nothing was spent.") from None
            except OSError as error:
                raise LedgerError(
                    f"{place} cannot be made, which is to say that the budget of this source is kept in {self.book}: "
                    f"{error.strerror}. Nothing was spent."
                ) from None


def _taken(table: OtherTable, place: Path, book: Path) -> PolicyError:
    if table.is_public:
        return PolicyError(
            f"{table.name} is declared public, and {place.name} lies beside its source: somebody asks about it as "
            "private data. Nothing was spent."
        )
    return PolicyError(
        f"{table.name} has a ledger of its own, {place}, and this session pays into {book}: a unit could spend both "
        "budgets. Ask about each table alone, under its own policy: what the two promise adds up. Tables share a "
        "budget if one policy names them before either is first opened. Nothing was spent."
    )


Stamp = tuple[int, ...] | None
"""Which file it is, its length, and when it was last written; None for what is no file."""


@dataclass(frozen=True, slots=True)
class Stamps:
    """The public files by the names of their tables: where each is, and its stamp when it was opened."""

    files: Mapping[str, tuple[str, Stamp]]

    @classmethod
    def of(cls, policy: Policy, others: Mapping[str, Source]) -> Stamps:
        """Taken before the files are read, so that what is written meanwhile is noticed."""
        public = {name: others[name].identity for name, one in policy.others.items() if one.is_public}
        return cls({name: (place, _stamp(place)) for name, place in public.items()})

    def check(self) -> None:
        """Refuse, before anything is paid or recalled, if a file is not what it was: its keys and ends are others."""
        for name, (place, stamp) in self.files.items():
            if _stamp(place) != stamp:
                raise PolicyError(
                    f"The public table {name} has changed since it was opened, and answers are made and remembered for "
                    "what it held then. Open the table again: tacit.open(…). Nothing was spent."
                )


def _stamp(place: str) -> Stamp:
    try:
        found = os.stat(place)
    except (OSError, ValueError):  # a frame, or a file that is gone
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


# where a ledger is: beside a file, or, of a table in a database, in one folder for all of them


def book_of(source: Source) -> Path:
    """The ledger's path, made from what the rows are, not from how they are addressed."""
    return beside(source.identity) if has_files(source) else cast("Path", source.book)  # type: ignore[attr-defined]


def name_in(source: Source, book: Path) -> str:
    """What a ledger calls rows that are in no file: of a view that is paid for there, the table below it."""
    found = source.identity if is_frame(source) else source.name_in(book)  # type: ignore[attr-defined]
    return cast("str", found)


def refuse_second(source: Source, place: Path, paid: Path | None = None) -> None:
    """Refuse rows that another ledger knows already; theirs would begin at ``place``, or are ``paid`` for there."""
    if has_files(source):
        refuse_known(Path(source.identity), place, paid, getattr(source, "files", ()))
        return
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    source.refuse_known(paid)  # type: ignore[attr-defined]


def refuse_lost(place: Path) -> None:
    """Refuse a link to a ledger that is not there: what was spent on this source is written in it."""
    if place.is_symlink() and not place.exists():
        refuse_elsewhere(place)
        raise LedgerError(
            f"{place} says that the budget of this source is kept in {os.path.realpath(place)}, and that is not there. "
            "Put it back: what was spent is written in it. Nothing was spent."
        )
