"""`tacit` and `python -c` typed at a shell: a process for each, forked from one that has read the code already.

A command then takes what it does, and not the half second in which Python reads the code: a process is begun once for
each worker of the tests, without threads, and waits for lines that say what is typed, where, and into which files its
output goes. Tests about the very start (`tests/cli/test_main.py`) begin Python anew.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import tacit

__all__ = ["ENVIRONMENT", "Said", "python", "typed"]

ENVIRONMENT = {
    **os.environ,
    "PYTHONIOENCODING": "utf-8",
    "PYTHONPATH": str(Path(tacit.__file__).resolve().parents[1]),  # the same Tacit as here, whatever the folder
}

_WAITS = r"""
import atexit, json, os, sys, traceback
import duckdb, numpy, sqlglot
import tacit.cli.main, tacit.cli.shared.questions, tacit.report.terminal, tacit.tables.sql.read.statement
import tacit.tables.engines.duckdb.engine, tacit.tables.engines.duckdb.connection, tacit.tables.session.open

def lines():
    held = b""
    while more := os.read(0, 65536):
        *whole, held = (held + more).split(b"\n")
        yield from whole

def run(command):
    os.chdir(command["folder"])
    os.environ.update(command["environment"])
    nothing = os.open(os.devnull, os.O_RDONLY)
    out = os.open(command["out"], os.O_WRONLY | os.O_CREAT)
    err = os.open(command["err"], os.O_WRONLY | os.O_CREAT)
    for stream, file in enumerate((nothing, out, err)):
        os.dup2(file, stream)
    sys.argv = [command["name"], *command["words"]]
    code = 0
    try:
        exec(compile(command["code"], command["name"], "exec"), {"__name__": "__main__"})
    except SystemExit as ended:
        code = ended.code
        if not isinstance(code, int):
            code = 0 if code is None else 1
    except BaseException:
        traceback.print_exc()
        code = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)

for line in lines():
    child = os.fork()
    if child == 0:
        run(json.loads(line))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.write(1, b"%d\n" % code)
"""


class Said(NamedTuple):
    """What a shell sees of a command."""

    returncode: int
    stdout: str
    stderr: str


def typed(folder: Path, *words: str, **environment: str) -> Said:
    """Type ``tacit WORDS`` in a folder, with these variables besides those of the tests."""
    return python("from tacit.cli.main import main; main()", *words, name="tacit", folder=folder, **environment)


def python(code: str, *words: object, name: str = "-c", folder: Path | None = None, **environment: str) -> Said:
    """Run a program given as text; a negative code is the signal that ended it."""
    with tempfile.TemporaryDirectory() as kept:
        out, err = Path(kept, "out"), Path(kept, "err")
        command = {
            "code": code,
            "name": name,
            "words": list(map(str, words)),
            "folder": str(folder or Path.cwd()),
            "environment": environment,
            "out": str(out),
            "err": str(err),
        }
        process = _waiting(os.getpid())
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(command).encode() + b"\n")
        process.stdin.flush()
        ended = int(process.stdout.readline())
        return Said(ended, out.read_text(encoding="utf-8"), err.read_text(encoding="utf-8"))


@functools.cache
def _waiting(owner: int) -> subprocess.Popen[bytes]:
    """The process that has read the code; one for each process of the tests."""
    made = subprocess.Popen(
        [sys.executable, "-c", _WAITS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT
    )
    atexit.register(made.kill)
    return made
