"""The two tables, opened with ledgers that forget."""

from __future__ import annotations

from pathlib import Path

import tacit
from tacit.cli.story.demo_table import write_visits
from tacit.ledger import InMemory
from tacit.tables.session.table import Table
from tests.end_to_end.questions import adult, visits

__all__ = ["ADULT", "open_adult", "open_visits"]

ADULT = Path(__file__).parents[3].parent / "shared" / "data" / "adult.data"
"""Not part of the project: where it lies beside it, it is asked."""


def open_adult(folder: Path) -> Table:
    """Adult, with the spaces after its commas taken out."""
    (folder / "adult.csv").write_text(ADULT.read_text(encoding="utf-8").replace(", ", ","), encoding="utf-8")
    (folder / "adult.toml").write_text(adult.POLICY, encoding="utf-8")
    return tacit.open(folder / "adult.toml", analyst="ada", ledger=InMemory())


def open_visits(folder: Path) -> Table:
    """The demo's table."""
    write_visits(folder / "visits.csv", rows=8000)
    (folder / "visits.toml").write_text(visits.POLICY, encoding="utf-8")
    return tacit.open(folder / "visits.toml", analyst="ada", ledger=InMemory())
