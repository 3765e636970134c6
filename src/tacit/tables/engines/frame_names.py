"""The names of rows in memory, by which their ledgers know them: one name for each frame, of whatever library."""

from __future__ import annotations

import contextlib
import weakref

from tacit.errors import InvalidParameter, LedgerError
from tacit.ledger.names import source_name

__all__ = ["file_name", "refuse_other_name_of"]

_LONGEST_NAME = 200
_names: dict[int, str] = {}
"""The names of the frames that are in memory."""


def file_name(name: str) -> str:
    """The name of a frame, which is that of a file too."""
    fits = isinstance(name, str) and name.isprintable() and 0 < len(name.encode("utf-8", "replace")) <= _LONGEST_NAME
    if not fits or set(name) & set("/\\:") or not name.strip(". "):
        hint = "The ledger is called NAME.ledger, in the working folder; to keep it elsewhere pass ledger=."
        given = name if not isinstance(name, str) or len(name) <= 60 else f"{name[:57]}…"
        allowed = f"visible text of at most {_LONGEST_NAME} bytes, without / or \\ or :, and not of dots alone"
        raise InvalidParameter("name", given=given, allowed=allowed, hint=hint)
    return source_name(name)


def refuse_other_name_of(frame: object, name: str) -> None:
    """The same of a frame of any library."""
    known = _names.get(id(frame), name)
    if known != name:
        raise LedgerError(
            f"This frame is open as {known!r} already, and a second name would begin a second budget: name={known!r}. "
            f"If it must be {name!r}, say which ledger pays: ledger=…. Nothing was spent."
        )
    with contextlib.suppress(TypeError):  # of a kind that cannot be watched: a later one could be taken for it
        if id(frame) not in _names:
            weakref.finalize(frame, _names.pop, id(frame), None).atexit = False
            _names[id(frame)] = name
