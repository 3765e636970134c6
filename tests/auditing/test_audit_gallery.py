"""The gallery: every broken exhibit is convicted or called blind, no sound one is convicted; at default settings."""

from __future__ import annotations

import pytest

from tacit.auditing.audit import audit
from tests.auditing.gallery.exhibit import Exhibit, seed
from tests.auditing.gallery.registry import BROKEN, SOUND


def test_the_gallery_is_large_enough_and_names_are_unique() -> None:
    assert len(BROKEN) >= 60
    assert len(SOUND) >= 40
    names = [one.name for one in [*BROKEN, *SOUND]]
    assert len(set(names)) == len(names)


def found(exhibit: Exhibit) -> object:
    seed(7)
    return audit(exhibit.subject(), neighbours=exhibit.inputs(), claim=exhibit.claim, **exhibit.options)


@pytest.mark.slow
@pytest.mark.parametrize("exhibit", BROKEN, ids=lambda one: one.name)
def test_a_broken_one_is_convicted_or_called_blind(exhibit: Exhibit) -> None:
    result = found(exhibit)
    assert result.violated or result.blind, result  # type: ignore[attr-defined]


@pytest.mark.slow
@pytest.mark.parametrize("exhibit", SOUND, ids=lambda one: one.name)
def test_a_sound_one_is_not_convicted(exhibit: Exhibit) -> None:
    result = found(exhibit)
    assert not result.violated, result  # type: ignore[attr-defined]
