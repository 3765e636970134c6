"""Where in a TOML text each key stands, so that an error can point at its line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Lines"]

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
