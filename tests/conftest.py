"""Answers are drawn in this process, so that tests can look into an engine; those of the other process say so."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tacit.tables.engines import access


@pytest.fixture(autouse=True, scope="session")
def _draw_here() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(access, "APART", False)
        yield


@pytest.fixture
def apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw in a process of its own, as users do."""
    monkeypatch.setattr(access, "APART", True)
