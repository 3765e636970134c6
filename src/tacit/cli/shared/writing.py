"""Files that commands write: looked at before anything is paid, named when they are there."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import click

from tacit.errors import InvalidParameter

__all__ = ["check_target", "written"]


def check_target(option: str, path: Path | None) -> None:
    """Refuse, before anything is paid, a file in a folder that does not exist, or that may not be written."""
    if path is None:
        return
    folder = path.absolute().parent
    if not folder.is_dir():
        allowed = f"a file in a folder that exists, and {folder} does not"
        raise InvalidParameter(option, given=str(path), allowed=allowed, hint="Nothing was spent.")
    if not os.access(path if path.exists() else folder, os.W_OK):
        allowed = "a file that you may write"
        raise InvalidParameter(option, given=str(path), allowed=allowed, hint="Nothing was spent.")


def written(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file, and say so; what was paid for is on record if it cannot be written."""
    try:
        write(path)
    except OSError as error:
        hint = f"{error.strerror}. The answer is on record: asking again is free."
        raise click.FileError(str(path), hint) from None
    click.echo(f"wrote {path}", err=True)
