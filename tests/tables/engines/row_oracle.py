"""Row-wise expressions evaluated one row at a time in plain Python: what `tacit.tables.expressions.operators` promises.

Written from the operators' words, not from any engine's SQL. A value is None, or of its kind; a real is finite.
"""

from __future__ import annotations

import datetime
import math
import re
import zoneinfo
from fractions import Fraction
from typing import Any

from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.operators import OPERATORS, common_kind
from tacit.tables.expressions.tree import Call, Case, Column, Expression, Literal
from tests.tables.engines.random_rows import SCHEMA

DAY = datetime.date
MOMENT = datetime.datetime
Row = dict[str, Any]


def value(expression: Expression, row: Row) -> Any:
    """The value of an expression for a row."""
    match expression:
        case Column(name):
            return tidy(row[name])
        case Literal(constant):
            return tidy(constant)
        case Case(branches, otherwise):
            results = [result for _, result in branches] + [otherwise]
            chosen = next((result for condition, result in branches if value(condition, row) is True), otherwise)
            return widened(value(chosen, row), [value(result, row) for result in results], results, row)
        case Call(operator, arguments):
            return called(operator, arguments, row)
    raise AssertionError(expression)


def tidy(found: Any) -> Any:
    """None for what is no value of its kind."""
    if isinstance(found, bool) or found is None:
        return found
    if isinstance(found, int):
        return found if -(2**63) <= found < 2**63 else None
    if isinstance(found, float):
        return found + 0.0 if math.isfinite(found) else None
    if isinstance(found, str):
        return found if len(found.encode("utf-8", "surrogatepass")) <= 4096 else None
    return found


def kind_of(expression: Expression, row: Row) -> Kind | None:
    """The kind that the expression has whatever the row."""

    def kind(one: Expression) -> Kind | None:
        match one:
            case Column(name):
                return SCHEMA[name.rpartition(":")[2]]
            case Literal(constant):
                if constant is None:
                    return None
                types = {bool: Kind.BOOLEAN, int: Kind.INTEGER, float: Kind.REAL, str: Kind.TEXT, DAY: Kind.DATE}
                return types.get(type(constant), Kind.TIMESTAMP)
            case Case(branches, otherwise):
                return common_kind(tuple(kind(part) for part in [r for _, r in branches] + [otherwise]))
            case Call(operator, arguments):
                return OPERATORS[operator].gives(tuple(kind(part) for part in arguments))
        raise AssertionError(one)

    return kind(expression)


def widened(found: Any, others: list[Any], expressions: list[Expression], row: Row) -> Any:
    """An integer among reals is a real, a date among timestamps a timestamp."""
    kinds = {str(kind_of(one, row)) for one in expressions}
    if isinstance(found, int) and not isinstance(found, bool) and "real" in kinds:
        return float(found)
    if type(found) is DAY and "timestamp" in kinds:
        return MOMENT(found.year, found.month, found.day)
    return found


def called(operator: str, arguments: tuple[Expression, ...], row: Row) -> Any:
    values = [value(argument, row) for argument in arguments]
    alike = [widened(one, values, list(arguments), row) for one in values]
    if operator in ("and", "or"):
        return connected(operator, values)
    if operator == "is_null":
        return values[0] is None
    if operator == "coalesce":
        return next((one for one in alike if one is not None), None)
    if operator == "in":
        return membership(alike)
    if operator == "nullif":
        return None if alike[0] is not None and alike[0] == alike[1] else alike[0]
    if operator == "round" and len(values) == 2 and values[1] is None:
        return None
    if operator in CONSTANTS:
        return None if values[0] is None else tidy(CONSTANTS[operator](*values))
    if any(one is None for one in values):
        return None
    try:
        if operator in COMPARISONS:
            return COMPARISONS[operator](alike[0], alike[1])
        if operator in ("least", "greatest"):
            return {"least": min, "greatest": max}[operator](alike)
        if operator in ("+", "-", "*", "%"):
            return tidy(arithmetic(operator, *alike))
        return tidy(SIMPLE[operator](*values))
    except (ValueError, OverflowError, ZeroDivisionError):
        return None


def connected(operator: str, values: list[Any]) -> Any:
    deciding = operator == "or"
    if deciding in values:
        return deciding
    return None if None in values else not deciding


def membership(values: list[Any]) -> Any:
    first, *listed = values
    if first is None:
        return None
    if any(one is not None and one == first for one in listed):
        return True
    return None if None in listed else False


