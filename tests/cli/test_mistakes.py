"""The ten mistakes of docs/guides/mistakes.md, typed again: the page shows what is printed, and nothing is spent."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tacit.ledger import SqliteLedger
from tests.cli.mistakes import Mistake, furnish, listed
from tests.cli.typing_commands import tacit


def test_there_are_ten() -> None:
    assert len(listed()) == 10


@pytest.mark.parametrize("mistake", listed(), ids=lambda mistake: mistake.typed[:60])
def test_the_page_shows_what_is_printed(mistake: Mistake, tmp_path: Path) -> None:
    furnish(tmp_path)
    ran = tacit(tmp_path, *shlex.split(mistake.typed))
    assert ran.printed == mistake.printed
    assert ran.returncode == mistake.code
    assert "Traceback" not in ran.printed
    for ledger in tmp_path.glob("*.ledger"):
        with SqliteLedger(ledger).open() as book:
            assert [entry.kind for entry in book.history()] == ["opened"]


def test_the_comparison_sees_another_text(tmp_path: Path) -> None:
    furnish(tmp_path)
    first = listed()[0]
    assert tacit(tmp_path, *shlex.split(first.typed.replace("AVG", "SUM"))).printed != first.printed
