"""How dates are written in other ways than 2024-01-31: formats as STRPTIME and STRFTIME have them, a fixed few signs.

>>> read("31/12/2024", "%d/%m/%Y"), written(datetime.date(2024, 3, 1), "%b %y")
(datetime.datetime(2024, 12, 31, 0, 0), 'Mar 24')
>>> reading("%d/%m/%Y")
'([0-9]{1,2})/([0-9]{1,2})/([0-9]{4})'
"""

from __future__ import annotations

import datetime
import functools
import re
from collections.abc import Callable, Iterator

__all__ = ["DAYS", "MONTHS", "read", "read_problem", "reading", "signs_of", "written", "written_problem"]

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_HALF = ("January", "February", "March", "April", "May", "June")
MONTHS = (*_HALF, "July", "August", "September", "October", "November", "December")
LONGEST_FORMAT = 100
"""How many characters a format may have."""

_SHORT_MONTHS = tuple(name[:3] for name in MONTHS)
_READ = {
    "Y": "[0-9]{4}",
    "y": "[0-9]{2}",
    "m": "[0-9]{1,2}",
    "d": "[0-9]{1,2}",
    "H": "[0-9]{1,2}",
    "M": "[0-9]{1,2}",
    "S": "[0-9]{1,2}",
    "b": "|".join(_SHORT_MONTHS),
    "B": "|".join(MONTHS),
}
_WRITTEN: dict[str, Callable[[datetime.datetime], str]] = {
    "Y": lambda moment: f"{moment.year:04d}",
    "y": lambda moment: f"{moment.year % 100:02d}",
    "m": lambda moment: f"{moment.month:02d}",
    "d": lambda moment: f"{moment.day:02d}",
    "H": lambda moment: f"{moment.hour:02d}",
    "M": lambda moment: f"{moment.minute:02d}",
    "S": lambda moment: f"{moment.second:02d}",
    "b": lambda moment: _SHORT_MONTHS[moment.month - 1],
    "B": lambda moment: MONTHS[moment.month - 1],
    "a": lambda moment: DAYS[moment.weekday()][:3],
    "A": lambda moment: DAYS[moment.weekday()],
    "j": lambda moment: f"{moment.timetuple().tm_yday:03d}",
    "V": lambda moment: f"{moment.isocalendar()[1]:02d}",
    "G": lambda moment: f"{moment.isocalendar()[0]:04d}",
    "u": lambda moment: str(moment.isoweekday()),
}
_MONTH_SIGNS = ("m", "b", "B")


def signs_of(form: str) -> Iterator[tuple[str, str]]:
    """The parts of a format, from left to right: a letter that stands for a part of a time and "", or "" and a text."""
    at = 0
    while at < len(form):
        width = 2 if form[at] == "%" else 1
        part = form[at : at + width]
        if width == 2 and part[1:] != "%":
            yield part[1:], ""
        else:
            yield "", part[-1:]
        at += width


def read_problem(form: str) -> str:
    """Which formats can be read, in words, if this is another."""
    letters = [letter for letter, text in signs_of(form) if not text]
    months = sum(letter in _MONTH_SIGNS for letter in letters)
    fits = all(letter in _READ for letter in letters) and len(set(letters)) == len(letters) and months <= 1
    fits = fits and len({"Y", "y"} & set(letters)) == 1 and form.isprintable() and len(form) <= LONGEST_FORMAT
    return "" if fits else "a format like '%d/%m/%Y': a year (%Y, %y), and of %m %b %B %d %H %M %S each once at most"


def written_problem(form: str) -> str:
    """Which formats can be written, in words, if this is another."""
    letters = [letter for letter, text in signs_of(form) if not text]
    fits = all(letter in _WRITTEN for letter in letters) and form.isprintable() and 0 < len(form) <= LONGEST_FORMAT
    return "" if fits else f"a format like '%Y-%m', of {' '.join('%' + letter for letter in _WRITTEN)} and %%"


@functools.lru_cache(maxsize=64)
def reading(form: str) -> str:
    """A regular expression with a group for every part of the time, which a text must match as a whole.

    Numbers right beside each other have two digits, others one or two. Names of months are written in capitals or not.
    """
    parts = list(signs_of(form))
    found = []
    for place, (letter, text) in enumerate(parts):
        if not letter:
            found.append(re.escape(text) if text.isascii() and not text.isalnum() else text)
            continue
        beside = [parts[near] for near in (place - 1, place + 1) if 0 <= near < len(parts)]
        pattern = _READ[letter].replace("{1,2}", "{2}") if any(map(_is_digits, beside)) else _READ[letter]
        found.append(f"({_any_case(pattern)})" if letter in "bB" else f"({pattern})")
    return "".join(found)


def _is_digits(part: tuple[str, str]) -> bool:
    letter, text = part
    return text.isdecimal() or (letter != "" and letter not in "bB")


def _any_case(names: str) -> str:
    return "".join(f"[{sign.upper()}{sign.lower()}]" if sign.isalpha() else sign for sign in names)


@functools.lru_cache(maxsize=64)
def _reader(form: str) -> tuple[re.Pattern[str], tuple[str, ...]]:
    return re.compile(reading(form)), tuple(letter for letter, text in signs_of(form) if not text)


def read(text: str, form: str) -> datetime.datetime | None:
    """The moment that a text says in this format, spaces around it aside; None if it says none.

    What the format has no sign for is the first: month, day, hour. %y is 1969 to 2068.
    """
    pattern, letters = _reader(form)
    found = pattern.fullmatch(text.strip(" "))
    if found is None:
        return None
    said = dict(zip(letters, found.groups(), strict=True))
    short = said.get("b") or said.get("B")
    month = said.get("m", "1") if short is None else _SHORT_MONTHS.index(short[:3].title()) + 1
    year = int(said["Y"]) if "Y" in said else (int(said["y"]) - 69) % 100 + 1969
    hour, minute, second = (int(said.get(letter, 0)) for letter in "HMS")
    try:
        return datetime.datetime(year, int(month), int(said.get("d", 1)), hour, minute, second)
    except ValueError:
        return None


def written(moment: datetime.date | datetime.datetime, form: str) -> str:
    """A time in this format."""
    whole = datetime.datetime(*moment.timetuple()[:6])
    return "".join(_WRITTEN[letter](whole) if letter else text for letter, text in signs_of(form))
