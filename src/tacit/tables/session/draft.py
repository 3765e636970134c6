"""A first policy for a table: names and types in the file, everything else drawn from rows in hints for its owner.

Run by the data's owner on the owner's machine. Types are guessed from the rows; nothing else of them goes into the
text, which analysts will see. The hints are exact numbers: they are for the owner's screen only.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

from tacit.errors import PolicyError, UnknownColumn
from tacit.ledger import Terms
from tacit.privacy import ROW, PureDP
from tacit.tables.engines.backend import Found, Survey, UnitRows
from tacit.tables.engines.registry import backend_for
from tacit.tables.engines.source import Source
from tacit.tables.expressions.kinds import Kind
from tacit.tables.policy.policy import ColumnPolicy, Policy, Role, is_address
from tacit.tables.policy.writer import key, option, quoted
from tacit.tables.session.quality import as_written, repeated_headers

__all__ = ["Draft", "draft"]

_NAMES_OF_UNITS = (
    "user",
    "person",
    "patient",
    "customer",
    "client",
    "member",
    "account",
    "student",
    "employee",
    "household",
)
_GROUPS, _ROWS = 4, 4
_MOST_COUNTED = 200  # columns whose different values are counted to the last one


@dataclass(frozen=True, slots=True)
class Draft:
    """The text of a policy file, and what its owner may want to know while completing it."""

    text: str
    hints: tuple[str, ...]
    unit: str | None
    """The unit in the text; None if it is still open."""
    table: str = ""
    """Its name in SQL."""
    notes: tuple[str, ...] = ()
    """What was guessed from rows and written into the text, or could not be: the owner should look at it."""

    def __repr__(self) -> str:
        return "Draft(private)"


def draft(
    source_path: str | Path,
    unit: str | None = None,
    *,
    beside: str | Path | None = None,
    reading: Mapping[str, str] | None = None,
) -> Draft:
    """Draft a policy for a file; ``beside`` is the folder that the policy will be in, that of the data unless given.

    ``reading`` says how the file is read; what it does not say is guessed, and written down.
    """
    path = Path(source_path)
    where = str(source_path) if is_address(str(source_path)) else path
    backend = backend_for(where, reading)
    guess = backend.guess(where, reading or {})
    source = backend.source(where, guess.options)
    there = backend.all_names(source)
    names = _usable(there)
    if not names:
        raise PolicyError(
            f"No column was found in {path.name}. JSON is an object on each line, or one array, which begins with [; "
            "a table of text has a header, or is read with --no-header. Nothing was written."
        )
    if unit is not None and unit != "row" and unit not in names:
        raise _unknown(unit, names, is_guessed="header" in guess.options and "header" not in (reading or {}))
    everything = {name: ColumnPolicy(name, Kind.TEXT, Role.PRIVATE) for name in names}
    as_texts = replace(Policy("draft", str(path), ROW, everything, Terms(PureDP(1))), options=guess.options)
    with backend.survey(as_written(source), as_texts) as survey:
        found = survey.kinds(names, guess.options)
        said = {name: kind for name, kind in backend.kinds(source).items() if kind is not Kind.TEXT and name in names}
        found = replace(found, kinds={**found.kinds, **said})
        hints = (*_hints(survey, found, unit), *_left_out(there, names))
    place = path if path.is_file() else Path(source.identity)
    if isinstance(where, str):
        shown, table = where, str(getattr(source, "table_name", place.name))
    else:
        folder = place.parent if beside is None else Path(beside)
        shown = os.path.relpath(path.parent.resolve() / path.name, folder.resolve())
        table = found.options.get("table", "") if path.is_file() else ""
        table = (table or place.name).partition(".")[0]
    options = {name: value for name, value in found.options.items() if name != "table" or _is_one_of_several(source)}
    notes = (*guess.notes, *_renamed(source), *repeated_headers(source), *found.notes)
    return Draft(_text(shown, table, options, found.kinds, unit), hints, unit, table, notes)


def _renamed(source: Source) -> list[str]:
    """What became of names in a header that are there twice or not at all."""
    given, names = getattr(source, "first_line", ()), source.column_names()
    changed = [new for old, new in zip(given, names, strict=False) if old != new] if len(given) == len(names) else []
    return [f"Names that the header has twice or not at all are now {', '.join(changed)}."] if changed else []


def _is_one_of_several(source: Source) -> bool:
    """Whether the file holds tables by name."""
    return hasattr(source, "table")


def likely_units(names: list[str]) -> list[str]:
    """The columns whose names sound like a person's, best first."""
    named = [name for name in names if any(word in name.lower() for word in _NAMES_OF_UNITS)]
    ids = [name for name in names if name.lower() == "id" or name.lower().endswith(("_id", " id", "id"))]
    return sorted(dict.fromkeys(named + ids), key=lambda name: (name not in named, name not in ids))[:3]


