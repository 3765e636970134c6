"""Facts about rows that an owner is told while writing a policy, and what public tables hold: as DuckDB finds them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tacit.errors import PolicyError
from tacit.tables.engines.backend import ColumnContents, Contents, Found, Quality, Spread, UnitRows
from tacit.tables.engines.chain.survey import ends_of
from tacit.tables.engines.duckdb.connection import EngineFailed, LockedDuckDB
from tacit.tables.engines.duckdb.expressions import render
from tacit.tables.engines.duckdb.sources.source import Source, quoted_name
from tacit.tables.engines.duckdb.text_casts import BLANKS, Forms, by_format, from_text
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Column, Literal
from tacit.tables.policy.policy import ColumnPolicy, OtherTable, Policy
from tacit.tables.policy.reading import Reading

__all__ = ["DuckDBSurvey", "contents_of"]

_ENOUGH = 0.99  # of the values that are there
_SOME = 0.01
_MOSTLY = 0.5
_SHORT = 20
_PADDED = 0.2
_GROUPED_INTEGER = r"\s*[+-]?(\d{1,18}|\d{1,3}(\.\d{3}){1,5})\s*"
_COMMA_NUMBER = r"\s*[+-]?(\d{1,3}(\.\d{3})+|\d+)?(,\d+)?\s*"
_NOT_THOUSANDS = r".*,(\d{0,2}|\d{4,})\s*"
_LIKE_DATE = r"\s*(\d{1,4}[-/. ](\d{1,2}|[A-Za-z]{3,9})[-/. ]\d{2,4}|[A-Za-z]{3,9} \d{1,2},? \d{4})([ T].*)?"
_PLAIN_INTEGER = r"\s*[+-]?\d{1,18}\s*"
_PLAIN_TRUTH = r"(?i)\s*(true|false|t|f|yes|no|y|n)\s*"
_LIKE_TIME = r"(?s) *[^ ].{3}-.*|.{19}"  # all that `from_text` reads as a day or a moment
_PLAIN_DATE = r"\s*\d{4}-\d{1,2}-\d{1,2}\s*"

LADDER = tuple(2**i for i in range(11))
"""Limits of rows that an owner is shown: 1, 2, 4, … 1024."""

_DAYS = ("%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%d-%b-%Y")
_SHORT_DAYS = ("%d/%m/%y", "%m/%d/%y", "%d.%m.%y", "%d-%b-%y")
_HOURS = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
FORMS = tuple(day + hour for day in (*_DAYS, *_SHORT_DAYS) for hour in _HOURS)
"""The formats of days and moments that a draft looks for."""

MOST_LISTED = 10_000
"""The most values of a public table's column that make public groups; with more, groups pass a private selection."""


