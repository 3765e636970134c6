"""Lines that keep to the width of a screen: trees keep their branches, commands stay commands."""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap

import click

__all__ = ["SCREEN", "echo_folded", "echo_paragraphs", "folded", "paragraphs", "screen_width"]

SCREEN = 80
_BRANCHES = re.compile(r"[│├└─ ]*")
_NEVER = str.maketrans({"├": "│", "─": " ", "└": " "})


def folded(text: str, width: int = SCREEN) -> str:
    """The text with long lines folded; what follows stands below the words, behind the branches of a tree.

    >>> print(folded("price\\n├─ one two three\\n└─ tacit ask visits.toml --epsilon 0.5", 14))
    price
    ├─ one two
    │  three
    └─ tacit ask \\
         visits.toml \\
         --epsilon \\
         0.5
    """
    return "\n".join(part for line in text.split("\n") for part in _folded(line, width))


def _folded(line: str, width: int) -> list[str]:
    if len(line) <= width:
        return [line]
    match = _BRANCHES.match(line)
    first = match.group() if match else ""
    words, rest = line[len(first) :], first.translate(_NEVER)
    if words.startswith("tacit "):
        return _folded_command(words, first, f"{rest}  ", width)
    return textwrap.wrap(
        words, width, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )


def _folded_command(words: str, first: str, rest: str, width: int) -> list[str]:
    """Lines that can be typed as they stand: each goes on behind a backslash, and a comment has lines of its own."""
    command, _, comment = words.partition(" # ")
    if command.count('"') % 2 or command.count("'") % 2:  # within quotes it is none
        command, comment = words, ""
    made = [f"{first}{command.rstrip()}"]
    if len(made[0]) > width:
        made = textwrap.wrap(
            command,
            width - 2,
            initial_indent=first,
            subsequent_indent=rest,
            break_long_words=False,
            break_on_hyphens=False,
        )
    made = [*(f"{one} \\" for one in made[:-1]), made[-1]]
    noted = f"{rest}# "
    return made + (textwrap.wrap(comment, width, initial_indent=noted, subsequent_indent=noted) if comment else [])


def screen_width() -> int | None:
    """The width of the terminal, or what COLUMNS says; None in a pipe, where a line is a line."""
    if not (sys.stdout.isatty() or "COLUMNS" in os.environ):
        return None
    return max(40, shutil.get_terminal_size((SCREEN, 24)).columns)


def paragraphs(text: str, width: int) -> str:
    """The text with its paragraphs set anew, if a line is too long; lines that are set in stay lines.

    >>> print(paragraphs("one two three\\nfour five\\n\\n  six seven eight nine;\\n  ten", 13))
    one two three
    four five
    <BLANKLINE>
      six seven
      eight nine;
      ten
    """
    return "\n\n".join(_paragraph(part, width) for part in text.split("\n\n"))


def _paragraph(text: str, width: int) -> str:
    lines = text.split("\n")
    if max(map(len, lines)) <= width:
        return text
    if any(line.startswith(" ") for line in lines):
        return folded(text, width)
    return textwrap.fill(" ".join(lines), width, break_long_words=False, break_on_hyphens=False)


def echo_paragraphs(text: str) -> None:
    """Print, set anew where somebody looks at a narrow screen."""
    width = screen_width()
    click.echo(text if width is None else paragraphs(text, width))


def echo_folded(text: str) -> None:
    """Print, folded where somebody looks."""
    width = screen_width()
    click.echo(text if width is None else folded(text, width))
