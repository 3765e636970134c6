"""Which files a piece of code opens, creates, changes or removes."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import zoneinfo
from collections.abc import Iterator
from pathlib import Path

__all__ = ["Watch", "snapshot", "watching"]

_EVENTS = ("open", "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.system", "subprocess.Popen", "socket.connect")
_active: list[Watch] = []
_installed = False


class Watch:
    """Events seen while it was on: (event, path), without what Python reads itself: modules, tables of time zones."""

    def __init__(self) -> None:
        self.events: list[tuple[str, str]] = []

    def beyond(self, *allowed: Path) -> list[tuple[str, str]]:
        """Events elsewhere than in the allowed files."""
        known = {str(path) for path in allowed}
        return [(event, path) for event, path in self.events if path not in known and not _importing(path)]


def _importing(path: str) -> bool:
    roots = (sys.prefix, sys.base_prefix, str(Path(__file__).resolve().parents[3] / "src"))
    zones = tuple(f"{folder}{os.sep}" for folder in zoneinfo.TZPATH)
    return path.endswith((".py", ".pyc", ".so")) or path.startswith(roots) or os.path.normpath(path).startswith(zones)


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    if _active and event in _EVENTS:
        first = arguments[0] if arguments else ""
        path = os.fsdecode(first) if isinstance(first, str | bytes | os.PathLike) else str(first)
        for watch in _active:
            watch.events.append((event, path))


@contextlib.contextmanager
def watching() -> Iterator[Watch]:
    """Record what Python opens meanwhile; an audit hook cannot be removed, so one stays and sleeps."""
    global _installed
    if not _installed:
        sys.addaudithook(_hook)
        _installed = True
    gc.collect()  # tables that other code forgot take their private folders with them, now rather than meanwhile
    watch = Watch()
    _active.append(watch)
    try:
        yield watch
    finally:
        _active.remove(watch)


def snapshot(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Every file below a folder: size, time of the last change, content."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            about = path.stat()
            found[str(path)] = (about.st_size, about.st_mtime_ns, path.read_bytes())
    return found
