"""Text on a screen: tables folded where it ends, in a pipe as wide as they have to be; an answer as such a table."""

from __future__ import annotations

import os
import shutil
import sys
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TextIO

from tacit.report import words
from tacit.report.columns import Column, same_length
from tacit.report.disclosure import Disclosure
from tacit.report.numbers import cell, printable, shortened

__all__ = ["BOLD", "DIM", "RED", "Marked", "Screen", "grid", "show", "show_grid", "text", "text_width", "to_text"]

BOLD, DIM, RED = "1", "2", "1;31"
"""How a terminal is told to stress a text; elsewhere it is not stressed."""

_SCREEN = 80
_LONGEST_KEY = 60
_TERMINAL_ROWS = 60


@dataclass(frozen=True, slots=True)
class Marked:
    """A cell that is stressed on a terminal."""

    text: str
    style: str


Cell = str | Marked


def text_width(text: str) -> int:
    """How many columns of a terminal a text takes: two for wide letters, none for marks on letters.

    >>> text_width("Łódź"), text_width("東京"), text_width("e\\u0301")
    (4, 4, 1)
    """
    return len(text) if text.isascii() else sum(map(_letter_width, text))


def _letter_width(letter: str) -> int:
    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def grid(
    headings: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    *,
    right: Sequence[bool] = (),
    whole: Sequence[str] = (),
    width: int | None = None,
    margin: int = 1,
    gap: int = 3,
    styled: bool = False,
) -> list[str]:
    """The lines of a table; no ``width``: nothing is folded; columns that are ``whole`` never are; headings or none.

    >>> print(*grid(["city", "n"], [["Lund", "1 003"], ["Łódź", "7"]], right=[False, True]), sep="\\n")
     city       n
     Lund   1 003
     Łódź       7
    """
    first = [[Marked(name, BOLD) for name in headings]] if headings else []
    table = [*first, *([_marked(one) for one in row] for row in rows)]
    needed = [max(map(text_width, texts)) for texts in zip(*([one.text for one in row] for row in table), strict=True)]
    sides = list(right) or [False] * len(needed)
    room = None if width is None else width - margin - gap * (len(needed) - 1)
    widths = _fitted(needed, [name in whole for name in headings] or [False] * len(needed), room)
    lines = []
    for row in table:
        folded = [_folded(one.text, most) for one, most in zip(row, widths, strict=True)]
        for at in range(max(map(len, folded), default=0)):
            parts = [texts[at] if at < len(texts) else "" for texts in folded]
            set_out = [_set(part, most, to_right) for part, most, to_right in zip(parts, widths, sides, strict=True)]
            if not sides[-1]:
                set_out[-1] = parts[-1]
            shown = [_in_style(part, one.style) for part, one in zip(set_out, row, strict=True)] if styled else set_out
            lines.append((" " * margin + (" " * gap).join(shown)).rstrip(" "))
    return lines


def _marked(cell: Cell) -> Marked:
    return cell if isinstance(cell, Marked) else Marked(cell, "")


