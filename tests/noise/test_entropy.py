"""Secret bits: uniform, never shared between processes or threads, never handed out twice, never copied."""

from __future__ import annotations

import ast
import copy
import multiprocessing
import os
import pickle
import signal
import struct
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import tacit
from tacit.errors import NotPrivate
from tacit.noise import entropy as entropy_module
from tacit.noise import exact as exact_module
from tacit.noise.entropy import Entropy, KeyStream, system_entropy
from tacit.noise.laplace import DiscreteLaplaceSampler
from tacit.testing import Seeded, seeded
from tests.statistical.fit import ALARM, fits_cells

Words = npt.NDArray[np.uint64]

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")


# --- uniform bits -------------------------------------------------------------------------------------------


def parities_balanced(words: Words) -> bool:
    """Every bit, every pair of bits of a word, and every pair across neighbouring words is balanced.

    Each parity is a sum of n fair signs, so that |sum| > t has probability at most 2·e^(-t²/2n) (Hoeffding); the
    bound is shared among all of them.
    """
    bits = np.unpackbits(words.view(np.uint8).reshape(-1, 8), axis=1, bitorder="little").T
    n = (words.size - 1) // 64 * 64

    def columns(start: int) -> Words:
        return np.ascontiguousarray(np.packbits(bits[:, start : start + n], axis=1)).view(np.uint64)

    def sums(left: Words, right: Words) -> npt.NDArray[np.int64]:
        return n - 2 * np.array([np.bitwise_count(one ^ right).sum(axis=1, dtype=np.int64) for one in left])

    here = columns(0)
    alone = n - 2 * np.bitwise_count(here).sum(axis=1, dtype=np.int64)
    parities = np.concatenate([alone, sums(here, here)[np.triu_indices(64, 1)], sums(here, columns(1)).ravel()])
    limit = np.sqrt(2 * n * np.log(2 * parities.size / ALARM))
    return bool(np.abs(parities).max() <= limit)


def bytes_even(words: Words) -> bool:
    """Bytes, and pairs of the high nibbles of neighbouring bytes, are uniform."""
    octets = words.view(np.uint8)
    pairs = (octets[:-1] >> 4 << 4) | (octets[1:] >> 4)
    flat = [1 / 256] * 256
    return all(fits_cells(np.bincount(x, minlength=256), flat) for x in (octets, pairs[::2]))


