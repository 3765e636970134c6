"""A script that records outcomes where the library to be audited lives; it needs Python and nothing of ours."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tacit.auditing.calls.recorded import RAISED
from tacit.errors import InvalidParameter

__all__ = ["write_harness"]

_USUAL = 100_000
_SCRIPT = '''"""Records outcomes under two neighbours, to be audited afterwards:

    tacit audit --outcomes first.jsonl second.jsonl --claim "pure 1"

Each call gets a copy of its input, and the two take turns in random order. In another language write the same: two
files, one JSON value on each line, a line for each call; an exception is {{"{raised}": "its type", "text": "…"}}.
"""

import copy
import json
import secrets

{loading}
NEIGHBOURS = ({first}, {second})   # two inputs that one person can turn into each other
CALLS = {calls}                    # under each neighbour


def outcome(data):
{body}


def recorded(data):
    try:
        return outcome(copy.deepcopy(data))
    except (Exception, SystemExit) as error:
        return {{"{raised}": type(error).__name__, "text": str(error)}}


def plain(value):
    """Whatever JSON does not know: arrays as lists, the rest as its attributes or its text."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return vars(value) if hasattr(value, "__dict__") else repr(value)


if __name__ == "__main__":
    with open("first.jsonl", "w", encoding="utf-8") as first, open("second.jsonl", "w", encoding="utf-8") as second:
        files = (first, second)
        for _ in range(CALLS):
            turn = secrets.randbelow(2)
            for side in (turn, 1 - turn):
                print(json.dumps(recorded(NEIGHBOURS[side]), default=plain), file=files[side])
'''
_YOURS = """    # call the library here, once, with fresh noise, and return what it answers
    raise NotImplementedError("write the call")"""


def write_harness(path: Path, what: str | None, neighbours: tuple[tuple[str, str], ...], samples: int | None) -> None:
    """Writes the script and says how to go on; an existing file is left alone."""
    if path.exists():
        raise InvalidParameter("--record", given=str(path), allowed="a file that does not exist yet")
    if len(neighbours) > 1:
        raise InvalidParameter("--neighbours", given=neighbours, allowed="one pair beside --record")
    first, second = (_literal(one) for one in neighbours[0]) if neighbours else ("0", "1")
    module, _, name = (what or "").partition(":")
    if what is not None and not (name.isidentifier() and all(part.isidentifier() for part in module.split("."))):
        raise InvalidParameter("FUNCTION", given=what, allowed="module:function beside --record")
    script = _SCRIPT.format(
        raised=RAISED,
        loading=f"from {module} import {name}\n" if what else "",
        first=first,
        second=second,
        calls=samples or _USUAL,
        body=f"    return {name}(data)" if what else _YOURS,
    )
    path.write_text(script, encoding="utf-8")
    then = 'tacit audit --outcomes first.jsonl second.jsonl --claim "pure 1"'
    click.echo(f"wrote {path}: run it where the library is installed, then  {then}")


def _literal(written: str) -> str:
    try:
        return repr(json.loads(written))
    except ValueError:
        raise InvalidParameter("--neighbours", given=written, allowed="JSON beside --record") from None
