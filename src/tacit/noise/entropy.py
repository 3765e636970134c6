"""Secret bits: an AES-256-CTR keystream keyed from the operating system.

The key is replaced by fresh keystream at every refill (fast key erasure) and handed-out bits are wiped from the
pool, so that a captured state tells nothing about earlier draws. Every refill takes new bytes from the operating
system besides, so that it tells nothing about later refills either. A fork gives the child a new key; a lock keeps
threads from sharing bits.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import NoReturn, Protocol

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from tacit.errors import NotPrivate

__all__ = ["BitSource", "Entropy", "KeyStream", "system_entropy"]

Words = npt.NDArray[np.uint64]

_KEY_BYTES = 32
_POOL_BYTES = 8192
_BLOCK_BYTES = 1 << 20
_ZEROS = memoryview(bytes(_KEY_BYTES + _BLOCK_BYTES))
_NONCE = modes.CTR(bytes(16))  # a key is used for one keystream only, so the counter may start at zero


class BitSource(Protocol):
    """What the samplers need of a source of uniform bits."""

    @property
    def secret(self) -> bool:
        """False for a source that can be replayed, as tests do."""

    def word(self) -> int:
        """A uniform integer below 2**64."""

    def words(self, count: int) -> Words:
        """Uniform 64-bit words."""

    def bits(self, count: int) -> int:
        """A uniform integer below 2**count."""


_streams: weakref.WeakSet[KeyStream] = weakref.WeakSet()


class KeyStream:
    """A keystream that erases its key as it goes; ``_new_key`` says where keys come from."""

    secret = True

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._key = self._new_key()
        self._pool = bytearray()
        self._used = 0
        self._pid = os.getpid()
        _streams.add(self)

    def _new_key(self) -> bytes:
        raise NotPrivate("A bare KeyStream has no key; use tacit.noise.Entropy().")

    def _refreshed(self, key: bytes) -> bytes:
        """The key of the next keystream, given what the last one left."""
        return key

    def word(self) -> int:
        """A uniform integer below 2**64."""
        return int.from_bytes(self._take(8), "little")

    def bits(self, count: int) -> int:
        """A uniform integer below 2**count."""
        size = (count + 7) // 8
        raw = b"".join(self._take(min(_POOL_BYTES, size - at)) for at in range(0, size, _POOL_BYTES))
        return int.from_bytes(raw, "little") >> (8 * size - count)

    def words(self, count: int) -> Words:
        """Uniform 64-bit words, as an array that must not be kept after use."""
        if 8 * count <= _POOL_BYTES // 4:
            return np.frombuffer(self._take(8 * count), dtype=np.uint64)
        if 8 * count <= _BLOCK_BYTES:
            return np.frombuffer(self._block(8 * count), dtype=np.uint64)
        out = np.empty(count, dtype=np.uint64)
        step = _BLOCK_BYTES // 8
        for start in range(0, count, step):
            part = out[start : start + step]
            part[:] = np.frombuffer(self._block(8 * part.size), dtype=np.uint64)
        return out

    def _take(self, size: int) -> bytes:
        """Bytes from the pool, which forgets them."""
        with self._lock:
            self._check_process()
            if self._used + size > len(self._pool):
                self._pool = bytearray(self._advance(_POOL_BYTES))
                self._used = 0
            start, end = self._used, self._used + size
            self._used = end  # first: an interrupt after the wipe must not leave zeros to be handed out next
            taken = bytes(self._pool[start:end])
            self._pool[start:end] = bytes(size)
            return taken

    def _block(self, size: int) -> memoryview:
        with self._lock:
            self._check_process()
            return self._advance(size)

    def _advance(self, size: int) -> memoryview:
        """The next ``size`` bytes of keystream; the key that made them is gone afterwards."""
        key = self._refreshed(self._key)
        stream = memoryview(Cipher(algorithms.AES(key), _NONCE).encryptor().update(_ZEROS[: _KEY_BYTES + size]))
        self._key = bytes(stream[:_KEY_BYTES])
        return stream[_KEY_BYTES:]

    def _check_process(self) -> None:
        if self._pid != os.getpid():
            self._restart()

    def _restart(self) -> None:
        self._key = self._new_key()
        self._pool = bytearray()
        self._used = 0
        self._pid = os.getpid()

    def _after_fork(self) -> None:
        self._lock = threading.Lock()  # another thread of the parent may have held the old one
        self._restart()

    def __copy__(self) -> NoReturn:
        raise NotPrivate("A source of secret bits cannot be copied: the copy would draw the same noise.")

    def __deepcopy__(self, memo: object) -> NoReturn:
        self.__copy__()

    def __reduce__(self) -> NoReturn:
        raise NotPrivate("A source of secret bits cannot be pickled: whoever reads it could remove the noise.")

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class Entropy(KeyStream):
    """Secret uniform bits from the operating system's generator, stretched by AES-256 in counter mode.

    >>> bits = Entropy()
    >>> 0 <= bits.word() < 2**64, bits.words(3).dtype
    (True, dtype('uint64'))
    """

    def _new_key(self) -> bytes:
        return os.urandom(_KEY_BYTES)

    def _refreshed(self, key: bytes) -> bytes:
        """Fresh bytes of the operating system on top, so that a machine resumed twice goes on differently."""
        mixed = int.from_bytes(key, "little") ^ int.from_bytes(os.urandom(_KEY_BYTES), "little")
        return mixed.to_bytes(_KEY_BYTES, "little")


def _after_fork_in_child() -> None:
    global _system_lock
    _system_lock = threading.Lock()  # as with each stream's own: its holder does not exist in the child
    for stream in list(_streams):
        stream._after_fork()


_system: Entropy | None = None
_system_lock = threading.Lock()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)


def system_entropy() -> Entropy:
    """The process-wide source that mechanisms use unless they are given another."""
    global _system
    if _system is None:
        with _system_lock:
            if _system is None:
                _system = Entropy()
    return _system
