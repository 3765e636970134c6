"""What the service is told: by flags, by the environment (TACIT_…), by a TOML file, in this order."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from tacit.errors import InvalidParameter, PolicyError
from tacit.ledger.postgres.address import is_postgres

__all__ = ["Settings"]

_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^\[\]:@/]*)(?::[0-9]{1,5})?")
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything but the policies has a default."""

    policies: tuple[Path, ...]
    host: str = "127.0.0.1"
    port: int = 8417
    hosts: tuple[str, ...] = ()
    """Names by which the service may be asked for, beside those of this machine: a proxy's."""
    ledger: str | None = None
    """postgresql://…: ledgers and keys of several processes; files beside the data if not."""
    keys: str | None = None
    """Where keys are kept; beside the first policy if not said."""
    workers: int = 2
    """Processes that draw at a time."""
    line: int = 64
    """Requests that may wait for one."""
    wait: float = 20.0
    """Seconds that a client is kept waiting before it is told where to look."""
    reply_steps: float = 1.0
    per_minute: float = 600.0
    """Requests of one key."""
    secure: bool = False
    """Whether the page is reached by https alone: its cookie then says so."""

    def __post_init__(self) -> None:
        if not self.policies:
            raise InvalidParameter("policies", given="none", allowed="one policy file or more: tacit serve visits.toml")
        for name, least, most in (
            ("port", 0, 65535), ("workers", 1, 256), ("line", 1, 10_000), ("wait", 0, 600), ("reply_steps", 0, 3600),
            ("per_minute", 1, 1e6),
        ):  # fmt: skip
            value = getattr(self, name)
            if not least <= value <= most:
                raise InvalidParameter(name, given=value, allowed=f"from {least} to {most:g}")

    @property
    def place_of_keys(self) -> str:
        """Where keys are kept."""
        beside = self.policies[0].resolve().with_suffix(".keys")
        return self.keys or self.ledger or str(beside)

    @property
    def place_of_heads(self) -> str:
        """Where newest heads are kept: with the keys, but never in a database, which may be put back with its ledgers.

        >>> Settings((Path("/data/a.toml"),), ledger="postgresql://keeper@db/budgets").place_of_heads
        '/data/a.heads'
        """
        keys = self.place_of_keys
        return str(self.policies[0].resolve().with_suffix(".heads")) if is_postgres(keys) else keys

    def allows(self, host: str) -> bool:
        """Whether a request may name this host: one of another site that was made to point here may not.

        >>> Settings((Path("a.toml"),)).allows("127.0.0.1:8417"), Settings((Path("a.toml"),)).allows("evil.example")
        (True, False)
        """
        found = _HOST.fullmatch(host.lower())
        return found is not None and found[1] in (*_LOOPBACK, *(one.lower() for one in self.hosts))

    @classmethod
    def read(
        cls,
        flags: Mapping[str, Any],
        file: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Settings:
        """From what was typed, then TACIT_PORT and the like, then the file."""
        known = {one.name for one in fields(cls)}
        said: dict[str, Any] = _file(file, known)
        for name, value in (os.environ if environment is None else environment).items():
            key = name.removeprefix("TACIT_").lower()
            if name.startswith("TACIT_") and key in known:
                said[key] = value
        said |= {name: value for name, value in flags.items() if value not in (None, ())}
        return cls(**{name: _typed(name, value) for name, value in said.items()})


def _file(path: Path | None, known: set[str]) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        raise PolicyError(f"{path} cannot be read as TOML.") from None
    unknown = sorted(set(said) - known)
    if unknown:
        raise PolicyError(f"{path}: {unknown[0]} is no setting of the service; there are {', '.join(sorted(known))}.")
    if "policies" in said and isinstance(said["policies"], list):
        said["policies"] = [path.parent / str(one) for one in said["policies"]]
    return said


def _typed(name: str, value: Any) -> Any:
    """A setting as its kind."""
    kind = {one.name: str(one.type) for one in fields(Settings)}[name]
    try:
        if kind.startswith("tuple"):
            listed = value.split(",") if isinstance(value, str) else value
            return tuple(Path(one) if "Path" in kind else str(one) for one in listed)
        if kind == "bool":
            return value if isinstance(value, bool) else {"1": True, "true": True, "0": False, "false": False}[value]
        return int(value) if kind == "int" else float(value) if kind == "float" else str(value)
    except (ValueError, TypeError, KeyError):
        raise InvalidParameter(name, given=value, allowed=f"a value of type {kind}") from None
