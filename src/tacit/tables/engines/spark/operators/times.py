"""Operators on dates and timestamps, written in arithmetic that cannot leave the engine's range.

Local times come from a table of ours, `expressions.offsets`: Java has other ones.
"""

from __future__ import annotations

from tacit.tables.engines.chain.form import Form, Given
from tacit.tables.engines.chain.terms import Term
from tacit.tables.engines.spark.terms import in_calendar, once, text_literal
from tacit.tables.expressions.kinds import Kind, is_text
from tacit.tables.expressions.offsets import CYCLE, by_year, offsets
from tacit.tables.expressions.operators import TIME_UNITS
from tacit.tables.expressions.time_formats import DAYS, MONTHS, read_problem, reading, signs_of, written_problem
from tacit.tables.expressions.zones import is_zone

__all__ = ["ON_TIMES"]

_DAY = 86_400_000_000
_STEPS = {
    "year": (12, 10_000),
    "quarter": (3, 40_000),
    "month": (1, 120_000),
    "week": (7 * _DAY, 530_000),
    "day": (_DAY, 3_700_000),
    "hour": (3_600_000_000, 90_000_000),
    "minute": (60_000_000, 5_300_000_000),
    "second": (1_000_000, 320_000_000_000),
}
"""Months or microseconds in a unit, and how many of it leave the calendar from anywhere: those are null at once."""
_MONTHS = ("year", "quarter", "month")
_MICROSECONDS = {"hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000}


def _moment(term: Term) -> str:
    return term.sql if term.kind is Kind.TIMESTAMP else f"CAST({term.sql} AS TIMESTAMP)"


def date_trunc(unit: str, moment: Term) -> str:
    """The start of the unit of time, of the kind that was given."""
    type_name = "DATE" if moment.kind is Kind.DATE else "TIMESTAMP"
    return f"CAST(date_trunc('{unit}', {_moment(moment)}) AS {type_name})"


def _later(moment: str, microseconds: str) -> str:
    return f"timestamp_micros(unix_micros({moment}) + {microseconds})"


def _between(later: str, earlier: str) -> str:
    """Microseconds."""
    return f"(unix_micros({later}) - unix_micros({earlier}))"


def _shown(moment: str, zone: str) -> str:
    """What clocks show in a time zone at a moment of UTC; null outside of the calendar."""
    return in_calendar(_clock(moment, zone), Kind.TIMESTAMP)


def _clock(moment: str, zone: str) -> str:
    """The offset is looked up by the year, in which it changes a few times at most: each is looked at."""
    table = offsets(zone)
    if len(table.seconds) == 1:
        return _later(moment, f"{table.seconds[0] * 10**6}")
    years = by_year(zone)
    first, before, most = years.first, years.before, years.most
    moments, seconds = (f"array({', '.join(f'{one}L' for one in some)})" for some in (table.moments, table.seconds))
    counts = f"array({', '.join(map(str, before))})"

    def offset(e: str) -> str:
        year = f"year(timestamp_seconds({e}))"
        known = f"get({counts}, least({year} - {first}, {len(before) - 1}))"
        return once(
            lambda s, n: f"get({seconds}, {changes(s, n)})", e, f"CASE WHEN {year} < {first} THEN 0 ELSE {known} END"
        )

    def changes(e: str, n: str) -> str:
        """How many there were, those of this year among them."""
        seen = [f"CASE WHEN get({moments}, {n} + {i}) <= {e} THEN 1 ELSE 0 END" for i in range(most)]
        return " + ".join([n, *seen])

    def within(e: str) -> str:
        return f"CASE WHEN {e} < {table.start} THEN {e} ELSE {table.start} + ({e} - {table.start}) % {CYCLE} END"

    def clock(t: str) -> str:
        return _later(t, f"{once(lambda e: once(offset, within(e)), f'unix_seconds({t})')} * 1000000")

    return once(clock, moment)


def timestamp_trunc(moment: Term, unit: str, zone: str) -> str:
    """The moment of UTC at which the local unit of time began: what `zones.first_moment` finds, step by step."""

    def calendar(sql: str) -> str:
        return in_calendar(sql, Kind.TIMESTAMP)

    def began(t: str, there: str) -> str:
        start = f"date_trunc('{unit}', {there})"
        near = calendar(_later(t, f"- {_between(there, start)}"))
        return near if unit in _MICROSECONDS else once(changed, start, calendar(_later(near, f"- {_DAY}")))

    def changed(start: str, before: str) -> str:
        return once(early, start, calendar(_later(start, f"- {_between(_shown(before, zone), before)}")))

    def early(start: str, moment: str) -> str:
        return once(first, start, moment, _shown(moment, zone))

    def first(start: str, moment: str, shown: str) -> str:
        late = once(last, start, moment, calendar(_later(moment, _between(start, shown))))
        return f"CASE WHEN {shown} = {start} THEN {moment} ELSE {late} END"

    def last(start: str, moment: str, late: str) -> str:
        return f"CASE WHEN {_clock(late, zone)} = {start} THEN {late} WHEN {late} IS NOT NULL THEN {moment} END"

    return once(lambda t: once(began, t, _shown(t, zone)), _moment(moment))


def date_add(unit: str, count: str, moment: Term) -> str:
    """A timestamp so many units later; the last day of a shorter month if need be."""
    factor, most = _STEPS[unit]
    near = once(lambda n: f"CASE WHEN {n} BETWEEN -{most} AND {most} THEN {n} * {factor} END", count)
    x = _moment(moment)
    later = f"timestampadd(MONTH, CAST({near} AS INT), {x})" if unit in _MONTHS else _later(x, near)
    return in_calendar(later, Kind.TIMESTAMP)


def date_diff(unit: str, start: Term, end: Term) -> str:
    """How many starts of such units lie after ``start`` up to ``end``; weeks start on Monday."""
    return f"({_index(unit, end)} - {_index(unit, start)})"


def _index(unit: str, moment: Term) -> str:
    """The number of the unit that holds the moment, counted from some fixed one."""
    x = _moment(moment)
    if unit in _MICROSECONDS:
        return f"(unix_micros(date_trunc('{unit}', {x})) div {_MICROSECONDS[unit]})"
    if unit in ("day", "week"):
        days = f"CAST(unix_date(CAST(date_trunc('{unit}', {x}) AS DATE)) + 719162 AS BIGINT)"  # from 0001-01-01 on
        return days if unit == "day" else f"({days} div 7)"
    months = {"year": 12, "quarter": 3, "month": 1}[unit]
    return once(lambda y: f"((CAST(year({y}) AS BIGINT) * 12 + month({y}) - 1) div {months})", x)


_PARTS = {
    "year": "year({})",
    "quarter": "quarter({})",
    "month": "month({})",
    "week": "weekofyear({})",
    "day": "day({})",
    "hour": "hour({})",
    "minute": "minute({})",
    "second": "second({})",
    "isoyear": "extract(YEAROFWEEK FROM {})",
    "dayofyear": "dayofyear({})",
    "weekday": "(weekday({}) + 1)",
}


def _part(form: str) -> Form:
    return lambda given: f"CAST({form.format(_moment(given.terms[0]))} AS BIGINT)"


def _at_time_zone(given: Given) -> str:
    """Null if there is no such zone."""
    zone = str(given.constants[1])
    return _shown(_moment(given.terms[0]), zone) if is_zone(zone) else given.nothing


def _timestamp_trunc(given: Given) -> str:
    """Null if there is no such unit or zone."""
    unit, zone = map(str, given.constants[1:])
    return timestamp_trunc(given.terms[0], unit, zone) if unit in TIME_UNITS and is_zone(zone) else given.nothing


def _named(names: tuple[str, ...], place: str) -> str:
    listed = ", ".join(f"'{name}'" for name in names)
    return f"get(array({listed}), {place})"


def _filled(number: str, width: int) -> str:
    return f"lpad(CAST({number} AS STRING), {width}, '0')"


_SHORT_DAYS, _SHORT_MONTHS = (tuple(name[:3] for name in names) for names in (DAYS, MONTHS))
_LETTERS = {
    "Y": _filled("year({0})", 4),
    "y": _filled("year({0}) % 100", 2),
    "m": _filled("month({0})", 2),
    "d": _filled("day({0})", 2),
    "H": _filled("hour({0})", 2),
    "M": _filled("minute({0})", 2),
    "S": _filled("second({0})", 2),
    "b": _named(_SHORT_MONTHS, "month({0}) - 1"),
    "B": _named(MONTHS, "month({0}) - 1"),
    "a": _named(_SHORT_DAYS, "weekday({0})"),
    "A": _named(DAYS, "weekday({0})"),
    "j": _filled("dayofyear({0})", 3),
    "V": _filled("weekofyear({0})", 2),
    "G": _filled("extract(YEAROFWEEK FROM {0})", 4),
    "u": "CAST(weekday({0}) + 1 AS STRING)",
}
"""A part of a time as text, in English whatever the settings."""


def _strftime(given: Given) -> str:
    """Null if there is no such format."""
    form = given.constants[1]
    if not is_text(form) or written_problem(form):
        return given.nothing
    signs = list(signs_of(form))

    def written(x: str) -> str:
        parts = [_LETTERS[letter].format(x) if letter else text_literal(text) for letter, text in signs]
        return f"CASE WHEN {x} IS NOT NULL THEN {' || '.join(parts)} END"

    return once(written, _moment(given.terms[0]))


_NAMES = {"Y": "y", "m": "mo", "d": "d", "H": "h", "M": "mi", "S": "s"}


def _strptime(given: Given) -> str:
    """Texts that are written as the format says; each part is looked at before a time is made of them."""
    form = given.constants[1]
    if not is_text(form) or read_problem(form):
        return given.nothing
    letters = [letter for letter, text in signs_of(form) if not text]
    wanted = text_literal(f"\\A(?:{reading(form)})\\z")

    def parts(t: str) -> str:
        group = {letter: f"regexp_extract({t}, {wanted}, {at})" for at, letter in enumerate(letters, 1)}
        shown = {
            letter: f"CAST({group[letter]} AS INT)" if letter in group else first
            for letter, first in {"Y": "1", "m": "1", "d": "1", "H": "0", "M": "0", "S": "0"}.items()
        }
        if "y" in group:
            shown["Y"] = f"((CAST({group['y']} AS INT) + 31) % 100 + 1969)"
        if name := group.get("b") or group.get("B"):
            short = ", ".join(f"'{one.lower()}'" for one in _SHORT_MONTHS)
            shown["m"] = f"array_position(array({short}), lower(substr({name}, 1, 3)))"
        named = ", ".join(f"'{_NAMES[letter]}', {sql}" for letter, sql in shown.items())
        return (
            f"CASE WHEN {t} RLIKE {wanted} THEN transform(array(named_struct({named})), _it_ -> {made('_it_')})[0] END"
        )

    def made(p: str) -> str:
        known = f"{p}.y >= 1 AND {p}.h <= 23 AND {p}.mi <= 59 AND {p}.s <= 59"
        moment = f"try_make_timestamp({p}.y, CAST({p}.mo AS INT), {p}.d, {p}.h, {p}.mi, {p}.s)"
        return f"CASE WHEN {known} THEN {moment} END"

    return once(parts, f"trim(BOTH ' ' FROM {given.sql(0, Kind.TEXT)})")


ON_TIMES: dict[str, Form] = {
    **{name: _part(form) for name, form in _PARTS.items()},
    "dayname": lambda given: once(lambda x: _LETTERS["A"].format(x), _moment(given.terms[0])),
    "monthname": lambda given: once(lambda x: _LETTERS["B"].format(x), _moment(given.terms[0])),
    "strptime": _strptime,
    "strftime": _strftime,
    "at_time_zone": _at_time_zone,
    "timestamp_trunc": _timestamp_trunc,
    "date_trunc": lambda given: date_trunc(str(given.constants[0]), given.terms[1]),
    "date_add": lambda given: date_add(str(given.constants[0]), given.sql(1, Kind.INTEGER), given.terms[2]),
    "date_diff": lambda given: date_diff(str(given.constants[0]), given.terms[1], given.terms[2]),
}
