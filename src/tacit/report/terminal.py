"""An answer as a table of text: in a terminal as wide as it is, in a pipe as wide as it has to be."""

from __future__ import annotations

import io
from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tacit.report import words
from tacit.report.columns import Column, same_length
from tacit.report.disclosure import Disclosure
from tacit.report.numbers import cell, printable, shortened

__all__ = ["show", "show_grid", "text", "to_text"]

_LONGEST_KEY = 60
_TERMINAL_ROWS = 60
_SCREEN = 80


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
    console = Console(highlight=False, force_jupyter=False)
    if console.is_terminal:
        _print(console, columns, footnote, parts, notes=notes, most=_TERMINAL_ROWS, everything=everything)
    else:
        print(text(columns, footnote, parts, notes=notes), end="")


def show_grid(headings: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool]) -> None:
    """Print a table of texts to standard output; ``right`` says which columns are set to the right."""
    console = Console(highlight=False, force_jupyter=False)
    if console.is_terminal:
        console.print(_grid(headings, rows, right))
    else:
        made, wide = _wide_console(None)
        wide.print(_grid(headings, rows, right))
        print(_trimmed(made), end="")


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
    made, console = _wide_console(width)
    _print(console, columns, footnote, parts, notes=notes, most=most, everything=everything)
    return _trimmed(made)


def _print(
    console: Console,
    columns: Sequence[Column],
    footnote: str,
    parts: Sequence[str],
    *,
    notes: Sequence[str],
    most: int | None,
    everything: str,
) -> None:
    rows = same_length(columns)
    shown = rows if most is None or rows <= most else most
    names = [column.name for column in columns]
    cells = [[cell(column, row) for column in columns] for row in range(shown)]
    if columns:
        console.print(_grid(names, cells, [_is_number(column) for column in columns]))
    if not rows:
        console.print(" no group is large enough to show" if footnote else " no rows")
    if shown < rows:
        console.print(f" … and {rows - shown:,} more rows{': ' if everything else ''}{everything}".replace(",", " "))
    if footnote:
        console.print(Text(f" {footnote}", style="dim"), soft_wrap=True)
    for note in notes:
        console.print(Text(f" {note}", style="dim"), soft_wrap=True)
    for line in _lines(parts, console.width):
        console.print(Text(f" {line}", style="dim"), soft_wrap=True)


def _grid(headings: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool]) -> Table:
    table = Table(box=None, pad_edge=True, padding=(0, 2, 0, 1), header_style="bold", show_edge=False)
    for heading, numeric in zip(headings, right, strict=True):
        name = Text(shortened(printable(heading), _LONGEST_KEY))
        table.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(shortened(shown, _LONGEST_KEY)) for shown in row))
    return table


def _wide_console(width: int | None) -> tuple[io.StringIO, Console]:
    made = io.StringIO()
    wide = Console(
        file=made, width=width or 10**6, color_system=None, highlight=False, legacy_windows=False, force_jupyter=False
    )
    return made, wide


def _trimmed(made: io.StringIO) -> str:
    return "\n".join(line.rstrip() for line in made.getvalue().splitlines()) + "\n"


def _is_number(column: Column) -> bool:
    known = [value for value in column.values if value is not None]
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in known)
    return column.is_noisy or (bool(known) and numbers)


def _lines(parts: Sequence[str], width: int) -> list[str]:
    """The parts joined by dots, broken between parts where the width asks for it."""
    lines: list[str] = []
    for part in map(printable, parts):
        if lines and cell_len(f" {lines[-1]} · {part}") <= width:
            lines[-1] += f" · {part}"
        else:
            lines.append(part)
    return lines