COMPARISONS = {
    "=": lambda x, y: x == y,
    "<>": lambda x, y: x != y,
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    ">": lambda x, y: x > y,
    ">=": lambda x, y: x >= y,
}


def arithmetic(operator: str, x: Any, y: Any) -> Any:
    if operator == "+":
        return x + y
    if operator == "-":
        return x - y
    if operator == "*":
        return x * y
    if isinstance(x, float):
        return math.fmod(x, y)
    return int(math.copysign(1, x)) * (abs(x) % abs(y))


def whole(x: float) -> Any:
    return int(x) if -(2.0**63) <= x < 2.0**63 else None


def quotient(x: Any, y: Any) -> Any:
    return float(x) / float(y)


def whole_quotient(x: Any, y: Any) -> Any:
    if isinstance(x, int) and isinstance(y, int):
        sign = 1 if (x >= 0) == (y >= 0) else -1
        return sign * (abs(x) // abs(y))
    real = tidy(quotient(x, y))
    return None if real is None else whole(math.trunc(real))


def rounded(x: Any, digits: int | None = None) -> Any:
    if digits is None:
        return x if isinstance(x, int) else whole(float(math.floor(x + 0.5)))
    x = float(x)
    factor = float(f"1e{min(abs(digits), 300)}")
    scaled = x * factor if digits >= 0 else x / factor
    if not abs(scaled) < 2**52:
        return x
    near = float(math.floor(scaled + 0.5))
    return near / factor if digits >= 0 else near * factor


def width_bucket(x: Any, low: Any, high: Any, count: Any) -> Any:
    if not (isinstance(count, int) and count > 0 and low is not None and high is not None and low < high):
        return None
    x, low, high, width = float(x), float(low), float(high), float((Fraction(high) - Fraction(low)) / count)
    if x < low:
        return 0
    if x >= high:
        return count + 1
    step = (x - low) / width
    return int(min(math.floor(step) if math.isfinite(step) else count - 1, count - 1)) + 1


def substring(text: str, start: int, length: int | None = None) -> Any:
    if length is not None and length < 0:
        return None
    places = range(start, start + length) if length is not None else range(start, len(text) + 1)
    return "".join(c for place, c in enumerate(text, 1) if place in places)


def like(text: str, pattern: str) -> bool:
    parts = {"%": "(?s:.*)", "_": "(?s:.)"}
    return re.fullmatch("".join(parts.get(c, re.escape(c)) for c in pattern), text) is not None


def small(text: str) -> str:
    """One letter for one letter."""
    return "".join("i" if sign == "İ" else sign.lower() for sign in text)


def capital(text: str) -> str:
    return "".join("ẞ" if sign == "ß" else sign.upper() if len(sign.upper()) == 1 else sign for sign in text)


def index(unit: str, moment: Any) -> int:
    """The number of the unit of time that holds the moment."""
    day = moment.toordinal() - 1
    seconds = day * 86_400
    if isinstance(moment, MOMENT):
        seconds += moment.hour * 3600 + moment.minute * 60 + moment.second
    months = moment.year * 12 + moment.month - 1
    return {
        "year": moment.year,
        "quarter": months // 3,
        "month": months,
        "week": day // 7,
        "day": day,
        "hour": seconds // 3600,
        "minute": seconds // 60,
        "second": seconds,
    }[unit]


def date_trunc(unit: str, moment: Any) -> Any:
    if unit in ("hour", "minute", "second"):
        if not isinstance(moment, MOMENT):
            return moment
        fields = {"hour": {"minute": 0, "second": 0}, "minute": {"second": 0}, "second": {}}[unit]
        return moment.replace(microsecond=0, **fields)
    day = DAY(moment.year, moment.month, moment.day)
    if unit == "week":
        day -= datetime.timedelta(days=day.weekday())
    elif unit != "day":
        month = {"year": 1, "quarter": (day.month - 1) // 3 * 3 + 1, "month": day.month}[unit]
        day = day.replace(month=month, day=1)
    return MOMENT(day.year, day.month, day.day) if isinstance(moment, MOMENT) else day


def at_time_zone(moment: Any, zone: str) -> Any:
    """By the offset that holds at the moment, added up here."""
    utc = moment.replace(tzinfo=datetime.UTC)
    try:
        return moment + utc.astimezone(zoneinfo.ZoneInfo(zone)).utcoffset()
    except OverflowError:
        return None


def timestamp_trunc(moment: Any, unit: str, zone: str) -> Any:
    """By offsets: that of the moment within a day; else that of the day before, or what came after it."""

    def offset(utc: Any) -> datetime.timedelta:
        found = utc.replace(tzinfo=datetime.UTC).astimezone(zoneinfo.ZoneInfo(zone)).utcoffset()
        assert found is not None
        return found

    try:
        start = date_trunc(unit, moment + offset(moment))
        if unit in ("hour", "minute", "second"):
            return start - offset(moment)
        before = start - offset(moment) - datetime.timedelta(days=1)
        early = start - offset(before)
        late = start - offset(early)
        if late == early or late + offset(late) != start:
            return early
        return late
    except OverflowError:
        return None


def date_add(unit: str, count: int, moment: Any) -> Any:
    if type(moment) is DAY:
        moment = MOMENT(moment.year, moment.month, moment.day)
    months = {"year": 12, "quarter": 3, "month": 1}.get(unit)
    if months is None:
        return moment + datetime.timedelta(**{f"{unit}s": count})
    total = moment.year * 12 + moment.month - 1 + count * months
    year, month = divmod(total, 12)
    last = [31, 29 if year % 4 == 0 and (year % 100 or year % 400 == 0) else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return moment.replace(year=year, month=month + 1, day=min(moment.day, last[month]))


WHOLE = re.compile("[+-]?[0-9]{1,30}")
DECIMAL = re.compile(r"[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]{1,4})?")
STAMP = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?)?")


def to_integer(x: Any) -> Any:
    if isinstance(x, bool | int):
        return int(x)
    if isinstance(x, float):
        return whole(float(round(x)))
    if isinstance(x, str):
        return int(x.strip(" ")) if WHOLE.fullmatch(x.strip(" ")) else None
    return None


def to_real(x: Any) -> Any:
    if isinstance(x, bool | int | float):
        return float(x)
    return float(x.strip(" ")) if isinstance(x, str) and DECIMAL.fullmatch(x.strip(" ")) else None


def to_text(x: Any) -> Any:
    if isinstance(x, bool):
        return "true" if x else "false"
    if isinstance(x, MOMENT):
        base = f"{x.year:04d}-{x.month:02d}-{x.day:02d} {x.hour:02d}:{x.minute:02d}:{x.second:02d}"
        return base + (f".{x.microsecond:06d}".rstrip("0") if x.microsecond else "")
    return x.isoformat() if isinstance(x, DAY) else str(x)


def to_boolean(x: Any) -> Any:
    if isinstance(x, bool):
        return x
    if isinstance(x, int | float):
        return x != 0
    if not isinstance(x, str):
        return None
    words = {
        "true": 1,
        "t": 1,
        "yes": 1,
        "y": 1,
        "on": 1,
        "1": 1,
        "false": 0,
        "f": 0,
        "no": 0,
        "n": 0,
        "off": 0,
        "0": 0,
    }
    found = words.get(x.strip(" ").lower())
    return None if found is None else bool(found)


def to_timestamp(x: Any) -> Any:
    if isinstance(x, MOMENT):
        return x
    if isinstance(x, DAY):
        return MOMENT(x.year, x.month, x.day)
    if not isinstance(x, str) or not (parts := STAMP.fullmatch(x.strip(" "))):
        return None
    text = x.strip(" ").replace("T", " ")
    if parts[4]:
        text = text[: text.index(".")] + (parts[4] + "000000")[:7]
    return MOMENT.fromisoformat(text)


def to_date(x: Any) -> Any:
    moment = to_timestamp(x)
    return None if moment is None else moment.date()


def replaced(text: str, old: str | None, new: str | None) -> Any:
    return new.join(text.split(old)) if old and new is not None else None


def split_part(text: str, between: str | None, place: int | None) -> Any:
    if not between or not place:
        return None
    parts = dict(enumerate(text.split(between), 1))
    return parts.get(place if place > 0 else len(parts) + 1 + place, "")


def right(text: str, count: int | None) -> Any:
    return None if count is None or count < 0 else text[max(len(text) - count, 0) :]


REFUSED = ("(", "a**", "$a", "(?i)a", "\\bA", "[^\\x]")
"""Expressions of the random ones that are none."""


def expression(text: str) -> re.Pattern[str]:
    """As Python has them: ASCII classes, and $ is the end alone. The random ones mean the same in both."""
    return re.compile(text.replace("$", "\\Z"), re.ASCII)


def regexp_matches(text: str, pattern: str) -> Any:
    return None if pattern in REFUSED else expression(pattern).search(text) is not None


def regexp_extract(text: str, pattern: str, group: int = 0) -> Any:
    if pattern in REFUSED or group > expression(pattern).groups:
        return None
    found = expression(pattern).search(text)
    return "" if found is None else found[group] or ""


def strftime(time: Any, form: str) -> Any:
    """By the standard library, but for years, of which it drops zeros."""
    if form in ("%q", "%", ""):
        return None
    iso = time.isocalendar()[0]
    years = {"%%": "%%", "%Y": f"{time.year:04d}", "%y": f"{time.year % 100:02d}", "%G": f"{iso:04d}"}
    return time.strftime(re.sub("%[%YyG]", lambda one: years[one[0]], form))


def strptime(text: str, form: str) -> Any:
    """By the standard library, where it is as strict."""
    digits = {"%d": "[0-9]{1,2}", "%m": "[0-9]{1,2}", "%H": "[0-9]{1,2}", "%M": "[0-9]{1,2}", "%S": "[0-9]{1,2}"}
    shapes = digits | {"%Y": "[0-9]{4}", "%y": "[0-9]{2}", "%b": "[A-Za-z]{3}", "%B": "[A-Za-z]+", "%%": "%"}
    if form in ("%m-%d", "%d/%d/%Y"):
        return None
    if form == "%Y%m%d":
        shapes = shapes | {"%d": "[0-9]{2}", "%m": "[0-9]{2}"}
    parts = re.split("(%.)", form)
    if not re.fullmatch("".join(shapes.get(part, re.escape(part)) for part in parts), text.strip(" ")):
        return None
    return MOMENT.strptime(text.strip(" "), form)


CONSTANTS = {
    "width_bucket": width_bucket,
    "substring": substring,
    "replace": replaced,
    "split_part": split_part,
    "right": right,
    "regexp_matches": regexp_matches,
    "regexp_extract": regexp_extract,
}

SIMPLE = {
    "not": lambda x: not x,
    "like": like,
    "ilike": lambda x, pattern: like(small(x), small(pattern)),
    "starts_with": lambda x, y: x.startswith(y),
    "ends_with": lambda x, y: x.endswith(y),
    "contains": lambda x, y: y in x,
    "strpos": lambda x, y: x.find(y) + 1,
    "ltrim": lambda x: re.sub("^ +", "", x),
    "rtrim": lambda x: x.rstrip(" "),
    "/": quotient,
    "//": whole_quotient,
    "negative": lambda x: -x,
    "abs": abs,
    "sign": lambda x: (x > 0) - (x < 0),
    "floor": lambda x: whole(float(math.floor(x))) if isinstance(x, float) else x,
    "ceil": lambda x: whole(float(math.ceil(x))) if isinstance(x, float) else x,
    "round": rounded,
    "ln": math.log,
    "log10": lambda x: math.log10(float(x)),
    "log2": lambda x: math.log2(float(x)),
    "exp": math.exp,
    "sqrt": math.sqrt,
    "power": lambda x, y: math.pow(float(x), float(y)),
    "lower": small,
    "upper": capital,
    "trim": lambda x: x.strip(" "),
    "length": len,
    "concat": lambda *texts: "".join(texts),
    "year": lambda x: x.year,
    "quarter": lambda x: (x.month + 2) // 3,
    "month": lambda x: x.month,
    "week": lambda x: x.isocalendar()[1],
    "day": lambda x: x.day,
    "weekday": lambda x: x.isoweekday(),
    "second": lambda x: x.second,
    "dayofyear": lambda x: x.toordinal() - DAY(x.year, 1, 1).toordinal() + 1,
    "isoyear": lambda x: x.isocalendar()[0],
    "dayname": lambda x: x.strftime("%A"),
    "monthname": lambda x: x.strftime("%B"),
    "strftime": strftime,
    "strptime": strptime,
    "hour": lambda x: x.hour,
    "minute": lambda x: x.minute,
    "at_time_zone": at_time_zone,
    "date_trunc": date_trunc,
    "timestamp_trunc": timestamp_trunc,
    "date_add": date_add,
    "date_diff": lambda unit, start, end: index(unit, end) - index(unit, start),
    "to_integer": to_integer,
    "to_real": to_real,
    "to_text": to_text,
    "to_boolean": to_boolean,
    "to_date": to_date,
    "to_timestamp": to_timestamp,
}