def _in_style(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if style and text.strip() else text


def _set(text: str, width: int, to_right: bool) -> str:
    spaces = " " * (width - text_width(text))
    return spaces + text if to_right else text + spaces


def _fitted(needed: Sequence[int], whole: Sequence[bool], room: int | None) -> list[int]:
    """Widths that fit into the room: the widest columns give first."""
    widths = list(needed)
    while room is not None and sum(widths) > room:
        giving = [at for at, keeps in enumerate(whole) if not keeps]
        widest = max((widths[at] for at in giving), default=1)
        if widest <= 1:
            break
        those = [at for at in giving if widths[at] == widest]
        below = max((widths[at] for at in giving if widths[at] < widest), default=1)
        step = min(widest - below, max(1, (sum(widths) - room) // len(those)))
        for at in those[: max(1, sum(widths) - room)]:
            widths[at] -= step
    return widths


def _folded(text: str, width: int) -> list[str]:
    """The text in lines of at most this width, broken between words where that can be."""
    if "\n" not in text and text_width(text) <= width:
        return [text]
    lines = []
    for line in text.split("\n"):
        rest = line
        while text_width(rest) > width:
            end = max(1, _letters_within(rest, width))
            space = rest.rfind(" ", 1, end + 1)
            cut = space if space > 0 else end
            lines.append(rest[:cut].rstrip(" "))
            rest = rest[cut:].lstrip(" ")
        lines.append(rest)
    return lines


def _letters_within(text: str, width: int) -> int:
    taken = 0
    for at, letter in enumerate(text):
        taken += _letter_width(letter)
        if taken > width:
            return at
    return len(text)


class Screen:
    """Where lines are printed: a terminal has a width and styles; in a pipe a line is a line."""

    def __init__(self, file: TextIO | None = None) -> None:
        self._file = sys.stdout if file is None else file
        self.is_terminal = self._file.isatty()
        self.styled = self.is_terminal and _knows_styles()
        known = self.is_terminal or "COLUMNS" in os.environ
        self.width = shutil.get_terminal_size((_SCREEN, 24)).columns if known else None

    def line(self, text: str, style: str = "") -> None:
        """Print one line as it is: the terminal breaks it where it ends."""
        print(_in_style(text, style) if self.styled else text, file=self._file)

    def grid(
        self,
        headings: Sequence[str],
        rows: Sequence[Sequence[Cell]],
        *,
        right: Sequence[bool] = (),
        whole: Sequence[str] = (),
        margin: int = 1,
        gap: int = 3,
    ) -> None:
        """Print a table, folded where the terminal ends."""
        made = grid(
            headings, rows, right=right, whole=whole, width=self.width, margin=margin, gap=gap, styled=self.styled
        )
        print("\n".join(made), file=self._file)


def _knows_styles() -> bool:
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") in ("dumb", "unknown"):
        return False
    return os.name != "nt" or "WT_SESSION" in os.environ


def to_text(disclosure: Disclosure, current: int | None = None) -> str:
    """An answer with the lines that belong under it, for a screen of 80 columns; long answers are cut, and say so."""
    made = text(
        disclosure.columns,
        words.footnote(disclosure),
        words.spent(disclosure),
        notes=words.notes(disclosure, current),
        width=_SCREEN,
        most=_TERMINAL_ROWS,
        everything="to_dict(), to_pandas() have all",
    )
    return made.rstrip("\n")


def show(
    columns: Sequence[Column], footnote: str, parts: Sequence[str], *, everything: str, notes: Sequence[str] = ()
) -> None:
    """Print the answer to standard output; a terminal gets the first rows, and ``everything`` says how to get all."""
    screen = Screen()
    most = _TERMINAL_ROWS if screen.is_terminal else None
    width = screen.width if screen.is_terminal else None
    table, said, below = _lines_of(columns, footnote, parts, notes, width, most, everything, screen.styled)
    if width is not None:
        said = [f" {line}" for one in said for line in _folded(one.strip(), width - 1)]
    for line in table:
        screen.line(line)
    for line in (*said, *below):
        screen.line(line, DIM)


def show_grid(headings: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool]) -> None:
    """Print a table of texts to standard output; ``right`` says which columns are set to the right."""
    screen = Screen()
    for line in _grid(headings, rows, right, screen.width if screen.is_terminal else None, screen.styled):
        screen.line(line)


def text(
    columns: Sequence[Column],
    footnote: str = "",
    parts: Sequence[str] = (),
    *,
    notes: Sequence[str] = (),
    width: int | None = None,
    most: int | None = None,
    everything: str = "",
) -> str:
    """The answer as plain text without colour; no ``width`` means that nothing is cut or folded.

    >>> cities = Column.of("city", ["Lund", "Łódź"])
    >>> print(text([cities, Column.of("n", [1003, 7], [962, -34], [1044, 48], whole=True)], "95% intervals"))
     city             n
     Lund    1 003 ± 41
     Łódź        7 ± 41
     95% intervals
    """
    table, said, below = _lines_of(columns, footnote, parts, notes, width, most, everything, styled=False)
    return "\n".join([*table, *said, *below]) + "\n"


def _lines_of(
    columns: Sequence[Column],
    footnote: str,
    parts: Sequence[str],
    notes: Sequence[str],
    width: int | None,
    most: int | None,
    everything: str,
    styled: bool,
) -> tuple[list[str], list[str], list[str]]:
    """The lines of the table, what must be said of it, and those of the parts."""
    rows = same_length(columns)
    shown = rows if most is None or rows <= most else most
    names = [column.name for column in columns]
    cells = [[cell(column, row) for column in columns] for row in range(shown)]
    table = _grid(names, cells, [_is_number(column) for column in columns], width, styled) if columns else []
    if not rows:
        table.append(" no group is large enough to show" if footnote else " no rows")
    if shown < rows:
        table.append(f" … and {rows - shown:,} more rows{': ' if everything else ''}{everything}".replace(",", " "))
    said = [*([footnote] if footnote else []), *notes]
    return table, [f" {line}" for line in said], [f" {line}" for line in _lines(parts, width)]


def _grid(
    headings: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool], width: int | None, styled: bool
) -> list[str]:
    names = [shortened(printable(heading), _LONGEST_KEY) for heading in headings]
    cells = [[shortened(one, _LONGEST_KEY) for one in row] for row in rows]
    return grid(names, cells, right=right, width=width, styled=styled)


def _is_number(column: Column) -> bool:
    known = [value for value in column.values if value is not None]
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in known)
    return column.is_noisy or (bool(known) and numbers)


def _lines(parts: Sequence[str], width: int | None) -> list[str]:
    """The parts joined by dots, broken between parts where the width asks for it."""
    lines: list[str] = []
    for part in map(printable, parts):
        if lines and (width is None or text_width(f" {lines[-1]} · {part}") <= width):
            lines[-1] += f" · {part}"
        else:
            lines.append(part)
    return lines