def _usable(given: tuple[str, ...]) -> list[str]:
    """Names that a policy can hold: visible, and different in SQL."""
    folded = Counter(name.casefold() for name in given)
    return [name for name in given if name.strip() and name.isprintable() and folded[name.casefold()] == 1]


def _left_out(given: tuple[str, ...], usable: list[str]) -> list[str]:
    lost = dict.fromkeys(name for name in given if name not in usable)
    return [f"{name!r}: left out, its name is there twice or cannot be typed" for name in lost]


def _unknown(unit: str, names: list[str], *, is_guessed: bool) -> UnknownColumn:
    near = get_close_matches(unit, names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    if is_guessed:
        hint = " The first line looks like a row, not like names; if it does name columns: --header."
    return UnknownColumn(f"There is no column {unit!r} to be the unit; there are: {', '.join(names)}, or row.{hint}")


def _text(shown: str, table: str, reading: Mapping[str, str], kinds: Mapping[str, Kind], unit: str | None) -> str:
    likely = " or ".join(quoted(name) for name in likely_units(list(kinds))) or "a column's name"
    lines = [
        "version = 1",
        f"source = {quoted(shown)}",
        f"table = {quoted(table)}",
        f"unit = {quoted(unit or '?')}  # who is protected: "
        + ("every row that shares a value of this column" if unit else f'{likely}; "row" if each row is a person'),
        "# population = 10000  # a number of units that is surely exceeded; delta is checked against it",
        "",
    ]
    if unit != "row":
        lines += [
            "[limits]  # how much of one unit counts: rows beyond are not counted, and not in ±",
            *([] if unit else ['# If unit = "row": delete the next two lines.']),
            f"groups = {_GROUPS}  # 1, 2, 4, 8, …: more keeps more of who is in many groups, and adds noise",
            f"rows = {_ROWS}  # 1, 2, 4, 8, …: tacit discover limits buys what each step would cut",
            "",
        ]
    lines += [
        "[budget]  # how much may be learned, by everybody together",
        "epsilon = 3.0",
        "delta = 1e-8",
        "# least = { epsilon = 0.003 }  # the least price of a payment: a thousandth of epsilon unless given",
        "# set_aside = 1e-8  # of delta: many small questions then last longer, private keys have the rest; for good",
        "# strikes = 3  # so many lost or interrupted answers lock an analyst's account; tacit unlock opens it again",
        "",
    ]
    if reading:
        lines += ["[reading]  # how the file is read: nothing is guessed any more"]
        lines += [*(f"{name} = {option(name, value)}" for name, value in reading.items()), ""]
    lines += [
        "# role: private (may be asked about, protected by noise), public (its values are no secret: list them as",
        "# keys), identifier (names units), forbidden (may not be asked about). Delete a line to forbid a column.",
        "[columns]",
    ]
    width = max((len(key(name)) for name in kinds), default=0)
    for name, kind in kinds.items():
        role = Role.IDENTIFIER if name == unit else Role.PRIVATE
        line = f'{key(name):{width}} = {{ type = "{kind}", role = "{role}" }}'
        if kind.is_number and role is Role.PRIVATE:
            line += "  # to sum or average it, add bounds = [low, high], known without looking at the data"
        lines.append(line)
    return "\n".join(lines) + "\n"


def _hints(survey: Survey, drafted: Found, unit: str | None) -> list[str]:
    """Exact facts about the rows, one line each."""
    kinds = drafted.kinds
    hints = [_many(survey.rows(), "row")]
    exact = len(kinds) <= _MOST_COUNTED
    for name, found in survey.spread(drafted, exact=exact).items():
        different = f"{'' if exact else 'about '}{_many(found.different, 'different value')}"
        hint = f"{name}: {kinds[name]}, {different}, {found.empty:,} empty"
        if found.ends is not None and all(map(math.isfinite, found.ends)):
            hint += f", 98% of them between {found.ends[0]:g} and {found.ends[1]:g}"
        hints.append(hint)
    units = [unit] if unit and unit != "row" else [] if unit else likely_units(list(kinds))
    return hints + [f"as unit, {name}: {_unit_words(survey.unit(name))}" for name in units]


def _unit_words(found: UnitRows | None) -> str:
    if found is None:
        return "no values"
    rows = f"half have at most {_many(found.half, 'row')}, 95% at most {found.most:,}, one has {found.top:,}"
    steps = [(limit, share) for limit, share in found.kept if limit < 2 * found.top]
    ladder = ", ".join(f"{limit}: {100 * share:.3g}%" for limit, share in steps)
    return f"{_many(found.units, 'unit')}; {rows}; of the rows, a limit counts {ladder}"


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
