"""For tests only: noise that can be drawn again. Sessions and ledgers refuse it."""

from __future__ import annotations

import hashlib

from tacit.noise.entropy import KeyStream

__all__ = ["Seeded", "seeded"]


class Seeded(KeyStream):
    """A keystream that anyone who knows the seed can replay: not private."""

    secret = False

    def __init__(self, seed: int) -> None:
        self._seed = seed
        super().__init__()

    def _new_key(self) -> bytes:
        return hashlib.sha256(b"tacit.testing:" + str(self._seed).encode()).digest()

    def __repr__(self) -> str:
        return f"seeded({self._seed})"


def seeded(seed: int) -> Seeded:
    """A replayable source of bits, so that a test sees the same noise every time.

    >>> seeded(7).word() == seeded(7).word()
    True
    """
    return Seeded(seed)