class DuckDBSurvey(LockedDuckDB):
    """A connection in which every column is text, and what it counts."""

    def kinds(self, names: Sequence[str], options: Mapping[str, str]) -> Found:
        """Per column, the narrowest kind that nearly all values can be read as; text if there are none."""
        reading = Reading.of(options)
        forms, notes = Forms(reading.decimal, reading.dates), list[str]()
        kinds, counts = self._kinds(names, forms)
        others = [name for name in names if kinds[name] is Kind.TEXT]
        if "decimal" not in options:
            comma, said = self._decimal(others, [name for name in names if kinds[name] is Kind.REAL])
            forms = replace(forms, decimal=comma)
            notes += said
        if "dates" not in options:
            dates, said = self._dates(others)
            forms = replace(forms, dates=dates)
            notes += said
        if forms != Forms(reading.decimal, reading.dates):
            kinds, counts = self._kinds(names, forms)
        made = {"decimal": forms.decimal} if forms.decimal != reading.decimal else {}
        made |= {"dates": "\n".join(forms.dates)} if forms.dates != reading.dates else {}
        padded = [name for name in names if int(counts[name]["padded"]) >= _PADDED * max(int(counts[name]["known"]), 1)]
        if "trim" not in options and padded:
            made["trim"] = "true"
            notes.append(f"{', '.join(padded)}: blanks around texts are left out")
        for name, kind in kinds.items():
            lost = int(counts[name]["undecoded"]) if kind is Kind.TEXT else 0
            if lost:
                notes.append(f"{name}: {lost:,} cells are not in the encoding and count as null: --encoding")
            unread = int(counts[name]["known"]) - int(counts[name].get(kind.value, counts[name]["known"]))
            if unread:
                notes.append(f"{name}: {unread:,} cells cannot be read as {kind} and count as null")
        notes += self._nearly({name: counts[name] for name, kind in kinds.items() if kind is Kind.TEXT}, forms)
        return Found(kinds, {**options, **made}, tuple(notes))

    def _nearly(self, texts: Mapping[str, Mapping[str, Any]], forms: Forms) -> list[str]:
        """Texts most of which are numbers or days: what the others are may stand for null."""
        notes = []
        for name, counts in texts.items():
            column, known = quoted_name(name), int(counts["known"])
            others = {
                "numbers": (int(counts[Kind.REAL.value]), f"{from_text(column, Kind.REAL, forms)} IS NULL"),
                "days": (int(counts["dated"]), f"NOT {_is_like(column, _LIKE_DATE)}"),
            }
            what, (many, test) = max(others.items(), key=lambda one: one[1][0])
            if _MOSTLY * known <= many < _ENOUGH * known:
                commonest = f"mode(CASE WHEN {test} AND strlen({column}) <= {_SHORT} THEN {column} END)"
                text = self.columns(f"SELECT {commonest} AS t FROM rows")["t"][0]
                hint = "" if text is None else f"; if {text!r} stands for null: --null {shlex.quote(text)}"
                notes.append(f"{name}: {many:,} of its {known:,} texts are {what}{hint}")
        return notes

    def _kinds(self, names: Sequence[str], forms: Forms) -> tuple[dict[str, Kind], dict[str, dict[str, Any]]]:
        simple = self._facts({name: _simple_tests(quoted_name(name), forms) for name in names})
        kinds = {name: _fitting(counts, Kind.INTEGER, Kind.REAL, Kind.BOOLEAN) for name, counts in simple.items()}
        for name, counts in simple.items():
            if kinds[name] is Kind.INTEGER and _are_codes(counts):
                kinds[name] = Kind.TEXT
        test = "dated" if forms.dates else "shaped"
        shaped = [name for name in names if kinds[name] is None and _nearly_all(simple[name], test)]
        times = self._facts({name: _tests_of_time(quoted_name(name), forms) for name in shaped}, at_once=20)
        counts = {name: simple[name] | times.get(name, {}) for name in names}
        kinds |= {name: _fitting(counts[name], Kind.DATE, Kind.TIMESTAMP) for name in shaped}
        return {name: kind or Kind.TEXT for name, kind in kinds.items()}, counts

    def _decimal(self, names: Sequence[str], reals: Sequence[str]) -> tuple[str, list[str]]:
        """Whether numbers are written with a comma: some column says so, and none says otherwise."""
        counts = self._facts({name: _tests_of_commas(quoted_name(name)) for name in names})
        fits = [name for name, one in counts.items() if _nearly_all(one, "commas") and int(one["with"])]
        sure = [name for name in fits if int(counts[name]["decimals"])]
        if not fits:
            return ".", []
        if not sure or reals:
            why = f"{reals[0]} has a point" if reals else "each comma has three digits after it, as thousands do"
            return ".", [f'{fits[0]}: numbers with a comma are read as text ({why}); decimal = "," reads them']
        return ",", [f"{', '.join(sure)}: numbers are read with a decimal comma"]

    def _dates(self, names: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
        """Formats by which texts with digits are days: those that read most of a column, as few as need be."""
        chosen, notes = dict[str, None](), list[str]()
        looks = self._facts({name: _tests_of_dates(quoted_name(name)) for name in names})
        for name in (name for name in names if _nearly_all(looks[name], "dated")):
            known, hours = int(looks[name]["known"]), int(looks[name]["hours"]) > 0
            column, forms = quoted_name(name), [one for one in FORMS if ("%M" in one) == hours]
            found = self._facts({name: {one: f"count({by_format(column, one)})" for one in forms}}, at_once=1)[name]
            best = sorted(forms, key=lambda one: -int(found[one]))
            fits = [one for one in best if int(found[one]) >= _ENOUGH * known]
            if fits:
                chosen |= {fits[0]: None}
                twins = [one for one in fits[1:] if sorted(one) == sorted(fits[0])]
                notes.append(
                    f"{name}: days are read as {fits[0]}" + (f"; {twins[0]} fits too: look at a few" if twins else "")
                )
            elif int(found[best[0]]) and int(found[best[0]]) + int(looks[name]["iso"]) >= _ENOUGH * known:
                chosen |= {best[0]: None}
                notes.append(f"{name}: days are written in several ways, and read as 2024-12-31 and {best[0]}")
            elif int(found[best[1]]) and int(found[best[0]]) + int(found[best[1]]) >= _ENOUGH * known:
                chosen |= dict.fromkeys(best[:2])
                notes.append(
                    f"{name}: days are written in several ways, and read as {' and '.join(best[:2])}: look at a few"
                )
        return tuple(chosen), notes

    def rows(self) -> int:
        """How many there are."""
        return int(self.columns("SELECT count(*) AS n FROM rows")["n"][0])

    def spread(self, found: Found, *, exact: bool) -> dict[str, Spread]:
        """Of each column; different values are estimated unless ``exact``."""
        reading = Reading.of(found.options)
        forms = Forms(reading.decimal, reading.dates)
        facts = self._facts(
            {name: _spread(quoted_name(name), kind, exact, forms) for name, kind in found.kinds.items()}
        )
        return {
            name: Spread(int(one["empty"]), int(one["different"]), _pair(one.get("ends")))
            for name, one in facts.items()
        }

    def present(self, names: Sequence[str]) -> dict[str, int]:
        """How many cells of each column hold anything at all, read as texts."""
        found = self._facts({name: {"known": f"count({quoted_name(name)})"} for name in names})
        return {name: int(one["known"]) for name, one in found.items()}

    def quality(self, columns: Sequence[ColumnPolicy], present: Mapping[str, int]) -> dict[str, Quality]:
        """Of each column, read as the policy says; ``present`` is how many cells hold anything."""
        rows = self.rows()
        found = self._facts({one.name: _quality(one) for one in columns})
        return {
            name: Quality(
                rows - max(present[name], int(one["known"])),
                max(present[name] - int(one["known"]), 0),
                None if "outside" not in one else int(one["outside"]),
            )
            for name, one in found.items()
        }

    def unit(self, name: str) -> UnitRows | None:
        """Of a column as the unit; None if it has no values."""
        column = quoted_name(name)
        kept = ", ".join(f"sum(least(n, {limit})) / sum(n) AS kept{limit}" for limit in LADDER)
        found = self.columns(
            "SELECT count(*) AS units, quantile_disc(n, 0.5) AS half, quantile_disc(n, 0.95) AS most, max(n) AS top, "
            f"{kept} FROM (SELECT count(*) AS n FROM rows WHERE {column} IS NOT NULL GROUP BY {column})"
        )
        return UnitRows.of(found, LADDER)

    def _facts(self, wanted: dict[str, dict[str, str]], at_once: int = 250) -> dict[str, dict[str, Any]]:
        """Aggregates by column and name, some columns in one look at the file: planning takes more than linear time."""
        found: dict[str, dict[str, Any]] = {}
        names = list(wanted)
        for start in range(0, len(names), at_once):
            some = [(name, fact, sql) for name in names[start : start + at_once] for fact, sql in wanted[name].items()]
            listed = ", ".join(f"{sql} AS f{i}" for i, (_, _, sql) in enumerate(some))
            row = self.columns(f"SELECT {listed} FROM rows")
            for i, (name, fact, _) in enumerate(some):
                found.setdefault(name, {})[fact] = row[f"f{i}"][0]
        return found


def _pair(ends: Any) -> tuple[float, float] | None:
    return None if ends is None else (float(ends[0]), float(ends[1]))


def _fitting(counts: dict[str, Any], *kinds: Kind) -> Kind | None:
    return next((kind for kind in kinds if _nearly_all(counts, kind.value)), None)


def _nearly_all(counts: dict[str, Any], test: str) -> bool:
    known = int(counts["known"])
    return known > 0 and int(counts[test]) >= _ENOUGH * known


def _simple_tests(column: str, forms: Forms) -> dict[str, str]:
    """How many values of a column there are, can be read as each simple kind, or may be a time by their shape."""
    whole = _GROUPED_INTEGER if forms.decimal == "," else _PLAIN_INTEGER
    return {
        "known": f"count({column})",
        Kind.INTEGER.value: _times(_is_like(column, whole)),
        Kind.REAL.value: f"count({from_text(column, Kind.REAL, forms)})",
        Kind.BOOLEAN.value: _times(_is_like(column, _PLAIN_TRUTH)),
        "shaped": _times(_is_like(column, _LIKE_TIME)),
        "dated": _times(f"{_is_like(column, _LIKE_TIME)} OR {_is_like(column, _LIKE_DATE)}"),
        "undecoded": _times(f"contains({column}, chr(65533))"),
        "padded": _times(f"{column} <> trim({column}, {BLANKS})"),
        "zeros": _times(_is_like(column, r"0\d+")),
        "shortest": f"min(strlen({column}))",
        "longest": f"max(strlen({column}))",
    }


def _are_codes(counts: dict[str, Any]) -> bool:
    """Whether whole numbers are names in digits: some begin with 0, and they are many or all are of one length."""
    zeros = int(counts["zeros"])
    alike = counts["shortest"] == counts["longest"]
    return zeros > 0 and (alike or zeros >= _SOME * int(counts["known"]))


def _tests_of_commas(column: str) -> dict[str, str]:
    """How many values are numbers with a comma, have one, and have one that is no mark of thousands."""
    is_number = _is_like(column, _COMMA_NUMBER)
    return {
        "known": f"count({column})",
        "commas": _times(is_number),
        "with": _times(f"{is_number} AND contains({column}, ',')"),
        "decimals": _times(f"{is_number} AND {_is_like(column, _NOT_THOUSANDS)}"),
    }


def _tests_of_dates(column: str) -> dict[str, str]:
    """How many values look like days, as they are always read or not, and have hours."""
    iso = _is_like(column, _PLAIN_DATE)
    return {
        "known": f"count({column})",
        "dated": _times(f"{iso} OR {_is_like(column, _LIKE_DATE)}"),
        "iso": _times(iso),
        "hours": _times(f"contains({column}, ':')"),
    }


def _tests_of_time(column: str, forms: Forms) -> dict[str, str]:
    """How many values can be read as days and moments: dear, and so only for columns of that shape."""
    looks = _is_like(column, _PLAIN_DATE)
    if forms.dates:
        looks = f"({looks} OR NOT contains({column}, ':'))"
    day = f"CASE WHEN {looks} THEN {from_text(column, Kind.DATE, forms)} END"
    return {
        Kind.DATE.value: f"count({day})",
        Kind.TIMESTAMP.value: f"count({from_text(column, Kind.TIMESTAMP, forms)})",
    }


def _is_like(column: str, pattern: str) -> str:
    return f"regexp_full_match({column}, '{pattern}')"


def _times(test: str) -> str:
    """How often it holds. FILTER says the same, in a time that grows with the square of how many there are."""
    return f"count(CASE WHEN {test} THEN 1 END)"


def _spread(column: str, kind: Kind, exact: bool, forms: Forms) -> dict[str, str]:
    different = f"count(DISTINCT {column})" if exact else f"approx_count_distinct({column})"
    wanted = {"empty": f"count(*) - count({column})", "different": different}
    if kind.is_number:
        wanted |= {"ends": f"quantile_cont({from_text(column, kind, forms)}, [0.01, 0.99])"}
    return wanted


def _quality(column: ColumnPolicy) -> dict[str, str]:
    """How many values can be read, and are beyond the bounds or not among the keys."""
    name = quoted_name(column.name)
    wanted = {"known": f"count({name})"}
    if column.bounds is not None:
        low, high = (render(Literal(end), {}).sql for end in ends_of(column.kind, column.bounds))
        wanted["outside"] = _times(f"{name} NOT BETWEEN {low} AND {high}")
    elif column.keys is not None:
        listed = ", ".join(render(Literal(key), {}).sql for key in column.keys if key is not None) or "NULL"
        wanted["outside"] = _times(f"{name} NOT IN ({listed})")
    return wanted


def contents_of(table: OtherTable, source: Source, policy: Policy) -> Contents:
    """What a public table holds: nothing in it is anybody's secret."""
    kinds = {one.name: one.kind for one in table.columns.values()}
    terms = {name: render(Column(name), kinds).sql for name in kinds}
    try:
        with LockedDuckDB(source, replace(policy, columns=table.columns, others={})) as connection:
            hashed = connection.columns(
                f"SELECT count(*) AS n, coalesce(sum(hash({', '.join(terms.values())})), 0) AS h FROM rows"
            )
            columns = {name: _column_contents(connection, sql) for name, sql in terms.items()}
    except EngineFailed:
        raise PolicyError(f"The public table {table.name} cannot be read. Nothing was spent.") from None
    return Contents(f"{hashed['n'][0]}:{int(hashed['h'][0]):x}", columns, int(hashed["n"][0]))


def _column_contents(connection: LockedDuckDB, sql: str) -> ColumnContents:
    found = connection.columns(f"SELECT DISTINCT {sql} AS k FROM rows ORDER BY k LIMIT {MOST_LISTED + 1}")
    listed = found["k"].tolist()
    ends = connection.columns(f"SELECT min({sql}) AS low, max({sql}) AS high FROM rows")
    values = None if len(listed) > MOST_LISTED else tuple(listed)
    alike = f"SELECT count(*) AS n FROM rows WHERE {sql} IS NOT NULL GROUP BY {sql}"
    most = connection.columns(f"SELECT coalesce(max(n), 1) AS n FROM ({alike}) AS counted")
    return ColumnContents(values, ends["low"].tolist()[0], ends["high"].tolist()[0], int(most["n"][0]))
