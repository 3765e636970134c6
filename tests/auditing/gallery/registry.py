"""All exhibits."""

from __future__ import annotations

from tests.auditing.gallery import outcomes, samplers, states, tables, thresholds, vectors

_ROOMS = (outcomes, samplers, thresholds, vectors, states, tables)
BROKEN = [exhibit for room in _ROOMS for exhibit in room.BROKEN]
SOUND = [exhibit for room in _ROOMS for exhibit in room.SOUND]
