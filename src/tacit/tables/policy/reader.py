"""A table of a policy file that is read key by key; every complaint says the file, the line and what is allowed.

`Lines` knows where in a TOML text each key stands, so that an error can point at its line.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction
from typing import Any

from tacit.errors import InvalidParameter, PolicyError
from tacit.privacy.prices import price
from tacit.tables.expressions.kinds import is_text, is_whole

__all__ = ["Document", "Lines", "Section", "load"]

_PLACE = re.compile(r"\s*\(at line (\d+), column \d+\)|\s*\(at end of document\)")
_UNQUOTED = re.compile(r"=\s*[A-Za-z_./~\\][^\"'\[{]*$")


@dataclass(frozen=True, slots=True)
class Document:
    """A policy file: the name it goes by, and its lines."""

    name: str
    lines: Lines

    def error(self, path: tuple[str, ...], problem: str) -> PolicyError:
        """What is wrong, pointing at the line of a key."""
        return _error(self.name, self.lines.number(path), problem, self.lines)


@dataclass(frozen=True, slots=True)
class Section:
    """One table of the file, under its path."""

    document: Document
    path: tuple[str, ...]
    values: Mapping[str, Any]

    @property
    def heading(self) -> str:
        """How messages call it."""
        return f"[{'.'.join(self.path)}]" if self.path else "the file"

    def error(self, key: str, problem: str) -> PolicyError:
        """What is wrong, pointing at one key of this table."""
        return self.document.error((*self.path, key), problem)

    def allow(self, keys: Iterable[str]) -> None:
        """Refuse any other key, with the nearest one that exists."""
        known = tuple(keys)
        for key in self.values:
            if key not in known:
                near = nearest(key, known)
                raise self.error(key, f"unknown key {key!r} in {self.heading};{near} allowed: {', '.join(known)}")

    def has(self, key: str) -> bool:
        return key in self.values

    def need(self, key: str, meaning: str) -> Any:
        """The value of a key that must be there."""
        if key not in self.values:
            raise self.error(key, f"{self.heading} has no {key!r}: {meaning}")
        return self.values[key]

    def section(self, key: str) -> Section:
        """A table within; an empty one if it is not there."""
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            raise self.error(
                key,
                f"{key!r} must be a table, [{'.'.join((*self.path, key))}] or {key} = {{ … }}; given {_shown(value)}",
            )
        return Section(self.document, (*self.path, key), value)

    def text(self, key: str, meaning: str) -> str:
        """A text that is not empty."""
        value = self.need(key, meaning)
        if not is_text(value) or not value.strip():
            raise self.error(key, f"{key} must be text in quotes, {meaning}; given {_shown(value)}")
        return value

    def one_of(self, key: str, allowed: Iterable[str], meaning: str) -> str:
        """One of a few words."""
        known, value = tuple(allowed), self.need(key, meaning)
        if value == "?":
            raise self.error(key, f'replace "?" in {self.heading}: {key} is {meaning}: {", ".join(known)}')
        if not is_text(value) or value not in known:
            near = nearest(value, known) if is_text(value) else ""
            raise self.error(key, f"{key} {_shown(value)} in {self.heading};{near} allowed: {', '.join(known)}")
        return value

    def truth(self, key: str) -> bool:
        value = self.values[key]
        if not isinstance(value, bool):
            raise self.error(key, f"{key} must be true or false; given {_shown(value)}")
        return value

    def whole(self, key: str, least: int = 1, most: int = 10**12) -> int:
        """A whole number."""
        value = self.values[key]
        if not is_whole(value, least, most):
            raise self.error(key, f"{key} must be a whole number from {least} to {most}; given {_shown(value)}")
        return value

    def number(self, key: str, meaning: str = "a finite number") -> Fraction:
        """A number, exactly as typed."""
        return self.exact(key, self.need(key, meaning), meaning)

    def exact(self, key: str, value: Any, meaning: str) -> Fraction:
        """A value as an exact number; text such as "1/3" is one too."""
        if value == "?":
            raise self.error(key, f'replace "?": {key} in {self.heading} is {meaning}')
        try:
            if isinstance(value, (bool, float)) or not isinstance(value, (int, Decimal, str)):
                raise InvalidParameter(key, given=value, allowed=meaning)
            return price(value, key)
        except InvalidParameter:
            raise self.error(key, f"{key} must be {meaning}; given {_shown(value)}") from None

    def pair(self, key: str) -> tuple[Fraction, Fraction] | None:
        """Two numbers, the first below the second."""
        if key not in self.values:
            return None
        value = self.values[key]
        if not isinstance(value, list) or len(value) != 2:
            raise self.error(key, f"{key} must be two numbers, [low, high]; given {_shown(value)}")
        low, high = (self.exact(key, one, "two finite numbers, [low, high]") for one in value)
        if low == high:
            raise self.error(key, f"{key} must be two different numbers, [low, high]; given {_shown(value)}")
        if low > high:
            raise self.error(key, f"{key} must have the smaller number first: [{_plain(value[1])}, {_plain(value[0])}]")
        return low, high


def load(text: str, name: str) -> Section:
    """The whole file as a table."""
    if not text.strip():
        raise PolicyError(f"{name}: the policy is empty; `tacit init visits.csv` drafts one from a table.")
    try:
        values = tomllib.loads(text, parse_float=Decimal)
    except RecursionError:
        raise PolicyError(f"{name}: tables are nested too deep.") from None
    except ValueError as error:  # TOMLDecodeError, or an integer of thousands of digits
        raise _not_toml(text, name, str(error)) from None
    return Section(Document(name, Lines.of(text)), (), values)


def nearest(word: str, known: Iterable[str]) -> str:
    """A suggestion, with its own semicolon."""
    found = get_close_matches(word.lower(), list(known), n=1)
    return f" did you mean {found[0]!r}?" if found else ""


def _not_toml(text: str, name: str, message: str) -> PolicyError:
    found = re.search(r"at line (\d+)", message)
    lines = Lines(tuple(text.split("\n")), {})
    number = int(found.group(1)) if found else len(lines.texts) if "end of document" in message else None
    problem = f"not valid TOML: {_PLACE.sub('', message)[:200]}"
    if number is not None and _UNQUOTED.search(lines.text(number)):
        problem += "; texts need quotes"
    return _error(name, number, problem, lines)


def _error(name: str, number: int | None, problem: str, lines: Lines) -> PolicyError:
    if number is None:
        return PolicyError(f"{name}: {problem}.")
    line = lines.text(number)
    shown = line if len(line) <= 100 else f"{line[:97]}…"
    return PolicyError(f"{name}:{number}: {problem}. The line is: {shown}")


def _shown(value: object) -> str:
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, list):
        text = "[" + ", ".join(_shown(one) for one in value[:8]) + (", …]" if len(value) > 8 else "]")
    else:
        text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def _plain(value: object) -> str:
    return str(value)


_TOKEN = re.compile(
    r'(?P<text>"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\')'
    r"|(?P<comment>#[^\n]*)|(?P<end>\n)|(?P<mark>[\[\]{}=,.])|(?P<space>[ \t\r]+)|(?P<bare>[^\s\[\]{}=,.#\"']+)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of a text that ``tomllib`` accepts, and the line of each key."""

    texts: tuple[str, ...]
    places: dict[tuple[str, ...], int]

    @classmethod
    def of(cls, text: str) -> Lines:
        """Scan a text; keys in unusual places may be missed, and then their table's line is given."""
        places = dict[tuple[str, ...], int]()
        _scan(list(_tokens(text)), places)
        return cls(tuple(text.split("\n")), places)

    def number(self, path: tuple[str, ...]) -> int | None:
        """The line of a key, from 1; of the nearest table above it if the key itself stands nowhere."""
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path)

    def text(self, number: int) -> str:
        """A line, as it is written."""
        return self.texts[number - 1].strip() if 0 < number <= len(self.texts) else ""


