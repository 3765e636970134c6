"""The peers: which packages they are, what is pinned for each, and whether they work here."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = ROOT / ".venv-bench"
PINS = ROOT / "bench" / "requirements-peers.txt"
FAILURES = ENVIRONMENT / "failures.json"


@dataclass(frozen=True, slots=True)
class Peer:
    """One block of `requirements-peers.txt`."""

    name: str
    module: str
    pins: tuple[str, ...]

    @property
    def package(self) -> str:
        """The module that `import` brings in: `opendp` for `opendp.prelude`."""
        return self.module.partition(".")[0]


class Unavailable(Exception):
    """A peer that could not be installed or imported; its text is the reason."""


def peers() -> tuple[Peer, ...]:
    return tuple(_blocks(PINS.read_text(encoding="utf-8")))


def _blocks(text: str) -> Iterator[Peer]:
    for block in text.split("\n\n"):
        lines = [line for line in block.splitlines() if line.strip() and not line.startswith("#")]
        if not lines:
            continue
        pins = tuple(line.partition("#")[0].strip() for line in lines)
        module = lines[0].partition("# import ")[2].strip()
        yield Peer(name=pins[0].partition("==")[0], module=module, pins=pins)


def failures() -> dict[str, str]:
    """Why a peer is not there, by the name of its package."""
    return json.loads(FAILURES.read_text(encoding="utf-8")) if FAILURES.exists() else {}


@cache
def load(module: str) -> Any:
    """Import a peer, or say why it cannot be: the one place where the benches do so."""
    package = module.partition(".")[0]
    if reason := failures().get(package):
        raise Unavailable(reason)
    try:
        return import_module(module)
    except Exception as error:  # a broken peer may raise anything at all
        raise Unavailable(f"failed to import: {type(error).__name__}: {error}") from error
