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
    apart: bool = False
    """Whether it needs versions that the others cannot live with: it then has an environment of its own."""

    @property
    def package(self) -> str:
        """The module that `import` brings in: `opendp` for `opendp.prelude`."""
        return self.module.partition(".")[0]

    @property
    def environment(self) -> Path:
        """The folder it is installed into."""
        return ROOT / f".venv-bench-{self.package}" if self.apart else ENVIRONMENT


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
        module, _, place = lines[0].partition("# import ")[2].strip().partition(", ")
        yield Peer(name=pins[0].partition("==")[0], module=module, pins=pins, apart=place == "apart")


def failures() -> dict[str, str]:
    """Why a peer is not there, by the name of its package."""
    return json.loads(FAILURES.read_text(encoding="utf-8")) if FAILURES.exists() else {}


def environment(package: str) -> Path:
    """The interpreter that has the peer, or why there is none."""
    if reason := failures().get(package):
        raise Unavailable(reason)
    found = next(peer.environment for peer in peers() if peer.package == package) / "bin" / "python"
    if not found.exists():
        raise Unavailable("not installed")
    return found


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