def _tokens(text: str) -> Iterator[_Token]:
    line, at = 1, 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            at += 1
            continue
        kind, at = found.lastgroup or "", found.end()
        if kind not in ("space", "comment"):
            yield _Token(kind, found.group(), line)
        line += found.group().count("\n")
    yield _Token("end", "\n", line)


def _scan(tokens: list[_Token], places: dict[tuple[str, ...], int]) -> None:
    """Statements: a table's heading, or a key and its value."""
    table, at = tuple[str, ...](), 0
    while at < len(tokens):
        if tokens[at].kind == "end":
            at += 1
        elif tokens[at].text == "[":
            while at < len(tokens) and tokens[at].text == "[":
                at += 1
            table, line, at = *_key(tokens, at), at
            places.setdefault(table, line)
            at = _skip_to_end(tokens, at)
        else:
            at = _pair(tokens, at, table, places)


def _key(tokens: list[_Token], at: int) -> tuple[tuple[str, ...], int]:
    """A dotted key and its line."""
    parts, line = list[str](), tokens[at].line
    while at < len(tokens) and (tokens[at].kind in ("bare", "text") or tokens[at].text == "."):
        if tokens[at].text != ".":
            parts.append(_unquoted(tokens[at]))
        at += 1
    return tuple(parts), line


def _pair(tokens: list[_Token], at: int, table: tuple[str, ...], places: dict[tuple[str, ...], int]) -> int:
    """``key = value``; just after it."""
    key, line = _key(tokens, at)
    path = table + key
    for length in range(len(table) + 1, len(path) + 1):
        places.setdefault(path[:length], line)
    while at < len(tokens) and tokens[at].text != "=" and tokens[at].kind != "end":
        at += 1
    return _value(tokens, at + 1, path, places)


def _value(tokens: list[_Token], at: int, path: tuple[str, ...], places: dict[tuple[str, ...], int]) -> int:
    """A value up to what ends it: a line's end, or a comma or bracket of what it stands in."""
    depth = 0
    while at < len(tokens):
        text, kind = tokens[at].text, tokens[at].kind
        if depth == 0 and (kind == "end" or text in (",", "}", "]")):
            return at
        if text == "{" and depth == 0:
            at = _inline(tokens, at + 1, path, places)
            continue
        depth += (text == "[") - (text == "]") + (text == "{") - (text == "}")
        at += 1
    return at


def _inline(tokens: list[_Token], at: int, path: tuple[str, ...], places: dict[tuple[str, ...], int]) -> int:
    """The inside of an inline table; just after its closing brace."""
    while at < len(tokens) and tokens[at].text != "}":
        if tokens[at].kind in ("bare", "text"):
            at = _pair(tokens, at, path, places)
        else:
            at += 1
    return at + 1


def _skip_to_end(tokens: list[_Token], at: int) -> int:
    while at < len(tokens) and tokens[at].kind != "end":
        at += 1
    return at


def _unquoted(token: _Token) -> str:
    if token.kind == "bare":
        return token.text
    value = tomllib.loads(f"x = {token.text}")["x"]
    return str(value)
