"""Commands as typed in a folder: in this process, which is fast, or in one of their own."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from tacit.cli.main import main
from tests.shell import typed


@dataclass(frozen=True)
class Ran:
    """What a command printed, and its exit code; ``printed`` is both streams in order."""

    stdout: str
    stderr: str
    printed: str
    returncode: int


class _Both(io.StringIO):
    """A stream that is also written to a common one."""

    def __init__(self, common: io.StringIO) -> None:
        super().__init__()
        self._common = common

    def write(self, text: str) -> int:
        self._common.write(text)
        return super().write(text)


def tacit(folder: Path, *words: str, columns: int | None = None) -> Ran:
    """Run the front door in this process, as if typed in that folder: into pipes, or on a screen of so many columns."""
    printed = io.StringIO()
    out, err = _Both(printed), _Both(printed)
    code: object = 0
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "argv", ["tacit", *words]),
        mock.patch.dict(os.environ),
    ):
        os.environ.pop("COLUMNS", None)  # workers of the tests have it, and lines would be folded
        if columns is not None:
            os.environ["COLUMNS"] = str(columns)
        try:
            main()
        except SystemExit as ended:
            code = ended.code
    assert isinstance(code, int)
    return Ran(out.getvalue(), err.getvalue(), printed.getvalue(), code)


def tacit_alone(folder: Path, *words: str) -> Ran:
    """Run the front door in a process of its own."""
    code, out, err = typed(folder, *words)
    return Ran(out, err, out + err, code)
