"""Options of the shell that say how a file is read: those of [reading] in a policy."""

from __future__ import annotations

import functools
from typing import Any

import click

from tacit.tables.policy.reading import joined

__all__ = ["reading_options"]

_LISTS = {"date_format": "dates", "null": "null"}


def reading_options(command: Any) -> Any:
    """--encoding, --delimiter, … as one mapping, ``reading``; directly above the function."""

    @functools.wraps(command)
    def collected(**given: Any) -> Any:
        reading = dict[str, str]()
        for option in ("encoding", "delimiter", "decimal", "skip", "trim", "header", "table", "date_format", "null"):
            value = given.pop(f"read_{option}")
            if value not in (None, ()):
                reading[_LISTS.get(option, option)] = joined(value)
        if reading.get("delimiter") == "\\t":
            reading["delimiter"] = "\t"
        return command(reading=reading, **given)

    for option in (
        click.option("--table", "read_table", metavar="NAME", help="The table or sheet in the file."),
        click.option("--header/--no-header", "read_header", default=None, help="Whether the first line names columns."),
        click.option("--trim", "read_trim", is_flag=True, default=None, help="Leave out blanks around texts."),
        click.option("--skip", "read_skip", type=click.IntRange(0), metavar="N", help="Lines before the header."),
        click.option("--null", "read_null", multiple=True, metavar="TEXT", help="A text that stands for null."),
        click.option(
            "--date-format", "read_date_format", multiple=True, metavar="F", help="How days are written: %d/%m/%Y."
        ),
        click.option("--decimal", "read_decimal", metavar="C", help="The decimal mark of numbers: . or ,"),
        click.option("--delimiter", "read_delimiter", metavar="C", help=r"Between fields: , ; | or \t"),
        click.option("--encoding", "read_encoding", metavar="NAME", help="Of the text: utf-8, latin-1, utf-16, …"),
    ):
        collected = option(collected)
    return collected
