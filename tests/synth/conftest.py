"""Smaller fits, so that tests are quick: what they show does not depend on how many components there are."""

from __future__ import annotations

import pytest

from tacit.synth.methods import aim, pairs


@pytest.fixture(autouse=True)
def small_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "COMPONENTS", 30)
    monkeypatch.setattr(pairs, "FITS", 2)
    monkeypatch.setattr(aim, "_DRAWN", 4000)
    monkeypatch.setattr(aim, "COMPONENTS", 30)
    monkeypatch.setattr(aim, "FITS", 1)
