"""A folder whose fsync costs nothing, where there is one: these tests kill processes, not machines."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    memory = Path("/dev/shm")
    if not memory.is_dir():
        yield tmp_path
        return
    made = Path(tempfile.mkdtemp(dir=memory, prefix="tacit-test-"))
    yield made
    shutil.rmtree(made, ignore_errors=True)