DRAWS: dict[str, Callable[[KeyStream, int], Words]] = {
    "one block": lambda source, n: source.words(n),
    "several blocks": lambda source, n: np.concatenate([source.words(n // 4) for _ in range(4)]),
    "small arrays": lambda source, n: np.concatenate([source.words(100) for _ in range(n // 100)]),
    "single words": lambda source, n: np.array([source.word() for _ in range(n)], dtype=np.uint64),
    "odd widths": lambda source, n: np.array(
        [source.bits(13) | source.bits(27) << 13 | source.bits(24) << 40 for _ in range(n)], dtype=np.uint64
    ),
}


@pytest.mark.parametrize("how", DRAWS)
def test_bits_are_uniform_one_by_one_and_jointly(how: str) -> None:
    words = DRAWS[how](Entropy(), 40_000)
    assert words.dtype == np.uint64
    assert parities_balanced(words)
    assert bytes_even(words)


def _stuck(words: Words) -> Words:
    return words | np.uint64(1 << 17)


def _tied(words: Words) -> Words:
    return (words & ~np.uint64(1 << 40)) | ((words & np.uint64(8)) << np.uint64(37))


def _echo(words: Words) -> Words:
    out = words.copy()
    out[1:] = (out[1:] & ~np.uint64(1)) | (words[:-1] >> np.uint64(63))
    return out


def _leaning(words: Words) -> Words:
    """One bit of the word is 1 with probability 9/16."""
    return words | (np.roll(words, 7) & np.roll(words, 11) & np.roll(words, 13) & np.uint64(1 << 5))


@pytest.mark.parametrize("fault", [_stuck, _tied, _echo, _leaning])
def test_parities_see_planted_faults(fault: Callable[[Words], Words]) -> None:
    words = seeded(5).words(40_000)
    assert parities_balanced(words)
    assert not parities_balanced(fault(words))


def test_bytes_see_a_planted_fault() -> None:
    words = seeded(6).words(40_000)
    assert bytes_even(words)
    octets = words.view(np.uint8).copy()
    octets[::10] |= 128  # one in ten loses its top bit
    assert not bytes_even(octets.view(np.uint64))


def test_large_arrays_do_not_repeat() -> None:
    words = Entropy().words(1_000_000)  # several blocks of a megabyte
    assert np.unique(words).size == words.size


@pytest.mark.parametrize("count", [0, 1, 5, 63, 64, 65, 4096, 100_000])
def test_bits_have_the_width_asked_for(count: int) -> None:
    source = Entropy()
    values = [source.bits(count) for _ in range(20)]
    assert all(0 <= value < 1 << count for value in values)
    if count >= 64:
        assert len(set(values)) == 20
        assert max(values) >> (count - 1) == 1  # the top bit is sometimes set: misses with probability 2⁻²⁰


def test_empty_arrays() -> None:
    assert Entropy().words(0).size == 0


# --- fork ---------------------------------------------------------------------------------------------------


@contextmanager
def quiet_fork() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forking with threads alive is the point here
        yield


def in_child(work: Callable[[], list[int]], seconds: int = 10) -> list[int]:
    """The words that ``work`` returns in a forked child; fails if it does not return."""
    reader, writer = os.pipe()
    with quiet_fork():
        child = os.fork()
    if child == 0:  # pragma: no cover - another process
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(seconds)
            words = work()
            os.write(writer, struct.pack(f"{len(words)}Q", *words))
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        raw = pipe.read()
    os.waitpid(child, 0)
    assert raw, "the child drew nothing: it hangs or failed"
    return list(struct.unpack(f"{len(raw) // 8}Q", raw))


def draw(source: KeyStream) -> list[int]:
    """A few hundred words in every way there is."""
    return [
        *(source.word() for _ in range(50)),
        *source.words(100).tolist(),
        *source.words(1000).tolist(),
        source.bits(64),
    ]


class ForgetsToFork(Entropy):
    """A planted fault: the child carries on with its parent's key and pool."""

    def _after_fork(self) -> None: ...

    def _check_process(self) -> None: ...


@needs_fork
def test_child_and_parent_share_nothing() -> None:
    source = Entropy()
    before = draw(source)
    child = in_child(lambda: draw(source))
    other = in_child(lambda: draw(source))
    grandchild = in_child(lambda: in_child(lambda: draw(source)))
    after = draw(source)
    every = [*before, *child, *other, *grandchild, *after]
    assert len(set(every)) == len(every)


@needs_fork
def test_a_forgotten_fork_would_be_seen() -> None:
    source = ForgetsToFork()
    source.word()
    child = in_child(lambda: draw(source))
    assert set(child) & set(draw(source))


@needs_fork
@pytest.mark.parametrize("net", ["_after_fork", "_check_process"])
def test_each_of_the_two_nets_catches_a_fork(net: str, monkeypatch: pytest.MonkeyPatch) -> None:
    other = {"_after_fork": "_check_process", "_check_process": "_after_fork"}[net]
    source = Entropy()
    source.word()
    monkeypatch.setattr(Entropy, other, lambda self: None)
    child = in_child(lambda: draw(source))
    assert not set(child) & set(draw(source))


@needs_fork
def test_process_wide_source_is_not_shared_across_a_fork() -> None:
    system_entropy().word()
    child = in_child(lambda: draw(system_entropy()))
    assert not set(child) & set(draw(system_entropy()))


@contextmanager
def held_by_another_thread(lock: object) -> Iterator[None]:
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with lock:  # type: ignore[attr-defined]
            held.set()
            done.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(30)
    try:
        yield
    finally:
        done.set()
        thread.join()


@needs_fork
def test_fork_while_another_thread_draws() -> None:
    source = Entropy()
    source.word()
    with held_by_another_thread(source._lock):
        child = in_child(lambda: draw(source))
    assert not set(child) & set(draw(source))


@needs_fork
def test_fork_while_another_thread_makes_the_process_wide_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entropy_module, "_system", None)
    with held_by_another_thread(entropy_module._system_lock):
        assert in_child(lambda: [system_entropy().word()])


@needs_fork
def test_fork_while_another_thread_computes_exactly() -> None:
    sampler = DiscreteLaplaceSampler(Fraction(1, 10**14))  # so narrow that every sample needs the exact path
    with held_by_another_thread(exact_module._precision_lock):
        assert in_child(lambda: [sampler.one(Entropy())]) == [0]


def _pool_worker(count: int) -> list[int]:
    return [system_entropy().word() for _ in range(count)]


@needs_fork
def test_multiprocessing_workers_share_nothing() -> None:
    system_entropy().word()
    with quiet_fork(), multiprocessing.get_context("fork").Pool(4) as pool:
        drawn = pool.map(_pool_worker, [200] * 8, chunksize=1)
    every = [word for part in drawn for word in part] + _pool_worker(200)
    assert len(set(every)) == len(every)


def test_spawned_workers_share_nothing() -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        drawn = pool.map(_pool_worker, [100] * 4, chunksize=1)
    every = [word for part in drawn for word in part] + _pool_worker(100)
    assert len(set(every)) == len(every)


# --- threads ------------------------------------------------------------------------------------------------


def drawn_by_threads(source: KeyStream, threads: int = 8, words: int = 1500) -> list[int]:
    out: list[list[int]] = [[] for _ in range(threads)]
    start = threading.Barrier(threads)

    def work(mine: list[int]) -> None:
        start.wait()
        for _ in range(words // 3):
            mine.append(source.word())
            mine.extend(source.words(2).tolist())

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        workers = [threading.Thread(target=work, args=(mine,)) for mine in out]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    finally:
        sys.setswitchinterval(before)
    return [word for mine in out for word in mine]


class Unlocked(Entropy):
    """A planted fault: a lock that locks nothing, and a pool that takes its time."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.RLock()  # type: ignore[assignment]

    def _take(self, size: int) -> bytes:
        if self._used + size > len(self._pool):
            self._pool, self._used = bytearray(self._advance(8192)), 0
        start = self._used
        time.sleep(0)
        taken = bytes(self._pool[start : start + size])
        self._used = start + size
        return taken


def test_threads_share_nothing() -> None:
    every = drawn_by_threads(Entropy())
    assert len(set(every)) == len(every) == 8 * 1500


def test_a_missing_lock_would_be_seen() -> None:
    every = drawn_by_threads(Unlocked(), words=600)
    assert len(set(every)) < len(every)


class Interrupted(bytearray):
    """A pool in which an interrupt arrives just after handed-out bytes were wiped."""

    def __setitem__(self, place: object, value: object) -> None:
        super().__setitem__(place, value)  # type: ignore[call-overload]
        raise KeyboardInterrupt


def test_an_interrupt_after_the_wipe_leaves_no_zeros_behind() -> None:
    source = Entropy()
    source.word()
    source._pool = Interrupted(source._pool)
    with pytest.raises(KeyboardInterrupt):
        source.words(100)
    source._pool = bytearray(source._pool)
    assert 0 not in source.words(100).tolist()


# --- a captured state tells nothing about the past -------------------------------------------------------------


class Captured(KeyStream):
    """Everything that the state of a source can still produce."""

    def __init__(self, source: KeyStream) -> None:
        key, pool, used = source._key, bytes(source._pool), source._used
        self._captured = key
        super().__init__()
        self._pool, self._used = bytearray(pool), used

    def _new_key(self) -> bytes:
        return self._captured


def reachable(source: KeyStream, size: int = 1 << 18) -> set[bytes]:
    """All 8-byte windows of the captured key, the whole pool, and a stretch of what they go on to produce."""
    captured = Captured(source)
    ahead = captured.words(size // 8).tobytes() + captured.bits(8 * 8192).to_bytes(8192, "little")
    raw = source._key + bytes(source._pool) + ahead
    return {raw[i : i + 8] for i in range(len(raw) - 7)}


def earlier(source: KeyStream) -> set[bytes]:
    words = np.array(draw(source), dtype=np.uint64)
    return {word.tobytes() for word in words}


class Unrefreshed(Entropy):
    """Without the operating system's bytes at each refill, which hide the future: the past must be safe anyway."""

    def _refreshed(self, key: bytes) -> bytes:
        return key


@pytest.mark.parametrize("make", [Entropy, Unrefreshed])
def test_captured_state_reveals_no_earlier_draw(make: type[Entropy]) -> None:
    source = make()
    past = earlier(source)
    assert not past & reachable(source)
    assert bytes(source._pool[: source._used]) == bytes(source._used)  # wiped


def test_captured_state_is_the_whole_state() -> None:
    """The check above is not blind: the same capture does reveal what comes next."""
    source = Unrefreshed()
    source.word()
    known = reachable(source)
    assert {word.tobytes() for word in source.words(50)} <= known
    assert {word.tobytes() for word in source.words(5000)[:1000]} <= known


class KeepsItsPool(Entropy):
    """A planted fault: handed-out bytes stay in the pool."""

    def _take(self, size: int) -> bytes:
        taken = super()._take(size)
        self._pool[self._used - size : self._used] = taken
        return taken


class KeepsItsKey(Unrefreshed):
    """A planted fault: a counter instead of a new key, so that the key opens the past."""

    def _advance(self, size: int) -> memoryview:
        key = self._key
        stream = super()._advance(size)
        self._key = key
        return stream


@pytest.mark.parametrize("fault", [KeepsItsPool, KeepsItsKey])
def test_a_state_that_remembers_would_be_seen(fault: type[Entropy]) -> None:
    source = fault()
    past = earlier(source)
    assert past & reachable(source)


def test_every_refill_changes_the_key() -> None:
    source = Entropy()
    keys = {source._key}
    for _ in range(5):
        source.words(1000)
        keys.add(source._key)
    for _ in range(2048):
        source.word()
    keys.add(source._key)
    assert len(keys) == 7
    assert all(len(key) == 32 for key in keys)


def resumed_twice(make: Callable[[], KeyStream]) -> tuple[list[int], list[int]]:
    """What two copies of one captured state draw: as a virtual machine resumed twice from a snapshot."""
    source, other = make(), make()
    source.word()
    other._key, other._pool, other._used = source._key, bytearray(source._pool), source._used
    return [source.word() for _ in range(3000)], [other.word() for _ in range(3000)]


def test_a_state_resumed_twice_goes_on_differently() -> None:
    one, other = resumed_twice(Entropy)
    assert one[:1023] == other[:1023]  # what was left in the pool of 8 KiB: stated on the proof page
    assert not set(one[1023:]) & set(other[1023:])
    same, again = resumed_twice(lambda: seeded(1))
    assert same == again  # so the test can see it


def test_keystream_is_aes_256_in_counter_mode() -> None:
    """The bits are those of the cipher: recomputed block by block with ECB on a counter."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    source = seeded(11)
    block_cipher = Cipher(algorithms.AES(source._key), modes.ECB()).encryptor()
    stream = b"".join(block_cipher.update(i.to_bytes(16)) for i in range(2 + 500))
    assert source.words(1000).tobytes() == stream[32:]
    assert source._key == stream[:32]


# --- no copies, no seeds ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, pickle.dumps, lambda source: pickle.dumps([source], protocol=2)]
)
@pytest.mark.parametrize("make", [Entropy, lambda: seeded(1)])
def test_copies_are_refused(duplicate: Callable[[object], object], make: Callable[[], KeyStream]) -> None:
    with pytest.raises(NotPrivate):
        duplicate(make())


def test_a_source_cannot_be_sent_to_a_worker() -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool, pytest.raises(NotPrivate):
        pool.apply(repr, (Entropy(),))


def test_repr_shows_no_state() -> None:
    source = Entropy()
    assert repr(source) == "Entropy()"


def test_secret_sources_take_no_seed() -> None:
    with pytest.raises(TypeError):
        Entropy(7)  # type: ignore[call-arg]
    with pytest.raises(NotPrivate):
        KeyStream()


def test_two_sources_differ() -> None:
    assert not set(draw(Entropy())) & set(draw(Entropy()))


def test_seeded_replays_and_says_that_it_is_not_secret() -> None:
    assert draw(seeded(7)) == draw(seeded(7))
    assert not set(draw(seeded(7))) & set(draw(seeded(8)))
    assert not seeded(7).secret
    assert Entropy().secret
    assert system_entropy().secret
    assert system_entropy() is system_entropy()


SOURCE = Path(tacit.__file__).parent


def imported_names(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Attribute) and node.attr == "random":
            names.add("random")
    return names


def test_nothing_in_the_package_draws_from_elsewhere() -> None:
    """No module imports a replayable source, and only `tacit.testing` defines one.

    `anonymity/` promises nothing and may use nothing of ours: its people are made up, its keys the system's own. What
    `synth/` makes of released numbers alone is drawn with public coins, from one file that nobody else may use. Keys of
    the service, its nonces and the names of requests are the system's own bits; no noise is drawn there.
    """
    for path in (one for one in SOURCE.rglob("*.py") if one.relative_to(SOURCE).parts[0] != "anonymity"):
        if path == SOURCE / "synth" / "public_coins.py":
            continue
        names = imported_names(path)
        served = path.relative_to(SOURCE).parts[0] == "server"
        assert not names & {"random", "numpy.random", "tacit.testing", *(() if served else ("secrets",))}, path
        assert (SOURCE / "synth") in path.parents or "tacit.synth.public_coins" not in names, path
    assert set(KeyStream.__subclasses__()) >= {Entropy, Seeded}
    ours = {kind for kind in KeyStream.__subclasses__() if kind.__module__.startswith("tacit.")}
    assert ours == {Entropy, Seeded}
    assert Seeded.__module__ == "tacit.testing"
