"""How well data fit their policy: exact numbers, for the owner's eyes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from tacit.tables.engines.backend import Quality
from tacit.tables.engines.registry import backend_for
from tacit.tables.engines.source import Source
from tacit.tables.expressions.kinds import Kind
from tacit.tables.policy.file import address, read
from tacit.tables.policy.policy import Policy, Role

__all__ = ["Look", "as_written", "look", "repeated_headers"]


@dataclass(frozen=True, slots=True)
class Look:
    """What an owner should know before anybody asks."""

    rows: int
    columns: tuple[tuple[str, Kind, Quality], ...]
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return "Look(private)"


def look(path: str | Path) -> Look:
    """Count, column by column, what the policy at this path makes of its data."""
    policy = read(path)
    place = address(policy, path)
    backend = backend_for(place, policy.options)
    source = backend.source(place, policy.options, policy.table)
    open_columns = {name: one for name, one in policy.columns.items() if one.role is not Role.FORBIDDEN}
    asked = replace(policy, columns=open_columns, others={})
    texts = replace(asked, columns={name: replace(one, kind=Kind.TEXT) for name, one in open_columns.items()})
    with backend.survey(as_written(source), texts) as survey:
        rows, present = survey.rows(), survey.present(list(open_columns))
    with backend.survey(backend.source(place, policy.options, policy.table), asked) as survey:
        found = survey.quality(list(open_columns.values()), present)
    columns = tuple((name, one.kind, found[name]) for name, one in open_columns.items())
    twice = [*getattr(source, "first_line", ())]
    repeated = [name for name, times in Counter(one.casefold() for one in twice if one).items() if times > 1]
    named = [f"the header has {name!r} more than once: the second is called {name}_2" for name in repeated]
    return Look(rows, columns, (*named, *repeated_headers(source), *_notes(policy, rows, columns)))


def as_written(source: Source) -> Source:
    """The source with its texts as they stand, also those that cannot be decoded and are null in answers."""
    made: Source = getattr(source, "as_written", lambda: source)()
    return made


def repeated_headers(source: Source) -> list[str]:
    """A word on lines that repeat the header, and are rows like any other."""
    again: int = getattr(source, "headers_again", lambda: 0)()
    if not again:
        return []
    lines = "1 line repeats" if again == 1 else f"{again:,} lines repeat"
    return [f"{lines} the header and count{'s' if again == 1 else ''} as rows: take them out of the file"]


def _notes(policy: Policy, rows: int, columns: tuple[tuple[str, Kind, Quality], ...]) -> list[str]:
    notes = []
    for name, kind, one in columns:
        if one.unreadable and one.unreadable == rows - one.empty:
            notes.append(f"{name}: not one cell can be read as {kind}: {_remedy(kind)}")
        elif one.unreadable:
            notes.append(f"{name}: {one.unreadable:,} of its cells cannot be read as {kind}: null in every answer")
        if name == policy.unit.column and (one.empty or one.unreadable):
            notes.append(f"{name}: rows without a unit are left out of every answer: {one.empty + one.unreadable:,}")
        if one.outside:
            what = "among the public keys" if policy.columns[name].keys is not None else "within the bounds"
            notes.append(f"{name}: not {what}: {one.outside:,} of its values")
    return notes


def _remedy(kind: Kind) -> str:
    if kind in (Kind.DATE, Kind.TIMESTAMP):
        return 'say how days are written, [reading] dates = "%d/%m/%Y"'
    if kind is Kind.REAL:
        return 'a decimal comma is [reading] decimal = ","'
    return 'is its type right, or the encoding, [reading] encoding = "latin-1"?'
