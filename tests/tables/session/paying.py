"""Draws for the tests of packages that pay: values that the process which draws can be given."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from pathlib import Path

from tacit.ledger import Receipt
from tacit.tables.engines.contract import Engine
from tacit.tables.engines.rows import BoundedRows


@dataclass(frozen=True)
class CountRows:
    """How many units and rows: no noise, so for tests alone. Notes each draw in a file."""

    asked: BoundedRows
    notes: str

    def __call__(self, engine: Engine, receipt: Receipt) -> bytes:
        with open(self.notes, "a", encoding="utf-8") as file:
            file.write(f"{os.getpid()}\n")
        with engine.read(self.asked) as rows:
            sizes = [chunk.starts.tolist() for chunk in rows]
        return json.dumps({"units": sum(len(one) - 1 for one in sizes), "rows": sum(one[-1] for one in sizes)}).encode()


@dataclass(frozen=True)
class Fails:
    """Raises what a row could have said."""

    def __call__(self, engine: Engine, receipt: Receipt) -> bytes:
        raise ValueError("Ada Lovelace, 36")


@dataclass(frozen=True)
class Sleeps:
    """Says that it began, and goes on for long."""

    begun: str

    def __call__(self, engine: Engine, receipt: Receipt) -> bytes:
        Path(self.begun).touch()
        time.sleep(600)
        return b""
